/* Memory on the stack. */
#ifndef __HARDBOP_ALLOCA_H
#define __HARDBOP_ALLOCA_H
#include <stdlib.h>
#endif
