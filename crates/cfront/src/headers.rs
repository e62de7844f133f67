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

/// The names of all headers.
#[cfg(test)]
fn names() -> impl Iterator<Item = &'static str> {
    HEADERS.iter().map(|&(name, _)| name)
}

macro_rules! headers {
    ($($name:literal)*) => {
        const HEADERS: &[(&str, &str)] = &[$(($name, include_str!(concat!("headers/", $name)))),*];
    };
}

headers! {
    "alloca.h"
    "assert.h"
    "ctype.h"
    "errno.h"
    "fcntl.h"
    "fenv.h"
    "float.h"
    "inttypes.h"
    "iso646.h"
    "limits.h"
    "locale.h"
    "malloc.h"
    "math.h"
    "memory.h"
    "pthread.h"
    "sched.h"
    "setjmp.h"
    "signal.h"
    "stdalign.h"
    "stdarg.h"
    "stdatomic.h"
    "stdbool.h"
    "stddef.h"
    "stdint.h"
    "stdio.h"
    "stdlib.h"
    "stdnoreturn.h"
    "string.h"
    "strings.h"
    "sys/stat.h"
    "sys/time.h"
    "sys/types.h"
    "time.h"
    "unistd.h"
    "wchar.h"
    "wctype.h"
}

#[cfg(test)]
mod tests {
    use crate::parse::*;
    use crate::types::DataModel;
    use hardbop_diagnostics::{Style, render};

    fn accepted(text: &str, model: DataModel) {
        let input = Input {
            name: "all.c".to_owned(),
            bytes: text.into(),
            kind: InputKind::Source,
            preprocess: Preprocess::default(),
        };
        let mut texts = Texts::new();
        let (unit, diagnostics) =
            parse_unit(&input, &ParseOptions::new(model), &NoFiles, &mut texts);
        let told: String = diagnostics
            .iter()
            .map(|d| render(d, &texts.sources, Style::Plain))
            .collect();
        assert!(unit.is_some(), "{text}{told}");
    }

    #[test]
    fn each_header_stands_alone_and_all_go_together() {
        for model in [DataModel::Ilp32, DataModel::Lp64] {
            let mut all = String::new();
            for name in super::names() {
                let line = format!("#include <{name}>\n");
                accepted(&line, model);
                // The words of iso646.h are names in other headers.
                if name != "iso646.h" {
                    all.push_str(&line);
                }
            }
            accepted(&format!("{all}{all}#include <iso646.h>\n"), model);
        }
    }
}
