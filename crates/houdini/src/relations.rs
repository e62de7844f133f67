//! Polynomial equations that hold of points.
//!
//! The points are zeros of an ideal; what is computed is its Gröbner basis up to a degree (Möller
//! and Buchberger: The construction of multivariate polynomials with preassigned zeros, 1982).
//! Products of coordinates are looked at by degree; one whose values depend linearly on those of
//! smaller ones is the largest product of an equation, and its multiples are left out. Values are
//! computed modulo a large prime, and factors are read back as fractions; where these are not small,
//! the dependency is an accident.

/// An equation: the sum of factors times products of coordinates is zero. A product is given by how
/// often each coordinate is multiplied.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Relation {
    pub products: Vec<(i64, Vec<u32>)>,
}

/// 2^61 - 1.
const PRIME: u64 = (1 << 61) - 1;
/// The largest factor that is believed.
const FACTOR: i64 = 1 << 14;
/// An equation of more products is an accident, too.
const PRODUCTS: usize = 14;
/// So many more points than products there have to be.
const MORE: usize = 4;

/// The equations of at most this degree that hold of points, the largest product of each being no
/// multiple of another one's.
pub fn relations(points: &[Vec<i64>], degree: u32) -> Vec<Relation> {
    let Some(dimensions) = points.first().map(Vec::len) else {
        return Vec::new();
    };
    let mut found = Vec::new();
    let mut leading: Vec<Vec<u32>> = Vec::new();
    // Products whose values are independent: their values, reduced, and what they are made of.
    let mut basis: Vec<Independent> = Vec::new();
    let mut independent: Vec<Vec<u32>> = Vec::new();
    for product in products(dimensions, degree) {
        let divides = |other: &Vec<u32>| other.iter().zip(&product).all(|(a, b)| a <= b);
        if leading.iter().any(divides) {
            continue;
        }
        if independent.len() + MORE > points.len() {
            break;
        }
        let mut values: Vec<u64> = points.iter().map(|point| value(point, &product)).collect();
        let mut made_of = vec![0; independent.len()];
        for known in &basis {
            let factor = values[known.pivot];
            if factor != 0 {
                subtract(&mut values, &known.values, factor);
                subtract(&mut made_of, &known.made_of, factor);
            }
        }
        match values.iter().position(|&value| value != 0) {
            Some(pivot) => {
                let by = inverse(values[pivot]);
                made_of.push(1);
                independent.push(product);
                for known in &mut basis {
                    known.made_of.push(0);
                }
                let scale = |number: &mut u64| *number = times(*number, by);
                values.iter_mut().for_each(scale);
                made_of.iter_mut().for_each(scale);
                basis.push(Independent {
                    pivot,
                    values,
                    made_of,
                });
            }
            None => {
                if let Some(relation) = believed(&independent, &made_of, &product) {
                    found.push(relation);
                    leading.push(product);
                }
            }
        }
    }
    found
}

/// Values that no others add up to.
struct Independent {
    pivot: usize,
    values: Vec<u64>,
    made_of: Vec<u64>,
}

/// All products of at most a degree, the smaller ones first.
fn products(dimensions: usize, degree: u32) -> Vec<Vec<u32>> {
    let mut all = vec![vec![0; dimensions]];
    let mut last: Vec<(Vec<u32>, usize)> = vec![(vec![0; dimensions], 0)];
    for _ in 0..degree {
        let mut next = Vec::new();
        for (product, from) in &last {
            for at in *from..dimensions {
                let mut more = product.clone();
                more[at] += 1;
                next.push((more, at));
            }
        }
        all.extend(next.iter().map(|(product, _)| product.clone()));
        last = next;
    }
    all
}

/// The relation that a product and its dependency on smaller ones are, if all factors are small.
fn believed(independent: &[Vec<u32>], made_of: &[u64], product: &[u32]) -> Option<Relation> {
    let mut fractions = Vec::new();
    let mut common = 1i64;
    for (&factor, smaller) in made_of.iter().zip(independent) {
        if factor != 0 {
            let (above, below) = fraction(factor)?;
            common = common / gcd(common, below) * below;
            if common > FACTOR {
                return None;
            }
            fractions.push((above, below, smaller.clone()));
        }
    }
    if fractions.len() >= PRODUCTS {
        return None;
    }
    let mut products = vec![(common, product.to_vec())];
    for (above, below, smaller) in fractions {
        let factor = above.checked_mul(common / below)?;
        if factor.abs() > FACTOR {
            return None;
        }
        products.push((factor, smaller));
    }
    Some(Relation { products })
}

/// A number modulo the prime as a fraction of small numbers.
fn fraction(number: u64) -> Option<(i64, i64)> {
    // The steps of Euclid's algorithm keep rest == times * number; the first small rest counts.
    let (mut rest, mut next) = (PRIME as i128, i128::from(number));
    let (mut times, mut times_next) = (0i128, 1i128);
    let small = i128::from(FACTOR);
    while next > small {
        let quotient = rest / next;
        (rest, next) = (next, rest - quotient * next);
        (times, times_next) = (times_next, times - quotient * times_next);
    }
    if times_next == 0 || times_next.abs() > small {
        return None;
    }
    let sign = times_next.signum();
    let (above, below) = ((next * sign) as i64, times_next.abs() as i64);
    let shared = gcd(above.abs(), below).max(1);
    Some((above / shared, below / shared))
}

fn gcd(mut a: i64, mut b: i64) -> i64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

fn times(a: u64, b: u64) -> u64 {
    (u128::from(a) * u128::from(b) % u128::from(PRIME)) as u64
}

fn inverse(number: u64) -> u64 {
    // Fermat's little theorem.
    let (mut result, mut power, mut exponent) = (1, number, PRIME - 2);
    while exponent > 0 {
        if exponent & 1 == 1 {
            result = times(result, power);
        }
        power = times(power, power);
        exponent >>= 1;
    }
    result
}

/// Takes a multiple of a row away.
fn subtract(row: &mut [u64], other: &[u64], factor: u64) {
    for (number, &value) in row.iter_mut().zip(other) {
        *number = (*number + PRIME - times(value, factor)) % PRIME;
    }
}

/// The value of a product at a point.
fn value(point: &[i64], product: &[u32]) -> u64 {
    let mut result = 1;
    for (&coordinate, &often) in point.iter().zip(product) {
        let number = i128::from(coordinate).rem_euclid(i128::from(PRIME)) as u64;
        for _ in 0..often {
            result = times(result, number);
        }
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};

    #[track_caller]
    fn check(degree: u32, points: impl Iterator<Item = Vec<i64>>, expected: Expect) {
        let points: Vec<Vec<i64>> = points.collect();
        let mut shown = String::new();
        for relation in relations(&points, degree) {
            for (factor, product) in relation.products {
                shown += &format!("{factor:+}");
                for (coordinate, often) in ["x", "y", "z"].iter().zip(product) {
                    shown += &coordinate.repeat(often as usize);
                }
            }
            shown += "\n";
        }
        expected.assert_eq(&shown);
    }

    #[test]
    fn sums_of_numbers() {
        let points = (0..20).map(|n| vec![n, n * (n + 1) / 2]);
        check(
            2,
            points,
            expect![[r#"
            +1xx+1x-2y
        "#]],
        );
    }

    #[test]
    fn products_by_additions() {
        let points = (0..60).map(|n| {
            let (a, b) = (n % 7, n % 11);
            vec![a, b, a * b + 3]
        });
        check(
            2,
            points,
            expect![[r#"
            +1xy+3-1z
        "#]],
        );
    }

    #[test]
    fn linear_relations_hide_their_multiples() {
        let points = (0..30).map(|n| vec![n, 3 * n - 7, n * n * n]);
        check(
            3,
            points,
            expect![[r#"
            +1y+7-3x
            +1xxx-1z
        "#]],
        );
    }

    #[test]
    fn too_few_points_tell_nothing() {
        check(2, (0..4).map(|n| vec![n, n * n]), expect![""]);
    }
}
