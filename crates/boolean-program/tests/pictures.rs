//! The control-flow graph as DOT and as SVG.

use expect_test::expect;
use hardbop_boolean_program::graph::{to_dot, to_svg};
use hardbop_boolean_program::program::Program;
use hardbop_boolean_program::{Dialect, load};
use hardbop_diagnostics::Sources;

fn program(text: &str) -> (Sources, Program) {
    let mut sources = Sources::new();
    let file = sources.add("test.bp", text);
    let loaded = load(&sources, file, Dialect::Auto);
    (sources, loaded.program.expect("no errors"))
}

const EXAMPLE: &str = r#"decl {"a\" < b & c};
void f() begin
  L: M: {"a\" < b & c}
    := *;
end
void main() begin
  while (*) do
    f();
  od
  assert({"a\" < b & c});
end
"#;

#[test]
fn dot_has_a_cluster_for_each_procedure_and_escapes_text() {
    let (sources, program) = program(EXAMPLE);
    expect![[r#"
        digraph program {
          node [shape=box, fontname="monospace"];
          edge [fontname="monospace"];
          subgraph cluster_0 {
            label="f";
            v0 [label="3: L: M: {\"a\\\" < b & c} := *", penwidth=2];
            v1 [label="5: exit", shape=oval];
          }
          subgraph cluster_1 {
            label="main";
            v2 [label="7: while (*)", shape=diamond];
            v3 [label="8: f()"];
            v4 [label="10: assert({\"a\\\" < b & c})", shape=diamond];
            v5 [label="11: exit", shape=oval];
            v6 [label="10: assertion fails", shape=octagon, color=red];
          }
          v0 -> v1;
          v2 -> v3 [label="true"];
          v2 -> v4 [label="false"];
          v3 -> v2;
          v3 -> v0 [style=dashed];
          v4 -> v5 [label="true"];
          v4 -> v6 [label="false"];
        }
    "#]]
    .assert_eq(&to_dot(&program, &sources));
}

#[test]
fn svg_is_well_formed() {
    let (sources, program) = program(EXAMPLE);
    let svg = to_svg(&program, &sources);
    // Every element is closed, in the right order.
    let mut open = Vec::new();
    let mut rest = svg.as_str();
    while let Some(start) = rest.find('<') {
        let end = start + rest[start..].find('>').expect("the end of a tag");
        let tag = &rest[start + 1..end];
        assert!(!tag.contains('<'), "{tag}");
        let name = tag
            .split([' ', '/'])
            .find(|part| !part.is_empty())
            .expect("a name");
        if tag.starts_with('/') {
            assert_eq!(open.pop(), Some(name));
        } else if !tag.ends_with('/') {
            open.push(name);
        }
        rest = &rest[end + 1..];
    }
    assert!(open.is_empty());
    assert!(svg.contains(r#">3: L: M: {"a\" &lt; b &amp; c} := *</text>"#));
    assert_eq!(svg.matches("class=\"panel\"").count(), 2);
    let boxes = ["plain", "branch", "call", "exit", "failed"];
    let count = |class: &str| svg.matches(&format!("<rect class=\"{class}\"")).count();
    assert_eq!(boxes.map(count), [1, 2, 1, 2, 1]);
}
