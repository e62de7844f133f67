//! Boolean programs in a browser: the text of a program comes in, and all that the page shows of
//! it goes out as JSON: messages with their places, the control-flow graph as SVG, an answer for
//! every label and assertion, and traces whose steps say where each way of stepping leads.
//!
//! `scripts/playground` compiles this crate to WebAssembly; `docs/src/playground.js` is the page.

mod boundary;
mod steps;

use hardbop_bebop::{Answer, Checker, Expand, Leave, Options, ProgramTrace, Unknown, check};
use hardbop_boolean_program::program::{Program, Target, TargetKind};
use hardbop_boolean_program::replay::{TraceStep, replay};
use hardbop_boolean_program::{Dialect, graph, load_program};
use hardbop_budget::Budget;
use hardbop_diagnostics::{Diagnostic, FileId, Sources};
use serde_json::{Value, json};

/// Calls are opened until a trace has about this many steps: a page shows no more.
const MOST_STEPS: usize = 5_000;

/// The graph of a program with more vertices than this is not drawn.
const MOST_VERTICES: usize = 2_000;

/// Checks a program and describes all of it, as a JSON object.
pub fn answer(text: &str) -> String {
    let mut sources = Sources::new();
    let file = sources.add("program.bp", text);
    let (program, diagnostics) = load_program(&sources, file, Dialect::Auto);
    let messages = diagnostics.iter().map(|d| message(d, &sources, file));
    let messages: Vec<Value> = messages.collect();
    let Some(program) = program else {
        return json!({ "messages": messages }).to_string();
    };
    let mut checker = check(&program, &Options::default(), &Budget::unlimited());
    let answers = checker.answers();
    let targets = program.targets.iter().zip(answers);
    let targets = targets.map(|(target, answer)| {
        let mut described = describe(&program, &sources, target);
        described["answer"] = json!(match answer {
            Answer::Reachable => "reachable",
            Answer::Unreachable => "unreachable",
            Answer::Unknown(_) => "unknown",
        });
        if answer == Answer::Reachable {
            match evidence(&mut checker, target) {
                Ok(trace) => described["trace"] = steps::describe(&program, &sources, &trace),
                // Without evidence there is no answer.
                Err(reason) => {
                    described["answer"] = json!("unknown");
                    described["reason"] = json!(reason);
                }
            }
        }
        if let Answer::Unknown(Unknown::Stopped(stopped)) = answer {
            described["reason"] = json!(stopped.to_string());
        }
        described
    });
    let targets: Vec<Value> = targets.collect();
    let svg = match program.vertices.len() <= MOST_VERTICES {
        true => Some(graph::to_svg(&program, &sources)),
        false => None,
    };
    json!({ "messages": messages, "targets": targets, "svg": svg }).to_string()
}

/// A message with its place: lines and columns count from 1, columns in characters.
fn message(diagnostic: &Diagnostic, sources: &Sources, file: FileId) -> Value {
    let mut described = json!({
        "severity": if diagnostic.is_error() { "error" } else { "warning" },
        "message": diagnostic.message,
        "label": diagnostic.label,
    });
    if let Some(span) = diagnostic.span {
        let start = sources.position(file, span.start);
        let end = sources.position(file, span.end);
        described["line"] = json!(start.line);
        described["column"] = json!(start.column);
        described["end_line"] = json!(end.line);
        described["end_column"] = json!(end.column);
    }
    described
}

fn describe(program: &Program, sources: &Sources, target: &Target) -> Value {
    let procedure = program.vertices[target.vertex.index()].procedure;
    let procedure = &program.procedures[procedure.index()].name;
    let (kind, name) = match &target.kind {
        TargetKind::Label(label) => ("label", format!("label {label} in {procedure}")),
        TargetKind::Assertion => ("assertion", format!("assertion in {procedure}")),
    };
    let line = sources.line(target.span.file, target.span.start);
    json!({ "kind": kind, "name": name, "line": line })
}

/// A trace to a target that was reached, followed by the reference interpreter as far as its calls
/// are opened.
fn evidence(checker: &mut Checker<'_>, target: &Target) -> Result<ProgramTrace, String> {
    let found = checker.trace(target.vertex, Expand::Steps(MOST_STEPS));
    let trace = match found {
        Ok(Some(trace)) => trace,
        Ok(None) => return Err("it was reached, but has no trace".to_owned()),
        Err(stopped) => return Err(stopped.to_string()),
    };
    let closed = trace
        .steps
        .iter()
        .position(|step| matches!(step.leaves, Leave::Over(_)));
    let followed = closed.map_or(trace.steps.len(), |closed| closed + 1);
    let steps = trace.steps[..followed].iter().map(|step| TraceStep {
        vertex: step.vertex,
        values: step.state.clone(),
    });
    let steps: Vec<TraceStep> = steps.collect();
    match replay(checker.program(), &steps) {
        Ok(()) => Ok(trace),
        Err(error) => Err(format!("its trace cannot be replayed: {error:?}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(text: &str) -> Value {
        serde_json::from_str(&answer(text)).expect("JSON")
    }

    #[test]
    fn errors_have_their_places() {
        let found = value("decl g;\nvoid main()\nbegin\n  g := x;\nend\n");
        let message = &found["messages"][0];
        assert_eq!(message["severity"], "error");
        assert_eq!(message["message"], "unknown variable `x`");
        let place = ["line", "column", "end_line", "end_column"].map(|key| message[key].as_u64());
        assert_eq!(place, [4, 8, 4, 9].map(Some));
        assert_eq!(found["targets"], Value::Null);
    }

    #[test]
    fn a_trace_says_where_each_step_leads() {
        let text = "decl g;\nvoid main()\nbegin\n  g := 0;\n  flip();\n  if (g) then\n    L: skip;\n  fi\n  \
                    M: assert(!g);\nend\nvoid flip() begin\n  g := !g;\nend\n";
        let found = value(text);
        let names = [0, 1, 2].map(|i| found["targets"][i]["name"].clone());
        assert_eq!(
            names,
            ["label L in main", "label M in main", "assertion in main"]
        );
        assert!(
            found["svg"]
                .as_str()
                .is_some_and(|svg| svg.starts_with("<svg"))
        );
        let steps = &found["targets"][0]["trace"]["steps"];
        let rows = steps.as_array().expect("steps").iter().map(|step| {
            format!(
                "{} {} {}",
                step["line"], step["statement"], step["procedure"]
            )
        });
        let rows: Vec<String> = rows.collect();
        assert_eq!(
            rows,
            [
                "4 \"g := 0\" \"main\"",
                "5 \"flip()\" \"main\"",
                "12 \"g := !g\" \"flip\"",
                "13 \"end\" \"flip\"",
                "6 \"if (g)\" \"main\"",
                "7 \"L: skip\" \"main\"",
            ]
        );
        let call = &steps[1];
        assert_eq!(
            (&call["next"], &call["over"], &call["back"]),
            (&json!(2), &json!(4), &json!(0))
        );
        assert_eq!(call["summary"], "flip: g=0 -> g=1");
        assert_eq!((&steps[2]["up"], &steps[2]["out"]), (&json!(1), &json!(4)));
        assert_eq!(steps[5]["over"], Value::Null);
        assert_eq!(
            steps[2]["values"],
            json!([{ "name": "g", "value": 0, "forced": true }])
        );
    }
}
