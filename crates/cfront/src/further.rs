//! In come functions with `...` and calls of them; out they come with their further arguments in
//! memory, where everybody understands them.
//!
//! The caller keeps the further arguments in an object of its own, two words each: one that says of
//! what kind it is, and its value, or where that lies if it is no word. Behind the last one stands a
//! kind of nothing. The address of the object it leaves in a variable that the text does not have. A function that asks for them takes the address when it is entered,
//! before anything else can be called. So a `va_list` is a pointer into the caller's object, and
//! `va_arg` reads what it points to and moves it. One that asks for more than was passed, or for
//! something else, is found out.

use crate::builder::{Body, Builder, DraftEdge};
use crate::ids::{ExprId, FuncId, PlaceId, TypeId, VarId};
use crate::program::*;
use crate::types::{DataModel, Type, Variadic};

/// The name of the variable in which the address is passed.
const PASSED: &str = "further#";

/// How many words each argument takes.
pub(crate) const WORDS: u64 = 2;

impl Builder {
    /// Passes further arguments to the functions that ask for them.
    pub(crate) fn pass_further(&mut self) {
        let Some(first) = self.functions.iter().find(|f| f.further.is_some()) else {
            return;
        };
        let word = self.types.intptr();
        let pointer = self.types.pointer(word);
        let passed = self.add_variable(Variable {
            name: PASSED.to_owned(),
            ty: pointer,
            kind: VarKind::Global,
            address_taken: false,
            source: first.source,
            initial: Initial::Data(Vec::new()),
            read_only: false,
            align: 1,
        });
        for index in 0..self.functions.len() {
            let Some(mut body) = self.functions[index].body.take() else {
                continue;
            };
            let id = FuncId(index as u32);
            for at in 0..body.edges.len() {
                self.pass_at_call(id, &mut body, at, passed);
            }
            if let Some(taken) = self.functions[index].further {
                match self.functions[index].name == self.options.entry {
                    true => self.refuse_lists(&mut body, taken),
                    false => self.take_at_entry(&mut body, taken, passed),
                }
            }
            self.functions[index].body = Some(body);
        }
    }

    /// A function that asks for further arguments begins by taking their address.
    fn take_at_entry(&mut self, body: &mut Body, taken: VarId, passed: VarId) {
        let source = self.variables[taken.index()].source;
        let old = body.entry;
        body.entry = body.location(LocationKind::Plain);
        let from = self.var_place(passed);
        let value = self.load(from);
        let place = self.var_place(taken);
        body.edge(body.entry, old, Op::Assign { place, value }, source);
    }

    /// Nobody in the program passes further arguments to the function that it begins with.
    fn refuse_lists(&mut self, body: &mut Body, taken: VarId) {
        for edge in &mut body.edges {
            let Op::Assign { value, .. } = edge.op else {
                continue;
            };
            let mut value = &self.exprs[value.index()].kind;
            while let ExprKind::Convert(from) = value {
                value = &self.exprs[from.index()].kind;
            }
            let ExprKind::Load(place) = value else {
                continue;
            };
            if self.places[place.index()].kind == PlaceKind::Var(taken) {
                let what = "further arguments of the function that the program begins with";
                let construct = self.add_unsupported(what.to_owned(), edge.source);
                edge.op = Op::Unsupported { construct };
            }
        }
    }

    /// A call that may enter a function that asks for further arguments leaves them in an object.
    fn pass_at_call(&mut self, caller: FuncId, body: &mut Body, at: usize, passed: VarId) {
        let DraftEdge {
            from,
            to,
            op,
            source,
        } = body.edges[at].clone();
        let Op::Call {
            callee,
            mut arguments,
            result,
        } = op
        else {
            return;
        };
        let named = match &callee {
            Callee::Direct(callee) => {
                let called = &self.functions[callee.index()];
                called.further.map(|_| called.formals.len())
            }
            Callee::Indirect { pointer, .. } => self.named_behind(*pointer),
        };
        let Some(named) = named else {
            return;
        };
        let further = match &callee {
            Callee::Direct(_) => arguments.split_off(named.min(arguments.len())),
            // Others that it may enter take them as they are.
            Callee::Indirect { .. } => arguments[named.min(arguments.len())..].to_vec(),
        };
        let place = self.var_place(passed);
        let pointer = self.variables[passed.index()].ty;
        let call = Op::Call {
            callee,
            arguments,
            result,
        };
        let (mut ops, variables, value) = match further.is_empty() {
            true => (Vec::new(), Vec::new(), self.zero(pointer)),
            false => self.kept_in_object(caller, &further, source),
        };
        ops.extend([Op::Assign { place, value }, call]);
        if !variables.is_empty() {
            ops.push(Op::EndScope { variables });
        }
        let mut here = from;
        let last = ops.len() - 1;
        for (index, op) in ops.into_iter().enumerate() {
            let next = match index == last {
                true => to,
                false => body.location(LocationKind::Plain),
            };
            match index {
                0 => {
                    body.edges[at].op = op;
                    body.edges[at].to = next;
                }
                _ => body.edge(here, next, op, source),
            }
            here = next;
        }
    }

    /// What keeps further arguments in an object: how it is filled, what lives until the call has
    /// returned, and where the first argument is.
    fn kept_in_object(
        &mut self,
        caller: FuncId,
        further: &[ExprId],
        source: Source,
    ) -> (Vec<Op>, Vec<VarId>, ExprId) {
        let word = self.types.intptr();
        let ty = self.types.intern(Type::Array {
            element: word,
            length: WORDS * (further.len() as u64 + 1),
        });
        let object = self.object(caller, ty, source);
        let whole = self.var_place(object);
        let mut ops = vec![Op::Declare { variable: object }];
        let mut variables = vec![object];
        let mut at = 0;
        for &argument in further {
            let passed = self.ty_of(argument);
            ops.push(Op::Assign {
                place: self.word_at(whole, at, word),
                value: self.int(i128::from(self.kind_of(passed)), word),
            });
            let ty = self.kept_as(passed);
            let value = if ty == self.types.pointer(passed) {
                let copy = self.object(caller, passed, source);
                variables.push(copy);
                let place = self.var_place(copy);
                let value = argument;
                ops.extend([Op::Declare { variable: copy }, Op::Assign { place, value }]);
                self.address_of(place, ty)
            } else {
                self.convert(argument, ty)
            };
            let place = self.word_at(whole, at + 1, ty);
            ops.push(Op::Assign { place, value });
            at += WORDS;
        }
        ops.push(Op::Assign {
            place: self.word_at(whole, at, word),
            value: self.zero(word),
        });
        let first = self.word_at(whole, 0, word);
        let pointer = self.types.pointer(word);
        (ops, variables, self.address_of(first, pointer))
    }

    /// How many arguments a function behind a pointer has by name, if further ones may follow. Through
    /// a pointer that says nothing of its parameters, none of what is passed is a further one: C
    /// leaves such a call of a function with `...` open.
    fn named_behind(&self, pointer: ExprId) -> Option<usize> {
        let Type::Pointer(to) = *self.types.get(self.ty_of(pointer)) else {
            return None;
        };
        match self.types.get(to) {
            Type::Function {
                parameters,
                variadic: Variadic::Yes,
                ..
            } => match parameters.len() {
                0 => Some(usize::MAX),
                named => Some(named),
            },
            _ => None,
        }
    }

    /// An object of the caller for what it passes.
    fn object(&mut self, caller: FuncId, ty: TypeId, source: Source) -> VarId {
        let object = self.add_variable(Variable {
            name: Variable::FURTHER_ARGUMENTS.to_owned(),
            ty,
            kind: VarKind::Temporary(caller),
            address_taken: true,
            source,
            initial: Initial::None,
            read_only: false,
            align: 1,
        });
        self.functions[caller.index()].locals.push(object);
        object
    }

    /// What begins with a word of an object, as a type.
    fn word_at(&mut self, object: PlaceId, index: u64, ty: TypeId) -> PlaceId {
        let word = self.types.intptr();
        let index = self.int(i128::from(index), word);
        let place = self.place(PlaceKind::Index(object, index), word);
        if ty == word {
            return place;
        }
        let pointer = self.types.pointer(word);
        let address = self.address_of(place, pointer);
        let pointer = self.types.pointer(ty);
        let address = self.convert(address, pointer);
        self.place(PlaceKind::Deref(address), ty)
    }

    /// As what a further argument of a type is kept: a small integer as a whole word, and what is no
    /// word by its address, so that words are what is read and written there.
    pub(crate) fn kept_as(&mut self, ty: TypeId) -> TypeId {
        let word = self.types.intptr();
        let (size, most) = (self.types.size_of(ty), self.types.size_of(word));
        match self.types.get(ty) {
            Type::Int { .. } if size < most => word,
            _ if size == most && self.types.is_scalar(ty) => ty,
            _ => self.types.pointer(ty),
        }
    }

    /// The kind of what is passed as a type, as a number.
    pub(crate) fn kind_of(&self, ty: TypeId) -> u64 {
        let size = self.types.size_of(ty);
        match self.types.get(ty) {
            Type::Int { .. } => size,
            Type::Pointer(_) => 1 << 8,
            Type::Float(_) => 2 << 8 | size,
            _ => 3 << 8 | self.in_registers(ty) << 12 | size << 16,
        }
    }

    /// In which kinds of registers a record is passed, as a number. Who asks for one that is passed
    /// in others reads something else, though the size is the same.
    fn in_registers(&self, ty: TypeId) -> u64 {
        const HALF: u64 = 8;
        if self.types.model() == DataModel::Ilp32 || self.types.size_of(ty) > 2 * HALF {
            return 0;
        }
        let mut halves = 0;
        let mut pending = vec![(0, ty)];
        while let Some((offset, ty)) = pending.pop() {
            match self.types.get(ty) {
                Type::Array { element, length } => {
                    let size = self.types.size_of(*element);
                    let length = if size == 0 { 0 } else { *length };
                    pending.extend((0..length).map(|index| (offset + index * size, *element)));
                }
                Type::Record(record) => {
                    let fields = &self.types.record(*record).fields;
                    pending.extend(fields.iter().map(|f| (offset + f.offset(), f.ty)));
                }
                Type::Float(_) if self.types.size_of(ty) <= HALF => {}
                // What is larger, or across two words, is passed in memory.
                _ => {
                    let size = self.types.size_of(ty);
                    let across = size > HALF || !offset.is_multiple_of(size.max(1));
                    halves |= if across { 4 } else { 1 << (offset / HALF) };
                }
            }
        }
        halves
    }

    /// Whether a number is the kind of an argument that may be asked for as a type. Of an integer,
    /// the lower bytes may be asked for.
    pub(crate) fn is_kind_of(&mut self, kind: ExprId, ty: TypeId) -> ExprId {
        let int = self.types.int(32, true);
        let word = self.ty_of(kind);
        let own = i128::from(self.kind_of(ty));
        let asked = self.int(own, word);
        if !matches!(self.types.get(ty), Type::Int { .. }) {
            return self.binary(BinaryOp::Eq, kind, asked, int);
        }
        // Smaller ones are never passed: what asks for one stops, as gcc translates it.
        if self.types.size_of(ty) < self.types.size_of(int) {
            return self.zero(int);
        }
        let least = self.binary(BinaryOp::Le, asked, kind, int);
        // What is larger than a word is kept in another way.
        let largest = self.kind_of(ty).max(self.types.model().pointer_size());
        let largest = self.int(i128::from(largest), word);
        let most = self.binary(BinaryOp::Le, kind, largest, int);
        self.binary(BinaryOp::And, least, most, int)
    }
}
