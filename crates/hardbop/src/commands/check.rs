//! `hardbop check`: decides the checks of a C program, each with its evidence.

use crate::c::{self, CProgram};
use crate::cli::{CheckArgs, EngineChoice, SearchArith};
use crate::commands;
use crate::commands::artifacts::{self, Known};
use crate::commands::results::{self, Paths};
use crate::console::{Console, Format};
use crate::failure::{Failure, Verdict};
use crate::limits;
use crate::progress::Progress;
use crate::project;
use crate::quiet::Stderr;
use crate::target::Target;
use hardbop_budget::Budget;
use hardbop_cegar::{Arithmetic, Cegar, Options};
use hardbop_cfront::points_to;
use hardbop_cfront::program::Program;
use hardbop_diagnostics::Diagnostic;
use hardbop_dpr::Dpr;
use hardbop_engine::{Engine, Event, Report, Task, Value};
use hardbop_houdini::{Conjuncts, Houdini};
use hardbop_leap::Leap;
use hardbop_portfolio::{Found, Listener, Plan, default_plan, timed};
use hardbop_report::results::Round;
use hardbop_report::terminal::Show;
use hardbop_unroll::{Runs, Unroll};
use std::path::Path;
use std::time::Duration;

/// The most rounds that are kept for a plot.
const MOST_ROUNDS: usize = 10_000;

/// How long invariants are looked for when they are asked for, before any proof will do.
const INVARIANTS_TIME: Duration = Duration::from_secs(20);

/// Decides every check.
pub fn run(arguments: &CheckArgs, console: &Console) -> Result<Verdict, Failure> {
    let budget = limits::budget(&arguments.limits)?;
    if arguments.input.files.is_empty() && arguments.input.compile_commands.is_none() {
        return match project::find(Path::new("."))? {
            Some(project) => commands::project::run(&project, &budget, console),
            None => Err(Failure::message(
                "no file is named, and there is no hardbop.toml here: give FILE.c, or begin a \
                 project with `hardbop init`",
            )),
        };
    }
    let target = Target::of(&arguments.input, arguments.property.as_deref())?;
    let adjust = |options: &mut _| target.adjust(options);
    let CProgram {
        program,
        warnings,
        files,
    } = c::program_with(&target.input, &arguments.rules, console, adjust)?;
    let points_to = points_to::analyse(&program);
    let checks = target.checks(&program);
    let task = Task {
        program: &program,
        points_to: &points_to,
        checks: &checks,
        budget: &budget,
    };
    let shown = Shown {
        arguments,
        console,
        target: &target,
        program: &program,
        warnings: &warnings,
        files: &files,
        budget: &budget,
    };
    let mut watch = Watch::new(&budget, console, Some(&shown));
    let mut plan = plan(arguments.engine, arguments.arith);
    if arguments.wants_invariants() {
        // Other proofs are found sooner, but say less.
        let cegar = Cegar(options(arguments.arith));
        let houdini = Houdini {
            conjuncts: Conjuncts::Needed,
            ..Houdini::default()
        };
        plan.first.insert(0, Box::new(houdini));
        plan.first.insert(0, timed(cegar, INVARIANTS_TIME));
    }
    if arguments.verbose {
        watch.log();
    }
    let found = hardbop_portfolio::check(&plan, &task, &mut watch);
    let rounds = watch.rounds();
    shown.conclude(&found, rounds)
}

/// Decides the checks of a task with all engines, while people see how far it is.
pub fn decide(task: &Task<'_>, arith: SearchArith, console: &Console) -> (Report, Vec<Round>) {
    let mut watch = Watch::new(task.budget, console, None);
    let plan = plan(EngineChoice::Auto, arith);
    let found = hardbop_portfolio::check(&plan, task, &mut watch);
    (found.report, watch.rounds())
}

fn options(arith: SearchArith) -> Options {
    Options {
        arithmetic: match arith {
            SearchArith::Auto => Arithmetic::Auto,
            SearchArith::Bits => Arithmetic::Bits,
        },
        ..Options::default()
    }
}

fn plan(engine: EngineChoice, arith: SearchArith) -> Plan {
    let options = options(arith);
    match engine {
        EngineChoice::Auto => default_plan(options),
        EngineChoice::Cegar => alone(Cegar(options)),
        EngineChoice::Dpr => alone(Dpr::default()),
        EngineChoice::Houdini => alone(Houdini::default()),
        EngineChoice::Leap => alone(Leap::default()),
        EngineChoice::Run => alone(Runs::default()),
        EngineChoice::Unroll => alone(Unroll::default()),
    }
}

/// One engine by itself.
fn alone(engine: impl Engine + 'static) -> Plan {
    Plan {
        first: vec![Box::new(engine)],
        lanes: Vec::new(),
        followers: Vec::new(),
    }
}

/// What the answers are shown with.
struct Shown<'a> {
    arguments: &'a CheckArgs,
    console: &'a Console,
    target: &'a Target,
    program: &'a Program,
    warnings: &'a [Diagnostic],
    files: &'a [String],
    budget: &'a Budget,
}

impl Shown<'_> {
    /// Shows the answers.
    fn conclude(&self, found: &Found, rounds: Vec<Round>) -> Result<Verdict, Failure> {
        let Shown {
            arguments,
            console,
            target,
            program,
            ..
        } = self;
        let report = &found.report;
        let paths = Paths::of(&arguments.runs);
        let seconds = self.budget.elapsed().as_secs_f64();
        let mut results = results::collect(program, report, paths, self.budget);
        results.rounds = rounds;
        for (check, id) in results.checks.iter_mut().zip(report.outcomes.keys()) {
            check.engine = found.engines.get(id).copied();
        }
        let verdict = results::verdict(&results);
        let judged = target.judge(verdict, &results);
        let known = Known {
            target,
            program,
            report,
            results: &results,
            seconds,
            budget: self.budget,
        };
        let made = artifacts::write(&arguments.artifacts, &known)?;
        match console.format() {
            Format::Text => {
                let show = Show {
                    path: None,
                    invariants: arguments.invariants,
                    predicates: arguments.show_predicates,
                    statistics: arguments.stats,
                };
                let mut text = results::text(&results, paths, show, console);
                text.extend(judged.iter().map(|judged| judged.text(console)));
                text.push_str(&made);
                console.text(&text)?;
            }
            Format::Json => {
                let body = results::body(&results, paths, judged);
                let body = body.with_files(self.files.to_vec());
                console.value(verdict, &program.sources, self.warnings, body)?;
            }
        }
        Ok(verdict)
    }
}

/// Shows progress, and the answers if an engine does not come back in time.
struct Watch<'a> {
    budget: &'a Budget,
    progress: Option<Progress>,
    /// Where each event is a line, if the user wants that.
    log: Option<&'a Stderr>,
    console: &'a Console,
    rounds: Vec<Round>,
    shown: Option<&'a Shown<'a>>,
}

impl<'a> Watch<'a> {
    fn new(budget: &'a Budget, console: &'a Console, shown: Option<&'a Shown<'a>>) -> Watch<'a> {
        Watch {
            budget,
            progress: Some(Progress::new(console)),
            log: None,
            console,
            rounds: Vec::new(),
            shown,
        }
    }

    /// From now on every event is a line on standard error, instead of one line that changes.
    fn log(&mut self) {
        self.progress = None;
        self.log = Some(self.console.stderr());
    }

    fn line(&self, engine: &str, what: &str) {
        if let Some(log) = self.log {
            let seconds = self.budget.elapsed().as_secs_f64();
            log.write(&format!("{seconds:8.3} s  {engine}: {what}\n"));
        }
    }

    /// How it went; progress is not shown any more.
    fn rounds(self) -> Vec<Round> {
        self.rounds
    }
}

impl Listener for Watch<'_> {
    fn started(&mut self, engine: &'static str) {
        self.line(engine, "starting");
    }

    fn ended(&mut self, engine: &'static str, decided: usize, open: usize) {
        let noun = if decided == 1 { "check" } else { "checks" };
        let what = format!("ended: decided {decided} {noun}, {open} open");
        self.line(engine, &what);
    }

    fn event(&mut self, engine: &'static str, event: Event) {
        self.line(engine, &event.to_string());
        if let Some(progress) = &self.progress {
            progress.say(event.to_string());
        }
        let predicates = event.figures.iter().find_map(|figure| match figure.value {
            Value::Count(count) if figure.name == "predicates" => Some(count as usize),
            _ => None,
        });
        let next = Round {
            seconds: self.budget.elapsed().as_secs_f64(),
            predicates: predicates.unwrap_or(0),
            open: event.open,
        };
        let same = |last: &Round| last.predicates == next.predicates && last.open == next.open;
        if !self.rounds.last().is_some_and(same) && self.rounds.len() < MOST_ROUNDS {
            self.rounds.push(next);
        }
    }

    #[allow(
        clippy::exit,
        reason = "the engine that is late would keep the process"
    )]
    fn late(&mut self, found: &Found) {
        let Some(shown) = self.shown else { return };
        self.progress = None;
        let code = match shown.conclude(found, std::mem::take(&mut self.rounds)) {
            Ok(verdict) => verdict.exit_code(),
            Err(failure) => shown.console.fail(&failure),
        };
        shown.console.stderr().close();
        std::process::exit(code.into());
    }
}
