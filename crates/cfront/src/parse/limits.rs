//! What is refused before the parser sees it: binary files, and nesting that no stack can hold.


use super::decode::decode;
use super::texts::Texts;
use hardbop_diagnostics::{Diagnostic, Span};
use rucc_lex::{PpToken, PpTokenKind, Punct};

/// The most dimensions of an array, or subscripts in a row: each costs the type checker time that
/// grows with all before it.
const MOST_DIMENSIONS: usize = 1000;

/// The most bytes of one file.
const MOST_BYTES: usize = 1 << 30;

/// Why the bytes of a file cannot be C, as a message and the offset that it is about.
fn refusal(bytes: &[u8]) -> Option<(String, usize)> {
    if bytes.len() > MOST_BYTES {
        return Some((
            format!("the file has {} bytes; at most 1 GiB is read", bytes.len()),
            0,
        ));
    }
    let zero = bytes.iter().position(|&b| b == 0)?;
    Some((
        "this is not a C file: it contains a zero byte".to_owned(),
        zero,
    ))
}

/// The diagnostic for bytes that cannot be C.
pub(super) fn check(name: &str, bytes: &[u8], texts: &mut Texts) -> Option<Diagnostic> {
    let (message, offset) = refusal(bytes)?;
    let shown = &bytes[..bytes.len().min(1 << 16)];
    let decoded = decode(shown);
    let at = decoded.offset(offset.min(shown.len()) as u32);
    let file = texts.sources.add(name, decoded.text);
    Some(Diagnostic::error(Span::new(file, at, at), message))
}

/// Where more subscripts follow each other than can be handled, if anywhere.
pub(super) fn too_many_subscripts(tokens: &[PpToken]) -> Option<rucc_diag::Diagnostic> {
    let mut row = 0;
    for pair in tokens.windows(2) {
        match (pair[0].kind, pair[1].kind) {
            (PpTokenKind::Punct(Punct::RBracket), PpTokenKind::Punct(Punct::LBracket)) => row += 1,
            (PpTokenKind::Punct(Punct::Semi | Punct::LBrace | Punct::RBrace), _) => row = 0,
            _ => {}
        }
        if row > MOST_DIMENSIONS {
            let message = format!("more than {MOST_DIMENSIONS} subscripts follow each other");
            return Some(rucc_diag::Diagnostic::error(message, pair[1].span));
        }
    }
    None
}
