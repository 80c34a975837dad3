#include "probe_layout.h"

#include "probe_fail.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- who is where ---- */

/* node_of[r]: the number of r's node; count[k]: processes of node k. Returns how many nodes. */
static unsigned
number_nodes (const char *const *node, unsigned n_ranks, unsigned *node_of, unsigned *count, unsigned *first)
{
  unsigned n = 0;
  for (unsigned r = 0; r < n_ranks; r++) {
    unsigned k = 0;
    while (k < n && strcmp (node[first[k]], node[r]) != 0)
      k++;
    if (k == n) {
      first[n] = r;
      count[n++] = 0;
    }
    node_of[r] = k;
    count[k]++;
  }
  return n;
}

static bool
choose_shape (ProbeLayout *out, const unsigned *count, unsigned found, unsigned nodes, unsigned gpus)
{
  if (nodes > found)
    return probe_fail ("--nodes %u: the processes are on %u", nodes, found);
  out->nodes = nodes > 0 ? nodes : found;
  out->gpus = out->most = count[0];
  for (unsigned k = 0; k < out->nodes; k++) {
    out->gpus = count[k] < out->gpus ? count[k] : out->gpus;
    out->most = count[k] > out->most ? count[k] : out->most;
  }
  if (gpus > out->gpus)
    return probe_fail ("--gpus %u: a node has %u process%s", gpus, out->gpus, out->gpus == 1 ? "" : "es");
  if (gpus > 0)
    out->gpus = gpus;
  if (out->nodes > PROBE_NODES_MOST || out->gpus > PROBE_GPUS_MOST)
    return probe_fail ("%u nodes of %u GPUs; at most %d of %d are accepted, --nodes and --gpus take fewer", out->nodes, out->gpus,
                       PROBE_NODES_MOST, PROBE_GPUS_MOST);
  return true;
}

bool
probe_layout_make (const char *const *node, unsigned n_ranks, unsigned nodes, unsigned gpus, ProbeLayout *out)
{
  *out = (ProbeLayout){ .n_ranks = n_ranks };
  if (n_ranks == 0)
    return probe_fail ("no process");
  unsigned *numbers = calloc ((size_t)n_ranks * 3, sizeof *numbers);
  if (numbers == NULL)
    return probe_fail ("out of memory");
  unsigned *node_of = numbers, *count = numbers + n_ranks, *first = count + n_ranks;
  unsigned found = number_nodes (node, n_ranks, node_of, count, first);
  bool ok = choose_shape (out, count, found, nodes, gpus);
  if (ok) {
    out->rank = calloc ((size_t)out->nodes * out->gpus, sizeof *out->rank);
    ok = out->rank != NULL || probe_fail ("out of memory");
  }
  if (ok) {
    out->spare = n_ranks - out->nodes * out->gpus;
    memset (count, 0, n_ranks * sizeof *count);
    for (unsigned r = 0; r < n_ranks; r++) {
      unsigned k = node_of[r], gpu = count[k]++;
      if (k < out->nodes && gpu < out->gpus)
        out->rank[k * out->gpus + gpu] = r;
    }
  }
  free (numbers);
  return ok;
}

void
probe_layout_clear (ProbeLayout *layout)
{
  free (layout->rank);
  *layout = (ProbeLayout){ 0 };
}

unsigned
probe_layout_rank (const ProbeLayout *layout, unsigned gpus, unsigned i)
{
  return layout->rank[i / gpus * layout->gpus + i % gpus];
}

/* ---- answers ---- */

static const char *const said_names[PROBE_REPLY_N] = { "line", "killed", "nothing", "silent", "ended" };

bool
probe_answer_write (const ProbeAnswer *answer, char *out, size_t size)
{
  bool has_text = answer->said == PROBE_REPLY_LINE || answer->text[0] != '\0';
  int n = snprintf (out, size, "%s%s%s", said_names[answer->said], has_text ? " " : "", has_text ? answer->text : "");
  return n > 0 && (size_t)n < size;
}

bool
probe_answer_parse (const char *text, ProbeAnswer *out)
{
  for (unsigned said = 0; said < PROBE_REPLY_N; said++) {
    size_t n = strlen (said_names[said]);
    if (strncmp (text, said_names[said], n) != 0 || (text[n] != ' ' && (text[n] != '\0' || said == PROBE_REPLY_LINE)))
      continue;
    out->said = (ProbeReply)said;
    out->order = 0;
    return snprintf (out->text, sizeof out->text, "%s", text[n] == ' ' ? text + n + 1 : "") < (int)sizeof out->text;
  }
  return false;
}

static bool
begins (const ProbeAnswer *answer, const char *with)
{
  return answer->said == PROBE_REPLY_LINE && strncmp (answer->text, with, strlen (with)) == 0;
}

/* The first that begins so; n: none. */
static unsigned
find_line (const ProbeAnswer *answer, unsigned n, const char *with)
{
  unsigned i = 0;
  while (i < n && !begins (&answer[i], with))
    i++;
  return i;
}

/* A reason that names its rank already is not given another. */
static void
give (ProbeAnswer *out, ProbeReply said, const char *before, unsigned rank, const char *reason)
{
  bool named = strstr (reason, "rank ") != NULL;
  out->said = said;
  if (named)
    snprintf (out->text, sizeof out->text, "%s%.1900s", before, reason);
  else
    snprintf (out->text, sizeof out->text, "%srank %u: %.1900s", before, rank, reason);
}

/* From no failure to its cause. What NCCL says of a peer that is gone (NVIDIA/nccl src/init.cc:ncclGetErrorString of
 * ncclRemoteError) is what the peer's own failure looks like from elsewhere. */
enum { GRAVE_NOT, GRAVE_KILLED, GRAVE_ANOTHER, GRAVE_NOTHING, GRAVE_SILENT, GRAVE_ENDED, GRAVE_FATAL };
#define BLAMES_ANOTHER "remote process exited"

static unsigned
gravity (const ProbeAnswer *answer)
{
  static const unsigned said[PROBE_REPLY_N] = { [PROBE_REPLY_KILLED] = GRAVE_KILLED,
                                                [PROBE_REPLY_NOTHING] = GRAVE_NOTHING,
                                                [PROBE_REPLY_SILENT] = GRAVE_SILENT,
                                                [PROBE_REPLY_ENDED] = GRAVE_ENDED };
  if (answer->said != PROBE_REPLY_LINE)
    return said[answer->said];
  if (!begins (answer, "fatal "))
    return GRAVE_NOT;
  return strstr (answer->text, BLAMES_ANOTHER) != NULL ? GRAVE_ANOTHER : GRAVE_FATAL;
}

/* The rank whose failure is that of all. */
static unsigned
find_cause (const ProbeAnswer *answer, unsigned n)
{
  unsigned cause = 0;
  for (unsigned i = 1; i < n; i++) {
    unsigned grave = gravity (&answer[i]), most = gravity (&answer[cause]);
    if (grave > most || (grave == most && answer[i].order < answer[cause].order))
      cause = i;
  }
  return cause;
}

/* Who waits for one that hangs is silent too, or says that who was killed first is gone: which one hangs is not known. */
static void
give_silence (ProbeAnswer *out, unsigned rank, const char *how_long, unsigned others)
{
  char who[64] = "hangs", reason[PROBE_ANSWER_MOST + 128];
  if (others > 0)
    snprintf (who, sizeof who, "rank %u and %u other%s hang", rank, others, others == 1 ? "" : "s");
  snprintf (reason, sizeof reason, "%s: nothing came back %s, and %s killed", who, how_long,
            others == 0 ? "its worker was" : "their workers were");
  give (out, PROBE_REPLY_SILENT, "", rank, reason);
}

/* `others` failed as well. */
static void
give_failure (ProbeAnswer *out, unsigned rank, const ProbeAnswer *answer, unsigned others)
{
  char reason[PROBE_ANSWER_MOST + 64];
  switch (answer->said) {
    case PROBE_REPLY_LINE:
      give (out, PROBE_REPLY_ENDED, "", rank, answer->text + strlen ("fatal "));
      return;
    case PROBE_REPLY_KILLED:
      snprintf (reason, sizeof reason, "its worker took too long and was killed");
      break;
    case PROBE_REPLY_NOTHING:
      snprintf (reason, sizeof reason, "the process did not answer");
      break;
    case PROBE_REPLY_SILENT:
      give_silence (out, rank, answer->text, others);
      return;
    default:
      snprintf (reason, sizeof reason, "its worker ended%s%s", answer->text[0] != '\0' ? " " : "", answer->text);
  }
  give (out, answer->said, "", rank, reason);
}

void
probe_answers_merge (const ProbeAnswer *answer, unsigned n, ProbeAnswer *out)
{
  unsigned cause = find_cause (answer, n), failed = 0, error, first = 0, other = 0;
  if (n == 0) {
    give (out, PROBE_REPLY_NOTHING, "", 0, "nobody was asked");
    return;
  }
  for (unsigned i = 0; i < n; i++)
    failed += gravity (&answer[i]) != GRAVE_NOT;
  if (failed > 0) {
    give_failure (out, cause, &answer[cause], failed - 1);
    return;
  }
  error = find_line (answer, n, "error ");
  for (unsigned i = 0; i < n && error < n; i++) /* "wrong data on rank 3" tells less than what rank 3 says itself */
    if (begins (&answer[i], "error wrong data: "))
      error = i;
  if (error < n) {
    give (out, PROBE_REPLY_LINE, "error ", error, answer[error].text + strlen ("error "));
    return;
  }
  while (first < n - 1 && strcmp (answer[first].text, "ran") == 0)
    first++;
  while (other < n && (strcmp (answer[other].text, "ran") == 0 || strcmp (answer[other].text, answer[first].text) == 0))
    other++;
  if (other < n)
    give (out, PROBE_REPLY_ENDED, "", other, "its worker's numbers are not those of the others");
  else
    *out = answer[first];
}
