//! How large the state of a program is: a cheap look, before anybody makes formulas about it.

use crate::View;
use hardbop_semantics::layout::StateVarId;
use std::fmt;

/// The state of a program as machines have it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StateSize {
    /// The bits of all that is a plain value.
    pub bits: u64,
    /// The parts of memory that are reached by addresses, each of which holds many values.
    pub memories: usize,
}

impl StateSize {
    /// The size of a program's state. It takes time with the number of its variables and no more.
    pub fn of(view: &View<'_>) -> StateSize {
        let semantics = &view.semantics;
        let mut size = StateSize::default();
        for (index, variable) in semantics.layout.variables().iter().enumerate() {
            if variable.kind.is_array() {
                size.memories += 1;
            } else {
                size.bits += u64::from(semantics.shape(StateVarId(index as u32)).width);
            }
        }
        size
    }

    /// Whether it is no larger than another one, in both.
    pub fn fits(self, most: StateSize) -> bool {
        self.bits <= most.bits && self.memories <= most.memories
    }
}

impl fmt::Display for StateSize {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} bits of state beside {} memories",
            self.bits, self.memories
        )
    }
}

#[cfg(test)]
mod tests {
    use super::StateSize;
    use crate::{Model, Prepared};
    use hardbop_budget::Budget;
    use hardbop_cfront::load::load_text;

    fn size(text: &str) -> StateSize {
        let loaded = load_text("x.c", text).expect("a good program");
        let unlimited = Budget::unlimited();
        let prepared = Prepared::new(&loaded.program, &unlimited).expect("nobody stops it");
        StateSize::of(&Model::new(&loaded.program, &prepared).flat)
    }

    #[test]
    fn variables_are_bits_and_arrays_are_memories() {
        let few = size("int n; int main(void) { char c = n; return c; }");
        assert_eq!(few.memories, 0);
        assert!((40..400).contains(&few.bits), "{few}");
        let more =
            size("int a[9], b[9]; int main(void) { int i = a[1]; a[i] = b[i]; return a[b[2]]; }");
        assert!(more.memories >= 2, "{more}");
        assert!(few.fits(few) && !more.fits(few));
    }
}
