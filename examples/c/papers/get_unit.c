// "Boolean Programs: A Model and Process for Software Analysis", Figure 1. The bracketed numbers
// are the paper's labels. Line 10 of the paper cannot be reached.
extern int __VERIFIER_nondet_int(void);
extern void reach_error(void);

int numUnits, level;

void NewUnit(void) {}
void gotUnit(void) {}

void getUnit(void) {
  int canEnter = 0;         // [1]
  if (numUnits == 0) {      // [2]
    if (level > 10) {       // [3]
      NewUnit();            // [4]
      numUnits = 1;         // [5]
      canEnter = 1;         // [6]
    }
  } else
    canEnter = 1;           // [7]
  if (canEnter) {           // [8]
    if (numUnits == 0)      // [9]
      reach_error();        // [10]
    else
      gotUnit();            // [11]
  }
}

int main(void) {
  numUnits = __VERIFIER_nondet_int();
  level = __VERIFIER_nondet_int();
  getUnit();
  return 0;
}
