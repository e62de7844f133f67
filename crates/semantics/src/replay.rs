//! Replay: a claimed run, executed by the interpreter on the program itself.

use crate::FreshOrigin;
use hardbop_budget::Budget;
use hardbop_cfront::ids::{CheckId, EdgeId, TypeId};
use hardbop_cfront::inline::Inlined;
use hardbop_cfront::interp::{Environment, Interpreter, Limits, Outcome, Request, Run, TraceMode};
use hardbop_cfront::program::{Op, Program};
use hardbop_logic::Value;
use std::collections::{BTreeMap, VecDeque};

/// A value that the program does not determine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice {
    /// The edge that meets it.
    pub edge: EdgeId,
    /// Where it comes from.
    pub origin: FreshOrigin,
    /// The value; `None` where the solver left it open.
    pub value: Option<Value>,
}

/// A run that violates a check, as the interpreter saw it.
#[derive(Clone, Debug)]
pub struct Violation {
    /// The check.
    pub check: CheckId,
    /// What happened: inputs, unknown contents, executed edges.
    pub run: Run,
}

/// The most edges that a replay executes.
const STEPS: u64 = 50_000_000;
/// The most executed edges that are kept for the report.
const TRACE: usize = 200_000;

/// Runs the program with given choices. Gives the run if it violates the check.
pub fn replay(
    program: &Program,
    choices: &[Choice],
    check: CheckId,
    budget: &Budget,
) -> Result<Violation, Outcome> {
    let mut environment = Chosen::new(program, choices);
    let limits = Limits {
        steps: STEPS,
        budget: budget.clone(),
        trace: TraceMode::First(TRACE),
        ..Limits::default()
    };
    let run = Interpreter::new(program).run(&mut environment, &limits);
    if run.outcome == Outcome::Violated(check) {
        Ok(Violation { check, run })
    } else {
        Err(run.outcome)
    }
}

/// The choices of a run of an inlined program, as choices of the program itself.
pub fn original_choices(inlined: &Inlined, choices: &[Choice]) -> Vec<Choice> {
    let original = |choice: &Choice| {
        let edge = inlined.edges[choice.edge.index()]?;
        Some(Choice {
            edge,
            ..choice.clone()
        })
    };
    choices.iter().filter_map(original).collect()
}

/// Answers with the choices, edge by edge in order; with zero beyond them.
struct Chosen {
    inputs: BTreeMap<EdgeId, VecDeque<u128>>,
    unknowns: BTreeMap<EdgeId, VecDeque<Vec<u8>>>,
}

impl Chosen {
    fn new(program: &Program, choices: &[Choice]) -> Chosen {
        let mut chosen = Chosen {
            inputs: BTreeMap::new(),
            unknowns: BTreeMap::new(),
        };
        for choice in choices {
            match (choice.origin, &program.edges[choice.edge.index()].op) {
                (FreshOrigin::Input(_), _) => {
                    let bits = choice.value.as_ref().map_or(0, bits_of);
                    let list = chosen.inputs.entry(choice.edge).or_default();
                    list.push_back(bits);
                }
                (_, Op::Call { .. }) => {}
                _ => {
                    let bytes = choice.value.as_ref().map_or_else(Vec::new, bytes_of);
                    let list = chosen.unknowns.entry(choice.edge).or_default();
                    list.push_back(bytes);
                }
            }
        }
        chosen
    }
}

fn bits_of(value: &Value) -> u128 {
    match value {
        Value::Bool(value) => u128::from(*value),
        Value::BitVec(bits) => u128::try_from(bits.unsigned().clone()).unwrap_or(0),
        Value::Int(value) => i128::try_from(value.clone()).unwrap_or(0) as u128,
        Value::Array(_) => 0,
    }
}

/// A value of any width as bytes, the lowest first.
fn bytes_of(value: &Value) -> Vec<u8> {
    match value {
        Value::BitVec(bits) => bits.unsigned().to_bytes_le(),
        value => bits_of(value).to_le_bytes().to_vec(),
    }
}

impl Environment for Chosen {
    fn input(&mut self, request: Request<'_>, _: TypeId) -> Option<u128> {
        let next = request
            .edge
            .and_then(|edge| self.inputs.get_mut(&edge)?.pop_front());
        Some(next.unwrap_or(0))
    }

    fn input_bytes(&mut self, _: Request<'_>, _: &mut [u8]) -> bool {
        true
    }

    fn unknown(&mut self, request: Request<'_>, bytes: &mut [u8]) {
        let next = request
            .edge
            .and_then(|edge| self.unknowns.get_mut(&edge)?.pop_front());
        for (byte, value) in bytes.iter_mut().zip(next.unwrap_or_default()) {
            *byte = value;
        }
    }
}
