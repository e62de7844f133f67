//! What a box tells of every term, from the leaves up.

use super::range::{Format, Operands, Range};
use super::{Bounds, Known, Node, Question, Truth, WIDEST, all_ints};
use crate::float::{FloatOp, Rounding};
use crate::term::Op;
use num_traits::ToPrimitive;

impl Question<'_> {
    /// What is known of all terms in a box.
    pub(super) fn compute(&self, bounds: &Bounds, known: &mut Vec<Known>) {
        known.clear();
        for node in &self.nodes {
            let next = Known {
                truth: truth(&self.nodes, node, known),
                float: float(node, bounds, known),
                int: int(node, bounds, known),
            };
            known.push(next);
        }
    }
}

fn float(node: &Node, bounds: &Bounds, known: &[Known]) -> Range {
    let Some(format) = node.format else {
        return Range::all(Format::Double);
    };
    let of = |at: usize| known[node.args[at]].float;
    match &node.op {
        Op::BitVec(bits) => Range::point_of(format.float(bits.to_u64().unwrap_or_default())),
        Op::Ite => match known[node.args[0]].truth {
            Truth {
                yes: true,
                no: false,
            } => of(1),
            Truth {
                yes: false,
                no: true,
            } => of(2),
            _ => of(1).join(of(2)),
        },
        Op::Float(operation) => match (operation.op, Format::of(operation.format)) {
            // Ranges are computed with the machine's own rounding.
            (FloatOp::Convert(_) | FloatOp::FromInt(_), _)
                if operation.rounding != Rounding::NearestEven =>
            {
                Range::all(format)
            }
            (FloatOp::Convert(to), Some(_)) => match Format::of(to) {
                Some(to) => of(0).converted(to),
                None => Range::all(format),
            },
            (FloatOp::FromInt(width), Some(format)) if width <= 64 => {
                Range::of_ints(known[node.args[0]].int, format)
            }
            // A number without a sign has one bit more.
            (FloatOp::FromInt(_), Some(format)) => match known[node.args[0]].int {
                (i128::MIN, _) | (_, i128::MAX) => Range::all(format),
                ints => Range::of_ints(ints, format),
            },
            (FloatOp::Sqrt | FloatOp::Integral, Some(format)) => {
                let operands = [of(0), of(0)];
                Range::result(*operation, format, operands, Operands::Same)
            }
            (FloatOp::Add | FloatOp::Mul | FloatOp::Div | FloatOp::Rem, Some(format)) => {
                let operands = match node.args[0] == node.args[1] {
                    true => Operands::Same,
                    false => Operands::Different,
                };
                Range::result(*operation, format, [of(0), of(1)], operands)
            }
            _ => Range::all(format),
        },
        Op::BvXor | Op::BvAnd => match sign_change(node, known) {
            Some((change, arg)) => {
                let range = known[arg].float;
                match change {
                    SignChange::Flipped => range.negated(),
                    SignChange::Dropped => range.magnitude(),
                }
            }
            None => Range::all(format),
        },
        _ => match node.leaf {
            Some(leaf) => bounds.floats[leaf],
            None => Range::all(format),
        },
    }
}

/// What a bit operator does to the sign.
pub(super) enum SignChange {
    Flipped,
    Dropped,
}

/// Whether a term is another float with its sign changed, and which.
pub(super) fn sign_change(node: &Node, known: &[Known]) -> Option<(SignChange, usize)> {
    let &[a, b] = node.args.as_slice() else {
        return None;
    };
    let least = all_ints(node.width).0;
    let literal = |position: usize, value: i128| known[position].int == (value, value);
    let (wanted, change): (i128, fn() -> SignChange) = match node.op {
        Op::BvXor => (least, || SignChange::Flipped),
        Op::BvAnd => (-(least + 1), || SignChange::Dropped),
        _ => return None,
    };
    if literal(a, wanted) {
        Some((change(), b))
    } else if literal(b, wanted) {
        Some((change(), a))
    } else {
        None
    }
}

fn int(node: &Node, bounds: &Bounds, known: &[Known]) -> (i128, i128) {
    let all = all_ints(node.width);
    let of = |at: usize| known[node.args[at]].int;
    let fits = |range: (i128, i128)| match all.0 <= range.0 && range.1 <= all.1 {
        true => range,
        false => all,
    };
    match &node.op {
        Op::BitVec(bits) => match bits.to_i128() {
            Some(bits) if (1..=WIDEST).contains(&node.width) => {
                let value = match bits > all.1 {
                    true => bits - (1 << node.width),
                    false => bits,
                };
                (value, value)
            }
            _ => all,
        },
        Op::Ite if (1..=WIDEST).contains(&node.width) => match known[node.args[0]].truth {
            Truth {
                yes: true,
                no: false,
            } => of(1),
            Truth {
                yes: false,
                no: true,
            } => of(2),
            _ => (of(1).0.min(of(2).0), of(1).1.max(of(2).1)),
        },
        Op::SignExtend(_) => of(0),
        Op::ZeroExtend(by) => match of(0) {
            range if range.0 >= 0 => range,
            _ if node.width - by <= 64 => (0, (1 << (node.width - by)) - 1),
            _ => all,
        },
        Op::BvAdd if node.width <= WIDEST => fits((of(0).0 + of(1).0, of(0).1 + of(1).1)),
        Op::BvSub if node.width <= WIDEST => fits((of(0).0 - of(1).1, of(0).1 - of(1).0)),
        Op::BvMul if node.width <= WIDEST => product(of(0), of(1)).map_or(all, fits),
        // The lower bits of a number that they can hold are that number.
        Op::Extract { low: 0, .. } => fits(of(0)),
        Op::Float(operation) => match (operation.op, Format::of(operation.format)) {
            (FloatOp::ToInt(width), Some(_)) => of_float(known[node.args[0]].float, width, all),
            _ => all,
        },
        _ => match node.leaf {
            Some(leaf) => bounds.ints[leaf],
            None => all,
        },
    }
}

/// The products of the numbers of two ranges: the extreme ones are those of ends.
fn product(a: (i128, i128), b: (i128, i128)) -> Option<(i128, i128)> {
    let (mut low, mut high) = (i128::MAX, i128::MIN);
    for (x, y) in [(a.0, b.0), (a.0, b.1), (a.1, b.0), (a.1, b.1)] {
        let product = x.checked_mul(y)?;
        low = low.min(product);
        high = high.max(product);
    }
    Some((low, high))
}

/// Whether one side of an equation is the other one, cut to fewer bits that can hold it and widened
/// again: that nothing overflows is said like that.
fn is_kept(nodes: &[Node], node: &Node, known: &[Known]) -> bool {
    let &[a, b] = node.args.as_slice() else {
        return false;
    };
    [(a, b), (b, a)].into_iter().any(|(whole, back)| {
        let Some(&cut) = nodes[back].args.first() else {
            return false;
        };
        let Op::Extract { high, low: 0 } = nodes[cut].op else {
            return false;
        };
        let kept = high + 1;
        let (least, most) = match nodes[back].op {
            Op::SignExtend(_) if kept <= WIDEST => all_ints(kept),
            Op::ZeroExtend(_) if kept < WIDEST => (0, (1 << kept) - 1),
            _ => return false,
        };
        let (low, high) = known[whole].int;
        nodes[cut].args == [whole] && least <= low && high <= most
    })
}

fn of_float(range: Range, width: u32, all: (i128, i128)) -> (i128, i128) {
    range.ints(width).unwrap_or(all)
}

fn truth(nodes: &[Node], node: &Node, known: &[Known]) -> Truth {
    let of = |at: usize| known[node.args[at]].truth;
    let all = || node.args.iter().map(|&arg| known[arg].truth);
    match &node.op {
        Op::Bool(value) => Truth::of(*value),
        Op::Not => of(0).not(),
        Op::And => Truth {
            yes: all().all(|truth| truth.yes),
            no: all().any(|truth| truth.no),
        },
        Op::Or => Truth {
            yes: all().any(|truth| truth.yes),
            no: all().all(|truth| truth.no),
        },
        Op::Implies => Truth {
            yes: of(0).no || of(1).yes,
            no: of(0).yes && of(1).no,
        },
        Op::Xor => unlike(of(0), of(1)),
        Op::Ite if node.width == 0 => match of(0) {
            Truth {
                yes: true,
                no: false,
            } => of(1),
            Truth {
                yes: false,
                no: true,
            } => of(2),
            _ => Truth {
                yes: of(1).yes || of(2).yes,
                no: of(1).no || of(2).no,
            },
        },
        Op::Eq if is_kept(nodes, node, known) => Truth::of(true),
        Op::Eq => equality(node, known),
        Op::BvSlt | Op::BvSle | Op::BvUlt | Op::BvUle => order(node, known),
        Op::Float(operation) => match (operation.op, Format::of(operation.format)) {
            (op @ (FloatOp::Eq | FloatOp::Lt | FloatOp::Le), Some(_)) => {
                comparison(op, node, known)
            }
            _ => Truth::OPEN,
        },
        _ => Truth::OPEN,
    }
}

fn unlike(a: Truth, b: Truth) -> Truth {
    Truth {
        yes: a.yes && b.no || a.no && b.yes,
        no: a.yes && b.yes || a.no && b.no,
    }
}

/// `=` of bits, or of truth values.
fn equality(node: &Node, known: &[Known]) -> Truth {
    let (a, b) = (known[node.args[0]], known[node.args[1]]);
    if node.args[0] == node.args[1] {
        return Truth::of(true);
    }
    let apart = a.int.1 < b.int.0 || b.int.1 < a.int.0;
    let same = a.int.0 == a.int.1 && a.int == b.int;
    // Floats without a common number have no common bits.
    let floats = a.float.meet(b.float);
    match (apart || floats.is_empty(), same) {
        (true, _) => Truth::of(false),
        (_, true) if a.int.0 != i128::MIN => Truth::of(true),
        _ => match (a.truth, b.truth) {
            (Truth::OPEN, _) | (_, Truth::OPEN) => Truth::OPEN,
            (a, b) => unlike(a, b).not(),
        },
    }
}

/// The order of integers; without a sign, if none of them has one.
fn order(node: &Node, known: &[Known]) -> Truth {
    let (a, b) = (known[node.args[0]].int, known[node.args[1]].int);
    let unsigned = matches!(node.op, Op::BvUlt | Op::BvUle);
    let unknown = a.0 == i128::MIN || b.0 == i128::MIN;
    if unknown || unsigned && (a.0 < 0 || b.0 < 0) {
        return Truth::OPEN;
    }
    match node.op {
        Op::BvSlt | Op::BvUlt => Truth {
            yes: a.0 < b.1,
            no: a.1 >= b.0,
        },
        _ => Truth {
            yes: a.0 <= b.1,
            no: a.1 > b.0,
        },
    }
}

fn comparison(op: FloatOp, node: &Node, known: &[Known]) -> Truth {
    let (a, b) = (known[node.args[0]].float, known[node.args[1]].float);
    let nan = a.nan || b.nan;
    if !a.has_number() || !b.has_number() {
        return Truth::of(false);
    }
    if node.args[0] == node.args[1] {
        return match op {
            FloatOp::Lt => Truth::of(false),
            _ => Truth { yes: true, no: nan },
        };
    }
    match op {
        FloatOp::Lt => Truth {
            yes: a.low < b.high,
            no: nan || a.high >= b.low,
        },
        FloatOp::Le => Truth {
            yes: a.low <= b.high,
            no: nan || a.high > b.low,
        },
        _ => Truth {
            yes: a.low <= b.high && b.low <= a.high,
            no: nan || !(a.low == a.high && b.low == b.high && a.low == b.low),
        },
    }
}
