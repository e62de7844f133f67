//! `hardbop explain`: why the shortest path to a check can or cannot be run.

use crate::c::{self, CProgram};
use crate::cli::{ArithName, ExplainArgs};
use crate::commands::shown::{Heading, Input, place};
use crate::console::{Console, Format};
use crate::failure::{Failure, Verdict};
use crate::limits;
use crate::reading;
use hardbop_cfront::dump::op_text;
use hardbop_cfront::ids::{CheckId, LocId};
use hardbop_cfront::points_to;
use hardbop_cfront::program::{LocationKind, Op, Program};
use hardbop_logic::{Session, Terms, Value, Z3Options, Z3Solver};
use hardbop_newton::annotate::{
    Context, EntryKind, EntryState, Explainer, Explanation, Feasible, Infeasible,
};
use hardbop_newton::shortest::{NoPath, shortest_path};
use hardbop_newton::statements::{Origin, Statements, statements};
use hardbop_report::collect::assumptions;
use hardbop_semantics::path::PathStep;
use hardbop_semantics::{Encoding, FreshOrigin, Overflow, Semantics};
use serde::Serialize;
use std::collections::BTreeSet;
use std::fmt::Write as _;

#[derive(Serialize)]
struct Body {
    arith: &'static str,
    checks: Vec<Explained>,
    assumptions: Vec<String>,
}

#[derive(Serialize)]
struct Explained {
    #[serde(flatten)]
    heading: Heading,
    path: Answer,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    steps: Vec<Step>,
    #[serde(skip_serializing_if = "Option::is_none")]
    context: Option<Tables>,
    /// The conditions that contradict each other.
    #[serde(skip_serializing_if = "Option::is_none")]
    core: Option<Vec<Condition>>,
    /// The symbolic constants that the core speaks of.
    #[serde(skip_serializing_if = "Option::is_none")]
    annotations: Option<Vec<Entry>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    projection: Option<Projection>,
    #[serde(skip_serializing_if = "Option::is_none")]
    inputs: Option<Vec<Input>>,
}

/// What is known of the shortest path.
#[derive(Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum Answer {
    Infeasible,
    Feasible,
    /// The reading of the program is not exact along the path: a model need not be a run.
    Plausible,
    Unknown,
}

#[derive(Serialize)]
struct Step {
    number: usize,
    file: String,
    line: u32,
    statement: String,
}

#[derive(Serialize)]
struct Tables {
    entries: Vec<Entry>,
    conditions: Vec<Condition>,
}

#[derive(Clone, Serialize)]
struct Entry {
    number: usize,
    step: usize,
    variable: String,
    value: String,
    depends_on: Vec<usize>,
    /// `assigned` or `symbolic`.
    kind: &'static str,
    /// `store`, `history` or `forgotten`.
    state: &'static str,
}

#[derive(Clone, Serialize)]
struct Condition {
    step: usize,
    formula: String,
    depends_on: Vec<usize>,
}

#[derive(Serialize)]
struct Projection {
    steps: Vec<usize>,
    #[serde(flatten)]
    tables: Tables,
}

/// Longer formulas are cut where people read.
const LONGEST: usize = 160;

/// Explains.
pub fn run(arguments: &ExplainArgs, console: &Console) -> Result<Verdict, Failure> {
    let budget = limits::budget(&arguments.limits)?;
    let CProgram {
        program,
        points_to,
        warnings,
        ..
    } = c::program(&arguments.input, console)?;
    let points_to = match points_to {
        Some(points_to) => points_to,
        None => points_to::analyse(&program, &reading::budget())?,
    };
    let encoding = match arguments.arith {
        ArithName::Exact => Encoding::Bits,
        ArithName::Int => Encoding::Integers {
            overflow: Overflow::Ignored,
        },
    };
    let semantics = Semantics::new(&program, &points_to, encoding);
    let mut session = Session::new(Box::new(Z3Solver::new(Z3Options::default())), budget);
    let mut checks = Vec::new();
    for id in wanted(&program, &arguments.check_line)? {
        checks.push(explained(&semantics, &mut session, id));
    }
    let verdict = if checks.iter().any(|check| check.path == Answer::Unknown) {
        Verdict::Unknown
    } else {
        Verdict::Fine
    };
    let body = Body {
        arith: match arguments.arith {
            ArithName::Exact => "exact",
            ArithName::Int => "int",
        },
        checks,
        assumptions: assumptions(&program),
    };
    match console.format() {
        Format::Text => console.text(&text(arguments, &body))?,
        Format::Json => console.value(verdict, &program.sources, &warnings, body)?,
    }
    Ok(verdict)
}

/// The checks that the user asks for.
fn wanted(program: &Program, lines: &[u32]) -> Result<Vec<CheckId>, Failure> {
    let line = |id: &CheckId| program.checks[id.index()].source.line;
    let all = (0..program.checks.len() as u32).map(CheckId);
    if lines.is_empty() {
        return Ok(all.collect());
    }
    for wanted in lines {
        if !all.clone().any(|id| line(&id) == *wanted) {
            return Err(Failure::message(format!(
                "there is no check at line {wanted}"
            )));
        }
    }
    Ok(all.filter(|id| lines.contains(&line(id))).collect())
}

fn explained(semantics: &Semantics<'_>, session: &mut Session<'_>, id: CheckId) -> Explained {
    let program = semantics.program;
    let mut explained = Explained {
        heading: Heading::of(program, id),
        path: Answer::Unknown,
        reason: None,
        steps: Vec::new(),
        context: None,
        core: None,
        annotations: None,
        projection: None,
        inputs: None,
    };
    // A check may be violated at several locations: the shortest path leads to one of them.
    let errors = (0..program.locations.len() as u32)
        .map(LocId)
        .filter(|at| program.locations[at.index()].kind == LocationKind::Error(id));
    let paths: Vec<_> = errors.map(|at| shortest_path(program, at)).collect();
    let shortest = paths.iter().flatten().min_by_key(|path| path.len());
    let Some(steps) = shortest else {
        let long = paths.iter().any(|path| matches!(path, Err(NoPath::Long)));
        explained.reason = Some(if long {
            "the shortest path to it is too long".to_owned()
        } else if program.unsupported.is_empty() {
            explained.path = Answer::Infeasible;
            "no path of the control-flow graph leads to it".to_owned()
        } else {
            "only constructs that are not supported may lead to it".to_owned()
        });
        return explained;
    };
    let mut terms = Terms::new();
    let path = match statements(semantics, &mut terms, steps) {
        Ok(path) => path,
        Err(unmodelled) => {
            explained.reason = Some(format!("the path leads through {unmodelled}"));
            return explained;
        }
    };
    explained.steps = described(semantics, steps, &path);
    let words = Words {
        terms: &mut terms,
        path: &path,
    };
    words.fill(semantics, session, &mut explained);
    explained
}

/// The statements of a path for people.
fn described(semantics: &Semantics<'_>, steps: &[PathStep], path: &Statements) -> Vec<Step> {
    let program = semantics.program;
    // The calls that steps leave, in the order of the steps.
    let mut open = Vec::new();
    let mut texts = Vec::new();
    for step in steps {
        texts.push(match *step {
            PathStep::Edge(edge) => {
                let edge = &program.edges[edge.index()];
                (edge.source, op_text(program, &edge.op))
            }
            PathStep::Enter(call, callee) => {
                open.push((call, callee));
                let edge = &program.edges[call.index()];
                (edge.source, op_text(program, &edge.op))
            }
            PathStep::Leave => match open.pop() {
                Some((call, callee)) => {
                    let name = &program.function(callee).name;
                    let source = program.edges[call.index()].source;
                    (source, format!("return from {name}"))
                }
                None => {
                    let source = program.function(program.entry).source;
                    (source, "return".to_owned())
                }
            },
        });
    }
    let statement = |(index, statement): (usize, &hardbop_newton::statements::Statement)| {
        let (source, text) = match statement.origin {
            Origin::Step(step) => texts[step].clone(),
            Origin::Start => {
                let written = statement.writes.keys().next();
                let variable = written
                    .and_then(|instance| semantics.layout.get(instance.variable).variable)
                    .map(|variable| program.variable(variable).source);
                let source = variable.unwrap_or(program.function(program.entry).source);
                (source, "the program starts".to_owned())
            }
        };
        let (file, line) = place(program, source);
        Step {
            number: index + 1,
            file,
            line,
            statement: text,
        }
    };
    path.list.iter().enumerate().map(statement).collect()
}

/// Puts what Newton finds into words.
struct Words<'a> {
    terms: &'a mut Terms,
    path: &'a Statements,
}

impl Words<'_> {
    fn fill(self, semantics: &Semantics<'_>, session: &mut Session<'_>, explained: &mut Explained) {
        let mut explainer = Explainer { semantics, session };
        match explainer.explain(self.terms, self.path) {
            Explanation::Unknown(why) => explained.reason = Some(why.to_string()),
            Explanation::Infeasible(why) => self.infeasible(explained, &why),
            Explanation::Feasible(how) => self.feasible(semantics, explained, &how),
        }
    }

    fn infeasible(&self, explained: &mut Explained, why: &Infeasible) {
        explained.path = Answer::Infeasible;
        // What comes after the contradiction is not simulated.
        explained.steps.truncate(why.length);
        let tables = self.tables(&why.context);
        let core = why.core.iter().map(|&at| tables.conditions[at].clone());
        explained.core = Some(core.collect());
        let support = why.context.support(&why.core).into_iter();
        explained.annotations = Some(
            support
                .filter(|&at| why.context.entries[at].kind == EntryKind::Symbolic)
                .map(|at| tables.entries[at].clone())
                .collect(),
        );
        explained.context = Some(tables);
        explained.projection = Some(Projection {
            steps: why.projection.kept.iter().map(|at| at + 1).collect(),
            tables: self.tables(&why.projection.context),
        });
    }

    fn feasible(&self, semantics: &Semantics<'_>, explained: &mut Explained, how: &Feasible) {
        let program = semantics.program;
        explained.path = if self.path.exact && semantics.encoding == Encoding::Bits {
            Answer::Feasible
        } else {
            Answer::Plausible
        };
        explained.context = Some(self.tables(&how.context));
        let mut inputs = Vec::new();
        for (_, fresh, value) in &how.values {
            let FreshOrigin::Input(edge) = fresh.origin else {
                continue;
            };
            let edge = &program.edges[edge.index()];
            let Op::Input { place: to, name } = &edge.op else {
                continue;
            };
            let signed = program.types.is_signed(program.place(*to).ty);
            let value = match value {
                Some(Value::BitVec(bits)) if signed => bits.signed().to_string(),
                Some(Value::BitVec(bits)) => bits.unsigned().to_string(),
                Some(value) => value.to_string(),
                None => "anything".to_owned(),
            };
            let (file, line) = place(program, edge.source);
            inputs.push(Input {
                function: name.clone(),
                file,
                line,
                value,
            });
        }
        explained.inputs = Some(inputs);
    }

    fn tables(&self, context: &Context) -> Tables {
        let numbers = |set: &BTreeSet<usize>| set.iter().map(|at| at + 1).collect();
        let entries = context.entries.iter().enumerate();
        Tables {
            entries: entries
                .map(|(at, entry)| Entry {
                    number: at + 1,
                    step: entry.statement + 1,
                    variable: self.path.name(entry.instance).to_owned(),
                    value: self.terms.infix(entry.value).to_string(),
                    depends_on: numbers(&entry.dependencies),
                    kind: match entry.kind {
                        EntryKind::Assigned => "assigned",
                        EntryKind::Symbolic => "symbolic",
                    },
                    state: match entry.state {
                        EntryState::Store => "store",
                        EntryState::History => "history",
                        EntryState::Forgotten => "forgotten",
                    },
                })
                .collect(),
            conditions: context
                .conditions
                .iter()
                .map(|condition| Condition {
                    step: condition.statement + 1,
                    formula: self.terms.infix(condition.formula).to_string(),
                    depends_on: numbers(&condition.dependencies),
                })
                .collect(),
        }
    }
}

fn text(arguments: &ExplainArgs, body: &Body) -> String {
    let mut text = String::new();
    if body.checks.is_empty() {
        text.push_str("nothing to explain: the program has no assertion and no error call\n");
    }
    let reading = match arguments.arith {
        ArithName::Exact => "",
        ArithName::Int => " over the integers",
    };
    for check in &body.checks {
        let Heading {
            file,
            line,
            message,
            function,
        } = &check.heading;
        let _ = writeln!(text, "{file}:{line}: {message} (in {function})");
        if let Some(reason) = &check.reason {
            let _ = writeln!(text, "  {reason}");
            continue;
        }
        let answer = match check.path {
            Answer::Infeasible => "cannot be run",
            Answer::Feasible => "can be run",
            Answer::Plausible => "can be run, as far as this reading of the program tells",
            Answer::Unknown => "may or may not be run",
        };
        let _ = writeln!(text, "  the shortest path to it {answer}{reading}:");
        if let Some(context) = &check.context {
            steps_text(&mut text, check, context, |_| true);
        }
        for input in check.inputs.iter().flatten() {
            let Input {
                function,
                file,
                line,
                value,
            } = input;
            let _ = writeln!(text, "  with {file}:{line}: input {function}() = {value}");
        }
        if let Some(core) = &check.core {
            let _ = writeln!(text, "  these conditions contradict each other:");
            for condition in core {
                let formula = cut(&condition.formula);
                let _ = writeln!(text, "    [{}] {formula}", condition.step);
            }
        }
        if let Some(annotations) = &check.annotations
            && !annotations.is_empty()
        {
            let _ = writeln!(text, "  whatever these values are:");
            for entry in annotations {
                let Entry {
                    step,
                    variable,
                    value,
                    ..
                } = entry;
                let _ = writeln!(text, "    before [{step}] {variable} = {value}");
            }
        }
        if let Some(projection) = &check.projection {
            let _ = writeln!(text, "  these statements alone cannot be run either:");
            let kept = |number: usize| projection.steps.contains(&number);
            steps_text(&mut text, check, &projection.tables, kept);
        }
    }
    for assumption in &body.assumptions {
        let _ = writeln!(text, "assuming that {assumption}");
    }
    text
}

/// Statements, each with the values and conditions that it adds.
fn steps_text(
    text: &mut String,
    check: &Explained,
    tables: &Tables,
    is_shown: impl Fn(usize) -> bool,
) {
    for step in check.steps.iter().filter(|step| is_shown(step.number)) {
        let Step {
            number,
            file,
            line,
            statement,
        } = step;
        let _ = writeln!(text, "    [{number}] {file}:{line}: {}", cut(statement));
        let at = *number;
        let here = || tables.entries.iter().filter(move |entry| entry.step == at);
        for entry in here().filter(|entry| entry.kind == "symbolic") {
            entry_text(text, entry);
        }
        for condition in tables
            .conditions
            .iter()
            .filter(|condition| condition.step == at)
        {
            let formula = cut(&condition.formula);
            let _ = writeln!(text, "        {formula}{}", needs(&condition.depends_on));
        }
        for entry in here().filter(|entry| entry.kind == "assigned") {
            entry_text(text, entry);
        }
    }
}

fn entry_text(text: &mut String, entry: &Entry) {
    let state = match entry.state {
        "store" => "",
        "history" => ", replaced later",
        _ => ", forgotten later",
    };
    let needs = needs(&entry.depends_on);
    let Entry {
        number, variable, ..
    } = entry;
    let value = cut(&entry.value);
    let _ = writeln!(text, "        {number}. {variable} = {value}{needs}{state}");
}

/// What something depends on, as the papers write it.
fn needs(numbers: &[usize]) -> String {
    if numbers.is_empty() {
        return String::new();
    }
    let numbers: Vec<String> = numbers.iter().map(usize::to_string).collect();
    format!(" ({})", numbers.join(","))
}

fn cut(text: &str) -> String {
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text.to_owned(),
    }
}
