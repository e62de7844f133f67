/* Input and output. */
#ifndef __HARDBOP_STDIO_H
#define __HARDBOP_STDIO_H
#include <stddef.h>
#include <stdarg.h>
#include <sys/types.h>
typedef struct _IO_FILE FILE;
typedef struct { off_t __position; int __state[2]; } fpos_t;
extern FILE *stdin;
extern FILE *stdout;
extern FILE *stderr;
#define stdin stdin
#define stdout stdout
#define stderr stderr
#define EOF (-1)
#define BUFSIZ 8192
#define FILENAME_MAX 4096
#define FOPEN_MAX 16
#define L_tmpnam 20
#define TMP_MAX 238328
#define SEEK_SET 0
#define SEEK_CUR 1
#define SEEK_END 2
#define _IOFBF 0
#define _IOLBF 1
#define _IONBF 2
#define P_tmpdir "/tmp"
extern int printf(const char *, ...);
extern int fprintf(FILE *, const char *, ...);
extern int dprintf(int, const char *, ...);
extern int sprintf(char *, const char *, ...);
extern int snprintf(char *, size_t, const char *, ...);
extern int asprintf(char **, const char *, ...);
extern int vprintf(const char *, va_list);
extern int vfprintf(FILE *, const char *, va_list);
extern int vsprintf(char *, const char *, va_list);
extern int vsnprintf(char *, size_t, const char *, va_list);
extern int vasprintf(char **, const char *, va_list);
extern int vdprintf(int, const char *, va_list);
extern int scanf(const char *, ...);
extern int fscanf(FILE *, const char *, ...);
extern int sscanf(const char *, const char *, ...);
extern int vscanf(const char *, va_list);
extern int vfscanf(FILE *, const char *, va_list);
extern int vsscanf(const char *, const char *, va_list);
extern FILE *fopen(const char *, const char *);
extern FILE *fdopen(int, const char *);
extern FILE *freopen(const char *, const char *, FILE *);
extern FILE *popen(const char *, const char *);
extern int pclose(FILE *);
extern FILE *tmpfile(void);
extern char *tmpnam(char *);
extern int fclose(FILE *);
extern int fflush(FILE *);
extern void setbuf(FILE *, char *);
extern int setvbuf(FILE *, char *, int, size_t);
extern void setlinebuf(FILE *);
extern int fgetc(FILE *);
extern int getc(FILE *);
extern int getchar(void);
extern int getc_unlocked(FILE *);
extern int getchar_unlocked(void);
extern char *fgets(char *, int, FILE *);
extern char *gets(char *);
extern ssize_t getline(char **, size_t *, FILE *);
extern ssize_t getdelim(char **, size_t *, int, FILE *);
extern int fputc(int, FILE *);
extern int putc(int, FILE *);
extern int putchar(int);
extern int putc_unlocked(int, FILE *);
extern int putchar_unlocked(int);
extern int fputs(const char *, FILE *);
extern int puts(const char *);
extern int ungetc(int, FILE *);
extern size_t fread(void *, size_t, size_t, FILE *);
extern size_t fwrite(const void *, size_t, size_t, FILE *);
extern int fseek(FILE *, long, int);
extern int fseeko(FILE *, off_t, int);
extern long ftell(FILE *);
extern off_t ftello(FILE *);
extern void rewind(FILE *);
extern int fgetpos(FILE *, fpos_t *);
extern int fsetpos(FILE *, const fpos_t *);
extern void clearerr(FILE *);
extern int feof(FILE *);
extern int ferror(FILE *);
extern int fileno(FILE *);
extern void perror(const char *);
extern int remove(const char *);
extern int rename(const char *, const char *);
#endif
