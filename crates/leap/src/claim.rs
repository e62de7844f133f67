//! A chain as a claim, for a run that is too long to be replayed: all that the gate needs to ask
//! the questions again, from the program's edges on.

use crate::chain::{Leap, Link, Walk};
use crate::flat::Move;
use crate::graph::Graph;
use crate::search::Chain;
use crate::strengthen::ports;
use crate::theorem::{Theorem, View};
use hardbop_cfront::ids::{EdgeId, FuncId, LocId};
use hardbop_cfront::program::Program;
use hardbop_engine::claim;
use hardbop_logic::{Assignment, Op, Prover, Sort, TermId, Terms, declared_text, eval};
use hardbop_semantics::Semantics;
use hardbop_semantics::constants::Spelling;
use std::collections::{BTreeMap, BTreeSet};

/// A location with the calls that are open.
type Place = (LocId, Vec<(EdgeId, FuncId)>);

/// The claims that a chain may be, under a model of its condition, the easiest to check first.
///
/// Equations between the counters of a loop are often all that is needed of an abstract state, and
/// much easier to check than what else is known; so a chain with nothing but them comes first.
pub fn claims(
    semantics: &Semantics<'_>,
    terms: &mut Terms,
    graph: &Graph,
    chain: &Chain,
    model: &Assignment,
    length: u128,
    prover: &mut Prover,
) -> Vec<claim::Chain> {
    let mut found = Vec::new();
    let lean = lean(terms, chain);
    for chain in lean.iter().chain([chain]) {
        found.extend(claim(semantics, terms, graph, chain, model, length, prover));
    }
    found
}

/// The claim that a chain is as it stands.
pub fn claim(
    semantics: &Semantics<'_>,
    terms: &mut Terms,
    graph: &Graph,
    chain: &Chain,
    model: &Assignment,
    length: u128,
    prover: &mut Prover,
) -> Option<claim::Chain> {
    let mut writer = Writer {
        spelling: Spelling::new(semantics, terms),
        program: semantics.program,
        terms,
        graph,
        model,
        prover,
        settled: BTreeMap::new(),
        loose: Vec::new(),
    };
    writer.chain(chain, length)
}

/// The chain with abstract states of which only the equations are kept, if that is another one.
fn lean(terms: &mut Terms, chain: &Chain) -> Option<Chain> {
    let mut lean = chain.clone();
    let mut changed = false;
    for link in &mut lean.links {
        let Link::Leap(leap) = link else {
            continue;
        };
        for predicates in &mut leap.found.predicates {
            let before = predicates.len();
            predicates.retain(|&predicate| matches!(terms.op(predicate), Op::Eq));
            changed |= predicates.len() < before;
        }
        let predicates = &leap.found.predicates;
        leap.found.ports = ports(terms, &leap.body.system, &leap.entry, predicates);
    }
    changed.then_some(lean)
}

struct Writer<'a> {
    spelling: Spelling,
    program: &'a Program,
    terms: &'a mut Terms,
    graph: &'a Graph,
    model: &'a Assignment,
    prover: &'a mut Prover,
    /// Values of rigid constants that are settled.
    settled: BTreeMap<TermId, TermId>,
    /// What is known of those that are not.
    loose: Vec<TermId>,
}

impl Writer<'_> {
    fn chain(&mut self, chain: &Chain, length: u128) -> Option<claim::Chain> {
        let entry = self.program.function(self.program.entry).entry;
        let mut at: Place = (entry, Vec::new());
        let mut links = Vec::new();
        for (index, link) in chain.links.iter().enumerate() {
            links.push(match link {
                Link::Walk(walk) => claim::Link::Walk(self.walk(walk, &mut at)?),
                Link::Leap(leap) => claim::Link::Leap(Box::new(self.leap(leap, index, &mut at)?)),
            });
        }
        Some(claim::Chain {
            check: chain.check,
            links,
            length: length.to_string(),
        })
    }

    /// The value that the model has for a constant.
    fn literal(&mut self, symbol: TermId) -> Option<TermId> {
        let value = eval(self.terms, symbol, self.model).ok()?;
        let sort = self.terms.sort(symbol);
        Some(self.terms.literal(&value, sort))
    }

    /// A term as text, with what is settled in it.
    fn text(&mut self, term: TermId) -> Option<String> {
        let settled = self.terms.substitute(term, &self.settled);
        self.spelling.write(self.terms, settled)
    }

    fn walk(&mut self, walk: &Walk, at: &mut Place) -> Option<claim::Walk> {
        let path = self.graph.path(walk.path);
        let moves = moves(&path.moves)?;
        *at = follow(self.program, at, &moves)?;
        let mut choices = Vec::new();
        for &(key, symbol) in &walk.choices {
            if let Some(literal) = self.literal(symbol) {
                self.settled.insert(symbol, literal);
                choices.push((key, declared_text(self.terms, literal)));
            }
        }
        Some(claim::Walk { moves, choices })
    }

    fn leap(&mut self, leap: &Leap, index: usize, at: &mut Place) -> Option<claim::Leap> {
        if leap.found.theorem != Theorem::Forward {
            return None;
        }
        let body = &leap.body;
        let count = body.nodes.len();
        let mut paths = Vec::new();
        for (&path, &(from, to)) in body.paths.iter().zip(&body.ends) {
            paths.push((from, to, moves(&self.graph.path(path).moves)?));
        }
        let entry = leap.entry.node;
        let places = places(self.program, count, entry, at, &paths)?;
        let counter = match body.counter {
            Some(position) => {
                let name = body.system.variables[position].constant;
                Some(self.terms.width(name))
            }
            None => None,
        };
        let all = body.system.variables.iter().zip(&body.variables);
        for (number, (count, _)) in all.filter(|(_, id)| id.is_none()).enumerate() {
            let name = match number {
                0 => "iteration#".to_owned(),
                more => format!("iteration{more}#"),
            };
            self.spelling.spell(self.terms, count.constant, &name);
        }
        let mut strategy = Vec::new();
        for (&key, &chosen) in &leap.strategy {
            strategy.push((key, self.text(chosen)?));
        }
        let mut nodes = Vec::new();
        for (node, (location, calls)) in places.iter().enumerate() {
            let relevant = &self.graph.cut(body.nodes[node]).relevant;
            let matters = |at: &usize| match body.variables[*at] {
                Some(id) => relevant.contains(&id),
                None => true,
            };
            let all = 0..body.variables.len();
            nodes.push(claim::Node {
                location: *location,
                calls: calls.clone(),
                relevant: all.clone().filter(matters).collect(),
                state: self.text(leap.found.ports.state.0[node])?,
                exit: self.text(leap.found.ports.exit.0[node])?,
                view: match &leap.found.view {
                    View::Whole => all.collect(),
                    View::Of(positions) => positions[node].clone(),
                },
            });
        }
        let left = self.left(leap, index)?;
        *at = places.get(leap.exit_node)?.clone();
        Some(claim::Leap {
            nodes,
            entry,
            exit: leap.exit_node,
            paths,
            variables: body.variables.clone(),
            counter,
            counts: leap.counts.clone(),
            strategy,
            left,
        })
    }

    /// The values with which a loop is left, if the model's are the only ones.
    fn left(&mut self, leap: &Leap, index: usize) -> Option<Option<Vec<String>>> {
        for (position, &value) in leap.exit_values.iter().enumerate() {
            let name = format!("left{index}.{position}#");
            self.spelling.spell(self.terms, value, &name);
        }
        let names = leap.body.system.variables.iter();
        let names = names.map(|variable| variable.constant);
        let onto = names.zip(leap.exit_values.iter().copied()).collect();
        let exit = leap.found.ports.exit.0[leap.exit_node];
        let exit = self.terms.substitute(exit, &self.settled);
        let there = self.terms.substitute(exit, &onto);
        let mut literals = Vec::new();
        let mut others = Vec::new();
        for &value in &leap.exit_values {
            // What an array holds is told cell by cell, by the port.
            if matches!(self.terms.sort(value), Sort::Array(_)) {
                literals.push(value);
                continue;
            }
            let literal = self.literal(value)?;
            let equal = self.terms.eq(value, literal);
            others.push(self.terms.not(equal));
            literals.push(literal);
        }
        let mut question = self.loose.clone();
        question.extend([there, self.terms.or(&others)]);
        if self.prover.unsatisfiable(self.terms, &question) != Ok(true) {
            self.loose.push(there);
            return Some(None);
        }
        let known = leap.exit_values.iter().copied().zip(literals.clone());
        self.settled
            .extend(known.filter(|(value, literal)| value != literal));
        let mut texts = Vec::new();
        for literal in literals {
            texts.push(self.spelling.write(self.terms, literal)?);
        }
        Some(Some(texts))
    }
}

/// The places of a loop's nodes; every node lies on a path from the entry.
fn places(
    program: &Program,
    count: usize,
    entry: usize,
    at: &Place,
    paths: &[(usize, usize, Vec<claim::Move>)],
) -> Option<Vec<Place>> {
    let mut places: Vec<Option<Place>> = vec![None; count];
    places[entry] = Some(at.clone());
    let mut work = vec![entry];
    let mut seen = BTreeSet::from([entry]);
    while let Some(node) = work.pop() {
        let here = places[node].clone()?;
        for (from, to, moves) in paths {
            if *from == node && seen.insert(*to) {
                places[*to] = Some(follow(program, &here, moves)?);
                work.push(*to);
            }
        }
    }
    places.into_iter().collect()
}

/// Where moves lead.
fn follow(program: &Program, from: &Place, moves: &[claim::Move]) -> Option<Place> {
    let (mut location, mut calls) = from.clone();
    for step in moves {
        location = match *step {
            claim::Move::Edge(edge) => program.edges[edge.index()].to,
            claim::Move::Enter(call, callee) => {
                calls.push((call, callee));
                program.function(callee).entry
            }
            claim::Move::Leave(call, _) => {
                calls.pop()?;
                program.edges[call.index()].to
            }
        };
    }
    Some((location, calls))
}

/// Moves that a claim can speak of: no recursion.
fn moves(moves: &[Move]) -> Option<Vec<claim::Move>> {
    let one = |step: &Move| match *step {
        Move::Edge(edge) => Some(claim::Move::Edge(edge)),
        Move::Enter(call, callee) => Some(claim::Move::Enter(call, callee)),
        Move::Leave(call, callee) => Some(claim::Move::Leave(call, callee)),
        Move::Again(..) | Move::Back(..) => None,
    };
    moves.iter().map(one).collect()
}
