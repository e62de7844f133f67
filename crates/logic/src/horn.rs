//! Constrained Horn clauses, solved by Z3's fixedpoint engine (Spacer).
//!
//! A system has relations (uninterpreted functions into truth values), rules `body => head` and
//! queries `body => false`. Either some query can be derived, or there is a solution: a formula for
//! each relation that makes all rules and queries true. Solutions are checked against the rules
//! before they are handed out; what Spacer says is not taken on trust.

use std::collections::BTreeMap;

use hardbop_budget::Budget;
use rustc_hash::FxHashMap;
use z3::{Fixedpoint, FuncDecl, Params, SatResult};

use crate::parse::{Names, SExprs, parse_term, read_term};
use crate::solver::watchdog::Watchdog;
use crate::solver::z3::{Translator, literal_value, reason};
use crate::solver::{Answer, Limits, Session, Unknown, Z3Options, Z3Solver};
use crate::sort::Sort;
use crate::term::{FuncId, Op, TermId, Terms};
use crate::value::Value;

/// A system of Horn clauses.
#[derive(Clone, Debug, Default)]
pub struct Horn {
    relations: Vec<FuncId>,
    rules: Vec<Rule>,
}

#[derive(Clone, Debug)]
struct Rule {
    body: Vec<TermId>,
    /// `None` for a query.
    head: Option<TermId>,
}

/// Formulas can be deep, and Z3 recurses over them.
const STACK: usize = 512 << 20;

/// How Spacer searches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Search {
    /// With global guidance: lemmas are generalised from groups of lemmas that look alike.
    Guided,
    /// One lemma at a time.
    Plain,
}

/// What is known about a system.
#[derive(Clone, Debug, PartialEq)]
pub enum HornAnswer {
    /// Some query can be derived.
    Reachable {
        /// Facts used in the derivation, as far as the engine tells them: a relation and the values
        /// of its arguments. Not in any promised order, and possibly empty.
        facts: Vec<(FuncId, Vec<Value>)>,
    },
    /// No query can be derived, and this is why.
    Unreachable(Solution),
    /// Nobody knows.
    Unknown(Unknown),
}

/// A formula for each relation.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Solution {
    relations: BTreeMap<FuncId, (Vec<TermId>, TermId)>,
}

impl Solution {
    /// The constants that stand for the arguments of a relation, and the formula over them.
    pub fn get(&self, relation: FuncId) -> Option<(&[TermId], TermId)> {
        self.relations
            .get(&relation)
            .map(|(parameters, formula)| (&parameters[..], *formula))
    }

    /// What the solution says about a relation applied to arguments.
    pub fn at(&self, terms: &mut Terms, relation: FuncId, args: &[TermId]) -> Option<TermId> {
        let (parameters, formula) = self.relations.get(&relation)?;
        let map = parameters
            .iter()
            .copied()
            .zip(args.iter().copied())
            .collect();
        Some(terms.substitute(*formula, &map))
    }
}

impl Horn {
    /// A system without relations and rules.
    pub fn new() -> Horn {
        Horn::default()
    }

    /// Makes a function a relation of the system.
    ///
    /// # Panics
    /// When the function does not give truth values.
    pub fn relation(&mut self, terms: &Terms, function: FuncId) {
        assert_eq!(
            terms.signature(function).1,
            Sort::Bool,
            "a relation holds or does not hold"
        );
        if !self.relations.contains(&function) {
            self.relations.push(function);
        }
    }

    /// Adds `body => head`. The body is a conjunction of constraints and of relations applied to
    /// arguments; the head is a relation applied to arguments. All free constants are universally
    /// quantified.
    pub fn rule(&mut self, body: &[TermId], head: TermId) {
        self.rules.push(Rule {
            body: body.to_vec(),
            head: Some(head),
        });
    }

    /// Adds `body => false`: the question is whether all of the body can hold at once.
    pub fn query(&mut self, body: &[TermId]) {
        self.rules.push(Rule {
            body: body.to_vec(),
            head: None,
        });
    }

    /// Solves the system.
    ///
    /// ```
    /// use hardbop_budget::Budget;
    /// use hardbop_logic::{Horn, HornAnswer, Limits, Sort, Terms};
    ///
    /// // x = 0; while (*) x += 2; assert(x != 7);
    /// let mut terms = Terms::new();
    /// let inv = terms.function("inv", &[Sort::Int], Sort::Bool);
    /// let x = terms.constant("x", Sort::Int);
    /// let [zero, two, seven] = [0, 2, 7].map(|value| terms.int(value));
    /// let next = terms.int_add(&[x, two]);
    /// let (at_zero, at_x, at_next) =
    ///     (terms.apply(inv, &[zero]), terms.apply(inv, &[x]), terms.apply(inv, &[next]));
    /// let bad = terms.eq(x, seven);
    /// let mut system = Horn::new();
    /// system.relation(&terms, inv);
    /// system.rule(&[], at_zero);
    /// system.rule(&[at_x], at_next);
    /// system.query(&[at_x, bad]);
    /// let answer = system.solve(&mut terms, Limits::default(), &Budget::unlimited());
    /// let HornAnswer::Unreachable(solution) = answer else { panic!("{answer:?}") };
    /// assert!(solution.get(inv).is_some());
    /// ```
    pub fn solve(&self, terms: &mut Terms, limits: Limits, budget: &Budget) -> HornAnswer {
        // Neither way is good at everything: the guided one finds relations between counters and
        // summaries of recursion, the plain one bounds that need many cases. What one is good at
        // it solves soon, so they take turns.
        let turns = [
            (Search::Plain, 2),
            (Search::Guided, 3),
            (Search::Plain, 6),
            (Search::Guided, 5),
        ];
        let mut last = HornAnswer::Unknown(Unknown::GaveUp("nothing was tried".to_owned()));
        for (search, share) in turns {
            let limits = Limits {
                time: limits.time.map(|time| time * share / 16),
                ..limits
            };
            last = self.solve_apart(terms, search, limits, budget);
            let in_time = limits.time.is_some() && budget.check().is_ok();
            match &last {
                HornAnswer::Unknown(_) if in_time || search == Search::Plain => {}
                _ => break,
            }
        }
        last
    }

    /// Solves in a thread of its own, because Z3 has one context a thread and Spacer, once it was
    /// interrupted, answers nothing any more in that context.
    fn solve_apart(
        &self,
        terms: &mut Terms,
        search: Search,
        limits: Limits,
        budget: &Budget,
    ) -> HornAnswer {
        std::thread::scope(|scope| {
            let work = || self.solve_by(terms, search, limits, budget);
            let thread = std::thread::Builder::new().stack_size(STACK);
            let answer = thread.spawn_scoped(scope, work).map(|handle| handle.join());
            match answer {
                Ok(Ok(answer)) => answer,
                _ => HornAnswer::Unknown(Unknown::GaveUp("the solver broke".to_owned())),
            }
        })
    }

    fn solve_by(
        &self,
        terms: &mut Terms,
        search: Search,
        limits: Limits,
        budget: &Budget,
    ) -> HornAnswer {
        let mut translator = Translator::default();
        let engine = Fixedpoint::new();
        let mut params = Params::new();
        params.set_symbol("engine", "spacer");
        // Inlining and slicing would remove relations, and with them their part of the solution.
        for transformation in ["xform.inline_eager", "xform.inline_linear", "xform.slice"] {
            params.set_bool(transformation, false);
        }
        params.set_u32("spacer.random_seed", 0);
        // Else Z3 takes Ctrl-C for itself while it works, and the user's wish goes unheard.
        params.set_bool("ctrl_c", false);
        if search == Search::Guided {
            params.set_bool("spacer.global", true);
            // Concretising gains nothing here and meets unfinished code of Z3.
            params.set_bool("spacer.gg.concretize", false);
            params.set_u32("spacer.order_children", 1);
        }
        if let Some(steps) = limits.steps {
            params.set_u32("rlimit", steps);
        }
        engine.set_params(&params);
        for &relation in &self.relations {
            engine.register_relation(&translator.function(terms, relation));
        }
        let goal = FuncDecl::new("%query", &[], &z3::Sort::bool());
        engine.register_relation(&goal);
        for rule in &self.rules {
            let mut all = rule.body.clone();
            all.extend(rule.head);
            let free: Vec<TermId> = terms.free_constants(&all).into_iter().collect();
            let body = terms.and(&rule.body);
            let body = translator.bool(terms, body);
            let head = match rule.head {
                Some(head) => translator.bool(terms, head),
                None => goal
                    .apply(&[])
                    .as_bool()
                    .expect("the goal is true or false"),
            };
            let bound: Vec<_> = free.iter().map(|&at| translator.ast(terms, at)).collect();
            let bound: Vec<&dyn z3::ast::Ast> =
                bound.iter().map(|at| at as &dyn z3::ast::Ast).collect();
            engine.add_rule(
                &z3::ast::forall_const(&bound, &[], &body.implies(&head)),
                None,
            );
        }
        let watchdog = Watchdog::new();
        if let Err(why) = watchdog.arm(limits, budget) {
            return HornAnswer::Unknown(why);
        }
        let result = engine.query_relations(&[&goal]);
        let interrupted = watchdog.disarm();
        match result {
            SatResult::Sat => HornAnswer::Reachable {
                facts: self.facts(terms, &engine),
            },
            SatResult::Unsat => match self.solution(terms, &engine, &mut translator) {
                Ok(solution) => match self.verify(terms, &solution, limits, budget) {
                    Ok(()) => HornAnswer::Unreachable(solution),
                    Err(why) => HornAnswer::Unknown(why),
                },
                Err(why) => HornAnswer::Unknown(Unknown::GaveUp(why)),
            },
            SatResult::Unknown => HornAnswer::Unknown(
                interrupted.unwrap_or_else(|| reason(engine.get_reason_unknown())),
            ),
        }
    }

    fn solution(
        &self,
        terms: &mut Terms,
        engine: &Fixedpoint,
        translator: &mut Translator,
    ) -> Result<Solution, String> {
        let mut solution = Solution::default();
        for &relation in &self.relations {
            let declared = translator.function(terms, relation);
            let domain = terms.signature(relation).0.to_vec();
            let name = terms.function_name(relation).to_owned();
            let parameters: Vec<TermId> = domain
                .iter()
                .enumerate()
                .map(|(at, &sort)| terms.constant(&format!("{name}#{at}"), sort))
                .collect();
            // Level -1 is the invariant: what holds at every level.
            let formula = match engine.get_cover_delta(-1, &declared) {
                Some(cover) => {
                    let mut names = Names::default();
                    names.numbered.clone_from(&parameters);
                    parse_term(terms, &names, &cover.to_string())
                        .map_err(|error| format!("a solution that is not understood: {error}"))?
                }
                None => terms.bool(true),
            };
            solution.relations.insert(relation, (parameters, formula));
        }
        Ok(solution)
    }

    /// Checks that the solution makes every rule and query true.
    fn verify(
        &self,
        terms: &mut Terms,
        solution: &Solution,
        limits: Limits,
        budget: &Budget,
    ) -> Result<(), Unknown> {
        let solver = Z3Solver::new(Z3Options::default());
        let mut session = Session::new(Box::new(solver), budget.clone());
        session.set_limits(limits);
        for rule in &self.rules {
            let mut parts = rule.body.clone();
            if let Some(head) = rule.head {
                parts.push(terms.not(head));
            }
            let violated = terms.and(&parts);
            let violated = solution.replace(terms, violated);
            match session.check(terms, &[violated]) {
                Answer::Unsat => {}
                Answer::Sat => {
                    return Err(Unknown::GaveUp(
                        "the solution does not satisfy a rule".to_owned(),
                    ));
                }
                Answer::Unknown(why) => return Err(why),
            }
        }
        Ok(())
    }

    /// The ground facts that the engine's answer mentions.
    fn facts(&self, terms: &mut Terms, engine: &Fixedpoint) -> Vec<(FuncId, Vec<Value>)> {
        let Some(answer) = engine.get_answer() else {
            return Vec::new();
        };
        let Ok(read) = SExprs::read(&answer.to_string()) else {
            return Vec::new();
        };
        let names: FxHashMap<String, FuncId> = self
            .relations
            .iter()
            .map(|&relation| {
                (
                    crate::smtlib::escape(terms.function_name(relation)),
                    relation,
                )
            })
            .collect();
        let mut facts = Vec::new();
        let mut stack = read.top.clone();
        while let Some(at) = stack.pop() {
            let Some(items) = read.list(at) else { continue };
            let relation = items
                .first()
                .and_then(|&head| read.atom(head))
                .and_then(|name| names.get(name));
            if let Some(&relation) = relation {
                let args: Option<Vec<Value>> = items[1..]
                    .iter()
                    .map(|&arg| {
                        let term = read_term(terms, &Names::default(), &read, arg).ok()?;
                        literal_value(terms, term)
                    })
                    .collect();
                if let Some(args) = args
                    && args.len() == terms.signature(relation).0.len()
                    && !facts.contains(&(relation, args.clone()))
                {
                    facts.push((relation, args));
                }
            } else {
                stack.extend(items);
            }
        }
        facts
    }
}

impl Solution {
    /// The term with every relation replaced by its formula.
    pub fn replace(&self, terms: &mut Terms, term: TermId) -> TermId {
        let mut map = BTreeMap::new();
        for at in terms.postorder(&[term]) {
            if let Op::Apply(function) = *terms.op(at)
                && self.relations.contains_key(&function)
            {
                let args = terms.args(at).to_vec();
                if let Some(formula) = self.at(terms, function, &args) {
                    map.insert(at, formula);
                }
            }
        }
        terms.substitute(term, &map)
    }
}
