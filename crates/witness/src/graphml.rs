//! Witnesses in GraphML (version 1.0): an automaton whose edges follow the lines of a run.

use crate::model::{
    Content, Invariant, InvariantKind, Location, Metadata, Segment, Waypoint, WaypointKind, Witness,
};
use crate::read::Read;
use crate::write::{Origin, loops};
use hardbop_diagnostics::{Diagnostic, FileId, Span};
use hardbop_report::results::{Answer, Results, StepKind, Trace};
use hardbop_report::xml::escaped;
use roxmltree::{Document, Node};
use std::collections::BTreeMap;
use std::fmt::Write;

/// The keys of the format: name, what has it, its type.
const KEYS: &[(&str, &str, &str)] = &[
    ("witness-type", "graph", "string"),
    ("sourcecodelang", "graph", "string"),
    ("producer", "graph", "string"),
    ("specification", "graph", "string"),
    ("programfile", "graph", "string"),
    ("programhash", "graph", "string"),
    ("architecture", "graph", "string"),
    ("creationtime", "graph", "string"),
    ("entry", "node", "boolean"),
    ("violation", "node", "boolean"),
    ("sink", "node", "boolean"),
    ("invariant", "node", "string"),
    ("invariant.scope", "node", "string"),
    ("assumption", "edge", "string"),
    ("assumption.scope", "edge", "string"),
    ("assumption.resultfunction", "edge", "string"),
    ("control", "edge", "string"),
    ("startline", "edge", "int"),
    ("endline", "edge", "int"),
    ("startoffset", "edge", "int"),
    ("endoffset", "edge", "int"),
    ("enterLoopHead", "edge", "boolean"),
    ("enterFunction", "edge", "string"),
    ("returnFromFunction", "edge", "string"),
];

/// The witness of results in GraphML: of their first violation, else of their proof. `None` if
/// something is unknown.
pub fn write(results: &Results, origin: &Origin) -> Option<String> {
    let violated = results.checks.iter().find_map(|check| match &check.answer {
        Answer::Violated(trace) if trace.leapt.is_none() => Some(trace),
        _ => None,
    });
    let open =
        results.incomplete.is_some() || results.checks.iter().any(|check| check.answer.is_open());
    let kind = match violated {
        Some(_) => "violation_witness",
        None if open => return None,
        None => "correctness_witness",
    };
    let mut out = String::from(
        "<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"no\"?>\n\
         <graphml xmlns=\"http://graphml.graphdrawing.org/xmlns\" \
         xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\">\n",
    );
    for (name, of, ty) in KEYS {
        let _ = writeln!(
            out,
            " <key id=\"{name}\" attr.name=\"{name}\" attr.type=\"{ty}\" for=\"{of}\"/>"
        );
    }
    out.push_str(" <graph edgedefault=\"directed\">\n");
    let (file, hash) = origin.files.first().cloned().unwrap_or_default();
    let bits = format!("{}bit", results.data_model.bits());
    for (key, value) in [
        ("witness-type", kind),
        ("sourcecodelang", "C"),
        ("producer", &format!("hardbop {}", origin.version)),
        ("specification", &origin.specification),
        ("programfile", &file),
        ("programhash", &hash),
        ("architecture", &bits),
        ("creationtime", &origin.time),
    ] {
        data(&mut out, 2, key, value);
    }
    match violated {
        Some(trace) => path(&mut out, trace),
        None => invariants(&mut out, results),
    }
    out.push_str(" </graph>\n</graphml>\n");
    Some(out)
}

fn data(out: &mut String, depth: usize, key: &str, value: &str) {
    let indent = " ".repeat(depth);
    let _ = writeln!(out, "{indent}<data key=\"{key}\">{}</data>", escaped(value));
}

fn path(out: &mut String, trace: &Trace) {
    out.push_str("  <node id=\"N0\">\n");
    data(out, 3, "entry", "true");
    out.push_str("  </node>\n");
    let mut node = 0;
    let last = trace.steps.len().saturating_sub(1);
    for (index, step) in trace.steps.iter().enumerate() {
        let mut facts: Vec<(&str, String)> = Vec::new();
        let function = &trace.calls[step.call as usize].function;
        match step.kind {
            StepKind::Call(callee) => {
                let callee = &trace.calls[callee as usize].function;
                facts.push(("enterFunction", callee.clone()));
            }
            StepKind::Return => facts.push(("returnFromFunction", function.clone())),
            StepKind::Input(number) => {
                if let Some(input) = trace.inputs.get(number as usize)
                    && input.value.parse::<i128>().is_ok()
                {
                    facts.push(("assumption", format!("\\result == {};", input.value)));
                    facts.push(("assumption.resultfunction", input.function.clone()));
                    facts.push(("assumption.scope", function.clone()));
                }
            }
            // What was decided by the inputs follows from them.
            StepKind::Branch { .. }
            | StepKind::Statement
            | StepKind::ClosedCall
            | StepKind::Violation => {}
        }
        if facts.is_empty() && index != last {
            continue;
        }
        let next = node + 1;
        let _ = writeln!(out, "  <node id=\"N{next}\">");
        if index == last {
            data(out, 3, "violation", "true");
        }
        out.push_str("  </node>\n");
        let _ = writeln!(out, "  <edge source=\"N{node}\" target=\"N{next}\">");
        let line = step.place.source_line.to_string();
        data(out, 3, "startline", &line);
        data(out, 3, "endline", &line);
        for (key, value) in facts {
            data(out, 3, key, &value);
        }
        out.push_str("  </edge>\n");
        node = next;
    }
}

fn invariants(out: &mut String, results: &Results) {
    out.push_str("  <node id=\"N0\">\n");
    data(out, 3, "entry", "true");
    out.push_str("  </node>\n");
    for (index, invariant) in loops(results).iter().enumerate() {
        let node = index + 1;
        let _ = writeln!(out, "  <node id=\"N{node}\">");
        data(out, 3, "invariant", invariant.c);
        data(out, 3, "invariant.scope", invariant.function);
        out.push_str("  </node>\n");
        let _ = writeln!(out, "  <edge source=\"N0\" target=\"N{node}\">");
        data(out, 3, "enterLoopHead", "true");
        let line = invariant.line.to_string();
        data(out, 3, "startline", &line);
        data(out, 3, "endline", &line);
        out.push_str("  </edge>\n");
    }
}

/// Reads a witness. Of a violation automaton the way to the violation is kept, up to where it
/// branches; edges that say nothing that can be followed are passed over.
pub(crate) fn read(file: FileId, text: &str) -> Read {
    let whole = Span::new(file, 0, 0);
    let mut diagnostics = Vec::new();
    let document = match Document::parse(text) {
        Ok(document) => document,
        Err(error) => {
            let at = error.pos();
            let byte = crate::text::offset(text, at.row, at.col).unwrap_or(0) as u32;
            let span = Span::new(file, byte, byte);
            let error = Diagnostic::error(span, format!("this is not XML: {error}"));
            return Read {
                witnesses: Vec::new(),
                diagnostics: vec![error],
            };
        }
    };
    let span = |node: Node<'_, '_>| {
        let range = node.range();
        let line = text[range.start..].find('\n').unwrap_or(0);
        Span::new(
            file,
            range.start as u32,
            (range.start + line).min(range.end) as u32,
        )
    };
    let graph = document.descendants().find(|node| {
        node.has_tag_name(("http://graphml.graphdrawing.org/xmlns", "graph"))
            || node.tag_name().name() == "graph"
    });
    let Some(graph) = graph else {
        diagnostics.push(Diagnostic::error(whole, "the witness has no `graph`"));
        return Read {
            witnesses: Vec::new(),
            diagnostics,
        };
    };
    let facts = |node: Node<'_, '_>| -> BTreeMap<String, String> {
        node.children()
            .filter(|child| child.tag_name().name() == "data")
            .filter_map(|child| {
                let key = child.attribute("key")?.to_owned();
                Some((key, child.text().unwrap_or_default().trim().to_owned()))
            })
            .collect()
    };
    let of_graph = facts(graph);
    let mut need = |key: &str| {
        let value = of_graph.get(key).cloned();
        if value.is_none() {
            diagnostics.push(Diagnostic::error(
                span(graph),
                format!("the graph has no `{key}`"),
            ));
        }
        value.unwrap_or_default()
    };
    let kind = need("witness-type");
    let language = need("sourcecodelang");
    let program = need("programfile");
    let metadata = Metadata {
        format_version: "1.0".to_owned(),
        producer: need("producer"),
        files: vec![(
            program.clone(),
            Some(need("programhash")).filter(|hash| hash.len() == 64),
        )],
        specification: need("specification"),
        data_model: match need("architecture").as_str() {
            "32bit" => "ILP32".to_owned(),
            _ => "LP64".to_owned(),
        },
    };
    if language != "C" && !language.is_empty() {
        diagnostics.push(Diagnostic::error(span(graph), "only C is understood"));
    }
    let automaton = Automaton::new(graph, &facts, &span, &mut diagnostics);
    let content = match kind.as_str() {
        "violation_witness" => automaton
            .way(&program, whole, &mut diagnostics)
            .map(Content::Violation),
        "correctness_witness" => Some(Content::Correctness(automaton.invariants(&program))),
        "" => None,
        other => {
            let message = format!("`{other}` is no type of witness");
            diagnostics.push(Diagnostic::error(span(graph), message));
            None
        }
    };
    let unread = match kind.as_str() {
        "violation_witness" => automaton.unread(),
        _ => 0,
    };
    let witnesses = content.map(|content| Witness {
        metadata,
        content,
        unread,
    });
    Read {
        witnesses: witnesses.into_iter().collect(),
        diagnostics,
    }
}

type Facts = BTreeMap<String, String>;

struct Automaton {
    nodes: BTreeMap<String, Facts>,
    edges: Vec<(String, String, Facts, Span)>,
    entry: Option<String>,
    /// Whether the way through it was lost.
    lost: std::cell::Cell<bool>,
}

impl Automaton {
    fn new<'d>(
        graph: Node<'d, 'd>,
        facts: &dyn Fn(Node<'_, '_>) -> Facts,
        span: &dyn Fn(Node<'_, '_>) -> Span,
        diagnostics: &mut Vec<Diagnostic>,
    ) -> Automaton {
        let mut automaton = Automaton {
            nodes: BTreeMap::new(),
            edges: Vec::new(),
            entry: None,
            lost: std::cell::Cell::new(false),
        };
        for child in graph.children() {
            match child.tag_name().name() {
                "node" => {
                    let Some(id) = child.attribute("id") else {
                        diagnostics.push(Diagnostic::error(span(child), "the node has no `id`"));
                        continue;
                    };
                    let data = facts(child);
                    if data.get("entry").is_some_and(|value| value == "true") {
                        automaton.entry = Some(id.to_owned());
                    }
                    automaton.nodes.insert(id.to_owned(), data);
                }
                "edge" => match (child.attribute("source"), child.attribute("target")) {
                    (Some(from), Some(to)) => automaton.edges.push((
                        from.to_owned(),
                        to.to_owned(),
                        facts(child),
                        span(child),
                    )),
                    _ => diagnostics.push(Diagnostic::error(
                        span(child),
                        "the edge has no `source` or no `target`",
                    )),
                },
                _ => {}
            }
        }
        for (from, to, _, at) in &automaton.edges {
            for end in [from, to] {
                if !automaton.nodes.contains_key(end) {
                    let message = format!("there is no node `{end}`");
                    diagnostics.push(Diagnostic::error(*at, message));
                }
            }
        }
        if automaton.entry.is_none() {
            diagnostics.push(Diagnostic::error(span(graph), "no node is the `entry`"));
        }
        automaton
    }

    fn is(&self, node: &str, key: &str) -> bool {
        self.nodes
            .get(node)
            .and_then(|data| data.get(key))
            .is_some_and(|value| value == "true")
    }

    fn way(
        &self,
        program: &str,
        whole: Span,
        diagnostics: &mut Vec<Diagnostic>,
    ) -> Option<Vec<Segment>> {
        let mut at = self.entry.clone()?;
        let mut segments = Vec::new();
        let mut seen = std::collections::BTreeSet::new();
        let mut last = None;
        while !self.is(&at, "violation") {
            if !seen.insert(at.clone()) {
                let what = "the automaton has a loop: from there on it is not followed";
                diagnostics.push(Diagnostic::warning(whole, what));
                self.lost.set(true);
                return Some(segments);
            }
            let next: Vec<&(String, String, Facts, Span)> = self
                .edges
                .iter()
                .filter(|(from, to, ..)| *from == at && !self.is(to, "sink") && *to != at)
                .collect();
            let [(_, to, data, span)] = next[..] else {
                if next.is_empty() {
                    let what =
                        format!("from node `{at}` the automaton does not lead to a violation");
                    diagnostics.push(Diagnostic::error(whole, what));
                    return None;
                }
                let what = format!(
                    "the automaton branches at node `{at}`: from there on it is not followed"
                );
                diagnostics.push(Diagnostic::warning(whole, what));
                self.lost.set(true);
                return Some(segments);
            };
            last = Some((data.clone(), *span));
            segments.extend(crate::graphml::segments(program, data, *span));
            at.clone_from(to);
        }
        let (data, span) = last.unwrap_or((Facts::new(), whole));
        if let Some(line) = data.get("startline").and_then(|line| line.parse().ok()) {
            segments.push(Segment {
                avoid: Vec::new(),
                follow: Waypoint {
                    kind: WaypointKind::Target,
                    location: Location {
                        file: program.to_owned(),
                        line,
                        column: None,
                        function: None,
                    },
                    constraint: None,
                    span,
                },
            });
        }
        Some(segments)
    }

    /// How many edges say something that is not followed.
    fn unread(&self) -> usize {
        let passed_over = |data: &Facts| {
            let says = data.contains_key("control") || data.contains_key("assumption");
            says && !data.contains_key("startline")
        };
        let edges = self.edges.iter();
        let passed_over =
            edges.filter(|(_, to, data, _)| !self.is(to, "sink") && passed_over(data));
        passed_over.count() + usize::from(self.lost.get())
    }

    fn invariants(&self, program: &str) -> Vec<Invariant> {
        let mut found = Vec::new();
        for (_, to, data, span) in &self.edges {
            let Some(value) = self.nodes.get(to).and_then(|node| node.get("invariant")) else {
                continue;
            };
            let Some(line) = data.get("startline").and_then(|line| line.parse().ok()) else {
                continue;
            };
            if data.get("enterLoopHead").map(String::as_str) != Some("true") {
                continue;
            }
            found.push(Invariant {
                kind: InvariantKind::Loop,
                location: Location {
                    file: program.to_owned(),
                    line,
                    column: None,
                    function: None,
                },
                value: value.clone(),
                ensures: None,
                span: *span,
            });
        }
        found
    }
}

/// What an edge says that can be followed: which way a condition goes, what a function returns,
/// what holds afterwards.
fn segments(program: &str, data: &Facts, span: Span) -> Vec<Segment> {
    let Some(line) = data.get("startline").and_then(|line| line.parse().ok()) else {
        return Vec::new();
    };
    let segment = |kind: WaypointKind, constraint: String| Segment {
        avoid: Vec::new(),
        follow: Waypoint {
            kind,
            location: Location {
                file: program.to_owned(),
                line,
                column: None,
                function: None,
            },
            constraint: Some(constraint),
            span,
        },
    };
    let mut found = Vec::new();
    match data.get("control").map(String::as_str) {
        Some("condition-true") => found.push(segment(WaypointKind::Branching, "true".to_owned())),
        Some("condition-false") => {
            found.push(segment(WaypointKind::Branching, "false".to_owned()));
        }
        _ => {}
    }
    if let Some(assumption) = data.get("assumption") {
        let parts: Vec<String> = assumption
            .split(';')
            .map(str::trim)
            .filter(|part| !part.is_empty())
            .map(|part| format!("({part})"))
            .collect();
        let whole = parts.join(" && ");
        let kind = if whole.contains("\\result") {
            WaypointKind::FunctionReturn
        } else {
            WaypointKind::After
        };
        if !parts.is_empty() {
            found.push(segment(kind, whole));
        }
    }
    found
}
