// A model of the operating system: what a driver can see of it. It loads the driver, hands it
// requests and interrupts in any order, and unloads it.

#include "os.h"
#include "driver.h"

extern int __VERIFIER_nondet_int(void);
extern unsigned __VERIFIER_nondet_uint(void);

void spin_acquire(struct spin_lock *lock) { lock->owner = 1; }

void spin_release(struct spin_lock *lock) { lock->owner = 0; }

void complete_request(struct request *request, int status) { request->status = status; }

void mark_pending(struct request *request) { request->status = STATUS_PENDING; }

unsigned port_read(unsigned port) { return __VERIFIER_nondet_uint(); }

void port_write(unsigned port, unsigned value) {}

void sleep_ms(unsigned milliseconds) {}

// One request at a time is under way. A pending one stays with the driver until the interrupt
// that finishes it.
static struct request request;

static void send_request(void) {
  request.major = (enum major)__VERIFIER_nondet_int();
  request.control = (enum control)__VERIFIER_nondet_int();
  request.length = __VERIFIER_nondet_uint();
  request.done = 0;
  request.status = STATUS_SUCCESS;
  int status = driver_dispatch(&request);
  while (status == STATUS_PENDING)
    status = driver_interrupt();
}

int main(void) {
  if (driver_load() != STATUS_SUCCESS)
    return 1;
  while (__VERIFIER_nondet_int())
    send_request();
  driver_unload();
  return 0;
}
