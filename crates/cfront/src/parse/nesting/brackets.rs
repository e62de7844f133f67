//! Which brackets belong together, and which words mean something to C.

use rucc_base::Interner;
use rucc_lex::{PpToken, PpTokenKind, Punct};

/// The brackets of a token stream.
pub(super) struct Brackets {
    /// For each bracket that opens, where it closes; for all other tokens, the token itself.
    pub(super) close: Vec<usize>,
    /// For each bracket that closes, where it opens; for all other tokens, the token itself.
    pub(super) open: Vec<usize>,
    /// How many brackets are open at each token.
    pub(super) depth: Vec<usize>,
    pub(super) deepest: usize,
}

impl Brackets {
    /// The brackets; `None` if they do not match.
    pub(super) fn of(tokens: &[PpToken]) -> Option<Brackets> {
        let mut close: Vec<usize> = (0..tokens.len()).collect();
        let mut open = close.clone();
        let mut depth = Vec::with_capacity(tokens.len());
        let mut stack: Vec<(usize, Punct)> = Vec::new();
        let mut deepest = 0;
        for (at, token) in tokens.iter().enumerate() {
            depth.push(stack.len());
            match token.kind {
                PpTokenKind::Punct(Punct::LParen) => stack.push((at, Punct::RParen)),
                PpTokenKind::Punct(Punct::LBracket) => stack.push((at, Punct::RBracket)),
                PpTokenKind::Punct(Punct::LBrace) => stack.push((at, Punct::RBrace)),
                PpTokenKind::Punct(punct @ (Punct::RParen | Punct::RBracket | Punct::RBrace)) => {
                    let (from, expected) = stack.pop()?;
                    if punct != expected {
                        return None;
                    }
                    close[from] = at;
                    open[at] = from;
                }
                _ => {}
            }
            deepest = deepest.max(stack.len());
        }
        stack.is_empty().then_some(Brackets {
            close,
            open,
            depth,
            deepest,
        })
    }
}

/// A word of C, as far as it matters here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Word {
    /// No word.
    Nothing,
    /// A name.
    Name,
    If,
    Else,
    While,
    For,
    Do,
    Switch,
    /// `case` or `default`.
    Case,
    /// `return`, `goto`, `break` or `continue`: it begins a statement, and after it an operand.
    Jump,
    /// Any other word of the language, or one that compilers have for themselves.
    Other,
}

/// The words of a token stream.
pub(super) struct Words(Vec<Word>);

impl Words {
    pub(super) fn of(tokens: &[PpToken], names: &Interner) -> Words {
        let word = |token: &PpToken| match (token.kind, token.value) {
            (PpTokenKind::Ident, Some(value)) => meaning(names.resolve(value)),
            _ => Word::Nothing,
        };
        Words(tokens.iter().map(word).collect())
    }

    pub(super) fn at(&self, at: usize) -> Word {
        self.0.get(at).copied().unwrap_or(Word::Nothing)
    }
}

fn meaning(word: &str) -> Word {
    match word {
        "if" => Word::If,
        "else" => Word::Else,
        "while" => Word::While,
        "for" => Word::For,
        "do" => Word::Do,
        "switch" => Word::Switch,
        "case" | "default" => Word::Case,
        "return" | "goto" | "break" | "continue" => Word::Jump,
        "asm" | "auto" | "char" | "const" | "double" | "enum" | "extern" | "float" | "inline"
        | "int" | "long" | "register" | "restrict" | "short" | "signed" | "sizeof" | "static"
        | "struct" | "typedef" | "typeof" | "union" | "unsigned" | "void" | "volatile" => {
            Word::Other
        }
        // Types, attributes, functions of the compiler.
        reserved
            if reserved.starts_with("__")
                && !reserved.starts_with("__VERIFIER_")
                && !reserved.starts_with("__cil_") =>
        {
            Word::Other
        }
        reserved if is_keyword_in_capitals(reserved) => Word::Other,
        _ => Word::Name,
    }
}

/// `_Bool`, `_Generic` and their like.
fn is_keyword_in_capitals(word: &str) -> bool {
    let mut letters = word.chars();
    letters.next() == Some('_') && letters.next().is_some_and(char::is_uppercase)
}

/// The punctuator at a token.
pub(super) fn punct(tokens: &[PpToken], at: usize) -> Option<Punct> {
    match tokens.get(at)?.kind {
        PpTokenKind::Punct(punct) => Some(punct),
        _ => None,
    }
}
