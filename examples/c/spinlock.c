// The driver of the SLAM papers: a lock is taken and given back in a loop that runs until no
// request came in meanwhile. It never takes the lock twice, nor gives it back twice.
extern int __VERIFIER_nondet_int(void);
extern void reach_error(void);

int held;

void acquire(void) {
  if (held) reach_error();
  held = 1;
}

void release(void) {
  if (!held) reach_error();
  held = 0;
}

int main(void) {
  int packets = __VERIFIER_nondet_int();
  int seen;
  do {
    acquire();
    seen = packets;
    if (__VERIFIER_nondet_int()) {
      release();
      packets++;
    }
  } while (packets != seen);
  release();
  return 0;
}
