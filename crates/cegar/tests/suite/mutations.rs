//! Mutations of proofs: certificates and programs with one thing broken.
//!
//! A certificate may be changed and still prove the checks: a conjunct that nothing needs can go.
//! So what the gate says of a mutant is compared to what is true of it. For certificates that is
//! decided path by path: between two cut points every path is followed on its own, edge by edge,
//! where the gate asks about whole blocks. For programs it is decided by running them on all
//! their inputs.

use hardbop_budget::Budget;
use hardbop_cfront::ids::{CheckId, EdgeId, LocId};
use hardbop_cfront::interp::{self, Interpreter};
use hardbop_cfront::points_to;
use hardbop_cfront::program::{LocationKind, Op, Program};
use hardbop_engine::{Claim, Reason, claim};
use hardbop_gate::Gate;
use hardbop_logic::atoms;
use hardbop_logic::{Answer, Limits, Op as TermOp, Session, TermId, Terms, Z3Options, Z3Solver};
use hardbop_model::{Model, Prepared, View};
use hardbop_newton::exact::Translation;
use hardbop_newton::refine::{Invariants, Refiner};
use hardbop_semantics::constants::{Constants, Meaning, Spelling};
use hardbop_semantics::effects::Effects;
use hardbop_semantics::skeleton::{Point, Skeleton, SkeletonEdge, SkeletonEdgeKind};
use hardbop_semantics::steps::Ground;
use hardbop_semantics::{Encoding, Execution, Overflow, Semantics, State};
use hardbop_test_support::inputs::{AllInputs, load};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

const PRELUDE: &str =
    "extern unsigned char __VERIFIER_nondet_uchar(void); void reach_error(void);\n";

const LOOP: &str = "int main(void) {
  int n = __VERIFIER_nondet_uchar(), x = 0, y = 0;
  while (x < n) { x++; y++; }
  if (x != n || y != n) reach_error();
  return 0;
}";

const LOCK: &str = "int lock, count;
void acquire(void) { if (lock) reach_error(); lock = 1; }
void release(void) { if (!lock) reach_error(); lock = 0; }
int main(void) {
  int packets = __VERIFIER_nondet_uchar(), old, more = 3;
  do {
    acquire();
    old = packets;
    if (packets > 250) { release(); packets++; count++; if (packets > 260) packets = 0; }
  } while (packets != old);
  release();
  return 0;
}";

const RECURSION: &str = "int depth;
int down(int n) {
  int rest;
  if (n <= 0) return 0;
  depth = 1;
  rest = down(n - 1);
  return rest + 1;
}
int main(void) {
  int n = __VERIFIER_nondet_uchar(), r = down(n);
  if (r != n) reach_error();
  return 0;
}";

const GLOBALS: &str = "int low = 3, high = 3;
void move(int to) { low = to; high = to; }
int main(void) {
  int n = __VERIFIER_nondet_uchar();
  while (n > 0) { move(n); n--; }
  if (high != low) reach_error();
  return 0;
}";

const PROGRAMS: &[&str] = &[LOOP, LOCK, RECURSION, GLOBALS];

/// What is known of a program, however it was mutated.
struct House<'p> {
    model: &'p Model<'p>,
    semantics: &'p Semantics<'p>,
    effects: &'p Effects,
    skeleton: &'p Skeleton,
    constants: Constants,
    spelling: Spelling,
    errors: Vec<LocId>,
}

/// A program with its calls as they are: invariants of procedures are mutated, too.
fn prepared(program: &Program) -> Prepared {
    let budget = Budget::unlimited();
    let points_to = points_to::analyse(program, &budget).expect("nothing limits it");
    Prepared::after(&[], program, points_to, &budget).expect("nothing limits it")
}

/// Invariants by location.
#[derive(Clone, Debug)]
struct Certificate {
    invariants: BTreeMap<LocId, TermId>,
}

impl<'p> House<'p> {
    fn new(model: &'p Model<'p>, terms: &mut Terms) -> House<'p> {
        let View {
            program,
            semantics,
            effects,
            skeleton,
            ..
        } = &model.flat;
        let locations = (0..program.locations.len() as u32).map(LocId);
        let is_error =
            |at: &LocId| matches!(program.locations[at.index()].kind, LocationKind::Error(_));
        House {
            model,
            effects,
            skeleton,
            constants: Constants::new(semantics, terms),
            spelling: Spelling::new(semantics, terms),
            errors: locations.filter(is_error).collect(),
            semantics,
        }
    }

    /// A certificate that none of the program's checks is violated, from a solution of its Horn
    /// clauses over the integers.
    fn prove(&self, terms: &mut Terms) -> Certificate {
        let encoding = Encoding::Integers {
            overflow: Overflow::Ignored,
        };
        let semantics = self.semantics;
        let guess = Semantics::new(semantics.program, semantics.points_to, encoding);
        let constants = Constants::new(&guess, terms);
        let refiner = Refiner {
            ground: Ground {
                semantics: &guess,
                effects: self.effects,
                skeleton: self.skeleton,
                constants: &constants,
            },
        };
        let errors = self.errors.iter();
        let targets = errors
            .filter_map(|&error| self.skeleton.vertex_at(error))
            .collect();
        let limits = Limits {
            time: Some(Duration::from_secs(120)),
            steps: None,
        };
        let budget = Budget::unlimited();
        let found = refiner.invariants(terms, &targets, limits, &budget);
        let Invariants::Found(invariants) = found else {
            panic!("no invariants: {found:?}");
        };
        let mut translation = Translation::new(&constants, semantics);
        let invariants = invariants.into_iter().map(|(at, formula)| {
            let exact = translation.formula(terms, formula);
            (at, exact.expect("the invariant has an exact meaning"))
        });
        Certificate {
            invariants: invariants.collect(),
        }
    }

    fn is_certified(&self, terms: &mut Terms, certificate: &Certificate) -> bool {
        let mut at = BTreeMap::new();
        for (&location, &formula) in &certificate.invariants {
            let text = self.spelling.write(terms, formula);
            at.insert(location, text.expect("a formula about the state"));
        }
        let checks = 0..self.model.program.checks.len() as u32;
        let claim = Claim::Invariants(claim::Invariants {
            checks: checks.map(CheckId).collect(),
            cuts: self.skeleton.cuts.iter().copied().collect(),
            at,
            ..claim::Invariants::default()
        });
        let gate = Gate::new(self.model, Budget::unlimited());
        match gate.check(claim) {
            Ok(_) => true,
            Err(Reason::Certificate) => false,
            Err(reason) => panic!("{reason}"),
        }
    }
}

fn session() -> Session<'static> {
    Session::new(
        Box::new(Z3Solver::new(Z3Options::default())),
        Budget::unlimited(),
    )
}

/// The truth about a certificate, path by path.
struct Truth<'a, 'p> {
    house: &'a House<'p>,
    certificate: &'a Certificate,
}

impl Truth<'_, '_> {
    fn is_proof(&self, terms: &mut Terms, session: &mut Session<'_>) -> bool {
        let skeleton = &self.house.skeleton;
        let admitted = |error: &LocId| {
            let formula = self.certificate.invariants.get(error);
            formula.is_some_and(|&formula| terms.op(formula) != &TermOp::Bool(false))
        };
        if self.house.errors.iter().any(admitted) {
            return false;
        }
        let axioms = self.house.semantics.axioms(terms);
        for edge in &skeleton.edges {
            for mut question in self.questions(terms, edge) {
                question.extend(&axioms);
                match session.check(terms, &question) {
                    Answer::Unsat => {}
                    Answer::Sat => return false,
                    Answer::Unknown(why) => panic!("the solver does not know: {why}"),
                }
            }
        }
        true
    }

    /// What is claimed at a location, of a state and of the state at the function's entry. Where
    /// there is no `old`, that state is not told apart from what the claims before say of it.
    fn claim(&self, terms: &mut Terms, at: LocId, now: &State, old: Option<&State>) -> TermId {
        let Some(&formula) = self.certificate.invariants.get(&at) else {
            return terms.bool(false);
        };
        let semantics = self.house.semantics;
        let mut map = BTreeMap::new();
        for constant in terms.free_constants(&[formula]) {
            let value = match (self.house.constants.meaning(constant), old) {
                (Some(Meaning::Now(id)), _) => now.get(semantics, terms, id),
                (Some(Meaning::Old(id)), Some(old)) => old.get(semantics, terms, id),
                _ => continue,
            };
            map.insert(constant, value);
        }
        terms.substitute(formula, &map)
    }

    /// Conjunctions that must be unsatisfiable for an edge of the skeleton.
    fn questions(&self, terms: &mut Terms, edge: &SkeletonEdge) -> Vec<Vec<TermId>> {
        let semantics = self.house.semantics;
        let program = semantics.program;
        let any = State::new();
        let mut run = Execution::new(semantics);
        match edge.kind {
            SkeletonEdgeKind::Start => {
                run.start(terms);
                let entry = program.function(program.entry).entry;
                let after = self.claim(terms, entry, &run.state, Some(&run.state));
                let mut question = run.facts;
                question.push(terms.not(after));
                vec![question]
            }
            SkeletonEdgeKind::Call(None, _) => Vec::new(),
            SkeletonEdgeKind::Block(from, to) => {
                let mut questions = Vec::new();
                for path in paths(program, &self.house.skeleton.cuts, from, to) {
                    let mut run = Execution::new(semantics);
                    let mut question = vec![self.claim(terms, from, &any, None)];
                    for edge in path {
                        question.push(run.edge(terms, edge).expect("the edge has a meaning"));
                    }
                    let after = self.claim(terms, to, &run.state, None);
                    question.push(terms.not(after));
                    question.append(&mut run.facts);
                    questions.push(question);
                }
                questions
            }
            SkeletonEdgeKind::Call(Some(call), callee) => {
                let from = program.edges[call.index()].from;
                let before = self.claim(terms, from, &any, None);
                let passes = run.enter(terms, call, callee);
                let entry = program.function(callee).entry;
                let after = self.claim(terms, entry, &run.state, Some(&run.state));
                let mut question = run.facts;
                question.extend([before, passes, terms.not(after)]);
                vec![question]
            }
            SkeletonEdgeKind::Return(call, callee) => {
                let site = &program.edges[call.index()];
                let before = self.claim(terms, site.from, &any, None);
                let passes = run.enter(terms, call, callee);
                let entered = run.state.clone();
                let own = semantics.frame_variables(callee);
                let changed = self.house.effects.modified(callee).iter().copied();
                for id in changed.chain(own) {
                    let sort = semantics.sort(terms, id);
                    let unknown = terms.fresh("left", sort);
                    run.state.set(id, unknown);
                }
                let exit = program.function(callee).exit;
                let left = self.claim(terms, exit, &run.state, Some(&entered));
                run.leave(terms);
                let after = self.claim(terms, site.to, &run.state, None);
                let mut question = run.facts;
                question.extend([before, passes, left, terms.not(after)]);
                vec![question]
            }
            SkeletonEdgeKind::Unsupported(_) => {
                let Point::At(from) = self.house.skeleton.vertex(edge.from).point else {
                    return Vec::new();
                };
                vec![vec![self.claim(terms, from, &any, None)]]
            }
        }
    }
}

/// All paths from one cut point to another that pass no cut point and no call.
fn paths(program: &Program, cuts: &BTreeSet<LocId>, from: LocId, to: LocId) -> Vec<Vec<EdgeId>> {
    let mut found = Vec::new();
    let mut work = vec![(from, Vec::new())];
    while let Some((at, path)) = work.pop() {
        for (id, edge) in program.edges_from(at) {
            if matches!(edge.op, Op::Call { .. } | Op::Unsupported { .. }) {
                continue;
            }
            let mut longer = path.clone();
            longer.push(id);
            if edge.to == to {
                found.push(longer);
            } else if !cuts.contains(&edge.to) {
                work.push((edge.to, longer));
            }
        }
    }
    found
}

/// The certificates with one thing changed, each with what it is.
fn mutants(terms: &mut Terms, certificate: &Certificate, house: &House<'_>) -> Vec<Mutant> {
    let mut found = Vec::new();
    let mut add = |how: &'static str, at: LocId, formula: Option<TermId>| {
        let mut certificate = certificate.clone();
        match formula {
            Some(formula) => certificate.invariants.insert(at, formula),
            None => certificate.invariants.remove(&at),
        };
        found.push(Mutant { how, certificate });
    };
    let anything = terms.bool(true);
    for (&at, &formula) in &certificate.invariants {
        add("location removed", at, None);
        if formula != anything {
            add("replaced by true", at, Some(anything));
        }
        let opposite = terms.not(formula);
        add("negated", at, Some(opposite));
        if terms.op(formula) == &TermOp::And {
            let conjuncts = terms.args(formula).to_vec();
            for dropped in 0..conjuncts.len() {
                let mut fewer = conjuncts.clone();
                fewer.remove(dropped);
                let weaker = terms.and(&fewer);
                add("conjunct dropped", at, Some(weaker));
            }
        }
        for atom in atoms(terms, formula) {
            let negated = terms.not(atom);
            let changed = terms.substitute(formula, &BTreeMap::from([(atom, negated)]));
            add("atom negated", at, Some(changed));
        }
    }
    for &error in &house.errors {
        add("error admitted", error, Some(anything));
    }
    found
}

struct Mutant {
    how: &'static str,
    certificate: Certificate,
}

/// The gate rejects exactly the mutants of a certificate that are no proofs.
#[test]
fn broken_certificates_are_rejected() {
    let mut rejected_by_kind: BTreeMap<&str, usize> = BTreeMap::new();
    let mut accepted = 0;
    for text in PROGRAMS {
        let (program, _) = load(&format!("{PRELUDE}{text}"));
        let given = prepared(&program);
        let model = Model::new(&program, &given);
        let mut terms = Terms::new();
        let house = House::new(&model, &mut terms);
        let certificate = house.prove(&mut terms);
        let mut knowing = session();
        assert!(
            house.is_certified(&mut terms, &certificate),
            "the proof itself is rejected\n{text}"
        );
        let mut rejected = 0;
        for Mutant { how, certificate } in mutants(&mut terms, &certificate, &house) {
            let certified = house.is_certified(&mut terms, &certificate);
            let truth = Truth {
                house: &house,
                certificate: &certificate,
            };
            let is_proof = truth.is_proof(&mut terms, &mut knowing);
            assert_eq!(certified, is_proof, "{how}: {certificate:?}\n{text}");
            if certified {
                accepted += 1;
            } else {
                rejected += 1;
                *rejected_by_kind.entry(how).or_default() += 1;
            }
        }
        assert!(rejected > 3, "{rejected} rejected\n{text}");
    }
    for how in [
        "location removed",
        "replaced by true",
        "negated",
        "atom negated",
        "error admitted",
    ] {
        assert!(
            rejected_by_kind.contains_key(how),
            "never rejected: {how}; {rejected_by_kind:?}, {accepted} accepted"
        );
    }
}

/// The programs with one thing changed: a branch the other way round, or an assignment left out.
fn mutated_programs(program: &Program) -> Vec<Program> {
    let mut found = Vec::new();
    for location in &program.locations {
        let edges = || location.edges.clone().map(|edge| edge as usize);
        let branches = edges().any(|edge| matches!(program.edges[edge].op, Op::Assume { .. }));
        if branches {
            let mut mutant = program.clone();
            for edge in edges() {
                if let Op::Assume { holds, .. } = &mut mutant.edges[edge].op {
                    *holds = !*holds;
                }
            }
            found.push(mutant);
        }
        for edge in edges() {
            if matches!(program.edges[edge].op, Op::Assign { .. }) {
                let mut mutant = program.clone();
                mutant.edges[edge].op = Op::Skip;
                found.push(mutant);
            }
        }
    }
    found
}

/// Whether some input violates a check.
fn is_violated(program: &Program) -> bool {
    let interpreter = Interpreter::new(program);
    let limits = interp::Limits {
        steps: 10_000,
        ..interp::Limits::default()
    };
    let mut environment = AllInputs::bytes();
    loop {
        let run = interpreter.run(&mut environment, &limits);
        if matches!(run.outcome, interp::Outcome::Violated(_)) {
            return true;
        }
        if !environment.advance() {
            return false;
        }
    }
}

/// A program that fails has no certificate: neither that of the program that it was made from, nor
/// any mutant of that.
#[test]
fn broken_programs_are_rejected() {
    for text in PROGRAMS {
        let (program, _) = load(&format!("{PRELUDE}{text}"));
        let given = prepared(&program);
        let model = Model::new(&program, &given);
        let mut terms = Terms::new();
        let house = House::new(&model, &mut terms);
        assert!(!is_violated(&program), "{text}");
        let certificate = house.prove(&mut terms);
        assert!(house.is_certified(&mut terms, &certificate), "{text}");
        let mut broken = 0;
        for mutant in mutated_programs(&program) {
            if !is_violated(&mutant) {
                continue;
            }
            broken += 1;
            let given = prepared(&mutant);
            let model = Model::new(&mutant, &given);
            let other = House::new(&model, &mut terms);
            assert!(
                !other.is_certified(&mut terms, &certificate),
                "mutant {broken} is certified\n{text}"
            );
        }
        assert!(broken > 2, "{broken} programs fail\n{text}");
    }
}
