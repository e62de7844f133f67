//! What `hardbop check` is to decide: a C program with all its checks, or what a task definition
//! or a property file of SV-COMP asks for.

use crate::c::UNDEFINED;
use crate::cli::{CInput, DataModelName};
use crate::console::Console;
use crate::failure::{Failure, Verdict};
use crate::input;
use hardbop_cfront::ids::CheckId;
use hardbop_cfront::options::{Failures, LeftShifts, LowerOptions};
use hardbop_cfront::program::{Check, CheckKind, Program};
use hardbop_diagnostics::Sources;
use hardbop_report::results::{self, Answer, DataModel, Results};
use hardbop_report::svcomp::{self, Goal, Property};
use serde::Serialize;
use std::path::{Path, PathBuf};

/// What no check sees of what the standard calls undefined.
const UNSEEN: &str = "nothing undefined happens of a kind that no check sees: writes to constants, \
    accesses by a wrong type, side effects without an order, wrong arguments of library functions";

/// What is to be decided.
pub struct Target {
    /// The C program, with what the task definition says of it.
    pub input: CInput,
    /// The properties; none where every check counts.
    properties: Vec<Property>,
    /// Whether they hold, where the task definition says it.
    expected: Option<bool>,
    /// Whether the question is if every execution ends, and nothing else.
    ends: bool,
}

/// A verdict in the words of SV-COMP.
#[derive(Serialize)]
pub struct Judged {
    /// `true`, `false(unreach-call)` or `unknown`.
    result: String,
    /// The verdict that the task definition expects.
    #[serde(skip_serializing_if = "Option::is_none")]
    expected: Option<bool>,
    #[serde(skip)]
    agrees: bool,
}

impl Judged {
    /// The line for people.
    pub fn text(&self, console: &Console) -> String {
        let result = &self.result;
        match self.expected {
            None => format!("result: {result}\n"),
            Some(expected) if self.agrees => format!("result: {result}, expected: {expected}\n"),
            Some(expected) => {
                let wrong = format!("result: {result}, but expected: {expected}");
                format!("{}\n", console.paint("31", &wrong))
            }
        }
    }
}

impl Target {
    /// What the user's arguments stand for.
    pub fn of(given: &CInput, property: Option<&Path>) -> Result<Target, Failure> {
        let mut target = Target {
            input: given.clone(),
            properties: Vec::new(),
            expected: None,
            ends: false,
        };
        let is_task = |path: &PathBuf| {
            let extension = path.extension().and_then(|extension| extension.to_str());
            matches!(extension, Some("yml" | "yaml"))
        };
        let mut property = property.map(Path::to_path_buf);
        if let Some(definition) = given.files.iter().find(|path| is_task(path)) {
            if given.files.len() > 1 {
                let name = definition.display();
                return Err(Failure::message(format!(
                    "`{name}` is a task definition and names its files itself: give nothing else"
                )));
            }
            target.task(definition, &mut property)?;
        }
        if let Some(path) = &property {
            target.property(path)?;
        }
        Ok(target)
    }

    /// The same, and the question is whether every execution ends.
    pub fn about_ends(self) -> Target {
        Target { ends: true, ..self }
    }

    /// Whether the question is if every execution ends.
    pub fn is_about_ends(&self) -> bool {
        self.ends
    }

    /// The same with a property as a witness names it: with or without `CHECK( init(...), ...)`.
    pub fn with_specification(given: &CInput, text: &str) -> Result<Target, Failure> {
        let mut target = Target::of(given, None)?;
        let text = text.trim();
        let whole = if text.starts_with("CHECK") {
            text.to_owned()
        } else {
            format!("CHECK( init({}()), LTL({text}) )", given.entry)
        };
        let mut sources = Sources::new();
        let file = sources.add("specification", whole);
        match svcomp::properties(file, sources.text(file)) {
            Ok(properties) => {
                if let Some(why) = properties.iter().find_map(refusal) {
                    return Err(Failure::message(why));
                }
                if properties.iter().any(|one| one.goal == Goal::Termination) {
                    return Err(Failure::message(
                        "witnesses about `termination` are not understood",
                    ));
                }
                if let Some(first) = properties.first() {
                    target.input.entry.clone_from(&first.entry);
                }
                target.properties = properties;
                Ok(target)
            }
            Err(_) => Err(Failure::message(format!(
                "the witness is about `{text}`, which is not understood: name the property with \
                 --property"
            ))),
        }
    }

    /// The property in the words of a property file.
    pub fn specification(&self, results: &Results) -> String {
        if let Some(first) = self.properties.first() {
            return first.text.clone();
        }
        let violated = |check: &&results::CheckResult| matches!(check.answer, Answer::Violated(_));
        let mut checks = results.checks.iter();
        let check = checks.find(violated).or(results.checks.first());
        let formula = match check.map(|check| (check.kind, check.message.split('`').nth(1))) {
            Some((CheckKind::Overflow, _)) => "G ! overflow".to_owned(),
            Some((CheckKind::Pointer | CheckKind::Bounds, _)) => "G valid-deref".to_owned(),
            Some((CheckKind::Free, _)) => "G valid-free".to_owned(),
            Some((CheckKind::Leak, _)) => "G valid-memtrack".to_owned(),
            Some((CheckKind::Cleanup, _)) => "G valid-memcleanup".to_owned(),
            Some((CheckKind::Termination, _)) => "F end".to_owned(),
            Some((CheckKind::ErrorCall, Some(name))) => format!("G ! call({name}())"),
            _ => "G ! call(reach_error())".to_owned(),
        };
        format!("CHECK( init({}()), LTL({formula}) )", self.input.entry)
    }

    fn task(&mut self, path: &Path, property: &mut Option<PathBuf>) -> Result<(), Failure> {
        let task = read(path, svcomp::task)?;
        let beside = |file: &str| path.parent().unwrap_or(Path::new("")).join(file);
        self.input.files = task.files.iter().map(|file| beside(file)).collect();
        if self.input.data_model.is_none() {
            self.input.data_model = task.data_model.map(|model| match model {
                DataModel::Ilp32 => DataModelName::Ilp32,
                DataModel::Lp64 => DataModelName::Lp64,
            });
        }
        let name = |file: &Path| file.file_name().map(std::ffi::OsStr::to_owned);
        let chosen = match property {
            Some(wanted) => {
                let wanted = name(wanted);
                let mut known = task.properties.iter();
                known.find(|known| name(Path::new(&known.file)) == wanted)
            }
            None => {
                // The one that this tool decides best, else the first one that it decides at all.
                let good = |file: &str| {
                    read(&beside(file), svcomp::properties)
                        .is_ok_and(|list| list.iter().all(|one| refusal(one).is_none()))
                };
                let mut known = task.properties.iter();
                let reach = known.find(|known| known.file.ends_with("unreach-call.prp"));
                reach
                    .or_else(|| task.properties.iter().find(|known| good(&known.file)))
                    .or(task.properties.first())
            }
        };
        if let Some(chosen) = chosen {
            self.expected = chosen.expected;
            if property.is_none() {
                *property = Some(beside(&chosen.file));
            }
        }
        Ok(())
    }

    fn property(&mut self, path: &Path) -> Result<(), Failure> {
        self.properties = read(path, svcomp::properties)?;
        for property in &self.properties {
            if let Some(why) = refusal(property) {
                let name = path.display();
                return Err(Failure::message(format!("`{name}`: {why}")));
            }
        }
        let about_ends = |property: &Property| property.goal == Goal::Termination;
        self.ends = self.properties.iter().any(about_ends);
        if self.ends && self.properties.len() > 1 {
            let name = path.display();
            return Err(Failure::message(format!(
                "`{name}`: the property `termination` is decided by itself, not beside others"
            )));
        }
        if let Some(first) = self.properties.first() {
            self.input.entry.clone_from(&first.entry);
        }
        Ok(())
    }

    /// Lowers what the properties ask for.
    pub fn adjust(&self, options: &mut LowerOptions) {
        if self.ends {
            options.checks.insert(CheckKind::Termination);
        }
        for property in &self.properties {
            match &property.goal {
                Goal::UnreachCall(function) => {
                    options.error_functions = [function.clone()].into();
                }
                Goal::UnreachLabel(label) => {
                    options.error_labels.insert(label.clone());
                }
                // What overflows has no meaning there, so an execution ends with it.
                Goal::NoOverflow | Goal::Termination => {
                    // What the user asked for himself, he gets.
                    if options.checks.insert(CheckKind::Overflow) {
                        options.left_shifts = LeftShifts::Move;
                    }
                }
                Goal::ValidDeref => {
                    options
                        .checks
                        .extend([CheckKind::Pointer, CheckKind::Bounds]);
                }
                Goal::ValidFree => {
                    options.checks.insert(CheckKind::Free);
                }
                Goal::ValidMemtrack => {
                    options.checks.insert(CheckKind::Leak);
                }
                Goal::ValidMemcleanup => {
                    options.checks.insert(CheckKind::Cleanup);
                }
                Goal::DefBehavior => {
                    options.checks.extend(UNDEFINED);
                    options.granted.push(UNSEEN.to_owned());
                }
                Goal::Other(_) => {}
            }
        }
        let about = |wanted: fn(&Goal) -> bool| {
            let mut properties = self.properties.iter();
            properties.any(|property| wanted(&property.goal))
        };
        // Where nobody asks whether it is reached, a failure is an end of the program.
        if about(|goal| matches!(goal, Goal::ValidMemcleanup | Goal::ValidMemtrack))
            && !about(|goal| matches!(goal, Goal::UnreachCall(_)))
        {
            options.failures = Failures::Ends;
        }
    }

    /// Whether the program has the error function that a property is about. One that it does not
    /// have is never called, which is no answer to what was meant if it calls the one that went by
    /// another name in other years.
    pub fn fits(&self, program: &Program) -> Result<(), Failure> {
        let has = |name: &str| {
            program
                .functions
                .iter()
                .any(|function| function.name == name)
        };
        for property in &self.properties {
            let Goal::UnreachCall(wanted) = &property.goal else {
                continue;
            };
            let other = ERROR_FUNCTIONS
                .into_iter()
                .find(|&name| name != wanted && has(name));
            if let Some(other) = other.filter(|_| !has(wanted)) {
                return Err(Failure::message(format!(
                    "the property is about calls of `{wanted}`, which the program does not have; \
                     it has `{other}`: ask for `G ! call({other}())`, or leave `--property` out"
                )));
            }
        }
        Ok(())
    }

    /// The checks that count: of a program beside a rule, those of the rule.
    pub fn checks(&self, program: &Program) -> Vec<CheckId> {
        let counts = |check: &Check| {
            if !program.rules.is_empty() {
                return check.kind == CheckKind::Rule;
            }
            if self.ends {
                return check.kind == CheckKind::Termination;
            }
            let asked = |property: &Property| asks_for(&property.goal, check);
            self.properties.is_empty() || self.properties.iter().any(asked)
        };
        (0..program.checks.len() as u32)
            .map(CheckId)
            .filter(|id| counts(&program.checks[id.index()]))
            .collect()
    }

    /// Whether the question is one that a single violation answers: a property, if nothing that is
    /// looked at for it can be violated without breaking it.
    pub fn is_answered_by_one(&self, program: &Program) -> bool {
        let Some(first) = self.properties.first() else {
            return false;
        };
        let asked = |check: &&Check| self.properties.iter().any(|p| asks_for(&p.goal, check));
        let mut asked = program.checks.iter().filter(asked);
        asked.all(|check| breaks(&first.goal, check.kind, &check.message))
    }

    /// The verdict in the words of SV-COMP, where a property was asked about.
    pub fn judge(&self, verdict: Verdict, results: &Results) -> Option<Judged> {
        let first = self.properties.first()?;
        let violated = results.checks.iter().find(|check| {
            matches!(check.answer, Answer::Violated(_))
                && breaks(&first.goal, check.kind, &check.message)
        });
        let result = match (verdict, violated) {
            (Verdict::Fine, _) => "true".to_owned(),
            (Verdict::Found, Some(check)) => {
                let mut properties = self.properties.iter();
                let found = properties.find(|p| p.goal.word() == word_of(check.kind));
                format!("false({})", found.unwrap_or(first).goal.word())
            }
            (Verdict::Unknown | Verdict::Bounded | Verdict::Found, _) => "unknown".to_owned(),
        };
        let agrees = match self.expected {
            Some(expected) if result == "true" => expected,
            Some(expected) if result != "unknown" => !expected,
            _ => true,
        };
        Some(Judged {
            result,
            expected: self.expected,
            agrees,
        })
    }
}

/// The word for a kind of check in `false(...)`.
fn word_of(kind: CheckKind) -> &'static str {
    match kind {
        CheckKind::ErrorLabel => "unreach-label",
        CheckKind::Overflow => "no-overflow",
        CheckKind::Pointer | CheckKind::Bounds => "valid-deref",
        CheckKind::Free => "valid-free",
        CheckKind::Leak => "valid-memtrack",
        CheckKind::Cleanup => "valid-memcleanup",
        CheckKind::Termination => "termination",
        _ => "unreach-call",
    }
}

fn asks_for(goal: &Goal, check: &Check) -> bool {
    match goal {
        Goal::UnreachCall(_) => check.kind == CheckKind::ErrorCall,
        Goal::UnreachLabel(_) => check.kind == CheckKind::ErrorLabel,
        Goal::NoOverflow => check.kind == CheckKind::Overflow,
        Goal::ValidDeref => matches!(check.kind, CheckKind::Pointer | CheckKind::Bounds),
        Goal::ValidFree => check.kind == CheckKind::Free,
        // What an execution loses that never ends is not seen at any end.
        Goal::ValidMemtrack => {
            matches!(check.kind, CheckKind::Leak | CheckKind::Termination)
        }
        Goal::ValidMemcleanup => check.kind == CheckKind::Cleanup,
        Goal::Termination => check.kind == CheckKind::Termination,
        Goal::DefBehavior => UNDEFINED.contains(&check.kind),
        Goal::Other(_) => false,
    }
}

/// Whether a violated check means that a property does not hold.
fn breaks(goal: &Goal, kind: CheckKind, message: &str) -> bool {
    match kind {
        // A shift by a wrong amount is undefined, but it is no overflow.
        CheckKind::Overflow => *goal == Goal::DefBehavior || message.starts_with("signed overflow"),
        _ => true,
    }
}

/// The names of SV-COMP's error function, then and now.
const ERROR_FUNCTIONS: [&str; 2] = ["reach_error", "__VERIFIER_error"];

/// Why a property cannot be decided.
fn refusal(property: &Property) -> Option<String> {
    match &property.goal {
        Goal::Other(name) => Some(format!(
            "the property `{name}` is not checked; calls, labels, overflows, `valid-deref`, \
             `valid-free`, `valid-memtrack`, `valid-memcleanup`, `def-behavior` and `termination` \
             are"
        )),
        _ => None,
    }
}

fn read<T>(
    path: &Path,
    parse: fn(hardbop_diagnostics::FileId, &str) -> Result<T, hardbop_diagnostics::Diagnostic>,
) -> Result<T, Failure> {
    let mut sources = Sources::new();
    let file = input::text(path, &mut sources)?;
    let parsed = parse(file, sources.text(file));
    parsed.map_err(|error| Failure::Input {
        sources,
        diagnostics: vec![error],
    })
}
