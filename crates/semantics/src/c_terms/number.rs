//! C's integer types, and texts of which the value's range is known.

/// How tightly C's operators bind.
pub(super) type Level = u8;
pub(super) const ATOM: Level = 16;
pub(super) const UNARY: Level = 14;
pub(super) const PRODUCT: Level = 13;
pub(super) const SUM: Level = 12;
pub(super) const SHIFT: Level = 11;
pub(super) const ORDER: Level = 10;
pub(super) const EQUALITY: Level = 9;
pub(super) const BIT_AND: Level = 8;
pub(super) const BIT_XOR: Level = 7;
pub(super) const BIT_OR: Level = 6;
pub(super) const AND: Level = 5;
pub(super) const OR: Level = 4;
pub(super) const CONDITIONAL: Level = 3;

#[derive(Clone, Debug)]
pub(super) struct Text {
    pub(super) text: String,
    pub(super) level: Level,
    /// If it says that something is at least a number, or less than something.
    bound: Option<Bound>,
}

/// A comparison, by its left side.
#[derive(Clone, Debug)]
enum Bound {
    /// `x >= 3`, and the same the other way round: `3 <= x`.
    Lower { of: String, turned: String },
    /// `x < n`.
    Upper { of: String },
}

impl Text {
    pub(super) fn new(text: String, level: Level) -> Text {
        Text {
            text,
            level,
            bound: None,
        }
    }

    /// `left sign right`, where `sign` says `<` or `<=`.
    pub(super) fn upper(left: String, sign: &str, right: &str) -> Text {
        let text = Text::new(format!("{left} {sign} {right}"), ORDER);
        let bound = Some(Bound::Upper { of: left });
        Text { bound, ..text }
    }

    /// `left sign right`, where `sign` says `>` or `>=`, and `turned` says the same from the right.
    pub(super) fn lower(left: String, [sign, turned]: [&str; 2], right: &str) -> Text {
        let text = Text::new(format!("{left} {sign} {right}"), ORDER);
        let turned = format!("{right} {turned} {left}");
        let bound = Some(Bound::Lower { of: left, turned });
        Text { bound, ..text }
    }

    fn is_upper(&self, thing: &str) -> bool {
        matches!(&self.bound, Some(Bound::Upper { of }) if of == thing)
    }

    /// A lower bound of a thing, the other way round.
    fn turned(&self, thing: &str) -> Option<&str> {
        match &self.bound {
            Some(Bound::Lower { of, turned }) if of == thing => Some(turned),
            _ => None,
        }
    }

    pub(super) fn at(&self, level: Level) -> String {
        if self.level < level {
            format!("({})", self.text)
        } else {
            self.text.clone()
        }
    }
}

pub(super) fn joined(parts: &[Text], operator: &str, level: Level) -> Text {
    // `&&` inside `||` gets parentheses, too: readers need them.
    let inner = if level == OR { EQUALITY } else { level + 1 };
    let parts: Vec<String> = match level {
        AND => as_ranges(parts).iter().map(|part| part.at(inner)).collect(),
        _ => parts.iter().map(|part| part.at(inner)).collect(),
    };
    Text::new(parts.join(operator), level)
}

/// Bounds of one thing as a range: `0 <= i && i < n` for `i >= 0` and `i < n`.
fn as_ranges(parts: &[Text]) -> Vec<Text> {
    let mut taken = vec![false; parts.len()];
    let mut ordered = Vec::with_capacity(parts.len());
    for (at, part) in parts.iter().enumerate() {
        if taken[at] {
            continue;
        }
        let free = |is: &dyn Fn(&Text) -> bool| {
            (0..parts.len()).find(|&other| !taken[other] && is(&parts[other]))
        };
        let range = match &part.bound {
            Some(Bound::Lower { of, turned }) => {
                let upper = free(&|part| part.is_upper(of));
                upper.map(|upper| (turned.clone(), at, upper))
            }
            Some(Bound::Upper { of }) => {
                let lower = free(&|part| part.turned(of).is_some());
                lower.and_then(|lower| Some((parts[lower].turned(of)?.to_owned(), lower, at)))
            }
            None => None,
        };
        match range {
            Some((turned, lower, upper)) => {
                ordered.push(Text::new(turned, ORDER));
                ordered.push(parts[upper].clone());
                taken[lower] = true;
                taken[upper] = true;
            }
            None => ordered.push(part.clone()),
        }
    }
    ordered
}

/// A C integer type after promotion, or before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct CType {
    pub(super) width: u32,
    pub(super) signed: bool,
}

impl CType {
    pub(super) fn promoted(self) -> CType {
        if self.width < 32 { INT } else { self }
    }

    pub(super) fn name(self) -> &'static str {
        match (self.width, self.signed) {
            (8, true) => "signed char",
            (8, false) => "unsigned char",
            (16, true) => "short",
            (16, false) => "unsigned short",
            (32, true) => "int",
            (32, false) => "unsigned int",
            (64, true) => "long long",
            (64, false) => "unsigned long long",
            (_, true) => "__int128",
            (_, false) => "unsigned __int128",
        }
    }

    pub(super) fn holds(self, low: i128, high: i128) -> bool {
        let (least, most) = bounds(self.width, self.signed);
        least <= low && high <= most
    }
}

pub(super) const INT: CType = CType {
    width: 32,
    signed: true,
};

/// The range of a width up to 126 bits; wider ones are cut to that.
pub(super) fn bounds(width: u32, signed: bool) -> (i128, i128) {
    let width = width.min(126);
    if signed {
        (-(1i128 << (width - 1)), (1i128 << (width - 1)) - 1)
    } else {
        (0, (1i128 << width) - 1)
    }
}

/// An expression that is a reading of a bit-vector term.
#[derive(Clone, Debug)]
pub(super) struct Number {
    pub(super) text: Text,
    /// Its type in C.
    pub(super) ty: CType,
    /// The range of its value.
    pub(super) low: i128,
    pub(super) high: i128,
}

impl Number {
    pub(super) fn cast(&self, ty: CType) -> Text {
        Text::new(format!("({}){}", ty.name(), self.text.at(UNARY)), UNARY)
    }

    /// The same value in an expression of this type, which holds it.
    pub(super) fn as_type(&self, ty: CType) -> Text {
        if self.ty.promoted() == ty {
            self.text.clone()
        } else if let Ok(value) = self.text.text.parse::<i128>()
            && ty == INT
            && INT.holds(value, value)
        {
            self.text.clone()
        } else {
            self.cast(ty)
        }
    }
}

pub(super) fn is_standard(width: u32) -> bool {
    matches!(width, 8 | 16 | 32 | 64)
}

/// The narrowest signed type that holds a range.
pub(super) fn signed_type(low: i128, high: i128) -> CType {
    let width = [32, 64]
        .into_iter()
        .find(|&width| {
            CType {
                width,
                signed: true,
            }
            .holds(low, high)
        })
        .unwrap_or(128);
    CType {
        width,
        signed: true,
    }
}

/// Two numbers in one type in which C compares or combines them by their values.
pub(super) fn together(
    a: &Number,
    b: &Number,
    low: i128,
    high: i128,
) -> (String, String, CType, Level) {
    let (low, high) = (low.min(a.low).min(b.low), high.max(a.high).max(b.high));
    let (plain, other) = (a.ty.promoted(), b.ty.promoted());
    let ty = if plain == other && plain.holds(low, high) {
        plain
    } else if let Some(ty) = converted(a, b).or_else(|| converted(b, a))
        && ty.holds(low, high)
    {
        return (a.text.at(UNARY), b.text.at(UNARY), ty, UNARY);
    } else {
        signed_type(low, high)
    };
    // A signed operand of a narrower type is converted by C itself, if the other one is cast.
    let (left, right) = (a.as_type(ty), b.as_type(ty));
    let narrow = |number: &Number| {
        let own = number.ty.promoted();
        own.signed && own.width < ty.width && ty.signed
    };
    let (left, right) = if narrow(b) {
        (left, b.text.clone())
    } else if narrow(a) {
        (a.text.clone(), right)
    } else {
        (left, right)
    };
    (left.at(UNARY), right.at(UNARY), ty, UNARY)
}

/// The type to which C itself converts both numbers, if that changes no value: the unsigned one of
/// the first, which is not narrower than the second one's, and the second one is not negative.
fn converted(wide: &Number, narrow: &Number) -> Option<CType> {
    let (ty, other) = (wide.ty.promoted(), narrow.ty.promoted());
    let kept = !ty.signed && other.width <= ty.width && narrow.low >= 0;
    kept.then_some(ty)
}

pub(super) fn literal(value: i128) -> Number {
    let ty = signed_type(value, value);
    let (text, level) = match ty.width {
        32 if value == i128::from(i32::MIN) => ("(-2147483647 - 1)".to_owned(), ATOM),
        32 => (value.to_string(), if value < 0 { UNARY } else { ATOM }),
        64 if value == i128::from(i64::MIN) => ("(-9223372036854775807LL - 1)".to_owned(), ATOM),
        64 => (format!("{value}LL"), if value < 0 { UNARY } else { ATOM }),
        // Only unsigned 64-bit values come this far.
        _ => (format!("(__int128){value}ULL"), UNARY),
    };
    Number {
        text: Text::new(text, level),
        ty,
        low: value,
        high: value,
    }
}

/// An operation whose exact result lies in a range; wraps around like the bits where it must.
pub(super) fn combine(
    a: &Number,
    b: &Number,
    width: u32,
    sign: &str,
    level: Level,
    (low, high): (i128, i128),
) -> Option<Number> {
    let (least, most) = bounds(width, true);
    let (_, unsigned) = bounds(width, false);
    let exact = (low >= least && high <= most) || (low >= 0 && high <= unsigned);
    if exact {
        let (left, right, ty, _) = together(a, b, low, high);
        if ty.width > 64 && !ty.signed {
            return None;
        }
        return Some(Number {
            text: Text::new(format!("{left} {sign} {right}"), level),
            ty,
            low,
            high,
        });
    }
    if !is_standard(width) {
        return None;
    }
    // Unsigned arithmetic of C wraps around; a cast cuts what is narrower than `int`.
    let ty = CType {
        width: width.max(32),
        signed: false,
    };
    let text = format!(
        "{} {sign} {}",
        a.cast(ty).at(level),
        b.cast(ty).at(level + 1)
    );
    let sum = Number {
        text: Text::new(text, level),
        ty,
        low: 0,
        high: bounds(ty.width, false).1,
    };
    let to = CType {
        width,
        signed: true,
    };
    Some(Number {
        text: sum.cast(to),
        ty: to,
        low: least,
        high: most,
    })
}
