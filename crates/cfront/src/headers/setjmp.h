/* Non-local jumps. */
#ifndef __HARDBOP_SETJMP_H
#define __HARDBOP_SETJMP_H
typedef struct { long __registers[8]; int __saved; unsigned long __mask[16]; } jmp_buf[1];
typedef jmp_buf sigjmp_buf;
extern int setjmp(jmp_buf) __attribute__((__returns_twice__));
extern int _setjmp(jmp_buf) __attribute__((__returns_twice__));
extern int sigsetjmp(sigjmp_buf, int) __attribute__((__returns_twice__));
extern void longjmp(jmp_buf, int) __attribute__((__noreturn__));
extern void _longjmp(jmp_buf, int) __attribute__((__noreturn__));
extern void siglongjmp(sigjmp_buf, int) __attribute__((__noreturn__));
#endif
