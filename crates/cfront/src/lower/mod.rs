//! Lowering: the typed tree of a unit becomes functions, variables and edges of a [`Builder`].
//!
//! Every conversion of the tree becomes explicit, every side effect an edge of its own, every
//! `&&`, `||`, `?:` that matters a branch. Values are pure expressions over the state at the
//! edge that uses them; where something later in the same C expression may change what an
//! earlier operand reads, the operand is kept in a temporary.

mod arith;
mod assembly;
mod assign;
mod atomic;
mod body;
mod builtin;
mod call;
mod cond;
mod constant;
mod decl;
mod effects;
pub(crate) mod environment;
mod expr;
mod heap;
mod init;
mod jumps;
mod keep;
mod lossy;
mod misuse;
mod place;
mod record;
mod stmt;
mod switch;
mod symbols;
#[cfg(test)]
mod tests;
mod types;
mod unsequenced;
mod variadic;
mod vla;

use crate::builder::{Builder, Initialiser, Strength};
use crate::ids::{FuncId, PlaceId, TypeId, VarId};
use crate::parse::ParsedUnit;
use crate::program::*;
use crate::start::START;
use crate::types::Type;
use body::{FnState, Storage};
use effects::Effects;
use hardbop_diagnostics::Diagnostic;
use rucc_sema as sema;
use std::collections::{HashMap, HashSet};

pub(crate) use symbols::{Definitions, PRESENT, announce_unit, has_aliases};
pub(crate) use unsequenced::{Operand, Unsequenced};

/// In the message of a check: what stands for the text of the source at the check's place.
pub(crate) const TEXT: &str = "\u{1}";

/// One unit being lowered.
pub(crate) struct Lower<'a> {
    b: &'a mut Builder,
    unit: &'a ParsedUnit,
    origin: Origin,
    type_map: types::TypeMap,
    effects: Effects,
    functions: HashMap<sema::DeclId, FuncId>,
    globals: HashMap<sema::DeclId, VarId>,
    strings: HashMap<sema::StrId, VarId>,
    /// The globals whose initial value is set.
    initialised: HashSet<VarId>,
    function: Option<FnState>,
    /// Whether an initial value is being computed: nothing can be decided there.
    initialising: bool,
    /// Declarations with a label that names what only this unit sees.
    met: HashSet<sema::DeclId>,
}

/// Whether a unit uses a function; that a header declares it is no use.
pub(crate) fn mentions(unit: &ParsedUnit, name: &str) -> bool {
    let Some(name) = unit.names.find(name) else {
        return false;
    };
    (0..unit.tree.counts().exprs).any(|index| {
        match unit.tree[sema::ExprId::from_usize(index)].kind {
            sema::ExprKind::Decl(decl) => unit.tree[decl].name == Some(name),
            _ => false,
        }
    })
}

/// Whether a unit has a function that runs after the program's end.
pub(crate) fn has_destructor(unit: &ParsedUnit) -> bool {
    let after = |&id: &sema::DeclId| unit.tree[id].startup.after.is_some();
    unit.tree.top_level().iter().any(after)
}

/// Lowers a unit into the builder. Errors among the diagnostics mean that the program is not
/// linked correctly; unsupported constructs are not errors.
pub(crate) fn lower_unit(
    builder: &mut Builder,
    unit: &ParsedUnit,
    origin: Origin,
) -> Vec<Diagnostic> {
    if origin == Origin::User {
        announce_unit(builder, unit);
    }
    let effects = effects::find(unit, &builder.options);
    let mut lower = Lower {
        b: builder,
        unit,
        origin,
        type_map: types::TypeMap::default(),
        effects,
        functions: HashMap::new(),
        globals: HashMap::new(),
        strings: HashMap::new(),
        initialised: HashSet::new(),
        function: None,
        initialising: false,
        met: HashSet::new(),
    };
    lower.name_records();
    lower.unit();
    lower.keep_words();
    if origin == Origin::User {
        lower.note_unsequenced();
    }
    std::mem::take(&mut builder.diagnostics)
}

impl Lower<'_> {
    fn unit(&mut self) {
        let unit = self.unit;
        self.refuse_variable_members();
        self.define_aliases();
        for &id in unit.tree.top_level() {
            let decl = &unit.tree[id];
            match decl.kind {
                sema::DeclKind::Function => {
                    if decl.body.is_some() {
                        self.function_definition(id);
                    }
                }
                sema::DeclKind::Object => {
                    if decl.state != sema::Definition::Declared {
                        self.global(id);
                    }
                }
                sema::DeclKind::Type => {}
            }
        }
        if let Some(asm) = unit.tree.file_asms().first() {
            let source = unit.source(asm.span);
            self.b.diagnostics.push(Diagnostic::warning(
                source.span,
                "inline assembly outside of functions is ignored",
            ));
            self.b
                .assumptions
                .push(Assumption::InlineAssembly { source });
        }
    }

    fn name_of(&self, id: sema::DeclId) -> &str {
        let decl = &self.unit.tree[id];
        decl.name.map_or("", |name| self.unit.names.resolve(name))
    }

    /// The function that a declaration declares.
    fn func(&mut self, id: sema::DeclId) -> FuncId {
        if let Some(&func) = self.functions.get(&id) {
            return func;
        }
        let unit = self.unit;
        let decl = &unit.tree[id];
        let ty = self.ty(decl.ty);
        let source = unit.source(unit.tree.definition_span(id));
        let name = self.symbol(id);
        let func = match self.is_internal(id) {
            true => self.b.static_function(&name, ty, source),
            false => {
                let func = self.b.external_function(&name, ty, source);
                let implicit = matches!(
                    self.b.types.get(ty),
                    Type::Function { parameters, variadic: crate::types::Variadic::Yes, .. }
                        if parameters.is_empty()
                ) && decl.body.is_none();
                self.b.declare_function(func, ty, source, implicit);
                func
            }
        };
        self.functions.insert(id, func);
        if decl.flags.contains(sema::DeclFlags::NORETURN) {
            self.b.noreturn.insert(func);
        }
        if unit.tree.is_ifunc(id) {
            self.b
                .refused
                .insert(func, "a function chosen by `ifunc`".to_owned());
        }
        let errors = &self.b.options.error_functions;
        let error = errors.contains(self.name_of(id)) || errors.contains(&name);
        if error && self.origin == Origin::User {
            self.b.error_functions.insert(func);
        }
        func
    }

    fn function_definition(&mut self, id: sema::DeclId) {
        // What calls the entry stands behind the user's text, and is ours.
        let ours = self.name_of(id).starts_with(START);
        let trusted = ours
            || self.origin == Origin::Model && self.name_of(id).starts_with("__hardbop_trusted_");
        if trusted {
            self.b.options.checks.clear();
        }
        let origin = self.origin;
        if ours {
            self.origin = Origin::Model;
        }
        self.define_function(id);
        self.origin = origin;
        if trusted {
            self.b.options.checks = self.b.asked.clone();
        }
    }

    fn define_function(&mut self, id: sema::DeclId) {
        let unit = self.unit;
        let func = self.func(id);
        let decl = &unit.tree[id];
        let source = unit.source(unit.tree.definition_span(id));
        // Whether an `inline` definition is seen by other units differs between C99 and GNU C. One
        // that is not overridden counts.
        let weak = decl.flags.contains(sema::DeclFlags::WEAK)
            || decl.flags.contains(sema::DeclFlags::DECLARED_INLINE)
            || !decl.inline.emits();
        let strength = if weak || self.origin == Origin::Model {
            Strength::Weak
        } else {
            Strength::Strong
        };
        if !self.b.may_define(func, strength, source) {
            return;
        }
        let Some(body) = decl.body else { return };
        let ty = self.ty(decl.ty);
        let params: Vec<sema::DeclId> = unit.tree[decl.params].to_vec();
        self.function = Some(FnState::new(func, source));
        let passed = match self.b.types.get(ty) {
            Type::Function { parameters, .. } => parameters.clone(),
            _ => Vec::new(),
        };
        let formals: Vec<VarId> = params
            .iter()
            .enumerate()
            .map(|(i, &param)| self.formal(func, param, passed.get(i).copied()))
            .collect();
        let result = match *self.b.types.get(ty) {
            Type::Function { result, .. } if !matches!(self.b.types.get(result), Type::Void) => {
                Some(self.b.add_variable(Variable {
                    name: "result#".to_owned(),
                    ty: result,
                    kind: VarKind::Result(func),
                    address_taken: false,
                    source,
                    initial: Initial::None,
                    read_only: false,
                    align: 1,
                }))
            }
            _ => None,
        };
        self.f().result = result;
        // The lengths in `int a[n][m]` are evaluated when the function is entered.
        for &param in &params {
            if let Some(written) = unit.tree.adjusted_from(param) {
                self.evaluate_lengths(written);
            }
            self.evaluate_lengths(unit.tree[param].ty);
        }
        self.stmt(body);
        let name = self.b.functions[func.index()].name.clone();
        if let (true, Some(result)) = (name == self.b.options.entry || name == "main", result)
            && matches!(
                self.b.types.get(self.b.variables[result.index()].ty),
                Type::Int { .. }
            )
        {
            // Reaching the end of `main` returns 0.
            let place = self.b.var_place(result);
            let ty = self.b.variables[result.index()].ty;
            let zero = self.b.int(0, ty);
            self.assign(place, zero);
        }
        let exit = self.f().body.exit;
        self.jump_to(exit);
        self.resolve_gotos();
        self.resolve_jumps();
        let state = self.function.take().expect("the function was set above");
        let startup = decl.startup;
        let position = func.0;
        let order = |priority: sema::Priority| match priority {
            sema::Priority::Numbered(n) => u32::from(n),
            sema::Priority::Unnumbered => u32::MAX,
        };
        if let Some(priority) = startup.before {
            self.b.startup.insert((order(priority), position), func);
        }
        if let Some(priority) = startup.after {
            self.b
                .shutdown
                .insert((u32::MAX - order(priority), u32::MAX - position), func);
        }
        let draft = &mut self.b.functions[func.index()];
        draft.ty = ty;
        draft.formals = formals;
        draft.locals = state.locals;
        draft.result = result;
        draft.strength = strength;
        draft.origin = self.origin;
        draft.source = source;
        draft.implicit = false;
        draft.further = state.further;
        draft.body = Some(state.body);
    }

    /// A parameter. Old-style definitions are passed a promoted value: the parameter is then a
    /// local that starts as the value converted back.
    fn formal(&mut self, func: FuncId, id: sema::DeclId, passed: Option<TypeId>) -> VarId {
        let unit = self.unit;
        let decl = &unit.tree[id];
        let ty = self.ty(decl.ty);
        let passed = passed.unwrap_or(ty);
        let source = unit.source(unit.tree.decl_span(id));
        let name = match decl.name {
            Some(name) => unit.names.resolve(name).to_owned(),
            None => "p#".to_owned(),
        };
        let mut variable = Variable {
            name,
            ty: passed,
            kind: VarKind::Formal(func),
            address_taken: false,
            source,
            initial: Initial::None,
            read_only: false,
            align: decl.alignment.map_or(1, u64::from),
        };
        let formal = self.b.add_variable(variable.clone());
        let mut storage = formal;
        if passed != ty {
            variable.ty = ty;
            variable.kind = VarKind::Local(func);
            self.b.variables[formal.index()].name.push('#');
            storage = self.b.add_variable(variable);
            self.f().locals.push(storage);
            let from = self.b.var_place(formal);
            let value = self.b.load(from);
            let value = self.convert_scalar(value, ty);
            let place = self.b.var_place(storage);
            self.assign(place, value);
        }
        self.f().variables.insert(id, Storage::Variable(storage));
        if self.effects.is_taken(id) {
            self.f().taken.insert(storage);
        }
        formal
    }

    /// The global or static variable that a declaration declares.
    fn global(&mut self, id: sema::DeclId) -> VarId {
        if let Some(&var) = self.globals.get(&id) {
            return var;
        }
        let unit = self.unit;
        let decl = &unit.tree[id];
        let mut ty = self.ty(decl.ty);
        let source = unit.source(unit.tree.decl_span(id));
        // `int a[];` alone is an array of one element.
        if decl.state != sema::Definition::Declared
            && let Type::Array { element, length: 0 } = *self.b.types.get(ty)
            && matches!(
                self.bare(decl.ty),
                rucc_types::TypeKind::Array {
                    len: rucc_types::ArrayLen::Unknown,
                    ..
                }
            )
        {
            ty = self.b.types.intern(Type::Array { element, length: 1 });
        }
        ty = self.with_extent(id, ty);
        let strength = match decl.state {
            sema::Definition::Declared => Strength::Declared,
            sema::Definition::Tentative if decl.flags.contains(sema::DeclFlags::WEAK) => {
                Strength::Weak
            }
            sema::Definition::Tentative => Strength::Tentative,
            sema::Definition::Defined if decl.flags.contains(sema::DeclFlags::WEAK) => {
                Strength::Weak
            }
            sema::Definition::Defined => Strength::Strong,
        };
        let name = self.symbol(id);
        let mut initialiser = Initialiser::Counts;
        let var = if decl.linkage != sema::Linkage::None && !self.is_internal(id) {
            let (var, counts) = self.b.external_variable(&name, ty, strength, source);
            initialiser = counts;
            var
        } else {
            let kind = match (&self.function, decl.name) {
                (Some(f), Some(_)) if decl.linkage == sema::Linkage::None => {
                    VarKind::Static(f.func)
                }
                (_, None) => VarKind::Literal,
                _ => VarKind::Global,
            };
            self.b.add_variable(Variable {
                name: if name.is_empty() {
                    Variable::COMPOUND_LITERAL.to_owned()
                } else {
                    name
                },
                ty,
                kind,
                address_taken: false,
                source,
                initial: Initial::Data(Vec::new()),
                read_only: false,
                align: 1,
            })
        };
        self.globals.insert(id, var);
        let align = &mut self.b.variables[var.index()].align;
        // Other units may ask for more.
        *align = decl.alignment.map_or(1, u64::from).max(*align);
        if decl.state != sema::Definition::Declared {
            self.b.variables[var.index()].read_only = self.is_constant(decl.ty);
        }
        if let Some(init) = decl.init
            && decl.state != sema::Definition::Declared
            && initialiser == Initialiser::Counts
            && self.initialised.insert(var)
        {
            let outer = std::mem::replace(&mut self.initialising, true);
            self.b.variables[var.index()].initial = self.static_initialiser(init, source);
            self.initialising = outer;
        }
        var
    }

    /// Where a declared object lives.
    fn storage(&mut self, id: sema::DeclId) -> Storage {
        if let Some(function) = &self.function
            && let Some(&storage) = function.variables.get(&id)
        {
            return storage;
        }
        if self.unit.tree[id].duration == sema::StorageDuration::Automatic {
            // A local whose declaration has not been passed: a jump went around it, or it is
            // used in its own declaration.
            return self.local(id);
        }
        Storage::Variable(self.global(id))
    }

    /// The variable of a string literal.
    fn string(&mut self, id: sema::StrId, source: Source) -> VarId {
        if let Some(&var) = self.strings.get(&id) {
            return var;
        }
        let literal = &self.unit.tree[id];
        let bytes = literal.bytes(&self.unit.target);
        let width = literal.encoding.element_width(&self.unit.target);
        let signed = literal.encoding.is_signed(&self.unit.target);
        let element = self.b.types.int(width, signed);
        let length = bytes.len() as u64 / u64::from(width / 8);
        let ty = self.b.types.intern(Type::Array { element, length });
        let name = literal.spell();
        let parts = bytes_part(0, bytes);
        let var = self.b.add_variable(Variable {
            name,
            ty,
            kind: VarKind::Literal,
            address_taken: false,
            source,
            initial: Initial::Data(parts),
            read_only: true,
            align: 1,
        });
        self.strings.insert(id, var);
        var
    }

    /// Sets the text that the following edges stand for.
    fn at_expr(&mut self, id: sema::ExprId) {
        let source = self.unit.source(self.unit.tree.expr_span(id));
        self.f().source = source;
    }

    fn at_stmt(&mut self, id: sema::StmtId) {
        let source = self.unit.source(self.unit.tree.stmt_span(id));
        self.f().source = source;
    }

    fn place_ty(&self, place: PlaceId) -> TypeId {
        self.b.places[place.index()].ty
    }
}

/// Bytes as a part of an initial value, without the zeros at the end.
fn bytes_part(offset: u64, mut bytes: Vec<u8>) -> Vec<InitialPart> {
    while bytes.last() == Some(&0) {
        bytes.pop();
    }
    if bytes.is_empty() {
        return Vec::new();
    }
    vec![InitialPart {
        offset_bits: offset * 8,
        value: InitialValue::Bytes(bytes),
    }]
}
