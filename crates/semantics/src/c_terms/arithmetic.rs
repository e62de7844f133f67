//! Terms of words as numbers of C.

use super::Writer;
use super::number::{
    BIT_AND, BIT_OR, BIT_XOR, CONDITIONAL, CType, INT, Level, Number, OR, PRODUCT, SHIFT, SUM,
    Text, UNARY, bounds, combine, is_standard, literal, together,
};
use hardbop_logic::{Op, TermId};

impl Writer<'_, '_> {
    pub(super) fn number(&self, term: TermId) -> Option<Number> {
        let args = self.terms.args(term);
        let width = self.terms.width(term);
        Some(match self.terms.op(term) {
            Op::BitVec(_) => self.reading(term, true)?,
            Op::Constant(_) => self.variable(term)?,
            Op::SignExtend(_) => self.reading(args[0], true)?,
            Op::ZeroExtend(_) => self.reading(args[0], false)?,
            Op::BvAdd => self.fold(args, width, "+", SUM, |a, b| {
                Some((a.low.checked_add(b.low)?, a.high.checked_add(b.high)?))
            })?,
            Op::BvSub => self.fold(args, width, "-", SUM, |a, b| {
                Some((a.low.checked_sub(b.high)?, a.high.checked_sub(b.low)?))
            })?,
            Op::BvMul => self.fold(args, width, "*", PRODUCT, |a, b| {
                let products = [
                    a.low.checked_mul(b.low)?,
                    a.low.checked_mul(b.high)?,
                    a.high.checked_mul(b.low)?,
                    a.high.checked_mul(b.high)?,
                ];
                Some((*products.iter().min()?, *products.iter().max()?))
            })?,
            Op::BvNeg => {
                let zero = literal(0);
                let a = self.reading(args[0], true)?;
                let range = (a.high.checked_neg()?, a.low.checked_neg()?);
                combine(&zero, &a, width, "-", SUM, range)?
            }
            Op::BvSdiv | Op::BvSrem => {
                let (a, b) = (self.reading(args[0], true)?, self.reading(args[1], true)?);
                if b.low != b.high || b.low == 0 || b.low == -1 {
                    return None;
                }
                let most = a.low.checked_abs()?.max(a.high.checked_abs()?);
                let sign = if matches!(self.terms.op(term), Op::BvSdiv) {
                    "/"
                } else {
                    "%"
                };
                combine(&a, &b, width, sign, PRODUCT, (-most, most))?
            }
            Op::BvUdiv | Op::BvUrem => {
                let (a, b) = (self.reading(args[0], false)?, self.reading(args[1], false)?);
                if b.low != b.high || b.low == 0 {
                    return None;
                }
                let sign = if matches!(self.terms.op(term), Op::BvUdiv) {
                    "/"
                } else {
                    "%"
                };
                combine(&a, &b, width, sign, PRODUCT, (0, a.high))?
            }
            Op::BvSmod => {
                let (a, b) = (self.reading(args[0], true)?, self.reading(args[1], true)?);
                if b.low != b.high || b.low <= 0 || b.low > i128::from(i32::MAX / 2) {
                    return None;
                }
                let modulus = b.low;
                let rest = combine(&a, &b, width, "%", PRODUCT, (1 - modulus, modulus - 1))?;
                let positive = combine(&rest, &b, width, "+", SUM, (1, 2 * modulus - 1))?;
                combine(&positive, &b, width, "%", PRODUCT, (0, modulus - 1))?
            }
            Op::BvAnd => self.bitwise(args, width, "&", BIT_AND)?,
            Op::BvXor => self.bitwise(args, width, "^", BIT_XOR)?,
            Op::BvOr => self.bitwise(args, width, "|", BIT_OR)?,
            Op::BvNot if is_standard(width) => {
                let a = self.reading(args[0], false)?;
                let ty = CType {
                    width,
                    signed: false,
                };
                let inverted = Number {
                    text: Text::new(format!("~{}", a.as_type(ty.promoted()).at(UNARY)), UNARY),
                    ty: ty.promoted(),
                    low: 0,
                    high: 0,
                };
                self.wrapped(&inverted, width)
            }
            Op::BvLshr | Op::BvAshr => {
                let signed = matches!(self.terms.op(term), Op::BvAshr);
                let (a, by) = (
                    self.reading(args[0], signed)?,
                    self.reading(args[1], false)?,
                );
                if by.low != by.high || by.low >= i128::from(width) {
                    return None;
                }
                Number {
                    text: Text::new(format!("{} >> {}", a.text.at(SHIFT), by.low), SHIFT),
                    ty: a.ty.promoted(),
                    low: a.low >> by.low,
                    high: a.high >> by.low,
                }
            }
            Op::Extract { high, low } => {
                let to = high - low + 1;
                if !is_standard(to) {
                    return None;
                }
                let a = self.reading(args[0], false)?;
                let part = if *low == 0 {
                    a
                } else {
                    Number {
                        text: Text::new(format!("{} >> {low}", a.text.at(SHIFT)), SHIFT),
                        ..a
                    }
                };
                self.wrapped(&part, to)
            }
            Op::Ite => {
                let condition = self.known_truth(args[0])?;
                let (a, b) = (self.reading(args[1], true)?, self.reading(args[2], true)?);
                let (low, high) = (a.low.min(b.low), a.high.max(b.high));
                let (left, right, ty, _) = together(&a, &b, low, high);
                let text = format!("{} ? {left} : {right}", condition.at(OR));
                Number {
                    text: Text::new(text, CONDITIONAL),
                    ty,
                    low,
                    high,
                }
            }
            _ => return None,
        })
    }

    /// The low bits of a number, by a cast to an unsigned type.
    fn wrapped(&self, number: &Number, width: u32) -> Number {
        let ty = CType {
            width,
            signed: false,
        };
        let (low, high) = bounds(width, false);
        Number {
            text: number.cast(ty),
            ty,
            low,
            high,
        }
    }

    fn bitwise(&self, args: &[TermId], width: u32, sign: &str, level: Level) -> Option<Number> {
        if !is_standard(width) {
            return None;
        }
        if let (&[a, b], "&") = (args, sign)
            && let Some(masked) = self.masked(a, b).or_else(|| self.masked(b, a))
        {
            return Some(masked);
        }
        let parts: Option<Vec<Number>> = args.iter().map(|&arg| self.reading(arg, false)).collect();
        let parts = parts?;
        let most = parts.iter().map(|part| part.high).max()?;
        let limit = match sign {
            "&" => parts.iter().map(|part| part.high).min()?,
            _ => (most as u128 + 1).next_power_of_two() as i128 - 1,
        };
        let ty = CType {
            width: width.max(32),
            signed: false,
        };
        let texts: Vec<String> = parts
            .iter()
            .map(|part| part.as_type(ty).at(level + 1))
            .collect();
        Some(Number {
            text: Text::new(texts.join(&format!(" {sign} ")), level),
            ty,
            low: 0,
            high: limit,
        })
    }

    /// Some low bits: those of a number that is not negative are the same whatever the sign of the
    /// word.
    fn masked(&self, word: TermId, mask: TermId) -> Option<Number> {
        let (a, mask) = (self.known(word)?, self.reading(mask, false)?);
        if mask.low != mask.high || !INT.holds(0, mask.high) {
            return None;
        }
        let text = format!("{} & {}", a.text.at(BIT_AND + 1), mask.low);
        Some(Number {
            text: Text::new(text, BIT_AND),
            ty: a.ty.promoted(),
            low: 0,
            high: mask.high,
        })
    }

    fn fold(
        &self,
        args: &[TermId],
        width: u32,
        sign: &str,
        level: Level,
        range: fn(&Number, &Number) -> Option<(i128, i128)>,
    ) -> Option<Number> {
        let mut result = self.reading(args[0], true)?;
        for &arg in &args[1..] {
            let next = self.reading(arg, true)?;
            let exact = range(&result, &next)?;
            result = combine(&result, &next, width, sign, level, exact)?;
            let (low, high) = bounds(width, true);
            if result.low < low || result.high > high {
                // It may have wrapped: go on with the signed reading of the bits.
                let ty = CType {
                    width,
                    signed: true,
                };
                result = Number {
                    text: result.cast(ty),
                    ty,
                    low,
                    high,
                };
            }
        }
        Some(result)
    }
}
