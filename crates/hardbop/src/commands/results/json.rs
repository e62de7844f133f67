//! Results as JSON.

use super::Paths;
use crate::c::Files;
use crate::target::Judged;
use hardbop_report::results::{Answer, EdgeStep, Guess, Input, Predicate, Results, Role, Trace};
use hardbop_report::rows::{Row, rows};
use serde::Serialize;
use std::collections::BTreeMap;

/// The JSON body of results; `docs/src/json.md` describes it.
#[derive(Serialize)]
pub struct Body {
    checks: Vec<JsonCheck>,
    #[serde(skip_serializing_if = "Option::is_none")]
    incomplete: Option<String>,
    assumptions: Vec<String>,
    invariants: Vec<JsonInvariant>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    ranks: Vec<JsonRank>,
    predicates: Vec<Predicate>,
    statistics: serde_json::Map<String, serde_json::Value>,
    #[serde(flatten)]
    judged: Option<Judged>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    files: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    absent: Vec<String>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    hashes: BTreeMap<String, String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    internal_error: Option<String>,
}

impl Body {
    /// The same with what two engines contradict each other in.
    pub fn with_contradiction(self, contradiction: Option<String>) -> Body {
        Body {
            internal_error: contradiction,
            ..self
        }
    }

    /// The same with the files that it depends on.
    pub fn with_files(self, files: Files) -> Body {
        let Files {
            read,
            absent,
            hashes,
        } = files;
        Body {
            files: read,
            absent,
            hashes,
            ..self
        }
    }
}

#[derive(Serialize)]
struct JsonCheck {
    answer: &'static str,
    kind: &'static str,
    message: String,
    function: String,
    file: String,
    line: u32,
    /// Whether it is proved because no execution can call its function.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    unreachable: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    engine: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    rule: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    /// How many iterations of each loop were looked at, if that is all that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    depth: Option<u32>,
    /// How a violation is known whose run is too long to be run.
    #[serde(skip_serializing_if = "Option::is_none")]
    leapt: Option<String>,
    /// How an execution goes on for ever.
    #[serde(skip_serializing_if = "Option::is_none")]
    endless: Option<String>,
    /// The object that a wrong access is about, and a drawing of it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    object: Vec<String>,
    /// Functions of the library, and assembly, on whose guessed answers the violation depends.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    guesses: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    inputs: Option<Vec<Input>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    path: Option<Vec<JsonRow>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    trace: Option<Vec<EdgeStep>>,
    /// The objects that the rule watches in the run, by their names in the rule.
    #[serde(skip_serializing_if = "Option::is_none")]
    watched: Option<BTreeMap<String, String>>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum JsonRow {
    Line {
        file: String,
        line: u32,
        depth: u32,
        function: String,
        text: String,
        values: BTreeMap<String, String>,
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        violation: bool,
        /// The rule's state when the line is reached.
        #[serde(skip_serializing_if = "Option::is_none")]
        state: Option<BTreeMap<String, String>>,
    },
    Fold {
        depth: u32,
        left_out: String,
    },
}

/// What falls with every step of a loop.
#[derive(Serialize)]
struct JsonRank {
    file: String,
    line: u32,
    rank: Vec<String>,
}

#[derive(Serialize)]
struct JsonInvariant {
    function: String,
    file: String,
    line: u32,
    at: &'static str,
    formula: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    c: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    contract: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    rule: Option<String>,
}

/// The results as JSON.
pub fn body(results: &Results, paths: Paths, judged: Option<Judged>) -> Body {
    let checks = results.checks.iter().map(|check| {
        let (file, line) = results.shown(check.place);
        let mut json = JsonCheck {
            answer: check.answer.word(),
            kind: check.kind.name(),
            message: check.message.clone(),
            function: check.function.clone(),
            file: file.to_owned(),
            line,
            unreachable: check.is_unreachable(),
            engine: check.engine,
            rule: check.rule.clone(),
            reason: None,
            depth: None,
            leapt: None,
            endless: None,
            object: Vec::new(),
            guesses: Vec::new(),
            inputs: None,
            path: None,
            trace: None,
            watched: None,
        };
        match &check.answer {
            Answer::Proved => {}
            Answer::Bounded(bounded) => {
                json.reason = Some(bounded.reason.clone());
                json.depth = Some(bounded.depth);
            }
            Answer::Unknown(reason) => json.reason = Some(reason.clone()),
            Answer::Violated(trace) => {
                json.inputs = Some(trace.inputs.clone());
                json.leapt.clone_from(&trace.leapt);
                json.endless.clone_from(&trace.endless);
                json.object.clone_from(&trace.object);
                json.guesses = trace.guesses.iter().map(Guess::name).collect();
                json.watched = trace.rule.as_ref().map(|rule| {
                    let objects = rule.objects.iter();
                    let named = objects.map(|one| {
                        let name = one.name.as_deref().unwrap_or("watch");
                        (name.to_owned(), one.object.clone())
                    });
                    named.collect()
                });
                json.trace = (paths == Paths::Edges).then(|| trace.edges.clone());
                json.path = paths.detail().map(|detail| {
                    let rows = rows(results, trace, &check.message, detail);
                    let row = |row: Row| match row {
                        Row::Fold { depth, text } => JsonRow::Fold {
                            depth,
                            left_out: text.trim_start_matches("... ").to_owned(),
                        },
                        Row::Line(line) => {
                            let (file, number) = results.shown(line.place);
                            JsonRow::Line {
                                file: file.to_owned(),
                                line: number,
                                depth: line.depth,
                                function: trace.calls[line.call as usize].function.clone(),
                                text: line.text.clone(),
                                values: line
                                    .values
                                    .iter()
                                    .map(|binding| match binding.role {
                                        Role::Returned => {
                                            ("$return".to_owned(), binding.value.clone())
                                        }
                                        _ => (binding.name.clone(), binding.value.clone()),
                                    })
                                    .collect(),
                                violation: line.violation,
                                state: state(trace, line.state),
                            }
                        }
                    };
                    rows.into_iter().map(row).collect()
                });
            }
        }
        json
    });
    let invariants = results.invariants.iter().map(|invariant| {
        let (file, line) = results.shown(invariant.place);
        JsonInvariant {
            function: invariant.function.clone(),
            file: file.to_owned(),
            line,
            at: invariant.at.name(),
            formula: invariant.formula.clone(),
            c: invariant.c.clone(),
            contract: invariant.contract.clone(),
            rule: invariant.rule.clone(),
        }
    });
    let ranks = results.ranks.iter().map(|rank| {
        let (file, line) = results.shown(rank.place);
        JsonRank {
            file: file.to_owned(),
            line,
            rank: rank.words.clone(),
        }
    });
    let figures = results.statistics.iter();
    Body {
        ranks: ranks.collect(),
        checks: checks.collect(),
        incomplete: results.incomplete.clone(),
        assumptions: results.assumptions.clone(),
        invariants: invariants.collect(),
        predicates: results.predicates.clone(),
        statistics: figures
            .map(|figure| (figure.key.clone(), figure.value.clone()))
            .collect(),
        judged,
        files: Vec::new(),
        absent: Vec::new(),
        hashes: BTreeMap::new(),
        internal_error: None,
    }
}

/// A state of the rule beside a run, by the names of its variables.
fn state(trace: &Trace, number: u32) -> Option<BTreeMap<String, String>> {
    let rule = trace.rule.as_ref()?;
    let values = rule.states.get(number as usize)?;
    Some(
        rule.variables
            .iter()
            .cloned()
            .zip(values.iter().cloned())
            .collect(),
    )
}
