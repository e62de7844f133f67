//! Projects: `hardbop.toml`, `hardbop init`, `hardbop check` without arguments.

use crate::scene::{Scene, hardbop};
use expect_test::expect;
use serde_json::Value;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const GOOD: &str = "#include \"limit.h\"
#include <assert.h>
int main(void) { int x = LIMIT; assert(x < 10); return 0; }
";
const BAD: &str = "extern void reach_error(void);
int main(void) { reach_error(); return 0; }
";

fn project(config: &str) -> Scene {
    let scene = Scene::file("hardbop.toml", config);
    std::fs::create_dir(scene.path().join("src")).expect("a directory");
    scene
        .and_file("src/limit.h", "#define LIMIT 3\n")
        .and_file("src/good.c", GOOD)
        .and_file("src/bad.c", BAD)
}

#[test]
fn a_project_is_checked_and_answers_are_kept() {
    let scene = project("files = [\"src/*.c\"]\n");
    scene.check(
        "check",
        expect![[r#"
        src/bad.c   VIOLATED  1 of 1 checks
          VIOLATED src/bad.c:2: call of `reach_error` (in main)
        src/good.c  PROVED    1 checks
        2 checked: 1 proved, 1 violated
        [exit 1]
    "#]],
    );
    // The second time nothing is left to do.
    scene.check(
        "check",
        expect![[r#"
        src/bad.c   VIOLATED  1 of 1 checks, as before
          VIOLATED src/bad.c:2: call of `reach_error` (in main)
        src/good.c  PROVED    1 checks, as before
        2 checked: 1 proved, 1 violated, 2 as before
        [exit 1]
    "#]],
    );
    // A header changes what depends on it, and only that.
    std::fs::write(scene.path().join("src/limit.h"), "#define LIMIT 30\n").expect("written");
    scene.check(
        "check",
        expect![[r#"
        src/bad.c   VIOLATED  1 of 1 checks, as before
          VIOLATED src/bad.c:2: call of `reach_error` (in main)
        src/good.c  VIOLATED  1 of 1 checks
          VIOLATED src/good.c:3: assertion x < 10 (in main)
        2 checked: 2 violated, 1 as before
        [exit 1]
    "#]],
    );
    let json = scene.json("check");
    assert_eq!(json["items"][1]["answer"], "VIOLATED");
    assert_eq!(json["items"][1]["cached"], true);
}

#[test]
fn programs_of_several_files() {
    project(
        "[[program]]\nname = \"both\"\nfiles = [\"src/a.c\", \"src/b.c\"]\nentry = \"start\"\n",
    )
    .and_file("src/a.c", "int twice(int);\nextern void reach_error(void);\nint start(void) { if (twice(2) != 4) reach_error(); return 0; }\n")
    .and_file("src/b.c", "int twice(int x) { return 2 * x; }\n")
    .check("check", expect![[r#"
        both  PROVED    1 checks
        1 checked: 1 proved
        [exit 0]
    "#]]);
}

#[test]
fn a_file_with_errors_does_not_stop_the_others() {
    project("files = [\"src/*.c\"]\n")
        .and_file("src/broken.c", "int main(void) { return x; }\n")
        .check(
            "check",
            expect![[r#"
            src/bad.c     VIOLATED  1 of 1 checks
              VIOLATED src/bad.c:2: call of `reach_error` (in main)
            src/broken.c  ERROR     'x' undeclared (first use in this function)
            src/good.c    PROVED    1 checks
            3 checked: 1 proved, 1 violated, 1 with errors
            [exit 1]
        "#]],
        );
}

/// What an item would not be told is refused, not left out.
#[test]
fn options_about_files_are_refused_for_projects() {
    project("files = [\"src/*.c\"]\n").check(
        "check --engine slam --html out",
        expect![[r#"
            [stderr]
            error: --engine is about files: name one; for the project, hardbop.toml says it
            [exit 2]
        "#]],
    );
    project("files = [\"src/*.c\"]\nengine = \"slam\"\n").check(
        "check",
        expect![[r#"
            src/bad.c   VIOLATED  1 of 1 checks
              VIOLATED src/bad.c:2: call of `reach_error` (in main)
            src/good.c  PROVED    1 checks
            2 checked: 1 proved, 1 violated
            [exit 1]
        "#]],
    );
    project("files = [\"src/*.c\"]\nengine = \"blast\"\n").check(
        "check",
        expect![[r#"
            [stderr]
            error: `hardbop.toml`: `blast` is no engine: there are `auto`, `diagrams`, `dpr`, `functions`, `houdini`, `horn`, `induction`, `leap`, `nodes`, `pdr`, `polynomials`, `run`, `sat`, `slam`, `unroll`, `values`
            [exit 2]
        "#]],
    );
}

#[test]
fn a_wrong_key_is_pointed_at() {
    project("files = [\"src/*.c\"]\ntime_limt = 3\n").check("check", expect![[r#"
        [stderr]
        error: unknown field `time_limt`, expected one of `files`, `exclude`, `program`, `include`, `define`, `data_model`, `entry`, `check`, `rules`, `time_limit`, `memory_limit`, `engine`, `jobs`, `on`, `store`, `site`, `split`, `groups`
         --> hardbop.toml:2:1
          |
        2 | time_limt = 3
          | ^^^^^^^^^
        [exit 2]
    "#]]);
    project("files = \"src/*.c\"\n").check(
        "check",
        expect![[r#"
            [stderr]
            error: invalid type: string "src/*.c", expected a sequence
             --> hardbop.toml:1:9
              |
            1 | files = "src/*.c"
              |         ^^^^^^^^^
            [exit 2]
        "#]],
    );
    project("files = [\"none/*.c\"]\n").check(
        "check",
        expect![[r#"
        [stderr]
        error: `hardbop.toml`: no file matches `none/*.c`
        [exit 2]
    "#]],
    );
    project("jobs = 2\n").check(
        "check",
        expect![[r#"
        [stderr]
        error: `hardbop.toml` names nothing to check: give `files = ["src/*.c"]` or a [[program]]
        [exit 2]
    "#]],
    );
}

#[test]
fn what_every_item_would_stumble_over_is_told_once() {
    let told = |config: &str, expected: expect_test::Expect| {
        project(&format!("files = [\"src/*.c\"]\n{config}\n"))
            .and_file("broken.rule", "state { int }\n")
            .check("check", expected);
    };
    told(
        "data_model = \"lp63\"",
        expect![[r#"
        [stderr]
        error: `hardbop.toml`: `lp63` is no data model: there are `ilp32`, `lp64`
        [exit 2]
    "#]],
    );
    told(
        "check = [\"bounds\", \"overflows\"]",
        expect![[r#"
            [stderr]
            error: `hardbop.toml`: `overflows` is no check: there are `div-by-zero`, `overflow`, `unsigned`, `conversion`, `float-cast`, `nan`, `uninit`, `pointer`, `bounds`, `pointer-arithmetic`, `alignment`, `overlap`, `constant`, `free`, `leak`, `cleanup`, `undefined`, `all`
            [exit 2]
        "#]],
    );
    told(
        "time_limit = -3",
        expect![[r#"
        [stderr]
        error: `hardbop.toml`: `time_limit` is -3: give seconds
        [exit 2]
    "#]],
    );
    told(
        "rules = [\"lock\", \"lcok\"]",
        expect![[r#"
        [stderr]
        error: there is no rule `lcok`: did you mean `lock`? (the name of a file ends in `.rule`)
        [exit 2]
    "#]],
    );
    told(
        "rules = [\"none.rule\"]",
        expect![[r#"
        [stderr]
        error: cannot read `none.rule`: there is no such file
        [exit 2]
    "#]],
    );
    told(
        "rules = [\"broken.rule\"]",
        expect![[r#"
        [stderr]
        error: unexpected `}`
         --> broken.rule:1:13
          |
        1 | state { int }
          |             ^ expected the name of a variable
        [exit 2]
    "#]],
    );
}

#[test]
fn a_project_can_be_begun() {
    let scene = Scene::file("a.c", BAD);
    scene.check(
        "init",
        expect![[r#"
        wrote ./hardbop.toml; `hardbop check` without arguments now checks the project
        [exit 0]
    "#]],
    );
    scene.check(
        "init",
        expect![[r#"
        [stderr]
        error: `./hardbop.toml` exists already
        [exit 2]
    "#]],
    );
    scene.check(
        "check",
        expect![[r#"
        a.c  VIOLATED  1 of 1 checks
          VIOLATED a.c:2: call of `reach_error` (in main)
        1 checked: 1 violated
        [exit 1]
    "#]],
    );
}

#[test]
fn without_a_project_that_is_said() {
    Scene::empty().check("check", expect![[r#"
        [stderr]
        error: no file is named, and there is no hardbop.toml here: give FILE.c, or begin a project with `hardbop init`
        [exit 2]
    "#]]);
}

#[test]
fn several_rules_make_a_table() {
    let lock = "state { int held; }\nacquire.entry { if (held) abort \"held\"; held = 1; }\n";
    let twice = "state { int n; }\nacquire.entry { n++; if (n > 1) abort \"again\"; }\n";
    Scene::file(
        "hardbop.toml",
        "files = [\"*.c\"]\nrules = [\"lock.rule\", \"twice.rule\"]\n",
    )
    .and_file("lock.rule", lock)
    .and_file("twice.rule", twice)
    .and_file(
        "once.c",
        "void acquire(void);\nint main(void) { acquire(); return 0; }\n",
    )
    .and_file(
        "longer_name.c",
        "void acquire(void);\nint main(void) { acquire(); acquire(); return 0; }\n",
    )
    .check(
        "check",
        expect![[r#"
        file           lock.rule  twice.rule
        longer_name.c  VIOLATED   VIOLATED
        once.c         PROVED     PROVED

        longer_name.c [lock.rule]   VIOLATED  1 of 1 checks
          VIOLATED lock.rule:2: held (in acquire)
        longer_name.c [twice.rule]  VIOLATED  1 of 1 checks
          VIOLATED twice.rule:2: again (in acquire)
        4 checked: 2 proved, 2 violated
        [exit 1]
    "#]],
    );
}

#[test]
fn a_changed_rule_or_a_new_header_is_noticed() {
    let rule = "state { int n; }\nacquire.entry { n++; if (n > 1) abort \"again\"; }\n";
    let scene = Scene::file(
        "hardbop.toml",
        "files = [\"a.c\"]\nrules = [\"mine.rule\"]\ninclude = [\"first\", \"second\"]\n",
    )
    .and_file("mine.rule", rule)
    .and_file(
        "a.c",
        "#include <times.h>\nvoid acquire(void);\nint main(void) { TIMES return 0; }\n",
    );
    for directory in ["first", "second"] {
        std::fs::create_dir(scene.path().join(directory)).expect("a directory");
    }
    let scene = scene.and_file("second/times.h", "#define TIMES acquire();\n");
    let answer = |scene: &Scene| {
        let value = scene.json("check");
        let item = &value["items"][0];
        (item["answer"].clone(), item["cached"].clone())
    };
    assert_eq!(answer(&scene), ("PROVED".into(), false.into()));
    assert_eq!(answer(&scene), ("PROVED".into(), true.into()));
    // The same text found elsewhere, which hides the first one.
    let scene = scene.and_file("first/times.h", "#define TIMES acquire(); acquire();\n");
    assert_eq!(answer(&scene), ("VIOLATED".into(), false.into()));
    let scene = scene.and_file("mine.rule", rule.replace("n > 1", "n > 2"));
    assert_eq!(answer(&scene), ("PROVED".into(), false.into()));
}

/// The number of items with an answer that were done in this run, and of those taken as before.
fn work(value: &Value) -> (usize, usize) {
    let items = value["items"].as_array().expect("items");
    let cached = items.iter().filter(|item| item["cached"] == true).count();
    let open = items
        .iter()
        .filter(|item| item["answer"] == "UNKNOWN")
        .count();
    (items.len() - cached - open, cached)
}

#[test]
fn a_project_can_be_interrupted_and_resumed() {
    const FILES: usize = 20;
    const RULES: usize = 5;
    let rules = ["lock", "file", "memory", "refcount", "interrupts"];
    assert_eq!(rules.len(), RULES);
    let names: Vec<String> = rules.iter().map(|rule| format!("{rule:?}")).collect();
    let config = format!("files = [\"*.c\"]\nrules = [{}]\n", names.join(", "));
    let mut scene = Scene::file("hardbop.toml", config);
    for number in 0..FILES {
        let program = format!(
            "struct lock {{ int word; }};
void spin_lock(struct lock *lock);
void spin_unlock(struct lock *lock);
void local_irq_disable(void);
void local_irq_enable(void);
extern int __VERIFIER_nondet_int(void);
struct lock lock_{number};
int main(void) {{
  local_irq_disable();
  spin_lock(&lock_{number});
  if (__VERIFIER_nondet_int() != {number}) spin_unlock(&lock_{number});
  local_irq_enable();
  return 0;
}}
"
        );
        scene = scene.and_file(&format!("driver_{number:02}.c"), program);
    }
    let kept = || {
        let answers = scene.path().join(".hardbop/cache/answers/*/*/*");
        let found = glob::glob(&answers.to_string_lossy()).expect("a pattern");
        found.count()
    };
    let mut child = hardbop(&scene.path())
        .args(["check", "--json"])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("hardbop starts");
    let started = Instant::now();
    while kept() < FILES && started.elapsed() < Duration::from_secs(120) {
        std::thread::sleep(Duration::from_millis(10));
    }
    let interrupted = Command::new("kill")
        .args(["-INT", &child.id().to_string()])
        .status();
    assert!(interrupted.is_ok_and(|status| status.success()));
    let output = child.stdout.take().expect("it is piped");
    let first: Value = serde_json::from_reader(output).expect("JSON, though it was interrupted");
    let code = child.wait().expect("it ends").code();
    assert_eq!(first["exit_code"], code.expect("it was not killed"));
    let (done, cached) = work(&first);
    assert_eq!(cached, 0);
    assert!(done >= FILES, "{done} were done before");
    assert!(done < FILES * RULES, "it was not interrupted in time");
    // The second run does the rest, the third one nothing, and then only what was touched.
    assert_eq!(work(&scene.json("check")), (FILES * RULES - done, done));
    assert_eq!(work(&scene.json("check")), (0, FILES * RULES));
    let touched = scene.path().join("driver_07.c");
    let text = std::fs::read_to_string(&touched).expect("it is there");
    std::fs::write(&touched, format!("{text}// touched\n")).expect("it can be written");
    let last = scene.json("check");
    assert_eq!(work(&last), (RULES, (FILES - 1) * RULES));
    let violated = |item: &&Value| item["answer"] == "VIOLATED";
    let items = last["items"].as_array().expect("items");
    assert_eq!(items.iter().filter(violated).count(), FILES);
}

#[test]
fn checks_are_items_in_groups() {
    let text = "#include <assert.h>
int main(void) { int x = 1;
  assert(x == 1);
  assert(x == 2);
  return 0; }
";
    let scene =
        Scene::file("hardbop.toml", "files = [\"g.c\"]\ngroups = 2\n").and_file("g.c", text);
    scene.check(
        "check",
        expect![[r#"
            g.c (1 of 2)  PROVED    1 checks
            g.c (2 of 2)  VIOLATED  1 of 1 checks
              VIOLATED g.c:4: assertion x == 2 (in main)
            2 checked: 1 proved, 1 violated
            [exit 1]
        "#]],
    );
    project("files = [\"src/*.c\"]\ngroups = 0\n").check(
        "check",
        expect![[r#"
            [stderr]
            error: `hardbop.toml`: `groups` is 0: give 1 to 1000
            [exit 2]
        "#]],
    );
}

/// A part of the paths: what a cluster gives to a node if an item is hard.
#[test]
fn the_search_is_cut_into_parts() {
    let text = "extern int __VERIFIER_nondet_int(void);
extern void reach_error(void);
int main(void) {
  int x = 0;
  if (__VERIFIER_nondet_int()) x = 1;
  if (x == 1) reach_error();
  return 0;
}
";
    let scene = Scene::file("x.c", text);
    scene.check(
        "check x.c --engine dpr --cube 0/2",
        expect![[r#"
            VIOLATED x.c:6: call of `reach_error` (in main)
              5  if (__VERIFIER_nondet_int()) x = 1;  __VERIFIER_nondet_int() = 1, x = 1
              6  if (x == 1) reach_error();           x = 1
              6  call of `reach_error`
              x.c:5: input __VERIFIER_nondet_int() = 1
            [exit 1]
        "#]],
    );
    scene.check(
        "check x.c --engine dpr --cube 1/2",
        expect![[r#"
            UNKNOWN x.c:6: call of `reach_error` (in main)
              because the solver does not know: only a part of the paths was searched, and has no violation
            [exit 3]
        "#]],
    );
    scene.check(
        "check x.c --cube 0/2",
        expect![[r#"
            [stderr]
            error: --cube I/N is for --engine dpr, and N is 2, 4, 8, ... 256
            [exit 2]
        "#]],
    );
    project("files = [\"src/*.c\"]\nsplit = [\"horn/2\"]\n").check(
        "check --on slurm",
        expect![[r#"
            [stderr]
            error: `hardbop.toml`: `split`: `horn/2`: only `dpr` searches in parts, and there are 2, 4, 8, ... 256 of them
            [exit 2]
        "#]],
    );
}
