/* Classes of wide characters. */
#ifndef __HARDBOP_WCTYPE_H
#define __HARDBOP_WCTYPE_H
#include <stddef.h>
extern int iswalnum(wint_t);
extern int iswalpha(wint_t);
extern int iswdigit(wint_t);
extern int iswspace(wint_t);
extern int iswlower(wint_t);
extern int iswupper(wint_t);
extern wint_t towlower(wint_t);
extern wint_t towupper(wint_t);
#endif
