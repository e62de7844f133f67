//! Random small loops: every claim is compared to the concrete graph, state by state.
//!
//! `HARDBOP_CASES=N` sets how many loops are tried, `HARDBOP_SEED=S` where they start; with
//! `--nocapture` every suite says how many claims there were.

use crate::concrete::Enumeration;
use crate::support::run;
use hardbop_budget::Budget;
use hardbop_cfront::interp;
use hardbop_cfront::program::{Op, Program};
use hardbop_engine::Claim;
use hardbop_engine::claim::{self, Link};
use hardbop_gate::Outcome;
use hardbop_leap::Options;
use hardbop_leap::modal::{may, must_minus, must_plus};
use hardbop_leap::strengthen::{Directions, Entry, at, find, stay};
use hardbop_leap::system::{States, Step, System, Variable};
use hardbop_leap::theorem::{Ports, Theorem, View, holds};
use hardbop_logic::{Limits, Names, Prover, Sort, TermId, Terms, parse_term};
use hardbop_semantics::FreshOrigin;
use hardbop_semantics::replay::{Choice, replay};
use hardbop_test_support::inputs::load;
use hardbop_test_support::random::Random;
use hardbop_test_support::setting;
use std::collections::BTreeSet;
use std::fmt::Write;
use std::time::Duration;

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
            4 + random.below(5) as u32
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

    fn enumeration(&self) -> Enumeration {
        let Case {
            terms,
            system,
            width,
            rigid,
            choice,
        } = self;
        Enumeration::new(terms, system, *rigid, *choice, *width)
    }
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
        let concrete = case.enumeration();
        let (a, b) = (concrete.set(&case.terms, &a), concrete.set(&case.terms, &b));
        for rigid in 0..1 << case.width {
            let graph = concrete.graph(rigid);
            let (a, b) = (concrete.members(rigid, &a), concrete.members(rigid, &b));
            let mut image = vec![false; b.len()];
            for (state, successors) in graph.successors.iter().enumerate() {
                if !a[state] {
                    continue;
                }
                let into = successors.iter().any(|&next| b[next]);
                truly.0 |= into;
                truly.1 &= into;
                for &next in successors {
                    image[next] = true;
                }
            }
            truly.2 &= (0..b.len()).all(|state| !b[state] || image[state]);
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
    tell("must transitions", count, &claims);
    assert!(
        count < 50 || claims.iter().all(|&claims| claims > 0),
        "{claims:?}"
    );
}

/// Says how many claims were compared.
#[allow(clippy::print_stdout, reason = "a test that is told to speak speaks")]
fn tell(what: &str, count: u64, claims: &[u32]) {
    println!("{what}: {count} cases, {claims:?} claims, none false");
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
        // Some of the variables, other ones at every node.
        let mut view = Vec::new();
        for _ in 0..system.nodes {
            let kept = |_: &usize| random.below(2) == 0;
            view.push((0..system.variables.len()).filter(kept).collect());
        }
        let tried = [
            (Theorem::Forward, View::Whole),
            (Theorem::Backward, View::Whole),
            (Theorem::Forward, View::Of(view)),
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
            check_leap(&case, &ports, theorem, seed);
        }
    }
    tell("theorems", count, &claims);
    assert!(
        count < 100 || claims.iter().all(|&claims| claims > 0),
        "{claims:?}"
    );
}

/// Compares a claim to the graph, for every value of the rigid constant.
#[track_caller]
fn check_leap(case: &Case, ports: &Ports, theorem: Theorem, seed: u64) {
    let concrete = case.enumeration();
    let entry = concrete.set(&case.terms, &ports.entry);
    let exit = concrete.set(&case.terms, &ports.exit);
    for rigid in 0..1 << case.width {
        let graph = concrete.graph(rigid);
        let entry = concrete.members(rigid, &entry);
        let exit = concrete.members(rigid, &exit);
        let entered = || (0..entry.len()).filter(|&state| entry[state]);
        match theorem {
            Theorem::Forward => {
                for state in entered() {
                    let reached = graph.reachable([state]);
                    let left = (0..exit.len()).any(|state| exit[state] && reached[state]);
                    assert!(left, "seed {seed}, n = {rigid}: {state} reaches no exit");
                }
            }
            Theorem::Backward => {
                let reached = graph.reachable(entered());
                for state in (0..exit.len()).filter(|&state| exit[state]) {
                    assert!(
                        reached[state],
                        "seed {seed}, n = {rigid}: {state} is not reached"
                    );
                }
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
            conditions.extend(hardbop_logic::atoms(&mut case.terms, step.condition));
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
        // A leap is claimed where the loop is entered.
        let entered = stay(&mut case.terms, &system);
        let entered = at(&mut case.terms, &system, &entry.values, entered.0[0]);
        let mut ports = leap.ports;
        for port in &mut ports.exit.0 {
            *port = case.terms.and(&[*port, entered]);
        }
        check_leap(&case, &ports, leap.theorem, seed);
    }
    tell("leaps", count, &[found]);
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

/// The inputs that a chain names outside of loops.
fn choices(program: &Program, chain: &claim::Chain) -> Vec<Choice> {
    let mut found = Vec::new();
    for link in &chain.links {
        let Link::Walk(walk) = link else {
            continue;
        };
        for ((edge, _), text) in &walk.choices {
            if matches!(program.edges[edge.index()].op, Op::Input { .. }) {
                let mut terms = Terms::new();
                let literal = parse_term(&mut terms, &Names::default(), text).expect("a literal");
                found.push(Choice {
                    edge: *edge,
                    origin: FreshOrigin::Input(*edge),
                    value: terms.value_of(literal),
                });
            }
        }
    }
    found
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
        for (&check, outcome) in &report.report.outcomes {
            let Outcome::Violated(refutation) = outcome else {
                assert!(matches!(outcome, Outcome::Unknown(_)));
                continue;
            };
            let Claim::Chain(chain) = refutation.claim() else {
                panic!("seed {seed}: {:?}\n{text}", refutation.claim());
            };
            claimed += 1;
            let budget = Budget::unlimited();
            let run = replay(&program, &choices(&program, chain), check, &budget);
            let ran: Result<_, interp::Outcome> = run.map(|violation| violation.check);
            assert_eq!(ran, Ok(check), "seed {seed}\n{text}");
        }
    }
    tell("programs", count, &[claimed]);
    assert!(count < 20 || claimed > 0);
}
