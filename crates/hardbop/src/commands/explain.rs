//! `hardbop explain`: why the shortest path to a check can or cannot be run; with `--loop`, why the
//! paths cannot that the SLAM loop meets.

mod rounds;
mod text;

use crate::c::{self, CProgram};
use crate::cli::{ArithName, ExplainArgs};
use crate::commands::shown::{Heading, Input, place};
use crate::console::{Console, Format};
use crate::failure::{Failure, Verdict};
use crate::limits;
use crate::reading;
use hardbop_budget::Budget;
use hardbop_cfront::dump::op_text;
use hardbop_cfront::ids::{CheckId, LocId};
use hardbop_cfront::points_to;
use hardbop_cfront::program::{LocationKind, Op, PlaceKind, Program, VarKind};
use hardbop_logic::{Session, TermId, Terms, Value, Z3Options, Z3Solver};
use hardbop_newton::annotate::{
    Context, EntryKind, EntryState, Explainer, Explanation, Feasible, Infeasible,
};
use hardbop_newton::shortest::{NoPath, shortest_path};
use hardbop_newton::statements::{Origin, Statements, statements};
use hardbop_report::collect::assumptions;
use hardbop_semantics::path::PathStep;
use hardbop_semantics::{Encoding, Fresh, FreshOrigin, Overflow, Semantics};
use serde::Serialize;
use std::collections::btree_map::Entry as Slot;
use std::collections::{BTreeMap, BTreeSet};

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

#[derive(Default, Serialize)]
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
    if arguments.r#loop {
        let read = rounds::Read {
            program,
            points_to,
            warnings,
        };
        return rounds::run(arguments, console, read, encoding, &budget);
    }
    let semantics = Semantics::new(&program, &points_to, encoding);
    let mut checks = Vec::new();
    for id in wanted(&program, &arguments.check_line)? {
        checks.push(explained(&semantics, &budget, id));
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
        Format::Text => console.text(&text::text(arguments, &body))?,
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

fn explained(semantics: &Semantics<'_>, budget: &Budget, id: CheckId) -> Explained {
    let program = semantics.program;
    let mut explained = Explained::new(Heading::of(program, id));
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
    explained.of_path(semantics, budget, steps);
    explained
}

impl Explained {
    fn new(heading: Heading) -> Explained {
        Explained {
            heading,
            path: Answer::Unknown,
            reason: None,
            steps: Vec::new(),
            context: None,
            core: None,
            annotations: None,
            projection: None,
            inputs: None,
        }
    }

    /// Says why a path can or cannot be run.
    fn of_path(&mut self, semantics: &Semantics<'_>, budget: &Budget, steps: &[PathStep]) {
        let mut terms = Terms::new();
        let path = match statements(semantics, &mut terms, steps) {
            Ok(path) => path,
            Err(unmodelled) => {
                self.reason = Some(format!("the path leads through {unmodelled}"));
                return;
            }
        };
        let sources = sources(semantics.program);
        self.steps = described(semantics, steps, &path, &sources);
        let words = Words {
            sources: &sources,
            inputs: named_inputs(&mut terms, &path),
            terms: &mut terms,
            path: &path,
        };
        // A session belongs to the terms of one path.
        let solver = Box::new(Z3Solver::new(Z3Options::default()));
        let mut session = Session::new(solver, budget.clone());
        words.fill(semantics, &mut session, self);
    }
}

/// What temporaries stand for that hold an input or a result: the call that the user wrote.
fn sources(program: &Program) -> BTreeMap<String, String> {
    let mut sources = BTreeMap::new();
    for edge in &program.edges {
        let text = op_text(program, &edge.op);
        let (to, call) = match (&edge.op, text.split_once(" = ")) {
            (Op::Input { place: to, name }, _) => (*to, format!("{name}()")),
            (
                Op::Call {
                    result: Some(to), ..
                },
                Some((_, call)),
            ) => (*to, call.trim_end_matches(';').to_owned()),
            _ => continue,
        };
        if let PlaceKind::Var(to) = program.place(to).kind
            && let VarKind::Temporary(_) = program.variable(to).kind
        {
            let to = program.variable(to).name.clone();
            // What it holds depends on the way: then it keeps its name.
            match sources.entry(to) {
                Slot::Vacant(place) => _ = place.insert(call),
                Slot::Occupied(known) if *known.get() == call => {}
                Slot::Occupied(mut known) => _ = known.insert(known.key().clone()),
            }
        }
    }
    sources
}

/// A text with what the user wrote in the place of temporaries.
fn in_words(text: &str, sources: &BTreeMap<String, String>) -> String {
    let is_name = |c: char| c.is_alphanumeric() || matches!(c, '_' | '#');
    let mut words = String::with_capacity(text.len());
    let mut rest = text;
    while !rest.is_empty() {
        let end = rest.find(|c| !is_name(c)).unwrap_or(rest.len());
        let (name, after) = rest.split_at(end);
        words.push_str(sources.get(name).map_or(name, String::as_str));
        let next = after.find(is_name).unwrap_or(after.len());
        words.push_str(&after[..next]);
        rest = &after[next..];
    }
    words
}

/// What the inputs of a path are called: by their numbers.
fn named_inputs(terms: &mut Terms, path: &Statements) -> BTreeMap<TermId, TermId> {
    let is_input = |(_, fresh): &&(usize, Fresh)| matches!(fresh.origin, FreshOrigin::Input(_));
    let inputs: Vec<TermId> = path
        .fresh
        .iter()
        .filter(is_input)
        .map(|f| f.1.term)
        .collect();
    let mut named = BTreeMap::new();
    for (at, input) in inputs.into_iter().enumerate() {
        let sort = terms.sort(input);
        let name = terms.constant(&format!("input{}", at + 1), sort);
        named.insert(input, name);
    }
    named
}

/// The statements of a path for people.
fn described(
    semantics: &Semantics<'_>,
    steps: &[PathStep],
    path: &Statements,
    sources: &BTreeMap<String, String>,
) -> Vec<Step> {
    let program = semantics.program;
    // The calls that steps leave, in the order of the steps.
    let mut open = Vec::new();
    let mut texts = Vec::new();
    for step in steps {
        texts.push(match *step {
            PathStep::Edge(edge) => {
                let edge = &program.edges[edge.index()];
                let text = op_text(program, &edge.op);
                let text = match (&edge.op, text.split_once(" = ")) {
                    (Op::Input { .. }, Some((to, input))) if sources.contains_key(to) => {
                        input.to_owned()
                    }
                    _ => in_words(&text, sources),
                };
                (edge.source, text)
            }
            PathStep::Enter(call, callee) => {
                open.push((call, callee));
                let edge = &program.edges[call.index()];
                let text = op_text(program, &edge.op);
                let text = match text.split_once(" = ") {
                    Some((to, call)) if sources.contains_key(to) => call.to_owned(),
                    _ => text,
                };
                (edge.source, in_words(&text, sources))
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
    /// What temporaries stand for.
    sources: &'a BTreeMap<String, String>,
    /// The inputs, with what they are called.
    inputs: BTreeMap<TermId, TermId>,
    terms: &'a mut Terms,
    path: &'a Statements,
}

impl Words<'_> {
    fn fill(
        mut self,
        semantics: &Semantics<'_>,
        session: &mut Session<'_>,
        explained: &mut Explained,
    ) {
        let mut explainer = Explainer { semantics, session };
        match explainer.explain(self.terms, self.path) {
            Explanation::Unknown(why) => explained.reason = Some(why.to_string()),
            Explanation::Infeasible(why) => self.infeasible(explained, &why),
            Explanation::Feasible(how) => self.feasible(semantics, explained, &how),
        }
    }

    fn infeasible(&mut self, explained: &mut Explained, why: &Infeasible) {
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

    fn feasible(&mut self, semantics: &Semantics<'_>, explained: &mut Explained, how: &Feasible) {
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

    fn tables(&mut self, context: &Context) -> Tables {
        let numbers = |set: &BTreeSet<usize>| set.iter().map(|at| at + 1).collect();
        let mut tables = Tables::default();
        for (at, entry) in context.entries.iter().enumerate() {
            tables.entries.push(Entry {
                number: at + 1,
                step: entry.statement + 1,
                variable: in_words(self.path.name(entry.instance), self.sources),
                value: self.formula(entry.value),
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
            });
        }
        for condition in &context.conditions {
            tables.conditions.push(Condition {
                step: condition.statement + 1,
                formula: self.formula(condition.formula),
                depends_on: numbers(&condition.dependencies),
            });
        }
        tables
    }

    fn formula(&mut self, term: TermId) -> String {
        let named = self.terms.substitute(term, &self.inputs);
        self.terms.infix(named).to_string()
    }
}
