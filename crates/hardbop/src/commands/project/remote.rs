//! A project on a cluster: begins a run or joins the one that is on, and watches it.

use super::table::{How, Row};
use super::{Outcome, Plan, local, write_costs};
use crate::cluster::Scheduler;
use crate::cluster::drive::{self, Drive, End, Start};
use crate::cluster::run::{Directory, Run};
use crate::commands::artifacts::VERSION;
use crate::console::{Console, Format};
use crate::failure::{Failure, Verdict};
use crate::item::Bench;
use crate::project::Project;
use crate::store::Hashes;
use hardbop_budget::Budget;
use hardbop_cluster::ItemId;
use hardbop_cluster::journal::{Answered, Brief, Known, Line, Piece};
use hardbop_cluster::ledger::{Final, Ledger, Policy, Tally};
use hardbop_cluster::seal::sha256_of;
use hardbop_cluster::site::{On, Site};
use std::io::IsTerminal;
use std::time::{SystemTime, UNIX_EPOCH};

/// What part of its time an item that ran out of it took at least.
const LONG: f64 = 0.8;

/// Why an answer of a run that was joined is not told.
const CHANGED: &str = "a file that it depends on has changed since the run began, or the answer \
                       could not be kept";

/// Checks the items of a project on a cluster.
pub fn run(
    plan: &Plan<'_>,
    on: &On,
    site: &Site,
    budget: &Budget,
    console: &Console,
) -> Result<Outcome, Failure> {
    let fingerprint = fingerprint(plan);
    let mut open = Directory::all(&plan.project.directory).into_iter();
    let same = |directory: &Directory| {
        let run = directory.run().ok().filter(|_| !directory.is_over())?;
        (run.fingerprint == fingerprint && run.on == *on).then_some(run)
    };
    if let Some((directory, run)) =
        open.find_map(|directory| same(&directory).map(|run| (directory, run)))
    {
        say(console, "this project is being checked already: joining");
        return watch(plan, &directory, &run, Start::Joined, budget, console);
    }
    Directory::tidy(&plan.project.directory);
    let never = || false;
    let bench = Bench {
        directory: &plan.project.directory,
        tool: &plan.tool,
        store: &plan.store,
        trust: plan.trust,
        unwanted: &never,
    };
    let known = local::known(plan, &bench);
    if known.len() == plan.items.len() {
        // Nothing is left to do: no scheduler is needed.
        return Ok(local::run(plan, budget, console));
    }
    let limits = &plan.project.config;
    let run = Run {
        tool: plan.tool.identity.clone(),
        version: VERSION.to_owned(),
        program: plan.tool.program.clone(),
        directory: plan.project.directory.clone(),
        items: plan.asked.clone(),
        store: plan.place.clone(),
        trust: plan.trust,
        policy: Policy {
            tries: site.tries,
            lanes: plan.lanes.clone(),
            long: limits.time_limit.map(|limit| LONG * limit),
        },
        on: on.clone(),
        site: site.clone(),
        fingerprint,
        started: SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .map_or(0, |now| now.as_secs()),
        time_limit: limits.time_limit,
        memory_limit: limits.memory_limit,
    };
    // A scheduler that is not there is told before anything is written.
    Scheduler::of(on, site)?.ready()?;
    let directory = Directory::begin(&plan.project.directory, &run)?;
    let lines: Vec<Line> = known
        .into_iter()
        .filter_map(|(index, done)| {
            let item = ItemId(u32::try_from(index).ok()?);
            Some(Line::Answered(Box::new(Answered {
                piece: Piece { item, lane: None },
                brief: done.brief?,
                seconds: 0.0,
                known: Known::Stored,
                unkept: None,
            })))
        })
        .collect();
    let written = directory
        .known()
        .and_then(|mut journal| journal.write(&lines));
    written.map_err(|error| {
        let path = directory.path().display();
        Failure::message(format!(
            "cannot write to the run's directory `{path}`: {error}"
        ))
    })?;
    watch(plan, &directory, &run, Start::Fresh, budget, console)
}

/// Goes on watching the newest run.
pub fn attach(plan: &Plan<'_>, budget: &Budget, console: &Console) -> Result<Outcome, Failure> {
    let (directory, run) = newest(plan.project)?;
    let items = |asked: &[crate::item::Asked]| -> Vec<Vec<String>> {
        asked.iter().map(|asked| asked.arguments.clone()).collect()
    };
    if items(&run.items) != items(&plan.asked) {
        return Err(Failure::message(
            "the run is about other items than the project has now: `hardbop check --cancel` ends \
             it, and `hardbop check --on` begins another one",
        ));
    }
    if directory.is_cancelled() {
        return Err(Failure::message(
            "the last run of this project was cancelled",
        ));
    }
    watch(plan, &directory, &run, Start::Joined, budget, console)
}

/// Cancels the newest run.
pub fn cancel(project: &Project, console: &Console) -> Result<Verdict, Failure> {
    let (directory, run) = newest(project)?;
    if directory.is_over() {
        return Err(Failure::message("no run of this project is on"));
    }
    match Scheduler::of(&run.on, &run.site) {
        Ok(mut scheduler) => drive::cancel(&directory, &mut scheduler)?,
        // Nodes see it, should there be any.
        Err(_) => directory
            .cancel()
            .map_err(|error| Failure::message(format!("cannot cancel the run: {error}")))?,
    }
    match console.format() {
        Format::Text => console.text("cancelled\n")?,
        Format::Json => {
            let body = serde_json::json!({ "cancelled": true });
            console.value(
                Verdict::Fine,
                &hardbop_diagnostics::Sources::new(),
                &[],
                body,
            )?;
        }
    }
    Ok(Verdict::Fine)
}

fn newest(project: &Project) -> Result<(Directory, Run), Failure> {
    let mut all = Directory::all(&project.directory).into_iter();
    all.find_map(|directory| directory.run().ok().map(|run| (directory, run)))
        .ok_or_else(|| {
            Failure::message(
                "no run of this project is known here: `hardbop check --on hq` or `--on slurm` \
                 begins one",
            )
        })
}

/// What tells the run of one state of a project from that of another.
fn fingerprint(plan: &Plan<'_>) -> String {
    let hashes = Hashes::new(&plan.project.directory);
    let mut parts = vec![plan.tool.identity.clone(), plan.place.clone()];
    parts.push(format!("{:?}", plan.trust));
    parts.extend(plan.lanes.iter().cloned());
    for asked in &plan.asked {
        parts.push(asked.title.clone());
        parts.extend(asked.arguments.iter().cloned());
        let own = asked
            .own
            .iter()
            .map(|file| hashes.of(file).unwrap_or_default());
        parts.extend(own);
    }
    sha256_of(parts.iter().map(String::as_str))
}

fn watch(
    plan: &Plan<'_>,
    directory: &Directory,
    run: &Run,
    start: Start,
    budget: &Budget,
    console: &Console,
) -> Result<Outcome, Failure> {
    let mut drive = Drive::new(directory, run, plan.costs.clone())?;
    let missing = match drive.watch(start, budget, console)? {
        End::Complete => "it has no answer",
        End::Cancelled => "the run was cancelled",
        End::Interrupted if wants_to_cancel(budget, console) => {
            drive.cancel()?;
            "the run was cancelled"
        }
        End::Interrupted => {
            say(
                console,
                "detached: the run goes on; `hardbop check --attach` watches it, \
                 `hardbop check --cancel` ends it",
            );
            "it is still being checked"
        }
    };
    keep_lanes(plan, drive.ledger());
    note_costs(plan, drive.ledger());
    let mut notes = notes(drive.ledger().tally(), &run.on);
    if drive.damaged() > 0 {
        let count = drive.damaged();
        notes.push(format!(
            "{count} lines of journals were damaged and left out"
        ));
    }
    let answers = drive.ledger().answers();
    let hashes = Hashes::new(&plan.project.directory);
    let holds = |id: ItemId, answer: &Final| match start {
        Start::Fresh => true,
        Start::Joined => !answer.brief.is_decided() || still_holds(plan, id, &hashes),
    };
    let rows = (0..)
        .map(ItemId)
        .zip(&plan.items)
        .map(|(id, item)| match answers.get(&id) {
            Some(one) if !holds(id, one) => Row::missing(item, CHANGED),
            Some(one) => {
                let (known, seconds) = (one.known, one.seconds);
                let engines = one.lanes.clone();
                Row::of(
                    item,
                    &one.brief,
                    How {
                        known,
                        seconds,
                        engines,
                    },
                )
            }
            None => Row::missing(item, missing),
        });
    Ok(Outcome {
        rows: rows.collect(),
        notes,
    })
}

/// Whether an answer of a run that began before is about the files as they are now: it is in the
/// store with what it depends on.
fn still_holds(plan: &Plan<'_>, id: ItemId, hashes: &Hashes) -> bool {
    let question = plan
        .asked
        .get(id.index())
        .and_then(|asked| asked.question(&plan.tool, hashes));
    question.is_some_and(|question| plan.store.known(&question, hashes).is_some())
}

/// An item that one engine decided by itself is kept as the item's answer.
fn keep_lanes(plan: &Plan<'_>, ledger: &Ledger) {
    let hashes = Hashes::new(&plan.project.directory);
    for (item, answer) in ledger.answers() {
        let Some(asked) = plan.asked.get(item.index()) else {
            continue;
        };
        for lane in &answer.lanes {
            let by = asked.by_engine(lane);
            let Some((question, of)) = by
                .question(&plan.tool, &hashes)
                .zip(asked.question(&plan.tool, &hashes))
            else {
                continue;
            };
            if let Some((_, entry)) = plan.store.known(&question, &hashes)
                && Brief::of(&entry.result).is_some_and(|brief| brief == answer.brief)
            {
                // If it cannot be kept, it is found again.
                let _ = plan.store.keep(&of, &entry);
            }
        }
    }
}

fn note_costs(plan: &Plan<'_>, ledger: &Ledger) {
    let mut costs = plan.costs.clone();
    for (item, answer) in ledger.answers() {
        if let (Known::Found, Some(asked)) = (answer.known, plan.asked.get(item.index()))
            && answer.seconds > 0.0
        {
            costs.note(&asked.title, answer.seconds);
        }
    }
    if costs != plan.costs {
        write_costs(&plan.project.directory, &costs);
    }
}

/// Asks a person, once; where there is none, the run goes on. When time is over, it does not.
fn wants_to_cancel(budget: &Budget, console: &Console) -> bool {
    if budget.check() != Err(hardbop_budget::Stopped::Cancelled) {
        return true;
    }
    let person = console.format() == Format::Text
        && console.stderr().is_terminal()
        && std::io::stdin().is_terminal();
    if !person {
        return false;
    }
    say(
        console,
        "the run can go on without you: [d]etach, or [c]ancel it?",
    );
    let mut answer = String::new();
    let read = std::io::stdin().read_line(&mut answer);
    read.is_ok() && answer.trim_start().to_lowercase().starts_with('c')
}

fn say(console: &Console, what: &str) {
    if console.format() == Format::Text {
        console.stderr().write(&format!("note: {what}\n"));
    }
}

/// That answers could not be kept.
pub fn unkept(count: usize, why: &str) -> String {
    format!("{count} answers could not be kept in the store: {why}")
}

/// What happened beside the work, for people.
fn notes(tally: &Tally, on: &On) -> Vec<String> {
    let mut notes = Vec::new();
    let plural = |count: u32, one: &str, many: &str| match count {
        1 => format!("1 {one}"),
        count => format!("{count} {many}"),
    };
    if tally.lost_tasks > 0 {
        let lost = plural(tally.lost_tasks, "task was", "tasks were");
        let again = plural(tally.again, "item was", "items were");
        notes.push(format!("{lost} lost on {on}; {again} handed out again"));
    }
    if tally.given_up > 0 {
        let given_up = plural(tally.given_up, "item was", "items were");
        notes.push(format!("{given_up} given up"));
    }
    for (reason, &count) in &tally.refused {
        let refused = plural(count, "task was", "tasks were");
        notes.push(format!("{refused} refused: {reason}"));
    }
    if tally.split > 0 {
        let split = plural(tally.split, "hard item was", "hard items were");
        notes.push(format!("{split} given to several engines"));
    }
    for (why, &count) in &tally.unkept {
        notes.push(unkept(count as usize, why));
    }
    notes
}
