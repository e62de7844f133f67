//! The meaning of edges against the concrete interpreter: a run satisfies the formula of its own
//! path, the formula leaves no other result open, and a model of the formula is a run along that
//! path. What edges write is among what their functions are said to change.
//!
//! `HARDBOP_CASES=2000 cargo test --release` tries that many programs.

use hardbop_boolean_program::Random;
use hardbop_budget::Budget;
use hardbop_cfront::ids::EdgeId;
use hardbop_cfront::interp::{
    Consumed, Exhausted, InputValue, Interpreter, Limits, Outcome, Run, Script, TraceMode,
};
use hardbop_cfront::load::{LoadedProgram, load_text};
use hardbop_cfront::program::Op;
use hardbop_logic::{Answer, Session, TermId, Terms, Value, Z3Options, Z3Solver};
use hardbop_semantics::effects::{Effects, written_by};
use hardbop_semantics::layout::StateVarId;
use hardbop_semantics::path::{PathStep, steps_of};
use hardbop_semantics::{Encoding, Execution, Fresh, FreshOrigin, Semantics, State};
use hardbop_test_support::generate::pointers::case;
use hardbop_test_support::setting;
use std::collections::{BTreeMap, BTreeSet};

fn loaded(text: &str) -> LoadedProgram {
    load_text("x.c", text).expect(text)
}

fn limits() -> Limits {
    Limits {
        steps: 150,
        trace: TraceMode::First(1000),
        ..Limits::default()
    }
}

fn run(loaded: &LoadedProgram, inputs: Vec<InputValue>) -> Run {
    let mut script = Script::new(inputs).exhausted(Exhausted::Zero);
    Interpreter::new(&loaded.program).run(&mut script, &limits())
}

/// The formula of a path from the start of the program.
struct PathFormula {
    /// For every step what it requires: its condition and the facts that it adds.
    steps: Vec<TermId>,
    /// The unknown values met on the way, in order, each with the step that met it.
    fresh: Vec<(usize, Fresh)>,
    /// The state after every step.
    states: Vec<State>,
    /// Whether every model is a run.
    exact: bool,
}

fn path(semantics: &Semantics<'_>, terms: &mut Terms, steps: &[PathStep]) -> PathFormula {
    let mut run = Execution::new(semantics);
    run.start(terms);
    let mut formula = PathFormula {
        steps: Vec::new(),
        fresh: Vec::new(),
        states: Vec::new(),
        exact: true,
    };
    let mut known_fresh = 0;
    for (index, step) in steps.iter().enumerate() {
        let condition = match *step {
            PathStep::Edge(edge) => run.edge(terms, edge).expect("no unsupported constructs"),
            PathStep::Enter(call, callee) => run.enter(terms, call, callee),
            PathStep::Leave => {
                run.leave(terms);
                terms.bool(true)
            }
        };
        let mut conjuncts = std::mem::take(&mut run.facts);
        conjuncts.push(condition);
        formula.steps.push(terms.and(&conjuncts));
        formula.states.push(run.state.clone());
        formula
            .fresh
            .extend(run.fresh[known_fresh..].iter().cloned().map(|f| (index, f)));
        known_fresh = run.fresh.len();
    }
    formula.exact = run.exact;
    formula
}

fn formula(semantics: &Semantics<'_>, terms: &mut Terms, run: &Run) -> PathFormula {
    let mut edges = run.trace.clone();
    // The edge in which a run ends by a trap was not executed.
    if matches!(run.outcome, Outcome::Trapped { .. }) {
        edges.pop();
    }
    let steps = steps_of(semantics, &edges);
    path(semantics, terms, &steps)
}

fn session<'s>(semantics: &Semantics<'_>, terms: &mut Terms, formula: &PathFormula) -> Session<'s> {
    let mut session = Session::new(
        Box::new(Z3Solver::new(Z3Options::default())),
        Budget::unlimited(),
    );
    for axiom in semantics.axioms(terms) {
        session.assert(terms, axiom);
    }
    for &step in &formula.steps {
        session.assert(terms, step);
    }
    session
}

fn inputs_of(formula: &PathFormula) -> Vec<TermId> {
    formula
        .fresh
        .iter()
        .filter(|(_, fresh)| matches!(fresh.origin, FreshOrigin::Input(_)))
        .map(|(_, fresh)| fresh.term)
        .collect()
}

fn random_inputs(random: &mut Random) -> Vec<InputValue> {
    (0..12)
        .map(|_| {
            let value = match random.below(9) {
                0 => i64::from(i32::MAX),
                1 => i64::from(i32::MIN),
                n => n as i64 - 4,
            };
            InputValue::Int(i128::from(value))
        })
        .collect()
}

/// Whether the result of a run was the only one that its formula allows; `None` where the run
/// returned nothing or the formula is a guess.
fn only_result(name: &str, text: &str, inputs: Vec<InputValue>) -> Option<bool> {
    let loaded = loaded(text);
    let semantics = Semantics::new(&loaded.program, &loaded.points_to, Encoding::Bits);
    let run = run(&loaded, inputs);
    let mut terms = Terms::new();
    let formula = formula(&semantics, &mut terms, &run);
    let mut session = session(&semantics, &mut terms, &formula);
    let mut values = run.inputs.iter();
    for term in inputs_of(&formula) {
        let Some(consumed) = values.next() else { break };
        let Consumed::Scalar(value) = &consumed.value else {
            continue;
        };
        let width = terms.width(term);
        let constant = terms.bv(value.bits as i128, width);
        let same = terms.eq(term, constant);
        session.assert(&terms, same);
    }
    let answer = session.check(&terms, &[]);
    assert_eq!(answer, Answer::Sat, "{name}: {:?}\n{text}", run.outcome);
    let Outcome::Returned(Some(value)) = run.outcome else {
        return None;
    };
    let entry = loaded.program.function(loaded.program.entry);
    let result = entry.result.expect("main returns a value");
    let spot = loaded.points_to.variable(result).expect("it is stored");
    let region = loaded.points_to.regions().at(spot).expect("it is written");
    let state = formula.states.last().expect("there are steps");
    let id = semantics.layout.region(region);
    let term = state.get(&semantics, &mut terms, id);
    let width = terms.width(term);
    let constant = terms.bv(value.bits as i128, width);
    let same = terms.eq(term, constant);
    let other = terms.not(same);
    let answer = session.check(&terms, &[same]);
    assert_eq!(
        answer,
        Answer::Sat,
        "{name}: another result than {value:?}\n{text}"
    );
    formula
        .exact
        .then(|| session.check(&terms, &[other]) == Answer::Unsat)
}

#[test]
fn a_run_satisfies_its_formula_and_no_other_result_does() {
    let mut decided = 0;
    for seed in 1..1 + setting("HARDBOP_CASES", 150) {
        let text = case(seed).program;
        let mut random = Random::new(seed);
        let inputs = random_inputs(&mut random);
        if let Some(only) = only_result(&format!("seed {seed}"), &text, inputs) {
            assert!(only, "seed {seed}: other results are possible\n{text}");
            decided += 1;
        }
    }
    assert!(decided > 0);
}

/// A member that lies beyond the element of an array that shares the class of its struct.
#[test]
fn members_in_the_class_of_an_array() {
    let text = "
        struct two { int u; char v; };
        int a[3]; struct two s = {1, 2}, t; int *p;
        int main(void) { p = &a[1]; p = &s.u; p = &t.u; t = s; *p = 7; return 10 * t.u + t.v; }
    ";
    assert_eq!(only_result("members", text, Vec::new()), Some(true));
}

#[test]
fn a_model_is_a_run() {
    let mut replayed = 0;
    for seed in 1..1 + setting("HARDBOP_CASES", 150) {
        let text = case(seed).program;
        let loaded = loaded(&text);
        let semantics = Semantics::new(&loaded.program, &loaded.points_to, Encoding::Bits);
        let mut random = Random::new(seed);
        let first = run(&loaded, random_inputs(&mut random));
        let mut terms = Terms::new();
        let formula = formula(&semantics, &mut terms, &first);
        if !formula.exact {
            continue;
        }
        let mut session = session(&semantics, &mut terms, &formula);
        assert_eq!(
            session.check(&terms, &[]),
            Answer::Sat,
            "seed {seed}\n{text}"
        );
        let inputs = inputs_of(&formula);
        let values = session.values(&mut terms, &inputs).expect("a model");
        let inputs = values
            .into_iter()
            .map(|value| match value {
                Some(Value::BitVec(bits)) => {
                    InputValue::Bits(u128::try_from(bits.unsigned().clone()).expect("small"))
                }
                other => panic!("not a number: {other:?}"),
            })
            .collect();
        let second = run(&loaded, inputs);
        let common = first.trace.len().saturating_sub(1);
        assert!(
            second.trace.len() >= common && second.trace[..common] == first.trace[..common],
            "seed {seed}: the model takes another path\n{text}"
        );
        replayed += 1;
    }
    assert!(replayed > 0);
}

#[test]
fn effects_name_all_that_edges_write() {
    for seed in 1..1 + setting("HARDBOP_CASES", 40) {
        let text = case(seed).program;
        let loaded = loaded(&text);
        let program = &loaded.program;
        let semantics = Semantics::new(program, &loaded.points_to, Encoding::Bits);
        let effects = Effects::new(&semantics);
        let mut terms = Terms::new();
        for (index, edge) in program.edges.iter().enumerate() {
            let id = EdgeId(index as u32);
            let changed = effects.modified(program.locations[edge.from.index()].function);
            let check = |run: &Execution<'_, '_>, own: &BTreeSet<StateVarId>| {
                for (id, _) in run.state.written() {
                    let outside = semantics.layout.get(id).owner.is_none();
                    let named = if outside { changed } else { own };
                    let name = &semantics.layout.get(id).name;
                    assert!(named.contains(&id), "seed {seed}: {name}\n{text}");
                }
            };
            let mut run = Execution::new(&semantics);
            if let Op::Call { callee, .. } = &edge.op {
                for &target in callee.targets() {
                    let mut run = Execution::new(&semantics);
                    run.enter(&mut terms, id, target);
                    let own = run.state.written().map(|(id, _)| id).collect();
                    check(&run, &own);
                    run.leave(&mut terms);
                    let mut own = own;
                    written_by(&semantics, &edge.op, &mut own);
                    check(&run, &own);
                }
            } else if run.edge(&mut terms, id).is_ok() {
                let mut own = BTreeSet::new();
                written_by(&semantics, &edge.op, &mut own);
                check(&run, &own);
            }
        }
    }
}

/// With its inputs put in, the result of a run is computed as its terms are made, and is the
/// interpreter's.
fn result_is_computed(name: &str, text: &str, inputs: Vec<InputValue>) {
    let loaded = loaded(text);
    let semantics = Semantics::new(&loaded.program, &loaded.points_to, Encoding::Bits);
    let run = run(&loaded, inputs);
    let mut terms = Terms::new();
    let formula = formula(&semantics, &mut terms, &run);
    let mut known = BTreeMap::new();
    for (term, consumed) in inputs_of(&formula).into_iter().zip(&run.inputs) {
        if let Consumed::Scalar(value) = &consumed.value {
            let width = terms.width(term);
            known.insert(term, terms.bv(value.bits as i128, width));
        }
    }
    let Outcome::Returned(Some(value)) = run.outcome else {
        panic!("{name}: {:?}", run.outcome);
    };
    let never = terms.bool(false);
    for &step in &formula.steps {
        assert_ne!(
            terms.substitute(step, &known),
            never,
            "{name}: another way\n{text}"
        );
    }
    let entry = loaded.program.function(loaded.program.entry);
    let result = entry.result.expect("main returns a value");
    let spot = loaded.points_to.variable(result).expect("it is stored");
    let region = loaded.points_to.regions().at(spot).expect("it is written");
    let state = formula.states.last().expect("there are steps");
    let id = semantics.layout.region(region);
    let term = state.get(&semantics, &mut terms, id);
    let computed = terms.substitute(term, &known);
    let expected = terms.bv(value.bits as i128, terms.width(term));
    assert_eq!(
        computed, expected,
        "{name}: {:?} {value:?}\n{text}",
        run.inputs
    );
}

/// Operations on floats in all roundings, the mode among the inputs. Runs return one half of the
/// bits.
#[test]
fn floats_are_rounded_as_the_mode_says() {
    let head = "
        int fesetround(int); float fmaf(float, float, float); double fma(double, double, double);
        float sqrtf(float); double sqrt(double); float rintf(float); double rint(double);
        float remainderf(float, float);
        float __VERIFIER_nondet_float(void); double __VERIFIER_nondet_double(void);
        _Float16 __VERIFIER_nondet_half(void); long long __VERIFIER_nondet_longlong(void);
        int __VERIFIER_nondet_int(void);
    ";
    let float = ["float", "float", "unsigned", "0", "0"];
    let double = ["double", "double", "unsigned long long", "0", "32"];
    let half = ["_Float16", "half", "unsigned short", "0", "0"];
    let cases = [
        (float, "x + y"),
        (float, "x - y"),
        (float, "x * y"),
        (float, "x / y"),
        (float, "fmaf(x, y, z)"),
        (float, "sqrtf(x)"),
        (float, "rintf(x)"),
        (float, "(float)whole"),
        (float, "(float)(unsigned)whole"),
        (float, "remainderf(x, 3.0f)"),
        (double, "x + y"),
        (double, "x * y"),
        (double, "x / 3"),
        (double, "fma(x, y, z)"),
        (double, "rint(x)"),
        (double, "(double)whole"),
        (half, "x + y"),
        (half, "x * y"),
        (half, "x / y"),
        (half, "(_Float16)whole"),
    ];
    let mut random = Random::new(3);
    for ([ty, input, word, low, high], operation) in cases {
        for round in 0..setting("HARDBOP_CASES", 150) / 15 {
            let shift = if round / 4 % 2 == 0 { low } else { high };
            let text = format!(
                "{head}int main(void) {{
                   int mode = __VERIFIER_nondet_int() & 3;
                   {ty} x = __VERIFIER_nondet_{input}();
                   {ty} y = __VERIFIER_nondet_{input}();
                   {ty} z = __VERIFIER_nondet_{input}();
                   long long whole = __VERIFIER_nondet_longlong();
                   fesetround(mode << 10);
                   {ty} r = {operation};
                   if (r != r)
                     return 0;
                   union {{ {ty} number; {word} bits; }} u;
                   u.number = r;
                   return (int)(u.bits >> {shift});
                 }}"
            );
            // Numbers close to one, so that sums have something to round.
            let mut near = |ty: &str| {
                let any = random.below(1 << 32) as u128;
                InputValue::Bits(match ty {
                    "float" => 0x3f80_0000 ^ (any % (1 << 26)),
                    "double" => 0x3ff0_0000_0000_0000 ^ (any * any % (1 << 55)),
                    _ => 0x3c00 ^ (any % (1 << 13)),
                })
            };
            let operands = [near(ty), near(ty), near(ty)];
            let mut inputs = vec![InputValue::Int(i128::from(round))];
            inputs.extend(operands);
            inputs.push(InputValue::Int(i128::from(random.bits() as i64 >> 2)));
            result_is_computed(operation, &text, inputs);
        }
    }
}
