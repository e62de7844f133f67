//! The standard headers that come with the front end, so that a user needs no compiler and no C
//! library, and results do not depend on the machine.

use std::path::Path;

/// The text of a header.
pub(crate) fn text(name: &Path) -> Option<&'static str> {
    let name = name.to_str()?;
    HEADERS
        .iter()
        .find(|(known, _)| *known == name)
        .map(|&(_, text)| text)
}

macro_rules! headers {
    ($($name:literal)*) => {
        const HEADERS: &[(&str, &str)] = &[$(($name, include_str!(concat!("headers/", $name)))),*];
    };
}

headers! { "stddef.h" "stdbool.h" }
