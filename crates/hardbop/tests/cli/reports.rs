//! The files for machines and for browsers.

use crate::scene::Scene;
use expect_test::expect;
use serde_json::Value;

const PROGRAM: &str = "extern int __VERIFIER_nondet_int(void);
extern void reach_error(void);
static int twice(int x) { return 2 * x; }
int main(void) {
  int n = __VERIFIER_nondet_int();
  if (n < 0 && n > 5) reach_error();
  if (n == 21 && twice(n) > 40 /* <script> */) reach_error();
  return 0;
}
";

fn made(option: &str, file: &str) -> String {
    let scene = Scene::file("x.c", PROGRAM);
    let output = scene.output(&format!("check x.c {option}"));
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    std::fs::read_to_string(scene.path().join(file)).expect("it was written")
}

#[test]
fn sarif_has_results_and_code_flows() {
    let log: Value = serde_json::from_str(&made("--sarif x.sarif", "x.sarif")).expect("JSON");
    assert_eq!(log["version"], "2.1.0");
    let run = &log["runs"][0];
    let rules = run["tool"]["driver"]["rules"].as_array().expect("rules");
    let results = run["results"].as_array().expect("results");
    assert_eq!(results.len(), 2);
    for result in results {
        // What the schema and the standard demand of every result.
        let rule = result["ruleIndex"].as_u64().expect("an index") as usize;
        assert_eq!(rules[rule]["id"], result["ruleId"]);
        assert!(result["message"]["text"].is_string());
        let kind = result["kind"].as_str().expect("a kind");
        assert_eq!(result["level"] == "error", kind == "fail");
        let place = &result["locations"][0]["physicalLocation"];
        assert_eq!(place["artifactLocation"]["uri"], "x.c");
        assert!(place["region"]["startLine"].as_u64() > Some(0));
    }
    assert_eq!(results[0]["kind"], "pass");
    let flow = &results[1]["codeFlows"][0]["threadFlows"][0]["locations"];
    let steps: Vec<String> = flow
        .as_array()
        .expect("steps")
        .iter()
        .map(|step| {
            format!(
                "{} {} {}\n",
                step["executionOrder"],
                step["nestingLevel"],
                step["location"]["message"]["text"].as_str().expect("text")
            )
        })
        .collect();
    expect![[r#"
        1 0 int n = __VERIFIER_nondet_int();  (n = 21)
        2 0 if (n == 21 && twice(n) > 40 /* <script> */) reach_error();  (n = 21, x = 21)
        3 1 static int twice(int x) { return 2 * x; }  (returns 42)
        4 0 if (n == 21 && twice(n) > 40 /* <script> */) reach_error();
        5 0 call of `reach_error`
    "#]]
    .assert_eq(&steps.concat());
}

#[test]
fn junit_has_a_case_for_every_check() {
    expect![[r#"
        <?xml version="1.0" encoding="UTF-8"?>
        <testsuites name="hardbop" tests="2" failures="1" errors="0">
          <testsuite name="x.c" tests="2" failures="1" errors="0">
            <testcase classname="x.c" name="line 6: call of `reach_error` (in main)" file="x.c" line="6"/>
            <testcase classname="x.c" name="line 7: call of `reach_error` (in main)" file="x.c" line="7">
              <failure type="error-call" message="call of `reach_error`">VIOLATED x.c:7: call of `reach_error` (in main)
          5  int n = __VERIFIER_nondet_int();                             n = 21
          7  if (n == 21 &amp;&amp; twice(n) &gt; 40 /* &lt;script&gt; */) reach_error();  n = 21, x = 21
          3      static int twice(int x) { return 2 * x; }                returns 42
          7  if (n == 21 &amp;&amp; twice(n) &gt; 40 /* &lt;script&gt; */) reach_error();
          7  call of `reach_error`
          x.c:5: input __VERIFIER_nondet_int() = 21
        </failure>
            </testcase>
          </testsuite>
        </testsuites>
    "#]].assert_eq(&without_time(&made("--junit x.xml", "x.xml")));
}

fn without_time(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(" time=\"") {
        out.push_str(&rest[..at]);
        let tail = &rest[at + 7..];
        rest = &tail[tail.find('"').expect("it ends") + 1..];
    }
    out + rest
}

#[test]
fn dot_has_the_lines_and_the_path() {
    expect![[r#"
        digraph program {
          node [shape=box, fontname=monospace];
          subgraph cluster_0 {
            label="twice";
            n0_3 [label="3: static int twice(int x) { return 2 * x; }", style=bold];
          }
          subgraph cluster_1 {
            label="main";
            n1_5 [label="5: int n = __VERIFIER_nondet_int();", style=bold];
            n1_6 [label="6: if (n < 0 && n > 5) reach_error();", style=bold];
            n1_7 [label="7: if (n == 21 && twice(n) > 40 /* <script> */) reach_error();", style=bold, color=red];
            n1_8 [label="8: return 0;"];
            n1_5 -> n1_6 [style=bold];
            n1_6 -> n1_7 [style=bold];
            n1_7 -> n1_8;
          }
        }
    "#]].assert_eq(&made("--dot x.dot", "x.dot"));
}

#[test]
fn a_drawing_has_the_lines_and_the_path() {
    let drawing = made("--svg x.svg", "x.svg");
    let document = drawing.trim_end();
    assert!(document.starts_with("<svg xmlns=") && document.ends_with("</svg>"));
    // Every line is a box; those that were executed are marked.
    let marked = drawing.matches("class=\"box path\"").count();
    let plain = drawing.matches("class=\"box\"").count();
    assert_eq!((marked, plain), (4, 1), "{drawing}");
    assert!(drawing.contains("/* &lt;script&gt; */"));
}

#[test]
fn a_page_is_complete_and_closed() {
    let page = made("--html out", "out/index.html");
    assert!(page.starts_with("<!DOCTYPE html>"));
    // Nothing comes from the network, and nothing of the program's text is taken for markup.
    assert!(!page.contains("http://") && !page.contains("https://"));
    assert_eq!(page.matches("<script").count(), 2);
    assert_eq!(page.matches("</script>").count(), 2);
    assert!(page.contains("/* &lt;script&gt; */"));
    for part in [
        "<nav",
        "<main>",
        "aria-live=\"polite\"",
        "id=\"check-1\"",
        "Call stack",
        "<svg",
    ] {
        assert!(page.contains(part), "{part} is missing");
    }
    // Every element that is opened is closed.
    for tag in [
        "section", "div", "table", "tbody", "ol", "ul", "svg", "details", "main", "body",
    ] {
        let opened =
            page.matches(&format!("<{tag}>")).count() + page.matches(&format!("<{tag} ")).count();
        assert_eq!(opened, page.matches(&format!("</{tag}>")).count(), "{tag}");
    }
    let start = page.find("application/json\">").expect("the data") + 18;
    let end = start + page[start..].find("</script>").expect("its end");
    let data: Value = serde_json::from_str(&page[start..end]).expect("JSON");
    let last = data["relevant"]
        .as_array()
        .expect("rows")
        .last()
        .expect("one");
    assert_eq!(last["x"], true);
    assert!(
        data["full"].as_array().expect("rows").len()
            >= data["relevant"].as_array().expect("rows").len()
    );
}

#[test]
fn a_page_shows_the_proof_the_boolean_program_and_the_search() {
    let program = "extern int __VERIFIER_nondet_int(void);
extern void reach_error(void);
int main(void) {
  int n = 0;
  while (__VERIFIER_nondet_int()) {
    if (n < 10) n++;
  }
  if (n > 10) reach_error();
  return 0;
}
";
    let scene = Scene::file("x.c", program);
    let output = scene.output("check x.c --html out --engine slam");
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let page = std::fs::read_to_string(scene.path().join("out/index.html")).expect("it is there");
    for part in [
        // What there is, and links to it.
        "<nav id=\"contents\"",
        "<a href=\"#proof\">",
        "<a href=\"#boolean-program\">",
        "<a href=\"#search\">",
        "id=\"certificate\"",
        "loop invariant",
        // A statement of the boolean program beside its line.
        "<table class=\"boolean code\">",
        "<span class=\"soft\">x.c:6</span> if (n &lt; 10) n++;",
        // What the search counted, and what its steps took.
        "<figcaption>Horn queries</figcaption>",
        "<figcaption>seconds an iteration</figcaption>",
    ] {
        assert!(page.contains(part), "{part} is missing in {page}");
    }
}

#[test]
fn a_page_shows_the_rule_beside_the_run() {
    let rule = "state { enum { off, on } light = off; }
press.entry { watch $1; if (light == on) abort \"it is on already\"; light = on; }
";
    let program = "int lamp;\nvoid press(int *lamp);\nint main(void) {\n  press(&lamp);\n  press(&lamp);\n  return \
                   0;\n}\n";
    let scene = Scene::file("lamp.c", program).and_file("lamp.rule", rule);
    scene.output("check lamp.c --rule lamp.rule --html out");
    let page = std::fs::read_to_string(scene.path().join("out/index.html")).expect("it is there");
    for part in [
        "<div class=\"player\" id=\"trace\">",
        "It watches <code>&amp;lamp</code>.",
        "class=\"rule-now\"",
        "<span class=\"state\">light = on</span>",
    ] {
        assert!(page.contains(part), "{part} is missing in {page}");
    }
}
