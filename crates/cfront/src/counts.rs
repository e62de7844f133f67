//! Formats that write: `%n` stores how much was printed so far, which the models of printing
//! functions do not follow. A call whose format is known to have one is not supported.

use crate::ids::{ExprId, FuncId};
use crate::program::{
    ExprKind, Gap, Initial, InitialValue, Op, Origin, Program, Root, Unsupported,
};

/// Refuses calls of printing functions with `%n` in their format.
pub(crate) fn refuse(program: &mut Program) {
    for index in 0..program.edges.len() {
        let edge = &program.edges[index];
        let Op::Call {
            callee, arguments, ..
        } = &edge.op
        else {
            continue;
        };
        let counts = |target: &FuncId| {
            let format = format_of(program, *target).and_then(|at| arguments.get(at));
            format.is_some_and(|&format| text(program, format).is_some_and(|text| counts(&text)))
        };
        if callee.targets().iter().any(counts) {
            let construct = program.unsupported.len() as u32;
            program.unsupported.push(Unsupported {
                what: "`%n` in what is printed".to_owned(),
                source: edge.source,
                gap: Gap::Everywhere,
            });
            program.edges[index].op = Op::Unsupported { construct };
        }
    }
}

/// The position of the format among the parameters of a model that does not follow it.
fn format_of(program: &Program, function: FuncId) -> Option<usize> {
    let function = program.function(function);
    let named = |name: &str| {
        let mut formals = function.formals.iter();
        formals.position(|&id| program.variable(id).name == name)
    };
    // What prints into `s` is exact.
    let prints = function.origin == Origin::Model && function.name.contains("printf");
    named("format").filter(|_| prints && named("s").is_none())
}

/// The bytes behind a pointer to a literal or a constant.
fn text(program: &Program, pointer: ExprId) -> Option<Vec<u8>> {
    let mut at = pointer;
    let place = loop {
        match program.expr(at).kind {
            ExprKind::Convert(operand) => at = operand,
            ExprKind::AddressOf(place) => break place,
            _ => return None,
        }
    };
    let Root::Variable(variable) = program.root(place) else {
        return None;
    };
    let variable = program.variable(variable);
    let Initial::Data(parts) = &variable.initial else {
        return None;
    };
    let mut bytes = Vec::new();
    for part in parts.iter().filter(|_| variable.read_only) {
        if let InitialValue::Bytes(part) = &part.value {
            bytes.extend_from_slice(part);
        }
    }
    Some(bytes)
}

/// Whether a format has a conversion that counts.
fn counts(format: &[u8]) -> bool {
    let mut bytes = format.iter();
    while bytes.by_ref().any(|&byte| byte == b'%') {
        let kind = bytes.find(|byte| !b"-+ #'0123456789*.$hlLqjzt".contains(byte));
        if kind == Some(&b'n') {
            return true;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::counts;

    #[test]
    fn conversions_that_count() {
        for format in ["%n", "a%5d%n", "%-3hhn", "%%%n", "%s %lln"] {
            assert!(counts(format.as_bytes()), "{format}");
        }
        for format in ["", "n", "%d\n", "%%n", "100% of %s", "%"] {
            assert!(!counts(format.as_bytes()), "{format}");
        }
    }
}
