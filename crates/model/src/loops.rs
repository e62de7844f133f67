//! The shape of one function's control flow: its loops.

use crate::counting::Counting;
use hardbop_cfront::ids::{FuncId, LocId};
use hardbop_cfront::program::Program;
use hardbop_graph::Loops;

/// A function's control flow, over positions in the function's own range of locations.
#[derive(Clone, Debug)]
pub struct FunctionGraph {
    first: u32,
    /// How many locations there are.
    pub count: usize,
    found: Loops,
}

impl FunctionGraph {
    /// The control flow of a function.
    pub fn new(program: &Program, function: FuncId) -> FunctionGraph {
        let described = program.function(function);
        let first = described.locations.start;
        let successors = program.successors(function);
        FunctionGraph {
            first,
            count: successors.len(),
            found: Loops::new(&successors, (described.entry.0 - first) as usize),
        }
    }

    /// The position of a location.
    pub fn index(&self, location: LocId) -> usize {
        (location.0 - self.first) as usize
    }

    /// The location at a position.
    pub fn location(&self, index: usize) -> LocId {
        LocId(self.first + index as u32)
    }

    /// Whether every loop is entered through its head only.
    pub fn is_reducible(&self) -> bool {
        self.found.reducible
    }

    /// How many loops there are.
    pub fn loops(&self) -> usize {
        self.found.loops.len()
    }

    /// The head of a loop.
    pub fn head(&self, at: usize) -> LocId {
        self.location(self.found.loops[at].head)
    }

    /// Whether a loop holds a location.
    pub fn holds(&self, at: usize, location: LocId) -> bool {
        self.found.loops[at].body[self.index(location)]
    }

    /// The loops that hold a location, outermost first.
    pub fn nest(&self, location: LocId) -> Vec<usize> {
        (0..self.loops())
            .filter(|&at| self.holds(at, location))
            .collect()
    }

    /// The loop that starts at a location.
    pub fn headed_by(&self, location: LocId) -> Option<usize> {
        (0..self.loops()).find(|&at| self.head(at) == location)
    }
}

/// Whether every loop of a function looks as if it were gone round a few times only, so that all its
/// executions can be followed to their ends. That is a guess by the text.
pub fn all_are_short(program: &Program, function: FuncId) -> bool {
    let graph = FunctionGraph::new(program, function);
    let counting = Counting::new(program, function);
    graph.is_reducible()
        && (0..graph.loops()).all(|at| {
            let inside = |location: LocId| graph.holds(at, location);
            counting.is_short(graph.head(at), &inside)
        })
}

#[cfg(test)]
mod tests {
    use super::*;
    use hardbop_cfront::load::load_text;

    #[track_caller]
    fn check(expected: &str, body: &str) {
        let text = format!("int get(void); int i, k, n; int main(void) {{ {body} return 0; }}");
        let loaded = load_text("x.c", &text).expect("a good program");
        let short = match all_are_short(&loaded.program, loaded.program.entry) {
            true => "short",
            false => "long",
        };
        assert_eq!(short, expected, "{body}");
    }

    #[test]
    fn loops_that_count_to_small_numbers_are_short() {
        check("short", "");
        check(
            "short",
            "for (i = 0; i < 5; i++) for (k = 0; k != 3; k++) n += get();",
        );
        check(
            "short",
            "i = 0; do { n += get(); i = i + 2; } while (i <= 12);",
        );
        // The condition stands anywhere.
        check(
            "short",
            "i = 0; while (1) { n++; if (get()) n = 0; if (i >= 12) break; i++; }",
        );
        // Nothing is behind it.
        check("short", "if (get()) { L: goto L; }");
    }

    #[test]
    fn others_are_not() {
        check("long", "while (get()) n++;");
        check("long", "for (i = 0; i < n; i++) k++;");
        check("long", "for (i = 0; i < 100000; i++) k++;");
        // A way round passes no condition, or adds nothing.
        check(
            "long",
            "i = 0; while (1) { if (get()) continue; if (i >= 12) break; i++; }",
        );
        check("long", "for (i = 0; i < 5; ) if (get()) i++;");
        // Somebody else writes the counter.
        check("long", "for (i = 0; i < 5; i++) if (get()) i = 0;");
        check("long", "for (i = 0; i < 5; i++) while (get()) n++;");
    }
}
