//! A trace as rows to read: the user's lines, each with its values; long loops and deep recursion
//! folded; what does not matter left out.

use crate::results::{
    Binding, Place, Relevance, Results, Role, RuleRun, Step, StepKind, StepOf, Trace,
};
use std::collections::BTreeMap;

/// How much of a trace is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Detail {
    /// What the violation depends on, with long loops folded.
    Relevant,
    /// Every step.
    Full,
}

/// A row of a trace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Row {
    /// A line of the user's text that was executed.
    Line(Line),
    /// Something that was left out.
    Fold {
        /// The number of calls around it.
        depth: u32,
        /// What was left out, in words.
        text: String,
    },
}

/// A line that was executed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// Where it stands.
    pub place: Place,
    /// The call that it belongs to: an index into [`Trace::calls`].
    pub call: u32,
    /// The number of calls around it.
    pub depth: u32,
    /// Its text, or the check's message where the check is violated.
    pub text: String,
    /// The values that it sets and reads, each once, with its last value.
    pub values: Vec<Binding>,
    /// Whether the check is violated here.
    pub violation: bool,
    /// The steps that it stands for: the first one, and the one after the last.
    pub steps: (usize, usize),
    /// Whose line it is.
    pub of: StepOf,
    /// The rule's state when it is reached: an index into [`RuleRun::states`].
    pub state: u32,
}

impl Line {
    /// The values for people: `x = 3, returns 4`.
    pub fn values_text(&self) -> String {
        let words: Vec<String> = self
            .values
            .iter()
            .map(|binding| match binding.role {
                Role::Returned => format!("returns {}", binding.value),
                _ => format!("{} = {}", binding.name, binding.value),
            })
            .collect();
        words.join(", ")
    }
}

/// Fewer iterations than this are shown as they are.
const FOLDED_ITERATIONS: usize = 2;
/// Calls of a function inside so many calls of itself are left out, but for the last ones.
const FOLDED_RECURSION: u32 = 3;

/// The rows of a trace.
pub fn rows(results: &Results, trace: &Trace, message: &str, detail: Detail) -> Vec<Row> {
    let (hidden, mut folds) = match detail {
        Detail::Relevant => folded(trace),
        Detail::Full => (vec![false; trace.steps.len()], BTreeMap::new()),
    };
    if let Some((at, count)) = trace.gap {
        folds.insert(at, (0, format!("... {count} steps too many to be kept")));
    }
    let texts = Texts::new(results);
    let mut rows: Vec<Row> = Vec::new();
    for (index, step) in trace.steps.iter().enumerate() {
        if let Some((depth, text)) = folds.remove(&index) {
            rows.push(Row::Fold { depth, text });
        }
        // What a rule does is seen in its state.
        let own = step.of == StepOf::Program || step.kind == StepKind::Violation;
        let wanted = detail == Detail::Full || (own && step.relevance == Relevance::Matters);
        if hidden[index] || !wanted {
            continue;
        }
        push(&mut rows, &texts, trace, message, step, index);
    }
    rows
}

fn push(
    rows: &mut Vec<Row>,
    texts: &Texts<'_>,
    trace: &Trace,
    message: &str,
    step: &Step,
    index: usize,
) {
    let violation = step.kind == StepKind::Violation;
    if let Some(Row::Line(last)) = rows.last_mut() {
        let same = last.place.source == step.place.source
            && last.place.source_line == step.place.source_line
            && last.call == step.call;
        if same && !violation {
            last.steps.1 = index + 1;
            for value in &step.values {
                merge(&mut last.values, value);
            }
            return;
        }
    }
    let depth = trace.calls[step.call as usize].depth;
    rows.push(Row::Line(Line {
        place: step.place,
        call: step.call,
        depth,
        text: if violation {
            message.to_owned()
        } else {
            texts.line(step.place).to_owned()
        },
        values: step.values.clone(),
        violation,
        steps: (index, index + 1),
        of: step.of,
        state: step.state,
    }));
}

/// What is different in a state of a rule from an earlier one: names and values.
pub fn changes(run: &RuleRun, before: u32, now: u32) -> Vec<(&str, &str)> {
    let (Some(before), Some(now)) = (
        run.states.get(before as usize),
        run.states.get(now as usize),
    ) else {
        return Vec::new();
    };
    let names = run.variables.iter();
    names
        .zip(before.iter().zip(now))
        .filter(|(_, (before, now))| before != now)
        .map(|(name, (_, now))| (name.as_str(), now.as_str()))
        .collect()
}

fn merge(values: &mut Vec<Binding>, next: &Binding) {
    match values.iter_mut().find(|known| known.name == next.name) {
        Some(known) => {
            known.value.clone_from(&next.value);
            if next.role != Role::Read {
                known.role = next.role;
            }
        }
        None => values.push(next.clone()),
    }
}

/// Which steps are left out, and what is said in their place.
fn folded(trace: &Trace) -> (Vec<bool>, BTreeMap<usize, (u32, String)>) {
    let mut hidden = vec![false; trace.steps.len()];
    let mut folds = BTreeMap::new();
    for run in &trace.loops {
        // The first iteration, the last one, and the step that finds the loop to be over.
        let count = run.iterations.len();
        let from = match run.iterations.get(1) {
            Some(&from) if count > 3 => from,
            _ => continue,
        };
        let until = run.iterations[count - 2];
        let kept = |steps: std::ops::Range<usize>| {
            steps
                .into_iter()
                .any(|step| trace.steps[step].relevance == Relevance::Matters)
        };
        let left_out = run.iterations[1..count - 1]
            .windows(2)
            .filter(|pair| kept(pair[0]..pair[1]))
            .count();
        if left_out < FOLDED_ITERATIONS || hidden[from] {
            continue;
        }
        hidden[from..until].fill(true);
        let depth = trace.calls[run.call as usize].depth;
        folds.insert(from, (depth, format!("... {left_out} more iterations")));
    }
    fold_recursion(trace, &mut hidden, &mut folds);
    (hidden, folds)
}

fn fold_recursion(trace: &Trace, hidden: &mut [bool], folds: &mut BTreeMap<usize, (u32, String)>) {
    // The innermost calls at the violation stay, however deep they are.
    let last = trace.steps.last().map(|step| step.call);
    let mut kept = Vec::new();
    let mut at = last;
    while let Some(call) = at.filter(|_| kept.len() < 2) {
        kept.push(call);
        at = trace.calls[call as usize].parent;
    }
    let deep = |call: u32| {
        trace.calls[call as usize].recursion >= FOLDED_RECURSION && !kept.contains(&call)
    };
    let mut index = 0;
    while index < trace.steps.len() {
        if !deep(trace.steps[index].call) {
            index += 1;
            continue;
        }
        let start = index;
        let mut calls = std::collections::BTreeSet::new();
        while index < trace.steps.len() && deep(trace.steps[index].call) {
            calls.insert(trace.steps[index].call);
            index += 1;
        }
        let call = &trace.calls[trace.steps[start].call as usize];
        let shown = !hidden[start];
        hidden[start..index].fill(true);
        let inner: Vec<usize> = folds.range(start..index).map(|(&at, _)| at).collect();
        for at in inner {
            folds.remove(&at);
        }
        if shown {
            let count = calls.len();
            let s = if count == 1 { "" } else { "s" };
            let text = format!("... {count} more call{s} of {}", call.function);
            folds.insert(start, (call.depth, text));
        }
    }
}

/// The lines of the texts, found once.
struct Texts<'a> {
    lines: Vec<Vec<&'a str>>,
}

impl<'a> Texts<'a> {
    fn new(results: &'a Results) -> Texts<'a> {
        let lines = results
            .sources
            .iter()
            .map(|source| source.text.lines().map(str::trim).collect());
        Texts {
            lines: lines.collect(),
        }
    }

    fn line(&self, place: Place) -> &'a str {
        self.lines
            .get(place.source as usize)
            .and_then(|lines| lines.get((place.source_line as usize).saturating_sub(1)))
            .copied()
            .unwrap_or("")
    }
}
