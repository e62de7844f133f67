//! What is refused before the parser sees it: binary files, and nesting that no stack can hold.

use super::decode::decode;
use super::texts::Texts;
use hardbop_diagnostics::{Diagnostic, Span};
use rucc_base::Interner;
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

/// The first record, if any, that the type checker does not lay out as gcc does: a bit-field with
/// an alignment of its own, or `packed` where `#pragma pack` is in force. A wrong layout would be
/// a wrong answer, so such a unit is refused.
pub(super) fn unfaithful_layout(
    tokens: &[PpToken],
    names: &Interner,
) -> Option<rucc_diag::Diagnostic> {
    let word = |index: usize| {
        tokens
            .get(index)
            .and_then(|token| token.value)
            .map_or("", |value| names.resolve(value))
    };
    let is = |index: usize, punct: Punct| {
        tokens
            .get(index)
            .is_some_and(|token| token.kind == PpTokenKind::Punct(punct))
    };
    // Whether the attribute that holds this word stands at a record and not at a member.
    let of_record = |index: usize| {
        let attribute = (index.saturating_sub(16)..index)
            .rev()
            .find(|&i| matches!(word(i), "__attribute__" | "__attribute"));
        attribute.is_some_and(|at| {
            let before = at.saturating_sub(1);
            is(before, Punct::RBrace) || matches!(word(before), "struct" | "union")
        })
    };
    let mut packs = 0_u32;
    for (index, token) in tokens.iter().enumerate() {
        if is(index, Punct::Hash) && word(index + 1) == "pragma" && word(index + 2) == "pack" {
            // `pack(push, n)` and `pack(n)` begin it, `pack(pop)` and `pack()` end it.
            packs = match word(index + 4) {
                "push" => packs + 1,
                "pop" => packs.saturating_sub(1),
                _ if is(index + 4, Punct::RParen) => 0,
                _ => packs.max(1),
            };
        }
        let said = match word(index) {
            "packed" | "__packed__" if packs > 0 && of_record(index) => {
                "`packed` under `#pragma pack`"
            }
            "__attribute__" | "__attribute"
                if index >= 2
                    && is(index - 2, Punct::Colon)
                    && tokens[index - 1].kind == PpTokenKind::Number
                    && matches!(word(index + 3), "aligned" | "__aligned__") =>
            {
                "a bit-field with an alignment of its own"
            }
            _ => continue,
        };
        let message = format!("{said} is not supported: its layout is not known to be gcc's");
        return Some(rucc_diag::Diagnostic::error(message, token.span));
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_not_too_large() {
        let bytes = vec![0; MOST_BYTES + 1];
        let (message, offset) = refusal(&bytes).expect("it is refused");
        assert_eq!(
            message,
            "the file has 1073741825 bytes; at most 1 GiB is read"
        );
        assert_eq!(offset, 0);
    }
}
