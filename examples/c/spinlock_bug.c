// The driver of the SLAM papers with a mistake: the loop runs until no request came in
// meanwhile, but requests are not counted, so the lock is given back twice.
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
    }
  } while (packets != seen);
  release();
  return 0;
}
