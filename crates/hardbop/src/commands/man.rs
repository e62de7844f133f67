//! `hardbop man`: the manual pages, from the definitions of the command line.

use crate::cli::Cli;
use crate::console::{Console, Format};
use crate::failure::{Failure, Verdict};
use clap::CommandFactory;
use hardbop_diagnostics::Sources;
use serde::Serialize;

#[derive(Serialize)]
struct Body<'a> {
    page: &'a str,
}

/// Prints the manual page of a command, given as the words after `hardbop`.
pub fn run(words: &[String], console: &Console) -> Result<Verdict, Failure> {
    let page = page(words)?;
    match console.format() {
        Format::Text => console.text(&page)?,
        Format::Json => {
            console.value(Verdict::Fine, &Sources::new(), &[], Body { page: &page })?;
        }
    }
    Ok(Verdict::Fine)
}

fn page(words: &[String]) -> Result<String, Failure> {
    let mut command = Cli::command();
    // Building hands the global options down to the subcommands and gives them their full names.
    command.build();
    for word in words {
        let known = command.find_subcommand(word).cloned();
        command = known.ok_or_else(|| no_such_command(words))?;
    }
    let title = std::iter::once("hardbop").chain(words.iter().map(String::as_str));
    let title = title.collect::<Vec<_>>().join("-");
    let man = clap_mangen::Man::new(command)
        .title(title)
        .source(concat!("hardbop ", env!("CARGO_PKG_VERSION")))
        .manual("Hardbop");
    let mut bytes = Vec::new();
    man.render(&mut bytes)
        .map_err(|error| Failure::internal(format!("cannot write a manual page: {error}")))?;
    String::from_utf8(bytes)
        .map(|page| name_sections(&page))
        .map_err(|_| Failure::internal("a manual page is not UTF-8"))
}

/// What follows the options in the help is one section called EXTRA in the page; readers of
/// manuals look for the usual names, and for lines that stay as they are.
fn name_sections(page: &str) -> String {
    let mut sections = String::with_capacity(page.len());
    for line in page.lines() {
        sections.push_str(match line {
            ".SH EXTRA" => continue,
            "Example:" | "Examples:" => ".SH EXAMPLES\n.nf",
            "Exit codes:" => ".fi\n.SH \"EXIT STATUS\"\n.nf",
            ".SH VERSION" => ".fi\n.SH VERSION",
            line => line,
        });
        sections.push('\n');
    }
    sections
}

fn no_such_command(words: &[String]) -> Failure {
    let name = words.join(" ");
    Failure::message(format!(
        "there is no command `{name}`; `hardbop --help` lists them"
    ))
}
