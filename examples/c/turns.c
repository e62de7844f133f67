// Four threads take turns under a scheduler: each adds one to a token when the thread before it has
// done so. The scheduler starts them in any order, and none of it matters for the sum.
#include <assert.h>

int __VERIFIER_nondet_int(void);

enum { READY, WAITING };

int state[4] = {READY, READY, READY, READY};
int woken[4];
int token;

static void turn(int me, int next) {
  if (state[me] == READY) {
    state[me] = WAITING;
  } else if (woken[me]) {
    woken[me] = 0;
    token++;
    woken[next] = next != 0;
  }
}

int main(void) {
  int first = __VERIFIER_nondet_int();
  token = first;
  while (1) {
    if (__VERIFIER_nondet_int()) turn(0, 1);
    if (__VERIFIER_nondet_int()) turn(1, 2);
    if (__VERIFIER_nondet_int()) turn(2, 3);
    if (__VERIFIER_nondet_int() && state[3] == WAITING && woken[3]) {
      turn(3, 0);
      // The last one has had its turn.
      assert(token == first + 4);
      token = first;
    }
    if (token == first && !woken[0] && !woken[1] && !woken[2] && !woken[3]) {
      woken[0] = 1;
    }
    if (state[3] == READY) turn(3, 0);
  }
}
