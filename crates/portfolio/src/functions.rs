//! Guesses function by function: calls are kept, so that what is asked is about one piece of one
//! function at a time.
//!
//! What functions are given and give back is guessed like everything else, at their entries and
//! exits. That says less than what inlining shows, and costs no more than the program is long: of a
//! thousand checks most need no more than what their own function says.

use hardbop_cfront::ids::CheckId;
use hardbop_engine::claim::{Calls, Invariants, Reach};
use hardbop_engine::{Answer, Claim, Desk, Ended, Engine, Event, Reason, Suggestion, Task};
use hardbop_facts::{About, CheapFacts};
use hardbop_houdini::{Breadth, Elements, Houdini};

use crate::Step;

/// Engines on a program whose calls are kept.
pub struct Functions {
    /// The engines, one after the other.
    pub engines: Vec<Step>,
}

impl Functions {
    /// Nothing but what the program's text says of numbers and pointers.
    pub fn told() -> Functions {
        Functions {
            engines: vec![Box::new(CheapFacts::default())],
        }
    }

    /// What the text says of objects on the heap.
    pub fn about_heap() -> Functions {
        let facts = CheapFacts { about: About::Heap };
        Functions {
            engines: vec![Box::new(facts)],
        }
    }

    /// What the text says, and guesses that take so many steps of the solver at most.
    pub fn guessing(steps: u64) -> Functions {
        let guesses = Houdini {
            steps,
            elements: Elements::Left,
            breadth: Breadth::Touched,
            ..Houdini::told()
        };
        Functions {
            engines: vec![Box::new(CheapFacts::default()), Box::new(guesses)],
        }
    }
}

impl Default for Functions {
    fn default() -> Functions {
        Functions::guessing(u64::MAX)
    }
}

impl Engine for Functions {
    fn name(&self) -> &'static str {
        "functions"
    }

    fn check(&self, task: &Task<'_>, desk: &mut dyn Desk) -> Ended {
        let mut ended = Ended::open(task, &Reason::Turn);
        // Where an index may leave an array that is a part of an object, nothing is proved unless
        // indices lead anywhere in objects.
        for indices in [Reach::Elements, Reach::Object] {
            let form = Invariants {
                calls: Calls::Kept,
                indices,
                ..Invariants::default()
            };
            let (program, points_to) = (task.model.program, task.model.plain.points_to);
            let Ok(form) = form.form(program, points_to, task.budget) else {
                break;
            };
            let model = form.model(program);
            let mut stopped = false;
            for engine in &self.engines {
                let checks: Vec<CheckId> = ended.open.keys().copied().collect();
                let task = Task {
                    model: &model,
                    checks: &checks,
                    budget: task.budget,
                };
                ended = engine.check(&task, &mut Keeping { desk, indices });
                stopped = matches!(ended.incomplete, Some(Reason::Unsupported(_)));
                if ended.open.is_empty() || stopped {
                    break;
                }
            }
            if !stopped {
                break;
            }
        }
        Ended {
            statistics: Vec::new(),
            ..ended
        }
    }
}

/// The desk of those who keep calls.
struct Keeping<'a> {
    desk: &'a mut dyn Desk,
    indices: Reach,
}

impl Desk for Keeping<'_> {
    fn event(&mut self, event: Event) {
        self.desk.event(event);
    }

    fn submit(&mut self, claim: Claim) -> Answer {
        match claim {
            Claim::Invariants(mut invariants) => {
                invariants.calls = Calls::Kept;
                invariants.indices = self.indices;
                self.desk.submit(Claim::Invariants(invariants))
            }
            // What follows executions speaks of the program as others see it.
            _ => Answer::Refused(Reason::Certificate),
        }
    }

    fn suggest(&mut self, _: Suggestion) {}
}
