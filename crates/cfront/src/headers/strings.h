/* Strings, by another name. */
#include <string.h>
