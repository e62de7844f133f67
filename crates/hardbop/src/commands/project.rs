//! `hardbop check` without arguments: checks a project, files times rules, on this machine or on
//! a cluster.
//!
//! Answers are kept by what they depend on: the options, this very tool, the contents of every file
//! that was read, and that others are not there.

mod local;
mod remote;
mod table;

use crate::cli::{EngineChoice, ProjectArgs};
use crate::console::{Console, Format};
use crate::failure::{Failure, Verdict};
use crate::item::{Asked, Trust};
use crate::project::{Item, Project};
use crate::rules;
use crate::store::{Store, USUAL, write_whole};
use crate::tool::Tool;
use clap::ValueEnum;
use hardbop_budget::Budget;
use hardbop_cluster::costs::Costs;
use hardbop_cluster::seal::{open, seal};
use hardbop_cluster::site::{On, Site};
use hardbop_diagnostics::Sources;
use serde::Serialize;
use std::path::{Path, PathBuf};
use table::Row;

/// The engines that a hard item is given to, unless told.
const LANES: &[&str] = &[
    "houdini", "horn", "slam", "values", "dpr", "leap", "unroll", "dpr/4",
];

/// What earlier runs cost, beside the project file.
const COSTS: &str = ".hardbop/costs.json";

/// The hash of the tool, as far as it was looked at here.
const TOOL: &str = ".hardbop/tool";

#[derive(Serialize)]
struct Body {
    items: Vec<Row>,
    /// What happened beside the work.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    notes: Vec<String>,
}

/// What is to be done, and with what.
struct Plan<'a> {
    project: &'a Project,
    items: Vec<Item>,
    asked: Vec<Asked>,
    tool: Tool,
    place: String,
    store: Store,
    trust: Trust,
    costs: Costs,
    lanes: Vec<String>,
}

/// What came of it.
struct Outcome {
    rows: Vec<Row>,
    notes: Vec<String>,
}

/// Checks a project.
pub fn run(
    project: &Project,
    arguments: &ProjectArgs,
    budget: &Budget,
    console: &Console,
) -> Result<Verdict, Failure> {
    project.validate()?;
    let items = project.items()?;
    check(project, items, arguments, budget, console)
}

/// Checks items as those of a project.
pub fn check(
    project: &Project,
    items: Vec<Item>,
    arguments: &ProjectArgs,
    budget: &Budget,
    console: &Console,
) -> Result<Verdict, Failure> {
    let on = place(project, arguments)?;
    if arguments.cancel {
        return remote::cancel(project, console);
    }
    if on == On::Local && (arguments.split || !project.config.split.is_empty()) {
        return Err(Failure::message(
            "--split hands hard items to several nodes: say which with --on hq or --on slurm",
        ));
    }
    let place = store_of(project, arguments.store.as_deref());
    let plan = Plan {
        asked: items.iter().map(|item| asked(project, item)).collect(),
        store: Store::open(&place, &project.directory)?,
        place,
        tool: Tool::this(&project.directory.join(TOOL))?,
        trust: match arguments.recheck {
            true => Trust::Rechecked,
            false => Trust::Stored,
        },
        costs: read_costs(&project.directory),
        lanes: lanes(project, arguments)?,
        project,
        items,
    };
    let outcome = match &on {
        _ if arguments.attach => remote::attach(&plan, budget, console)?,
        On::Local => local::run(&plan, budget, console),
        on => remote::run(&plan, on, &site(project, arguments)?, budget, console)?,
    };
    let Outcome { rows, mut notes } = outcome;
    let damaged = plan.store.damaged();
    if damaged > 0 {
        notes.push(format!(
            "{damaged} damaged entries of the store were thrown away"
        ));
    }
    let verdict = table::verdict(&rows);
    match console.format() {
        Format::Text => {
            console.text(&table::text(&rows, console))?;
            for note in &notes {
                console.stderr().write(&format!("note: {note}\n"));
            }
        }
        Format::Json => {
            let body = Body { items: rows, notes };
            console.value(verdict, &Sources::new(), &[], body)?;
        }
    }
    Ok(verdict)
}

/// Where the work is done.
fn place(project: &Project, arguments: &ProjectArgs) -> Result<On, Failure> {
    match (&arguments.on, &project.config.on) {
        (Some(on), _) => Ok(on.clone()),
        (None, Some(on)) => {
            On::parse(on).map_err(|why| Failure::message(format!("`hardbop.toml`: `on`: {why}")))
        }
        (None, None) => Ok(On::Local),
    }
}

/// Where answers are kept.
pub fn store_of(project: &Project, given: Option<&str>) -> String {
    let said = given.or(project.config.store.as_deref());
    said.unwrap_or(USUAL).to_owned()
}

/// What the place is like.
fn site(project: &Project, arguments: &ProjectArgs) -> Result<Site, Failure> {
    let path = match (&arguments.site, &project.config.site) {
        (Some(path), _) => Some(path.clone()),
        (None, Some(path)) => Some(project.directory.join(path)),
        (None, None) => None,
    };
    let mut site = match path {
        Some(path) => read_site(&path)?,
        None => Site::default(),
    };
    site.workers = site.workers.or(project.config.jobs);
    Ok(site)
}

fn read_site(path: &Path) -> Result<Site, Failure> {
    let site: Site = crate::project::read_toml(path)?;
    site.validate()
        .map_err(|bad| Failure::message(format!("`{}`: {}", path.display(), bad.0)))?;
    Ok(site)
}

/// The engines that a hard item is given to.
fn lanes(project: &Project, arguments: &ProjectArgs) -> Result<Vec<String>, Failure> {
    let wrong = |what: String| Failure::message(format!("`hardbop.toml`: `split`: {what}"));
    let said: Vec<&str> = match (arguments.split, project.config.split.as_slice()) {
        (true, []) => LANES.to_vec(),
        (_, lanes) => lanes.iter().map(String::as_str).collect(),
    };
    let mut lanes = Vec::new();
    for lane in said {
        let (engine, parts) = match lane.split_once('/') {
            Some((engine, parts)) => (engine, Some(parts)),
            None => (lane, None),
        };
        let Ok(choice) = EngineChoice::from_str(engine, false) else {
            return Err(wrong(format!("there is no engine `{engine}`")));
        };
        let Some(parts) = parts else {
            lanes.push(engine.to_owned());
            continue;
        };
        let of: u32 = parts.parse().unwrap_or(0);
        if choice != EngineChoice::Dpr || hardbop_dpr::Part::new(0, of).is_none() {
            return Err(wrong(format!(
                "`{lane}`: only `dpr` searches in parts, and there are 2, 4, 8, ... 256 of them"
            )));
        }
        lanes.extend((0..of).map(|index| format!("{engine} {index}/{of}")));
    }
    Ok(lanes)
}

fn asked(project: &Project, item: &Item) -> Asked {
    let files = item.files.iter().map(|file| file.display().to_string());
    let rule = item
        .rule
        .iter()
        .filter(|rule| rules::is_file(rule))
        .cloned();
    Asked {
        title: match &item.rule {
            Some(rule) => format!("{} [{rule}]", item.name),
            None => item.name.clone(),
        },
        arguments: project.arguments(item),
        own: files.chain(rule).collect(),
    }
}

fn costs_path(directory: &Path) -> PathBuf {
    directory.join(COSTS)
}

fn read_costs(directory: &Path) -> Costs {
    // Costs only decide what is first: where they cannot be read, nothing is known of them.
    let text = std::fs::read_to_string(costs_path(directory)).unwrap_or_default();
    let body = open("costs", &text).unwrap_or_default();
    serde_json::from_str(body).unwrap_or_default()
}

fn write_costs(directory: &Path, costs: &Costs) {
    if let Ok(text) = serde_json::to_string(costs) {
        // The next time they are guessed again.
        let _ = crate::cluster::run::ignore(directory);
        let _ = write_whole(&costs_path(directory), seal("costs", &text).as_bytes());
    }
}
