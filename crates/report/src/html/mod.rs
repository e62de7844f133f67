//! A page that shows results in a browser: one file, no network, alive where scripts may run.

mod boolean;
pub(crate) mod graph;
mod plot;

use crate::results::{Answer, Binding, CheckResult, InvariantAt, Results, Role, RuleRun, Trace};
use crate::rows::{Detail, Row, changes, rows};
use crate::xml::escaped;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::fmt::Write;

const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");

/// Longer runs are shown only by what matters.
const MOST_ROWS: usize = 5_000;

/// The page.
pub fn html(results: &Results, title: &str, version: &str) -> String {
    let mut out = String::new();
    let title = escaped(title);
    let _ = write!(
        out,
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src \
         'unsafe-inline'; script-src 'unsafe-inline'; img-src data:\">\n<title>{title}</title>\n\
         <link rel=\"icon\" href=\"data:,\">\n<style>\n{STYLE}</style>\n</head>\n<body>\n\
         <header><h1>{title}</h1>\n<p class=\"soft\">hardbop {}</p></header>\n<main>\n",
        escaped(version)
    );
    contents(&mut out, results);
    let first = results.checks.iter().position(is_violated);
    for (index, check) in results.checks.iter().enumerate() {
        let id = if first == Some(index) {
            "trace".to_owned()
        } else {
            format!("trace-{index}")
        };
        section(&mut out, results, check, index, &id);
    }
    proof(&mut out, results);
    boolean::programs(&mut out, results);
    search(&mut out, results);
    if !results.assumptions.is_empty() {
        out.push_str("<section aria-labelledby=\"assumptions\"><h2 id=\"assumptions\">What this rests on</h2>\n<ul>\n");
        for assumption in &results.assumptions {
            let _ = writeln!(out, "<li>{}</li>", escaped(assumption));
        }
        out.push_str("</ul></section>\n");
    }
    let _ = write!(
        out,
        "</main>\n<script>\n{SCRIPT}</script>\n</body>\n</html>\n"
    );
    out
}

fn is_violated(check: &CheckResult) -> bool {
    matches!(check.answer, Answer::Violated(_))
}

fn contents(out: &mut String, results: &Results) {
    let rules = results.checks.iter().any(|check| check.rule.is_some());
    let rule_head = if rules {
        "<th scope=\"col\">Rule</th>"
    } else {
        ""
    };
    let count = |word: &str| {
        let answers = results.checks.iter().map(|check| check.answer.word());
        answers.filter(|&answer| answer == word).count()
    };
    let counts: Vec<String> = ["VIOLATED", "UNKNOWN", "BOUNDED", "PROVED"]
        .into_iter()
        .filter(|word| count(word) > 0)
        .map(|word| format!("<span class=\"{word}\">{} {word}</span>", count(word)))
        .collect();
    let _ = writeln!(out, "<p id=\"summary\">{}</p>", counts.join(", "));
    let _ = write!(
        out,
        "<nav id=\"contents\" aria-label=\"Contents\"><div class=\"wide\"><table>\n<thead><tr><th \
         scope=\"col\">Answer</th><th scope=\"col\">Check</th>{rule_head}<th \
         scope=\"col\">Where</th></tr></thead>\n<tbody>\n",
    );
    for (index, check) in results.checks.iter().enumerate() {
        let word = check.answer.word();
        let (file, line) = results.shown(check.place);
        let _ = writeln!(
            out,
            "<tr><td class=\"{word}\">{word}</td><td><a href=\"#check-{index}\">{}</a></td>{}<td \
             class=\"code\">{}:{line} in {}</td></tr>",
            escaped(&check.message),
            rule_cell(check.rule.as_deref(), rules),
            escaped(file),
            escaped(&check.function)
        );
    }
    out.push_str("</tbody></table></div>\n");
    links(out, results);
    out.push_str("</nav>\n");
    if results.checks.is_empty() {
        out.push_str("<p>There is nothing to check: no assertion and no error call.</p>\n");
    }
    if let Some(reason) = &results.incomplete {
        let _ = writeln!(
            out,
            "<p><span class=\"UNKNOWN\">UNKNOWN</span> whether all executions were seen, because {}.</p>",
            escaped(reason)
        );
    }
}

/// The cell of a table that has a column for rules only if there are any.
fn rule_cell(rule: Option<&str>, rules: bool) -> String {
    match (rule, rules) {
        (Some(rule), _) => format!("<td>{}</td>", escaped(rule)),
        (None, true) => "<td></td>".to_owned(),
        (None, false) => String::new(),
    }
}

/// Links to the parts of the page that are about all checks.
fn links(out: &mut String, results: &Results) {
    let boolean = !results.boolean_programs.is_empty();
    let rests = !results.assumptions.is_empty();
    let parts = [
        (has_proof(results), "proof", "Proof"),
        (boolean, "boolean-program", "Boolean program"),
        (!results.predicates.is_empty(), "predicates", "Predicates"),
        (has_search(results), "search", "The search"),
        (rests, "assumptions", "What this rests on"),
    ];
    let links: Vec<String> = parts
        .into_iter()
        .filter(|(there, ..)| *there)
        .map(|(_, id, title)| format!("<a href=\"#{id}\">{title}</a>"))
        .collect();
    if !links.is_empty() {
        let _ = writeln!(out, "<p>{}</p>", links.join(" · "));
    }
}

fn has_proof(results: &Results) -> bool {
    !results.evidence.is_empty() || !results.invariants.is_empty()
}

fn has_search(results: &Results) -> bool {
    !results.statistics.is_empty() || !results.rounds.is_empty()
}

fn section(out: &mut String, results: &Results, check: &CheckResult, index: usize, id: &str) {
    let word = check.answer.word();
    let (file, line) = results.shown(check.place);
    let _ = writeln!(
        out,
        "<section aria-labelledby=\"check-{index}\">\n<h2 id=\"check-{index}\"><span \
         class=\"{word}\">{word}</span> {}{} <span class=\"soft code\">{}:{line} in {}</span></h2>",
        escaped(&check.message),
        escaped(&check.proviso()),
        escaped(file),
        escaped(&check.function)
    );
    match &check.answer {
        Answer::Proved => {
            out.push_str("<p>No execution violates this check");
            if has_proof(results) {
                out.push_str("; the proof is <a href=\"#proof\">below</a>");
            }
            out.push_str(".</p>\n");
        }
        Answer::Bounded(bounded) => {
            let (words, reason) = (bounded.words(), escaped(&bounded.reason));
            let _ = writeln!(
                out,
                "<p>It is not proved: {words}; of other executions nothing is known, because {reason}.</p>"
            );
        }
        Answer::Unknown(reason) => {
            let _ = writeln!(out, "<p>It is not known, because {}.</p>", escaped(reason));
        }
        Answer::Violated(trace) => player(out, results, check, trace, id),
    }
    out.push_str("</section>\n");
}

fn player(out: &mut String, results: &Results, check: &CheckResult, trace: &Trace, id: &str) {
    let relevant = rows(results, trace, &check.message, Detail::Relevant);
    let full = rows(results, trace, &check.message, Detail::Full);
    let all = full.len() <= MOST_ROWS;
    let path: BTreeSet<(u32, u32)> = full.iter().filter_map(place).collect();
    let mut data = json!({
        "relevant": relevant.iter().map(|row| json_row(results, row)).collect::<Vec<_>>(),
        "calls": trace.calls.iter().map(|call| json!({ "f": call.function, "p": call.parent })).collect::<Vec<_>>(),
    });
    if let Some(rule) = &trace.rule {
        data["rule"] = json!({ "variables": rule.variables, "states": rule.states });
    }
    if all {
        data["full"] = full.iter().map(|row| json_row(results, row)).collect();
    }
    let data = data.to_string().replace('<', "\\u003c");
    let _ = writeln!(out, "<div class=\"player\" id=\"{id}\">");
    out.push_str(
        "<div class=\"bar\" role=\"group\" aria-label=\"Step through the run\">\n\
         <button type=\"button\" class=\"first\" aria-label=\"First step\">|◀</button>\n\
         <button type=\"button\" class=\"back\" aria-label=\"Step back\">◀ Back</button>\n\
         <button type=\"button\" class=\"next\" aria-label=\"Step forward\">Next ▶</button>\n\
         <button type=\"button\" class=\"last\" aria-label=\"Last step\">▶|</button>\n\
         <input type=\"range\" class=\"slider\" min=\"0\" max=\"0\" value=\"0\" aria-label=\"Step\">\n",
    );
    if all {
        out.push_str("<label><input type=\"checkbox\" class=\"whole\"> all steps</label>\n");
    }
    out.push_str("<span class=\"soft\">← → step, Home and End jump</span>\n</div>\n<div>\n");
    sources(out, results, &path);
    out.push_str("</div>\n<div>\n<p class=\"said\" aria-live=\"polite\"></p>\n<h3>Path</h3>\n<ol class=\"steps code\" tabindex=\"0\" aria-label=\"Path\">\n");
    // Without scripts, the path is a plain list.
    let mut state = 0;
    for row in &relevant {
        match row {
            Row::Fold { text, .. } => {
                let _ = writeln!(out, "<li class=\"fold\">{}</li>", escaped(text));
            }
            Row::Line(line) => {
                let rule = trace.rule.iter();
                let changed: Vec<String> = rule
                    .flat_map(|rule| changes(rule, state, line.state))
                    .map(|(name, value)| format!("{name} = {value}"))
                    .collect();
                state = line.state;
                let _ = writeln!(
                    out,
                    "<li><span class=\"state\">{}</span>{}  {}  <span class=\"values\">{}</span></li>",
                    escaped(&changed.join(", ")),
                    line.place.line,
                    escaped(&line.text),
                    escaped(&line.values_text())
                );
            }
        }
    }
    out.push_str(
        "</ol>\n<h3>Values in this call</h3>\n<table><thead><tr><th scope=\"col\">Name</th><th \
         scope=\"col\">Value</th></tr></thead><tbody class=\"values-now\"></tbody></table>\n\
         <h3>Call stack, innermost first</h3>\n<ol class=\"stack-now code\"></ol>\n",
    );
    if let Some(run) = &trace.rule {
        rule(out, run);
    }
    if !trace.object.is_empty() {
        let lines = escaped(&trace.object.join("\n"));
        let _ = writeln!(
            out,
            "<h3>Object</h3>\n<pre class=\"object code\">{lines}</pre>"
        );
    }
    if !trace.inputs.is_empty() {
        out.push_str("<h3>Inputs</h3>\n<table><tbody>\n");
        for input in trace.inputs.iter().take(MOST_ROWS) {
            let _ = writeln!(
                out,
                "<tr><td class=\"code\">{}:{}</td><td class=\"code\">{}()</td><td class=\"code\">{}</td></tr>",
                escaped(&input.file),
                input.line,
                escaped(&input.function),
                escaped(&input.value)
            );
        }
        out.push_str("</tbody></table>\n");
    }
    out.push_str("</div>\n");
    graph::graphs(out, results, trace);
    let _ = writeln!(
        out,
        "<script type=\"application/json\">{data}</script>\n</div>"
    );
}

/// The rule beside the run: what it watches, and its state at each step.
fn rule(out: &mut String, run: &RuleRun) {
    let _ = writeln!(out, "<h3>Rule {}</h3>", escaped(&run.rule));
    if !run.objects.is_empty() {
        let objects: Vec<String> = run
            .objects
            .iter()
            .map(|watched| {
                let name = watched.name.as_ref().map(|name| format!("{name} is "));
                let name = escaped(&name.unwrap_or_default());
                format!("{name}<code>{}</code>", escaped(&watched.object))
            })
            .collect();
        let _ = writeln!(
            out,
            "<p class=\"watched\">It watches {}.</p>",
            objects.join(", ")
        );
    }
    out.push_str(
        "<table><thead><tr><th scope=\"col\">State</th><th scope=\"col\">Value</th></tr></thead><tbody \
         class=\"rule-now\">",
    );
    for (name, value) in run
        .variables
        .iter()
        .zip(run.states.first().into_iter().flatten())
    {
        let _ = write!(
            out,
            "<tr><td class=\"code\">{}</td><td class=\"code\">{}</td></tr>",
            escaped(name),
            escaped(value)
        );
    }
    out.push_str("</tbody></table>\n");
}

fn place(row: &Row) -> Option<(u32, u32)> {
    match row {
        Row::Line(line) => Some((line.place.source, line.place.source_line)),
        Row::Fold { .. } => None,
    }
}

fn json_row(results: &Results, row: &Row) -> Value {
    match row {
        Row::Fold { depth, text } => json!({ "fold": text, "d": depth }),
        Row::Line(line) => {
            let value = |binding: &Binding| {
                let passed = binding.role == Role::Passed;
                json!([binding.name, binding.value, passed])
            };
            let values: Vec<Value> = line.values.iter().map(value).collect();
            let (file, number) = results.shown(line.place);
            json!({
                "s": line.place.source,
                "l": line.place.source_line,
                "n": number,
                "f": file,
                "d": line.depth,
                "c": line.call,
                "t": line.text,
                "v": values,
                "x": line.violation,
                "r": line.state,
            })
        }
    }
}

/// The texts that the path goes through.
fn sources(out: &mut String, results: &Results, path: &BTreeSet<(u32, u32)>) {
    let touched: BTreeSet<u32> = path.iter().map(|&(source, _)| source).collect();
    for source in touched {
        let Some(text) = results.sources.get(source as usize) else {
            continue;
        };
        let name = escaped(&text.name);
        let _ = write!(
            out,
            "<div data-source=\"{source}\"><h3 class=\"code\">{name}</h3><div class=\"source\" \
             tabindex=\"0\" role=\"region\" aria-label=\"Source of {name}\"><pre>"
        );
        for (index, line) in text.text.lines().enumerate() {
            let on_path = path.contains(&(source, index as u32 + 1));
            let class = if on_path { "row path" } else { "row" };
            let shown = if line.is_empty() { " " } else { line };
            let _ = write!(out, "<span class=\"{class}\">{}</span>", escaped(shown));
        }
        out.push_str("</pre></div></div>\n");
    }
}

fn proof(out: &mut String, results: &Results) {
    let shown = |at: InvariantAt| match at {
        InvariantAt::LoopHead => Some("loop invariant"),
        InvariantAt::Entry => Some("requires"),
        InvariantAt::Exit => Some("ensures"),
        InvariantAt::Inside => None,
    };
    let invariants: Vec<_> = results
        .invariants
        .iter()
        .filter_map(|invariant| Some((invariant, shown(invariant.at)?)))
        .collect();
    if !has_proof(results) {
        return;
    }
    out.push_str("<section aria-labelledby=\"proof\"><h2 id=\"proof\">Proof</h2>\n");
    if !results.evidence.is_empty() {
        out.push_str("<h3 id=\"certificate\">Certificate</h3>\n<ul>\n");
        for evidence in &results.evidence {
            let _ = writeln!(out, "<li>{}</li>", escaped(evidence));
        }
        out.push_str("</ul>\n");
    }
    if invariants.is_empty() {
        out.push_str("</section>\n");
        return;
    }
    let rules = invariants
        .iter()
        .any(|(invariant, _)| invariant.rule.is_some());
    let rule_head = if rules {
        "<th scope=\"col\">Rule</th>"
    } else {
        ""
    };
    let _ = write!(
        out,
        "<p>Each of these was checked again, block by block, in the exact arithmetic of the machine.</p>\n<div \
         class=\"wide\"><table><thead><tr><th scope=\"col\">Where</th><th \
         scope=\"col\">Function</th>{rule_head}<th scope=\"col\">What</th><th \
         scope=\"col\">Formula</th></tr></thead><tbody>\n",
    );
    for (invariant, what) in invariants {
        let (file, line) = results.shown(invariant.place);
        let formula = invariant.contract.as_ref().unwrap_or(&invariant.formula);
        let _ = writeln!(
            out,
            "<tr><td class=\"code\">{}:{line}</td><td class=\"code\">{}</td>{}<td>{what}</td><td \
             class=\"code\">{}</td></tr>",
            escaped(file),
            escaped(&invariant.function),
            rule_cell(invariant.rule.as_deref(), rules),
            escaped(formula)
        );
    }
    out.push_str("</tbody></table></div></section>\n");
}

fn search(out: &mut String, results: &Results) {
    if !results.predicates.is_empty() {
        out.push_str("<section aria-labelledby=\"predicates\"><h2 id=\"predicates\">Predicates</h2>\n<div class=\"wide\"><table><tbody>\n");
        for predicate in &results.predicates {
            let scope = predicate.function.as_deref().unwrap_or("global");
            let _ = writeln!(
                out,
                "<tr><td class=\"code\">{}</td><td class=\"code\">{}</td></tr>",
                escaped(scope),
                escaped(&predicate.formula)
            );
        }
        out.push_str("</tbody></table></div></section>\n");
    }
    if !has_search(results) {
        return;
    }
    out.push_str("<section aria-labelledby=\"search\"><h2 id=\"search\">The search</h2>\n<ul>\n");
    for figure in &results.statistics {
        let _ = writeln!(out, "<li>{}</li>", escaped(&figure.text));
    }
    out.push_str("</ul>\n");
    plot::plots(out, results);
    out.push_str("</section>\n");
}
