//! `Builder`: a program while its units are lowered one after the other.
//!
//! What has external linkage is merged by name here. Expressions and places are shared: equal
//! ones have equal ids. Locations and edges stay with their function, numbered from zero, until
//! [`Builder::finish`] lays them out.

use crate::ids::{CheckId, ExprId, FuncId, PlaceId, TypeId, VarId};
use crate::lower::Definitions;
use crate::models::Models;
use crate::options::LowerOptions;
use crate::program::*;
use crate::types::{Record, Type, Types, Variadic};
use crate::words::Words;
use hardbop_diagnostics::Diagnostic;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

/// A program that is being put together from its units.
pub struct Builder {
    pub(crate) options: LowerOptions,
    pub(crate) types: Types,
    pub(crate) variables: Vec<Variable>,
    pub(crate) functions: Vec<FunctionDraft>,
    pub(crate) exprs: Vec<Expr>,
    expr_ids: HashMap<Expr, ExprId>,
    pub(crate) places: Vec<Place>,
    place_ids: HashMap<Place, PlaceId>,
    pub(crate) checks: Vec<Check>,
    pub(crate) assumptions: Vec<Assumption>,
    pub(crate) unsupported: Vec<Unsupported>,
    pub(crate) diagnostics: Vec<Diagnostic>,
    pub(crate) external_functions: HashMap<String, FuncId>,
    pub(crate) external_variables: HashMap<String, VarId>,
    variable_states: HashMap<VarId, VariableState>,
    /// The names that functions have, to tell static ones apart.
    function_names: HashSet<String>,
    /// The functions with external linkage that some unit of the user defines.
    pub(crate) announced: HashSet<String>,
    /// Every name with external linkage that some unit of the user defines.
    pub(crate) definitions: HashMap<String, Definitions>,
    /// The variables that say whether a weak name is defined, by their names.
    pub(crate) present: HashMap<String, VarId>,
    /// The models of the library.
    pub(crate) models: Models,
    /// Whether the program looks at `errno`.
    pub(crate) looks_at_errno: bool,
    /// Functions that stand for an error. Calls of them by name are checks of their own; this is
    /// for what calls them by a pointer.
    pub(crate) error_functions: BTreeSet<FuncId>,
    /// Functions that cannot be called, and why.
    pub(crate) refused: HashMap<FuncId, String>,
    /// Functions that a declaration says do not return.
    pub(crate) noreturn: BTreeSet<FuncId>,
    /// The records met so far, by what they look like, so that the struct of a header that two
    /// units include is one struct.
    pub(crate) records_by_shape: HashMap<String, crate::ids::RecordId>,
    /// The records that no unit has completed yet, by tag.
    pub(crate) incomplete_records: HashMap<String, crate::ids::RecordId>,
    /// Functions that run before and after the entry: `constructor` and `destructor`.
    pub(crate) startup: BTreeMap<(u32, u32), FuncId>,
    pub(crate) shutdown: BTreeMap<(u32, u32), FuncId>,
    /// What calls `main` with its arguments, if it looks at them.
    pub(crate) start: Option<FuncId>,
    /// Counts the objects on the heap, where somebody asks about them at the end.
    pub(crate) live_objects: Option<VarId>,
    model_texts: BTreeSet<String>,
    /// The checks that the user asked for, whatever is lowered just now.
    pub(crate) asked: BTreeSet<CheckKind>,
    /// The names of types and numbers.
    pub(crate) words: Words,
    /// Operands whose order may matter.
    pub(crate) unsequenced: Vec<crate::lower::Unsequenced>,
}

/// How much of a definition a variable with external linkage has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct VariableState {
    strength: Strength,
    source: Source,
}

/// How strongly a name is defined.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Strength {
    /// Only declared.
    Declared,
    /// Defined if nobody else does: an inline or a weak definition.
    Weak,
    /// Defined, maybe with an initialiser elsewhere: `int x;`.
    Tentative,
    /// Defined.
    Strong,
}

/// Whether the initialiser of a definition is the variable's, or another definition's is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Initialiser {
    /// It is.
    Counts,
    /// The linker takes another definition.
    GivesWay,
}

/// A function while it is being lowered.
#[derive(Clone, Debug)]
pub(crate) struct FunctionDraft {
    pub name: String,
    pub ty: TypeId,
    pub formals: Vec<VarId>,
    pub locals: Vec<VarId>,
    pub result: Option<VarId>,
    pub strength: Strength,
    pub origin: Origin,
    pub source: Source,
    /// Where it is first called, or otherwise used.
    pub first_use: Option<Source>,
    /// Whether it is only known from calls to it.
    pub implicit: bool,
    /// Where it keeps the address of its further arguments, if it asks for them.
    pub further: Option<VarId>,
    pub body: Option<Body>,
}

/// The graph of a function, with locations numbered from zero.
#[derive(Clone, Debug, Default)]
pub(crate) struct Body {
    pub locations: Vec<DraftLocation>,
    pub edges: Vec<DraftEdge>,
    pub entry: u32,
    pub exit: u32,
}

/// A location of a [`Body`].
#[derive(Clone, Debug)]
pub(crate) struct DraftLocation {
    pub kind: LocationKind,
    pub labels: Vec<String>,
}

/// An edge of a [`Body`].
#[derive(Clone, Debug)]
pub(crate) struct DraftEdge {
    pub from: u32,
    pub to: u32,
    pub op: Op,
    pub source: Source,
}

impl Body {
    /// A new location.
    pub fn location(&mut self, kind: LocationKind) -> u32 {
        self.locations.push(DraftLocation {
            kind,
            labels: Vec::new(),
        });
        self.locations.len() as u32 - 1
    }

    /// A new edge.
    pub fn edge(&mut self, from: u32, to: u32, op: Op, source: Source) {
        self.edges.push(DraftEdge {
            from,
            to,
            op,
            source,
        });
    }
}

impl Builder {
    /// A program without any unit.
    pub fn new(types: Types, options: LowerOptions) -> Builder {
        let granted = options.granted.clone();
        let granted = granted.into_iter().map(|text| Assumption::Model { text });
        Builder {
            asked: options.checks.clone(),
            options,
            types,
            variables: Vec::new(),
            functions: Vec::new(),
            exprs: Vec::new(),
            expr_ids: HashMap::new(),
            places: Vec::new(),
            place_ids: HashMap::new(),
            checks: Vec::new(),
            assumptions: granted.collect(),
            unsupported: Vec::new(),
            diagnostics: Vec::new(),
            external_functions: HashMap::new(),
            external_variables: HashMap::new(),
            variable_states: HashMap::new(),
            function_names: HashSet::new(),
            announced: HashSet::new(),
            definitions: HashMap::new(),
            present: HashMap::new(),
            models: Models::read(),
            looks_at_errno: false,
            error_functions: BTreeSet::new(),
            refused: HashMap::new(),
            noreturn: BTreeSet::new(),
            records_by_shape: HashMap::new(),
            incomplete_records: HashMap::new(),
            startup: BTreeMap::new(),
            shutdown: BTreeMap::new(),
            start: None,
            live_objects: None,
            model_texts: BTreeSet::new(),
            words: Words::default(),
            unsequenced: Vec::new(),
        }
    }

    /// The functions that are used and that no unit defines, with the place of their first use,
    /// by name.
    pub fn undefined_functions(&self) -> Vec<(String, Source)> {
        let mut found: Vec<_> = self
            .functions
            .iter()
            .filter(|f| f.body.is_none())
            .filter_map(|f| Some((f.name.clone(), f.first_use?)))
            .collect();
        found.sort();
        found
    }

    /// Records that the verdicts about the program rest on a simplification of a model.
    pub fn assume_model(&mut self, text: &str) {
        if self.model_texts.insert(text.to_owned()) {
            self.assumptions.push(Assumption::Model {
                text: text.to_owned(),
            });
        }
    }

    pub(crate) fn expr(&mut self, kind: ExprKind, ty: TypeId) -> ExprId {
        let expr = Expr { kind, ty };
        if let Some(&id) = self.expr_ids.get(&expr) {
            return id;
        }
        let id = ExprId(self.exprs.len() as u32);
        self.exprs.push(expr.clone());
        self.expr_ids.insert(expr, id);
        id
    }

    pub(crate) fn place(&mut self, kind: PlaceKind, ty: TypeId) -> PlaceId {
        let place = Place { kind, ty };
        if let Some(&id) = self.place_ids.get(&place) {
            return id;
        }
        let id = PlaceId(self.places.len() as u32);
        self.places.push(place.clone());
        self.place_ids.insert(place, id);
        id
    }

    pub(crate) fn var_place(&mut self, var: VarId) -> PlaceId {
        let ty = self.variables[var.index()].ty;
        self.place(PlaceKind::Var(var), ty)
    }

    pub(crate) fn add_variable(&mut self, variable: Variable) -> VarId {
        self.variables.push(variable);
        VarId(self.variables.len() as u32 - 1)
    }

    pub(crate) fn add_check(&mut self, check: Check) -> CheckId {
        self.checks.push(check);
        CheckId(self.checks.len() as u32 - 1)
    }

    pub(crate) fn add_unsupported(&mut self, what: String, source: Source) -> u32 {
        self.add_gap(what, source, Gap::Everywhere)
    }

    pub(crate) fn add_gap(&mut self, what: String, source: Source, gap: Gap) -> u32 {
        self.unsupported.push(Unsupported { what, source, gap });
        self.unsupported.len() as u32 - 1
    }

    /// The function with external linkage of that name, made if it is new.
    pub(crate) fn external_function(&mut self, name: &str, ty: TypeId, source: Source) -> FuncId {
        if let Some(&id) = self.external_functions.get(name) {
            return id;
        }
        let id = self.add_function(name.to_owned(), ty, source);
        self.external_functions.insert(name.to_owned(), id);
        id
    }

    /// A function with internal linkage; its name may get a suffix.
    pub(crate) fn static_function(&mut self, name: &str, ty: TypeId, source: Source) -> FuncId {
        let mut unique = name.to_owned();
        let mut n = 2;
        while self.function_names.contains(&unique) {
            unique = format!("{name}#{n}");
            n += 1;
        }
        self.add_function(unique, ty, source)
    }

    fn add_function(&mut self, name: String, ty: TypeId, source: Source) -> FuncId {
        // A static function of an earlier unit may have taken the plain name.
        if !self.function_names.insert(name.clone()) {
            let taken = self.functions.iter().position(|f| f.name == name);
            if let Some(taken) = taken {
                let mut n = 2;
                while self.function_names.contains(&format!("{name}#{n}")) {
                    n += 1;
                }
                let renamed = format!("{name}#{n}");
                self.function_names.insert(renamed.clone());
                self.functions[taken].name = renamed;
            }
        }
        self.functions.push(FunctionDraft {
            name,
            ty,
            formals: Vec::new(),
            locals: Vec::new(),
            result: None,
            strength: Strength::Declared,
            origin: Origin::Undefined,
            source,
            first_use: None,
            implicit: true,
            further: None,
            body: None,
        });
        FuncId(self.functions.len() as u32 - 1)
    }

    /// Says what a unit declares about a function with external linkage: its type must fit the
    /// one that is known.
    pub(crate) fn declare_function(
        &mut self,
        id: FuncId,
        ty: TypeId,
        source: Source,
        implicit: bool,
    ) {
        let known = &self.functions[id.index()];
        let (known_ty, known_implicit, known_source) = (known.ty, known.implicit, known.source);
        if known_implicit && !implicit {
            let draft = &mut self.functions[id.index()];
            draft.ty = ty;
            draft.implicit = false;
            if draft.body.is_none() {
                draft.source = source;
            }
            return;
        }
        if implicit || self.compatible_functions(known_ty, ty) {
            // The declaration that says more about the parameters is kept.
            let more = match (self.types.get(known_ty), self.types.get(ty)) {
                (
                    Type::Function {
                        parameters: a,
                        variadic: Variadic::Yes,
                        ..
                    },
                    Type::Function { parameters: b, .. },
                ) => a.is_empty() && !b.is_empty(),
                _ => false,
            };
            if more && self.functions[id.index()].body.is_none() {
                self.functions[id.index()].ty = ty;
            }
            return;
        }
        if known_source.span == source.span {
            return;
        }
        let name = self.functions[id.index()].name.clone();
        self.diagnostics.push(
            Diagnostic::warning(
                source.span,
                format!("conflicting types for function `{name}`"),
            )
            .label("declared here with another type")
            .note(Some(known_source.span), "first declared here"),
        );
    }

    /// Whether a definition of that strength is to be lowered; a second strong one is an error.
    pub(crate) fn may_define(&mut self, id: FuncId, strength: Strength, source: Source) -> bool {
        let draft = &self.functions[id.index()];
        if draft.body.is_none() || draft.strength < strength {
            return true;
        }
        if draft.strength == Strength::Strong && strength == Strength::Strong {
            let error = Diagnostic::error(
                source.span,
                format!("function `{}` is defined more than once", draft.name),
            )
            .label("defined again here")
            .note(Some(draft.source.span), "first defined here");
            self.diagnostics.push(error);
        }
        false
    }

    /// The variable with external linkage of that name.
    pub(crate) fn external_variable(
        &mut self,
        name: &str,
        ty: TypeId,
        strength: Strength,
        source: Source,
    ) -> (VarId, Initialiser) {
        let Some(&id) = self.external_variables.get(name) else {
            let id = self.add_variable(Variable {
                name: name.to_owned(),
                ty,
                kind: VarKind::Global,
                address_taken: false,
                source,
                initial: initial_of(strength),
                read_only: false,
                align: 1,
            });
            self.external_variables.insert(name.to_owned(), id);
            self.variable_states
                .insert(id, VariableState { strength, source });
            return (id, Initialiser::Counts);
        };
        let known = self.variables[id.index()].ty;
        // What an alias stands for may be a variable of one unit only.
        let state = self.variable_states.get(&id).copied();
        let state = state.unwrap_or(VariableState {
            strength: Strength::Strong,
            source: self.variables[id.index()].source,
        });
        if !self.compatible(known, ty) && state.source.span != source.span {
            self.diagnostics.push(
                Diagnostic::error(
                    source.span,
                    format!("conflicting types for variable `{name}`"),
                )
                .label("declared here with another type")
                .note(Some(state.source.span), "first declared here"),
            );
            return (id, Initialiser::GivesWay);
        }
        // Only what was incomplete gets another type: earlier units rely on it.
        if self.types.size_of(known) < self.types.size_of(ty) {
            self.variables[id.index()].ty = ty;
        }
        if strength > state.strength {
            self.variable_states
                .insert(id, VariableState { strength, source });
            let variable = &mut self.variables[id.index()];
            variable.source = source;
            variable.initial = initial_of(strength);
        } else if strength == Strength::Strong && state.source.span != source.span {
            self.diagnostics.push(
                Diagnostic::error(
                    source.span,
                    format!("variable `{name}` is defined more than once"),
                )
                .label("defined again here")
                .note(Some(state.source.span), "first defined here"),
            );
        }
        let first = state.strength == Strength::Declared || state.source.span == source.span;
        let counts = strength > state.strength || first;
        (
            id,
            if counts {
                Initialiser::Counts
            } else {
                Initialiser::GivesWay
            },
        )
    }

    /// The variables with external linkage, in the order in which they were met.
    pub(crate) fn external_variables(&self) -> Vec<VarId> {
        let mut found: Vec<VarId> = self.external_variables.values().copied().collect();
        found.sort();
        found
    }

    fn compatible_functions(&self, a: TypeId, b: TypeId) -> bool {
        let (
            Type::Function {
                result: ra,
                parameters: pa,
                variadic: va,
            },
            Type::Function {
                result: rb,
                parameters: pb,
                variadic: vb,
            },
        ) = (self.types.get(a), self.types.get(b))
        else {
            return a == b;
        };
        if !self.compatible(*ra, *rb) {
            return false;
        }
        // An empty list with `...` is a declaration without a prototype.
        if (pa.is_empty() && *va == Variadic::Yes) || (pb.is_empty() && *vb == Variadic::Yes) {
            return true;
        }
        pa.len() == pb.len() && pa.iter().zip(pb).all(|(&a, &b)| self.compatible(a, b))
    }

    /// Whether two types may be those of one object in two units.
    pub(crate) fn compatible(&self, a: TypeId, b: TypeId) -> bool {
        if a == b {
            return true;
        }
        match (self.types.get(a), self.types.get(b)) {
            // What is pointed to is often declared differently from unit to unit; memory is
            // the same.
            (Type::Pointer(_), Type::Pointer(_)) => true,
            (
                Type::Array {
                    element: a,
                    length: n,
                },
                Type::Array {
                    element: b,
                    length: m,
                },
            ) => (n == m || *n == 0 || *m == 0) && self.compatible(*a, *b),
            (Type::Record(a), Type::Record(b)) => {
                let (a, b): (&Record, &Record) = (self.types.record(*a), self.types.record(*b));
                !a.complete || !b.complete || (a.kind == b.kind && a.size == b.size)
            }
            (Type::Function { .. }, Type::Function { .. }) => self.compatible_functions(a, b),
            _ => false,
        }
    }
}

fn initial_of(strength: Strength) -> Initial {
    match strength {
        Strength::Declared => Initial::Unknown,
        Strength::Weak | Strength::Tentative | Strength::Strong => Initial::Data(Vec::new()),
    }
}
