//! Steps of an execution as lines of text: line number, statement indented by call depth, values.

use hardbop_boolean_program::program::{Program, TargetKind, VarId, VarKind, VertexId, VertexKind};
use hardbop_diagnostics::{Sources, Span};
use serde::Serialize;
use std::collections::HashMap;
use std::fmt::Write;

/// The statements of machine-made programs can be long: at most this many characters are shown.
const LONGEST: usize = 60;

/// Deeper calls are not indented further; the depth is written out instead.
const DEEPEST: usize = 12;

/// The columns of an indentation step.
const STEP: usize = 4;

/// One line of a listing.
#[derive(Clone, Debug)]
pub struct Line {
    /// The number of calls that it stands in.
    pub depth: usize,
    /// Its line number in the text.
    pub number: u32,
    /// What is executed.
    pub statement: String,
    /// The values before it.
    pub values: Vec<(VarId, bool)>,
}

/// A line as JSON.
#[derive(Serialize)]
pub struct JsonStep {
    line: u32,
    depth: usize,
    statement: String,
    values: serde_json::Map<String, serde_json::Value>,
}

impl JsonStep {
    /// The line with the names of its variables.
    pub fn of(words: &Words<'_>, line: Line) -> JsonStep {
        let name = |variable: VarId| words.program.variables[variable.index()].name.to_string();
        let values = line.values.into_iter();
        JsonStep {
            line: line.number,
            depth: line.depth,
            statement: line.statement,
            values: values
                .map(|(variable, value)| (name(variable), value.into()))
                .collect(),
        }
    }
}

/// Writes statements and values as a program's text has them.
pub struct Words<'a> {
    program: &'a Program,
    sources: &'a Sources,
    labels: HashMap<VertexId, Vec<&'a str>>,
}

impl<'a> Words<'a> {
    /// The words of a program.
    pub fn new(program: &'a Program, sources: &'a Sources) -> Words<'a> {
        let mut labels: HashMap<VertexId, Vec<&str>> = HashMap::new();
        for target in &program.targets {
            if let TargetKind::Label(label) = &target.kind {
                labels.entry(target.vertex).or_default().push(label);
            }
        }
        Words {
            program,
            sources,
            labels,
        }
    }

    /// The program.
    pub fn program(&self) -> &'a Program {
        self.program
    }

    /// The text.
    pub fn sources(&self) -> &'a Sources {
        self.sources
    }

    /// A place as `file:line`.
    pub fn place(&self, span: Span) -> String {
        format!(
            "{}:{}",
            self.sources.name(span.file),
            self.sources.line(span.file, span.start)
        )
    }

    /// The line number of a vertex's statement.
    pub fn line(&self, vertex: VertexId) -> u32 {
        let span = self.program.vertices[vertex.index()].span;
        self.sources.line(span.file, span.start)
    }

    /// The statement of a vertex on one line, with its labels.
    pub fn statement(&self, vertex: VertexId) -> String {
        let entry = &self.program.vertices[vertex.index()];
        let mut words = String::new();
        for label in self.labels.get(&vertex).into_iter().flatten() {
            let _ = write!(words, "{label}: ");
        }
        match entry.kind {
            VertexKind::Exit => words.push_str("end"),
            VertexKind::Failed => words.push_str("the assertion fails"),
            _ => words.push_str(&one_line(self.sources.slice(entry.span))),
        }
        words
    }

    /// Variables and their values, as `g=1 h=0`.
    fn values(&self, values: &[(VarId, bool)]) -> String {
        let value = |&(variable, value)| format!("{}={}", self.name(variable), u8::from(value));
        values.iter().map(value).collect::<Vec<_>>().join(" ")
    }

    /// The name of a variable as the text writes it.
    pub fn name(&self, variable: VarId) -> String {
        variable_name(&self.program.variables[variable.index()].name)
    }

    /// Whether the text has a name for the variable: it has none for return values.
    pub fn is_named(&self, variable: VarId) -> bool {
        !matches!(
            self.program.variables[variable.index()].kind,
            VarKind::Return(_)
        )
    }
}

/// The name as it is written in a program: in braces, unless it is a plain word.
fn variable_name(name: &str) -> String {
    let plain = name
        .chars()
        .all(|c| c.is_alphanumeric() || matches!(c, '_' | '.' | '$' | '#'));
    if plain {
        name.to_owned()
    } else {
        format!("{{{name}}}")
    }
}

fn one_line(text: &str) -> String {
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let words = words.trim_end_matches(';');
    match words.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}...", &words[..end]),
        None => words.to_owned(),
    }
}

/// The lines as text, with the values in one column.
pub fn render(words: &Words<'_>, lines: &[Line]) -> String {
    let number_width = lines
        .iter()
        .map(|line| digits(line.number))
        .max()
        .unwrap_or(1)
        .max(4);
    let statement = |line: &Line| format!("{}{}", indent(line.depth), line.statement);
    let widest = lines
        .iter()
        .map(|line| statement(line).chars().count())
        .max()
        .unwrap_or(0);
    let mut text = String::new();
    for line in lines {
        let row = format!(
            "{:>number_width$}  {:widest$}  {}",
            line.number,
            statement(line),
            words.values(&line.values)
        );
        let _ = writeln!(text, "{}", row.trim_end());
    }
    text
}

/// The lines in the layout of the Bebop paper's Figure 1, last step first.
pub fn render_reversed(words: &Words<'_>, lines: &[Line]) -> String {
    let number = |line: &Line| format!("{}Line {}", indent(line.depth), line.number);
    let widest = lines
        .iter()
        .map(|line| number(line).chars().count())
        .max()
        .unwrap_or(0);
    let mut text = String::new();
    for line in lines.iter().rev() {
        let row = format!(
            "{:widest$}  State {}",
            number(line),
            words.values(&line.values)
        );
        let _ = writeln!(text, "{}", row.trim_end());
    }
    text
}

fn indent(depth: usize) -> String {
    let blanks = " ".repeat(STEP * depth.min(DEEPEST));
    if depth > DEEPEST {
        format!("{blanks}({depth}) ")
    } else {
        blanks
    }
}

fn digits(number: u32) -> usize {
    number.to_string().len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_are_no_words_stand_in_braces() {
        assert_eq!(variable_name("g"), "g");
        assert_eq!(variable_name("x == 0"), "{x == 0}");
    }

    #[test]
    fn statements_are_one_short_line() {
        assert_eq!(one_line("x, y :=\n  y, x;"), "x, y := y, x");
        assert_eq!(one_line(&"x".repeat(100)), format!("{}...", "x".repeat(60)));
    }

    #[test]
    fn deep_calls_are_counted_rather_than_indented() {
        assert_eq!(indent(2), "        ");
        assert_eq!(indent(1000).trim_start(), "(1000) ");
        assert!(indent(1000).len() < 60);
    }
}
