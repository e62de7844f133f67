// The models of stdio.h and stdlib.h that work on texts, with what glibc answers.
#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char text[64];

static int is(const char *expected, int length) {
  return strcmp(text, expected) == 0 && length == (int)strlen(expected);
}

int main(void) {
  assert(is("42-ab", sprintf(text, "%d-%s", 42, "ab")));
  assert(is("-7", sprintf(text, "%i", -7)));
  assert(is("  42|42  |0042|+42| 42", sprintf(text, "%4d|%-4d|%04d|%+d|% d", 42, 42, 42, 42, 42)));
  assert(is("-2147483648", sprintf(text, "%d", (-2147483647 - 1))));
  assert(is("4294967295", sprintf(text, "%u", 4294967295u)));
  assert(is("ff FF 0xff 17 017", sprintf(text, "%x %X %#x %o %#o", 255, 255, 255, 15, 15)));
  assert(is("0 0 0", sprintf(text, "%d %#x %#o", 0, 0, 0)));
  assert(is("|007|  007|", sprintf(text, "%.0d|%.3d|%5.3d|", 0, 7, 7)));
  assert(is("-1 65535 -1 255", sprintf(text, "%hd %hu %hhd %hhu", 65535, 65535, 255, 255)));
  assert(is("-5 5 -6 6 7", sprintf(text, "%ld %lu %lld %llu %zu", -5L, 5UL, -6LL, 6ULL, sizeof(char[7]))));
  assert(is("9223372036854775807", sprintf(text, "%lld", 9223372036854775807LL)));
  assert(is("a%b", sprintf(text, "%c%%%c", 'a', 'b')));
  assert(is("  a|a  |", sprintf(text, "%3c|%-3c|", 'a', 'a')));
  assert(is("  abc|abc  |ab|", sprintf(text, "%5s|%-5s|%.2s|", "abc", "abc", "abc")));
  assert(is("   7|1.5|", sprintf(text, "%*d|%s|", 4, 7, "1.5")));
  assert(is("7   |ab", sprintf(text, "%*d|%.*s", -4, 7, 2, "abc")));
  int at = 0;
  assert(is("abc", sprintf(text, "abc%n", &at)) && at == 3);
  memset(text, 'x', sizeof text);
  assert(snprintf(text, 4, "%d", 123456) == 6 && strcmp(text, "123") == 0 && text[4] == 'x');
  assert(snprintf(text, 1, "abc") == 3 && text[0] == 0 && text[1] == '2');
  assert(snprintf(0, 0, "%s", "hello") == 5);

  int a = 0, b = 0;
  char c = 0, word[8];
  assert(sscanf("42", "%d", &a) == 1 && a == 42);
  assert(sscanf(" -7,+8", "%d,%d", &a, &b) == 2 && a == -7 && b == 8);
  assert(sscanf("12 x", "%d %d", &a, &b) == 1 && a == 12);
  assert(sscanf("x", "%d", &a) == 0 && sscanf("", "%d", &a) == -1 && sscanf("  ", "%d", &a) == -1);
  assert(sscanf("12345", "%2d%d", &a, &b) == 2 && a == 12 && b == 345);
  assert(sscanf("0x1f 077 9", "%i %i %i", &a, &b, &a) == 3 && a == 9 && b == 63);
  assert(sscanf("ff", "%x", &a) == 1 && a == 255 && sscanf("17", "%o", &a) == 1 && a == 15);
  assert(sscanf("hello world", "%s %c", word, &c) == 2 && strcmp(word, "hello") == 0 && c == 'w');
  assert(sscanf("hello", "%3s%n", word, &a) == 1 && strcmp(word, "hel") == 0 && a == 3);
  assert(sscanf("abc123", "%[a-c]%d", word, &a) == 2 && strcmp(word, "abc") == 0 && a == 123);
  assert(sscanf("key=7", "%[^=]=%d", word, &a) == 2 && strcmp(word, "key") == 0 && a == 7);
  assert(sscanf("1 2", "%*d %d", &a) == 1 && a == 2);
  assert(sscanf("5%", "%d%%", &a) == 1 && sscanf("a", "b%d", &a) == 0);
  long l = 0;
  long long ll = 0;
  short s = 0;
  unsigned u = 0;
  assert(sscanf("-9 9000000000 70000 -1", "%ld %lld %hd %u", &l, &ll, &s, &u) == 4);
  assert(l == -9 && ll == 9000000000LL && s == 4464 && u == 4294967295u);
  double d = 0;
  float f = 0;
  assert(sscanf("2.5 0.5", "%lf %f", &d, &f) == 2 && d == 2.5 && f == 0.5f);

  char *end;
  const char *number = " -1.5e2x";
  assert(strtod(number, &end) == -150.0 && end == number + 7);
  assert(atof("1.5") == 1.5 && atof("0.1") == 0.1 && atof("3.14159") == 3.14159 && atof("x") == 0);
  assert(strtof("0.1", 0) == 0.1f && strtod("1e3", 0) == 1000.0 && strtod("7.", 0) == 7.0);
  number = "e5";
  assert(strtod(number, &end) == 0 && end == number);
  number = "2e";
  assert(strtod(number, &end) == 2 && end == number + 1);
  end = 0;
  errno = 0;
  assert(strtol("12", &end, 1) == 0 && errno == EINVAL && end == 0);
  errno = 0;
  assert(strtoul("12", 0, 37) == 0 && errno == EINVAL);
  return 0;
}
