//! Checking a boolean program: all its labels and assertions in one run.

use crate::adapter::BooleanProgram;
use crate::bdd::DEFAULT_COLLECTION_FLOOR;
use crate::engine::{Counts, Engine, Tracking};
use crate::formula::{self, Formula};
use crate::order::{SlotOrder, slot_order};
use crate::search::Until;
use crate::space::{Copy, Reorder, Space};
use crate::supergraph::Vertex;
use crate::trace::{self, Expand, Move, Value};
use hardbop_boolean_program::program::{
    EdgeId, ProcId, Program, VarId, VarKind, VertexId, VertexKind,
};
use hardbop_budget::{Budget, Stopped, peak_resident_bytes};
use std::time::Duration;

/// How a program is checked.
#[derive(Clone, Debug)]
pub struct Options {
    /// Which targets must be decided.
    pub goal: Goal,
    /// What path edges track.
    pub tracking: Tracking,
    /// How variables are ordered.
    pub order: SlotOrder,
    /// Whether that order changes during the search.
    pub reorder: Reorder,
    /// The number of BDD nodes up to which no garbage is collected.
    pub collection_floor: usize,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            goal: Goal::default(),
            tracking: Tracking::default(),
            order: SlotOrder::default(),
            reorder: Reorder::default(),
            collection_floor: DEFAULT_COLLECTION_FLOOR,
        }
    }
}

/// Which targets must be decided.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Goal {
    /// All of them.
    #[default]
    All,
    /// Stop when one of these, given by their places in [`Program::targets`], is found reachable.
    /// The others may then stay undecided, and the trace is a shortest one only by the summaries
    /// known at that time.
    FirstOf(Vec<usize>),
}

/// What is known of a target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// There is an execution that reaches it; [`Checker::trace`] shows one.
    Reachable,
    /// No execution reaches it.
    Unreachable,
    /// The search ended before that was clear.
    Unknown(Unknown),
}

/// Why a target was not decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unknown {
    /// A limit was reached.
    Stopped(Stopped),
    /// Another target was found first, and [`Goal::FirstOf`] asked for no more.
    Enough,
}

/// A way to a target.
#[derive(Clone, Debug)]
pub struct ProgramTrace {
    /// The number of transitions of a shortest hierarchical trajectory to the target: edges
    /// within procedures, entries into callees that do not return, and steps over whole calls,
    /// each counted as one.
    pub length: u32,
    /// The steps in the order of execution.
    pub steps: Vec<ProgramStep>,
}

/// A vertex on the way, with the state before its statement.
#[derive(Clone, Debug)]
pub struct ProgramStep {
    /// The vertex.
    pub vertex: VertexId,
    /// How many calls are open.
    pub depth: u32,
    /// How the trace goes on from here.
    pub leaves: Leave,
    /// The variables in scope with the values that they have in one execution along the trace,
    /// globals first. Variables that a closed call leaves open are missing.
    pub state: Vec<(VarId, bool)>,
    /// Those of them that have the same value in every execution along the trace.
    pub forced: Vec<(VarId, bool)>,
}

/// How a trace leaves a vertex.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Leave {
    /// Along an edge within the procedure.
    Along(EdgeId),
    /// Into the callee of a call.
    Into(EdgeId),
    /// From the callee's exit back to the return point of this call.
    Return(EdgeId),
    /// Over a call whose inside is not shown.
    Over(EdgeId),
    /// Not at all: this is the target.
    End,
}

/// The reachable states of a vertex, as a formula over the variables that are live there.
#[derive(Clone, Debug)]
pub struct Invariant {
    /// The vertex.
    pub vertex: VertexId,
    /// The states. What it does not speak of may have any value, or is never read again.
    pub formula: Formula<VarId>,
}

/// What a run cost.
#[derive(Clone, Debug)]
pub struct Statistics {
    /// What the search counted.
    pub counts: Counts,
    /// The time since the budget's start.
    pub time: Duration,
    /// The most memory that the process has held, where the system tells it.
    pub peak_memory: Option<u64>,
}

/// A boolean program and what was found out about it.
#[derive(Debug)]
pub struct Checker<'p> {
    graph: BooleanProgram<'p>,
    space: Space,
    engine: Option<Engine>,
    ended: Result<(), Unknown>,
}

/// Decides the targets of a program.
pub fn check<'p>(program: &'p Program, options: &Options, budget: &Budget) -> Checker<'p> {
    let mut graph = BooleanProgram::new(program);
    let order = slot_order(&graph, options.order);
    let mut space = Space::new(&order, budget.clone());
    space.set_reorder(options.reorder);
    space.bdds.set_collection_floor(options.collection_floor);
    let engine = Engine::new(&mut graph, &mut space, options.tracking);
    let mut checker = Checker {
        graph,
        space,
        engine: None,
        ended: Ok(()),
    };
    match engine {
        Ok(engine) => {
            checker.engine = Some(engine);
            checker.resume(&options.goal, budget);
        }
        Err(stopped) => checker.ended = Err(Unknown::Stopped(stopped)),
    }
    checker
}

impl<'p> Checker<'p> {
    /// Goes on with the search, with a new goal or a new budget.
    pub fn resume(&mut self, goal: &Goal, budget: &Budget) {
        self.space.bdds.set_budget(budget.clone());
        let Some(engine) = &mut self.engine else {
            return;
        };
        let until = match goal {
            Goal::All => Until::Everything,
            Goal::FirstOf(targets) => {
                let all = &self.graph.program().targets;
                let vertices = targets.iter().filter_map(|&target| all.get(target));
                Until::OneOf(vertices.map(|target| Vertex(target.vertex.0)).collect())
            }
        };
        self.ended = match engine.run(&mut self.graph, &mut self.space, &until) {
            Ok(()) if engine.is_complete() => Ok(()),
            Ok(()) => Err(Unknown::Enough),
            Err(stopped) => Err(Unknown::Stopped(stopped)),
        };
    }

    /// The program.
    pub fn program(&self) -> &'p Program {
        self.graph.program()
    }

    /// Whether a vertex is reachable.
    pub fn answer_for(&self, vertex: VertexId) -> Answer {
        let reached = self
            .engine
            .as_ref()
            .is_some_and(|e| e.is_reached(Vertex(vertex.0)));
        match self.ended {
            _ if reached => Answer::Reachable,
            Ok(()) => Answer::Unreachable,
            Err(unknown) => Answer::Unknown(unknown),
        }
    }

    /// The answer for every target of the program, in their order.
    pub fn answers(&self) -> Vec<Answer> {
        let targets = &self.program().targets;
        targets
            .iter()
            .map(|target| self.answer_for(target.vertex))
            .collect()
    }

    /// A shortest trace to a vertex that was found reachable, else `None`.
    pub fn trace(
        &mut self,
        vertex: VertexId,
        expand: Expand,
    ) -> Result<Option<ProgramTrace>, Stopped> {
        let Checker {
            graph,
            space,
            engine: Some(engine),
            ..
        } = self
        else {
            return Ok(None);
        };
        let found = engine.trace(graph, space, Vertex(vertex.0), expand)?;
        Ok(found.map(|trace| self.name_slots(trace)))
    }

    fn name_slots(&self, trace: trace::Trace) -> ProgramTrace {
        let name_step = |step: trace::Step| {
            let vertex = VertexId(step.vertex.0);
            let procedure = self.program().vertices[vertex.index()].procedure;
            let value = |var: VarId| step.state[self.graph.slot(var).index()];
            let mut known = Vec::with_capacity(step.state.len());
            let mut forced = Vec::with_capacity(step.state.len());
            for var in self.program().in_scope(procedure) {
                let value = value(var);
                known.extend(value.get().map(|value| (var, value)));
                if let Value::Forced(value) = value {
                    forced.push((var, value));
                }
            }
            ProgramStep {
                vertex,
                depth: step.depth,
                leaves: match step.leaves {
                    Move::Along(edge) => Leave::Along(EdgeId(edge.0)),
                    Move::Into(edge) => Leave::Into(EdgeId(edge.0)),
                    Move::Return(edge) => Leave::Return(EdgeId(edge.0)),
                    Move::Over(edge) => Leave::Over(EdgeId(edge.0)),
                    Move::End => Leave::End,
                },
                state: known,
                forced,
            }
        };
        ProgramTrace {
            length: trace.length,
            steps: trace.steps.into_iter().map(name_step).collect(),
        }
    }

    /// The reachable states of a vertex. Right only if the search was complete.
    pub fn invariant(&mut self, vertex: VertexId) -> Result<Option<Invariant>, Stopped> {
        let procedure = self.program().vertices[vertex.index()].procedure;
        let Checker {
            graph,
            space,
            engine: Some(engine),
            ended: Ok(()),
        } = self
        else {
            return Ok(None);
        };
        let states = engine.states(graph, space, Vertex(vertex.0))?;
        // In the order in which the program declares them.
        let scope: Vec<VarId> = graph.program().in_scope(procedure).collect();
        let vars: Vec<_> = scope
            .iter()
            .map(|&var| Space::var(graph.slot(var), Copy::Current))
            .collect();
        let formula = formula::formula(&mut space.bdds, states, &vars)?;
        let formula = formula.map(|var| graph.variable(procedure, Space::slot(var).0));
        Ok(Some(Invariant { vertex, formula }))
    }

    /// The variables that are live at a vertex: path edges speak of no others.
    pub fn live(&self, vertex: VertexId) -> Vec<VarId> {
        let Some(engine) = &self.engine else {
            return Vec::new();
        };
        let procedure = self.program().vertices[vertex.index()].procedure;
        let slots = engine.live(&self.graph, Vertex(vertex.0));
        slots
            .into_iter()
            .map(|slot| self.graph.variable(procedure, slot))
            .collect()
    }

    /// The loop heads of the program: its `while` vertices, in the order of the text.
    pub fn loop_heads(&self) -> Vec<VertexId> {
        let vertices = self.program().vertices.iter().enumerate();
        let heads = vertices.filter(|(_, vertex)| vertex.kind == VertexKind::While);
        heads.map(|(index, _)| VertexId(index as u32)).collect()
    }

    /// What the run cost so far.
    pub fn statistics(&self) -> Statistics {
        let counts = self
            .engine
            .as_ref()
            .map(|engine| engine.counts(&self.graph, &self.space));
        Statistics {
            counts: counts.unwrap_or_default(),
            time: self.space.bdds.budget().elapsed(),
            peak_memory: peak_resident_bytes(),
        }
    }
}

/// How a variable is called in a formula or a state: return values have no name of their own.
pub fn display_name(program: &Program, var: VarId) -> String {
    let variable = &program.variables[var.index()];
    match variable.kind {
        VarKind::Return(ProcId(_)) => format!("<{}>", variable.name),
        _ => variable.name.to_string(),
    }
}
