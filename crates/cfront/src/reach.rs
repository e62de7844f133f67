//! What an execution from the entry can reach, by the graph alone.

use crate::operands::each_load;
use crate::program::{Op, Program, Root};

/// What can be reached.
#[derive(Clone, Debug)]
pub(crate) struct Reached {
    /// Functions, by id.
    pub(crate) functions: Vec<bool>,
    /// Locations, by id.
    pub(crate) locations: Vec<bool>,
    /// Variables that a reached edge mentions, by id.
    pub(crate) variables: Vec<bool>,
}

/// Follows edges and calls from the entry. A function's code after a call counts as reached even
/// if the callee never returns.
pub(crate) fn reached(program: &Program) -> Reached {
    let mut out = Reached {
        functions: vec![false; program.functions.len()],
        locations: vec![false; program.locations.len()],
        variables: vec![false; program.variables.len()],
    };
    let mut functions = vec![program.entry];
    while let Some(function) = functions.pop() {
        if std::mem::replace(&mut out.functions[function.index()], true) {
            continue;
        }
        let mut locations = vec![program.function(function).entry];
        while let Some(location) = locations.pop() {
            if std::mem::replace(&mut out.locations[location.index()], true) {
                continue;
            }
            for (_, edge) in program.edges_from(location) {
                locations.push(edge.to);
                if let Op::Call { callee, .. } = &edge.op {
                    functions.extend(callee.targets());
                }
                variables(program, &edge.op, &mut out.variables);
            }
        }
    }
    out
}

fn variables(program: &Program, op: &Op, out: &mut [bool]) {
    each_load(program, op, &mut |place| {
        if let Root::Variable(variable) = program.root(place) {
            out[variable.index()] = true;
        }
    });
}
