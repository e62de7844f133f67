//! Where a `branching` waypoint is passed: at `if`, at the loops, at `switch` and at `?:`.
//!
//! A condition that neither calls nor writes is its own constraint, where its evaluation begins.
//! Any other is known by the edges that leave its evaluation. `?:` without side effects is an
//! expression and no branch: its condition is the constraint, where the expression is evaluated.

use crate::model::Waypoint;
use crate::text::{Token, condition, condition_before, statement_around};
use crate::weave::{DECIDED, Point, Stitch, TextOf, Weaver};
use hardbop_cfront::ids::{EdgeId, ExprId, LocId};
use hardbop_cfront::program::{BinaryOp, ExprKind, Op, Program, UnaryOp};
use hardbop_diagnostics::FileId;
use std::collections::BTreeSet;
use std::ops::Range;

/// A `?:` in an expression.
struct Choice {
    condition: ExprId,
    /// The conditions around it, with what they must be for it to be evaluated.
    around: Vec<(ExprId, bool)>,
}

impl Weaver {
    /// Where a branch goes as wanted; `None` if that cannot be told.
    pub(crate) fn branching(
        &mut self,
        point: &Waypoint,
        segment: u32,
        avoid: bool,
    ) -> Option<Vec<Stitch>> {
        let (file, range) = self.rest_of_line(&point.location)?;
        let TextOf { text, tokens } = &self.texts[&file];
        let word = |token: &Token| &text[token.start..token.end];
        let value = point.constraint.as_deref().map(str::trim)?;
        let on_line = |token: &&Token| range.contains(&token.start);
        if point.location.column.is_some() {
            let sign = tokens.iter().position(|token| token.start == range.start)?;
            if word(&tokens[sign]) == "?" {
                let wanted = truth(value)?;
                return self.choice(file, sign, wanted, segment, avoid);
            }
        }
        let keyword = tokens
            .iter()
            .filter(on_line)
            .copied()
            .find(|token| matches!(word(token), "if" | "while" | "for" | "switch"))?;
        if point.location.column.is_some() && keyword.start != range.start {
            return None;
        }
        let inside = condition(text, tokens, keyword)?;
        if word(&keyword) != "switch" {
            let wanted = truth(value)?;
            if !is_plain(text, tokens, &inside) {
                return self.by_edges(file, &inside, wanted, segment, avoid);
            }
            return self.condition(point, wanted, segment, avoid, file, &inside);
        }
        let (chosen, others) = self.cases(file, &inside, value)?;
        Some(self.ways(chosen, others, segment, avoid))
    }

    /// Whoever goes one of the chosen ways passes; whoever comes here and goes another way is not
    /// meant.
    fn ways(
        &self,
        chosen: Vec<EdgeId>,
        others: Vec<EdgeId>,
        segment: u32,
        avoid: bool,
    ) -> Vec<Stitch> {
        let stitch = |id: EdgeId, avoid: bool| Stitch {
            point: Point::After(id),
            segment,
            constraint: None,
            when: None,
            rank: DECIDED,
            avoid,
            source: self.tables.program.edges[id.index()].source,
        };
        let mut stitches: Vec<Stitch> = chosen.into_iter().map(|id| stitch(id, avoid)).collect();
        if !avoid {
            stitches.extend(others.into_iter().map(|id| stitch(id, true)));
        }
        stitches
    }

    /// A condition that comes out as wanted: its own text is the constraint, where it is entered.
    fn condition(
        &mut self,
        point: &Waypoint,
        wanted: bool,
        segment: u32,
        avoid: bool,
        file: FileId,
        inside: &Range<usize>,
    ) -> Option<Vec<Stitch>> {
        let text = self.texts[&file].text[inside.clone()].trim().to_owned();
        let text = if wanted {
            format!("({text})")
        } else {
            format!("!({text})")
        };
        let entries = self.entries(file, inside);
        let mut stitches = Vec::new();
        for location in entries {
            let function = self.tables.program.locations[location.index()].function;
            let constraint = self.expression(function, &text, point.span)?;
            let (_, first) = self.tables.program.edges_from(location).next()?;
            stitches.push(Stitch {
                point: Point::Before(location),
                segment,
                constraint: Some(constraint),
                when: None,
                rank: DECIDED,
                avoid,
                source: first.source,
            });
        }
        (!stitches.is_empty()).then_some(stitches)
    }

    /// A condition that comes out as wanted, by the edges that leave its evaluation. What the last
    /// of its parts decides, the whole does: as it is, or negated if it stands in a negation.
    fn by_edges(
        &self,
        file: FileId,
        inside: &Range<usize>,
        wanted: bool,
        segment: u32,
        avoid: bool,
    ) -> Option<Vec<Stitch>> {
        let TextOf { text, tokens } = &self.texts[&file];
        let negated = is_last_part_negated(text, tokens, inside)?;
        let edges = self.edges_in(file, inside);
        let entries: BTreeSet<LocId> = self.entries(file, inside).into_iter().collect();
        let within: BTreeSet<LocId> = edges
            .iter()
            .map(|id| self.tables.program.edges[id.index()].from)
            .filter(|location| !entries.contains(location))
            .collect();
        let mut leaving = Vec::new();
        for &id in &edges {
            let edge = &self.tables.program.edges[id.index()];
            if within.contains(&edge.to) {
                continue;
            }
            let Op::Assume { condition, holds } = edge.op else {
                return None;
            };
            let start = edge.source.span.start;
            leaving.push((
                start,
                id,
                edge.to,
                plain_truth(&self.tables.program, condition, holds),
            ));
        }
        let last = leaving.iter().map(|(start, ..)| *start).max()?;
        let target = |truth: bool| {
            let of_last = leaving.iter().filter(|way| way.0 == last && way.3 == truth);
            let mut targets: Vec<LocId> = of_last.map(|way| way.2).collect();
            targets.dedup();
            match targets[..] {
                [one] => Some(one),
                _ => None,
            }
        };
        let (yes, no) = (target(!negated)?, target(negated)?);
        if yes == no || leaving.iter().any(|way| way.2 != yes && way.2 != no) {
            return None;
        }
        let goal = if wanted { yes } else { no };
        let (chosen, others): (Vec<_>, Vec<_>) = leaving.iter().partition(|way| way.2 == goal);
        let ids = |ways: Vec<&(u32, EdgeId, LocId, bool)>| ways.iter().map(|way| way.1).collect();
        Some(self.ways(ids(chosen), ids(others), segment, avoid))
    }

    /// `?:` whose `?` is the token at a position. The edges of its statement hold as many choices
    /// as the statement has signs, in the same order; else they are not told apart.
    fn choice(
        &mut self,
        file: FileId,
        sign: usize,
        wanted: bool,
        segment: u32,
        avoid: bool,
    ) -> Option<Vec<Stitch>> {
        let TextOf { text, tokens } = &self.texts[&file];
        let at = tokens[sign].start;
        let before = condition_before(text, tokens, sign);
        let statement = statement_around(text, tokens, sign);
        let signs: Vec<usize> = tokens
            .iter()
            .filter(|token| statement.contains(&token.start))
            .filter(|token| &text[token.start..token.end] == "?")
            .map(|token| token.start)
            .collect();
        let mut found: Vec<(EdgeId, Choice)> = Vec::new();
        for id in self.edges_in(file, &statement) {
            let choices = choices(
                &self.tables.program,
                &self.tables.program.edges[id.index()].op,
            );
            found.extend(choices.into_iter().map(|choice| (id, choice)));
        }
        if found.is_empty() || found.len() != signs.len() {
            // With side effects, it is a branch like any other.
            return self.by_edges(file, &before?, wanted, segment, avoid);
        }
        let position = signs.iter().position(|&sign| sign == at)?;
        let (id, Choice { condition, around }) = &found[position];
        let constraint = self.as_truth(*condition, wanted);
        let mut when: Option<ExprId> = None;
        for &(expr, truth) in around {
            let next = self.as_truth(expr, truth);
            when = Some(match when {
                Some(before) => self.tables.and(before, next),
                None => next,
            });
        }
        let edge = &self.tables.program.edges[id.index()];
        Some(vec![Stitch {
            point: Point::Before(edge.from),
            segment,
            constraint: Some(constraint),
            when,
            rank: DECIDED + 1 + position as u32,
            avoid,
            source: edge.source,
        }])
    }

    /// Whether an expression is true, or false.
    fn as_truth(&mut self, expr: ExprId, truth: bool) -> ExprId {
        let int = self.tables.int();
        let not = self.tables.expr(ExprKind::Unary(UnaryOp::Not, expr), int);
        if truth {
            self.tables.expr(ExprKind::Unary(UnaryOp::Not, not), int)
        } else {
            not
        }
    }

    /// The edges by which a `switch` goes to a case, and the others.
    fn cases(
        &self,
        file: FileId,
        inside: &Range<usize>,
        value: &str,
    ) -> Option<(Vec<EdgeId>, Vec<EdgeId>)> {
        let first = self.edges_in(file, inside).into_iter().find(|id| {
            let edge = &self.tables.program.edges[id.index()];
            matches!(edge.op, Op::Assume { .. })
                && self.tables.program.edges_from(edge.from).count() > 1
        })?;
        let from = self.tables.program.edges[first.index()].from;
        let number: Option<i128> = value.parse().ok();
        if number.is_none() && value != "default" {
            return None;
        }
        let mut chosen = Vec::new();
        let mut others = Vec::new();
        for (id, edge) in self.tables.program.edges_from(from) {
            let Op::Assume { condition, holds } = edge.op else {
                return None;
            };
            let case = match self.tables.program.expr(condition).kind {
                ExprKind::Binary(BinaryOp::Eq, _, right) if holds => {
                    match self.tables.program.expr(right).kind {
                        ExprKind::Int(bits) => {
                            let ty = self.tables.program.expr(right).ty;
                            let width = self.tables.program.types.bit_width(ty)?;
                            let signed = self.tables.program.types.is_signed(ty);
                            Some(signed_value(bits, width, signed))
                        }
                        _ => return None,
                    }
                }
                _ => None,
            };
            // Without a case of that number, the number goes where all others go.
            if case == number {
                chosen.push(id);
            } else {
                others.push(id);
            }
        }
        (!chosen.is_empty()).then_some((chosen, others))
    }
}

fn truth(value: &str) -> Option<bool> {
    match value {
        "true" => Some(true),
        "false" => Some(false),
        _ => None,
    }
}

/// Whether a condition neither calls nor writes, by its text.
fn is_plain(text: &str, tokens: &[Token], inside: &Range<usize>) -> bool {
    let own: Vec<&Token> = tokens
        .iter()
        .filter(|token| inside.contains(&token.start))
        .collect();
    let word = |at: usize| &text[own[at].start..own[at].end];
    let is_name = |word: &str| word.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    let is = |at: Option<usize>, signs: &[&str]| {
        at.filter(|&at| at < own.len())
            .is_some_and(|at| signs.contains(&word(at)))
    };
    let calls = (0..own.len())
        .any(|at| is_name(word(at)) && word(at) != "sizeof" && is(Some(at + 1), &["("]));
    let writes = (0..own.len()).any(|at| match word(at) {
        "=" => !is(at.checked_sub(1), &["=", "<", ">", "!"]) && !is(Some(at + 1), &["="]),
        // `a - -b` is no decrement: its signs do not touch.
        sign @ ("+" | "-") => is(Some(at + 1), &[sign]) && own[at].end == own[at + 1].start,
        _ => false,
    });
    !calls && !writes
}

/// The most signs and words of a condition that is looked at.
const LONGEST: usize = 2_000;

/// Whether the last part of a condition stands in an odd number of negations. `None` where the
/// text says it in a way that is not understood.
fn is_last_part_negated(text: &str, tokens: &[Token], inside: &Range<usize>) -> Option<bool> {
    let own: Vec<Token> = tokens
        .iter()
        .copied()
        .filter(|token| inside.contains(&token.start))
        .collect();
    if own.len() > LONGEST {
        return None;
    }
    let word = |at: usize| &text[own[at].start..own[at].end];
    // For every opening parenthesis or bracket the one that closes it.
    let mut closes = vec![None; own.len()];
    let mut open = Vec::new();
    for at in 0..own.len() {
        match word(at) {
            "(" | "[" | "{" => open.push(at),
            ")" | "]" | "}" => closes[open.pop()?] = Some(at),
            _ => {}
        }
    }
    let mut negated = false;
    let (mut start, mut end) = (0, own.len());
    loop {
        if start >= end {
            return None;
        }
        let group = |at: usize| word(at) == "(" && closes[at] == Some(end - 1);
        if group(start) {
            (start, end) = (start + 1, end - 1);
            continue;
        }
        if word(start) == "!" && start + 1 < end && group(start + 1) {
            negated = !negated;
            (start, end) = (start + 2, end - 1);
            continue;
        }
        let mut logical = None;
        let mut other = false;
        let mut at = start;
        while at < end {
            match word(at) {
                "(" | "[" | "{" => {
                    at = closes[at]? + 1;
                    continue;
                }
                "?" | "," => return None,
                sign @ ("&" | "|") => {
                    let doubled =
                        at + 1 < end && word(at + 1) == sign && own[at].end == own[at + 1].start;
                    if doubled {
                        logical = Some(at + 2);
                        at += 1;
                    } else {
                        other = true;
                    }
                }
                "-" if at + 1 < end && word(at + 1) == ">" => at += 1,
                "+" | "-" | "*" | "/" | "%" | "<" | ">" | "=" | "^" => other = true,
                _ => {}
            }
            at += 1;
        }
        if let Some(after) = logical {
            start = after;
            continue;
        }
        while word(start) == "!" {
            if other {
                // Negated is only an operand of what is compared.
                return None;
            }
            negated = !negated;
            start += 1;
            if start >= end {
                return None;
            }
        }
        // Behind several negations there may be a group again.
        if word(start) != "(" || closes[start] != Some(end - 1) {
            return Some(negated);
        }
    }
}

/// The truth of a condition without the negations around it.
fn plain_truth(program: &Program, mut condition: ExprId, mut holds: bool) -> bool {
    while let ExprKind::Unary(UnaryOp::Not, inner) = program.expr(condition).kind {
        condition = inner;
        holds = !holds;
    }
    holds
}

/// The `?:` of an edge's expressions, in the order of their signs in the text.
fn choices(program: &Program, op: &Op) -> Vec<Choice> {
    let roots: Vec<ExprId> = match op {
        Op::Assign { value, .. } => vec![*value],
        Op::Assume {
            condition,
            holds: true,
        } => vec![*condition],
        Op::Call { arguments, .. } => arguments.clone(),
        _ => return Vec::new(),
    };
    let mut found = Vec::new();
    let mut work: Vec<Work> = roots
        .into_iter()
        .rev()
        .map(|expr| Work::Visit(expr, Vec::new()))
        .collect();
    while let Some(next) = work.pop() {
        match next {
            Work::Take(choice) => found.push(choice),
            Work::Visit(expr, around) => {
                let mut parts: Vec<Work> = Vec::new();
                match program.expr(expr).kind {
                    ExprKind::Conditional {
                        condition,
                        then,
                        otherwise,
                    } => {
                        let with = |truth: bool| {
                            let mut around = around.clone();
                            around.push((condition, truth));
                            around
                        };
                        parts.push(Work::Visit(condition, around.clone()));
                        parts.push(Work::Take(Choice {
                            condition,
                            around: around.clone(),
                        }));
                        parts.push(Work::Visit(then, with(true)));
                        parts.push(Work::Visit(otherwise, with(false)));
                    }
                    ExprKind::Unary(_, operand) | ExprKind::Convert(operand) => {
                        parts.push(Work::Visit(operand, around));
                    }
                    ExprKind::Binary(_, left, right) => {
                        parts.push(Work::Visit(left, around.clone()));
                        parts.push(Work::Visit(right, around));
                    }
                    ExprKind::PointerAdd { pointer, index, .. } => {
                        parts.push(Work::Visit(pointer, around.clone()));
                        parts.push(Work::Visit(index, around));
                    }
                    _ => {}
                }
                work.extend(parts.into_iter().rev());
            }
        }
    }
    found
}

enum Work {
    Visit(ExprId, Vec<(ExprId, bool)>),
    Take(Choice),
}

/// The number that bits of a width stand for.
fn signed_value(bits: u128, width: u32, signed: bool) -> i128 {
    if signed && width < 128 && bits >> (width - 1) & 1 == 1 {
        bits as i128 - (1i128 << width)
    } else {
        bits as i128
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::tokens;

    #[test]
    fn what_the_last_part_decides() {
        let negated = |text: &str| is_last_part_negated(text, &tokens(text), &(0..text.len()));
        assert_eq!(negated("f(x) > 3 || g()"), Some(false));
        assert_eq!(negated("!(f(x) && g(!y))"), Some(true));
        assert_eq!(negated("!a && !!(b || !c->d)"), Some(true));
        assert_eq!(negated("(x = f()) != 0"), Some(false));
        assert_eq!(negated("!f() == g()"), None);
        assert_eq!(negated("a ? b : f()"), None);
        assert_eq!(negated("!b | a & f()"), None);
        assert_eq!(negated(""), None);
    }

    #[test]
    fn conditions_that_neither_call_nor_write() {
        let plain = |text: &str| is_plain(text, &tokens(text), &(0..text.len()));
        assert!(plain("a <= b && (c == 3 || *p != 4)"));
        assert!(plain("sizeof (int) > 3 && a - -b"));
        assert!(!plain("f(x)"));
        assert!(!plain("(a = b) != 3"));
        assert!(!plain("a++ < 3"));
        assert!(!plain("a += 2"));
    }
}
