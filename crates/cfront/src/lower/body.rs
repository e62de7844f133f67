//! The function that is being lowered: its graph so far, its scopes, its jumps.

use super::Lower;
use super::jumps::Jumps;
use crate::builder::Body;
use crate::ids::{ExprId, FuncId, PlaceId, TypeId, VarId};
use crate::program::*;
use rucc_sema as sema;
use std::collections::{HashMap, HashSet};

/// The state of lowering one function.
pub(super) struct FnState {
    pub func: FuncId,
    pub body: Body,
    /// Where the next edge leaves.
    pub cur: u32,
    /// The text that is being lowered.
    pub source: Source,
    pub locals: Vec<VarId>,
    pub result: Option<VarId>,
    pub variables: HashMap<sema::DeclId, Storage>,
    /// The locals and formals that pointers may point to.
    pub taken: HashSet<VarId>,
    pub scopes: Vec<Scope>,
    pub scope: usize,
    pub labels: HashMap<sema::LabelId, Label>,
    pub gotos: Vec<Goto>,
    pub jumps: Jumps,
    pub breaks: Vec<(u32, usize)>,
    pub continues: Vec<(u32, usize)>,
    pub switches: Vec<Switch>,
    /// The lengths of variable-length arrays, evaluated where the array was declared.
    pub lengths: HashMap<sema::ExprId, ExprId>,
    /// The values of nodes that the tree uses twice (`a ?: b`).
    pub shared: HashMap<sema::ExprId, ExprId>,
    /// How deep in loops, or after a label: whether a declaration can be passed twice.
    pub repeats: bool,
    pub temporaries: u32,
    /// Where the address of the further arguments is, if the function asks for them.
    pub further: Option<VarId>,
    /// Whether the outermost block has been entered.
    pub entered: bool,
}

/// Where a variable of the source lives.
#[derive(Clone, Copy, Debug)]
pub(super) enum Storage {
    /// In a variable of its own.
    Variable(VarId),
    /// A variable-length array: behind this hidden pointer.
    Behind(VarId),
}

/// A block.
pub(super) struct Scope {
    pub parent: Option<usize>,
    pub items: Vec<ScopeItem>,
}

/// What happens to a block's variable when the block is entered or left by a jump.
#[derive(Clone, Copy, Debug)]
pub(super) struct ScopeItem {
    pub variable: VarId,
    /// Whether pointers to it may exist.
    pub taken: bool,
    /// The function that `__attribute__((cleanup))` names.
    pub cleanup: Option<sema::DeclId>,
}

/// A point of control with the blocks around it: each block with the number of its variables
/// declared so far, outermost first.
pub(super) type Chain = Vec<(usize, usize)>;

/// A label of the source.
pub(super) struct Label {
    pub location: u32,
    /// The blocks around it, once it has been met.
    pub chain: Option<Chain>,
}

/// A `goto` whose label may come later.
pub(super) struct Goto {
    pub from: u32,
    pub chain: Chain,
    pub label: sema::LabelId,
    pub source: Source,
}

/// The cases of a `switch`: where each is, once its statement has been met.
#[derive(Default)]
pub(super) struct Switch {
    pub cases: HashMap<sema::CaseId, (u32, Chain)>,
    pub default: Option<(u32, Chain)>,
    /// Where the last case stands, so that the next one can share it.
    pub last: Option<u32>,
}

impl FnState {
    /// The state at the start of a function.
    pub fn new(func: FuncId, source: Source) -> FnState {
        let mut body = Body::default();
        body.entry = body.location(LocationKind::Plain);
        body.exit = body.location(LocationKind::Exit);
        FnState {
            func,
            cur: body.entry,
            body,
            source,
            locals: Vec::new(),
            result: None,
            variables: HashMap::new(),
            taken: HashSet::new(),
            scopes: vec![Scope {
                parent: None,
                items: Vec::new(),
            }],
            scope: 0,
            labels: HashMap::new(),
            gotos: Vec::new(),
            jumps: Jumps::default(),
            breaks: Vec::new(),
            continues: Vec::new(),
            switches: Vec::new(),
            lengths: HashMap::new(),
            shared: HashMap::new(),
            repeats: false,
            temporaries: 0,
            further: None,
            entered: false,
        }
    }

    pub fn chain(&self) -> Chain {
        let mut chain = Vec::new();
        let mut at = Some(self.scope);
        while let Some(scope) = at {
            chain.push((scope, self.scopes[scope].items.len()));
            at = self.scopes[scope].parent;
        }
        chain.reverse();
        chain
    }
}

impl Lower<'_> {
    /// The function being lowered.
    pub(super) fn f(&mut self) -> &mut FnState {
        self.function
            .as_mut()
            .expect("statements and expressions are lowered inside of functions")
    }

    pub(super) fn location(&mut self) -> u32 {
        self.f().body.location(LocationKind::Plain)
    }

    /// Adds an edge from here to a new location and goes there.
    pub(super) fn emit(&mut self, op: Op) {
        let f = self.f();
        let to = f.body.location(LocationKind::Plain);
        let (from, source) = (f.cur, f.source);
        f.body.edge(from, to, op, source);
        f.cur = to;
    }

    /// Adds an edge that does nothing from here to a location, and goes to no place: what
    /// follows is unreachable unless a label stands there.
    pub(super) fn jump_to(&mut self, to: u32) {
        let f = self.f();
        let (from, source) = (f.cur, f.source);
        f.body.edge(from, to, Op::Skip, source);
        f.cur = f.body.location(LocationKind::Plain);
    }

    /// Goes on at a location, coming from here.
    pub(super) fn continue_at(&mut self, to: u32) {
        let f = self.f();
        let (from, source) = (f.cur, f.source);
        f.body.edge(from, to, Op::Skip, source);
        f.cur = to;
    }

    /// The program ends here; what follows is unreachable.
    pub(super) fn halt(&mut self) {
        let to = self.f().body.location(LocationKind::Halt);
        self.jump_to(to);
    }

    /// Splits on a condition: to `then` where it holds, to `otherwise` where it does not.
    pub(super) fn split(&mut self, condition: ExprId, then: u32, otherwise: u32) {
        if let Some(bits) = self.b.constant(condition) {
            self.jump_to(if bits != 0 { then } else { otherwise });
            return;
        }
        let f = self.f();
        let (from, source) = (f.cur, f.source);
        f.body.edge(
            from,
            then,
            Op::Assume {
                condition,
                holds: true,
            },
            source,
        );
        f.body.edge(
            from,
            otherwise,
            Op::Assume {
                condition,
                holds: false,
            },
            source,
        );
        f.cur = f.body.location(LocationKind::Plain);
    }

    /// A location at which a check is violated.
    pub(super) fn error_location(&mut self, kind: CheckKind, message: String) -> u32 {
        let f = self.f();
        let (function, source) = (f.func, f.source);
        let check = self.b.add_check(Check {
            kind,
            message,
            function,
            source,
        });
        self.f().body.location(LocationKind::Error(check))
    }

    /// Adds a check: it is violated where `good` does not hold.
    pub(super) fn require(&mut self, kind: CheckKind, good: ExprId, message: String) {
        if self.b.constant(good).is_some_and(|bits| bits != 0) {
            return;
        }
        let error = self.error_location(kind, message);
        let next = self.location();
        if self.goes_on_behind(kind) {
            let bad = self.location();
            self.split(good, next, bad);
            self.f().cur = bad;
            self.violate(kind, error, next);
        } else {
            self.split(good, next, error);
        }
        self.f().cur = next;
    }

    /// Adds a check: it is violated where `bad` holds.
    pub(super) fn check(&mut self, kind: CheckKind, bad: ExprId, message: String) {
        if self.b.constant(bad) == Some(0) {
            return;
        }
        let error = self.error_location(kind, message);
        let next = self.location();
        if self.goes_on_behind(kind) {
            let violated = self.location();
            self.split(bad, violated, next);
            self.f().cur = violated;
            self.violate(kind, error, next);
        } else {
            self.split(bad, error, next);
        }
        self.f().cur = next;
    }

    /// Says that something is not supported; an execution that comes here has no known meaning.
    pub(super) fn unsupported(&mut self, what: impl Into<String>) {
        let source = self.f().source;
        let construct = self.b.add_unsupported(what.into(), source);
        self.emit(Op::Unsupported { construct });
    }

    /// Says that proofs are about executions in which a condition holds; in others, it is not
    /// known to the logic which memory is accessed.
    pub(super) fn confine(&mut self, good: ExprId, what: impl Into<String>) {
        if self.b.constant(good).is_some_and(|bits| bits != 0) {
            return;
        }
        let source = self.f().source;
        let construct = self.b.add_gap(what.into(), source, Gap::Logic);
        let (outside, next) = (self.location(), self.location());
        self.split(good, next, outside);
        self.f().cur = outside;
        self.emit(Op::Unsupported { construct });
        self.jump_to(next);
        self.f().cur = next;
    }

    /// A value that is not known because its construct is not supported.
    pub(super) fn unsupported_value(&mut self, what: impl Into<String>, ty: TypeId) -> ExprId {
        self.unsupported(what);
        if matches!(self.b.types.get(ty), crate::types::Type::Void) {
            return self.void_value();
        }
        let place = self.temporary(ty);
        self.b.load(place)
    }

    /// What stands for the value of an expression without one.
    pub(super) fn void_value(&mut self) -> ExprId {
        let int = self.int_ty();
        self.b.int(0, int)
    }

    /// A fresh temporary.
    pub(super) fn temporary(&mut self, ty: TypeId) -> PlaceId {
        let f = self.f();
        f.temporaries += 1;
        let name = format!("t#{}", f.temporaries);
        let (func, source) = (f.func, f.source);
        let variable = self.b.add_variable(Variable {
            name,
            ty,
            kind: VarKind::Temporary(func),
            address_taken: false,
            source,
            initial: Initial::None,
            read_only: false,
            align: 1,
        });
        self.f().locals.push(variable);
        self.b.var_place(variable)
    }

    /// Keeps a value in a temporary.
    pub(super) fn keep(&mut self, value: ExprId) -> ExprId {
        if self.b.constant(value).is_some() || self.is_kept(value) {
            return value;
        }
        let ty = self.b.ty_of(value);
        let place = self.temporary(ty);
        self.emit(Op::Assign { place, value });
        self.b.load(place)
    }

    /// Whether a value is that of a temporary, which nothing else writes.
    fn is_kept(&self, value: ExprId) -> bool {
        let ExprKind::Load(place) = self.b.exprs[value.index()].kind else {
            return false;
        };
        let PlaceKind::Var(var) = self.b.places[place.index()].kind else {
            return false;
        };
        matches!(self.b.variables[var.index()].kind, VarKind::Temporary(_))
    }

    pub(super) fn assign(&mut self, place: PlaceId, value: ExprId) {
        self.emit(Op::Assign { place, value });
    }

    pub(super) fn enter_scope(&mut self) -> usize {
        let f = self.f();
        let outer = f.scope;
        f.scopes.push(Scope {
            parent: Some(outer),
            items: Vec::new(),
        });
        f.scope = f.scopes.len() - 1;
        outer
    }

    /// Leaves the current block at its end.
    pub(super) fn leave_scope(&mut self, outer: usize) {
        let scope = self.f().scope;
        let all = self.f().scopes[scope].items.len();
        self.end_lives(&[(scope, all)]);
        self.f().scope = outer;
    }

    /// Ends the lives of the variables of some blocks, innermost block last.
    fn end_lives(&mut self, blocks: &[(usize, usize)]) {
        for &(scope, declared) in blocks.iter().rev() {
            let items: Vec<ScopeItem> = self.f().scopes[scope].items[..declared].to_vec();
            let mut ended: Vec<VarId> = Vec::new();
            for item in items.iter().rev() {
                if let Some(cleanup) = item.cleanup {
                    self.call_cleanup(cleanup, item.variable);
                }
                if item.taken {
                    ended.push(item.variable);
                }
            }
            // The variables of the outermost block end with the call itself.
            if !ended.is_empty() && self.f().scopes[scope].parent.is_some() {
                ended.reverse();
                self.emit(Op::EndScope { variables: ended });
            }
        }
    }

    /// Ends the lives of what is declared in the blocks inside of `outer`.
    pub(super) fn unwind_to(&mut self, outer: usize) {
        let chain = self.f().chain();
        let from = chain
            .iter()
            .position(|&(scope, _)| scope == outer)
            .map_or(0, |i| i + 1);
        self.end_lives(&chain[from..]);
    }

    /// Runs what `return` must run: the cleanups of every block.
    pub(super) fn unwind_for_return(&mut self) {
        let chain = self.f().chain();
        let cleanups = chain.iter().any(|&(scope, declared)| {
            self.f().scopes[scope].items[..declared]
                .iter()
                .any(|i| i.cleanup.is_some())
        });
        if cleanups {
            self.end_lives(&chain);
        }
    }

    /// Jumps from here, where `from` says which blocks are open, to a location inside of the
    /// blocks `to`.
    pub(super) fn jump_between(&mut self, from: &Chain, to: &Chain, location: u32) {
        let common = from.iter().zip(to).take_while(|(a, b)| a.0 == b.0).count();
        self.end_lives(&from[common..]);
        for (i, &(scope, declared)) in to.iter().enumerate() {
            let passed = if i < common { from[i].1 } else { 0 };
            for at in passed..declared {
                let variable = self.f().scopes[scope].items[at].variable;
                self.emit(Op::Declare { variable });
            }
        }
        self.jump_to(location);
    }

    /// Adds the jumps of the function's `goto`s, when all labels are known.
    pub(super) fn resolve_gotos(&mut self) {
        let gotos = std::mem::take(&mut self.f().gotos);
        for goto in gotos {
            let f = self.f();
            f.cur = goto.from;
            f.source = goto.source;
            let Some(label) = f.labels.get(&goto.label) else {
                continue;
            };
            let location = label.location;
            match label.chain.clone() {
                Some(chain) => self.jump_between(&goto.chain, &chain, location),
                None => self.unsupported("a jump to a label that is not defined"),
            }
        }
    }
}
