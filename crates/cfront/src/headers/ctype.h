/* Classes of characters. */
#ifndef __HARDBOP_CTYPE_H
#define __HARDBOP_CTYPE_H
extern int isalnum(int);
extern int isalpha(int);
extern int isascii(int);
extern int isblank(int);
extern int iscntrl(int);
extern int isdigit(int);
extern int isgraph(int);
extern int islower(int);
extern int isprint(int);
extern int ispunct(int);
extern int isspace(int);
extern int isupper(int);
extern int isxdigit(int);
extern int toascii(int);
extern int tolower(int);
extern int toupper(int);
#define _tolower(c) tolower(c)
#define _toupper(c) toupper(c)
#endif
