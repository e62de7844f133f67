//! Where texts end: what is read until a zero comes is read no further than to one that is known.
//!
//! In come the steps of a program. A zero is known where a step writes one, and where a loop has
//! found one; both are addresses, said of the state at the end of that step. Guesses say that there
//! is still a zero, that whoever reads or writes in that memory is not behind it, and which of two
//! that go through objects has come further. So it is said of a text that begins anywhere inside of
//! an object that it ends there, too, without saying "there is a zero somewhere".

use crate::candidates::Variable;
use crate::cells::address::{Sum, difference, is_pointer, literal, shifted, sum};
use crate::cells::{is_known, root, stores};
use hardbop_logic::{Op, Sign, Sort, TermId, Terms};
use hardbop_semantics::constants::Meaning;
use hardbop_semantics::layout::{StateKind, StateVarId};
use hardbop_semantics::live::Live;
use hardbop_semantics::steps::{Ground, Step};
use std::collections::{BTreeMap, BTreeSet};

/// The most zeros that are known of.
const ENDS: usize = 12;
/// The most addresses that are read or written, ...
const ACCESSES: usize = 24;
/// ... and of these at one point.
const HERE: usize = 8;
/// The most pairs of a pointer and an object that it may belong to.
const HOMES: usize = 48;
/// With more distances than this, none is compared with sums of others.
const SUMS: usize = 5;
/// Larger addresses are not looked at.
const LARGE: usize = 24;

/// An address in a memory.
type At = (TermId, TermId);

/// What a program does with texts.
#[derive(Debug, Default)]
pub struct Texts {
    /// Where there is a zero after some step.
    ends: BTreeSet<At>,
    /// What is read and written.
    accesses: BTreeSet<At>,
    /// What is written.
    written: BTreeSet<TermId>,
    /// The objects that pointers may belong to: they are set to these, and walk. Pointers that ends
    /// are counted from may stay where they were set to.
    homes: BTreeSet<(TermId, TermId)>,
}

/// What is guessed at a point.
#[derive(Default)]
pub struct Guessed {
    /// The guesses.
    pub guesses: Vec<TermId>,
    /// The variables that they speak of.
    pub variables: Vec<Variable>,
}

impl Texts {
    /// Finds the zeros that texts may end at, and what is read.
    pub fn new(ground: &Ground<'_, '_>, terms: &mut Terms, steps: &[Step]) -> Texts {
        let mut texts = Texts::default();
        for step in steps {
            for (memory, address) in texts_read(ground, terms, step.condition, Compared::Any) {
                texts.access(ground, terms, (memory, address));
            }
            for (memory, address) in texts_read(ground, terms, step.condition, Compared::WithZero) {
                texts.end(ground, terms, step, (memory, address));
            }
            for (id, value) in step.state.written() {
                let set = ground.semantics.constant(terms, id);
                let owners = ground.semantics.layout.ownership();
                let is_owner = owners.is_some_and(|known| known.all_owners().any(|of| of.1 == id));
                let leads = is_owner && is_word(terms, set) || is_pointer(ground, terms, id, set);
                if leads && value != set && is_said_of_state(ground, terms, value) {
                    texts.homes.insert((set, value));
                }
                if !matches!(
                    ground.semantics.layout.get(id).kind,
                    StateKind::Memory { .. }
                ) {
                    continue;
                }
                let memory = ground.semantics.constant(terms, id);
                for (address, written) in stores(terms, value) {
                    if is_zero(terms, written) {
                        texts.end(ground, terms, step, (memory, address));
                    }
                    texts.access(ground, terms, (memory, address));
                    texts.written.insert(address);
                }
            }
        }
        texts.hand_around(ground, terms);
        let addresses: Vec<TermId> = texts.ends.iter().map(|end| end.1).collect();
        let named = terms.free_constants(&addresses);
        texts.homes.retain(|(set, _)| {
            let pointer = matches!(ground.constants.meaning(*set), Some(Meaning::Now(id))
                if is_pointer(ground, terms, id, *set));
            !pointer || named.contains(set)
        });
        texts
    }

    /// What is set from what is set to a fixed object may belong to that, too: pointers are handed
    /// around.
    fn hand_around(&mut self, ground: &Ground<'_, '_>, terms: &Terms) {
        let mut new: Vec<(TermId, TermId)> = self.homes.iter().copied().collect();
        while let Some((owner, home)) = new.pop() {
            if !is_fixed(ground, terms, home) {
                continue;
            }
            let after: Vec<TermId> = self
                .homes
                .iter()
                .filter(|(_, from)| *from == owner)
                .map(|(to, _)| *to)
                .collect();
            for to in after {
                if self.homes.len() < HOMES && self.homes.insert((to, home)) {
                    new.push((to, home));
                }
            }
        }
    }

    /// Whether there is nothing to be guessed.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty() || self.accesses.is_empty()
    }

    /// The variables that say where zeros are: they may be spoken of where the program has forgotten
    /// them.
    pub fn limits(&self, ground: &Ground<'_, '_>, terms: &Terms) -> BTreeSet<StateVarId> {
        let addresses: Vec<TermId> = self.ends.iter().map(|end| end.1).collect();
        let ownership = ground.semantics.layout.ownership();
        let mut found = BTreeSet::new();
        for constant in terms.free_constants(&addresses) {
            if let Some(Meaning::Now(id)) = ground.constants.meaning(constant) {
                found.insert(id);
                found.extend(ownership.and_then(|known| known.owners(id)));
            }
        }
        found
    }

    /// A zero at the end of a step, as far as its address can be said of the state there.
    fn end(&mut self, ground: &Ground<'_, '_>, terms: &mut Terms, step: &Step, (memory, at): At) {
        for address in at_end(ground, terms, step, at) {
            if self.ends.len() < ENDS {
                self.ends.insert((memory, address));
            }
        }
    }

    fn access(&mut self, ground: &Ground<'_, '_>, terms: &Terms, (memory, address): At) {
        if self.accesses.len() < ACCESSES && is_said_of_state(ground, terms, address) {
            self.accesses.insert((memory, address));
        }
    }

    /// What may hold of texts at a point.
    pub fn guesses(&self, ground: &Ground<'_, '_>, terms: &mut Terms, live: &Live) -> Guessed {
        let mut found = Guessed::default();
        let known = |terms: &Terms, &&(memory, address): &&At| {
            is_known(ground, terms, live, memory) && is_known(ground, terms, live, address)
        };
        let ends: Vec<At> = self
            .ends
            .iter()
            .filter(|end| known(terms, end))
            .copied()
            .collect();
        // Of what is only written, the memory is never live.
        let addressed = |access: &&At| is_known(ground, terms, live, access.1);
        let accesses = self.accesses.iter().filter(addressed);
        let accesses: Vec<At> = accesses.take(HERE).copied().collect();
        for &(memory, address) in &ends {
            let element = terms.select(memory, address);
            let zero = terms.bv(0, terms.width(element));
            let element = found.named(terms, element);
            found.guesses.push(terms.eq(element, zero));
        }
        // An end that is known is not behind others, either.
        for &(memory, address) in accesses.iter().chain(&ends) {
            for &(other, end) in &ends {
                if other != memory || end == address {
                    continue;
                }
                if let Some([low, high]) = apart(ground, terms, live, address, end) {
                    found.order(terms, low, high);
                }
            }
        }
        for &(owner, home) in &self.homes {
            if [owner, home]
                .iter()
                .all(|&at| is_known(ground, terms, live, at))
            {
                let home = found.named(terms, home);
                let owner = found.named(terms, owner);
                found.guesses.push(terms.eq(owner, home));
            }
        }
        let (mut distances, mut written) = (Vec::new(), Vec::new());
        for &(_, address) in &accesses {
            if let Some(distance) = distance(ground, terms, live, address)
                && !distances.contains(&distance)
            {
                distances.push(distance);
                if self.written.contains(&address) {
                    written.push(distance);
                }
            }
        }
        for &one in &distances {
            for &other in &distances {
                // How two compare that are a number apart is known.
                let apart = sum(terms, one).zip(sum(terms, other));
                if apart.is_some_and(|(one, other)| !difference(one, &other).0.is_empty()) {
                    found.order(terms, one, other);
                }
            }
        }
        found.sums(terms, &written, &distances);
        found
    }
}

impl Guessed {
    /// What is copied from two texts comes no further than both together.
    fn sums(&mut self, terms: &mut Terms, written: &[TermId], distances: &[TermId]) {
        if distances.len() > SUMS {
            return;
        }
        for &all in written {
            for (number, &one) in distances.iter().enumerate() {
                for &other in &distances[number + 1..] {
                    if one != all && other != all {
                        let both = terms.bv_add(one, other);
                        self.order(terms, all, both);
                    }
                }
            }
        }
    }

    /// A name for a term over the state.
    fn named(&mut self, terms: &mut Terms, term: TermId) -> TermId {
        if matches!(terms.op(term), Op::Constant(_)) {
            let variable = Variable::unsigned(terms, term, term);
            if !self.variables.contains(&variable) {
                self.variables.push(variable);
            }
            return term;
        }
        if terms.free_constants(&[term]).is_empty() {
            return term;
        }
        let sort = terms.sort(term);
        let constant = terms.constant(&format!("#text {term:?}"), sort);
        let variable = Variable::unsigned(terms, constant, term);
        if !self.variables.contains(&variable) {
            self.variables.push(variable);
        }
        constant
    }

    /// That one word is at most another one.
    pub(crate) fn order(&mut self, terms: &mut Terms, low: TermId, high: TermId) {
        let [low, high] = [low, high].map(|word| self.named(terms, word));
        let guess = terms.bv_ule(low, high);
        if !matches!(terms.op(guess), Op::Bool(_)) && !self.guesses.contains(&guess) {
            self.guesses.push(guess);
        }
    }
}

/// Which reads are looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Compared {
    /// Those that are compared with zero.
    WithZero,
    /// All.
    Any,
}

/// What a condition reads in memories of the state.
fn texts_read(
    ground: &Ground<'_, '_>,
    terms: &Terms,
    condition: TermId,
    compared: Compared,
) -> Vec<At> {
    let parts = terms.postorder(&[condition]);
    let mut found = Vec::new();
    for part in parts {
        let read = match compared {
            Compared::Any => Some(part),
            Compared::WithZero if *terms.op(part) == Op::Eq => {
                let args = terms.args(part);
                let zero = args.iter().any(|&arg| is_zero(terms, arg));
                zero.then(|| args.iter().copied().find(|&arg| !is_zero(terms, arg)))
                    .flatten()
            }
            Compared::WithZero => None,
        };
        let Some(mut read) = read else { continue };
        while let Op::SignExtend(_) | Op::ZeroExtend(_) = terms.op(read) {
            read = terms.args(read)[0];
        }
        if *terms.op(read) != Op::Select {
            continue;
        }
        let args = terms.args(read);
        if let Some(memory) = root(ground, terms, args[0]) {
            found.push((memory, args[1]));
        }
    }
    found
}

/// Whether a term is the number zero.
fn is_zero(terms: &Terms, term: TermId) -> bool {
    literal(terms, term) == Some(0)
}

/// Whether a term is one word, and not an array of such.
fn is_word(terms: &Terms, term: TermId) -> bool {
    matches!(terms.sort(term), Sort::BitVec(_))
}

/// Whether an address speaks of nothing but single values of the state.
fn is_said_of_state(ground: &Ground<'_, '_>, terms: &Terms, address: TermId) -> bool {
    let constants = terms.free_constants(&[address]);
    terms.postorder(&[address]).len() <= LARGE
        && constants
            .into_iter()
            .all(|constant| match ground.constants.meaning(constant) {
                Some(Meaning::Now(id)) => !ground.semantics.layout.get(id).kind.is_array(),
                Some(Meaning::Origin) => true,
                _ => false,
            })
}

/// An address at the beginning of a step, said of the state at its end in all ways that are plain.
fn at_end(ground: &Ground<'_, '_>, terms: &mut Terms, step: &Step, at: TermId) -> Vec<TermId> {
    let mut found = Vec::new();
    let written: Vec<(TermId, TermId)> = step
        .state
        .written()
        .map(|(id, value)| (ground.semantics.constant(terms, id), value))
        .filter(|&(constant, value)| constant != value)
        .collect();
    let written: BTreeMap<TermId, TermId> = written.into_iter().collect();
    // What was chosen on the way is what it was put into.
    let mut kept = BTreeMap::new();
    for (&constant, &value) in &written {
        let chosen = matches!(terms.op(value), Op::Constant(_));
        if chosen && ground.constants.meaning(value).is_none() {
            kept.insert(value, constant);
        }
    }
    let at = terms.substitute(at, &kept);
    // What has moved is moved back.
    let mut back = BTreeMap::new();
    let mut lost = false;
    for constant in terms.free_constants(&[at]) {
        let Some(&value) = written.get(&constant) else {
            continue;
        };
        if kept.contains_key(&value) {
            continue;
        }
        match shifted(terms, value) {
            Some((of, by)) if of == constant => {
                let by = terms.bv(by, terms.width(constant));
                back.insert(constant, terms.bv_sub(constant, by));
            }
            _ => lost = true,
        }
    }
    if !lost {
        let address = terms.substitute(at, &back);
        if is_said_of_state(ground, terms, address) {
            found.push(address);
        }
    }
    // A pointer that was set to it, or to something a number apart, leads to it.
    let Some(own) = sum(terms, at).filter(|_| !is_fixed(ground, terms, at)) else {
        return found;
    };
    for (id, value) in step.state.written() {
        let constant = ground.semantics.constant(terms, id);
        if constant == value || !is_pointer(ground, terms, id, constant) {
            continue;
        }
        let Some(its) = sum(terms, value) else {
            continue;
        };
        let (rest, number) = difference(own.clone(), &its);
        if rest.is_empty() && !its.0.is_empty() && !back.contains_key(&constant) {
            let number = terms.bv(number, terms.width(at));
            let address = terms.bv_add(constant, number);
            if is_said_of_state(ground, terms, address) && !found.contains(&address) {
                found.push(address);
            }
        }
    }
    found
}

/// Whether an address is the same everywhere.
pub(crate) fn is_fixed(ground: &Ground<'_, '_>, terms: &Terms, address: TermId) -> bool {
    let constants = terms.free_constants(&[address]);
    let origin = |&at: &TermId| ground.constants.meaning(at) == Some(Meaning::Origin);
    constants.iter().all(origin)
}

/// Where the object begins that the only pointer in an address leads into.
fn beginning(
    ground: &Ground<'_, '_>,
    terms: &mut Terms,
    live: &Live,
    address: TermId,
) -> Option<TermId> {
    let ownership = ground.semantics.layout.ownership()?;
    let mut found = None;
    for constant in terms.free_constants(&[address]) {
        if let Some(Meaning::Now(id)) = ground.constants.meaning(constant)
            && let Some(owner) = ownership.owners(id)
        {
            if found.is_some() || !live.now.contains(&owner) {
                return None;
            }
            found = Some(owner);
        }
    }
    let owner = ground.semantics.constant(terms, found?);
    Some(terms.resize(owner, terms.width(address), Sign::Unsigned))
}

/// How far an address is from where its object begins; of arrays with names, what is added.
fn distance(
    ground: &Ground<'_, '_>,
    terms: &mut Terms,
    live: &Live,
    address: TermId,
) -> Option<TermId> {
    if let Some(begin) = beginning(ground, terms, live, address) {
        return Some(terms.bv_sub(address, begin));
    }
    let (mut summands, _) = sum(terms, address)?;
    summands.retain(|&term, _| ground.constants.meaning(term) != Some(Meaning::Origin));
    let width = terms.width(address);
    (!summands.is_empty() && summands.values().all(|&factor| factor > 0))
        .then(|| added(terms, &(summands, 0), width, 1))
}

/// Two words of which the first is at most the second if an address is not behind another one.
fn apart(
    ground: &Ground<'_, '_>,
    terms: &mut Terms,
    live: &Live,
    address: TermId,
    end: TermId,
) -> Option<[TermId; 2]> {
    let apart = difference(sum(terms, address)?, &sum(terms, end)?);
    if apart.0.is_empty() {
        return None;
    }
    if let Some(begin) = beginning(ground, terms, live, address) {
        return Some([address, end].map(|at| terms.bv_sub(at, begin)));
    }
    let width = terms.width(address);
    let [low, high] = [1, -1].map(|sign| added(terms, &apart, width, sign));
    Some([low, high])
}

/// The summands of a sum with one sign, added up.
fn added(terms: &mut Terms, (summands, number): &Sum, width: u32, sign: i128) -> TermId {
    let mut all = terms.bv((number * sign).max(0), width);
    for (&term, &factor) in summands.iter().filter(|(_, factor)| **factor * sign > 0) {
        let factor = terms.bv(factor.abs(), width);
        let part = terms.bv_mul(factor, term);
        all = terms.bv_add(all, part);
    }
    all
}
