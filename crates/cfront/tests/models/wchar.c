// Every model of wchar.h and wctype.h, with what a C library answers.
#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <wchar.h>
#include <wctype.h>

int main(void) {
  wchar_t a[32], b[32];
  assert(wcslen(L"") == 0 && wcslen(L"abc") == 3 && wcsnlen(L"abc", 2) == 2);
  assert(wcscpy(a, L"hello") == a && wcscmp(a, L"hello") == 0);
  assert(wcpcpy(a, L"hey") == a + 3 && wcscmp(a, L"hey") == 0);
  wmemset(b, L'x', 32);
  assert(wcsncpy(b, L"ab", 4) == b && b[1] == L'b' && b[2] == 0 && b[3] == 0 && b[4] == L'x');
  assert(wcpncpy(b, L"ab", 4) == b + 2);
  assert(wcscat(wcscpy(a, L"ab"), L"cd") == a && wcscmp(a, L"abcd") == 0);
  assert(wcscmp(wcsncat(wcscpy(a, L"ab"), L"cdef", 2), L"abcd") == 0);
  assert(wcscmp(L"a", L"b") < 0 && wcscmp(L"b", L"a") > 0 && wcscmp(L"a", L"ab") < 0);
  assert(wcsncmp(L"abx", L"aby", 2) == 0 && wcsncmp(L"abx", L"aby", 3) < 0);
  assert(wcscasecmp(L"HeLLo", L"hEllO") == 0 && wcsncasecmp(L"HELx", L"hely", 3) == 0);
  const wchar_t *s = L"hello";
  assert(wcschr(s, L'l') == s + 2 && wcschr(s, L'z') == 0 && wcschr(s, 0) == s + 5);
  assert(wcsrchr(s, L'l') == s + 3 && wcsrchr(s, L'z') == 0);
  assert(wcsspn(L"aabbc", L"ab") == 4 && wcscspn(L"xyab", L"ba") == 2);
  assert(wcspbrk(s, L"ol") == s + 2 && wcspbrk(s, L"z") == 0);
  assert(wcsstr(s, L"lo") == s + 3 && wcsstr(s, L"") == s && wcsstr(s, L"lol") == 0);
  wchar_t *rest;
  wcscpy(a, L",a,,b");
  assert(wcscmp(wcstok(a, L",", &rest), L"a") == 0);
  assert(wcscmp(wcstok(0, L",", &rest), L"b") == 0);
  assert(wcstok(0, L",", &rest) == 0);
  wchar_t *copy = wcsdup(L"abc");
  assert(wcscmp(copy, L"abc") == 0);
  free(copy);
  assert(wmemcmp(L"ab", L"ac", 1) == 0 && wmemcmp(L"ab", L"ac", 2) < 0);
  assert(wmemchr(s, L'l', 5) == s + 2 && wmemchr(s, L'l', 2) == 0);
  assert(wmemcpy(b, L"12345", 6) == b && wmempcpy(b, L"12345", 6) == b + 6);
  assert(wmemmove(b + 1, b, 4) == b + 1 && wcscmp(b, L"11234") == 0);
  assert(wcstol(L" -12x", &rest, 10) == -12 && *rest == L'x' && wcstoul(L"0x1f", 0, 0) == 31);
  errno = 0;
  assert(wcstol(L"99999999999999999999", 0, 10) > 0 && errno == ERANGE);
  assert(iswalpha(L'a') && !iswalpha(L'1') && iswspace(L' ') && iswdigit(L'7') && iswxdigit(L'f'));
  assert(towlower(L'A') == L'a' && towupper(L'z') == L'Z' && towlower(L'1') == L'1');
  char bytes[8];
  wchar_t c;
  assert(mbtowc(&c, "a", 1) == 1 && c == L'a' && mbtowc(&c, "", 1) == 0 && mblen("a", 1) == 1);
  assert(mbstowcs(b, "abc", 32) == 3 && wcscmp(b, L"abc") == 0 && mbstowcs(0, "ab", 0) == 2);
  assert(wctomb(bytes, L'a') == 1 && bytes[0] == 'a');
  assert(wcstombs(bytes, L"abc", 8) == 3 && bytes[2] == 'c' && bytes[3] == 0);
  assert(btowc('a') == L'a' && btowc(EOF) == WEOF && wctob(L'a') == 'a' && wctob(WEOF) == EOF);
  return 0;
}
