/* plan --sensitivity: the plan asked again with other constants. A search takes seconds, and there are hundreds of questions: each
 * is asked of the configurations that could come first (pln_contenders), and where another one does, of everything. */
#include "plan-private.h"
#include "plan_sensitivity-private.h"

#include <math.h>

#define CONTENDERS 6u /* of each machine, and as many that a constraint puts out */

typedef struct {
  const Cli *cli;
  const char *path;
  const GArray *contenders;
} Question;

static const PlnChoiceRow *
first_of (const GArray *leads)
{
  const PlnChoiceRow *first = NULL;
  for (guint i = 0; i < leads->len; i++) {
    const PlnChoiceRow *lead = &g_array_index (leads, PlnChoiceRow, i);
    if (!isnan (lead->formula) && (first == NULL || lead->formula < first->formula))
      first = lead;
  }
  return first;
}

static void
answer_with (const Pln *plan, const PlnChoiceRow *first, CliHangsAnswer *answer)
{
  double value = first != NULL ? first->formula : (double)NAN;
  g_array_append_val (answer->values, value);
  answer->first = first != NULL ? rep_plan_choice (plan, first) : g_strdup ("none meets the constraints");
}

/* Besides the first the least of each machine counts: a constant that moves another one may let that pass. */
static gboolean
ask_again (const void *data, gboolean whole, BaseWatch *watch, CliHangsAnswer *answer, GError **error)
{
  const Question *question = data;
  g_autoptr (Cli) own = cli_sensitivity_cli (question->cli, watch, error);
  if (own == NULL)
    return FALSE;
  g_autoptr (Pln) plan = cli_plan_read (own, question->path, error);
  if (plan == NULL)
    return FALSE;
  if (whole) {
    const PlnAsk ask = { .threads = 1 };
    g_autoptr (PlnResult) result = pln_search (plan, &ask, error);
    if (result != NULL)
      answer_with (plan, result->rows->len > 0 ? &g_array_index (result->rows, PlnChoiceRow, 0) : NULL, answer);
    return result != NULL;
  }
  g_autoptr (GArray) leads = pln_leads (plan, question->contenders, error);
  if (leads == NULL)
    return FALSE;
  answer_with (plan, first_of (leads), answer);
  for (guint i = 0; i < leads->len; i++)
    g_array_append_val (answer->values, g_array_index (leads, PlnChoiceRow, i).formula);
  return TRUE;
}

RepSensitivity *
cli_plan_sensitivity (const Cli *cli, const char *path, const Pln *plan, guint threads, CliHangs upto, GError **error)
{
  g_autoptr (GArray) contenders = pln_contenders (plan, threads, CONTENDERS, error);
  if (contenders == NULL)
    return NULL;
  const Question question = { cli, path, contenders };
  const CliHangsAsk ask = { ask_again, &question };
  return cli_sensitivity_of (cli, &ask, upto, path, error);
}
