//! Writes witnesses in YAML (versions 2.0 and 2.1).

use crate::text::{loop_keyword, offset, position, tokens};
use hardbop_report::results::{Answer, CheckResult, InvariantAt, Place, Results, StepKind, Trace};
use hardbop_report::yaml::scalar;
use std::collections::BTreeMap;
use std::fmt::Write;

/// What a witness says of its making.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin {
    /// The version of this tool.
    pub version: String,
    /// When it was made, e.g. `2026-01-31T12:00:00Z`.
    pub time: String,
    /// The program's files, with the SHA-256 of their contents.
    pub files: Vec<(String, String)>,
    /// The property, as a property file has it.
    pub specification: String,
}

/// The version of the format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Version {
    /// 2.0.
    V2_0,
    /// 2.1, which has function contracts.
    V2_1,
}

impl Version {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Version::V2_0 => "2.0",
            Version::V2_1 => "2.1",
        }
    }
}

/// The witness of results in YAML: of their first violation, else of their proof. `None` if
/// something is unknown.
pub fn yaml(results: &Results, origin: &Origin, version: Version) -> Option<String> {
    let violated = results.checks.iter().find_map(|check| match &check.answer {
        Answer::Violated(trace) if trace.leapt.is_none() => Some((check, trace)),
        _ => None,
    });
    let unknown = |check: &CheckResult| check.answer.is_open();
    let (kind, content) = match violated {
        Some((check, trace)) => ("violation_sequence", segments(results, check, trace)),
        None if results.incomplete.is_some() || results.checks.iter().any(unknown) => return None,
        None => ("invariant_set", invariants(results, version)),
    };
    let mut out = String::new();
    let _ = writeln!(out, "- entry_type: {kind}");
    metadata(&mut out, results, origin, version, &content);
    if content.is_empty() {
        out.push_str("  content: []\n");
    } else {
        out.push_str("  content:\n");
        out.push_str(&content);
    }
    Some(out)
}

fn metadata(out: &mut String, results: &Results, origin: &Origin, version: Version, content: &str) {
    let Origin {
        version: tool,
        time,
        files,
        specification,
    } = origin;
    let seed = format!("{content}{time}{specification}{files:?}");
    let _ = write!(
        out,
        "  metadata:\n    format_version: \"{}\"\n    uuid: \"{}\"\n    creation_time: \"{time}\"\n    \
         producer:\n      name: hardbop\n      version: \"{tool}\"\n    task:\n      input_files:\n",
        version.name(),
        uuid(&seed)
    );
    for (file, _) in files {
        let _ = writeln!(out, "      - {}", scalar(file));
    }
    out.push_str("      input_file_hashes:\n");
    for (file, hash) in files {
        let _ = writeln!(out, "        {}: \"{hash}\"", scalar(file));
    }
    let _ = writeln!(
        out,
        "      specification: {}\n      data_model: {}\n      language: C",
        scalar(specification),
        results.data_model.name()
    );
}

/// A UUID that depends on nothing but a text, so that equal runs give equal witnesses.
pub(crate) fn uuid(seed: &str) -> String {
    let digest = crate::read::sha256(seed.as_bytes());
    format!(
        "{}-{}-8{}-a{}-{}",
        &digest[..8],
        &digest[8..12],
        &digest[13..16],
        &digest[17..20],
        &digest[20..32]
    )
}

fn location(
    out: &mut String,
    results: &Results,
    line: u32,
    column: u32,
    source: u32,
    function: &str,
) {
    let file = results.sources.get(source as usize).map_or("", |s| &s.name);
    let _ = write!(
        out,
        "          file_name: {}\n          line: {line}\n          column: {column}\n          \
         function: {}\n",
        scalar(file),
        scalar(function)
    );
}

fn segments(results: &Results, check: &CheckResult, trace: &Trace) -> String {
    let mut out = String::new();
    for step in &trace.steps {
        let StepKind::Input(number) = step.kind else {
            continue;
        };
        let Some(input) = trace.inputs.get(number as usize) else {
            continue;
        };
        // Only numbers can be compared with `==` in every dialect of expressions.
        if input.value.parse::<i128>().is_err() {
            continue;
        }
        let Place {
            source,
            source_line,
            end_column,
            ..
        } = step.place;
        out.push_str(
            "  - segment:\n    - waypoint:\n        type: function_return\n        action: follow\n        \
             location:\n",
        );
        let function = &trace.calls[step.call as usize].function;
        let column = end_column.saturating_sub(1).max(1);
        location(&mut out, results, source_line, column, source, function);
        let _ = write!(
            out,
            "        constraint:\n          value: {}\n          format: acsl_expression\n",
            scalar(&format!("\\result == {}", input.value))
        );
    }
    out.push_str(
        "  - segment:\n    - waypoint:\n        type: target\n        action: follow\n        \
         location:\n",
    );
    let place = check.place;
    location(
        &mut out,
        results,
        place.source_line,
        place.column,
        place.source,
        &check.function,
    );
    out
}

/// A loop whose invariant can be said in C.
pub(crate) struct LoopInvariant<'r> {
    /// Where the loop's keyword stands.
    pub source: u32,
    pub line: u32,
    pub column: u32,
    pub function: &'r str,
    pub c: &'r str,
}

/// The loops with their invariants. Where two loop heads seem to have the same keyword, neither
/// is sure, and both are left out.
pub(crate) fn loops(results: &Results) -> Vec<LoopInvariant<'_>> {
    let texts: Vec<_> = results.sources.iter().map(|s| tokens(&s.text)).collect();
    let mut found: BTreeMap<(u32, usize), Vec<usize>> = BTreeMap::new();
    for (index, invariant) in results.invariants.iter().enumerate() {
        if invariant.at != InvariantAt::LoopHead {
            continue;
        }
        let place = invariant.place;
        let text = &results.sources[place.source as usize].text;
        let keyword = offset(text, place.source_line, place.column)
            .and_then(|byte| loop_keyword(text, &texts[place.source as usize], byte));
        if let Some(keyword) = keyword {
            let key = (place.source, keyword.start);
            found.entry(key).or_default().push(index);
        }
    }
    let sure = found.into_iter().filter_map(|((source, start), heads)| {
        let [index] = heads[..] else {
            return None;
        };
        let invariant = &results.invariants[index];
        let (line, column) = position(&results.sources[source as usize].text, start);
        Some(LoopInvariant {
            source,
            line,
            column,
            function: &invariant.function,
            c: invariant.c.as_deref()?,
        })
    });
    sure.collect()
}

fn invariants(results: &Results, version: Version) -> String {
    let mut out = String::new();
    for LoopInvariant {
        source,
        line,
        column,
        function,
        c,
    } in loops(results)
    {
        out.push_str("  - invariant:\n        type: loop_invariant\n        location:\n");
        location(&mut out, results, line, column, source, function);
        let _ = write!(
            out,
            "        value: {}\n        format: c_expression\n",
            scalar(c)
        );
    }
    if version == Version::V2_1 {
        contracts(&mut out, results);
    }
    out
}

fn contracts(out: &mut String, results: &Results) {
    let mut functions: BTreeMap<&str, (Place, Option<&String>, Option<&String>)> = BTreeMap::new();
    for invariant in &results.invariants {
        let entry = functions
            .entry(&invariant.function)
            .or_insert((invariant.place, None, None));
        match invariant.at {
            InvariantAt::Entry => {
                entry.0 = invariant.place;
                entry.1 = invariant.contract.as_ref();
            }
            InvariantAt::Exit => entry.2 = invariant.contract.as_ref(),
            _ => {}
        }
    }
    for (function, (place, requires, ensures)) in functions {
        let (Some(requires), Some(ensures)) = (requires, ensures) else {
            continue;
        };
        let acsl = |text: &str| {
            text.replace("old(", "\\old(")
                .replace("$return", "\\result")
        };
        out.push_str("  - invariant:\n        type: function_contract\n        location:\n");
        let (line, column) = (place.source_line, place.column);
        location(out, results, line, column, place.source, function);
        let _ = write!(
            out,
            "        requires: {}\n        ensures: {}\n        format: acsl_expression\n",
            scalar(&acsl(requires)),
            scalar(&acsl(ensures))
        );
    }
}
