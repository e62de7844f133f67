//! What is known of a value: a range of numbers, or into which objects a pointer points and how far.

use hardbop_cfront::ids::VarId;
use hardbop_cfront::points_to::ClassId;
use std::collections::{BTreeMap, BTreeSet};

/// The most objects that a pointer is followed into.
const OBJECTS: usize = 6;

/// Numbers from one to another one, both included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Range {
    /// The smallest.
    pub low: i128,
    /// The largest.
    pub high: i128,
}

/// What a pointer points into.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Base {
    /// Nothing: it is null, or so many bytes from there.
    Null,
    /// The present life of a variable.
    Variable(VarId),
    /// The object of a class that was allocated last.
    Newest(ClassId),
    /// Any other object of a class that was allocated and lives.
    Other(ClassId),
}

impl Base {
    /// The class of what is allocated.
    pub fn class(self) -> Option<ClassId> {
        match self {
            Base::Newest(class) | Base::Other(class) => Some(class),
            Base::Null | Base::Variable(_) => None,
        }
    }

    /// Whether it is the same object wherever it is said.
    pub fn is_one(self) -> bool {
        !matches!(self, Base::Other(_))
    }
}

/// What is known of a value. Of what is not known, there is none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// A number, as its type reads it.
    Number(Range),
    /// A pointer: what it may point into, and at which distances from the beginning.
    Pointer(BTreeMap<Base, Range>),
}

impl Range {
    /// One number.
    pub fn of(number: i128) -> Range {
        Range {
            low: number,
            high: number,
        }
    }

    /// The numbers from one to another one.
    pub fn new(low: i128, high: i128) -> Range {
        Range { low, high }
    }

    /// The numbers that fit in so many bits.
    pub fn of_width(width: u32, signed: bool) -> Range {
        match signed {
            true => Range::new(-(1 << (width - 1)), (1 << (width - 1)) - 1),
            false => Range::new(0, (1 << width) - 1),
        }
    }

    /// The only number, if there is just one.
    pub fn single(self) -> Option<i128> {
        (self.low == self.high).then_some(self.low)
    }

    /// Whether a number is in it.
    pub fn has(self, number: i128) -> bool {
        self.low <= number && number <= self.high
    }

    /// Whether all numbers of another one are in it.
    pub fn covers(self, other: Range) -> bool {
        self.low <= other.low && other.high <= self.high
    }

    /// The numbers that are in both; `None` if there are none.
    pub fn meet(self, other: Range) -> Option<Range> {
        let both = Range::new(self.low.max(other.low), self.high.min(other.high));
        (both.low <= both.high).then_some(both)
    }

    /// All numbers of both, and what lies between.
    pub fn join(self, other: Range) -> Range {
        Range::new(self.low.min(other.low), self.high.max(other.high))
    }

    /// The range of sums.
    pub fn plus(self, other: Range) -> Option<Range> {
        Some(Range::new(
            self.low.checked_add(other.low)?,
            self.high.checked_add(other.high)?,
        ))
    }

    /// The range of negations.
    pub fn negated(self) -> Option<Range> {
        Some(Range::new(
            self.high.checked_neg()?,
            self.low.checked_neg()?,
        ))
    }

    /// The range of what two numbers give, for an operation that is monotone in each of them.
    pub fn corners(
        self,
        other: Range,
        operation: impl Fn(i128, i128) -> Option<i128>,
    ) -> Option<Range> {
        let first = operation(self.low, other.low)?;
        let mut all = Range::of(first);
        for (a, b) in [
            (self.low, other.high),
            (self.high, other.low),
            (self.high, other.high),
        ] {
            all = all.join(Range::of(operation(a, b)?));
        }
        Some(all)
    }

    /// What grew since an older range goes on to the next number of a list, or to the end.
    fn widened(self, older: Range, stops: &[i128], all: Range) -> Range {
        let low = match self.low < older.low {
            true => {
                let below = stops.iter().rev().find(|&&stop| stop <= self.low);
                below.copied().unwrap_or(all.low).max(all.low)
            }
            false => self.low,
        };
        let high = match self.high > older.high {
            true => {
                let above = stops.iter().find(|&&stop| stop >= self.high);
                above.copied().unwrap_or(all.high).min(all.high)
            }
            false => self.high,
        };
        Range { low, high }
    }
}

/// Distances into objects are no longer followed beyond this.
const FAR: Range = Range {
    low: -(1 << 40),
    high: 1 << 40,
};

impl Value {
    /// The null pointer.
    pub fn null() -> Value {
        Value::Pointer(BTreeMap::from([(Base::Null, Range::of(0))]))
    }

    /// Either of two values; `None` if nothing is known of that.
    pub fn join(&self, other: &Value) -> Option<Value> {
        match (self, other) {
            (Value::Number(a), Value::Number(b)) => Some(Value::Number(a.join(*b))),
            (Value::Pointer(a), Value::Pointer(b)) => {
                let mut all = a.clone();
                for (&base, &range) in b {
                    let known = all.entry(base).or_insert(range);
                    *known = known.join(range);
                }
                (all.len() <= OBJECTS).then_some(Value::Pointer(all))
            }
            _ => None,
        }
    }

    /// The same with what grew since an older value brought to an end soon. `all` is what a number
    /// may be at most.
    pub fn widened(&self, older: &Value, stops: &[i128], all: Option<Range>) -> Option<Value> {
        match (self, older) {
            (Value::Number(new), Value::Number(old)) => {
                let widened = new.widened(*old, stops, all?);
                (widened != all?).then_some(Value::Number(widened))
            }
            (Value::Pointer(new), Value::Pointer(old)) => {
                let mut widened = new.clone();
                for (base, range) in &mut widened {
                    if let Some(&older) = old.get(base) {
                        *range = range.widened(older, stops, FAR);
                        if !(FAR.low < range.low && range.high < FAR.high) {
                            return None;
                        }
                    }
                }
                Some(Value::Pointer(widened))
            }
            _ => None,
        }
    }

    /// Whether a pointer may be into a variable.
    pub fn points_into(&self, variable: VarId) -> bool {
        self.has(Base::Variable(variable))
    }

    /// Whether a pointer may be into this.
    pub fn has(&self, base: Base) -> bool {
        match self {
            Value::Number(_) => false,
            Value::Pointer(bases) => bases.contains_key(&base),
        }
    }

    /// Whether a pointer may be into what is allocated of one of some classes.
    pub fn is_among(&self, classes: &BTreeSet<ClassId>) -> bool {
        match self {
            Value::Number(_) => false,
            Value::Pointer(bases) => bases
                .keys()
                .any(|base| base.class().is_some_and(|class| classes.contains(&class))),
        }
    }
}
