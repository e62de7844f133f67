//! Abstract procedures to the text of a boolean program.
//!
//! Control flow is that of the C program: branches as `if (*) ... fi` up to where they meet again,
//! loops by `goto`; labels of the user stay. A check
//! that is violated at a location becomes a label `ERROR_n` there, a construct without a meaning
//! a label `UNSUPPORTED_n`: what was proved holds for the C program if none of the latter can be
//! reached.

use crate::abstraction::Options;
use crate::code::{Choose, EdgeCode, Procedure, Statement};
use crate::cube::{Cube, Dnf};
use crate::joins::joins;
use crate::predicate::{Analysed, PredicateId, Scope};
use crate::prover::CubeBound;
use crate::signature::Signature;
use hardbop_cfront::call_graph::calls_of;
use hardbop_cfront::ids::{EdgeId, FuncId, LocId};
use hardbop_cfront::program::{LocationKind, Op, Origin, Program, Source};
use hardbop_semantics::scalar::Arithmetic;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

/// The text and how it corresponds to the C program.
pub(crate) struct Printed {
    pub text: String,
    pub locations: BTreeMap<LocId, u32>,
    pub edges: BTreeMap<u32, EdgeId>,
    pub names: BTreeMap<FuncId, String>,
}

/// Longer statements are broken into several lines.
const WIDTH: usize = 100;

pub(crate) fn print(
    analysed: &Analysed,
    signatures: &BTreeMap<FuncId, Signature>,
    procedures: &[Procedure],
    initial: &[(u32, bool)],
    options: &Options,
) -> Printed {
    let entry = analysed.program.entry;
    let called = procedures
        .iter()
        .any(|p| calls_of(&analysed.program, p.function).any(|callee| callee == entry));
    let mut printer = Printer {
        analysed,
        signatures,
        names: procedure_names(&analysed.program, procedures, called),
        out: String::new(),
        line: 1,
        locations: BTreeMap::new(),
        edges: BTreeMap::new(),
    };
    printer.header(options);
    printer.globals(procedures);
    if called {
        // The entry is called from inside as well: static storage has its initial value only
        // before the first call.
        if let Some(entry) = procedures.iter().find(|p| p.function == entry) {
            printer.wrapper(entry, initial);
        }
    }
    for procedure in procedures {
        let start = (procedure.function == entry && !called).then_some(initial);
        printer.procedure(procedure, start.unwrap_or(&[]));
    }
    Printed {
        text: printer.out,
        locations: printer.locations,
        edges: printer.edges,
        names: printer.names,
    }
}

/// Words that a name of a boolean program cannot be.
const RESERVED: [&str; 36] = [
    "decl",
    "begin",
    "end",
    "void",
    "bool",
    "goto",
    "return",
    "skip",
    "if",
    "then",
    "else",
    "elsif",
    "fi",
    "while",
    "do",
    "od",
    "T",
    "F",
    "assert",
    "assume",
    "print",
    "constrain",
    "abortif",
    "enforce",
    "dead",
    "choose",
    "schoose",
    "sync",
    "start_thread",
    "end_thread",
    "atomic_begin",
    "atomic_end",
    "dfs",
    "thread_local",
    "main",
    "const",
];

fn identifier(name: &str, taken: &BTreeSet<String>) -> String {
    let mut clean: String = name
        .chars()
        .map(|c| {
            if c.is_ascii_alphanumeric() || c == '_' {
                c
            } else {
                '_'
            }
        })
        .collect();
    if clean.starts_with(|c: char| c.is_ascii_digit()) {
        clean.insert(0, '_');
    }
    while RESERVED.contains(&clean.as_str()) || taken.contains(&clean) {
        clean.push('_');
    }
    clean
}

fn procedure_names(
    program: &Program,
    procedures: &[Procedure],
    called: bool,
) -> BTreeMap<FuncId, String> {
    let mut taken = BTreeSet::new();
    let mut names = BTreeMap::new();
    for procedure in procedures {
        let own = &program.function(procedure.function).name;
        let name = match procedure.function == program.entry && !called {
            true => "main".to_owned(),
            false => identifier(own, &taken),
        };
        taken.insert(name.clone());
        names.insert(procedure.function, name);
    }
    names
}

struct Printer<'a> {
    analysed: &'a Analysed,
    signatures: &'a BTreeMap<FuncId, Signature>,
    names: BTreeMap<FuncId, String>,
    out: String,
    line: u32,
    locations: BTreeMap<LocId, u32>,
    edges: BTreeMap<u32, EdgeId>,
}

/// A piece of a procedure's body.
enum Piece {
    /// Control stands at this location here.
    At(LocId),
    /// A label, printed if something jumps to it or if it is the user's.
    Label(Label),
    Goto(Label),
    If,
    Elsif,
    Else,
    Fi,
    Statement {
        text: String,
        edge: Option<EdgeId>,
        comment: String,
    },
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Label {
    Location(LocId),
    Named(String),
}

impl Printer<'_> {
    fn emit(&mut self, text: &str) {
        self.out.push_str(text);
        self.out.push('\n');
        self.line += 1 + text.matches('\n').count() as u32;
    }

    fn header(&mut self, options: &Options) {
        let arithmetic = match options.arithmetic {
            Arithmetic::Bits => "machine integers, exactly",
            Arithmetic::Integers => "mathematical integers that do not overflow: a guess",
        };
        let bound = match options.max_cube {
            CubeBound::Length(bound) => format!("up to {bound} literals"),
            CubeBound::Exact => "of any length".to_owned(),
        };
        let program = &self.analysed.program;
        let source = program.function(program.entry).source;
        let file = self.file(source).to_owned();
        self.emit(&format!("// Predicate abstraction of {file}"));
        self.emit(&format!("// arithmetic: {arithmetic}; cubes {bound}"));
    }

    fn file(&self, source: Source) -> &str {
        self.analysed
            .program
            .presumed_files
            .get(source.file as usize)
            .map_or("the program", String::as_str)
    }

    fn name(&self, id: PredicateId) -> String {
        format!("{{{}}}", self.analysed.predicates[id.index()].text)
    }

    /// The temporary for a return predicate of a callee.
    fn temporary(&self, callee: FuncId, id: PredicateId) -> String {
        let function = &self.names[&callee];
        format!(
            "{{{function}: {}}}",
            self.analysed.predicates[id.index()].text
        )
    }

    fn globals(&mut self, procedures: &[Procedure]) {
        let global: Vec<PredicateId> = (0..self.analysed.predicates.len() as u32)
            .map(PredicateId)
            .filter(|id| self.analysed.predicates[id.index()].scope == Scope::Global)
            .collect();
        if global.is_empty() {
            return;
        }
        self.emit("");
        for &id in &global {
            let text = format!("decl {};", self.name(id));
            self.emit(&text);
        }
        // Every procedure finds the same cubes over the global predicates, which come first.
        let Some(first) = procedures.first() else {
            return;
        };
        let bound = global.len() as u32;
        let cubes: Vec<&Cube> = first
            .enforced
            .iter()
            .filter(|cube| cube.literals().iter().all(|&(at, _)| at < bound))
            .collect();
        if !cubes.is_empty() {
            let names: Vec<String> = global.iter().map(|&id| self.name(id)).collect();
            let text = format!("enforce {};", excluding(cubes.into_iter(), &names));
            self.emit(&text);
        }
    }

    fn wrapper(&mut self, entry: &Procedure, initial: &[(u32, bool)]) {
        self.emit("");
        self.emit("void main() begin");
        let names: Vec<String> = entry.visible.iter().map(|&id| self.name(id)).collect();
        let signature = &self.signatures[&entry.function];
        let mut arguments = vec!["*".to_owned(); signature.formals.len()];
        let (mut targets, mut values) = (Vec::new(), Vec::new());
        for &(position, value) in initial {
            let id = entry.visible[position as usize];
            let value = if value { "T" } else { "F" };
            match signature.formals.iter().position(|&formal| formal == id) {
                Some(index) => arguments[index] = value.to_owned(),
                None => {
                    targets.push(names[position as usize].clone());
                    values.push(value);
                }
            }
        }
        if !targets.is_empty() {
            let text = format!("  {} := {};", targets.join(", "), values.join(", "));
            self.emit(&text);
        }
        let results = match signature.returns.len() {
            0 => String::new(),
            count => format!("{} := ", vec!["_"; count].join(", ")),
        };
        let name = self.names[&entry.function].clone();
        self.emit(&format!("  {results}{name}({});", arguments.join(", ")));
        self.emit("end");
    }

    fn procedure(&mut self, procedure: &Procedure, initial: &[(u32, bool)]) {
        let program = &self.analysed.program;
        let function = program.function(procedure.function);
        let signature = &self.signatures[&procedure.function];
        let returns = match signature.returns.len() {
            0 => "void".to_owned(),
            1 => "bool".to_owned(),
            count => format!("bool<{count}>"),
        };
        let formals: Vec<String> = signature.formals.iter().map(|&id| self.name(id)).collect();
        let mut head = format!(
            "{returns} {}({}) begin",
            self.names[&procedure.function],
            formals.join(", ")
        );
        let origin = match function.origin {
            Origin::User => {
                format!(
                    "{} in {}:{}",
                    function.name,
                    self.file(function.source),
                    function.source.line
                )
            }
            Origin::Model => format!("{}: a model of the library function", function.name),
            Origin::Undefined => format!("{}: not defined, returns anything", function.name),
        };
        let _ = write!(head, "  // {origin}");
        self.emit("");
        self.emit(&head);
        for &id in &signature.locals {
            let text = format!("  decl {};", self.name(id));
            self.emit(&text);
        }
        for text in self.temporaries(procedure) {
            self.emit(&format!("  decl {text};"));
        }
        let names: Vec<String> = procedure.visible.iter().map(|&id| self.name(id)).collect();
        let own = |cube: &&Cube| {
            cube.literals().iter().any(|&(at, _)| {
                let id = procedure.visible[at as usize];
                self.analysed.predicates[id.index()].scope != Scope::Global
            })
        };
        let cubes: Vec<&Cube> = procedure.enforced.iter().filter(own).collect();
        if !cubes.is_empty() {
            let text = format!("  enforce {};", excluding(cubes.into_iter(), &names));
            self.emit(&text);
        }
        if !initial.is_empty() {
            let targets: Vec<&str> = initial
                .iter()
                .map(|&(at, _)| names[at as usize].as_str())
                .collect();
            let values: Vec<&str> = initial
                .iter()
                .map(|&(_, value)| if value { "T" } else { "F" })
                .collect();
            let text = format!(
                "  {} := {};  // static storage before the start",
                targets.join(", "),
                values.join(", ")
            );
            self.emit(&text);
        }
        let pieces = self.pieces(procedure, &names);
        self.body(pieces);
        self.emit("end");
    }

    /// The variables for return values of the procedure's calls, each once, in order.
    fn temporaries(&self, procedure: &Procedure) -> Vec<String> {
        let mut seen = BTreeSet::new();
        let mut out = Vec::new();
        let ways = procedure.edges.values().flat_map(|code| match code {
            EdgeCode::Statements(one) => std::slice::from_ref(one).to_vec(),
            EdgeCode::Choice(ways) => ways.clone(),
            _ => Vec::new(),
        });
        for statement in ways.flatten() {
            if let Statement::Call { callee, .. } = statement
                && seen.insert(callee)
            {
                for &id in &self.signatures[&callee].returns {
                    out.push(self.temporary(callee, id));
                }
            }
        }
        out
    }

    /// The statements of a procedure: branches inside each other up to where they meet again.
    fn pieces(&self, procedure: &Procedure, names: &[String]) -> Vec<Piece> {
        let program = &self.analysed.program;
        let function = program.function(procedure.function);
        let mut pieces = Vec::new();
        let mut done: BTreeSet<LocId> = BTreeSet::new();
        let joins = joins(program, procedure.function);
        // What is still to be written; code up to a stop falls through to what follows there.
        enum Work {
            From(LocId, Option<LocId>),
            Way(EdgeId, u32, Option<LocId>),
            Word(Piece),
        }
        let mut work = vec![Work::From(function.entry, None)];
        let mut errors = BTreeMap::new();
        let mut unsupported = 0;
        while let Some(item) = work.pop() {
            let (mut at, stop) = match item {
                Work::Word(piece) => {
                    pieces.push(piece);
                    continue;
                }
                Work::From(location, stop) => (location, stop),
                Work::Way(edge, index, stop) => {
                    self.way(&mut pieces, procedure, edge, index, names, &mut unsupported);
                    if let EdgeCode::Unsupported(_) = procedure.edges[&edge] {
                        continue;
                    }
                    (program.edges[edge.index()].to, stop)
                }
            };
            // Follow the chain as long as there is one way on.
            while Some(at) != stop {
                if !done.insert(at) {
                    pieces.push(Piece::Goto(Label::Location(at)));
                    break;
                }
                let location = &program.locations[at.index()];
                pieces.push(Piece::Label(Label::Location(at)));
                for label in &location.labels {
                    pieces.push(Piece::Label(Label::Named(label.clone())));
                }
                pieces.push(Piece::At(at));
                match location.kind {
                    LocationKind::Exit => {
                        let returned: Vec<String> = self.signatures[&procedure.function]
                            .returns
                            .iter()
                            .map(|&id| self.name(id))
                            .collect();
                        let text = match returned.is_empty() {
                            true => "return;".to_owned(),
                            false => format!("return {};", returned.join(", ")),
                        };
                        pieces.push(plain(text, None, String::new()));
                        break;
                    }
                    LocationKind::Error(check) => {
                        let count = errors.entry(check).or_insert(0);
                        *count += 1;
                        let label = match count {
                            1 => format!("ERROR_{}", check.0 + 1),
                            count => format!("ERROR_{}_{count}", check.0 + 1),
                        };
                        pieces.push(Piece::Label(Label::Named(label)));
                        let described = &program.checks[check.index()];
                        let comment = format!(
                            "{}: {}",
                            described.source.line,
                            one_line(&described.message)
                        );
                        pieces.push(plain("assume(F);".to_owned(), None, comment));
                        break;
                    }
                    LocationKind::Halt => {
                        pieces.push(plain("assume(F);".to_owned(), None, "ends here".to_owned()));
                        break;
                    }
                    LocationKind::Plain | LocationKind::LoopHead => {}
                }
                let edges: Vec<EdgeId> = program.edges_from(at).map(|(id, _)| id).collect();
                let mut ways: Vec<(EdgeId, u32)> = Vec::new();
                for &edge in &edges {
                    let count = match &procedure.edges[&edge] {
                        EdgeCode::Choice(ways) => ways.len() as u32,
                        _ => 1,
                    };
                    ways.extend((0..count).map(|index| (edge, index)));
                }
                match ways.as_slice() {
                    [] => {
                        pieces.push(plain("assume(F);".to_owned(), None, "no way on".to_owned()));
                        break;
                    }
                    [(edge, index)] => {
                        self.way(
                            &mut pieces,
                            procedure,
                            *edge,
                            *index,
                            names,
                            &mut unsupported,
                        );
                        if let EdgeCode::Unsupported(_) = procedure.edges[edge] {
                            break;
                        }
                        at = program.edges[edge.index()].to;
                    }
                    _ => {
                        let join = joins.get(&at).copied();
                        if let Some(join) = join {
                            work.push(Work::From(join, stop));
                        }
                        work.push(Work::Word(Piece::Fi));
                        let last = ways.len() - 1;
                        for (position, &(edge, index)) in ways.iter().enumerate().rev() {
                            work.push(Work::Way(edge, index, join));
                            work.push(Work::Word(match position {
                                0 => Piece::If,
                                _ if position == last => Piece::Else,
                                _ => Piece::Elsif,
                            }));
                        }
                        break;
                    }
                }
            }
        }
        pieces
    }

    /// The statements of one way along an edge.
    fn way(
        &self,
        pieces: &mut Vec<Piece>,
        procedure: &Procedure,
        edge: EdgeId,
        index: u32,
        names: &[String],
        unsupported: &mut u32,
    ) {
        let comment = self.comment(edge);
        let statements = match &procedure.edges[&edge] {
            EdgeCode::Nothing => return,
            EdgeCode::Skip => {
                pieces.push(plain("skip;".to_owned(), Some(edge), comment));
                return;
            }
            EdgeCode::Unsupported(construct) => {
                *unsupported += 1;
                pieces.push(Piece::Label(Label::Named(format!(
                    "UNSUPPORTED_{unsupported}"
                ))));
                let what = self.analysed.program.unsupported.get(*construct as usize);
                let what = what.map_or("not supported", |u| u.what.as_str());
                let comment = format!("{comment} ({})", one_line(what));
                pieces.push(plain("assume(F);".to_owned(), Some(edge), comment));
                return;
            }
            EdgeCode::Statements(statements) => statements,
            EdgeCode::Choice(ways) => &ways[index as usize],
        };
        let mut comment = comment;
        for statement in statements {
            let text = self.statement(statement, names);
            pieces.push(plain(text, Some(edge), std::mem::take(&mut comment)));
        }
    }

    fn statement(&self, statement: &Statement, names: &[String]) -> String {
        match statement {
            Statement::Exclude(dnf) => format!("assume({});", excluding(dnf.cubes.iter(), names)),
            Statement::Assign(assignments) => assign(assignments, names, names),
            Statement::Call { callee, arguments } => {
                let results: Vec<String> = self.signatures[callee]
                    .returns
                    .iter()
                    .map(|&id| self.temporary(*callee, id))
                    .collect();
                let arguments: Vec<String> = arguments
                    .iter()
                    .map(|argument| choose(argument, names))
                    .collect();
                let call = format!("{}({});", self.names[callee], arguments.join(", "));
                match results.is_empty() {
                    true => call,
                    false => format!("{} := {call}", results.join(", ")),
                }
            }
            Statement::Update {
                callee,
                assignments,
            } => {
                let mut read = names.to_vec();
                for &id in &self.signatures[callee].returns {
                    read.push(self.temporary(*callee, id));
                }
                assign(assignments, names, &read)
            }
        }
    }

    /// The C text of an edge with its line.
    fn comment(&self, edge: EdgeId) -> String {
        let program = &self.analysed.program;
        let edge = &program.edges[edge.index()];
        let text = one_line(program.sources.slice(edge.source.span));
        match edge.op {
            Op::Assume { holds: false, .. } => format!("{}: !({text})", edge.source.line),
            _ => format!("{}: {text}", edge.source.line),
        }
    }

    /// Prints pieces, without the labels that nobody needs.
    fn body(&mut self, pieces: Vec<Piece>) {
        let mut wanted: BTreeSet<Label> = BTreeSet::new();
        let mut taken: BTreeSet<String> = BTreeSet::new();
        for piece in &pieces {
            match piece {
                Piece::Goto(target) => {
                    wanted.insert(target.clone());
                }
                Piece::Label(Label::Named(name)) => {
                    wanted.insert(Label::Named(name.clone()));
                    taken.insert(name.clone());
                }
                _ => {}
            }
        }
        let mut names: BTreeMap<Label, String> = BTreeMap::new();
        let mut used = BTreeSet::new();
        let mut counter = 0;
        for piece in &pieces {
            if let Piece::Label(label) = piece
                && wanted.contains(label)
                && !names.contains_key(label)
            {
                let name = match label {
                    Label::Named(name) => identifier(name, &used),
                    _ => loop {
                        counter += 1;
                        let name = format!("L{counter}");
                        if !taken.contains(&name) {
                            break name;
                        }
                    },
                };
                used.insert(name.clone());
                names.insert(label.clone(), name);
            }
        }
        let mut marks: Vec<LocId> = Vec::new();
        let mut labels = String::new();
        let mut depth = 1;
        let mut empty = false;
        for piece in pieces {
            let (text, edge, comment) = match piece {
                Piece::At(location) => {
                    marks.push(location);
                    continue;
                }
                Piece::Label(label) => {
                    if let Some(name) = names.get(&label).filter(|_| wanted.contains(&label)) {
                        let _ = write!(labels, "{name}: ");
                    }
                    continue;
                }
                Piece::Elsif | Piece::Else | Piece::Fi => {
                    // What stands at the end of a branch needs a statement to stand at.
                    if empty || !marks.is_empty() || !labels.is_empty() {
                        self.line_of_code(&mut marks, &mut labels, depth, "skip;", None, "");
                    }
                    depth -= 1;
                    let word = match piece {
                        Piece::Elsif => "elsif (*) then",
                        Piece::Else => "else",
                        _ => "fi;",
                    };
                    self.emit(&format!("{}{word}", indent(depth)));
                    empty = !matches!(piece, Piece::Fi);
                    if empty {
                        depth += 1;
                    }
                    continue;
                }
                Piece::If => {
                    self.line_of_code(&mut marks, &mut labels, depth, "if (*) then", None, "");
                    depth += 1;
                    empty = true;
                    continue;
                }
                Piece::Goto(target) => (format!("goto {};", names[&target]), None, String::new()),
                Piece::Statement {
                    text,
                    edge,
                    comment,
                } => (text, edge, comment),
            };
            empty = false;
            self.line_of_code(&mut marks, &mut labels, depth, &text, edge, &comment);
        }
        if !marks.is_empty() || !labels.is_empty() {
            self.line_of_code(&mut marks, &mut labels, depth, "skip;", None, "");
        }
    }

    /// Writes a statement with the labels and locations that stand before it.
    fn line_of_code(
        &mut self,
        marks: &mut Vec<LocId>,
        labels: &mut String,
        depth: usize,
        text: &str,
        edge: Option<EdgeId>,
        comment: &str,
    ) {
        if !labels.is_empty() {
            self.emit(&format!("{}{}", indent(depth - 1), labels.trim_end()));
            labels.clear();
        }
        for location in marks.drain(..) {
            self.locations.insert(location, self.line);
        }
        if let Some(edge) = edge {
            self.edges.insert(self.line, edge);
        }
        let comment = match comment.is_empty() {
            true => String::new(),
            false => format!("  // {comment}"),
        };
        let margin = indent(depth);
        let text = text.replace('\n', &format!("\n{margin}"));
        // The comment goes to the first line, where a reader starts.
        let text = match text.split_once('\n') {
            Some((first, rest)) => format!("{margin}{first}{comment}\n{rest}"),
            None => format!("{margin}{text}{comment}"),
        };
        self.emit(&text);
    }
}

/// Deeper blocks are not indented further: the text would grow with the square of the depth.
fn indent(depth: usize) -> String {
    "  ".repeat(depth.min(40))
}

fn plain(text: String, edge: Option<EdgeId>, comment: String) -> Piece {
    Piece::Statement {
        text,
        edge,
        comment,
    }
}

/// The first line of a text, not too long.
fn one_line(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    let line = words.join(" ");
    if line.chars().count() <= 60 {
        return line;
    }
    let cut: String = line.chars().take(57).collect();
    format!("{cut}...")
}

fn literal(at: u32, sign: bool, names: &[String]) -> String {
    match sign {
        true => names[at as usize].clone(),
        false => format!("!{}", names[at as usize]),
    }
}

/// A disjunction of cubes.
fn dnf(dnf: &Dnf, names: &[String]) -> String {
    if dnf.is_always() {
        return "T".to_owned();
    }
    if dnf.is_never() {
        return "F".to_owned();
    }
    let cubes: Vec<String> = dnf
        .cubes
        .iter()
        .map(|cube| {
            let literals: Vec<String> = cube
                .literals()
                .iter()
                .map(|&(at, sign)| literal(at, sign, names))
                .collect();
            match (literals.len(), dnf.cubes.len()) {
                (1, _) | (_, 1) => literals.join(" & "),
                _ => format!("({})", literals.join(" & ")),
            }
        })
        .collect();
    cubes.join(" | ")
}

/// That none of the cubes holds: a conjunction of clauses.
fn excluding<'c>(cubes: impl Iterator<Item = &'c Cube>, names: &[String]) -> String {
    let clauses: Vec<Vec<String>> = cubes
        .map(|cube| {
            cube.literals()
                .iter()
                .map(|&(at, sign)| literal(at, !sign, names))
                .collect()
        })
        .collect();
    if clauses.iter().any(Vec::is_empty) {
        return "F".to_owned();
    }
    let alone = clauses.len() == 1;
    let clauses: Vec<String> = clauses
        .into_iter()
        .map(|clause| match clause.len() == 1 || alone {
            true => clause.join(" | "),
            false => format!("({})", clause.join(" | ")),
        })
        .collect();
    if clauses.is_empty() {
        "T".to_owned()
    } else {
        clauses.join(" & ")
    }
}

fn choose(value: &Choose, names: &[String]) -> String {
    let Choose { positive, negative } = value;
    if positive.is_always() || negative.is_always() || positive.is_negated_literal(negative) {
        return dnf(positive, names);
    }
    if positive.is_never() && negative.is_never() {
        return "*".to_owned();
    }
    format!("choose({}, {})", dnf(positive, names), dnf(negative, names))
}

fn assign(assignments: &[(u32, Choose)], targets: &[String], names: &[String]) -> String {
    let left: Vec<&str> = assignments
        .iter()
        .map(|&(at, _)| targets[at as usize].as_str())
        .collect();
    let right: Vec<String> = assignments
        .iter()
        .map(|(_, value)| choose(value, names))
        .collect();
    let line = format!("{} := {};", left.join(", "), right.join(", "));
    if line.len() <= WIDTH {
        return line;
    }
    format!("{} :=\n  {};", left.join(", "), right.join(",\n  "))
}
