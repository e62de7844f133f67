//! Weakest preconditions and strongest postconditions of single edges.

use crate::Semantics;
use crate::exec::{Execution, Unmodelled};
use crate::state::FreshOrigin;
use hardbop_cfront::ids::EdgeId;
use hardbop_logic::{TermId, Terms};

/// What an edge requires of the state before it.
#[derive(Clone, Debug)]
pub struct Precondition {
    /// The formula over the state before. Symbols in `unknown` stand for any value: the formula
    /// must hold for all of them.
    pub formula: TermId,
    /// The condition under which the edge is taken at all; `formula` already allows for it.
    pub guard: TermId,
    /// The symbols for values that the edge leaves open.
    pub unknown: Vec<TermId>,
}

/// WP(edge, post): after the edge, if it is taken, `post` holds (TR 2000-14, section 4.1).
///
/// `post` is a formula over the constants of state variables. For `*p = e` there is no case split
/// over what `p` points to: the store into the region's array is substituted for the region.
pub fn wp(
    semantics: &Semantics<'_>,
    terms: &mut Terms,
    edge: EdgeId,
    post: TermId,
) -> Result<Precondition, Unmodelled> {
    let mut run = Execution::new(semantics);
    let guard = run.edge(terms, edge)?;
    let after = run.state.apply(semantics, terms, post);
    let mut conditions = run.facts.clone();
    conditions.push(guard);
    let taken = terms.and(&conditions);
    let formula = terms.implies(taken, after);
    let unknown = run.fresh.iter().map(|fresh| fresh.term).collect();
    Ok(Precondition {
        formula,
        guard: taken,
        unknown,
    })
}

/// SP(pre, edge): the states after the edge, as a formula over the constants of state variables
/// and over symbols for what was overwritten, which are to be read as existentially quantified.
pub fn sp(
    semantics: &Semantics<'_>,
    terms: &mut Terms,
    pre: TermId,
    edge: EdgeId,
) -> Result<(TermId, Vec<TermId>), Unmodelled> {
    let mut run = Execution::new(semantics);
    let guard = run.edge(terms, edge)?;
    let mut conjuncts = vec![pre, guard];
    conjuncts.append(&mut run.facts);
    // The old value of what was written gets a name of its own; the new one takes the constant.
    let written: Vec<_> = run.state.written().collect();
    let mut rename = std::collections::BTreeMap::new();
    let mut hidden: Vec<TermId> = run
        .fresh
        .iter()
        .filter(|fresh| !matches!(fresh.origin, FreshOrigin::Input(_)))
        .map(|fresh| fresh.term)
        .collect();
    for &(id, _) in &written {
        let constant = semantics.constant(terms, id);
        let sort = terms.sort(constant);
        let name = format!("{}~", semantics.layout.get(id).name);
        let before = terms.fresh(&name, sort);
        rename.insert(constant, before);
        hidden.push(before);
    }
    let mut renamed: Vec<TermId> = conjuncts
        .iter()
        .map(|&term| terms.substitute(term, &rename))
        .collect();
    for (id, value) in written {
        let constant = semantics.constant(terms, id);
        let value = terms.substitute(value, &rename);
        renamed.push(terms.eq(constant, value));
    }
    Ok((terms.and(&renamed), hidden))
}
