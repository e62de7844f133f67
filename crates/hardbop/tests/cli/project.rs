//! Projects: `hardbop.toml`, `hardbop init`, `hardbop check` without arguments.

use crate::scene::Scene;
use expect_test::expect;

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

#[test]
fn a_wrong_key_is_pointed_at() {
    project("files = [\"src/*.c\"]\ntime_limt = 3\n").check("check", expect![[r#"
        [stderr]
        error: unknown field `time_limt`, expected one of `files`, `exclude`, `program`, `include`, `define`, `data_model`, `entry`, `check`, `rules`, `time_limit`, `memory_limit`, `jobs`
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
