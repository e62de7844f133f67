//! Small programs: what is proved, what is violated, and what is declined.

use hardbop_diagrams::Diagrams;
use hardbop_test_support::answers;

/// What is said of each check of a program.
fn said(text: &str) -> Vec<String> {
    let head = "void reach_error(void); int __VERIFIER_nondet_int(void);
        unsigned char __VERIFIER_nondet_uchar(void); void *malloc(unsigned long);";
    answers::said(&Diagrams::default(), &format!("{head}\n{text}"))
}

/// Threads that take turns: each starts, waits for the one before it, and wakes the next one.
const RING: &str = "int s0 = 0, s1 = 0, s2 = 0, e0 = 2, e1 = 2, e2 = 2, token = 0;
    void start(int *s, int *e, int *next) {
      if (*s == 0) { *s = 1; }
      else if (*s == 1 && *e == 1) { *e = 2; token++; *next = 1; }
    }
    int main(void) {
      while (1) {
        if (s0 == 1 && s1 == 1 && s2 == 1 && e0 == 2 && e1 == 2 && e2 == 2) { token = 0; e0 = 1; }
        if (__VERIFIER_nondet_int()) start(&s0, &e0, &e1);
        if (__VERIFIER_nondet_int()) start(&s1, &e1, &e2);
        if (__VERIFIER_nondet_int()) {
          int last = token;
          start(&s2, &e2, &e2);
          if (token != last) { if (token != LIMIT) reach_error(); e2 = 2; }
        }
      }
    }";

#[test]
fn threads_that_take_turns_are_followed_together() {
    assert_eq!(said(&RING.replace("LIMIT", "3")), ["proved"]);
    assert_eq!(said(&RING.replace("LIMIT", "2")), ["violated"]);
}

#[test]
fn wide_words_that_are_copied_and_compared_with_numbers_are_no_obstacle() {
    let text = "int main(void) {
          int state = 1000;
          while (1) {
            int input = __VERIFIER_nondet_int();
            if (input != 17 && input != 123456 && input != -5) return 0;
            int seen = input;
            if (state == 1000 && seen == 17) state = 77777;
            else if (state == 77777 && seen == -5) state = -1;
            else if (state == -1 && seen == 17) state = 1000;
            if (state != 1000 && state != -1 && state != 77777) reach_error();
          }
        }";
    assert_eq!(said(text), ["proved"]);
}

#[test]
fn what_is_computed_from_large_numbers_may_be_anything() {
    let text = "int main(void) {
          unsigned x = __VERIFIER_nondet_int(), y = __VERIFIER_nondet_int();
          unsigned p = x * y;
          int phase = 0;
          while (__VERIFIER_nondet_int()) {
            if (p % 7 == 3) phase = 1 - phase;
            if (phase < 0 || phase > 1) reach_error();
          }
        }";
    assert_eq!(said(text), ["proved"]);
}

#[test]
fn words_in_structures_and_arrays_are_followed() {
    let text = "struct { int on; int mode[3]; } d = { 0, { 1, 2, 4 } };
        int main(void) {
          while (1) {
            if (__VERIFIER_nondet_int()) d.on = !d.on;
            if (d.on) { int m = d.mode[0]; d.mode[0] = d.mode[1]; d.mode[1] = d.mode[2]; d.mode[2] = m; }
            if (d.mode[0] + d.mode[1] + d.mode[2] != 7) reach_error();
          }
        }";
    assert_eq!(said(text), ["proved"]);
}

#[test]
fn a_counter_goes_as_far_as_it_goes() {
    let text = "int main(void) {
          unsigned char n = 0;
          while (1) {
            if (__VERIFIER_nondet_int() > 7) n++; else n = 0;
            if (n == 200) reach_error();
          }
        }";
    assert_eq!(said(text), ["violated"]);
}
