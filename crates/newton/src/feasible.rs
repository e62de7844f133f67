//! Whether a path can be run, and with which inputs.

use crate::choices::choices_along;
use hardbop_cfront::ids::{EdgeId, LocId};
use hardbop_logic::{Answer, Session, TermId, Terms, Unknown, Value};
use hardbop_semantics::block::Block;
use hardbop_semantics::places::Places;
use hardbop_semantics::replay::Choice;
use hardbop_semantics::segment::{Blocks, Segment};
use hardbop_semantics::{Execution, Fresh, Semantics, Unmodelled};
use std::collections::BTreeSet;

/// What is known of a path.
#[derive(Clone, Debug)]
pub enum Feasibility {
    /// It can be run, as far as the encoding tells.
    Feasible(Witness),
    /// It cannot: these segments alone contradict each other.
    Infeasible(Vec<usize>),
    /// The solver does not know.
    Unknown(Unknown),
    /// An edge on the way has no meaning.
    Unmodelled(Unmodelled),
}

/// A concrete run.
#[derive(Clone, Debug, Default)]
pub struct Witness {
    /// The edges that are taken, calls among them.
    pub edges: Vec<EdgeId>,
    /// The values of everything that the program does not determine, in the order in which the
    /// run meets it.
    pub choices: Vec<Choice>,
    /// Whether the encoding was exact: if not, the run is a guess.
    pub exact: bool,
}

/// A part of a path, with what is needed to tell a run from a model.
enum Part {
    Block(Block, LocId),
    Call(EdgeId, Vec<Fresh>),
    Other,
}

/// Decides whether a path can be run.
pub fn feasible(
    semantics: &Semantics<'_>,
    cuts: &BTreeSet<LocId>,
    terms: &mut Terms,
    session: &mut Session<'_>,
    segments: &[Segment],
) -> Feasibility {
    let mut run = Execution::new(semantics);
    let mut conditions = Vec::with_capacity(segments.len());
    let mut parts = Vec::with_capacity(segments.len());
    let mut places = Places::default();
    for segment in segments {
        if let Err(stopped) = session.budget().check() {
            return Feasibility::Unknown(Unknown::Stopped(stopped));
        }
        let known = run.fresh.len();
        let mut blocks = Blocks::new();
        let mut condition = match run.segment(terms, *segment, cuts, &mut blocks) {
            Ok(Some(condition)) => condition,
            Ok(None) => return Feasibility::Infeasible(vec![conditions.len()]),
            Err(unmodelled) => return Feasibility::Unmodelled(unmodelled),
        };
        parts.push(match (*segment, blocks.pop_first()) {
            (Segment::Block(_, to), Some((_, block))) => {
                // With plain addresses what comes later is plain, too.
                (condition, run.state) =
                    places.plain(semantics, terms, session, condition, &run.state);
                Part::Block(block, to)
            }
            (Segment::Enter(call, _), _) => Part::Call(call, run.fresh[known..].to_vec()),
            _ => Part::Other,
        });
        conditions.push(condition);
    }
    let exact = run.exact;
    session.push();
    for axiom in semantics.axioms(terms) {
        session.assert(terms, axiom);
    }
    let answer = session.check(terms, &conditions);
    let result = match answer {
        Answer::Sat => match witness(semantics, terms, session, parts, exact) {
            Ok(witness) => Feasibility::Feasible(witness),
            Err(unknown) => Feasibility::Unknown(unknown),
        },
        Answer::Unsat => {
            let core: BTreeSet<TermId> = session.core().into_iter().collect();
            let indices = (0..conditions.len()).filter(|&i| core.contains(&conditions[i]));
            Feasibility::Infeasible(indices.collect())
        }
        Answer::Unknown(why) => Feasibility::Unknown(why),
    };
    session.pop();
    match result {
        Feasibility::Feasible(mut witness) => {
            if let Some(choices) = choices_along(semantics, terms, session, &witness.edges) {
                witness.choices = choices;
            }
            Feasibility::Feasible(witness)
        }
        other => other,
    }
}

fn witness(
    semantics: &Semantics<'_>,
    terms: &mut Terms,
    session: &mut Session<'_>,
    parts: Vec<Part>,
    exact: bool,
) -> Result<Witness, Unknown> {
    let program = semantics.program;
    // All that has to be known of the model is asked for at once.
    let mut asked: Vec<TermId> = Vec::new();
    for part in &parts {
        match part {
            Part::Block(block, _) => {
                asked.extend(block.edges.values());
                asked.extend(block.fresh.iter().map(|(_, fresh)| fresh.term));
            }
            Part::Call(_, fresh) => asked.extend(fresh.iter().map(|fresh| fresh.term)),
            Part::Other => {}
        }
    }
    let values = session.values(terms, &asked)?;
    let model: std::collections::HashMap<TermId, Option<Value>> =
        asked.into_iter().zip(values).collect();
    let holds = |term: &TermId| matches!(model.get(term), Some(Some(Value::Bool(true))));
    let mut witness = Witness {
        exact,
        ..Witness::default()
    };
    for part in &parts {
        match part {
            Part::Call(call, fresh) => {
                witness.edges.push(*call);
                for fresh in fresh {
                    let value = model.get(&fresh.term).cloned().flatten();
                    witness.choices.push(Choice {
                        edge: *call,
                        origin: fresh.origin,
                        value,
                    });
                }
            }
            Part::Block(block, end) => {
                let mut at = block.start;
                let mut first = true;
                while first || at != *end {
                    first = false;
                    let taken = program
                        .edges_from(at)
                        .find(|(id, _)| block.edges.get(id).is_some_and(&holds));
                    let Some((id, edge)) = taken else { break };
                    witness.edges.push(id);
                    for (edge, fresh) in block.fresh.iter().filter(|(edge, _)| *edge == id) {
                        let value = model.get(&fresh.term).cloned().flatten();
                        witness.choices.push(Choice {
                            edge: *edge,
                            origin: fresh.origin,
                            value,
                        });
                    }
                    at = edge.to;
                }
            }
            Part::Other => {}
        }
    }
    Ok(witness)
}
