//! What gcc accepts and the type checker does not, repaired in the token stream.
//!
//! Old code calls functions before it defines them, with another type than C then guesses;
//! declares objects of a type that it completes later; puts too many braces around numbers. gcc
//! warns and goes on. Each repair changes tokens into what gcc takes them for, and the unit is
//! read again.

use rucc_base::Interner;
use rucc_diag::Diagnostic;
use rucc_lex::{PpToken, PpTokenKind, Punct, TokenFlags};
use std::collections::{BTreeMap, BTreeSet};

/// The codes of the diagnostics that can be repaired.
const CONFLICTING_TYPES: &str = "E0586";
const STORAGE_SIZE: &str = "E0601";
const UNDEFINED_LABEL: &str = "E0629";
const SCALAR_BRACES: &str = "E0636";
const STRING_FOR_ARRAY: &str = "E0638";

/// The pragmas that mean something to the parser; gcc ignores those that it does not know, and
/// they may stand in the middle of an expression.
const PRAGMAS: [&str; 6] = [
    "pack",
    "weak",
    "redefine_extname",
    "GCC",
    "ms_struct",
    "STDC",
];

/// Takes out what is ignored, and writes types that have another name.
pub(super) fn tidy(tokens: Vec<PpToken>, names: &mut Interner) -> Vec<PpToken> {
    let pragma = names.find("pragma");
    let float80 = names.find("__float80");
    if pragma.is_none() && float80.is_none() {
        return tokens;
    }
    let long_double = ["long", "double"].map(|word| names.intern(word));
    let known: BTreeSet<_> = PRAGMAS.iter().filter_map(|name| names.find(name)).collect();
    let mut out = Vec::with_capacity(tokens.len());
    let mut skipping = false;
    for (index, &token) in tokens.iter().enumerate() {
        let starts = token.flags.has(TokenFlags::START_OF_LINE) || token.is_eof();
        skipping &= !starts;
        if starts && is_punct(&token, Punct::Hash) && pragma.is_some() {
            let word = tokens.get(index + 1).and_then(|t| t.value);
            let what = tokens.get(index + 2).and_then(|t| t.value);
            skipping = word == pragma && !what.is_some_and(|what| known.contains(&what));
        }
        if skipping {
            continue;
        }
        if float80.is_some() && token.kind == PpTokenKind::Ident && token.value == float80 {
            out.extend(long_double.map(|value| PpToken {
                value: Some(value),
                ..token
            }));
            continue;
        }
        out.push(token);
    }
    out
}

/// Whether a diagnostic is one that gcc does not give.
pub(super) fn is_harmless(of: &Diagnostic, tokens: &[PpToken], names: &Interner) -> bool {
    // A label that is declared by `__label__` and not used.
    of.code == Some(UNDEFINED_LABEL)
        && tokens.iter().any(|t| {
            t.span.lo == of.span.lo && t.value.is_some_and(|v| names.resolve(v) == "__label__")
        })
}

/// The tokens with all repairs that the errors call for; `None` if some error has no repair.
pub(super) fn repair(
    tokens: &[PpToken],
    errors: &[&Diagnostic],
    names: &mut Interner,
) -> Option<Vec<PpToken>> {
    let mut edits = Edits::default();
    let declarations = Declarations::find(tokens);
    for error in errors {
        let at = tokens.iter().position(|t| t.span.lo == error.span.lo)?;
        match error.code {
            Some(CONFLICTING_TYPES) => forward(tokens, &declarations, error, names, &mut edits)?,
            Some(STORAGE_SIZE) => postpone(tokens, &declarations, at, names, &mut edits)?,
            Some(SCALAR_BRACES) => {
                let close = matching(tokens, at, Punct::LBrace, Punct::RBrace)?;
                edits.removed.extend([at, close]);
            }
            Some(STRING_FOR_ARRAY) => {
                if tokens[at].kind != PpTokenKind::StringLit {
                    return None;
                }
                let mut end = at;
                while tokens
                    .get(end + 1)
                    .is_some_and(|t| t.kind == PpTokenKind::StringLit)
                {
                    end += 1;
                }
                edits.insert(at, [punct(&tokens[at], Punct::LBrace)]);
                edits.insert(end + 1, [punct(&tokens[at], Punct::RBrace)]);
            }
            _ => return None,
        }
    }
    Some(edits.apply(tokens))
}

/// Changes to a token stream.
#[derive(Default)]
pub(super) struct Edits {
    pub(super) removed: BTreeSet<usize>,
    inserted: BTreeMap<usize, Vec<PpToken>>,
    /// Goes before the end of the file.
    appended: Vec<PpToken>,
}

impl Edits {
    pub(super) fn insert(&mut self, before: usize, tokens: impl IntoIterator<Item = PpToken>) {
        self.inserted.entry(before).or_default().extend(tokens);
    }

    pub(super) fn apply(mut self, tokens: &[PpToken]) -> Vec<PpToken> {
        let mut out = Vec::with_capacity(tokens.len() + 16);
        for (index, &token) in tokens.iter().enumerate() {
            if token.is_eof() {
                out.append(&mut self.appended);
            }
            if let Some(inserted) = self.inserted.remove(&index) {
                out.extend(inserted);
            }
            if !self.removed.contains(&index) {
                out.push(token);
            }
        }
        out.append(&mut self.appended);
        out
    }
}

/// Where the declarations outside of functions start.
struct Declarations {
    starts: Vec<usize>,
    /// Whether a token stands inside of braces.
    inside: Vec<bool>,
}

impl Declarations {
    fn find(tokens: &[PpToken]) -> Declarations {
        let mut starts = vec![0];
        let mut inside = Vec::with_capacity(tokens.len());
        let mut depth = 0usize;
        for (index, token) in tokens.iter().enumerate() {
            inside.push(depth > 0);
            match token.kind {
                PpTokenKind::Punct(Punct::LBrace | Punct::LParen) => depth += 1,
                PpTokenKind::Punct(Punct::RBrace) => {
                    depth = depth.saturating_sub(1);
                    // After a function's body a new declaration starts; after a struct's, an
                    // initialiser's or an enum's comes a name, a comma or a semicolon.
                    let next = tokens.get(index + 1);
                    let goes_on = next.is_some_and(|t| {
                        matches!(
                            t.kind,
                            PpTokenKind::Punct(Punct::Semi | Punct::Comma | Punct::Star)
                        )
                    });
                    if depth == 0 && !goes_on && is_body(tokens, index) {
                        starts.push(index + 1);
                    }
                }
                PpTokenKind::Punct(Punct::RParen) => depth = depth.saturating_sub(1),
                PpTokenKind::Punct(Punct::Semi) if depth == 0 => starts.push(index + 1),
                _ => {}
            }
        }
        Declarations { starts, inside }
    }

    fn start_of(&self, token: usize) -> usize {
        let after = self.starts.partition_point(|&start| start <= token);
        self.starts[after - 1]
    }
}

/// Whether the braces that close at a token are a function's body: what opens them follows a
/// parenthesis, or the `;` of an old-style parameter.
fn is_body(tokens: &[PpToken], close: usize) -> bool {
    let mut depth = 0usize;
    for index in (0..=close).rev() {
        match tokens[index].kind {
            PpTokenKind::Punct(Punct::RBrace) => depth += 1,
            PpTokenKind::Punct(Punct::LBrace) => {
                depth -= 1;
                if depth == 0 {
                    return index > 0
                        && (is_punct(&tokens[index - 1], Punct::RParen)
                            || is_punct(&tokens[index - 1], Punct::Semi));
                }
            }
            _ => {}
        }
    }
    false
}

/// Declares a function before it is first called: the definition's head, in front of the
/// function that holds the call.
fn forward(
    tokens: &[PpToken],
    declarations: &Declarations,
    error: &Diagnostic,
    names: &Interner,
    edits: &mut Edits,
) -> Option<()> {
    let previous = error.children.first()?;
    let call = tokens.iter().position(|t| t.span.lo == previous.span.lo)?;
    if !declarations.inside[call] {
        return None;
    }
    let name = tokens.iter().position(|t| {
        t.span.lo == error.span.lo
            && t.kind == PpTokenKind::Ident
            && t.value
                .is_some_and(|v| error.message.contains(&format!("'{}'", names.resolve(v))))
    })?;
    let start = declarations.start_of(name);
    let open = (name + 1..tokens.len()).find(|&i| is_punct(&tokens[i], Punct::LParen))?;
    let close = matching(tokens, open, Punct::LParen, Punct::RParen)?;
    let before = declarations.start_of(call);
    if start <= before
        || tokens[start..close]
            .iter()
            .any(|t| is_punct(t, Punct::LBrace))
    {
        return None;
    }
    edits.insert(before, tokens[start..=close].iter().copied());
    edits.insert(before, [punct(&tokens[close], Punct::Semi)]);
    Some(())
}

/// Moves a definition whose type is not complete yet to the end of the unit.
fn postpone(
    tokens: &[PpToken],
    declarations: &Declarations,
    at: usize,
    names: &mut Interner,
    edits: &mut Edits,
) -> Option<()> {
    if declarations.inside[at] {
        return None;
    }
    let start = declarations.start_of(at);
    let end = (at..tokens.len()).find(|&i| is_punct(&tokens[i], Punct::Semi))?;
    let text = &tokens[start..=end];
    let plain = |t: &PpToken| {
        t.kind == PpTokenKind::Ident
            || is_punct(t, Punct::Semi)
            || is_punct(t, Punct::Comma)
            || is_punct(t, Punct::Star)
    };
    let is_extern = |t: &PpToken| {
        t.value
            .is_some_and(|v| matches!(names.resolve(v), "extern" | "static"))
    };
    if !text.iter().all(plain) || text.iter().any(is_extern) {
        return None;
    }
    let word = PpToken {
        kind: PpTokenKind::Ident,
        value: Some(names.intern("extern")),
        ..tokens[start]
    };
    edits.insert(start, [word]);
    edits.appended.extend(text);
    Some(())
}

fn matching(tokens: &[PpToken], open: usize, left: Punct, right: Punct) -> Option<usize> {
    if !is_punct(&tokens[open], left) {
        return None;
    }
    let mut depth = 0usize;
    for (index, token) in tokens.iter().enumerate().skip(open) {
        if is_punct(token, left) {
            depth += 1;
        } else if is_punct(token, right) {
            depth -= 1;
            if depth == 0 {
                return Some(index);
            }
        }
    }
    None
}

fn is_punct(token: &PpToken, punct: Punct) -> bool {
    token.kind == PpTokenKind::Punct(punct)
}

/// A punctuator in the place of another token.
pub(super) fn punct(like: &PpToken, punct: Punct) -> PpToken {
    PpToken {
        kind: PpTokenKind::Punct(punct),
        value: None,
        flags: TokenFlags::EMPTY,
        ..*like
    }
}
