// What the operating system offers to drivers. `os.c` is its model.

#ifndef OS_H
#define OS_H

// Results.
#define STATUS_SUCCESS 0
#define STATUS_PENDING 0x103
#define STATUS_INVALID 0x10d
#define STATUS_NO_MEDIA 0x178
#define STATUS_DEVICE_BUSY 0x80000011

// What a request wants.
enum major { MAJOR_CREATE, MAJOR_CLOSE, MAJOR_READ, MAJOR_WRITE, MAJOR_CONTROL };

// The controls of this kind of device.
enum control { CONTROL_EJECT = 1, CONTROL_INSERT = 2, CONTROL_STATUS = 3 };

struct request {
  enum major major;
  enum control control;
  unsigned length;
  unsigned done;
  int status;
};

struct spin_lock {
  int owner;
};

// Locks: held for a short time, and not while waiting.
void spin_acquire(struct spin_lock *lock);
void spin_release(struct spin_lock *lock);

// Requests: each is completed once, or marked as pending and kept for later.
void complete_request(struct request *request, int status);
void mark_pending(struct request *request);

// The device's registers.
unsigned port_read(unsigned port);
void port_write(unsigned port, unsigned value);

// Waits; the caller may be put to sleep.
void sleep_ms(unsigned milliseconds);

#endif
