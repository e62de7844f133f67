//! Affine relations modulo a power of two: what linear equations hold of a growing set of points.
//!
//! Points over machine words are rows of a module over the integers modulo 2^w. The equations that
//! hold of all of them are its null space, found by diagonalising: rows and columns are combined
//! until one entry is left in each, a power of two. This speaks of congruences as well: an entry
//! 2^k says that 2^(w-k) times a combination is constant. (King and Søndergaard: Automatic
//! abstraction for congruences, 2010.)

/// A linear combination of coordinates plus a constant, which is zero modulo 2^w.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Equation {
    /// A factor for every coordinate.
    pub factors: Vec<u64>,
    /// The constant.
    pub constant: u64,
}

/// The affine hull of points.
#[derive(Clone, Debug)]
pub struct Hull {
    width: u32,
    /// Generators; each has a 1 in front for the constant.
    rows: Vec<Vec<u64>>,
    equations: Vec<Equation>,
}

impl Hull {
    /// The hull of one point.
    pub fn of(width: u32, point: &[u64]) -> Hull {
        let mut hull = Hull {
            width,
            rows: Vec::new(),
            equations: Vec::new(),
        };
        hull.push(point);
        hull
    }

    /// The equations that hold of all points so far.
    pub fn equations(&self) -> &[Equation] {
        &self.equations
    }

    /// Adds a point. Says whether that is anything new.
    pub fn add(&mut self, point: &[u64]) -> bool {
        let known = self
            .equations
            .iter()
            .all(|equation| self.value(equation, point) == 0);
        if !known {
            self.push(point);
        }
        !known
    }

    /// Adds all points of another hull.
    pub fn join(&mut self, other: &Hull) {
        for row in &other.rows {
            self.add(&row[1..]);
        }
    }

    fn push(&mut self, point: &[u64]) {
        let mut row = vec![1];
        row.extend(point.iter().map(|&value| value & self.mask()));
        self.rows.push(row);
        self.equations = null_space(&self.rows, self.width);
    }

    fn value(&self, equation: &Equation, point: &[u64]) -> u64 {
        let products = equation.factors.iter().zip(point);
        let sum = products.fold(equation.constant, |sum, (&factor, &value)| {
            sum.wrapping_add(factor.wrapping_mul(value))
        });
        sum & self.mask()
    }

    fn mask(&self) -> u64 {
        mask(self.width)
    }
}

fn mask(width: u32) -> u64 {
    u64::MAX >> (64 - width)
}

/// The inverse of an odd number modulo 2^64.
fn inverse(odd: u64) -> u64 {
    // Each step of Newton's method doubles the number of right bits; a number is its own inverse
    // in the lowest three.
    (0..5).fold(odd, |x, _| {
        x.wrapping_mul(2u64.wrapping_sub(odd.wrapping_mul(x)))
    })
}

/// All combinations of columns that are zero in every row.
fn null_space(rows: &[Vec<u64>], width: u32) -> Vec<Equation> {
    let mask = mask(width);
    let mut rows: Vec<Vec<u64>> = rows.to_vec();
    let columns = rows.first().map_or(0, Vec::len);
    // The combination of the original columns that every column is now.
    let mut combined: Vec<Vec<u64>> = (0..columns)
        .map(|at| (0..columns).map(|other| u64::from(at == other)).collect())
        .collect();
    let mut order: Vec<u32> = Vec::new();
    for done in 0..columns.min(rows.len()) {
        // The entry with the fewest factors of two divides all others.
        let entries = (done..rows.len()).flat_map(|row| (done..columns).map(move |col| (row, col)));
        let best = entries
            .filter(|&(row, column)| rows[row][column] & mask != 0)
            .min_by_key(|&(row, column)| rows[row][column].trailing_zeros());
        let Some((row, column)) = best else {
            break;
        };
        rows.swap(done, row);
        for row in &mut rows {
            row.swap(done, column);
        }
        combined.swap(done, column);
        let twos = rows[done][done].trailing_zeros();
        let unit = inverse(rows[done][done] >> twos);
        let pivot = rows[done].clone();
        for column in done + 1..columns {
            let factor = (pivot[column] >> twos).wrapping_mul(unit);
            if factor & mask == 0 {
                continue;
            }
            for row in &mut rows {
                row[column] = row[column].wrapping_sub(factor.wrapping_mul(row[done])) & mask;
            }
            let (before, after) = combined.split_at_mut(column);
            for (entry, &base) in after[0].iter_mut().zip(&before[done]) {
                *entry = entry.wrapping_sub(factor.wrapping_mul(base));
            }
        }
        // The pivot's row is zero behind it now, so it can be taken from the rows below.
        for row in &mut rows[done + 1..] {
            row[done] = 0;
        }
        order.push(twos);
    }
    let mut equations = Vec::new();
    for (at, column) in combined.iter().enumerate() {
        let twos = order.get(at).copied();
        // What is left of a pivot 2^k vanishes when multiplied by 2^(w-k).
        let scale = match twos {
            Some(0) => continue,
            Some(twos) => 1u64.checked_shl(width - twos).unwrap_or(0),
            None => 1,
        };
        let scaled: Vec<u64> = column
            .iter()
            .map(|&entry| entry.wrapping_mul(scale) & mask)
            .collect();
        equations.extend(normalised(&scaled, mask));
    }
    equations.sort();
    equations
}

/// The equation, multiplied so that one factor is a power of two and the largest is as small as
/// it can be; `None` if it says nothing.
fn normalised(entries: &[u64], mask: u64) -> Option<Equation> {
    let (&constant, factors) = entries.split_first()?;
    let scaled_by = |lead: &u64| {
        let unit = inverse(lead >> lead.trailing_zeros());
        let scaled = |entry: u64| entry.wrapping_mul(unit) & mask;
        Equation {
            factors: factors.iter().map(|&factor| scaled(factor)).collect(),
            constant: scaled(constant),
        }
    };
    let size = |&factor: &u64| factor.min(factor.wrapping_neg() & mask);
    factors
        .iter()
        .filter(|&&factor| factor != 0)
        .map(scaled_by)
        .min_by_key(|equation| equation.factors.iter().map(size).max())
}

#[cfg(test)]
mod tests {
    use super::*;
    use hardbop_test_support::random::Random;

    fn hull(width: u32, points: &[&[u64]]) -> String {
        let mut hull = Hull::of(width, points[0]);
        for point in &points[1..] {
            hull.add(point);
        }
        let sign = |value: u64| match value > mask(width) / 2 {
            true => value as i64 - (mask(width) as i64) - 1,
            false => value as i64,
        };
        let texts: Vec<String> = hull
            .equations()
            .iter()
            .map(|equation| {
                let factors: Vec<i64> = equation.factors.iter().map(|&f| sign(f)).collect();
                format!("{factors:?} + {}", sign(equation.constant))
            })
            .collect();
        texts.join("; ")
    }

    #[test]
    fn one_point_is_given_by_its_coordinates() {
        assert_eq!(hull(8, &[&[3, 250]]), "[0, 1] + 6; [1, 0] + -3");
    }

    #[test]
    fn counters_that_move_together_differ_by_a_constant() {
        assert_eq!(hull(8, &[&[0, 5], &[1, 6], &[7, 12]]), "[1, -1] + 5");
    }

    #[test]
    fn factors_are_small() {
        assert_eq!(hull(8, &[&[0, 0], &[1, 3]]), "[-3, 1] + 0");
    }

    #[test]
    fn steps_of_two_are_a_congruence() {
        assert_eq!(hull(8, &[&[1], &[3]]), "[-128] + -128");
    }

    #[test]
    fn anything_is_not_spoken_of() {
        assert_eq!(hull(8, &[&[1], &[2]]), "");
    }

    /// Every equation holds of all points, and every point that they hold of is a combination.
    #[test]
    fn equations_are_exactly_the_hull() {
        let mut numbers = Random(1);
        let mut random = |below: u64| numbers.below(below);
        for _ in 0..200 {
            let count = 1 + random(3);
            let points: Vec<[u64; 2]> = (0..count).map(|_| [random(8), random(8)]).collect();
            let mut hull = Hull::of(3, &points[0]);
            for point in &points[1..] {
                hull.add(point);
            }
            let mut spanned = [[false; 8]; 8];
            let weights = |n: u64| 0..8u64.pow(n as u32 - 1);
            for weight in weights(count) {
                let mut sum = points[0].map(|x| x as i64);
                let mut rest = weight;
                for point in &points[1..] {
                    for at in 0..2 {
                        let step = point[at] as i64 - points[0][at] as i64;
                        sum[at] += (rest % 8) as i64 * step;
                    }
                    rest /= 8;
                }
                spanned[sum[0].rem_euclid(8) as usize][sum[1].rem_euclid(8) as usize] = true;
            }
            for (x, row) in spanned.iter().enumerate() {
                for (y, &expected) in row.iter().enumerate() {
                    let point = [x as u64, y as u64];
                    let holds = |equation: &Equation| hull.value(equation, &point) == 0;
                    assert_eq!(
                        hull.equations.iter().all(holds),
                        expected,
                        "{points:?} {point:?}"
                    );
                }
            }
        }
    }
}
