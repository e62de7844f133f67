//! The reference interpreter: runs a program one step at a time, its choices made at random or
//! by a script.

use crate::program::{Action, EdgeId, ExprId, ProcId, Program, VarId, VertexId, VertexKind};
use crate::random::Random;
use crate::values::{Layout, value};

/// Who makes the choices: the initial values of variables, `*`, and which way a `goto` with
/// several targets goes.
#[derive(Clone, Debug)]
pub enum Choices {
    /// Chance.
    Random(Random),
    /// These bits in turn, and then zeros. A `goto` takes as many bits as its targets need, the
    /// most significant one first; a call takes one bit for each local and return value of the
    /// callee.
    Script(std::vec::IntoIter<bool>),
}

impl Choices {
    /// Choices by chance.
    pub fn random(seed: u64) -> Choices {
        Choices::Random(Random::new(seed))
    }

    /// Choices by a script.
    pub fn script(bits: Vec<bool>) -> Choices {
        Choices::Script(bits.into_iter())
    }

    fn bit(&mut self) -> bool {
        match self {
            Choices::Random(random) => random.coin(),
            Choices::Script(bits) => bits.next().unwrap_or(false),
        }
    }

    fn below(&mut self, bound: usize) -> usize {
        match self {
            Choices::Random(random) => random.below(bound),
            Choices::Script(_) => {
                let width = usize::BITS - (bound - 1).leading_zeros();
                let number = (0..width).fold(0, |n, _| 2 * n + self.bit() as usize);
                number.min(bound - 1)
            }
        }
    }

    /// How often to try again where choices must meet a condition.
    fn attempts(&self) -> usize {
        match self {
            Choices::Random(_) => 1000,
            Choices::Script(_) => 1,
        }
    }
}

/// What a step led to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// To the next vertex, along an edge. For a call, into the callee.
    Moved(EdgeId),
    /// Out of a procedure, to the vertex after its call.
    Returned,
    /// The end of `main`.
    Finished,
    /// A failing assertion; the machine stands at its vertex of kind `Failed`.
    Failed,
    /// No further: see [`Blocked`].
    Blocked(Blocked),
}

/// Why execution stops in the middle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Blocked {
    /// An `assume`, `abortif` or `constrain (e)` does not let it pass.
    Assume,
    /// The choices do not meet the `constrain` of an assignment; with random choices, no choice
    /// out of a thousand did.
    Constrain,
    /// The next state does not meet an `enforce`; at the start and in a call, where values are
    /// chosen at random, no state out of a thousand did.
    Enforce,
}

/// An activation of a procedure.
#[derive(Clone, Debug)]
struct Frame {
    vertex: VertexId,
    /// The variables in scope, see [`Layout`]. The globals are up to date in the innermost frame
    /// only.
    state: Vec<bool>,
}

/// A program in the course of an execution.
#[derive(Clone, Debug)]
pub struct Machine<'p> {
    program: &'p Program,
    layout: Layout,
    frames: Vec<Frame>,
}

impl<'p> Machine<'p> {
    /// A program before its first step; an error if the initial state does not meet an
    /// `enforce`.
    pub fn start(program: &'p Program, choices: &mut Choices) -> Result<Machine<'p>, Blocked> {
        let layout = Layout::new(program);
        let size = layout.size(program.main);
        let vertex = program.procedures[program.main.index()].entry;
        for _ in 0..choices.attempts() {
            let state = (0..size).map(|_| choices.bit()).collect();
            let frames = vec![Frame { vertex, state }];
            let machine = Machine {
                program,
                layout: layout.clone(),
                frames,
            };
            if machine.allowed(program.main, &machine.frames[0].state) {
                return Ok(machine);
            }
        }
        Err(Blocked::Enforce)
    }

    /// Where execution is; `None` after the end.
    pub fn vertex(&self) -> Option<VertexId> {
        self.frames.last().map(|frame| frame.vertex)
    }

    /// The number of procedures that are waiting for the current one to return.
    pub fn depth(&self) -> usize {
        self.frames.len().saturating_sub(1)
    }

    /// The values of the variables in scope, see [`Layout`]; empty after the end.
    pub fn state(&self) -> &[bool] {
        self.frames.last().map_or(&[], |frame| &frame.state)
    }

    /// The value of a variable in scope.
    pub fn value(&self, variable: VarId) -> Option<bool> {
        self.state().get(self.layout.slot(variable)).copied()
    }

    /// Makes one step. A blocked or failed machine stays where it is.
    pub fn step(&mut self, choices: &mut Choices) -> Outcome {
        let Some(frame) = self.frames.last() else {
            return Outcome::Finished;
        };
        let vertex = &self.program.vertices[frame.vertex.index()];
        match vertex.kind {
            VertexKind::Exit => return self.leave(),
            VertexKind::Failed => return Outcome::Failed,
            _ => {}
        }
        let edges = vertex.edges.clone();
        let edge = match edges.len() {
            0 => return Outcome::Blocked(Blocked::Assume),
            1 => edges.start,
            count => match self
                .program
                .action(&self.program.edges[edges.start as usize])
            {
                // The two ways of a condition: it is evaluated once.
                Action::Assume { condition, holds } => {
                    let taken = self.eval(condition, choices) == holds;
                    return self.follow(EdgeId(edges.start + !taken as u32), frame.state.clone());
                }
                _ => edges.start + choices.below(count) as u32,
            },
        };
        let edge = EdgeId(edge);
        match self.program.action(&self.program.edges[edge.index()]) {
            Action::Skip => self.follow(edge, frame.state.clone()),
            Action::Assume { condition, holds } => {
                if self.eval(condition, choices) != holds {
                    return Outcome::Blocked(Blocked::Assume);
                }
                self.follow(edge, frame.state.clone())
            }
            Action::Assign {
                assignments,
                constrain,
            } => match self.assign(assignments, constrain, choices) {
                Some(state) => self.follow(edge, state),
                None => Outcome::Blocked(Blocked::Constrain),
            },
            Action::Call {
                callee, arguments, ..
            } => self.call(edge, callee, arguments, choices),
        }
    }

    fn eval(&self, expr: ExprId, choices: &mut Choices) -> bool {
        let state = self.state();
        let read = |v: VarId| state[self.layout.slot(v)];
        value(&self.program.exprs, expr, read, read, || choices.bit())
    }

    fn assign(
        &self,
        assignments: &[(VarId, ExprId)],
        constrain: Option<ExprId>,
        choices: &mut Choices,
    ) -> Option<Vec<bool>> {
        let before = self.state();
        for _ in 0..choices.attempts() {
            let mut after = before.to_vec();
            for &(variable, e) in assignments {
                after[self.layout.slot(variable)] = self.eval(e, choices);
            }
            let now = |v: VarId| before[self.layout.slot(v)];
            let next = |v: VarId| after[self.layout.slot(v)];
            let meets =
                |relation| value(&self.program.exprs, relation, now, next, || choices.bit());
            if constrain.is_none_or(meets) {
                return Some(after);
            }
        }
        None
    }

    fn call(
        &mut self,
        edge: EdgeId,
        callee: ProcId,
        arguments: &[ExprId],
        choices: &mut Choices,
    ) -> Outcome {
        let procedure = &self.program.procedures[callee.index()];
        let arguments: Vec<_> = arguments.iter().map(|&e| self.eval(e, choices)).collect();
        let free = procedure.locals.len() + procedure.returns.len();
        for _ in 0..choices.attempts() {
            let mut state = self.state()[..self.layout.globals()].to_vec();
            state.extend(&arguments);
            state.extend((0..free).map(|_| choices.bit()));
            if self.allowed(callee, &state) {
                self.frames.push(Frame {
                    vertex: procedure.entry,
                    state,
                });
                return Outcome::Moved(edge);
            }
        }
        Outcome::Blocked(Blocked::Enforce)
    }

    fn leave(&mut self) -> Outcome {
        let Some(frame) = self.frames.pop() else {
            return Outcome::Finished;
        };
        let Some(caller) = self.frames.last_mut() else {
            return Outcome::Finished;
        };
        let callee = self.program.vertices[frame.vertex.index()].procedure;
        let call = self.program.vertices[caller.vertex.index()].edges.start;
        let edge = &self.program.edges[call as usize];
        let globals = self.layout.globals();
        let mut after = caller.state.clone();
        after[..globals].copy_from_slice(&frame.state[..globals]);
        if let Action::Call { results, .. } = self.program.action(edge) {
            let returns = &self.program.procedures[callee.index()].returns;
            for (target, &value) in results.iter().zip(returns) {
                if let Some(target) = target {
                    after[self.layout.slot(*target)] = frame.state[self.layout.slot(value)];
                }
            }
        }
        let procedure = self.program.vertices[caller.vertex.index()].procedure;
        let to = edge.to;
        if !self.allowed(procedure, &after) {
            self.frames.push(frame);
            return Outcome::Blocked(Blocked::Enforce);
        }
        if let Some(caller) = self.frames.last_mut() {
            *caller = Frame {
                vertex: to,
                state: after,
            };
        }
        Outcome::Returned
    }

    fn follow(&mut self, edge: EdgeId, state: Vec<bool>) -> Outcome {
        let to = self.program.edges[edge.index()].to;
        let procedure = self.program.vertices[to.index()].procedure;
        if !self.allowed(procedure, &state) {
            return Outcome::Blocked(Blocked::Enforce);
        }
        if let Some(frame) = self.frames.last_mut() {
            *frame = Frame { vertex: to, state };
        }
        Outcome::Moved(edge)
    }

    /// An `enforce` with choices in it holds if some choice makes it hold.
    fn allowed(&self, procedure: ProcId, state: &[bool]) -> bool {
        let own = self.program.procedures[procedure.index()].enforce;
        let read = |v: VarId| state[self.layout.slot(v)];
        [self.program.enforce, own].into_iter().flatten().all(|e| {
            crate::values::possible_values(&self.program.exprs, e, read, read).contains(true)
        })
    }
}
