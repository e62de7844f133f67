//! Modes: the variables by whose values states are told apart.
//!
//! One kind holds the program's literals whatever happens: the state of a state machine, a flag.
//! The other is an argument of a recursive function: what the function gives back is different for
//! each of the first few numbers (Fibonacci's, Ackermann's, the moves of a tower), and of one kind
//! for all others.

use crate::candidates::{Hints, Variable};
use hardbop_cfront::ids::{ExprId, FuncId, LocId, VarId};
use hardbop_cfront::program::{Callee, ExprKind, Op, PlaceKind, Program};
use hardbop_logic::{TermId, Terms};
use hardbop_semantics::layout::StateVarId;
use hardbop_semantics::live::Live;
use hardbop_semantics::steps::Ground;
use std::collections::BTreeSet;

/// The numbers of an argument that are told apart at first: 0 up to this.
const WINDOW: u64 = 64;

/// A variable by whose values states are told apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mode {
    /// What guesses call it.
    pub constant: TermId,
    /// Whether it is compared with a sign.
    signed: bool,
    width: u32,
    /// If not every value counts: those from 0 up to this one do.
    window: Option<u64>,
}

/// The values of a mode that count as one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Key {
    /// Negative numbers.
    Below,
    /// This one.
    Value(u64),
    /// Numbers behind those that are told apart.
    Above,
}

impl Mode {
    /// One of which every value counts.
    pub fn exact(variable: &Variable) -> Mode {
        Mode {
            constant: variable.constant,
            signed: variable.signed,
            width: variable.width,
            window: None,
        }
    }

    /// Whether not every value counts.
    pub fn has_window(&self) -> bool {
        self.window.is_some()
    }

    /// Which values count as one with this.
    pub fn key(&self, word: u64) -> Key {
        let negative = self.signed && word >> (self.width - 1) & 1 == 1;
        match self.window {
            Some(_) if negative => Key::Below,
            Some(window) if word >= window => Key::Above,
            _ => Key::Value(word),
        }
    }

    /// Tells fewer numbers apart, if there are fewer.
    pub fn narrow(&mut self) -> bool {
        match &mut self.window {
            Some(window) if *window > 2 => {
                *window /= 2;
                true
            }
            _ => false,
        }
    }

    /// What a key is now.
    pub fn narrowed(&self, key: Key) -> Key {
        match key {
            Key::Value(word) => self.key(word),
            Key::Below | Key::Above => key,
        }
    }

    /// That the variable has a value of these.
    pub fn is(&self, terms: &mut Terms, key: Key) -> TermId {
        let zero = terms.bv(0, self.width);
        let window = terms.bv(self.window.unwrap_or(0).into(), self.width);
        match (key, self.signed) {
            (Key::Value(word), _) => {
                let value = terms.bv(word.into(), self.width);
                terms.eq(self.constant, value)
            }
            (Key::Below, _) => terms.bv_slt(self.constant, zero),
            (Key::Above, true) => terms.bv_sle(window, self.constant),
            (Key::Above, false) => terms.bv_ule(window, self.constant),
        }
    }
}

/// The arguments of the recursive function that a point lies in, as they were when it was called
/// where that is known, else as they are; in other functions, the variables that are given to a
/// recursive one. Only what a function compares with a number says what it does.
pub fn arguments(
    ground: &Ground<'_, '_>,
    terms: &mut Terms,
    hints: &Hints,
    at: LocId,
    live: &Live,
    variables: &[Variable],
) -> Vec<Mode> {
    let semantics = ground.semantics;
    let function = semantics.program.locations[at.index()].function;
    let mut found = Vec::new();
    for (variable, formal) in told_apart(ground, function) {
        let (Some(id), Some(formal)) = (cell(ground, variable), cell(ground, formal)) else {
            continue;
        };
        let formal = semantics.constant(terms, formal);
        if hints.literals_of(formal).next().is_none() {
            continue;
        }
        let constant = match live.old.contains(&id) {
            true => semantics.old_constant(terms, id),
            false => semantics.constant(terms, id),
        };
        let plain = |variable: &&Variable| variable.constant == constant && variable.width >= 16;
        if let Some(variable) = variables.iter().find(plain)
            && variable.float.is_none()
            && !found.iter().any(|mode: &Mode| mode.constant == constant)
        {
            let window = Some(WINDOW);
            found.push(Mode {
                window,
                ..Mode::exact(variable)
            });
        }
    }
    found
}

/// Where a variable is held, if it is one piece.
fn cell(ground: &Ground<'_, '_>, variable: VarId) -> Option<StateVarId> {
    let semantics = ground.semantics;
    let spot = semantics.points_to.variable(variable)?;
    let region = semantics.points_to.regions().at(spot)?;
    Some(semantics.layout.region(region))
}

/// The parameters of a recursive function; of another one the variables that it gives to such, with
/// the parameter that each is given for.
fn told_apart(ground: &Ground<'_, '_>, function: FuncId) -> Vec<(VarId, VarId)> {
    let program = ground.semantics.program;
    let is_recursive = |function| ground.semantics.layout.is_recursive(function);
    if is_recursive(function) {
        let formals = &program.function(function).formals;
        return formals.iter().map(|&formal| (formal, formal)).collect();
    }
    let mut found = Vec::new();
    for location in program.function(function).locations.clone() {
        for (_, edge) in program.edges_from(LocId(location)) {
            if let Op::Call {
                callee: Callee::Direct(callee),
                arguments,
                ..
            } = &edge.op
                && is_recursive(*callee)
            {
                let formals = &program.function(*callee).formals;
                for (&argument, &formal) in arguments.iter().zip(formals) {
                    let given = variable(program, argument).map(|given| (given, formal));
                    found.extend(given.filter(|given| !found.contains(given)));
                }
            }
        }
    }
    found
}

/// The variable that is given, converted or not.
fn variable(program: &Program, mut argument: ExprId) -> Option<VarId> {
    loop {
        match program.expr(argument).kind {
            ExprKind::Convert(from) => argument = from,
            ExprKind::Load(place) => match program.place(place).kind {
                PlaceKind::Var(variable) => return Some(variable),
                _ => return None,
            },
            _ => return None,
        }
    }
}

/// Keys without the one at a place.
pub fn without(keys: &[Key], at: usize) -> Vec<Key> {
    let mut keys = keys.to_vec();
    keys.remove(at);
    keys
}

/// How many different keys there are at a place.
pub fn distinct<'k>(keys: impl Iterator<Item = &'k Vec<Key>>, at: usize) -> usize {
    let found: BTreeSet<Key> = keys.map(|keys| keys[at]).collect();
    found.len()
}
