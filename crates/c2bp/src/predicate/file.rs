//! Files of predicates.
//!
//! ```text
//! # predicates of the whole program
//! global: locked == 0, count <= limit
//! main:   x == 0
//!         *p <= x            // a line without a scope continues the one before
//! get:    $return == 0, old(n) < n
//! ```

use super::{PredicateSet, Scope};
use hardbop_c_text::Dialect;
use hardbop_c_text::ast::NodeId;
use hardbop_c_text::lexer::{TokenKind, lex};
use hardbop_c_text::names::{ProgramNames, suggestion};
use hardbop_c_text::parser::{Parsed, Parser};
use hardbop_c_text::typing::Typing;
use hardbop_diagnostics::{Diagnostic, FileId, Span};
use std::ops::Range;

/// Adds the predicates of a file.
pub(super) fn read(set: &mut PredicateSet, file: FileId, text: &str) -> Vec<Diagnostic> {
    let mut errors = Vec::new();
    let mut scope = None;
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let range = start..start + without_comment(line);
        start += line.len();
        if text[range.clone()].trim().is_empty() {
            continue;
        }
        let mut body = range.clone();
        if let Some((name, rest)) = scope_prefix(text, range) {
            body = rest;
            match find_scope(set, file, text, name) {
                Ok(found) => scope = Some(Some(found)),
                Err(error) => {
                    errors.push(error);
                    // What follows belongs to a scope that is not known: it is not judged.
                    scope = Some(None);
                }
            }
        }
        match scope {
            Some(Some(scope)) => predicates(set, file, text, scope, body, &mut errors),
            Some(None) => {}
            None => errors.push(
                Diagnostic::error(
                    span(file, &trimmed(text, body)),
                    "this predicate has no scope",
                )
                .label("write `global: ...` or `function: ...`"),
            ),
        }
    }
    errors
}

fn predicates(
    set: &mut PredicateSet,
    file: FileId,
    text: &str,
    scope: Scope,
    range: Range<usize>,
    errors: &mut Vec<Diagnostic>,
) {
    let (tokens, wrong) = lex(Dialect::Predicate, file, text, range);
    if let Some(error) = wrong.into_iter().next() {
        return errors.push(error);
    }
    let mut parser = Parser::new(Dialect::Predicate, tokens);
    loop {
        while parser.accept(",") || parser.accept(";") {}
        if parser.peek().kind == TokenKind::End {
            return;
        }
        let typed = predicate(&mut parser).and_then(|root| {
            let mut names = ProgramNames {
                scope,
                olds: &mut set.olds,
                result: None,
            };
            let mut typing = Typing {
                dialect: Dialect::Predicate,
                tables: &mut set.tables,
                names: &mut names,
            };
            typing.value(&parser.ast, root)
        });
        match typed {
            Ok(expr) => {
                set.add(scope, expr);
            }
            Err(error) => return errors.push(error),
        }
    }
}

/// One predicate: an expression up to the next comma, semicolon or the end.
fn predicate(parser: &mut Parser) -> Parsed<NodeId> {
    let root = parser.expression()?;
    match parser.peek().kind {
        TokenKind::End | TokenKind::Mark("," | ";") => Ok(root),
        _ => Err(
            Diagnostic::error(parser.peek().span, "unexpected text after the predicate")
                .label("expected an operator, `,` or the end of the line"),
        ),
    }
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'$'
}

fn span(file: FileId, range: &Range<usize>) -> Span {
    Span::new(file, range.start as u32, range.end as u32)
}

fn trimmed(text: &str, range: Range<usize>) -> Range<usize> {
    let part = &text[range.clone()];
    let start = range.start + (part.len() - part.trim_start().len());
    start..start + part.trim().len()
}

/// The length of a line without its comment. `#` after a letter or digit is part of a name.
fn without_comment(line: &str) -> usize {
    let bytes = line.as_bytes();
    let mut quoted = false;
    for (index, &byte) in bytes.iter().enumerate() {
        match byte {
            b'\'' => quoted = !quoted,
            b'/' if !quoted && bytes.get(index + 1) == Some(&b'/') => return index,
            b'#' if !quoted && (index == 0 || !is_word(bytes[index - 1])) => return index,
            _ => {}
        }
    }
    line.len()
}

/// The name before a colon at the start of a line, and what follows the colon.
fn scope_prefix(text: &str, range: Range<usize>) -> Option<(Range<usize>, Range<usize>)> {
    let range = trimmed(text, range);
    let part = &text[range.clone()];
    let length = part
        .bytes()
        .take_while(|&b| is_word(b) || b == b'#')
        .count();
    let rest = part[length..].trim_start();
    if length == 0 || !rest.starts_with(':') {
        return None;
    }
    let colon = range.end - rest.len();
    Some((range.start..range.start + length, colon + 1..range.end))
}

fn find_scope(
    set: &PredicateSet,
    file: FileId,
    text: &str,
    range: Range<usize>,
) -> Result<Scope, Diagnostic> {
    let name = &text[range.clone()];
    if let Some(function) = set.program().function_named(name) {
        return Ok(Scope::Function(function));
    }
    if name == "global" {
        return Ok(Scope::Global);
    }
    let error = Diagnostic::error(span(file, &range), format!("there is no function `{name}`"));
    let known = set
        .program()
        .functions
        .iter()
        .map(|f| f.name.as_str())
        .chain(["global"]);
    Err(match suggestion(name, known) {
        Some(known) => error.label(format!("did you mean `{known}`?")),
        None => error.label("a scope is `global` or the name of a function"),
    })
}
