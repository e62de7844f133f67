// Every model of string.h, with what a C library answers.
#include <assert.h>
#include <stdlib.h>
#include <string.h>

static int sign(int x) { return (x > 0) - (x < 0); }

int main(void) {
  char a[32], b[32];
  assert(strlen("") == 0 && strlen("abc") == 3);
  assert(strnlen("abc", 2) == 2 && strnlen("abc", 9) == 3);
  assert(strcpy(a, "hello") == a && strcmp(a, "hello") == 0);
  assert(stpcpy(a, "hey") == a + 3 && strcmp(a, "hey") == 0);
  memset(b, 'x', sizeof b);
  assert(strncpy(b, "ab", 4) == b && b[1] == 'b' && b[2] == 0 && b[3] == 0 && b[4] == 'x');
  memset(b, 'x', sizeof b);
  assert(strncpy(b, "abcd", 2) == b && b[1] == 'b' && b[2] == 'x');
  assert(stpncpy(b, "ab", 4) == b + 2);
  assert(strcat(strcpy(a, "ab"), "cd") == a && strcmp(a, "abcd") == 0);
  assert(strcmp(strncat(strcpy(a, "ab"), "cdef", 2), "abcd") == 0);
  assert(strcmp("a", "b") < 0 && strcmp("b", "a") > 0 && strcmp("a", "ab") < 0);
  assert(sign(strcmp("\xff", "a")) == 1);
  assert(strncmp("abx", "aby", 2) == 0 && strncmp("abx", "aby", 3) < 0 && strncmp("a", "b", 0) == 0);
  assert(strcasecmp("HeLLo", "hEllO") == 0 && strcasecmp("a", "B") < 0);
  assert(strncasecmp("HELx", "hely", 3) == 0);
  const char *s = "hello";
  assert(strchr(s, 'l') == s + 2 && strchr(s, 'z') == 0 && strchr(s, 0) == s + 5);
  assert(strrchr(s, 'l') == s + 3 && strrchr(s, 'z') == 0 && strrchr(s, 0) == s + 5);
  assert(strspn("aabbc", "ab") == 4 && strspn("x", "ab") == 0 && strspn("ab", "") == 0);
  assert(strcspn("xyab", "ba") == 2 && strcspn("xy", "ab") == 2);
  assert(strpbrk(s, "ol") == s + 2 && strpbrk(s, "z") == 0);
  assert(strstr(s, "lo") == s + 3 && strstr(s, "") == s && strstr(s, "lol") == 0);
  strcpy(a, ",a,,b;c");
  assert(strcmp(strtok(a, ",;"), "a") == 0);
  assert(strcmp(strtok(0, ",;"), "b") == 0);
  assert(strcmp(strtok(0, ",;"), "c") == 0);
  assert(strtok(0, ",;") == 0);
  strcpy(a, "x,,y");
  char *rest = a;
  assert(strcmp(strsep(&rest, ","), "x") == 0);
  assert(strcmp(strsep(&rest, ","), "") == 0);
  assert(strcmp(strsep(&rest, ","), "y") == 0);
  assert(strsep(&rest, ",") == 0);
  char *copy = strdup("abc");
  assert(strcmp(copy, "abc") == 0 && copy != s);
  free(copy);
  copy = strndup("abcdef", 3);
  assert(strcmp(copy, "abc") == 0);
  free(copy);
  assert(memcmp("ab", "ac", 1) == 0 && memcmp("ab", "ac", 2) < 0 && memcmp("\xff", "\1", 1) > 0);
  assert(memchr(s, 'l', 5) == s + 2 && memchr(s, 'l', 2) == 0);
  assert(memcpy(b, "12345", 6) == b && strcmp(b, "12345") == 0);
  assert(memmove(b + 1, b, 4) == b + 1 && strcmp(b, "11234") == 0);
  return 0;
}
