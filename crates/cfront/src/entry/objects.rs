//! The statements that make what pointers point to, in C: objects of their own, to a depth, whose
//! contents may be anything.

use super::facts::{Null, Shape};
use super::{Filled, START, spelled};
use crate::parse::ParsedUnit;
use rucc_types as rt;
use std::fmt::Write;

/// How many levels of objects there are: what an argument points to, and what that points to.
const DEPTH: u32 = 2;
/// No more objects than that are made inside of others.
const MOST_OBJECTS: u32 = 24;
/// No object is larger.
const MOST_BYTES: &str = "0x7fffffffu";

/// The text while it is being written.
pub(super) struct Objects<'a> {
    pub unit: &'a ParsedUnit,
    /// Whether contents are filled in, or left as memory comes.
    pub filled: Filled,
    /// The functions that choose, as pairs of type and name.
    pub choices: Vec<(String, String)>,
    /// The functions that are called back.
    pub callbacks: String,
    /// The statements.
    pub body: String,
    /// Whether a pointer is null only since nobody makes what it might point to.
    pub nulls: bool,
    /// The pointers that are known where the next statement is.
    made: Vec<Made>,
    indent: usize,
    inside: u32,
    loops: u32,
}

/// A pointer that was made, which another one may be the same as.
struct Made {
    lvalue: String,
    label: String,
    to: rt::TypeKind,
    indent: usize,
}

/// A pointer may be the same as so many others.
const MOST_SAME: usize = 4;

/// A pointer that is to point to something.
pub(super) struct Pointer<'a> {
    /// The pointer, in C.
    pub lvalue: &'a str,
    /// A name for it.
    pub label: &'a str,
    /// Its type.
    pub ty: rt::TypeId,
    /// What it points to.
    pub shape: &'a Shape,
    /// Whether it may be null.
    pub null: Null,
}

impl<'a> Objects<'a> {
    pub(super) fn new(unit: &'a ParsedUnit, filled: Filled) -> Objects<'a> {
        Objects {
            unit,
            filled,
            choices: Vec::new(),
            callbacks: String::new(),
            body: String::new(),
            nulls: false,
            made: Vec::new(),
            indent: 1,
            inside: 0,
            loops: 0,
        }
    }

    /// A statement.
    pub(super) fn line(&mut self, text: &str) {
        let _ = writeln!(self.body, "{:1$}{text}", "", 2 * self.indent);
    }

    /// Opens a block.
    pub(super) fn open(&mut self, text: &str) {
        self.line(text);
        self.indent += 1;
    }

    /// Closes it.
    pub(super) fn close(&mut self) {
        self.indent -= 1;
        let indent = self.indent;
        self.made.retain(|made| made.indent <= indent);
        self.line("}");
    }

    /// A call of a function that chooses a value of a type.
    pub(super) fn choice(&mut self, ty: &str, what: &str, label: &str) -> String {
        let name = format!("__VERIFIER_nondet_{what}_{label}");
        let pair = (ty.to_owned(), name.clone());
        if !self.choices.contains(&pair) {
            self.choices.push(pair);
        }
        format!("{name}()")
    }

    pub(super) fn kind(&self, ty: rt::TypeId) -> rt::TypeKind {
        self.unit.types.kind(self.unit.types.canonical(ty))
    }

    pub(super) fn spell(&self, ty: rt::TypeId) -> String {
        spelled(self.unit, ty)
    }

    /// Makes what an argument points to.
    pub(super) fn argument(&mut self, pointer: &Pointer<'_>) {
        self.pointer(pointer, DEPTH);
    }

    fn pointer(&mut self, pointer: &Pointer<'_>, depth: u32) {
        let (lvalue, label) = (pointer.lvalue, pointer.label);
        self.line(&format!("{lvalue} = 0;"));
        if depth == 0 {
            return;
        }
        if let Some(to) = self.pointee(pointer.ty) {
            self.made.push(Made {
                lvalue: lvalue.to_owned(),
                label: label.to_owned(),
                to,
                indent: self.indent,
            });
        }
        if pointer.null == Null::Maybe {
            let choice = self.choice("_Bool", "object", label);
            self.open(&format!("if ({choice}) {{"));
        }
        self.object(pointer, depth);
        if pointer.null == Null::Maybe {
            self.close();
        }
    }

    fn pointee(&self, ty: rt::TypeId) -> Option<rt::TypeKind> {
        rt::pointee(&self.unit.types, ty).map(|to| self.kind(to))
    }

    /// Makes what a pointer in an object points to: what another one points to, or something of its
    /// own.
    fn member(&mut self, pointer: &Pointer<'_>, depth: u32) {
        let (lvalue, label) = (pointer.lvalue, pointer.label);
        let to = self.pointee(pointer.ty);
        let same = self
            .made
            .iter()
            .filter(|made| Some(&made.to) == to.as_ref());
        let same = same.map(|made| (made.lvalue.clone(), made.label.clone()));
        let same: Vec<(String, String)> = same.take(MOST_SAME).collect();
        let same = if depth == 0 { Vec::new() } else { same };
        for (other, known) in &same {
            let choice = self.choice("_Bool", &format!("same_as_{known}"), label);
            self.open(&format!("if ({choice}) {{"));
            self.line(&format!("{lvalue} = (__typeof__({lvalue})){other};"));
            self.close();
            self.open("else {");
        }
        self.pointer(pointer, depth);
        for _ in &same {
            self.close();
        }
        if let Some(to) = to.filter(|_| !same.is_empty()) {
            self.made.push(Made {
                lvalue: lvalue.to_owned(),
                label: label.to_owned(),
                to,
                indent: self.indent,
            });
        }
    }

    fn object(&mut self, pointer: &Pointer<'_>, depth: u32) {
        let (lvalue, label) = (pointer.lvalue, pointer.label);
        let Some(to) = rt::pointee(&self.unit.types, pointer.ty) else {
            return;
        };
        let kind = self.kind(to);
        match (kind, pointer.shape) {
            (rt::TypeKind::Function(function), _) => {
                let callback = self.callback(label, function);
                self.line(&format!("{lvalue} = {callback};"));
            }
            (_, Shape::Text) => {
                let length = self.count(label, "1", "0");
                self.fresh(lvalue, &format!("{length} + 1"));
                self.line(&format!("((char *){lvalue})[{length}] = 0;"));
            }
            (_, Shape::Array(Some(count))) => {
                let limit = format!("{MOST_BYTES} / sizeof(*{lvalue})");
                self.line(&format!(
                    "__VERIFIER_assume(({count}) >= 0 && ({count}) <= {limit});"
                ));
                self.fresh(lvalue, &format!("({count}) * sizeof(*{lvalue})"));
            }
            (_, Shape::Array(None)) => self.array(lvalue, label),
            (kind, Shape::Auto) if is_plain(&kind) => self.array(lvalue, label),
            _ if !rt::is_complete(&self.unit.types, to) => self.fresh(lvalue, "1"),
            _ => {
                self.fresh(lvalue, &format!("sizeof(*{lvalue})"));
                self.contents(&format!("(*{lvalue})"), label, to, depth - 1);
            }
        }
    }

    fn array(&mut self, lvalue: &str, label: &str) {
        let count = self.count(label, &format!("sizeof(*{lvalue})"), "1");
        self.fresh(lvalue, &format!("{count} * sizeof(*{lvalue})"));
    }

    /// Any number of things of a size, at least so many.
    fn count(&mut self, label: &str, size: &str, least: &str) -> String {
        let name = format!("count_{label}");
        let choice = self.choice("__SIZE_TYPE__", "count", label);
        self.line(&format!("__SIZE_TYPE__ {name} = {choice};"));
        let least = match least {
            "0" => String::new(),
            _ => format!("{name} >= {least} && "),
        };
        self.line(&format!(
            "__VERIFIER_assume({least}{name} < {MOST_BYTES} / {size});"
        ));
        name
    }

    /// A fresh object of so many bytes.
    fn fresh(&mut self, lvalue: &str, bytes: &str) {
        self.line(&format!("{lvalue} = __builtin_malloc({bytes});"));
        self.line(&format!("__VERIFIER_assume({lvalue} != 0);"));
        if self.filled == Filled::Yes {
            self.line(&format!(
                "__VERIFIER_nondet_memory((void *){lvalue}, {bytes});"
            ));
        }
    }

    /// Sets the pointers in an object whose contents are anything.
    pub(super) fn contents(&mut self, lvalue: &str, label: &str, ty: rt::TypeId, depth: u32) {
        if !self.holds_pointers(ty) {
            return;
        }
        match self.kind(ty) {
            rt::TypeKind::Pointer(_) => {
                let mut depth = depth;
                if self.inside >= MOST_OBJECTS {
                    self.nulls = true;
                    depth = 0;
                }
                self.inside += 1;
                let constant = self.unit.types.quals(ty).has(rt::Qualifiers::CONST);
                self.nulls |= constant;
                let (lvalue, depth) = match constant {
                    // What is constant for the user was set by somebody once.
                    true => (format!("*(void **)&{lvalue}"), 0),
                    false => (lvalue.to_owned(), depth),
                };
                let pointer = Pointer {
                    lvalue: &lvalue,
                    label,
                    ty,
                    shape: &Shape::Auto,
                    null: Null::Maybe,
                };
                self.member(&pointer, depth);
            }
            rt::TypeKind::Array { elem, .. } => {
                self.nulls = true;
                self.loops += 1;
                let index = format!("index_{}", self.loops);
                self.open(&format!(
                    "for (__SIZE_TYPE__ {index} = 0; {index} < sizeof {lvalue} / sizeof {lvalue}[0]; {index}++) {{"
                ));
                self.contents(&format!("{lvalue}[{index}]"), label, elem, 0);
                self.close();
            }
            rt::TypeKind::Record(record) => {
                let info = self.unit.types.record_info(record);
                if info.kind == rt::RecordKind::Union {
                    self.nulls = true;
                    self.line(&format!("__builtin_memset(&{lvalue}, 0, sizeof {lvalue});"));
                    return;
                }
                let constant = self.unit.types.quals(ty).has(rt::Qualifiers::CONST);
                for field in info.fields.clone() {
                    match field.name {
                        Some(name) => {
                            let name = self.unit.names.resolve(name).to_owned();
                            let path = match constant {
                                // It is constant for the function, not for who made it.
                                true => {
                                    let of = spelled(self.unit, field.ty);
                                    format!("(*(__typeof__({of}) *)&{lvalue}.{name})")
                                }
                                false => format!("{lvalue}.{name}"),
                            };
                            let label = format!("{label}_{name}");
                            self.contents(&path, &label, field.ty, depth);
                        }
                        // The members of an anonymous one are members of what it is in.
                        None => self.contents(lvalue, label, field.ty, depth),
                    }
                }
            }
            _ => {}
        }
    }

    /// Whether objects of a type hold pointers.
    pub(super) fn holds_pointers(&self, ty: rt::TypeId) -> bool {
        match self.kind(ty) {
            rt::TypeKind::Pointer(_) => true,
            rt::TypeKind::Array {
                elem,
                len: rt::ArrayLen::Fixed(length),
            } => length > 0 && self.holds_pointers(elem),
            rt::TypeKind::Record(record) => {
                let info = self.unit.types.record_info(record);
                info.fields
                    .iter()
                    .any(|field| self.holds_pointers(field.ty))
            }
            _ => false,
        }
    }

    /// A function that is called back: it returns anything, but for pointers, and changes nothing.
    fn callback(&mut self, label: &str, function: rt::FunctionId) -> String {
        let name = format!("{START}_callback_{label}");
        let signature = self.unit.types.signature(function).clone();
        let typed = |this: &Self, ty| format!("__typeof__({})", this.spell(ty));
        let mut parameters: Vec<String> = Vec::new();
        for (index, &parameter) in signature.params.iter().enumerate() {
            parameters.push(format!("{} p{index}", typed(self, parameter)));
        }
        if signature.variadic && !parameters.is_empty() {
            parameters.push("...".to_owned());
        }
        let listed = match (parameters.is_empty(), signature.prototyped) {
            (true, true) => "void".to_owned(),
            _ => parameters.join(", "),
        };
        let (result, returned) = match self.kind(signature.ret) {
            rt::TypeKind::Void => ("void".to_owned(), String::new()),
            rt::TypeKind::Pointer(_) => {
                self.nulls = true;
                (typed(self, signature.ret), " return 0; ".to_owned())
            }
            _ => {
                let result = typed(self, signature.ret);
                let choice = self.choice(&result, "returned", label);
                (result, format!(" return {choice}; "))
            }
        };
        let _ = writeln!(
            self.callbacks,
            "static {result} {name}({listed}) {{{returned}}}"
        );
        name
    }
}

/// Whether a pointer to it is often one to the first of many.
fn is_plain(kind: &rt::TypeKind) -> bool {
    !matches!(
        kind,
        rt::TypeKind::Pointer(_) | rt::TypeKind::Array { .. } | rt::TypeKind::Record(_)
    )
}
