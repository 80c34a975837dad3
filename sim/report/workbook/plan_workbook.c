/* The workbook of a plan: each option's cash and run cost as the formulas of capital.c and models/cost/money.c over cells of prices
 * and assumptions. A figure stands in one cell, which all formulas name. Check: tests/workbook.sh. */
#include <math.h>
#include <string.h>

#include "base/currency.h"
#include "base/layout.h"
#include "base/member.h"
#include "cluster/spec.h"
#include "plan/plan-private.h"
#include "report/workbook.h"
#include "workbook/sheet-private.h"

#define DAY_S   86400.0
#define MONTH_S (30 * DAY_S) /* as prices are quoted (base/units.h) */
#define MOST    1000u        /* options */
#define FIRST   2u           /* column of the first option */
#define PRICES  4u           /* row of the first price */

/* Rows of the sheets "Assumptions" and "Run cost". */
enum { A_OPTION = 4, A_LAYOUT, A_DAYS, A_MEAN, A_LOAD, A_RACKS, A_NODES, A_STORAGE, A_TOKENS, A_HEAD = 14, A_FIRST };
enum {
  R_OPTION = 4,
  R_LAYOUT,
  R_DAYS,
  R_STANDS,
  R_SHARE,
  R_LOSS = 10,
  R_LOSS_ALL = R_LOSS + PLN_BUY_N,
  R_INTEREST,
  R_SUPPORT,
  R_COLOCATION,
  R_STAFF,
  R_ENERGY,
  R_OWN,
  R_RENT_NODES = R_OWN + 2,
  R_RENT_STORAGE,
  R_RENT
};

/* A figure that formulas name. */
typedef struct {
  const BaseNum *num;
  gboolean is_price; /* in the sheet "Prices" */
  guint row;
} Figure;

/* A cluster option whose parts are listed. */
typedef struct {
  guint machine;
  guint first, last; /* rows of its parts */
} Block;

typedef struct {
  const Pln *plan;
  const PlnResult *result;
  const RepWorkbook *what;
  RepSheet *answer, *layouts, *cash, *run, *prices, *assumptions;
  GArray *items;    /* RepPriceItem: what figures are called */
  GArray *figures;  /* Figure */
  GArray *blocks;   /* Block */
  guint cash_row;   /* the next */
  double totals[3]; /* of the first: cash, run cost owned and rented; NAN: none */
} Book;

/* Amounts are in US dollars, and written in the currency that is shown. */
static void
write_formula (RepSheet *sheet, guint row, guint column, RepStyle style, double value, char *formula)
{
  const gboolean money = style == REP_STYLE_MONEY || style == REP_STYLE_TOTAL;
  rep_sheet_formula (sheet, row, column, style, money ? base_currency_of (value) : value, formula);
}

/* ---- figures ---- */

/* Whether it is the rent of a node, which is quoted by the hour; other prices per time are by the month. */
static gboolean
is_hourly (const Book *b, const BaseNum *num)
{
  const GArray *machines = pln_machines (b->plan);
  for (guint i = 0; i < machines->len; i++)
    if (g_array_index (machines, PlnMachine, i).node_rent == num)
      return TRUE;
  return FALSE;
}

/* Its unit, and what an SI value is multiplied by. */
static const char *
unit_of (const Book *b, const BaseNum *num, BaseDim dim, double *scale)
{
  *scale = dim == BASE_DIM_MONEY_PER_ENERGY ? 3.6e6
           : dim == BASE_DIM_TIME           ? 1 / DAY_S
           : dim == BASE_DIM_POWER          ? 1e-3
           : dim != BASE_DIM_MONEY_PER_TIME ? 1
           : is_hourly (b, num)             ? 3600
                                            : MONTH_S;
  *scale *= base_currency_is_money (dim) ? base_currency_of (1) : 1;
  return dim == BASE_DIM_MONEY              ? base_currency_code ()
         : dim == BASE_DIM_MONEY_PER_ENERGY ? base_currency_word ("USD/kWh")
         : dim == BASE_DIM_TIME             ? "days"
         : dim == BASE_DIM_POWER            ? "kW"
         : dim != BASE_DIM_MONEY_PER_TIME   ? NULL
         : is_hourly (b, num)               ? base_currency_word ("USD/h")
                                            : base_currency_word ("USD/month (30 days)");
}

/* One row of "Prices", or of the figures in "Assumptions". */
static void
write_figure (Book *b, const BaseNum *num, BaseDim dim, const char *what, guint row)
{
  RepSheet *sheet = base_currency_is_money (dim) ? b->prices : b->assumptions;
  const PlnPricesSpec *prices = pln_prices (b->plan);
  double scale, band = pln_price_band (b->plan, num, dim);
  const char *unit = unit_of (b, num, dim, &scale);
  rep_sheet_text (sheet, row, 0, REP_STYLE_TEXT, what);
  RepSheetCell *cell =
      rep_sheet_number (sheet, row, 1, dim == BASE_DIM_RATIO ? REP_STYLE_PERCENT : REP_STYLE_NUMBER, num->v * scale);
  cell->input = TRUE;
  rep_sheet_text (sheet, row, 2, REP_STYLE_TEXT, unit);
  rep_sheet_text (sheet, row, 3, REP_STYLE_TEXT, base_source_name (num->source));
  rep_sheet_text (sheet, row, 4, REP_STYLE_TEXT, prices != NULL ? prices->date.v : NULL);
  if (band > 0)
    rep_sheet_number (sheet, row, 5, REP_STYLE_PERCENT, band);
  rep_sheet_text (sheet, row, 6, REP_STYLE_TEXT, num->note);
}

static const char *
name_of (const Book *b, const BaseNum *num, const char *otherwise)
{
  for (guint i = 0; i < b->items->len; i++)
    if (g_array_index (b->items, RepPriceItem, i).num == num)
      return g_array_index (b->items, RepPriceItem, i).what;
  return otherwise;
}

static const Figure *
find_figure (const Book *b, const BaseNum *num)
{
  for (guint i = 0; i < b->figures->len; i++)
    if (g_array_index (b->figures, Figure, i).num == num)
      return &g_array_index (b->figures, Figure, i);
  return NULL;
}

/* The cell of a figure, which it gets when it is first named: "Prices!$B$5". Returned: full. */
static char *
cell_of (Book *b, const BaseNum *num, BaseDim dim, const char *what)
{
  const Figure *found = find_figure (b, num);
  Figure figure = { num, base_currency_is_money (dim), base_currency_is_money (dim) ? PRICES : A_FIRST };
  for (guint i = 0; i < b->figures->len && found == NULL; i++)
    figure.row += g_array_index (b->figures, Figure, i).is_price == figure.is_price ? 1 : 0;
  if (found == NULL) {
    write_figure (b, num, dim, name_of (b, num, what), figure.row);
    g_array_append_val (b->figures, figure);
    found = &figure;
  }
  g_autofree char *place = rep_sheet_place (found->row, 1, TRUE);
  return g_strconcat (found->is_price ? "Prices!" : "Assumptions!", place, NULL);
}

/* ---- cash ---- */

static const char *
kind_name (PlnBuy kind)
{
  return kind == PLN_BUY_NICS ? "NICs" : pln_buy_names[kind];
}

/* What a share of other parts is taken of: rows from `first` on above `row`; spares are of nodes and network. Returned: full. */
static char *
base_of (PlnBuy kind, guint first, guint row)
{
  const guint from = first + 1, to = row; /* as the sheet counts */
  return kind == PLN_BUY_SPARES
             ? g_strdup_printf ("SUM(E%u:E%u)-SUMIF(A%u:A%u,\"storage\",E%u:E%u)-SUMIF(A%u:A%u,\"racks\",E%u:E%u)", from, to, from,
                                to, from, to, from, to, from, to)
             : g_strdup_printf ("SUM(E%u:E%u)", from, to);
}

static void
write_part (Book *b, const PlnPart *part, guint first, guint row)
{
  const gboolean share = part->kind == PLN_BUY_SPARES || part->kind == PLN_BUY_DELIVERY;
  char *price = cell_of (b, part->price, share ? BASE_DIM_RATIO : BASE_DIM_MONEY, part->name);
  rep_sheet_text (b->cash, row, 0, REP_STYLE_TEXT, kind_name (part->kind));
  rep_sheet_text (b->cash, row, 1, REP_STYLE_TEXT, part->name);
  if (share) {
    write_formula (b->cash, row, 2, REP_STYLE_PERCENT, part->price->v, price);
    write_formula (b->cash, row, 3, REP_STYLE_MONEY, part->usd / part->price->v, base_of (part->kind, first, row));
  } else {
    rep_sheet_number (b->cash, row, 2, REP_STYLE_COUNT, part->count);
    write_formula (b->cash, row, 3, REP_STYLE_MONEY, part->usd, price);
  }
  write_formula (b->cash, row, 4, REP_STYLE_MONEY, part->count * part->usd, g_strdup_printf ("C%u*D%u", row + 1, row + 1));
}

/* The parts of a cluster option, listed when they are first wanted; NULL: it has no price. Borrowed until the next one. */
static const Block *
block_of (Book *b, guint number)
{
  for (guint i = 0; i < b->blocks->len; i++)
    if (g_array_index (b->blocks, Block, i).machine == number)
      return &g_array_index (b->blocks, Block, i);
  const PlnMachine *machine = &g_array_index (pln_machines (b->plan), PlnMachine, number);
  if (machine->parts == NULL || machine->parts->len == 0)
    return NULL;
  static const char *const heads[] = { "part of", "what", "quantity", "price (USD)", "total (USD)" };
  g_autofree char *name = rep_plan_machine (b->plan, number);
  rep_sheet_text (b->cash, b->cash_row, 0, REP_STYLE_TITLE, name);
  for (guint i = 0; i < G_N_ELEMENTS (heads); i++)
    rep_sheet_text (b->cash, b->cash_row + 1, i, REP_STYLE_HEAD, base_currency_word (heads[i]));
  Block block = { number, b->cash_row + 2, b->cash_row + 1 + machine->parts->len };
  for (guint i = 0; i < machine->parts->len; i++)
    write_part (b, &g_array_index (machine->parts, PlnPart, i), block.first, block.first + i);
  rep_sheet_text (b->cash, block.last + 1, 0, REP_STYLE_TOTAL, "cash to buy");
  write_formula (b->cash, block.last + 1, 4, REP_STYLE_TOTAL, machine->capital_usd,
                 g_strdup_printf ("SUM(E%u:E%u)", block.first + 1, block.last + 1));
  b->cash_row = block.last + 4;
  g_array_append_val (b->blocks, block);
  return &g_array_index (b->blocks, Block, b->blocks->len - 1);
}

/* The cell of what it costs to buy. Returned: full. */
static char *
capital_of (const Block *block)
{
  return g_strdup_printf ("Cash!$E$%u", block->last + 2);
}

/* ---- the cost of a run ---- */

/* An option's column. */
typedef struct {
  Book *b;
  const PlnChoiceRow *row;
  const PlnMachine *machine;
  guint column;
  const char *letter;
} Option;

static void
write_run (const Option *o, guint row, double value, RepStyle style, char *formula)
{
  write_formula (o->b->run, row, o->column, style, value, formula);
}

/* What it loses in value, by kind of part. */
static void
write_loss (const Option *o, const Block *block, const MdlMoney *money, const char *residual, double share)
{
  const double left = 1 - o->machine->own.residual;
  for (int k = 0; k < PLN_BUY_N; k++)
    write_run (o, R_LOSS + (guint)k, o->machine->buy_usd[k] * left * share, REP_STYLE_MONEY,
               g_strdup_printf ("SUMIF(Cash!$A$%u:$A$%u,\"%s\",Cash!$E$%u:$E$%u)*(1-%s)*%s%u", block->first + 1, block->last + 1,
                                kind_name ((PlnBuy)k), block->first + 1, block->last + 1, residual, o->letter, R_SHARE + 1));
  write_run (o, R_LOSS_ALL, money->capital_usd, REP_STYLE_TOTAL,
             g_strdup_printf ("SUM(%s%u:%s%u)", o->letter, R_LOSS + 1, o->letter, R_LOSS_ALL));
}

/* Formulas of models/cost/money.c; times in days. */
static void
write_own (const Option *o, const MdlMoney *money)
{
  static const PlnPricesSpec none;
  const PlnPricesSpec *p = pln_prices (o->b->plan) != NULL ? pln_prices (o->b->plan) : &none;
  const BaseNum *power = p != &none ? &p->electricity : &clu_spec (scn_cluster (o->machine->scenario))->cost.power;
  const Block *block = block_of (o->b, o->row->machine);
  const MdlMoneyQuery *query = &o->machine->own;
  const double stands_s = o->row->run_s / query->utilisation;
  const double share = p->amortisation.set ? fmin (stands_s / p->amortisation.v, 1) : 1;
  g_autofree char *capital = capital_of (block), *residual = cell_of (o->b, &p->residual, BASE_DIM_RATIO, "value that is left"),
                  *interest = cell_of (o->b, &p->interest, BASE_DIM_RATIO, "interest a year"),
                  *lead = cell_of (o->b, &p->lead_time, BASE_DIM_TIME, "time of delivery"),
                  *support = cell_of (o->b, &p->support, BASE_DIM_RATIO, "support a year"),
                  *space = cell_of (o->b, &p->colocation, BASE_DIM_MONEY_PER_TIME, "space for a kW"),
                  *staff = cell_of (o->b, &p->staff, BASE_DIM_MONEY_PER_TIME, "operation of a rack"),
                  *energy = cell_of (o->b, power, BASE_DIM_MONEY_PER_ENERGY, "electricity");
  g_autofree char *use = p != &none ? cell_of (o->b, &p->utilisation, BASE_DIM_RATIO, "utilisation of what is bought")
                                    : g_strdup ("1"),
                  *pue = p != &none ? cell_of (o->b, &p->pue, BASE_DIM_NUMBER, "PUE of the building") : g_strdup ("1"),
                  *life = p->amortisation.set ? cell_of (o->b, &p->amortisation, BASE_DIM_TIME, "amortisation period") : NULL;
  const char *c = o->letter;
  write_run (o, R_STANDS, stands_s / DAY_S, REP_STYLE_NUMBER, g_strdup_printf ("%s%u/%s", c, R_DAYS + 1, use));
  write_run (o, R_SHARE, share, REP_STYLE_PERCENT,
             life != NULL ? g_strdup_printf ("MIN(1,%s%u/%s)", c, R_STANDS + 1, life) : g_strdup ("1"));
  write_loss (o, block, money, residual, share);
  write_run (
      o, R_INTEREST, money->interest_usd, REP_STYLE_MONEY,
      g_strdup_printf ("%s/365*%s*((1+%s)/2*%s%u+%s*%s%u)", interest, capital, residual, c, R_STANDS + 1, lead, c, R_SHARE + 1));
  write_run (o, R_SUPPORT, money->support_usd, REP_STYLE_MONEY,
             g_strdup_printf ("%s/365*%s*%s%u", support, capital, c, R_STANDS + 1));
  write_run (o, R_COLOCATION, money->colocation_usd, REP_STYLE_MONEY,
             g_strdup_printf ("%s/30*Assumptions!%s%u*%s%u", space, c, A_LOAD + 1, c, R_STANDS + 1));
  write_run (o, R_STAFF, money->staff_usd, REP_STYLE_MONEY,
             g_strdup_printf ("%s/30*Assumptions!%s%u*%s%u", staff, c, A_RACKS + 1, c, R_STANDS + 1));
  write_run (o, R_ENERGY, money->energy_usd, REP_STYLE_MONEY,
             g_strdup_printf ("%s*%s*Assumptions!%s%u*24*%s%u", energy, pue, c, A_MEAN + 1, c, R_DAYS + 1));
  write_run (o, R_OWN, money->total_usd, REP_STYLE_TOTAL, g_strdup_printf ("SUM(%s%u:%s%u)", c, R_LOSS_ALL + 1, c, R_OWN));
}

static void
write_rent (const Option *o, const MdlMoney *money)
{
  const PlnMachine *m = o->machine;
  const double storage_usd = m->storage_rent_usd_per_s * o->row->run_s;
  g_autofree char *rent = cell_of (o->b, m->node_rent, BASE_DIM_MONEY_PER_TIME, "rent of one node");
  write_run (o, R_RENT_NODES, money->rent_usd - storage_usd, REP_STYLE_MONEY,
             g_strdup_printf ("%s*Assumptions!%s%u*24*%s%u", rent, o->letter, A_NODES + 1, o->letter, R_DAYS + 1));
  if (m->storage_rent != NULL) {
    g_autofree char *tb = cell_of (o->b, m->storage_rent, BASE_DIM_MONEY_PER_TIME, "rent of a TB");
    write_run (o, R_RENT_STORAGE, storage_usd, REP_STYLE_MONEY,
               g_strdup_printf ("%s/30*Assumptions!%s%u*%s%u", tb, o->letter, A_STORAGE + 1, o->letter, R_DAYS + 1));
  }
  write_run (o, R_RENT, money->total_usd, REP_STYLE_TOTAL,
             g_strdup_printf ("SUM(%s%u:%s%u)", o->letter, R_RENT_NODES + 1, o->letter, R_RENT));
}

/* What the simulation says of the option, in "Assumptions". */
static void
write_assumed (const Option *o)
{
  const PlnPricesSpec *p = pln_prices (o->b->plan);
  const PlnMachine *m = o->machine;
  const double tokens = pln_tokens (o->b->plan);
  const gboolean space = p != NULL && p->colocation.v > 0, rented = m->node_rent != NULL && m->node_rent->v > 0;
  const struct {
    guint row;
    double value;
  } values[] = { { A_DAYS, o->row->run_s / DAY_S },
                 { A_MEAN, o->row->power_W / m->own.pue * 1e-3 },
                 { A_LOAD, space ? m->own.colocation_usd_per_s / p->colocation.v : (double)NAN },
                 { A_RACKS, m->racks },
                 { A_NODES, rented ? (m->rent_usd_per_s - m->storage_rent_usd_per_s) / m->node_rent->v : (double)NAN },
                 { A_STORAGE, m->storage_rent != NULL ? m->storage_B * 1e-12 : (double)NAN },
                 { A_TOKENS, tokens > 0 ? tokens * 1e-6 : (double)NAN } };
  for (guint i = 0; i < G_N_ELEMENTS (values); i++) {
    RepSheetCell *cell = rep_sheet_number (o->b->assumptions, values[i].row, o->column, REP_STYLE_NUMBER, values[i].value);
    if (cell != NULL)
      cell->input = TRUE;
  }
}

static void
write_option (Book *b, guint at)
{
  const guint number = b->what->shown[at], column = FIRST + at;
  const char *layout = b->what->layouts[at];
  const PlnChoiceRow *row = &g_array_index (b->result->rows, PlnChoiceRow, number);
  g_autofree char *place = rep_sheet_place (0, column, FALSE), *rank = g_strdup_printf ("#%u", number + 1),
                  *machine = rep_plan_machine (b->plan, row->machine);
  place[strlen (place) - 1] = '\0'; /* the letter without its row */
  const Option o = { b, row, &g_array_index (pln_machines (b->plan), PlnMachine, row->machine), column, place };
  MdlMoney own, rent;
  const gboolean bought = pln_money (b->plan, row, PLN_ACQUISITION_BUY, &own),
                 rented = pln_money (b->plan, row, PLN_ACQUISITION_RENT, &rent);
  RepSheet *const both[] = { b->assumptions, b->run };
  for (guint i = 0; i < G_N_ELEMENTS (both); i++) {
    rep_sheet_text (both[i], A_OPTION - 1, column, REP_STYLE_HEAD, rank);
    rep_sheet_text (both[i], A_OPTION, column, REP_STYLE_PROSE, machine);
    rep_sheet_text (both[i], A_LAYOUT, column, REP_STYLE_PROSE, layout);
  }
  write_assumed (&o);
  if (!(pln_tokens (b->plan) > 0))
    return;
  write_run (&o, R_DAYS, row->run_s / DAY_S, REP_STYLE_NUMBER, g_strdup_printf ("Assumptions!%s%u", place, A_DAYS + 1));
  if (bought)
    write_own (&o, &own);
  if (rented)
    write_rent (&o, &rent);
}

/* ---- the other sheets ---- */

typedef struct {
  guint row;
  const char *text, *unit;
} Label;

static void
write_labels (RepSheet *sheet, const Label *labels, guint n)
{
  for (guint i = 0; i < n; i++) {
    rep_sheet_text (sheet, labels[i].row, 0, REP_STYLE_TEXT, labels[i].text);
    rep_sheet_text (sheet, labels[i].row, 1, REP_STYLE_TEXT, base_currency_word (labels[i].unit));
  }
}

static void
write_titles (Book *b)
{
  static const char *const heads[] = { "what", "value", "unit", "source", "date of the list", "error: 90 % are within", "from" };
  static const Label assumed[] = {
    { A_OPTION, "cluster option", NULL },
    { A_LAYOUT, "parallel layout", NULL },
    { A_DAYS, "time of the run", "days" },
    { A_MEAN, "mean power without the building", "kW" },
    { A_LOAD, "power at load, which space is paid for", "kW" },
    { A_RACKS, "racks", NULL },
    { A_NODES, "nodes that are rented", NULL },
    { A_STORAGE, "storage that is rented", "TB" },
    { A_TOKENS, "tokens of the run", "million" },
  };
  static const Label run[] = {
    { R_OPTION, "cluster option", NULL },      { R_LAYOUT, "parallel layout", NULL },
    { R_DAYS, "time of the run", "days" },     { R_STANDS, "time that the run pays for", "days" },
    { R_SHARE, "fraction of the life", NULL }, { R_LOSS_ALL, "loss of value", "USD" },
    { R_INTEREST, "interest", "USD" },         { R_SUPPORT, "support", "USD" },
    { R_COLOCATION, "colocation", "USD" },     { R_STAFF, "staff", "USD" },
    { R_ENERGY, "energy, with PUE", "USD" },   { R_OWN, "run cost, owned", "USD" },
    { R_RENT_NODES, "rent of nodes", "USD" },  { R_RENT_STORAGE, "rent of storage", "USD" },
    { R_RENT, "run cost, rented", "USD" },
  };
  rep_sheet_text (b->cash, 0, 0, REP_STYLE_TITLE, "Cash to buy, by part");
  g_autofree char *title = g_strdup_printf ("Cost of %s, owned and rented", b->what->period);
  rep_sheet_text (b->run, 0, 0, REP_STYLE_TITLE, title);
  if (pln_basis (b->plan) == PLN_ACQUISITION_NONE)
    rep_sheet_text (b->run, 1, 0, REP_STYLE_TEXT, "No price is known: the plan names no prices, or none of these options.");
  else if (!(pln_tokens (b->plan) > 0))
    rep_sheet_text (b->run, 1, 0, REP_STYLE_TEXT, "The plan names no tokens, so there is no run to price.");
  rep_sheet_text (b->prices, 0, 0, REP_STYLE_TITLE, "Prices");
  rep_sheet_text (b->prices, 1, 0, REP_STYLE_TEXT,
                  "Change a yellow cell, and all totals of this workbook follow. The order of options does not.");
  rep_sheet_text (b->assumptions, 0, 0, REP_STYLE_TITLE, "Assumptions");
  rep_sheet_text (b->assumptions, 1, 0, REP_STYLE_TEXT,
                  "Times and power are of the simulation; the number is the row of the sheet Layouts.");
  for (guint i = 0; i < G_N_ELEMENTS (heads); i++) {
    rep_sheet_text (b->prices, PRICES - 1, i, REP_STYLE_HEAD, heads[i]);
    rep_sheet_text (b->assumptions, A_HEAD, i, REP_STYLE_HEAD, heads[i]);
  }
  write_labels (b->assumptions, assumed, G_N_ELEMENTS (assumed));
  write_labels (b->run, run, G_N_ELEMENTS (run));
  for (int k = 0; k < PLN_BUY_N; k++) {
    g_autofree char *text = g_strdup_printf ("loss of value: %s", kind_name ((PlnBuy)k));
    rep_sheet_text (b->run, R_LOSS + (guint)k, 0, REP_STYLE_TEXT, text);
    rep_sheet_text (b->run, R_LOSS + (guint)k, 1, REP_STYLE_TEXT, base_currency_code ());
  }
}

/* Prices of the list that no total depends on. */
static void
write_other_prices (Book *b)
{
  guint row = PRICES + 2;
  for (guint i = 0; i < b->figures->len; i++)
    row += g_array_index (b->figures, Figure, i).is_price ? 1 : 0;
  const guint head = row - 1;
  for (guint i = 0; i < b->items->len; i++) {
    const RepPriceItem *item = &g_array_index (b->items, RepPriceItem, i);
    if (base_currency_is_money (item->dim) && find_figure (b, item->num) == NULL)
      write_figure (b, item->num, item->dim, item->what, row++);
  }
  if (row > head + 1)
    rep_sheet_text (b->prices, head, 0, REP_STYLE_HEAD, "Other prices of the list, on which no total here depends");
}

/* A cell of the table as a formula, where the workbook computes it: of the option of this column. Returned: full; NULL: it does
 * not. */
static char *
formula_of (Book *b, const char *key, guint column)
{
  static const struct {
    const char *key;
    guint row;
  } of_run[] = { { "run_cost_own_usd", R_OWN },
                 { "run_cost_rent_usd", R_RENT },
                 { "capital_usd", R_LOSS_ALL },
                 { "rent_usd", R_RENT },
                 { "usd_per_token", 0 } };
  const PlnChoiceRow *row = &g_array_index (b->result->rows, PlnChoiceRow, b->what->shown[column - FIRST]);
  if (strcmp (key, "capex_usd") == 0)
    return capital_of (block_of (b, row->machine));
  for (guint i = 0; i < G_N_ELEMENTS (of_run); i++) {
    if (strcmp (key, of_run[i].key) != 0)
      continue;
    const guint own = row->way == PLN_ACQUISITION_BUY ? R_OWN : R_RENT;
    g_autofree char *place = rep_sheet_place (of_run[i].row > 0 ? of_run[i].row : own, column, FALSE),
                    *tokens = rep_sheet_place (A_TOKENS, column, FALSE);
    return of_run[i].row > 0 ? g_strconcat ("'Run cost'!", place, NULL)
                             : g_strdup_printf ("'Run cost'!%s/Assumptions!%s", place, tokens);
  }
  return NULL;
}

/* What an SI value of a column without a unit of its own is multiplied by, and the unit; NULL: none. */
static const char *
column_unit (const BaseColumn *column, double *scale)
{
  const BaseDim dim = base_dim_of_key (column->key);
  *scale = column->scale > 0 ? column->scale : 1;
  if (column->scale > 0)
    return NULL;
  *scale = dim == BASE_DIM_BYTES ? 1.0 / 1073741824 : dim == BASE_DIM_ENERGY ? 1 / 3.6e9 : dim == BASE_DIM_POWER ? 1e-3 : 1;
  const char *unit = base_dim_unit (dim);
  return dim == BASE_DIM_BYTES    ? "GiB"
         : dim == BASE_DIM_ENERGY ? "MWh"
         : dim == BASE_DIM_POWER  ? "kW"
         : *unit == '\0'          ? NULL
                                  : unit;
}

static void
write_cell (Book *b, const BaseColumn *column, const BaseCell *cell, guint row, guint at)
{
  double scale;
  (void)column_unit (column, &scale);
  char *formula = cell->known ? formula_of (b, column->key, FIRST + row) : NULL;
  if (formula != NULL)
    write_formula (b->layouts, row + 1, at, REP_STYLE_MONEY, cell->number * scale, formula);
  else if (cell->known && cell->kind == BASE_CELL_TEXT)
    rep_sheet_text (b->layouts, row + 1, at, REP_STYLE_TEXT, cell->text);
  else if (cell->known)
    rep_sheet_number (b->layouts, row + 1, at, cell->kind == BASE_CELL_INTEGER ? REP_STYLE_COUNT : REP_STYLE_NUMBER,
                      (base_table_is_money (column) ? base_currency_of (cell->number) : cell->number) * scale);
}

/* The columns of the text. */
static void
write_table (Book *b, const BaseTable *table)
{
  guint at = 0;
  for (guint c = 0; c < base_table_n_columns (table); c++) {
    const BaseColumn *column = base_table_column (table, c);
    double scale;
    const char *unit = column_unit (column, &scale);
    if (column->title == NULL)
      continue;
    g_autofree char *head = unit != NULL ? g_strdup_printf ("%s (%s)", column->title, unit) : g_strdup (column->title);
    rep_sheet_text (b->layouts, 0, at, REP_STYLE_HEAD, base_table_is_money (column) ? base_currency_word (head) : head);
    for (guint r = 0; r < base_table_n_rows (table); r++) {
      const BaseCell cell = base_table_cell (table, r, c);
      write_cell (b, column, &cell, r, at);
    }
    at++;
  }
  b->layouts->n_head = 1;
}

/* The rows of the table, each with its column in the sheets of costs. */
static void
write_options (Book *b)
{
  for (guint i = 0; i < b->what->n_shown; i++)
    write_option (b, i);
  write_table (b, b->what->table);
  b->run->n_head = b->assumptions->n_head = A_OPTION;
}

/* The sentences; what the recommended option costs at the prices of the workbook; and the context. */
static void
write_answer (Book *b)
{
  g_auto (GStrv) lines = g_strsplit (b->what->header, "\n", -1);
  g_autofree char *own = g_strdup_printf ("cost of %s, owned", b->what->period),
                  *rent = g_strdup_printf ("cost of %s, rented", b->what->period);
  guint row = 3;
  rep_sheet_text (b->answer, 0, 0, REP_STYLE_TITLE, b->what->title);
  rep_sheet_text (b->answer, 1, 0, REP_STYLE_PROSE, b->what->description);
  rep_sheet_text (b->answer, row, 0, REP_STYLE_PROSE, b->what->infeasible);
  for (const char *const *line = b->what->said; *line != NULL; line++)
    rep_sheet_text (b->answer, row++, 0, REP_STYLE_PROSE, *line);
  const char *const totals[][2] = { { "capex_usd", "cash to buy" }, { "run_cost_own_usd", own }, { "run_cost_rent_usd", rent } };
  if (b->what->n_shown > 0 && pln_basis (b->plan) != PLN_ACQUISITION_NONE)
    rep_sheet_text (b->answer, ++row, 0, REP_STYLE_HEAD,
                    base_currency_word ("The recommended option at the prices of this workbook (USD); the sentences keep theirs"));
  for (guint i = 0; i < G_N_ELEMENTS (totals); i++)
    if (isfinite (b->totals[i])) {
      rep_sheet_text (b->answer, ++row, 0, REP_STYLE_TEXT, totals[i][1]);
      write_formula (b->answer, row, 1, REP_STYLE_MONEY, b->totals[i], formula_of (b, totals[i][0], FIRST));
    }
  row += 2;
  for (char **line = lines; *line != NULL; line++)
    rep_sheet_text (b->answer, row++, 0, REP_STYLE_PROSE, *line + strspn (*line, "# "));
}

static void
book_begin (Book *b, GPtrArray *sheets)
{
  static const double answer[] = { 110, 18, 0 }, layouts[] = { 6, 34, 24, 10, 10, 10, 10, 12, 10, 14, 12, 14, 14, 14, 14, 0 },
                      cash[] = { 14, 30, 12, 16, 18, 0 }, run[] = { 30, 8, 20, 20, 20, 20, 20, 20, 20, 20, 20, 20, 0 },
                      prices[] = { 38, 16, 20, 12, 16, 14, 90, 0 },
                      assumptions[] = { 38, 12, 20, 20, 20, 20, 20, 20, 20, 20, 20, 20, 0 };
  b->answer = rep_sheets_add (sheets, "Answer", answer);
  b->layouts = rep_sheets_add (sheets, "Layouts", layouts);
  b->cash = rep_sheets_add (sheets, "Cash", cash);
  b->run = rep_sheets_add (sheets, "Run cost", run);
  b->prices = rep_sheets_add (sheets, "Prices", prices);
  b->assumptions = rep_sheets_add (sheets, "Assumptions", assumptions);
  b->items = rep_plan_price_items (b->plan, FALSE);
  b->figures = g_array_new (FALSE, FALSE, sizeof (Figure));
  b->blocks = g_array_new (FALSE, FALSE, sizeof (Block));
  b->cash_row = 2;
}

GString *
rep_money_workbook (const Pln *plan, const PlnResult *result, const RepWorkbook *what, GError **error)
{
  g_autoptr (GPtrArray) sheets = rep_sheets_new ();
  Book b = { .plan = plan, .result = result, .what = what };
  book_begin (&b, sheets);
  for (guint i = 0; i < G_N_ELEMENTS (b.totals); i++)
    b.totals[i] = (double)NAN;
  if (result->rows->len > 0) {
    const PlnChoiceRow *first = &g_array_index (result->rows, PlnChoiceRow, 0);
    b.totals[0] = rep_plan_capex_usd (plan, &g_array_index (pln_machines (plan), PlnMachine, first->machine));
    b.totals[1] = rep_plan_run_usd (plan, first, PLN_ACQUISITION_BUY);
    b.totals[2] = rep_plan_run_usd (plan, first, PLN_ACQUISITION_RENT);
  }
  write_titles (&b);
  write_options (&b);
  write_other_prices (&b);
  write_answer (&b);
  GString *bytes = rep_sheets_xlsx (sheets, what->title, error);
  g_array_unref (b.items);
  g_array_unref (b.figures);
  g_array_unref (b.blocks);
  return bytes;
}

GString *
rep_plan_workbook (const Pln *plan, const PlnResult *result, guint most, const char *header, GError **error)
{
  g_autofree char *title = g_strdup_printf ("Plan %s, model %s", pln_name (plan), pln_model (plan));
  g_autofree char *infeasible = rep_plan_infeasible (result);
  g_auto (GStrv) said = rep_plan_verdict (plan, result);
  g_autoptr (BaseTable) table = rep_plan_shown (plan, result, MIN (most, MOST));
  g_autoptr (GArray) shown = g_array_new (FALSE, FALSE, sizeof (guint));
  g_autoptr (GPtrArray) layouts = g_ptr_array_new_with_free_func (g_free);
  for (guint c = 0; c < base_table_n_columns (table); c++)
    for (guint r = 0; strcmp (base_table_column (table, c)->key, "rank") == 0 && r < base_table_n_rows (table); r++) {
      const guint number = (guint)base_table_cell (table, r, c).integer - 1;
      g_array_append_val (shown, number);
      g_ptr_array_add (layouts, rep_plan_layout (&g_array_index (result->rows, PlnChoiceRow, number).query, FALSE));
    }
  const RepWorkbook what = { .title = title,
                             .description = pln_description (plan),
                             .infeasible = infeasible,
                             .said = (const char *const *)said,
                             .header = header,
                             .period = "this run",
                             .table = table,
                             .shown = (const guint *)(const void *)shown->data,
                             .layouts = (const char *const *)layouts->pdata,
                             .n_shown = shown->len };
  return rep_money_workbook (plan, result, &what, error);
}
