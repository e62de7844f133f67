#ifndef RING_H
#define RING_H

#include <stddef.h>

/* Bytes that wait: as many as fit between `begin` and `end` of `bytes`, round and round. */
struct ring {
  unsigned char *bytes;
  size_t size;
  size_t begin;
  size_t count;
};

int ring_put(struct ring *r, unsigned char byte);
int ring_get(struct ring *r, unsigned char *byte);
unsigned ring_sum(const unsigned char *bytes, size_t size);
int ring_parse(const char *text);
int ring_each(const unsigned char *bytes, size_t size, int (*visit)(unsigned char));

#endif
