//! Interrupts a Z3 context from another thread when a query has taken all it may.
//!
//! One thread per solver, asleep between queries. Arming it is two uncontended locks and a read of
//! the clock, so that queries of a few microseconds do not pay for a thread each.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use hardbop_budget::{Budget, Stint};
use z3::Context;

use super::{Limits, Unknown};

/// How often a running query is looked at: the delay of a cancellation.
const TICK: Duration = Duration::from_millis(10);

pub(crate) struct Watchdog {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
    /// Owned: leaked for the thread's handle, taken back when the thread has ended. Being a raw
    /// pointer it also keeps the watchdog on the thread of its context.
    context: *mut Context,
}

struct Shared {
    state: Mutex<State>,
    wake: Condvar,
}

#[derive(Default)]
struct State {
    watch: Option<Watch>,
    fired: Option<Unknown>,
    asleep: bool,
    ended: bool,
}

struct Watch {
    began: Stint,
    time: Option<Duration>,
    budget: Budget,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Watchdog {
    /// A watchdog for the Z3 context of this thread.
    pub(crate) fn new() -> Watchdog {
        let context = Box::into_raw(Box::new(Context::thread_local()));
        #[allow(
            unsafe_code,
            reason = "the box lives until the thread that uses it was joined"
        )]
        let handle = unsafe { &*context }.handle();
        let shared = Arc::new(Shared {
            state: Mutex::default(),
            wake: Condvar::new(),
        });
        let seen = Arc::clone(&shared);
        let thread = std::thread::Builder::new()
            .name("solver watchdog".to_owned())
            .spawn(move || run(&seen, &|| handle.interrupt()))
            .ok();
        Watchdog {
            shared,
            thread,
            context,
        }
    }

    /// Starts to watch. Says at once when there is nothing left of the budget.
    pub(crate) fn arm(&self, limits: Limits, budget: &Budget) -> Result<(), Unknown> {
        budget.check().map_err(Unknown::Stopped)?;
        if self.thread.is_none() {
            return Err(Unknown::GaveUp(
                "no thread could be started to watch the solver".into(),
            ));
        }
        let mut state = self.shared.lock();
        state.fired = None;
        state.watch = Some(Watch {
            began: Stint::begin(),
            time: limits.time,
            budget: budget.clone(),
        });
        if state.asleep {
            self.shared.wake.notify_one();
        }
        Ok(())
    }

    /// Stops watching; tells why the query was interrupted, if it was.
    pub(crate) fn disarm(&self) -> Option<Unknown> {
        let mut state = self.shared.lock();
        state.watch = None;
        state.fired.take()
    }
}

impl Drop for Watchdog {
    fn drop(&mut self) {
        self.shared.lock().ended = true;
        self.shared.wake.notify_one();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
        #[allow(
            unsafe_code,
            reason = "made by into_raw above; the only other user has ended"
        )]
        drop(unsafe { Box::from_raw(self.context) });
    }
}

fn run(shared: &Shared, interrupt: &dyn Fn()) {
    let mut state = shared.lock();
    // A few idle ticks before sleeping for good spare the wake-up between two queries in a row.
    let mut idle = 0;
    while !state.ended {
        match &state.watch {
            Some(watch) => {
                idle = 0;
                let stopped = watch.budget.check().err().map(Unknown::Stopped);
                let late = watch.time.is_some_and(|time| watch.began.is_over(time));
                if let Some(why) = stopped.or(late.then_some(Unknown::Time)) {
                    state.fired.get_or_insert(why);
                    // Under the lock: no interrupt can hit the query after the one that it is
                    // meant for. And again at each tick: an interrupt before Z3 listens is lost.
                    interrupt();
                }
            }
            None => idle += 1,
        }
        let tick = match &state.watch {
            Some(Watch {
                began,
                time: Some(time),
                ..
            }) => TICK
                .min(time.saturating_sub(began.elapsed()))
                .max(Duration::from_millis(1)),
            _ => TICK,
        };
        state.asleep = idle > 20;
        if state.asleep {
            state = shared
                .wake
                .wait(state)
                .unwrap_or_else(PoisonError::into_inner);
            state.asleep = false;
        } else {
            state = shared
                .wake
                .wait_timeout(state, tick)
                .unwrap_or_else(PoisonError::into_inner)
                .0;
        }
    }
}
