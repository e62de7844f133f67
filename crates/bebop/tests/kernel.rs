//! The BDD kernel against truth tables, and against OxiDD.

use hardbop_bebop::bdd::{Bdd, Manager, Var};
use hardbop_boolean_program::Random;
use hardbop_budget::{Budget, Stopped};
use oxidd::bdd::BDDFunction;
use oxidd::{BooleanFunction, Manager as _, ManagerRef};
use std::sync::atomic::Ordering;

/// Functions of this many variables are compared with 64-bit truth tables.
const VARIABLES: u32 = 6;

/// The truth table of a variable.
fn column(var: u32) -> u64 {
    (0..64)
        .filter(|row| row >> var & 1 != 0)
        .fold(0, |table, row| table | 1 << row)
}

fn table(manager: &Manager, f: Bdd) -> u64 {
    let row = |row: u64| u64::from(manager.evaluate(f, |var| row >> var.0 & 1 != 0));
    (0..64).fold(0, |table, number| table | row(number) << number)
}

/// The table with a variable set to a value.
fn cofactor(table: u64, var: u32, value: bool) -> u64 {
    let column = column(var);
    let shift = 1 << var;
    if value {
        let half = table & column;
        half | half >> shift
    } else {
        let half = table & !column;
        half | half << shift
    }
}

fn exists(table: u64, var: u32) -> u64 {
    cofactor(table, var, false) | cofactor(table, var, true)
}

/// A manager with its variables in a random order, and random functions with their tables.
fn functions(random: &mut Random, count: usize) -> (Manager, Vec<(Bdd, u64)>) {
    let mut order: Vec<Var> = (0..VARIABLES).map(Var).collect();
    for place in (1..order.len()).rev() {
        order.swap(place, random.below(place + 1));
    }
    let mut manager = Manager::with_order(order, Budget::unlimited());
    let mut pool = vec![(Bdd::FALSE, 0), (Bdd::TRUE, u64::MAX)];
    for var in 0..VARIABLES {
        pool.push((manager.literal(Var(var), true).unwrap(), column(var)));
        pool.push((manager.literal(Var(var), false).unwrap(), !column(var)));
    }
    while pool.len() < count {
        let ((f, a), (g, b)) = (
            pool[random.below(pool.len())],
            pool[random.below(pool.len())],
        );
        let (h, c) = pool[random.below(pool.len())];
        pool.push(match random.below(6) {
            0 => (manager.and(f, g).unwrap(), a & b),
            1 => (manager.or(f, g).unwrap(), a | b),
            2 => (manager.xor(f, g).unwrap(), a ^ b),
            3 => (manager.not(f).unwrap(), !a),
            4 => (manager.difference(f, g).unwrap(), a & !b),
            _ => (manager.ite(f, g, h).unwrap(), a & b | !a & c),
        });
    }
    (manager, pool)
}

#[test]
fn connectives_match_truth_tables() {
    let mut random = Random::new(1);
    for _ in 0..200 {
        let (mut manager, pool) = functions(&mut random, 80);
        for &(f, a) in &pool {
            assert_eq!(table(&manager, f), a);
            let implied = manager.implied(f);
            for var in 0..VARIABLES {
                let always = |value: bool| a != 0 && cofactor(a, var, !value) == 0;
                for value in [false, true] {
                    assert_eq!(implied.contains(&(Var(var), value)), always(value));
                }
            }
            for var in 0..VARIABLES {
                let depends = cofactor(a, var, false) != cofactor(a, var, true);
                assert_eq!(manager.support(f).contains(&Var(var)), depends);
            }
        }
        for _ in 0..100 {
            let ((f, a), (g, b)) = (pool[random.below(80)], pool[random.below(80)]);
            // Diagrams are canonical: equal functions are equal indices.
            assert_eq!(f == g, a == b);
            assert_eq!(manager.is_subset(f, g).unwrap(), a & !b == 0);
            assert_eq!(manager.intersects(f, g).unwrap(), a & b != 0);
        }
    }
}

#[test]
fn passes_match_truth_tables() {
    let mut random = Random::new(2);
    for _ in 0..400 {
        let (mut manager, pool) = functions(&mut random, 60);
        let ((f, a), (g, b)) = (pool[random.below(60)], pool[random.below(60)]);
        // Some variables are quantified, some kept; some of the quantified ones' places are
        // taken by others, in any direction: order-keeping and order-breaking renamings alike.
        let fate: Vec<usize> = (0..VARIABLES).map(|_| random.below(3)).collect();
        let quantified: Vec<u32> = (0..VARIABLES).filter(|&v| fate[v as usize] == 0).collect();
        let movable: Vec<u32> = (0..VARIABLES).filter(|&v| fate[v as usize] == 1).collect();
        let moved: Vec<(u32, u32)> = movable
            .iter()
            .copied()
            .zip(quantified.iter().copied())
            .collect();
        let mut expected = a & b;
        for &var in &quantified {
            expected = exists(expected, var);
        }
        for &(from, to) in &moved {
            // The place `to` is free now: the function there is the one at `from`.
            let (no, yes) = (
                cofactor(expected, from, false),
                cofactor(expected, from, true),
            );
            expected = no & !column(to) | yes & column(to);
        }
        let quantified: Vec<Var> = quantified.into_iter().map(Var).collect();
        let moved: Vec<(Var, Var)> = moved.into_iter().map(|(a, b)| (Var(a), Var(b))).collect();
        let pass = manager.pass(&quantified, &moved);
        let image = manager.image(f, g, pass).unwrap();
        assert_eq!(table(&manager, image), expected, "{quantified:?} {moved:?}");
        let both = manager.and(f, g).unwrap();
        assert_eq!(manager.project(both, pass).unwrap(), image);
    }
}

#[test]
fn chained_renaming_is_simultaneous() {
    // Entry to current and current to next at once: x0 -> x1 -> x2.
    let mut manager = Manager::new(3, Budget::unlimited());
    let (a, b) = (
        manager.literal(Var(0), true).unwrap(),
        manager.literal(Var(1), false).unwrap(),
    );
    let f = manager.and(a, b).unwrap();
    let pass = manager.pass(&[], &[(Var(0), Var(1)), (Var(1), Var(2))]);
    let (c, d) = (
        manager.literal(Var(1), true).unwrap(),
        manager.literal(Var(2), false).unwrap(),
    );
    let expected = manager.and(c, d).unwrap();
    assert_eq!(manager.project(f, pass).unwrap(), expected);
}

#[test]
fn generalised_cofactors_agree_on_the_care_set() {
    let mut random = Random::new(3);
    for _ in 0..200 {
        let (mut manager, pool) = functions(&mut random, 60);
        for _ in 0..30 {
            let ((f, a), (care, c)) = (pool[random.below(60)], pool[random.below(60)]);
            if c == 0 {
                continue;
            }
            let constrained = manager.constrain(f, care).unwrap();
            assert_eq!(table(&manager, constrained) & c, a & c);
            let restricted = manager.restrict(f, care).unwrap();
            assert_eq!(table(&manager, restricted) & c, a & c);
            assert!(manager.support(restricted).is_subset(&manager.support(f)));
        }
    }
}

#[test]
fn covers_and_picks_are_right() {
    let mut random = Random::new(4);
    for _ in 0..200 {
        let (mut manager, pool) = functions(&mut random, 60);
        let ((f, a), (g, b)) = (pool[random.below(60)], pool[random.below(60)]);
        let (lower, upper) = (manager.and(f, g).unwrap(), manager.or(f, g).unwrap());
        let cubes = manager
            .cubes(lower, upper, 1000)
            .unwrap()
            .expect("few cubes");
        let tables: Vec<u64> = cubes
            .iter()
            .map(|cube| {
                let literal = |l: &hardbop_bebop::bdd::Literal| {
                    if l.value {
                        column(l.var.0)
                    } else {
                        !column(l.var.0)
                    }
                };
                cube.iter()
                    .map(literal)
                    .fold(u64::MAX, |all, one| all & one)
            })
            .collect();
        let union = tables.iter().fold(0, |all, one| all | one);
        assert_eq!(a & b & !union, 0, "the cover covers");
        assert_eq!(union & !(a | b), 0, "and no more than it may");
        for skipped in 0..tables.len() {
            let others = tables.iter().enumerate().filter(|&(i, _)| i != skipped);
            let rest = others.fold(0, |all, (_, one)| all | one);
            assert_ne!(a & b & !rest, 0, "no cube is redundant");
        }
        match manager.pick(f) {
            None => assert_eq!(a, 0),
            Some(cube) => {
                let cube_set = manager.cube(&cube).unwrap();
                assert!(manager.is_subset(cube_set, f).unwrap());
                assert!(!cube_set.is_false());
            }
        }
    }
}

#[test]
fn collection_keeps_roots_and_frees_the_rest() {
    let mut random = Random::new(5);
    for _ in 0..100 {
        let (mut manager, mut pool) = functions(&mut random, 200);
        let before = manager.nodes();
        let kept: Vec<(Bdd, u64)> = pool.drain(..).filter(|_| random.one_in(10)).collect();
        manager.collect(kept.iter().map(|&(f, _)| f));
        assert!(manager.nodes() <= before);
        assert_eq!(
            manager.nodes(),
            manager.node_count(kept.iter().map(|&(f, _)| f)) + 2
        );
        // Everything still works, with the cache and the free places of before.
        for &(f, a) in &kept {
            assert_eq!(table(&manager, f), a);
            for &(g, b) in &kept {
                let both = manager.and(f, g).unwrap();
                assert_eq!(table(&manager, both), a & b);
                let either = manager.or(f, g).unwrap();
                assert_eq!(table(&manager, either), a | b);
            }
        }
    }
}

#[test]
fn sifting_changes_the_order_and_nothing_else() {
    let mut random = Random::new(7);
    for round in 0..200 {
        let (mut manager, mut pool) = functions(&mut random, 100);
        let kept: Vec<(Bdd, u64)> = pool.drain(..).filter(|_| random.one_in(4)).collect();
        let roots = || kept.iter().map(|&(f, _)| f);
        let before = manager.node_count(roots());
        let pass = manager.pass(&[Var(1)], &[]);
        let block = [1, 2, 3][round % 3];
        let after = manager.sift(block, roots()).unwrap();
        assert_eq!(after, manager.node_count(roots()) + 2);
        assert!(after <= before + 2, "{before} nodes became {after}");
        for &(f, a) in &kept {
            assert_eq!(table(&manager, f), a);
            let projected = manager.project(f, pass).unwrap();
            assert_eq!(table(&manager, projected), exists(a, 1));
            for &(g, b) in &kept {
                assert_eq!(f == g, a == b);
                let both = manager.xor(f, g).unwrap();
                assert_eq!(table(&manager, both), a ^ b);
            }
        }
    }
}

#[test]
fn sifting_finds_the_good_order_of_a_comparator() {
    // x0 = x8 & x1 = x9 & ...: exponential as declared, linear when partners are neighbours.
    let mut manager = Manager::new(16, Budget::unlimited());
    let mut all = Bdd::TRUE;
    for var in 0..8 {
        let a = manager.literal(Var(var), true).unwrap();
        let b = manager.literal(Var(var + 8), true).unwrap();
        let same = manager.iff(a, b).unwrap();
        all = manager.and(all, same).unwrap();
    }
    assert_eq!(manager.node_count([all]), 765);
    manager.sift(1, [all]).unwrap();
    assert_eq!(manager.node_count([all]), 24);
}

#[test]
fn large_functions_match_oxidd() {
    const MANY: usize = 24;
    let mut random = Random::new(6);
    for _ in 0..12 {
        let reference = oxidd::bdd::new_manager(1 << 20, 1 << 16, 1);
        let variables: Vec<BDDFunction> = reference.with_manager_exclusive(|manager| {
            let range = manager.add_vars(MANY as u32);
            range
                .map(|var| BDDFunction::var(manager, var).expect("memory"))
                .collect()
        });
        let mut manager = Manager::new(MANY as u32, Budget::unlimited());
        let mut pool: Vec<(Bdd, BDDFunction)> = variables
            .iter()
            .enumerate()
            .map(|(var, f)| (manager.literal(Var(var as u32), true).unwrap(), f.clone()))
            .collect();
        for _ in 0..120 {
            let (f, a) = pool[random.below(pool.len())].clone();
            let (g, b) = pool[random.below(pool.len())].clone();
            let (h, c) = pool[random.below(pool.len())].clone();
            let next = match random.below(5) {
                0 => (manager.and(f, g).unwrap(), a.and(&b).unwrap()),
                1 => (manager.or(f, g).unwrap(), a.or(&b).unwrap()),
                2 => (manager.xor(f, g).unwrap(), a.xor(&b).unwrap()),
                3 => (manager.not(f).unwrap(), a.not().unwrap()),
                _ => (manager.ite(f, g, h).unwrap(), a.ite(&b, &c).unwrap()),
            };
            // Canonical on both sides: the same size, and the same models at random places.
            use oxidd::Function;
            assert_eq!(manager.node_count([next.0]) + 2, node_count(&next.1));
            for _ in 0..50 {
                let bits = random.bits();
                let value = manager.evaluate(next.0, |var| bits >> var.0 & 1 != 0);
                let other = next
                    .1
                    .eval((0..MANY as u32).map(|var| (var, bits >> var & 1 != 0)));
                assert_eq!(value, other);
            }
            if next.1.node_count() < 20_000 {
                pool.push(next);
            }
        }
    }
}

/// OxiDD counts the terminals that occur; we count both always.
fn node_count(f: &BDDFunction) -> usize {
    use oxidd::Function;
    let count = f.node_count();
    // A constant is one terminal, everything else reaches both.
    if count == 1 { 2 } else { count }
}

#[test]
fn thousands_of_levels_need_no_deep_stack() {
    // On a thread with a small stack, as test threads and user threads may have.
    let work = || {
        let many = 60_000;
        let mut manager = Manager::new(many, Budget::unlimited());
        let literals: Vec<(Var, bool)> = (0..many).map(|var| (Var(var), var % 3 == 0)).collect();
        let cube = manager.cube(&literals).unwrap();
        let complement = manager.not(cube).unwrap();
        assert!(!manager.intersects(cube, complement).unwrap());
        assert!(manager.or(cube, complement).unwrap().is_true());
        let pass = manager.pass(&(0..many).map(Var).collect::<Vec<_>>(), &[]);
        assert!(manager.project(cube, pass).unwrap().is_true());
        assert_eq!(manager.node_count([cube]), many as usize);
        manager.collect([cube]);
        assert_eq!(manager.support(cube).len(), many as usize);
    };
    std::thread::Builder::new()
        .stack_size(256 << 10)
        .spawn(work)
        .unwrap()
        .join()
        .unwrap();
}

#[test]
fn a_memory_ceiling_stops_an_operation() {
    let held = hardbop_budget::resident_bytes().expect("Linux tells the resident size");
    let budget = Budget::unlimited().with_memory(held + (100 << 20));
    let mut manager = Manager::new(64, budget);
    let mut all = Bdd::TRUE;
    let stopped = (0..32).try_for_each(|var| {
        let a = manager.literal(Var(var), true)?;
        let b = manager.literal(Var(var + 32), true)?;
        let same = manager.iff(a, b)?;
        all = manager.and(all, same)?;
        Ok(())
    });
    assert_eq!(stopped, Err(Stopped::Memory));
    assert!(manager.bytes() < 150 << 20, "{}", manager.bytes());
}

#[test]
fn a_cancelled_operation_stops_and_leaves_the_manager_whole() {
    let budget = Budget::unlimited();
    let mut manager = Manager::new(64, budget.clone());
    // The worst order for x0 = x32, x1 = x33, ...: 2^32 nodes.
    let mut all = Bdd::TRUE;
    let stopped = (0..32).try_for_each(|var| {
        if var == 16 {
            budget.cancellation().store(true, Ordering::Relaxed);
        }
        let (a, b) = (
            manager.literal(Var(var), true)?,
            manager.literal(Var(var + 32), true)?,
        );
        let same = manager.iff(a, b)?;
        all = manager.and(all, same)?;
        Ok(())
    });
    assert_eq!(stopped, Err(Stopped::Cancelled));
    let peak = manager.nodes();
    manager.set_budget(Budget::unlimited());
    manager.collect([]);
    assert!(peak > 1000 && manager.nodes() == 2);
    let (a, b) = (
        manager.literal(Var(3), true).unwrap(),
        manager.literal(Var(3), false).unwrap(),
    );
    assert!(manager.or(a, b).unwrap().is_true());
}
