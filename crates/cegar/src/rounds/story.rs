//! What a round did, in words: the path that Bebop found, and the predicates that Newton found for it.

use super::{Met, Rounds};
use hardbop_cfront::ids::{EdgeId, LocId};
use hardbop_cfront::program::{LocationKind, Op};
use hardbop_engine::claim::ScopedPredicate;
use hardbop_logic::{TermId, Terms};
use hardbop_model::{Model, View};
use hardbop_newton::exact::Translation;
use hardbop_newton::predicate::Predicate;
use hardbop_semantics::c_terms::{Frame, Scope, Words, c_text};
use hardbop_semantics::constants::Constants;
use hardbop_semantics::path::PathStep;
use hardbop_semantics::segment::Segment;
use hardbop_semantics::skeleton::VertexId;
use std::collections::{BTreeMap, VecDeque};

/// Longer paths are told by their ends.
const MOST_LINES: usize = 12;
/// So many predicates of a round are told.
const MOST_PREDICATES: usize = 8;

/// The lines at which the blocks of a path end.
pub(super) fn lines(model: &Model<'_>, segments: &[Segment]) -> String {
    let mut lines: Vec<String> = segments
        .iter()
        .filter_map(|segment| match *segment {
            Segment::Block(_, to) => line(model, to),
            Segment::Enter(call, _) => Some(model.flat.program.edges[call.index()].source.line),
            Segment::Start(_) | Segment::Leave(..) => None,
        })
        .map(|line| line.to_string())
        .collect();
    if lines.len() > MOST_LINES {
        let left_out = lines.len() - MOST_LINES;
        let middle = MOST_LINES / 2..MOST_LINES / 2 + left_out;
        lines.splice(middle, [format!("({left_out} more)")]);
    }
    match lines.as_slice() {
        [one] => format!("line {one}"),
        many => format!("lines {}", many.join(", ")),
    }
}

/// The line of what comes next at a location, or of the check that is violated there.
fn line(model: &Model<'_>, at: LocId) -> Option<u32> {
    let program = model.flat.program;
    if let LocationKind::Error(check) = program.locations[at.index()].kind {
        return Some(program.checks[check.index()].source.line);
    }
    let (_, next) = program.edges_from(at).next()?;
    Some(next.source.line)
}

/// A path of blocks as a path of single steps: the shortest one through each block. `None` if a
/// block is not connected.
pub fn steps(view: &View<'_>, segments: &[Segment]) -> Option<Vec<PathStep>> {
    let mut steps = Vec::new();
    for segment in segments {
        match *segment {
            Segment::Start(_) => {}
            Segment::Block(from, to) => steps.extend(through(view, from, to)?),
            Segment::Enter(call, callee) => steps.push(PathStep::Enter(call, callee)),
            Segment::Leave(..) => steps.push(PathStep::Leave),
        }
    }
    Some(steps)
}

/// A shortest way from one cut point to another that passes none between.
fn through(view: &View<'_>, from: LocId, to: LocId) -> Option<Vec<PathStep>> {
    let program = view.program;
    let mut came: BTreeMap<LocId, (LocId, EdgeId)> = BTreeMap::new();
    let mut work = VecDeque::from([from]);
    while let Some(at) = work.pop_front() {
        for (id, edge) in program.edges_from(at) {
            if came.contains_key(&edge.to) || matches!(edge.op, Op::Call { .. }) {
                continue;
            }
            came.insert(edge.to, (at, id));
            if edge.to != to && !view.skeleton.cuts.contains(&edge.to) {
                work.push_back(edge.to);
            }
        }
    }
    let mut path = Vec::new();
    let mut at = to;
    loop {
        let &(before, edge) = came.get(&at)?;
        path.push(PathStep::Edge(edge));
        at = before;
        if at == from {
            path.reverse();
            return Some(path);
        }
    }
}

impl Rounds<'_> {
    /// Keeps a path that the search found.
    pub(super) fn meet(&mut self, vertex: VertexId, segments: &[Segment]) {
        let mut open = self.open.iter();
        let check = open.find(|(_, at)| at.contains(&vertex));
        self.met.push(Met {
            round: self.statistics.rounds,
            check: check.map(|(&check, _)| check),
            segments: segments.to_vec(),
            found: Vec::new(),
        });
    }

    /// A predicate as users write it: a formula of C, or as near to that as can be.
    pub(super) fn shown(
        &self,
        terms: &mut Terms,
        constants: &Constants,
        predicate: &Predicate,
    ) -> ScopedPredicate {
        let mut translation = Translation::new(constants, &self.view.semantics);
        let exact = translation.formula(terms, predicate.formula);
        let formula = exact.unwrap_or(predicate.formula);
        let text = self.in_c(terms, predicate, formula);
        let scope = predicate.scope;
        ScopedPredicate {
            procedure: scope.map(|function| self.view.program.function(function).name.clone()),
            formula: text.unwrap_or_else(|| terms.infix(formula).to_string()),
        }
    }

    fn in_c(&self, terms: &mut Terms, predicate: &Predicate, formula: TermId) -> Option<String> {
        let program = self.model.program;
        let exact = Constants::new(&self.view.semantics, terms);
        let scope = Scope {
            function: predicate.scope.unwrap_or(program.entry),
            frame: Frame::Own,
            variables: program.variables.len(),
        };
        c_text(
            &self.view.semantics,
            &exact,
            terms,
            scope,
            formula,
            Words::Plain,
        )
    }

    /// Tells which predicates a path gave.
    pub(super) fn tell_predicates(
        &mut self,
        terms: &mut Terms,
        constants: &Constants,
        found: &[(LocId, Predicate)],
    ) {
        let mut shown: Vec<ScopedPredicate> = Vec::new();
        for (_, predicate) in found {
            let predicate = self.shown(terms, constants, predicate);
            if !shown.contains(&predicate) {
                shown.push(predicate);
            }
        }
        let mut texts: Vec<String> = shown
            .iter()
            .map(|one| format!("`{}`", one.formula))
            .collect();
        if texts.len() > MOST_PREDICATES {
            let left_out = texts.len() - MOST_PREDICATES;
            texts.truncate(MOST_PREDICATES);
            texts.push(format!("{left_out} more"));
        }
        if let Some(met) = self.met.last_mut() {
            met.found.extend(shown);
        }
        let told = format!("it cannot be run, which shows by {}", texts.join(", "));
        self.tell(self.statistics.predicates, told);
    }
}
