#include "ring.h"

int ring_put(struct ring *r, unsigned char byte) {
  if (r->count == r->size) return 0;
  r->bytes[(r->begin + r->count) % r->size] = byte;
  r->count++;
  return 1;
}

int ring_get(struct ring *r, unsigned char *byte) {
  if (r->count == 0) return 0;
  *byte = r->bytes[r->begin];
  r->begin = (r->begin + 1) % r->size;
  r->count--;
  return 1;
}

unsigned ring_sum(const unsigned char *bytes, size_t size) {
  unsigned sum = 0;
  for (size_t i = 0; i < size; i++) sum += bytes[i];
  return sum;
}

int ring_parse(const char *text) {
  int digits = 0;
  while (text[digits] >= '0' && text[digits] <= '9') digits++;
  return digits;
}

int ring_each(const unsigned char *bytes, size_t size, int (*visit)(unsigned char)) {
  for (size_t i = 0; i <= size; i++)
    if (visit(bytes[i])) return 1;
  return 0;
}
