//! Clauses over a few literals, as sets of bits: what is left of them when states come.
//!
//! A *pool* has literals and all clauses of certain shapes over them. A state says which literals
//! are true in it, and every clause without one of those is out. Of what is left, only the clauses
//! count that no smaller one makes superfluous.

use hardbop_logic::{TermId, Terms};
use std::collections::HashSet;

/// The most literals of a pool: the bits of a set.
pub const LITERALS: usize = 128;

/// A set of literals of one pool.
pub type Set = u128;

/// What a literal speaks of: clauses are made of literals of different groups.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Group {
    /// What always comes alone.
    Alone,
    /// May be added to any clause: an exception.
    Except,
    /// Fields of the node.
    Own,
    /// Variables that are no pointers to nodes.
    Plain,
    /// Where a pointer of the node points to, by its field.
    Link(u8),
    /// The node that it points to.
    Next(u8),
}

impl Group {
    /// Whether a clause may have literals of both: nothing relates what lies behind two fields.
    fn goes_with(self, other: Group) -> bool {
        match (self, other) {
            (Group::Alone | Group::Except, _) | (_, Group::Alone | Group::Except) => false,
            (Group::Next(a), Group::Next(b) | Group::Link(b)) => a == b,
            (Group::Link(a), Group::Next(b)) => a == b,
            _ => true,
        }
    }

    /// Whether clauses of three have such a literal, and of which sort.
    fn place(self) -> Option<u8> {
        match self {
            Group::Alone | Group::Except => None,
            Group::Own => Some(0),
            Group::Plain => Some(1),
            Group::Link(_) => Some(2),
            Group::Next(_) => Some(3),
        }
    }
}

/// Which sorts of literals clauses of three are made of, in order.
const THREE: [[u8; 3]; 5] = [
    // One of two things, if something holds of plain variables.
    [0, 0, 1],
    // What lies behind a node with a property, unless it is the last one.
    [0, 2, 3],
    [0, 3, 3],
    [0, 1, 2],
    [1, 2, 3],
];

/// How large clauses are: small ones are soon decided, and often enough.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Size {
    /// Two literals.
    Two,
    /// Three, where one of them speaks of where the node points to or is an exception.
    Three,
    /// Three, and exceptions.
    All,
}

/// Literals, and the clauses over them that no state refuted.
#[derive(Clone, Debug, Default)]
pub struct Pool {
    /// A disjunct of all clauses.
    pub unless: Option<TermId>,
    /// The literals.
    pub literals: Vec<TermId>,
    groups: Vec<Group>,
    /// Pairs one of which always holds.
    excluded: Vec<Set>,
    clauses: Vec<Set>,
}

impl Pool {
    /// A pool without literals.
    pub fn new(unless: Option<TermId>) -> Pool {
        Pool {
            unless,
            ..Pool::default()
        }
    }

    /// Adds a literal, if there is room and it is new. Gives its position.
    pub fn add(&mut self, group: Group, literal: TermId) -> Option<usize> {
        if self.literals.len() < LITERALS && !self.literals.contains(&literal) {
            self.literals.push(literal);
            self.groups.push(group);
            return Some(self.literals.len() - 1);
        }
        None
    }

    /// Of two literals one always holds: no clause has both.
    pub fn exclude(&mut self, one: usize, other: usize) {
        self.excluded.push(1 << one | 1 << other);
    }

    /// Makes the clauses.
    pub fn close(&mut self, terms: &mut Terms, size: Size) {
        let (count, groups) = (self.literals.len(), self.groups.clone());
        let bit = |at: usize| 1 << at;
        let of = |group: Group| {
            let groups = &groups;
            (0..count).filter(move |&at| groups[at] == group)
        };
        let mut bodies: Vec<Set> = Vec::new();
        let sort = |at: usize| groups[at].place();
        let mut sorted: Vec<usize> = (0..count).filter(|&at| sort(at).is_some()).collect();
        sorted.sort_by_key(|&at| sort(at));
        for (index, &a) in sorted.iter().enumerate() {
            bodies.push(bit(a));
            for (further, &b) in sorted.iter().enumerate().skip(index + 1) {
                if !groups[a].goes_with(groups[b]) {
                    continue;
                }
                bodies.push(bit(a) | bit(b));
                for &c in &sorted[further + 1..] {
                    let shape = [sort(a), sort(b), sort(c)].map(|sort| sort.unwrap_or(0));
                    let together = groups[a].goes_with(groups[c]) && groups[b].goes_with(groups[c]);
                    let wanted = match size {
                        Size::Two => false,
                        Size::Three => shape == [0, 2, 3],
                        Size::All => THREE.contains(&shape),
                    };
                    if together && wanted {
                        bodies.push(bit(a) | bit(b) | bit(c));
                    }
                }
            }
        }
        let opposites = self.opposites(terms);
        bodies.retain(|body| !opposites.iter().any(|both| body & both == *both));
        let mut clauses: Vec<Set> = of(Group::Alone).chain(of(Group::Except)).map(bit).collect();
        clauses.extend(&bodies);
        for except in of(Group::Except) {
            let most = match size {
                Size::Two => 1,
                Size::Three => 2,
                Size::All => 3,
            };
            let excepted = bodies.iter().filter(|body| body.count_ones() <= most);
            clauses.extend(excepted.map(|body| body | bit(except)));
        }
        // Small ones first: they make others superfluous.
        clauses.sort_by_key(|clause| clause.count_ones());
        self.clauses = clauses;
    }

    /// Pairs of literals one of which always holds.
    fn opposites(&self, terms: &mut Terms) -> Vec<Set> {
        let mut found = self.excluded.clone();
        for (a, &literal) in self.literals.iter().enumerate() {
            for (b, &other) in self.literals.iter().enumerate().skip(a + 1) {
                let either = terms.or(&[literal, other]);
                if either == terms.bool(true) {
                    found.push(1 << a | 1 << b);
                }
            }
        }
        found
    }

    /// A state comes in which just these literals are true.
    pub fn meet(&mut self, true_there: Set) {
        self.clauses.retain(|clause| clause & true_there != 0);
    }

    /// Leaves out a clause, and what follows from it.
    pub fn leave_out(&mut self, clause: Set) {
        self.clauses.retain(|other| other & clause != clause);
    }

    /// What is left, without what follows from smaller clauses.
    pub fn least(&self) -> Vec<Set> {
        let all: HashSet<Set> = self.clauses.iter().copied().collect();
        let least = self.clauses.iter().copied();
        least
            .filter(|&clause| !smaller(clause).any(|small| all.contains(&small)))
            .collect()
    }

    /// Leaves out what is known already: some clauses, and what follows from them.
    pub fn leave_out_all(&mut self, known: &[Set]) {
        let known: HashSet<Set> = known.iter().copied().collect();
        self.clauses.retain(|&clause| {
            !known.contains(&clause) && !smaller(clause).any(|small| known.contains(&small))
        });
    }

    /// A clause as a formula.
    pub fn fact(&self, terms: &mut Terms, clause: Set) -> TermId {
        let literals = self.literals.iter().enumerate();
        let chosen = literals.filter(|(at, _)| clause >> at & 1 == 1);
        let mut parts: Vec<TermId> = chosen.map(|(_, &literal)| literal).collect();
        parts.extend(self.unless);
        terms.or(&parts)
    }

    /// What is left, as formulas.
    pub fn facts(&self, terms: &mut Terms) -> Vec<TermId> {
        let least = self.least();
        least
            .iter()
            .map(|&clause| self.fact(terms, clause))
            .collect()
    }
}

/// The clauses with some of the literals of one, but not all.
fn smaller(clause: Set) -> impl Iterator<Item = Set> {
    let mut part = clause;
    std::iter::from_fn(move || {
        part = part.wrapping_sub(1) & clause;
        (part != 0).then_some(part)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use hardbop_logic::Sort;

    #[test]
    fn states_refute_clauses_and_small_clauses_make_large_ones_superfluous() {
        let mut terms = Terms::new();
        let mut pool = Pool::new(None);
        for name in ["p", "q"] {
            let literal = terms.constant(name, Sort::Bool);
            let opposite = terms.not(literal);
            pool.add(Group::Own, literal);
            pool.add(Group::Own, opposite);
        }
        pool.close(&mut terms, Size::All);
        let shown = |pool: &Pool, terms: &mut Terms| -> Vec<String> {
            let facts = pool.facts(terms);
            facts.iter().map(|&f| terms.infix(f).to_string()).collect()
        };
        // p and q, ...
        pool.meet(0b0101);
        assert_eq!(shown(&pool, &mut terms), ["p", "q"]);
        // ... then p and not q, then not p and q: that both are false was never seen.
        pool.meet(0b1001);
        assert_eq!(shown(&pool, &mut terms), ["p"]);
        pool.meet(0b0110);
        assert_eq!(shown(&pool, &mut terms), ["p || q"]);
    }
}
