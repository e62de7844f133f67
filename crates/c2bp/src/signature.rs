//! What a function's predicates mean to callers: the procedure that it becomes.

use crate::predicate::{Analysed, PredicateId, Scope};
use hardbop_cfront::ids::{ExprId, FuncId, VarId};
use hardbop_cfront::operands::{Operand, each_below};
use hardbop_cfront::program::{PlaceKind, VarKind};
use hardbop_logic::Terms;
use hardbop_semantics::effects::Effects;
use hardbop_semantics::layout::StateVarId;
use hardbop_semantics::{Execution, Semantics};
use std::collections::BTreeSet;

/// The procedure of a boolean program that a function becomes (C2bp's signature).
#[derive(Clone, Debug, Default)]
pub(crate) struct Signature {
    /// The predicates that have a value when the function is entered: its formals.
    pub formals: Vec<PredicateId>,
    /// Its other predicates.
    pub locals: Vec<PredicateId>,
    /// The predicates whose value at the exit tells callers something.
    pub returns: Vec<PredicateId>,
}

/// The variables that an expression mentions.
pub(crate) fn mentioned(analysed: &Analysed, expr: ExprId) -> BTreeSet<VarId> {
    let program = &analysed.program;
    let mut found = BTreeSet::new();
    each_below(program, [Operand::Expr(expr)], &mut |operand| {
        if let Operand::Place(place) = operand
            && let PlaceKind::Var(variable) = program.place(place).kind
        {
            found.insert(variable);
        }
    });
    found
}

/// The signature of a function (C2bp, section 4.5.2).
pub(crate) fn signature(
    analysed: &Analysed,
    semantics: &Semantics<'_>,
    effects: &Effects,
    function: FuncId,
) -> Signature {
    let program = &analysed.program;
    let mut signature = Signature::default();
    let mut terms = Terms::new();
    for (index, predicate) in analysed.predicates.iter().enumerate() {
        if predicate.scope != Scope::Function(function) {
            continue;
        }
        let id = PredicateId(index as u32);
        let variables = mentioned(analysed, predicate.expr);
        let is_old = |v: VarId| analysed.olds.iter().any(|old| old.variable == v);
        let mut at_entry = true;
        let mut at_exit = true;
        let mut tells = false;
        for &variable in &variables {
            match program.variable(variable).kind {
                VarKind::Global | VarKind::Static(_) | VarKind::Literal => {}
                VarKind::Formal(_) => {
                    // The caller knows what it passed, not what the callee made of it.
                    at_exit &= !program.variable(variable).address_taken
                        && !changes(analysed, semantics, effects.own(function), variable);
                }
                VarKind::Result(_) => {
                    at_entry = false;
                    tells = true;
                }
                VarKind::Temporary(_) if is_old(variable) => {}
                VarKind::Local(_) | VarKind::Temporary(_) => {
                    at_entry = false;
                    at_exit = false;
                }
            }
        }
        if at_entry {
            signature.formals.push(id);
        } else {
            signature.locals.push(id);
        }
        let formula = Execution::new(semantics).condition(&mut terms, predicate.expr);
        let constants = terms.free_constants(&[formula]);
        let modified = |id: &StateVarId| constants.contains(&semantics.constant(&mut terms, *id));
        tells |= effects.modified(function).iter().any(modified);
        if at_exit && tells {
            signature.returns.push(id);
        }
    }
    signature
}

fn changes(
    analysed: &Analysed,
    semantics: &Semantics<'_>,
    written: &BTreeSet<StateVarId>,
    variable: VarId,
) -> bool {
    let Some(spot) = analysed.points_to.variable(variable) else {
        return true;
    };
    analysed
        .points_to
        .regions()
        .of_class(spot.class)
        .any(|region| written.contains(&semantics.layout.region(region)))
}
