//! Small programs: what is proved, what is violated, and what is declined.

use hardbop_pdr::Pdr;
use hardbop_test_support::answers;

/// What is said of each check of a program.
fn said(text: &str) -> Vec<String> {
    let head = "void reach_error(void); int __VERIFIER_nondet_int(void);
        unsigned char __VERIFIER_nondet_uchar(void); void *malloc(unsigned long);";
    answers::said(&Pdr::default(), &format!("{head}\n{text}"))
}

#[test]
fn a_state_machine_with_flags_in_bits_is_proved() {
    let text = "int main(void) {
          int state = 0x10, flags = 0;
          while (1) {
            if (state == 0x10) { flags |= 4; state = 0x20; }
            else if (state == 0x20) {
              if (!(flags & 4)) reach_error();
              if (__VERIFIER_nondet_int()) { flags &= ~4; state = 0x30; }
            }
            else if (state == 0x30) { if (flags & 4) reach_error(); state = 0x10; }
          }
        }";
    assert_eq!(said(text), ["proved", "proved"]);
}

#[test]
fn a_deep_violation_is_a_run() {
    let text = "int main(void) {
          unsigned char n = 0;
          while (1) {
            if (__VERIFIER_nondet_int() > 7) n++; else n = 0;
            if (n == 9) reach_error();
          }
        }";
    assert_eq!(said(text), ["violated"]);
}

#[test]
fn one_check_is_violated_and_another_one_proved() {
    let text = "int main(void) {
          int a = 1, b = 2;
          while (__VERIFIER_nondet_int()) {
            int c = a; a = b; b = c;
            if (a == b) reach_error();
            if (a == 2) reach_error();
          }
          return 0;
        }";
    assert_eq!(said(text), ["proved", "violated"]);
}

#[test]
fn parity_of_a_counter_is_learned() {
    let text = "int main(void) {
          unsigned i = 0;
          while (__VERIFIER_nondet_int()) i += 2;
          if (i % 2) reach_error();
          return 0;
        }";
    assert_eq!(said(text), ["proved"]);
}

#[test]
fn arrays_of_a_known_size_and_pointers_into_them_are_bits() {
    let text = "int main(void) {
          int a[4] = {0, 0, 0, 0};
          int *p = &a[0];
          while (__VERIFIER_nondet_int()) {
            unsigned char i = __VERIFIER_nondet_uchar() % 4;
            a[i] = 1 - a[i];
            p = &a[3 - i];
            if (*p != 0 && *p != 1) reach_error();
          }
          return 0;
        }";
    assert_eq!(said(text), ["proved"]);
}

#[test]
fn floats_are_bits_too() {
    let text = "int main(void) {
          float x = 1.0f;
          while (__VERIFIER_nondet_int()) { if (x > 4.0f) x = 1.0f; else x = x + x; }
          if (x == 3.0f) reach_error();
          return 0;
        }";
    assert_eq!(said(text), ["proved"]);
}

#[test]
fn an_object_of_the_heap_that_is_alone_is_bits() {
    let text = "int main(void) {
          int *p = malloc(4);
          *p = 0;
          while (__VERIFIER_nondet_int()) *p = *p + 2;
          if (*p == 1) reach_error();
          return 0;
        }";
    assert_eq!(said(text), ["proved"]);
}

#[test]
fn memory_that_is_allocated_is_declined() {
    let text = "int main(void) {
          int *p = malloc(4);
          *p = 0;
          while (__VERIFIER_nondet_int()) {
            int *q = malloc(4);
            *q = *p + 2;
            p = q;
          }
          if (*p == 1) reach_error();
          return 0;
        }";
    let why = "only bits are searched, and the program has memory that is allocated";
    assert_eq!(said(text), [why]);
}

#[test]
fn recursion_is_declined() {
    let text = "int f(int n) { return n <= 0 ? 0 : f(n - 1); }
        int main(void) { if (f(__VERIFIER_nondet_int())) reach_error(); return 0; }";
    let why = "only bits are searched, and the program has calls that could not be inlined";
    assert_eq!(said(text), [why]);
}

#[test]
fn more_memory_than_it_takes_is_declined() {
    let text = "int a[5000];
        int main(void) {
          while (__VERIFIER_nondet_int()) a[(unsigned)__VERIFIER_nondet_int() % 5000]++;
          if (a[17] < 0) reach_error();
          return 0;
        }";
    let why = "only bits are searched, and the program has more memory than it takes";
    assert_eq!(said(text), [why]);
}
