//! Where control goes: the vertices of a procedure and the successors of each, computed over the
//! flat list of its statements.

use crate::ast::{Kind, Statement};

/// No vertex.
const NONE: u32 = u32::MAX;

/// The shape of one procedure's control flow. Positions are those of its statements; vertices
/// are counted from the procedure's first one.
#[derive(Debug, Default)]
pub(crate) struct Flow {
    /// The vertex of each statement, or [`NONE`].
    vertex: Vec<u32>,
    /// The vertex that is reached by arriving before each position, and at the end.
    arrival: Vec<u32>,
    /// For a condition: the vertex that is reached when it is false.
    otherwise: Vec<u32>,
    /// The position of the `while` that each `od` closes.
    head: Vec<u32>,
    /// The number of statements with vertices; the exit vertex comes next.
    count: u32,
    open: Vec<Open>,
}

/// An `if` that the backward pass is in.
#[derive(Debug)]
struct Open {
    /// Where control goes behind the `fi` or `od`.
    behind: u32,
    /// Where control goes when the condition before is false.
    alternative: u32,
}

impl Flow {
    /// Computes the shape for the statements of a procedure, in place of what was there.
    pub fn compute(&mut self, statements: &[Statement]) {
        self.number(statements);
        self.link(statements);
    }

    /// The vertex of the statement at a position.
    pub fn vertex(&self, position: usize) -> Option<u32> {
        Some(self.vertex[position]).filter(|&v| v != NONE)
    }

    /// The vertex that control reaches before the statement at a position.
    pub fn arrival(&self, position: usize) -> u32 {
        self.arrival[position]
    }

    /// The vertex that control reaches when the condition at a position is false.
    pub fn otherwise(&self, position: usize) -> u32 {
        self.otherwise[position]
    }

    /// The vertex behind the last statement.
    pub fn exit(&self) -> u32 {
        self.count
    }

    fn number(&mut self, statements: &[Statement]) {
        self.vertex.clear();
        self.head.clear();
        self.count = 0;
        let mut loops = Vec::new();
        for (position, statement) in statements.iter().enumerate() {
            let mut head = NONE;
            match statement.kind {
                Kind::While(_) => loops.push(position as u32),
                Kind::Od => head = loops.pop().unwrap_or(NONE),
                _ => {}
            }
            self.head.push(head);
            let has_vertex = match statement.kind {
                Kind::Else | Kind::Fi | Kind::Od => false,
                Kind::Enforce(_) => !statement.labels.is_empty(),
                // All variables are free at the entry, so that the declarations there do
                // nothing; a later one gives its variables new values.
                Kind::Decl(_) => self.count > 0 || !statement.labels.is_empty(),
                _ => true,
            };
            self.vertex.push(if has_vertex { self.count } else { NONE });
            self.count += has_vertex as u32;
        }
    }

    fn link(&mut self, statements: &[Statement]) {
        self.arrival.clear();
        self.arrival.resize(statements.len() + 1, self.count);
        self.otherwise.clear();
        self.otherwise.resize(statements.len(), NONE);
        self.open.clear();
        for (position, statement) in statements.iter().enumerate().rev() {
            let next = self.arrival[position + 1];
            self.arrival[position] = match (statement.kind, self.open.last_mut()) {
                (Kind::Fi, _) => {
                    self.open.push(Open {
                        behind: next,
                        alternative: next,
                    });
                    next
                }
                (Kind::Od, _) => {
                    self.open.push(Open {
                        behind: next,
                        alternative: next,
                    });
                    // Falling out of a loop's body leads to its head.
                    match self.head[position] {
                        NONE => next,
                        head => self.vertex[head as usize],
                    }
                }
                (Kind::Else, Some(open)) => {
                    open.alternative = next;
                    open.behind
                }
                (Kind::Elsif(_), Some(open)) => {
                    self.otherwise[position] = open.alternative;
                    open.alternative = self.vertex[position];
                    open.behind
                }
                (Kind::If(_) | Kind::While(_), Some(open)) => {
                    self.otherwise[position] = open.alternative;
                    self.open.pop();
                    self.vertex[position]
                }
                _ if self.vertex[position] != NONE => self.vertex[position],
                _ => next,
            };
        }
    }
}
