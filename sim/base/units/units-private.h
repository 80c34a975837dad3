/* The tables of units, and a decimal number taken apart: shared by parsing and printing. */
#ifndef BASE_UNITS_PRIVATE_H
#define BASE_UNITS_PRIVATE_H

#include "base/units.h"

/* Whole numbers above this are not all doubles: 2^53 - 1. */
#define COUNT_MAX 9007199254740991.0
/* Smaller amounts than this of any unit are of no machine. */
#define UNIT_LEAST 1e-21

/* A prefix that a symbol may bear, as bits. */
enum { UNIT_DECIMAL = 1, UNIT_BINARY = 2 };

/* value in SI = number x 10^e10 x times / over. Powers of ten stay apart, so that "2 us" is the double that 2e-6 is. */
typedef struct {
  const char *symbol; /* without prefix; NULL ends a table */
  unsigned prefixes;
  int e10;
  double times, over;
} Unit;

typedef struct {
  const char *text;
  int e10;
  double times;
} UnitPrefix; /* tables end with text NULL */

/* A word that people write for a unit, in any case, and what to write instead. */
typedef struct {
  const char *wrong, *advice; /* '@' in the advice is the number, */
  double times;               /* times this; 1: as it was written, 0: the advice has no number */
} UnitHint; /* tables end with wrong NULL */

typedef struct {
  const char *name, *article, *si, *example;
  const Unit *units;
  const UnitHint *hints; /* may be NULL */
  gboolean money;        /* a "$" or "USD" belongs */
  double most;           /* in SI; what is accepted is 0, or from UNIT_LEAST to this, of either sign */
} UnitDim;

extern const UnitDim base_unit_dims[BASE_DIM_N];
extern const UnitPrefix base_unit_prefixes_decimal[], base_unit_prefixes_binary[];

/* Finds `text` among the units of `dim`: prefix and symbol. Case counts. */
gboolean base_unit_find (const UnitDim *dim, const char *text, Unit *found);

/* Calls `visit` with every accepted spelling of `dim`, in the order of the tables. */
void base_unit_visit (const UnitDim *dim, void (*visit) (const char *text, void *data), void *data);

/* A decimal number in text: [+-] digits [. digits] [e [+-] digits]. */
typedef struct {
  gboolean negative;
  char *digits; /* without leading zeros and without point; "" is zero; owned */
  int exponent; /* value = 0.digits x 10^exponent, clamped to +-100000 */
} Decimal;

/* Reads one from *text and moves *text behind it. FALSE: no number there, *text untouched. */
gboolean base_decimal_scan (const char **text, Decimal *out);
void base_decimal_clear (Decimal *decimal);
/* The double nearest to decimal x 10^e10: infinite on overflow, 0 on underflow. */
double base_decimal_value (const Decimal *decimal, int e10);

#endif
