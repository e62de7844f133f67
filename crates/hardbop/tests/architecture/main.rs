//! ARCHITECTURE.md is true: what it says of the code, as far as a test can see, is compared with
//! the code. A statement that is no longer right is corrected there, or the code is.

mod recursion;
mod source;

use source::{Source, repository, sources};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// What is between backquotes, apart from what is in brackets.
fn quoted(cell: &str) -> BTreeSet<String> {
    let mut plain = String::new();
    let mut depth = 0;
    for c in cell.chars() {
        match c {
            '(' => depth += 1,
            ')' => depth -= 1,
            c if depth == 0 => plain.push(c),
            _ => {}
        }
    }
    let parts = plain.split('`').skip(1).step_by(2);
    parts.map(str::to_owned).collect()
}

/// The table of crates: for each the crates of ours that it depends on; `None` for all.
fn map() -> BTreeMap<String, Option<BTreeSet<String>>> {
    let text = read(&repository().join("ARCHITECTURE.md"));
    let table = text
        .lines()
        .skip_while(|line| !line.starts_with("| crate (`crates/`)"))
        .skip(2)
        .take_while(|line| line.starts_with('|'));
    table
        .map(|line| {
            let cells: Vec<&str> = line.trim_matches('|').split(" | ").collect();
            let [name, _, depends] = cells[..] else {
                panic!("three cells: {line}");
            };
            let name = quoted(name).pop_first().expect("a crate's name");
            let all = depends.trim() == "all";
            (name, (!all).then(|| quoted(depends)))
        })
        .collect()
}

/// The crates of ours that a manifest names in a section.
fn dependencies(manifest: &str, section: &str) -> BTreeSet<String> {
    manifest
        .lines()
        .skip_while(|line| *line != section)
        .skip(1)
        .take_while(|line| !line.starts_with('['))
        .filter_map(|line| line.strip_prefix("hardbop-"))
        .filter_map(|line| line.split(['.', ' ']).next())
        .map(str::to_owned)
        .collect()
}

#[test]
fn crates_depend_on_what_the_map_says() {
    let map = map();
    let folders: BTreeSet<String> = std::fs::read_dir(repository().join("crates"))
        .expect("the crates")
        .map(|entry| entry.expect("an entry").file_name())
        .map(|name| name.into_string().expect("a plain name"))
        .collect();
    let mapped: BTreeSet<String> = map.keys().cloned().collect();
    assert_eq!(folders, mapped, "the crates, and those of the map");
    for (name, expected) in &map {
        let manifest = read(&repository().join("crates").join(name).join("Cargo.toml"));
        let found = dependencies(&manifest, "[dependencies]");
        assert!(
            !found.contains("test-support"),
            "`{name}` may use `test-support` in its tests only"
        );
        let Some(expected) = expected else { continue };
        assert_eq!(&found, expected, "what `{name}` depends on");
    }
}

/// `boolean-program` is behind bebop's adapter and the checker that hands its answers out.
#[test]
fn the_core_of_bebop_knows_no_boolean_programs() {
    let naming: Vec<String> = sources()
        .filter(|file| file.krate == "bebop" && file.has("hardbop_boolean_program"))
        .map(|file| file.path)
        .collect();
    assert_eq!(naming, ["bebop/src/adapter.rs", "bebop/src/checker.rs"]);
}

/// The files outside of `hardbop` in which one of some sequences of words stands.
fn strangers(sequences: &[&[&str]]) -> Vec<String> {
    sources()
        .filter(|file| file.krate != "hardbop")
        .filter(|file| sequences.iter().any(|words| file.has_all(words)))
        .map(|file| file.path)
        .collect()
}

#[test]
fn only_hardbop_prints() {
    let printing = strangers(&[
        &["println", "!"],
        &["eprintln", "!"],
        &["print", "!"],
        &["eprint", "!"],
        &["io", "::", "stdout"],
        &["io", "::", "stderr"],
    ]);
    assert_eq!(printing, [""; 0]);
}

#[test]
fn only_hardbop_touches_the_world() {
    // How much memory the process holds, and how long a thread has worked, is asked of the system,
    // as the time is.
    let files = strangers(&[&["std", "::", "fs"], &["fs", "::"], &["File", "::", "open"]]);
    assert_eq!(files, ["budget/src/lib.rs", "budget/src/stint.rs"]);
    let environment = strangers(&[&["std", "::", "env"], &["env", "::"]]);
    assert_eq!(environment, [""; 0]);
    // Another solver is another process; `hardbop` says which.
    let processes = strangers(&[&["Command", "::", "new"], &["process", "::", "exit"]]);
    assert_eq!(processes, [""; 0]);
}

/// What may run long takes a budget: file, function.
const LONG: &[(&str, &str)] = &[
    ("bebop/src/bdd/mod.rs", "new"),
    ("bebop/src/checker.rs", "check"),
    ("bebop/src/checker.rs", "resume"),
    ("c2bp/src/abstraction.rs", "abstract_program"),
    ("c2bp/src/predicate/mod.rs", "analyse"),
    ("cegar/src/rounds.rs", "check"),
    ("cfront/src/inline.rs", "inline"),
    ("cfront/src/inline/check.rs", "check"),
    ("cfront/src/load.rs", "load"),
    ("cfront/src/points_to/check.rs", "check"),
    ("cfront/src/points_to/mod.rs", "analyse"),
    ("dpr/src/check.rs", "check"),
    ("horn/src/lib.rs", "check"),
    ("houdini/src/lib.rs", "check"),
    ("leap/src/check.rs", "leap"),
    ("logic/src/horn.rs", "solve"),
    ("logic/src/solver/session.rs", "new"),
    ("model/src/lib.rs", "after"),
    ("model/src/passes.rs", "after"),
    ("portfolio/src/lib.rs", "check"),
    ("report/src/record.rs", "record"),
    ("report/src/trace.rs", "trace"),
    ("rules/src/weave.rs", "weave"),
    ("semantics/src/replay.rs", "replay"),
    ("unroll/src/layers.rs", "check"),
    ("unroll/src/runs.rs", "check"),
    ("witness/src/weave.rs", "weave"),
];

#[test]
fn what_may_run_long_takes_a_budget() {
    let files: BTreeMap<String, Source> = sources().map(|file| (file.path.clone(), file)).collect();
    for (path, name) in LONG {
        let file = files.get(*path).unwrap_or_else(|| panic!("no {path}"));
        let functions = file.functions();
        let mut named = functions.iter().filter(|f| f.name == *name).peekable();
        assert!(named.peek().is_some(), "{path} has no {name}");
        assert!(
            named.any(|f| f.signature.iter().any(|t| t == "Budget" || t == "Task")),
            "{path}: {name} takes no budget"
        );
    }
}

#[test]
fn the_facade_has_all_engines() {
    let facade = sources()
        .find(|file| file.path == "hardbop/src/lib.rs")
        .expect("the façade");
    let engines: BTreeSet<String> = sources()
        .filter(|file| file.has_all(&["impl", "Engine", "for"]) && file.krate != "hardbop")
        .map(|file| file.krate)
        .collect();
    assert!(engines.len() > 4, "{engines:?}");
    for engine in engines {
        let offered = facade.has_all(&["pub", "use", &format!("hardbop_{engine}")]);
        assert!(offered, "{engine} is not offered");
    }
}

/// Ids are types of their own; a name for a plain number is none.
#[test]
fn ids_are_typed() {
    let mut plain = Vec::new();
    for file in sources() {
        for at in file.tokens.windows(4) {
            let [kind, name, equals, number] = at else {
                continue;
            };
            let id = name.ends_with("Id") || name.ends_with("Index");
            let is_number = matches!(number.as_str(), "usize" | "u32" | "u64");
            if kind == "type" && id && equals == "=" && is_number {
                plain.push(format!("{}: {name}", file.path));
            }
        }
    }
    assert!(plain.is_empty(), "{plain:?}");
}

/// No file is longer than this many lines.
const LONGEST: usize = 600;

/// Files that are longer, and their lengths: they may only become shorter.
const LONGER: &[(&str, usize)] = &[
    ("c2bp/src/output.rs", 835),
    ("cfront/src/dump.rs", 707),
    ("cfront/src/finish.rs", 740),
    ("cfront/src/points_to/check.rs", 679),
    ("cfront/src/program.rs", 813),
    ("dpr/src/run.rs", 629),
    ("dpr/src/search.rs", 713),
    ("logic/src/simplify/bits.rs", 613),
    ("newton/src/c_text.rs", 794),
    ("report/src/record.rs", 721),
    ("witness/src/weave.rs", 709),
];

#[test]
fn files_are_short() {
    let mut wrong = Vec::new();
    for file in sources() {
        let known = LONGER.iter().find(|(path, _)| *path == file.path);
        let limit = known.map_or(LONGEST, |&(_, lines)| lines);
        if file.lines > limit {
            wrong.push(format!("{}: {} lines", file.path, file.lines));
        }
        if known.is_some() && file.lines <= LONGEST {
            wrong.push(format!("{} is short now: take it off the list", file.path));
        }
    }
    assert_eq!(wrong, [""; 0]);
}
