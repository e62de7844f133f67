//! The model: a program prepared once for all engines.
//!
//! In comes a `Program`; out comes what every search and the gate of evidence stand on: where its
//! pointers point, the same program with calls inlined (every edge of which knows the edge that it
//! is a copy of), the exact meaning of both, cut points, and what functions may change. Engines
//! add what is theirs alone.
//!
//! Preparing is done in two steps because the second borrows from the first:
//!
//! ```
//! use hardbop_budget::Budget;
//! use hardbop_cfront::load::load_text;
//! use hardbop_model::{Model, Prepared};
//!
//! let text = "int x; int main(void) { while (x < 3) x++; return 0; }";
//! let loaded = load_text("m.c", text).unwrap();
//! let unlimited = Budget::unlimited();
//! let prepared = Prepared::with_points_to(&loaded.program, loaded.points_to, &unlimited).unwrap();
//! let model = Model::new(&loaded.program, &prepared);
//! assert_eq!(model.flat.skeleton.procedures.len(), 2); // the root and `main`
//! ```

pub mod bounded;
mod counting;
pub mod loops;
pub mod order;
pub mod passes;
pub mod plain;
pub mod points;
pub mod relevance;
pub mod size;
pub mod sliced;
pub mod stages;
pub mod state;

use hardbop_budget::{Budget, Stopped};
use hardbop_cfront::derived::Derived;
use hardbop_cfront::ids::{CheckId, FuncId, LocId};
use hardbop_cfront::inline::{Limits, inline_but};
use hardbop_cfront::points_to::{self, PointsTo};
use hardbop_cfront::program::{LocationKind, Op, Program};
use hardbop_semantics::constants::Constants;
use hardbop_semantics::effects::Effects;
use hardbop_semantics::skeleton::{Point, Skeleton, SkeletonEdgeKind, VertexId};
use hardbop_semantics::steps::Ground;
use hardbop_semantics::{Encoding, Semantics};
use passes::{Keeps, Pass, USUAL};
use std::collections::{BTreeMap, BTreeSet};

/// What is worked out about a program before anything is searched.
#[derive(Clone, Debug)]
pub struct Prepared {
    /// Where the program's pointers may point.
    pub points_to: PointsTo,
    /// The program after the passes, with the way back, ...
    pub derived: Derived,
    /// ... and where the pointers of that may point.
    pub derived_points_to: PointsTo,
}

impl Prepared {
    /// Prepares a program by the usual passes.
    pub fn new(program: &Program, budget: &Budget) -> Result<Prepared, Stopped> {
        let points_to = points_to::analyse(program, budget)?;
        Prepared::with_points_to(program, points_to, budget)
    }

    /// The same for a program of which it is known where pointers point.
    pub fn with_points_to(
        program: &Program,
        points_to: PointsTo,
        budget: &Budget,
    ) -> Result<Prepared, Stopped> {
        Prepared::after(USUAL, program, points_to, budget)
    }

    /// Prepares a program by some passes. Claims speak of what comes out, so passes that do not
    /// keep exactly the executions are left out.
    pub fn after(
        passes: &[Pass],
        program: &Program,
        points_to: PointsTo,
        budget: &Budget,
    ) -> Result<Prepared, Stopped> {
        let exact = |pass: &&Pass| pass.keeps == Keeps::Exact;
        let exact: Vec<Pass> = passes.iter().filter(exact).copied().collect();
        let derived = passes::after(&exact, program, budget)?;
        Prepared::of(derived, points_to, budget)
    }

    /// Prepares a program by inlining, but leaves calls that can only enter some functions.
    pub fn leaving(
        apart: &BTreeSet<FuncId>,
        program: &Program,
        points_to: PointsTo,
        budget: &Budget,
    ) -> Result<Prepared, Stopped> {
        let derived = inline_but(program, &Limits::default(), apart, budget)?;
        Prepared::of(derived, points_to, budget)
    }

    /// A program as it is: its calls are kept.
    pub fn keeping_calls(program: &Program, points_to: PointsTo) -> Prepared {
        Prepared {
            derived: Derived::unchanged(program.clone()),
            derived_points_to: points_to.clone(),
            points_to,
        }
    }

    fn of(derived: Derived, points_to: PointsTo, budget: &Budget) -> Result<Prepared, Stopped> {
        let derived_points_to = points_to::analyse(&derived.program, budget)?;
        Ok(Prepared {
            points_to,
            derived,
            derived_points_to,
        })
    }
}

/// A prepared program with its meaning.
#[derive(Clone, Debug)]
pub struct Model<'a> {
    /// The program as the user knows it: what is claimed is claimed of this, and runs are replayed
    /// on it.
    pub program: &'a Program,
    /// The program itself.
    pub plain: View<'a>,
    /// The program after the passes: with calls inlined, usually.
    pub flat: View<'a>,
    /// The same, with the way back to the program itself.
    pub inlined: &'a Derived,
}

/// A program, itself or inlined, with its exact meaning.
#[derive(Clone, Debug)]
pub struct View<'a> {
    /// The program.
    pub program: &'a Program,
    /// Where its pointers may point.
    pub points_to: &'a PointsTo,
    /// Its meaning in machine words.
    pub semantics: Semantics<'a>,
    /// Its cut points.
    pub skeleton: Skeleton,
    /// What its functions may change.
    pub effects: Effects,
}

impl<'a> Model<'a> {
    /// The model of a prepared program.
    pub fn new(program: &'a Program, prepared: &'a Prepared) -> Model<'a> {
        let Prepared {
            points_to,
            derived,
            derived_points_to,
        } = prepared;
        Model {
            program,
            plain: View::new(program, points_to),
            flat: View::new(&derived.program, derived_points_to),
            inlined: derived,
        }
    }
}

impl<'a> View<'a> {
    fn new(program: &'a Program, points_to: &'a PointsTo) -> View<'a> {
        let semantics = Semantics::new(program, points_to, Encoding::Bits);
        let effects = Effects::new(&semantics);
        View {
            program,
            points_to,
            skeleton: Skeleton::new(program),
            semantics,
            effects,
        }
    }

    /// The same with ghosts that note where objects are taken.
    pub fn with_births(&self) -> View<'a> {
        let semantics = self.semantics.with_births();
        View {
            program: self.program,
            points_to: self.points_to,
            skeleton: self.skeleton.clone(),
            effects: Effects::new(&semantics),
            semantics,
        }
    }

    /// The same, cut wherever several ways meet.
    pub fn cut_at_joins(&self) -> View<'a> {
        View {
            skeleton: Skeleton::cut_at_joins(self.program),
            ..self.clone()
        }
    }

    /// The same, cut at some more locations.
    pub fn cut_at(&self, locations: &BTreeSet<LocId>) -> View<'a> {
        View {
            skeleton: Skeleton::cut_at(self.program, locations),
            ..self.clone()
        }
    }

    /// The same, cut where loops are left, too: what comes behind a loop is looked at once.
    pub fn cut_at_exits(&self) -> View<'a> {
        View {
            skeleton: Skeleton::cut_at_exits(self.program),
            ..self.clone()
        }
    }

    /// The same of a program with the same tables and more executions.
    fn wider(&self, program: &'a Program) -> View<'a> {
        let semantics = self.semantics.of_wider(program);
        View {
            program,
            points_to: self.points_to,
            skeleton: Skeleton::new(program),
            effects: Effects::new(&semantics),
            semantics,
        }
    }

    /// The meaning under another encoding.
    pub fn encoded(&self, encoding: Encoding) -> Semantics<'a> {
        self.semantics.encoded(encoding)
    }

    /// What searches stand on, with these constants for the state.
    pub fn ground<'s>(&'s self, constants: &'s Constants) -> Ground<'s, 'a> {
        Ground {
            semantics: &self.semantics,
            effects: &self.effects,
            skeleton: &self.skeleton,
            constants,
        }
    }

    /// Whether calls are left that a state would have to return from.
    pub fn has_calls(&self) -> bool {
        let mut edges = self.skeleton.edges.iter();
        edges.any(|edge| matches!(edge.kind, SkeletonEdgeKind::Return(..)))
    }

    /// Where control is when a check is violated, for each of some checks; nowhere, if no code
    /// that can be called violates it.
    pub fn errors(&self, checks: &[CheckId]) -> BTreeMap<CheckId, BTreeSet<VertexId>> {
        let mut errors: BTreeMap<CheckId, BTreeSet<VertexId>> = BTreeMap::new();
        for &check in checks {
            errors.insert(check, BTreeSet::new());
        }
        for (id, vertex) in self.skeleton.numbered_vertices() {
            if let Point::At(location) = vertex.point
                && let LocationKind::Error(check) = self.program.locations[location.index()].kind
                && let Some(vertices) = errors.get_mut(&check)
            {
                vertices.insert(id);
            }
        }
        errors
    }

    /// The location of a vertex, if it has one.
    pub fn location(&self, vertex: VertexId) -> Option<LocId> {
        match self.skeleton.vertex(vertex).point {
            Point::At(location) => Some(location),
            _ => None,
        }
    }

    /// The vertices in front of constructs that are not supported, with their numbers in
    /// [`Program::unsupported`].
    pub fn unsupported(&self) -> BTreeMap<VertexId, u32> {
        let mut found = BTreeMap::new();
        for (id, vertex) in self.skeleton.numbered_vertices() {
            if let Point::Unsupported(edge) = vertex.point
                && let Op::Unsupported { construct } = self.program.edges[edge.index()].op
            {
                found.insert(id, construct);
            }
        }
        found
    }
}
