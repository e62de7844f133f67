//! `hardbop check`: decides the checks of a C program, each with its evidence.

use crate::c::{self, Files, Part, Parts};
use crate::cli::{CheckArgs, EngineChoice, SearchArith, Share};
use crate::commands;
use crate::commands::artifacts::{self, Known};
use crate::commands::boolean_view;
use crate::commands::contradiction::{self, Claims};
use crate::commands::depth::{self, Deeper};
use crate::commands::each;
use crate::commands::engines::{encodings, part, plan};
use crate::commands::lines::Lines;
use crate::commands::passes::{self, Passed};
use crate::commands::results::{self, Paths};
use crate::console::{Console, Format};
use crate::failure::{Failure, Verdict};
use crate::guard;
use crate::limits;
use crate::outputs;
use crate::progress::Progress;
use crate::project;
use crate::quiet::Stderr;
use crate::reading;
use crate::target::Target;
use hardbop_budget::{Budget, Stopped};
use hardbop_cfront::ids::CheckId;
use hardbop_cfront::points_to::{self, PointsTo};
use hardbop_cfront::program::Program;
use hardbop_diagnostics::{Diagnostic, Sources};
use hardbop_dpr::Dpr;
use hardbop_engine::{Event, Reason, Task, Value};
use hardbop_gate::{Outcome, Report};
use hardbop_model::passes::{Pass, USUAL, slice};
use hardbop_model::{Model, Prepared};
use hardbop_portfolio::{Found, Listener, Plan, Until, readable, termination_plan};
use hardbop_report::annotations::annotations;
use hardbop_report::join::join;
use hardbop_report::results::Round;
use hardbop_report::terminal::{Listing, Show};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The most rounds that are kept for a plot.
const MOST_ROUNDS: usize = 10_000;

/// Decides every check.
pub fn run(arguments: &CheckArgs, console: &Console) -> Result<Verdict, Failure> {
    if arguments.is_about_a_project() {
        return match project::find(Path::new("."))? {
            Some(project) => {
                if let Some(option) = arguments.about_files.first() {
                    return Err(Failure::message(format!(
                        "{option} is about files: name one; for the project, hardbop.toml says it"
                    )));
                }
                let budget = limits::budget(&arguments.limits)?;
                commands::project::run(&project, &arguments.project, &budget, console)
            }
            None => Err(Failure::message(
                "no file is named, and there is no hardbop.toml here: give FILE.c, or begin a \
                 project with `hardbop init`",
            )),
        };
    }
    if let Some(option) = arguments.project.given() {
        return Err(Failure::message(format!(
            "{option} is about projects: name no file, and begin one with `hardbop init`"
        )));
    }
    if arguments.each {
        return each::run(arguments, console);
    }
    let target = Target::of(&arguments.input, arguments.property.as_deref())?;
    decide_target(arguments, &target, console)
}

/// Decides every check of a target.
pub fn decide_target(
    arguments: &CheckArgs,
    target: &Target,
    console: &Console,
) -> Result<Verdict, Failure> {
    let budget = limits::budget(&arguments.limits)?;
    let named = arguments.input.files.iter().chain(&target.input.files);
    let named = named.chain(&arguments.property);
    let named = named.chain(&arguments.input.compile_commands);
    let rules = arguments.rules.rules.iter().map(Path::new);
    let named = named.map(PathBuf::as_path).chain(rules);
    outputs::check(&arguments.artifacts, named)?;
    let adjust = |options: &mut _| target.adjust(options);
    let Parts {
        parts,
        sources,
        warnings,
        files,
    } = c::parts(&target.input, &arguments.rules, console, adjust)?;
    for part in &parts {
        target.fits(&part.program)?;
    }
    outputs::apart(&arguments.artifacts, files.read.iter().map(Path::new))?;
    let shown = Shown {
        arguments,
        first: arguments.first || is_one_question(arguments, target, &parts),
        console,
        target,
        jobs: jobs(target, &parts, arguments.group),
        sources: &sources,
        warnings: &warnings,
        files: &files,
        budget: &budget,
    };
    let mut watch = Watch {
        ended: Ended::Shown(&shown),
        ..Watch::new(&budget, console)
    };
    let mut plan = match (arguments.engine, target.is_about_ends()) {
        (EngineChoice::Auto, true) => termination_plan(),
        (engine, _) => match part(arguments)? {
            Some(part) => Plan::alone(Dpr(part)),
            None => plan(engine, arguments.arith),
        },
    };
    if arguments
        .without
        .iter()
        .any(|pass| pass == slice::PASS.name)
    {
        plan.first
            .retain(|engine| engine.name() != slice::PASS.name);
    }
    if let Some(shows) = arguments.shown_proofs().filter(|_| !target.is_about_ends()) {
        plan.proofs = readable(encodings(arguments.arith), shows);
    }
    if shown.first {
        plan.until = Until::FirstViolation;
    }
    if arguments.verbose {
        watch.log();
    }
    for (index, job) in shown.jobs.iter().enumerate() {
        if index > 0 && (budget.check().is_err() || shown.is_enough(&watch.done)) {
            // What is known of the others is told; of this one nothing is.
            break;
        }
        let prepared = match prepared(job.program, job.points_to, &arguments.without) {
            Ok(prepared) => prepared,
            Err(stopped) if index == 0 => return Err(stopped.into()),
            // There are answers already, which the end of a limit must not take along.
            Err(_) => break,
        };
        if arguments.stats {
            let inlined = &prepared.derived.program;
            watch.passed.push(Passed::inlining(job.program, inlined));
        }
        let model = Model::new(job.program, &prepared);
        let share = share(&budget, shown.jobs.len() - index);
        let searching = match arguments.depth {
            Some(_) => depth::searching(&share),
            None => share.clone(),
        };
        let task = Task {
            model: &model,
            checks: &job.checks,
            budget: &searching,
        };
        watch.begin(job);
        let engines = depth::Engines::of(arguments.engine);
        let mut found = match arguments.depth.is_some() && !engines.look_without_depth(&model) {
            true => hardbop_portfolio::check(&depth::nobody(), &task, &mut watch),
            false => hardbop_portfolio::check(&plan, &task, &mut watch),
        };
        if let Some(wanted) = arguments.depth.filter(|_| !shown.is_enough([&found])) {
            let deeper = Deeper {
                model: &model,
                without: &arguments.without,
                wanted,
                engines,
                until: plan.until,
                budget: &share,
            };
            deeper.look(&mut found, &mut watch);
        }
        watch.done.push(found);
    }
    let (done, rounds, passed) = watch.finish();
    let done: Vec<&Found> = done.iter().collect();
    shown.conclude(&done, rounds, &passed)
}

/// Whether one violation answers all that is asked: so it is with a property, unless the user wants
/// to know of every check.
fn is_one_question(arguments: &CheckArgs, target: &Target, parts: &[Part]) -> bool {
    let enough = |part: &Part| target.is_answered_by_one(&part.program);
    !arguments.input.all && parts.iter().all(enough)
}

/// Prepares a program, of which it may be known where its pointers point, by the usual passes
/// without some.
pub fn prepared(
    program: &Program,
    points_to: Option<&PointsTo>,
    without: &[String],
) -> Result<Prepared, Stopped> {
    let budget = reading::budget();
    let wanted = |pass: &&Pass| without.iter().all(|name| name != pass.name);
    let passes: Vec<Pass> = USUAL.iter().filter(wanted).copied().collect();
    let points_to = match points_to {
        Some(points_to) => points_to.clone(),
        None => points_to::analyse(program, &budget)?,
    };
    Prepared::after(&passes, program, points_to, &budget)
}

/// A program with the checks of it that are to be decided.
struct Job<'a> {
    program: &'a Program,
    points_to: Option<&'a PointsTo>,
    rule: Option<&'a str>,
    checks: Vec<CheckId>,
}

/// What is to be decided, one program after the other: all checks, or a group of each program's.
fn jobs<'a>(target: &Target, parts: &'a [Part], group: Option<Share>) -> Vec<Job<'a>> {
    let mut jobs: Vec<Job<'a>> = parts
        .iter()
        .map(|part| Job {
            program: &part.program,
            points_to: part.points_to.as_ref(),
            rule: part.rule.as_deref(),
            checks: target.checks(&part.program),
        })
        .collect();
    // Beside rules the program needs no checks of its own; a rule that has nothing to look at
    // has been warned about.
    if jobs.iter().any(|job| !job.checks.is_empty()) {
        jobs.retain(|job| !job.checks.is_empty());
    } else {
        jobs.truncate(1);
    }
    if let Some(group) = group {
        for job in &mut jobs {
            job.checks = group.of(std::mem::take(&mut job.checks));
        }
    }
    jobs
}

/// A fair part of what is left of the time, if so many are still to come.
fn share(budget: &Budget, left: usize) -> Budget {
    let child = budget.child();
    match budget.remaining() {
        Some(remaining) if left > 1 => {
            let part = remaining / u32::try_from(left).unwrap_or(u32::MAX);
            let until = budget.elapsed() + part;
            child.with_time(until)
        }
        _ => child,
    }
}

/// Decides the checks of a task with all engines, while people see how far it is. If time is over
/// and an engine does not come back, `late` is told what is known, and gives the exit code.
pub fn decide(
    task: &Task<'_>,
    arith: SearchArith,
    console: &Console,
    late: &dyn Fn(&Found) -> u8,
) -> Found {
    let mut watch = Watch {
        ended: Ended::Told(late),
        ..Watch::new(task.budget, console)
    };
    let plan = plan(EngineChoice::Auto, arith);
    hardbop_portfolio::check(&plan, task, &mut watch)
}

/// What the answers are shown with.
struct Shown<'a> {
    arguments: &'a CheckArgs,
    /// Whether the first violation is enough.
    first: bool,
    console: &'a Console,
    target: &'a Target,
    jobs: Vec<Job<'a>>,
    sources: &'a Sources,
    warnings: &'a [Diagnostic],
    files: &'a Files,
    budget: &'a Budget,
}

impl Shown<'_> {
    /// Shows the answers. Where there is no report on a program, nobody came to look at it.
    fn conclude(
        &self,
        done: &[&Found],
        rounds: Vec<Round>,
        passed: &[Passed],
    ) -> Result<Verdict, Failure> {
        let Shown {
            arguments,
            console,
            target,
            ..
        } = self;
        let missing: Vec<Found> = self.jobs[done.len()..]
            .iter()
            .map(|job| self.unseen(job))
            .collect();
        let done: Vec<&Found> = done.iter().copied().chain(&missing).collect();
        let programs = self.jobs.iter().map(|job| job.program);
        let parts: Vec<(&Program, &Found)> = programs.zip(done.iter().copied()).collect();
        let paths = Paths::of(&arguments.runs);
        let seconds = self.budget.elapsed().as_secs_f64();
        let collected = parts.iter().map(|(program, found)| {
            let mut results = results::collect(program, found, paths, self.budget);
            for (check, id) in results.checks.iter_mut().zip(found.report.outcomes.keys()) {
                check.engine = found.engines.get(id).copied();
            }
            results
        });
        let mut results = join(collected.collect());
        let reports: Vec<&Report> = done.iter().map(|done| &done.report).collect();
        results::statistics(&mut results, &reports, self.budget);
        results.statistics.extend(passes::figure(passed));
        results.rounds = rounds;
        if arguments.artifacts.html.is_some() {
            results.boolean_programs = boolean_view::of(&parts);
        }
        let claims: Vec<Claims<'_>> = parts
            .iter()
            .map(|&(program, found)| Claims { program, found })
            .collect();
        let contradiction = contradiction::told(&claims, &self.files.read, self.budget, console);
        let verdict = match contradiction {
            // What cannot be trusted is not half trusted.
            Some(_) => Verdict::Unknown,
            None => results::verdict(&results),
        };
        let judged = target.judge(verdict, &results);
        let known = Known {
            target,
            parts: &parts,
            without: &arguments.without,
            results: &results,
            seconds,
            budget: self.budget,
        };
        // A verdict is worth more than a report: it is printed whatever happens to those.
        let (made, lost) = artifacts::write(&arguments.artifacts, &known);
        match console.format() {
            Format::Text => {
                let show = Show {
                    listing: match arguments.list {
                        true => Listing::Whole,
                        false => Listing::Short,
                    },
                    path: None,
                    invariants: arguments.invariants,
                    predicates: arguments.show_predicates,
                    statistics: arguments.stats,
                };
                let mut text = results::text(&results, paths, show, console);
                text.extend(judged.iter().map(|judged| judged.text(console)));
                text.push_str(&made);
                if arguments.github {
                    text.push_str(&annotations(&results));
                }
                console.text(&text)?;
            }
            Format::Json => {
                let body = results::body(&results, paths, judged);
                let body = body
                    .with_files(self.files.clone())
                    .with_contradiction(contradiction.clone());
                console.value(verdict, self.sources, self.warnings, body)?;
            }
        }
        if let Some(contradiction) = contradiction {
            console.internal(&contradiction);
        }
        if !lost.is_empty() {
            for failure in &lost {
                console.complain(failure);
            }
            return Err(Failure::Told);
        }
        Ok(verdict)
    }

    /// Whether a violation was found and the user wants no more than one.
    fn is_enough<'f>(&self, done: impl IntoIterator<Item = &'f Found>) -> bool {
        let violated = |found: &Found| {
            let mut outcomes = found.report.outcomes.values();
            outcomes.any(|outcome| matches!(outcome, Outcome::Violated(_)))
        };
        self.first && done.into_iter().any(violated)
    }

    /// The report on a program for which there was no time, or of which nobody wants to know.
    fn unseen(&self, job: &Job<'_>) -> Found {
        let reason = match self.budget.check() {
            Ok(()) if self.first => Reason::First,
            ended => Reason::Stopped(ended.err().unwrap_or(Stopped::Time)),
        };
        let unknown = |&check: &CheckId| (check, Outcome::Unknown(reason.clone()));
        let report = Report {
            outcomes: job.checks.iter().map(unknown).collect(),
            incomplete: Some(reason.clone()),
            ..Report::default()
        };
        Found::of(report)
    }
}

/// A check as the first line of an answer names it.
fn headline(program: &Program, check: CheckId) -> String {
    let check = &program.checks[check.index()];
    let file = program.presumed_files.get(check.source.file as usize);
    format!(
        "{}:{}: {} (in {})",
        file.map_or("", String::as_str),
        check.source.line,
        check.message,
        program.function(check.function).name
    )
}

/// Shows progress, and the answers if an engine does not come back in time.
struct Watch<'a> {
    budget: &'a Budget,
    progress: Option<Progress>,
    /// Where events are lines, if the user wants that.
    log: Option<&'a Stderr>,
    /// How many lines each engine has written.
    lines: BTreeMap<&'static str, Lines>,
    console: &'a Console,
    rounds: Vec<Round>,
    /// What passes did, if the user wants to know.
    passed: Vec<Passed>,
    ended: Ended<'a>,
    /// What was found out about the programs that are done with.
    done: Vec<Found>,
    /// The rule that is beside the program now.
    rule: Option<&'a str>,
}

/// What is done with what is known when an engine does not come back in time.
enum Ended<'a> {
    /// There is nobody to tell: it is waited for.
    Waited,
    /// It is shown.
    Shown(&'a Shown<'a>),
    /// It is told.
    Told(&'a dyn Fn(&Found) -> u8),
}

impl<'a> Watch<'a> {
    fn new(budget: &'a Budget, console: &'a Console) -> Watch<'a> {
        Watch {
            budget,
            progress: Some(Progress::new(console)),
            log: None,
            lines: BTreeMap::new(),
            console,
            rounds: Vec::new(),
            passed: Vec::new(),
            ended: Ended::Waited,
            done: Vec::new(),
            rule: None,
        }
    }

    /// From now on events are lines on standard error, instead of one line that changes.
    fn log(&mut self) {
        self.progress = None;
        self.log = Some(self.console.stderr());
    }

    /// From now on it is about another program.
    fn begin(&mut self, job: &Job<'a>) {
        self.rule = job.rule;
        if let Some(rule) = job.rule {
            self.line("rule", rule);
        }
    }

    fn line(&self, engine: &str, what: &str) {
        if let Some(log) = self.log {
            let seconds = self.budget.elapsed().as_secs_f64();
            log.write(&format!("{seconds:8.3} s  {engine}: {what}\n"));
        }
    }

    /// What was found out, how it went, and what passes did; progress is not shown any more.
    fn finish(self) -> (Vec<Found>, Vec<Round>, Vec<Passed>) {
        (self.done, self.rounds, self.passed)
    }
}

impl Listener for Watch<'_> {
    fn started(&mut self, engine: &'static str) {
        self.line(engine, "starting");
    }

    fn decided(&mut self, engine: &'static str, check: CheckId, outcome: &Outcome) {
        let (Ended::Shown(shown), Outcome::Violated(_)) = (&self.ended, outcome) else {
            return;
        };
        let Some(job) = shown.jobs.get(self.done.len()) else {
            return;
        };
        let text = format!("VIOLATED {}", headline(job.program, check));
        self.line(engine, &text);
        if let Some(progress) = &self.progress {
            progress.keep(text);
        }
    }

    fn ended(&mut self, engine: &'static str, decided: usize, open: usize) {
        let noun = if decided == 1 { "check" } else { "checks" };
        let what = format!("ended: decided {decided} {noun}, {open} open");
        self.line(engine, &what);
    }

    fn event(&mut self, engine: &'static str, event: Event) {
        // The first one is there if the user wants to know.
        if !self.passed.is_empty() {
            self.passed.extend(Passed::slicing(&event));
        }
        if self.log.is_some() {
            let lines = self.lines.entry(engine).or_default();
            match lines.next(self.budget.elapsed()) {
                Some(0) => self.line(engine, &event.to_string()),
                Some(folded) => self.line(engine, &format!("{event} ({folded} events before)")),
                None => {}
            }
        }
        if let Some(progress) = &self.progress {
            let rule = self.rule.map(|rule| format!("rule {rule}: "));
            progress.say(format!("{}{event}", rule.unwrap_or_default()));
        }
        if self.rounds.len() >= MOST_ROUNDS {
            return;
        }
        let counts = event
            .figures
            .iter()
            .filter_map(|figure| match figure.value {
                Value::Count(count) => Some((figure.name.to_owned(), count)),
                _ => None,
            });
        self.rounds.push(Round {
            seconds: self.budget.elapsed().as_secs_f64(),
            engine: engine.to_owned(),
            rule: self.rule.map(str::to_owned),
            doing: event.doing.to_string(),
            counts: counts.collect(),
            open: event.open,
        });
    }

    /// The engine that is late would keep the process.
    fn late(&mut self, found: &Found) {
        let code = match self.ended {
            Ended::Waited => return,
            Ended::Told(tell) => {
                self.progress = None;
                tell(found)
            }
            Ended::Shown(shown) => {
                let last = self.done.len() + 1 == shown.jobs.len() || shown.is_enough([found]);
                let deeper = shown.arguments.depth.is_some() && depth::is_open(found);
                if (!last || deeper) && self.budget.check().is_ok() {
                    // Only this program's part of the time is over: there is time to wait.
                    return;
                }
                self.progress = None;
                let done: Vec<&Found> = self.done.iter().chain([found]).collect();
                let rounds = std::mem::take(&mut self.rounds);
                match shown.conclude(&done, rounds, &self.passed) {
                    Ok(verdict) => verdict.exit_code(),
                    Err(failure) => shown.console.fail(&failure),
                }
            }
        };
        self.console.stderr().close();
        guard::leave(code);
    }
}
