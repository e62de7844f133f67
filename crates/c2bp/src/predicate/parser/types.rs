//! The names of types, in casts and in `sizeof`.

use super::super::lexer::{Kind, Token};
use super::{Operand, Parser, Result};
use hardbop_cfront::ids::{RecordId, TypeId};
use hardbop_cfront::program::ExprKind;
use hardbop_cfront::types::{FloatKind, Type};
use hardbop_diagnostics::{Diagnostic, Span};

impl Parser<'_> {
    pub(super) fn size_of(&mut self) -> Result<Operand> {
        let ty = if matches!(self.peek().kind, Kind::Sign("("))
            && let Some(end) = self.type_at(self.at + 1)
        {
            let ty = self.parse_type(self.at + 1)?;
            self.at = end;
            self.expect(")")?;
            ty
        } else {
            match self.prefix()? {
                Operand::Value(value) => self.ty(value),
                Operand::Place(place) => self.set.program.place(place).ty,
            }
        };
        let size = self.types().size_of(ty);
        let width = self.types().model().pointer_size() as u32 * 8;
        let ty = self.set.program.types.int(width, false);
        Ok(Operand::Value(
            self.add(ExprKind::Int(u128::from(size)), ty),
        ))
    }

    /// If a type stands at a position: where it ends.
    pub(super) fn type_at(&self, start: usize) -> Option<usize> {
        let mut at = start;
        let mut words = 0;
        while let Some(Token {
            kind: Kind::Name(name),
            ..
        }) = self.tokens.get(at)
        {
            match name.as_str() {
                "struct" | "union" => at += 2,
                "void" | "char" | "short" | "int" | "long" | "signed" | "unsigned" | "_Bool"
                | "float" | "double" | "const" | "volatile" => at += 1,
                _ => break,
            }
            words += 1;
        }
        while matches!(
            self.tokens.get(at),
            Some(Token {
                kind: Kind::Sign("*"),
                ..
            })
        ) {
            at += 1;
        }
        let closed = matches!(
            self.tokens.get(at),
            Some(Token {
                kind: Kind::Sign(")"),
                ..
            })
        );
        (words > 0 && closed).then_some(at)
    }

    /// The type at a position where [`Parser::type_at`] found one.
    pub(super) fn parse_type(&mut self, start: usize) -> Result<TypeId> {
        let mut at = start;
        let mut words: Vec<String> = Vec::new();
        let mut record = None;
        while let Some(Token {
            kind: Kind::Name(name),
            ..
        }) = self.tokens.get(at)
        {
            at += 1;
            match name.as_str() {
                "const" | "volatile" => {}
                "struct" | "union" => {
                    let span = self.tokens[at.min(self.tokens.len() - 1)].span;
                    let Some(Token {
                        kind: Kind::Name(tag),
                        ..
                    }) = self.tokens.get(at)
                    else {
                        return Err(Diagnostic::error(
                            span,
                            "expected the name of a struct or union",
                        ));
                    };
                    at += 1;
                    record = Some(self.record(tag, span)?);
                }
                _ => words.push(name.clone()),
            }
        }
        let types = &mut self.set.program.types;
        let has = |word: &str| words.iter().any(|w| w == word);
        let long = if types.model().pointer_size() == 8 {
            64
        } else {
            32
        };
        let longs = words.iter().filter(|w| *w == "long").count();
        let ty = if let Some(record) = record {
            Type::Record(record)
        } else if has("void") {
            Type::Void
        } else if has("_Bool") {
            Type::Bool
        } else if has("float") {
            Type::Float(FloatKind::F32)
        } else if has("double") {
            Type::Float(if longs > 0 {
                FloatKind::X87
            } else {
                FloatKind::F64
            })
        } else {
            let width = if has("char") {
                8
            } else if has("short") {
                16
            } else if longs > 1 {
                64
            } else if longs == 1 {
                long
            } else {
                32
            };
            Type::Int {
                width,
                signed: !has("unsigned"),
            }
        };
        let mut ty = types.intern(ty);
        while matches!(
            self.tokens.get(at),
            Some(Token {
                kind: Kind::Sign("*"),
                ..
            })
        ) {
            ty = types.pointer(ty);
            at += 1;
        }
        Ok(ty)
    }

    fn record(&self, tag: &str, span: Span) -> Result<RecordId> {
        let types = self.types();
        let matches = |name: &str| {
            name == tag || name.strip_prefix("struct ").or(name.strip_prefix("union ")) == Some(tag)
        };
        (0..types.record_count() as u32)
            .map(RecordId)
            .find(|&id| types.record(id).complete && matches(&types.record(id).name))
            .ok_or_else(|| Diagnostic::error(span, format!("there is no struct or union `{tag}`")))
    }
}
