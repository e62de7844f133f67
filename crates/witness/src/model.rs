//! A witness as plain data.

use hardbop_diagnostics::Span;

/// A witness.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Witness {
    /// Who made it, and of what.
    pub metadata: Metadata,
    /// What it says.
    pub content: Content,
    /// How many parts of it were passed over because they are not understood.
    pub unread: usize,
}

/// Who made a witness, and of what.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Metadata {
    /// `2.0`, `2.1`, `2.2`, or `1.0` for GraphML.
    pub format_version: String,
    /// The name of the tool, with its version.
    pub producer: String,
    /// The program's files, with the SHA-256 of their contents where it is given.
    pub files: Vec<(String, Option<String>)>,
    /// The property.
    pub specification: String,
    /// `ILP32` or `LP64`.
    pub data_model: String,
}

/// What a witness says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Content {
    /// That executions of this kind violate the property.
    Violation(Vec<Segment>),
    /// That the property holds, because of these.
    Correctness(Vec<Invariant>),
}

/// A part of an execution: it passes none of the `avoid` waypoints and ends with the `follow` one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Segment {
    /// Not to be passed.
    pub avoid: Vec<Waypoint>,
    /// To be passed.
    pub follow: Waypoint,
}

/// A point of an execution.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Waypoint {
    /// What kind of point.
    pub kind: WaypointKind,
    /// Where.
    pub location: Location,
    /// What holds there.
    pub constraint: Option<String>,
    /// Where it stands in the witness.
    pub span: Span,
}

/// A kind of waypoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WaypointKind {
    /// The constraint holds before the statement.
    Assumption,
    /// The constraint holds after the statements of a line (GraphML only).
    After,
    /// The condition of a branch has the constraint's value.
    Branching,
    /// A function is called.
    FunctionEnter,
    /// A function returned, and the constraint holds of `\result`.
    FunctionReturn,
    /// The property is violated.
    Target,
}

impl WaypointKind {
    /// Its name in a file.
    pub fn name(self) -> &'static str {
        match self {
            WaypointKind::Assumption | WaypointKind::After => "assumption",
            WaypointKind::Branching => "branching",
            WaypointKind::FunctionEnter => "function_enter",
            WaypointKind::FunctionReturn => "function_return",
            WaypointKind::Target => "target",
        }
    }
}

/// A place in the program, as it was read: line markers do not count.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Location {
    /// The file.
    pub file: String,
    /// The line, from 1.
    pub line: u32,
    /// The column, from 1.
    pub column: Option<u32>,
    /// The function.
    pub function: Option<String>,
}

/// An invariant of a correctness witness.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Invariant {
    /// What kind.
    pub kind: InvariantKind,
    /// Where.
    pub location: Location,
    /// The expression; of a contract, what the function requires.
    pub value: String,
    /// Of a contract, what the function ensures.
    pub ensures: Option<String>,
    /// Where it stands in the witness.
    pub span: Span,
}

/// A kind of invariant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InvariantKind {
    /// Holds whenever the loop's condition is about to be evaluated.
    Loop,
    /// Holds before the statement.
    Location,
    /// What a function requires and ensures (version 2.1).
    Contract,
}
