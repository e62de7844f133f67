//! Binary decision diagrams: the sets and relations that the checker computes with.
//!
//! A kernel of our own, for three reasons. The checker does very many very small operations, for
//! which a general package's handles and locks cost more than the work itself. It needs the
//! relational product, the quantification of dead variables and the renaming of copies in *one*
//! pass ([`Manager::image`]). And it needs tests (subset, intersection) that build nothing.
//!
//! A [`Bdd`] is a bare index. Nothing is freed behind the user's back: nodes die only in
//! [`Manager::collect`], which gets every root that is still wanted. Operations return
//! [`Stopped`] when the budget is used up; the manager stays usable after that.
//!
//! Nodes have no complement edges: with the interleaved copies used here they save few nodes,
//! and each operation pays for them.

mod apply;
mod cache;
mod inspect;
mod isop;
mod pass;
mod sift;

mod simplify;
mod table;

pub use isop::{Cube, Literal};
pub use pass::PassId;

use cache::Cache;
use hardbop_budget::{Budget, Stopped};
use pass::Passes;
use table::Table;

/// A boolean function: an index into its manager.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Bdd(u32);

impl Bdd {
    /// The constant false: the empty set.
    pub const FALSE: Bdd = Bdd(0);
    /// The constant true: the set of everything.
    pub const TRUE: Bdd = Bdd(1);

    /// No diagram, in tables of diagrams that are not all known: half the size of an `Option`.
    pub(crate) const NONE: Bdd = Bdd(u32::MAX);

    /// Whether this is the constant false.
    pub fn is_false(self) -> bool {
        self == Bdd::FALSE
    }

    /// Whether this is the constant true.
    pub fn is_true(self) -> bool {
        self == Bdd::TRUE
    }
}

/// A variable of a manager. Its place in the order may change, its name does not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Var(pub u32);

/// The outcome of an operation that builds a diagram.
pub type Built = Result<Bdd, Stopped>;

/// How many recursion steps pass between two looks at the budget.
const STEPS_BETWEEN_CHECKS: u32 = 1 << 16;

/// What one level of recursion may take of the stack, generously.
const STACK_PER_LEVEL: usize = 512;

/// Up to this many nodes no collection is made. Together with their tables they fit into a
/// processor's second-level cache, where small problems are several times faster than in memory.
pub const DEFAULT_COLLECTION_FLOOR: usize = 1 << 14;

/// Up to this many levels, any thread's stack is large enough.
const SHALLOW: usize = 1024;

/// Holds the nodes of all diagrams.
#[derive(Debug)]
pub struct Manager {
    table: Table,
    cache: Cache,
    passes: Passes,
    /// The level of every variable.
    level_of: Vec<u32>,
    /// The variable of every level.
    var_at: Vec<Var>,
    budget: Budget,
    steps: u32,
    collect_above: usize,
    collection_floor: usize,
    collections: usize,
}

impl Manager {
    /// A manager with `variables` variables, in the order of their numbers.
    pub fn new(variables: u32, budget: Budget) -> Manager {
        Manager::with_order((0..variables).map(Var).collect(), budget)
    }

    /// A manager whose variables stand in this order; it must name each of `0..n` once.
    pub fn with_order(order: Vec<Var>, budget: Budget) -> Manager {
        let mut level_of = vec![0; order.len()];
        for (level, var) in order.iter().enumerate() {
            level_of[var.0 as usize] = level as u32;
        }
        Manager {
            table: Table::new(),
            cache: Cache::new(),
            passes: Passes::default(),
            level_of,
            var_at: order,
            budget,
            steps: STEPS_BETWEEN_CHECKS,
            collect_above: DEFAULT_COLLECTION_FLOOR,
            collection_floor: DEFAULT_COLLECTION_FLOOR,
            collections: 0,
        }
    }

    /// Adds variables at the end of the order and gives the number of the first one.
    pub fn add_variables(&mut self, count: u32) -> Var {
        let first = self.level_of.len() as u32;
        for var in first..first + count {
            self.level_of.push(var);
            self.var_at.push(Var(var));
        }
        Var(first)
    }

    /// The number of variables.
    pub fn variable_count(&self) -> u32 {
        self.level_of.len() as u32
    }

    /// The limits that operations obey from now on.
    pub fn set_budget(&mut self, budget: Budget) {
        self.budget = budget;
    }

    /// The limits that operations obey.
    pub fn budget(&self) -> &Budget {
        &self.budget
    }

    /// The function that is true where the variable has this value.
    pub fn literal(&mut self, var: Var, value: bool) -> Built {
        let level = self.level_of[var.0 as usize];
        let (lo, hi) = if value { (0, 1) } else { (1, 0) };
        self.make(level, lo, hi).map(Bdd)
    }

    /// The number of nodes in use, dead ones that were not collected yet included.
    pub fn nodes(&self) -> usize {
        self.table.len()
    }

    /// The most nodes that were ever in use at once.
    pub fn peak_nodes(&self) -> usize {
        self.table.peak()
    }

    /// How often garbage was collected.
    pub fn collections(&self) -> usize {
        self.collections
    }

    /// The bytes that nodes, unique table and cache take.
    pub fn bytes(&self) -> usize {
        self.table.bytes() + self.cache.bytes()
    }

    /// Sets the number of nodes up to which no collection is worth its while.
    pub fn set_collection_floor(&mut self, nodes: usize) {
        self.collection_floor = nodes;
        self.collect_above = nodes;
    }

    /// Whether so much has been built since the last collection that another one is due.
    pub fn wants_collection(&self) -> bool {
        self.table.len() > self.collect_above
    }

    /// Frees every node that no root reaches. All other diagrams become meaningless: the caller
    /// must give every diagram that it will use again.
    pub fn collect(&mut self, roots: impl IntoIterator<Item = Bdd>) {
        let mut count = 0;
        let marks = self
            .table
            .mark(roots.into_iter().map(|root| root.0).inspect(|_| count += 1));
        self.cache.keep_live(&marks);
        self.table.sweep(&marks);
        self.collections += 1;
        // Collecting costs as much as what is live and as the roots: wait until as much again
        // was built.
        let live = self.table.len();
        self.collect_above = self.collection_floor.max(live * 2 + count);
    }

    /// Whether the work may go on; see [`Budget::check`].
    pub fn check(&self) -> Result<(), Stopped> {
        self.budget.check()
    }

    /// Counts a recursion step, and looks at the budget now and then.
    #[inline]
    fn step(&mut self) -> Result<(), Stopped> {
        self.steps -= 1;
        if self.steps == 0 {
            self.steps = STEPS_BETWEEN_CHECKS;
            self.budget.check()?;
        }
        Ok(())
    }

    /// The node for "if the level's variable then `hi` else `lo`".
    #[inline]
    fn make(&mut self, level: u32, lo: u32, hi: u32) -> Result<u32, Stopped> {
        if lo == hi {
            return Ok(lo);
        }
        debug_assert!(self.table.level(lo) > level && self.table.level(hi) > level);
        let grown = self.table.len() > self.cache.len();
        if grown && self.cache.can_grow() {
            // A small cache costs time; only a table that has no room left ends the work.
            match self.budget.allows(self.cache.growth()) {
                Ok(()) => self.cache.grow(),
                Err(_) => self.cache.stop_growing(),
            }
        }
        if self.table.is_full() {
            self.budget.allows(self.table.growth())?;
        }
        self.table.find_or_add(level, lo, hi)
    }

    /// Runs a recursive operation with a stack that holds a frame for every level.
    #[inline]
    fn deep<T>(&mut self, operation: impl FnOnce(&mut Manager) -> T) -> T {
        if self.level_of.len() <= SHALLOW {
            return operation(self);
        }
        let needed = self.level_of.len() * STACK_PER_LEVEL;
        stacker::maybe_grow(needed, needed * 2, || operation(self))
    }
}
