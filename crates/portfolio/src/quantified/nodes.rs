//! Invariants about all nodes of linked structures as people write them: fields by their names, and
//! words for what no program says: `\valid(p)` where something lives, `\base_addr(p)` for where the
//! object of a pointer begins, `\block_length(p)` for its size, `allocated(p)` and `freed(p)` for what
//! became of it, `referrer(p)` for where a pointer to there was written last.

use super::{flattened, literal, name, sum};
use hardbop_cfront::ids::VarId;
use hardbop_cfront::points_to::ClassId;
use hardbop_cfront::types::{Record, Type};
use hardbop_logic::{Op, Sort, TermId, Terms};
use hardbop_semantics::Semantics;
use hardbop_semantics::constants::{Constants, Meaning};
use hardbop_semantics::layout::{StateKind, StateVarId};
use std::collections::BTreeMap;

/// What an array of the state says of nodes.
#[derive(Clone, Copy)]
enum Says {
    /// A field so far behind the start of a node.
    Field(ClassId, i128),
    /// How large they are, and whether they live.
    Extent(ClassId),
    /// Whether, and by which allocation, they were taken.
    Born(ClassId),
    /// Whether they were freed.
    Freed(ClassId),
    /// To which objects the pointers of such a field belong.
    Owner(ClassId, i128),
    /// Where a pointer to somewhere was written last.
    Referrer,
    /// Which statement wrote a pointer last.
    Writer(ClassId, i128),
    /// How many nodes follow by a pointer.
    Rank(ClassId, i128),
}

/// The words for nodes.
struct Nodes<'a, 'p> {
    semantics: &'a Semantics<'p>,
    constants: &'a Constants,
    says: BTreeMap<StateVarId, Says>,
    /// Cells that say to which object a variable's pointer belongs, with the names of the variables.
    owners: BTreeMap<StateVarId, String>,
}

/// A formula about nodes as text; `words` are arbitrary.
pub(super) fn text(
    semantics: &Semantics<'_>,
    constants: &Constants,
    terms: &mut Terms,
    words: &[TermId],
    formula: TermId,
) -> String {
    let nodes = Nodes::new(semantics, constants);
    let mut parts = Vec::new();
    for part in flattened(terms, &Op::And, formula) {
        let spoken = terms.free_constants(&[part]);
        let about = words.iter().filter(|word| spoken.contains(word));
        let about: Vec<TermId> = about.copied().collect();
        let kinds = about.iter().map(|&word| nodes.kind_of(terms, part, word));
        let quantified: Vec<String> = kinds
            .zip(&about)
            .map(|(kind, &word)| format!("{kind}{}", name(words, word)))
            .collect();
        let mut map = BTreeMap::new();
        for &word in &about {
            let sort = terms.sort(word);
            map.insert(word, terms.constant(&name(words, word), sort));
        }
        let called = terms.substitute(part, &map);
        let called = nodes.named(terms, called);
        let bound: Vec<TermId> = map.into_values().collect();
        let (text, several) = implication(terms, &bound, called);
        parts.push(match (quantified.as_slice(), several) {
            ([], true) => format!("({text})"),
            ([], false) => text,
            (all, _) => format!("(\\forall {}; {text})", all.join(", ")),
        });
    }
    match parts.is_empty() {
        true => terms.infix(formula).to_string(),
        false => parts.join(" && "),
    }
}

impl<'a, 'p> Nodes<'a, 'p> {
    fn new(semantics: &'a Semantics<'p>, constants: &'a Constants) -> Nodes<'a, 'p> {
        let layout = &semantics.layout;
        let mut says = BTreeMap::new();
        for (&class, &born) in layout.births() {
            says.insert(born, Says::Born(class));
            if let Some(freed) = layout.freed(class) {
                says.insert(freed, Says::Freed(class));
            }
            if let Some(extents) = layout.ownership().and_then(|all| all.extents(class)) {
                says.insert(extents, Says::Extent(class));
            }
            let described = &semantics.points_to.classes()[class.0 as usize];
            let mut allocations = described.allocations.iter();
            let start = allocations.find_map(|&edge| semantics.points_to.allocation(edge));
            let start = start.map_or(0, |spot| spot.offset);
            let regions = semantics.points_to.regions();
            for region in regions.of_class(class) {
                let id = layout.region(region);
                let offset = i128::from(regions.get(region).start - start);
                if !matches!(layout.get(id).kind, StateKind::Memory { .. }) {
                    continue;
                }
                says.insert(id, Says::Field(class, offset));
                let owners = layout.ownership().and_then(|all| all.owners(id));
                let traces = layout.traces();
                let ghosts = [
                    (owners, Says::Owner(class, offset)),
                    (layout.references(id), Says::Referrer),
                    (traces.writer(id), Says::Writer(class, offset)),
                    (
                        traces.rank(id).map(|rank| rank.ghost),
                        Says::Rank(class, offset),
                    ),
                ];
                says.extend(
                    ghosts
                        .into_iter()
                        .filter_map(|(id, says)| Some((id?, says))),
                );
            }
        }
        let mut owners = BTreeMap::new();
        for (held, owner) in layout.ownership().into_iter().flat_map(|o| o.all_owners()) {
            if matches!(layout.get(owner).kind, StateKind::Identity) {
                owners.insert(owner, layout.get(held).name.clone());
            }
        }
        Nodes {
            semantics,
            constants,
            says,
            owners,
        }
    }

    fn now(&self, term: TermId) -> Option<StateVarId> {
        match self.constants.meaning(term) {
            Some(Meaning::Now(id)) => Some(id),
            _ => None,
        }
    }

    /// The type of nodes: that which some variable points to as such.
    fn record(&self, class: ClassId) -> Option<&'p Record> {
        let (program, points_to) = (self.semantics.program, self.semantics.points_to);
        let mut variables = (0..).map(VarId).zip(&program.variables);
        variables.find_map(|(id, variable)| {
            let &Type::Pointer(to) = program.types.get(variable.ty) else {
                return None;
            };
            let &Type::Record(record) = program.types.get(to) else {
                return None;
            };
            let pointee = points_to.pointee(points_to.variable(id)?)?;
            let start = self.start(class);
            (pointee.class == class && pointee.offset == start)
                .then(|| program.types.record(record))
        })
    }

    /// Where nodes begin in their class.
    fn start(&self, class: ClassId) -> i64 {
        let points_to = self.semantics.points_to;
        let described = &points_to.classes()[class.0 as usize];
        let mut allocations = described.allocations.iter();
        let start = allocations.find_map(|&edge| points_to.allocation(edge));
        start.map_or(0, |spot| spot.offset)
    }

    /// The type of an arbitrary word, in front of its name: of what it is a node is told by what is
    /// read with it.
    fn kind_of(&self, terms: &Terms, formula: TermId, word: TermId) -> String {
        let reads = terms.postorder(&[formula]).into_iter().filter(|&term| {
            let args = terms.args(term);
            *terms.op(term) == Op::Select && terms.free_constants(&args[1..]) == [word].into()
        });
        let class = reads.into_iter().find_map(|read| {
            match self.says.get(&self.now(terms.args(read)[0])?)? {
                Says::Field(class, _)
                | Says::Extent(class)
                | Says::Born(class)
                | Says::Freed(class) => Some(*class),
                _ => None,
            }
        });
        match class.and_then(|class| self.record(class)) {
            Some(record) => format!("{} *", record.name),
            None => "integer ".to_owned(),
        }
    }

    /// A formula with names for what is said of nodes.
    fn named(&self, terms: &mut Terms, formula: TermId) -> TermId {
        let mut map = BTreeMap::new();
        for part in terms.postorder(&[formula]) {
            let plain = terms.substitute(part, &map);
            let called = match terms.op(part) {
                Op::Constant(_) => self.owner(terms, part),
                Op::Select => self.read(terms, part, plain),
                Op::Eq => self.equation(terms, part, &map),
                _ => None,
            };
            if let Some(called) = called {
                map.insert(part, called);
            }
        }
        terms.substitute(formula, &map)
    }

    /// The object of a variable's pointer.
    fn owner(&self, terms: &mut Terms, constant: TermId) -> Option<TermId> {
        let held = self.owners.get(&self.now(constant)?)?;
        let own = held.rsplit("::").next().unwrap_or(held);
        let own = own.split('#').next().unwrap_or(own);
        let text = format!("\\base_addr({own})");
        let sort = terms.sort(constant);
        Some(terms.constant(&text, sort))
    }

    /// A value that is read; `plain` is the term with names for what is read before.
    fn read(&self, terms: &mut Terms, part: TermId, plain: TermId) -> Option<TermId> {
        let says = *self.says.get(&self.now(terms.args(part)[0])?)?;
        let address = terms.args(plain)[1];
        let text = match says {
            Says::Field(class, offset) => self.field(terms, class, offset, address)?,
            Says::Owner(class, offset) => {
                let held = self.field(terms, class, offset, address)?;
                format!("\\base_addr({held})")
            }
            Says::Referrer => format!("referrer({})", terms.infix(address)),
            Says::Writer(class, offset) => {
                format!("writer(&{})", self.field(terms, class, offset, address)?)
            }
            Says::Rank(class, offset) => {
                format!("length(&{})", self.field(terms, class, offset, address)?)
            }
            Says::Extent(_) | Says::Born(_) | Says::Freed(_) => return None,
        };
        let sort = terms.sort(part);
        Some(terms.constant(&text, sort))
    }

    /// A field of the node that an address lies in.
    fn field(
        &self,
        terms: &mut Terms,
        class: ClassId,
        offset: i128,
        address: TermId,
    ) -> Option<String> {
        let base = less(terms, address, offset);
        let Op::Constant(symbol) = terms.op(base) else {
            return None;
        };
        let base = terms.symbol_name(*symbol).to_owned();
        let fields = self.record(class).map(|record| record.fields.as_slice());
        let mut fields = fields.unwrap_or_default().iter();
        let field = fields.find(|field| i128::from(field.offset()) == offset)?;
        Some(format!("{base}->{}", field.name.as_deref()?))
    }

    /// What an equation says of a node that it reads something of.
    fn equation(
        &self,
        terms: &mut Terms,
        part: TermId,
        map: &BTreeMap<TermId, TermId>,
    ) -> Option<TermId> {
        let sides = [terms.args(part)[0], terms.args(part)[1]];
        for (one, other) in [(sides[0], sides[1]), (sides[1], sides[0])] {
            if *terms.op(one) != Op::Select {
                continue;
            }
            let id = self.now(terms.args(one)[0]);
            let Some(says) = id.and_then(|id| self.says.get(&id)).copied() else {
                continue;
            };
            let at = terms.args(one)[1];
            let at = terms.substitute(at, map);
            let node = terms.infix(at).to_string();
            let number = literal(terms, other);
            let (text, holds) = match (says, number) {
                (Says::Extent(_), Some(0)) => (format!("\\valid({node})"), false),
                (Says::Extent(_), Some(more)) => {
                    (format!("\\block_length({node}) == {}", more - 1), true)
                }
                (Says::Born(_), Some(0)) => (format!("allocated({node})"), false),
                (Says::Born(_), Some(_)) if terms.width(one) == 1 => {
                    (format!("allocated({node})"), true)
                }
                (Says::Born(_), Some(by)) => (format!("allocation({node}) == {by}"), true),
                (Says::Freed(_), Some(gone)) => (format!("freed({node})"), gone != 0),
                (Says::Referrer, _) => {
                    let by = terms.substitute(other, map);
                    let read = terms.substitute(one, map);
                    let by = self.place(terms, id?, by)?;
                    (format!("{} == {by}", terms.infix(read)), true)
                }
                _ => continue,
            };
            let fact = terms.constant(&text, Sort::Bool);
            return Some(if holds { fact } else { terms.not(fact) });
        }
        None
    }

    /// The address of the field that such references are noted for.
    fn place(&self, terms: &mut Terms, referrer: StateVarId, address: TermId) -> Option<String> {
        let layout = &self.semantics.layout;
        let mut fields = self.says.iter();
        let (class, offset) = fields.find_map(|(&id, says)| match *says {
            Says::Field(class, offset) if layout.references(id) == Some(referrer) => {
                Some((class, offset))
            }
            _ => None,
        })?;
        let field = self.field(terms, class, offset, address)?;
        Some(format!("&{field}"))
    }
}

/// A word less a number.
fn less(terms: &mut Terms, word: TermId, number: i128) -> TermId {
    let width = terms.width(word);
    let Some((summands, constant)) = sum(terms, word) else {
        return word;
    };
    let number = constant - number;
    match summands.into_iter().collect::<Vec<_>>()[..] {
        [(only, 1)] if number == 0 => only,
        _ => {
            let number = terms.bv(number - constant, width);
            terms.bv_add(word, number)
        }
    }
}

/// The parts of a disjunction, those in negated conjunctions among them.
fn disjuncts(terms: &mut Terms, formula: TermId) -> Vec<TermId> {
    let mut found = Vec::new();
    let mut work = vec![formula];
    while let Some(part) = work.pop() {
        if *terms.op(part) == Op::Or {
            work.extend(terms.args(part).iter().rev());
            continue;
        }
        match terms
            .negated(part)
            .filter(|&inner| *terms.op(inner) == Op::And)
        {
            Some(inner) => {
                for conjunct in terms.args(inner).to_vec().into_iter().rev() {
                    work.push(terms.not(conjunct));
                }
            }
            None if found.contains(&part) => {}
            None => found.push(part),
        }
    }
    found
}

/// A disjunction with what it asks of nodes in front of an arrow: that they live, that pointers lead
/// somewhere, that they are not those with a name. Says, too, whether it has several parts without
/// an arrow.
fn implication(terms: &mut Terms, bound: &[TermId], formula: TermId) -> (String, bool) {
    let (mut lives, mut given, mut then) = (Vec::new(), Vec::new(), Vec::new());
    for part in disjuncts(terms, formula) {
        let opposite = terms.not(part);
        let is_fact = matches!(terms.op(opposite), Op::Constant(_));
        let asks = *terms.op(part) == Op::Eq && {
            let sides = terms.args(part);
            let null = sides.iter().any(|&side| literal(terms, side) == Some(0));
            null || sides.iter().any(|side| bound.contains(side))
                && sides
                    .iter()
                    .all(|&s| matches!(terms.op(s), Op::Constant(_)))
        };
        match () {
            () if is_fact => lives.push(opposite),
            () if asks => given.push(opposite),
            () => then.push(part),
        }
    }
    if then.is_empty() {
        // The last one is what follows.
        let last = given.pop().or_else(|| lives.pop());
        then.extend(last.map(|last| terms.not(last)));
    }
    let given: Vec<String> = lives
        .iter()
        .chain(&given)
        .map(|&part| terms.infix(part).to_string())
        .collect();
    let several = then.len() > 1;
    let then = terms.or(&then);
    let then = terms.infix(then);
    match given.is_empty() {
        true => (then.to_string(), several),
        false => (format!("{} ==> {then}", given.join(" && ")), true),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_asked_of_nodes_comes_first() {
        let mut terms = Terms::new();
        let pointer = Sort::BitVec(64);
        let [k, p, next] = ["k", "p", "k->next"].map(|name| terms.constant(name, pointer));
        let [lives, sorted] = ["\\valid(k)", "sorted"].map(|n| terms.constant(n, Sort::Bool));
        let null = terms.bv(0, 64);
        let (last, named) = (terms.eq(next, null), terms.eq(k, p));
        let dead = terms.not(lives);
        let fact = terms.or(&[sorted, last, dead, named]);
        let (text, several) = implication(&mut terms, &[k], fact);
        assert_eq!(text, "\\valid(k) && k->next != 0 && k != p ==> sorted");
        assert!(several);
    }
}
