//! Questions about bits of a graph, to an incremental SAT solver.
//!
//! Of a graph the solver is told what it is asked about, and what that depends on, when it is
//! first asked about it.

use crate::graph::{Bit, Graph, Node, NodeId};
use crate::proof::{self, Checker, Step};
use batsat::SolverInterface;
use hardbop_budget::{Budget, Stint};
use rustc_hash::{FxHashMap, FxHashSet};
use std::cell::Cell;
use std::time::Duration;

/// What the solver says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// There is a model.
    Sat,
    /// There is none.
    Unsat,
    /// It was stopped before it knew.
    Stopped,
}

/// An incremental SAT solver over the bits of one graph.
pub struct Sat {
    solver: Backend,
    /// The literals that nodes are: two nodes that are the same share one.
    literals: FxHashMap<NodeId, i32>,
    /// Inputs that have one value only.
    fixed: FxHashMap<NodeId, bool>,
    /// A literal that always holds.
    always: Option<i32>,
    last: i32,
    assumed: Vec<(i32, Bit)>,
    /// An assumption that is never true, alone or with another one.
    contradiction: Option<Vec<Bit>>,
    /// The most decisions for one question.
    decisions: u32,
    questions: u32,
    /// The checker of what the solver learns, if nobody believes it.
    checked: Option<Box<Checked>>,
}

/// Looks at the clock while the solver works.
struct Watch {
    began: Stint,
    time: Option<Duration>,
    budget: Budget,
    /// The most decisions.
    decisions: u32,
    /// After so many calls it looks.
    every: u32,
    calls: Cell<u32>,
    over: Cell<bool>,
}

/// So many decisions, or questions, go by between two looks at the budget: a look can cost more
/// than a question.
const LOOK: u32 = 64;

impl Watch {
    fn is_over(&self) -> bool {
        // Once over, always over: solvers ask again before they give up.
        if self.over.get() {
            return true;
        }
        self.calls.set(self.calls.get().saturating_add(1));
        if self.calls.get() > self.decisions {
            self.over.set(true);
        } else if self.calls.get().is_multiple_of(self.every) {
            let worked = |time| self.began.elapsed() >= time && self.began.worked() >= time;
            let late = self.time.is_some_and(worked);
            self.over.set(late || self.budget.check().is_err());
        }
        self.over.get()
    }
}

impl cadical::Callbacks for Watch {
    fn terminate(&mut self) -> bool {
        self.is_over()
    }
}

/// The same for the other solver, which also tells what it learns.
#[derive(Default)]
struct QuickWatch {
    watch: Option<Watch>,
    /// The steps since they were last checked, if they are.
    steps: Option<Vec<Step>>,
}

impl QuickWatch {
    fn note(&mut self, clause: &[batsat::Lit], step: fn(Vec<i32>) -> Step) {
        if let Some(steps) = &mut self.steps {
            let number = |literal: &batsat::Lit| {
                let variable = literal.var().idx() as i32 + 1;
                if literal.sign() { variable } else { -variable }
            };
            steps.push(step(clause.iter().map(number).collect()));
        }
    }
}

impl batsat::Callbacks for QuickWatch {
    fn stop(&self) -> bool {
        self.watch.as_ref().is_some_and(Watch::is_over)
    }

    fn on_new_clause(&mut self, clause: &[batsat::Lit], _: batsat::ClauseKind) {
        self.note(clause, Step::Follows);
    }

    fn on_delete_clause(&mut self, clause: &[batsat::Lit]) {
        self.note(clause, Step::Dropped);
    }
}

/// What was learned, checked as it is used.
#[derive(Default)]
struct Checked {
    checker: Checker,
    steps: Vec<Step>,
    /// Whether steps are kept when they are checked.
    kept: bool,
}

/// What a variable of the solver is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Anything: the solver may choose it.
    Open,
    /// It follows from others, or is assumed where it matters.
    Follows,
}

/// The solvers that there are. Literals are numbers, negative ones negated, as in DIMACS.
enum Backend {
    Strong(Box<cadical::Solver<Watch>>),
    Quick(Box<batsat::Solver<QuickWatch>>),
}

fn quick(literal: i32) -> batsat::Lit {
    let variable = batsat::Var::unsafe_from_idx(literal.unsigned_abs() - 1);
    batsat::Lit::new(variable, literal > 0)
}

impl Backend {
    fn add(&mut self, clause: impl IntoIterator<Item = i32>) {
        match self {
            Backend::Strong(solver) => solver.add_clause(clause),
            Backend::Quick(solver) => {
                let mut clause: Vec<batsat::Lit> = clause.into_iter().map(quick).collect();
                solver.cb_mut().note(&clause, Step::Given);
                solver.add_clause_reuse(&mut clause);
            }
        }
    }

    fn variable(&mut self, kind: Kind) {
        if let Backend::Quick(solver) = self {
            solver.new_var(batsat::lbool::UNDEF, kind == Kind::Open);
        }
    }

    fn solve(&mut self, assumptions: Vec<i32>, watch: Watch) -> Outcome {
        match self {
            Backend::Strong(solver) => {
                solver.set_callbacks(Some(watch));
                match solver.solve_with(assumptions) {
                    Some(true) => Outcome::Sat,
                    Some(false) => Outcome::Unsat,
                    None => Outcome::Stopped,
                }
            }
            Backend::Quick(solver) => {
                solver.cb_mut().watch = Some(watch);
                let assumptions: Vec<batsat::Lit> = assumptions.into_iter().map(quick).collect();
                let answer = solver.solve_limited(&assumptions);
                if answer == batsat::lbool::TRUE {
                    Outcome::Sat
                } else if answer == batsat::lbool::FALSE {
                    Outcome::Unsat
                } else {
                    Outcome::Stopped
                }
            }
        }
    }

    /// The steps since this was last asked.
    fn steps(&mut self) -> Vec<Step> {
        match self {
            Backend::Strong(_) => Vec::new(),
            Backend::Quick(solver) => {
                let steps = solver.cb_mut().steps.as_mut();
                steps.map(std::mem::take).unwrap_or_default()
            }
        }
    }

    fn failed(&self, literal: i32) -> bool {
        match self {
            Backend::Strong(solver) => solver.failed(literal),
            // It tells the clause that was learned: the literals are negated there.
            Backend::Quick(solver) => solver.unsat_core_contains_var(quick(literal).var()),
        }
    }

    fn value(&self, variable: i32) -> bool {
        match self {
            Backend::Strong(solver) => solver.value(variable).unwrap_or(false),
            Backend::Quick(solver) => solver.value_lit(quick(variable)) == batsat::lbool::TRUE,
        }
    }
}

impl Default for Sat {
    fn default() -> Sat {
        Sat {
            solver: Backend::Strong(Box::new(cadical::Solver::new())),
            literals: FxHashMap::default(),
            fixed: FxHashMap::default(),
            always: None,
            last: 0,
            assumed: Vec::new(),
            contradiction: None,
            decisions: u32::MAX,
            questions: 0,
            checked: None,
        }
    }
}

impl Sat {
    /// A solver that knows nothing, for few and hard questions.
    pub fn new() -> Sat {
        Sat::default()
    }

    /// The same, which does not simplify what it was told: where many questions come one after the
    /// other and each is about a little more, that takes longer than the answers.
    pub fn plain() -> Sat {
        let solver = cadical::Solver::with_config("plain");
        Sat {
            solver: Backend::Strong(Box::new(solver.unwrap_or_default())),
            ..Sat::default()
        }
    }

    /// A solver that knows nothing, for many and easy questions: it is not as strong, and begins
    /// sooner.
    pub fn quick() -> Sat {
        Sat {
            solver: Backend::Quick(Box::default()),
            ..Sat::default()
        }
    }

    /// The same, with a proof for each answer that there is no model: an answer whose proof does
    /// not stand is none.
    pub fn checked() -> Sat {
        let mut sat = Sat::quick();
        if let Backend::Quick(solver) = &mut sat.solver {
            solver.cb_mut().steps = Some(Vec::new());
        }
        sat.checked = Some(Box::default());
        sat
    }

    /// Keeps the proofs, to be shown.
    pub fn keep_proofs(&mut self) {
        if let Some(checked) = &mut self.checked {
            checked.kept = true;
        }
    }

    /// After [`Outcome::Unsat`] of a solver that keeps its proofs: the clauses as DIMACS and the
    /// proof as DRAT.
    pub fn proof(&self, switches: &[Switch]) -> Option<(String, String)> {
        let checked = self.checked.as_ref().filter(|checked| checked.kept)?;
        if self.contradiction.is_some() {
            // The solver was not asked.
            return None;
        }
        let failed = self.failed(switches);
        Some(proof::text(&checked.steps, &failed))
    }

    /// The literals of what was assumed and cannot hold together.
    fn failed(&self, switches: &[Switch]) -> Vec<i32> {
        let switches = switches.iter().map(|switch| switch.0);
        let own = self.assumed.iter().map(|&(literal, _)| literal);
        let failed = switches.chain(own).filter(|&it| self.solver.failed(it));
        let unique: std::collections::BTreeSet<i32> = failed.collect();
        unique.into_iter().collect()
    }

    /// Whether the proof of the last answer stands.
    fn stands(&mut self, switches: &[Switch]) -> bool {
        let failed = self.failed(switches);
        let Some(checked) = &mut self.checked else {
            return true;
        };
        let steps = self.solver.steps();
        if steps.iter().any(|step| checked.checker.take(step).is_err()) {
            return false;
        }
        if checked.kept {
            checked.steps.extend(steps);
        }
        let clause: Vec<i32> = failed.iter().map(|&literal| -literal).collect();
        checked.checker.follows(&clause)
    }

    /// The same, with no more than so many decisions for a question. (The strong solver counts
    /// in its own way.)
    pub fn with_decisions(self, decisions: u32) -> Sat {
        Sat { decisions, ..self }
    }

    /// How much it has done, in a number that is the same on every machine; nothing for the strong
    /// solver.
    pub fn work(&self) -> u64 {
        match &self.solver {
            Backend::Strong(_) => 0,
            Backend::Quick(solver) => solver.num_propagations(),
        }
    }

    fn fresh(&mut self, kind: Kind) -> i32 {
        self.last += 1;
        // Proofs that decide on inputs alone can be many times as long.
        let kind = match self.checked {
            Some(_) => Kind::Open,
            None => kind,
        };
        self.solver.variable(kind);
        self.last
    }

    /// A truth value that belongs to no graph: a switch for clauses.
    pub fn switch(&mut self) -> Switch {
        Switch(self.fresh(Kind::Follows))
    }

    /// From now on an input has one value only. The solver must not have been told of it.
    pub fn fix(&mut self, input: NodeId, value: bool) {
        self.fixed.insert(input, value);
    }

    /// A literal that always holds.
    fn always(&mut self) -> i32 {
        if let Some(always) = self.always {
            return always;
        }
        let always = self.fresh(Kind::Follows);
        self.solver.add([always]);
        self.always = Some(always);
        always
    }

    /// The solver's literal for a bit.
    fn literal(&mut self, graph: &Graph, bit: Bit) -> i32 {
        self.encode(graph, bit.node());
        self.known_literal(bit)
    }

    /// The literal of a bit that the solver was told of.
    fn known_literal(&self, bit: Bit) -> i32 {
        let literal = self.literals[&bit.node()];
        if bit.is_negated() { -literal } else { literal }
    }

    /// Tells the solver what a node depends on.
    fn encode(&mut self, graph: &Graph, root: NodeId) {
        if self.literals.contains_key(&root) {
            return;
        }
        let mut stack = vec![root];
        while let Some(id) = stack.pop() {
            if self.literals.contains_key(&id) {
                continue;
            }
            let node = graph.node(id);
            let choice = graph.choice(id);
            let parts: [Option<Bit>; 3] = match (node, choice) {
                (_, Some((condition, then, otherwise))) => {
                    [Some(condition), Some(then), Some(otherwise)]
                }
                (Node::And(left, right), _) => [Some(left), Some(right), None],
                _ => [None; 3],
            };
            let before = stack.len();
            stack.push(id);
            let open = parts.iter().flatten().map(|bit| bit.node());
            stack.extend(open.filter(|part| !self.literals.contains_key(part)));
            if stack.len() > before + 1 {
                continue;
            }
            stack.pop();
            let literal = match (node, choice) {
                (_, Some((condition, then, otherwise))) => {
                    let [c, t, e] = [condition, then, otherwise].map(|it| self.known_literal(it));
                    self.choice(c, t, e)
                }
                (Node::And(left, right), _) => {
                    let [a, b] = [left, right].map(|it| self.known_literal(it));
                    self.and(a, b)
                }
                (Node::False, _) => -self.always(),
                (Node::Input, _) => match self.fixed.get(&id).copied() {
                    Some(true) => self.always(),
                    Some(false) => -self.always(),
                    None => self.fresh(Kind::Open),
                },
            };
            self.literals.insert(id, literal);
        }
    }

    /// A literal that holds where both do.
    fn and(&mut self, a: i32, b: i32) -> i32 {
        let is_always = |literal: i32| self.always == Some(literal);
        if is_always(a) || a == b {
            return b;
        }
        if is_always(b) {
            return a;
        }
        if is_always(-a) || is_always(-b) || a == -b {
            return -self.always();
        }
        let own = self.fresh(Kind::Follows);
        self.solver.add([-own, a]);
        self.solver.add([-own, b]);
        self.solver.add([own, -a, -b]);
        own
    }

    /// A literal that is `t` where `c` holds, else `e`.
    fn choice(&mut self, c: i32, t: i32, e: i32) -> i32 {
        let is_always = |literal: i32| self.always == Some(literal);
        if is_always(c) || t == e {
            return t;
        }
        if is_always(-c) {
            return e;
        }
        // One side is a constant, or the condition itself.
        if is_always(-t) || t == -c {
            return self.and(-c, e);
        }
        if is_always(-e) || e == c {
            return self.and(c, t);
        }
        if is_always(t) || t == c {
            return -self.and(-c, -e);
        }
        if is_always(e) || e == -c {
            return -self.and(c, -t);
        }
        let own = self.fresh(Kind::Follows);
        self.solver.add([-own, -c, t]);
        self.solver.add([own, -c, -t]);
        self.solver.add([-own, c, e]);
        self.solver.add([own, c, -e]);
        if t != -e {
            self.solver.add([-own, t, e]);
            self.solver.add([own, -t, -e]);
        }
        own
    }

    /// At least one of these holds, always.
    pub fn clause(&mut self, graph: &Graph, bits: &[Bit]) {
        self.clause_under(graph, bits, &[]);
    }

    /// At least one of these holds when all of the switches are on.
    pub fn clause_under(&mut self, graph: &Graph, bits: &[Bit], switches: &[Switch]) {
        if bits.contains(&Bit::TRUE) {
            return;
        }
        let mut clause: Vec<i32> = switches.iter().map(|switch| -switch.0).collect();
        for &bit in bits {
            if bit != Bit::FALSE {
                clause.push(self.literal(graph, bit));
            }
        }
        self.solver.add(clause);
    }

    /// Turns a switch off for ever.
    pub fn drop_switch(&mut self, switch: Switch) {
        self.solver.add([-switch.0]);
    }

    /// Whether all of these can hold together, with the switches on.
    pub fn check(
        &mut self,
        graph: &Graph,
        bits: &[Bit],
        switches: &[Switch],
        time: Option<Duration>,
        budget: &Budget,
    ) -> Outcome {
        self.assumed.clear();
        self.contradiction = None;
        for &bit in bits {
            match bit.known() {
                Some(true) => {}
                Some(false) => {
                    self.contradiction = Some(vec![bit]);
                    return Outcome::Unsat;
                }
                None => {
                    let literal = self.literal(graph, bit);
                    self.assumed.push((literal, bit));
                }
            }
        }
        if self.questions.is_multiple_of(LOOK) && budget.check().is_err() {
            return Outcome::Stopped;
        }
        self.questions = self.questions.wrapping_add(1);
        let watch = Watch {
            began: Stint::begin(),
            time,
            budget: budget.clone(),
            decisions: self.decisions,
            // The strong solver asks much less often.
            every: match self.solver {
                Backend::Strong(_) => 16,
                Backend::Quick(_) => LOOK,
            },
            calls: Cell::new(0),
            over: Cell::new(false),
        };
        let own = self.assumed.iter().map(|&(literal, _)| literal);
        let assumptions: Vec<i32> = switches.iter().map(|switch| switch.0).chain(own).collect();
        match self.solver.solve(assumptions, watch) {
            Outcome::Unsat if !self.stands(switches) => Outcome::Stopped,
            outcome => outcome,
        }
    }

    /// After [`Outcome::Unsat`]: those of the assumed bits that suffice for it.
    pub fn core(&self) -> Vec<Bit> {
        if let Some(core) = &self.contradiction {
            return core.clone();
        }
        // Of bits that are the same to the solver, one is enough.
        let mut seen = FxHashSet::default();
        let failed = self
            .assumed
            .iter()
            .filter(|(literal, _)| self.solver.failed(*literal) && seen.insert(*literal));
        failed.map(|&(_, bit)| bit).collect()
    }

    /// After [`Outcome::Sat`]: the value of a bit in the model, if the solver was told of it.
    pub fn value(&self, bit: Bit) -> Option<bool> {
        if let Some(known) = bit.known() {
            return Some(known);
        }
        let literal = *self.literals.get(&bit.node())?;
        let value = self.solver.value(literal.abs()) == (literal > 0);
        Some(value != bit.is_negated())
    }
}

/// A truth value that belongs to no graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Switch(i32);
