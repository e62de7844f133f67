/* Wide characters. */
#ifndef __HARDBOP_WCHAR_H
#define __HARDBOP_WCHAR_H
#include <stddef.h>
#include <stdarg.h>
typedef struct { int __count; unsigned int __value; } mbstate_t;
#define WEOF (0xffffffffu)
#define WCHAR_MIN __WCHAR_MIN__
#define WCHAR_MAX __WCHAR_MAX__
extern size_t wcslen(const wchar_t *);
extern wchar_t *wcscpy(wchar_t *, const wchar_t *);
extern wchar_t *wcsncpy(wchar_t *, const wchar_t *, size_t);
extern wchar_t *wcscat(wchar_t *, const wchar_t *);
extern int wcscmp(const wchar_t *, const wchar_t *);
extern int wcsncmp(const wchar_t *, const wchar_t *, size_t);
extern wchar_t *wcschr(const wchar_t *, wchar_t);
extern wchar_t *wmemset(wchar_t *, wchar_t, size_t);
extern wchar_t *wmemcpy(wchar_t *, const wchar_t *, size_t);
extern int wprintf(const wchar_t *, ...);
#endif
