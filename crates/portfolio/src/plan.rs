//! Which engines run, and when.

use hardbop_cegar::Slam;
use hardbop_diagrams::Diagrams;
use hardbop_dpr::Dpr;
use hardbop_engine::{Claim, Desk, Encodings, Ended, Engine, Scope, Suggestion, Task, Turn};
use hardbop_facts::{About, CheapFacts};
use hardbop_horn::WholeProgram;
use hardbop_houdini::{Arguments, Elements, Houdini, Nodes};
use hardbop_induction::Induction;
use hardbop_leap::Leap;
use hardbop_model::relevance::Depth;
use hardbop_pdr::Pdr;
use hardbop_terminate::{Lassos, Ranks, Recurrences};
use hardbop_unroll::{Effort, Guesses, Runs, Unroll};
use hardbop_values::Values;
use std::time::Duration;

use crate::looks::{Look, Suited};
use crate::{Functions, Slices};

/// An engine of a plan.
pub type Step = Box<dyn Engine>;

/// Which engines run, and when.
pub struct Plan {
    /// These, one after the other.
    pub first: Vec<Step>,
    /// Then these side by side, each lane one engine after the other.
    pub lanes: Vec<Vec<Step>>,
    /// These take up what the others suggest, beside them.
    pub followers: Vec<Step>,
    /// Before anything counts as proved, these try to find a run that contradicts it. They end by
    /// themselves, and soon.
    pub doubts: Vec<Step>,
    /// Whether proofs are to be shown.
    pub proofs: Proofs,
    /// How much is to be found.
    pub until: Until,
}

/// When a search is over.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Until {
    /// When every check is decided.
    #[default]
    AllDecided,
    /// When one is violated, too.
    FirstViolation,
}

/// What becomes of proofs when everything is decided.
pub enum Proofs {
    /// They stay as they were found: any will do.
    AsFound,
    /// They are to be shown.
    Readable {
        /// These look for others where a proof cannot be shown.
        engines: Vec<Step>,
        /// What can be shown.
        shows: Shows,
    },
}

/// What of a proof is to be shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shows {
    /// Invariants.
    Invariants,
    /// The predicates that invariants are made of.
    Predicates,
}

impl Shows {
    /// Whether a claim has what is to be shown.
    pub(crate) fn is_shown(self, claim: &Claim) -> bool {
        match (self, claim) {
            (Shows::Invariants, Claim::Invariants(_)) => true,
            (Shows::Predicates, Claim::Invariants(claim)) => !claim.predicates.is_empty(),
            // It has no parts that could be invariants, or a page of its own.
            (_, Claim::Nowhere(_) | Claim::Ranking(_)) => true,
            _ => false,
        }
    }
}

/// Proofs that can be shown: the loop's, since its predicates tell a story, else guessed ones. What
/// was decided stays decided if neither comes in time.
pub fn readable(arithmetic: Encodings, shows: Shows) -> Proofs {
    let most = Duration::from_secs(20);
    let slam = shared(Slam::reading(arithmetic), most, 2);
    let mut engines = vec![slam];
    if shows == Shows::Invariants {
        engines.push(shared(Houdini::default(), most, 2));
    }
    Proofs::Readable { engines, shows }
}

impl Plan {
    /// One engine by itself.
    pub fn alone(engine: impl Engine + 'static) -> Plan {
        Plan {
            first: vec![Box::new(engine)],
            lanes: Vec::new(),
            followers: Vec::new(),
            doubts: default_doubts(),
            proofs: Proofs::AsFound,
            until: Until::AllDecided,
        }
    }
}

/// An engine with a time limit of its own.
struct Timed {
    engine: Step,
    turn: Turn,
}

/// The engine, for no more than this time and no more than a quarter of what is left.
pub fn timed(engine: impl Engine + 'static, time: Duration) -> Step {
    shared(engine, time, 4)
}

/// The engine, for no more than this time and no more than one part of so many of what is left.
fn shared(engine: impl Engine + 'static, time: Duration, parts: u32) -> Step {
    let turn = Turn {
        parts: 1,
        of: parts,
        at_most: time,
    };
    let engine = Box::new(engine);
    Box::new(Timed { engine, turn })
}

impl Engine for Timed {
    fn name(&self) -> &'static str {
        self.engine.name()
    }

    fn scope(&self) -> Scope {
        self.engine.scope()
    }

    fn check(&self, task: &Task<'_>, desk: &mut dyn Desk) -> Ended {
        let budget = self.turn.of(task.budget);
        let task = Task {
            budget: &budget,
            ..*task
        };
        self.engine.check(&task, desk)
    }

    fn following(&self, suggestion: &Suggestion) -> Option<Step> {
        let engine = self.engine.following(suggestion)?;
        Some(Box::new(Timed { engine, ..*self }))
    }
}

/// How long the gate may look at an exhausted unrolling: it asks in one go what was asked layer by
/// layer, and where that is hard, others have proofs that are not.
pub(crate) const UNROLLING_CHECKED: Turn = Turn {
    parts: 1,
    of: 3,
    at_most: Duration::from_secs(20),
};

/// The same where objects are allocated: what is plain where their addresses are known is hard where
/// they may begin anywhere.
pub(crate) const ALLOCATING_CHECKED: Turn = Turn {
    parts: 1,
    of: 8,
    at_most: Duration::from_secs(3),
};

/// How long the gate may look at what a program's text says of its heap: it is soon worked out, and
/// should be soon checked.
pub(crate) const FACTS_CHECKED: Turn = Turn {
    parts: 1,
    of: 8,
    at_most: Duration::from_secs(5),
};

/// Programs that have fewer edges after inlining are searched as a whole: they take no time.
const SLICED: usize = 1_000;
/// Programs that have fewer edges after inlining are decided in no time, and in the same way on
/// every machine.
const RUN_FIRST: usize = 300;
/// With fewer checks, guesses about the program as a whole say as much as guesses function by
/// function.
const MANY_CHECKS: usize = 4;

/// The engine, for programs that look like this.
fn suited(look: Look, engine: Step) -> Step {
    Box::new(Suited { look, engine })
}

/// The plan for programs of which nothing is known: the only run if there is just one, of large
/// programs a few clauses, a few states and all executions where these end soon, the few paths of a
/// program that leaves little open, as layers and one by one, what the text says where many checks
/// are open, a little guessing of invariants, what the text says of objects on the heap, how much
/// room there is in them, loops by closed forms, all states at once where they are few as sets, a
/// few layers, a few runs, more layers on circuits,
/// guesses function by function where many checks are open, a few paths with what they teach, equations
/// between products where there are such, facts about all nodes of linked structures where there are
/// such, more guessing, facts about all elements of arrays where there are such, induction over a few
/// blocks, then side by side the SLAM loop, values that are followed, Horn clauses of the whole
/// program, longer searches for violations, and where the program is bits, clauses about them. What each may use of what is left is said here and nowhere else. The
/// first steps are counted, so that they do the same on every machine; their times are for
/// programs that are large.
pub fn default_plan(arithmetic: Encodings) -> Plan {
    let only = |only_run| Runs {
        runs: 0,
        only_run,
        ..Runs::default()
    };
    let guesses = Runs {
        only_run: 0,
        ..Runs::default()
    };
    // Through loops over arrays of a hundred thousand elements.
    let rows = Runs {
        runs: 8,
        steps: 10_000_000,
        only_run: 0,
        guesses: Guesses::Rows,
    };
    let stretched = Runs {
        runs: 4_000,
        steps: 20_000_000,
        only_run: 0,
        guesses: Guesses::Stretched,
    };
    let invariants = |steps| Houdini {
        steps,
        elements: Elements::Left,
        ..Houdini::default()
    };
    let heap = CheapFacts { about: About::Heap };
    // What took few steps needs nothing else.
    let told = Houdini {
        steps: 50_000_000,
        elements: Elements::Left,
        ..Houdini::told()
    };
    // How much room there is in what was allocated is mostly said by numbers beside it, and is soon
    // found out; nothing else that follows proves it.
    let rooms = Houdini {
        steps: 30_000_000,
        edges: 1_000,
        ..Houdini::of_rooms()
    };
    // Where texts end is soon found out as well, and nothing else that follows proves it.
    let texts = Houdini {
        steps: 100_000_000,
        edges: 1_000,
        ..Houdini::of_texts()
    };
    let shallow = Unroll {
        layers: 8,
        // Larger programs are better asked about as circuits.
        edges: 400,
        ..Unroll::default()
    };
    let early = Unroll {
        layers: 32,
        edges: RUN_FIRST,
        ..Unroll::on_circuits()
    };
    // Where all that matters is written in the program, layers hold numbers and no formulas.
    let written = Unroll {
        layers: 300,
        edges: 3_000,
        nodes: 20_000,
        ..Unroll::on_circuits()
    };
    // Rounds of a scheduler are many layers with little in each. To begin again later would cost
    // what the first layers cost.
    let deeper = Unroll {
        layers: 500,
        // These would take too long to begin with.
        edges: 100_000,
        ..Unroll::on_circuits()
    };
    let followed = Unroll {
        layers: 5_000,
        ..Unroll::on_circuits()
    };
    let few = Runs {
        runs: 48,
        steps: 5_000,
        ..guesses.clone()
    };
    let explored = |most| Runs {
        runs: u64::MAX,
        steps: 50_000,
        guesses: Guesses::Explored { most },
        ..guesses.clone()
    };
    let first_runs = Runs {
        runs: 3_000,
        steps: 10_000,
        guesses: Guesses::Hinted,
        ..guesses.clone()
    };
    let elements = Houdini {
        steps: 100_000_000,
        edges: 3_000,
        elements: Elements::Needed,
        ..Houdini::told()
    };
    let by_arguments = Houdini {
        steps: 500_000_000,
        edges: 3_000,
        elements: Elements::Left,
        arguments: Arguments::ToldApart,
        ..Houdini::default()
    };
    let remembering = Houdini {
        steps: 50_000_000,
        edges: 300,
        ..Houdini::remembering()
    };
    let powers = Houdini {
        steps: 100_000_000,
        edges: 300,
        ..Houdini::of_powers()
    };
    let of_arguments = Houdini {
        steps: 100_000_000,
        edges: 300,
        ..Houdini::of_arguments()
    };
    let products = Houdini {
        steps: 100_000_000,
        edges: 3_000,
        elements: Elements::Left,
        ..Houdini::of_products()
    };
    let nodes = Nodes {
        questions: 5_000,
        edges: 3_000,
    };
    // Lists that are built and walked are soon proved, and nothing else proves them.
    let lists = Nodes {
        questions: 1_500,
        edges: 3_000,
    };
    let only_paths = Dpr(hardbop_dpr::Options {
        runs: 8,
        ..hardbop_dpr::Options::default()
    });
    let exact = Leap {
        options: hardbop_leap::Options {
            effort: hardbop_leap::Effort::Exact,
            ..hardbop_leap::Options::default()
        },
    };
    let seconds = Duration::from_secs;
    Plan {
        first: vec![
            Box::new(only(2_000_000)),
            // Much of what is wrong in large programs shows in a few runs, and all else takes long:
            // state machines are searched before anybody reads them as logic.
            suited(Look::Large(RUN_FIRST), timed(first_runs, seconds(1))),
            // What large programs say of themselves costs next to nothing, and settles most of what is
            // asked of every access.
            suited(
                Look::Large(RUN_FIRST),
                timed(Functions::told(), seconds(10)),
            ),
            Box::new(explored(Effort::Large)),
            // Machines that need a few clauses only are decided before anybody reads them otherwise.
            suited(
                Look::LargeMachine(RUN_FIRST),
                shared(Pdr::brief(), seconds(8), 3),
            ),
            // Drivers of protocols have few states, however many branches.
            suited(
                Look::LargeMachine(RUN_FIRST),
                timed(Values::default(), seconds(1)),
            ),
            // Threads that take turns for a few rounds, say: all their executions are one formula.
            suited(
                Look::Large(RUN_FIRST),
                suited(Look::Short(20_000), shared(followed, seconds(15), 2)),
            ),
            slices(arithmetic),
            suited(Look::Narrow(30), timed(written, Duration::from_millis(300))),
            suited(Look::Narrow(100), timed(only_paths, seconds(1))),
            // Protocols are decided by their states, and guesses about them take long.
            suited(Look::Large(RUN_FIRST), timed(Values::default(), seconds(3))),
            // Threads that take turns have many states, which are few as sets.
            suited(
                Look::LargeMachine(RUN_FIRST),
                shared(Diagrams::short(), seconds(10), 2),
            ),
            // Machines whose states are many are still bits: threads that take turns, say. All that
            // follows takes longer on large ones, and most of it in vain.
            suited(
                Look::LargeMachine(RUN_FIRST),
                shared(Pdr::middling(), seconds(10), 2),
            ),
            // What the text says of each access is mostly enough where many are checked.
            suited(
                Look::Open(MANY_CHECKS),
                timed(Functions::told(), seconds(2)),
            ),
            timed(invariants(5_000_000), seconds(2)),
            // What holds of all objects that are allocated: function by function it is soon checked,
            // and where that is too little, with calls inlined.
            suited(Look::Allocating, timed(Functions::about_heap(), seconds(5))),
            suited(Look::Allocating, timed(heap, seconds(5))),
            suited(Look::Allocating, shared(rooms, seconds(8), 2)),
            // Ends at once where nobody looks for a zero in memory.
            shared(texts, seconds(12), 2),
            // Where loops are long, and all that they do is told by closed forms.
            suited(Look::Counting(RUN_FIRST), timed(exact, seconds(1))),
            // What is few as sets of states is found at once.
            timed(Diagrams::small(), seconds(2)),
            // Only where the question comes along with others.
            timed(Ranks { guessing: None }, seconds(2)),
            timed(shallow, seconds(2)),
            Box::new(few),
            suited(Look::Linked, shared(lists, seconds(8), 3)),
            timed(early, seconds(3)),
            suited(Look::Large(RUN_FIRST), timed(deeper, seconds(5))),
            // Of many checks, most need no more than what their own functions say, whatever the few
            // others need.
            suited(
                Look::Open(MANY_CHECKS),
                shared(Functions::guessing(100_000_000), seconds(20), 3),
            ),
            // What is not bits is declined at once.
            timed(Pdr::brief(), seconds(2)),
            // Ends at once where nothing unknown is multiplied.
            shared(products, seconds(10), 2),
            timed(Dpr::default(), seconds(1)),
            Box::new(explored(Effort::Small)),
            // Ends at once where nothing is linked; where something is, little else helps.
            shared(nodes, seconds(15), 2),
            timed(told, seconds(20)),
            // Ends at once where no array is accessed by an index.
            shared(elements, seconds(20), 2),
            // Ends at once where nothing is forgotten.
            timed(remembering, seconds(8)),
            // Ends at once where nothing is doubled.
            timed(powers, seconds(12)),
            // Ends at once where nothing is recursive.
            timed(of_arguments, seconds(5)),
            shared(by_arguments, seconds(15), 2),
            suited(Look::Long(RUN_FIRST), timed(Leap::default(), seconds(1))),
            // What is not bits is declined at once; small machines of bits are decided here.
            timed(Pdr::small(), seconds(3)),
            timed(Induction::short(), seconds(1)),
        ],
        lanes: vec![
            vec![Box::new(Slam::reading(arithmetic))],
            vec![Box::new(WholeProgram::reading(arithmetic))],
            vec![
                timed(Ranks::default(), seconds(8)),
                Box::new(only(50_000_000)),
                // They share their core with the proofs.
                timed(guesses.clone(), seconds(1)),
                timed(stretched, seconds(1)),
                timed(rows, seconds(3)),
                timed(Unroll::on_circuits(), seconds(6)),
                timed(explored(Effort::Any), seconds(3)),
                timed(Leap::default(), seconds(4)),
                timed(Dpr::default(), seconds(3)),
                Box::new(only(u64::MAX)),
                Box::new(Unroll::default()),
            ],
            vec![
                shared(Diagrams::default(), seconds(10), 2),
                // A machine is followed for longer than numbers that are computed.
                suited(Look::Machine, shared(Values::default(), seconds(15), 2)),
                suited(Look::Arithmetic, timed(Values::default(), seconds(5))),
                // Ends at once where the program is not bits.
                Box::new(Pdr::default()),
            ],
        ],
        followers: vec![timed(Leap::default(), seconds(4))],
        doubts: default_doubts(),
        proofs: Proofs::AsFound,
        until: Until::AllDecided,
    }
}

/// Proofs by slices of large programs.
fn slices(arithmetic: Encodings) -> Step {
    let seconds = Duration::from_secs;
    let invariants = Houdini {
        steps: 10_000_000,
        elements: Elements::Left,
        ..Houdini::told()
    };
    let slices = Slices {
        engines: vec![
            // They are counted; slices of a hundred thousand lines take seconds all the same.
            shared(invariants, seconds(8), 2),
            timed(Values::default(), seconds(4)),
            timed(Slam::reading(arithmetic), seconds(4)),
        ],
        depths: vec![Depth::Branches(0), Depth::Branches(1), Depth::All],
        edges: SLICED,
    };
    shared(slices, seconds(24), 2)
}

/// The plan for the question whether every execution ends: the only run if there is just one, a
/// state that comes again in some runs, ranks that need no invariants; then side by side ranks that
/// do, and on the other side more runs, recurrent sets, and all executions followed to their ends.
pub fn termination_plan() -> Plan {
    let only = Runs {
        runs: 0,
        only_run: 2_000_000,
        ..Runs::default()
    };
    let some = Lassos {
        runs: 200,
        time: Duration::from_secs(1),
        ..Lassos::default()
    };
    let more = Lassos {
        runs: 2_000,
        ..Lassos::default()
    };
    let many = Lassos {
        runs: 100_000,
        steps: 3_000_000,
        time: Duration::from_secs(3_600),
    };
    Plan {
        first: vec![
            Box::new(only),
            Box::new(some),
            Box::new(Ranks { guessing: None }),
        ],
        lanes: vec![
            vec![Box::new(Ranks::default()), Box::new(many)],
            vec![
                Box::new(more),
                Box::new(Recurrences::default()),
                Box::new(Unroll::default()),
            ],
        ],
        followers: Vec::new(),
        doubts: vec![Box::new(Lassos {
            runs: 64,
            steps: 5_000,
            time: Duration::from_millis(300),
        })],
        proofs: Proofs::AsFound,
        until: Until::AllDecided,
    }
}

/// Runs on guessed inputs: they share neither the logic nor the points-to analysis with those who
/// prove. Counted, so that a small program is doubted in the same way on every machine.
pub fn default_doubts() -> Vec<Step> {
    vec![Box::new(Runs {
        runs: 64,
        steps: 5_000,
        only_run: 0,
        guesses: Guesses::Hinted,
    })]
}
