//! Whether a run reads what it wrote itself.
//!
//! The models of the library say that a file may hold anything. That is right for a proof. In a
//! run, a file that the program wrote holds what was written, and the models do not follow it. So
//! a run that may read such a file shows nothing: it is run once more and looked at, to see which
//! files are opened to be written and which to be read.

use hardbop_cfront::call_graph::callable;
use hardbop_cfront::ids::{EdgeId, FuncId, VarId};
use hardbop_cfront::interp::{Environment, Interpreter, Limits, Observer, State};
use hardbop_cfront::program::{Assumption, Origin, Program, VarKind};
use std::collections::BTreeMap;

/// What a function of the library has to do with files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    /// Opens a file as its `mode` says.
    Opens,
    /// Opens a file as its `flags` say.
    OpensByFlags,
    /// Makes a file to be written, by its `name`.
    Creates,
    /// Makes a file that can be written and read.
    Temporary,
    /// Writes to a descriptor, its `file`.
    Writes,
    /// Gives a character back to a stream.
    GivesBack,
    /// Changes what a descriptor means: its `file`, or the one that it copies `to`.
    Redirects,
    /// Talks to somebody outside, by calling `read` or `write`.
    Outside,
    /// Reads its `stream` or its `file`, or the standard input if there is neither.
    Reads,
}

fn part(name: &str) -> Option<Part> {
    Some(match name {
        "fopen" | "fopen64" | "fdopen" | "freopen" => Part::Opens,
        "open" | "open64" => Part::OpensByFlags,
        "creat" => Part::Creates,
        "tmpfile" => Part::Temporary,
        "write" => Part::Writes,
        "ungetc" => Part::GivesBack,
        "close" | "dup2" => Part::Redirects,
        "send" | "recv" => Part::Outside,
        "getchar" | "getchar_unlocked" | "gets" | "scanf" | "__isoc99_scanf" | "__isoc23_scanf"
        | "vscanf" | "getc" | "fgetc" | "getc_unlocked" | "_IO_getc" | "fgets" | "fread"
        | "fscanf" | "__isoc99_fscanf" | "__isoc23_fscanf" | "vfscanf" | "getline" | "getdelim"
        | "__getdelim" | "read" | "pread" | "lseek" => Part::Reads,
        _ => return None,
    })
}

/// Functions whose descriptors lead to what was written.
const DESCRIPTORS: [&str; 10] = [
    "pipe",
    "pipe2",
    "socketpair",
    "mkstemp",
    "mkstemps",
    "mkostemp",
    "openat",
    "memfd_create",
    "shm_open",
    "dup3",
];

/// Whether a program has models that write files, and others that read them.
pub(crate) fn may_read_back(program: &Program) -> bool {
    let parts: Vec<Part> = parts(program).into_values().collect();
    let writes = |part: &Part| !matches!(part, Part::Reads | Part::Outside | Part::Redirects);
    parts.contains(&Part::Reads) && parts.iter().any(writes)
}

/// Whether the run that an environment makes may read what it wrote.
pub(crate) fn reads_back(
    program: &Program,
    environment: &mut dyn Environment,
    limits: &Limits,
) -> bool {
    let mut files = Files::new(program);
    Interpreter::new(program).run_observed(environment, limits, &mut files);
    files.read_back
}

fn parts(program: &Program) -> BTreeMap<FuncId, Part> {
    let functions = callable(program).into_iter().filter_map(|id| {
        let function = program.function(id);
        let part = part(&function.name).filter(|_| function.origin == Origin::Model)?;
        Some((id, part))
    });
    functions.collect()
}

/// The last part of a file's name; `None` if it is not known.
type Name = Option<Vec<u8>>;

/// Notes which files a run opens.
struct Files<'a> {
    program: &'a Program,
    parts: BTreeMap<FuncId, Part>,
    /// The variable that the standard input is known by.
    stdin: Option<VarId>,
    /// Whether there are descriptors that lead to what was written by another way than a name.
    unnamed: bool,
    /// The files that were written, or may have been.
    written: Vec<Name>,
    /// The files that can be read.
    readable: Vec<Name>,
    /// Whether some stream or descriptor can be written and read.
    both: bool,
    /// Whether the standard input is no longer what it was.
    redirected: bool,
    /// Whether the next reading or writing is one with somebody outside.
    outside: bool,
    read_back: bool,
}

impl<'a> Files<'a> {
    fn new(program: &'a Program) -> Files<'a> {
        let is_stdin = |id: &VarId| {
            let variable = program.variable(*id);
            variable.name == "stdin" && variable.kind == VarKind::Global
        };
        let undefined = program.assumptions.iter().any(|assumption| {
            matches!(assumption, Assumption::UndefinedFunction { name, .. }
                if DESCRIPTORS.contains(&name.as_str()))
        });
        let unnamed = undefined
            || callable(program).into_iter().any(|id| {
                let function = program.function(id);
                function.origin == Origin::Model && DESCRIPTORS.contains(&function.name.as_str())
            });
        Files {
            program,
            parts: parts(program),
            stdin: (0..program.variables.len() as u32)
                .map(VarId)
                .find(is_stdin),
            unnamed,
            written: Vec::new(),
            readable: Vec::new(),
            both: false,
            redirected: false,
            outside: false,
            read_back: false,
        }
    }

    /// What a parameter of the function that is entered holds.
    fn given(&self, function: FuncId, name: &str, state: &mut State<'_, '_>) -> Option<u64> {
        let mut formals = self.program.function(function).formals.iter();
        let formal = formals.find(|id| self.program.variable(**id).name == name)?;
        Some(state.variable(*formal)?.bits as u64)
    }

    /// The text that a parameter points to.
    fn text(&self, function: FuncId, name: &str, state: &mut State<'_, '_>) -> Option<Vec<u8>> {
        let mut at = self.given(function, name, state)?;
        let mut text = Vec::new();
        loop {
            match state.bytes(at, 1)? {
                [0] => return Some(text),
                byte => text.extend_from_slice(byte),
            }
            at += 1;
        }
    }

    /// The file that is meant, by the last part of its name.
    fn named(&self, function: FuncId, state: &mut State<'_, '_>) -> Name {
        let text = self.text(function, "name", state)?;
        text.rsplit(|&byte| byte == b'/').next().map(<[u8]>::to_vec)
    }

    fn open(&mut self, name: Name, reads: bool, writes: bool) {
        self.both |= reads && writes;
        if reads {
            self.readable.push(name.clone());
        }
        if writes {
            self.written.push(name);
        }
    }

    /// Whether a file that can be read may be one that was written.
    fn written_is_readable(&self) -> bool {
        let same = |(one, other): (&Name, &Name)| match (one, other) {
            (Some(one), Some(other)) => one == other,
            _ => true,
        };
        let mut pairs = self
            .written
            .iter()
            .flat_map(|one| self.readable.iter().map(move |other| (one, other)));
        self.both || pairs.any(same)
    }

    /// Whether the function that is entered reads the standard input, and that is what it was.
    fn reads_stdin(&self, function: FuncId, state: &mut State<'_, '_>) -> bool {
        let stdin = self.stdin.and_then(|id| state.variable(id));
        let standard = match self.given(function, "stream", state) {
            Some(stream) => stdin.is_some_and(|stdin| stdin.bits as u64 == stream),
            // What `pipe` and its like put into a descriptor is not known, and what was opened to
            // be written and read may have got the number of an input that was closed.
            None => self
                .given(function, "file", state)
                .is_none_or(|file| file == 0 && !self.unnamed && !self.both),
        };
        standard && !self.redirected
    }

    fn enter(&mut self, function: FuncId, part: Part, state: &mut State<'_, '_>) {
        match part {
            Part::Opens => {
                let mode = self.text(function, "mode", state).unwrap_or_default();
                let reads = matches!(mode.first(), None | Some(b'r')) || mode.contains(&b'+');
                let writes = mode.first() != Some(&b'r') || mode.contains(&b'+');
                let name = self.named(function, state);
                self.open(name, reads, writes);
                // Only `freopen` has a stream, which may be the standard input.
                self.redirected |= self.given(function, "stream", state).is_some() && reads;
            }
            Part::OpensByFlags => {
                let how = self.given(function, "flags", state).map(|flags| flags & 3);
                let name = self.named(function, state);
                self.open(name, !matches!(how, Some(1)), !matches!(how, Some(0)));
            }
            Part::Creates => {
                let name = self.named(function, state);
                self.open(name, false, true);
            }
            Part::Temporary => self.open(None, true, true),
            Part::Writes => {
                let outside = std::mem::take(&mut self.outside);
                self.both |= self.unnamed && !outside;
            }
            Part::GivesBack => {
                self.both = true;
                self.redirected = true;
            }
            Part::Redirects => {
                let changed = ["to", "file"].map(|name| self.given(function, name, state));
                self.redirected |= changed.contains(&Some(0));
            }
            Part::Outside => self.outside = true,
            Part::Reads => {
                let outside = std::mem::take(&mut self.outside);
                self.read_back |=
                    !outside && self.written_is_readable() && !self.reads_stdin(function, state);
            }
        }
    }
}

impl Observer for Files<'_> {
    fn edge(&mut self, edge: EdgeId, state: &mut State<'_, '_>) {
        let edge = &self.program.edges[edge.index()];
        let function = self.program.locations[edge.from.index()].function;
        if edge.from == self.program.function(function).entry
            && let Some(&part) = self.parts.get(&function)
        {
            self.enter(function, part, state);
        }
    }
}
