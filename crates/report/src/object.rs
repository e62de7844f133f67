//! The object that a wrong access or a wrong `free` is about, or that is lost: what it is, where it comes from and
//! where it went, how far the access is off, and a drawing of it.

use hardbop_budget::Budget;
use hardbop_cfront::dump::{declaration_text, place_text, type_name};
use hardbop_cfront::ids::{EdgeId, ExprId, TypeId, VarId};
use hardbop_cfront::interp::{
    Interpreter, Limits, LiveObject, Observer, Run, Script, State, TraceMode,
};
use hardbop_cfront::program::{
    BinaryOp, CheckKind, ExprKind, HeapFact, LocationKind, Op, PlaceKind, Program, ProgramEnd,
    Source,
};
use hardbop_cfront::types::Type;

/// The most cells that are drawn before the last one.
const DRAWN: u64 = 4;
/// The most objects that are named where several are lost.
const NAMED: usize = 3;
/// So many objects are kept in mind.
const KNOWN: usize = 1_000_000;

/// Says in a few lines which object a violation is about; nothing for violations of other kinds.
pub fn describe(program: &Program, run: &Run, budget: &Budget) -> Vec<String> {
    let mut looker = Looker {
        program,
        blocks: Vec::new(),
        pending: None,
        calls: Vec::new(),
        last: None,
        lines: Vec::new(),
    };
    let limits = Limits {
        steps: run.steps.saturating_add(1),
        budget: budget.clone(),
        trace: TraceMode::Off,
        ..Limits::default()
    };
    let interpreter = Interpreter::new(program);
    let again = interpreter.run_observed(&mut Script::replay(run), &limits, &mut looker);
    match again.outcome == run.outcome {
        true => looker.lines,
        false => Vec::new(),
    }
}

/// Memory that was allocated, or a local whose life has ended.
struct Block {
    base: u64,
    size: u64,
    what: String,
    gone: Option<String>,
}

struct Looker<'p> {
    program: &'p Program,
    blocks: Vec<Block>,
    /// Memory that is being allocated: the edge, and the variable that gets its address.
    pending: Option<(EdgeId, VarId)>,
    /// The calls that are active, ...
    calls: Vec<EdgeId>,
    /// ... and the edge that was passed last: where there is one call more, that made it.
    last: Option<EdgeId>,
    lines: Vec<String>,
}

impl Observer for Looker<'_> {
    fn edge(&mut self, id: EdgeId, state: &mut State<'_, '_>) {
        let program = self.program;
        let outer = state.depth().saturating_sub(1);
        self.calls.truncate(outer);
        if self.calls.len() < outer {
            self.calls.extend(self.last);
        }
        self.last = Some(id);
        if let Some((edge, variable)) = self.pending.take()
            && let Some(address) = state.variable(variable)
            && let Some(object) = state.object_at(address.bits as u64)
        {
            let source = program.edges[edge.index()].source;
            self.blocks.push(Block {
                base: object.base,
                size: object.size,
                what: format!("{} allocated at {}", bytes(object.size), self.at(source)),
                gone: None,
            });
        }
        let edge = &program.edges[id.index()];
        if program.locations[edge.to.index()].kind == LocationKind::Exit {
            self.returned(edge.source, state);
        }
        match &edge.op {
            Op::Allocate { place, .. } => {
                if let PlaceKind::Var(variable) = program.place(*place).kind {
                    self.pending = Some((id, variable));
                }
            }
            Op::Free { pointer } => {
                let gone = format!("freed at {}", self.at(edge.source));
                if let Ok(Some(address)) = state.eval(*pointer) {
                    self.end(address.bits as u64, gone);
                }
            }
            Op::EndScope { variables } => {
                for &variable in variables {
                    if let Some(base) = state.address(variable) {
                        self.blocks.push(Block {
                            base,
                            size: program.types.size_of(program.variable(variable).ty),
                            what: self.variable(variable),
                            gone: Some(format!("gone at {}", self.at(edge.source))),
                        });
                    }
                }
            }
            Op::Assume { condition, .. } => {
                if let LocationKind::Error(check) = program.locations[edge.to.index()].kind
                    && matches!(
                        program.checks[check.index()].kind,
                        CheckKind::Pointer
                            | CheckKind::Bounds
                            | CheckKind::Free
                            | CheckKind::Constant
                            | CheckKind::PointerArithmetic
                    )
                {
                    self.explain(*condition, state);
                } else if let LocationKind::Error(check) = program.locations[edge.to.index()].kind
                    && matches!(
                        program.checks[check.index()].kind,
                        CheckKind::Alignment | CheckKind::Overlap
                    )
                {
                    self.pointers(*condition, state);
                } else if let LocationKind::Error(_) = program.locations[edge.to.index()].kind
                    && let Some((fact, end)) = heap_fact(program, *condition)
                {
                    self.left_behind(&state.left_behind(fact, end));
                }
            }
            _ => {}
        }
    }
}

impl Looker<'_> {
    /// A place; of what a model of the library does, the place where the program calls it.
    fn at(&self, source: Source) -> String {
        let calls = self.calls.iter().rev();
        let sources = calls.map(|&call| self.program.edges[call.index()].source);
        let mut sources = [source].into_iter().chain(sources);
        let own = sources.find(|&source| !self.file(source).starts_with("<hardbop>"));
        let source = own.unwrap_or(source);
        format!("{}:{}", self.file(source), source.line)
    }

    fn file(&self, source: Source) -> &str {
        let file = self.program.presumed_files.get(source.file as usize);
        file.map_or("", String::as_str)
    }

    /// The variables in memory of the function that is running are gone soon.
    fn returned(&mut self, source: Source, state: &State<'_, '_>) {
        let program = self.program;
        let function = state.function();
        for &variable in &program.function(function).locals {
            if program.variable(variable).address_taken
                && self.blocks.len() < KNOWN
                && let Some(base) = state.address(variable)
            {
                let name = &program.function(function).name;
                self.blocks.push(Block {
                    base,
                    size: program.types.size_of(program.variable(variable).ty),
                    what: self.variable(variable),
                    gone: Some(format!(
                        "gone when `{name}` returned at {}",
                        self.at(source)
                    )),
                });
            }
        }
    }

    /// Names the objects that are lost, or left at the end.
    fn left_behind(&mut self, objects: &[LiveObject]) {
        for object in objects.iter().take(NAMED) {
            self.lines.push(format!("object: {}", self.object(object)));
        }
        if objects.len() > NAMED {
            let more = objects.len() - NAMED;
            self.lines.push(format!("and {more} more"));
        }
    }

    /// A variable with its type, its size and its place.
    fn variable(&self, id: VarId) -> String {
        let variable = self.program.variable(id);
        let size = self.program.types.size_of(variable.ty);
        if variable.is_further_arguments() {
            let (size, at) = (bytes(size), self.at(variable.source));
            return format!("the further arguments of the call at {at}, {size}");
        }
        format!(
            "`{}` of {}, declared at {}",
            declaration_text(self.program, id),
            bytes(size),
            self.at(variable.source)
        )
    }

    fn end(&mut self, base: u64, gone: String) {
        let mut blocks = self.blocks.iter_mut().rev();
        if let Some(block) = blocks.find(|block| block.base == base) {
            block.gone = Some(gone);
        }
    }

    /// Says what a condition that should hold, or should not, is about.
    fn explain(&mut self, condition: ExprId, state: &mut State<'_, '_>) {
        let mut work = vec![condition];
        while let Some(at) = work.pop() {
            match self.program.expr(at).kind {
                ExprKind::ValidAccess { pointer, size } => {
                    let size = match state.eval(size) {
                        Ok(Some(size)) => size.bits,
                        _ => 0,
                    };
                    self.access(pointer, size, state);
                    return;
                }
                ExprKind::ValidFree { pointer } | ExprKind::PointsToConstant { pointer } => {
                    self.access(pointer, 0, state);
                    return;
                }
                ExprKind::Binary(BinaryOp::Lt | BinaryOp::Le, index, length) => {
                    self.index(index, length, state);
                    return;
                }
                ExprKind::Binary(BinaryOp::And | BinaryOp::Or, left, right) => {
                    work.extend([left, right]);
                }
                ExprKind::Unary(_, operand) => work.push(operand),
                _ => {}
            }
        }
    }

    /// Says where the pointers lie that a condition looks at as numbers.
    fn pointers(&mut self, condition: ExprId, state: &mut State<'_, '_>) {
        let mut work = vec![condition];
        let mut found: Vec<ExprId> = Vec::new();
        while let Some(at) = work.pop() {
            match self.program.expr(at).kind {
                ExprKind::Convert(from) if self.is_pointer(from) => found.push(from),
                ExprKind::Unary(_, operand) | ExprKind::Convert(operand) => work.push(operand),
                // The first one of a sum comes first.
                ExprKind::Binary(_, left, right) => work.extend([right, left]),
                _ => {}
            }
        }
        let mut told: Vec<(u64, i64)> = Vec::new();
        for pointer in found {
            if let Some((object, offset)) = state.pointee(pointer)
                && !told.contains(&(object.base, offset))
            {
                if told.iter().all(|&(base, _)| base != object.base) {
                    self.lines.push(format!("object: {}", self.object(&object)));
                }
                told.push((object.base, offset));
                let size = bytes(object.size);
                let also = if told.len() > 1 { "another" } else { "a" };
                self.lines
                    .push(format!("{also} pointer is at byte {offset} of {size}"));
            }
        }
    }

    fn is_pointer(&self, expr: ExprId) -> bool {
        let ty = self.program.expr(expr).ty;
        matches!(self.program.types.get(ty), Type::Pointer(_))
    }

    fn access(&mut self, pointer: ExprId, size: u128, state: &mut State<'_, '_>) {
        let Ok(Some(address)) = state.eval(pointer) else {
            return;
        };
        let address = address.bits as u64;
        let access = match size {
            0 => "the pointer is".to_owned(),
            size => format!("the access of {} is", bytes(size as u64)),
        };
        if let Some((object, offset)) = state.pointee(pointer) {
            self.lines.push(format!("object: {}", self.object(&object)));
            self.lines.push(format!(
                "{access} at byte {offset} of {}",
                bytes(object.size)
            ));
            self.draw_object(pointer, &object, offset);
            return;
        }
        let inside = |block: &&Block| block.base <= address && address <= block.base + block.size;
        match self.blocks.iter().rev().find(inside) {
            Some(block) => {
                let gone = block.gone.as_deref().unwrap_or("gone");
                let offset = address - block.base;
                self.lines.push(format!("object: {}, {gone}", block.what));
                let size = bytes(block.size);
                self.lines
                    .push(format!("{access} at byte {offset} of {size}"));
            }
            None if address == 0 => self.lines.push("the pointer is null".to_owned()),
            None => self.lines.push(format!(
                "the pointer is {address:#x}, which is in no object"
            )),
        }
    }

    fn object(&self, object: &LiveObject) -> String {
        if let Some(variable) = object.variable {
            return self.variable(variable);
        }
        let known = self.blocks.iter().rev();
        let mut known = known.filter(|block| block.gone.is_none());
        match known.find(|block| block.base == object.base) {
            Some(block) => block.what.clone(),
            None => format!("{} of memory", bytes(object.size)),
        }
    }

    /// Draws an object as an array of what the pointer points to.
    fn draw_object(&mut self, pointer: ExprId, object: &LiveObject, offset: i64) {
        let types = &self.program.types;
        let Type::Pointer(to) = *types.get(self.program.expr(pointer).ty) else {
            return;
        };
        let declared = object.variable.map(|id| self.program.variable(id).ty);
        let element = match declared.map(|ty| types.get(ty)) {
            Some(Type::Array { element, .. }) => *element,
            Some(_) => return,
            None => to,
        };
        let size = types.size_of(element).max(1);
        if types.is_scalar(element) && object.size.is_multiple_of(size) {
            let index = i128::from(offset.div_euclid(size as i64));
            self.draw(element, object.size / size, index);
        }
    }

    /// An index into an array that is not in it.
    fn index(&mut self, index: ExprId, length: ExprId, state: &mut State<'_, '_>) {
        let ExprKind::Int(length) = self.program.expr(length).kind else {
            return;
        };
        let inner = match self.program.expr(index).kind {
            ExprKind::Convert(inner) => inner,
            _ => index,
        };
        let Ok(Some(value)) = state.eval(index) else {
            return;
        };
        let width = self.program.types.model().pointer_size() as u32 * 8;
        let value = match value.bits >> (width - 1) & 1 {
            1 => value.bits as i128 - (1 << width),
            _ => value.bits as i128,
        };
        let array = self
            .program
            .places
            .iter()
            .find_map(|place| match place.kind {
                PlaceKind::Index(base, at) if at == inner || at == index => {
                    let array = self.program.place(base);
                    match *self.program.types.get(array.ty) {
                        Type::Array {
                            element,
                            length: known,
                        } if u128::from(known) == length => Some((base, element)),
                        _ => None,
                    }
                }
                _ => None,
            });
        let Some((base, element)) = array else {
            return;
        };
        let what = match self.program.place(base).kind {
            PlaceKind::Var(id) => self.variable(id),
            _ => format!(
                "`{}` with {length} elements `{}`",
                place_text(self.program, base),
                type_name(&self.program.types, element)
            ),
        };
        self.lines.push(format!("object: {what}"));
        self.lines.push(format!("the index is {value}"));
        self.draw(element, length as u64, value);
    }

    /// Cells of an array, and where an index is beside them.
    fn draw(&mut self, element: TypeId, length: u64, index: i128) {
        let mut cells = String::new();
        let mut below = String::new();
        let put = |cells: &mut String, below: &mut String, text: &str, marked: bool| {
            let width = text.chars().count();
            cells.push_str(text);
            below.push_str(&if marked { "^" } else { " " }.repeat(width));
        };
        let name = type_name(&self.program.types, element);
        put(&mut cells, &mut below, &format!("{name}  "), false);
        if index < 0 {
            put(&mut cells, &mut below, &format!("{index}"), true);
            put(&mut cells, &mut below, "  ", false);
        }
        let mut last = None;
        for cell in 0..length {
            let shown = cell < DRAWN || cell + 1 == length || i128::from(cell) == index;
            if !shown {
                continue;
            }
            let skipped = last.is_some_and(|last| last + 1 < cell);
            put(
                &mut cells,
                &mut below,
                if skipped { "| … " } else { "" },
                false,
            );
            put(&mut cells, &mut below, "| ", false);
            let marked = i128::from(cell) == index;
            put(&mut cells, &mut below, &format!("{cell}"), marked);
            put(&mut cells, &mut below, " ", false);
            last = Some(cell);
        }
        put(&mut cells, &mut below, "|", false);
        if index >= i128::from(length) {
            put(&mut cells, &mut below, "  ", false);
            put(&mut cells, &mut below, &format!("{index}"), true);
        }
        self.lines.push(format!("  {cells}"));
        self.lines.push(format!("  {}", below.trim_end()));
    }
}

/// What a condition says of the heap where the program ends.
fn heap_fact(program: &Program, condition: ExprId) -> Option<(HeapFact, ProgramEnd)> {
    let mut work = vec![condition];
    while let Some(at) = work.pop() {
        match program.expr(at).kind {
            ExprKind::HeapIs { fact, end } => return Some((fact, end)),
            ExprKind::Unary(_, operand) => work.push(operand),
            ExprKind::Binary(_, left, right) => work.extend([left, right]),
            _ => {}
        }
    }
    None
}

fn bytes(count: u64) -> String {
    match count {
        1 => "1 byte".to_owned(),
        _ => format!("{count} bytes"),
    }
}
