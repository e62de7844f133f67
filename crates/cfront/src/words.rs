//! The names of types and numbers that a program's source has, for texts about the program:
//! predicates, rules, witnesses.

use crate::ids::TypeId;
use std::collections::BTreeMap;

/// Names of the source that stand for no object: those by which everybody means the same.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Words {
    types: BTreeMap<String, Option<TypeId>>,
    numbers: BTreeMap<String, Option<i128>>,
}

impl Words {
    /// The type that a `typedef` names.
    pub fn type_named(&self, name: &str) -> Option<TypeId> {
        self.types.get(name).copied().flatten()
    }

    /// The number that an `enum` names.
    pub fn number_named(&self, name: &str) -> Option<i128> {
        self.numbers.get(name).copied().flatten()
    }

    /// Adds a type. A name for two of them names neither.
    pub(crate) fn add_type(&mut self, name: &str, ty: TypeId) {
        let known = self.types.entry(name.to_owned()).or_insert(Some(ty));
        *known = known.filter(|&known| known == ty);
    }

    /// Adds a number. A name for two of them names neither.
    pub(crate) fn add_number(&mut self, name: &str, number: i128) {
        let known = self.numbers.entry(name.to_owned()).or_insert(Some(number));
        *known = known.filter(|&known| known == number);
    }
}
