// The driver of a drive for removable media. Short transfers are done at once, long ones in
// pieces by interrupts.

#include "driver.h"

// The registers.
#define PORT_STATUS 0x10
#define PORT_COMMAND 0x11
#define PORT_COUNT 0x12
#define PORT_DATA 0x13

#define STATUS_READY 0x01
#define STATUS_MEDIA 0x02
#define STATUS_FAULT 0x80

#define COMMAND_RESET 0
#define COMMAND_READ 1
#define COMMAND_WRITE 2
#define COMMAND_EJECT 3
#define COMMAND_ACKNOWLEDGE 4

#define SHORT 16   // up to so many words are transferred at once
#define PIECE 256  // words that one interrupt transfers
#define RETRIES 3

static struct {
  struct spin_lock lock;    // guards all that follows
  struct request *current;  // the request that waits for interrupts
  int opened;               // how many have the device open, at most MOST
  int media;                // whether there is something in the drive
  int loaded;
} device;

#define MOST 8

// Whether the device is ready. It may need some time after a reset.
static int wait_until_ready(void) {
  for (int tries = 0; tries < RETRIES; tries++) {
    if (port_read(PORT_STATUS) & STATUS_READY)
      return 1;
    sleep_ms(10);
  }
  return 0;
}

int driver_load(void) {
  port_write(PORT_COMMAND, COMMAND_RESET);
  if (!wait_until_ready())
    return STATUS_DEVICE_BUSY;
  spin_acquire(&device.lock);
  device.current = 0;
  device.opened = 0;
  device.media = (port_read(PORT_STATUS) & STATUS_MEDIA) != 0;
  device.loaded = 1;
  spin_release(&device.lock);
  return STATUS_SUCCESS;
}

void driver_unload(void) {
  spin_acquire(&device.lock);
  device.loaded = 0;
  spin_release(&device.lock);
}

static int finish(struct request *request, int status) {
  complete_request(request, status);
  return status;
}

static int handle_create(struct request *request) {
  int status = STATUS_SUCCESS;
  spin_acquire(&device.lock);
  if (device.opened < MOST)
    device.opened++;
  else
    status = STATUS_DEVICE_BUSY;
  spin_release(&device.lock);
  return finish(request, status);
}

static int handle_close(struct request *request) {
  spin_acquire(&device.lock);
  if (device.opened > 0)
    device.opened--;
  spin_release(&device.lock);
  return finish(request, STATUS_SUCCESS);
}

// Transfers some words now.
static void transfer(struct request *request, unsigned command, unsigned words) {
  port_write(PORT_COUNT, words);
  port_write(PORT_COMMAND, command);
  for (unsigned i = 0; i < words; i++) {
    if (command == COMMAND_WRITE)
      port_write(PORT_DATA, i);
    else
      port_read(PORT_DATA);
  }
  request->done += words;
}

static int handle_transfer(struct request *request, unsigned command) {
  spin_acquire(&device.lock);
  if (!device.media) {
#ifndef BUG_LOCK
    spin_release(&device.lock);
#endif
    return finish(request, STATUS_NO_MEDIA);
  }
  if (device.current != 0) {
    spin_release(&device.lock);
    return finish(request, STATUS_DEVICE_BUSY);
  }
  if (request->length <= SHORT) {
    transfer(request, command, request->length);
    spin_release(&device.lock);
    return finish(request, STATUS_SUCCESS);
  }
  // The rest is the interrupt's business.
  mark_pending(request);
  device.current = request;
  port_write(PORT_COMMAND, command);
  spin_release(&device.lock);
  return STATUS_PENDING;
}

static int eject(void) {
  int status = STATUS_SUCCESS;
  spin_acquire(&device.lock);
  if (device.current != 0) {
    status = STATUS_DEVICE_BUSY;
  } else if (!device.media) {
    status = STATUS_NO_MEDIA;
  } else {
    port_write(PORT_COMMAND, COMMAND_EJECT);
    device.media = 0;
  }
  spin_release(&device.lock);
  if (status == STATUS_SUCCESS)
    sleep_ms(100);
  return status;
}

static int insert(void) {
  unsigned media = 0;
#ifdef BUG_SLEEP
  spin_acquire(&device.lock);
  if (wait_until_ready())
    media = port_read(PORT_STATUS) & STATUS_MEDIA;
#else
  // The motor needs its time, so look first and lock then.
  if (wait_until_ready())
    media = port_read(PORT_STATUS) & STATUS_MEDIA;
  spin_acquire(&device.lock);
#endif
  device.media = media != 0;
  spin_release(&device.lock);
  return media ? STATUS_SUCCESS : STATUS_NO_MEDIA;
}

static int handle_control(struct request *request) {
  switch (request->control) {
  case CONTROL_EJECT:
    return finish(request, eject());
  case CONTROL_INSERT:
    return finish(request, insert());
  case CONTROL_STATUS:
    spin_acquire(&device.lock);
    request->done = device.media;
    spin_release(&device.lock);
    return finish(request, STATUS_SUCCESS);
  default:
    return finish(request, STATUS_INVALID);
  }
}

int driver_dispatch(struct request *request) {
  switch (request->major) {
  case MAJOR_CREATE:
    return handle_create(request);
  case MAJOR_CLOSE:
    return handle_close(request);
  case MAJOR_READ:
    return handle_transfer(request, COMMAND_READ);
  case MAJOR_WRITE:
    return handle_transfer(request, COMMAND_WRITE);
  case MAJOR_CONTROL:
    return handle_control(request);
  default:
    return finish(request, STATUS_INVALID);
  }
}

int driver_interrupt(void) {
  unsigned status = port_read(PORT_STATUS);
  port_write(PORT_COMMAND, COMMAND_ACKNOWLEDGE);
  spin_acquire(&device.lock);
  struct request *request = device.current;
  if (request == 0) {
    spin_release(&device.lock);
    return STATUS_SUCCESS;
  }
  if (status & STATUS_FAULT) {
#ifdef BUG_REQUEST
    complete_request(request, STATUS_NO_MEDIA);
#else
    device.current = 0;
    spin_release(&device.lock);
    return finish(request, STATUS_NO_MEDIA);
#endif
  }
  request->done += PIECE;
  if (request->done < request->length) {
    spin_release(&device.lock);
    return STATUS_PENDING;
  }
  device.current = 0;
  spin_release(&device.lock);
  return finish(request, STATUS_SUCCESS);
}
