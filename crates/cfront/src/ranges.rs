//! Ranges of memory whose length only the run knows: `memset` and `memcpy` as loops over elements.
//!
//! In logic such a range is nothing that a formula could write, so all that may lie there would be
//! unknown after it. A loop has an invariant: what is behind its counter is written. In come a
//! program and where its pointers lead; out comes a program with the same executions, if anything
//! is to be changed at all. A range that may overlap the one that it is copied from, or that
//! may end inside of an element, stays what it is.

use crate::edit::{Graphs, Tables};
use crate::ids::{EdgeId, ExprId, FuncId, LocId, PlaceId, TypeId, VarId};
use crate::operands::{Write, each_write};
use crate::points_to::{self, PointsTo};
use crate::program::{BinaryOp, ExprKind, LocationKind, Op, Origin, PlaceKind, Program, Source};
use crate::types::Type;
use hardbop_budget::{Budget, Stopped};
use std::collections::BTreeSet;

/// Ranges up to this many bytes are written at once, if the number is known.
const SHORT: u128 = 8 * 1024;
/// Larger programs have other worries.
const EDGES: usize = 3_000;

/// A range that becomes a loop.
struct Range {
    edge: EdgeId,
    /// Where to, ...
    to: ExprId,
    /// ... what, ...
    what: What,
    /// ... how many bytes, ...
    size: ExprId,
    /// ... and how many of them an element has.
    unit: u64,
}

/// What is written.
#[derive(Clone, Copy)]
enum What {
    Byte(ExprId),
    From(ExprId),
}

/// The program with loops in the places of ranges, and where its pointers lead; `None` if it has no
/// such range.
pub(crate) fn as_loops(
    program: &Program,
    points_to: &PointsTo,
    budget: &Budget,
) -> Result<Option<(Program, PointsTo)>, Stopped> {
    if program.edges.len() > EDGES {
        return Ok(None);
    }
    let mut ranges = long_ranges(program, points_to);
    while !ranges.is_empty() {
        let looping = weave(program, &ranges);
        let points_to = points_to::analyse(&looping, budget)?;
        let class = |pointer: ExprId| points_to.pointer(pointer).map(|spot| spot.class);
        let before = ranges.len();
        // As long as no range meets one that it is copied from, the loops do what the ranges do;
        // in the program with the loops none ever does.
        ranges.retain(|range| match range.what {
            What::Byte(_) => true,
            What::From(from) => class(from).is_some() && class(from) != class(range.to),
        });
        if ranges.len() == before {
            return Ok(Some((looping, points_to)));
        }
    }
    Ok(None)
}

/// The ranges that may become loops, as far as that can be told before.
fn long_ranges(program: &Program, points_to: &PointsTo) -> Vec<Range> {
    let constants = hold_constants(program);
    let mut ranges = Vec::new();
    for (index, edge) in program.edges.iter().enumerate() {
        let function = program.locations[edge.from.index()].function;
        // What the library does inside, `realloc` say, is rarely looked at element by element.
        if program.function(function).origin == Origin::Model {
            continue;
        }
        let (to, what, size) = match edge.op {
            Op::FillMemory { to, byte, size } => (to, What::Byte(byte), size),
            Op::CopyMemory { to, from, size } => (to, What::From(from), size),
            _ => continue,
        };
        let short = match program.expr(size).kind {
            ExprKind::Int(bytes) => bytes <= SHORT || matches!(what, What::Byte(_)),
            ExprKind::Load(place) => match program.place(place).kind {
                PlaceKind::Var(variable) => constants.contains(&variable),
                _ => false,
            },
            _ => false,
        };
        let unit = unit(points_to, to).filter(|&unit| is_multiple(program, size, unit));
        if let Some(unit) = unit.filter(|_| !short) {
            ranges.push(Range {
                edge: EdgeId(index as u32),
                to,
                what,
                size,
                unit,
            });
        }
    }
    ranges
}

fn weave(program: &Program, ranges: &[Range]) -> Program {
    let mut weaver = Weaver {
        graphs: Graphs::new(program),
        tables: Tables::new(program.clone()),
        variables: 0,
    };
    for range in ranges {
        weaver.weave(range);
    }
    let mut program = weaver.tables.program;
    weaver.graphs.lay_out(&mut program);
    program
}

/// The variables that hold nothing but constants: what depends on them is known when it is run.
fn hold_constants(program: &Program) -> BTreeSet<VarId> {
    let (mut found, mut others) = (BTreeSet::new(), BTreeSet::new());
    for edge in &program.edges {
        let mut written = |place: PlaceId, constant: bool| {
            if let PlaceKind::Var(variable) = program.place(place).kind {
                match constant {
                    true => found.insert(variable),
                    false => others.insert(variable),
                };
            }
        };
        match &edge.op {
            Op::Assign { place, value } => {
                let value = &program.expr(*value).kind;
                written(*place, matches!(value, ExprKind::Int(_)));
            }
            op => {
                let mut sees = |write: Write| {
                    if let Write::Place(place) = write {
                        written(place, false);
                    }
                };
                each_write(op, &mut sees);
            }
        }
    }
    found.retain(|variable| {
        !others.contains(variable) && !program.variable(*variable).address_taken
    });
    found
}

/// Whether a number of bytes is a number of elements, whatever it is: their size is a power of two,
/// so numbers that wrap around are no different.
fn is_multiple(program: &Program, number: ExprId, unit: u64) -> bool {
    let mut work = vec![number];
    while let Some(number) = work.pop() {
        let of = |number: ExprId| match program.expr(number).kind {
            ExprKind::Int(bits) => bits % u128::from(unit) == 0,
            _ => unit == 1,
        };
        match program.expr(number).kind {
            _ if of(number) => {}
            ExprKind::Convert(inner) => {
                let types = &program.types;
                let wide = |ty: TypeId| matches!(types.get(ty), Type::Int { width: 8.., .. });
                if !wide(program.expr(inner).ty) || !wide(program.expr(number).ty) {
                    return false;
                }
                work.push(inner);
            }
            ExprKind::Binary(BinaryOp::Mul, left, right) if of(left) || of(right) => {}
            ExprKind::Binary(BinaryOp::Mul, left, _) => work.push(left),
            ExprKind::Binary(BinaryOp::Add | BinaryOp::Sub, left, right) => {
                work.extend([left, right]);
            }
            _ => return false,
        }
    }
    true
}

/// How large the elements are where a pointer leads, if all that may lie there is such elements.
fn unit(points_to: &PointsTo, pointer: ExprId) -> Option<u64> {
    let spot = points_to.pointer(pointer)?;
    let class = &points_to.classes()[spot.class.0 as usize];
    let regions = points_to.regions();
    let mut all = regions.of_class(spot.class);
    let region = regions.get(all.next()?);
    let plain = !class.external && class.functions.is_empty() && all.next().is_none();
    (plain && matches!(region.unit, 1 | 2 | 4 | 8)).then_some(region.unit)
}

struct Weaver {
    graphs: Graphs,
    tables: Tables,
    variables: usize,
}

/// Where the next edge of a loop begins.
struct Cursor {
    at: LocId,
    function: FuncId,
    source: Source,
}

impl Weaver {
    fn weave(&mut self, range: &Range) {
        let old = &self.graphs.edges()[range.edge.index()];
        let (end, source) = (old.to, old.source);
        let function = self.graphs.function(old.from);
        // Nothing leads to the range any more.
        let (start, _) = self.graphs.split_before(range.edge);
        let mut cursor = Cursor {
            at: start,
            function,
            source,
        };
        let bits = range.unit as u32 * 8;
        let element = self.tables.program.types.int(bits, false);
        let pointer = self.tables.program.types.pointer(element);
        let width = self.tables.program.types.model().pointer_size() as u32 * 8;
        let size_ty = self.tables.program.types.int(width, false);
        let int = self.tables.int();
        let size = self.tables.convert(range.size, size_ty);
        let size = self.kept(&mut cursor, size);
        let unit = self.tables.constant(range.unit.into(), size_ty);
        let to = self.tables.convert(range.to, pointer);
        let to = self.kept(&mut cursor, to);
        let from = match range.what {
            What::Byte(byte) => {
                let value = self.repeated(byte, element, range.unit);
                self.kept(&mut cursor, value)
            }
            What::From(from) => {
                let from = self.tables.convert(from, pointer);
                self.kept(&mut cursor, from)
            }
        };
        let count = ExprKind::Binary(BinaryOp::Div, size, unit);
        let count = match range.unit {
            1 => size,
            _ => self.tables.expr(count, size_ty),
        };
        let count = match range.unit {
            1 => count,
            _ => self.kept(&mut cursor, count),
        };
        let zero = self.tables.constant(0, size_ty);
        let index = self.variable(&cursor, size_ty);
        let head = self.graphs.location(function, LocationKind::LoopHead);
        let place = self.tables.variable_place(index);
        let op = Op::Assign { place, value: zero };
        self.graphs.edge(cursor.at, head, op, source);
        let value = self.tables.load_variable(index);
        let more = ExprKind::Binary(BinaryOp::Lt, value, count);
        let more = self.tables.expr(more, int);
        let body = self.graphs.location(function, LocationKind::Plain);
        self.graphs.branch(head, more, body, end, source);
        cursor.at = body;
        let place = self.element(to, value, element, range.unit);
        let written = match range.what {
            What::Byte(_) => from,
            What::From(_) => {
                let place = self.element(from, value, element, range.unit);
                self.tables.load(place)
            }
        };
        self.step(
            &mut cursor,
            Op::Assign {
                place,
                value: written,
            },
        );
        let one = self.tables.constant(1, size_ty);
        let next = ExprKind::Binary(BinaryOp::Add, value, one);
        let next = self.tables.expr(next, size_ty);
        let place = self.tables.variable_place(index);
        let op = Op::Assign { place, value: next };
        self.graphs.edge(cursor.at, head, op, source);
    }

    /// The element at an index from a pointer on.
    fn element(&mut self, pointer: ExprId, index: ExprId, element: TypeId, unit: u64) -> PlaceId {
        let ty = self.tables.ty(pointer);
        let intptr = self.tables.program.types.intptr();
        let index = self.tables.convert(index, intptr);
        let moved = ExprKind::PointerAdd {
            pointer,
            index,
            scale: unit,
        };
        let moved = self.tables.expr(moved, ty);
        self.tables.place(PlaceKind::Deref(moved), element)
    }

    /// An element of which every byte is the low byte of a number.
    fn repeated(&mut self, byte: ExprId, element: TypeId, unit: u64) -> ExprId {
        let low = self.tables.program.types.int(8, false);
        let byte = self.tables.convert(byte, low);
        let byte = self.tables.convert(byte, element);
        let ones = (0..unit).fold(0, |ones, _| ones << 8 | 1);
        let ones = self.tables.constant(ones, element);
        match unit {
            1 => byte,
            _ => {
                let all = ExprKind::Binary(BinaryOp::Mul, byte, ones);
                self.tables.expr(all, element)
            }
        }
    }

    fn variable(&mut self, cursor: &Cursor, ty: TypeId) -> VarId {
        self.variables += 1;
        let name = format!("r#{}", self.variables);
        self.tables
            .temporary(cursor.function, name, ty, cursor.source)
    }

    /// A value that what is written does not change.
    fn kept(&mut self, cursor: &mut Cursor, value: ExprId) -> ExprId {
        if matches!(self.tables.program.expr(value).kind, ExprKind::Int(_)) {
            return value;
        }
        let ty = self.tables.ty(value);
        let variable = self.variable(cursor, ty);
        self.assign(cursor, variable, value);
        self.tables.load_variable(variable)
    }

    fn assign(&mut self, cursor: &mut Cursor, variable: VarId, value: ExprId) {
        let place = self.tables.variable_place(variable);
        self.step(cursor, Op::Assign { place, value });
    }

    fn step(&mut self, cursor: &mut Cursor, op: Op) {
        let next = self.graphs.location(cursor.function, LocationKind::Plain);
        self.graphs.edge(cursor.at, next, op, cursor.source);
        cursor.at = next;
    }
}

#[cfg(test)]
mod tests {
    use crate::dump::dump;
    use crate::interp::{InputValue, Limits, Outcome, Script, run};
    use crate::load::load_text;

    const PRELUDE: &str = "typedef __SIZE_TYPE__ size_t;
        void *memset(void *, int, size_t);
        void *memcpy(void *, const void *, size_t);
        void *memmove(void *, const void *, size_t);
        unsigned __VERIFIER_nondet_uint(void);
        int a[20], b[20]; char c[20], d[20];
        ";

    /// How many ranges of a body are still ranges.
    fn left(body: &str) -> usize {
        let text =
            format!("{PRELUDE} int main(void) {{ unsigned n = __VERIFIER_nondet_uint(); {body} }}");
        let program = load_text("ranges.c", &text).unwrap().program;
        let dumped = dump(&program);
        ["memset(", "memmove("]
            .iter()
            .map(|name| dumped.matches(name).count())
            .sum()
    }

    #[test]
    fn ranges_of_elements_become_loops() {
        let uses = "a[n] = b[n]; c[n] = d[n];";
        let check = |range: &str, expected: usize| {
            assert_eq!(left(&format!("{uses} {range}")), expected, "{range}");
        };
        check("memset(a, 3, n * sizeof *a);", 0);
        check("memset(c, 3, n);", 0);
        check("memcpy(b, a, (n + 1) * sizeof *a);", 0);
        check("memcpy(d, c, n);", 0);
        // They may end inside of an element.
        check("memset(a, 3, n);", 1);
        check("memcpy(b, a, n * 2);", 1);
        // They may overlap.
        check("memmove(c, c + 1, n);", 1);
        check("char *p = n ? c : d; memcpy(p, c, n);", 1);
        // They are short, or can be written at once.
        check("memset(a, 3, 12);", 1);
        check("memset(a, 0, sizeof a);", 1);
        check("size_t m = 12; memcpy(d, c, m);", 1);
    }

    /// What a run computes is what the functions say, whatever the length is.
    #[test]
    fn loops_do_what_ranges_do() {
        let text = format!(
            "{PRELUDE} void __assert_fail(const char *, const char *, unsigned, const char *);
            int main(void) {{
              unsigned n = __VERIFIER_nondet_uint() % 21;
              for (int i = 0; i < 20; i++) {{ a[i] = i; b[i] = -1; c[i] = i; d[i] = -1; }}
              memcpy(b, a, n * sizeof *a);
              memcpy(d, c, n);
              for (unsigned i = 0; i < 20; i++)
                if (b[i] != (i < n ? i : -1) || d[i] != (i < n ? i : -1)) __assert_fail(0, 0, 0, 0);
              memset(a, 0x81, n * sizeof *a);
              memset(c, 0x181, n);
              for (unsigned i = 0; i < 20; i++)
                if (a[i] != (i < n ? (int)0x81818181 : i) || c[i] != (i < n ? -127 : i))
                  __assert_fail(0, 0, 0, 0);
            }}"
        );
        let program = load_text("ranges.c", &text).unwrap().program;
        assert_eq!(dump(&program).matches("memmove(").count(), 0);
        for n in 0..=20 {
            let mut script = Script::new(vec![InputValue::Bits(n)]);
            let run = run(&program, &mut script, &Limits::default());
            assert!(
                matches!(run.outcome, Outcome::Returned(_)),
                "{n}: {:?}",
                run.outcome
            );
        }
    }
}
