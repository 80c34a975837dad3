/* The last look at a number before it is written. NaN stands for "not known", and is written as null or '-'. An infinity and a time
 * below 0 are faults of the program: the first one is kept for whoever writes the answer, who then writes none. */
#ifndef BASE_FINITE_H
#define BASE_FINITE_H

#include <glib.h>

/* `key`: what the number is called in the answer; its ending says what is a time ("time_s"). Any thread. */
void base_finite_look (const char *key, double value);
/* "time_s is inf"; NULL: all numbers were good. Returned: full. */
char *base_finite_fault (void);

#endif
