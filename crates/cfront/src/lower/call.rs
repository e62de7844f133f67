//! Calls.

use super::effects::Effect;
use super::{Lower, TEXT};
use crate::ids::{ExprId, FuncId, PlaceId, VarId};
use crate::program::*;
use crate::types::Type;
use rucc_ast::UnaryOp as AstUnary;
use rucc_sema as sema;
use rucc_types as rt;

impl Lower<'_> {
    /// Notes that a function is called or its address taken.
    pub(super) fn used(&mut self, func: FuncId) {
        let source = match &self.function {
            Some(function) => function.source,
            None => self.b.functions[func.index()].source,
        };
        self.b.functions[func.index()]
            .first_use
            .get_or_insert(source);
    }

    /// The function that is called by its name, if it is.
    pub(super) fn named_callee(&self, callee: sema::ExprId) -> Option<sema::DeclId> {
        let mut at = callee;
        loop {
            match self.unit.tree[at].kind {
                sema::ExprKind::Decl(decl)
                    if self.unit.tree[decl].kind == sema::DeclKind::Function =>
                {
                    return Some(decl);
                }
                sema::ExprKind::Convert {
                    kind: sema::Conversion::FunctionDecay,
                    operand,
                }
                | sema::ExprKind::Unary {
                    op: AstUnary::Deref | AstUnary::AddrOf,
                    operand,
                } => {
                    at = operand;
                }
                _ => return None,
            }
        }
    }

    /// A call whose result is wanted.
    pub(super) fn call_value(
        &mut self,
        id: sema::ExprId,
        callee: sema::ExprId,
        args: sema::ExprList,
        ty: rt::TypeId,
    ) -> ExprId {
        let to = self.ty(ty);
        let void = matches!(self.b.types.get(to), Type::Void);
        if let Some(decl) = self.named_callee(callee)
            && let Some(value) = self.environment_call(id, decl, args, to)
        {
            return match value {
                Some(value) if !void => self.convert_scalar(value, to),
                _ if void => self.void_value(),
                _ => {
                    let place = self.temporary(to);
                    self.b.load(place)
                }
            };
        }
        if void {
            self.call(id, callee, args, None);
            return self.void_value();
        }
        let place = self.temporary(to);
        self.call(id, callee, args, Some(place));
        self.b.load(place)
    }

    /// A call for what it does.
    pub(super) fn call_effect(
        &mut self,
        id: sema::ExprId,
        callee: sema::ExprId,
        args: sema::ExprList,
    ) {
        self.call_into(id, callee, args, None);
    }

    /// A call whose result goes to a place.
    pub(super) fn call_into(
        &mut self,
        id: sema::ExprId,
        callee: sema::ExprId,
        args: sema::ExprList,
        result: Option<PlaceId>,
    ) {
        if let Some(decl) = self.named_callee(callee) {
            let ty = self.unit.tree[id].ty;
            let to = self.ty(ty);
            if let Some(place) = result
                && self.unit.tree[args].is_empty()
                && self.input_into(id, decl, place)
            {
                return;
            }
            if let Some(value) = self.environment_call(id, decl, args, to) {
                if let (Some(value), Some(place)) = (value, result) {
                    let ty = self.place_ty(place);
                    let value = self.convert_scalar(value, ty);
                    self.at_expr(id);
                    self.assign(place, value);
                }
                return;
            }
        }
        self.call(id, callee, args, result);
    }

    fn call(
        &mut self,
        id: sema::ExprId,
        callee: sema::ExprId,
        args: sema::ExprList,
        result: Option<PlaceId>,
    ) {
        let named = self.named_callee(callee);
        let pointer = match named {
            Some(_) => None,
            None => {
                let pointer = self.value(callee);
                let list = self.unit.tree[args].to_vec();
                let effect = self.effect_of_all(&list);
                Some(self.keep_for(pointer, effect))
            }
        };
        let arguments = self.arguments(args);
        self.at_expr(id);
        match (named, pointer) {
            (Some(decl), _) => {
                if self.jumps(decl) {
                    let what = format!("`{}`", self.name_of(decl));
                    self.unsupported(what);
                    return;
                }
                let func = self.func(decl);
                self.used(func);
                if self.may_be_absent(decl) {
                    self.call_needs(decl);
                }
                self.emit(Op::Call {
                    callee: Callee::Direct(func),
                    arguments,
                    result,
                });
                if self.unit.tree[decl]
                    .flags
                    .contains(sema::DeclFlags::NORETURN)
                {
                    // If it has no body, the program ends in it.
                    self.stop();
                }
            }
            (None, Some(pointer)) => {
                self.check_callee(pointer);
                let callee = Callee::Indirect {
                    pointer,
                    targets: Vec::new(),
                };
                self.emit(Op::Call {
                    callee,
                    arguments,
                    result,
                });
            }
            (None, None) => unreachable!("a callee is a name or a pointer"),
        }
    }

    /// Checks that a pointer that is called points to a function. Which ones it may point to is
    /// known when the program is complete; until then, null is what it must not be.
    fn check_callee(&mut self, pointer: ExprId) {
        if !self.b.options.wants(CheckKind::Pointer) {
            return;
        }
        let message = format!("null or wild function pointer in {TEXT}");
        match self.b.exprs[pointer.index()].kind {
            ExprKind::Function(_) => {}
            // Nothing of ours lives at a fixed address.
            ExprKind::Int(_) => self.error(CheckKind::Pointer, message),
            _ => {
                let int = self.int_ty();
                let null = self.b.zero(self.b.ty_of(pointer));
                let bad = self.b.binary(BinaryOp::Eq, pointer, null, int);
                self.check(CheckKind::Pointer, bad, message);
            }
        }
    }

    /// A call of a weak function that is absent is one through a null pointer.
    fn call_needs(&mut self, decl: sema::DeclId) {
        let present = self.is_present(decl);
        if self.b.options.wants(CheckKind::Pointer) {
            let message = format!("null pointer in {TEXT}");
            self.require(CheckKind::Pointer, present, message);
            return;
        }
        let (next, halt) = (self.location(), self.halt_location());
        self.split(present, next, halt);
        self.f().cur = next;
    }

    /// Whether a function returns twice, or to where such a function was called. `setjmp` returns
    /// once as long as nobody calls `longjmp`, which is not supported.
    fn jumps(&self, decl: sema::DeclId) -> bool {
        let twice = sema::DeclFlags::RETURNS_TWICE;
        match self.name_of(decl) {
            "setjmp" | "_setjmp" | "sigsetjmp" | "__sigsetjmp" => false,
            "longjmp" | "siglongjmp" | "_longjmp" | "__longjmp_chk" => true,
            _ => self.unit.tree[decl].flags.contains(twice),
        }
    }

    pub(super) fn effect_of_all(&self, list: &[sema::ExprId]) -> Effect {
        let mut effects = list.iter().map(|&e| self.effects.of(e));
        let Some(first) = effects.next() else {
            return Effect {
                memory: false,
                writes: super::effects::Writes::Nothing,
                traps: false,
                control: false,
            };
        };
        effects.fold(first, Effect::and)
    }

    /// Evaluates the arguments, from left to right.
    pub(super) fn arguments(&mut self, args: sema::ExprList) -> Vec<ExprId> {
        let list = self.unit.tree[args].to_vec();
        let mut values = Vec::with_capacity(list.len());
        let mut later: Vec<Effect> = Vec::with_capacity(list.len());
        let mut effect = self.effect_of_all(&[]);
        for &arg in list.iter().rev() {
            later.push(effect);
            effect = effect.and(self.effects.of(arg));
        }
        later.reverse();
        for (&arg, &later) in list.iter().zip(&later) {
            let ty = self.unit.tree[arg].ty;
            let to = self.ty(ty);
            let value = if self.is_record_or_array(to) && self.is_supported(ty) {
                let place = self.record_value(arg);
                self.b.load(place)
            } else {
                self.value(arg)
            };
            values.push(self.keep_for(value, later));
        }
        values
    }

    /// Calls the handler of `__attribute__((cleanup))`.
    pub(super) fn call_cleanup(&mut self, handler: sema::DeclId, variable: VarId) {
        let func = self.func(handler);
        self.used(func);
        let place = self.b.var_place(variable);
        let mut argument = self.address(place);
        if let Type::Function { parameters, .. } =
            self.b.types.get(self.b.functions[func.index()].ty)
            && let Some(&to) = parameters.first()
        {
            argument = self.b.convert(argument, to);
        }
        self.emit(Op::Call {
            callee: Callee::Direct(func),
            arguments: vec![argument],
            result: None,
        });
    }
}
