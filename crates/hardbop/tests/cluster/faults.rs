//! What goes wrong on clusters: nodes are lost, disks are full, results are cut in half. Nothing
//! finished is lost, nothing is counted twice, and the table is that of one machine.

use crate::project::{Project, plain, wait};
use crate::servers::HyperQueue;
use std::process::Command;

#[test]
fn a_worker_is_killed_in_the_middle() {
    let Some(mut hq) = HyperQueue::start(2) else {
        return;
    };
    let project = Project::new(2);
    let local = project.table(&["--on", "local"]);
    project.forget();
    let run = project.start_in(hq.environment(), &["--on", &hq.on()]);
    project.wait_for_line("began");
    hq.kill_worker();
    assert_eq!(run.finish(), local);
}

/// All workers are lost; the run waits, and goes on when one comes.
#[test]
fn all_workers_are_killed_and_one_comes_back() {
    let Some(mut hq) = HyperQueue::start(1) else {
        return;
    };
    let project = Project::new(1);
    let local = project.table(&["--on", "local"]);
    project.forget();
    let run = project.start_in(hq.environment(), &["--on", &hq.on()]);
    project.wait_for_line("began");
    hq.kill_worker();
    hq.add_worker();
    assert_eq!(run.finish(), local);
}

/// A journal is cut in the middle of an answer while nobody looks: what was cut off is found in the
/// store or run again.
#[test]
fn a_result_is_cut_in_half() {
    let Some(hq) = HyperQueue::start(2) else {
        return;
    };
    let project = Project::new(2);
    let local = project.table(&["--on", "local"]);
    project.forget();
    let mut client = project.start_in(hq.environment(), &["--on", &hq.on()]);
    project.wait_for_line("answered");
    client.kill();
    let answered = |path: &std::path::PathBuf| {
        std::fs::read_to_string(path).is_ok_and(|text| text.contains("{\"answered\""))
    };
    let journal = project
        .journals()
        .into_iter()
        .find(answered)
        .expect("an answer");
    let text = std::fs::read_to_string(&journal).expect("a journal");
    let at = text.find("{\"answered\"").expect("an answer") + 30;
    let file = std::fs::OpenOptions::new()
        .write(true)
        .open(&journal)
        .expect("a journal");
    file.set_len(at as u64).expect("it can be cut");
    let output = project.output_in(hq.environment(), &["--attach"]);
    assert_eq!(plain(&output.stdout), local);
}

/// A node with another build of hardbop refuses the work, and the reason is told.
#[test]
fn another_build_refuses_the_work() {
    let Some(hq) = HyperQueue::start(1) else {
        return;
    };
    let project = Project::new(1);
    let mut client = project.start_in(hq.environment(), &["--on", &hq.on()]);
    wait("the first wave", || project.is_handed_out());
    client.kill();
    // A task of that run comes to a node with another build: the same program with a byte more.
    let runs = std::fs::read_dir(project.path().join(".hardbop/runs")).expect("runs");
    let run = runs
        .map(|run| run.expect("a run").path())
        .next()
        .expect("a run");
    let other = project.path().join("other-hardbop");
    std::fs::copy(env!("CARGO_BIN_EXE_hardbop"), &other).expect("a copy");
    let mut bytes = std::fs::OpenOptions::new()
        .append(true)
        .open(&other)
        .expect("it opens");
    std::io::Write::write_all(&mut bytes, b"\n").expect("it is written");
    drop(bytes);
    let output = Command::new(&other)
        .args(["work", "--run"])
        .arg(&run)
        .args(["--wave", "0", "--task", "0"])
        .output()
        .expect("it runs");
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("another build of hardbop"), "{said}");
    let output = project.output_in(hq.environment(), &["--attach"]);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("1 task was refused: "), "{said}");
    assert_eq!(output.status.code(), Some(1), "others did the work");
}

/// A node that has nowhere to write: the store is on a file system without room. The answers are
/// there all the same, and the summary says what could not be kept.
#[test]
fn the_disk_of_the_store_is_full() {
    let Some(hq) = HyperQueue::start(2) else {
        return;
    };
    let project = Project::new(2);
    let local = project.table(&["--on", "local"]);
    project.forget();
    let Some(full) = Full::mount() else {
        return;
    };
    let store = full.directory.path().display().to_string();
    let arguments = ["--on", &hq.on(), "--store", &store];
    let output = project.output_in(hq.environment(), &arguments);
    assert_eq!(plain(&output.stdout), local);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(
        said.contains("could not be kept in the store: No space left"),
        "{said}"
    );
}

/// A small file system in a file, without room.
struct Full {
    directory: tempfile::TempDir,
    _image: tempfile::NamedTempFile,
}

impl Full {
    #[expect(
        clippy::print_stderr,
        reason = "whoever reads the log must see what was not tested"
    )]
    fn mount() -> Option<Full> {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let image = tempfile::NamedTempFile::new().expect("a file");
        image.as_file().set_len(1 << 20).expect("a length");
        let run = |command: &mut Command| {
            let output = command.output();
            output.is_ok_and(|output| output.status.success())
        };
        let made = run(Command::new("mkfs.ext2")
            .args(["-q", "-F", "-m", "0"])
            .arg(image.path()));
        let mount = |command: &mut Command| run(command.arg(directory.path()));
        let loops = made && mount(Command::new("mount").args(["-o", "loop"]).arg(image.path()));
        // Where there are no loop devices, one in memory is as small.
        let small = ["-t", "tmpfs", "-o", "size=64k", "tmpfs"];
        if !loops && !mount(Command::new("mount").args(small)) {
            eprintln!("skipped: no small file system can be mounted here");
            return None;
        }
        let full = Full {
            directory,
            _image: image,
        };
        let filler = full.directory.path().join("filler");
        let mut file = std::fs::File::create(filler).expect("a file");
        while std::io::Write::write_all(&mut file, &[0; 512]).is_ok() {}
        Some(full)
    }
}

impl Drop for Full {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(self.directory.path()).status();
    }
}
