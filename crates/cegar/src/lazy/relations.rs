//! What an edge does to predicates, asked of the solver for the states that were reached.

use super::{Abstraction, Known, Question, Wiring};
use crate::groups::{Group, groups};
use hardbop_bebop::bdd::Bdd;
use hardbop_bebop::space::{Copy, Slot, Space};
use hardbop_budget::Stopped;
use hardbop_logic::{
    Cube, Enumeration, Op, PutIn, TermId, Unknown, all_models, merge_cubes, rebased,
};
use hardbop_semantics::constants::Meaning;
use hardbop_semantics::places::is_fixed;
use hardbop_semantics::skeleton::SkeletonEdgeId;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::ControlFlow;

/// From so many predicates on, groups that are independent of each other are looked for.
const GROUPED: usize = 6;
/// More models than this for one question: predicates are followed one by one instead of together.
const MAX_MODELS: usize = 4096;
/// More sets of values than this for one question: it is asked without them.
const MAX_PARTS: usize = 64;

/// Terms with what they are equal to.
type Values = BTreeMap<TermId, TermId>;

impl Abstraction<'_, '_> {
    /// The relation of an edge, right at least for the states in `from`.
    pub(super) fn relation(
        &mut self,
        edge: SkeletonEdgeId,
        from: Bdd,
        space: &mut Space,
    ) -> Result<Bdd, Stopped> {
        let (mut known, mut relation) =
            self.relations[edge.index()].unwrap_or((Bdd::FALSE, Bdd::FALSE));
        let reads = self.wirings[edge.index()]
            .as_ref()
            .map(|w| w.reads.clone())
            .unwrap_or_default();
        let asked = project(space, from, &reads)?;
        if self.relations[edge.index()].is_none() {
            (known, relation) = self.recall(edge, space)?;
        }
        if !space.bdds.is_subset(asked, known)? {
            let new = space.bdds.difference(asked, known)?;
            let found = self.ask(edge, new, space)?;
            relation = space.bdds.or(relation, found)?;
            known = space.bdds.or(known, new)?;
        }
        self.relations[edge.index()] = Some((known, relation));
        Ok(relation)
    }

    fn question(&self, edge: SkeletonEdgeId) -> Question {
        let wiring = self.wirings[edge.index()].clone().unwrap_or_default();
        Question {
            edge,
            before: wiring.before,
            after: wiring.after,
        }
    }

    /// What earlier rounds found out about the same question.
    fn recall(&mut self, edge: SkeletonEdgeId, space: &mut Space) -> Result<(Bdd, Bdd), Stopped> {
        let (mut domain, mut relation) = (Bdd::FALSE, Bdd::FALSE);
        let known = self
            .memory
            .answers
            .get(&self.question(edge))
            .cloned()
            .unwrap_or_default();
        for part in known {
            let covered = self.diagram(edge, &part.domain, space)?;
            let found = self.known_relation(edge, &part, space)?;
            domain = space.bdds.or(domain, covered)?;
            relation = space.bdds.or(relation, found)?;
        }
        Ok((domain, relation))
    }

    /// An answer as a diagram.
    fn known_relation(
        &self,
        edge: SkeletonEdgeId,
        known: &Known,
        space: &mut Space,
    ) -> Result<Bdd, Stopped> {
        let mut all = self.diagram(edge, &known.domain, space)?;
        for models in &known.models {
            let group = self.diagram(edge, models, space)?;
            all = space.bdds.and(all, group)?;
        }
        Ok(all)
    }

    /// Cubes over the predicates before, or before and after, as a diagram.
    fn diagram(
        &self,
        edge: SkeletonEdgeId,
        cubes: &[Cube],
        space: &mut Space,
    ) -> Result<Bdd, Stopped> {
        let wiring = self.wirings[edge.index()].as_ref();
        let reads = wiring.map(|w| w.reads.as_slice()).unwrap_or_default();
        let writes = wiring.map(|w| w.writes.as_slice()).unwrap_or_default();
        let mut all = Bdd::FALSE;
        for cube in cubes {
            let literals: Vec<_> = cube
                .0
                .iter()
                .enumerate()
                .filter_map(|(index, value)| {
                    let var = match reads.get(index) {
                        Some(&slot) => Space::var(slot, Copy::Current),
                        None => Space::var(writes[index - reads.len()], Copy::Next),
                    };
                    value.map(|value| (var, value))
                })
                .collect();
            let one = space.bdds.cube(&literals)?;
            all = space.bdds.or(all, one)?;
        }
        Ok(all)
    }

    /// Asks the solver for all models over the predicates, from the states in `new`.
    fn ask(&mut self, edge: SkeletonEdgeId, new: Bdd, space: &mut Space) -> Result<Bdd, Stopped> {
        self.queries += 1;
        let wiring = self.wirings[edge.index()].clone().unwrap_or_default();
        let reads: HashMap<Slot, usize> = wiring
            .reads
            .iter()
            .enumerate()
            .map(|(i, &slot)| (slot, i))
            .collect();
        let domain: Vec<Cube> = match space.bdds.cubes(new, new, 10_000)? {
            Some(cubes) => cubes
                .into_iter()
                .map(|cube| {
                    let mut values = vec![None; wiring.reads.len()];
                    for literal in cube {
                        let (slot, _) = Space::slot(literal.var);
                        values[reads[&slot]] = Some(literal.value);
                    }
                    Cube(values)
                })
                .collect(),
            None => vec![Cube(vec![None; wiring.reads.len()])],
        };
        let mut found = Bdd::FALSE;
        for (values, domain) in self.parts(&wiring, domain) {
            let part = self.ask_part(edge, &wiring, &values, domain, space)?;
            found = space.bdds.or(found, part)?;
        }
        Ok(found)
    }

    /// States apart by what they say that something is equal to: with these values put in, a large
    /// block is often a small one.
    fn parts(&mut self, wiring: &Wiring, domain: Vec<Cube>) -> Vec<(Values, Vec<Cube>)> {
        let mut parts: BTreeMap<Values, Vec<Cube>> = BTreeMap::new();
        for cube in &domain {
            let literals = wiring.before.iter().zip(&cube.0);
            let equal = literals.filter(|(_, value)| **value == Some(true));
            let values = equal.filter_map(|(&formula, _)| self.value_in(formula));
            parts
                .entry(values.collect())
                .or_default()
                .push(cube.clone());
        }
        match parts.len() {
            ..=MAX_PARTS => parts.into_iter().collect(),
            _ => vec![(Values::new(), domain)],
        }
    }

    /// What an equation says that something is, if it is a number or an address.
    fn value_in(&mut self, formula: TermId) -> Option<(TermId, TermId)> {
        if *self.terms.op(formula) != Op::Eq {
            return None;
        }
        let args = self.terms.args(formula).to_vec();
        let mut is_fixed = |term| is_fixed(self.ground.semantics, self.terms, term);
        match (is_fixed(args[0]), is_fixed(args[1])) {
            (false, true) => Some((args[0], args[1])),
            (true, false) => Some((args[1], args[0])),
            _ => None,
        }
    }

    /// A formula with values put in; `put_in` is what became of the parts that it shares with others.
    fn with_values(&mut self, formula: TermId, values: &Values, put_in: &mut PutIn) -> TermId {
        if values.is_empty() {
            return formula;
        }
        let rest = self.terms.put_in(formula, put_in);
        // Which word of memory is read is plain only once the pointer has its value.
        let constants = self.terms.free_constants(&[rest]);
        let layout = &self.ground.semantics.layout;
        let of_memory = |&constant: &TermId| match self.ground.constants.meaning(constant) {
            Some(Meaning::Now(id)) => layout.get(id).kind.is_array(),
            meaning => meaning == Some(Meaning::Origin),
        };
        if !constants.iter().any(of_memory) {
            return rest;
        }
        let places = &mut self.memory.places;
        places.put_in(
            self.ground.semantics,
            self.terms,
            self.session,
            values,
            rest,
        )
    }

    fn ask_part(
        &mut self,
        edge: SkeletonEdgeId,
        wiring: &Wiring,
        values: &Values,
        domain: Vec<Cube>,
        space: &mut Space,
    ) -> Result<Bdd, Stopped> {
        let mut put_in = PutIn::new(values.iter().map(|(&term, &value)| (term, value)));
        let mut settled = |formula: TermId| self.with_values(formula, values, &mut put_in);
        let condition = wiring.condition.map(&mut settled);
        let formulas = wiring.before.iter().chain(&wiring.after).copied();
        let formulas: Vec<TermId> = formulas.map(settled).collect();
        let whole = Group {
            positions: (0..formulas.len()).collect(),
            conditions: condition.into_iter().collect(),
        };
        let groups = match formulas.len() {
            ..GROUPED => vec![whole],
            _ => groups(self.terms, &formulas, condition),
        };
        let equations: Vec<TermId> = values.iter().map(|(&a, &b)| self.terms.eq(a, b)).collect();
        let mut models = Vec::with_capacity(groups.len());
        let mut together = true;
        for mut group in groups {
            // What was put in may still be spoken of in other ways.
            group.conditions.extend(&equations);
            let group = &group;
            match self.models(wiring, &formulas, group, &domain) {
                Ok((found, all)) => {
                    models.push(found);
                    together &= all;
                }
                Err(Unknown::Stopped(stopped)) => return Err(stopped),
                // Whatever is not known is possible: sound, and less precise.
                Err(_) => return self.diagram(edge, &domain, space),
            }
        }
        let known = Known {
            domain,
            models,
            together,
        };
        let found = self.known_relation(edge, &known, space)?;
        self.memory
            .answers
            .entry(self.question(edge))
            .or_default()
            .push(known);
        Ok(found)
    }

    /// All models over the predicates of a group, as cubes over all predicates; or more than these,
    /// where predicates were not followed together.
    fn models(
        &mut self,
        wiring: &Wiring,
        formulas: &[TermId],
        group: &Group,
        domain: &[Cube],
    ) -> Result<(Vec<Cube>, bool), Unknown> {
        let asked: Vec<TermId> = group.positions.iter().map(|&at| formulas[at]).collect();
        let mut roots = asked.clone();
        roots.extend(&group.conditions);
        self.session.push();
        let mut facts = self.ground.semantics.axioms(self.terms);
        facts.extend(&group.conditions);
        facts.extend(self.typing(&roots));
        let of_group = |cube: &Cube| {
            let here = |at: usize| group.positions.contains(&at);
            let values = cube.0.iter().enumerate();
            Cube(
                values
                    .map(|(at, value)| value.filter(|_| here(at)))
                    .collect(),
            )
        };
        let states: BTreeSet<TermId> = domain
            .iter()
            .map(|cube| of_group(cube).term(self.terms, &wiring.before))
            .collect();
        let states: Vec<TermId> = states.into_iter().collect();
        facts.push(self.terms.or(&states));
        let (asked, facts) = self.seen_from_origin(asked, facts);
        for fact in facts {
            self.session.assert(self.terms, fact);
        }
        let most = MAX_MODELS.min(self.memory.together.saturating_mul(domain.len()));
        let mut models = Vec::new();
        let mut ended = all_models(self.session, self.terms, &asked, &[], &mut |cube| {
            models.push(cube.clone());
            match models.len() < most {
                true => ControlFlow::Continue(()),
                false => ControlFlow::Break(()),
            }
        });
        let together = !matches!(ended, Ok(Enumeration::Broken));
        if !together {
            let is_after = |&at: &usize| at >= wiring.before.len();
            let after = group.positions.iter().map(is_after);
            ended = self.one_by_one(&asked, after.collect()).map(|one| {
                models = vec![one];
                Enumeration::Complete
            });
        }
        self.session.pop();
        ended?;
        let spread = |cube: Cube| {
            let mut values = vec![None; formulas.len()];
            for (&at, value) in group.positions.iter().zip(cube.0) {
                values[at] = value;
            }
            Cube(values)
        };
        let models = merge_cubes(&models).into_iter().map(spread);
        Ok((models.collect(), together))
    }

    /// What formulas come to, each by itself, where it is asked for.
    fn one_by_one(&mut self, asked: &[TermId], wanted: Vec<bool>) -> Result<Cube, Unknown> {
        let mut values = Vec::with_capacity(asked.len());
        for (&formula, wanted) in asked.iter().zip(wanted) {
            let mut seen = BTreeSet::new();
            if wanted {
                all_models(self.session, self.terms, &[formula], &[], &mut |cube| {
                    seen.extend(cube.0[0]);
                    ControlFlow::Continue(())
                })?;
            }
            values.push(seen.pop_first().filter(|_| seen.is_empty()));
        }
        Ok(Cube(values))
    }

    /// A question with addresses counted from where objects begin: it has the same answers, and a
    /// solver has nothing to add to each of them.
    fn seen_from_origin(
        &mut self,
        asked: Vec<TermId>,
        facts: Vec<TermId>,
    ) -> (Vec<TermId>, Vec<TermId>) {
        let origin = self.ground.semantics.origin(self.terms);
        let whole: Vec<TermId> = asked.iter().chain(&facts).copied().collect();
        match rebased(self.terms, origin, &whole) {
            Some(mut seen) => {
                let facts = seen.split_off(asked.len());
                (seen, facts)
            }
            None => (asked, facts),
        }
    }

    /// The ranges of the state variables that formulas mention.
    fn typing(&mut self, roots: &[TermId]) -> Vec<TermId> {
        let mut facts = Vec::new();
        for constant in self.terms.free_constants(roots) {
            if let Some(Meaning::Now(id)) = self.ground.constants.meaning(constant) {
                facts.push(self.ground.semantics.typing(self.terms, id));
            }
        }
        facts
    }
}

/// The current values of some slots in a set of path edges.
fn project(space: &mut Space, from: Bdd, keep: &[Slot]) -> Result<Bdd, Stopped> {
    let drop: Vec<_> = space
        .bdds
        .support(from)
        .into_iter()
        .filter(|&var| {
            let (slot, copy) = Space::slot(var);
            copy != Copy::Current || !keep.contains(&slot)
        })
        .collect();
    let pass = space.bdds.pass(&drop, &[]);
    space.bdds.project(from, pass)
}
