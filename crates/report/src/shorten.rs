//! Long traces made short enough to be read at once.
//!
//! In come the rows of a trace, out come at most so many of them. What says least goes first: the
//! conditions and the ends of calls that are over, then what else happened in such calls, then the
//! conditions on the way to where it happened. What is left out is counted in its place.

use crate::results::{StepKind, Trace};
use crate::rows::{Line, Row};

/// The most rows.
const MOST: usize = 22;

/// So many rows in front of the violation always stay.
const LAST: usize = 6;

/// How much a row says, from the least.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Says {
    /// What a condition or the end of a call says that is over.
    Over,
    /// What was done in a call that is over.
    Done,
    /// A condition on the way.
    Condition,
    /// A statement on the way.
    Statement,
    /// How it comes to the call in which it happens; memory that is taken or given back; inputs.
    Turn,
    /// It stays.
    All,
}

/// The rows, without those that say least if there are too many.
pub(crate) fn shortened(rows: Vec<Row>, trace: &Trace) -> Vec<Row> {
    if rows.len() <= MOST {
        return rows;
    }
    let says: Vec<Says> = rows.iter().map(|row| says(row, trace)).collect();
    let last = rows.len().saturating_sub(LAST);
    let stays = |at: usize| at == 0 || at >= last || says[at] == Says::All;
    let mut order: Vec<usize> = (0..rows.len()).filter(|&at| !stays(at)).collect();
    order.sort_by_key(|&at| (says[at], at));
    let mut out = vec![false; rows.len()];
    let mut shown = rows.len();
    for at in order {
        if shown <= MOST {
            break;
        }
        out[at] = true;
        // What is left out is a row, which neighbours that are left out share.
        let beside = [at.checked_sub(1), Some(at + 1)];
        let beside = beside.into_iter().flatten();
        shown -= beside.filter(|&at| out.get(at) == Some(&true)).count();
    }
    told(rows, &out)
}

/// The rows that are not left out, with a count in the place of the others. One row is not worth
/// being counted.
fn told(rows: Vec<Row>, out: &[bool]) -> Vec<Row> {
    let mut told = Vec::new();
    let mut at = 0;
    let mut first = true;
    let mut rows = rows.into_iter().peekable();
    while rows.peek().is_some() {
        let count = out[at..].iter().take_while(|&&out| out).count();
        at += count.max(1);
        if count < 2 {
            told.extend(rows.next());
            continue;
        }
        let depth = rows.by_ref().take(count).map(|row| depth(&row)).min();
        let how = if first { " (`--full` shows them)" } else { "" };
        first = false;
        told.push(Row::Fold {
            depth: depth.unwrap_or(0),
            text: format!("... {count} lines{how}"),
        });
    }
    told
}

fn depth(row: &Row) -> u32 {
    match row {
        Row::Line(Line { depth, .. }) | Row::Fold { depth, .. } => *depth,
    }
}

fn says(row: &Row, trace: &Trace) -> Says {
    let Row::Line(line) = row else {
        return Says::Done;
    };
    let steps = &trace.steps[line.steps.0..line.steps.1];
    let open = |call: u32| trace.calls.get(call as usize).is_some_and(|call| call.open);
    let mut says = Says::Over;
    for step in steps {
        let one = match step.kind {
            StepKind::Violation => Says::All,
            StepKind::Call(call) if open(call) => Says::Turn,
            StepKind::ClosedCall | StepKind::Input(_) => Says::Turn,
            StepKind::Branch { .. } | StepKind::Return if !open(line.call) => Says::Over,
            _ if !open(line.call) => Says::Done,
            StepKind::Branch { .. } => Says::Condition,
            _ => Says::Statement,
        };
        says = says.max(one);
    }
    // What a rule's state changes by is what its trace is about.
    let changed = steps.iter().any(|step| step.state != line.state);
    match &trace.rule {
        Some(_) if changed => Says::All,
        _ => says,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fold(text: &str) -> Row {
        Row::Fold {
            depth: 0,
            text: text.to_owned(),
        }
    }

    fn texts(rows: &[Row]) -> Vec<&str> {
        rows.iter()
            .map(|row| match row {
                Row::Fold { text, .. } => text.as_str(),
                Row::Line(line) => line.text.as_str(),
            })
            .collect()
    }

    #[test]
    fn what_is_left_out_is_counted_once() {
        let rows = ["a", "b", "c", "d", "e", "f"].map(fold).to_vec();
        let told = told(rows, &[false, true, true, false, true, false]);
        let expected = ["a", "... 2 lines (`--full` shows them)", "d", "e", "f"];
        assert_eq!(texts(&told), expected);
    }

    #[test]
    fn few_rows_stay_as_they_are() {
        let trace = Trace::default();
        let rows = vec![fold("a"); MOST];
        assert_eq!(shortened(rows.clone(), &trace), rows);
    }

    #[test]
    fn the_first_and_the_last_rows_stay() {
        let trace = Trace::default();
        let names: Vec<String> = (0..100).map(|n| n.to_string()).collect();
        let rows: Vec<Row> = names.iter().map(|name| fold(name)).collect();
        let short = shortened(rows, &trace);
        assert!(short.len() <= MOST, "{short:?}");
        let texts = texts(&short);
        assert_eq!(texts[0], "0");
        assert_eq!(
            texts[texts.len() - LAST..],
            ["94", "95", "96", "97", "98", "99"]
        );
    }
}
