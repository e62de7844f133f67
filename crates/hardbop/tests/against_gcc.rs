//! A hundred random programs whose results gcc knows, through `hardbop check`: no answer may
//! contradict a run. Campaigns of any length: `benches/prove-against-run --help`.

// Why a test did nothing, and what it counted, is worth seeing.
#![allow(clippy::print_stderr)]

use std::path::Path;
use std::process::Command;

fn works(program: &str) -> bool {
    let output = Command::new(program).arg("--version").output();
    output.is_ok_and(|output| output.status.success())
}

fn check(options: &[&str]) {
    for program in ["python3", "gcc"] {
        if !works(program) {
            eprintln!("skipped: {program} is not installed");
            return;
        }
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let kept = tempfile::tempdir().expect("a directory for programs");
    let output = Command::new("python3")
        .arg(root.join("benches/prove-against-run"))
        .args(["--hardbop", env!("CARGO_BIN_EXE_hardbop")])
        .args(["--time-limit", "1", "--no-reduce", "--keep"])
        .arg(kept.path())
        .args(options)
        .output()
        .expect("python3 runs");
    let said = String::from_utf8_lossy(&output.stdout);
    let complaint = String::from_utf8_lossy(&output.stderr);
    eprintln!("{said}");
    if !output.status.success() {
        // The directory is gone when somebody reads this.
        let files = std::fs::read_dir(kept.path()).expect("the directory");
        let texts = files.filter_map(|file| std::fs::read_to_string(file.ok()?.path()).ok());
        let texts: Vec<String> = texts.collect();
        panic!("{said}{complaint}\n{}", texts.join("\n"));
    }
}

#[test]
fn no_answer_contradicts_a_run() {
    check(&["--seed", "1", "--count", "70"]);
}

#[test]
fn no_answer_contradicts_all_runs_on_small_inputs() {
    check(&["--seed", "1000", "--count", "30", "--exhaustive"]);
}
