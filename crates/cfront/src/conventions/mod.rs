//! What the answers about a program rest on beyond its text: choices that C leaves open and that
//! lowering or the engines make, and ends of executions that nobody asked about.
//!
//! Each is noted only where the program has something that it can matter for, once for each kind,
//! with the first place.

mod addresses;
mod callbacks;
mod ends;
mod lives;
mod order;
mod outside;

use crate::ids::VarId;
use crate::lower::Unsequenced;
use crate::options::LowerOptions;
use crate::points_to::PointsTo;
use crate::program::{Assumption, Edge, Origin, Program, Source};
use crate::reach::Reached;

/// What lowering knows and a program does not say any more.
pub(crate) struct Noted {
    /// Operands whose order C leaves open.
    pub unsequenced: Vec<Unsequenced>,
    /// The user's variables with external linkage.
    pub externals: Vec<VarId>,
}

/// Adds to the program's assumptions. The targets of its indirect calls must be filled in.
pub(crate) fn note(
    program: &mut Program,
    points_to: &PointsTo,
    reached: &Reached,
    options: &LowerOptions,
    noted: &Noted,
) {
    let view = View {
        program,
        points_to,
        reached,
    };
    let mut texts = callbacks::find(&view);
    texts.extend(outside::find(&view, &noted.externals));
    texts.extend(addresses::find(&view));
    texts.extend(order::find(&view, &noted.unsequenced));
    let ends = ends::find(&view, options);
    let texts = texts.into_iter().map(|text| Assumption::Model { text });
    program.assumptions.extend(texts);
    program.assumptions.extend(ends);
}

/// A program with what is known of it.
struct View<'a> {
    program: &'a Program,
    points_to: &'a PointsTo,
    reached: &'a Reached,
}

impl View<'_> {
    /// The edges of the user's functions that may be executed, in the order of the program.
    fn user_edges(&self) -> impl Iterator<Item = (usize, &Edge)> {
        self.edges(|origin| origin == Origin::User)
    }

    /// The edges that may be executed of functions of some origin.
    fn edges(&self, wanted: fn(Origin) -> bool) -> impl Iterator<Item = (usize, &Edge)> {
        let program = self.program;
        program.edges.iter().enumerate().filter(move |(_, edge)| {
            let function = program.locations[edge.from.index()].function;
            self.reached.locations[edge.from.index()] && wanted(program.function(function).origin)
        })
    }

    /// A place as a user knows it.
    fn place(&self, source: Source) -> String {
        let file = self.program.presumed_files.get(source.file as usize);
        format!("{}:{}", file.map_or("", String::as_str), source.line)
    }
}
