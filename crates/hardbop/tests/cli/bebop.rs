//! `hardbop bebop`.

use crate::scene::Scene;
use expect_test::expect;
use std::time::{Duration, Instant};

#[test]
fn figure_1_in_execution_order() {
    Scene::examples().check("bebop bp/figure1.bp", expect![[""]]);
    Scene::examples().check("bebop bp/figure1.bp --expand", expect![[""]]);
}

/// The trace that the paper prints, line by line.
#[test]
fn figure_1_as_in_the_paper() {
    Scene::examples().check(
        "bebop bp/figure1.bp --reverse --expand --label R",
        expect![[""]],
    );
}

#[test]
fn a_proof() {
    Scene::examples().check("bebop bp/driver.bp --assertions", expect![[""]]);
}

#[test]
fn a_failing_assertion() {
    Scene::examples().check("bebop bp/driver-coarse.bp --assertions", expect![[""]]);
}

#[test]
fn labels_are_picked_by_name() {
    let scene = Scene::file(
        "x.bp",
        "void main() begin L: f(); M: skip; end void f() begin L: assume(F); end",
    );
    scene.check("bebop x.bp --no-trace", expect![[""]]);
    scene.check("bebop x.bp --no-trace --label L", expect![[""]]);
    scene.check("bebop x.bp --no-trace --label f.L --label M", expect![[""]]);
    scene.check("bp export x.bp --label L", expect![[""]]);
}

#[test]
fn the_first_target_is_enough() {
    let scene = Scene::examples();
    let output = scene.output("bebop bp/driver.bp --first --no-trace");
    assert_eq!(output.status.code(), Some(1));
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("reachable"), "{text}");
}

#[test]
fn invariants() {
    Scene::examples().check("bebop bp/figure1.bp --no-trace --invariants", expect![[""]]);
    Scene::examples().check(
        "bebop bp/driver.bp --no-trace --invariants HEAD",
        expect![[""]],
    );
    let scene = Scene::file(
        "x.bp",
        "decl a, b, c;\nvoid main() begin\n  a, b := b, b;\n  while (*) do\n    c := a & !b;\n  od\n  L: assume(F);\n  M: skip;\nend\n",
    );
    scene.check("bebop x.bp --no-trace --invariants", expect![[""]]);
}

#[test]
fn statistics() {
    let value = Scene::examples().json("bebop bp/figure1.bp --stats --invariants");
    for key in [
        "vertices",
        "path_edge_nodes",
        "summaries",
        "rings",
        "seconds",
        "peak_nodes",
    ] {
        assert!(value["statistics"][key].is_number(), "{key}");
    }
    let text = Scene::examples().output("bebop bp/figure1.bp --stats");
    let text = String::from_utf8(text.stdout).unwrap();
    for row in [
        "vertices",
        "path-edge nodes",
        "summaries",
        "rings",
        "time",
        "peak memory",
    ] {
        assert!(text.lines().any(|line| line.starts_with(row)), "{row}");
    }
}

#[test]
fn as_json() {
    let value = Scene::examples().json("bebop bp/figure1.bp --invariants");
    expect![[""]].assert_eq(&serde_json::to_string_pretty(&value).unwrap());
}

#[test]
fn from_standard_input() {
    Scene::empty()
        .and_input("void main() begin L: skip; end")
        .check("bebop -", expect![[""]]);
}

#[test]
fn names_in_braces() {
    Scene::file(
        "x.bp",
        "decl {x == 0}; void main() begin assume({x == 0}); L: skip; end",
    )
    .check("bebop x.bp", expect![[""]]);
}

#[test]
fn nothing_to_decide() {
    Scene::file("x.bp", "void main() begin skip; end").check("bebop x.bp", expect![[""]]);
}

/// A counter that takes far longer than the limit.
fn long_work() -> Scene {
    let program = Scene::empty()
        .output("bp generate counter --size 40")
        .stdout;
    Scene::file("counter.bp", program)
}

#[test]
fn the_time_limit_ends_the_work_with_what_is_known() {
    let started = Instant::now();
    let output = long_work().output("bebop counter.bp --time-limit 1");
    let took = started.elapsed();
    assert_eq!(output.status.code(), Some(3));
    assert!(
        took >= Duration::from_secs(1),
        "it stopped early, after {took:?}"
    );
    assert!(
        took < Duration::from_millis(1500),
        "it stopped late, after {took:?}"
    );
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(
        text.contains("label done in main: unknown (the time limit passed)"),
        "{text}"
    );
}

#[test]
fn the_memory_limit_ends_the_work_with_what_is_known() {
    let output = long_work().output("bebop counter.bp --memory-limit 20 --json --stats");
    assert_eq!(output.status.code(), Some(3));
    let value: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(value["targets"][0]["answer"], "unknown");
    assert_eq!(
        value["targets"][0]["reason"],
        "the memory limit was reached"
    );
    let peak = value["statistics"]["peak_memory_bytes"].as_u64().unwrap();
    assert!(peak < 22 << 20, "{peak} bytes");
}

#[cfg(unix)]
#[test]
fn the_first_interrupt_ends_the_work_with_what_is_known() {
    use std::process::{Command, Stdio};
    let scene = long_work();
    let child = crate::scene::hardbop(&scene.path())
        .args(["bebop", "counter.bp"])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    std::thread::sleep(Duration::from_millis(500));
    let killed = Command::new("kill")
        .args(["-INT", &child.id().to_string()])
        .status()
        .unwrap();
    assert!(killed.success());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(3));
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("unknown (cancelled)"), "{text}");
}
