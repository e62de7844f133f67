//! The conventions of the Competition on Software Verification: property files, task definitions,
//! and the words for results.

use crate::yaml::{self, Node};
use hardbop_diagnostics::{Diagnostic, FileId, Span};

/// A property of a property file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Property {
    /// Where execution starts.
    pub entry: String,
    /// What must hold.
    pub goal: Goal,
    /// The line of the file, as it was written.
    pub text: String,
}

/// What must hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Goal {
    /// This function is never called.
    UnreachCall(String),
    /// This label is never reached.
    UnreachLabel(String),
    /// No signed operation overflows.
    NoOverflow,
    /// Every pointer that is used points into a live object.
    ValidDeref,
    /// Only the start of a live heap object is freed.
    ValidFree,
    /// Memory that was not freed is pointed to.
    ValidMemtrack,
    /// All memory is freed when the program ends.
    ValidMemcleanup,
    /// Every execution ends.
    Termination,
    /// Nothing happens that the C standard calls undefined.
    DefBehavior,
    /// Something that is not checked here, by its name.
    Other(String),
}

impl Goal {
    /// The word in `false(...)`.
    pub fn word(&self) -> &str {
        match self {
            Goal::UnreachCall(_) => "unreach-call",
            Goal::UnreachLabel(_) => "unreach-label",
            Goal::NoOverflow => "no-overflow",
            Goal::ValidDeref => "valid-deref",
            Goal::ValidFree => "valid-free",
            Goal::ValidMemtrack => "valid-memtrack",
            Goal::ValidMemcleanup => "valid-memcleanup",
            Goal::Termination => "termination",
            Goal::DefBehavior => "def-behavior",
            Goal::Other(name) => name,
        }
    }
}

/// Reads a property file.
pub fn properties(file: FileId, text: &str) -> Result<Vec<Property>, Diagnostic> {
    let mut found = Vec::new();
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let trimmed = line.trim();
        let at = start + (line.len() - line.trim_start().len());
        let span = Span::new(file, at as u32, (at + trimmed.len()) as u32);
        start += line.len();
        if trimmed.is_empty() || trimmed.starts_with("//") || trimmed.starts_with('#') {
            continue;
        }
        found.push(property(trimmed).ok_or_else(|| {
            Diagnostic::error(span, "this is not a property")
                .label("expected `CHECK( init(main()), LTL(G ! call(reach_error())) )` or the like")
        })?);
    }
    if found.is_empty() {
        let span = Span::new(file, 0, 0);
        return Err(Diagnostic::error(span, "the file has no property"));
    }
    Ok(found)
}

fn property(line: &str) -> Option<Property> {
    let dense: String = line.chars().filter(|c| !c.is_whitespace()).collect();
    let inside = dense.strip_prefix("CHECK(")?.strip_suffix(')')?;
    let (entry, rest) = inside.strip_prefix("init(")?.split_once("),")?;
    let entry = entry.strip_suffix("()").unwrap_or(entry);
    let formula = rest.strip_prefix("LTL(").and_then(|f| f.strip_suffix(')'));
    let goal = match formula {
        Some("G!overflow") => Goal::NoOverflow,
        Some("Gvalid-deref") => Goal::ValidDeref,
        Some("Gvalid-free") => Goal::ValidFree,
        Some("Gvalid-memtrack") => Goal::ValidMemtrack,
        Some("Gvalid-memcleanup") => Goal::ValidMemcleanup,
        Some("Fend") => Goal::Termination,
        Some("Gdef-behavior") => Goal::DefBehavior,
        Some(formula) => {
            let of = |prefix: &str| {
                let name = formula.strip_prefix(prefix)?.strip_suffix(')')?;
                Some(name.split('(').next().unwrap_or(name).to_owned())
            };
            match (of("G!call("), of("G!label(")) {
                (Some(function), _) if is_name(&function) => Goal::UnreachCall(function),
                (_, Some(label)) if is_name(&label) => Goal::UnreachLabel(label),
                _ => Goal::Other(
                    formula
                        .trim_start_matches(['G', '!'])
                        .trim_matches(['(', ')'])
                        .to_owned(),
                ),
            }
        }
        None if rest.starts_with("FQL(") => Goal::Other("coverage".to_owned()),
        None => return None,
    };
    Some(Property {
        entry: entry.to_owned(),
        goal,
        text: line.to_owned(),
    })
}

fn is_name(text: &str) -> bool {
    !text.is_empty()
        && text
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '$'))
}

/// A task definition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Task {
    /// The program's files, as the definition names them: relative to it.
    pub files: Vec<String>,
    /// The properties, each with the verdict that is expected.
    pub properties: Vec<TaskProperty>,
    /// `ILP32` or `LP64`, where the definition says it.
    pub data_model: Option<crate::results::DataModel>,
}

/// A property of a task definition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TaskProperty {
    /// The property file, relative to the definition.
    pub file: String,
    /// Whether the property holds, where the definition says it.
    pub expected: Option<bool>,
}

/// Reads a task definition.
pub fn task(file: FileId, text: &str) -> Result<Task, Diagnostic> {
    let whole = Span::new(file, 0, 0);
    let root = yaml::parse(file, text)?
        .ok_or_else(|| Diagnostic::error(whole, "the task definition is empty"))?;
    if root.entries().is_none() {
        let error = Diagnostic::error(root.span, "this is not a task definition");
        return Err(error.label("expected a mapping with `input_files` and `properties`"));
    }
    let need = |node: &Node, key: &str| -> Result<Node, Diagnostic> {
        node.get(key).cloned().ok_or_else(|| {
            Diagnostic::error(node.span, format!("the task definition has no `{key}`"))
        })
    };
    let version = need(&root, "format_version")?;
    if !matches!(version.text(), Some(v) if v.starts_with("1.") || v.starts_with("2.")) {
        let error = Diagnostic::error(version.span, "this format version is not known");
        return Err(error.label("1.0, 2.0 and 2.1 are"));
    }
    let files = need(&root, "input_files")?;
    let files = strings(&files, "`input_files` is a file or a list of files")?;
    let mut properties = Vec::new();
    if let Some(list) = root.get("properties") {
        let items = list
            .items()
            .ok_or_else(|| Diagnostic::error(list.span, "`properties` is a list"))?;
        for item in items {
            let file = need(item, "property_file")?;
            let name = file
                .text()
                .ok_or_else(|| Diagnostic::error(file.span, "`property_file` is a file"))?;
            let expected = match item.get("expected_verdict") {
                None => None,
                Some(node) => match node.text() {
                    Some("true" | "True") => Some(true),
                    Some("false" | "False") => Some(false),
                    _ => {
                        let error = Diagnostic::error(node.span, "this is not a verdict");
                        return Err(error.label("expected `true` or `false`"));
                    }
                },
            };
            properties.push(TaskProperty {
                file: name.to_owned(),
                expected,
            });
        }
    }
    let options = root.get("options");
    if let Some(language) = options.and_then(|options| options.get("language"))
        && language.text() != Some("C")
    {
        return Err(Diagnostic::error(language.span, "only C is understood"));
    }
    let data_model = match options.and_then(|options| options.get("data_model")) {
        None => None,
        Some(node) => Some(match node.text() {
            Some("ILP32") => crate::results::DataModel::Ilp32,
            Some("LP64") => crate::results::DataModel::Lp64,
            _ => {
                let error = Diagnostic::error(node.span, "this data model is not known");
                return Err(error.label("expected `ILP32` or `LP64`"));
            }
        }),
    };
    Ok(Task {
        files,
        properties,
        data_model,
    })
}

fn strings(node: &Node, wanted: &str) -> Result<Vec<String>, Diagnostic> {
    let wrong = |node: &Node| Diagnostic::error(node.span, wanted);
    let found: Vec<String> = match (node.text(), node.items()) {
        (Some(text), _) => vec![text.to_owned()],
        (None, Some(items)) => items
            .iter()
            .map(|item| item.text().map(str::to_owned).ok_or_else(|| wrong(item)))
            .collect::<Result<_, _>>()?,
        (None, None) => return Err(wrong(node)),
    };
    if found.is_empty() {
        return Err(wrong(node));
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};
    use hardbop_diagnostics::{Sources, Style, render};

    fn show<T: std::fmt::Debug>(
        text: &str,
        read: fn(FileId, &str) -> Result<T, Diagnostic>,
    ) -> String {
        let mut sources = Sources::new();
        let file = sources.add("x", text);
        match read(file, text) {
            Ok(value) => format!("{value:?}"),
            Err(error) => render(&error, &sources, Style::Plain),
        }
    }

    #[track_caller]
    fn check_property(text: &str, expected: Expect) {
        let goals = |file: FileId, text: &str| {
            properties(file, text).map(|list| {
                list.into_iter()
                    .map(|property| (property.entry, property.goal))
                    .collect::<Vec<_>>()
            })
        };
        expected.assert_eq(&show(text, goals));
    }

    #[test]
    fn property_files() {
        check_property(
            "CHECK( init(main()), LTL(G ! call(reach_error())) )\n",
            expect![[r#"[("main", UnreachCall("reach_error"))]"#]],
        );
        check_property(
            "CHECK( init(main()), LTL(G valid-free) )\nCHECK( init(main()), LTL(G valid-deref) )\n\
             CHECK( init(main()), LTL(G valid-memtrack) )\n\n",
            expect![[r#"[("main", ValidFree), ("main", ValidDeref), ("main", ValidMemtrack)]"#]],
        );
        check_property(
            "CHECK( init(start()), LTL(G ! overflow) )\nCHECK( init(main()), LTL(F end) )\n\
             CHECK( init(main()), LTL(G ! label(ERROR)) )\nCHECK( init(main()), LTL(G ! data-race) )",
            expect![[
                r#"[("start", NoOverflow), ("main", Termination), ("main", UnreachLabel("ERROR")), ("main", Other("data-race"))]"#
            ]],
        );
        check_property(
            "COVER( init(main()) )\n",
            expect![[r#"
                error: this is not a property
                 --> x:1:1
                  |
                1 | COVER( init(main()) )
                  | ^^^^^^^^^^^^^^^^^^^^^ expected `CHECK( init(main()), LTL(G ! call(reach_error())) )` or the like
            "#]],
        );
    }

    #[track_caller]
    fn check_task(text: &str, expected: Expect) {
        expected.assert_eq(&show(text, task));
    }

    #[test]
    fn task_definitions() {
        check_task(
            "format_version: '2.0'\ninput_files: 'a.c'\nproperties:\n  - property_file: ../unreach-call.prp\n    \
             expected_verdict: false\n  - property_file: ../termination.prp\noptions:\n  language: C\n  data_model: ILP32\n",
            expect![[
                r#"Task { files: ["a.c"], properties: [TaskProperty { file: "../unreach-call.prp", expected: Some(false) }, TaskProperty { file: "../termination.prp", expected: None }], data_model: Some(Ilp32) }"#
            ]],
        );
        check_task(
            "format_version: '2.0'\ninput_files: [a.c, b.c]\noptions: {data_model: LP32}\n",
            expect![[r#"
                error: this data model is not known
                 --> x:3:23
                  |
                3 | options: {data_model: LP32}
                  |                       ^^^^ expected `ILP32` or `LP64`
            "#]],
        );
        check_task(
            "format_version: '2.0'\n",
            expect![[r#"
            error: the task definition has no `input_files`
             --> x:1:1
              |
            1 | format_version: '2.0'
              | ^
        "#]],
        );
        check_task(
            "- a\n",
            expect![[r#"
            error: this is not a task definition
             --> x:1:1
              |
            1 | - a
              | ^ expected a mapping with `input_files` and `properties`
        "#]],
        );
    }
}
