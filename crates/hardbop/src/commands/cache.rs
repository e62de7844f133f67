//! `hardbop cache`: shows, checks and prunes the store of answers.

use crate::cli::CacheArgs;
use crate::commands::project::store_of;
use crate::console::{Console, Format};
use crate::failure::{Failure, Verdict};
use crate::project;
use crate::store::{Kept, Store};
use hardbop_cluster::store::{ANSWERS, Entry};
use hardbop_diagnostics::Sources;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::Duration;

/// What there is to say of a store.
#[derive(Default, Serialize)]
struct Body {
    store: String,
    answers: usize,
    claims: usize,
    bytes: u64,
    /// The age of the oldest entry, in days.
    oldest: f64,
    /// Seconds of work that the entries stand for.
    #[serde(skip_serializing_if = "Option::is_none")]
    seconds: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    damaged: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pruned: Option<usize>,
}

/// Shows a store, after checking or pruning it.
pub fn run(arguments: &CacheArgs, console: &Console) -> Result<Verdict, Failure> {
    let store = match (project::find(Path::new("."))?, &arguments.store) {
        (Some(project), given) => {
            Store::open(&store_of(&project, given.as_deref()), &project.directory)?
        }
        (None, Some(given)) => Store::open(given, Path::new("."))?,
        (None, None) => {
            return Err(Failure::message(
                "there is no hardbop.toml here: go to a project, or name a store with --store",
            ));
        }
    };
    let failed =
        |error: std::io::Error| Failure::message(format!("the store `{}`: {error}", store.shown()));
    let pruned = match arguments.prune {
        true => Some(prune(&store, arguments).map_err(failed)?),
        false => None,
    };
    let seconds = match arguments.check {
        true => Some(check(&store).map_err(failed)?),
        false => None,
    };
    let answers = store.list(ANSWERS).map_err(failed)?;
    let claims = store.all_claims().map_err(failed)?;
    let all = || answers.iter().chain(&claims);
    let oldest = answers
        .iter()
        .map(|kept| kept.age)
        .max()
        .unwrap_or_default();
    let body = Body {
        store: store.shown(),
        answers: answers.len(),
        claims: claims.len(),
        bytes: all().map(|kept| kept.bytes).sum(),
        oldest: oldest.as_secs_f64() / 86_400.0,
        seconds,
        damaged: arguments.check.then(|| store.damaged()),
        pruned,
    };
    let verdict = match body.damaged {
        Some(1..) => Verdict::Found,
        _ => Verdict::Fine,
    };
    match console.format() {
        Format::Text => console.text(&text(&body))?,
        Format::Json => console.value(verdict, &Sources::new(), &[], body)?,
    }
    Ok(verdict)
}

/// Reads everything. Gives back for how many seconds of work it stands.
fn check(store: &Store) -> std::io::Result<f64> {
    let entries = store.entries()?;
    for kept in store.all_claims()? {
        let hash = kept.key.rsplit('/').next().unwrap_or_default();
        // What is damaged is counted and thrown away.
        let _ = store.claims(hash);
    }
    Ok(entries.iter().map(|(_, entry)| entry.seconds).sum())
}

/// Throws away what is old, what is too much, and claims that nobody names. How much it was.
fn prune(store: &Store, arguments: &CacheArgs) -> std::io::Result<usize> {
    let mut entries: Vec<(Kept, Entry)> = store.entries()?;
    entries.sort_by(|a, b| a.0.age.cmp(&b.0.age).then(a.0.key.cmp(&b.0.key)));
    let claims: BTreeMap<String, Kept> = store
        .all_claims()?
        .into_iter()
        .map(|kept| {
            (
                kept.key.rsplit('/').next().unwrap_or_default().to_owned(),
                kept,
            )
        })
        .collect();
    let old = Duration::try_from_secs_f64(arguments.days * 86_400.0).unwrap_or(Duration::MAX);
    let most = arguments
        .most
        .map_or(u64::MAX, |mib| mib.saturating_mul(1 << 20));
    let mut named: BTreeSet<String> = BTreeSet::new();
    let mut bytes = 0u64;
    let mut pruned = 0;
    for (kept, entry) in &entries {
        let fresh = entry
            .claims
            .iter()
            .filter(|one| !named.contains(&one.sha256));
        let with: u64 = fresh
            .filter_map(|one| claims.get(&one.sha256))
            .map(|kept| kept.bytes)
            .sum();
        let size = kept.bytes.saturating_add(with);
        if kept.age > old || bytes.saturating_add(size) > most {
            store.remove(&kept.key)?;
            pruned += 1;
            continue;
        }
        bytes += size;
        named.extend(entry.claims.iter().map(|one| one.sha256.clone()));
    }
    // Claims are written before the entry that names them: young ones may belong to an answer
    // that is being written.
    let young = Duration::from_secs(3600);
    for (hash, kept) in claims {
        if !named.contains(&hash) && (kept.age > young || pruned > 0 && kept.age > old) {
            store.remove(&kept.key)?;
        }
    }
    Ok(pruned)
}

fn text(body: &Body) -> String {
    let mut lines = vec![format!(
        "{}: {} answers, {} claims, {:.1} MiB",
        body.store,
        body.answers,
        body.claims,
        body.bytes as f64 / f64::from(1 << 20)
    )];
    if body.answers > 0 {
        lines.push(format!("the oldest is {:.1} days old", body.oldest));
    }
    if let Some(seconds) = body.seconds {
        lines.push(format!("they stand for {seconds:.1} s of work"));
    }
    if let Some(damaged) = body.damaged {
        lines.push(match damaged {
            0 => "all of it is whole".to_owned(),
            1 => "1 was damaged and is thrown away".to_owned(),
            damaged => format!("{damaged} were damaged and are thrown away"),
        });
    }
    if let Some(pruned) = body.pruned {
        lines.push(format!("{pruned} were pruned"));
    }
    lines.push(String::new());
    lines.join("\n")
}
