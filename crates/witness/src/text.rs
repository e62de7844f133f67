//! Just enough of C's tokens to find keywords and matching parentheses.

/// A word or a sign, by its bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Token {
    pub start: usize,
    pub end: usize,
}

/// The words and signs of a C text; comments, strings and preprocessor lines are skipped.
pub(crate) fn tokens(text: &str) -> Vec<Token> {
    let bytes = text.as_bytes();
    let mut found = Vec::new();
    let mut at = 0;
    let mut fresh_line = true;
    while at < bytes.len() {
        let byte = bytes[at];
        match byte {
            b'\n' => {
                fresh_line = true;
                at += 1;
            }
            b' ' | b'\t' | b'\r' => at += 1,
            b'#' if fresh_line => {
                while at < bytes.len() && bytes[at] != b'\n' {
                    at += if bytes[at] == b'\\' { 2 } else { 1 };
                }
            }
            b'/' if bytes.get(at + 1) == Some(&b'/') => {
                while at < bytes.len() && bytes[at] != b'\n' {
                    at += 1;
                }
            }
            b'/' if bytes.get(at + 1) == Some(&b'*') => {
                at += 2;
                while at < bytes.len() && !(bytes[at] == b'*' && bytes.get(at + 1) == Some(&b'/')) {
                    at += 1;
                }
                at += 2;
            }
            b'"' | b'\'' => {
                fresh_line = false;
                at += 1;
                while at < bytes.len() && bytes[at] != byte && bytes[at] != b'\n' {
                    at += if bytes[at] == b'\\' { 2 } else { 1 };
                }
                at += 1;
            }
            _ if byte.is_ascii_alphanumeric() || byte == b'_' => {
                fresh_line = false;
                let start = at;
                while at < bytes.len() && (bytes[at].is_ascii_alphanumeric() || bytes[at] == b'_') {
                    at += 1;
                }
                found.push(Token { start, end: at });
            }
            _ => {
                fresh_line = false;
                found.push(Token {
                    start: at,
                    end: at + 1,
                });
                at += 1;
            }
        }
    }
    found
}

/// The byte of a line and a column, both from 1; a column counts characters.
pub(crate) fn offset(text: &str, line: u32, column: u32) -> Option<usize> {
    let mut start = 0;
    for _ in 1..line {
        start += text[start..].find('\n')? + 1;
    }
    let rest = text[start..].split('\n').next()?;
    let mut columns = rest.char_indices().map(|(at, _)| at);
    match columns.nth(column as usize - 1) {
        Some(at) => Some(start + at),
        None => Some(start + rest.len()),
    }
}

/// The line and column of a byte, both from 1.
pub(crate) fn position(text: &str, byte: usize) -> (u32, u32) {
    let before = &text.as_bytes()[..byte.min(text.len())];
    let line = before.iter().filter(|&&b| b == b'\n').count();
    let start = before
        .iter()
        .rposition(|&b| b == b'\n')
        .map_or(0, |at| at + 1);
    let column = String::from_utf8_lossy(&before[start..]).chars().count();
    (line as u32 + 1, column as u32 + 1)
}

/// The keyword of the loop whose head stands at a byte: the last one before it.
pub(crate) fn loop_keyword(text: &str, tokens: &[Token], byte: usize) -> Option<Token> {
    tokens
        .iter()
        .rev()
        .find(|token| {
            token.start <= byte && matches!(&text[token.start..token.end], "while" | "for" | "do")
        })
        .copied()
}

/// The bytes of the condition that belongs to a keyword.
pub(crate) fn condition(
    text: &str,
    tokens: &[Token],
    keyword: Token,
) -> Option<std::ops::Range<usize>> {
    let at = tokens.iter().position(|token| *token == keyword)?;
    let word = |token: &Token| &text[token.start..token.end];
    let open = tokens.get(at + 1).filter(|token| word(token) == "(")?;
    let mut depth = 0;
    let mut separators = Vec::new();
    for token in &tokens[at + 1..] {
        match word(token) {
            "(" | "[" | "{" => depth += 1,
            ")" | "]" | "}" => {
                depth -= 1;
                if depth == 0 {
                    return match (word(&tokens[at]), separators.as_slice()) {
                        ("for", [first, second, ..]) => Some(*first..*second),
                        ("for", _) => None,
                        _ => Some(open.end..token.start),
                    };
                }
            }
            ";" if depth == 1 => {
                if separators.is_empty() {
                    separators.push(token.end);
                } else {
                    separators.push(token.start);
                }
            }
            _ => {}
        }
    }
    None
}

/// The bytes of the condition of a `?:` whose `?` is the token at a position.
pub(crate) fn condition_before(
    text: &str,
    tokens: &[Token],
    sign: usize,
) -> Option<std::ops::Range<usize>> {
    let word = |at: usize| &text[tokens[at].start..tokens[at].end];
    let end = tokens[sign].start;
    let mut depth = 0;
    let mut start = None;
    for at in (0..sign).rev() {
        match word(at) {
            ")" | "]" | "}" => depth += 1,
            "(" | "[" | "{" if depth > 0 => depth -= 1,
            "(" | "[" | "{" | "," | ";" | ":" | "?" | "return" if depth == 0 => break,
            "=" if depth == 0 => {
                // Not the second sign of a comparison, and not the first one.
                let before = at.checked_sub(1).map(word);
                let compared = matches!(before, Some("=" | "<" | ">" | "!")) || word(at + 1) == "=";
                if !compared {
                    break;
                }
            }
            _ => {}
        }
        start = Some(tokens[at].start);
    }
    Some(start?..end)
}

/// The bytes of the statement, or the part of a `for`, around the token at a position.
pub(crate) fn statement_around(text: &str, tokens: &[Token], at: usize) -> std::ops::Range<usize> {
    let ends = |token: &Token| matches!(&text[token.start..token.end], ";" | "{" | "}");
    let before = tokens[..at].iter().rev().find(|token| ends(token));
    let after = tokens[at..].iter().find(|token| ends(token));
    let start = before.map_or(0, |token| token.end);
    let end = after.map_or(text.len(), |token| token.start);
    start..end
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keywords_and_conditions() {
        let text = "int f(void) {\n  // while\n  for (int i = 0; i < g(3); i++) {\n    if (i > \
                    2 && \"(\")\n      x();\n  }\n}\n";
        let tokens = tokens(text);
        let body = offset(text, 5, 7).expect("it is there");
        let keyword = loop_keyword(text, &tokens, body).expect("a loop");
        assert_eq!(position(text, keyword.start), (3, 3));
        let range = condition(text, &tokens, keyword).expect("a condition");
        assert_eq!(text[range].trim(), "i < g(3)");
        let at = offset(text, 4, 5).expect("it is there");
        let keyword = tokens.iter().find(|token| token.start == at);
        let range = condition(text, &tokens, *keyword.expect("if")).expect("a condition");
        assert_eq!(&text[range], "i > 2 && \"(\"");
    }
}
