//! Calls through a pointer of another type than the function has.
//!
//! C leaves them undefined, and real machines do something all the same. Where points-to says that
//! a call may reach such a function, the call goes to a function of ours, which looks at the
//! pointer: a target whose arguments are passed in the same way is called with them, for any other
//! the execution has no known meaning.

use crate::builder::Body;
use crate::calls::is_one_of;
use crate::cfg::lay_out;
use crate::ids::{EdgeId, ExprId, FuncId, PlaceId, TypeId, VarId};
use crate::program::*;
use crate::types::{DataModel, Type, Types, Variadic};

/// What the names of our functions begin with.
pub(crate) const DISPATCH: &str = "call#";

/// Whether there are targets that fit as well.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Others {
    /// There are: that a target does not fit is probably points-to's fault.
    Fit,
    /// There are none.
    None,
}

/// What a pointer does that is neither null nor one of the targets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Elsewhere {
    /// What the call says.
    Targets,
    /// Nothing that is known, and it was asked whether it is wild.
    Unsupported,
}

/// Lets a call go to its unfitting targets too, and end where there is no other target and the
/// pointer is null.
pub(crate) fn dispatch(
    program: &mut Program,
    edge: EdgeId,
    unfit: &[FuncId],
    others: Others,
    elsewhere: Elsewhere,
) {
    let Edge { op, source, .. } = program.edges[edge.index()].clone();
    let Op::Call {
        callee: Callee::Indirect { pointer, targets },
        arguments,
        result,
    } = op
    else {
        return;
    };
    let id = FuncId(program.functions.len() as u32);
    let mut passed = vec![pointer];
    passed.extend(&arguments);
    let formals: Vec<VarId> = passed
        .iter()
        .map(|&value| {
            let ty = program.expr(value).ty;
            variable(program, "p#", ty, VarKind::Formal(id), source)
        })
        .collect();
    let wanted = result.map(|place| program.place(place).ty);
    let answer = wanted.map(|ty| variable(program, "result#", ty, VarKind::Result(id), source));
    let mut dispatch = Dispatch {
        program,
        id,
        source,
        locals: Vec::new(),
        body: Body::default(),
    };
    dispatch.body.entry = dispatch.body.location(LocationKind::Plain);
    dispatch.body.exit = dispatch.body.location(LocationKind::Exit);
    let values: Vec<ExprId> = formals
        .iter()
        .map(|&formal| dispatch.load(formal))
        .collect();
    let answer_place = answer.map(|answer| dispatch.place(answer));
    let mut at = dispatch.body.entry;
    for &target in unfit {
        at = dispatch.choose(at, target, &values, answer_place, others);
    }
    // A call of what is not known goes on; one through a null pointer does not.
    if targets.is_empty() {
        at = dispatch.halt_if_null(at, values[0]);
    }
    if elsewhere == Elsewhere::Unsupported {
        at = dispatch.stop_unless(at, values[0], &targets);
    }
    let call = Op::Call {
        callee: Callee::Indirect {
            pointer: values[0],
            targets,
        },
        arguments: values[1..].to_vec(),
        result: answer_place,
    };
    let exit = dispatch.body.exit;
    dispatch.body.edge(at, exit, call, source);
    let Dispatch { locals, body, .. } = dispatch;
    let (locations, entry, exit) = lay_out(id, body, program);
    let parameters: Vec<TypeId> = passed.iter().map(|&value| program.expr(value).ty).collect();
    let result_ty = wanted.unwrap_or_else(|| program.types.intern(Type::Void));
    let ty = program.types.intern(Type::Function {
        result: result_ty,
        parameters,
        variadic: Variadic::No,
    });
    program.add_function(Function {
        name: format!("{DISPATCH}{}", id.0),
        ty,
        formals,
        locals,
        result: answer,
        origin: Origin::Model,
        locations,
        entry,
        exit,
        source,
    });
    program.edges[edge.index()].op = Op::Call {
        callee: Callee::Direct(id),
        arguments: passed,
        result,
    };
}

fn variable(program: &mut Program, name: &str, ty: TypeId, kind: VarKind, source: Source) -> VarId {
    program.add_variable(Variable {
        name: name.to_owned(),
        ty,
        kind,
        address_taken: false,
        source,
        initial: Initial::None,
        read_only: false,
        align: 1,
    })
}

struct Dispatch<'a> {
    program: &'a mut Program,
    id: FuncId,
    source: Source,
    locals: Vec<VarId>,
    body: Body,
}

impl Dispatch<'_> {
    fn expr(&mut self, kind: ExprKind, ty: TypeId) -> ExprId {
        self.program.add_expr(kind, ty)
    }

    fn place(&mut self, variable: VarId) -> PlaceId {
        let ty = self.program.variable(variable).ty;
        self.program.add_place(PlaceKind::Var(variable), ty)
    }

    fn load(&mut self, variable: VarId) -> ExprId {
        let place = self.place(variable);
        let ty = self.program.variable(variable).ty;
        self.expr(ExprKind::Load(place), ty)
    }

    fn unknown(&mut self, ty: TypeId) -> PlaceId {
        let kind = VarKind::Temporary(self.id);
        let name = format!("t#{}", self.locals.len() + 1);
        let local = variable(self.program, &name, ty, kind, self.source);
        self.locals.push(local);
        self.place(local)
    }

    fn converted(&mut self, value: ExprId, ty: TypeId) -> ExprId {
        if self.program.expr(value).ty == ty {
            return value;
        }
        self.expr(ExprKind::Convert(value), ty)
    }

    /// Ends the execution where the pointer is null; gives back where it is not.
    fn halt_if_null(&mut self, at: u32, pointer: ExprId) -> u32 {
        let ty = self.program.expr(pointer).ty;
        let null = self.expr(ExprKind::Int(0), ty);
        let int = self.program.types.int(32, true);
        let condition = self.expr(ExprKind::Binary(BinaryOp::Eq, pointer, null), int);
        let halt = self.body.location(LocationKind::Halt);
        let elsewhere = self.body.location(LocationKind::Plain);
        for (to, holds) in [(halt, true), (elsewhere, false)] {
            let op = Op::Assume { condition, holds };
            self.body.edge(at, to, op, self.source);
        }
        elsewhere
    }

    /// Says that it is not supported where the pointer is none of the targets; gives back where it
    /// is.
    fn stop_unless(&mut self, at: u32, pointer: ExprId, targets: &[FuncId]) -> u32 {
        let source = self.source;
        let condition = is_one_of(self.program, pointer, targets);
        let known = self.body.location(LocationKind::Plain);
        let other = self.body.location(LocationKind::Plain);
        for (to, holds) in [(known, true), (other, false)] {
            let op = Op::Assume { condition, holds };
            self.body.edge(at, to, op, source);
        }
        let what = "a call through a pointer of which it is not known where it points".to_owned();
        let construct = self.program.unsupported.len() as u32;
        self.program.unsupported.push(Unsupported {
            what,
            source,
            gap: Gap::Everywhere,
        });
        let exit = self.body.exit;
        let op = Op::Unsupported { construct };
        self.body.edge(other, exit, op, source);
        known
    }

    /// Where the pointer is the target's address, calls it; gives back where it is not.
    fn choose(
        &mut self,
        at: u32,
        target: FuncId,
        values: &[ExprId],
        answer: Option<PlaceId>,
        others: Others,
    ) -> u32 {
        let source = self.source;
        let pointer_ty = self.program.expr(values[0]).ty;
        let address = self.expr(ExprKind::Function(target), pointer_ty);
        let int = self.program.types.int(32, true);
        let condition = self.expr(ExprKind::Binary(BinaryOp::Eq, values[0], address), int);
        let here = self.body.location(LocationKind::Plain);
        let elsewhere = self.body.location(LocationKind::Plain);
        for (to, holds) in [(here, true), (elsewhere, false)] {
            let op = Op::Assume { condition, holds };
            self.body.edge(at, to, op, source);
        }
        let exit = self.body.exit;
        let arguments = match others {
            Others::Fit => None,
            Others::None => self.arguments(target, &values[1..]),
        };
        let given = self.program.function(target).result;
        let given = given.map(|result| self.program.variable(result).ty);
        let wanted = answer.map(|place| self.program.place(place).ty);
        let good = match (wanted, given) {
            (Some(wanted), Some(given)) => receives(&self.program.types, wanted, given),
            (Some(wanted), None) => self.program.types.is_scalar(wanted),
            (None, _) => true,
        };
        let Some(arguments) = arguments.filter(|_| good) else {
            let name = &self.program.function(target).name;
            let what = format!("a call of `{name}` through a pointer of another type");
            let construct = self.program.unsupported.len() as u32;
            self.program.unsupported.push(Unsupported {
                what,
                source,
                gap: Gap::Everywhere,
            });
            self.body
                .edge(here, exit, Op::Unsupported { construct }, source);
            return elsewhere;
        };
        let called = self.body.location(LocationKind::Plain);
        let result = match (answer, given) {
            (Some(_), Some(given)) => Some(self.unknown(given)),
            _ => None,
        };
        let call = Op::Call {
            callee: Callee::Direct(target),
            arguments,
            result,
        };
        self.body.edge(here, called, call, source);
        let last = match (answer, result, wanted, given) {
            (Some(place), Some(kept), Some(wanted), Some(given)) => {
                let value = self.expr(ExprKind::Load(kept), given);
                let value = self.converted(value, wanted);
                Op::Assign { place, value }
            }
            (Some(place), ..) => Op::Havoc { place },
            _ => Op::Skip,
        };
        self.body.edge(called, exit, last, source);
        elsewhere
    }

    /// The arguments as the target receives them; nothing if that is not known. Those that are
    /// not passed are unknown.
    fn arguments(&mut self, target: FuncId, values: &[ExprId]) -> Option<Vec<ExprId>> {
        let Type::Function {
            variadic: Variadic::No,
            ..
        } = self.program.types.get(self.program.function(target).ty)
        else {
            return None;
        };
        let formals = self.program.function(target).formals.clone();
        let formals: Vec<TypeId> = formals
            .iter()
            .map(|&f| self.program.variable(f).ty)
            .collect();
        let types = &self.program.types;
        let fit = formals
            .iter()
            .zip(values)
            .all(|(&to, &value)| receives(types, to, self.program.expr(value).ty));
        let missing = formals.get(values.len()..).unwrap_or_default();
        if !fit || !missing.iter().all(|&ty| types.is_scalar(ty)) {
            return None;
        }
        Some(
            formals
                .iter()
                .enumerate()
                .map(|(i, &ty)| match values.get(i) {
                    Some(&value) => self.converted(value, ty),
                    None => {
                        let place = self.unknown(ty);
                        self.expr(ExprKind::Load(place), ty)
                    }
                })
                .collect(),
        )
    }
}

/// Whether what is passed as one type is received as another one by its low bits.
fn receives(types: &Types, to: TypeId, from: TypeId) -> bool {
    if to == from {
        return true;
    }
    let whole = |ty: TypeId| matches!(types.get(ty), Type::Int { .. } | Type::Pointer(_));
    let (to_size, from_size) = (types.size_of(to), types.size_of(from));
    // Registers hold 64 bits; on the stack of 32-bit machines, sizes move what comes after.
    let narrower = types.model() == DataModel::Lp64 && from_size <= 8 && to_size < from_size;
    whole(to) && whole(from) && (to_size == from_size || narrower)
}
