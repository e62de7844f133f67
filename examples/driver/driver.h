// What the driver offers to the operating system.

#ifndef DRIVER_H
#define DRIVER_H

#include "os.h"

int driver_load(void);
void driver_unload(void);

// Handles a request: completes it and returns its status, or keeps it and returns
// STATUS_PENDING.
int driver_dispatch(struct request *request);

// The device has something to say. Returns STATUS_PENDING while the kept request is not done.
int driver_interrupt(void);

#endif
