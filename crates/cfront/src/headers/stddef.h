/* Sizes, differences and NULL. */
#ifndef __HARDBOP_STDDEF_H
#define __HARDBOP_STDDEF_H
#undef NULL
#define NULL ((void *)0)
typedef __SIZE_TYPE__ size_t;
typedef __PTRDIFF_TYPE__ ptrdiff_t;
typedef __WCHAR_TYPE__ wchar_t;
typedef __WINT_TYPE__ wint_t;
typedef struct {
  long long __max_align_integer __attribute__((__aligned__(__alignof__(long long))));
  long double __max_align_float __attribute__((__aligned__(__alignof__(long double))));
} max_align_t;
#define offsetof(type, member) __builtin_offsetof(type, member)
#endif
