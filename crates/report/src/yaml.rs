//! YAML as a tree with places: scalars stay text, so that what they mean is the reader's choice.

use hardbop_diagnostics::{Diagnostic, FileId, Span};
use saphyr_parser::{Event, Parser};

/// A node of a document.
#[derive(Clone, Debug)]
pub struct Node {
    /// What it is.
    pub data: Data,
    /// Where it stands.
    pub span: Span,
}

/// What a node is.
#[derive(Clone, Debug)]
pub enum Data {
    /// Text, without its quotes.
    Scalar(String),
    /// A list.
    List(Vec<Node>),
    /// Keys with values, in their order.
    Map(Vec<(Node, Node)>),
}

/// The most nodes of a document.
const MOST_NODES: usize = 1_000_000;
/// The deepest nesting.
const DEEPEST: usize = 100;

impl Node {
    /// The text of a scalar.
    pub fn text(&self) -> Option<&str> {
        match &self.data {
            Data::Scalar(text) => Some(text),
            _ => None,
        }
    }

    /// The items of a list.
    pub fn items(&self) -> Option<&[Node]> {
        match &self.data {
            Data::List(items) => Some(items),
            _ => None,
        }
    }

    /// The entries of a map.
    pub fn entries(&self) -> Option<&[(Node, Node)]> {
        match &self.data {
            Data::Map(entries) => Some(entries),
            _ => None,
        }
    }

    /// The value of a key.
    pub fn get(&self, key: &str) -> Option<&Node> {
        let entries = self.entries()?;
        let found = entries.iter().find(|(name, _)| name.text() == Some(key));
        found.map(|(_, value)| value)
    }

    /// What it is, for messages.
    pub fn describe(&self) -> &'static str {
        match &self.data {
            Data::Scalar(_) => "a value",
            Data::List(_) => "a list",
            Data::Map(_) => "a mapping",
        }
    }
}

/// Reads the first document of a text; `None` if it is empty.
pub fn parse(file: FileId, text: &str) -> Result<Option<Node>, Diagnostic> {
    let bytes = Bytes::new(text);
    let mut stack: Vec<Open> = Vec::new();
    let mut count = 0;
    for event in Parser::new_from_str(text) {
        let (event, place) = event.map_err(|error| {
            let at = bytes.offset(error.marker().index());
            Diagnostic::error(
                Span::new(file, at, at),
                format!("this is not YAML: {}", error.info()),
            )
        })?;
        let span = Span::new(
            file,
            bytes.offset(place.start.index()),
            bytes.offset(place.end.index()),
        );
        count += 1;
        if count > MOST_NODES || stack.len() > DEEPEST {
            return Err(Diagnostic::error(span, "the document is too large"));
        }
        let data = match event {
            Event::Scalar(value, ..) => Data::Scalar(value.into_owned()),
            Event::SequenceStart(..) => {
                stack.push(Open::List(span, Vec::new()));
                continue;
            }
            Event::MappingStart(..) => {
                stack.push(Open::Map(span, Vec::new(), None));
                continue;
            }
            Event::SequenceEnd | Event::MappingEnd => match stack.pop() {
                Some(Open::List(start, items)) => {
                    let node = Node {
                        data: Data::List(items),
                        span: start,
                    };
                    match place_in(&mut stack, node) {
                        Some(root) => return Ok(Some(root)),
                        None => continue,
                    }
                }
                Some(Open::Map(start, entries, _)) => {
                    let node = Node {
                        data: Data::Map(entries),
                        span: start,
                    };
                    match place_in(&mut stack, node) {
                        Some(root) => return Ok(Some(root)),
                        None => continue,
                    }
                }
                None => continue,
            },
            Event::Alias(_) => {
                return Err(Diagnostic::error(span, "aliases are not understood"));
            }
            _ => continue,
        };
        if let Some(root) = place_in(&mut stack, Node { data, span }) {
            return Ok(Some(root));
        }
    }
    Ok(None)
}

enum Open {
    List(Span, Vec<Node>),
    Map(Span, Vec<(Node, Node)>, Option<Node>),
}

/// Puts a finished node where it belongs; gives it back if it is the whole document.
fn place_in(stack: &mut [Open], node: Node) -> Option<Node> {
    match stack.last_mut() {
        None => return Some(node),
        Some(Open::List(_, items)) => items.push(node),
        Some(Open::Map(_, entries, key)) => match key.take() {
            None => *key = Some(node),
            Some(key) => entries.push((key, node)),
        },
    }
    None
}

/// From counted characters to bytes.
struct Bytes {
    /// The byte of every character, unless all characters are bytes.
    starts: Option<Vec<u32>>,
    length: u32,
}

impl Bytes {
    fn new(text: &str) -> Bytes {
        let starts =
            (!text.is_ascii()).then(|| text.char_indices().map(|(at, _)| at as u32).collect());
        Bytes {
            starts,
            length: text.len() as u32,
        }
    }

    fn offset(&self, character: usize) -> u32 {
        match &self.starts {
            Some(starts) => starts.get(character).copied().unwrap_or(self.length),
            None => (character as u32).min(self.length),
        }
    }
}

/// A text as a YAML scalar: plain where that reads back as the same text, else in quotes.
pub fn scalar(text: &str) -> String {
    let plain = !text.is_empty()
        && text
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '/' | '.' | '-'))
        && text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_' || c == '/')
        && !matches!(
            text.to_ascii_lowercase().as_str(),
            "true" | "false" | "null" | "yes" | "no" | "on" | "off" | "y" | "n"
        );
    if plain {
        return text.to_owned();
    }
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            c if (c as u32) < 0x20 || c as u32 == 0x7f => {
                out.push_str(&format!("\\x{:02x}", c as u32));
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use hardbop_diagnostics::Sources;

    #[test]
    fn scalars_read_back() {
        for text in [
            "a",
            "true",
            "x > 1 && y == \"a\\n\"",
            "",
            "- a",
            "é: {",
            "1",
        ] {
            let mut sources = Sources::new();
            let file = sources.add("x.yml", format!("- {}\n", scalar(text)));
            let node = parse(file, sources.text(file)).expect("it is YAML");
            let node = node.expect("it is not empty");
            assert_eq!(node.items().expect("a list")[0].text(), Some(text));
        }
    }

    #[test]
    fn what_is_no_tree_is_refused() {
        for text in ["a: [", "a: &x 1\nb: *x\n", &"[".repeat(500)] {
            let mut sources = Sources::new();
            let file = sources.add("x.yml", text);
            assert!(parse(file, text).is_err(), "{text}");
        }
    }
}
