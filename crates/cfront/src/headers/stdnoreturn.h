/* The noreturn keyword. */
#ifndef __HARDBOP_STDNORETURN_H
#define __HARDBOP_STDNORETURN_H
#define noreturn _Noreturn
#endif
