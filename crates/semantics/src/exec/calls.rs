//! Calls: binding what is passed, and what is given back.

use super::{Execution, Frame, Value};
use crate::expr::Evaluated;
use crate::leaves::all_leaves;
use crate::memory::Scalar;
use hardbop_cfront::ids::{EdgeId, FuncId};
use hardbop_cfront::program::{Callee, ExprKind, Op};
use hardbop_logic::{TermId, Terms};

impl Execution<'_, '_> {
    /// Enters a function that a call edge calls: binds its parameters, and gives the condition
    /// under which this is the function called.
    pub fn enter(&mut self, terms: &mut Terms, call: EdgeId, callee: FuncId) -> TermId {
        let program = self.semantics.program;
        let Op::Call {
            callee: how,
            arguments,
            ..
        } = &program.edges[call.index()].op
        else {
            return terms.bool(false);
        };
        let condition = match how {
            Callee::Direct(_) => terms.bool(true),
            Callee::Indirect { pointer, .. } => {
                let pointer = self.pointer(terms, *pointer, Evaluated::Always);
                let distance = self.semantics.layout.function_distance(callee);
                let address = self.at_distance(terms, distance);
                terms.eq(pointer, address)
            }
        };
        let function = program.function(callee);
        enum Passed {
            Scalar(Value),
            Parts(Option<Vec<Value>>),
        }
        let mut passed = Vec::new();
        for (&argument, _) in arguments.iter().zip(&function.formals) {
            let ty = program.expr(argument).ty;
            passed.push(if program.types.is_scalar(ty) {
                Passed::Scalar(Value {
                    number: self.number(terms, argument, Evaluated::Always),
                    owner: self.owner_of(terms, argument, Evaluated::Always),
                })
            } else if let ExprKind::Load(place) = program.expr(argument).kind {
                Passed::Parts(self.read_parts(terms, place, ty))
            } else {
                Passed::Parts(None)
            });
        }
        let own = self.semantics.frame_variables(callee);
        let outer = own
            .iter()
            .map(|&id| (id, self.state.written_to(id)))
            .collect();
        self.frames.push(Frame {
            call,
            callee,
            outer,
        });
        for &variable in function
            .locals
            .iter()
            .chain(&function.formals)
            .chain(&function.result)
        {
            self.declare(terms, variable);
        }
        for (value, &formal) in passed.into_iter().zip(&function.formals) {
            let Some(spot) = self.semantics.points_to.variable(formal) else {
                continue;
            };
            let ty = program.variable(formal).ty;
            let address = self.variable_address(terms, formal);
            match value {
                Passed::Scalar(value) => {
                    let scalar = Scalar {
                        spot,
                        address: Some(address),
                        ty,
                        bits: None,
                    };
                    self.write_pointer(terms, scalar, value.number, value.owner);
                }
                Passed::Parts(values) => {
                    if let (Some(values), Some(leaves)) = (values, all_leaves(self.semantics, ty)) {
                        let parts = self.parts_at(terms, spot, address, leaves);
                        self.write_all(terms, parts, values);
                    } else {
                        self.exact = false;
                    }
                }
            }
        }
        condition
    }

    /// Leaves the function that was entered last: its result goes where the call wants it.
    /// Does nothing if no call was entered.
    pub fn leave(&mut self, terms: &mut Terms) {
        let Some(frame) = self.frames.pop() else {
            return;
        };
        let program = self.semantics.program;
        let result = match &program.edges[frame.call.index()].op {
            Op::Call { result, .. } => *result,
            _ => None,
        };
        let returned = program.function(frame.callee).result;
        let values = match (result, returned) {
            (Some(_), Some(variable)) => {
                let ty = program.variable(variable).ty;
                let spot = self.semantics.points_to.variable(variable);
                spot.zip(all_leaves(self.semantics, ty))
                    .map(|(spot, leaves)| {
                        let address = self.variable_address(terms, variable);
                        let parts = self.parts_at(terms, spot, address, leaves);
                        self.read_all(terms, parts)
                    })
            }
            _ => None,
        };
        self.end_frame(terms, frame.callee);
        for (id, value) in frame.outer {
            match value {
                Some(value) => self.state.set(id, value),
                None => self.state.reset(id),
            }
        }
        if let Some(place) = result {
            let ty = program.place(place).ty;
            self.write_parts(terms, place, ty, values);
        }
    }
}
