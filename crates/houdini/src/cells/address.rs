//! Addresses taken apart: where an array begins, and which element is meant.

use super::walking::Walks;
use hardbop_cfront::types::Type;
use hardbop_logic::{Op, Sort, TermId, Terms, Value};
use hardbop_semantics::constants::Meaning;
use hardbop_semantics::layout::StateVarId;
use hardbop_semantics::steps::{Ground, Step};
use std::collections::{BTreeMap, BTreeSet};

/// Larger addresses are not looked at.
const LARGE: usize = 48;
/// The most dimensions of an array.
const DIMENSIONS: usize = 3;
/// The most elements of a tile.
const TILE: usize = 8;

/// An address as a sum.
#[derive(Clone, Debug)]
pub struct Address {
    /// Where its array begins.
    pub base: TermId,
    /// The terms that are added, each times a number of bytes.
    summands: Vec<(TermId, i128)>,
    /// The bytes that are added.
    bytes: i128,
}

impl Address {
    /// Takes an address in a memory apart; `None` if it is not clear which array it lies in.
    pub fn new(
        ground: &Ground<'_, '_>,
        terms: &mut Terms,
        memory: TermId,
        address: TermId,
        walks: &Walks,
    ) -> Option<Address> {
        let Some(Meaning::Now(region)) = ground.constants.meaning(memory) else {
            return None;
        };
        let (mut summands, mut bytes) = sum(terms, address)?;
        // A pointer that walks is where it comes from and as many elements as it has passed.
        let walked = summands.iter().find_map(|(&term, &factor)| {
            let walk = walks.of(term).filter(|_| factor == 1);
            walk.map(|walk| (term, walk))
        });
        if let Some((pointer, walk)) = walked {
            summands.remove(&pointer);
            let (from, more) = sum(terms, walk.from)?;
            bytes += more;
            for (term, factor) in from.into_iter().chain([(walk.index, walk.step)]) {
                *summands.entry(term).or_default() += factor;
            }
        }
        let starts = |terms: &Terms, at: TermId| match ground.constants.meaning(at) {
            Some(Meaning::Origin) => true,
            Some(Meaning::Now(id)) => is_pointer(ground, terms, id, at),
            _ => false,
        };
        let mut bases = summands
            .iter()
            .filter(|&(&term, &factor)| factor == 1 && starts(terms, term));
        let start = bases.next().map(|(&start, _)| start);
        if bases.next().is_some() {
            return None;
        }
        let (start, first) = match start {
            Some(start) => {
                summands.remove(&start);
                let origin = ground.constants.meaning(start) == Some(Meaning::Origin);
                let near = origin.then(|| distance(ground, region, bytes));
                (start, near.unwrap_or(Some(0))?)
            }
            // A variable whose address is never taken is at 0.
            None => {
                ground.semantics.layout.get(region).variable?;
                (terms.bv(0, terms.width(address)), 0)
            }
        };
        let regions = ground.semantics.points_to.regions();
        let inside = regions
            .get(ground.semantics.layout.region_of(region)?)
            .start;
        let first = first + if inside > 0 { i128::from(inside) } else { 0 };
        bytes -= first;
        let first = terms.bv(first, terms.width(address));
        Some(Address {
            base: terms.bv_add(start, first),
            summands: summands.into_iter().collect(),
            bytes,
        })
    }

    /// The same, from where the pointer comes that the array is reached by.
    pub fn based(mut self, terms: &mut Terms, copies: &BTreeMap<TermId, TermId>) -> Address {
        self.base = terms.substitute(self.base, copies);
        self
    }

    /// The same, where what lies so many bytes apart is an array of its own: it begins as far behind
    /// the whole as its first element.
    pub fn apart(mut self, terms: &mut Terms, stride: i128) -> Address {
        let first = self.bytes.rem_euclid(stride);
        self.bytes -= first;
        let first = terms.bv(first, terms.width(self.base));
        self.base = terms.bv_add(self.base, first);
        self
    }

    /// The address itself, if it has no index.
    pub fn fixed(&self, terms: &mut Terms) -> Option<TermId> {
        let bytes = terms.bv(self.bytes, terms.width(self.base));
        let address = terms.bv_add(self.base, bytes);
        self.summands.is_empty().then_some(address)
    }

    /// Which element it is, if rows and elements lie so many bytes apart: one index for each
    /// dimension.
    pub fn indices(&self, terms: &mut Terms, strides: &[u64]) -> Option<Vec<TermId>> {
        let width = terms.width(self.base);
        let mut bytes = self.bytes;
        let mut indices = Vec::new();
        for (at, &stride) in strides.iter().enumerate() {
            let stride = i128::from(stride);
            let last = at + 1 == strides.len();
            let own = |factor: i128| factor == stride || last && factor % stride == 0;
            let below = |&(_, factor): &(TermId, i128)| factor.abs() < stride;
            let whole = match self.summands.iter().any(below) {
                // What is added to an index of the row may be negative.
                true => (bytes + stride / 2).div_euclid(stride),
                false => bytes.div_euclid(stride),
            };
            bytes -= whole * stride;
            let mut index = terms.bv(whole, width);
            for &(term, factor) in self.summands.iter().filter(|summand| own(summand.1)) {
                let earlier = strides[..at].iter().any(|&row| i128::from(row) == factor);
                if !earlier {
                    let factor = terms.bv(factor / stride, width);
                    let part = terms.bv_mul(factor, term);
                    index = terms.bv_add(index, part);
                }
            }
            indices.push(index);
        }
        let known = |&(_, factor): &(TermId, i128)| {
            let last = strides.last().is_some_and(|&s| factor % i128::from(s) == 0);
            last || strides.iter().any(|&s| i128::from(s) == factor)
        };
        (bytes == 0 && self.summands.iter().all(known)).then_some(indices)
    }
}

/// The pointers that are only ever set to one thing, another pointer or a fixed address, and what
/// that is: parameters of functions, mostly. Such an array is one array.
pub fn copies(
    ground: &Ground<'_, '_>,
    terms: &mut Terms,
    steps: &[Step],
) -> BTreeMap<TermId, TermId> {
    let mut sources: BTreeMap<TermId, BTreeSet<TermId>> = BTreeMap::new();
    let mut set: BTreeMap<StateVarId, BTreeSet<(usize, TermId)>> = BTreeMap::new();
    for (number, step) in steps.iter().enumerate() {
        for (id, value) in step.state.written() {
            let constant = ground.semantics.constant(terms, id);
            if is_pointer(ground, terms, id, constant) && value != constant {
                sources.entry(constant).or_default().insert(value);
                set.entry(id).or_default().insert((number, value));
            }
        }
    }
    // Those that are always set together, to the same, are one: that which came first.
    let mut firsts: BTreeMap<&BTreeSet<(usize, TermId)>, TermId> = BTreeMap::new();
    for (&id, values) in &set {
        let constant = ground.semantics.constant(terms, id);
        let first = *firsts.entry(values).or_insert(constant);
        if first != constant {
            sources.insert(constant, BTreeSet::from([first]));
        }
    }
    let fixed = |terms: &Terms, term: TermId| {
        let constants = terms.free_constants(&[term]);
        let origin = |&at: &TermId| ground.constants.meaning(at) == Some(Meaning::Origin);
        constants.len() == 1 && constants.iter().all(origin) && terms.size(term) <= 3
    };
    let frontier = ground.semantics.layout.frontier();
    let frontier = ground.semantics.constant(terms, frontier);
    let mut copies: BTreeMap<TermId, TermId> = BTreeMap::new();
    for (&pointer, values) in &sources {
        let mut at = pointer;
        // Along copies of copies; a cycle is as long as there are pointers.
        for _ in 0..sources.len() {
            match sources
                .get(&at)
                .map(|values| (values.first(), values.len()))
            {
                Some((Some(&next), 1)) if next != pointer => {
                    // Where memory ends is another place as soon as there is one more object.
                    let named = matches!(ground.constants.meaning(next), Some(Meaning::Now(_)));
                    if next == frontier || !named && !fixed(terms, next) {
                        break;
                    }
                    at = next;
                }
                _ => break,
            }
        }
        if at != pointer && !values.is_empty() {
            copies.insert(pointer, at);
        }
    }
    copies
}

/// How far rows and elements lie apart, the largest distance first, if some address has an index
/// at all. There are rows where one address has indices of several distances.
pub fn strides(addresses: &[&Address]) -> Option<Vec<u64>> {
    let element = stride(addresses)?;
    let mut rows: BTreeSet<i128> = BTreeSet::new();
    for address in addresses {
        let factors: BTreeSet<i128> = address.summands.iter().map(|&(_, factor)| factor).collect();
        if factors.len() > 1 {
            rows.extend(factors);
        }
    }
    let mut strides: Vec<i128> = rows.into_iter().rev().collect();
    let nested = strides.windows(2).all(|pair| pair[0] % pair[1] == 0);
    let mut summands = addresses.iter().flat_map(|address| &address.summands);
    if strides.is_empty()
        || strides.len() > DIMENSIONS
        || !nested
        || strides.last() != Some(&i128::from(element))
        || !summands.all(|(_, factor)| strides.contains(factor))
    {
        strides = vec![i128::from(element)];
    }
    let strides = strides.into_iter().map(|stride| u64::try_from(stride).ok());
    strides.collect()
}

/// How far the elements lie apart that are told apart by their places in tiles: where all indices
/// are multiples of a number, and several of these tiles' elements are accessed (`a[3 * i + 1]`).
pub fn tile(addresses: &[&Address]) -> Option<i128> {
    let factors = addresses.iter().flat_map(|address| &address.summands);
    let tile = factors.fold(0, |all, &(_, factor)| gcd(all, factor.unsigned_abs()));
    let tile = i128::try_from(tile).ok().filter(|&tile| tile > 0)?;
    let indexed = addresses.iter().filter(|at| !at.summands.is_empty());
    let places: BTreeSet<i128> = indexed.map(|at| at.bytes.rem_euclid(tile)).collect();
    (2..=TILE).contains(&places.len()).then_some(tile)
}

/// How far elements lie apart, if some address has an index at all.
fn stride(addresses: &[&Address]) -> Option<u64> {
    let mut found = 0;
    let indexed = addresses.iter().any(|address| !address.summands.is_empty());
    for address in addresses {
        for &(_, factor) in &address.summands {
            found = gcd(found, factor.unsigned_abs());
        }
        found = gcd(found, address.bytes.unsigned_abs());
    }
    u64::try_from(found).ok().filter(|_| indexed && found > 0)
}

/// The greatest common divisor.
pub(super) fn gcd(mut a: u128, mut b: u128) -> u128 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

/// Terms times numbers, and a number.
pub(crate) type Sum = (BTreeMap<TermId, i128>, i128);

/// One sum without another one.
pub(crate) fn difference((mut summands, number): Sum, (less, fewer): &Sum) -> Sum {
    for (&term, &factor) in less {
        *summands.entry(term).or_default() -= factor;
    }
    summands.retain(|_, factor| *factor != 0);
    (summands, number - fewer)
}

/// A word as a sum.
pub(crate) fn sum(terms: &Terms, word: TermId) -> Option<Sum> {
    let mut summands: BTreeMap<TermId, i128> = BTreeMap::new();
    let mut number = 0i128;
    let mut work = vec![(word, 1i128)];
    let mut seen = 0;
    while let Some((term, factor)) = work.pop() {
        seen += 1;
        if seen > LARGE {
            return None;
        }
        let args = terms.args(term);
        match terms.op(term) {
            Op::BvAdd => work.extend(args.iter().map(|&arg| (arg, factor))),
            Op::BvSub => work.extend([(args[0], factor), (args[1], -factor)]),
            Op::BvNeg => work.push((args[0], -factor)),
            Op::BvMul => match (literal(terms, args[0]), literal(terms, args[1])) {
                (Some(times), _) => work.push((args[1], factor.checked_mul(times)?)),
                (_, Some(times)) => work.push((args[0], factor.checked_mul(times)?)),
                _ => *summands.entry(term).or_default() += factor,
            },
            _ => match literal(terms, term) {
                Some(value) => number = number.checked_add(value.checked_mul(factor)?)?,
                None => *summands.entry(term).or_default() += factor,
            },
        }
    }
    summands.retain(|_, factor| *factor != 0);
    Some((summands, number))
}

/// The value of a literal, with its sign.
pub fn literal(terms: &Terms, term: TermId) -> Option<i128> {
    match terms.value_of(term) {
        Some(Value::BitVec(bits)) => i128::try_from(bits.signed()).ok(),
        _ => None,
    }
}

/// A word as another one and a number that is added to it.
pub fn shifted(terms: &Terms, word: TermId) -> Option<(TermId, i128)> {
    let (summands, number) = sum(terms, word)?;
    let mut summands = summands.into_iter();
    match (summands.next(), summands.next()) {
        (Some((term, 1)), None) => Some((term, number)),
        _ => None,
    }
}

/// Whether a variable of the state is a pointer.
pub(crate) fn is_pointer(
    ground: &Ground<'_, '_>,
    terms: &Terms,
    id: StateVarId,
    constant: TermId,
) -> bool {
    let semantics = ground.semantics;
    let ty = semantics.layout.get(id).ty;
    let pointer = ty.is_some_and(|ty| matches!(semantics.program.types.get(ty), Type::Pointer(_)));
    pointer && matches!(terms.sort(constant), Sort::BitVec(_))
}

/// How far from the origin the variable begins that an address belongs to.
fn distance(ground: &Ground<'_, '_>, region: StateVarId, bytes: i128) -> Option<i128> {
    let semantics = ground.semantics;
    let region = semantics.layout.region_of(region)?;
    let class = semantics.points_to.regions().get(region).class;
    let variables = &semantics.points_to.classes()[class.0 as usize].variables;
    let starts = variables.iter().filter_map(|&variable| {
        let start = i128::from(semantics.layout.distance(variable)?);
        Some((bytes - start, start))
    });
    // An index may be one less: the array that it is nearest to.
    starts
        .min_by_key(|&(offset, _)| if offset >= 0 { offset } else { -8 * offset })
        .map(|(_, start)| start)
}
