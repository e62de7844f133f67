//! Small programs: what is proved, what is violated, and what values do not tell.

use hardbop_test_support::answers;
use hardbop_values::Values;

/// What is said of each check of a program.
fn said(engine: &Values, text: &str) -> Vec<String> {
    let head = "void reach_error(void); int __VERIFIER_nondet_int(void);";
    answers::said(engine, &format!("{head}\n{text}"))
}

/// A protocol: connect, send some, close. `ERROR` stands for when the connection fails.
const PROTOCOL: &str = "int main(void) {
      int state = 100, next = 0, open = 0, resumed = __VERIFIER_nondet_int();
      while (1) {
        if (state == 100) { open = 1; state = 200; next = resumed ? 300 : 200; }
        else if (state == 200) { if (!open) reach_error(); state = 250; }
        else if (state == 250) { state = __VERIFIER_nondet_int() ? next : 300; }
        else if (state == 300) { if (!open) reach_error(); open = 0; state = CLOSED; }
        else return 0;
      }
    }";

#[test]
fn a_protocol_that_keeps_its_order_is_proved() {
    let text = PROTOCOL.replace("CLOSED", "400");
    assert_eq!(said(&Values::default(), &text), ["proved", "proved"]);
}

#[test]
fn a_protocol_that_goes_on_when_it_is_closed_is_violated() {
    let text = PROTOCOL.replace("CLOSED", "200");
    assert_eq!(said(&Values::default(), &text), ["violated", "proved"]);
}

#[test]
fn of_a_variable_with_any_value_conditions_are_followed() {
    let text = "int main(void) {
          int mode = __VERIFIER_nondet_int(), state = 0, held = 0;
          while (1) {
            if (state == 0) { if (mode > 7) held = 1; state = 1; }
            else { if (mode > 7) { if (!held) reach_error(); } state = 0; held = 0; }
          }
        }";
    assert_eq!(said(&Values::default(), text), ["proved"]);
}

/// A token with any value is handed on and counted: only how far it came is known. `LAST` stands for
/// how far it should have come.
const TOKEN: &str = "unsigned at, token, first;
    int main(void) {
      while (1) {
        if (at == 0) { token = __VERIFIER_nondet_int(); first = token; at = 1; }
        else if (at == 1) { if (__VERIFIER_nondet_int()) { token++; at = 2; } }
        else if (at == 2) { token++; at = __VERIFIER_nondet_int() ? 3 : 2; if (at == 2) token--; }
        else if (at == 3) { if (__VERIFIER_nondet_int()) { token++; at = 4; } }
        else { if (token != first + LAST) reach_error(); at = 0; }
      }
    }";

#[test]
fn of_two_variables_with_any_values_the_difference_is_followed() {
    let engine = Values {
        conditions: 0,
        ..Values::default()
    };
    assert_eq!(said(&engine, &TOKEN.replace("LAST", "3")), ["proved"]);
    assert_eq!(said(&engine, &TOKEN.replace("LAST", "2")), ["violated"]);
}

#[test]
fn counters_are_given_up_soon() {
    let text = "int main(void) {
          unsigned i = 0, sum = 0, n = __VERIFIER_nondet_int();
          while (i < n) { sum += i; i++; }
          if (n == 100 && sum == 7) reach_error();
          return 0;
        }";
    let engine = Values {
        values: 16,
        conditions: 8,
        ..Values::default()
    };
    let open = "the values that were followed do not exclude it";
    assert_eq!(said(&engine, text), [open]);
}

#[test]
fn few_states_are_as_many_as_may_be() {
    let text = PROTOCOL.replace("CLOSED", "400");
    let engine = Values {
        states: 3,
        ..Values::default()
    };
    let open = "the values that were followed do not exclude it";
    assert_eq!(said(&engine, &text), [open, open]);
}

#[test]
fn words_in_memory_are_followed_through_pointers() {
    let text = "struct session { int state, open; struct session *peer; };
        void *malloc(unsigned long);
        int main(void) {
          struct session *s = malloc(sizeof *s);
          s->peer = malloc(sizeof *s);
          s->state = 1; s->peer->open = 0;
          while (1) {
            switch (s->state) {
            case 1: s->peer->open = 1; s->state = __VERIFIER_nondet_int() ? 2 : 3; break;
            case 2: if (!s->peer->open) reach_error(); s->state = 3; break;
            case 3: s->peer->open = 0; s->state = 1; break;
            default: reach_error();
            }
          }
        }";
    assert_eq!(said(&Values::default(), text), ["proved", "proved"]);
}
