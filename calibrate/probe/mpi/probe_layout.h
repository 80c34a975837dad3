/* Processes of several nodes: who is where, who takes part in what, what their answers say together. Pure. */
#ifndef FORERUN_PROBE_LAYOUT_H
#define FORERUN_PROBE_LAYOUT_H

#include "probe_plan.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
  unsigned nodes, gpus; /* of each node: as many as the node with the fewest processes has */
  unsigned most, spare; /* processes of the node with the most; how many processes are left over */
  unsigned *rank;       /* rank[node * gpus + gpu]: a process by its number among all; owned */
  unsigned n_ranks;     /* all processes */
} ProbeLayout;

/* `node[r]` names the node of process r. Nodes in the order of their first process, which is process 0's to begin with; GPUs of a
 * node in the order of processes. At most `nodes` nodes of `gpus` GPUs, 0: all. False: probe_why says what is wrong.
 * Needs probe_layout_clear either way. */
bool probe_layout_make (const char *const *node, unsigned n_ranks, unsigned nodes, unsigned gpus, ProbeLayout *out);
void probe_layout_clear (ProbeLayout *layout);
/* The process that is rank `i` of a communicator of that shape. */
unsigned probe_layout_rank (const ProbeLayout *layout, unsigned gpus, unsigned i);

/* How a worker, or the process that keeps it, answered. */
typedef enum {
  PROBE_REPLY_LINE,    /* `text` is the worker's line; others: why there is none */
  PROBE_REPLY_KILLED,  /* because another one failed, or all took too long */
  PROBE_REPLY_NOTHING, /* the process that keeps it did not answer at all */
  PROBE_REPLY_SILENT,  /* `text`: how long, "for 10 s" */
  PROBE_REPLY_ENDED,   /* `text`: "by signal 11", "with exit status 1", or nothing */
  PROBE_REPLY_N
} ProbeReply;

#define PROBE_ANSWER_MOST 2048
typedef struct {
  ProbeReply said;
  unsigned order; /* 1: the first that came; 0: not known */
  char text[PROBE_ANSWER_MOST];
} ProbeAnswer;

/* "line TEXT", "killed", "silent TEXT", "ended TEXT", "nothing" and back, without `order`; false: no such thing, or it does not
 * fit. */
bool probe_answer_write (const ProbeAnswer *answer, char *out, size_t size);
bool probe_answer_parse (const char *text, ProbeAnswer *out);

/* What all of them say together. LINE: all gave the same line (or "ran", which goes with any), or an "error" of this case alone,
 * which is then that line with the rank in front of its reason; all else is a failure, whose cause stands in `text` with its rank:
 * a worker's own "fatal", then how it ended, that it was silent, a "fatal" that blames another rank, that answers differ; of
 * equals the one that came first. */
void probe_answers_merge (const ProbeAnswer *answer, unsigned n, ProbeAnswer *out);

#ifdef __cplusplus
}
#endif
#endif
