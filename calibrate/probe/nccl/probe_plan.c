/* Log lines: NVIDIA/nccl src/enqueue.cc:scheduleCollTasksToPlan (5067397c) with names; src/enqueue.cc:getAlgoInfo of 2.19 to 2.21
 * with numbers, which count as src/include/nccl_common.h has them. */
#include "probe_plan.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ELEMENT_B         4 /* fp32 */
#define ALIGNED           4 /* elements of 16 bytes: nccl-tests' parts are whole ones */
#define SMALLEST_EXPONENT 10
#define LARGEST_EXPONENT  30
#define CHANNELS_MOST     64
#define HEX_LENGTH        (2 * PROBE_ID_BYTES)

static const char *const op_names[PROBE_OP_N] = { "all_reduce", "all_gather", "reduce_scatter", "broadcast",
                                                  "reduce",     "alltoall",   "sendrecv" };
static const char *const launch_names[PROBE_LAUNCH_N] = { "graph", "threads", "serial" };

const char *
probe_op_name (unsigned op)
{
  return op < PROBE_OP_N ? op_names[op] : NULL;
}

const char *
probe_launch_name (unsigned launch)
{
  return launch < PROBE_LAUNCH_N ? launch_names[launch] : NULL;
}

unsigned
probe_request_ranks (const ProbeRequest *request)
{
  return request->nodes * request->gpus;
}

static bool
is_divided (ProbeOp op)
{
  return op == PROBE_OP_ALL_GATHER || op == PROBE_OP_REDUCE_SCATTER || op == PROBE_OP_ALLTOALL;
}

size_t
probe_op_count (ProbeOp op, size_t bytes, unsigned ranks)
{
  size_t count = bytes / ELEMENT_B;
  return is_divided (op) ? count / ranks / ALIGNED * ALIGNED : count;
}

size_t
probe_op_bytes (ProbeOp op, size_t bytes, unsigned ranks)
{
  return probe_op_count (op, bytes, ranks) * ELEMENT_B * (is_divided (op) ? ranks : 1);
}

size_t
probe_sizes (unsigned step, unsigned coarse, size_t out[PROBE_SIZES_MOST])
{
  size_t n = 0;
  for (unsigned pass = 0; pass < 2; pass++)
    for (unsigned e = SMALLEST_EXPONENT; e <= LARGEST_EXPONENT; e++) {
      unsigned above = e - SMALLEST_EXPONENT;
      bool is_coarse = above % coarse == 0 || e == LARGEST_EXPONENT; /* both ends always */
      if (pass == 0 ? is_coarse : above % step == 0 && !is_coarse)
        out[n++] = (size_t)1 << e;
    }
  return n;
}

size_t
probe_gpu_counts (unsigned n, unsigned out[PROBE_COUNTS_MOST])
{
  size_t count = 0;
  if (n < 2)
    return 0;
  if (n > 2)
    out[count++] = n;
  out[count++] = 2;
  for (unsigned g = 4; g < n && count < PROBE_COUNTS_MOST - 1; g *= 2)
    out[count++] = g;
  if (n >= 4)
    out[count++] = 3;
  return count;
}

static void
add_shape (ProbeShape out[PROBE_SHAPES_MOST], size_t *n, unsigned nodes, unsigned gpus)
{
  bool had = nodes * gpus < 2 || *n == PROBE_SHAPES_MOST;
  for (size_t i = 0; i < *n && !had; i++)
    had = out[i].nodes == nodes && out[i].gpus == gpus;
  if (!had)
    out[(*n)++] = (ProbeShape){ .nodes = nodes, .gpus = gpus };
}

size_t
probe_shapes (unsigned nodes, unsigned gpus, ProbeShape out[PROBE_SHAPES_MOST], size_t *n_first)
{
  size_t n = 0;
  *n_first = 0;
  if (nodes == 0 || gpus == 0 || nodes > PROBE_NODES_MOST || gpus > PROBE_GPUS_MOST)
    return 0;
  for (unsigned pass = 0; pass < 2; pass++) {
    add_shape (out, &n, nodes, pass == 0 ? gpus : 1);
    if (nodes > 1)
      add_shape (out, &n, 2, pass == 0 ? gpus : 1);
  }
  *n_first = n;
  for (unsigned at = 4; at < nodes; at *= 2) {
    add_shape (out, &n, at, gpus);
    add_shape (out, &n, at, 1);
  }
  add_shape (out, &n, 1, gpus); /* the same processes on one node: what the network adds is the difference */
  return n;
}

bool
probe_request_write (const ProbeRequest *request, char *out, size_t size)
{
  int length = snprintf (out, size, "%s %s %zu %u %u %s %d %u %.9g %.9g", request->choice ? "choice" : "case",
                         op_names[request->op], request->bytes, request->nodes, request->gpus, launch_names[request->launch],
                         request->in_place ? 1 : 0, request->channels, request->target, request->share_s);
  return length > 0 && (size_t)length < size;
}

static bool
find_name (const char *const *names, unsigned n, const char *name, unsigned *out)
{
  for (*out = 0; *out < n; ++*out)
    if (strcmp (names[*out], name) == 0)
      return true;
  return false;
}

static bool
is_accepted_shape (unsigned nodes, unsigned gpus, unsigned channels)
{
  return nodes >= 1 && nodes <= PROBE_NODES_MOST && gpus >= 1 && gpus <= PROBE_GPUS_MOST && nodes * gpus >= 2 &&
         channels <= CHANNELS_MOST;
}

bool
probe_request_read (const char *line, ProbeRequest *out)
{
  char verb[8], op[24], launch[16];
  unsigned long long bytes;
  unsigned nodes, gpus, in_place, channels, op_index, launch_index;
  double target, share_s;
  int used = 0;
  if (sscanf (line, "%7s %23s %20llu %9u %9u %15s %1u %9u %lf %lf%n", verb, op, &bytes, &nodes, &gpus, launch, &in_place, &channels,
              &target, &share_s, &used) != 10 ||
      line[used] != '\0')
    return false;
  bool choice = strcmp (verb, "choice") == 0;
  if ((!choice && strcmp (verb, "case") != 0) || !find_name (op_names, PROBE_OP_N, op, &op_index) ||
      !find_name (launch_names, PROBE_LAUNCH_N, launch, &launch_index) || bytes == 0 ||
      bytes > (unsigned long long)1 << LARGEST_EXPONENT || !is_accepted_shape (nodes, gpus, channels) || in_place > 1 ||
      !(target > 0 && target < 1) || !(share_s >= 0 && share_s < 1e6))
    return false;
  *out = (ProbeRequest){ .op = (ProbeOp)op_index,
                         .bytes = (size_t)bytes,
                         .nodes = nodes,
                         .gpus = gpus,
                         .launch = (ProbeLaunch)launch_index,
                         .in_place = in_place == 1,
                         .channels = channels,
                         .choice = choice,
                         .target = target,
                         .share_s = share_s };
  return true;
}

size_t
probe_answer_read (const char *line, unsigned *in_a_row, double *out, size_t most)
{
  size_t n = 0;
  int used = 0;
  *in_a_row = 0;
  if (strncmp (line, "ok ", 3) != 0 || !isdigit ((unsigned char)line[3]) || sscanf (line + 3, "%9u%n", in_a_row, &used) != 1 ||
      *in_a_row == 0)
    return 0;
  for (line += 3 + used; *line == ' ' && n < most;) {
    char *end = NULL;
    double value = strtod (line + 1, &end);
    if (end == line + 1 || !(value > 0 && value < 1e6))
      return 0;
    out[n++] = value;
    line = end;
  }
  return *line == '\0' ? n : 0;
}

/* Copies the word at `*at` in lower case; false where there is none that fits. */
static bool
take_word (const char **at, char *out, size_t size)
{
  size_t n = 0;
  for (; isalnum ((unsigned char)(*at)[n]) || (*at)[n] == '_'; n++) {
    if (n + 1 >= size)
      return false;
    out[n] = (char)tolower ((unsigned char)(*at)[n]);
  }
  out[n] = '\0';
  *at += n;
  return n > 0;
}

/* A number stands for the name in its place. */
static void
name_number (char *word, size_t size, const char *const *names, size_t n)
{
  if (isdigit ((unsigned char)word[0]) && word[1] == '\0' && (size_t)(word[0] - '0') < n)
    snprintf (word, size, "%s", names[word[0] - '0']);
}

bool
probe_choice_read (const char *line, ProbeChoice *out)
{
  static const char *const algorithms[] = { "tree", "ring", "collnet_direct", "collnet_chain", "nvls", "nvls_tree", "pat" };
  static const char *const protocols[] = { "ll", "ll128", "simple" };
  ProbeChoice choice = { .channels = -1 };
  const char *at = strstr (line, " Bytes -> Algo ");
  if (at == NULL)
    return false;
  at += strlen (" Bytes -> Algo ");
  if (!take_word (&at, choice.algo, sizeof choice.algo) || strncmp (at, " proto ", 7) != 0)
    return false;
  at += 7;
  if (!take_word (&at, choice.proto, sizeof choice.proto))
    return false;
  name_number (choice.algo, sizeof choice.algo, algorithms, sizeof algorithms / sizeof algorithms[0]);
  name_number (choice.proto, sizeof choice.proto, protocols, sizeof protocols / sizeof protocols[0]);
  const char *channels = strstr (at, "channel{Lo..Hi}={");
  unsigned first, last;
  if (channels != NULL && sscanf (channels, "channel{Lo..Hi}={%4u..%4u}", &first, &last) == 2 && last >= first)
    choice.channels = (int)(last - first + 1);
  *out = choice;
  return true;
}

/* ---- communicators over nodes ---- */

static void
put_hex (const unsigned char id[PROBE_ID_BYTES], char out[HEX_LENGTH + 1])
{
  for (size_t i = 0; i < PROBE_ID_BYTES; i++)
    snprintf (out + 2 * i, 3, "%02x", id[i]);
}

/* Up to the end of the line. */
static bool
take_hex (const char *text, unsigned char out[PROBE_ID_BYTES])
{
  if (strlen (text) != HEX_LENGTH)
    return false;
  for (size_t i = 0; i < PROBE_ID_BYTES; i++) {
    char pair[3] = { text[2 * i], text[2 * i + 1], '\0' };
    if (!isxdigit ((unsigned char)pair[0]) || !isxdigit ((unsigned char)pair[1]))
      return false;
    out[i] = (unsigned char)strtoul (pair, NULL, 16);
  }
  return true;
}

static bool
is_accepted (const ProbeJoin *join)
{
  return is_accepted_shape (join->nodes, join->gpus, join->channels) && join->rank < join->nodes * join->gpus;
}

bool
probe_join_write (const ProbeJoin *join, char *out, size_t size)
{
  char hex[HEX_LENGTH + 1];
  put_hex (join->id, hex);
  int n = snprintf (out, size, "join %u %u %u %u %s", join->nodes, join->gpus, join->channels, join->rank, hex);
  return n > 0 && (size_t)n < size;
}

bool
probe_join_read (const char *line, ProbeJoin *out)
{
  ProbeJoin join;
  int used = 0;
  if (strncmp (line, "join ", 5) != 0 ||
      sscanf (line + 5, "%9u %9u %9u %9u %n", &join.nodes, &join.gpus, &join.channels, &join.rank, &used) != 4 ||
      !is_accepted (&join) || !take_hex (line + 5 + used, join.id))
    return false;
  *out = join;
  return true;
}

bool
probe_drop_write (const ProbeJoin *join, char *out, size_t size)
{
  int n = snprintf (out, size, "drop %u %u %u", join->nodes, join->gpus, join->channels);
  return n > 0 && (size_t)n < size;
}

bool
probe_drop_read (const char *line, ProbeJoin *out)
{
  ProbeJoin join = { 0 };
  int used = 0;
  if (strncmp (line, "drop ", 5) != 0 || sscanf (line + 5, "%9u %9u %9u%n", &join.nodes, &join.gpus, &join.channels, &used) != 3 ||
      line[5 + used] != '\0' || !is_accepted (&join))
    return false;
  *out = join;
  return true;
}

bool
probe_id_write (const unsigned char id[PROBE_ID_BYTES], char *out, size_t size)
{
  char hex[HEX_LENGTH + 1];
  put_hex (id, hex);
  int n = snprintf (out, size, "id %s", hex);
  return n > 0 && (size_t)n < size;
}

bool
probe_id_read (const char *line, unsigned char out[PROBE_ID_BYTES])
{
  return strncmp (line, "id ", 3) == 0 && take_hex (line + 3, out);
}
