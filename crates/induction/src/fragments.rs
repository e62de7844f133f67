//! Parts of executions, one block longer each time: from the start of the program, and from any
//! state at a cut point of which an invariant holds. All ways to a cut point are merged.

use hardbop_cfront::ids::{CheckId, LocId};
use hardbop_cfront::program::LocationKind;
use hardbop_logic::{Sort, TermId, Terms};
use hardbop_semantics::constants::Meaning;
use hardbop_semantics::live::Live;
use hardbop_semantics::segment::{Blocks, Segment};
use hardbop_semantics::skeleton::SkeletonEdgeKind;
use hardbop_semantics::steps::Ground;
use hardbop_semantics::{Execution, State};
use std::collections::BTreeMap;

/// The most bits of a state for which it is worth while to say that none comes twice.
const BITS: u32 = 256;

/// When and how cut points are come to.
type Layer = BTreeMap<LocId, (TermId, State)>;

/// Executions from the start.
pub struct Base<'c> {
    layer: Layer,
    checks: &'c [CheckId],
}

impl<'c> Base<'c> {
    /// No block yet.
    pub fn new(ground: &Ground<'_, '_>, terms: &mut Terms, checks: &'c [CheckId]) -> Base<'c> {
        let program = ground.semantics.program;
        let mut run = Execution::new(ground.semantics);
        run.start(terms);
        let condition = terms.and(&run.facts);
        let entry = program.function(program.entry).entry;
        let layer = Layer::from([(entry, (condition, run.state))]);
        Base { layer, checks }
    }

    /// One block more: when a check is violated in it. `None` if a block has no meaning.
    pub fn next(&mut self, ground: &Ground<'_, '_>, terms: &mut Terms) -> Option<TermId> {
        let mut layer = follow(ground, terms, &self.layer)?;
        let violated = violations(ground, terms, &mut layer, self.checks);
        self.layer = layer;
        Some(violated)
    }
}

/// Executions from one cut point.
pub struct Fragment {
    layers: Vec<Layer>,
    /// That no state came twice so far; `None` where that is not looked at.
    differ: Option<Vec<TermId>>,
}

/// How fragments end.
pub struct Ending {
    /// When the last block violates a check.
    pub violated: TermId,
    /// That no state came twice before it; `None` where that is not looked at.
    pub differ: Option<TermId>,
}

impl Fragment {
    /// No block yet: all states at a cut point of which a formula holds.
    pub fn new(at: LocId, formula: TermId) -> Fragment {
        Fragment {
            layers: vec![Layer::from([(at, (formula, State::new()))])],
            differ: Some(Vec::new()),
        }
    }

    /// One block more. `None` if a block has no meaning.
    pub fn next(
        &mut self,
        ground: &Ground<'_, '_>,
        terms: &mut Terms,
        known: &BTreeMap<LocId, TermId>,
        live: &BTreeMap<LocId, Live>,
        checks: &[CheckId],
    ) -> Option<Ending> {
        let before = self.layers.last().cloned().unwrap_or_default();
        let mut layer = follow(ground, terms, &before)?;
        let violated = violations(ground, terms, &mut layer, checks);
        let differ = self.differ.clone().map(|differ| terms.and(&differ));
        for (at, (condition, state)) in &mut layer {
            let formula = known.get(at).copied();
            let formula = formula.unwrap_or_else(|| terms.bool(false));
            let holds = moved(ground, terms, formula, state);
            *condition = terms.and(&[*condition, holds]);
        }
        let no = terms.bool(false);
        layer.retain(|_, (condition, _)| *condition != no);
        if let Some(mut differ) = self.differ.take() {
            self.differ = self.all_differ(ground, terms, live, &layer).map(|more| {
                differ.extend(more);
                differ
            });
        }
        self.layers.push(layer);
        Some(Ending { violated, differ })
    }

    /// That states of a layer are not those of an earlier one; `None` if states are large.
    fn all_differ(
        &self,
        ground: &Ground<'_, '_>,
        terms: &mut Terms,
        live: &BTreeMap<LocId, Live>,
        layer: &Layer,
    ) -> Option<Vec<TermId>> {
        let mut found = Vec::new();
        let nothing = Live::default();
        for earlier in &self.layers {
            for (at, (condition, state)) in layer {
                if let Some((before, other)) = earlier.get(at) {
                    let live = live.get(at).unwrap_or(&nothing);
                    let same = same(ground, terms, live, state, other)?;
                    let again = terms.and(&[*condition, *before, same]);
                    found.push(terms.not(again));
                }
            }
        }
        Some(found)
    }
}

/// That two states are the same, in what is live; `None` where that would have to be said of memory or of much.
fn same(
    ground: &Ground<'_, '_>,
    terms: &mut Terms,
    live: &Live,
    a: &State,
    b: &State,
) -> Option<TermId> {
    let semantics = ground.semantics;
    let mut same = Vec::new();
    let mut bits = 0;
    for &id in &live.now {
        let (a, b) = (a.get(semantics, terms, id), b.get(semantics, terms, id));
        if a != b {
            bits += match terms.sort(a) {
                Sort::BitVec(width) => width,
                Sort::Bool => 1,
                _ => return None,
            };
            same.push(terms.eq(a, b));
        }
    }
    (bits <= BITS).then(|| terms.and(&same))
}

/// Goes on by one block from everywhere.
fn follow(ground: &Ground<'_, '_>, terms: &mut Terms, layer: &Layer) -> Option<Layer> {
    let mut next = Layer::new();
    for (&at, (condition, state)) in layer {
        let Some(vertex) = ground.skeleton.vertex_at(at) else {
            continue;
        };
        let mut blocks = Blocks::new();
        for edge in ground.skeleton.edges_from(vertex) {
            // What is not supported is not come to: the invariants see to that.
            let SkeletonEdgeKind::Block(from, to) = edge.kind else {
                continue;
            };
            let mut run = Execution::new(ground.semantics);
            run.state = state.clone();
            let segment = Segment::Block(from, to);
            let cuts = &ground.skeleton.cuts;
            let Some(taken) = run.segment(terms, segment, cuts, &mut blocks).ok()? else {
                continue;
            };
            let taken = terms.and(&[*condition, taken]);
            if taken == terms.bool(false) {
                continue;
            }
            let arrived = match next.remove(&to) {
                None => (taken, run.state),
                Some((other, state)) => {
                    let merged = run.state.merge(&state, taken, ground.semantics, terms);
                    (terms.or(&[taken, other]), merged)
                }
            };
            next.insert(to, arrived);
        }
    }
    Some(next)
}

/// When checks are violated in a layer. Executions end there.
fn violations(
    ground: &Ground<'_, '_>,
    terms: &mut Terms,
    layer: &mut Layer,
    checks: &[CheckId],
) -> TermId {
    let mut found = Vec::new();
    layer.retain(
        |at, (condition, _)| match ground.semantics.program.locations[at.index()].kind {
            LocationKind::Error(check) => {
                if checks.contains(&check) {
                    found.push(*condition);
                }
                false
            }
            _ => true,
        },
    );
    terms.or(&found)
}

/// What a formula about a cut point says in a state there.
fn moved(ground: &Ground<'_, '_>, terms: &mut Terms, formula: TermId, state: &State) -> TermId {
    let mut map = BTreeMap::new();
    for constant in terms.free_constants(&[formula]) {
        if let Some(Meaning::Now(id)) = ground.constants.meaning(constant) {
            map.insert(constant, state.get(ground.semantics, terms, id));
        }
    }
    terms.substitute(formula, &map)
}
