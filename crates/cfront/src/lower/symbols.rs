//! Names as the linker sees them: `asm` labels, aliases, weak names that nothing may define.

use super::Lower;
use crate::builder::Builder;
use crate::ids::{ExprId, FuncId, VarId};
use crate::parse::ParsedUnit;
use crate::program::*;
use hardbop_diagnostics::Diagnostic;
use rucc_sema as sema;
use std::collections::HashMap;

/// How many aliases of aliases are followed.
const MOST_ALIASES: usize = 32;

/// Says which names a unit defines for all units, so that calls in units lowered before it are
/// not taken for calls to the environment's function of the same name, and so that weak names
/// are known to be defined. Call it for every unit of the user before the first is lowered.
pub(crate) fn announce_unit(builder: &mut Builder, unit: &ParsedUnit) {
    for &id in unit.tree.top_level() {
        let decl = &unit.tree[id];
        if decl.linkage != sema::Linkage::External || decl.name.is_none() {
            continue;
        }
        let defined = match decl.kind {
            sema::DeclKind::Function => decl.body.is_some() || decl.alias.is_some(),
            sema::DeclKind::Object => {
                decl.state != sema::Definition::Declared || decl.alias.is_some()
            }
            sema::DeclKind::Type => false,
        };
        if !defined {
            continue;
        }
        let symbol = label(unit, id).unwrap_or_else(|| name(unit, id).to_owned());
        let weak = decl.flags.contains(sema::DeclFlags::WEAK);
        if decl.kind == sema::DeclKind::Function {
            builder.announced.insert(symbol.clone());
        }
        let definitions = builder.definitions.entry(symbol).or_default();
        definitions.any = true;
        definitions.strong |= !weak && decl.alias.is_none();
    }
}

/// Whether a unit gives what it defines a second name. Such units are lowered first, so that the
/// others find what the name stands for.
pub(crate) fn has_aliases(unit: &ParsedUnit) -> bool {
    let mut decls = unit.tree.top_level().iter();
    decls.any(|&id| unit.tree[id].alias.is_some())
}

/// Who defines a name.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Definitions {
    /// Some unit does.
    pub any: bool,
    /// Some unit does, neither weakly nor as an alias.
    pub strong: bool,
}

fn name(unit: &ParsedUnit, id: sema::DeclId) -> &str {
    let name = unit.tree[id].name;
    name.map_or("", |name| unit.names.resolve(name))
}

/// The name that `asm("...")` gives a declaration, or that a `weakref` stands for.
fn label(unit: &ParsedUnit, id: sema::DeclId) -> Option<String> {
    unit.tree[id].asm_label.map(|label| text(unit, label))
}

fn text(unit: &ParsedUnit, string: sema::StrId) -> String {
    let elements = unit.tree[string].elements.iter();
    let bytes: Vec<u8> = elements.map(|&e| e as u8).collect();
    let text = String::from_utf8_lossy(&bytes).into_owned();
    text.trim_end_matches('\0').to_owned()
}

impl Lower<'_> {
    /// The name by which other units know what is declared here.
    pub(super) fn symbol(&self, id: sema::DeclId) -> String {
        let spelled = self.name_of(id);
        let plain = || sema::library_name(spelled).unwrap_or(spelled).to_owned();
        let Some(label) = label(self.unit, id) else {
            return plain();
        };
        // Headers of the C library give many functions labels (`scanf` is `__isoc99_scanf`). What
        // nobody defines may as well keep the name that is known.
        let known = self.b.definitions.contains_key(&label)
            || self.b.options.error_functions.contains(&label)
            || self.b.is_library(&label);
        let decl = &self.unit.tree[id];
        let bare = decl.kind == sema::DeclKind::Function
            && decl.body.is_none()
            && !decl.flags.contains(sema::DeclFlags::WEAKREF);
        if bare && !known {
            return plain();
        }
        label
    }

    /// Whether the name has the linkage of a unit's own, and is not another one's.
    pub(super) fn is_internal(&self, id: sema::DeclId) -> bool {
        let decl = &self.unit.tree[id];
        decl.linkage == sema::Linkage::Internal && !decl.flags.contains(sema::DeclFlags::WEAKREF)
    }

    /// Makes the second names that the unit gives known, before anything uses them.
    pub(super) fn define_aliases(&mut self) {
        let unit = self.unit;
        for &id in unit.tree.top_level() {
            let decl = &unit.tree[id];
            if decl.alias.is_none() {
                self.meet_internal(id);
                continue;
            }
            if unit.tree.is_ifunc(id) {
                continue;
            }
            match decl.kind {
                sema::DeclKind::Function => self.alias_function(id),
                sema::DeclKind::Object => self.alias_variable(id),
                sema::DeclKind::Type => {}
            }
        }
    }

    /// A label, or a weak reference, may name what only this unit sees.
    fn meet_internal(&mut self, id: sema::DeclId) {
        let unit = self.unit;
        let Some(wanted) = label(unit, id) else {
            return;
        };
        let kind = unit.tree[id].kind;
        let target = unit.tree.top_level().iter().copied().find(|&other| {
            let own = || label(unit, other).unwrap_or_else(|| name(unit, other).to_owned());
            other != id
                && unit.tree[other].kind == kind
                && self.is_internal(other)
                && own() == wanted
        });
        if target.is_some() {
            self.met.insert(id);
        }
        match (target, kind) {
            (Some(target), sema::DeclKind::Function) => {
                let func = self.func(target);
                self.functions.insert(id, func);
            }
            (Some(target), sema::DeclKind::Object) => {
                let var = self.global(target);
                self.globals.insert(id, var);
            }
            _ => {}
        }
    }

    fn alias_function(&mut self, id: sema::DeclId) {
        if self.functions.contains_key(&id) || self.is_overridden(id) {
            return;
        }
        let Some(target) = self.alias_target(id) else {
            return;
        };
        let func = self.func(target);
        self.functions.insert(id, func);
        if self.unit.tree[id].linkage == sema::Linkage::External {
            let symbol = self.symbol(id);
            if !self.b.alias_function(&symbol, func) {
                self.refuse_alias(
                    id,
                    "used by a unit that is read before the one that defines it",
                );
            }
        }
    }

    fn alias_variable(&mut self, id: sema::DeclId) {
        if self.globals.contains_key(&id) || self.is_overridden(id) {
            return;
        }
        let Some(target) = self.alias_target(id) else {
            return;
        };
        let var = self.global(target);
        self.globals.insert(id, var);
        if self.unit.tree[id].linkage == sema::Linkage::External {
            let symbol = self.symbol(id);
            if !self.b.alias_variable(&symbol, var) {
                self.refuse_alias(
                    id,
                    "used by a unit that is read before the one that defines it",
                );
            }
        }
    }

    /// Whether a weak alias gives way to a definition of the same name.
    fn is_overridden(&self, id: sema::DeclId) -> bool {
        let weak = self.unit.tree[id].flags.contains(sema::DeclFlags::WEAK);
        let definitions = self.b.definitions.get(&self.symbol(id));
        weak && definitions.is_some_and(|d| d.strong)
    }

    /// The declaration that an alias stands for.
    fn alias_target(&mut self, id: sema::DeclId) -> Option<sema::DeclId> {
        let unit = self.unit;
        let mut targets: HashMap<String, sema::DeclId> = HashMap::new();
        for &other in unit.tree.top_level() {
            let decl = &unit.tree[other];
            let defined = decl.body.is_some()
                || decl.alias.is_some()
                || decl.state != sema::Definition::Declared;
            if decl.kind == unit.tree[id].kind && defined {
                let symbol = label(unit, other).unwrap_or_else(|| name(unit, other).to_owned());
                targets.insert(symbol, other);
            }
        }
        let mut at = id;
        for _ in 0..MOST_ALIASES {
            let Some(alias) = unit.tree[at].alias else {
                break;
            };
            let Some(&target) = targets.get(&text(unit, alias)) else {
                self.refuse_alias(id, "given to what this unit does not define");
                return None;
            };
            at = target;
        }
        let target = &unit.tree[at];
        let defined = target.body.is_some() || target.state != sema::Definition::Declared;
        if target.alias.is_some() || !defined || unit.tree.is_ifunc(at) {
            self.refuse_alias(id, "given to what this unit does not define");
            return None;
        }
        // The alias stays with this unit's definition, and the name goes to the other one.
        if target.flags.contains(sema::DeclFlags::WEAK)
            && self
                .b
                .definitions
                .get(&self.symbol(at))
                .is_some_and(|d| d.strong)
        {
            self.refuse_alias(id, "given to a weak definition that another unit overrides");
            return None;
        }
        Some(at)
    }

    fn refuse_alias(&mut self, id: sema::DeclId, why: &str) {
        let source = self.unit.source(self.unit.tree.decl_span(id));
        let message = format!("not supported: the alias `{}` is {why}", self.name_of(id));
        self.b
            .diagnostics
            .push(Diagnostic::error(source.span, message));
    }

    /// Whether the linker may leave the name without a definition: its address is then null.
    pub(super) fn may_be_absent(&self, id: sema::DeclId) -> bool {
        let decl = &self.unit.tree[id];
        let weak = decl.flags.contains(sema::DeclFlags::WEAK)
            || decl.flags.contains(sema::DeclFlags::WEAKREF);
        if !weak || self.origin != Origin::User || decl.body.is_some() || decl.alias.is_some() {
            return false;
        }
        if decl.kind == sema::DeclKind::Object && decl.state != sema::Definition::Declared {
            return false;
        }
        if self.met.contains(&id) {
            return false;
        }
        let symbol = self.symbol(id);
        !self.b.definitions.contains_key(&symbol) && !self.b.is_library(&symbol)
    }

    /// Whether a name that may be absent is there, as a condition.
    pub(super) fn is_present(&mut self, id: sema::DeclId) -> ExprId {
        let symbol = self.symbol(id);
        let source = self.unit.source(self.unit.tree.decl_span(id));
        let variable = self.b.presence(&symbol, source);
        let place = self.b.var_place(variable);
        self.b.load(place)
    }

    /// The address of a name, which is null if the name may be absent and is.
    pub(super) fn unless_absent(&mut self, id: sema::DeclId, address: ExprId) -> ExprId {
        if !self.may_be_absent(id) {
            return address;
        }
        if self.initialising {
            let source = self.unit.source(self.unit.tree.decl_span(id));
            let message = format!(
                "not supported: the address of the weak `{}`, which may be absent, in an initialiser",
                self.name_of(id)
            );
            self.b
                .diagnostics
                .push(Diagnostic::error(source.span, message));
            return address;
        }
        let present = self.is_present(id);
        let null = self.b.zero(self.b.ty_of(address));
        self.b.conditional(present, address, null)
    }
}

impl Builder {
    /// Makes a name another one of a function; not if the name is in use for a function of its
    /// own.
    fn alias_function(&mut self, name: &str, func: FuncId) -> bool {
        *self
            .external_functions
            .entry(name.to_owned())
            .or_insert(func)
            == func
    }

    fn alias_variable(&mut self, name: &str, var: VarId) -> bool {
        *self
            .external_variables
            .entry(name.to_owned())
            .or_insert(var)
            == var
    }

    /// The variable that says whether a weak name is defined: the same throughout an execution,
    /// and unknown.
    fn presence(&mut self, symbol: &str, source: Source) -> VarId {
        let name = format!("{symbol}{PRESENT}");
        if let Some(&variable) = self.present.get(&name) {
            return variable;
        }
        let int = self.types.int(32, true);
        let variable = self.add_variable(Variable {
            name: name.clone(),
            ty: int,
            kind: VarKind::Global,
            address_taken: false,
            source,
            initial: Initial::Unknown,
            read_only: false,
            align: 1,
        });
        self.present.insert(name, variable);
        variable
    }

    /// Whether the library has such a function, by a model or because lowering knows it.
    pub(crate) fn is_library(&self, name: &str) -> bool {
        self.models.has(name) || super::environment::is_known(name)
    }
}

/// What the names of the variables that say whether something is present end in.
pub(crate) const PRESENT: &str = "#present";
