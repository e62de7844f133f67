//! What is left behind when two engines contradict each other: all that is needed to find out
//! which of them is wrong.

use crate::commands::artifacts::VERSION;
use crate::commands::results::{self, Paths};
use crate::console::Console;
use hardbop_budget::Budget;
use hardbop_cfront::program::Program;
use hardbop_gate::{Outcome, Report};
use hardbop_portfolio::{Contradiction, Found};
use hardbop_report::rows::Detail;
use hardbop_report::terminal::{Listing, Show};
use hardbop_witness::read::sha256;
use std::fmt::Write as _;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What two engines say of one program.
pub struct Claims<'a> {
    /// The program.
    pub program: &'a Program,
    /// What was found out about it.
    pub found: &'a Found,
}

/// Keeps what there is to know about contradictions, and says so in words; `None` if there are
/// none.
pub fn told(
    claims: &[Claims<'_>],
    files: &[String],
    budget: &Budget,
    console: &Console,
) -> Option<String> {
    let contradicted = claims.iter().flat_map(|claims| {
        let all = claims.found.contradictions.iter();
        all.map(|one| (claims.program, one))
    });
    let mut texts = String::new();
    let mut first = None;
    for (program, contradiction) in contradicted {
        first.get_or_insert((contradiction.proved, contradiction.violated));
        texts.push_str(&both(program, contradiction, budget, console));
    }
    let (proved, violated) = first?;
    let arguments: Vec<String> = std::env::args_os()
        .skip(1)
        .map(|argument| argument.to_string_lossy().into_owned())
        .collect();
    let command = format!("hardbop {VERSION}\n{}\n", arguments.join("\n"));
    let kept = keep(Path::new("."), &command, &texts, files)
        .or_else(|_| keep(&std::env::temp_dir(), &command, &texts, files));
    let place = match kept {
        Ok(directory) => format!(
            "the program and both claims are in `{}`",
            directory.display()
        ),
        Err(error) => format!("the program and both claims cannot be written: {error}"),
    };
    Some(format!(
        "engine {proved} has a proof, and engine {violated} a run that contradicts it, so nothing \
         is proved; {place}"
    ))
}

/// The proof and the run, as a user would see them.
fn both(program: &Program, one: &Contradiction, budget: &Budget, console: &Console) -> String {
    let claims = [
        (one.proved, Outcome::Proved(Arc::clone(&one.proof))),
        (one.violated, Outcome::Violated(Arc::clone(&one.refutation))),
    ];
    let mut text = String::new();
    for (engine, outcome) in claims {
        let found = Found::of(Report {
            outcomes: [(one.check, outcome)].into(),
            ..Report::default()
        });
        let paths = Paths::Lines(Detail::Full);
        let results = results::collect(program, &found, paths, budget);
        let show = Show {
            listing: Listing::Whole,
            path: None,
            invariants: true,
            predicates: true,
            statistics: false,
        };
        let _ = writeln!(text, "engine {engine}:");
        text.push_str(&results::text(&results, paths, show, console));
        text.push('\n');
    }
    text
}

/// Writes it all to a directory whose name follows from what is in it.
fn keep(parent: &Path, command: &str, claims: &str, files: &[String]) -> io::Result<PathBuf> {
    let texts: Vec<(String, Vec<u8>)> = files
        .iter()
        .filter_map(|name| Some((name.clone(), std::fs::read(name).ok()?)))
        .collect();
    let mut all = format!("{command}{claims}").into_bytes();
    for (name, text) in &texts {
        all.extend_from_slice(name.as_bytes());
        all.extend_from_slice(text);
    }
    let hash = sha256(&all);
    let directory = parent.join(format!("hardbop-contradiction-{}", &hash[..12]));
    let sources = directory.join("files");
    std::fs::create_dir_all(&sources)?;
    std::fs::write(directory.join("command.txt"), command)?;
    std::fs::write(directory.join("claims.txt"), claims)?;
    for (index, (name, text)) in texts.iter().enumerate() {
        // Files of different directories may have one name.
        let last = Path::new(name).file_name().unwrap_or_default();
        let numbered = format!("{index:03}-{}", last.to_string_lossy());
        std::fs::write(sources.join(numbered), text)?;
    }
    Ok(directory)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_needed_is_kept() {
        let scene = tempfile::tempdir().expect("a directory");
        let source = scene.path().join("x.c");
        std::fs::write(&source, "int main(void) { return 0; }\n").expect("a file");
        let files = [source.display().to_string(), "no/such/file.h".to_owned()];
        let kept = keep(scene.path(), "hardbop 0\ncheck\nx.c\n", "both\n", &files).expect("kept");
        let name = kept.file_name().expect("a name").to_string_lossy();
        assert!(name.starts_with("hardbop-contradiction-"), "{name}");
        let read = |name: &str| std::fs::read_to_string(kept.join(name)).expect("a file");
        assert_eq!(read("command.txt"), "hardbop 0\ncheck\nx.c\n");
        assert_eq!(read("claims.txt"), "both\n");
        assert_eq!(read("files/000-x.c"), "int main(void) { return 0; }\n");
        // The same again is the same directory.
        let again = keep(scene.path(), "hardbop 0\ncheck\nx.c\n", "both\n", &files).expect("kept");
        assert_eq!(kept, again);
    }
}
