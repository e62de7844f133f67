//! `hardbop bp`.

use crate::scene::Scene;
use expect_test::expect;

#[test]
fn format() {
    let scene = Scene::file(
        "x.bp",
        "decl   g ;void main( )begin\n// why\n g:=!g&(g|g) ; end",
    );
    scene.check("bp format x.bp", expect![[""]]);
    scene.check("bp format x.bp --check", expect![[""]]);
    scene.check("bp format x.bp --write", expect![[""]]);
    scene.check("bp format x.bp --check", expect![[""]]);
    let value = scene.json("bp format x.bp");
    assert_eq!(value["canonical"], true);
}

#[test]
fn format_of_standard_input_cannot_be_written() {
    let scene = Scene::empty().and_input("void main() begin skip; end");
    scene.check("bp format -", expect![[""]]);
    scene.check("bp format - --write", expect![[""]]);
}

#[test]
fn format_refuses_what_does_not_parse() {
    let scene = Scene::file("x.bp", "void main() begin if end");
    scene.check("bp format x.bp --write", expect![[""]]);
    let text = std::fs::read_to_string(scene.path().join("x.bp")).unwrap();
    assert_eq!(text, "void main() begin if end", "the file is as it was");
}

#[test]
fn graph() {
    let scene = Scene::file("x.bp", "void main() begin while (*) do skip; od end");
    scene.check("bp graph x.bp", expect![[""]]);
    let svg = scene.output("bp graph x.bp --to svg").stdout;
    let svg = String::from_utf8(svg).unwrap();
    assert!(
        svg.starts_with("<svg ") && svg.trim_end().ends_with("</svg>"),
        "{svg}"
    );
    assert_eq!(scene.json("bp graph x.bp --to svg")["text"], svg);
}

#[test]
fn a_scripted_run() {
    let scene = Scene::examples();
    scene.check("bp run bp/figure1.bp --choices 10", expect![[""]]);
    scene.check("bp run bp/figure1.bp --choices 12", expect![[""]]);
}

#[test]
fn a_random_run_is_the_same_for_the_same_seed() {
    let scene = Scene::examples();
    scene.check("bp run bp/driver-coarse.bp --seed 3", expect![[""]]);
    let one = scene.output("bp run bp/driver-coarse.bp --seed 7").stdout;
    let two = scene.output("bp run bp/driver-coarse.bp --seed 7").stdout;
    assert_eq!(one, two);
}

#[test]
fn the_ways_a_run_ends() {
    let run = |program: &str, options: &str, expected| {
        Scene::file("x.bp", program).check(&format!("bp run x.bp {options}"), expected);
    };
    run("void main() begin assert(F); end", "", expect![[""]]);
    run("void main() begin assume(F); end", "", expect![[""]]);
    run(
        "void main() begin L: goto L; end",
        "--steps 3",
        expect![[""]],
    );
    run(
        "decl x; void main() begin x := * constrain 'x & !'x; end",
        "",
        expect![[""]],
    );
    run(
        "void main() begin L: goto L; end",
        "--steps 100000000000 --time-limit 0",
        expect![[""]],
    );
}

#[test]
fn a_run_as_json() {
    let value = Scene::examples().json("bp run bp/figure1.bp --choices 10 --steps 2");
    expect![[""]].assert_eq(&serde_json::to_string_pretty(&value).unwrap());
}

#[test]
fn export() {
    let scene = Scene::file("x.bp", "decl g; void main() begin g := *; L: skip; end");
    scene.check("bp export x.bp --to chc", expect![[""]]);
    assert!(
        scene.json("bp export x.bp")["text"]
            .as_str()
            .unwrap()
            .contains("HORN")
    );
}

#[test]
fn generate() {
    let scene = Scene::empty();
    scene.check("bp generate t --size 1", expect![[""]]);
    scene.check("bp generate counter --size 2 --free-start", expect![[""]]);
}

/// What is generated loads without complaint, and the same again from the same seed.
#[test]
fn generated_programs_load() {
    for arguments in [
        "t --size 3",
        "counter --size 4",
        "wide --size 8 --statements 12 --seed 2",
        "random --seed 11 --procedures 4 --globals 3 --locals 3 --formals 2 --statements 12",
        "random --seed 12 --no-recursion",
    ] {
        let command = format!("bp generate {arguments}");
        let text = Scene::empty().output(&command).stdout;
        assert_eq!(text, Scene::empty().output(&command).stdout, "{arguments}");
        assert_eq!(
            Scene::empty().json(&command)["text"]
                .as_str()
                .unwrap()
                .as_bytes(),
            text,
            "{arguments}"
        );
        let scene = Scene::file("x.bp", &text);
        let output = scene.output("bebop x.bp");
        assert!(
            matches!(output.status.code(), Some(0 | 1)),
            "{arguments}: {}",
            String::from_utf8_lossy(&output.stderr)
        );
    }
}
