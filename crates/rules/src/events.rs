//! Which functions of a program the handlers of rules listen to.

use crate::ast::{Event, Name, RuleOrigin};
use crate::typing::plain_name;
use crate::weave::Home;
use hardbop_cfront::ids::{ExprId, FuncId};
use hardbop_cfront::program::{Lifetime, Op, Origin, Program};
use hardbop_diagnostics::{Diagnostic, Severity};
use std::collections::BTreeMap;

/// A handler that listens to a function: the positions of its rule and of itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Listening {
    pub rule: usize,
    pub handler: usize,
}

/// The handlers of each function, in order.
#[derive(Debug, Default)]
pub(crate) struct Events {
    pub functions: BTreeMap<FuncId, Vec<Listening>>,
    pub primitives: BTreeMap<Primitive, Vec<Listening>>,
}

/// A library function that is an edge and not a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Primitive {
    Malloc,
    Free,
}

impl Primitive {
    pub fn name(self) -> &'static str {
        match self {
            Primitive::Malloc => "malloc",
            Primitive::Free => "free",
        }
    }

    /// The arguments of the call, if the edge is one.
    pub fn arguments(self, op: &Op) -> Option<Vec<ExprId>> {
        match (self, op) {
            (Primitive::Malloc, Op::Allocate { size, lifetime, .. })
                if *lifetime == Lifetime::Heap =>
            {
                Some(vec![*size])
            }
            (Primitive::Free, Op::Free { pointer }) => Some(vec![*pointer]),
            _ => None,
        }
    }

    fn occurs(self, program: &Program) -> bool {
        program.edges.iter().any(|edge| {
            let function = program.locations[edge.from.index()].function;
            program.function(function).origin == Origin::User && self.arguments(&edge.op).is_some()
        })
    }
}

/// Functions that the front end knows by itself and that leave no trace in a program.
fn is_of_the_checker(name: &str) -> bool {
    name.starts_with("__VERIFIER_")
        || name.starts_with("__CPROVER_")
        || name.starts_with("__builtin_")
        || matches!(
            name,
            "assert"
                | "__assert_fail"
                | "reach_error"
                | "alloca"
                | "_exit"
                | "_Exit"
                | "quick_exit"
        )
}

impl Events {
    /// Looks for the functions that rules name, and says which are not there.
    pub fn find(
        program: &Program,
        homes: &[Home<'_>],
        diagnostics: &mut Vec<Diagnostic>,
    ) -> Events {
        let mut by_name: BTreeMap<&str, Vec<FuncId>> = BTreeMap::new();
        for (index, function) in program.functions.iter().enumerate() {
            let functions = by_name.entry(plain_name(&function.name)).or_default();
            functions.push(FuncId(index as u32));
        }
        let mut events = Events::default();
        for (rule, home) in homes.iter().enumerate() {
            let mut matched = false;
            for (handler, described) in home.rule.handlers.iter().enumerate() {
                let found = Listening { rule, handler };
                for name in &described.functions {
                    let functions = by_name.get(name.text.as_str()).cloned().unwrap_or_default();
                    let primitive = [Primitive::Malloc, Primitive::Free]
                        .into_iter()
                        .find(|p| p.name() == name.text && p.occurs(program));
                    if functions.is_empty() && primitive.is_none() {
                        missing(home, name, diagnostics);
                        continue;
                    }
                    matched = true;
                    if functions.contains(&program.entry)
                        && matches!(described.event, Event::Call | Event::Return)
                    {
                        refuse_entry(home, name, described.event, diagnostics);
                        continue;
                    }
                    for function in functions {
                        events.functions.entry(function).or_default().push(found);
                    }
                    if let Some(primitive) = primitive {
                        events.primitives.entry(primitive).or_default().push(found);
                    }
                }
            }
            if !matched && home.rule.origin == RuleOrigin::Library {
                let names: Vec<String> = home
                    .rule
                    .functions()
                    .into_iter()
                    .map(|name| format!("`{name}`"))
                    .collect();
                let message = format!(
                    "rule `{}` has nothing to look at: no file defines or calls {}",
                    home.rule.name,
                    names.join(", ")
                );
                diagnostics.push(Diagnostic::global(Severity::Warning, message));
            }
        }
        events
    }
}

fn missing(home: &Home<'_>, name: &Name, diagnostics: &mut Vec<Diagnostic>) {
    let span = home.span(name.span);
    let function = &name.text;
    if is_of_the_checker(function) {
        diagnostics.push(
            Diagnostic::error(span, format!("calls of `{function}` are no events"))
                .label("it is part of the checker"),
        );
    } else if home.rule.origin == RuleOrigin::File {
        // A rule of the library names the functions of many systems.
        diagnostics.push(
            Diagnostic::warning(span, format!("no file defines or calls `{function}`"))
                .label("nothing happens here"),
        );
    }
}

fn refuse_entry(home: &Home<'_>, name: &Name, event: Event, diagnostics: &mut Vec<Diagnostic>) {
    let (function, word) = (&name.text, event.word());
    let instead = match event {
        Event::Call => "entry",
        _ => "exit",
    };
    diagnostics.push(
        Diagnostic::error(
            home.span(name.span),
            format!("the program starts at `{function}`: there is no `.{word}` of it"),
        )
        .label(format!("say `{function}.{instead}`")),
    );
}
