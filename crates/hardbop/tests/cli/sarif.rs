//! SARIF logs have the shape that the schema of SARIF 2.1.0 demands: for every object that is
//! written, which properties it may have, which it must have, and what they are.

use crate::scene::{Scene, root};
use serde_json::Value;
use std::path::Path;
use std::process::Command;

/// What a value is.
enum Is {
    Text,
    Word(&'static [&'static str]),
    /// A number that is not less.
    Number(i64),
    Truth,
    One(&'static str),
    Many(&'static str),
    /// An object whose properties have any name.
    Named(&'static Is),
}

/// An object: its name, what it must have, what it may have.
struct Object(
    &'static str,
    &'static [&'static str],
    &'static [(&'static str, Is)],
);

const LEVELS: Is = Is::Word(&["none", "note", "warning", "error"]);
const KINDS: Is = Is::Word(&["pass", "fail", "open"]);

const SCHEMA: &[Object] = &[
    Object(
        "sarifLog",
        &["version", "runs"],
        &[
            ("$schema", Is::Text),
            ("version", Is::Word(&["2.1.0"])),
            ("runs", Is::Many("run")),
        ],
    ),
    Object(
        "run",
        &["tool"],
        &[
            ("tool", Is::One("tool")),
            (
                "columnKind",
                Is::Word(&["utf16CodeUnits", "unicodeCodePoints"]),
            ),
            ("invocations", Is::Many("invocation")),
            ("artifacts", Is::Many("artifact")),
            ("results", Is::Many("result")),
        ],
    ),
    Object("tool", &["driver"], &[("driver", Is::One("toolComponent"))]),
    Object(
        "toolComponent",
        &["name"],
        &[
            ("name", Is::Text),
            ("version", Is::Text),
            ("semanticVersion", Is::Text),
            ("rules", Is::Many("reportingDescriptor")),
        ],
    ),
    Object(
        "reportingDescriptor",
        &["id"],
        &[
            ("id", Is::Text),
            ("shortDescription", Is::One("multiformatMessageString")),
            ("defaultConfiguration", Is::One("reportingConfiguration")),
        ],
    ),
    Object("multiformatMessageString", &["text"], &[("text", Is::Text)]),
    Object("reportingConfiguration", &[], &[("level", LEVELS)]),
    Object(
        "invocation",
        &["executionSuccessful"],
        &[
            ("executionSuccessful", Is::Truth),
            ("toolExecutionNotifications", Is::Many("notification")),
        ],
    ),
    Object(
        "notification",
        &["message"],
        &[("level", LEVELS), ("message", Is::One("message"))],
    ),
    Object("message", &["text"], &[("text", Is::Text)]),
    Object(
        "artifact",
        &[],
        &[("location", Is::One("artifactLocation"))],
    ),
    Object(
        "artifactLocation",
        &[],
        &[("uri", Is::Text), ("index", Is::Number(-1))],
    ),
    Object(
        "result",
        &["message"],
        &[
            ("properties", Is::Named(&Is::Number(1))),
            ("ruleId", Is::Text),
            ("ruleIndex", Is::Number(-1)),
            ("kind", KINDS),
            ("level", LEVELS),
            ("message", Is::One("message")),
            ("locations", Is::Many("location")),
            ("codeFlows", Is::Many("codeFlow")),
            ("partialFingerprints", Is::Named(&Is::Text)),
        ],
    ),
    Object(
        "location",
        &[],
        &[
            ("physicalLocation", Is::One("physicalLocation")),
            ("logicalLocations", Is::Many("logicalLocation")),
            ("message", Is::One("message")),
        ],
    ),
    Object(
        "physicalLocation",
        &["artifactLocation"],
        &[
            ("artifactLocation", Is::One("artifactLocation")),
            ("region", Is::One("region")),
        ],
    ),
    Object(
        "logicalLocation",
        &[],
        &[("name", Is::Text), ("kind", Is::Text)],
    ),
    Object(
        "region",
        &[],
        &[
            ("startLine", Is::Number(1)),
            ("startColumn", Is::Number(1)),
            ("endColumn", Is::Number(1)),
        ],
    ),
    Object(
        "codeFlow",
        &["threadFlows"],
        &[
            ("message", Is::One("message")),
            ("threadFlows", Is::Many("threadFlow")),
        ],
    ),
    Object(
        "threadFlow",
        &["locations"],
        &[("locations", Is::Many("threadFlowLocation"))],
    ),
    Object(
        "threadFlowLocation",
        &[],
        &[
            ("location", Is::One("location")),
            ("nestingLevel", Is::Number(0)),
            ("executionOrder", Is::Number(-1)),
            (
                "importance",
                Is::Word(&["important", "essential", "unimportant"]),
            ),
            ("state", Is::Named(&Is::One("multiformatMessageString"))),
        ],
    ),
];

fn check(value: &Value, is: &Is, path: &str) {
    match is {
        Is::Text => assert!(value.is_string(), "{path}: {value}"),
        Is::Truth => assert!(value.is_boolean(), "{path}: {value}"),
        Is::Number(least) => {
            assert!(
                value.as_i64().is_some_and(|n| n >= *least),
                "{path}: {value}"
            );
        }
        Is::Word(words) => {
            let word = value.as_str().unwrap_or_default();
            assert!(words.contains(&word), "{path}: {value}");
        }
        Is::Named(inner) => {
            for (name, value) in value.as_object().expect(path) {
                check(value, inner, &format!("{path}.{name}"));
            }
        }
        Is::Many(name) => {
            for (index, value) in value.as_array().expect(path).iter().enumerate() {
                check(value, &Is::One(name), &format!("{path}[{index}]"));
            }
        }
        Is::One(name) => {
            let object = SCHEMA.iter().find(|object| object.0 == *name);
            let Object(_, required, properties) = object.expect("the schema knows it");
            let fields = value
                .as_object()
                .unwrap_or_else(|| panic!("{path}: {value}"));
            for needed in *required {
                assert!(fields.contains_key(*needed), "{path} has no {needed}");
            }
            for (field, value) in fields {
                let known = properties.iter().find(|(known, _)| known == field);
                let (_, is) = known.unwrap_or_else(|| panic!("{path} has {field}"));
                check(value, is, &format!("{path}.{field}"));
            }
        }
    }
}

/// Compares a log with the schema as OASIS publishes it, where scripts/setup-test-tools could fetch
/// that.
#[track_caller]
#[expect(
    clippy::print_stderr,
    reason = "whoever runs the tests is told what was not compared"
)]
fn official(log: &Path) {
    let tools = root().join("third_party/sarif");
    if !tools.join(".installed").exists() {
        eprintln!("the schema of SARIF is not there: the log is not compared with it");
        return;
    }
    let script = "import json, sys, jsonschema
jsonschema.validate(json.load(open(sys.argv[1])), json.load(open(sys.argv[2])))";
    let output = Command::new("python3")
        .args(["-c", script])
        .arg(log)
        .arg(tools.join("schema.json"))
        .env("PYTHONPATH", &tools)
        .output()
        .expect("python runs");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
}

/// Checks the log of a command, and gives it back.
#[track_caller]
fn log(scene: &Scene, command: &str) -> Value {
    scene.output(&format!("{command} --sarif out.sarif"));
    let text = std::fs::read_to_string(scene.path().join("out.sarif")).expect("it was written");
    let log: Value = serde_json::from_str(&text).expect("JSON");
    check(&log, &Is::One("sarifLog"), "log");
    official(&scene.path().join("out.sarif"));
    let run = &log["runs"][0];
    let rules = run["tool"]["driver"]["rules"].as_array().expect("rules");
    let artifacts = run["artifacts"].as_array().expect("artifacts").len() as u64;
    for result in run["results"].as_array().expect("results") {
        let index = result["ruleIndex"].as_u64().expect("an index") as usize;
        assert_eq!(rules[index]["id"], result["ruleId"]);
        let place = &result["locations"][0]["physicalLocation"]["artifactLocation"];
        assert!(place["index"].as_u64() < Some(artifacts));
    }
    log
}

#[test]
fn logs_of_all_answers_have_the_shape_of_the_schema() {
    let program = "extern int __VERIFIER_nondet_int(void);
extern int elsewhere(int);
#include <assert.h>
int main(void) {
  int n = __VERIFIER_nondet_int();
  assert(n == n);
  assert(elsewhere(n) != 4);
  return 0;
}
";
    let log = log(&Scene::file("a+b.c", program), "check a+b.c");
    let results = &log["runs"][0]["results"];
    assert_eq!(results[0]["kind"], "pass");
    assert_eq!(results[1]["kind"], "fail");
    let notes = &log["runs"][0]["invocations"][0]["toolExecutionNotifications"];
    assert_eq!(notes[0]["level"], "note");
}

#[test]
fn logs_of_rules_have_the_state_at_each_step() {
    let rule = "state { enum { off, on } light = off; }
press.entry { if (light == on) abort \"it is on already\"; light = on; }
";
    let program = "void press(void);\nint main(void) {\n  press();\n  press();\n  return 0;\n}\n";
    let scene = Scene::file("lamp.c", program).and_file("lamp.rule", rule);
    let log = log(&scene, "check lamp.c --rule lamp.rule");
    let result = &log["runs"][0]["results"][0];
    assert_eq!(result["ruleId"], "rule/lamp");
    let steps = &result["codeFlows"][0]["threadFlows"][0]["locations"];
    assert_eq!(steps[0]["state"]["lamp.light"]["text"], "off");
    assert_eq!(steps[1]["state"]["lamp.light"]["text"], "on");
}
