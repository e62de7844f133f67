//! `--entry`, `--assume`, `hardbop harness` and `--each`: functions without a `main`.

use crate::scene::Scene;
use std::process::Command;

const LIBRARY: &str = "struct node { int value; struct node *next; };
typedef struct { const char *name; int count; int table[4]; } entry_t;

int sum(const int *a, int n) {
  int s = 0;
  for (int i = 0; i < n; i++) s ^= a[i];
  return s;
}
int first(struct node *n) { return n->value; }
int second(struct node *n) { return n && n->next ? n->next->value : 0; }
int third(struct node *n) { return n && n->next && n->next->next ? 1 / 0 : 0; }
int length(const char *s) { int n = 0; while (s[n]) n++; return n; }
int apply(int (*f)(int), int x) { return f ? f(x) : 0; }
int same(int *p, int *q) { if (!p || !q) return 0; *p = 1; *q = 2; return 1 / (*p - 2); }
int in_table(entry_t *e, unsigned at) { return e && at < 4 ? e->table[at] : 0; }
int past_table(entry_t *e, unsigned at) { return e && at <= 4 ? e->table[at] : 0; }
int plain(int x) { return 10 / (x * 2 + 1); }
";

fn library() -> Scene {
    Scene::file("lib.c", LIBRARY)
}

/// Checks a function of the library.
#[track_caller]
fn entry(function: &str, kinds: &str) -> (Option<i32>, String) {
    check(
        &library(),
        &["check", "lib.c", "--entry", function, "--check", kinds],
    )
}

#[test]
fn a_library_is_told_how_to_begin() {
    let (code, said) = check(&library(), &["check", "lib.c"]);
    assert_eq!(code, Some(2));
    assert!(
        said.contains("no function `main` to start at; `--entry sum` starts at"),
        "{said}"
    );
}

#[test]
fn arguments_may_be_anything() {
    let (code, said) = entry("first", "pointer,bounds");
    assert_eq!(code, Some(1), "{said}");
    assert!(
        said.contains("VIOLATED lib.c:9: null pointer in n->value (in first)"),
        "{said}"
    );
    assert!(
        said.contains("unreachable: 29 checks in functions that `first` never calls"),
        "{said}"
    );
    assert!(
        said.contains("struct node *n  /* null, or an object of its own, as are those"),
        "{said}"
    );
    let (code, said) = entry("second", "pointer,bounds");
    assert_eq!(code, Some(0), "{said}");
}

#[test]
fn arguments_may_point_to_the_same_object() {
    let (code, said) = entry("same", "pointer,bounds,div-by-zero");
    assert_eq!(code, Some(1), "{said}");
    assert!(
        said.contains("VIOLATED lib.c:14: division by zero"),
        "{said}"
    );
    assert!(
        said.contains("input __VERIFIER_nondet_same_as_p_q() = 1"),
        "{said}"
    );
    assert!(said.contains("or what p points to */"), "{said}");
}

#[test]
fn functions_call_back() {
    let (code, said) = entry("apply", "pointer");
    assert_eq!(code, Some(0), "{said}");
    assert!(
        said.contains("/* null, or a function that returns anything and changes nothing */"),
        "{said}"
    );
}

#[test]
fn objects_are_as_large_as_their_types() {
    let (code, said) = entry("in_table", "pointer,bounds");
    assert_eq!(code, Some(0), "{said}");
    let (code, said) = entry("past_table", "pointer,bounds");
    assert_eq!(code, Some(1), "{said}");
    assert!(
        said.contains("index out of bounds in e->table[at]"),
        "{said}"
    );
}

/// Arguments of several words, as a shell passes them.
#[track_caller]
fn check(scene: &Scene, arguments: &[&str]) -> (Option<i32>, String) {
    let output = crate::scene::hardbop(&scene.path())
        .args(arguments)
        .output()
        .expect("hardbop starts");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let said = format!("{}{}", text(&output.stdout), text(&output.stderr));
    (output.status.code(), said)
}

#[test]
fn what_is_assumed_decides() {
    let scene = library();
    let sum = [
        "check",
        "lib.c",
        "--entry",
        "sum",
        "--check",
        "pointer,bounds",
    ];
    let (code, _) = check(&scene, &sum);
    assert_eq!(code, Some(1), "nobody says how long it is");
    let with = |fact: &'static str| [&sum[..], &["--assume", fact]].concat();
    let (code, said) = check(&scene, &with("a is readable for n"));
    assert_eq!(code, Some(0), "{said}");
    assert!(
        said.contains("const int *a, /* readable for n */"),
        "{said}"
    );
    let (code, said) = check(&scene, &with("a is not null"));
    assert_eq!(code, Some(1), "{said}");
    assert!(!said.contains("VIOLATED lib.c:6: null pointer"), "{said}");
    let (code, said) = check(&scene, &with("b is not null"));
    assert_eq!(code, Some(2), "{said}");
    assert!(
        said.contains("`sum` has no parameter `b`; it has a, n"),
        "{said}"
    );
    let (code, said) = check(&scene, &with("n <= 0"));
    assert_eq!(code, Some(0), "{said}");
}

#[test]
fn a_project_file_says_what_is_assumed() {
    let toml = "files = [\"lib.c\"]\n[entry.length]\nassume = [\"s is a string\"]\n";
    let scene = library().and_file("hardbop.toml", toml);
    let (_, said) = check(
        &scene,
        &[
            "check",
            "lib.c",
            "--entry",
            "length",
            "--check",
            "pointer",
            "--time-limit",
            "3",
        ],
    );
    assert!(said.contains("/* a string of any length */"), "{said}");
    assert!(!said.contains("VIOLATED"), "{said}");
}

/// What other tools are given compiles, for verifiers and for fuzzers.
#[test]
fn a_harness_compiles() {
    let scene = library();
    for entry in ["sum", "second", "apply", "same", "in_table"] {
        let (code, harness) = check(&scene, &["harness", "lib.c", "--entry", entry]);
        assert_eq!(code, Some(0), "{harness}");
        let file = scene.path().join("harness.c");
        std::fs::write(&file, harness).expect("it can be written");
        for define in ["-DNOTHING", "-DFUZZ"] {
            let output = Command::new("cc")
                .args([
                    "-fsyntax-only",
                    "-Wall",
                    "-Wno-div-by-zero",
                    "-Werror",
                    define,
                ])
                .arg(&file)
                .output()
                .expect("cc runs");
            let said = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success(), "{entry} {define}: {said}");
        }
    }
}

#[test]
fn every_function_by_itself() {
    let arguments = [
        "check",
        "lib.c",
        "--each",
        "--check",
        "pointer,bounds,div-by-zero",
    ];
    let (code, said) = check(&library(), &arguments);
    assert_eq!(code, Some(1), "{said}");
    for line in [
        "first       VIOLATED  1 of 2 checks",
        "second      PROVED    6 checks",
        "apply       PROVED    1 checks",
        "same        VIOLATED  1 of 7 checks",
    ] {
        assert!(said.contains(line), "{said}");
    }
}

/// What is constant for a function is made by its caller.
#[test]
fn pointers_to_constant_structures() {
    let text = "struct node { int value; struct node *next; };
int second(const struct node *const n) { return n != 0 && n->next != 0 ? n->next->value : 0; }
";
    let scene = Scene::file("const.c", text);
    let said = scene.json("check const.c --entry second --check pointer");
    assert_eq!(said["exit_code"], 0, "{said}");
    assert_ne!(said["checks"].as_array().map_or(0, Vec::len), 0, "{said}");
}
