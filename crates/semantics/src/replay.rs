//! Replay: a claimed run, executed by the interpreter on the program itself.

use crate::FreshOrigin;
use hardbop_budget::Budget;
use hardbop_cfront::derived::Derived;
use hardbop_cfront::ids::{CheckId, EdgeId, ExprId, TypeId, VarId};
use hardbop_cfront::interp::{
    Environment, Interpreter, Limits, Observer, Outcome, Request, Run, State, TraceMode,
};
use hardbop_cfront::program::{BinaryOp, ExprKind, Op, PlaceKind, Program, Variable};
use hardbop_logic::Value;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

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

/// The most objects that each variable of a rule is tried with.
const OBJECTS: usize = 64;

/// Runs the program with given choices. Gives the run if it violates the check.
///
/// Where rules watch objects, the choices do not say which: the addresses of the interpreter are
/// its own. So the program is run once to see which objects come up, and then once for each.
pub fn replay(
    program: &Program,
    choices: &[Choice],
    check: CheckId,
    budget: &Budget,
) -> Result<Violation, Outcome> {
    let interpreter = Interpreter::new(program);
    let attempt = |objects: &BTreeMap<VarId, u128>, met: &mut Met<'_>| {
        let mut zeros = Zeros;
        let mut environment = Chosen::new(program, choices, objects, &mut zeros);
        let limits = Limits {
            steps: STEPS,
            budget: budget.clone(),
            trace: TraceMode::First(TRACE),
            ..Limits::default()
        };
        let run = if met.subjects.is_empty() {
            interpreter.run(&mut environment, &limits)
        } else {
            interpreter.run_observed(&mut environment, &limits, met)
        };
        if run.outcome == Outcome::Violated(check) {
            Ok(Violation { check, run })
        } else {
            Err(run.outcome)
        }
    };
    let mut met = Met::new(program);
    let first = attempt(&BTreeMap::new(), &mut met);
    // Only the rule that the check belongs to must see its objects.
    let rule = match program.rule_at(program.checks[check.index()].source) {
        Some(rule) if first.is_err() => rule,
        _ => return first,
    };
    // Each object of the rule has candidates: variables with the values that choose it.
    let addresses = rule.objects.iter().map(|object| {
        let values = met.values.get(object).cloned().unwrap_or_default();
        values
            .into_iter()
            .map(|value| Some((*object, value)))
            .collect()
    });
    let flags = rule.choices.iter().map(|flags| {
        let chosen = flags.iter().map(|&flag| Some((flag, 1)));
        [None].into_iter().chain(chosen).collect()
    });
    let mut tries: Vec<BTreeMap<VarId, u128>> = vec![BTreeMap::new()];
    for candidates in addresses.chain(flags) {
        let candidates: Vec<Option<(VarId, u128)>> = candidates;
        let with = |known: &BTreeMap<VarId, u128>| {
            let known = known.clone();
            candidates.clone().into_iter().map(move |candidate| {
                let mut objects = known.clone();
                objects.extend(candidate);
                objects
            })
        };
        tries = tries
            .iter()
            .flat_map(with)
            .take(OBJECTS * OBJECTS)
            .collect();
    }
    let mut nothing = Met::default();
    for objects in tries.into_iter().filter(|objects| !objects.is_empty()) {
        if let Err(stopped) = budget.check() {
            return Err(Outcome::Stopped(stopped));
        }
        if let Ok(violation) = attempt(&objects, &mut nothing) {
            return Ok(violation);
        }
    }
    first
}

/// Notes what is compared with the objects that rules watch.
#[derive(Default)]
struct Met<'p> {
    /// The comparisons: for a condition, the object and what it is compared with.
    subjects: BTreeMap<ExprId, (VarId, ExprId)>,
    /// What came up, in order.
    values: BTreeMap<VarId, Vec<u128>>,
    program: Option<&'p Program>,
}

impl<'p> Met<'p> {
    fn new(program: &'p Program) -> Met<'p> {
        let mut met = Met {
            program: Some(program),
            ..Met::default()
        };
        let objects: BTreeSet<VarId> = program
            .rules
            .iter()
            .flat_map(|rule| &rule.objects)
            .copied()
            .collect();
        if objects.is_empty() {
            return met;
        }
        for edge in &program.edges {
            if let Op::Assume { condition, .. } = edge.op
                && let ExprKind::Binary(BinaryOp::Eq, value, object) = program.expr(condition).kind
                && let ExprKind::Load(place) = program.expr(object).kind
                && let PlaceKind::Var(object) = program.place(place).kind
                && objects.contains(&object)
            {
                met.subjects.insert(condition, (object, value));
            }
        }
        met
    }
}

impl Observer for Met<'_> {
    fn edge(&mut self, edge: EdgeId, state: &mut State<'_, '_>) {
        let Some(program) = self.program else { return };
        let Op::Assume { condition, .. } = program.edges[edge.index()].op else {
            return;
        };
        let Some(&(object, value)) = self.subjects.get(&condition) else {
            return;
        };
        let known = self.values.entry(object).or_default();
        if known.len() < OBJECTS
            && let Ok(Some(value)) = state.eval(value)
            && !known.contains(&value.bits)
        {
            known.push(value.bits);
        }
    }
}

/// The choices of a run of an inlined program, as choices of the program itself.
pub fn original_choices(program: &Program, inlined: &Derived, choices: &[Choice]) -> Vec<Choice> {
    // A copy of a variable is declared where the variable is.
    let declared = |variable: &Variable| (variable.source, variable.name.clone());
    let ids = (0..program.variables.len() as u32).map(VarId);
    let known: BTreeMap<_, VarId> = ids.map(|id| (declared(program.variable(id)), id)).collect();
    let original = |choice: &Choice| {
        let edge = inlined.edges[choice.edge.index()];
        if let FreshOrigin::Uninitialised(copy) = choice.origin {
            let variable = known.get(&declared(inlined.program.variable(copy)))?;
            return Some(Choice {
                edge: edge.unwrap_or(EdgeId(0)),
                origin: FreshOrigin::Uninitialised(*variable),
                value: choice.value.clone(),
            });
        }
        Some(Choice {
            edge: edge?,
            ..choice.clone()
        })
    };
    choices.iter().filter_map(original).collect()
}

/// Answers with choices, edge by edge in order; beyond them, as somebody else does.
pub struct Chosen<'e> {
    inputs: BTreeMap<EdgeId, VecDeque<Option<u128>>>,
    unknowns: BTreeMap<EdgeId, VecDeque<Option<Vec<u8>>>>,
    /// What variables hold before they are written, by activation.
    variables: BTreeMap<VarId, VecDeque<Option<Vec<u8>>>>,
    /// What lies at an address of the outside.
    outside: BTreeMap<u64, Vec<u8>>,
    objects: BTreeMap<VarId, u128>,
    otherwise: &'e mut dyn Environment,
}

impl<'e> Chosen<'e> {
    /// Answers with choices, and where they say nothing, as another one does.
    pub fn or(
        program: &Program,
        choices: &[Choice],
        otherwise: &'e mut dyn Environment,
    ) -> Chosen<'e> {
        Chosen::new(program, choices, &BTreeMap::new(), otherwise)
    }

    fn new(
        program: &Program,
        choices: &[Choice],
        objects: &BTreeMap<VarId, u128>,
        otherwise: &'e mut dyn Environment,
    ) -> Chosen<'e> {
        let mut chosen = Chosen {
            inputs: BTreeMap::new(),
            unknowns: BTreeMap::new(),
            variables: BTreeMap::new(),
            outside: BTreeMap::new(),
            objects: objects.clone(),
            otherwise,
        };
        for choice in choices {
            let bytes = || choice.value.as_ref().map(bytes_of);
            match (choice.origin, &program.edges[choice.edge.index()].op) {
                (FreshOrigin::Input(_), _) => {
                    let bits = choice.value.as_ref().map(bits_of);
                    let list = chosen.inputs.entry(choice.edge).or_default();
                    list.push_back(bits);
                }
                (FreshOrigin::Outside(address), _) => {
                    let known = chosen.outside.entry(address);
                    known.or_insert_with(|| bytes().unwrap_or_default());
                }
                (FreshOrigin::Uninitialised(variable), op) if !matches!(op, Op::Declare { variable: declared } if *declared == variable) =>
                {
                    let list = chosen.variables.entry(variable).or_default();
                    list.push_back(bytes());
                }
                (_, Op::Call { .. }) => {}
                _ => {
                    let list = chosen.unknowns.entry(choice.edge).or_default();
                    list.push_back(bytes());
                }
            }
        }
        chosen
    }
}

/// Answers with zeros.
struct Zeros;

impl Environment for Zeros {
    fn input(&mut self, _: Request<'_>, _: TypeId) -> Option<u128> {
        Some(0)
    }

    fn input_bytes(&mut self, _: Request<'_>, _: &mut [u8]) -> bool {
        true
    }

    fn unknown(&mut self, _: Request<'_>, _: &mut [u8]) {}
}

fn bits_of(value: &Value) -> u128 {
    match value {
        Value::Bool(value) => u128::from(*value),
        Value::BitVec(bits) => u128::try_from(bits.unsigned().clone()).unwrap_or(0),
        Value::Int(value) => i128::try_from(value.clone()).unwrap_or(0) as u128,
        Value::Array(_) => 0,
    }
}

fn fill(bytes: &mut [u8], from: &[u8]) {
    for (byte, value) in bytes.iter_mut().zip(from) {
        *byte = *value;
    }
}

/// A value of any width as bytes, the lowest first.
fn bytes_of(value: &Value) -> Vec<u8> {
    match value {
        Value::BitVec(bits) => bits.unsigned().to_bytes_le(),
        value => bits_of(value).to_le_bytes().to_vec(),
    }
}

impl Environment for Chosen<'_> {
    fn input(&mut self, request: Request<'_>, ty: TypeId) -> Option<u128> {
        let next = request
            .edge
            .and_then(|edge| self.inputs.get_mut(&edge)?.pop_front());
        match next.flatten() {
            Some(bits) => Some(bits),
            None => self.otherwise.input(request, ty),
        }
    }

    fn input_bytes(&mut self, request: Request<'_>, bytes: &mut [u8]) -> bool {
        self.otherwise.input_bytes(request, bytes)
    }

    fn unknown(&mut self, request: Request<'_>, bytes: &mut [u8]) {
        let next = request
            .edge
            .and_then(|edge| self.unknowns.get_mut(&edge)?.pop_front());
        match next.flatten() {
            Some(known) => fill(bytes, &known),
            None => self.otherwise.unknown(request, bytes),
        }
    }

    fn unknown_variable(&mut self, request: Request<'_>, variable: VarId, bytes: &mut [u8]) {
        match self.objects.get(&variable) {
            Some(bits) => fill(bytes, &bits.to_le_bytes()),
            None => match self.variables.get_mut(&variable).map(VecDeque::pop_front) {
                Some(Some(Some(known))) => fill(bytes, &known),
                Some(_) => self.otherwise.unknown_variable(request, variable, bytes),
                None => self.unknown(request, bytes),
            },
        }
    }

    fn outside(&mut self, request: Request<'_>, address: u64, bytes: &mut [u8]) {
        match self.outside.get(&address) {
            Some(known) => fill(bytes, known),
            None => self.otherwise.outside(request, address, bytes),
        }
    }
}
