//! Places: members, elements, what pointers point to, and the addresses of all of them.

use super::{Operand, Typed, Typing};
use crate::Dialect;
use crate::ast::Name;
use crate::names::suggestion;
use hardbop_cfront::dump::type_name;
use hardbop_cfront::ids::{ExprId, PlaceId, RecordId, TypeId};
use hardbop_cfront::points_to::bit_field;
use hardbop_cfront::program::{BinaryOp, ExprKind, PlaceKind, Root, VarKind};
use hardbop_cfront::types::Type;
use hardbop_diagnostics::{Diagnostic, Span};

impl Typing<'_> {
    /// The address of a place, as a pointer to a type. Its variable lives in memory from now on.
    pub(super) fn address(&mut self, place: PlaceId, to: TypeId, span: Span) -> Typed<ExprId> {
        if let Root::Variable(variable) = self.tables.program.root(place) {
            let variable = &mut self.tables.program.variables[variable.index()];
            if self.dialect == Dialect::Rule && variable.kind != VarKind::Global {
                let message = "only what outlives the call has an address in a rule";
                return Err(Diagnostic::error(span, message).label("this does not"));
            }
            variable.address_taken = true;
        }
        let ty = self.tables.program.types.pointer(to);
        Ok(self.tables.expr(ExprKind::AddressOf(place), ty))
    }

    pub(super) fn address_of(&mut self, operand: Operand, span: Span) -> Typed<ExprId> {
        match operand {
            Operand::Place(place) if bit_field(&self.tables.program, place).is_some() => {
                Err(Diagnostic::error(span, "a bit-field has no address"))
            }
            Operand::Place(place) => {
                let ty = self.tables.program.place(place).ty;
                self.address(place, ty, span)
            }
            // `&f` of a function is `f`.
            Operand::Value(value)
                if matches!(self.tables.program.expr(value).kind, ExprKind::Function(_)) =>
            {
                Ok(value)
            }
            Operand::Value(_) => Err(Diagnostic::error(
                span,
                "only what is stored has an address",
            )),
        }
    }

    /// What a pointer points to; a function is its own address.
    pub(super) fn pointee(&mut self, pointer: ExprId, span: Span) -> Typed<Operand> {
        let Type::Pointer(to) = *self.tables.type_of(pointer) else {
            let found = format!("the operand has the type `{}`", self.type_name(pointer));
            return Err(Diagnostic::error(span, "only a pointer can be followed").label(found));
        };
        match self.types().get(to) {
            Type::Void => Err(
                Diagnostic::error(span, "a pointer to `void` cannot be followed")
                    .label("convert it to another pointer first"),
            ),
            Type::Function { .. } => Ok(Operand::Value(pointer)),
            _ => Ok(Operand::Place(
                self.tables.place(PlaceKind::Deref(pointer), to),
            )),
        }
    }

    pub(super) fn element(&mut self, base: Operand, index: ExprId, span: Span) -> Typed<Operand> {
        if let Operand::Place(place) = base
            && let Type::Array { element, .. } =
                *self.types().get(self.tables.program.place(place).ty)
        {
            let wide = self.tables.program.types.intptr();
            let index = self.tables.convert(index, wide);
            let kind = PlaceKind::Index(place, index);
            return Ok(Operand::Place(self.tables.place(kind, element)));
        }
        let pointer = self.scalar(base, span)?;
        if !self.is_pointer(pointer) {
            let message = "only arrays and pointers can be indexed";
            return Err(Diagnostic::error(span, message));
        }
        let moved = self.moved(pointer, index, BinaryOp::Add);
        self.pointee(moved, span)
    }

    /// A member; those of anonymous members count as the record's own.
    pub(super) fn member(&mut self, base: Operand, member: &Name, span: Span) -> Typed<Operand> {
        let place = match base {
            Operand::Place(place) => place,
            Operand::Value(value) => return Err(no_members(&self.type_name(value), span)),
        };
        let ty = self.tables.program.place(place).ty;
        let Type::Record(record) = *self.types().get(ty) else {
            return Err(no_members(&type_name(self.types(), ty), span));
        };
        let described = self.types().record(record);
        if !described.complete {
            let message = format!("the members of `{}` are not known", described.name);
            return Err(Diagnostic::error(span, message).label("only declared in the program"));
        }
        let Some(path) = self.find_member(record, &member.text) else {
            let message = format!("`{}` has no member `{}`", described.name, member.text);
            let fields = described.fields.iter().filter_map(|f| f.name.as_deref());
            let label = match suggestion(&member.text, fields) {
                Some(known) => format!("did you mean `{known}`?"),
                None => "not there".to_owned(),
            };
            return Err(Diagnostic::error(member.span, message).label(label));
        };
        let found = path.into_iter().fold(place, |place, (position, ty)| {
            self.tables.place(PlaceKind::Field(place, position), ty)
        });
        Ok(Operand::Place(found))
    }

    /// The way to a member, through anonymous ones.
    fn find_member(&self, record: RecordId, wanted: &str) -> Option<Vec<(u32, TypeId)>> {
        let mut work = vec![(record, Vec::new())];
        while let Some((record, path)) = work.pop() {
            for (position, field) in self.types().record(record).fields.iter().enumerate() {
                let mut path: Vec<(u32, TypeId)> = path.clone();
                path.push((position as u32, field.ty));
                match (&field.name, self.types().get(field.ty)) {
                    (Some(name), _) if name == wanted => return Some(path),
                    (None, Type::Record(inner)) => work.push((*inner, path)),
                    _ => {}
                }
            }
        }
        None
    }
}

fn no_members(ty: &str, span: Span) -> Diagnostic {
    let message = format!("a value of type `{ty}` has no members");
    Diagnostic::error(span, message).label("not a struct or union")
}
