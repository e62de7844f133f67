//! Why a check is not decided, as data and in words.

use hardbop_budget::Stopped;
use hardbop_cfront::ids::LocId;
use hardbop_cfront::interp;
use hardbop_cfront::program::Program;
use std::fmt;

/// Why a check is not decided.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reason {
    /// A limit was reached or the user cancelled.
    Stopped(Stopped),
    /// The solver did not know.
    Solver(String),
    /// A construct that is not supported can be reached.
    Unsupported(Construct),
    /// Nothing was found up to this bound on loops and recursion, and there are runs beyond it.
    Bound(u32),
    /// Nothing was found in the first so many steps, and there are longer runs.
    Length(usize),
    /// It holds only where memory that was freed is not used again.
    UsedAgain,
    /// No new predicate rules the last abstract error path out.
    Refinement,
    /// The last abstract error path is too long to be looked at.
    LongPath,
    /// The invariants that were found do not hold in the exact meaning.
    Certificate,
    /// The evidence for the proof did not stand when it was checked again.
    Evidence,
    /// The run that was found does something else in the interpreter.
    Replay(Box<interp::Outcome>),
    /// The run that was found may read from a file what it wrote to it, which is not followed.
    ReadsBack,
    /// The run that was found compares the address of a local that is gone.
    ComparesGone,
    /// No chain of leaps to it was found.
    NoLeap,
    /// Chains of leaps to it were found, and none of them is a run.
    NotConcrete,
    /// The program is too large to be looked at as one graph.
    TooLarge,
    /// The invariants that were guessed do not exclude it.
    Guesses,
    /// The values of variables that were followed do not exclude it, or there are too many.
    Values,
    /// The engine works on bits, and the program has this besides.
    NoBits(&'static str),
    /// Nothing was found that falls with every step of the loop at this place.
    NoRank(Place),
    /// Nothing was found that falls with every call of this function by itself.
    Recursion(String),
    /// No execution was found that comes back to a state that it was in.
    NoLasso,
    /// Another check was violated first, and the user wanted no more.
    First,
    /// The engine's share of the time passed, and there was no other engine after it.
    Turn,
    /// One engine has a proof and another one a run that violates what it proves: one of them is
    /// wrong, and so may be whatever else was proved of the program.
    Contradiction {
        /// Who proved it, or something else of the same program.
        proved: &'static str,
        /// Who found the run.
        violated: &'static str,
    },
}

/// Where something is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The file as the user knows it.
    pub file: String,
    /// The line.
    pub line: u32,
}

impl Place {
    /// Where a location of a program stands.
    pub fn of(program: &Program, location: LocId) -> Place {
        let function = program.locations[location.index()].function;
        let first = program.edges_from(location).next();
        let source = first.map_or(program.function(function).source, |(_, edge)| edge.source);
        let file = program.presumed_files.get(source.file as usize);
        Place {
            file: file.cloned().unwrap_or_default(),
            line: source.line,
        }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.file, self.line)
    }
}

/// A construct that is not supported, where the user wrote it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Construct {
    /// What it is.
    pub what: String,
    /// The file as the user knows it.
    pub file: String,
    /// The line.
    pub line: u32,
}

impl Reason {
    /// The reason that a construct can be reached, by its index into [`Program::unsupported`].
    pub fn unsupported(program: &Program, construct: u32) -> Reason {
        let (what, file, line) = match program.unsupported.get(construct as usize) {
            Some(found) => {
                let file = program.presumed_files.get(found.source.file as usize);
                (
                    found.what.clone(),
                    file.cloned().unwrap_or_default(),
                    found.source.line,
                )
            }
            // No program has such an edge; still nothing after it was seen.
            None => ("an unknown construct".to_owned(), String::new(), 0),
        };
        Reason::Unsupported(Construct { what, file, line })
    }

    /// What a user can try who wants to know more, in words after "try".
    pub fn next_step(&self) -> Option<&'static str> {
        match self {
            Reason::Stopped(Stopped::Time) | Reason::Turn => {
                Some("a longer `--time-limit`, or `--depth 8` for an answer up to a bound")
            }
            Reason::Stopped(Stopped::Memory) => {
                Some("a larger `--memory-limit`, or `--depth 8` for an answer up to a bound")
            }
            Reason::Unsupported(_) => {
                Some("leaving it out with `-D`, or another file that defines what is called there")
            }
            Reason::First => Some("without `--first`; of a property, `--all`"),
            Reason::Stopped(_) | Reason::Contradiction { .. } => None,
            Reason::NoRank(_) | Reason::Recursion(_) | Reason::NoLasso => None,
            Reason::UsedAgain => Some("not to compare addresses of objects that are gone"),
            _ => Some("`--depth 8` for an answer up to a bound"),
        }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Reason::Stopped(stopped) => write!(f, "{stopped}"),
            Reason::Solver(why) => write!(f, "the solver does not know: {why}"),
            Reason::Unsupported(Construct { what, file, line }) => {
                write!(
                    f,
                    "{what} at {file}:{line} is not supported and can be reached"
                )
            }
            Reason::Bound(bound) => write!(
                f,
                "nothing was found up to bound {bound}, and some runs go beyond it"
            ),
            Reason::Length(steps) => write!(
                f,
                "nothing was found in the first {steps} steps, and some runs are longer"
            ),
            Reason::Refinement => {
                f.write_str("no predicate was found that rules the last abstract path out")
            }
            Reason::LongPath => f.write_str("the last abstract path is too long to be looked at"),
            Reason::Certificate => {
                f.write_str("the invariants that were found do not hold in the exact meaning")
            }
            Reason::Evidence => {
                f.write_str("the evidence for the proof did not stand when it was checked again")
            }
            Reason::Replay(outcome) => {
                write!(
                    f,
                    "the run that was found does not replay: {}",
                    ended(outcome)
                )
            }
            Reason::ReadsBack => f.write_str(
                "the run that was found reads a file that it may have written itself, and contents of files are not followed",
            ),
            Reason::ComparesGone => f.write_str(
                "the run that was found compares the address of a local that is gone, so it may go on in another way on another machine",
            ),
            Reason::UsedAgain => f.write_str(
                "it depends on where memory is allocated: it is proved where no object lies where one was that is gone, and a run violates it in which memory that was freed is used again",
            ),
            Reason::NoRank(place) => {
                write!(f, "nothing was found that falls with every step of the loop at {place}")
            }
            Reason::Recursion(function) => {
                write!(f, "nothing was found that falls with every call of `{function}` by itself")
            }
            Reason::NoLasso => {
                f.write_str("no execution was found that comes back to a state that it was in")
            }
            Reason::NoLeap => f.write_str("no chain of leaps to it was found"),
            Reason::NotConcrete => f.write_str(
                "chains of leaps to it were found, but none of them could be replayed or checked again",
            ),
            Reason::TooLarge => {
                f.write_str("the program is too large to be looked at as one graph")
            }
            Reason::First => f.write_str("the search ended with the first violation (`--first`, `--property`)"),
            Reason::Turn => f.write_str("no engine found an answer in its share of the time"),
            Reason::Contradiction { proved, violated } => write!(
                f,
                "of an internal error: engine {proved} has a proof, and engine {violated} a run that contradicts it"
            ),
            Reason::NoBits(what) => write!(f, "only bits are searched, and the program has {what}"),
            Reason::Values => f.write_str("the values that were followed do not exclude it"),
            Reason::Guesses => f.write_str("the invariants that were guessed do not exclude it"),
        }
    }
}

/// How a replayed run ended instead.
fn ended(outcome: &interp::Outcome) -> String {
    match outcome {
        interp::Outcome::Returned(_) => "it returns".to_owned(),
        interp::Outcome::Halted(_) => "it ends before".to_owned(),
        interp::Outcome::Violated(_) => "it violates another check".to_owned(),
        interp::Outcome::Trapped { kind, .. } => format!("it ends in {kind:?}"),
        interp::Outcome::Unsupported(_) => "it meets what is not supported".to_owned(),
        interp::Outcome::OutOfInputs(_) => "it asks for more inputs".to_owned(),
        interp::Outcome::StepLimit => "it is too long".to_owned(),
        interp::Outcome::Stopped(stopped) => stopped.to_string(),
    }
}
