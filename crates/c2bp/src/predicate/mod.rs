//! Predicates: conditions in C syntax, each with the scope in which it is well formed.
//!
//! A predicate belongs to the program (*global*: it mentions globals only) or to a function. It
//! may use every operator of C that has no side effect, `old(e)` for the value that `e` had when
//! the function was entered, and `$return` (or `return`) for the value that the function returns.
//!
//! Predicates are expressions of an extended program: the original one, plus the expressions,
//! plus one ghost variable for every `old(e)`, plus functions that nobody calls and that read
//! what the predicates read. So points-to, memory layout and the meaning of an expression need to
//! know nothing of predicates.

mod conditions;
mod file;

pub use hardbop_c_text::names::{Old, Scope};

use hardbop_budget::{Budget, Stopped};
use hardbop_c_text::print;
use hardbop_cfront::edit::Tables;
use hardbop_cfront::ids::{ExprId, FuncId, LocId};
use hardbop_cfront::points_to::{self, PointsTo};
use hardbop_cfront::program::{Edge, Function, Location, LocationKind, Op, Origin, Program};
use hardbop_cfront::types::{Type, Variadic};
use hardbop_diagnostics::{Diagnostic, FileId, Sources};

/// A predicate of a [`PredicateSet`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PredicateId(pub u32);

impl PredicateId {
    /// The position in the set.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// A predicate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Predicate {
    /// Where it is well formed.
    pub scope: Scope,
    /// The condition: a scalar expression of the extended program.
    pub expr: ExprId,
    /// The condition as C text in normal form. No two predicates that are visible in one
    /// function have the same text.
    pub text: String,
}

/// A program with predicates over it.
#[derive(Clone, Debug)]
pub struct PredicateSet {
    tables: Tables,
    predicates: Vec<Predicate>,
    olds: Vec<Old>,
    functions: usize,
}

/// A program with its predicates, analysed: what abstraction works on.
#[derive(Clone, Debug)]
pub struct Analysed {
    /// The extended program. Locations, edges and functions of the original keep their ids.
    pub program: Program,
    /// What its pointers may point to.
    pub points_to: PointsTo,
    /// The predicates.
    pub predicates: Vec<Predicate>,
    /// The ghosts of `old(e)`.
    pub olds: Vec<Old>,
    /// The number of functions of the original program; those after it only hold predicates.
    pub functions: usize,
}

impl PredicateSet {
    /// A program without predicates.
    pub fn new(program: Program) -> PredicateSet {
        let functions = program.functions.len();
        PredicateSet {
            tables: Tables::new(program),
            predicates: Vec::new(),
            olds: Vec::new(),
            functions,
        }
    }

    /// The predicates so far.
    pub fn predicates(&self) -> &[Predicate] {
        &self.predicates
    }

    /// The program, with what the predicates have added to it.
    pub fn program(&self) -> &Program {
        &self.tables.program
    }

    /// Adds the predicates of a file. Errors are given back; what is right is added all the same.
    pub fn read(&mut self, sources: &Sources, file: FileId) -> Vec<Diagnostic> {
        file::read(self, file, sources.text(file))
    }

    /// Adds the atoms of the program's own branch conditions, each in the widest scope in which
    /// it is well formed.
    pub fn add_conditions(&mut self) {
        conditions::add(self);
    }

    /// Adds a predicate given as an expression of the program. Gives its id; the same predicate
    /// is not added twice.
    pub fn add(&mut self, scope: Scope, expr: ExprId) -> PredicateId {
        let base = print::text(self.program(), expr);
        let visible = |set: &PredicateSet, text: &str| {
            set.predicates.iter().position(|p| {
                p.text == text
                    && (p.scope == scope || p.scope == Scope::Global || scope == Scope::Global)
            })
        };
        let mut name = base.clone();
        let mut count = 1;
        while let Some(index) = visible(self, &name) {
            let known = &self.predicates[index];
            if known.scope == scope && self.same(known.expr, expr) {
                return PredicateId(index as u32);
            }
            // Another predicate that reads alike, by its types or by what a name stands for.
            count += 1;
            name = format!("{base} #{count}");
        }
        self.predicates.push(Predicate {
            scope,
            expr,
            text: name,
        });
        PredicateId(self.predicates.len() as u32 - 1)
    }

    fn same(&self, a: ExprId, b: ExprId) -> bool {
        let ty = |expr: ExprId| self.program().expr(expr).ty;
        a == b || (self.key(a) == self.key(b) && ty(a) == ty(b))
    }

    /// An expression as text that tells apart what is different.
    fn key(&self, expr: ExprId) -> String {
        hardbop_cfront::dump::expr_text(self.program(), expr)
    }

    /// Ends the collecting of predicates: analyses the extended program.
    pub fn analyse(mut self, budget: &Budget) -> Result<Analysed, Stopped> {
        for index in 0..self.predicates.len() {
            let condition = self.predicates[index].expr;
            self.reader(
                index,
                Op::Assume {
                    condition,
                    holds: true,
                },
            );
        }
        for index in 0..self.olds.len() {
            let Old {
                variable, value, ..
            } = self.olds[index];
            let place = self.tables.variable_place(variable);
            self.reader(self.predicates.len() + index, Op::Assign { place, value });
        }
        let program = self.tables.program;
        let points_to = points_to::analyse(&program, budget)?;
        Ok(Analysed {
            program,
            points_to,
            predicates: self.predicates,
            olds: self.olds,
            functions: self.functions,
        })
    }

    /// A function that nobody calls and that does just this.
    fn reader(&mut self, index: usize, op: Op) {
        let program = &mut self.tables.program;
        let source = program.functions[program.entry.index()].source;
        let result = program.types.intern(Type::Void);
        let ty = program.types.intern(Type::Function {
            result,
            parameters: Vec::new(),
            variadic: Variadic::No,
        });
        let function = FuncId(program.functions.len() as u32);
        let first = program.locations.len() as u32;
        let edge = program.edges.len() as u32;
        let location = |kind, edges| Location {
            function,
            kind,
            edges,
            labels: Vec::new(),
        };
        program
            .locations
            .push(location(LocationKind::Plain, edge..edge + 1));
        program
            .locations
            .push(location(LocationKind::Exit, edge + 1..edge + 1));
        program.edges.push(Edge {
            from: LocId(first),
            to: LocId(first + 1),
            op,
            source,
        });
        program.add_function(Function {
            name: format!("predicate#{index}"),
            ty,
            formals: Vec::new(),
            locals: Vec::new(),
            result: None,
            origin: Origin::Model,
            locations: first..first + 2,
            entry: LocId(first),
            exit: LocId(first + 1),
            source,
        });
    }
}

impl Analysed {
    /// The predicates that are visible in a function: the global ones, then its own.
    pub fn visible(&self, function: FuncId) -> Vec<PredicateId> {
        let ids = |scope: Scope| {
            (0..self.predicates.len() as u32)
                .map(PredicateId)
                .filter(move |id| self.predicates[id.index()].scope == scope)
        };
        ids(Scope::Global)
            .chain(ids(Scope::Function(function)))
            .collect()
    }
}
