//! Proofs that clauses have no model, checked step by step.
//!
//! In come clauses that are given and clauses that a solver says it learned, in the order in which
//! they came. A clause is taken only if it follows from what was taken before by propagation of
//! units: with all its literals false, some clause is false in the end. Nothing is searched here,
//! and nothing is believed. (A proof of this kind is a DRAT proof; the steps that change which
//! models there are, which DRAT has besides, are refused.)
//!
//! Literals are numbers, negative ones negated, as in DIMACS. Proofs have the text form of
//! `drat-trim`.

use rustc_hash::FxHashMap;
use std::fmt::Write;
use std::ops::Range;

/// A step of a proof.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// A clause that is given.
    Given(Vec<i32>),
    /// A clause that follows from those before.
    Follows(Vec<i32>),
    /// A clause that no later step needs.
    Dropped(Vec<i32>),
}

/// A clause that does not follow by propagation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused(pub Vec<i32>);

/// The clauses that were taken so far.
#[derive(Debug, Default)]
pub struct Checker {
    /// The literals of all clauses, one clause after the other.
    literals: Vec<i32>,
    /// Where the literals of each clause are; nowhere, once it was dropped.
    clauses: Vec<Range<usize>>,
    /// For each literal the clauses that wait for it to become false.
    watches: Vec<Vec<Watch>>,
    /// For each literal what is known of it.
    values: Vec<Known>,
    /// The literals that are true, in the order in which they became so.
    trail: Vec<i32>,
    /// How much of the trail was propagated.
    propagated: usize,
    /// Clauses by their literals in order, to be dropped.
    known: FxHashMap<Vec<i32>, Vec<u32>>,
    /// Whether the clauses contradict each other.
    contradiction: bool,
}

/// A clause that waits.
#[derive(Clone, Copy, Debug)]
struct Watch {
    clause: u32,
    /// Another literal of the clause: while it is true, nobody need look at the others.
    other: i32,
}

/// What is known of a literal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Known {
    #[default]
    Nothing,
    True,
    False,
}

/// The place of a literal in a table.
fn place(literal: i32) -> usize {
    literal.unsigned_abs() as usize * 2 + usize::from(literal < 0)
}

/// A clause's literals in order, each once.
fn ordered(clause: &[i32]) -> Vec<i32> {
    let mut literals = clause.to_vec();
    literals.sort_unstable();
    literals.dedup();
    literals
}

impl Checker {
    /// Nothing is given.
    pub fn new() -> Checker {
        Checker::default()
    }

    /// Takes a step, if it is one.
    pub fn take(&mut self, step: &Step) -> Result<(), Refused> {
        match step {
            Step::Given(clause) => self.add(clause),
            Step::Follows(clause) => {
                if !self.follows(clause) {
                    return Err(Refused(clause.clone()));
                }
                self.add(clause);
            }
            Step::Dropped(clause) => self.drop_clause(clause),
        }
        Ok(())
    }

    /// Whether the clauses taken so far contradict each other.
    pub fn is_contradiction(&self) -> bool {
        self.contradiction
    }

    /// Whether a clause follows by propagation.
    pub fn follows(&mut self, clause: &[i32]) -> bool {
        if self.contradiction {
            return true;
        }
        let root = self.trail.len();
        let mut holds = false;
        for &literal in clause {
            self.room(literal);
            match self.values[place(literal)] {
                Known::True => {
                    holds = true;
                    break;
                }
                Known::False => {}
                Known::Nothing => self.assign(-literal),
            }
        }
        holds = holds || !self.propagate();
        for literal in self.trail.drain(root..) {
            self.values[place(literal)] = Known::Nothing;
            self.values[place(-literal)] = Known::Nothing;
        }
        self.propagated = root;
        holds
    }

    fn room(&mut self, literal: i32) {
        let places = 2 * literal.unsigned_abs() as usize + 2;
        if self.values.len() < places {
            self.values.resize(places, Known::Nothing);
            self.watches.resize_with(places, Vec::new);
        }
    }

    fn assign(&mut self, literal: i32) {
        self.values[place(literal)] = Known::True;
        self.values[place(-literal)] = Known::False;
        self.trail.push(literal);
    }

    fn add(&mut self, clause: &[i32]) {
        let mut literals = ordered(clause);
        for &literal in &literals {
            self.room(literal);
        }
        if literals
            .iter()
            .any(|&l| literals.binary_search(&-l).is_ok())
        {
            return;
        }
        let id = self.clauses.len() as u32;
        self.known.entry(literals.clone()).or_default().push(id);
        // Those that are not false come first: they are watched.
        let value = |literal: i32| self.values[place(literal)];
        literals.sort_by_key(|&literal| value(literal) == Known::False);
        let open = literals.iter().take(2).copied();
        let open: Vec<i32> = open.filter(|&it| value(it) != Known::False).collect();
        let forced = match open[..] {
            [only] if value(only) == Known::Nothing => Some(only),
            _ => None,
        };
        if let &[one, other, ..] = &literals[..] {
            let watch = |other| Watch { clause: id, other };
            self.watches[place(one)].push(watch(other));
            self.watches[place(other)].push(watch(one));
        }
        let start = self.literals.len();
        self.literals.extend(literals);
        self.clauses.push(start..self.literals.len());
        if open.is_empty() {
            self.contradiction = true;
        }
        if let Some(only) = forced {
            self.assign(only);
            self.contradiction |= !self.propagate();
        }
    }

    /// Forgets a clause. What followed from it stays: all steps follow from what is given.
    fn drop_clause(&mut self, clause: &[i32]) {
        if let Some(ids) = self.known.get_mut(&ordered(clause))
            && let Some(id) = ids.pop()
        {
            self.clauses[id as usize] = 0..0;
        }
    }

    /// Gives literals their values as long as clauses force any; whether none is false then.
    fn propagate(&mut self) -> bool {
        while let Some(&literal) = self.trail.get(self.propagated) {
            self.propagated += 1;
            let falsified = -literal;
            let mut waiting = std::mem::take(&mut self.watches[place(falsified)]);
            let mut kept = 0;
            let mut at = 0;
            let mut sound = true;
            while at < waiting.len() && sound {
                let watch = waiting[at];
                at += 1;
                let other = match self.visit(watch, falsified) {
                    Visit::Gone => continue,
                    Visit::Stays(other) => other,
                    Visit::Forces(other) => {
                        self.assign(other);
                        other
                    }
                    Visit::False(other) => {
                        sound = false;
                        other
                    }
                };
                waiting[kept] = Watch { other, ..watch };
                kept += 1;
            }
            waiting.copy_within(at.., kept);
            waiting.truncate(kept + waiting.len() - at);
            self.watches[place(falsified)] = waiting;
            if !sound {
                return false;
            }
        }
        true
    }

    /// What becomes of a clause when a literal that it watches is false.
    fn visit(&mut self, watch: Watch, falsified: i32) -> Visit {
        if self.values[place(watch.other)] == Known::True {
            return Visit::Stays(watch.other);
        }
        let clause = &mut self.literals[self.clauses[watch.clause as usize].clone()];
        if clause.len() < 2 {
            // It was dropped.
            return Visit::Gone;
        }
        if clause[0] == falsified {
            clause.swap(0, 1);
        }
        let first = clause[0];
        if self.values[place(first)] == Known::True {
            return Visit::Stays(first);
        }
        for at in 2..clause.len() {
            if self.values[place(clause[at])] != Known::False {
                clause.swap(1, at);
                let moved = Watch {
                    other: first,
                    ..watch
                };
                self.watches[place(clause[1])].push(moved);
                return Visit::Gone;
            }
        }
        match self.values[place(first)] {
            Known::Nothing => Visit::Forces(first),
            _ => Visit::False(first),
        }
    }
}

/// What becomes of a clause, with its other watched literal where it waits on.
enum Visit {
    /// The clause waits for another literal, or was dropped.
    Gone,
    /// It holds.
    Stays(i32),
    /// A literal must hold.
    Forces(i32),
    /// All its literals are false.
    False(i32),
}

/// The clauses that are given, as DIMACS, and the steps from them to the contradiction, as DRAT.
/// What is assumed counts as given.
pub fn text(steps: &[Step], assumed: &[i32]) -> (String, String) {
    let mut clauses = String::new();
    let mut proof = String::new();
    let (mut variables, mut count) = (0, 0);
    let mut write = |to: &mut String, clause: &[i32]| {
        for literal in clause {
            variables = variables.max(literal.unsigned_abs());
            let _ = write!(to, "{literal} ");
        }
        to.push_str("0\n");
    };
    for step in steps {
        match step {
            Step::Given(clause) => {
                count += 1;
                write(&mut clauses, clause);
            }
            Step::Follows(clause) => write(&mut proof, clause),
            // What is given stays: in the text it comes before all steps.
            Step::Dropped(_) => {}
        }
    }
    for &literal in assumed {
        count += 1;
        write(&mut clauses, &[literal]);
    }
    write(&mut proof, &[]);
    (format!("p cnf {variables} {count}\n{clauses}"), proof)
}

/// Reads what [`text`] wrote, or another program: given clauses, then steps.
pub fn read(clauses: &str, proof: &str) -> Option<Vec<Step>> {
    let given = clauses
        .lines()
        .filter(|line| !line.starts_with(['c', 'p']) && !line.trim().is_empty());
    let mut steps = Vec::new();
    for line in given {
        steps.push(Step::Given(numbers(line)?));
    }
    for line in proof.lines().filter(|line| !line.trim().is_empty()) {
        steps.push(match line.trim_start().strip_prefix('d') {
            Some(rest) => Step::Dropped(numbers(rest)?),
            None => Step::Follows(numbers(line)?),
        });
    }
    Some(steps)
}

/// The numbers of a line before the zero at its end.
fn numbers(line: &str) -> Option<Vec<i32>> {
    let mut words = line.split_whitespace().map(|word| word.parse::<i32>().ok());
    let mut found = Vec::new();
    loop {
        match words.next()?? {
            0 => return words.next().is_none().then_some(found),
            i32::MIN => return None,
            literal => found.push(literal),
        }
    }
}
