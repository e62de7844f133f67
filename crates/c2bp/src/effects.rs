//! What functions do to the state, seen from outside, and what their predicates mean to callers.

use crate::predicate::{Analysed, PredicateId, Scope};
use hardbop_cfront::ids::{EdgeId, ExprId, FuncId, LocId, VarId};
use hardbop_cfront::operands::{Operand, each_below};
use hardbop_cfront::program::{Op, PlaceKind, VarKind};
use hardbop_logic::Terms;
use hardbop_semantics::layout::StateVarId;
use hardbop_semantics::{Execution, Semantics};
use std::collections::{BTreeMap, BTreeSet};

/// What a function does.
#[derive(Clone, Debug, Default)]
pub(crate) struct Effects {
    /// The state variables outside of frames that it, or what it calls, may change.
    pub modified: BTreeSet<StateVarId>,
    /// The state variables of its own frame that its edges change.
    pub own: BTreeSet<StateVarId>,
}

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

/// The effects of all functions that can be reached. The meaning of an edge itself says what it
/// writes, so that nothing that a weakest precondition sees is missed.
pub(crate) fn effects(
    analysed: &Analysed,
    semantics: &Semantics<'_>,
    reached: &BTreeSet<FuncId>,
) -> BTreeMap<FuncId, Effects> {
    let mut terms = Terms::new();
    let mut result: BTreeMap<FuncId, Effects> = BTreeMap::new();
    let mut graph: BTreeMap<FuncId, BTreeSet<FuncId>> = BTreeMap::new();
    for &function in reached {
        let mut own = Effects::default();
        let mut called = BTreeSet::new();
        let note = |run: &Execution<'_, '_>, effects: &mut Effects| {
            for (id, _) in run.state.written() {
                match semantics.layout.get(id).owner {
                    None => effects.modified.insert(id),
                    Some(owner) => owner == function && effects.own.insert(id),
                };
            }
        };
        for location in analysed.program.function(function).locations.clone() {
            for (id, edge) in analysed.program.edges_from(LocId(location)) {
                if let Op::Call { callee, .. } = &edge.op {
                    for &callee in callee.targets() {
                        called.insert(callee);
                        call(semantics, &mut terms, id, callee, &mut own, &note);
                    }
                    continue;
                }
                let mut run = Execution::new(semantics);
                if run.edge(&mut terms, id).is_ok() {
                    note(&run, &mut own);
                }
            }
        }
        result.insert(function, own);
        graph.insert(function, called);
    }
    close(&mut result, &graph);
    result
}

fn call<'p>(
    semantics: &Semantics<'p>,
    terms: &mut Terms,
    edge: EdgeId,
    callee: FuncId,
    effects: &mut Effects,
    note: &dyn Fn(&Execution<'_, 'p>, &mut Effects),
) {
    let mut run = Execution::new(semantics);
    run.enter(terms, edge, callee);
    for (id, _) in run.state.written() {
        if semantics.layout.get(id).owner.is_none() {
            effects.modified.insert(id);
        }
    }
    run.leave(terms);
    note(&run, effects);
}

/// What callees modify, callers modify.
fn close(effects: &mut BTreeMap<FuncId, Effects>, graph: &BTreeMap<FuncId, BTreeSet<FuncId>>) {
    loop {
        let mut changed = false;
        for (caller, called) in graph {
            let mut more: BTreeSet<StateVarId> = BTreeSet::new();
            for callee in called {
                if let Some(of) = effects.get(callee) {
                    more.extend(&of.modified);
                }
            }
            if let Some(own) = effects.get_mut(caller) {
                let before = own.modified.len();
                own.modified.extend(more);
                changed |= own.modified.len() > before;
            }
        }
        if !changed {
            return;
        }
    }
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
                        && !changes(analysed, semantics, effects, variable);
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
        tells |= effects.modified.iter().any(modified);
        if at_exit && tells {
            signature.returns.push(id);
        }
    }
    signature
}

fn changes(
    analysed: &Analysed,
    semantics: &Semantics<'_>,
    effects: &Effects,
    variable: VarId,
) -> bool {
    let Some(spot) = analysed.points_to.variable(variable) else {
        return true;
    };
    analysed
        .points_to
        .regions()
        .of_class(spot.class)
        .any(|region| effects.own.contains(&semantics.layout.region(region)))
}
