//! The check stands on what the analysis finds, and on nothing else.

use super::super::{ClassId, solve};
use super::*;
use crate::load::{Options, load, load_text};
use crate::options::Undefined;
use crate::parse::{Input, InputKind, NoFiles, Preprocess};
use crate::types::DataModel;

/// Without limits.
fn analyse_unchecked(program: &Program) -> PointsTo {
    super::super::analyse_unchecked(program, &Budget::unlimited()).unwrap()
}

fn check(program: &Program, claims: &PointsTo) -> Checked {
    super::check(program, claims, &Budget::unlimited()).unwrap()
}

/// Pointers in records, arrays, unions, integers, bytes, tables and further arguments.
const PROGRAM: &str = r#"
    #include <stdarg.h>
    #include <stdlib.h>
    #include <string.h>
    struct node { int value; struct node *next; int *where[2]; };
    union word { int *pointer; unsigned long number; unsigned char bytes[8]; };
    static int x, y, table[3];
    static int twice(int *p) { return *p * 2; }
    static int (*functions[2])(int *) = { twice, twice };
    static int last(int count, ...) {
        va_list list;
        va_start(list, count);
        int *p = va_arg(list, int *);
        va_end(list);
        return *p;
    }
    int main(void) {
        struct node *head = malloc(sizeof *head), copy;
        head->value = 1;
        head->next = 0;
        head->where[0] = &x;
        head->where[1] = &table[2];
        copy = *head;
        union word word;
        word.pointer = copy.where[0];
        union word other;
        memcpy(&other, &word, sizeof word);
        unsigned long low = other.number & 0xffff, high = other.number >> 16;
        int *again = (int *)(high << 16 | low);
        *again = functions[0](&y);
        int *walk = table;
        while (walk < table + 3)
            *walk++ = last(1, head->where[1]);
        return *again + word.bytes[0];
    }
"#;

#[test]
fn what_the_analysis_finds_stands() {
    let loaded = load_text("good.c", PROGRAM).unwrap();
    assert_eq!(
        check(&loaded.program, &analyse_unchecked(&loaded.program)),
        Ok(())
    );
}

#[test]
fn what_functions_without_a_body_know_stands() {
    let text = "struct P { int *p; }; void note(const char *, ...); int *find(struct P, long);\n\
        int x, *q; int main(void) { int y; struct P p = { &y }; note(\"%p\", &q, p);\n\
        q = find(p, (long)&x); return q == &y ? *q : x; }";
    let mut options = Options::new(DataModel::Lp64);
    options.lower.undefined = Undefined::Havoc;
    let input = Input {
        name: "havoc.c".to_owned(),
        bytes: text.into(),
        kind: InputKind::Source,
        preprocess: Preprocess::default(),
    };
    let loaded = load(&[input], &options, &NoFiles, &Budget::unlimited());
    let loaded = loaded.unwrap().program.unwrap();
    let program = &loaded.program;
    assert_eq!(check(program, &analyse_unchecked(program)), Ok(()));
}

#[test]
fn pointers_that_walk_backwards_stay_at_elements() {
    let text = "int a[9]; int main(void) { int n = a[0], *p = a + n;\n\
        while (p > a) { --p; *p = 4; } return a[n]; }";
    let loaded = load_text("back.c", text).unwrap();
    let claims = analyse_unchecked(&loaded.program);
    assert_eq!(check(&loaded.program, &claims), Ok(()));
    let collapsed = claims.classes.iter().filter(|class| class.collapsed);
    let known = collapsed.filter(|class| !class.variables.is_empty());
    assert_eq!(known.count(), 0);
}

#[test]
fn the_coarsest_answer_stands() {
    let loaded = load_text("good.c", PROGRAM).unwrap();
    let coarse = solve::solve_coarsely(&loaded.program, &mut Budget::unlimited().ticks()).unwrap();
    assert_eq!(check(&loaded.program, &coarse), Ok(()));
}

#[test]
fn a_budget_that_is_over_stops_the_analysis() {
    let loaded = load_text("good.c", PROGRAM).unwrap();
    let budget = Budget::unlimited();
    budget.cancel();
    let program = &loaded.program;
    let stopped = Some(Stopped::Cancelled);
    assert_eq!(super::super::analyse(program, &budget).err(), stopped);
    let checked = super::check(program, &loaded.points_to, &budget);
    assert_eq!(checked.err(), stopped);
}

/// A spot in another class.
fn elsewhere(claims: &PointsTo, spot: Spot) -> Spot {
    let class = (spot.class.0 + 1) % claims.classes.len() as u32;
    Spot {
        class: ClassId(class),
        ..spot
    }
}

#[test]
fn every_claim_that_is_changed_is_found_out() {
    let loaded = load_text("good.c", PROGRAM).unwrap();
    let program = &loaded.program;
    let claims = analyse_unchecked(program);
    let mut changed = 0;
    let mut refuse = |what: String, mutant: PointsTo| {
        changed += 1;
        assert!(check(program, &mutant).is_err(), "{what}");
    };
    for (index, spot) in claims.pointers.iter().enumerate() {
        let Some(spot) = *spot else { continue };
        let mut mutant = claims.clone();
        mutant.pointers[index] = Some(elsewhere(&claims, spot));
        refuse(format!("expression {index}"), mutant);
    }
    for (index, spot) in claims.places.iter().enumerate() {
        let Some(spot) = *spot else { continue };
        let mut mutant = claims.clone();
        mutant.places[index] = Some(elsewhere(&claims, spot));
        refuse(format!("place {index}"), mutant);
    }
    for (&at, &pointee) in &claims.pointees {
        // What no statement reads or writes may be claimed at will.
        if claims.regions.at(at).is_none() || pointee == elsewhere(&claims, pointee) {
            continue;
        }
        let mut mutant = claims.clone();
        mutant.pointees.insert(at, elsewhere(&claims, pointee));
        refuse(format!("pointee at {at:?}"), mutant);
    }
    for &edge in claims.allocations.keys() {
        let mut mutant = claims.clone();
        mutant.allocations.remove(&edge);
        refuse(format!("allocation {}", edge.0), mutant);
    }
    assert!(changed > 100, "{changed}");
}
