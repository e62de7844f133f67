//! Passes: preparations from program to program, each a file, each with what it keeps.
//!
//! A pass is made visible and switchable by its line in [`ALL`]; where it is a part of what every
//! engine works on, it has one in [`USUAL`], too.

pub mod depths;
pub mod inline;
pub mod slice;

use hardbop_budget::{Budget, Stopped};
use hardbop_cfront::derived::Derived;
use hardbop_cfront::program::Program;

/// What a pass keeps of the executions of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keeps {
    /// All of them, and no others.
    Exact,
    /// All of them, and there may be more: what is proved of the result holds of the program, but
    /// a violation of the result may be none.
    More,
}

/// A preparation of a program.
#[derive(Clone, Copy, Debug)]
pub struct Pass {
    /// What users call it.
    pub name: &'static str,
    /// What it does, in a sentence without a full stop.
    pub does: &'static str,
    /// What it keeps.
    pub keeps: Keeps,
    /// Does it.
    pub run: fn(&Program, &Budget) -> Result<Derived, Stopped>,
}

/// All passes.
pub const ALL: &[Pass] = &[inline::PASS, slice::PASS, depths::PASS];

/// The passes that make the program that engines work on. Those that are exact make what claims
/// speak of, and what the gate checks them of; what the others make is only searched
/// ([`sliced`](crate::sliced)).
pub const USUAL: &[Pass] = &[inline::PASS, slice::PASS];

/// What some passes make of a program, one after the other.
pub fn after(passes: &[Pass], program: &Program, budget: &Budget) -> Result<Derived, Stopped> {
    let mut derived: Option<Derived> = None;
    for pass in passes {
        let next = match &derived {
            None => (pass.run)(program, budget)?,
            Some(before) => (pass.run)(&before.program, budget)?.after(before),
        };
        derived = Some(next);
    }
    Ok(derived.unwrap_or_else(|| Derived::unchanged(program.clone())))
}

#[cfg(test)]
mod tests {
    use super::*;
    use hardbop_cfront::dump::dump;
    use hardbop_cfront::load::load_text;

    const PROGRAM: &str = "int g; int down(int n) { return n > 0 ? down(n - 1) : 0; }
        static void more(int by) { g += by; }
        int main(void) { more(1); more(2); return down(g); }";

    fn program() -> Program {
        load_text("passes.c", PROGRAM).unwrap().program
    }

    #[test]
    fn what_claims_speak_of_has_the_executions_of_the_program() {
        let program = program();
        let budget = Budget::unlimited();
        let prepared = crate::Prepared::new(&program, &budget).unwrap();
        let exact = after(&[inline::PASS], &program, &budget).unwrap();
        assert_eq!(dump(&prepared.derived.program), dump(&exact.program));
    }

    #[test]
    fn every_pass_has_a_name_of_its_own_and_can_be_seen() {
        let mut names: Vec<&str> = ALL.iter().map(|pass| pass.name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), ALL.len());
        let all = |name| names.contains(&name);
        assert!(USUAL.iter().all(|pass| all(pass.name)));
    }

    #[test]
    fn no_pass_leaves_a_program_as_it_is() {
        let program = program();
        let derived = after(&[], &program, &Budget::unlimited()).unwrap();
        assert_eq!(dump(&derived.program), dump(&program));
    }

    /// The way back through several passes leads to the lines of the first program.
    #[test]
    fn the_way_back_leads_through_all_passes() {
        let program = program();
        let budget = Budget::unlimited();
        let once = after(&[inline::PASS], &program, &budget).unwrap();
        let twice = after(
            &[inline::PASS, depths::PASS, inline::PASS],
            &program,
            &budget,
        )
        .unwrap();
        assert!(once.edges.iter().any(Option::is_none), "calls are inlined");
        assert!(twice.program.variables.len() > once.program.variables.len());
        for derived in [once, twice] {
            for (index, origin) in derived.edges.iter().enumerate() {
                let Some(origin) = origin else { continue };
                let line = derived.program.edges[index].source.line;
                assert_eq!(program.edges[origin.index()].source.line, line);
            }
        }
    }

    #[test]
    fn a_budget_that_is_over_stops_every_pass() {
        let program = program();
        let budget = Budget::unlimited();
        budget.cancel();
        for pass in ALL {
            let stopped = (pass.run)(&program, &budget).err();
            assert_eq!(stopped, Some(Stopped::Cancelled), "{}", pass.name);
        }
    }
}
