//! SARIF 2.1.0: results for code hosts and editors, violations with their code flows.

use crate::results::{Answer, CheckResult, Place, Results, Role, Trace};
use crate::rows::{Detail, Row, rows};
use hardbop_cfront::program::CheckKind;
use serde_json::{Map, Value, json};

/// The results as SARIF text.
pub fn sarif(results: &Results, version: &str) -> String {
    // A rule of the user's is one of its own.
    let mut kinds: Vec<Kind<'_>> = results.checks.iter().map(kind_of).collect();
    kinds.sort();
    kinds.dedup();
    let rules: Vec<Value> = kinds
        .iter()
        .map(|&(kind, rule)| {
            json!({
                "id": id(kind, rule),
                "shortDescription": { "text": kind.explanation() },
                "defaultConfiguration": { "level": "error" },
            })
        })
        .collect();
    let found: Vec<Value> = results
        .checks
        .iter()
        .map(|check| result(results, check, &kinds))
        .collect();
    let artifacts: Vec<Value> = results
        .files
        .iter()
        .map(|file| json!({ "location": { "uri": uri(file) } }))
        .collect();
    let mut notifications: Vec<Value> = results
        .assumptions
        .iter()
        .map(|text| json!({ "level": "note", "message": { "text": format!("assuming that {text}") } }))
        .collect();
    if let Some(reason) = &results.incomplete {
        let text = format!("not all executions were seen: {reason}");
        notifications.push(json!({ "level": "warning", "message": { "text": text } }));
    }
    let log = json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": "hardbop",
                "version": version,
                "semanticVersion": version,
                "rules": rules,
            } },
            "columnKind": "unicodeCodePoints",
            "invocations": [{
                "executionSuccessful": true,
                "toolExecutionNotifications": notifications,
            }],
            "artifacts": artifacts,
            "results": found,
        }],
    });
    let mut text = serde_json::to_string_pretty(&log).unwrap_or_default();
    text.push('\n');
    text
}

/// A kind of check, with the rule if it is one of a rule.
type Kind<'r> = (CheckKind, Option<&'r str>);

fn kind_of(check: &CheckResult) -> Kind<'_> {
    (check.kind, check.rule.as_deref())
}

fn id(kind: CheckKind, rule: Option<&str>) -> String {
    match rule {
        Some(rule) => format!("{}/{rule}", kind.name()),
        None => kind.name().to_owned(),
    }
}

fn result(results: &Results, check: &CheckResult, kinds: &[Kind<'_>]) -> Value {
    let own = kind_of(check);
    let rule = kinds.iter().position(|kind| *kind == own).unwrap_or(0);
    let (file, line) = results.shown(check.place);
    let mut value = json!({
        "ruleId": id(own.0, own.1),
        "ruleIndex": rule,
        "locations": [location(results, check.place, Some(&check.function))],
        "partialFingerprints": {
            "hardbop/v1": format!("{}:{file}:{line}:{}", check.kind.name(), check.message),
        },
    });
    let (kind, level, text) = match &check.answer {
        Answer::Proved => ("pass", "none", format!("proved: {}", check.message)),
        Answer::Bounded(bounded) => {
            value["properties"] = json!({ "depth": bounded.depth });
            let (words, reason) = (bounded.words(), &bounded.reason);
            let text = format!("{words}, not proved: {}, because {reason}", check.message);
            ("open", "none", text)
        }
        Answer::Unknown(reason) => (
            "open",
            "none",
            format!("unknown: {}, because {reason}", check.message),
        ),
        Answer::Violated(trace) => {
            value["codeFlows"] = json!([code_flow(results, check, trace)]);
            let text = format!("violated: {}{}", check.message, check.proviso());
            ("fail", "error", text)
        }
    };
    value["kind"] = json!(kind);
    value["level"] = json!(level);
    value["message"] = json!({ "text": text });
    value
}

fn code_flow(results: &Results, check: &CheckResult, trace: &Trace) -> Value {
    let mut locations = Vec::new();
    for row in rows(results, trace, &check.message, Detail::Relevant) {
        let Row::Line(line) = row else {
            continue;
        };
        let function = trace
            .calls
            .get(line.call as usize)
            .map(|call| call.function.as_str());
        let mut at = location(results, line.place, function);
        let said = line.values_text();
        let text = if said.is_empty() {
            line.text.clone()
        } else {
            format!("{}  ({said})", line.text)
        };
        at["message"] = json!({ "text": text });
        let mut state: Map<String, Value> = line
            .values
            .iter()
            .map(|binding| {
                let name = match binding.role {
                    Role::Returned => "return".to_owned(),
                    _ => binding.name.clone(),
                };
                (name, json!({ "text": binding.value }))
            })
            .collect();
        if let Some(rule) = &trace.rule
            && let Some(values) = rule.states.get(line.state as usize)
        {
            for (name, value) in rule.variables.iter().zip(values) {
                state.insert(format!("{}.{name}", rule.rule), json!({ "text": value }));
            }
        }
        locations.push(json!({
            "location": at,
            "nestingLevel": line.depth,
            "executionOrder": locations.len() + 1,
            "importance": if line.violation { "essential" } else { "important" },
            "state": state,
        }));
    }
    let inputs: Vec<&str> = trace
        .inputs
        .iter()
        .map(|input| input.value.as_str())
        .collect();
    let text = if inputs.is_empty() {
        "a run that violates the check".to_owned()
    } else {
        format!(
            "a run that violates the check, with the inputs {}",
            inputs.join(", ")
        )
    };
    json!({
        "message": { "text": text },
        "threadFlows": [{ "locations": locations }],
    })
}

fn location(results: &Results, place: Place, function: Option<&str>) -> Value {
    let (file, line) = results.shown(place);
    let mut region = json!({ "startLine": line.max(1) });
    // Columns are those of the text that was read; line markers move lines only.
    if place.column > 0 {
        region["startColumn"] = json!(place.column);
        region["endColumn"] = json!(place.end_column.max(place.column));
    }
    let mut value = json!({
        "physicalLocation": {
            "artifactLocation": { "uri": uri(file), "index": place.file },
            "region": region,
        },
    });
    if let Some(function) = function {
        value["logicalLocations"] = json!([{ "name": function, "kind": "function" }]);
    }
    value
}

/// A path as a URI reference.
fn uri(path: &str) -> String {
    let mut out = String::new();
    if path.starts_with('/') {
        out.push_str("file://");
    }
    for byte in path.bytes() {
        let plain =
            byte.is_ascii_alphanumeric() || matches!(byte, b'/' | b'.' | b'-' | b'_' | b'~');
        if plain {
            out.push(byte as char);
        } else {
            out.push_str(&format!("%{byte:02X}"));
        }
    }
    out
}
