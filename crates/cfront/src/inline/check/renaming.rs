//! Activations, and what is the same under the renaming of one.
//!
//! A function in its own body is an activation that renames nothing. A copy renames the variables
//! in the frame of its callee, each to a variable of its own; which one is learned where it is
//! met first, and holds from there on. What was in the program before means itself; what was
//! added belongs to one activation and stands for one thing of the program.

use super::open::{Part, open_expr, open_op, open_place};
use super::tables::{like, owner};
use crate::ids::{EdgeId, ExprId, FuncId, PlaceId, VarId};
use crate::program::{Op, PlaceKind, Program, VarKind};
use std::collections::HashMap;

/// An activation, by its position.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct ActivationId(pub u32);

/// A function that is executed by a part of an inlined program.
#[derive(Clone, Debug)]
pub(super) struct Activation {
    /// The function.
    pub callee: FuncId,
    /// The function of the inlined program in whose body it stands.
    pub holder: FuncId,
    /// For a copy: who calls, by which edge of the program.
    pub call: Option<(ActivationId, EdgeId)>,
    /// Whether its exit is reached.
    pub returns: bool,
}

/// What is known of a variable that was added.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct CopyState {
    /// Who uses it.
    pub user: Option<ActivationId>,
    /// What it is a copy of.
    pub of: Option<VarId>,
    /// Whether a life of it begins with each entry.
    pub declared: bool,
    /// Whether its life ends with each return.
    pub ended: bool,
}

/// The activations that were met, and their renamings.
pub(super) struct Renaming<'a> {
    original: &'a Program,
    program: &'a Program,
    pub activations: Vec<Activation>,
    /// By position behind the variables of the program.
    pub copies: Vec<CopyState>,
    renamed: HashMap<(ActivationId, VarId), VarId>,
    /// What added expressions and places stand for, by position behind those of the program.
    exprs: Vec<Option<(ActivationId, ExprId)>>,
    places: Vec<Option<(ActivationId, PlaceId)>>,
    /// Whether the program's expressions and places speak of variables of a frame.
    framed_exprs: Vec<Option<bool>>,
    framed_places: Vec<Option<bool>>,
    /// Parts to be compared, and room for those of two things; empty between questions.
    work: Vec<(Part, Part)>,
    new_parts: Vec<Part>,
    old_parts: Vec<Part>,
}

impl<'a> Renaming<'a> {
    pub fn new(original: &'a Program, program: &'a Program) -> Renaming<'a> {
        let added = |new: usize, old: usize| new.saturating_sub(old);
        Renaming {
            original,
            program,
            activations: Vec::new(),
            copies: vec![
                CopyState::default();
                added(program.variables.len(), original.variables.len())
            ],
            renamed: HashMap::new(),
            exprs: vec![None; added(program.exprs.len(), original.exprs.len())],
            places: vec![None; added(program.places.len(), original.places.len())],
            framed_exprs: vec![None; original.exprs.len()],
            framed_places: vec![None; original.places.len()],
            work: Vec::new(),
            new_parts: Vec::new(),
            old_parts: Vec::new(),
        }
    }

    pub fn activation(&self, id: ActivationId) -> &Activation {
        &self.activations[id.0 as usize]
    }

    pub fn add(&mut self, activation: Activation) -> ActivationId {
        self.activations.push(activation);
        ActivationId(self.activations.len() as u32 - 1)
    }

    fn is_copy(&self, id: ActivationId) -> bool {
        self.activation(id).call.is_some()
    }

    /// An added variable is used by an activation, and was by no other.
    pub fn claim(&mut self, id: ActivationId, new: VarId) -> Result<&mut CopyState, String> {
        let first = self.original.variables.len();
        let holder = self.activation(id).holder;
        let copy = new
            .index()
            .checked_sub(first)
            .and_then(|at| self.copies.get_mut(at))
            .ok_or("a copy uses a variable that is not its own")?;
        if *copy.user.get_or_insert(id) != id {
            return Err("two activations share a variable".to_owned());
        }
        if owner(self.program.variable(new)) != Some(holder) {
            return Err("a copy's variable belongs to another function".to_owned());
        }
        Ok(copy)
    }

    /// A variable stands for one of the program in an activation.
    pub fn variable(&mut self, id: ActivationId, new: VarId, old: VarId) -> Result<(), String> {
        let original = self.original;
        let known = original.variable(old);
        let frame = owner(known).filter(|_| self.is_copy(id));
        let Some(frame) = frame else {
            return match new == old {
                true => Ok(()),
                false => Err(format!("`{}` became another variable", known.name)),
            };
        };
        let Activation { callee, holder, .. } = *self.activation(id);
        if frame != callee {
            return Err(format!("`{}` belongs to another function", known.name));
        }
        let copy = self.claim(id, new)?;
        if copy.of.is_some_and(|of| of != old) {
            return Err(format!("`{}` shares its copy", known.name));
        }
        let first = copy.of.replace(old).is_none();
        if *self.renamed.entry((id, old)).or_insert(new) != new {
            return Err(format!("`{}` has two copies at a time", known.name));
        }
        let found = self.program.variable(new);
        let kind = match known.kind {
            VarKind::Temporary(_) | VarKind::Result(_) => VarKind::Temporary(holder),
            _ => VarKind::Local(holder),
        };
        if first && !(like(found, known) && found.kind == kind) {
            return Err(format!("the copy of `{}` is not like it", known.name));
        }
        Ok(())
    }

    /// Two operations do the same.
    pub fn op(&mut self, id: ActivationId, new: &Op, old: &Op) -> Result<(), String> {
        if !self.is_copy(id) {
            return match new == old {
                true => Ok(()),
                false => Err("does something else".to_owned()),
            };
        }
        let (mut new, mut old) = (new.clone(), old.clone());
        open_op(&mut new, &mut self.new_parts);
        open_op(&mut old, &mut self.old_parts);
        if new != old {
            return Err("does something else".to_owned());
        }
        self.queue_parts()?;
        self.all_same(id)
    }

    /// Two expressions have the same value.
    pub fn expr(&mut self, id: ActivationId, new: ExprId, old: ExprId) -> Result<(), String> {
        self.work.push((Part::Expr(new), Part::Expr(old)));
        self.all_same(id)
    }

    /// Two places are the same.
    pub fn place(&mut self, id: ActivationId, new: PlaceId, old: PlaceId) -> Result<(), String> {
        self.work.push((Part::Place(new), Part::Place(old)));
        self.all_same(id)
    }

    /// A place is the copy of a variable as a whole.
    pub fn whole(&mut self, id: ActivationId, new: PlaceId, old: VarId) -> Result<(), String> {
        match self.program.places.get(new.index()) {
            Some(place) if place.ty == self.original.variable(old).ty => match place.kind {
                PlaceKind::Var(variable) => self.variable(id, variable, old),
                _ => Err("a variable is passed in part".to_owned()),
            },
            _ => Err("a variable is passed as another type".to_owned()),
        }
    }

    /// Compares parts, and what is below them, without recursion: expressions can be very deep.
    fn all_same(&mut self, id: ActivationId) -> Result<(), String> {
        while let Some((new, old)) = self.work.pop() {
            match (new, old) {
                (Part::Variable(new), Part::Variable(old)) => self.variable(id, new, old)?,
                (Part::Expr(new), Part::Expr(old)) => {
                    if self.stays(id, Part::Expr(old), new.index(), self.original.exprs.len())? {
                        if new != old {
                            return Err("an expression became another one".to_owned());
                        }
                        continue;
                    }
                    let at = new.index() - self.original.exprs.len();
                    let entry = self.exprs.get_mut(at).ok_or("no such expression")?;
                    match entry.replace((id, old)) {
                        Some(known) if known == (id, old) => continue,
                        Some(_) => return Err("an expression stands for two".to_owned()),
                        None => {}
                    }
                    let (new, old) = (self.program.expr(new), self.original.expr(old));
                    let (mut new_kind, mut old_kind) = (new.kind, old.kind);
                    open_expr(&mut new_kind, &mut self.new_parts);
                    open_expr(&mut old_kind, &mut self.old_parts);
                    if new_kind != old_kind || new.ty != old.ty {
                        return Err("an expression became another one".to_owned());
                    }
                }
                (Part::Place(new), Part::Place(old)) => {
                    if self.stays(
                        id,
                        Part::Place(old),
                        new.index(),
                        self.original.places.len(),
                    )? {
                        if new != old {
                            return Err("a place became another one".to_owned());
                        }
                        continue;
                    }
                    let at = new.index() - self.original.places.len();
                    let entry = self.places.get_mut(at).ok_or("no such place")?;
                    match entry.replace((id, old)) {
                        Some(known) if known == (id, old) => continue,
                        Some(_) => return Err("a place stands for two".to_owned()),
                        None => {}
                    }
                    let (new, old) = (self.program.place(new), self.original.place(old));
                    let (mut new_kind, mut old_kind) = (new.kind, old.kind);
                    open_place(&mut new_kind, &mut self.new_parts);
                    open_place(&mut old_kind, &mut self.old_parts);
                    if new_kind != old_kind || new.ty != old.ty {
                        return Err("a place became another one".to_owned());
                    }
                }
                _ => return Err("an operand became something else".to_owned()),
            }
            self.queue_parts()?;
        }
        Ok(())
    }

    /// The parts of two things that are otherwise equal are to be compared.
    fn queue_parts(&mut self) -> Result<(), String> {
        if self.new_parts.len() != self.old_parts.len() {
            return Err("has other parts".to_owned());
        }
        let pairs = self.new_parts.drain(..).zip(self.old_parts.drain(..));
        self.work.extend(pairs);
        Ok(())
    }

    /// Whether what stands for a part of the program must be the part itself: in a function's own
    /// body, and where nothing of a frame is meant. Elsewhere it must have been added.
    fn stays(
        &mut self,
        id: ActivationId,
        old: Part,
        new: usize,
        known: usize,
    ) -> Result<bool, String> {
        if !self.is_copy(id) || !self.is_framed(old) {
            return Ok(true);
        }
        match new < known {
            true => Err("a copy uses the variables of the function itself".to_owned()),
            false => Ok(false),
        }
    }

    /// Whether a part of the program speaks of variables of a frame.
    fn is_framed(&mut self, part: Part) -> bool {
        if let Some(framed) = self.framed(part) {
            return framed;
        }
        let mut work = vec![part];
        let mut below = Vec::new();
        while let Some(&part) = work.last() {
            if self.framed(part).is_some() {
                work.pop();
                continue;
            }
            below.clear();
            match part {
                Part::Expr(id) => open_expr(&mut self.original.expr(id).kind.clone(), &mut below),
                Part::Place(id) => {
                    open_place(&mut self.original.place(id).kind.clone(), &mut below);
                }
                Part::Variable(_) => {}
            }
            let unknown = |&part: &Part| self.framed(part).is_none();
            if below.iter().any(unknown) {
                work.extend(below.iter().copied().filter(unknown));
                continue;
            }
            let framed = below.iter().any(|&part| self.framed(part) == Some(true));
            match part {
                Part::Expr(id) => self.framed_exprs[id.index()] = Some(framed),
                Part::Place(id) => self.framed_places[id.index()] = Some(framed),
                Part::Variable(_) => {}
            }
            work.pop();
        }
        self.framed(part) == Some(true)
    }

    fn framed(&self, part: Part) -> Option<bool> {
        match part {
            Part::Expr(id) => self.framed_exprs[id.index()],
            Part::Place(id) => self.framed_places[id.index()],
            Part::Variable(id) => Some(owner(self.original.variable(id)).is_some()),
        }
    }
}
