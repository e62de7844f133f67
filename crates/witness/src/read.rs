//! Reads witnesses of any tool, and says what is wrong with them.

use crate::model::{
    Content, Invariant, InvariantKind, Location, Metadata, Segment, Waypoint, WaypointKind, Witness,
};
use hardbop_diagnostics::{Diagnostic, FileId, Span};
use hardbop_report::yaml::{self, Node};

/// A file of witnesses.
#[derive(Clone, Debug)]
pub struct Read {
    /// The witnesses that can be understood.
    pub witnesses: Vec<Witness>,
    /// What is wrong: errors, and warnings about what other tools may refuse.
    pub diagnostics: Vec<Diagnostic>,
}

/// Reads a file: GraphML if it begins like XML, else YAML.
pub fn read(file: FileId, text: &str) -> Read {
    if text
        .trim_start_matches('\u{feff}')
        .trim_start()
        .starts_with('<')
    {
        return crate::graphml::read(file, text);
    }
    let mut reader = Reader {
        diagnostics: Vec::new(),
        passed_over: 0,
        threads: false,
    };
    let mut witnesses = Vec::new();
    match yaml::parse(file, text) {
        Err(error) => reader.diagnostics.push(error),
        Ok(None) => reader.error(Span::new(file, 0, 0), "the witness is empty"),
        Ok(Some(root)) => match root.items() {
            Some(items) => {
                for item in items {
                    witnesses.extend(reader.entry(item));
                }
                if items.is_empty() {
                    reader.error(root.span, "the witness has no entry");
                }
            }
            None => {
                let what = format!(
                    "a witness is a list of entries, and this is {}",
                    root.describe()
                );
                reader.error(root.span, what);
            }
        },
    }
    Read {
        witnesses,
        diagnostics: reader.diagnostics,
    }
}

struct Reader {
    diagnostics: Vec<Diagnostic>,
    /// How many waypoints of the present entry say what is not followed: that they come again
    /// and again, or that several threads are somewhere at the same time.
    passed_over: usize,
    /// Whether the present entry may speak of threads (version 2.2).
    threads: bool,
}

impl Reader {
    fn error(&mut self, span: Span, message: impl Into<String>) {
        self.diagnostics
            .push(Diagnostic::error(span, message.into()));
    }

    fn warn(&mut self, span: Span, message: impl Into<String>) {
        self.diagnostics
            .push(Diagnostic::warning(span, message.into()));
    }

    /// The value of a key that must be there.
    fn need<'n>(&mut self, node: &'n Node, key: &str, of: &str) -> Option<&'n Node> {
        let found = node.get(key);
        if found.is_none() {
            self.error(node.span, format!("{of} has no `{key}`"));
        }
        found
    }

    fn text(&mut self, node: &Node, key: &str, of: &str) -> Option<String> {
        let value = self.need(node, key, of)?;
        let text = value.text().map(str::to_owned);
        if text.is_none() {
            self.error(
                value.span,
                format!("`{key}` is text, and this is {}", value.describe()),
            );
        }
        text
    }

    fn number(&mut self, node: &Node) -> Option<u32> {
        let number = node
            .text()
            .and_then(|text| text.parse().ok())
            .filter(|&n| n > 0);
        if number.is_none() {
            self.error(node.span, "expected a number from 1 on");
        }
        number
    }

    fn only(&mut self, node: &Node, keys: &[&str], of: &str) {
        for (key, _) in node.entries().unwrap_or_default() {
            let name = key.text().unwrap_or_default();
            if !keys.contains(&name) {
                self.warn(key.span, format!("{of} has no key `{name}` in this format"));
            }
        }
    }

    fn entry(&mut self, node: &Node) -> Option<Witness> {
        if node.entries().is_none() {
            self.error(
                node.span,
                format!("an entry is a mapping, and this is {}", node.describe()),
            );
            return None;
        }
        self.only(node, &["entry_type", "metadata", "content"], "an entry");
        let kind = self.text(node, "entry_type", "the entry")?;
        let metadata = self.need(node, "metadata", "the entry");
        let metadata = metadata.and_then(|node| self.metadata(node));
        let content = self.need(node, "content", "the entry")?;
        let Some(items) = content.items() else {
            self.error(
                content.span,
                format!("`content` is a list, and this is {}", content.describe()),
            );
            return None;
        };
        self.passed_over = 0;
        let version = metadata
            .as_ref()
            .map(|metadata| metadata.format_version.as_str());
        self.threads = version == Some("2.2");
        let content = match kind.as_str() {
            "violation_sequence" => Content::Violation(self.segments(items, content.span)?),
            "invariant_set" => {
                let version = metadata.as_ref().map_or("2.0", |m| &m.format_version);
                let version = version.to_owned();
                let read = |item| self.invariant(item, &version);
                Content::Correctness(items.iter().filter_map(read).collect())
            }
            "ghost_instrumentation"
            | "loop_invariant"
            | "loop_invariant_certificate"
            | "precondition_loop_invariant"
            | "location_invariant"
            | "flow_insensitive_invariant" => {
                self.warn(
                    node.span,
                    format!("entries of type `{kind}` are not looked at"),
                );
                return None;
            }
            _ => {
                let error = format!("`{kind}` is no type of entry");
                let span = node.get("entry_type").map_or(node.span, |node| node.span);
                self.diagnostics.push(
                    Diagnostic::error(span, error)
                        .label("expected `violation_sequence` or `invariant_set`"),
                );
                return None;
            }
        };
        Some(Witness {
            metadata: metadata?,
            content,
            unread: self.passed_over,
        })
    }

    fn metadata(&mut self, node: &Node) -> Option<Metadata> {
        let of = "the metadata";
        self.only(
            node,
            &[
                "format_version",
                "uuid",
                "creation_time",
                "producer",
                "task",
            ],
            of,
        );
        let format_version = self.text(node, "format_version", of)?;
        if !matches!(format_version.as_str(), "2.0" | "2.1" | "2.2") {
            let span = node
                .get("format_version")
                .map_or(node.span, |node| node.span);
            self.diagnostics.push(
                Diagnostic::error(
                    span,
                    format!("format version `{format_version}` is not known"),
                )
                .label("2.0, 2.1 and 2.2 are"),
            );
            return None;
        }
        self.uuid(node);
        self.text(node, "creation_time", of);
        let producer = match self.need(node, "producer", of) {
            Some(producer) => {
                let name = self
                    .text(producer, "name", "the producer")
                    .unwrap_or_default();
                let version = self
                    .text(producer, "version", "the producer")
                    .unwrap_or_default();
                format!("{name} {version}")
            }
            None => String::new(),
        };
        let task = self.need(node, "task", of)?;
        let of = "the task";
        let mut files = Vec::new();
        if let Some(list) = self.need(task, "input_files", of) {
            let hashes = task.get("input_file_hashes");
            if hashes.is_none() {
                self.error(task.span, "the task has no `input_file_hashes`");
            }
            for item in list.items().unwrap_or_default() {
                let name = item.text().unwrap_or_default().to_owned();
                let hash = hashes.and_then(|hashes| hashes.get(&name));
                if let Some(hash) = hash
                    && !hash.text().is_some_and(is_sha256)
                {
                    self.error(hash.span, "this is not a SHA-256 in hexadecimal");
                }
                if hash.is_none() && hashes.is_some() {
                    self.warn(item.span, format!("`{name}` has no hash"));
                }
                files.push((name, hash.and_then(Node::text).map(str::to_owned)));
            }
            if files.is_empty() {
                self.error(list.span, "`input_files` is a list of files");
            }
        }
        let specification = self.text(task, "specification", of).unwrap_or_default();
        let data_model = self.text(task, "data_model", of).unwrap_or_default();
        if !matches!(data_model.as_str(), "ILP32" | "LP64" | "") {
            let span = task.get("data_model").map_or(task.span, |node| node.span);
            self.error(span, "expected `ILP32` or `LP64`");
        }
        let language = self.text(task, "language", of);
        if language.is_some_and(|language| language != "C") {
            let span = task.get("language").map_or(task.span, |node| node.span);
            self.error(span, "only C is understood");
        }
        Some(Metadata {
            format_version,
            producer: producer.trim().to_owned(),
            files,
            specification,
            data_model,
        })
    }

    fn uuid(&mut self, node: &Node) {
        let Some(uuid) = self.text(node, "uuid", "the metadata") else {
            return;
        };
        let parts: Vec<usize> = uuid.split('-').map(str::len).collect();
        let digits = uuid.chars().all(|c| c.is_ascii_hexdigit() || c == '-');
        if parts != [8, 4, 4, 4, 12] || !digits {
            let span = node.get("uuid").map_or(node.span, |node| node.span);
            self.warn(span, "this is not a UUID");
        }
    }

    fn segments(&mut self, items: &[Node], whole: Span) -> Option<Vec<Segment>> {
        let before = self.errors();
        let mut segments = Vec::new();
        for item in items {
            let Some(list) = self.need(item, "segment", "an item of the sequence") else {
                continue;
            };
            let Some(points) = list.items() else {
                self.error(list.span, "a segment is a list of waypoints");
                continue;
            };
            segments.extend(self.segment(points, list.span));
        }
        let target = |segment: &Segment| segment.follow.kind == WaypointKind::Target;
        match segments.split_last() {
            // An execution without an end has no target.
            _ if self.passed_over > 0 => {}
            None if self.errors() == before => self.error(whole, "the sequence has no segment"),
            None => {}
            Some((last, rest)) => {
                if !target(last) {
                    self.error(last.follow.span, "the last segment must end in a `target`");
                }
                if let Some(early) = rest.iter().find(|segment| target(segment)) {
                    self.error(
                        early.follow.span,
                        "a `target` ends the sequence, but more follows",
                    );
                }
            }
        }
        (self.errors() == before).then_some(segments)
    }

    fn errors(&self) -> usize {
        self.diagnostics.iter().filter(|d| d.is_error()).count()
    }

    fn segment(&mut self, points: &[Node], whole: Span) -> Option<Segment> {
        let mut avoid = Vec::new();
        let mut follow: Option<Waypoint> = None;
        for item in points {
            let Some(node) = self.need(item, "waypoint", "an item of the segment") else {
                continue;
            };
            if let Some(earlier) = &follow {
                if self.threads {
                    // Several threads are somewhere at the same time.
                    self.passed_over += 1;
                    continue;
                }
                let span = earlier.span;
                self.error(
                    span,
                    "a `follow` waypoint must be the last one of its segment",
                );
                return None;
            }
            let action = self.text(node, "action", "the waypoint");
            let Some(point) = self.waypoint(node) else {
                continue;
            };
            match action.as_deref() {
                Some("avoid") if point.kind == WaypointKind::Target => {
                    self.error(point.span, "a `target` can only be followed");
                }
                Some("avoid") => avoid.push(point),
                Some("cycle") => {
                    self.passed_over += 1;
                    return None;
                }
                Some("follow") => follow = Some(point),
                Some(other) => {
                    let span = node.get("action").map_or(node.span, |node| node.span);
                    self.error(
                        span,
                        format!("`{other}` is no action: `follow`, `avoid` and `cycle` are"),
                    );
                }
                None => {}
            }
        }
        if follow.is_none() {
            self.error(whole, "the segment has no `follow` waypoint");
        }
        Some(Segment {
            avoid,
            follow: follow?,
        })
    }

    fn waypoint(&mut self, node: &Node) -> Option<Waypoint> {
        let of = "the waypoint";
        self.only(
            node,
            &["type", "action", "location", "constraint", "thread_id"],
            of,
        );
        let kind = self.text(node, "type", of)?;
        let span = node.get("type").map_or(node.span, |node| node.span);
        let kind = match kind.as_str() {
            "assumption" => WaypointKind::Assumption,
            "branching" => WaypointKind::Branching,
            "function_enter" => WaypointKind::FunctionEnter,
            "function_return" => WaypointKind::FunctionReturn,
            "target" => WaypointKind::Target,
            _ => {
                self.error(span, format!("`{kind}` is no type of waypoint"));
                return None;
            }
        };
        let location = self.need(node, "location", of)?;
        let location = self.location(location)?;
        let constraint = match node.get("constraint") {
            Some(constraint) => {
                self.only(constraint, &["value", "format"], "the constraint");
                if let Some(format) = constraint.get("format")
                    && !format
                        .text()
                        .is_some_and(|format| FORMATS.contains(&format))
                {
                    let known = FORMATS.map(|format| format!("`{format}`")).join(", ");
                    self.error(format.span, format!("expected one of {known}"));
                }
                Some(self.text(constraint, "value", "the constraint")?)
            }
            None => None,
        };
        match (kind, &constraint) {
            (WaypointKind::Assumption | WaypointKind::Branching, None) => {
                self.error(
                    node.span,
                    format!("a waypoint of type `{}` needs a `constraint`", kind.name()),
                );
                return None;
            }
            (WaypointKind::Target | WaypointKind::FunctionEnter, Some(_)) => {
                self.error(
                    node.span,
                    format!("a waypoint of type `{}` has no `constraint`", kind.name()),
                );
                return None;
            }
            _ => {}
        }
        Some(Waypoint {
            kind,
            location,
            constraint,
            span,
        })
    }

    fn location(&mut self, node: &Node) -> Option<Location> {
        let of = "the location";
        self.only(node, &["file_name", "line", "column", "function"], of);
        let file = self.text(node, "file_name", of)?;
        let line = self.need(node, "line", of)?;
        let line = self.number(line)?;
        let column = match node.get("column") {
            Some(column) => Some(self.number(column)?),
            None => None,
        };
        let function = node.get("function").and_then(Node::text).map(str::to_owned);
        Some(Location {
            file,
            line,
            column,
            function,
        })
    }

    fn invariant(&mut self, item: &Node, version: &str) -> Option<Invariant> {
        let node = self.need(item, "invariant", "an item of the set")?;
        let of = "the invariant";
        let kind = self.text(node, "type", of)?;
        let span = node.get("type").map_or(node.span, |node| node.span);
        let location = self.need(node, "location", of)?;
        let location = self.location(location)?;
        let format = self.text(node, "format", of)?;
        let kind = match kind.as_str() {
            "loop_invariant" => InvariantKind::Loop,
            "location_invariant" => InvariantKind::Location,
            "function_contract" if version != "2.0" => InvariantKind::Contract,
            "loop_transition_invariant" | "transition_loop_invariant" if version != "2.0" => {
                self.warn(span, "transition invariants are not looked at");
                return None;
            }
            _ => {
                self.error(
                    span,
                    format!("`{kind}` is no type of invariant in version {version}"),
                );
                return None;
            }
        };
        if !FORMATS.contains(&format.as_str()) {
            let span = node.get("format").map_or(node.span, |node| node.span);
            self.error(span, format!("`{format}` is no format of an expression"));
        }
        let (value, ensures) = match kind {
            InvariantKind::Contract => {
                let value = self.text(node, "requires", of)?;
                (value, Some(self.text(node, "ensures", of)?))
            }
            _ => (self.text(node, "value", of)?, None),
        };
        Some(Invariant {
            kind,
            location,
            value,
            ensures,
            span,
        })
    }
}

/// The formats of expressions.
const FORMATS: [&str; 3] = ["c_expression", "ext_c_expression", "acsl_expression"];

fn is_sha256(text: &str) -> bool {
    text.len() == 64 && text.chars().all(|c| c.is_ascii_hexdigit())
}

/// Compares a witness with the files that it is about. Gives warnings: a witness may still say
/// something true of another file.
pub fn compare(witness: &Witness, whole: Span, files: &[(String, String)]) -> Vec<Diagnostic> {
    let base = |name: &str| name.rsplit('/').next().unwrap_or(name).to_owned();
    let mut found = Vec::new();
    for (name, hash) in &witness.metadata.files {
        let known = files.iter().find(|(file, _)| base(file) == base(name));
        match (known, hash) {
            (None, _) => found.push(Diagnostic::warning(
                whole,
                format!("the witness is about `{name}`, which is not one of the program's files"),
            )),
            (Some((file, actual)), Some(hash)) if !hash.eq_ignore_ascii_case(actual) => {
                found.push(Diagnostic::warning(
                    whole,
                    format!("`{file}` is not the file that the witness is about: its hash differs"),
                ));
            }
            _ => {}
        }
    }
    found
}

/// The SHA-256 of a file's contents, in hexadecimal.
pub fn sha256(bytes: &[u8]) -> String {
    use sha2::{Digest, Sha256};
    let digest = Sha256::digest(bytes);
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}
