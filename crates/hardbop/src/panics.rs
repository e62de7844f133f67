//! Turns a panic anywhere into an internal error, so that even our mistakes are told in words and
//! end in a documented exit code.

use crate::failure::Failure;
use std::panic::{self, AssertUnwindSafe};
use std::sync::{Arc, Mutex};

/// Runs the work; a panic in it becomes [`Failure::Internal`].
pub fn caught<T>(work: impl FnOnce() -> Result<T, Failure>) -> Result<T, Failure> {
    // The first panic is the cause; what follows in other threads is its echo.
    let first: Arc<Mutex<Option<String>>> = Arc::default();
    let seen = Arc::clone(&first);
    panic::set_hook(Box::new(move |info| {
        if let Ok(mut slot) = seen.lock() {
            slot.get_or_insert_with(|| one_line(info));
        }
    }));
    let result = panic::catch_unwind(AssertUnwindSafe(work));
    drop(panic::take_hook());
    result.unwrap_or_else(|_| {
        let told = first.lock().ok().and_then(|mut slot| slot.take());
        Err(Failure::Internal(
            told.unwrap_or_else(|| "an unknown panic".to_owned()),
        ))
    })
}

fn one_line(info: &panic::PanicHookInfo<'_>) -> String {
    let what = info
        .payload_as_str()
        .unwrap_or("a panic without words")
        .replace('\n', " ");
    match info.location() {
        Some(place) => format!("{what} ({}:{})", place.file(), place.line()),
        None => what,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_an_internal_error_with_its_place() {
        let result: Result<(), Failure> = caught(|| panic!("two\nlines"));
        let Err(Failure::Internal(text)) = result else {
            panic!("not internal")
        };
        assert!(
            text.starts_with("two lines (crates/hardbop/src/panics.rs:"),
            "{text}"
        );
    }
}
