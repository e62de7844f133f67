//! Rings: path edges by the length of the shortest hierarchical trajectory to them (section 3.2).
//!
//! The *length* of a hierarchical trajectory is its number of transitions, where a transition is
//! an edge within a procedure, a step from a call to the callee's entry, or a step over a whole
//! call by one of its summary edges, each counted as one, however long the way inside the callee.
//! Ring `r` of a vertex holds the path edges to which the shortest such trajectory has length `r`.
//!
//! A summary edge counts one from the start, but is found only after the callee was explored. So
//! rings are computed in a second pass, when all summaries are known: breadth first from main's
//! entry. That pass is made only when somebody wants a trace, and only as far as needed.

use crate::bdd::Bdd;
use crate::join::Joins;
use crate::supergraph::{Edge, Proc, Supergraph, Vertex};
use hardbop_budget::Stopped;
use std::collections::{BTreeMap, HashMap};

/// Which calls rings follow into the callee.
#[derive(Debug)]
pub(crate) enum Follow {
    /// Those of procedures that the table names.
    Procedures(Vec<bool>),
    /// None: the rings of one procedure by itself.
    Nothing,
}

/// The path edges of one length, by vertex and in the order of vertices.
pub(crate) type Ring = Vec<(Vertex, Bdd)>;

/// All rings found so far.
#[derive(Debug)]
pub(crate) struct Rings {
    rings: Vec<Ring>,
    seen: HashMap<Vertex, Bdd>,
    /// The first ring in which a vertex occurs.
    first: HashMap<Vertex, u32>,
    follow: Follow,
}

impl Rings {
    /// Ring 0: a procedure's entry with these path edges.
    pub(crate) fn new(entry: Vertex, start: Bdd, follow: Follow) -> Rings {
        let ring = if start.is_false() {
            Vec::new()
        } else {
            vec![(entry, start)]
        };
        Rings {
            seen: ring.iter().copied().collect(),
            first: ring.iter().map(|&(vertex, _)| (vertex, 0)).collect(),
            rings: vec![ring],
            follow,
        }
    }

    /// The number of the last ring.
    pub(crate) fn last(&self) -> u32 {
        self.rings.len() as u32 - 1
    }

    /// The first ring of a vertex, if it was reached yet.
    pub(crate) fn first(&self, vertex: Vertex) -> Option<u32> {
        self.first.get(&vertex).copied()
    }

    /// The path edges of a vertex in a ring.
    pub(crate) fn get(&self, ring: u32, vertex: Vertex) -> Bdd {
        let ring = &self.rings[ring as usize];
        match ring.binary_search_by_key(&vertex, |&(vertex, _)| vertex) {
            Ok(place) => ring[place].1,
            Err(_) => Bdd::FALSE,
        }
    }

    /// Every diagram that is still needed.
    pub(crate) fn roots(&self) -> impl Iterator<Item = Bdd> + '_ {
        let rings = self.rings.iter().flatten().map(|&(_, edges)| edges);
        rings.chain(self.seen.values().copied())
    }

    /// Computes the next ring; says whether there is anything in it.
    pub(crate) fn advance<G: Supergraph>(
        &mut self,
        joins: &mut Joins<'_, G>,
        reached: &[Bdd],
    ) -> Result<bool, Stopped> {
        let mut found: BTreeMap<Vertex, Bdd> = BTreeMap::new();
        let Some(ring) = self.rings.last() else {
            return Ok(false);
        };
        for &(vertex, new) in ring {
            for edge in joins.graph.edges_from(vertex).map(Edge) {
                let ends = joins.graph.ends(edge);
                let image = match ends.callee {
                    None => joins.image(edge, new)?,
                    Some(callee) => {
                        if self.follows(callee) {
                            let states = joins.enter(edge, new)?;
                            let start = joins.start(callee, states)?;
                            let entry = joins.graph.procedure(callee).entry;
                            add(joins, &mut found, entry, start)?;
                        }
                        let summary = reached[joins.graph.procedure(callee).exit.index()];
                        let lifted = joins.lift(edge, new, summary)?;
                        joins.join(edge, new, lifted)?
                    }
                };
                add(joins, &mut found, ends.to, image)?;
            }
        }
        let mut next = Ring::new();
        let mut seen = Vec::new();
        for (vertex, edges) in found {
            let known = self.seen.get(&vertex).copied().unwrap_or(Bdd::FALSE);
            let new = joins.space.bdds.difference(edges, known)?;
            if !new.is_false() {
                next.push((vertex, new));
                seen.push((vertex, joins.space.bdds.or(known, new)?));
            }
        }
        // Nothing fails from here on, so an interrupted pass can be taken up again.
        let number = self.rings.len() as u32;
        for (vertex, edges) in seen {
            self.seen.insert(vertex, edges);
            self.first.entry(vertex).or_insert(number);
        }
        let more = !next.is_empty();
        if more {
            self.rings.push(next);
        }
        Ok(more)
    }

    /// Whether these rings enter the procedure where it is called.
    pub(crate) fn follows(&self, callee: Proc) -> bool {
        match &self.follow {
            Follow::Procedures(table) => table[callee.index()],
            Follow::Nothing => false,
        }
    }
}

fn add<G: Supergraph>(
    joins: &mut Joins<'_, G>,
    found: &mut BTreeMap<Vertex, Bdd>,
    vertex: Vertex,
    edges: Bdd,
) -> Result<(), Stopped> {
    if !edges.is_false() {
        let place = found.entry(vertex).or_insert(Bdd::FALSE);
        *place = joins.space.bdds.or(*place, edges)?;
    }
    Ok(())
}
