//! `hardbop bebop --interactive`: steps through a trace by commands from standard input.
//!
//! In come the report and lines of commands, out goes the step that each of them leads to. Input
//! that is no terminal is repeated behind the prompt, so that what comes out reads the same.

use super::answer::{Decision, ReplayedTrace, Report, TargetReport};
use super::text;
use crate::cli::BebopArgs;
use crate::console::{Console, Format};
use crate::failure::Failure;
use crate::input;
use crate::listing::Words;
use crate::targets;
use hardbop_bebop::{Leave, ProgramStep, Walk};
use hardbop_boolean_program::program::{VarId, VarKind};
use std::fmt::Write;
use std::io::{self, BufRead, IsTerminal};

const HELP: &str = "  i, into        the next step; a call leads into the procedure
  o, over        the next step; a call is one step (also an empty line)
  b, back        the step before; a call that returned is one step
  p, previous    the step before; a call that returned leads to the procedure's last step
  u, up          the call of this procedure
  out            behind the call of this procedure
  l, line N      the next step in line N
  s, start       the first step
  e, end         the last step
  w, where       the calls that are open here
  a, all         all steps of this procedure, with calls closed
  t, targets     what has a trace; with a number, go to the start of that trace
  h, help        this
  q, quit        the end
A value in parentheses is that of one execution; others along the same trace have the other one.
";

const PROMPT: &str = "> ";

/// A command of the user.
enum Command<'a> {
    Into,
    Over,
    Back,
    Previous,
    Up,
    Out,
    Line(&'a str),
    Start,
    End,
    Where,
    All,
    Targets(&'a str),
    Help,
    Quit,
}

/// Complains about what does not go together with commands from standard input.
pub fn refuse(arguments: &BebopArgs, console: &Console) -> Result<(), Failure> {
    if console.format() == Format::Json {
        return Err(Failure::message(
            "--interactive is for people: it does not go together with --json",
        ));
    }
    if input::is_stdin(&arguments.input.file) {
        return Err(Failure::message(
            "--interactive reads commands from standard input, so the program must be in a file",
        ));
    }
    Ok(())
}

/// Shows the answers, and obeys until the input ends.
pub fn run(words: &Words<'_>, report: &Report, console: &Console) -> Result<(), Failure> {
    let mut start = String::new();
    for target in &report.targets {
        text::answer_line(&mut start, words, target, console);
    }
    let mut session = match Session::new(words, report) {
        Some(session) => session,
        None => {
            start.push_str("there is no trace to step through\n");
            return console.text(&start);
        }
    };
    start.push('\n');
    session.enter(&mut start);
    start.push_str(PROMPT);
    console.text(&start)?;
    let echo = !io::stdin().is_terminal();
    for line in io::stdin().lock().lines() {
        let line =
            line.map_err(|error| Failure::message(format!("cannot read standard input: {error}")))?;
        let line = line.trim();
        let mut out = String::new();
        if echo {
            let _ = writeln!(out, "{line}");
        }
        match parse(line) {
            Ok(Command::Quit) => return console.text(&out),
            Ok(command) => session.obey(command, &mut out),
            Err(message) => {
                let _ = writeln!(out, "{message}; `help` lists the commands");
            }
        }
        out.push_str(PROMPT);
        console.text(&out)?;
    }
    console.text("\n")
}

fn parse(line: &str) -> Result<Command<'_>, String> {
    let (word, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    let rest = rest.trim();
    let command = match word {
        "i" | "into" => Command::Into,
        "" | "o" | "over" => Command::Over,
        "b" | "back" => Command::Back,
        "p" | "previous" => Command::Previous,
        "u" | "up" => Command::Up,
        "out" => Command::Out,
        "l" | "line" => return Ok(Command::Line(rest)),
        "s" | "start" => Command::Start,
        "e" | "end" => Command::End,
        "w" | "where" => Command::Where,
        "a" | "all" => Command::All,
        "t" | "targets" => return Ok(Command::Targets(rest)),
        "h" | "help" | "?" => Command::Help,
        "q" | "quit" | "exit" => Command::Quit,
        _ => return Err(format!("`{word}` is no command")),
    };
    match rest {
        "" => Ok(command),
        _ => Err(format!("`{word}` takes nothing behind it")),
    }
}

/// Where the user is.
struct Session<'a> {
    words: &'a Words<'a>,
    /// The targets with a trace.
    traced: Vec<(&'a TargetReport, &'a ReplayedTrace)>,
    /// Which of them is walked along.
    chosen: usize,
    walk: Walk,
    at: usize,
}

impl<'a> Session<'a> {
    fn new(words: &'a Words<'a>, report: &'a Report) -> Option<Session<'a>> {
        let traced = report
            .targets
            .iter()
            .filter_map(|target| match &target.decision {
                Decision::Reachable(Some(trace)) => Some((target, trace)),
                _ => None,
            });
        let traced: Vec<_> = traced.collect();
        let walk = Walk::new(&traced.first()?.1.trace.steps);
        Some(Session {
            words,
            traced,
            chosen: 0,
            walk,
            at: 0,
        })
    }

    fn steps(&self) -> &'a [ProgramStep] {
        &self.traced[self.chosen].1.trace.steps
    }

    /// Begins with the trace that is chosen.
    fn enter(&mut self, out: &mut String) {
        let (target, trace) = self.traced[self.chosen];
        let program = self.words.program();
        let name = targets::describe(program, &program.targets[target.position]);
        let count = trace.trace.steps.len();
        let _ = writeln!(
            out,
            "the trace to {name}, {count} steps with calls opened; `help` lists the commands"
        );
        self.walk = Walk::new(self.steps());
        self.at = 0;
        self.show(out);
    }

    fn obey(&mut self, command: Command<'_>, out: &mut String) {
        let walk = &self.walk;
        let (target, nowhere) = match command {
            Command::Into => {
                if matches!(self.steps()[self.at].leaves, Leave::Over(_)) {
                    out.push_str(
                        "the trace does not show the inside of this call; stepping over it\n",
                    );
                    self.say_summary(out);
                }
                (walk.next(self.at), "this is the end of the trace")
            }
            Command::Over => {
                self.say_summary(out);
                (walk.over(self.at), "this is the end of the trace")
            }
            Command::Back => (walk.back(self.at), "this is the start of the trace"),
            Command::Previous => (walk.previous(self.at), "this is the start of the trace"),
            Command::Up => (walk.up(self.at), "this is main, which nobody called"),
            Command::Out => (
                walk.out(self.at),
                match walk.up(self.at) {
                    None => "this is main, which nobody called",
                    Some(_) => "the trace ends before this procedure does",
                },
            ),
            Command::Start => (Some(0), ""),
            Command::End => (self.steps().len().checked_sub(1), ""),
            Command::Line(number) => match number.parse() {
                Ok(line) => (
                    self.next_on(line),
                    "no further step is in that line; `start` goes back",
                ),
                Err(_) => (None, "expected the number of a line behind `line`"),
            },
            Command::Where => return self.open_calls(out),
            Command::All => return self.all(out),
            Command::Targets(number) => return self.targets(number, out),
            Command::Help => return out.push_str(HELP),
            Command::Quit => return,
        };
        match target {
            Some(at) => {
                self.at = at;
                self.show(out);
            }
            None => {
                let _ = writeln!(out, "{nowhere}");
            }
        }
    }

    fn next_on(&self, line: u32) -> Option<usize> {
        let mut later = self.at + 1..self.steps().len();
        later.find(|&index| self.words.line(self.steps()[index].vertex) == line)
    }

    /// The step: how far it is, its procedure, line and statement, and the values before it.
    fn show(&self, out: &mut String) {
        let step = &self.steps()[self.at];
        let program = self.words.program();
        let procedure = program.vertices[step.vertex.index()].procedure;
        let name = &program.procedures[procedure.index()].name;
        let line = self.words.line(step.vertex);
        let statement = self.words.statement(step.vertex);
        let (number, count) = (self.at + 1, self.steps().len());
        let _ = writeln!(out, "{number}/{count}  {name}, line {line}: {statement}");
        let values = self.values(step, |_| true);
        if !values.is_empty() {
            let _ = writeln!(out, "    {values}");
        }
    }

    /// The values of some variables at a step; in parentheses those that could be others.
    fn values(&self, step: &ProgramStep, wanted: impl Fn(VarId) -> bool) -> String {
        let shown = step.state.iter().filter(|(variable, _)| wanted(*variable));
        let shown = shown.map(|&(variable, value)| {
            let name = match self.words.is_named(variable) {
                true => self.words.name(variable),
                false => format!("<{}>", self.words.name(variable)),
            };
            let value = format!("{name}={}", u8::from(value));
            match step.forced.iter().any(|&(forced, _)| forced == variable) {
                true => value,
                false => format!("({value})"),
            }
        });
        shown.collect::<Vec<_>>().join(" ")
    }

    /// For a call that is stepped over: the summary that takes its place, from the callee's inputs
    /// to what it leaves behind.
    fn say_summary(&self, out: &mut String) {
        let steps = self.steps();
        let program = self.words.program();
        let kind = |variable: VarId| program.variables[variable.index()].kind;
        let global = |variable| kind(variable) == VarKind::Global;
        let (callee, entry, exit) = match steps[self.at].leaves {
            Leave::Into(call) => {
                let Some(exit) = self.walk.exit_of(self.at) else {
                    out.push_str("the trace does not return from this call; stepping into it\n");
                    return;
                };
                let callee = program.callee(&program.edges[call.index()]);
                let input = |v| global(v) || matches!(kind(v), VarKind::Formal(_));
                let output = |v| global(v) || matches!(kind(v), VarKind::Return(_));
                let entry = self.values(&steps[self.at + 1], input);
                (callee, entry, self.values(&steps[exit], output))
            }
            Leave::Over(call) => {
                let callee = program.callee(&program.edges[call.index()]);
                let after = self.values(&steps[self.at + 1], global);
                (callee, self.values(&steps[self.at], global), after)
            }
            Leave::Along(_) | Leave::Return(_) | Leave::End => return,
        };
        if let Some(callee) = callee {
            let name = &program.procedures[callee.index()].name;
            let _ = writeln!(out, "    summary of {name}: {entry} -> {exit}");
        }
    }

    fn open_calls(&self, out: &mut String) {
        let mut calls = Vec::new();
        let mut at = Some(self.at);
        while let Some(index) = at {
            calls.push(index);
            at = self.walk.up(index);
        }
        for (depth, &index) in calls.iter().rev().enumerate() {
            self.one_line(index, depth, out);
        }
    }

    /// The steps of the activation that the user is in.
    fn all(&self, out: &mut String) {
        let mut at = self
            .walk
            .up(self.at)
            .map_or(Some(0), |call| self.walk.next(call));
        let depth = self.steps()[self.at].depth;
        while let Some(index) = at {
            if self.steps()[index].depth != depth {
                break;
            }
            self.one_line(index, 0, out);
            at = self.walk.over(index);
        }
    }

    fn one_line(&self, index: usize, depth: usize, out: &mut String) {
        let step = &self.steps()[index];
        let mark = if index == self.at { '*' } else { ' ' };
        let line = self.words.line(step.vertex);
        let statement = self.words.statement(step.vertex);
        let values = self.values(step, |_| true);
        let indent = "    ".repeat(depth.min(12));
        let row = format!(
            "{mark} {:>4}  {indent}line {line}: {statement}  {values}",
            index + 1
        );
        let _ = writeln!(out, "{}", row.trim_end());
    }

    fn targets(&mut self, number: &str, out: &mut String) {
        if number.is_empty() {
            let program = self.words.program();
            for (index, (target, _)) in self.traced.iter().enumerate() {
                let mark = if index == self.chosen { '*' } else { ' ' };
                let target = &program.targets[target.position];
                let place = self.words.place(target.span);
                let name = targets::describe(program, target);
                let _ = writeln!(out, "{mark} {:>4}  {place}: {name}", index + 1);
            }
            return;
        }
        match number.parse::<usize>() {
            Ok(wanted) if (1..=self.traced.len()).contains(&wanted) => {
                self.chosen = wanted - 1;
                self.enter(out);
            }
            _ => {
                let count = self.traced.len();
                let _ = writeln!(out, "expected a number from 1 to {count} behind `targets`");
            }
        }
    }
}
