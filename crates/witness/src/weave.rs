//! Weaves a witness into a program, so that deciding the woven program validates the witness.
//!
//! A violation witness becomes a variable that counts the segments passed so far: at every
//! waypoint the counter is compared and moved on; a run that comes to the waypoint whose turn it is
//! and does not pass it is not meant by the witness and ends there, and so does one that passes what
//! is to be avoided; a violation counts only where the target is and when it is its turn. A correctness witness
//! becomes checks: each invariant is asserted where it is claimed to hold.

use crate::model::{
    Content, Invariant, InvariantKind, Location, Segment, Waypoint, WaypointKind, Witness,
};
use crate::sew::Sewing;
use crate::text::{Token, loop_keyword, offset, position, tokens};
use hardbop_budget::{Budget, Stopped};
use hardbop_c_text::names::Old;
use hardbop_cfront::edit::{Graphs, Tables};
use hardbop_cfront::ids::{CheckId, EdgeId, ExprId, FuncId, LocId, PlaceId};
use hardbop_cfront::program::{Check, CheckKind, Edge, LocationKind, Op, Origin, Program, Source};
use hardbop_diagnostics::{Diagnostic, FileId, Span};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// A program with a witness in it.
#[derive(Clone, Debug)]
pub struct Woven {
    /// The program.
    pub program: Program,
    /// The checks of the property.
    pub property: Vec<CheckId>,
    /// The checks of the invariants.
    pub invariants: Vec<CheckId>,
    /// How many waypoints, invariants or parts of contracts could not be woven in.
    pub unchecked: usize,
    /// What could not be woven in, and is not checked.
    pub diagnostics: Vec<Diagnostic>,
}

/// Weaves a witness into a program of whose checks these are the property.
pub fn weave(
    program: &Program,
    property: &[CheckId],
    witness: &Witness,
    budget: &Budget,
) -> Result<Woven, Stopped> {
    budget.check()?;
    let mut weaver = Weaver {
        tables: Tables::new(program.clone()),
        texts: BTreeMap::new(),
        parsed: BTreeMap::new(),
        olds: Vec::new(),
        diagnostics: Vec::new(),
    };
    weaver.read_texts();
    match &witness.content {
        Content::Violation(segments) => weaver.violation(segments, property, budget),
        Content::Correctness(invariants) => weaver.correctness(invariants, property, budget),
    }
}

pub(crate) struct TextOf {
    pub text: String,
    pub tokens: Vec<Token>,
}

pub(crate) struct Weaver {
    pub tables: Tables,
    pub texts: BTreeMap<FileId, TextOf>,
    pub parsed: BTreeMap<(FuncId, Option<PlaceId>, String), Option<ExprId>>,
    /// The ghosts that hold what an expression was worth when its function was entered.
    pub olds: Vec<Old>,
    diagnostics: Vec<Diagnostic>,
}

/// Where a waypoint is passed.
#[derive(Clone, Debug)]
pub(crate) enum Point {
    /// Before everything that leaves a location.
    Before(LocId),
    /// After an edge.
    After(EdgeId),
}

/// A waypoint, ready to be woven in.
pub(crate) struct Stitch {
    pub point: Point,
    pub segment: u32,
    pub constraint: Option<ExprId>,
    /// Says whether the waypoint is visited at all, where control comes by without a visit.
    pub when: Option<ExprId>,
    /// What is evaluated first at a point has a lower one.
    pub rank: u32,
    pub avoid: bool,
    pub source: Source,
}

/// What is assumed before a statement.
const ASSUMED: u32 = 0;
/// The condition of a branch; those of `?:` come after it, in the order of the text.
pub(crate) const DECIDED: u32 = 1;
/// A call that is entered.
const CALLED: u32 = 1_000_000;

/// An expression that is claimed to hold at a location.
struct Claim {
    location: LocId,
    expr: ExprId,
    text: String,
    source: Source,
}

impl Weaver {
    fn read_texts(&mut self) {
        let files: BTreeSet<FileId> = self
            .tables
            .program
            .edges
            .iter()
            .filter(|edge| self.is_user(edge.from))
            .map(|edge| edge.source.span.file)
            .collect();
        for file in files {
            let text = self.tables.program.sources.text(file).to_owned();
            let tokens = tokens(&text);
            self.texts.insert(file, TextOf { text, tokens });
        }
    }

    pub(crate) fn is_user(&self, location: LocId) -> bool {
        let function = self.tables.program.locations[location.index()].function;
        self.tables.program.function(function).origin == Origin::User
    }

    pub(crate) fn note(&mut self, span: Span, message: impl Into<String>) {
        self.diagnostics
            .push(Diagnostic::warning(span, message.into()));
    }

    /// The text that a location is in, by the file's name without its directories.
    fn file(&self, location: &Location) -> Option<FileId> {
        let base = |name: &str| name.rsplit('/').next().unwrap_or(name).to_owned();
        let wanted = base(&location.file);
        let mut files = self.texts.keys().copied();
        files.find(|&file| base(self.tables.program.sources.name(file)) == wanted)
    }

    /// The bytes of the text from a location to the end of its line.
    pub(crate) fn rest_of_line(&self, location: &Location) -> Option<(FileId, Range<usize>)> {
        let file = self.file(location)?;
        let text = &self.texts[&file].text;
        let start = offset(text, location.line, location.column.unwrap_or(1))?;
        let end = text[start..].find('\n').map_or(text.len(), |at| start + at);
        Some((file, start..end))
    }

    pub(crate) fn edges_in(&self, file: FileId, range: &Range<usize>) -> Vec<EdgeId> {
        let inside = |edge: &Edge| {
            let span = edge.source.span;
            span.file == file && range.contains(&(span.start as usize))
        };
        (0..self.tables.program.edges.len() as u32)
            .map(EdgeId)
            .filter(|id| {
                let edge = &self.tables.program.edges[id.index()];
                inside(edge)
                    && self.is_user(edge.from)
                    && !matches!(edge.op, Op::EndScope { .. } | Op::Declare { .. })
            })
            .collect()
    }

    /// The locations at which control enters a part of the text.
    pub(crate) fn entries(&self, file: FileId, range: &Range<usize>) -> Vec<LocId> {
        let inside: BTreeSet<EdgeId> = self.edges_in(file, range).into_iter().collect();
        let from: BTreeSet<LocId> = inside
            .iter()
            .map(|id| self.tables.program.edges[id.index()].from)
            .collect();
        let mut arrivals: BTreeMap<LocId, (bool, bool)> = BTreeMap::new();
        for (index, edge) in self.tables.program.edges.iter().enumerate() {
            if from.contains(&edge.to) {
                let known = arrivals.entry(edge.to).or_default();
                known.0 |= !inside.contains(&EdgeId(index as u32));
                known.1 = true;
            }
        }
        let entered = |location: &LocId| {
            let function = self.tables.program.locations[location.index()].function;
            self.tables.program.function(function).entry == *location
                || arrivals.get(location).is_some_and(|known| known.0)
        };
        from.into_iter().filter(entered).collect()
    }

    fn violation(
        mut self,
        segments: &[Segment],
        property: &[CheckId],
        budget: &Budget,
    ) -> Result<Woven, Stopped> {
        let mut stitches = Vec::new();
        let mut number = 0;
        let mut target = None;
        for segment in segments {
            budget.check()?;
            for point in &segment.avoid {
                match self.stitches(point, number, true) {
                    Some(found) => stitches.extend(found),
                    None => self.unchecked(point),
                }
            }
            if segment.follow.kind == WaypointKind::Target {
                target = Some(segment.follow.clone());
                break;
            }
            match self.stitches(&segment.follow, number, false) {
                Some(found) => {
                    stitches.extend(found);
                    number += 1;
                }
                None => self.unchecked(&segment.follow),
            }
        }
        let targets = self.targets(property, target.as_ref());
        budget.check()?;
        Ok(self.sew(stitches, number, property, &targets))
    }

    fn unchecked(&mut self, point: &Waypoint) {
        let kind = point.kind.name();
        let line = point.location.line;
        self.note(
            point.span,
            format!("this `{kind}` waypoint at line {line} is not followed"),
        );
    }

    /// The checks that the target stands for.
    fn targets(&mut self, property: &[CheckId], target: Option<&Waypoint>) -> BTreeSet<CheckId> {
        let Some(target) = target else {
            return property.iter().copied().collect();
        };
        let Some((file, rest)) = self.rest_of_line(&target.location) else {
            return BTreeSet::new();
        };
        let text = &self.texts[&file].text;
        let matches = |id: &CheckId| {
            let span = self.tables.program.checks[id.index()].source.span;
            let (line, _) = position(text, span.start as usize);
            span.file == file && line == target.location.line
        };
        let on_line: BTreeSet<CheckId> = property.iter().copied().filter(matches).collect();
        if target.location.column.is_none() {
            return on_line;
        }
        // The column is that of the statement, which may begin before the check.
        let start =
            |id: &CheckId| self.tables.program.checks[id.index()].source.span.start as usize;
        let exact: BTreeSet<CheckId> = on_line
            .iter()
            .copied()
            .filter(|id| start(id) == rest.start)
            .collect();
        if exact.is_empty() {
            let after = on_line.iter().copied().filter(|id| start(id) >= rest.start);
            let first = after.min_by_key(start);
            return first.into_iter().collect();
        }
        exact
    }

    /// Where a waypoint is passed; `None` if that cannot be told.
    fn stitches(&mut self, point: &Waypoint, segment: u32, avoid: bool) -> Option<Vec<Stitch>> {
        match point.kind {
            WaypointKind::Assumption => self.assumption(point, segment, avoid),
            WaypointKind::After => self.after(point, segment, avoid),
            WaypointKind::Branching => self.branching(point, segment, avoid),
            WaypointKind::FunctionEnter | WaypointKind::FunctionReturn => {
                self.call(point, segment, avoid)
            }
            WaypointKind::Target => None,
        }
    }

    fn assumption(&mut self, point: &Waypoint, segment: u32, avoid: bool) -> Option<Vec<Stitch>> {
        let (file, range) = self.rest_of_line(&point.location)?;
        let mut entries = self.entries(file, &range);
        if entries.is_empty() {
            return None;
        }
        if let Some(name) = &point.location.function {
            entries.retain(|location| {
                let function = self.tables.program.locations[location.index()].function;
                self.tables.program.function(function).name == *name
            });
        }
        let mut stitches = Vec::new();
        for location in entries {
            let function = self.tables.program.locations[location.index()].function;
            let text = point.constraint.clone().unwrap_or_default();
            let constraint = self.expression(function, &text, point.span)?;
            let first = self.tables.program.edges_from(location).next();
            stitches.push(Stitch {
                point: Point::Before(location),
                segment,
                constraint: Some(constraint),
                when: None,
                rank: ASSUMED,
                avoid,
                source: first?.1.source,
            });
        }
        Some(stitches)
    }

    /// What holds once a line has been executed: wherever control leaves it.
    fn after(&mut self, point: &Waypoint, segment: u32, avoid: bool) -> Option<Vec<Stitch>> {
        let (file, range) = self.rest_of_line(&point.location)?;
        let inside = self.edges_in(file, &range);
        let from: BTreeSet<LocId> = inside
            .iter()
            .map(|id| self.tables.program.edges[id.index()].from)
            .collect();
        let mut stitches = Vec::new();
        for id in inside {
            let edge = self.tables.program.edges[id.index()].clone();
            if from.contains(&edge.to) {
                continue;
            }
            let function = self.tables.program.locations[edge.from.index()].function;
            let text = point.constraint.clone().unwrap_or_default();
            let constraint = self.expression(function, &text, point.span)?;
            stitches.push(Stitch {
                point: Point::After(id),
                segment,
                constraint: Some(constraint),
                when: None,
                rank: ASSUMED,
                avoid,
                source: edge.source,
            });
        }
        (!stitches.is_empty()).then_some(stitches)
    }

    fn call(&mut self, point: &Waypoint, segment: u32, avoid: bool) -> Option<Vec<Stitch>> {
        let file = self.file(&point.location)?;
        let text = &self.texts[&file].text;
        let at = offset(
            text,
            point.location.line,
            point.location.column.unwrap_or(1),
        )?;
        let whole_line = point.location.column.is_none();
        let mut stitches = Vec::new();
        let candidates: Vec<EdgeId> = (0..self.tables.program.edges.len() as u32)
            .map(EdgeId)
            .filter(|id| {
                let edge = &self.tables.program.edges[id.index()];
                let span = edge.source.span;
                let here = if whole_line {
                    position(text, span.start as usize).0 == point.location.line
                } else {
                    span.end as usize == at + 1
                };
                span.file == file
                    && here
                    && self.is_user(edge.from)
                    && matches!(edge.op, Op::Call { .. } | Op::Input { .. })
            })
            .collect();
        for id in candidates {
            let edge = self.tables.program.edges[id.index()].clone();
            let function = self.tables.program.locations[edge.from.index()].function;
            if point.kind == WaypointKind::FunctionEnter {
                stitches.push(Stitch {
                    point: Point::Before(edge.from),
                    segment,
                    constraint: None,
                    when: None,
                    rank: CALLED,
                    avoid,
                    source: edge.source,
                });
                continue;
            }
            let result = match edge.op {
                Op::Input { place, .. } => Some(place),
                Op::Call { result, .. } => result,
                _ => None,
            };
            let constraint = match (&point.constraint, result) {
                (None, _) => None,
                (Some(text), Some(place)) => {
                    Some(self.expression_with(function, Some(place), text, point.span)?)
                }
                (Some(_), None) => return None,
            };
            stitches.push(Stitch {
                point: Point::After(id),
                segment,
                constraint,
                when: None,
                rank: CALLED,
                avoid,
                source: edge.source,
            });
        }
        (!stitches.is_empty()).then_some(stitches)
    }

    /// Sews the stitches in.
    fn sew(
        self,
        mut stitches: Vec<Stitch>,
        last: u32,
        property: &[CheckId],
        targets: &BTreeSet<CheckId>,
    ) -> Woven {
        let mut sewing = Sewing::new(self.tables);
        // One visit passes one segment: later segments are looked at first, and what is to be
        // avoided before what is followed. What is evaluated later is visited later.
        stitches.sort_by_key(|stitch| {
            let segment = std::cmp::Reverse(stitch.segment);
            (stitch.rank, segment, !stitch.avoid)
        });
        let mut ends: BTreeMap<u32, (LocId, LocId)> = BTreeMap::new();
        let mut starts: BTreeMap<u32, LocId> = BTreeMap::new();
        for stitch in stitches {
            let (from, to) = match stitch.point {
                Point::Before(location) => {
                    let at = starts.get(&location.0).copied().unwrap_or(location);
                    let behind = sewing.graphs.split(at);
                    starts.insert(location.0, behind);
                    (at, behind)
                }
                Point::After(edge) => {
                    let (at, old) = match ends.get(&edge.0).copied() {
                        None => sewing.graphs.split_after(edge),
                        Some(known) => known,
                    };
                    let behind = sewing.location(at, LocationKind::Plain);
                    ends.insert(edge.0, (behind, old));
                    (at, behind)
                }
            };
            sewing.stitch(&stitch, from, to);
        }
        for (&edge, &(behind, old)) in &ends {
            let source = sewing.graphs.edges()[edge as usize].source;
            sewing.graphs.edge(behind, old, Op::Skip, source);
        }
        sewing.close(last, property, targets);
        let mut found: Vec<CheckId> = targets.iter().copied().collect();
        found.sort();
        Woven {
            program: sewing.finish(),
            property: found,
            invariants: Vec::new(),
            unchecked: self.diagnostics.len(),
            diagnostics: self.diagnostics,
        }
    }

    fn correctness(
        mut self,
        invariants: &[Invariant],
        property: &[CheckId],
        budget: &Budget,
    ) -> Result<Woven, Stopped> {
        let mut claims: Vec<Claim> = Vec::new();
        for invariant in invariants {
            budget.check()?;
            match invariant.kind {
                InvariantKind::Contract => claims.extend(self.contract(invariant)),
                InvariantKind::Loop | InvariantKind::Location => {
                    for location in self.claimed_at(invariant) {
                        claims.extend(self.claim(location, &invariant.value, invariant.span));
                    }
                }
            }
        }
        let mut tables = self.tables;
        let mut graphs = Graphs::new(&tables.program);
        let mut checks = Vec::new();
        let mut starts: BTreeMap<u32, LocId> = BTreeMap::new();
        for claim in claims {
            let function = graphs.function(claim.location);
            let at = match starts.get(&claim.location.0) {
                Some(&at) => at,
                None if graphs.kind(claim.location) == LocationKind::Exit => {
                    let (last, exit) = graphs.before_exit(function);
                    let source = tables.program.function(function).source;
                    graphs.edge(last, exit, Op::Skip, source);
                    last
                }
                None => claim.location,
            };
            let behind = graphs.split(at);
            starts.insert(claim.location.0, behind);
            let check = tables.program.add_check(Check {
                kind: CheckKind::Assertion,
                message: format!("invariant {}", claim.text),
                function,
                source: claim.source,
            });
            let error = graphs.location(function, LocationKind::Error(check));
            graphs.branch(at, claim.expr, behind, error, claim.source);
            checks.push(check);
        }
        for old in self.olds {
            let source = tables.program.function(old.function).source;
            let (start, entry) = graphs.before_entry(old.function);
            let place = tables.variable_place(old.variable);
            let value = old.value;
            graphs.edge(start, entry, Op::Assign { place, value }, source);
        }
        graphs.lay_out(&mut tables.program);
        Ok(Woven {
            program: tables.program,
            property: property.to_vec(),
            invariants: checks,
            unchecked: self.diagnostics.len(),
            diagnostics: self.diagnostics,
        })
    }

    fn claim(&mut self, location: LocId, text: &str, span: Span) -> Option<Claim> {
        let function = self.tables.program.locations[location.index()].function;
        let expr = self.expression(function, text, span)?;
        let first = self.tables.program.edges_from(location).next();
        let fallback = self.tables.program.function(function).source;
        Some(Claim {
            location,
            expr,
            text: text.to_owned(),
            source: first.map_or(fallback, |(_, edge)| edge.source),
        })
    }

    /// What a contract claims: one thing where the function is entered, one where it returns.
    fn contract(&mut self, invariant: &Invariant) -> Vec<Claim> {
        let location = &invariant.location;
        let named = location
            .function
            .as_deref()
            .and_then(|name| self.tables.program.function_named(name));
        let on_line = || {
            let file = self.file(location)?;
            self.tables.program.functions.iter().position(|function| {
                function.origin == Origin::User
                    && function.source.span.file == file
                    && function.source.line == location.line
            })
        };
        let function = named.or_else(|| on_line().map(|index| FuncId(index as u32)));
        let Some(function) = function else {
            let line = location.line;
            self.note(
                invariant.span,
                format!("there is no function at line {line}: this contract is not checked"),
            );
            return Vec::new();
        };
        let (entry, exit) = {
            let function = self.tables.program.function(function);
            (function.entry, function.exit)
        };
        let mut claims = Vec::new();
        claims.extend(self.claim(entry, &invariant.value, invariant.span));
        if let Some(ensures) = &invariant.ensures {
            claims.extend(self.claim(exit, ensures, invariant.span));
        }
        claims
    }

    /// The locations at which an invariant is claimed to hold.
    fn claimed_at(&mut self, invariant: &Invariant) -> Vec<LocId> {
        let found = match invariant.kind {
            InvariantKind::Loop => self.loop_heads(&invariant.location),
            InvariantKind::Location => self
                .rest_of_line(&invariant.location)
                .map(|(file, range)| self.entries(file, &range))
                .unwrap_or_default(),
            InvariantKind::Contract => Vec::new(),
        };
        if found.is_empty() {
            let line = invariant.location.line;
            let what = match invariant.kind {
                InvariantKind::Loop => "loop",
                _ => "statement",
            };
            self.note(
                invariant.span,
                format!("there is no {what} at line {line}: this invariant is not checked"),
            );
        }
        found
    }

    fn loop_heads(&self, location: &Location) -> Vec<LocId> {
        let Some((file, range)) = self.rest_of_line(location) else {
            return Vec::new();
        };
        let TextOf { text, tokens } = &self.texts[&file];
        let heads = (0..self.tables.program.locations.len() as u32).map(LocId);
        heads
            .filter(|&head| {
                let kind = self.tables.program.locations[head.index()].kind;
                if kind != LocationKind::LoopHead || !self.is_user(head) {
                    return false;
                }
                let Some((_, edge)) = self.tables.program.edges_from(head).next() else {
                    return false;
                };
                let span = edge.source.span;
                span.file == file
                    && loop_keyword(text, tokens, span.start as usize)
                        .is_some_and(|keyword| range.contains(&keyword.start))
            })
            .collect()
    }
}
