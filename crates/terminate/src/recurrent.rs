//! The engine that looks for sets of states that need not be left (A. Gupta, T. Henzinger,
//! R. Majumdar, A. Rybalchenko, R.-G. Xu: *Proving Non-termination*, POPL 2008).
//!
//! For every loop and some plain strategies (the same number each time at the same place), the
//! program is run into the loop. What holds there whenever control comes by is a guess at a set;
//! what a step need not keep is dropped, and when all steps keep the rest it is asked whether a
//! step is always left in the loop.

use crate::visits::{Manner, Run, Visit, run};
use hardbop_cfront::ids::{CheckId, EdgeId, LocId, VarId};
use hardbop_cfront::program::{Callee, CheckKind, ExprKind, LocationKind, Op, Origin};
use hardbop_engine::claim::{Chosen, Recurrence};
use hardbop_engine::{Claim, Desk, Ended, Engine, Event, Figure, Reason, Scope, Task};
use hardbop_graph::components;
use hardbop_logic::atoms_of;
use hardbop_logic::{
    Answer, Assignment, BitVec, Limits, Session, Sort, TermId, Terms, Unknown, Value, Z3Options,
    Z3Solver, eval,
};
use hardbop_semantics::block::{Block, BlockExit, block};
use hardbop_semantics::constants::{Constants, Meaning, Spelling};
use hardbop_semantics::layout::{StateKind, StateVarId};
use hardbop_semantics::{Execution, FreshOrigin, Semantics};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// The most strategies for a loop.
const STRATEGIES: usize = 24;
/// The most variables that guesses speak of.
const VARIABLES: usize = 8;

/// Looks for recurrent sets.
#[derive(Clone, Debug)]
pub struct Recurrences {
    /// The most time.
    pub time: Duration,
}

impl Default for Recurrences {
    fn default() -> Recurrences {
        Recurrences {
            time: Duration::from_secs(8),
        }
    }
}

impl Engine for Recurrences {
    fn name(&self) -> &'static str {
        "recurrence"
    }

    fn scope(&self) -> Scope {
        Scope::Ends
    }

    fn check(&self, task: &Task<'_>, desk: &mut dyn Desk) -> Ended {
        let program = task.model.program;
        let about_ends = |id: &&CheckId| program.checks[id.index()].kind == CheckKind::Termination;
        let Some(&check) = task.checks.iter().find(about_ends) else {
            return Ended::open(task, &Reason::NoLasso);
        };
        let left = task.budget.remaining().unwrap_or(Duration::MAX);
        let end = task.budget.elapsed() + self.time.min(left / 2);
        let budget = task.budget.clone().with_time(end);
        let task = Task {
            budget: &budget,
            ..*task
        };
        let mut search = Search::new(&task, check);
        let found = search.run(desk);
        let statistics = vec![Figure::count("questions", search.questions)];
        match found {
            Ok(true) => Ended {
                statistics,
                ..Ended::default()
            },
            Ok(false) => Ended {
                statistics,
                ..Ended::open(&task, &Reason::NoLasso)
            },
            Err(reason) => Ended {
                statistics,
                ..Ended::open(&task, &reason)
            },
        }
    }
}

/// What a loop leaves open: the edge, which of its values, and its symbol in each block.
type Open = BTreeMap<(EdgeId, usize), Vec<TermId>>;

struct Search<'a> {
    task: &'a Task<'a>,
    check: CheckId,
    terms: Terms,
    constants: Constants,
    questions: u64,
}

impl<'a> Search<'a> {
    fn new(task: &'a Task<'a>, check: CheckId) -> Search<'a> {
        let mut terms = Terms::new();
        let constants = Constants::new(&task.model.flat.semantics, &mut terms);
        Search {
            task,
            check,
            terms,
            constants,
            questions: 0,
        }
    }

    fn run(&mut self, desk: &mut dyn Desk) -> Result<bool, Reason> {
        let view = &self.task.model.flat;
        let mut blocks: BTreeMap<LocId, Block> = BTreeMap::new();
        for &cut in &view.skeleton.cuts {
            self.task.budget.check().map_err(Reason::Stopped)?;
            if let Some(entered) = self.entered(cut) {
                blocks.insert(cut, entered);
            } else if self.is_head(cut)
                && let Ok(made) = block(&view.semantics, &mut self.terms, cut, &view.skeleton.cuts)
            {
                blocks.insert(cut, made);
            }
        }
        for nodes in loops(&blocks) {
            desk.event(Event {
                doing: "looking for recurrent sets".into(),
                open: 1,
                figures: vec![Figure::count("questions", self.questions)],
            });
            if self.one_loop(&nodes, &blocks, desk)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Whether a cut point is the head of one of the user's loops, or the entry of a function that
    /// is called.
    fn is_head(&self, cut: LocId) -> bool {
        let program = self.task.model.flat.program;
        let location = &program.locations[cut.index()];
        let entry = program.function(location.function).entry;
        let called = cut == entry && location.function != program.entry;
        (location.kind == LocationKind::LoopHead || called) && self.is_users(cut)
    }

    fn is_users(&self, cut: LocId) -> bool {
        let model = self.task.model;
        let original = model.inlined.locations[cut.index()];
        let function = model.program.locations[original.index()].function;
        model.program.function(function).origin == Origin::User
    }

    /// A call that is entered, as a block.
    fn entered(&mut self, cut: LocId) -> Option<Block> {
        let view = &self.task.model.flat;
        let program = view.program;
        let (call, edge) = program.edges_from(cut).next()?;
        let Op::Call {
            callee: Callee::Direct(callee),
            ..
        } = edge.op
        else {
            return None;
        };
        if !self.is_users(cut) {
            return None;
        }
        let mut run = Execution::new(&view.semantics);
        let entered = run.enter(&mut self.terms, call, callee);
        let mut conjuncts = std::mem::take(&mut run.facts);
        conjuncts.push(entered);
        let exit = BlockExit {
            location: program.function(callee).entry,
            condition: self.terms.and(&conjuncts),
            state: run.state,
        };
        Some(Block {
            start: cut,
            exits: vec![exit],
            edges: BTreeMap::new(),
            fresh: Vec::new(),
            exact: run.exact,
        })
    }

    fn one_loop(
        &mut self,
        nodes: &BTreeSet<LocId>,
        blocks: &BTreeMap<LocId, Block>,
        desk: &mut dyn Desk,
    ) -> Result<bool, Reason> {
        let mut open: Open = BTreeMap::new();
        for node in nodes {
            let mut met: BTreeMap<EdgeId, usize> = BTreeMap::new();
            for (edge, fresh) in &blocks[node].fresh {
                let part = met.entry(*edge).or_default();
                let key = (*edge, *part);
                *part += 1;
                let chosen = matches!(fresh.origin, FreshOrigin::Input(_) | FreshOrigin::Havoc(_));
                if chosen && matches!(self.terms.sort(fresh.term), Sort::BitVec(1..=64)) {
                    open.entry(key).or_default().push(fresh.term);
                }
            }
        }
        let variables = self.variables(nodes, blocks);
        for strategy in self.strategies(&open) {
            let mut came = false;
            for manner in Manner::ALL {
                self.task.budget.check().map_err(Reason::Stopped)?;
                if came && manner.is_last_resort() {
                    break;
                }
                let Some(run) = self.visits(nodes, &variables, &strategy, manner) else {
                    continue;
                };
                came = true;
                let moments = [0, run.visits.len() / 2];
                for moment in moments {
                    if self.set(
                        nodes, blocks, &open, &strategy, &variables, &run, moment, desk,
                    )? {
                        return Ok(true);
                    }
                }
            }
        }
        Ok(false)
    }

    /// The variables that matter in a loop, and that the interpreter knows.
    fn variables(
        &mut self,
        nodes: &BTreeSet<LocId>,
        blocks: &BTreeMap<LocId, Block>,
    ) -> Vec<(TermId, VarId, bool)> {
        let semantics = &self.task.model.flat.semantics;
        let mut roots = Vec::new();
        for node in nodes {
            let exits = blocks[node].exits.iter();
            roots.extend(exits.map(|exit| exit.condition));
        }
        let mut seen: BTreeSet<TermId> = self.terms.free_constants(&roots);
        let mut work: Vec<TermId> = seen.iter().copied().collect();
        while let Some(constant) = work.pop() {
            let Some(Meaning::Now(id)) = self.constants.meaning(constant) else {
                continue;
            };
            for exit in nodes.iter().flat_map(|node| &blocks[node].exits) {
                if let Some(value) = exit.state.written_to(id) {
                    let new = self.terms.free_constants(&[value]);
                    work.extend(new.into_iter().filter(|&constant| seen.insert(constant)));
                }
            }
        }
        let known = seen.into_iter().filter_map(|constant| {
            let Some(Meaning::Now(id)) = self.constants.meaning(constant) else {
                return None;
            };
            let variable = self.whole(semantics, id)?;
            Some((constant, variable, semantics.shape(id).signed))
        });
        known.take(VARIABLES).collect()
    }

    /// The user's variable that a cell is the whole of.
    fn whole(&self, semantics: &Semantics<'_>, id: StateVarId) -> Option<VarId> {
        let program = self.task.model.program;
        let described = semantics.layout.get(id);
        let StateKind::Cell { bytes } = described.kind else {
            return None;
        };
        let variable = described.variable?;
        let ty = program.variables.get(variable.index())?.ty;
        let fits = program.types.is_scalar(ty) && program.types.size_of(ty) == bytes;
        fits.then_some(variable)
    }

    /// Numbers for all that a loop leaves open.
    fn strategies(&self, open: &Open) -> Vec<BTreeMap<(EdgeId, usize), i128>> {
        if open.is_empty() {
            return vec![BTreeMap::new()];
        }
        let mut numbers: Vec<i128> = vec![1, 0, -1, 2];
        for expr in &self.task.model.program.exprs {
            if let ExprKind::Int(number) = expr.kind
                && let Ok(number) = i128::try_from(number)
                && numbers.len() < 12
                && !numbers.contains(&number)
            {
                numbers.push(number);
            }
        }
        let same = |&number: &i128| open.keys().map(|&key| (key, number)).collect();
        let mut found: Vec<BTreeMap<(EdgeId, usize), i128>> = numbers.iter().map(same).collect();
        // One that differs from the others, by turns.
        for &key in open.keys() {
            for (one, others) in [(0, 1), (1, 0)] {
                if open.len() > 1 && found.len() < STRATEGIES {
                    let mut strategy: BTreeMap<_, _> = open.keys().map(|&k| (k, others)).collect();
                    strategy.insert(key, one);
                    found.push(strategy);
                }
            }
        }
        found
    }

    /// Runs the program into a loop.
    fn visits(
        &self,
        nodes: &BTreeSet<LocId>,
        variables: &[(TermId, VarId, bool)],
        strategy: &BTreeMap<(EdgeId, usize), i128>,
        manner: Manner,
    ) -> Option<Run> {
        let inlined = self.task.model.inlined;
        let mut given: BTreeMap<EdgeId, i128> = BTreeMap::new();
        for (&(edge, _), &number) in strategy {
            given.insert(inlined.edges[edge.index()]?, number);
        }
        let places: BTreeMap<LocId, LocId> = nodes
            .iter()
            .map(|&node| (inlined.locations[node.index()], node))
            .collect();
        let asked: Vec<VarId> = variables.iter().map(|&(_, variable, _)| variable).collect();
        let budget = self.task.budget;
        run(
            self.task.model.program,
            &places,
            &asked,
            &given,
            manner,
            budget,
        )
    }

    /// Looks for a set that a run comes to at one of its visits, and claims it.
    #[expect(clippy::too_many_arguments, reason = "they are what a loop is made of")]
    fn set(
        &mut self,
        nodes: &BTreeSet<LocId>,
        blocks: &BTreeMap<LocId, Block>,
        open: &Open,
        strategy: &BTreeMap<(EdgeId, usize), i128>,
        variables: &[(TermId, VarId, bool)],
        run: &Run,
        moment: usize,
        desk: &mut dyn Desk,
    ) -> Result<bool, Reason> {
        let Some(first) = run.visits.get(moment) else {
            return Ok(false);
        };
        let later = &run.visits[moment..];
        let mut guesses: BTreeMap<LocId, Vec<TermId>> = BTreeMap::new();
        for &node in nodes {
            let here: Vec<&Visit> = later.iter().filter(|visit| visit.at == node).collect();
            if let Some(one) = here.first() {
                let all = self.guesses(nodes, blocks, variables, one);
                let kept = all.into_iter().filter(|&guess| {
                    let holds = |visit: &&Visit| self.holds(variables, visit, guess);
                    here.iter().all(holds)
                });
                let kept: Vec<TermId> = kept.collect();
                guesses.insert(node, kept);
            }
        }
        let mut choice = BTreeMap::new();
        for (key, symbols) in open {
            for &symbol in symbols {
                let width = self.terms.width(symbol);
                let value = self.terms.bv(strategy[key], width);
                choice.insert(symbol, value);
            }
        }
        if !self.close(blocks, &choice, &mut guesses)? {
            return Ok(false);
        }
        let view = &self.task.model.flat;
        let spelling = Spelling::new(&view.semantics, &mut self.terms);
        let mut sets = Vec::new();
        for (&node, guesses) in &guesses {
            let set = self.terms.and(guesses);
            let Some(text) = spelling.write(&mut self.terms, set) else {
                return Ok(false);
            };
            sets.push((node, text));
        }
        let mut chosen = Vec::new();
        for (&(edge, part), symbols) in open {
            let width = self.terms.width(symbols[0]);
            let value = self.terms.bv(strategy[&(edge, part)], width);
            let Some(value) = spelling.write(&mut self.terms, value) else {
                return Ok(false);
            };
            chosen.push(Chosen { edge, part, value });
        }
        let claim = Recurrence {
            check: self.check,
            script: run.script(first.step),
            stem: first.step,
            at: first.at,
            cuts: view.skeleton.cuts.iter().copied().collect(),
            sets,
            chosen,
        };
        let claim = Claim::Recurrence(Box::new(claim));
        Ok(desk.submit(claim).refused().is_none())
    }

    /// What may hold at a cut point whenever control comes by.
    fn guesses(
        &mut self,
        nodes: &BTreeSet<LocId>,
        blocks: &BTreeMap<LocId, Block>,
        variables: &[(TermId, VarId, bool)],
        visit: &Visit,
    ) -> Vec<TermId> {
        // Only what can be named there.
        let variables: Vec<(TermId, u64, bool)> = variables
            .iter()
            .zip(&visit.values)
            .filter_map(|(&(constant, _, signed), value)| Some((constant, (*value)?, signed)))
            .collect();
        let known: BTreeSet<TermId> = variables.iter().map(|&(constant, ..)| constant).collect();
        let exits = nodes.iter().flat_map(|node| &blocks[node].exits);
        let conditions: Vec<TermId> = exits.map(|exit| exit.condition).collect();
        let terms = &mut self.terms;
        let mut found = Vec::new();
        for atom in atoms_of(terms, &conditions) {
            let speaks_of = terms.free_constants(&[atom]);
            if speaks_of.is_subset(&known) && terms.size(atom) < 40 {
                found.extend([atom, terms.not(atom)]);
            }
        }
        for (at, &(x, value, signed)) in variables.iter().enumerate() {
            let width = terms.width(x);
            let value = terms.bv(i128::from(value), width);
            let zero = terms.bv(0, width);
            let one = terms.bv(1, width);
            for bound in [value, zero] {
                found.push(terms.eq(x, bound));
                found.extend(match signed {
                    true => [terms.bv_sle(bound, x), terms.bv_sle(x, bound)],
                    false => [terms.bv_ule(bound, x), terms.bv_ule(x, bound)],
                });
            }
            let is_zero = terms.eq(x, zero);
            found.push(terms.not(is_zero));
            let (low, same) = (terms.bv_and(x, one), terms.bv_and(value, one));
            found.push(terms.eq(low, same));
            for &(y, _, other) in &variables[at + 1..] {
                if terms.sort(x) == terms.sort(y) && signed == other {
                    found.push(terms.eq(x, y));
                    found.extend(match signed {
                        true => [terms.bv_sle(x, y), terms.bv_sle(y, x), terms.bv_slt(x, y)],
                        false => [terms.bv_ule(x, y), terms.bv_ule(y, x), terms.bv_ult(x, y)],
                    });
                }
            }
        }
        let mut seen = BTreeSet::new();
        let sense = |guess: &TermId| terms.value_of(*guess).is_none() && seen.insert(*guess);
        found.into_iter().filter(sense).collect()
    }

    /// Whether a guess holds at a visit.
    fn holds(&self, variables: &[(TermId, VarId, bool)], visit: &Visit, guess: TermId) -> bool {
        let mut assignment = Assignment::new();
        for (&(constant, ..), &value) in variables.iter().zip(&visit.values) {
            if let Some(value) = value {
                let bits = BitVec::new(value.into(), self.terms.width(constant));
                assignment.set(constant, Value::BitVec(bits));
            }
        }
        matches!(eval(&self.terms, guess, &assignment), Ok(Value::Bool(true)))
    }

    /// Drops guesses that a step need not keep, until all steps keep the rest and there always is a
    /// step. `false` if there is not.
    fn close(
        &mut self,
        blocks: &BTreeMap<LocId, Block>,
        choice: &BTreeMap<TermId, TermId>,
        guesses: &mut BTreeMap<LocId, Vec<TermId>>,
    ) -> Result<bool, Reason> {
        let semantics = &self.task.model.flat.semantics;
        let solver = Z3Solver::new(Z3Options::default());
        let mut session = Session::new(Box::new(solver), self.task.budget.clone());
        session.set_limits(Limits {
            time: Some(Duration::from_secs(2)),
            steps: None,
        });
        for axiom in semantics.axioms(&mut self.terms) {
            session.assert(&self.terms, axiom);
        }
        let nodes: Vec<LocId> = guesses.keys().copied().collect();
        let mut changed = true;
        while changed {
            changed = false;
            for node in &nodes {
                loop {
                    let terms = &mut self.terms;
                    let before = terms.and(&guesses[node]);
                    let mut ways = Vec::new();
                    for exit in &blocks[node].exits {
                        let Some(there) = guesses.get(&exit.location) else {
                            continue;
                        };
                        let condition = terms.substitute(exit.condition, choice);
                        let mut after = Vec::new();
                        for &guess in there {
                            let moved = exit.state.apply(semantics, terms, guess);
                            after.push(terms.substitute(moved, choice));
                        }
                        ways.push((exit.location, condition, after));
                    }
                    let mut kept = Vec::new();
                    for (_, condition, after) in &ways {
                        let inside = terms.and(after);
                        kept.push(terms.and(&[*condition, inside]));
                    }
                    let stays = terms.or(&kept);
                    let leaves = terms.not(stays);
                    let question = terms.and(&[before, leaves]);
                    self.questions += 1;
                    match session.check(terms, &[question]) {
                        Answer::Unsat => break,
                        Answer::Unknown(Unknown::Stopped(stopped)) => {
                            return Err(Reason::Stopped(stopped));
                        }
                        Answer::Unknown(_) => return Ok(false),
                        Answer::Sat => {}
                    }
                    let mut dropped = false;
                    for (to, condition, after) in ways {
                        let asked = [vec![condition], after].concat();
                        let values = session.values(terms, &asked).unwrap_or_default();
                        let is =
                            |value: &Option<Value>, truth: bool| *value == Some(Value::Bool(truth));
                        if !values.first().is_some_and(|value| is(value, true)) {
                            continue;
                        }
                        if let Some(there) = guesses.get_mut(&to) {
                            let mut fails = values[1..].iter().map(|value| !is(value, true));
                            let count = there.len();
                            there.retain(|_| !fails.next().unwrap_or(true));
                            dropped |= there.len() < count;
                        }
                    }
                    if !dropped {
                        return Ok(false);
                    }
                    changed = true;
                }
            }
        }
        Ok(true)
    }
}

/// The loops, by their cut points, the smallest ones first.
fn loops(blocks: &BTreeMap<LocId, Block>) -> Vec<BTreeSet<LocId>> {
    let nodes: Vec<LocId> = blocks.keys().copied().collect();
    let number: BTreeMap<LocId, usize> = nodes.iter().copied().zip(0..).collect();
    let successors: Vec<Vec<usize>> = blocks
        .values()
        .map(|block| {
            let exits = block.exits.iter();
            exits
                .filter_map(|exit| number.get(&exit.location).copied())
                .collect()
        })
        .collect();
    let mut found: Vec<BTreeSet<LocId>> = Vec::new();
    // A loop by itself may be kept for ever, too, whatever is around it.
    for (at, node) in nodes.iter().enumerate() {
        if successors[at].contains(&at) {
            found.push(BTreeSet::from([*node]));
        }
    }
    for part in components(&successors) {
        if part.len() > 1 {
            found.push(part.into_iter().map(|at| nodes[at]).collect());
        }
    }
    found
}
