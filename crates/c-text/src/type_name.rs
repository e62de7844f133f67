//! The names of types: read, and looked up in a program.

use crate::ast::{Name, Signedness, TypeBase, TypeName, Width};
use crate::lexer::TokenKind;
use crate::parser::{Parsed, Parser};
use hardbop_cfront::edit::Tables;
use hardbop_cfront::ids::{RecordId, TypeId};
use hardbop_cfront::types::{DataModel, FloatKind, Type, Types};
use hardbop_diagnostics::Diagnostic;

/// Words that types are made of, which no expression begins with.
const TYPE_WORDS: [&str; 15] = [
    "int", "char", "short", "long", "signed", "unsigned", "_Bool", "bool", "void", "float",
    "double", "const", "volatile", "struct", "union",
];

impl Parser {
    /// Whether a type begins after so many words.
    pub(crate) fn is_type(&self, count: usize) -> bool {
        matches!(&self.ahead(count).kind, TokenKind::Word(word) if TYPE_WORDS.contains(&word.as_str()))
    }

    /// Whether a name in parentheses, with or without stars, is that of a type: there are stars, or
    /// what follows is an operand that no operator joins to it.
    pub(crate) fn is_named_type(&self) -> bool {
        let is_word = |count: usize| match &self.ahead(count).kind {
            TokenKind::Word(word) => word != "sizeof" && word != "old",
            _ => false,
        };
        if !self.is("(") || !is_word(1) {
            return false;
        }
        let mut close = 2;
        while self.is_ahead(close, "*") {
            close += 1;
        }
        if !self.is_ahead(close, ")") {
            return false;
        }
        let next = &self.ahead(close + 1).kind;
        close > 2
            || matches!(
                next,
                TokenKind::Word(_) | TokenKind::Number(_) | TokenKind::Mark("(")
            )
    }

    /// The name of a type that a `typedef` gave, with its stars.
    pub(crate) fn named_type(&mut self) -> Parsed<TypeName> {
        let base = TypeBase::Named(self.any_name("the name of a type")?);
        let mut stars = 0;
        while self.accept("*") {
            stars += 1;
        }
        Ok(TypeName { base, stars })
    }

    /// The name of a type, with its stars.
    pub fn type_name(&mut self) -> Parsed<TypeName> {
        let base = self.type_base()?;
        let mut stars = 0;
        while self.accept("*") {
            stars += 1;
        }
        Ok(TypeName { base, stars })
    }

    /// The name of a type without stars, which must stand here.
    pub fn type_base(&mut self) -> Parsed<TypeBase> {
        let mut words: Vec<String> = Vec::new();
        let mut record = None;
        while self.is_type(0)
            && let TokenKind::Word(word) = self.take().kind
        {
            match word.as_str() {
                "const" | "volatile" => {}
                "struct" | "union" => {
                    record = Some(self.any_name("the name of a struct or union")?);
                    words.push(word);
                }
                _ => words.push(word),
            }
        }
        if words.is_empty() {
            return self.unexpected("a type");
        }
        match base(&words, record) {
            Some(base) => Ok(base),
            None => {
                let message = format!("`{}` is not a type", words.join(" "));
                Err(Diagnostic::error(self.previous(), message))
            }
        }
    }
}

/// The type that words name, in whatever order.
fn base(words: &[String], record: Option<Name>) -> Option<TypeBase> {
    let count = |wanted: &str| words.iter().filter(|word| *word == wanted).count();
    let alone = |base: TypeBase| (words.len() == 1).then_some(base);
    if let Some(name) = record {
        return alone(TypeBase::Record(name));
    }
    if count("void") > 0 {
        return alone(TypeBase::Void);
    }
    if count("_Bool") + count("bool") > 0 {
        return alone(TypeBase::Bool);
    }
    if count("float") > 0 {
        return alone(TypeBase::Float);
    }
    if count("double") > 0 {
        return match (count("long"), words.len()) {
            (0, 1) => Some(TypeBase::Double),
            (1, 2) => Some(TypeBase::LongDouble),
            _ => None,
        };
    }
    let (char, short, long) = (count("char"), count("short"), count("long"));
    let both = count("unsigned") + count("signed") > 1;
    if both || count("int") > 1 || char + short + long.min(1) > 1 || long > 2 {
        return None;
    }
    let width = match (char, short, long) {
        (1, ..) => Width::Char,
        (_, 1, _) => Width::Short,
        (_, _, 1) => Width::Long,
        (_, _, 2) => Width::LongLong,
        _ => Width::Int,
    };
    let sign = match count("unsigned") {
        0 => Signedness::Signed,
        _ => Signedness::Unsigned,
    };
    Some(TypeBase::Int(width, sign))
}

/// The type of a program that a name means.
pub fn type_id(tables: &mut Tables, name: &TypeName) -> Parsed<TypeId> {
    let named = match &name.base {
        TypeBase::Named(name) => {
            let known = tables.program.words.type_named(&name.text);
            let message = format!("there is no type `{}`", name.text);
            Some(known.ok_or_else(|| Diagnostic::error(name.span, message))?)
        }
        _ => None,
    };
    let types = &mut tables.program.types;
    let base = match &name.base {
        TypeBase::Named(_) => Type::Void,
        TypeBase::Void => Type::Void,
        TypeBase::Bool => Type::Bool,
        TypeBase::Int(width, sign) => Type::Int {
            width: match (width, types.model()) {
                (Width::Char, _) => 8,
                (Width::Short, _) => 16,
                (Width::Int, _) | (Width::Long, DataModel::Ilp32) => 32,
                (Width::Long, DataModel::Lp64) | (Width::LongLong, _) => 64,
            },
            signed: *sign == Signedness::Signed,
        },
        TypeBase::Float => Type::Float(FloatKind::F32),
        TypeBase::Double => Type::Float(FloatKind::F64),
        TypeBase::LongDouble => Type::Float(FloatKind::X87),
        TypeBase::Record(tag) => Type::Record(record(types, tag)?),
    };
    let mut ty = named.unwrap_or_else(|| types.intern(base));
    for _ in 0..name.stars {
        ty = types.pointer(ty);
    }
    Ok(ty)
}

fn record(types: &Types, tag: &Name) -> Parsed<RecordId> {
    let matches = |name: &str| {
        let bare = name.strip_prefix("struct ").or(name.strip_prefix("union "));
        name == tag.text || bare == Some(tag.text.as_str())
    };
    (0..types.record_count() as u32)
        .map(RecordId)
        .find(|&id| types.record(id).complete && matches(&types.record(id).name))
        .ok_or_else(|| {
            let message = format!("there is no struct or union `{}`", tag.text);
            Diagnostic::error(tag.span, message)
        })
}
