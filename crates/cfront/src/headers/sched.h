/* Scheduling. */
#ifndef __HARDBOP_SCHED_H
#define __HARDBOP_SCHED_H
#include <sys/types.h>
struct sched_param { int sched_priority; };
extern int sched_yield(void);
#endif
