//! Calls to what the environment provides: inputs, assumptions, assertions, memory, the end of
//! the program. They are recognised by name where the user's program does not define them.

use super::effects::{Effect, Writes};
use super::{Lower, TEXT};
use crate::finish::SHUTDOWN;
use crate::ids::{ExprId, PlaceId, TypeId};
use crate::load::ABORT;
use crate::options::Failures;
use crate::program::*;
use crate::types::{FloatKind, Type, Variadic};
use rucc_sema as sema;

/// The call writes memory, as far as keeping its operands is concerned.
const WRITES_MEMORY: Effect = Effect {
    memory: true,
    writes: Writes::Nothing,
    traps: false,
    control: false,
};

/// What is assumed where the program says so itself.
pub(super) const UNREACHABLE: &str = "`__builtin_unreachable()` is never reached";

/// The functions that fail an assertion when they are called.
const FAIL: [&str; 6] = [
    "__assert_fail",
    "__assert",
    "__assert_perror_fail",
    "_assert",
    "__assert_func",
    "__assert_rtn",
];

/// The functions that fail an assertion if their first argument is zero.
const ASSERT: [&str; 3] = ["__VERIFIER_assert", "__CPROVER_assert", "assert"];

/// The functions that start another thread or process.
const THREADS: [&str; 5] = ["pthread_create", "thrd_create", "fork", "vfork", "clone"];

/// What a function does that lowering knows, where it is called by a pointer and no model written
/// in C can say it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ByPointer {
    /// It fails an assertion.
    Fail,
    /// It fails an assertion if its first argument is zero.
    Assert,
    /// It returns an input.
    Input,
    /// It does what is not supported.
    Refuse(String),
}

impl ByPointer {
    /// What a function does, if it is one of these.
    pub(crate) fn of(name: &str) -> Option<ByPointer> {
        if FAIL.contains(&name) {
            return Some(ByPointer::Fail);
        }
        if ASSERT.contains(&name) {
            return Some(ByPointer::Assert);
        }
        if name.starts_with("__VERIFIER_nondet_") {
            return Some(ByPointer::Input);
        }
        if THREADS.contains(&name) {
            return Some(ByPointer::Refuse(threads(name)));
        }
        let refused = matches!(name, "alloca" | "__alloca");
        refused.then(|| ByPointer::Refuse(format!("`{name}` called by a pointer")))
    }
}

fn threads(name: &str) -> String {
    format!("`{name}`: only sequential programs are understood")
}

/// Whether lowering knows a function, or whoever finishes the program does.
pub(crate) fn is_known(name: &str) -> bool {
    ByPointer::of(name).is_some()
}

/// What a call to the environment gives: its value, if it has one.
type Answer = Option<ExprId>;

impl Lower<'_> {
    /// The name by which a function is known to the environment, if the user's program does not
    /// define it.
    fn environment_name(&self, decl: sema::DeclId) -> Option<String> {
        let declared = &self.unit.tree[decl];
        let symbol = self.symbol(decl);
        if self.origin == Origin::User {
            let errors = &self.b.options.error_functions;
            let mut names = [self.name_of(decl), &symbol].into_iter();
            if let Some(name) = names.find(|&name| errors.contains(name)) {
                return Some(name.to_owned());
            }
        }
        if declared.body.is_some() || self.is_internal(decl) || declared.alias.is_some() {
            return None;
        }
        // A label has been taken for the name; `__builtin_malloc` has not.
        let spelled = match declared.asm_label {
            Some(_) => symbol.as_str(),
            None => self.name_of(decl),
        };
        // The models use the operations that lowering knows.
        let operation = self.origin == Origin::Model && spelled.starts_with("__builtin_");
        if self.b.announced.contains(spelled) && !operation {
            return None;
        }
        let name = sema::unchecked_name(spelled)
            .or_else(|| sema::library_name(spelled))
            .unwrap_or(spelled);
        if self.origin == Origin::User && self.b.options.is_hooked(name) {
            return None;
        }
        Some(name.strip_prefix("__builtin_").unwrap_or(name).to_owned())
    }

    /// `__VERIFIER_nondet_*()` written straight to where it belongs.
    pub(super) fn input_into(
        &mut self,
        id: sema::ExprId,
        decl: sema::DeclId,
        place: PlaceId,
    ) -> bool {
        let Some(name) = self.environment_name(decl) else {
            return false;
        };
        if !name.starts_with("__VERIFIER_nondet_") || name == "__VERIFIER_nondet_memory" {
            return false;
        }
        let call_ty = self.unit.tree[id].ty;
        let ty = self.ty(call_ty);
        let ty = self.input_type(decl, &name, ty);
        if ty != self.place_ty(place) || !self.b.types.is_scalar(ty) || !self.is_fixed(place) {
            return false;
        }
        self.at_expr(id);
        self.emit(Op::Input { place, name });
        true
    }

    /// Does a call to the environment; `None` if it is an ordinary call.
    pub(super) fn environment_call(
        &mut self,
        id: sema::ExprId,
        decl: sema::DeclId,
        args: sema::ExprList,
        ty: TypeId,
    ) -> Option<Answer> {
        let name = self.environment_name(decl)?;
        let list = self.unit.tree[args].to_vec();
        if self.b.options.error_functions.contains(&name) {
            for &arg in &list {
                self.effect(arg);
            }
            self.at_expr(id);
            if self.b.options.failures == Failures::Ends {
                self.stop();
                return Some(None);
            }
            let error = self.error_location(CheckKind::ErrorCall, format!("call of `{name}`"));
            let next = self.location();
            self.violate(CheckKind::ErrorCall, error, next);
            self.f().cur = next;
            return Some(None);
        }
        if name.starts_with("__VERIFIER_nondet_") && name != "__VERIFIER_nondet_memory" {
            for &arg in &list {
                self.effect(arg);
            }
            self.at_expr(id);
            let ty = self.input_type(decl, &name, ty);
            if matches!(self.b.types.get(ty), Type::Void) {
                return Some(None);
            }
            let place = self.temporary(ty);
            if self.b.types.is_scalar(ty) {
                self.emit(Op::Input { place, name });
            } else {
                self.emit(Op::Havoc { place });
            }
            return Some(Some(self.b.load(place)));
        }
        match (name.as_str(), list.as_slice()) {
            ("__VERIFIER_assume" | "__CPROVER_assume", [condition]) => {
                let (yes, halt) = (self.location(), self.halt_location());
                self.branch(*condition, yes, halt);
                self.f().cur = yes;
                Some(None)
            }
            (name, [condition, ..]) if ASSERT.contains(&name) => {
                self.at_expr(*condition);
                let message = format!("assertion {TEXT}");
                let yes = self.location();
                if self.b.options.failures == Failures::Ends {
                    let no = self.location();
                    self.branch(*condition, yes, no);
                    self.f().cur = no;
                    self.stop();
                } else {
                    let error = self.error_location(CheckKind::Assertion, message);
                    self.describe(error, *condition);
                    if self.goes_on_behind(CheckKind::Assertion) {
                        let no = self.location();
                        self.branch(*condition, yes, no);
                        self.f().cur = no;
                        self.violate(CheckKind::Assertion, error, yes);
                    } else {
                        self.branch(*condition, yes, error);
                    }
                }
                self.f().cur = yes;
                Some(None)
            }
            ("__assert_func" | "__assert_rtn", _) => {
                self.failed_assertion(id, list.get(3).copied())
            }
            (name, _) if FAIL.contains(&name) => self.failed_assertion(id, list.first().copied()),
            ("abort" | "exit" | "_exit" | "_Exit" | "quick_exit" | "__builtin_abort", _) => {
                for &arg in &list {
                    self.effect(arg);
                }
                self.at_expr(id);
                if name == "abort" && self.b.announced.contains(ABORT) {
                    self.call_model(ABORT);
                }
                // Its name is `__builtin_exit` where more is to be done than to end.
                if name == "exit" && self.b.announced.contains("exit") {
                    self.call_model(SHUTDOWN);
                }
                self.stop();
                Some(None)
            }
            // Only the builtins: a function of the user's may have these names.
            ("trap" | "unreachable", _) if self.name_of(decl).starts_with("__builtin_") => {
                for &arg in &list {
                    self.effect(arg);
                }
                self.at_expr(id);
                if name == "unreachable" {
                    self.b.assume_model(UNREACHABLE);
                    self.halt();
                } else {
                    self.stop();
                }
                Some(None)
            }
            (name, _) if THREADS.contains(&name) => {
                for &arg in &list {
                    self.effect(arg);
                }
                self.at_expr(id);
                self.unsupported(threads(name));
                Some(None)
            }
            ("malloc", [_]) => {
                let size = self.size_arguments(args)[0];
                self.at_expr(id);
                Some(Some(self.allocate(size, Lifetime::Heap, ty)))
            }
            ("alloca" | "__alloca", [_]) => {
                let size = self.size_arguments(args)[0];
                self.at_expr(id);
                Some(Some(self.allocate(size, Lifetime::Frame, ty)))
            }
            // How the models take memory that is the library's own.
            ("__hardbop_own_memory", [_]) if self.origin == Origin::Model => {
                let size = self.size_arguments(args)[0];
                self.at_expr(id);
                Some(Some(self.allocate(size, Lifetime::Library, ty)))
            }
            ("calloc", [_, _]) => Some(Some(self.calloc(id, args, ty))),
            ("free" | "cfree", [_]) => {
                let pointer = self.arguments(args)[0];
                self.at_expr(id);
                let pointer = self.void_pointer(pointer);
                if self.b.options.wants(CheckKind::Free) {
                    let int = self.int_ty();
                    let valid = self.b.expr(ExprKind::ValidFree { pointer }, int);
                    let message = format!("invalid free in {TEXT}");
                    self.require(CheckKind::Free, valid, message);
                }
                self.count_free(pointer);
                self.emit(Op::Free { pointer });
                Some(None)
            }
            ("memcpy" | "memmove", [_, _, _, ..]) => {
                let values = self.arguments(args);
                self.at_expr(id);
                let size = self.size_ty();
                let size = self.b.convert(values[2], size);
                let to = self.keep_for(values[0], WRITES_MEMORY);
                let from = values[1];
                self.check_range(to, size);
                self.check_writable(to);
                self.check_range(from, size);
                if name == "memcpy" {
                    self.check_disjoint(to, from, size);
                }
                self.emit(Op::CopyMemory { to, from, size });
                Some(Some(to))
            }
            ("memset", [_, _, _, ..]) => {
                let values = self.arguments(args);
                self.at_expr(id);
                let size = self.size_ty();
                let int = self.int_ty();
                let size = self.b.convert(values[2], size);
                let byte = self.b.convert(values[1], int);
                let to = self.keep_for(values[0], WRITES_MEMORY);
                self.check_range(to, size);
                self.check_writable(to);
                self.emit(Op::FillMemory { to, byte, size });
                Some(Some(to))
            }
            // Reads that only find out whether they are right, where nobody wants to know.
            ("__hardbop_check_string", _) if self.origin == Origin::Model => {
                let checked = [CheckKind::Pointer, CheckKind::Bounds]
                    .iter()
                    .any(|kind| self.b.asked.contains(kind));
                (!checked).then_some(None)
            }
            // How the models say that what they are given must not overlap.
            ("__hardbop_disjoint", [_, _, _]) if self.origin == Origin::Model => {
                if self.b.asked.contains(&CheckKind::Overlap) {
                    let values = self.arguments(args);
                    self.at_expr(id);
                    self.check_disjoint(values[0], values[1], values[2]);
                }
                Some(None)
            }
            // How the models ask for the bytes from a pointer to its object's end.
            ("__hardbop_object_size", [_]) if self.origin == Origin::Model => {
                let pointer = self.arguments(args)[0];
                self.at_expr(id);
                let size = self.size_ty();
                Some(Some(self.b.expr(ExprKind::ObjectSize { pointer }, size)))
            }
            ("__VERIFIER_nondet_memory", [_, _]) => {
                let values = self.arguments(args);
                self.at_expr(id);
                let size = self.size_ty();
                let size = self.b.convert(values[1], size);
                self.check_range(values[0], size);
                self.emit(Op::HavocMemory {
                    pointer: values[0],
                    size: Some(size),
                    input: true,
                });
                Some(None)
            }
            _ => self.float_function(&name, args, ty),
        }
    }

    /// Calls a model that takes nothing and gives nothing.
    pub(super) fn call_model(&mut self, name: &str) {
        let result = self.b.types.intern(Type::Void);
        let ty = self.b.types.intern(Type::Function {
            result,
            parameters: Vec::new(),
            variadic: Variadic::No,
        });
        let source = self.f().source;
        let func = self.b.external_function(name, ty, source);
        self.used(func);
        self.emit(Op::Call {
            callee: Callee::Direct(func),
            arguments: Vec::new(),
            result: None,
        });
    }

    pub(super) fn halt_location(&mut self) -> u32 {
        self.f().body.location(LocationKind::Halt)
    }

    /// The check is violated here; what follows is unreachable.
    pub(super) fn error(&mut self, kind: CheckKind, message: String) {
        let error = self.error_location(kind, message);
        self.jump_to(error);
    }

    fn failed_assertion(&mut self, id: sema::ExprId, text: Option<sema::ExprId>) -> Option<Answer> {
        self.at_expr(id);
        if self.b.options.failures == Failures::Ends {
            self.stop();
            return Some(None);
        }
        let message = match text.and_then(|text| self.literal_text(text)) {
            Some(text) => format!("assertion {text}"),
            None => format!("assertion in {TEXT}"),
        };
        let error = self.error_location(CheckKind::Assertion, message);
        let next = self.location();
        self.violate(CheckKind::Assertion, error, next);
        self.f().cur = next;
        Some(None)
    }

    /// Puts the text of a condition into the message of a check.
    fn describe(&mut self, error: u32, condition: sema::ExprId) {
        let LocationKind::Error(check) = self.f().body.locations[error as usize].kind else {
            return;
        };
        let source = self.unit.source(self.unit.tree.expr_span(condition));
        self.b.checks[check.index()].source = source;
    }

    /// The text of a string literal.
    fn literal_text(&self, mut id: sema::ExprId) -> Option<String> {
        loop {
            match self.unit.tree[id].kind {
                sema::ExprKind::Convert { operand, .. } | sema::ExprKind::Cast(operand) => {
                    id = operand;
                }
                sema::ExprKind::Str(string) => {
                    let bytes: Vec<u8> = self.unit.tree[string]
                        .elements
                        .iter()
                        .map(|&e| e as u8)
                        .collect();
                    return Some(String::from_utf8_lossy(&bytes).into_owned());
                }
                _ => return None,
            }
        }
    }

    fn void_pointer(&mut self, pointer: ExprId) -> ExprId {
        let void = self.b.types.intern(Type::Void);
        let to = self.b.types.pointer(void);
        self.convert_scalar(pointer, to)
    }

    fn check_range(&mut self, pointer: ExprId, size: ExprId) {
        if self.b.constant(size) == Some(0) {
            return;
        }
        if self.b.options.wants(CheckKind::Pointer) || self.b.options.wants(CheckKind::Bounds) {
            // A pointer to nothing may be passed with a size of 0.
            let next = self.location();
            if self.b.constant(size).is_none() {
                let some = self.location();
                self.split(size, some, next);
                self.f().cur = some;
            }
            self.check_access_of(pointer, size);
            self.continue_at(next);
        }
    }

    /// The arguments as `size_t`.
    pub(super) fn size_arguments(&mut self, args: sema::ExprList) -> Vec<ExprId> {
        let size = self.size_ty();
        let values = self.arguments(args);
        values
            .into_iter()
            .map(|v| self.convert_scalar(v, size))
            .collect()
    }

    /// The type of an input: as declared, or, if the function was never declared, by its name.
    fn input_type(&mut self, decl: sema::DeclId, name: &str, declared: TypeId) -> TypeId {
        let prototyped = match self.bare(self.unit.tree[decl].ty) {
            rucc_types::TypeKind::Function(f) => self.unit.types.signature(f).prototyped,
            _ => true,
        };
        if prototyped {
            return declared;
        }
        let int = self.b.types.int(32, true);
        if declared != int {
            return declared;
        }
        let long = self.b.pointer_width();
        let t = &mut self.b.types;
        match name.trim_start_matches("__VERIFIER_nondet_") {
            "bool" | "_Bool" => t.intern(Type::Bool),
            "char" | "schar" | "S8" | "s8" => t.int(8, true),
            "uchar" | "unsigned_char" | "U8" | "u8" => t.int(8, false),
            "short" | "S16" | "s16" => t.int(16, true),
            "ushort" | "unsigned_short" | "U16" | "u16" => t.int(16, false),
            "uint" | "unsigned" | "unsigned_int" | "u32" | "U32" => t.int(32, false),
            "long" => t.int(long, true),
            "ulong" | "unsigned_long" | "size_t" | "pthread_t" | "sector_t" => t.int(long, false),
            "longlong" | "loff_t" | "S64" | "s64" => t.int(64, true),
            "ulonglong" | "U64" | "u64" => t.int(64, false),
            "int128" => t.int(128, true),
            "uint128" => t.int(128, false),
            "float" => t.intern(Type::Float(FloatKind::F32)),
            "double" => t.intern(Type::Float(FloatKind::F64)),
            "pointer" => {
                let void = t.intern(Type::Void);
                t.pointer(void)
            }
            "pchar" | "charp" => {
                let char = t.int(8, true);
                t.pointer(char)
            }
            _ => declared,
        }
    }

    /// The functions of `math.h` that are operators here.
    fn float_function(&mut self, name: &str, args: sema::ExprList, ty: TypeId) -> Option<Answer> {
        let list = self.unit.tree[args].to_vec();
        let operand = *list.first()?;
        let operand_ty = self.unit.tree[operand].ty;
        let kind = {
            let ty = self.ty(operand_ty);
            self.is_float(ty)?
        };
        let base = match kind {
            FloatKind::F64 => name,
            FloatKind::F16 => name.strip_suffix("f16")?,
            FloatKind::F32 => name.strip_suffix('f')?,
            FloatKind::X87 => name.strip_suffix('l')?,
            FloatKind::F128 => return None,
        };
        let test = match base {
            "__isnan" | "isnan" => Some(UnaryOp::IsNan),
            "__finite" | "finite" => Some(UnaryOp::IsFinite),
            "__signbit" => Some(UnaryOp::SignBit),
            _ => None,
        };
        let op = match base {
            "fabs" => Some(UnaryOp::FloatAbs),
            "sqrt" => Some(UnaryOp::FloatSqrt),
            "floor" => Some(UnaryOp::FloatFloor),
            "ceil" => Some(UnaryOp::FloatCeil),
            "trunc" => Some(UnaryOp::FloatTrunc),
            "round" => Some(UnaryOp::FloatRound),
            "rint" | "nearbyint" => Some(UnaryOp::FloatRint),
            _ => None,
        };
        match (test, op, base, list.len()) {
            (Some(test), _, _, 1) => {
                let int = self.int_ty();
                let value = self.value(operand);
                Some(Some(self.b.expr(ExprKind::Unary(test, value), int)))
            }
            (_, Some(op), _, 1) if self.is_float(ty) == Some(kind) => {
                let value = self.value(operand);
                let result = self.b.expr(ExprKind::Unary(op, value), ty);
                self.check_nan(result, &[value]);
                Some(Some(result))
            }
            (_, _, "fma", 3) if self.is_float(ty) == Some(kind) => {
                let values = self.arguments(args);
                if values.iter().any(|&value| self.b.ty_of(value) != ty) {
                    return None;
                }
                let operands = [values[0], values[1], values[2]];
                let int = self.int_ty();
                // To the nearest, unless the program says otherwise (`rounding.rs`).
                let mode = self.b.int(0, int);
                let kind = ExprKind::Rounded {
                    op: RoundedOp::Fma,
                    mode,
                    operands,
                };
                let result = self.b.expr(kind, ty);
                self.check_nan(result, &operands);
                Some(Some(result))
            }
            (_, _, "fmod" | "copysign", 2) if self.is_float(ty) == Some(kind) => {
                let op = if base == "fmod" {
                    BinaryOp::FloatMod
                } else {
                    BinaryOp::CopySign
                };
                let values = self.arguments(args);
                if self.b.ty_of(values[0]) != ty || self.b.ty_of(values[1]) != ty {
                    return None;
                }
                let result = self.b.expr(ExprKind::Binary(op, values[0], values[1]), ty);
                self.check_nan(result, &values);
                Some(Some(result))
            }
            _ => None,
        }
    }
}
