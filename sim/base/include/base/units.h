/* Quantities with units, parsed from text and printed again.
 * `b` is bit, `B` byte; k M G T P E are powers of 1000, Ki Mi Gi Ti Pi Ei powers of 1024. A bare number is an error where a
 * unit belongs, except 0. Parsing ignores the locale. A blank between number and unit may be left out. Decimal prefixes are exact:
 * "2 us" is the double that 2e-6 is. Printing takes one canonical unit of each dimension, so IOPS come out as Hz. */
#ifndef BASE_UNITS_H
#define BASE_UNITS_H

#include <glib.h>

typedef enum {
  BASE_DIM_NUMBER,        /* plain real number                                   1.25          */
  BASE_DIM_COUNT,         /* whole number >= 0; k M G T allowed ("2 T" tokens)    8             */
  BASE_DIM_RATIO,         /* plain number or per cent                            0.9   90 %    */
  BASE_DIM_TIME,          /* s: ps ns us ms s min h days (also day, d)            2 us          */
  BASE_DIM_BYTES,         /* B: B kB … KiB …, b kb …                              16 GiB        */
  BASE_DIM_BANDWIDTH,     /* B/s: B/s, b/s with prefixes (no GT/s)                400 Gb/s      */
  BASE_DIM_FLOP_RATE,     /* FLOP/s                                              989 TFLOP/s   */
  BASE_DIM_FLOP,          /* FLOP                                                65.5 TFLOP    */
  BASE_DIM_POWER,         /* W                                                   700 W         */
  BASE_DIM_ENERGY,        /* J: J, Wh, kWh                                       1 kWh         */
  BASE_DIM_MONEY,         /* USD: $…, … USD; k M allowed after a space ("$20 M")  $280000       */
  BASE_DIM_MONEY_PER_TIME,/* USD/s: $…/h, /s, /day, /month(30 days), /year        $2.50/h       */
  BASE_DIM_MONEY_PER_ENERGY, /* USD/J: $…/kWh                                    $0.10/kWh     */
  BASE_DIM_FREQUENCY,     /* 1/s: Hz, and "IOPS" with k M                         337 kIOPS     */
  BASE_DIM_N
} BaseDim;

/* Parses `text` into SI (B, B/s, s, FLOP/s, W, J, USD, USD/s, USD/J, 1/s). On failure *error says what is wrong and what
 * is accepted, with an example in the right dimension ("bandwidth '450' has no unit (e.g. '450 GB/s')"; "'2 us' is a
 * time where a bandwidth is expected (e.g. '450 GB/s')"). NaN, infinities and hex floats are refused, and what no machine has: each
 * dimension has a least amount other than 0 and a largest. Negative numbers parse (signs are the schema's business). */
gboolean base_quantity_parse (const char *text, BaseDim dim, double *value, GError **error);

/* One canonical printing with at most `digits` significant digits, scaled to a readable prefix: "450 GB/s", "2 us",
 * "16 GiB" when exact in 1024s else "17.2 GB". NaN, not known, is "-". Returned: full, g_free. base_quantity_parse reads numbers
 * back. */
char *base_quantity_format (double value, BaseDim dim, unsigned digits);

const char *base_dim_name (BaseDim dim);    /* "bandwidth" */
const char *base_dim_unit (BaseDim dim);    /* SI unit as printed in JSON and TSV headers: "B/s", "" if none */
const char *base_dim_example (BaseDim dim); /* "450 GB/s" */
double base_dim_most (BaseDim dim);         /* in SI; larger quantities are refused */
/* What the ending of a key says: "time_s" is a time; BASE_DIM_NUMBER where it says nothing. */
BaseDim base_dim_of_key (const char *key);

/* Sizes as nccl-tests' flags write them: 1K = 1024, 8G = 8 GiB; a bare number is bytes; also "1KiB", "8 GiB" and the
 * decimal "1 GB". FALSE and *error otherwise; fractions of a byte are refused. */
gboolean base_size_flag_parse (const char *text, guint64 *size_B, GError **error);

#endif
