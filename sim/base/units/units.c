/* The units that each dimension accepts.
 * Prefixes: k M G T P E are 10^3 … 10^18 (BIPM, "The International System of Units", 9th edition, table 7), Ki … Ei are
 * 2^10 … 2^60 (IEC 80000-13:2008, clause 4). A byte is 8 bits. A month is 30 days and a year 365 days: prices are quoted so. */
#include "units/units-private.h"

#include <string.h>

const UnitPrefix base_unit_prefixes_decimal[] = {
  { "", 0, 1 }, { "k", 3, 1 }, { "M", 6, 1 }, { "G", 9, 1 }, { "T", 12, 1 }, { "P", 15, 1 }, { "E", 18, 1 }, { 0 },
};

const UnitPrefix base_unit_prefixes_binary[] = {
  { "Ki", 0, 0x1p10 },
  { "Mi", 0, 0x1p20 },
  { "Gi", 0, 0x1p30 },
  { "Ti", 0, 0x1p40 },
  { "Pi", 0, 0x1p50 },
  { "Ei", 0, 0x1p60 },
  { 0 },
};

#define MINUTE_S 60.0
#define HOUR_S   (60 * MINUTE_S)
#define DAY_S    (24 * HOUR_S)

static const Unit plain_units[] = { { "", 0, 0, 1, 1 }, { 0 } };
static const Unit count_units[] = { { "", UNIT_DECIMAL, 0, 1, 1 }, { 0 } };
static const Unit ratio_units[] = { { "", 0, 0, 1, 1 }, { "%", 0, -2, 1, 1 }, { 0 } };
static const Unit time_units[] = {
  { "ps", 0, -12, 1, 1 },
  { "ns", 0, -9, 1, 1 },
  { "us", 0, -6, 1, 1 },
  { "µs", 0, -6, 1, 1 },
  { "μs", 0, -6, 1, 1 },
  { "ms", 0, -3, 1, 1 },
  { "s", 0, 0, 1, 1 },
  { "min", 0, 0, MINUTE_S, 1 },
  { "h", 0, 0, HOUR_S, 1 },
  { "days", 0, 0, DAY_S, 1 },
  { "day", 0, 0, DAY_S, 1 },
  { "d", 0, 0, DAY_S, 1 },
  { 0 },
};
static const Unit byte_units[] = {
  { "B", UNIT_DECIMAL | UNIT_BINARY, 0, 1, 1 },
  { "b", UNIT_DECIMAL | UNIT_BINARY, 0, 1, 8 },
  { 0 },
};
static const Unit bandwidth_units[] = {
  { "B/s", UNIT_DECIMAL | UNIT_BINARY, 0, 1, 1 },
  { "b/s", UNIT_DECIMAL | UNIT_BINARY, 0, 1, 8 },
  { 0 },
};
static const Unit flop_rate_units[] = { { "FLOP/s", UNIT_DECIMAL, 0, 1, 1 }, { 0 } };
static const Unit flop_units[] = { { "FLOP", UNIT_DECIMAL, 0, 1, 1 }, { 0 } };
static const Unit power_units[] = { { "W", UNIT_DECIMAL, 0, 1, 1 }, { 0 } };
static const Unit energy_units[] = { { "J", UNIT_DECIMAL, 0, 1, 1 }, { "Wh", UNIT_DECIMAL, 0, HOUR_S, 1 }, { 0 } };
static const Unit money_units[] = { { "", UNIT_DECIMAL, 0, 1, 1 }, { 0 } };
static const Unit money_per_time_units[] = {
  { "/s", UNIT_DECIMAL, 0, 1, 1 },
  { "/h", UNIT_DECIMAL, 0, 1, HOUR_S },
  { "/day", UNIT_DECIMAL, 0, 1, DAY_S },
  { "/month", UNIT_DECIMAL, 0, 1, 30 * DAY_S },
  { "/year", UNIT_DECIMAL, 0, 1, 365 * DAY_S },
  { 0 },
};
static const Unit money_per_energy_units[] = {
  { "/kWh", UNIT_DECIMAL, -3, 1, HOUR_S },
  { "/MWh", UNIT_DECIMAL, -6, 1, HOUR_S },
  { "/J", UNIT_DECIMAL, 0, 1, 1 },
  { 0 },
};
static const Unit frequency_units[] = { { "Hz", UNIT_DECIMAL, 0, 1, 1 }, { "IOPS", UNIT_DECIMAL, 0, 1, 1 }, { 0 } };

/* What people write that differs by more than case; "" is a number without a unit. */
static const UnitHint number_hints[] = {
  { "%", "'@'", 0.01 }, { ":1", "'@'", 1 }, { "x", "'@'", 1 }, { "times", "'@'", 1 }, { 0 },
};
static const UnitHint count_hints[] = {
  { "B", "'@ G' (1e9) or '@ T' (1e12)", 1 },
  { "bn", "'@ G'", 1 },
  { "billion", "'@ G'", 1 },
  { "tn", "'@ T'", 1 },
  { "trillion", "'@ T'", 1 },
  { "mn", "'@ M'", 1 },
  { "million", "'@ M'", 1 },
  { "thousand", "'@ k'", 1 },
  { "x", "'@'", 1 },
  { "tokens", "'@'", 1 },
  { "B tokens", "'@ G' (1e9)", 1 },
  { "T tokens", "'@ T'", 1 },
  { "gpus", "'@'", 1 },
  { "nodes", "'@'", 1 },
  { 0 },
};
static const UnitHint time_hints[] = {
  { "", "'@ s', '@ h' or '@ days'", 1 },
  { "sec", "'@ s'", 1 },
  { "secs", "'@ s'", 1 },
  { "second", "'@ s'", 1 },
  { "seconds", "'@ s'", 1 },
  { "msec", "'@ ms'", 1 },
  { "usec", "'@ us'", 1 },
  { "nsec", "'@ ns'", 1 },
  { "psec", "'@ ps'", 1 },
  { "m", "'@ min' or '@ ms'", 1 },
  { "mins", "'@ min'", 1 },
  { "minute", "'@ min'", 1 },
  { "minutes", "'@ min'", 1 },
  { "hr", "'@ h'", 1 },
  { "hrs", "'@ h'", 1 },
  { "hour", "'@ h'", 1 },
  { "hours", "'@ h'", 1 },
  { "w", "'@ days'", 7 },
  { "week", "'@ days'", 7 },
  { "weeks", "'@ days'", 7 },
  { "month", "'@ days'", 30 },
  { "months", "'@ days'", 30 },
  { "year", "'@ days'", 365 },
  { "years", "'@ days'", 365 },
  { "yr", "'@ days'", 365 },
  { "y", "'@ days'", 365 },
  { 0 },
};
static const UnitHint byte_hints[] = {
  { "", "'@ B', '@ MB' (1e6) or '@ MiB' (1024 x 1024)", 1 }, { "k", "'@ kB' (1000) or '@ KiB' (1024)", 1 },
  { "m", "'@ MB' (1e6) or '@ MiB' (1024 x 1024)", 1 },       { "g", "'@ GB' (1e9) or '@ GiB' (1024 MiB)", 1 },
  { "t", "'@ TB' (1e12) or '@ TiB' (1024 GiB)", 1 },         { 0 },
};
static const UnitHint bandwidth_hints[] = {
  { "", "'@ Gb/s' (bits) or '@ GB/s' (bytes)", 1 },
  { "g", "'@ Gb/s' (bits) or '@ GB/s' (bytes)", 1 },
  { "m", "'@ Mb/s' (bits) or '@ MB/s' (bytes)", 1 },
  { "t", "'@ Tb/s' (bits) or '@ TB/s' (bytes)", 1 },
  { "GT/s", "the rate of all lanes together in GB/s, since a transfer is not a byte", 0 },
  { "MT/s", "the rate of all channels together in GB/s, since a transfer is not a byte", 0 },
  { 0 },
};
static const UnitHint power_hints[] = { { "", "'@ W' or '@ kW'", 1 }, { 0 } };
static const UnitHint money_hints[] = {
  { "", "'$@'", 1 },
  { "thousand", "'$@ k'", 1 },
  { "mm", "'$@ M'", 1 },
  { "mn", "'$@ M'", 1 },
  { "mio", "'$@ M'", 1 },
  { "million", "'$@ M'", 1 },
  { "b", "'$@ G' (1e9)", 1 },
  { "bn", "'$@ G' (1e9)", 1 },
  { "billion", "'$@ G' (1e9)", 1 },
  { 0 },
};
static const UnitHint money_per_time_hints[] = {
  { "", "'$@/h' or '$@/month'", 1 }, { "/hr", "'$@/h'", 1 },     { "/hour", "'$@/h'", 1 },
  { "/d", "'$@/day'", 1 },           { "/mo", "'$@/month'", 1 }, { "/y", "'$@/year'", 1 },
  { "/yr", "'$@/year'", 1 },         { "/sec", "'$@/s'", 1 },    { 0 },
};
static const UnitHint money_per_energy_hints[] = {
  { "", "'$@/kWh'", 1 }, { "ct/kWh", "'$@/kWh'", 0.01 }, { "cents/kWh", "'$@/kWh'", 0.01 }, { "c/kWh", "'$@/kWh'", 0.01 }, { 0 },
};
static const UnitHint frequency_hints[] = {
  { "", "'@ IOPS' or '@ Hz'", 1 }, { "/s", "'@ Hz'", 1 }, { "1/s", "'@ Hz'", 1 }, { "ops/s", "'@ IOPS'", 1 }, { 0 }
};

/* Ranges are wider than any machine or purchase, and narrow enough that no product of a few quantities overflows. A field
 * of a schema may narrow them. */
const UnitDim base_unit_dims[BASE_DIM_N] = {
  [BASE_DIM_NUMBER] = { "number", "a", "", "1.25", plain_units, number_hints, FALSE, 1e15 },
  [BASE_DIM_COUNT] = { "whole number", "a", "", "8", count_units, count_hints, FALSE, COUNT_MAX },
  [BASE_DIM_RATIO] = { "ratio", "a", "", "0.9", ratio_units, NULL, FALSE, 1e9 },
  [BASE_DIM_TIME] = { "time", "a", "s", "2 us", time_units, time_hints, FALSE, 1e12 },
  [BASE_DIM_BYTES] = { "size", "a", "B", "16 GiB", byte_units, byte_hints, FALSE, 1e21 },
  [BASE_DIM_BANDWIDTH] = { "bandwidth", "a", "B/s", "450 GB/s", bandwidth_units, bandwidth_hints, FALSE, 1e18 },
  [BASE_DIM_FLOP_RATE] = { "compute rate", "a", "FLOP/s", "989 TFLOP/s", flop_rate_units, NULL, FALSE, 1e24 },
  [BASE_DIM_FLOP] = { "amount of compute", "an", "FLOP", "65.5 TFLOP", flop_units, NULL, FALSE, 1e33 },
  [BASE_DIM_POWER] = { "power", "a", "W", "700 W", power_units, power_hints, FALSE, 1e12 },
  [BASE_DIM_ENERGY] = { "energy", "an", "J", "1 kWh", energy_units, NULL, FALSE, 1e21 },
  [BASE_DIM_MONEY] = { "price", "a", "USD", "$280000", money_units, money_hints, TRUE, 1e15 },
  [BASE_DIM_MONEY_PER_TIME] = { "price per time", "a", "USD/s", "$2.50/h", money_per_time_units, money_per_time_hints, TRUE, 1e12 },
  [BASE_DIM_MONEY_PER_ENERGY] = { "price of energy", "a", "USD/J", "$0.10/kWh", money_per_energy_units, money_per_energy_hints,
                                  TRUE, 1e6 },
  [BASE_DIM_FREQUENCY] = { "frequency", "a", "1/s", "337 kIOPS", frequency_units, frequency_hints, FALSE, 1e15 },
};

static gboolean
find_prefixed (const Unit *unit, const UnitPrefix *prefixes, const char *text, Unit *found)
{
  for (const UnitPrefix *prefix = prefixes; prefix->text != NULL; prefix++)
    if (g_str_has_prefix (text, prefix->text) && strcmp (text + strlen (prefix->text), unit->symbol) == 0) {
      *found = *unit;
      found->e10 += prefix->e10;
      found->times *= prefix->times;
      return TRUE;
    }
  return FALSE;
}

gboolean
base_unit_find (const UnitDim *dim, const char *text, Unit *found)
{
  for (const Unit *unit = dim->units; unit->symbol != NULL; unit++) {
    if (strcmp (text, unit->symbol) == 0) {
      *found = *unit;
      return TRUE;
    }
    if ((unit->prefixes & UNIT_DECIMAL) && find_prefixed (unit, base_unit_prefixes_decimal, text, found))
      return TRUE;
    if ((unit->prefixes & UNIT_BINARY) && find_prefixed (unit, base_unit_prefixes_binary, text, found))
      return TRUE;
  }
  return FALSE;
}

void
base_unit_visit (const UnitDim *dim, void (*visit) (const char *text, void *data), void *data)
{
  for (const Unit *unit = dim->units; unit->symbol != NULL; unit++)
    for (unsigned kind = 0; kind < 2; kind++) {
      const UnitPrefix *prefixes = kind == 0 ? base_unit_prefixes_decimal : base_unit_prefixes_binary;
      for (const UnitPrefix *prefix = prefixes; prefix->text != NULL; prefix++) {
        gboolean bare = prefix->text[0] == '\0';
        if (!bare && !(unit->prefixes & (kind == 0 ? UNIT_DECIMAL : UNIT_BINARY)))
          continue;
        g_autofree char *text = g_strconcat (prefix->text, unit->symbol, NULL);
        visit (text, data);
      }
    }
}

const char *
base_dim_name (BaseDim dim)
{
  g_return_val_if_fail ((unsigned)dim < BASE_DIM_N, "");
  return base_unit_dims[dim].name;
}

const char *
base_dim_unit (BaseDim dim)
{
  g_return_val_if_fail ((unsigned)dim < BASE_DIM_N, "");
  return base_unit_dims[dim].si;
}

const char *
base_dim_example (BaseDim dim)
{
  g_return_val_if_fail ((unsigned)dim < BASE_DIM_N, "");
  return base_unit_dims[dim].example;
}

double
base_dim_most (BaseDim dim)
{
  g_return_val_if_fail ((unsigned)dim < BASE_DIM_N, 0);
  return base_unit_dims[dim].most;
}

BaseDim
base_dim_of_key (const char *key)
{
  static const struct {
    const char *ending;
    BaseDim dim;
  } endings[] = {
    { "per_s", BASE_DIM_FREQUENCY }, { "_s", BASE_DIM_TIME },    { "_B", BASE_DIM_BYTES }, { "bytes", BASE_DIM_BYTES },
    { "_Bps", BASE_DIM_BANDWIDTH },  { "_usd", BASE_DIM_MONEY }, { "_W", BASE_DIM_POWER }, { "_J", BASE_DIM_ENERGY },
  };
  for (size_t i = 0; i < G_N_ELEMENTS (endings); i++)
    if (g_str_has_suffix (key, endings[i].ending))
      return endings[i].dim;
  return BASE_DIM_NUMBER;
}
