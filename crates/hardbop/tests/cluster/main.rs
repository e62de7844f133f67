//! Projects on real schedulers and in real stores: HyperQueue and an object store of PyPI, Slurm of
//! Debian, all on this machine. Where one of them is not installed (`scripts/setup-test-tools` does
//! so if it may), its tests are skipped, and say so.

mod faults;
mod project;
mod servers;
mod store;

use project::{Project, plain, wait};
use servers::{HyperQueue, Slurm, State};
use std::collections::BTreeSet;
use std::process::Stdio;

/// The final table is that of one machine, byte for byte.
#[test]
fn hyperqueue_gives_the_table_of_one_machine() {
    let Some(hq) = HyperQueue::start(2) else {
        return;
    };
    let project = Project::new(3);
    let local = project.table(&["--on", "local"]);
    project.forget();
    let table = project.table_in(hq.environment(), &["--on", &hq.on()]);
    assert_eq!(table, local);
    assert!(table.contains("11 checked: "), "{table}");
    // Again, and from the store: another machine of the team gets its answers there.
    let again = project.table_in(hq.environment(), &["--on", &hq.on()]);
    let local = project.table(&["--on", "local"]);
    assert_eq!(again, local);
    assert!(
        again.contains("9 as before"),
        "all but what is unknown: {again}"
    );
}

/// Where there is a command `hq`, it is asked.
#[test]
fn hyperqueue_is_asked_by_its_command() {
    let Some(hq) = HyperQueue::start(2) else {
        return;
    };
    let project = Project::new(2);
    let local = project.table(&["--on", "local"]);
    project.forget();
    let environment = hq.environment_with_command();
    let table = project.table_in(&environment, &["--on", &hq.on()]);
    assert_eq!(table, local);
}

#[test]
fn slurm_gives_the_table_of_one_machine() {
    let Some(slurm) = Slurm::start() else {
        return;
    };
    let project = Project::new(2);
    let local = project.table(&["--on", "local"]);
    project.forget();
    let table = project.table_in(slurm.environment(), &["--on", "slurm"]);
    assert_eq!(table, local);
    project.forget();
    // The controller is killed in the middle. What comes back knows its jobs, or, if it had not
    // written them down yet, has forgotten them; either way nothing is lost.
    for state in [State::Kept, State::Lost] {
        let run = project.start_in(slurm.environment(), &["--on", "slurm:main"]);
        project.wait_for_journals(1);
        slurm.restart_controller(state);
        assert_eq!(run.finish(), local);
        project.forget();
    }
    // What comes back takes a job for waiting that a node does already.
    let mut run = None;
    slurm.start_late(|| {
        run = Some(project.start_in(slurm.environment(), &["--on", "slurm"]));
        wait("the first wave", || project.is_handed_out());
    });
    project.wait_for_journals(1);
    slurm.restart_controller(State::Earlier);
    assert_eq!(run.expect("it was started").finish(), local);
    project.forget();
    // A node is lost in the middle, with what runs on it.
    let run = project.start_in(slurm.environment(), &["--on", "slurm"]);
    project.wait_for_line("began");
    slurm.kill_jobs();
    assert_eq!(run.finish(), local);
}

#[test]
fn a_scheduler_that_is_not_there_is_told_at_once() {
    let project = Project::new(1);
    let said = project.complaint(&[], &["--on", "hq:nowhere"]);
    assert!(
        said.starts_with("error: there is no HyperQueue server in"),
        "{said}"
    );
    let nothing = [("PATH".to_owned(), "/nonexistent".to_owned())];
    let said = project.complaint(&nothing, &["--on", "slurm"]);
    assert!(
        said.starts_with("error: --on slurm: cannot start `sbatch`"),
        "{said}"
    );
    let said = project.complaint(&[], &["--on", "pbs"]);
    assert!(said.contains("`pbs` is no place to work"), "{said}");
    let said = project.complaint(&[], &["--attach"]);
    assert!(
        said.contains("no run of this project is known here"),
        "{said}"
    );
}

/// A process that is done with its task takes over others, which the scheduler need not start.
#[test]
fn a_process_takes_over_what_nobody_has_begun() {
    let Some(hq) = HyperQueue::start(1) else {
        return;
    };
    let project = Project::new(3);
    let local = project.table(&["--on", "local"]);
    // Nobody has learnt yet what items cost: they are several tasks.
    project.forget();
    let table = project.table_in(hq.environment(), &["--on", &hq.on()]);
    assert_eq!(table, local);
    let (mut tasks, mut processes) = (BTreeSet::new(), BTreeSet::new());
    for journal in project.journals() {
        let name = journal.file_stem().expect("a name").to_string_lossy();
        let words: Vec<&str> = name.split('-').collect();
        tasks.insert((words[0].to_owned(), words[1].to_owned()));
        processes.insert(words[words.len() - 1].to_owned());
    }
    assert!(tasks.len() > 3, "{tasks:?}");
    assert!(processes.len() < tasks.len(), "{processes:?} {tasks:?}");
}

/// The client is killed; the run goes on, and whoever comes next watches it, or joins it.
#[test]
fn a_run_goes_on_without_its_client() {
    let Some(hq) = HyperQueue::start(2) else {
        return;
    };
    let project = Project::new(3);
    let local = project.table(&["--on", "local"]);
    project.forget();
    let mut client = project.start_in(hq.environment(), &["--on", &hq.on()]);
    project.wait_for_line("began");
    client.kill();
    // A second start of the same project joins the run instead of beginning another one.
    let second = project.start_in(hq.environment(), &["--on", &hq.on()]);
    let attached = project.table_in(hq.environment(), &["--attach"]);
    assert_eq!(attached, local);
    assert_eq!(second.finish(), local);
    assert_eq!(project.runs(), 1);
    // Whoever looks at it after a header has changed is not told what held before.
    project.write("limit.h", "#define LIMIT 0\n");
    let late = project.table_in(hq.environment(), &["--attach"]);
    assert!(
        late.contains("good_0.c  UNKNOWN   a file that it depends on has changed"),
        "{late}"
    );
    assert!(late.contains("bad_0.c   VIOLATED"), "{late}");
}

/// Ctrl-C detaches where nobody can be asked; `--cancel` ends the run, and nodes stop at once.
#[test]
fn ctrl_c_detaches_and_cancel_cancels() {
    let Some(hq) = HyperQueue::start(1) else {
        return;
    };
    let project = Project::new(2);
    let run = project.start_in(hq.environment(), &["--on", &hq.on()]);
    project.wait_for_line("began");
    let (table, said) = run.interrupt();
    assert!(said.contains("detached: the run goes on"), "{said}");
    assert!(table.contains("it is still being checked"), "{table}");
    let mut cancel = project.command(hq.environment(), &["--cancel"]);
    let output = cancel.stdin(Stdio::null()).output().expect("it runs");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "cancelled\n");
    let said = project.complaint(hq.environment(), &["--attach"]);
    assert!(said.contains("was cancelled"), "{said}");
    // Nothing of it is left but answers: another run begins. What a node was about to write when it
    // heard of the end may be among them.
    let local = Project::new(2).table(&["--on", "local"]);
    let again = project.table_in(hq.environment(), &["--on", &hq.on()]);
    let lines = again
        .lines()
        .map(|line| match line.split_once(" as before") {
            Some((said, _)) => said.trim_end_matches(|c: char| c.is_ascii_digit()),
            None => line,
        });
    let lines: Vec<&str> = lines
        .map(|line| line.trim_end_matches([',', ' ']))
        .collect();
    assert_eq!(lines, local.lines().collect::<Vec<_>>());
}

/// An item that runs out of time is given to several engines, and what one decides is decided.
#[test]
fn a_hard_item_is_split() {
    let Some(hq) = HyperQueue::start(2) else {
        return;
    };
    let project = Project::hard();
    let out = project.output_in(hq.environment(), &["--on", &hq.on(), "--split"]);
    let said = String::from_utf8_lossy(&out.stderr);
    assert!(
        said.contains("1 hard item was given to several engines"),
        "{said}"
    );
    let table = String::from_utf8_lossy(&out.stdout);
    assert!(
        table.contains("1 unknown"),
        "nobody decides it, and it ends: {table}"
    );
    // Engines, and parts of the search of one.
    for lane in ["horn", "dpr", "dpr 0/4", "dpr 3/4"] {
        let began = format!("\"lane\":\"{lane}\"");
        let texts = project.journals().into_iter().map(std::fs::read_to_string);
        let mut texts = texts.map(|text| text.expect("a journal"));
        assert!(texts.any(|text| text.contains(&began)), "{lane}");
    }
}

/// What the first engine has no time for, a part of another one's search decides.
#[test]
fn a_part_of_the_search_decides_a_hard_item() {
    let Some(hq) = HyperQueue::start(2) else {
        return;
    };
    let project = Project::in_parts();
    let local = project.output_in(&[], &["--on", "local"]);
    let table = String::from_utf8_lossy(&local.stdout);
    assert!(table.contains("1 checked: 1 unknown"), "{table}");
    project.forget();
    project.split_by("dpr/4");
    let run = |more: &[&str]| {
        let on = hq.on();
        let arguments = [&["--on", on.as_str()], more].concat();
        project.output_in(hq.environment(), &arguments)
    };
    let out = run(&["--json"]);
    let answer: serde_json::Value = serde_json::from_slice(&out.stdout).expect("JSON");
    let item = &answer["items"][0];
    assert_eq!(item["answer"], "VIOLATED", "{answer}");
    let by = item["engines"][0].as_str().expect("who decided it");
    assert!(by == "dpr 1/4" || by == "dpr 2/4", "{by}");
    // It is the item's answer from now on, and its run is replayed if nobody believes it.
    let table = plain(&run(&[]).stdout);
    assert!(table.contains("1 violated, 1 as before"), "{table}");
    let table = plain(&run(&["--recheck"]).stdout);
    assert!(table.contains("the claims of 1 checked again"), "{table}");
}

/// Many checks of a program are decided in groups, each an item: here and on a cluster alike.
#[test]
fn checks_are_decided_in_groups() {
    let project = Project::grouped();
    let local = project.table(&["--on", "local"]);
    for line in [
        "many.c (1 of 3)  PROVED    2 checks",
        "many.c (2 of 3)  VIOLATED  1 of 2 checks",
        "many.c (3 of 3)  PROVED    2 checks",
        "3 checked: 2 proved, 1 violated",
    ] {
        assert!(local.lines().any(|one| one == line), "{line}: {local}");
    }
    let Some(hq) = HyperQueue::start(2) else {
        return;
    };
    project.forget();
    let table = project.table_in(hq.environment(), &["--on", &hq.on()]);
    assert_eq!(table, local);
    let again = project.table_in(hq.environment(), &["--on", &hq.on(), "--recheck"]);
    assert!(again.contains("the claims of 3 checked again"), "{again}");
}
