//! Boolean programs beside the lines of the C program.

use crate::results::{BooleanProgram, PredicatesFrom, Results};
use crate::xml::escaped;
use std::fmt::Write;

/// Longer programs are cut: nobody reads on.
const MOST_LINES: usize = 3_000;

/// Shows the boolean programs.
pub(super) fn programs(out: &mut String, results: &Results) {
    if results.boolean_programs.is_empty() {
        return;
    }
    out.push_str(
        "<section aria-labelledby=\"boolean-program\"><h2 id=\"boolean-program\">Boolean program</h2>\n",
    );
    for program in &results.boolean_programs {
        show(out, program);
    }
    out.push_str("</section>\n");
}

fn show(out: &mut String, program: &BooleanProgram) {
    if let Some(rule) = &program.rule {
        let _ = writeln!(out, "<h3>Beside rule {}</h3>", escaped(rule));
    }
    let from = match program.predicates {
        PredicatesFrom::Search => "the predicates of the search",
        PredicatesFrom::Conditions => {
            "its own conditions (the search needed no predicates, or none that C has words for)"
        }
    };
    let _ = writeln!(
        out,
        "<p>What {from} make of the program: each statement on the left says on the right what it does to \
         them. <code>*</code> is any value.</p>\n<div class=\"wide\"><table class=\"boolean code\"><thead><tr><th \
         scope=\"col\">C</th><th scope=\"col\">Boolean program</th></tr></thead><tbody>"
    );
    let mut last = None;
    for line in program.lines.iter().take(MOST_LINES) {
        let left = match &line.c {
            Some(c) if last != Some(c) => {
                let (file, number, text) = c;
                let base = file.rsplit('/').next().unwrap_or(file);
                format!(
                    "<span class=\"soft\">{}:{number}</span> {}",
                    escaped(base),
                    escaped(text)
                )
            }
            _ => String::new(),
        };
        if line.c.is_some() {
            last = line.c.as_ref();
        }
        let _ = writeln!(
            out,
            "<tr><td>{left}</td><td>{}</td></tr>",
            escaped(&line.text)
        );
    }
    out.push_str("</tbody></table></div>\n");
    if program.lines.len() > MOST_LINES {
        let rest = program.lines.len() - MOST_LINES;
        let _ = writeln!(out, "<p>{rest} more lines are not shown.</p>");
    }
}
