/* A table of devices, and a pointer to one of them or to none. With --check bounds,pointer every
 * access is checked. */
extern int __VERIFIER_nondet_int(void);

struct device {
  int state;
  int irq[5];
};

static struct device devices[4];
static struct device *current;

static void start(struct device *d, int line) {
  if (!d)
    return;
  d->state = 1;
  if (line >= 0 && line < 5)
    d->irq[line] = d->state;
  current = d;
}

int main(void) {
  for (;;) {
    int id = __VERIFIER_nondet_int();
    start(id >= 0 && id < 4 ? &devices[id] : 0, __VERIFIER_nondet_int());
    if (current)
      current->state = 2;
  }
}
