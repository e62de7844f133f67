//! The directory of a run, on a file system that all nodes see: what is to be done, what each node
//! wrote down, and whether anybody still wants it.
//!
//! | file | is |
//! | --- | --- |
//! | `run.json` | what is to be done; sealed, never changed |
//! | `wave-N.json` | the tasks of a wave; sealed, never changed |
//! | `wave-N.job` | by what the scheduler knows them |
//! | `claims/WAVE-TASK` | the number of the task whose process does this one |
//! | `journals/known.journal` | what was in the store when the run began |
//! | `journals/WAVE-TASK-NODE-PROCESS.journal` | what a process did, line by line |
//! | `tool-NODE` | the hash of the tool that a node has |
//! | `complaints/` | what tasks said on standard error |
//! | `driver` | locked by the one who drives the run |
//! | `unwanted-ITEM` | nobody needs more answers to this item |
//! | `cancelled`, `done` | the run is over |

use crate::failure::Failure;
use crate::item::{Asked, Trust};
use crate::store::write_whole;
use hardbop_cluster::journal::{Line, Reader};
use hardbop_cluster::ledger::{Policy, Work};
use hardbop_cluster::seal::{open, seal};
use hardbop_cluster::site::{On, Request, Site};
use hardbop_cluster::{ItemId, TaskId, WaveId};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// The wave and the task that a journal is about.
type Assigned = (WaveId, TaskId);

/// What is to be done.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Run {
    /// The hash of the tool that does it.
    pub tool: String,
    /// The version of it, for people.
    pub version: String,
    /// The program.
    pub program: PathBuf,
    /// The project's directory.
    pub directory: PathBuf,
    /// The items.
    pub items: Vec<Asked>,
    /// The store.
    pub store: String,
    /// Whether it is believed.
    pub trust: Trust,
    /// What is done again, and how often.
    pub policy: Policy,
    /// Where.
    pub on: On,
    /// What the place is like.
    pub site: Site,
    /// What tells the run of one state of a project from that of another.
    pub fingerprint: String,
    /// When it began, in seconds since 1970.
    pub started: u64,
    /// What an item keeps to: seconds.
    pub time_limit: Option<f64>,
    /// What an item keeps to: MiB.
    pub memory_limit: Option<u64>,
}

/// Tasks that are handed out together.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Wave {
    /// The tasks.
    pub tasks: Vec<Vec<Work>>,
    /// What each of them may take, in seconds.
    pub expected: Vec<f64>,
    /// What each of them needs.
    pub request: Request,
}

/// Where runs are, beside the project file.
const RUNS: &str = ".hardbop/runs";
/// How many runs that are over are kept, to be looked at.
const KEPT: usize = 3;

/// The directory of a run.
#[derive(Clone, Debug)]
pub struct Directory {
    path: PathBuf,
}

impl Directory {
    /// The directory at a path.
    pub fn at(path: &Path) -> Directory {
        Directory {
            path: path.to_path_buf(),
        }
    }

    /// Begins a run of a project.
    pub fn begin(project: &Path, run: &Run) -> Result<Directory, Failure> {
        let name = format!("{}-{}", run.started, std::process::id());
        let path = project.join(RUNS).join(name);
        let begun = || {
            std::fs::create_dir_all(path.join("journals"))?;
            std::fs::create_dir_all(path.join("complaints"))?;
            std::fs::create_dir_all(path.join("claims"))?;
            ignore(project)?;
            write_sealed(&path.join("run.json"), "run", run)
        };
        begun().map_err(|error| {
            Failure::message(format!(
                "cannot begin a run in `{}`: {error}",
                path.display()
            ))
        })?;
        Ok(Directory { path })
    }

    /// The runs of a project, the newest first.
    pub fn all(project: &Path) -> Vec<Directory> {
        let entries = std::fs::read_dir(project.join(RUNS));
        let mut found: Vec<(u64, PathBuf)> = entries
            .into_iter()
            .flatten()
            .filter_map(Result::ok)
            .filter_map(|entry| {
                let name = entry.file_name().to_string_lossy().into_owned();
                let started = name.split('-').next()?.parse().ok()?;
                Some((started, entry.path()))
            })
            .collect();
        found.sort();
        let newest = found.into_iter().rev();
        newest.map(|(_, path)| Directory { path }).collect()
    }

    /// Removes the oldest of the runs that are over.
    pub fn tidy(project: &Path) {
        let over = Directory::all(project)
            .into_iter()
            .filter(Directory::is_over);
        for old in over.skip(KEPT) {
            // What cannot be removed is tried again the next time.
            let _ = std::fs::remove_dir_all(&old.path);
        }
    }

    /// Removes it: nothing of it was handed out.
    pub fn discard(&self) {
        // What cannot be removed is over, at least.
        if std::fs::remove_dir_all(&self.path).is_err() {
            let _ = self.cancel();
        }
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Where tasks complain.
    pub fn complaints(&self) -> PathBuf {
        self.path.join("complaints")
    }

    /// What is to be done.
    pub fn run(&self) -> io::Result<Run> {
        read_sealed(&self.path.join("run.json"), "run")
    }

    /// A wave.
    pub fn wave(&self, wave: WaveId) -> io::Result<Wave> {
        read_sealed(&self.path.join(format!("wave-{}.json", wave.0)), "wave")
    }

    /// Adds a wave.
    pub fn add_wave(&self, id: WaveId, wave: &Wave) -> io::Result<()> {
        write_sealed(&self.path.join(format!("wave-{}.json", id.0)), "wave", wave)
    }

    /// By what the scheduler knows a wave.
    pub fn job(&self, wave: WaveId) -> Option<String> {
        let text = std::fs::read_to_string(self.path.join(format!("wave-{}.job", wave.0)));
        let text = text.ok()?;
        text.strip_suffix('\n').map(str::to_owned)
    }

    /// Notes by what the scheduler knows a wave.
    pub fn set_job(&self, wave: WaveId, job: &str) -> io::Result<()> {
        let path = self.path.join(format!("wave-{}.job", wave.0));
        write_whole(&path, format!("{job}\n").as_bytes())
    }

    /// Takes a task for the process of another one of its wave, or of the same. Gives whose it is:
    /// the first who asks has it. A link is there as a whole or not at all, on shared file systems
    /// too.
    pub fn claim(&self, wave: WaveId, task: TaskId, by: TaskId) -> io::Result<TaskId> {
        if let Some(owner) = self.claimant(wave, task) {
            return Ok(owner);
        }
        let folder = self.path.join("claims");
        let mine = tempfile::NamedTempFile::new_in(&folder)?;
        std::fs::write(mine.path(), format!("{}\n", by.0))?;
        let name = format!("{}-{}", wave.0, task.0);
        match std::fs::hard_link(mine.path(), folder.join(name)) {
            Ok(()) => Ok(by),
            Err(error) => self.claimant(wave, task).ok_or(error),
        }
    }

    /// By the process of which task a task is done.
    pub fn claimant(&self, wave: WaveId, task: TaskId) -> Option<TaskId> {
        let name = format!("{}-{}", wave.0, task.0);
        let text = std::fs::read_to_string(self.path.join("claims").join(name)).ok()?;
        text.trim().parse().ok().map(TaskId)
    }

    fn mark(&self, name: &str) -> io::Result<()> {
        write_whole(&self.path.join(name), b"")
    }

    /// Nobody wants the run any more.
    pub fn cancel(&self) -> io::Result<()> {
        self.mark("cancelled")
    }

    /// Whether nobody wants the run any more.
    pub fn is_cancelled(&self) -> bool {
        self.path.join("cancelled").exists()
    }

    /// Every item is answered.
    pub fn finish(&self) -> io::Result<()> {
        self.mark("done")
    }

    /// Whether the run is over.
    pub fn is_over(&self) -> bool {
        self.is_cancelled() || self.path.join("done").exists()
    }

    /// Nobody needs more answers to an item.
    pub fn release(&self, item: ItemId) -> io::Result<()> {
        self.mark(&format!("unwanted-{}", item.0))
    }

    /// Whether an item needs no more answers.
    pub fn is_released(&self, item: ItemId) -> bool {
        self.path.join(format!("unwanted-{}", item.0)).exists()
    }

    /// Takes the wheel, if nobody has it. It is given back with the file.
    pub fn wheel(&self) -> Option<File> {
        let file = OpenOptions::new()
            .create(true)
            .append(true)
            .open(self.path.join("driver"))
            .ok()?;
        file.try_lock().ok()?;
        Some(file)
    }

    /// The journals: file, wave and task.
    fn journals(&self) -> io::Result<Vec<(PathBuf, Option<Assigned>)>> {
        let mut found = Vec::new();
        for entry in std::fs::read_dir(self.path.join("journals"))? {
            let entry = entry?;
            let name = entry.file_name().to_string_lossy().into_owned();
            if !name.ends_with(".journal") {
                continue;
            }
            let mut words = name.split('-');
            let mut number = || words.next()?.parse::<u32>().ok();
            let of = number().and_then(|wave| Some((WaveId(wave), TaskId(number()?))));
            found.push((entry.path(), of));
        }
        found.sort();
        Ok(found)
    }

    /// The journal of this process for a task.
    pub fn journal(&self, wave: WaveId, task: TaskId, node: &str) -> io::Result<Journal> {
        let plain = plain(node);
        let process = std::process::id();
        let name = format!("{}-{}-{plain}-{process}.journal", wave.0, task.0);
        Journal::open(&self.path.join("journals").join(name))
    }

    /// Where a node remembers the hash of its tool.
    pub fn tool_of(&self, node: &str) -> PathBuf {
        self.path.join(format!("tool-{}", plain(node)))
    }

    /// The journal of what was known before.
    pub fn known(&self) -> io::Result<Journal> {
        Journal::open(&self.path.join("journals/known.journal"))
    }
}

/// The name of a machine as part of a file's.
fn plain(node: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
    node.chars().map(plain).collect()
}

/// Keeps what is made out of version control.
pub fn ignore(project: &Path) -> io::Result<()> {
    let path = project.join(".hardbop/.gitignore");
    match path.exists() {
        true => Ok(()),
        false => write_whole(&path, b"*\n"),
    }
}

fn write_sealed(path: &Path, kind: &str, value: &impl Serialize) -> io::Result<()> {
    let text = serde_json::to_string(value).map_err(io::Error::other)?;
    write_whole(path, seal(kind, &text).as_bytes())
}

fn read_sealed<T: for<'a> Deserialize<'a>>(path: &Path, kind: &str) -> io::Result<T> {
    let text = std::fs::read_to_string(path)?;
    let body = open(kind, &text)
        .map_err(|_| io::Error::other(format!("`{}` is damaged", path.display())))?;
    serde_json::from_str(body).map_err(io::Error::other)
}

/// A journal that is being written.
pub struct Journal {
    file: File,
}

/// How long a line is tried to be written where there is no room.
const PATIENCE: Duration = Duration::from_secs(20);

impl Journal {
    fn open(path: &Path) -> io::Result<Journal> {
        let file = OpenOptions::new().create(true).append(true).open(path)?;
        Ok(Journal { file })
    }

    /// Writes lines. Where the disk is full, it is tried for a while: room may be made.
    pub fn write(&mut self, lines: &[Line]) -> io::Result<()> {
        let text: String = lines.iter().map(Line::text).collect();
        // That something was begun may be lost with the machine; an answer may not.
        let light = |line: &Line| matches!(line, Line::Began(_) | Line::Opened { .. });
        let sync = || match lines.iter().all(light) {
            true => Ok(()),
            false => self.file.sync_data(),
        };
        let started = Instant::now();
        let mut begin = "";
        loop {
            let bytes = format!("{begin}{text}");
            let written = (&self.file).write_all(bytes.as_bytes());
            match written.and_then(|()| sync()) {
                Ok(()) => return Ok(()),
                Err(error) if started.elapsed() > PATIENCE => return Err(error),
                Err(_) => std::thread::sleep(Duration::from_millis(500)),
            }
            // Part of it may be there: it is ended, and read as nothing.
            begin = "\n";
        }
    }
}

/// Reads all journals of a run as they grow.
#[derive(Default)]
pub struct Journals {
    positions: BTreeMap<PathBuf, Position>,
}

#[derive(Default)]
struct Position {
    offset: u64,
    reader: Reader,
}

/// A line, and where it stands.
pub struct News {
    /// The task; `None` for what was known before.
    pub task: Option<(WaveId, TaskId)>,
    /// The process.
    pub process: String,
    /// The line.
    pub line: Line,
}

impl Journals {
    /// The lines that came since the last time.
    pub fn news(&mut self, directory: &Directory) -> io::Result<Vec<News>> {
        self.read(directory.journals()?)
    }

    /// The lines of one task that came since the last time.
    pub fn news_of(
        &mut self,
        directory: &Directory,
        wave: WaveId,
        task: TaskId,
    ) -> io::Result<Vec<News>> {
        let mut journals = directory.journals()?;
        journals.retain(|(_, of)| *of == Some((wave, task)));
        self.read(journals)
    }

    fn read(&mut self, journals: Vec<(PathBuf, Option<Assigned>)>) -> io::Result<Vec<News>> {
        let mut news = Vec::new();
        for (path, task) in journals {
            let position = self.positions.entry(path.clone()).or_default();
            let process = path.file_stem().unwrap_or_default();
            let process = process.to_string_lossy().into_owned();
            let lines = position.news(&path)?;
            news.extend(lines.into_iter().map(|line| News {
                task,
                process: process.clone(),
                line,
            }));
        }
        Ok(news)
    }

    /// How many lines were not what had been written.
    pub fn damaged(&self) -> usize {
        let positions = self.positions.values();
        positions.map(|position| position.reader.damaged()).sum()
    }
}

impl Position {
    fn news(&mut self, path: &Path) -> io::Result<Vec<Line>> {
        let length = std::fs::metadata(path)?.len();
        if length < self.offset {
            // It was cut: what was read of it stays read, and what comes is read from here on.
            self.offset = length;
            self.reader.feed(b"\n");
        }
        if length == self.offset {
            return Ok(Vec::new());
        }
        let mut file = File::open(path)?;
        file.seek(SeekFrom::Start(self.offset))?;
        let mut bytes = Vec::new();
        file.take(length - self.offset).read_to_end(&mut bytes)?;
        self.offset += bytes.len() as u64;
        Ok(self.reader.feed(&bytes))
    }
}
