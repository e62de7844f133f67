//! The papers' programs, in C: what is proved, what is violated, and with which predicates.

use hardbop_budget::Budget;
use hardbop_cegar::Slam;
use hardbop_cfront::ids::CheckId;
use hardbop_gate::{Outcome, Report};
use hardbop_test_support::answers::report;
use std::time::Duration;

fn decide(text: &str) -> Report {
    let budget = Budget::unlimited().with_time(Duration::from_secs(120));
    report(&Slam::default(), text, &budget)
}

/// The answers in the order of the checks: `P`, `V` or `?`.
fn answers(report: &Report) -> String {
    report
        .outcomes
        .values()
        .map(|outcome| match outcome {
            Outcome::Proved(_) => 'P',
            Outcome::Violated(_) => 'V',
            Outcome::Unknown(_) => '?',
        })
        .collect()
}

const PRELUDE: &str = "extern int __VERIFIER_nondet_int(void); void reach_error(void);\n";

fn checked(body: &str) -> Report {
    decide(&format!("{PRELUDE}{body}"))
}

/// TR 2000-14, Figure 1.
#[test]
fn get_unit() {
    let report = checked(
        "int numUnits, level;
         void NewUnit(void) {} void gotUnit(void) {}
         void getUnit(void) {
           int canEnter = 0;
           if (numUnits == 0) {
             if (level > 10) { NewUnit(); numUnits = 1; canEnter = 1; }
           } else canEnter = 1;
           if (canEnter) { if (numUnits == 0) reach_error(); else gotUnit(); }
         }
         int main(void) {
           numUnits = __VERIFIER_nondet_int(); level = __VERIFIER_nondet_int();
           getUnit(); return 0;
         }",
    );
    assert_eq!(answers(&report), "P");
}

const LOCK: &str = "int lock;
    void acquire(void) { if (lock) reach_error(); lock = 1; }
    void release(void) { if (!lock) reach_error(); lock = 0; }";

/// The spin lock of the SLAM papers: the loop ends only when nothing was requested.
#[test]
fn spin_lock() {
    let report = checked(&format!(
        "{LOCK}
         int main(void) {{
           int packets = __VERIFIER_nondet_int(), old;
           do {{
             acquire();
             old = packets;
             if (__VERIFIER_nondet_int()) {{ release(); packets++; }}
           }} while (packets != old);
           release();
           return 0;
         }}"
    ));
    assert_eq!(answers(&report), "PP");
}

/// The same with the counter forgotten: the lock is acquired twice, or released twice.
#[test]
fn spin_lock_with_a_bug() {
    let report = checked(&format!(
        "{LOCK}
         int main(void) {{
           int packets = __VERIFIER_nondet_int(), old;
           do {{
             acquire();
             old = packets;
             if (__VERIFIER_nondet_int()) {{ release(); }}
           }} while (packets != old);
           release();
           return 0;
         }}"
    ));
    assert_eq!(answers(&report), "PV");
    let Some(Outcome::Violated(violation)) = report.outcomes.get(&CheckId(1)) else {
        panic!()
    };
    assert_eq!(
        violation.run().map(|run| run.inputs.len()),
        Some(2),
        "one value for the counter, one for the branch"
    );
}

/// Machine integers wrap: what holds of the integers may fail in bits, and the other way round.
#[test]
fn arithmetic_is_the_machines() {
    let report = checked(
        "int main(void) {
           unsigned x = __VERIFIER_nondet_int(), y = x + 1;
           if (y < x && x != 4294967295u) reach_error();
           if (y < x) reach_error();
           unsigned char c = x;
           if (c != (x & 255u)) reach_error();
           return 0;
         }",
    );
    assert_eq!(answers(&report), "PVP");
}

/// A loop that counts: one invariant, not one predicate an iteration.
#[test]
fn counting_loop() {
    let report = checked(
        "int main(void) {
           int n = __VERIFIER_nondet_int(), i = 0;
           while (i < n) i++;
           if (n >= 0 && i != n) reach_error();
           return 0;
         }",
    );
    assert_eq!(answers(&report), "P");
    assert!(report.count("rounds") < 20, "{:?}", report.statistics);
}

/// Calls through pointers to the caller's variable.
#[test]
fn reference_parameters() {
    let report = checked(
        "void set(int *p, int v) { *p = v; }
         int main(void) {
           int a = 1, b = 2;
           set(&a, __VERIFIER_nondet_int());
           if (b != 2) reach_error();
           if (a == 7) reach_error();
           return 0;
         }",
    );
    assert_eq!(answers(&report), "PV");
}

/// Initial values come as bytes, or at another size than they are read at.
#[test]
fn initial_values_are_seen_at_any_size() {
    let report = checked(
        "static const int *wide = (const int *)L\"abc\";
         union { long whole; int half[2]; } both = { 0x100000002L };
         int main(void) {
           if (__VERIFIER_nondet_int() && wide[1] == 'b') reach_error();
           if (both.half[1] == 1) reach_error();
           return 0;
         }",
    );
    // A run ends with its first violation, so the first one must not always be met.
    assert_eq!(answers(&report), "VV");
}

/// A protocol of twelve states, as in the BLAST papers' servers: what rules a path out is in which
/// state each turn of the loop begins. The numbers of a variable are tracked together, so that it
/// does not take a round for each of them.
#[test]
fn the_states_of_a_protocol_are_found_together() {
    let cases: String = (0..11)
        .map(|at| {
            let (state, next) = (8448 + 16 * at, 8448 + 16 * (at + 1));
            format!(
                "case {state}: if (__VERIFIER_nondet_int()) state = {next};
                 if (flag == {at}) flag = {}; break;\n",
                at + 1
            )
        })
        .collect();
    let report = checked(&format!(
        "int main(void) {{
           int state = 8448, flag = 0;
           while (1) {{
             switch (state) {{ {cases} case 8624: if (flag == 10) reach_error(); return 0; }}
           }}
         }}"
    ));
    assert_eq!(answers(&report), "P");
    assert!(report.count("rounds") <= 6, "{:?}", report.statistics);
}

/// A list whose nodes are found by the address of their links: what is read there is put together
/// from bytes, and is searched in machine words from the first round on.
#[test]
fn nodes_that_are_found_by_their_links() {
    let report = checked(
        "struct link { struct link *next; };
         struct node { int locked; struct link link; };
         struct link head = { &head };
         struct node one;
         int main(void) {
           one.link.next = head.next; head.next = &one.link;
           one.locked = __VERIFIER_nondet_int() != 0;
           for (struct link *at = head.next; at != &head; at = at->next) {
             struct node *node = (struct node *)((char *)at - (unsigned long)&((struct node *)0)->link);
             if (node->locked) reach_error();
           }
           return 0;
         }",
    );
    assert_eq!(answers(&report), "V");
    assert!(report.count("rounds") <= 3, "{:?}", report.statistics);
}
