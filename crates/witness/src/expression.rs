//! The expressions of a witness as expressions of the program.

use crate::weave::Weaver;
use hardbop_c_text::Dialect;
use hardbop_c_text::lexer::{TokenKind, lex};
use hardbop_c_text::names::{ProgramNames, Scope};
use hardbop_c_text::parser::{Parsed, Parser};
use hardbop_c_text::typing::Typing;
use hardbop_cfront::ids::{ExprId, FuncId, PlaceId};
use hardbop_diagnostics::{FileId, Span};

impl Weaver {
    /// An expression of a witness, at a place in a function.
    pub(crate) fn expression(
        &mut self,
        function: FuncId,
        text: &str,
        span: Span,
    ) -> Option<ExprId> {
        self.expression_with(function, None, text, span)
    }

    /// An expression of a witness, at a place in a function where something has just been
    /// returned to a place.
    pub(crate) fn expression_with(
        &mut self,
        function: FuncId,
        result: Option<PlaceId>,
        text: &str,
        span: Span,
    ) -> Option<ExprId> {
        let key = (function, result, text.to_owned());
        if let Some(known) = self.parsed.get(&key) {
            return *known;
        }
        let olds = self.olds.len();
        let found = match self.typed(function, result, text) {
            Ok(expr) => Some(expr),
            Err(error) => {
                self.olds.truncate(olds);
                let message = format!("`{text}` is not understood: {}", error.message);
                self.note(span, message);
                None
            }
        };
        self.parsed.insert(key, found);
        found
    }

    fn typed(&mut self, function: FuncId, result: Option<PlaceId>, text: &str) -> Parsed<ExprId> {
        // What is wrong is told at the witness' own place, so that of the text does not matter.
        let (tokens, wrong) = lex(Dialect::Witness, FileId(0), text, 0..text.len());
        if let Some(error) = wrong.into_iter().next() {
            return Err(error);
        }
        let mut parser = Parser::new(Dialect::Witness, tokens);
        let root = parser.expression()?;
        if parser.peek().kind != TokenKind::End {
            return parser.unexpected("an operator or the end");
        }
        let mut names = ProgramNames {
            scope: Scope::Function(function),
            olds: &mut self.olds,
            result,
        };
        let mut typing = Typing {
            dialect: Dialect::Witness,
            tables: &mut self.tables,
            names: &mut names,
        };
        typing.value(&parser.ast, root)
    }
}
