//! When executions that are followed all at once come to where control is, and so which of them
//! are merged.
//!
//! By blocks, those are merged that come to a cut point after the same number of blocks: whatever
//! a program does, short executions come first. By points of the unrolled program, those are merged
//! that come to a location in the same iteration of each loop around it, however they came there:
//! there are fewer places then where a program goes on behind a loop, but only programs are
//! followed to their ends whose loops have some. Another order costs time, not soundness.

use crate::loops::FunctionGraph;
use crate::order::Order;
use crate::points::{Around, ContextId, Numbering};
use hardbop_cfront::call_graph::callable;
use hardbop_cfront::ids::{EdgeId, FuncId, LocId};
use hardbop_cfront::program::Program;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::rc::Rc;

/// What decides which executions are merged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Following {
    /// The number of blocks so far.
    #[default]
    Blocks,
    /// The iteration of each loop around.
    Points,
}

impl Following {
    /// Whether that is how most are merged, which is not worth to be said.
    pub fn is_usual(&self) -> bool {
        *self == Following::Blocks
    }
}

/// When control comes to a place. The smaller one is looked at first.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(untagged)]
pub enum When {
    /// After so many blocks.
    Blocks(u32),
    /// Behind all points that come before it in the order of points.
    Point(Vec<u32>),
}

/// When control comes to a place, and what is around it.
#[derive(Clone, Debug)]
pub struct Stage {
    /// When.
    pub when: When,
    context: ContextId,
}

/// Says when control comes to places.
#[derive(Debug)]
pub struct Stages<'p> {
    program: &'p Program,
    following: Following,
    numbering: Numbering,
    order: Order,
    graphs: HashMap<FuncId, Rc<FunctionGraph>>,
}

impl<'p> Stages<'p> {
    /// For a program whose executions are followed so.
    pub fn new(program: &'p Program, following: Following) -> Stages<'p> {
        Stages {
            program,
            following,
            numbering: Numbering::default(),
            order: Order::new(),
            graphs: HashMap::new(),
        }
    }

    /// Whether a program has points in an order: no loop has several entries.
    pub fn has_points(program: &Program) -> bool {
        let mut order = Order::new();
        let mut functions = callable(program).into_iter();
        functions.all(|function| order.is_known(program, function))
    }

    /// Before the first block.
    pub fn start(&mut self) -> Stage {
        let entry = self.program.function(self.program.entry).entry;
        let start = Stage {
            when: When::Blocks(0),
            context: self.numbering.start(),
        };
        match self.following {
            Following::Blocks => start,
            Following::Points => self.arrive(self.numbering.start(), entry),
        }
    }

    /// Where a block leads to in the same call.
    pub fn block(&mut self, from: &Stage, to: LocId) -> Stage {
        match from.when {
            When::Blocks(count) => after(count),
            When::Point(_) => self.arrive(from.context, to),
        }
    }

    /// The entry of a function that is called.
    pub fn enter(&mut self, from: &Stage, edge: EdgeId, callee: FuncId) -> Stage {
        match from.when {
            When::Blocks(count) => after(count),
            When::Point(_) => {
                let inside = self.numbering.call(from.context, edge, callee);
                self.arrive(inside, self.program.function(callee).entry)
            }
        }
    }

    /// Behind the innermost call.
    pub fn leave(&mut self, from: &Stage, to: LocId) -> Stage {
        match from.when {
            When::Blocks(count) => after(count),
            When::Point(_) => {
                let mut at = from.context;
                let outside = loop {
                    match self.numbering.around(at) {
                        Around::Start => break at,
                        Around::Call(up, ..) => break up,
                        Around::Loop(up, ..) => at = up,
                    }
                };
                self.arrive(outside, to)
            }
        }
    }

    /// Whether a loop begins again at a place, or a function that was called is called once more.
    pub fn is_again(&self, stage: &Stage, location: LocId) -> bool {
        match self.numbering.around(stage.context) {
            Around::Loop(_, head, arrivals) => head == location && arrivals > 1,
            Around::Call(_, _, callee) => {
                self.program.function(callee).entry == location
                    && self.numbering.activations(stage.context, callee) > 1
            }
            Around::Start => false,
        }
    }

    fn arrive(&mut self, context: ContextId, location: LocId) -> Stage {
        let program = self.program;
        let function = program.locations[location.index()].function;
        let graph = self.graphs.entry(function);
        let graph = graph.or_insert_with(|| Rc::new(FunctionGraph::new(program, function)));
        let (context, _) = self.numbering.arrive(graph, context, location);
        let key = self.order.key(program, &self.numbering, context, location);
        Stage {
            // Without an order, one point is as good as another.
            when: When::Point(key.unwrap_or_default()),
            context,
        }
    }
}

fn after(count: u32) -> Stage {
    Stage {
        when: When::Blocks(count + 1),
        context: ContextId(0),
    }
}
