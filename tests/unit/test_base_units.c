#include "base/error.h"
#include "base/random.h"
#include "base/units.h"
#include "harness.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct {
  const char *text;
  BaseDim dim;
  double value;
} Good;

/* The right-hand side is the double that C reads in the same number: no error of a last digit is allowed. */
static void
quantities_are_read_exactly (void)
{
  static const Good good[] = {
    { "1.25", BASE_DIM_NUMBER, 1.25 },
    { "-3", BASE_DIM_NUMBER, -3 },
    { "+.5e1", BASE_DIM_NUMBER, 5 },
    { "8", BASE_DIM_COUNT, 8 },
    { "2 T", BASE_DIM_COUNT, 2e12 },
    { "1.5 M", BASE_DIM_COUNT, 1500000 },
    { "4.35 k", BASE_DIM_COUNT, 4350 }, /* 4.35 * 1000 is 4350.0000000000009 in doubles */
    { "9007199254740991", BASE_DIM_COUNT, 9007199254740991.0 },
    { "0.9", BASE_DIM_RATIO, 0.9 },
    { "90 %", BASE_DIM_RATIO, 0.9 },
    { "50%", BASE_DIM_RATIO, 0.5 },
    { "2 us", BASE_DIM_TIME, 2e-6 },
    { "2us", BASE_DIM_TIME, 2e-6 },
    { "2 µs", BASE_DIM_TIME, 2e-6 },
    { "130 ns", BASE_DIM_TIME, 130e-9 },
    { "7 ps", BASE_DIM_TIME, 7e-12 },
    { "5 min", BASE_DIM_TIME, 300 },
    { "1.5 h", BASE_DIM_TIME, 5400 },
    { "60 days", BASE_DIM_TIME, 5184000 }, /* 60 x 86400 */
    { "1 day", BASE_DIM_TIME, 86400 },
    { "16 GiB", BASE_DIM_BYTES, 17179869184.0 }, /* 16 x 2^30 */
    { "16 GB", BASE_DIM_BYTES, 16e9 },
    { "1 Gb", BASE_DIM_BYTES, 125e6 }, /* 10^9 / 8 */
    { "8 Kib", BASE_DIM_BYTES, 1024 },
    { "141 GB", BASE_DIM_BYTES, 141e9 },
    { "1 EB", BASE_DIM_BYTES, 1e18 }, /* a prefix, no exponent */
    { "2e3B", BASE_DIM_BYTES, 2000 },
    { "400 Gb/s", BASE_DIM_BANDWIDTH, 50e9 }, /* 400e9 / 8 */
    { "450 GB/s", BASE_DIM_BANDWIDTH, 450e9 },
    { "394.8 GB/s", BASE_DIM_BANDWIDTH, 394.8e9 },
    { "1 GiB/s", BASE_DIM_BANDWIDTH, 1073741824.0 },
    { "8 Gib/s", BASE_DIM_BANDWIDTH, 1073741824.0 },
    { "0", BASE_DIM_BANDWIDTH, 0 },
    { "0.0", BASE_DIM_MONEY, 0 },
    { "989 TFLOP/s", BASE_DIM_FLOP_RATE, 989e12 },
    { "65.5 TFLOP", BASE_DIM_FLOP, 65.5e12 },
    { "700 W", BASE_DIM_POWER, 700 },
    { "1 MW", BASE_DIM_POWER, 1e6 },
    { "1 kWh", BASE_DIM_ENERGY, 3.6e6 }, /* 1000 W x 3600 s */
    { "$280000", BASE_DIM_MONEY, 280000 },
    { "$20 M", BASE_DIM_MONEY, 20e6 },
    { "$2.5M", BASE_DIM_MONEY, 2.5e6 },
    { "20 M USD", BASE_DIM_MONEY, 20e6 },
    { "2500 USD", BASE_DIM_MONEY, 2500 },
    { "-$5", BASE_DIM_MONEY, -5 },
    { "$2.50/h", BASE_DIM_MONEY_PER_TIME, 2.5 / 3600 },
    { "$7200 /h", BASE_DIM_MONEY_PER_TIME, 2 },
    { "1.8 k USD/h", BASE_DIM_MONEY_PER_TIME, 0.5 },
    { "$2592000/month", BASE_DIM_MONEY_PER_TIME, 1 }, /* 30 x 86400 s */
    { "$0.10/kWh", BASE_DIM_MONEY_PER_ENERGY, 0.1e-3 / 3600 },
    { "0.10 USD/kWh", BASE_DIM_MONEY_PER_ENERGY, 0.1e-3 / 3600 },
    { "337 kIOPS", BASE_DIM_FREQUENCY, 337e3 },
    { "1.98 GHz", BASE_DIM_FREQUENCY, 1.98e9 },
    { "  2 us\t", BASE_DIM_TIME, 2e-6 },
  };
  for (gsize i = 0; i < G_N_ELEMENTS (good); i++) {
    double v = (double)NAN;
    g_autoptr (GError) error = NULL;
    gboolean ok = base_quantity_parse (good[i].text, good[i].dim, &v, &error);
    test_near (v, good[i].value, 0, good[i].text, __FILE__, __LINE__);
    TEST_TRUE (ok && error == NULL);
  }
}

static const struct {
  const char *text;
  BaseDim dim;
  const char *message;
} bad[] = {
  { "450", BASE_DIM_BANDWIDTH, "bandwidth '450' has no unit; write '450 Gb/s' (bits) or '450 GB/s' (bytes)" },
  { "2 us", BASE_DIM_BANDWIDTH, "'2 us' is a time where a bandwidth is expected (e.g. '450 GB/s')" },
  { "450 GB", BASE_DIM_BANDWIDTH, "'450 GB' is a size where a bandwidth is expected; write '450 GB/s'" },
  { "$5", BASE_DIM_BANDWIDTH, "'$5' is a price where a bandwidth is expected (e.g. '450 GB/s')" },
  { "16 GiB", BASE_DIM_COUNT, "'16 GiB' is a size where a whole number is expected (e.g. '8')" },
  { "50 %", BASE_DIM_NUMBER, "'50 %' is a ratio where a number is expected; write '0.5'" },
  { "1 kWh", BASE_DIM_FLOP, "'1 kWh' is an energy where an amount of compute is expected (e.g. '65.5 TFLOP')" },
  { "450 gb/s", BASE_DIM_BANDWIDTH, "; write '450 GB/s' (bytes) or '450 Gb/s' (bits)" },
  { "400 Gbps", BASE_DIM_BANDWIDTH, "unknown unit 'Gbps' in bandwidth '400 Gbps'; write '400 Gb/s'" },
  { "400 gbps", BASE_DIM_BANDWIDTH, "; write '400 Gb/s'" },
  { "450 GBps", BASE_DIM_BANDWIDTH, "; write '450 GB/s'" },
  { "450 gB/s", BASE_DIM_BANDWIDTH, "; write '450 GB/s'" },
  { "4 KBps", BASE_DIM_BANDWIDTH, "; write '4 kB/s' (1000) or '4 KiB/s' (1024)" },
  { "32 GT/s", BASE_DIM_BANDWIDTH, "; write the rate of all lanes together in GB/s" },
  { "-$-5", BASE_DIM_MONEY, "'-$-5' is not a price" },
  { "2 weeks", BASE_DIM_TIME, "unknown unit 'weeks' in time '2 weeks'; write '14 days'" },
  { "4 years", BASE_DIM_TIME, "; write '1460 days'" }, /* 4 x 365 */
  { "0.5 year", BASE_DIM_TIME, "; write '182.5 days'" },
  { "18 months", BASE_DIM_TIME, "; write '540 days'" }, /* 18 x 30 */
  { "2 B", BASE_DIM_COUNT, "'2 B' is a size where a whole number is expected; write '2 G' (1e9) or '2 T' (1e12)" },
  { "1.5b", BASE_DIM_COUNT, "; write '1.5 G' (1e9) or '1.5 T' (1e12)" },
  { "15 trillion", BASE_DIM_COUNT, "; write '15 T'" },
  { "70 bn", BASE_DIM_COUNT, "; write '70 G'" },
  { "2 million", BASE_DIM_COUNT, "; write '2 M'" },
  { "500000 EUR", BASE_DIM_MONEY,
    "'500000 EUR' is not in US dollars; convert it, and write the amount in dollars (e.g. '$280000')" },
  { "€500000", BASE_DIM_MONEY, "'€500000' is not in US dollars" },
  { "2.50 €/h", BASE_DIM_MONEY_PER_TIME, "is not in US dollars; convert it, and write the amount in dollars (e.g. '$2.50/h')" },
  { "0.10 gbp/kWh", BASE_DIM_MONEY_PER_ENERGY, "is not in US dollars" },
  { "20 M$", BASE_DIM_MONEY, "'20 M$' has its '$' behind the number; write '$20 M'" },
  { "450 GB/x", BASE_DIM_BANDWIDTH, "unknown unit 'GB/x' in bandwidth '450 GB/x'; write '450 GB/s'" },
  { "1G", BASE_DIM_BYTES, "'1G' is a whole number where a size is expected; write '1 GB' (1e9) or '1 GiB' (1024 MiB)" },
  { "1 gigabyte", BASE_DIM_BYTES, "; write '1 GB'" },
  { "10 gigabits", BASE_DIM_BYTES, "; write '10 Gb'" },
  { "400 Gbit/s", BASE_DIM_BANDWIDTH, "; write '400 Gb/s'" },
  { "4.6 kilowatt", BASE_DIM_POWER, "; write '4.6 kW'" },
  { "90 dayz", BASE_DIM_TIME, "; write '90 day'" },
  { "2e12 tokens", BASE_DIM_COUNT, "; write '2e12'" },
  { "8,192", BASE_DIM_COUNT, "; write '8192'" },
  { "2,5 s", BASE_DIM_TIME, "; write '2.5 s'" },
  { "120%", BASE_DIM_NUMBER, "; write '1.2'" },
  { "2:1", BASE_DIM_NUMBER, "; write '2'" },
  { "$20 million", BASE_DIM_MONEY, "; write '$20 M'" },
  { "$20,000,000", BASE_DIM_MONEY, "; write '$20000000'" },
  { "10 ct/kWh", BASE_DIM_MONEY_PER_ENERGY, "; write '$0.1/kWh'" },
  { "4 KB", BASE_DIM_BYTES, "; write '4 kB' (1000) or '4 KiB' (1024)" },
  { "4 mib", BASE_DIM_BYTES, "; write '4 MiB' (bytes) or '4 Mib' (bits)" },
  { "4 bytes", BASE_DIM_BYTES, "; write '4 B'" },
  { "2 us/", BASE_DIM_TIME, "unknown unit 'us/' in time '2 us/'; write '2 us'" },
  { "2 sec", BASE_DIM_TIME, "; write '2 s'" },
  { "2 m", BASE_DIM_TIME, "; write '2 min' or '2 ms'" },
  { "2 MS", BASE_DIM_TIME, "; write '2 ms'" },
  { "989 TFLOPS", BASE_DIM_FLOP_RATE, "; write '989 TFLOP/s'" },
  { "989 TFLOPs/s", BASE_DIM_FLOP_RATE, "; write '989 TFLOP/s'" },
  { "989 tflop/s", BASE_DIM_FLOP_RATE, "; write '989 TFLOP/s'" },
  { "280000", BASE_DIM_MONEY, "price '280000' has no '$'; write '$" },
  { "20 M", BASE_DIM_MONEY, "price '20 M' has no '$'; write '$" },
  { "$2.50/hr", BASE_DIM_MONEY_PER_TIME, "; write '$2.50/h'" },
  { "$2.50", BASE_DIM_MONEY_PER_TIME, "'$2.50' is a price where a price per time is expected; write '$2.50/h' or '$2.50/month'" },
  { "$5 $", BASE_DIM_MONEY, "unknown unit '$'" },
  { "2.5", BASE_DIM_COUNT, "'2.5' is not a whole number (e.g. '8')" },
  { "9007199254740993", BASE_DIM_COUNT, "whole number '9007199254740993' is too large; at most 9007199254740991 is accepted" },
  { "", BASE_DIM_TIME, "'' is not a time (e.g. '2 us')" },
  { "fast", BASE_DIM_TIME, "'fast' is not a time (e.g. '2 us')" },
  { "nan", BASE_DIM_NUMBER, "'nan' is not a number" },
  { ".inf", BASE_DIM_NUMBER, "'.inf' is not a number" },
  { "infinity", BASE_DIM_NUMBER, "'infinity' is not a number" },
  { "0x10", BASE_DIM_NUMBER, "'0x10' is hexadecimal; write it in decimal" },
  { "1e400", BASE_DIM_NUMBER, "number '1e400' is too large; at most 1e15 is accepted" },
  { "$1e308/kWh", BASE_DIM_MONEY_PER_ENERGY, "price of energy '$1e308/kWh' is too large; at most 1e6 USD/J is accepted" },
  { "$1e308", BASE_DIM_MONEY, "price '$1e308' is too large; at most 1e15 USD is accepted" },
  { "-1e13 s", BASE_DIM_TIME, "time '-1e13 s' is too large; at most 1e12 s is accepted" },
  { "1e-300 B/s", BASE_DIM_BANDWIDTH, "bandwidth '1e-300 B/s' is too small; 0, or at least 1e-21 B/s, is accepted" },
  { "1e99999999999999999999 s", BASE_DIM_TIME, "too large" },
  { "1e308 GB", BASE_DIM_BYTES, "too large" },
  { "1e-400 s", BASE_DIM_TIME, "too small; 0, or at least 1e-21 s, is accepted" },
  { "1,000 GB/s", BASE_DIM_BANDWIDTH, "digits are not grouped, the decimal sign is '.'" },
  { "1 000 GB/s", BASE_DIM_BANDWIDTH, "digits are not grouped" },
  { "1_000 GB/s", BASE_DIM_BANDWIDTH, "digits are not grouped" },
  { "2,5 us", BASE_DIM_TIME, "the decimal sign is '.'" },
  { "--2 us", BASE_DIM_TIME, "'--2 us' is not a time" },
  { "5. s", BASE_DIM_TIME, "'5. s' is not a number that can be read" },
};

static void
what_is_wrong_is_said_with_what_to_write_instead (void)
{
  for (gsize i = 0; i < G_N_ELEMENTS (bad); i++) {
    double v = 42;
    g_autoptr (GError) error = NULL;
    gboolean ok = base_quantity_parse (bad[i].text, bad[i].dim, &v, &error);
    test_has (ok ? "accepted" : error->message, bad[i].message, bad[i].text, __FILE__, __LINE__);
    TEST_TRUE (!ok && g_error_matches (error, BASE_ERROR, BASE_ERROR_INPUT));
    TEST_NEAR (v, 42, 0); /* written on success only */
  }
}

static void
long_text_is_cut_in_messages (void)
{
  g_autofree char *text = g_strnfill (100000, 'x');
  g_autoptr (GError) error = NULL;
  double v;
  TEST_FALSE (base_quantity_parse (text, BASE_DIM_TIME, &v, &error));
  TEST_TRUE (strlen (error->message) < 200);
}

static void
a_number_of_many_digits_is_rounded_once (void)
{
  g_autofree char *zeros = g_strnfill (5000, '0');
  g_autofree char *text = g_strdup_printf ("%s1.%s1 us", zeros, zeros);
  double v;
  TEST_TRUE (base_quantity_parse (text, BASE_DIM_TIME, &v, NULL));
  TEST_NEAR (v, 1e-6, 0);
}

static void
quantities_are_printed_with_a_readable_prefix (void)
{
  static const struct {
    double value;
    BaseDim dim;
    unsigned digits;
    const char *text;
  } shown[] = {
    { 4.5e11, BASE_DIM_BANDWIDTH, 4, "450 GB/s" },
    { 999.96e9, BASE_DIM_BANDWIDTH, 4, "1 TB/s" }, /* rounds up into the next prefix */
    { 999.94e9, BASE_DIM_BANDWIDTH, 4, "999.9 GB/s" },
    { 0.25, BASE_DIM_BANDWIDTH, 4, "0.25 B/s" },
    { 2e-6, BASE_DIM_TIME, 4, "2 us" },
    { 999.99e-6, BASE_DIM_TIME, 3, "1 ms" },
    { 90, BASE_DIM_TIME, 4, "90 s" },
    { 300, BASE_DIM_TIME, 4, "5 min" },
    { 5184000, BASE_DIM_TIME, 4, "60 days" },
    { 0, BASE_DIM_TIME, 4, "0 s" },
    { 1e-15, BASE_DIM_TIME, 4, "0.001 ps" },
    { 17179869184.0, BASE_DIM_BYTES, 4, "16 GiB" },
    { 26214400, BASE_DIM_BYTES, 4, "25 MiB" }, /* 25 x 2^20 */
    { 17179869185.0, BASE_DIM_BYTES, 4, "17.18 GB" },
    { 1e9, BASE_DIM_BYTES, 4, "1 GB" },
    { 512, BASE_DIM_BYTES, 4, "512 B" },
    { 0, BASE_DIM_BYTES, 4, "0 B" },
    { 1e21, BASE_DIM_BYTES, 4, "1000 EB" },
    { 8, BASE_DIM_COUNT, 4, "8" },
    { 2e12, BASE_DIM_COUNT, 4, "2 T" },
    { 123456, BASE_DIM_COUNT, 4, "123.5 k" },
    { 123456, BASE_DIM_COUNT, 6, "123456" },
    { 989e12, BASE_DIM_FLOP_RATE, 4, "989 TFLOP/s" },
    { 280000, BASE_DIM_MONEY, 2, "$280000" },
    { 283456, BASE_DIM_MONEY, 4, "$283500" },
    { 12e6, BASE_DIM_MONEY, 4, "$12 M" },
    { -5, BASE_DIM_MONEY, 4, "-$5" },
    { 2.5 / 3600, BASE_DIM_MONEY_PER_TIME, 4, "$2.5/h" },
    { 1e306, BASE_DIM_MONEY_PER_TIME, 4, "$1e306/s" }, /* an hour of it is beyond a double */
    { 1e303, BASE_DIM_MONEY_PER_ENERGY, 4, "$1e303/J" },
    { 0.1e-3 / 3600, BASE_DIM_MONEY_PER_ENERGY, 4, "$0.1/kWh" },
    { 3.6e6, BASE_DIM_ENERGY, 4, "1 kWh" },
    { 500, BASE_DIM_ENERGY, 4, "500 J" },
    { 337e3, BASE_DIM_FREQUENCY, 4, "337 kHz" },
    { 0.9, BASE_DIM_RATIO, 4, "0.9" },
    { 1.0 / 3, BASE_DIM_RATIO, 4, "0.3333" },
    { 1e-30, BASE_DIM_NUMBER, 4, "1e-30" },
    { -0.0, BASE_DIM_NUMBER, 4, "0" },
    { (double)NAN, BASE_DIM_TIME, 4, "-" },
  };
  for (gsize i = 0; i < G_N_ELEMENTS (shown); i++) {
    g_autofree char *text = base_quantity_format (shown[i].value, shown[i].dim, shown[i].digits);
    TEST_STR (text, shown[i].text);
  }
}

/* Numbers over 60 powers of ten in every dimension come back within half a unit of the last digit asked for. */
static void
what_is_printed_is_read_back (void)
{
  BaseRandom random = base_random_stream (1, "round trip");
  unsigned wrong = 0;
  for (unsigned i = 0; i < 40000; i++) {
    BaseDim dim = (BaseDim)(i % BASE_DIM_N);
    unsigned digits = 1 + i % 17;
    double v = (base_random_unit (&random) - 0.5) * pow (10, 18 * base_random_unit (&random) - 12);
    if (dim == BASE_DIM_COUNT)
      v = floor (base_random_unit (&random) * 1e15);
    g_autofree char *text = base_quantity_format (v, dim, digits);
    g_autoptr (GError) error = NULL;
    double back = (double)NAN;
    /* A count of few digits prints as "1.2 k", which is whole; the rest rounds to half a digit, and once more in binary. */
    if (!base_quantity_parse (text, dim, &back, &error) ||
        fabs (back - v) > (5.001 * pow (10, -(double)digits) + 1e-15) * fabs (v)) {
      wrong++;
      fprintf (stderr, "%.17g as %s with %u digits is '%s', read as %.17g: %s\n", v, base_dim_name (dim), digits, text, back,
               error != NULL ? error->message : "");
    }
  }
  TEST_INT (wrong, 0);
}

/* Where prefixes are powers of ten, 17 digits tell all doubles apart, to the last bit. */
static void
seventeen_digits_come_back_to_the_last_bit (void)
{
  static const BaseDim dims[] = { BASE_DIM_NUMBER, BASE_DIM_RATIO, BASE_DIM_BANDWIDTH, BASE_DIM_FLOP_RATE, BASE_DIM_POWER };
  BaseRandom random = base_random_stream (2, "round trip");
  unsigned wrong = 0;
  for (unsigned i = 0; i < 20000; i++) {
    double v = base_random_unit (&random) * pow (10, 20 * base_random_unit (&random) - 11), back = (double)NAN;
    g_autofree char *text = base_quantity_format (v, dims[i % G_N_ELEMENTS (dims)], 17);
    wrong += !base_quantity_parse (text, dims[i % G_N_ELEMENTS (dims)], &back, NULL) || back != v;
  }
  TEST_INT (wrong, 0);
}

static void
every_dimension_reads_its_own_example (void)
{
  for (int dim = 0; dim < BASE_DIM_N; dim++) {
    double v = 0;
    TEST_TRUE (base_quantity_parse (base_dim_example ((BaseDim)dim), (BaseDim)dim, &v, NULL));
    TEST_TRUE (v > 0);
    TEST_TRUE (base_dim_name ((BaseDim)dim)[0] != '\0');
  }
  TEST_STR (base_dim_unit (BASE_DIM_BANDWIDTH), "B/s");
  TEST_STR (base_dim_name (BASE_DIM_BANDWIDTH), "bandwidth");
}

static void
size_flags_are_those_of_nccl_tests (void)
{
  static const struct {
    const char *text;
    guint64 size_B;
  } good_sizes[] = {
    { "8", 8 },        { "0", 0 },           { "1K", 1024 },          { "1k", 1024 },
    { "4M", 4194304 }, { "8G", 8589934592 }, /* 8 x 2^30 */
    { "1.5K", 1536 },  { "1KiB", 1024 },     { "8 GiB", 8589934592 }, { "1 GB", 1000000000 },
    { "1kB", 1000 },   { "64 B", 64 },       { "1e6", 1000000 },
  };
  for (gsize i = 0; i < G_N_ELEMENTS (good_sizes); i++) {
    guint64 size_B = 99;
    TEST_TRUE (base_size_flag_parse (good_sizes[i].text, &size_B, NULL));
    TEST_INT (size_B, good_sizes[i].size_B);
  }
  static const struct {
    const char *text, *message;
  } bad_sizes[] = {
    { "", "'' is not a size" },
    { "big", "'big' is not a size" },
    { "8X", "'8X' is not a size (e.g. '8', '1K' = 1024" },
    { "8 Gb", "'8 Gb' is not a size" },
    { "$8", "'$8' is not a size" },
    { "0.5", "size '0.5' is not a whole number of bytes" },
    { "1.0001K", "not a whole number of bytes" },
    { "-8", "out of range" },
    { "1e300", "out of range" },
    { "16384P", "out of range" },
  };
  for (gsize i = 0; i < G_N_ELEMENTS (bad_sizes); i++) {
    guint64 size_B = 99;
    g_autoptr (GError) error = NULL;
    gboolean ok = base_size_flag_parse (bad_sizes[i].text, &size_B, &error);
    test_has (ok ? "accepted" : error->message, bad_sizes[i].message, bad_sizes[i].text, __FILE__, __LINE__);
    TEST_INT (size_B, 99);
  }
}

/* By one operation on two exact doubles, as by the library: short numbers with exponents around the bounds of that. */
static void
short_numbers_are_rounded_as_the_library_does (void)
{
  BaseRandom random = base_random_stream (3, "short numbers");
  for (int i = 0; i < 20000; i++) {
    const int n_digits = 1 + (int)(17 * base_random_unit (&random)), exponent = (int)(60 * base_random_unit (&random)) - 30;
    const double whole = floor (base_random_unit (&random) * pow (10, n_digits));
    double read = (double)NAN;
    g_autofree char *text = g_strdup_printf ("%.0fe%d", whole, exponent);
    if (base_quantity_parse (text, BASE_DIM_NUMBER, &read, NULL))
      TEST_TRUE (memcmp (&read, &(double){ g_ascii_strtod (text, NULL) }, sizeof read) == 0);
  }
  double minus = 0;
  TEST_TRUE (base_quantity_parse ("-0.1", BASE_DIM_NUMBER, &minus, NULL));
  TEST_NEAR (minus, -0.1, 0);
}

int
main (void)
{
  static const TestCase cases[] = {
    { "quantities are read exactly", quantities_are_read_exactly },
    { "what is wrong is said with what to write instead", what_is_wrong_is_said_with_what_to_write_instead },
    { "long text is cut in messages", long_text_is_cut_in_messages },
    { "a number of many digits is rounded once", a_number_of_many_digits_is_rounded_once },
    { "short numbers are rounded as the library does", short_numbers_are_rounded_as_the_library_does },
    { "quantities are printed with a readable prefix", quantities_are_printed_with_a_readable_prefix },
    { "what is printed is read back", what_is_printed_is_read_back },
    { "seventeen digits come back to the last bit", seventeen_digits_come_back_to_the_last_bit },
    { "every dimension reads its own example", every_dimension_reads_its_own_example },
    { "size flags are those of nccl-tests", size_flags_are_those_of_nccl_tests },
    { 0 },
  };
  return test_main ("base/units", cases);
}
