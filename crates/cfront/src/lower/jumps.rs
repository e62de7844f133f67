//! Computed jumps: `&&label` and `goto *target`.
//!
//! A label whose address is taken is an object of its own, which nobody reads or writes: its
//! address tells it from all others. A computed jump compares its target with the labels of the
//! function. What is none of them has no known meaning.

use super::Lower;
use super::body::Chain;
use crate::ids::{ExprId, PlaceId, VarId};
use crate::program::*;
use rucc_sema as sema;

/// The computed jumps of a function.
#[derive(Default)]
pub(super) struct Jumps {
    /// The labels whose addresses are taken.
    labels: Vec<(sema::LabelId, VarId)>,
    /// Where the target is kept on the way.
    target: Option<PlaceId>,
    /// The jumps.
    jumps: Vec<Jump>,
}

/// A computed jump, and the blocks around it.
struct Jump {
    from: u32,
    chain: Chain,
    source: Source,
}

/// Where a computed jump may lead.
struct Target {
    address: ExprId,
    location: u32,
    chain: Chain,
}

impl Lower<'_> {
    /// The address of a label; there is none outside of functions.
    pub(super) fn label_address(&mut self, label: sema::LabelId) -> Option<ExprId> {
        let f = self.function.as_ref()?;
        let known = f.jumps.labels.iter().find(|(id, _)| *id == label);
        let variable = match known {
            Some(&(_, variable)) => variable,
            None => {
                let (function, source) = (f.func, f.source);
                let name = self.unit.names.resolve(self.unit.tree[label].name);
                let ty = self.b.types.int(8, false);
                let variable = self.b.add_variable(Variable {
                    name: name.to_owned(),
                    ty,
                    kind: VarKind::Static(function),
                    address_taken: false,
                    source,
                    initial: Initial::Data(Vec::new()),
                    read_only: true,
                    align: 1,
                });
                self.f().jumps.labels.push((label, variable));
                variable
            }
        };
        let place = self.b.var_place(variable);
        Some(self.address(place))
    }

    /// `goto *target`: where it leads is added when all labels are known.
    pub(super) fn computed_goto(&mut self, target: sema::ExprId) {
        let value = self.value(target);
        let ty = self.b.ty_of(value);
        let place = match self.f().jumps.target {
            Some(place) => place,
            None => self.temporary(ty),
        };
        self.f().jumps.target = Some(place);
        let kept = self.place_ty(place);
        let value = self.b.convert(value, kept);
        self.assign(place, value);
        let chain = self.f().chain();
        let f = self.f();
        f.jumps.jumps.push(Jump {
            from: f.cur,
            chain,
            source: f.source,
        });
        f.cur = f.body.location(LocationKind::Plain);
    }

    /// Adds where the function's computed jumps lead.
    pub(super) fn resolve_jumps(&mut self) {
        let Jumps {
            labels,
            target,
            jumps,
        } = std::mem::take(&mut self.f().jumps);
        let Some(place) = target else {
            return;
        };
        let mut targets = Vec::new();
        for (label, variable) in labels {
            let variable = self.b.var_place(variable);
            let address = self.address(variable);
            let known = self.f().labels.get(&label);
            // A label that is not defined is an error of its own.
            if let Some((location, Some(chain))) =
                known.map(|label| (label.location, label.chain.clone()))
            {
                targets.push(Target {
                    address,
                    location,
                    chain,
                });
            }
        }
        let shared = shared(&targets);
        let mut meeting = None;
        for jump in jumps {
            let f = self.f();
            (f.cur, f.source) = (jump.from, jump.source);
            if !meets(&jump.chain, &shared, &targets) {
                self.dispatch(place, &jump.chain, &targets);
                continue;
            }
            // All jumps from inside of the same blocks look for their label in one place.
            let first = meeting.is_none();
            let head =
                *meeting.get_or_insert_with(|| self.f().body.location(LocationKind::LoopHead));
            self.jump_between(&jump.chain, &shared, head);
            if first {
                self.f().cur = head;
                self.dispatch(place, &shared, &targets);
            }
        }
    }

    /// Goes to the label whose address is in a place.
    fn dispatch(&mut self, place: PlaceId, from: &Chain, targets: &[Target]) {
        let source = self.f().source;
        let value = self.b.load(place);
        let ty = self.b.ty_of(value);
        let int = self.int_ty();
        for target in targets {
            let address = self.b.convert(target.address, ty);
            let condition = self.b.binary(BinaryOp::Eq, value, address, int);
            let here = self.f().cur;
            let entry = self.entry_to(from, &target.chain, target.location);
            let next = self.location();
            self.f().cur = here;
            self.split(condition, entry, next);
            self.f().cur = next;
        }
        let what = "a computed goto to what is no label of the function".to_owned();
        let construct = self.b.add_gap(what, source, Gap::Unlikely);
        self.emit(Op::Unsupported { construct });
        self.halt();
    }
}

/// The blocks around all targets.
fn shared(targets: &[Target]) -> Chain {
    let mut chains = targets.iter().map(|target| &target.chain);
    let mut shared = chains.next().cloned().unwrap_or_default();
    for chain in chains {
        let same = shared.iter().zip(chain).take_while(|(a, b)| a == b).count();
        shared.truncate(same);
    }
    shared
}

/// Whether a jump from inside of these blocks is one to the shared ones, and from there to a target:
/// no variable lives on that way that ends on this one.
fn meets(from: &Chain, shared: &Chain, targets: &[Target]) -> bool {
    let common = |a: &Chain, b: &Chain| a.iter().zip(b).take_while(|(a, b)| a.0 == b.0).count();
    common(from, shared) == shared.len()
        && targets
            .iter()
            .all(|target| common(from, &target.chain) == shared.len())
}
