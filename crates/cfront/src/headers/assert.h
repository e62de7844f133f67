/* Assertions. No guard: each inclusion asks again whether they are on. */
#undef assert
#ifdef NDEBUG
#define assert(expression) ((void)0)
#else
#define assert(expression) \
  ((expression) ? (void)0 : __assert_fail(#expression, __FILE__, __LINE__, __func__))
#endif
#ifndef __HARDBOP_ASSERT_H
#define __HARDBOP_ASSERT_H
#define static_assert _Static_assert
extern void __assert_fail(const char *, const char *, unsigned int, const char *)
    __attribute__((__noreturn__));
#endif
