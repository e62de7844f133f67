//! Any SMT-LIB solver as a child process, behind the same interface.
//!
//! Commands go in on its standard input, one answer per command comes back. A solver that takes too
//! long or breaks the protocol is killed and started again for the next query, with all open levels
//! told again.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use hardbop_budget::Budget;
use rustc_hash::{FxHashMap, FxHashSet};

use super::z3::literal_value;
use super::{Answer, Limits, Solver, Unknown};
use crate::eval::FunctionValue;
use crate::float::FloatOperation;
use crate::parse::{Names, SExprs, read_term};
use crate::smtlib::{
    declare_constant, declare_function, define_float, floats_in, functions_in, smtlib_text,
};
use crate::term::{FuncId, Op, TermId, Terms};
use crate::value::Value;

/// How to start the solver: the caller decides which program, and with what arguments.
type Start = Box<dyn Fn() -> Command>;

/// A solver that runs as a process of its own.
pub struct SmtLibProcess {
    name: String,
    start: Start,
    running: Option<Running>,
    /// What was said at each open level; the first is the ground level.
    levels: Vec<Level>,
    assumed: Vec<(String, TermId)>,
    has_model: bool,
}

#[derive(Default)]
struct Level {
    text: String,
    declared: FxHashSet<TermId>,
    functions: FxHashSet<FuncId>,
    floats: FxHashSet<FloatOperation>,
    proxies: FxHashMap<TermId, String>,
}

struct Running {
    child: Child,
    input: ChildStdin,
    /// Whole answers: balanced parentheses, or one atom.
    answers: Receiver<String>,
}

/// How long a solver may take to tell the model or the core of an answer that it has given.
const AFTERWARDS: Limits = Limits {
    time: Some(Duration::from_secs(10)),
    steps: None,
};

impl SmtLibProcess {
    /// A solver by the command that starts it. The command must make it read SMT-LIB from its
    /// standard input and answer each command at once.
    pub fn new(name: &str, start: impl Fn() -> Command + 'static) -> SmtLibProcess {
        SmtLibProcess {
            name: name.to_owned(),
            start: Box::new(start),
            running: None,
            levels: vec![Level::default()],
            assumed: Vec::new(),
            has_model: false,
        }
    }

    fn top(&mut self) -> &mut Level {
        self.levels
            .last_mut()
            .expect("the ground level is never popped")
    }

    /// Says something that has no answer, now and after each restart.
    fn tell(&mut self, text: &str) {
        self.top().text.push_str(text);
        self.send(text);
    }

    fn send(&mut self, text: &str) {
        if let Some(running) = &mut self.running
            && running.input.write_all(text.as_bytes()).is_err()
        {
            self.stop();
        }
    }

    fn declare(&mut self, terms: &Terms, formula: TermId) {
        for operation in floats_in(terms, &[formula]) {
            let known = |level: &Level| level.floats.contains(&operation);
            if !self.levels.iter().any(known) {
                self.top().floats.insert(operation);
                self.tell(&define_float(operation));
            }
        }
        for function in functions_in(terms, &[formula]) {
            if !self
                .levels
                .iter()
                .any(|level| level.functions.contains(&function))
            {
                self.top().functions.insert(function);
                self.tell(&declare_function(terms, function));
            }
        }
        for constant in terms.free_constants(&[formula]) {
            if !self
                .levels
                .iter()
                .any(|level| level.declared.contains(&constant))
            {
                self.top().declared.insert(constant);
                self.tell(&declare_constant(terms, constant));
            }
        }
    }

    /// Whether everything in the term was declared to the solver.
    fn knows(&self, terms: &Terms, term: TermId) -> bool {
        let declared = |constant| {
            self.levels
                .iter()
                .any(|level| level.declared.contains(constant))
        };
        let defined = |operation| {
            self.levels
                .iter()
                .any(|level| level.floats.contains(operation))
        };
        terms.free_constants(&[term]).iter().all(declared)
            && floats_in(terms, &[term]).iter().all(defined)
    }

    fn assumption(&mut self, terms: &Terms, formula: TermId) -> String {
        if let Some(known) = self
            .levels
            .iter()
            .find_map(|level| level.proxies.get(&formula))
        {
            return known.clone();
        }
        self.declare(terms, formula);
        let atom = terms.negated(formula).unwrap_or(formula);
        let literal = if matches!(terms.op(atom), Op::Constant(_)) {
            smtlib_text(terms, formula)
        } else {
            let proxy = format!("%proxy{}", formula.index());
            self.tell(&format!(
                "(declare-fun {proxy} () Bool)\n(assert (=> {proxy} {}))\n",
                smtlib_text(terms, formula)
            ));
            proxy
        };
        self.top().proxies.insert(formula, literal.clone());
        literal
    }

    fn stop(&mut self) {
        if let Some(mut running) = self.running.take() {
            let _ = running.child.kill();
            let _ = running.child.wait();
        }
    }

    fn ensure_running(&mut self) -> Result<(), Unknown> {
        if self.running.is_some() {
            return Ok(());
        }
        let gave_up = |error: std::io::Error| Unknown::GaveUp(error.to_string());
        let mut child = (self.start)()
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .map_err(gave_up)?;
        let (Some(input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(Unknown::GaveUp(
                "the solver has no input or output".to_owned(),
            ));
        };
        let (sender, answers) = channel();
        std::thread::Builder::new()
            .name("solver output".to_owned())
            .spawn(move || {
                let mut answer = String::new();
                for line in BufReader::new(output).lines().map_while(Result::ok) {
                    answer.push_str(&line);
                    answer.push('\n');
                    if SExprs::read(&answer).is_ok() {
                        let whole = std::mem::take(&mut answer);
                        if !whole.trim().is_empty() && sender.send(whole).is_err() {
                            break;
                        }
                    }
                }
            })
            .map_err(gave_up)?;
        self.running = Some(Running {
            child,
            input,
            answers,
        });
        let mut text = String::from(
            "(set-option :print-success false)\n(set-option :produce-models true)\n\
             (set-option :produce-unsat-assumptions true)\n(set-logic ALL)\n",
        );
        for (at, level) in self.levels.iter().enumerate() {
            if at > 0 {
                text.push_str("(push 1)\n");
            }
            text.push_str(&level.text);
        }
        self.send(&text);
        Ok(())
    }

    fn answer(&mut self, limits: Limits, budget: &Budget) -> Result<String, Unknown> {
        let Some(running) = &mut self.running else {
            return Err(Unknown::GaveUp("the solver has ended".to_owned()));
        };
        if running.input.flush().is_err() {
            self.stop();
            return Err(Unknown::GaveUp("the solver does not listen".to_owned()));
        }
        let start = Instant::now();
        let mut wait = Duration::from_micros(200);
        let why = loop {
            match running.answers.recv_timeout(wait) {
                Ok(answer) => return Ok(answer),
                Err(RecvTimeoutError::Disconnected) => {
                    break Unknown::GaveUp("the solver has ended".to_owned());
                }
                Err(RecvTimeoutError::Timeout) => {}
            }
            if let Err(stopped) = budget.check() {
                break Unknown::Stopped(stopped);
            }
            if limits.time.is_some_and(|limit| start.elapsed() >= limit) {
                break Unknown::Time;
            }
            wait = (wait * 2).min(Duration::from_millis(10));
        };
        self.stop();
        Err(why)
    }
}

impl Solver for SmtLibProcess {
    fn name(&self) -> &str {
        &self.name
    }

    fn assert(&mut self, terms: &Terms, formula: TermId) {
        self.has_model = false;
        self.declare(terms, formula);
        let text = format!("(assert {})\n", smtlib_text(terms, formula));
        self.tell(&text);
    }

    fn push(&mut self) {
        self.levels.push(Level::default());
        self.send("(push 1)\n");
    }

    fn pop(&mut self) {
        if self.levels.len() > 1 {
            self.levels.pop();
            self.send("(pop 1)\n");
        }
    }

    fn check(
        &mut self,
        terms: &Terms,
        assumptions: &[TermId],
        limits: Limits,
        budget: &Budget,
    ) -> Answer {
        self.has_model = false;
        self.assumed.clear();
        if let Err(stopped) = budget.check() {
            return Answer::Unknown(Unknown::Stopped(stopped));
        }
        if let Err(why) = self.ensure_running() {
            return Answer::Unknown(why);
        }
        for &formula in assumptions {
            let literal = self.assumption(terms, formula);
            self.assumed.push((literal, formula));
        }
        let literals: Vec<&str> = self.assumed.iter().map(|(text, _)| text.as_str()).collect();
        let command = match literals.as_slice() {
            [] => "(check-sat)\n".to_owned(),
            literals => format!("(check-sat-assuming ({}))\n", literals.join(" ")),
        };
        self.send(&command);
        match self.answer(limits, budget) {
            Ok(answer) => match answer.trim() {
                "sat" => {
                    self.has_model = true;
                    Answer::Sat
                }
                "unsat" => Answer::Unsat,
                other => {
                    let other = other.to_owned();
                    // After an error the conversation is out of step.
                    if other != "unknown" {
                        self.stop();
                    }
                    Answer::Unknown(Unknown::GaveUp(other))
                }
            },
            Err(why) => Answer::Unknown(why),
        }
    }

    fn values(&mut self, terms: &mut Terms, of: &[TermId]) -> Vec<Option<Value>> {
        let mut values = vec![None; of.len()];
        if !self.has_model || of.is_empty() {
            return values;
        }
        for (at, &term) in of.iter().enumerate() {
            if !self.knows(terms, term) {
                // The solver never heard of it: any value will do.
                values[at] = Some(Value::default_of(terms, terms.sort(term)));
                continue;
            }
            self.send(&format!("(get-value ({}))\n", smtlib_text(terms, term)));
            let Ok(answer) = self.answer(AFTERWARDS, &Budget::unlimited()) else {
                break;
            };
            // ((term value))
            let Ok(read) = SExprs::read(&answer) else {
                continue;
            };
            let value = read.top.first().and_then(|&top| {
                let pair = read.list(top)?.first().copied()?;
                read.list(pair)?.get(1).copied()
            });
            let Some(value) = value else { continue };
            values[at] = read_term(terms, &Names::default(), &read, value)
                .ok()
                .and_then(|value| literal_value(terms, value));
        }
        values
    }

    fn function_value(&mut self, _terms: &mut Terms, _function: FuncId) -> Option<FunctionValue> {
        // SMT-LIB has no command for the table of one function.
        None
    }

    fn core(&mut self) -> Vec<TermId> {
        let all: Vec<TermId> = self.assumed.iter().map(|&(_, formula)| formula).collect();
        if all.is_empty() {
            return all;
        }
        self.send("(get-unsat-assumptions)\n");
        // A solver that was asked for a core may not know how: then all of them are one.
        let Ok(answer) = self.answer(AFTERWARDS, &Budget::unlimited()) else {
            return all;
        };
        let Ok(read) = SExprs::read(&answer) else {
            return all;
        };
        let Some(items) = read.top.first().and_then(|&top| read.list(top)) else {
            return all;
        };
        // Literals come back as atoms or as (not atom); compare them without regard to quotes.
        let plain = |text: &str| text.replace('|', "");
        let said: FxHashSet<String> = items
            .iter()
            .map(|&item| match (read.atom(item), read.list(item)) {
                (Some(atom), _) => quote_free(atom),
                (None, Some(&[_, atom])) => {
                    format!("(not {})", quote_free(read.atom(atom).unwrap_or_default()))
                }
                _ => String::new(),
            })
            .collect();
        self.assumed
            .iter()
            .filter(|(text, _)| said.contains(&plain(text)))
            .map(|&(_, formula)| formula)
            .collect()
    }
}

fn quote_free(name: &str) -> String {
    name.replace('|', "")
}

impl Drop for SmtLibProcess {
    fn drop(&mut self) {
        self.stop();
    }
}
