// Every exact model of stdlib.h and ctype.h, with what a C library answers.
#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

static int by_value(const void *a, const void *b) {
  int x = *(const int *)a, y = *(const int *)b;
  return (x > y) - (x < y);
}

int main(void) {
  assert(abs(-3) == 3 && labs(-4L) == 4 && llabs(-5LL) == 5 && abs(7) == 7);
  div_t d = div(-7, 2);
  assert(d.quot == -3 && d.rem == -1);
  ldiv_t l = ldiv(7, -2);
  assert(l.quot == -3 && l.rem == 1);
  assert(atoi("  -42abc") == -42 && atol("+17") == 17 && atoll("99999999999") == 99999999999LL);
  assert(atoi("x") == 0);
  char *end;
  const char *s = "0x1Fg";
  assert(strtol(s, &end, 0) == 31 && end == s + 4);
  assert(strtol(s, &end, 16) == 31 && strtol("077", 0, 0) == 63 && strtol("z", 0, 36) == 35);
  s = "0xg";
  assert(strtol(s, &end, 16) == 0 && end == s + 1);
  s = "  +";
  assert(strtol(s, &end, 10) == 0 && end == s);
  errno = 0;
  assert(strtol("99999999999999999999", 0, 10) == LONG_MAX && errno == ERANGE);
  errno = 0;
  assert(strtol("-99999999999999999999", 0, 10) == LONG_MIN && errno == ERANGE);
  errno = 0;
  assert(strtoll("-9223372036854775808", 0, 10) == LLONG_MIN && errno == 0);
  assert(strtoul("-1", 0, 10) == ULONG_MAX && errno == 0);
  assert(strtoull("18446744073709551615", 0, 10) == ULLONG_MAX && errno == 0);
  assert(strtoull("18446744073709551616", 0, 10) == ULLONG_MAX && errno == ERANGE);
  int numbers[] = {5, 3, 9, 1, 3};
  qsort(numbers, 5, sizeof numbers[0], by_value);
  for (int i = 0; i + 1 < 5; i++)
    assert(numbers[i] <= numbers[i + 1]);
  int key = 9;
  assert(bsearch(&key, numbers, 5, sizeof key, by_value) == &numbers[4]);
  key = 4;
  assert(bsearch(&key, numbers, 5, sizeof key, by_value) == 0);
  char *zeros = calloc(3, 4);
  for (int i = 0; i < 12; i++)
    assert(zeros[i] == 0);
  strcpy(zeros, "0123456789");
  zeros = realloc(zeros, 100);
  assert(strcmp(zeros, "0123456789") == 0);
  zeros = realloc(zeros, 4);
  assert(memcmp(zeros, "0123", 4) == 0);
  free(zeros);
  for (int c = -1; c < 256; c++) {
    assert(!isdigit(c) == !(c >= '0' && c <= '9'));
    assert(!isalnum(c) == !(isalpha(c) || isdigit(c)));
    assert(!isgraph(c) == !(isalnum(c) || ispunct(c)));
    assert(!isprint(c) == !(isgraph(c) || c == ' '));
    assert(!isalpha(c) == !(isupper(c) || islower(c)));
    assert(toupper(c) == (islower(c) ? c - 32 : c) && tolower(c) == (isupper(c) ? c + 32 : c));
  }
  assert(isspace('\n') && isblank('\t') && !isblank('\n') && iscntrl(127) && isxdigit('F'));
  return 0;
}
