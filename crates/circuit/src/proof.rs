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
    clauses: Vec<Vec<i32>>,
    /// For each literal the clauses that wait for it to become false.
    watches: Vec<Vec<u32>>,
    /// For each variable: true, false, or not known.
    values: Vec<Option<bool>>,
    /// The literals that are true, in the order in which they became so.
    trail: Vec<i32>,
    /// How much of the trail was propagated.
    propagated: usize,
    /// Clauses by their literals in order, to be dropped.
    known: FxHashMap<Vec<i32>, Vec<u32>>,
    /// Whether the clauses contradict each other.
    contradiction: bool,
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
            match self.value(literal) {
                Some(true) => {
                    holds = true;
                    break;
                }
                Some(false) => {}
                None => self.assign(-literal),
            }
        }
        holds = holds || !self.propagate();
        for literal in self.trail.drain(root..) {
            self.values[literal.unsigned_abs() as usize] = None;
        }
        self.propagated = root;
        holds
    }

    fn room(&mut self, literal: i32) {
        let variable = literal.unsigned_abs() as usize;
        if self.values.len() <= variable {
            self.values.resize(variable + 1, None);
            self.watches.resize_with(2 * variable + 2, Vec::new);
        }
    }

    fn value(&self, literal: i32) -> Option<bool> {
        let value = self.values[literal.unsigned_abs() as usize];
        value.map(|value| value == (literal > 0))
    }

    fn assign(&mut self, literal: i32) {
        self.values[literal.unsigned_abs() as usize] = Some(literal > 0);
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
        let key = literals.clone();
        // Those that are not false come first: they are watched.
        literals.sort_by_key(|&literal| self.value(literal) == Some(false));
        let open = literals.iter().take(2);
        let open: Vec<i32> = open
            .copied()
            .filter(|&literal| self.value(literal) != Some(false))
            .collect();
        let id = self.clauses.len() as u32;
        if literals.len() >= 2 {
            for &literal in &literals[..2] {
                self.watches[place(literal)].push(id);
            }
        }
        match open[..] {
            [] => self.contradiction = true,
            [only] if self.value(only).is_none() => {
                self.assign(only);
                self.clauses.push(literals);
                self.known.entry(key).or_default().push(id);
                self.contradiction |= !self.propagate();
                return;
            }
            _ => {}
        }
        self.clauses.push(literals);
        self.known.entry(key).or_default().push(id);
    }

    /// Forgets a clause. What followed from it stays: all steps follow from what is given.
    fn drop_clause(&mut self, clause: &[i32]) {
        if let Some(ids) = self.known.get_mut(&ordered(clause))
            && let Some(id) = ids.pop()
        {
            self.clauses[id as usize].clear();
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
            while at < waiting.len() {
                let id = waiting[at];
                at += 1;
                match self.visit(id, falsified) {
                    Visit::Gone => continue,
                    Visit::Stays => {}
                    Visit::Forces(other) => self.assign(other),
                    Visit::False => sound = false,
                }
                waiting[kept] = id;
                kept += 1;
                if !sound {
                    break;
                }
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
    fn visit(&mut self, id: u32, falsified: i32) -> Visit {
        let mut clause = std::mem::take(&mut self.clauses[id as usize]);
        let visit = self.visit_clause(id, &mut clause, falsified);
        self.clauses[id as usize] = clause;
        visit
    }

    fn visit_clause(&mut self, id: u32, clause: &mut [i32], falsified: i32) -> Visit {
        if clause.len() < 2 {
            // It was dropped.
            return Visit::Gone;
        }
        if clause[0] == falsified {
            clause.swap(0, 1);
        }
        if self.value(clause[0]) == Some(true) {
            return Visit::Stays;
        }
        for at in 2..clause.len() {
            if self.value(clause[at]) != Some(false) {
                clause.swap(1, at);
                self.watches[place(clause[1])].push(id);
                return Visit::Gone;
            }
        }
        match self.value(clause[0]) {
            Some(_) => Visit::False,
            None => Visit::Forces(clause[0]),
        }
    }
}

enum Visit {
    /// The clause waits for another literal, or was dropped.
    Gone,
    /// It holds, or waits on.
    Stays,
    /// A literal must hold.
    Forces(i32),
    /// All its literals are false.
    False,
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
