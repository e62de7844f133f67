//! Initialisers that replace parts of others.
//!
//! The type checker keeps the values of an initialiser one after the other and forgets its braces.
//! That is right as long as whoever comes later writes all that came before in its place: but
//! braces set what they do not mention to 0 (`{ [0].y = 1, [0] = { 2 } }`), another member of a
//! union sets the rest of it to 0, and gcc does not evaluate what is replaced. Such initialisers
//! are refused.

use super::unevaluated::has_effects;
use rucc_ast::{
    Ast, BinaryOp, Decl, DeclId, Designator, Expr, ExprId, Init, InitId, InitItem, InitItemList,
};
use rucc_base::Symbol;
use rucc_diag::Diagnostic;
use rucc_types::{RecordKind, Types};
use std::collections::{HashMap, HashSet};

/// Refuses the first initialiser that replaces a part of another one.
pub(super) fn refused(ast: &Ast, types: &Types) -> Option<Diagnostic> {
    let search = Search {
        ast,
        types,
        unions: members(types, RecordKind::Union),
        structs: members(types, RecordKind::Struct),
    };
    let mut pending: Vec<InitId> = Vec::new();
    for index in 0..ast.counts().decls {
        if let Decl::Var { declarators, .. } = ast[DeclId::from_usize(index)] {
            pending.extend(ast[declarators].iter().filter_map(|declared| declared.init));
        }
    }
    for index in 0..ast.counts().exprs {
        if let Expr::CompoundLiteral { init, .. } = ast[ExprId::from_usize(index)] {
            pending.push(init);
        }
    }
    while let Some(init) = pending.pop() {
        let Init::List(list) = ast[init] else {
            continue;
        };
        if let Some(item) = search.replaces(list) {
            let message = "not supported: an initialiser that replaces a part of another one";
            return Some(Diagnostic::error(message, item.span));
        }
        pending.extend(ast[list].iter().map(|item| item.init));
    }
    None
}

/// The records of a kind that names are members of.
fn members(types: &Types, kind: RecordKind) -> HashMap<Symbol, Vec<usize>> {
    let mut members: HashMap<Symbol, Vec<usize>> = HashMap::new();
    for (number, (_, record)) in types.records().enumerate() {
        let fields = record.fields.iter().filter(|_| record.kind == kind);
        for name in fields.filter_map(|field| field.name) {
            members.entry(name).or_default().push(number);
        }
    }
    members
}

/// One step towards what an item of a list initialises.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    Field(Symbol),
    /// Elements from one index to another one.
    Elements(i128, i128),
    /// The element of a constant that has a name.
    Named(Symbol),
    /// An element, but which one is not known.
    Element,
    /// Elements, but which ones is not known.
    Some,
    /// What comes behind the item before, but what that is is not known.
    Next,
}

/// Whether two steps may lead to the same part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Meet {
    Apart,
    Same,
    /// They are members of one union.
    Union,
}

struct Search<'a> {
    ast: &'a Ast,
    types: &'a Types,
    unions: HashMap<Symbol, Vec<usize>>,
    structs: HashMap<Symbol, Vec<usize>>,
}

impl Search<'_> {
    /// The first item of a list that replaces a part of an item before it.
    fn replaces(&self, list: InitItemList) -> Option<InitItem> {
        let items = &self.ast[list];
        if items.iter().all(|item| item.designators.is_empty()) {
            return None;
        }
        let paths = self.paths(items);
        let first = items.iter().position(|item| !item.designators.is_empty())?;
        if first == 0 && self.are_apart(&paths) {
            return None;
        }
        // Nothing before the first designator comes twice.
        for (number, item) in items.iter().enumerate().skip(first) {
            let path = &paths[number];
            let mut before = items.iter().zip(&paths).take(number);
            if before.any(|(other, earlier)| self.takes_from(item, path, other, earlier))
                || self.is_early(item, first)
            {
                return Some(*item);
            }
        }
        None
    }

    /// What each item initialises.
    fn paths(&self, items: &[InitItem]) -> Vec<Vec<Step>> {
        let mut next = Some(0);
        let mut paths = Vec::new();
        for item in items {
            let designators = &self.ast[item.designators];
            let path: Vec<Step> = match designators.is_empty() {
                true => vec![next.map_or(Step::Next, |at| Step::Elements(at, at))],
                false => designators.iter().map(|&step| self.step(step)).collect(),
            };
            // A value without braces may be the first of several that fill one element; then those
            // that follow are counted too far, and are numbers.
            next = match path[..] {
                [Step::Elements(_, last)] => Some(last + 1),
                _ => None,
            };
            paths.push(path);
        }
        paths
    }

    fn step(&self, designator: Designator) -> Step {
        match designator {
            Designator::Field(name) | Designator::ObsoleteField(name) => Step::Field(name),
            Designator::Index(index) => match (self.number(index), self.ast[index]) {
                (Some(at), _) => Step::Elements(at, at),
                (None, Expr::Name(name)) => Step::Named(name),
                _ => Step::Element,
            },
            Designator::Range { lo, hi } => match (self.number(lo), self.number(hi)) {
                (Some(first), Some(last)) => Step::Elements(first, last),
                _ => Step::Some,
            },
        }
    }

    /// The value of a plain number.
    fn number(&self, id: ExprId) -> Option<i128> {
        match self.ast[id] {
            Expr::Int(int) => i128::try_from(self.ast[int].value).ok(),
            Expr::Binary { op, lhs, rhs } => {
                let (Expr::Int(a), Expr::Int(b)) = (self.ast[lhs], self.ast[rhs]) else {
                    return None;
                };
                let [a, b] = [a, b].map(|int| i128::try_from(self.ast[int].value).ok());
                match op {
                    BinaryOp::Add => a?.checked_add(b?),
                    BinaryOp::Sub => a?.checked_sub(b?),
                    _ => None,
                }
            }
            _ => None,
        }
    }

    fn meet(&self, one: Step, other: Step) -> Meet {
        let together = match (one, other) {
            (Step::Field(one), Step::Field(other)) if one == other => true,
            (Step::Field(one), Step::Field(other)) => {
                return match self.share_a_union(one, other) {
                    true => Meet::Union,
                    false => Meet::Apart,
                };
            }
            (Step::Elements(a, b), Step::Elements(c, d)) => a <= d && c <= b,
            (Step::Named(one), Step::Named(other)) => one == other,
            (Step::Some | Step::Next, _) | (_, Step::Some | Step::Next) => true,
            _ => false,
        };
        if together { Meet::Same } else { Meet::Apart }
    }

    /// Whether two names are members of one union, and of no struct, as far as names say so.
    fn share_a_union(&self, one: Symbol, other: Symbol) -> bool {
        let share = |members: &HashMap<Symbol, Vec<usize>>| {
            let (Some(of), Some(among)) = (members.get(&one), members.get(&other)) else {
                return false;
            };
            of.iter().any(|record| among.contains(record))
        };
        share(&self.unions) && !share(&self.structs)
    }

    /// Whether it is plain that no two items lead to the same part. Tables can be long.
    fn are_apart(&self, paths: &[Vec<Step>]) -> bool {
        let mut names = HashSet::new();
        let mut end = 0;
        paths.iter().all(|path| match path[0] {
            Step::Field(name) => !self.unions.contains_key(&name) && names.insert(name),
            Step::Elements(first, last) => {
                let behind = first >= end;
                end = last + 1;
                behind
            }
            _ => false,
        })
    }

    /// Whether an item names a member that items without a name may have initialised.
    fn is_early(&self, item: &InitItem, first: usize) -> bool {
        let Some(&(Designator::Field(name) | Designator::ObsoleteField(name))) =
            self.ast[item.designators].first()
        else {
            return false;
        };
        matches!(self.ast[item.init], Init::List(_))
            && self.types.records().any(|(_, record)| {
                let mut early = record.fields.iter().take(first);
                early.any(|field| field.name == Some(name))
            })
    }

    /// Whether an item takes away something of one before it that it does not write itself.
    fn takes_from(
        &self,
        item: &InitItem,
        path: &[Step],
        other: &InitItem,
        before: &[Step],
    ) -> bool {
        for (&one, &earlier) in path.iter().zip(before) {
            match self.meet(one, earlier) {
                Meet::Apart => return false,
                Meet::Union => return true,
                Meet::Same => {}
            }
        }
        let deeper = path.len() > before.len();
        match (self.ast[item.init], self.ast[other.init]) {
            // What is replaced in part is not there for gcc, if it is no constant.
            (_, Init::Expr(_)) if deeper => true,
            _ if deeper => false,
            _ if self.acts(other.init) => true,
            (Init::Expr(_), _) => false,
            (Init::List(list), _) => path.len() < before.len() || !self.covers(list, other.init),
        }
    }

    /// Whether a list writes all that an initialiser in its place has written.
    fn covers(&self, list: InitItemList, other: InitId) -> bool {
        let Init::List(other) = self.ast[other] else {
            return false;
        };
        let mut pending = vec![(list, other)];
        while let Some((list, other)) = pending.pop() {
            let (items, others) = (&self.ast[list], &self.ast[other]);
            let named = |items: &[InitItem]| items.iter().all(|item| !item.designators.is_empty());
            let by_name = named(items) && named(others);
            for (number, other) in others.iter().enumerate() {
                let path = &self.ast[other.designators];
                let item = match by_name {
                    true => items
                        .iter()
                        .find(|item| self.ast[item.designators] == *path),
                    false => items
                        .get(number)
                        .filter(|item| self.ast[item.designators] == *path),
                };
                match item.map(|item| (self.ast[item.init], self.ast[other.init])) {
                    Some((Init::Expr(_), Init::Expr(_))) => {}
                    Some((Init::List(list), Init::List(other))) => pending.push((list, other)),
                    _ => return false,
                }
            }
        }
        true
    }

    /// Whether an initialiser does something besides.
    fn acts(&self, init: InitId) -> bool {
        let mut pending = vec![init];
        while let Some(init) = pending.pop() {
            match self.ast[init] {
                Init::Expr(value) if has_effects(self.ast, value) => return true,
                Init::Expr(_) => {}
                Init::List(list) => pending.extend(self.ast[list].iter().map(|item| item.init)),
            }
        }
        false
    }
}
