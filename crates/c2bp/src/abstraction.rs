//! The abstraction of a whole program: signatures first, then every procedure by itself, in
//! parallel, then the text.

use crate::code::Procedure;
use crate::output::{self, Printed};
use crate::predicate::Analysed;
use crate::procedure::{Abstraction, Whole};
use crate::prover::{CubeBound, Prover, ProverStatistics, Search};
use crate::signature::signature;
use hardbop_budget::{Budget, Stopped};
use hardbop_cfront::call_graph::callable;
use hardbop_cfront::ids::{EdgeId, FuncId, LocId};
use hardbop_logic::Limits;
use hardbop_semantics::effects::Effects;
use hardbop_semantics::scalar::Arithmetic;
use hardbop_semantics::{Encoding, Overflow, Semantics};
use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// How a program is abstracted.
#[derive(Clone, Debug)]
pub struct Options {
    /// How long cubes may be.
    pub max_cube: CubeBound,
    /// How machine integers are read.
    pub arithmetic: Arithmetic,
    /// How cubes are searched.
    pub search: Search,
    /// What one prover call may cost.
    pub limits: Limits,
    /// How many procedures are abstracted at a time; at least one.
    pub threads: usize,
}

impl Default for Options {
    /// Cubes of up to three literals, exact arithmetic, two million solver steps a call (some seconds),
    /// one thread.
    fn default() -> Options {
        Options {
            max_cube: CubeBound::Length(3),
            arithmetic: Arithmetic::Bits,
            search: Search::Guided,
            // Steps are the same on every machine, so that the text is too.
            limits: Limits {
                time: None,
                steps: Some(2_000_000),
            },
            threads: 1,
        }
    }
}

/// What an abstraction tells while it works.
pub trait Events: Sync {
    /// A procedure is done: so many of so many.
    fn procedure(&self, done: usize, of: usize, name: &str);

    /// Whether [`Events::query`] wants to see queries.
    fn wants_queries(&self) -> bool {
        false
    }

    /// A query that was put to the solver while a procedure was abstracted, as SMT-LIB text; its
    /// answer follows as a comment.
    fn query(&self, _procedure: &str, _text: &str) {}
}

/// Tells nobody.
pub struct NoEvents;

impl Events for NoEvents {
    fn procedure(&self, _: usize, _: usize, _: &str) {}
}

/// What the abstraction of one procedure took.
#[derive(Clone, Debug)]
pub struct ProcedureStatistics {
    /// Its name.
    pub name: String,
    /// The predicates that are visible in it.
    pub predicates: usize,
    /// What the prover did.
    pub prover: ProverStatistics,
    /// The time it took.
    pub time: Duration,
}

/// A boolean program that abstracts a C program.
#[derive(Clone, Debug)]
pub struct BooleanProgram {
    /// Its text.
    pub text: String,
    /// For every location of the C program the line of the text at which control stands there.
    pub locations: BTreeMap<LocId, u32>,
    /// For every line of the text that an edge became, the edge.
    pub edges: BTreeMap<u32, EdgeId>,
    /// The names of the procedures.
    pub procedures: BTreeMap<FuncId, String>,
    /// What each procedure took, in the order of the text.
    pub statistics: Vec<ProcedureStatistics>,
}

struct Done {
    procedure: Procedure,
    initial: Vec<(u32, bool)>,
    statistics: ProcedureStatistics,
}

/// Abstracts a program with respect to its predicates.
pub fn abstract_program(
    analysed: &Analysed,
    options: &Options,
    budget: &Budget,
    events: &dyn Events,
) -> Result<BooleanProgram, Stopped> {
    let encoding = match options.arithmetic {
        Arithmetic::Bits => Encoding::Bits,
        Arithmetic::Integers => Encoding::Integers {
            overflow: Overflow::Ignored,
        },
    };
    let semantics = Semantics::new(&analysed.program, &analysed.points_to, encoding);
    let reached = callable(&analysed.program);
    let effects = Effects::new(&semantics);
    let signatures = reached
        .iter()
        .map(|&f| (f, signature(analysed, &semantics, &effects, f)))
        .collect();
    let whole = Whole {
        analysed,
        semantics: &semantics,
        effects: &effects,
        signatures: &signatures,
    };
    let functions: Vec<FuncId> = reached.into_iter().collect();
    let done = in_parallel(&whole, &functions, options, budget, events)?;
    let mut procedures = Vec::new();
    let mut statistics = Vec::new();
    let mut initial = Vec::new();
    for one in done {
        if one.procedure.function == analysed.program.entry {
            initial = one.initial;
        }
        statistics.push(one.statistics);
        procedures.push(one.procedure);
    }
    let Printed {
        text,
        locations,
        edges,
        names,
    } = output::print(analysed, &signatures, &procedures, &initial, options);
    Ok(BooleanProgram {
        text,
        locations,
        edges,
        procedures: names,
        statistics,
    })
}

fn in_parallel(
    whole: &Whole<'_>,
    functions: &[FuncId],
    options: &Options,
    budget: &Budget,
    events: &dyn Events,
) -> Result<Vec<Done>, Stopped> {
    let next = AtomicUsize::new(0);
    let finished = AtomicUsize::new(0);
    let results: Vec<Mutex<Option<Result<Done, Stopped>>>> =
        functions.iter().map(|_| Mutex::new(None)).collect();
    let work = || {
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            let Some(&function) = functions.get(index) else {
                return;
            };
            let result = one(whole, function, options, budget, events);
            let failed = result.is_err();
            if let Ok(mut slot) = results[index].lock() {
                *slot = Some(result);
            }
            if failed {
                // The rest would only run into the same limit.
                next.store(functions.len(), Ordering::Relaxed);
                return;
            }
            let count = finished.fetch_add(1, Ordering::Relaxed) + 1;
            let name = &whole.analysed.program.function(function).name;
            events.procedure(count, functions.len(), name);
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..options.threads.clamp(1, functions.len().max(1)) {
            scope.spawn(work);
        }
        work();
    });
    let mut done = Vec::new();
    let mut stopped = None;
    for slot in results {
        match slot.into_inner().ok().flatten() {
            Some(Ok(one)) => done.push(one),
            Some(Err(why)) => stopped = Some(why),
            None => {}
        }
    }
    match stopped {
        Some(why) => Err(why),
        None if done.len() == functions.len() => Ok(done),
        None => Err(Stopped::Cancelled),
    }
}

fn one(
    whole: &Whole<'_>,
    function: FuncId,
    options: &Options,
    budget: &Budget,
    events: &dyn Events,
) -> Result<Done, Stopped> {
    let start = Instant::now();
    budget.check()?;
    let name = whole.analysed.program.function(function).name.clone();
    let mut limits = options.limits;
    if options.arithmetic == Arithmetic::Integers {
        // What integers do not answer at once they answer late: bits among them are slow.
        limits.steps = limits.steps.map(|steps| steps / 10);
        // Not all of the solver counts its steps there.
        limits.time = limits.time.or(Some(Duration::from_secs(2)));
    }
    let mut prover = Prover::new(options.max_cube, options.search, limits, budget.clone());
    if events.wants_queries() {
        let procedure = name.clone();
        prover.set_log(Box::new(move |text| events.query(&procedure, text)));
    }
    let mut abstraction = Abstraction::new(whole, function, prover)?;
    let initial = match function == whole.analysed.program.entry {
        true => abstraction.initial()?,
        false => Vec::new(),
    };
    let (procedure, prover) = abstraction.run()?;
    let statistics = ProcedureStatistics {
        name,
        predicates: procedure.visible.len(),
        prover: prover.statistics(),
        time: start.elapsed(),
    };
    Ok(Done {
        procedure,
        initial,
        statistics,
    })
}
