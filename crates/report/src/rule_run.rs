//! Looks at a rule while a run is repeated: the values of its state, and the objects that it
//! watches, in words.

use crate::results::{RuleRun, WatchedObject};
use hardbop_cfront::ids::{TypeId, VarId};
use hardbop_cfront::interp::{State, Value, value_text};
use hardbop_cfront::program::{
    ObjectCandidate, Program, RuleVariable, VarKind, WhichObject, WovenRule,
};

/// A rule that is looked at.
pub(crate) struct Watcher<'p> {
    program: &'p Program,
    rule: &'p WovenRule,
    /// The values that the state has now, by variable.
    now: Vec<Option<Value>>,
    run: RuleRun,
}

/// What an address is called, given what it points to and the state.
type Name<'n> = dyn Fn(u64, Option<TypeId>, &State<'_, '_>) -> Option<String> + 'n;

impl<'p> Watcher<'p> {
    pub fn new(program: &'p Program, rule: &'p WovenRule) -> Watcher<'p> {
        let run = RuleRun {
            rule: rule.name.clone(),
            objects: Vec::new(),
            variables: rule.state.iter().map(|one| one.name.clone()).collect(),
            states: Vec::new(),
        };
        Watcher {
            program,
            rule,
            now: Vec::new(),
            run,
        }
    }

    /// The number of the state that the rule is in.
    pub fn state(&mut self, state: &mut State<'_, '_>) -> u32 {
        let variables = self.rule.state.iter();
        let values: Vec<Option<Value>> =
            variables.map(|one| state.variable(one.variable)).collect();
        if self.run.states.is_empty() || values != self.now {
            let words = self.rule.state.iter().zip(&values);
            let words = words.map(|(variable, value)| match value {
                Some(value) => named(self.program, variable, *value),
                None => "?".to_owned(),
            });
            self.run.states.push(words.collect());
            self.now = values;
        }
        self.run.states.len() as u32 - 1
    }

    /// Finds out which objects are watched. Pointers are told by `name`.
    pub fn meet(&mut self, state: &mut State<'_, '_>, name: &Name<'_>) {
        let mut objects = Vec::new();
        for watched in &self.rule.watched {
            let name = |address: u64, state: &State<'_, '_>| name(address, watched.ty, state);
            let object = match &watched.which {
                WhichObject::In { variable, exists } => {
                    if exists.is_some_and(|flag| !is_set(flag, state)) {
                        continue;
                    }
                    let Some(value) = state.variable(*variable) else {
                        continue;
                    };
                    let address = u64::try_from(value.bits).ok();
                    let named = address.and_then(|address| name(address, state));
                    named.unwrap_or_else(|| value_text(self.program, value))
                }
                WhichObject::OneOf { flags, candidates } => {
                    let chosen = flags.iter().position(|&flag| is_set(flag, state));
                    match candidates.get(chosen.unwrap_or(flags.len())) {
                        Some(&candidate) => self.candidate(candidate, state, &name),
                        None => continue,
                    }
                }
            };
            objects.push(WatchedObject {
                name: watched.name.clone(),
                object,
            });
        }
        if !objects.is_empty() {
            self.run.objects = objects;
        }
    }

    fn candidate(
        &self,
        candidate: ObjectCandidate,
        state: &State<'_, '_>,
        name: &dyn Fn(u64, &State<'_, '_>) -> Option<String>,
    ) -> String {
        match candidate {
            ObjectCandidate::Number(bits) => (bits as i128).to_string(),
            ObjectCandidate::Part(variable, offset) => {
                let start = state.address(variable);
                let named = start.and_then(|start| name(start.wrapping_add(offset), state));
                named.unwrap_or_else(|| format!("&{}", self.program.variable(variable).name))
            }
        }
    }

    pub fn finish(self) -> RuleRun {
        self.run
    }
}

fn is_set(flag: VarId, state: &mut State<'_, '_>) -> bool {
    state.variable(flag).is_some_and(|value| value.bits != 0)
}

/// A value of a rule's state in the rule's own words.
fn named(program: &Program, variable: &RuleVariable, value: Value) -> String {
    word(variable, &value_text(program, value)).to_owned()
}

/// What a variable is to the user.
pub(crate) enum Belongs<'p> {
    /// It is one of the program's.
    Program,
    /// It is part of a rule's state.
    State(&'p RuleVariable),
    /// It is how a rule knows its objects.
    Inside,
}

/// Whether a variable is a rule's. Only theirs have names with a dot.
pub(crate) fn belongs(program: &Program, variable: VarId) -> Belongs<'_> {
    let described = program.variable(variable);
    if described.kind != VarKind::Global || !described.name.contains('.') {
        return Belongs::Program;
    }
    let mut states = program.rules.iter().flat_map(|rule| &rule.state);
    match states.find(|known| known.variable == variable) {
        Some(known) => Belongs::State(known),
        None => Belongs::Inside,
    }
}

/// The word that a rule has for a number in its state.
pub(crate) fn word<'a>(variable: &'a RuleVariable, number: &'a str) -> &'a str {
    let value: Option<i128> = number.parse().ok();
    let mut known = variable.values.iter();
    known
        .find(|(known, _)| Some(*known) == value)
        .map_or(number, |(_, name)| name)
}
