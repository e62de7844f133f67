//! The store of answers: shared, checked, pruned, and believed only as far as it stands.

use crate::project::{Project, wait};
use crate::servers::{HyperQueue, ObjectStore};
use std::path::PathBuf;
use std::process::{Command, Output};

fn entries(project: &Project, kind: &str) -> Vec<PathBuf> {
    let pattern = project
        .path()
        .join(".hardbop/cache")
        .join(kind)
        .join("*/**/*");
    let found = glob::glob(pattern.to_str().expect("a plain path")).expect("a pattern");
    found
        .filter_map(Result::ok)
        .filter(|path| path.is_file())
        .collect()
}

fn cache(project: &Project, environment: &[(String, String)], arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_hardbop"))
        .arg("cache")
        .args(arguments)
        .envs(environment.iter().map(|(name, value)| (name, value)))
        .current_dir(project.path())
        .output()
        .expect("it runs")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Easy files only, so that everything is decided.
fn easy() -> Project {
    let project = Project::new(1);
    for name in ["hard.c", "broken.c"] {
        std::fs::remove_file(project.path().join(name)).expect("it was there");
    }
    project
}

#[test]
fn a_damaged_entry_is_thrown_away_and_made_again() {
    let project = easy();
    let first = project.table(&[]);
    let damaged = entries(&project, "answers").pop().expect("an entry");
    let whole = std::fs::read(&damaged).expect("an entry");
    std::fs::write(&damaged, &whole[..whole.len() / 2]).expect("it is cut");
    let output = project.output_in(&[], &[]);
    assert!(
        text(&output.stdout).contains("2 as before"),
        "{}",
        text(&output.stdout)
    );
    assert!(text(&output.stderr).contains("1 damaged entries of the store were thrown away"));
    assert_eq!(entries(&project, "answers").len(), 3, "it was made again");
    let lines = |table: &str| table.replace(", as before", "").lines().count();
    assert_eq!(lines(&first), lines(&text(&output.stdout)));
}

#[test]
fn the_cache_is_shown_checked_and_pruned() {
    let project = easy();
    project.table(&[]);
    let shown = text(&cache(&project, &[], &[]).stdout);
    assert!(shown.contains("3 answers, 3 claims"), "{shown}");
    let checked = text(&cache(&project, &[], &["--check"]).stdout);
    assert!(checked.contains("all of it is whole"), "{checked}");
    let claims = entries(&project, "claims").pop().expect("claims");
    std::fs::write(&claims, "{").expect("it is damaged");
    let output = cache(&project, &[], &["--check"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stdout).contains("1 was damaged and is thrown away"));
    let kept = text(&cache(&project, &[], &["--prune"]).stdout);
    assert!(kept.contains("0 were pruned"), "they are young: {kept}");
    let pruned = text(&cache(&project, &[], &["--prune", "--days", "0"]).stdout);
    assert!(
        pruned.contains("0 answers") && pruned.contains("3 were pruned"),
        "{pruned}"
    );
}

/// What comes from the store is a claim: `--recheck` does not believe what does not pass the gate.
#[test]
fn stored_claims_are_put_through_the_gate_again() {
    let project = easy();
    project.table(&[]);
    let again = project.table(&["--recheck"]);
    assert!(
        again.contains("3 as before, the claims of 3 checked again"),
        "{again}"
    );
    // Somebody writes a proof of his own for a program that violates its check: the entry is whole,
    // and its claims are those of another answer.
    let forged = entries(&project, "answers")
        .into_iter()
        .map(|path| (std::fs::read_to_string(&path).expect("an entry"), path))
        .find(|(entry, _)| entry.contains("\"title\":\"bad_0.c\""));
    let (entry, path) = forged.expect("the entry of the bad file");
    let (_, body) = entry.split_once('\n').expect("a sealed entry");
    let body = body
        .replace("\"VIOLATED\"", "\"PROVED\"")
        .replace("\"exit_code\":1", "\"exit_code\":0");
    let sealed = hardbop::cluster::seal::seal("entry", &body);
    std::fs::write(&path, sealed).expect("it is forged");
    let believed = project.output_in(&[], &[]);
    assert!(
        text(&believed.stdout).contains("3 proved, 3 as before"),
        "a store is trusted"
    );
    let again = project.table(&["--recheck"]);
    assert!(
        again.contains("2 proved, 1 violated, 2 as before"),
        "{again}"
    );
    // And the forged entry is gone.
    assert!(
        project
            .table(&[])
            .contains("2 proved, 1 violated, 3 as before")
    );
}

/// A team, its CI and a cluster share one object store.
#[test]
fn an_object_store_is_shared() {
    let Some(bucket) = ObjectStore::start() else {
        return;
    };
    let place = ["--store", "s3://proofs/team"];
    let laptop = easy();
    let first = laptop.table_in(bucket.environment(), &place);
    assert!(!first.contains("as before"));
    assert!(
        !laptop.path().join(".hardbop/cache").exists(),
        "nothing is kept here"
    );
    let other = easy();
    let again = other.table_in(bucket.environment(), &place);
    assert!(again.contains("3 as before"), "{again}");
    let rechecked = other.table_in(bucket.environment(), &["--store", place[1], "--recheck"]);
    assert!(
        rechecked.contains("the claims of 3 checked again"),
        "{rechecked}"
    );
    if let Some(hq) = HyperQueue::start(1) {
        let mut environment = bucket.environment().to_vec();
        environment.extend(hq.environment().to_vec());
        let cluster = easy();
        let on = hq.on();
        let table = cluster.table_in(&environment, &["--on", &on, "--store", place[1]]);
        assert!(table.contains("3 as before"), "{table}");
    }
    // Another client cuts an entry in half: it is found by its hash.
    bucket.python(
        "import boto3
s3 = boto3.resource('s3', region_name='us-east-1').Bucket('proofs')
entry = next(o for o in s3.objects.all() if '/answers/' in o.key)
body = entry.get()['Body'].read()
s3.put_object(Key=entry.key, Body=body[:len(body) // 2])",
    );
    let output = cache(
        &other,
        bucket.environment(),
        &["--check", "--store", place[1]],
    );
    assert!(
        text(&output.stdout).contains("1 was damaged"),
        "{}",
        text(&output.stdout)
    );
    let output = cache(
        &other,
        bucket.environment(),
        &["--prune", "--days", "0", "--store", place[1]],
    );
    assert!(
        text(&output.stdout).contains("0 answers"),
        "{}",
        text(&output.stdout)
    );
    // A server that does not answer knows nothing: the work is done.
    let mut nowhere = bucket.environment().to_vec();
    nowhere[0].1 = "http://127.0.0.1:9".to_owned();
    let output = laptop.output_in(&nowhere, &place);
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stderr).contains("3 answers could not be kept in the store"));
}

/// A program of two files whose first one includes a header that is a pipe: whoever reads it waits
/// there until the test lets it go on.
fn waiting() -> Project {
    let project = Project::hard();
    std::fs::remove_file(project.path().join("hard.c")).expect("it was there");
    project.write(
        "hardbop.toml",
        "time_limit = 200\n[[program]]\nname = \"both\"\nfiles = [\"first.c\", \"second.c\"]\n",
    );
    project.write("first.c", "#include \"slow.h\"\nint limit = LIMIT;\n");
    project.write("second.c", SAFE);
    let made = Command::new("mkfifo")
        .arg(project.path().join("slow.h"))
        .status();
    assert!(made.expect("mkfifo").success());
    project
}

const SAFE: &str = "extern int limit;\nextern void reach_error(void);\nint main(void) { if (limit != 5) reach_error(); return 0; }\n";
const LIMIT: &str = "#define LIMIT 5\n";

/// A file changes while it is checked. The answer is about what was read, whichever that was; what
/// is kept of it is never taken for an answer about other contents.
fn changes_while_it_is_checked(environment: &[(String, String)], on: &str) {
    use std::io::Write;
    use std::os::unix::fs::OpenOptionsExt;
    /// `O_NONBLOCK`: the pipe opens only if somebody reads from it.
    const AT_ONCE: i32 = 0o4000;
    let project = waiting();
    let run = project.start_in(environment, &["--on", on]);
    let pipe = std::cell::RefCell::new(None);
    wait("a reader of the header", || {
        let opened = std::fs::OpenOptions::new()
            .write(true)
            .custom_flags(AT_ONCE)
            .open(project.path().join("slow.h"));
        *pipe.borrow_mut() = opened.ok();
        pipe.borrow().is_some()
    });
    // It has hashed both files by now, and reads the first.
    project.write("second.c", &SAFE.replace("!= 5", "== 5"));
    let mut open = pipe.into_inner().expect("a reader");
    open.write_all(LIMIT.as_bytes()).expect("it is read");
    drop(open);
    let (code, table) = run.end();
    let first = table.lines().next().expect("a line").to_owned();
    assert!(
        (code == 0 && first.starts_with("both  PROVED"))
            || (code == 1 && first.starts_with("both  VIOLATED")),
        "{table}"
    );
    std::fs::remove_file(project.path().join("slow.h")).expect("it was there");
    project.write("slow.h", LIMIT);
    let after = |code: i32, word: &str| {
        let output = project.output_in(environment, &["--on", on]);
        let table = text(&output.stdout);
        assert_eq!(output.status.code(), Some(code), "{table}");
        assert!(table.starts_with(&format!("both  {word}")), "{table}");
    };
    after(1, "VIOLATED");
    project.write("second.c", SAFE);
    after(0, "PROVED");
    project.write("second.c", &SAFE.replace("!= 5", "== 5"));
    after(1, "VIOLATED");
}

#[test]
fn a_file_changes_while_it_is_checked() {
    changes_while_it_is_checked(&[], "local");
    if let Some(hq) = HyperQueue::start(1) {
        changes_while_it_is_checked(hq.environment(), &hq.on());
    }
}
