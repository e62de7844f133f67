//! `hardbop check`: decides the checks of a C program, each with its evidence.

use crate::c::{self, CProgram};
use crate::cli::{CheckArgs, EngineChoice, SearchArith};
use crate::commands::results::{self, Paths};
use crate::console::{Console, Format};
use crate::failure::{Failure, Verdict};
use crate::limits;
use crate::progress::Progress;
use hardbop_budget::Budget;
use hardbop_cegar::{Arithmetic, Cegar, Options};
use hardbop_cfront::ids::CheckId;
use hardbop_cfront::points_to;
use hardbop_cfront::program::Program;
use hardbop_diagnostics::Diagnostic;
use hardbop_dpr::Dpr;
use hardbop_engine::{Engine, Event, Task};
use hardbop_portfolio::{Found, Listener, Plan, default_plan};
use hardbop_report::terminal::Show;
use hardbop_unroll::{Runs, Unroll};

/// Decides every check.
pub fn run(arguments: &CheckArgs, console: &Console) -> Result<Verdict, Failure> {
    let budget = limits::budget(&arguments.limits)?;
    let CProgram { program, warnings } =
        c::program_with_rules(&arguments.input, &arguments.rules, console)?;
    let points_to = points_to::analyse(&program);
    let checks: Vec<CheckId> = (0..program.checks.len())
        .map(|i| CheckId(i as u32))
        .collect();
    let options = Options {
        arithmetic: match arguments.arith {
            SearchArith::Auto => Arithmetic::Auto,
            SearchArith::Bits => Arithmetic::Bits,
        },
        ..Options::default()
    };
    let shown = Shown {
        arguments,
        console,
        program: &program,
        warnings: &warnings,
        budget: &budget,
    };
    let task = Task {
        program: &program,
        points_to: &points_to,
        checks: &checks,
        budget: &budget,
    };
    let plan = match arguments.engine {
        EngineChoice::Auto => default_plan(options),
        EngineChoice::Cegar => alone(Cegar(options)),
        EngineChoice::Dpr => alone(Dpr::default()),
        EngineChoice::Run => alone(Runs::default()),
        EngineChoice::Unroll => alone(Unroll::default()),
    };
    let mut watch = Watch {
        shown: &shown,
        progress: Some(Progress::new(console)),
    };
    let found = hardbop_portfolio::check(&plan, &task, &mut watch);
    drop(watch);
    shown.conclude(&found)
}

/// What the answers are shown with.
struct Shown<'a> {
    arguments: &'a CheckArgs,
    console: &'a Console,
    program: &'a Program,
    warnings: &'a [Diagnostic],
    budget: &'a Budget,
}

impl Shown<'_> {
    /// Shows the answers.
    fn conclude(&self, found: &Found) -> Result<Verdict, Failure> {
        let Shown {
            arguments,
            console,
            program,
            ..
        } = self;
        let paths = Paths::of(&arguments.runs);
        let seconds = self.budget.elapsed().as_secs_f64();
        let results = results::collect(program, &found.report, paths, seconds);
        let verdict = results::verdict(&results);
        match console.format() {
            Format::Text => {
                let show = Show {
                    path: None,
                    invariants: arguments.invariants,
                    predicates: arguments.show_predicates,
                    statistics: arguments.stats,
                };
                console.text(&results::text(&results, paths, show, console))?;
            }
            Format::Json => {
                let body = results::body(&results, paths);
                console.value(verdict, &program.sources, self.warnings, body)?;
            }
        }
        Ok(verdict)
    }
}

/// Shows progress, and the answers if an engine does not come back in time.
struct Watch<'a> {
    shown: &'a Shown<'a>,
    progress: Option<Progress>,
}

impl Listener for Watch<'_> {
    fn event(&mut self, event: Event) {
        if let Some(progress) = &self.progress {
            progress.say(event.to_string());
        }
    }

    #[allow(
        clippy::exit,
        reason = "the engine that is late would keep the process"
    )]
    fn late(&mut self, found: &Found) {
        self.progress = None;
        let code = match self.shown.conclude(found) {
            Ok(verdict) => verdict.exit_code(),
            Err(failure) => self.shown.console.fail(&failure),
        };
        std::process::exit(code.into());
    }
}

/// One engine by itself.
fn alone(engine: impl Engine + Send + Sync + 'static) -> Plan {
    Plan {
        first: vec![Box::new(engine)],
        lanes: Vec::new(),
    }
}
