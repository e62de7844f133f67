//! Random small loops: every claim is compared to the concrete graph, state by state.
//!
//! `HARDBOP_CASES=N` sets how many loops are tried, `HARDBOP_SEED=S` where they start.

use crate::support::{Random, load, run, setting};
use hardbop_budget::Budget;
use hardbop_cfront::interp;
use hardbop_leap::modal::{may, must_minus, must_plus};
use hardbop_leap::prover::Prover;
use hardbop_leap::strengthen::{Directions, Entry, find};
use hardbop_leap::system::{States, Step, System, Variable};
use hardbop_leap::theorem::{Ports, Theorem, View, holds};
use hardbop_leap::{Options, Outcome};
use hardbop_logic::{Assignment, BitVec, Limits, Op, Sort, TermId, Terms, Value, eval};
use hardbop_semantics::replay::replay;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::time::Duration;

/// A concrete state: the node and the values.
type Concrete = (usize, Vec<u64>);

/// A random system, with what its formulas are made of.
struct Case {
    terms: Terms,
    system: System,
    width: u32,
    rigid: TermId,
    choice: TermId,
}

impl Case {
    fn new(random: &mut Random) -> Case {
        let mut terms = Terms::new();
        let count = 1 + random.below(2) as usize;
        let width = if count == 1 {
            4 + random.below(4) as u32
        } else {
            4
        };
        let word = Sort::BitVec(width);
        let variables: Vec<Variable> = ["x", "y"][..count]
            .iter()
            .map(|name| Variable {
                name: (*name).to_owned(),
                constant: terms.constant(name, word),
                signed: random.below(2) == 0,
            })
            .collect();
        let rigid = terms.constant("n", word);
        let choice = terms.constant("i", Sort::BitVec(1));
        let nodes = 1 + (random.below(4) == 0) as usize;
        let given = terms.bool(true);
        let mut case = Case {
            system: System::new(&mut terms, variables, nodes, Vec::new(), given),
            terms,
            width,
            rigid,
            choice,
        };
        let mut steps = Vec::new();
        for _ in 0..1 + random.below(3) {
            steps.push(case.step(random));
        }
        let variables = case.system.variables.clone();
        case.system = System::new(&mut case.terms, variables, nodes, steps, given);
        case
    }

    fn step(&mut self, random: &mut Random) -> Step {
        let nodes = self.system.nodes as u64;
        let mut condition = self.formula(random, 1);
        let mut post = Vec::new();
        for at in 0..self.system.variables.len() {
            post.push(self.update(random, at));
        }
        let mut choices = Vec::new();
        if random.below(4) == 0 {
            choices.push(self.choice);
            let one = self.terms.bv(1, 1);
            let chosen = self.terms.eq(self.choice, one);
            match random.below(3) {
                0 => condition = self.terms.and(&[condition, chosen]),
                1 => {
                    let other = self.update(random, 0);
                    post[0] = self.terms.ite(chosen, other, post[0]);
                }
                _ => {}
            }
        }
        Step {
            from: random.below(nodes) as usize,
            to: random.below(nodes) as usize,
            condition,
            post,
            choices,
        }
    }

    fn literal(&mut self, random: &mut Random) -> TermId {
        let value = random.below(1 << self.width.min(4));
        self.terms.bv(i128::from(value), self.width)
    }

    fn operand(&mut self, random: &mut Random) -> TermId {
        let count = self.system.variables.len() as u64;
        match random.below(5) {
            0 => self.rigid,
            1 => self.literal(random),
            _ => self.system.variables[random.below(count) as usize].constant,
        }
    }

    fn update(&mut self, random: &mut Random, at: usize) -> TermId {
        let own = self.system.variables[at].constant;
        let small = self.terms.bv(1 + random.below(3) as i128, self.width);
        match random.below(9) {
            0..=2 => self.terms.bv_add(own, small),
            3 => self.terms.bv_sub(own, small),
            4 => own,
            5 => {
                let other = self.operand(random);
                self.terms.bv_add(own, other)
            }
            6 => self.operand(random),
            7 => {
                let other = self.operand(random);
                self.terms.bv_sub(other, own)
            }
            _ => {
                let other = self.literal(random);
                self.terms.bv_xor(own, other)
            }
        }
    }

    fn formula(&mut self, random: &mut Random, depth: u32) -> TermId {
        if depth > 0 && random.below(2) == 0 {
            let (a, b) = (
                self.formula(random, depth - 1),
                self.formula(random, depth - 1),
            );
            return if random.below(3) == 0 {
                self.terms.or(&[a, b])
            } else {
                self.terms.and(&[a, b])
            };
        }
        let (a, b) = (self.operand(random), self.operand(random));
        match random.below(8) {
            0 => self.terms.eq(a, b),
            1 => {
                let equal = self.terms.eq(a, b);
                self.terms.not(equal)
            }
            2 | 3 => self.terms.bv_slt(a, b),
            4 => self.terms.bv_sle(a, b),
            5 | 6 => self.terms.bv_ult(a, b),
            _ => self.terms.bool(true),
        }
    }

    fn set(&mut self, random: &mut Random) -> States {
        let nodes = self.system.nodes;
        States((0..nodes).map(|_| self.formula(random, 1)).collect())
    }

    fn assignment(&self, rigid: u64, state: &Concrete, choice: u64) -> Assignment {
        let mut assignment = Assignment::new();
        let word = |value: u64, width: u32| Value::BitVec(BitVec::new(value.into(), width));
        assignment.set(self.rigid, word(rigid, self.width));
        assignment.set(self.choice, word(choice, 1));
        for (variable, &value) in self.system.variables.iter().zip(&state.1) {
            assignment.set(variable.constant, word(value, self.width));
        }
        assignment
    }

    fn states(&self) -> Vec<Concrete> {
        let size = 1u64 << self.width;
        let mut values: Vec<Vec<u64>> = vec![Vec::new()];
        for _ in &self.system.variables {
            values = values
                .into_iter()
                .flat_map(|prefix| {
                    (0..size).map(move |value| {
                        let mut longer = prefix.clone();
                        longer.push(value);
                        longer
                    })
                })
                .collect();
        }
        (0..self.system.nodes)
            .flat_map(|node| values.iter().map(move |values| (node, values.clone())))
            .collect()
    }

    /// The concrete graph for one value of the rigid constant.
    fn graph(&self, rigid: u64) -> BTreeMap<Concrete, BTreeSet<Concrete>> {
        let mut graph = BTreeMap::new();
        for state in self.states() {
            let mut next = BTreeSet::new();
            for step in self.system.steps.iter().filter(|step| step.from == state.0) {
                for choice in 0..2 {
                    let assignment = self.assignment(rigid, &state, choice);
                    if !truth(&self.terms, step.condition, &assignment) {
                        continue;
                    }
                    let values = step.post.iter().map(|&post| {
                        let value = eval(&self.terms, post, &assignment).expect("a value");
                        number(&value)
                    });
                    next.insert((step.to, values.collect()));
                }
            }
            graph.insert(state, next);
        }
        graph
    }

    /// The states of a set. What it says of choices it says of some value of them.
    fn members(&self, rigid: u64, set: &States) -> BTreeSet<Concrete> {
        let mut terms = self.terms.clone();
        let plain: Vec<TermId> = set.0.iter().map(|&f| expanded(&mut terms, f)).collect();
        let inside = |state: &Concrete| {
            let assignment = self.assignment(rigid, state, 0);
            truth(&terms, plain[state.0], &assignment)
        };
        self.states().into_iter().filter(inside).collect()
    }
}

/// The same formula without quantifiers: those over single bits are written out.
fn expanded(terms: &mut Terms, formula: TermId) -> TermId {
    let mut map = BTreeMap::new();
    for term in terms.postorder(&[formula]) {
        if let Op::Exists(bound) = terms.op(term).clone() {
            let body = terms.args(term)[0];
            let mut ways = vec![body];
            for &bit in &bound {
                let mut longer = Vec::new();
                for value in 0..2 {
                    let value = terms.bv(value, 1);
                    for &way in &ways {
                        longer.push(terms.substitute(way, &[(bit, value)].into()));
                    }
                }
                ways = longer;
            }
            let some = terms.or(&ways);
            map.insert(term, some);
        }
    }
    terms.substitute(formula, &map)
}

fn truth(terms: &Terms, formula: TermId, assignment: &Assignment) -> bool {
    let value = eval(terms, formula, assignment).expect("a formula without quantifiers");
    value == Value::Bool(true)
}

fn number(value: &Value) -> u64 {
    match value {
        Value::BitVec(bits) => u64::try_from(bits.unsigned().clone()).expect("a small word"),
        other => panic!("{other:?} is not a word"),
    }
}

/// What can be reached, the start included.
fn reachable(
    graph: &BTreeMap<Concrete, BTreeSet<Concrete>>,
    from: impl IntoIterator<Item = Concrete>,
) -> BTreeSet<Concrete> {
    let mut seen: BTreeSet<Concrete> = from.into_iter().collect();
    let mut work: Vec<Concrete> = seen.iter().cloned().collect();
    while let Some(state) = work.pop() {
        for next in &graph[&state] {
            if seen.insert(next.clone()) {
                work.push(next.clone());
            }
        }
    }
    seen
}

fn prover() -> Prover {
    let limits = Limits {
        time: Some(Duration::from_secs(5)),
        steps: None,
    };
    Prover::new(Budget::unlimited(), limits)
}

fn cases(default: u64) -> (u64, u64) {
    (
        setting("HARDBOP_SEED", 1),
        setting("HARDBOP_CASES", default),
    )
}

/// Values of the rigid constant to look at: all of them for small words.
fn rigid_values(width: u32) -> Vec<u64> {
    let size = 1u64 << width;
    (0..size).step_by((size / 16).max(1) as usize).collect()
}

#[test]
fn must_transitions_are_what_the_graph_has() {
    let (first, count) = cases(60);
    let mut claims = [0; 3];
    for seed in first..first + count {
        let mut random = Random(seed);
        let mut case = Case::new(&mut random);
        let mut prover = prover();
        let (a, b) = (case.set(&mut random), case.set(&mut random));
        let system = case.system.clone();
        let may = may(&mut prover, &mut case.terms, &system, &a, &b);
        let plus = must_plus(&mut prover, &mut case.terms, &system, &a, &b);
        let minus = must_minus(&mut prover, &mut case.terms, &system, &a, &b);
        let mut truly = (false, true, true);
        for rigid in 0..1 << case.width {
            let graph = case.graph(rigid);
            let (a, b) = (case.members(rigid, &a), case.members(rigid, &b));
            truly.0 |= a.iter().any(|state| !graph[state].is_disjoint(&b));
            truly.1 &= a.iter().all(|state| !graph[state].is_disjoint(&b));
            let image: BTreeSet<&Concrete> = a.iter().flat_map(|state| &graph[state]).collect();
            truly.2 &= b.iter().all(|state| image.contains(state));
        }
        // May and must+ are exact; must- may miss a predecessor, but makes none up.
        if let Ok(may) = may {
            assert_eq!(may, truly.0, "seed {seed}: may");
            claims[0] += u32::from(may);
        }
        if let Ok(plus) = plus {
            assert_eq!(plus, truly.1, "seed {seed}: must+");
            claims[1] += u32::from(plus);
        }
        if minus == Ok(true) {
            assert!(truly.2, "seed {seed}: must-");
            claims[2] += 1;
        }
    }
    assert!(
        count < 50 || claims.iter().all(|&claims| claims > 0),
        "{claims:?}"
    );
}

#[test]
fn theorems_claim_only_what_the_graph_has() {
    let (first, count) = cases(150);
    let mut claims = [0; 3];
    for seed in first..first + count {
        let mut random = Random(seed ^ 0x5eed_0000);
        let mut case = Case::new(&mut random);
        let a = case.set(&mut random);
        let (e, x) = (case.set(&mut random), case.set(&mut random));
        let entry = a.and(&mut case.terms, &e);
        // Half of the time the exit port is the right one: whatever has no successor inside.
        let system = case.system.clone();
        let exit = if random.below(2) == 0 {
            a.and(&mut case.terms, &x)
        } else {
            let stays = hardbop_leap::modal::exit_port(&mut case.terms, &system, &a, &a);
            a.without(&mut case.terms, &stays)
        };
        let ports = Ports {
            state: a,
            entry,
            exit,
        };
        let mut prover = prover();
        let at = random.below(system.variables.len() as u64) as usize;
        let tried = [
            (Theorem::Forward, View::Whole),
            (Theorem::Backward, View::Whole),
            (Theorem::Forward, View::Of(vec![at])),
        ];
        for (index, (theorem, view)) in tried.into_iter().enumerate() {
            let result = holds(
                &mut prover,
                &mut case.terms,
                &system,
                &ports,
                theorem,
                &view,
            );
            if result != Ok(Ok(())) {
                continue;
            }
            claims[index] += 1;
            for rigid in rigid_values(case.width) {
                check_leap(&case, rigid, &ports, theorem, seed);
            }
        }
    }
    assert!(
        count < 100 || claims.iter().all(|&claims| claims > 0),
        "{claims:?}"
    );
}

fn check_leap(case: &Case, rigid: u64, ports: &Ports, theorem: Theorem, seed: u64) {
    let graph = case.graph(rigid);
    let entry = case.members(rigid, &ports.entry);
    let exit = case.members(rigid, &ports.exit);
    match theorem {
        Theorem::Forward => {
            for state in entry {
                let reached = reachable(&graph, [state.clone()]);
                assert!(
                    !reached.is_disjoint(&exit),
                    "seed {seed}, n = {rigid}: {state:?} reaches no exit"
                );
            }
        }
        Theorem::Backward => {
            let reached = reachable(&graph, entry);
            for state in exit {
                assert!(
                    reached.contains(&state),
                    "seed {seed}, n = {rigid}: {state:?} is not reached"
                );
            }
        }
    }
}

#[test]
fn leaps_that_are_found_are_runs() {
    let (first, count) = cases(60);
    let mut found = 0;
    for seed in first..first + count {
        let mut random = Random(seed ^ 0x1ea9_0000);
        let mut case = Case::new(&mut random);
        let start: Vec<u64> = case
            .system
            .variables
            .iter()
            .map(|_| random.below(1 << case.width))
            .collect();
        let values: Vec<TermId> = start
            .iter()
            .map(|&value| match random.below(4) {
                0 => case.rigid,
                _ => case.terms.bv(i128::from(value), case.width),
            })
            .collect();
        let entry = Entry { node: 0, values };
        let mut conditions = BTreeSet::new();
        for step in &case.system.steps {
            conditions.extend(hardbop_newton::atoms::atoms(
                &mut case.terms,
                step.condition,
            ));
        }
        conditions.retain(|&condition| {
            let free = case.terms.free_constants(&[condition]);
            !free.contains(&case.choice)
        });
        let system = case.system.clone();
        let result = find(
            &mut prover(),
            &mut case.terms,
            &system,
            &entry,
            &conditions,
            None,
            Directions::Both,
        );
        let Ok(leap) = result else {
            continue;
        };
        found += 1;
        for rigid in rigid_values(case.width) {
            check_leap(&case, rigid, &leap.ports, leap.theorem, seed);
        }
    }
    assert!(count < 50 || found > 0);
}

/// A random C program over eight-bit numbers: a loop or two, then a check.
fn program(random: &mut Random) -> String {
    let types = ["unsigned char", "signed char"];
    let ty = types[random.below(2) as usize];
    let mut text = String::from(
        "extern unsigned char __VERIFIER_nondet_uchar(void); extern void reach_error(void);\n",
    );
    let _ = writeln!(text, "int main(void) {{");
    let _ = writeln!(text, "  {ty} n = __VERIFIER_nondet_uchar();");
    let _ = writeln!(
        text,
        "  {ty} x = {}, y = {};",
        random.below(8),
        random.below(8)
    );
    for _ in 0..1 + random.below(2) {
        let bound = ["n", "100", "y", "50"][random.below(4) as usize];
        let relation = ["<", "<", "!=", ">"][random.below(4) as usize];
        let _ = writeln!(text, "  while (x {relation} {bound}) {{");
        let mut statement = |indent: &str, random: &mut Random| {
            let step = 1 + random.below(3);
            let statements = [
                format!("x += {step};"),
                format!("x -= {step};"),
                format!("y += {step};"),
                format!("y -= {step};"),
                "y = x;".to_owned(),
                "y += x;".to_owned(),
                "x++;".to_owned(),
            ];
            let chosen = &statements[random.below(statements.len() as u64) as usize];
            let _ = writeln!(text, "{indent}{chosen}");
        };
        statement("    ", random);
        if random.below(2) == 0 {
            let tests = ["x < 30", "y < x", "x & 1", "y == 7"];
            let test = tests[random.below(4) as usize];
            let mut branch = String::new();
            let _ = writeln!(branch, "    if ({test}) {{ y += 1; }} else {{ x += 1; }}");
            text.push_str(&branch);
        } else {
            statement("    ", random);
        }
        text.push_str("  }\n");
    }
    let goals = ["x == 100", "y > 20", "x > y", "y == 13", "x == n"];
    let goal = goals[random.below(goals.len() as u64) as usize];
    let _ = writeln!(text, "  if ({goal}) reach_error();\n  return 0;\n}}");
    text
}

/// Claims without a replay, for programs whose runs are short enough to be replayed after all.
#[test]
fn claims_without_a_replay_replay() {
    let (first, count) = cases(25);
    let mut claimed = 0;
    for seed in first..first + count {
        let text = program(&mut Random(seed ^ 0xc1a1_0000));
        let (program, points_to) = load(&text);
        let options = Options {
            replay_steps: 0,
            chains: 4,
            query_time: Duration::from_secs(1),
            ..Options::default()
        };
        let report = run(&program, &points_to, &options, 4);
        for (&check, outcome) in &report.outcomes {
            let Outcome::Leaped(claim) = outcome else {
                assert!(matches!(outcome, Outcome::Unknown(_)));
                continue;
            };
            claimed += 1;
            let budget = Budget::unlimited();
            let run = replay(&program, &claim.choices, check, &budget);
            let ran: Result<_, interp::Outcome> = run.map(|violation| violation.check);
            assert_eq!(ran, Ok(check), "seed {seed}\n{text}");
        }
    }
    assert!(count < 20 || claimed > 0);
}
