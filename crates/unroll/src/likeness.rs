//! What states look like where the program asks for an input.
//!
//! In comes the state of a run; out come two numbers. States with the same *exact* number hold the
//! same values in the variables that are looked at, states with the same *rough* number are not told
//! apart by the constants that the program compares those variables with. Only the order in which
//! runs are tried depends on this, never an answer: what is not looked at (heaps, the locals of
//! callers) costs nothing but luck.

use crate::hints::Hints;
use hardbop_cfront::ids::{EdgeId, FuncId, VarId};
use hardbop_cfront::interp::State;
use hardbop_cfront::operands::each_load;
use hardbop_cfront::program::{Initial, Op, PlaceKind, Program, Root};
use std::collections::{BTreeMap, BTreeSet};

/// What a state looks like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Looks {
    /// By the constants that the program compares with.
    pub(crate) rough: u64,
    /// By all that is looked at.
    pub(crate) exact: u64,
}

impl Looks {
    /// The same state, asked once more.
    pub(crate) fn again(self) -> Looks {
        Looks {
            rough: mixed(self.rough, 1),
            exact: mixed(self.exact, 1),
        }
    }
}

/// How the bits of a scalar are read.
#[derive(Clone, Copy)]
struct Reading {
    width: u32,
    signed: bool,
}

impl Reading {
    /// The number that some bits are.
    fn number(self, bits: u128) -> i128 {
        let room = 128 - self.width.clamp(1, 128);
        match self.signed {
            true => (bits << room) as i128 >> room,
            false => (bits << room >> room) as i128,
        }
    }
}

/// A scalar variable that is looked at.
struct Scalar {
    variable: VarId,
    reading: Reading,
    /// The numbers that it is compared with, sorted.
    bounds: Vec<i128>,
}

/// Which parts of a program's states are looked at.
pub(crate) struct Likeness {
    /// Scalars of static storage.
    scalars: Vec<Scalar>,
    /// Other variables of static storage.
    others: Vec<VarId>,
    /// The edges that ask for an input, with the locals that are used later.
    asks: BTreeMap<EdgeId, Vec<Scalar>>,
    /// The same as a table.
    is_asking: Vec<bool>,
}

/// Larger objects are not looked at.
const LARGEST: u64 = 1_024;
/// Up to this size their bytes are a part of the rough number.
const SMALL: usize = 64;

impl Likeness {
    /// What to look at in a program.
    pub(crate) fn of(program: &Program, hints: &Hints) -> Likeness {
        let mut read = BTreeSet::new();
        for edge in &program.edges {
            each_load(program, &edge.op, &mut |place| {
                if let Root::Variable(variable) = program.root(place) {
                    read.insert(variable);
                }
            });
        }
        let mut scalars = Vec::new();
        let mut others = Vec::new();
        for (index, variable) in program.variables.iter().enumerate() {
            let id = VarId(index as u32);
            let is_seen = read.contains(&id) || variable.address_taken;
            if variable.initial == Initial::None || variable.read_only || !is_seen {
                continue;
            }
            match scalar(program, hints, id) {
                Some(scalar) => scalars.push(scalar),
                None if program.types.size_of(variable.ty) <= LARGEST => others.push(id),
                None => {}
            }
        }
        let mut asks = BTreeMap::new();
        let mut is_asking = vec![false; program.edges.len()];
        for function in 0..program.functions.len() as u32 {
            for (edge, live) in live_where_asked(program, FuncId(function)) {
                let seen = live.into_iter();
                let seen = seen.filter_map(|variable| scalar(program, hints, variable));
                asks.insert(edge, seen.collect());
                is_asking[edge.index()] = true;
            }
        }
        Likeness {
            scalars,
            others,
            asks,
            is_asking,
        }
    }

    /// Whether an edge asks for an input.
    pub(crate) fn is_asking(&self, edge: EdgeId) -> bool {
        self.is_asking.get(edge.index()).copied().unwrap_or(false)
    }

    /// What the state before an edge looks like.
    pub(crate) fn look(&self, edge: EdgeId, state: &mut State<'_, '_>) -> Looks {
        let mut looks = Looks {
            rough: u64::from(edge.0),
            exact: u64::from(edge.0),
        };
        let mut add = |rough: u64, exact: u64| {
            looks.rough = mixed(looks.rough, rough);
            looks.exact = mixed(looks.exact, exact);
        };
        for (function, call) in state.calls() {
            let place = mixed(function.0.into(), call as u64);
            add(place, place);
        }
        let locals = self.asks.get(&edge).map_or(&[][..], Vec::as_slice);
        for scalar in self.scalars.iter().chain(locals) {
            match state.variable(scalar.variable) {
                Some(value) => {
                    let number = scalar.reading.number(value.bits);
                    add(scalar.class(number), number as u64);
                }
                None => add(1, 1),
            }
        }
        for &variable in &self.others {
            let bytes = state.static_bytes(variable).unwrap_or(&[]);
            let hash = bytes.chunks(8).fold(0, |hash, chunk| {
                let word = chunk.iter().rev();
                mixed(hash, word.fold(0, |word, &b| word << 8 | u64::from(b)))
            });
            let rough = if bytes.len() <= SMALL { hash } else { 0 };
            add(rough, hash);
        }
        looks
    }
}

impl Scalar {
    /// States whose numbers are in one class are alike.
    fn class(&self, number: i128) -> u64 {
        if self.bounds.is_empty() {
            // Nothing is known of what matters: small numbers one by one, large ones by their size.
            let size = number.unsigned_abs();
            let class = match size {
                0..=8 => size as u64,
                _ => 140 - u64::from(size.leading_zeros()),
            };
            return class << 1 | u64::from(number < 0);
        }
        match self.bounds.binary_search(&number) {
            Ok(at) => 2 * at as u64 + 1,
            Err(at) => 2 * at as u64,
        }
    }
}

fn scalar(program: &Program, hints: &Hints, variable: VarId) -> Option<Scalar> {
    let ty = program.variable(variable).ty;
    let reading = Reading {
        width: program.types.bit_width(ty)?,
        signed: program.types.is_signed(ty),
    };
    let numbers = hints.compared(variable).iter();
    let mut bounds: Vec<i128> = numbers.map(|&number| reading.number(number)).collect();
    if !bounds.is_empty() {
        bounds.push(0);
    }
    bounds.sort_unstable();
    bounds.dedup();
    Some(Scalar {
        variable,
        reading,
        bounds,
    })
}

/// The edges of a function that ask for an input, each with the locals that may be read after it
/// and before they are written.
fn live_where_asked(program: &Program, id: FuncId) -> Vec<(EdgeId, Vec<VarId>)> {
    let function = program.function(id);
    let asking = |op: &Op| matches!(op, Op::Input { .. } | Op::Havoc { .. });
    let edges = || {
        let locations = function.locations.clone();
        locations.flat_map(|at| program.edges_from(hardbop_cfront::ids::LocId(at)))
    };
    if !edges().any(|(_, edge)| asking(&edge.op)) {
        return Vec::new();
    }
    let own: Vec<VarId> = function
        .formals
        .iter()
        .chain(&function.locals)
        .copied()
        .filter(|&variable| program.types.is_scalar(program.variable(variable).ty))
        .collect();
    let numbers: BTreeMap<VarId, usize> = own.iter().copied().zip(0..).collect();
    let words = own.len().div_ceil(64);
    let first = function.locations.start;
    let mut live = vec![vec![0u64; words]; function.locations.len()];
    // What may be reached through pointers is always looked at.
    let mut always = vec![0u64; words];
    for (index, &variable) in own.iter().enumerate() {
        if program.variable(variable).address_taken {
            always[index / 64] |= 1 << (index % 64);
        }
    }
    let before = |op: &Op, after: &[u64]| -> Vec<u64> {
        let mut before = after.to_vec();
        if let Some(&index) = written(program, op).and_then(|variable| numbers.get(&variable)) {
            before[index / 64] &= !(1 << (index % 64));
        }
        each_load(program, op, &mut |place| {
            if let Root::Variable(variable) = program.root(place)
                && let Some(&index) = numbers.get(&variable)
            {
                before[index / 64] |= 1 << (index % 64);
            }
        });
        for (word, always) in before.iter_mut().zip(&always) {
            *word |= always;
        }
        before
    };
    // Backwards over all edges until nothing changes: most edges lead forwards.
    let order: Vec<_> = edges().collect();
    loop {
        let mut changed = false;
        for (_, edge) in order.iter().rev() {
            let new = before(&edge.op, &live[(edge.to.0 - first) as usize]);
            let known = &mut live[(edge.from.0 - first) as usize];
            for (known, new) in known.iter_mut().zip(new) {
                changed |= new & !*known != 0;
                *known |= new;
            }
        }
        if !changed {
            break;
        }
    }
    let asked = order.iter().filter(|(_, edge)| asking(&edge.op));
    asked
        .map(|(id, edge)| {
            let live = before(&edge.op, &live[(edge.to.0 - first) as usize]);
            let is_live = |index: usize| live[index / 64] >> (index % 64) & 1 == 1;
            let seen = own.iter().enumerate();
            let seen = seen.filter(|&(index, _)| is_live(index));
            (*id, seen.map(|(_, &variable)| variable).collect())
        })
        .collect()
}

/// The variable that an edge writes as a whole.
fn written(program: &Program, op: &Op) -> Option<VarId> {
    let place = match op {
        Op::Assign { place, .. } | Op::Input { place, .. } | Op::Havoc { place } => *place,
        Op::Call { result, .. } => (*result)?,
        Op::Declare { variable } => return Some(*variable),
        _ => return None,
    };
    match program.place(place).kind {
        PlaceKind::Var(variable) => Some(variable),
        _ => None,
    }
}

/// Adds a word to a hash.
pub(crate) fn mixed(hash: u64, word: u64) -> u64 {
    let hash = (hash.rotate_left(25) ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    hash ^ hash >> 29
}
