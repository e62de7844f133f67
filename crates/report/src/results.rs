//! The results of a check as plain data: what every renderer takes, and no engine knows.

use hardbop_cfront::program::CheckKind;
use serde::Serialize;

/// What is known about a program, with its evidence.
#[derive(Clone, Debug, Default)]
pub struct Results {
    /// The names of files, as the user knows them (line markers count).
    pub files: Vec<String>,
    /// The texts that were read, of which something is mentioned.
    pub sources: Vec<SourceText>,
    /// Where execution starts.
    pub entry: String,
    /// The widths of the basic types.
    pub data_model: DataModel,
    /// The checks, in the order of the program.
    pub checks: Vec<CheckResult>,
    /// Why the answers do not speak for all executions, if they do not.
    pub incomplete: Option<String>,
    /// What the answers rest on, in words.
    pub assumptions: Vec<String>,
    /// Invariants that were certified, in the order of the program.
    pub invariants: Vec<Invariant>,
    /// What falls in loops, if that is how it is known that executions end.
    pub ranks: Vec<Rank>,
    /// How what is proved was shown, in words.
    pub evidence: Vec<String>,
    /// The predicates that the search ended with.
    pub predicates: Vec<Predicate>,
    /// What the search took, in the order in which it is shown.
    pub statistics: Vec<Figure>,
    /// What the search was like, round by round.
    pub rounds: Vec<Round>,
    /// The control flow of the user's functions that are mentioned, by lines.
    pub graphs: Vec<FlowGraph>,
    /// What the predicates make of the program, if that is wanted.
    pub boolean_programs: Vec<BooleanProgram>,
}

/// What falls with every step of a loop, or with every call of a function by itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rank {
    /// Where it is a rank.
    pub place: Place,
    /// What falls, in lexicographic order, in the manner of C.
    pub words: Vec<String>,
}

/// The boolean program that predicates make of a C program, beside its lines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BooleanProgram {
    /// The rule that was beside the C program, if one was.
    pub rule: Option<String>,
    /// Where the predicates are from.
    pub predicates: PredicatesFrom,
    /// Its lines, in order.
    pub lines: Vec<BooleanLine>,
}

/// Where the predicates of a boolean program are from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PredicatesFrom {
    /// The search found them.
    Search,
    /// They are the conditions of the program, since the search needed none.
    Conditions,
}

/// A line of a boolean program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BooleanLine {
    /// The line.
    pub text: String,
    /// The line of the C program that it stands for, where it does: the file, the number and the
    /// text.
    pub c: Option<(String, u32, String)>,
}

/// The control flow of a function by lines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FlowGraph {
    /// The function.
    pub function: String,
    /// Its lines, in the order of the text.
    pub nodes: Vec<FlowNode>,
    /// Which line may follow which, by their positions.
    pub edges: Vec<(usize, usize)>,
}

/// A line of a function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FlowNode {
    /// Its number, as the user knows it.
    pub line: u32,
    /// Its text.
    pub text: String,
}

/// The widths of the basic types, by SV-COMP's names.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DataModel {
    /// `int`, `long` and pointers of 32 bits.
    Ilp32,
    /// `int` of 32 bits, `long` and pointers of 64.
    #[default]
    Lp64,
}

impl DataModel {
    /// The name that task definitions and witnesses use.
    pub fn name(self) -> &'static str {
        match self {
            DataModel::Ilp32 => "ILP32",
            DataModel::Lp64 => "LP64",
        }
    }

    /// The number of bits of a pointer.
    pub fn bits(self) -> u32 {
        match self {
            DataModel::Ilp32 => 32,
            DataModel::Lp64 => 64,
        }
    }
}

/// A text that was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceText {
    /// The name under which it was read.
    pub name: String,
    /// The whole text.
    pub text: String,
}

/// Where something stands: for people in [`Results::files`], for tools in [`Results::sources`].
/// The two differ only where line markers say so.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place {
    /// An index into [`Results::files`].
    pub file: u32,
    /// The line in that file, from 1.
    pub line: u32,
    /// An index into [`Results::sources`].
    pub source: u32,
    /// The line in that text, from 1.
    pub source_line: u32,
    /// The column in that line, from 1, in characters.
    pub column: u32,
    /// The column after the last character, if it is on the same line; else the line's end.
    pub end_column: u32,
}

/// A check and its answer.
#[derive(Clone, Debug)]
pub struct CheckResult {
    /// A name for the kind of check, e.g. `assertion`.
    pub kind: CheckKind,
    /// What is said when it is violated.
    pub message: String,
    /// The function in which it stands.
    pub function: String,
    /// Where it stands.
    pub place: Place,
    /// The rule that it is part of, if it is.
    pub rule: Option<String>,
    /// What is known of it.
    pub answer: Answer,
    /// The engine that decided it, where several were at work.
    pub engine: Option<&'static str>,
    /// What a user can try where it is not decided.
    pub next_step: Option<&'static str>,
    /// Whether it stands in a function that no execution can call.
    pub uncalled: bool,
}

impl CheckResult {
    /// Whether it is proved because no execution can call its function.
    pub fn is_unreachable(&self) -> bool {
        self.uncalled && matches!(self.answer, Answer::Proved)
    }

    /// What a violation depends on that may not be so, after the words that say it; empty if
    /// nothing is.
    pub fn proviso(&self) -> String {
        match &self.answer {
            Answer::Violated(trace) if !trace.guesses.is_empty() => {
                let names: Vec<String> = trace.guesses.iter().map(Guess::words).collect();
                let it = if names.len() == 1 {
                    "it does"
                } else {
                    "they do"
                };
                format!(", if {} can do what {it} in this run", names.join(" and "))
            }
            _ => String::new(),
        }
    }
}

/// What is known of a check.
#[derive(Clone, Debug)]
pub enum Answer {
    /// No execution violates it.
    Proved,
    /// This execution does.
    Violated(Box<Trace>),
    /// No execution of so many iterations of each loop does; of others nothing is known.
    Bounded(Bounded),
    /// Neither is known, and why.
    Unknown(String),
}

/// How far a check holds that is not decided.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bounded {
    /// No execution violates it in which each loop goes round at most so often each time that it
    /// is entered, and each function that calls itself has at most so many open calls.
    pub depth: u32,
    /// How far it was looked for.
    pub wanted: u32,
    /// Why no more is known.
    pub reason: String,
}

impl Bounded {
    /// In words.
    pub fn words(&self) -> String {
        let Bounded { depth, wanted, .. } = self;
        let iterations = match depth {
            1 => "1 iteration".to_owned(),
            _ => format!("{depth} iterations"),
        };
        let asked = match depth < wanted {
            true => format!(" ({wanted} were asked for)"),
            false => String::new(),
        };
        format!("no violation up to {iterations} of each loop{asked}")
    }
}

impl Answer {
    /// Whether it is neither proved nor violated.
    pub fn is_open(&self) -> bool {
        matches!(self, Answer::Bounded(_) | Answer::Unknown(_))
    }

    /// The word for it.
    pub fn word(&self) -> &'static str {
        match self {
            Answer::Proved => "PROVED",
            Answer::Violated(_) => "VIOLATED",
            Answer::Bounded(_) => "BOUNDED",
            Answer::Unknown(_) => "UNKNOWN",
        }
    }
}

/// A run that violates a check.
#[derive(Clone, Debug, Default)]
pub struct Trace {
    /// What was executed in the user's functions, in order.
    pub steps: Vec<Step>,
    /// The loops that were executed, outer ones before inner ones.
    pub loops: Vec<LoopRun>,
    /// The calls that were made; the first one is that of the entry function.
    pub calls: Vec<CallRun>,
    /// The inputs in the order in which they were asked for.
    pub inputs: Vec<Input>,
    /// Where steps were left out because the run is too long to be kept: before this step, and
    /// so many executed edges.
    pub gap: Option<(usize, u64)>,
    /// The number of executed edges.
    pub length: u64,
    /// The executed edges as the front end has them, if they are wanted.
    pub edges: Vec<EdgeStep>,
    /// The rule that is violated, if it is one, while the run goes on.
    pub rule: Option<RuleRun>,
    /// The object that a wrong access is about, in lines for people; the last ones draw it.
    pub object: Vec<String>,
    /// What is guessed and what the violation depends on.
    pub guesses: Vec<Guess>,
    /// How it is known that there is such a run, where it is too long to be run. Then there are no
    /// steps.
    pub leapt: Option<String>,
    /// How an execution goes on for ever whose beginning this is. Then there are no steps.
    pub endless: Option<String>,
}

/// Somebody outside of the program whose answer is a guess.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Guess {
    /// A function of the C library.
    Function(String),
    /// Inline assembly, by its file and line.
    Assembly(String),
}

impl Guess {
    /// In a sentence.
    fn words(&self) -> String {
        match self {
            Guess::Function(name) => format!("`{name}`"),
            Guess::Assembly(_) => self.name(),
        }
    }

    /// In a list.
    pub fn name(&self) -> String {
        match self {
            Guess::Function(name) => name.clone(),
            Guess::Assembly(at) => format!("the assembly at {at}"),
        }
    }
}

/// A rule beside a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RuleRun {
    /// The rule's name.
    pub rule: String,
    /// The objects that it watches in this run.
    pub objects: Vec<WatchedObject>,
    /// The names of the variables of its state.
    pub variables: Vec<String>,
    /// The states that it goes through, each a value for every variable, in the rule's words. It
    /// begins in the first one; the same state may come again.
    pub states: Vec<Vec<String>>,
}

/// An object that a rule watches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WatchedObject {
    /// Its name in the rule; none where the rule says `watch` or `track`.
    pub name: Option<String>,
    /// The object, in C.
    pub object: String,
}

/// An executed edge as the front end has it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct EdgeStep {
    /// The file that it came from.
    pub file: String,
    /// The line in that file.
    pub line: u32,
    /// What it does.
    pub edge: String,
}

/// A step of a trace: an edge of the control-flow graph.
#[derive(Clone, Debug)]
pub struct Step {
    /// What it does.
    pub kind: StepKind,
    /// Where it stands.
    pub place: Place,
    /// The call that it belongs to: an index into [`Trace::calls`].
    pub call: u32,
    /// The values that it sets or reads.
    pub values: Vec<Binding>,
    /// Whether it has to do with the violation.
    pub relevance: Relevance,
    /// Whose step it is.
    pub of: StepOf,
    /// The rule's state when it begins: an index into [`RuleRun::states`].
    pub state: u32,
}

/// Whose step it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StepOf {
    /// The program's.
    Program,
    /// That of a rule beside it.
    Rule,
}

/// Whether a step has to do with the violation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Relevance {
    /// The violation depends on it, by data or by control.
    Matters,
    /// It does not.
    Other,
}

/// What a step does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StepKind {
    /// A statement, or part of one.
    Statement,
    /// A condition, and whether it held.
    Branch {
        /// Its truth value.
        holds: bool,
    },
    /// A call of a function of the user's: an index into [`Trace::calls`].
    Call(u32),
    /// A call whose inside is not shown.
    ClosedCall,
    /// The value that a function returns is decided.
    Return,
    /// The run asks for an input: an index into [`Trace::inputs`].
    Input(u32),
    /// The check is violated.
    Violation,
}

/// A loop in one call, with the steps that begin its iterations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoopRun {
    /// The call: an index into [`Trace::calls`].
    pub call: u32,
    /// The steps at which iterations begin; the last may only find that the loop is over.
    pub iterations: Vec<usize>,
    /// The first step after the loop.
    pub end: usize,
}

/// A call of a function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallRun {
    /// The function.
    pub function: String,
    /// The number of calls around it that are shown.
    pub depth: u32,
    /// The call around it.
    pub parent: Option<u32>,
    /// How many calls of the same function are around it.
    pub recursion: u32,
    /// Whether it is still active when the check is violated.
    pub open: bool,
}

/// A value at a step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Binding {
    /// What has it, in C.
    pub name: String,
    /// The value, as C would write it.
    pub value: String,
    /// What the step has to do with it.
    pub role: Role,
}

/// What a step has to do with a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// It writes it.
    Set,
    /// It reads it.
    Read,
    /// It passes it to a parameter.
    Passed,
    /// It returns it.
    Returned,
}

/// An input that a run asked for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Input {
    /// The function that was called, e.g. `__VERIFIER_nondet_int`.
    pub function: String,
    /// The file of the call.
    pub file: String,
    /// The line of the call.
    pub line: u32,
    /// The value, in the form in which `hardbop c run --inputs` takes it.
    pub value: String,
    /// The type, in C; empty for ranges of memory.
    #[serde(skip)]
    pub ty: String,
}

/// An invariant of a proof.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Invariant {
    /// The function.
    pub function: String,
    /// Where it holds.
    pub place: Place,
    /// What kind of place that is.
    pub at: InvariantAt,
    /// The formula for people.
    pub formula: String,
    /// What it says of the variables, as a C expression; this may be less than the formula.
    pub c: Option<String>,
    /// All that it says, as a C expression with `old(x)` for what `x` was when the function was
    /// entered and `$return` for what it returns.
    pub contract: Option<String>,
    /// The rule whose proof it is part of, if it is that of a rule.
    pub rule: Option<String>,
}

/// Where an invariant holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InvariantAt {
    /// Whenever the loop's condition is about to be evaluated.
    LoopHead,
    /// When the function is entered: what its callers guarantee.
    Entry,
    /// When the function returns: what it guarantees.
    Exit,
    /// At another place between two blocks.
    Inside,
}

impl InvariantAt {
    /// The name that machines are told.
    pub fn name(self) -> &'static str {
        match self {
            InvariantAt::LoopHead => "loop",
            InvariantAt::Entry => "entry",
            InvariantAt::Exit => "exit",
            InvariantAt::Inside => "inside",
        }
    }
}

/// A predicate of the search.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Predicate {
    /// The function that it belongs to; none for the whole program.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub function: Option<String>,
    /// The formula.
    pub formula: String,
    /// The rule whose search it is of, if it is that of a rule.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
}

/// A figure of the search.
#[derive(Clone, Debug, PartialEq)]
pub struct Figure {
    /// Its name for machines.
    pub key: String,
    /// The figure for people, with what it counts.
    pub text: String,
    /// The figure for machines.
    pub value: serde_json::Value,
}

/// A step of the search: what an engine said of itself.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Round {
    /// Seconds since the start.
    pub seconds: f64,
    /// The engine.
    pub engine: String,
    /// The rule that was beside the program, if one was.
    pub rule: Option<String>,
    /// What was being done.
    pub doing: String,
    /// How far it was: counts with their names.
    pub counts: Vec<(String, u64)>,
    /// Checks that were still open.
    pub open: usize,
}

impl Results {
    /// The file and line of a place, as the user knows them.
    pub fn shown(&self, place: Place) -> (&str, u32) {
        let file = self.files.get(place.file as usize);
        (file.map_or("", String::as_str), place.line)
    }
}
