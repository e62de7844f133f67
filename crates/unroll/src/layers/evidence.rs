//! Whether checks are violated where they may be, and from a model of all executions together to one
//! of them.

use super::{End, NodeId, Search, is_too_large, too_large};
use hardbop_cfront::ids::CheckId;
use hardbop_engine::claim::{Given, Run};
use hardbop_engine::{Claim, Reason};
use hardbop_logic::{Answer, TermId, Unknown, Value};
use hardbop_model::stages::Following;
use hardbop_newton::feasible::{Feasibility, feasible};
use hardbop_semantics::replay::original_choices;
use hardbop_semantics::segment::Segment;
use std::collections::BTreeSet;

/// So many violations are asked about at once, where nothing came of asking about fewer.
const AT_A_TIME: usize = 64;

impl Search<'_, '_, '_> {
    /// Asks whether any of the checks that may be violated is.
    pub(super) fn ask(&mut self) -> Result<(), End> {
        let mut groups = vec![std::mem::take(&mut self.suspects)];
        while let Some(mut group) = groups.pop() {
            let open = &self.open;
            group.retain(|(check, _, _)| open.contains(check));
            let conditions: Vec<TermId> = group.iter().map(|it| it.2).collect();
            if conditions.is_empty() {
                continue;
            }
            self.questions += 1;
            let any = self.terms.or(&conditions);
            match self.session.check(&self.terms, &[any]) {
                Answer::Unsat => {
                    // Where there is nothing to be found, few questions are better than many.
                    if self.following == Following::Points {
                        self.at_a_time = (2 * self.at_a_time).min(AT_A_TIME);
                    }
                }
                Answer::Unknown(Unknown::Stopped(stopped)) => return Err(End::Stopped(stopped)),
                Answer::Unknown(why) if is_too_large(&why) => return Err(too_large()),
                Answer::Unknown(why) => match group[..] {
                    [(check, ..)] => self.close(check, Some(Reason::Solver(why.to_string()))),
                    // Each by itself is easier.
                    _ => groups.extend(group.into_iter().rev().map(|suspect| vec![suspect])),
                },
                Answer::Sat => {
                    // The only one, if nobody knows more.
                    let values = self.session.values(&mut self.terms, &conditions);
                    let holds = |value: &Option<Value>| matches!(value, Some(Value::Bool(true)));
                    let at = values.ok().and_then(|values| values.iter().position(holds));
                    let at = at.unwrap_or(conditions.len() - 1);
                    let (check, node, _) = group.remove(at);
                    let reason = self.concrete(check, node)?;
                    self.close(check, reason);
                    groups.push(group);
                }
            }
        }
        Ok(())
    }

    /// A check is done with: violated, or open for a reason.
    fn close(&mut self, check: CheckId, reason: Option<Reason>) {
        self.open.remove(&check);
        if let Some(reason) = reason {
            self.incomplete = Some(reason.clone());
            self.reasons.insert(check, reason);
        }
    }

    /// Claims the run behind the model that the solver holds. Gives why that is no violation.
    fn concrete(&mut self, check: CheckId, node: NodeId) -> Result<Option<Reason>, End> {
        let segments = match self.path(node) {
            Ok(segments) => segments,
            Err(why) => return Ok(Some(Reason::Solver(why.to_string()))),
        };
        let answer = feasible(
            self.semantics,
            &self.skeleton.cuts,
            &mut self.terms,
            &mut self.session,
            &segments,
        );
        match answer {
            Feasibility::Feasible(witness) => {
                let choices = original_choices(
                    self.task.model.program,
                    self.task.model.inlined,
                    &witness.choices,
                );
                let given = Given::Choices(choices);
                let claim = Claim::Run(Run { check, given });
                Ok(self.desk.submit(claim).refused())
            }
            Feasibility::Unknown(Unknown::Stopped(stopped)) => Err(End::Stopped(stopped)),
            Feasibility::Unknown(why) => Ok(Some(Reason::Solver(why.to_string()))),
            Feasibility::Infeasible(_) | Feasibility::Unmodelled(_) => Ok(Some(Reason::Refinement)),
        }
    }

    /// The path to a node in the model that the solver holds.
    fn path(&mut self, node: NodeId) -> Result<Vec<Segment>, Unknown> {
        let mut conditions = BTreeSet::new();
        let mut seen = BTreeSet::from([node]);
        let mut work = vec![node];
        while let Some(node) = work.pop() {
            for &(from, _, condition) in &self.nodes[node.0].arrivals {
                conditions.insert(condition);
                if seen.insert(from) {
                    work.push(from);
                }
            }
        }
        let asked: Vec<TermId> = conditions.into_iter().collect();
        let values = self.session.values(&mut self.terms, &asked)?;
        let holds: BTreeSet<TermId> = asked
            .into_iter()
            .zip(values)
            .filter(|(_, value)| matches!(value, Some(Value::Bool(true))))
            .map(|(condition, _)| condition)
            .collect();
        let mut segments = Vec::new();
        let mut at = node;
        loop {
            let taken = self.nodes[at.0]
                .arrivals
                .iter()
                .find(|(_, _, condition)| holds.contains(condition));
            let Some(&(from, segment, _)) = taken else {
                break;
            };
            segments.push(segment);
            at = from;
        }
        segments.push(Segment::Start(self.program.entry));
        segments.reverse();
        Ok(segments)
    }
}
