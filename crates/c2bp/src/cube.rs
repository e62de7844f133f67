//! Cubes and disjunctions of cubes: what F(ψ) is made of (TR 2000-14, section 4.1).

/// A conjunction of literals: positions of predicates with their signs, sorted, each once.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Cube {
    literals: Vec<(u32, bool)>,
}

impl Cube {
    /// The cube of these literals; a predicate may occur once only.
    pub fn new(mut literals: Vec<(u32, bool)>) -> Cube {
        literals.sort_unstable();
        Cube { literals }
    }

    /// The literals: position and sign.
    pub fn literals(&self) -> &[(u32, bool)] {
        &self.literals
    }

    /// The number of literals.
    pub fn len(&self) -> usize {
        self.literals.len()
    }

    /// Whether it is the cube that always holds.
    pub fn is_empty(&self) -> bool {
        self.literals.is_empty()
    }

    /// Whether all literals of `other` are here.
    pub fn contains(&self, other: &Cube) -> bool {
        other
            .literals
            .iter()
            .all(|literal| self.literals.binary_search(literal).is_ok())
    }

    /// The cube with one more literal, of a predicate that comes after all of its own.
    pub(crate) fn with(&self, position: u32, sign: bool) -> Cube {
        let mut literals = self.literals.clone();
        literals.push((position, sign));
        Cube { literals }
    }
}

/// A disjunction of cubes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Dnf {
    /// The cubes, sorted by length, then by their literals.
    pub cubes: Vec<Cube>,
}

impl Dnf {
    /// What never holds.
    pub fn never() -> Dnf {
        Dnf::default()
    }

    /// What always holds.
    pub fn always() -> Dnf {
        Dnf {
            cubes: vec![Cube::default()],
        }
    }

    /// One literal.
    pub fn literal(position: u32, sign: bool) -> Dnf {
        Dnf {
            cubes: vec![Cube::new(vec![(position, sign)])],
        }
    }

    /// Whether it has no cube.
    pub fn is_never(&self) -> bool {
        self.cubes.is_empty()
    }

    /// Whether it holds in every state.
    pub fn is_always(&self) -> bool {
        self.cubes.iter().any(Cube::is_empty)
    }

    /// Whether it is one literal and `other` is its negation.
    pub fn is_negated_literal(&self, other: &Dnf) -> bool {
        match (self.cubes.as_slice(), other.cubes.as_slice()) {
            ([a], [b]) => match (a.literals(), b.literals()) {
                ([(p, s)], [(q, t)]) => p == q && s != t,
                _ => false,
            },
            _ => false,
        }
    }

    pub(crate) fn sort(&mut self) {
        self.cubes
            .sort_by(|a, b| (a.len(), &a.literals).cmp(&(b.len(), &b.literals)));
    }

    /// Whether it holds where predicates have these values.
    pub fn holds(&self, value: impl Fn(u32) -> bool) -> bool {
        self.cubes.iter().any(|cube| {
            cube.literals
                .iter()
                .all(|&(position, sign)| value(position) == sign)
        })
    }
}

/// The truth values of predicates in a model, as far as the solver tells them.
#[derive(Clone, Debug)]
pub(crate) struct Valuation {
    values: Vec<Option<bool>>,
}

impl Valuation {
    pub fn new(values: Vec<Option<bool>>) -> Valuation {
        Valuation { values }
    }

    /// Whether the model is surely in the cube.
    pub fn satisfies(&self, cube: &Cube) -> bool {
        cube.literals
            .iter()
            .all(|&(position, sign)| self.values[position as usize] == Some(sign))
    }

    pub fn get(&self, position: usize) -> Option<bool> {
        self.values[position]
    }
}
