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
    scene.check("check", expect![[r#""#]]);
    // The second time nothing is left to do.
    scene.check("check", expect![[r#""#]]);
    // A header changes what depends on it, and only that.
    std::fs::write(scene.path().join("src/limit.h"), "#define LIMIT 30\n").expect("written");
    scene.check("check", expect![[r#""#]]);
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
    .check("check", expect![[r#""#]]);
}

#[test]
fn a_file_with_errors_does_not_stop_the_others() {
    project("files = [\"src/*.c\"]\n")
        .and_file("src/broken.c", "int main(void) { return x; }\n")
        .check("check", expect![[r#""#]]);
}

#[test]
fn a_wrong_key_is_pointed_at() {
    project("files = [\"src/*.c\"]\ntime_limt = 3\n").check("check", expect![[r#""#]]);
    project("files = \"src/*.c\"\n").check("check", expect![[r#""#]]);
    project("files = [\"none/*.c\"]\n").check("check", expect![[r#""#]]);
    project("jobs = 2\n").check("check", expect![[r#""#]]);
}

#[test]
fn a_project_can_be_begun() {
    let scene = Scene::file("a.c", BAD);
    scene.check("init", expect![[r#""#]]);
    scene.check("init", expect![[r#""#]]);
    scene.check("check", expect![[r#""#]]);
}

#[test]
fn without_a_project_that_is_said() {
    Scene::empty().check("check", expect![[r#""#]]);
}
