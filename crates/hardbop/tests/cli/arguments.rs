//! Help, manual pages, completions, usage errors, and how results are written.

use crate::scene::{Scene, hardbop, root};
use expect_test::expect;
use std::process::{Command, Stdio};

const COMMANDS: [&str; 12] = [
    "",
    "bebop",
    "bp",
    "bp format",
    "bp graph",
    "bp run",
    "bp export",
    "bp generate",
    "c",
    "c cfg",
    "c run",
    "c dump",
];

#[test]
fn short_help_teaches_by_example() {
    Scene::empty().check("-h", expect![[""]]);
    Scene::empty().check("bebop -h", expect![[""]]);
}

#[test]
fn every_command_has_help_and_a_manual_page() {
    let scene = Scene::empty();
    for command in COMMANDS {
        let help = scene.output(&format!("{command} --help"));
        assert!(help.status.success(), "{command}");
        let page = scene.output(&format!("man {command}"));
        assert!(page.status.success(), "{command}");
        let page = String::from_utf8(page.stdout).unwrap();
        for section in [".SH NAME", ".SH SYNOPSIS", ".SH DESCRIPTION", ".SH OPTIONS"] {
            assert!(page.contains(section), "{command} lacks {section}");
        }
    }
}

#[test]
fn the_manual_page_tells_exit_codes() {
    let page = Scene::empty().output("man bebop");
    let page = String::from_utf8(page.stdout).unwrap();
    let end = page.find(".SH EXAMPLES").expect("there are examples");
    expect![[""]].assert_eq(&page[end..]);
}

#[test]
fn completions_know_the_commands() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = Scene::empty().output(&format!("completions {shell}"));
        assert!(script.status.success());
        let script = String::from_utf8(script.stdout).unwrap();
        assert!(
            script.contains("generate") && script.contains("time-limit"),
            "{shell}"
        );
    }
}

#[test]
fn the_version_is_the_package_s() {
    Scene::empty().check("--version", expect![[""]]);
}

#[test]
fn usage_errors() {
    let scene = Scene::empty();
    scene.check("", expect![[""]]);
    scene.check("nonsense", expect![[""]]);
    scene.check("bebop", expect![[""]]);
    scene.check("bebop x.bp --time-limit soon", expect![[""]]);
    scene.check("bebop x.bp --memory-limit 0", expect![[""]]);
    scene.check("bebop x.bp --no-trace --expand", expect![[""]]);
    scene.check("man nonsense", expect![[""]]);
}

#[test]
fn usage_errors_as_json() {
    let value = Scene::empty().json("bebop");
    assert_eq!(value["error"]["kind"], "usage");
    let message = value["error"]["message"].as_str().unwrap();
    assert!(message.contains("<FILE.bp>"), "{message}");
    let value = Scene::empty().json("man nonsense");
    assert_eq!(value["command"], "man");
}

#[test]
fn pages_and_scripts_come_as_json_too() {
    let scene = Scene::empty();
    assert!(
        scene.json("man bp run")["page"]
            .as_str()
            .unwrap()
            .starts_with(".ie")
    );
    assert!(
        scene.json("completions bash")["script"]
            .as_str()
            .unwrap()
            .contains("_hardbop")
    );
}

#[test]
fn colours_only_where_they_are_wanted() {
    let scene = Scene::examples();
    let plain = scene.output("bebop bp/figure1.bp").stdout;
    assert!(!plain.contains(&0x1b), "a pipe is no terminal");
    let coloured = scene.output("bebop bp/figure1.bp --color always").stdout;
    assert!(coloured.contains(&0x1b));
    let never = scene.output("bebop bp/figure1.bp --color never").stdout;
    assert_eq!(plain, never);
}

#[test]
fn a_reader_that_has_seen_enough_does_not_change_the_verdict() {
    let mut child = hardbop(&root())
        .args(["bebop", "examples/bp/figure1.bp"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!(String::from_utf8(output.stderr).unwrap(), "");
    assert_eq!(output.status.code(), Some(1));
}

#[test]
fn output_that_cannot_be_written_is_an_error() {
    let full = Command::new("sh")
        .arg("-c")
        .arg(format!(
            "{} bp generate t > /dev/full",
            env!("CARGO_BIN_EXE_hardbop")
        ))
        .output()
        .unwrap();
    let errors = String::from_utf8(full.stderr).unwrap();
    assert!(
        errors.starts_with("error: cannot write to standard output: "),
        "{errors}"
    );
    assert_eq!(full.status.code(), Some(2));
}
