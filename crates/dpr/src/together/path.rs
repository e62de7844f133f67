//! From a model of all paths together to one path, and from that to the values of what the program
//! does not determine.

use super::{Apart, Move, Search};
use hardbop_cfront::ids::EdgeId;
use hardbop_logic::{Answer, TermId, Unknown, Value};
use hardbop_model::points::Side;
use hardbop_semantics::Execution;
use hardbop_semantics::replay::Choice;
use std::collections::BTreeSet;

impl Search<'_, '_, '_> {
    /// The path to a point in the model that the solver holds.
    pub(super) fn path(&mut self, from: usize, last: &[Move]) -> Result<Vec<Move>, Apart> {
        let mut conditions = BTreeSet::new();
        let mut seen = BTreeSet::from([from]);
        let mut work = vec![from];
        while let Some(point) = work.pop() {
            for &(before, _, condition) in &self.ways[point] {
                conditions.insert(condition);
                if seen.insert(before) {
                    work.push(before);
                }
            }
        }
        let asked: Vec<TermId> = conditions.into_iter().collect();
        let values = self.with.session.values(self.with.terms, &asked);
        let values = values.map_err(|_| Apart::TooMuch)?;
        let holds: BTreeSet<TermId> = asked
            .into_iter()
            .zip(values)
            .filter(|(_, value)| matches!(value, Some(Value::Bool(true))))
            .map(|(condition, _)| condition)
            .collect();
        let mut parts = vec![last];
        let mut at = from;
        while at != 0 {
            let mut ways = self.ways[at].iter();
            let (before, moves, _) = ways
                .find(|(_, _, condition)| holds.contains(condition))
                .ok_or(Apart::TooMuch)?;
            parts.push(moves);
            at = *before;
        }
        Ok(parts.into_iter().rev().flatten().copied().collect())
    }

    /// Runs a path alone, and finds values for what the program does not determine.
    pub(super) fn retrace(&mut self, path: &[Move]) -> Result<Vec<Choice>, Apart> {
        let terms = &mut *self.with.terms;
        let mut run = Execution::new(self.with.semantics);
        run.start(terms);
        let mut met: Vec<Option<EdgeId>> = vec![None; run.fresh.len()];
        let mut constraints = std::mem::take(&mut run.facts);
        for &step in path {
            let edge = match step {
                Move::Leave => {
                    run.leave(terms);
                    None
                }
                Move::Take(Side::Edge(edge)) => {
                    let passed = run.edge(terms, edge).map_err(|_| Apart::TooMuch)?;
                    constraints.push(passed);
                    Some(edge)
                }
                Move::Take(Side::Enter(edge, callee)) => {
                    constraints.push(run.enter(terms, edge, callee));
                    Some(edge)
                }
            };
            constraints.append(&mut run.facts);
            met.resize(run.fresh.len(), edge);
        }
        match self.with.single.check(terms, &constraints) {
            Answer::Sat => {}
            Answer::Unknown(Unknown::Stopped(stopped)) => return Err(stopped.into()),
            _ => return Err(Apart::TooMuch),
        }
        let asked: Vec<TermId> = run.fresh.iter().map(|fresh| fresh.term).collect();
        let values = self.with.single.values(terms, &asked);
        let values = values.map_err(|_| Apart::TooMuch)?;
        let all = met.into_iter().zip(&run.fresh).zip(values);
        Ok(all
            .filter_map(|((edge, fresh), value)| {
                Some(Choice {
                    edge: edge?,
                    origin: fresh.origin,
                    value,
                })
            })
            .collect())
    }
}
