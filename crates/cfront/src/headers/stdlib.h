/* General functions. */
#ifndef __HARDBOP_STDLIB_H
#define __HARDBOP_STDLIB_H
#include <stddef.h>
#include <sys/types.h>
#define EXIT_SUCCESS 0
#define EXIT_FAILURE 1
#define RAND_MAX 2147483647
#define MB_CUR_MAX ((size_t)1)
typedef struct { int quot; int rem; } div_t;
typedef struct { long quot; long rem; } ldiv_t;
typedef struct { long long quot; long long rem; } lldiv_t;
extern void *malloc(size_t);
extern void *calloc(size_t, size_t);
extern void *realloc(void *, size_t);
extern void *reallocarray(void *, size_t, size_t);
extern void *aligned_alloc(size_t, size_t);
extern int posix_memalign(void **, size_t, size_t);
extern void *valloc(size_t);
extern void free(void *);
extern void cfree(void *);
#define alloca(size) __builtin_alloca(size)
extern void abort(void) __attribute__((__noreturn__));
extern void exit(int) __attribute__((__noreturn__));
extern void _Exit(int) __attribute__((__noreturn__));
extern void quick_exit(int) __attribute__((__noreturn__));
extern int atexit(void (*)(void));
extern int at_quick_exit(void (*)(void));
extern int on_exit(void (*)(int, void *), void *);
extern char *getenv(const char *);
extern char *secure_getenv(const char *);
extern int setenv(const char *, const char *, int);
extern int putenv(char *);
extern int unsetenv(const char *);
extern int clearenv(void);
extern int system(const char *);
extern int abs(int);
extern long labs(long);
extern long long llabs(long long);
extern div_t div(int, int);
extern ldiv_t ldiv(long, long);
extern lldiv_t lldiv(long long, long long);
extern int atoi(const char *);
extern long atol(const char *);
extern long long atoll(const char *);
extern double atof(const char *);
extern long strtol(const char *, char **, int);
extern unsigned long strtoul(const char *, char **, int);
extern long long strtoll(const char *, char **, int);
extern unsigned long long strtoull(const char *, char **, int);
extern double strtod(const char *, char **);
extern float strtof(const char *, char **);
extern long double strtold(const char *, char **);
extern int rand(void);
extern int rand_r(unsigned int *);
extern void srand(unsigned int);
extern long random(void);
extern void srandom(unsigned int);
extern double drand48(void);
extern long lrand48(void);
extern long mrand48(void);
extern void srand48(long);
extern unsigned int arc4random(void);
extern void *bsearch(const void *, const void *, size_t, size_t, int (*)(const void *, const void *));
extern void qsort(void *, size_t, size_t, int (*)(const void *, const void *));
extern int mblen(const char *, size_t);
extern int mbtowc(wchar_t *, const char *, size_t);
extern int wctomb(char *, wchar_t);
extern size_t mbstowcs(wchar_t *, const char *, size_t);
extern size_t wcstombs(char *, const wchar_t *, size_t);
extern int mkstemp(char *);
extern char *mkdtemp(char *);
extern char *mktemp(char *);
extern char *realpath(const char *, char *);
extern int getsubopt(char **, char *const *, char **);
#endif
