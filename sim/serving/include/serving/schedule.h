/* Schedulers of engines: which tokens of which requests make up the next step. */
#ifndef SERVING_SCHEDULE_H
#define SERVING_SCHEDULE_H

#include "engine/clock.h"
#include "serving/blocks.h"
#include "serving/load.h"
#include "serving/step.h"

/* A request in flight. It waits with computed 0, or runs. */
typedef struct SrvSeq SrvSeq;
struct SrvSeq {
  guint64 index; /* as of SrvRequest */
  EngTime arrival;
  EngTime ready;       /* it leaves the front end */
  EngTime start;       /* of the step that took it first; ENG_TIME_NEVER: none yet */
  EngTime first, last; /* its first token, its newest one */
  guint32 input, output, priority;
  guint32 produced; /* tokens of the answer so far */
  guint32 computed; /* tokens with their KV in the cache */
  guint32 take;     /* new tokens of this step */
  guint32 hit;      /* tokens that it found in the cache when it was first taken */
  guint32 lost;     /* tokens whose KV preemptions discarded */
  guint32 preemptions;
  guint32 session; /* as of SrvRequest */
  gboolean fresh;  /* it waits for no answer of another one */
  guint8 phase;    /* SrvPhase */
  guint32 charge;  /* tokens of its prompt that the router counts until its first token */
  guint32 units;   /* keys of its prompt that tiers are to have */
  guint32 answer;  /* tokens of the whole answer where another replica continues it after this one; else 0 */
  guint32 rank;    /* scheduler of its replica */
  guint32 target;  /* decode replica that has been asked, from 1 on; 0: none */
  SrvHold kv;
  SrvSeq *before, *after; /* in the queue */
};

/* Limits of one scheduler. */
typedef struct {
  guint max_seqs, max_tokens;
  guint chunk; /* tokens of one prompt in a step; 0: max_tokens */
  gboolean chunked;
  guint drafts;   /* of speculative decoding */
  guint window;   /* tokens that windowed layers see; 0: none */
  guint wait;     /* TensorRT-LLM: steps that prompts wait until all attention ranks have one; 0: none */
  gboolean mixed; /* SGLang: a step of prompts decodes too */
  guint poll;     /* SGLang: steps that decode between two looks for new requests; 0: each looks */
} SrvLimits;

typedef struct SrvSched SrvSched;

/* An engine's scheduler: a new engine is one row of srv_policies. */
typedef struct {
  const char *name;
  /* Chooses the next step: srv_sched_choose for each sequence. Sets sched->preempted. */
  void (*schedule) (SrvSched *sched);
  /* After a step in which all that run decoded and none was preempted: the next step is the same, as long as none ends and blocks
   * suffice, whoever waits now. */
  gboolean (*settled) (const SrvSched *sched);
  gboolean shares_early; /* prompts find blocks that are computed in the same step */
  gboolean whole;        /* a sequence is admitted only if all its blocks to its end are free for it */
} SrvPolicy;
extern const SrvPolicy srv_policies[SRV_ENGINE_N]; /* by SrvEngineName */

struct SrvSched {
  SrvLimits limits;
  const SrvPolicy *policy;
  SrvKv *kv;
  gboolean holds;      /* sequences that end keep their blocks until srv_sched_let_go */
  gboolean priorities; /* some request is not of priority 0 */
  SrvSeq *head, *tail; /* queue of those that wait */
  guint n_waiting;
  guint64 waiting_tokens; /* of their prompts */
  gboolean fresh;         /* another one is first in the queue since the last step was chosen */
  SrvSeq **running;       /* in the order of admission */
  guint n_running, room;
  /* The step that is chosen. */
  SrvSeq **chosen;
  SrvChunk *chunks;
  guint n_chosen, n_chunks, n_decode, n_sampled, n_tokens;
  guint64 context, windowed; /* of those that decode */
  guint preempted;           /* in this step */
  gboolean held;             /* prompts wait in this step, for other ranks (srv_scheds_balance) */
  /* What has happened. */
  guint64 preemptions, lost_tokens, hit_tokens, asked_tokens;
  /* Of policies. */
  SrvSeq *cut;  /* SGLang: the prompt that is cut over steps */
  double ratio; /* SGLang: of answers that running requests still need, as estimated `decays` steps ago */
  guint64 decays;
  guint unseen;     /* SGLang: steps that decode since it looked for new requests */
  guint seen;       /* SGLang: of the queue, requests that were there at the last look */
  guint waited;     /* TensorRT-LLM: steps that prompts have waited for other ranks */
  guint64 promised; /* blocks that running sequences will take until their end, where the policy is `whole` */
};

/* Returned: full. `kv` is owned. */
SrvSched *srv_sched_new (const SrvPolicy *policy, const SrvLimits *limits, SrvKv *kv);
void srv_sched_free (SrvSched *sched); /* sequences are the caller's, and have left */

/* A new request, or one that returns, to the end of the queue (behind its priority). */
void srv_sched_add (SrvSched *sched, SrvSeq *seq);
/* Chooses the next step and allocates for it. FALSE: nothing to do. */
gboolean srv_sched_step (SrvSched *sched);
/* What was chosen, for the time of the step. Valid until the next srv_sched_step. */
SrvBatch srv_sched_batch (const SrvSched *sched);
/* The step is over: KV is there, sequences whose last known token was computed get one more, or 1 + accepted drafts. `token` is
 * called for each of these; those that have ended have left the scheduler when it returns. */
typedef void (*SrvToken) (void *user, SrvSeq *seq, guint tokens);
typedef guint (*SrvAccept) (void *user, const SrvSeq *seq); /* drafts accepted; NULL: all */
void srv_sched_done (SrvSched *sched, SrvToken token, SrvAccept accept, void *user);
gboolean srv_seq_ended (const SrvSeq *seq);

/* ---- sequences whose KV comes from another replica ---- */

/* Holds blocks for a sequence of another replica and its next token. FALSE, and nothing has changed: no place or blocks are free.
 * `coming`: sequences that hold blocks and have not joined yet. */
gboolean srv_sched_reserve (SrvSched *sched, SrvSeq *seq, guint coming);
/* Takes a reservation back. */
void srv_sched_unreserve (SrvSched *sched, SrvSeq *seq);
/* All is lost: appends all that run or wait to `out` (SrvSeq *), which hold nothing then and keep the keys of their prompts; the
 * cache is empty. Other sequences hold nothing of it. */
void srv_sched_lose (SrvSched *sched, GPtrArray *out);
/* Its KV (seq->computed tokens) is there: it runs from the next step on. Not during a step. */
void srv_sched_join (SrvSched *sched, SrvSeq *seq);
/* Frees the blocks of one that has ended, where the scheduler `holds`. */
void srv_sched_let_go (SrvSched *sched, SrvSeq *seq);

/* ---- steps that only decode ---- */

/* The step just done can be repeated: all that run decoded, none has ended, and the policy would choose the same. *most:
 * repetitions until the first sequence ends (that step included). */
gboolean srv_sched_repeats (const SrvSched *sched, guint *most);
/* New blocks that each repetition takes: counts[i] of repetition i, cyclic with the block's tokens. `counts` has srv_kv_block
 * entries. */
void srv_sched_new_blocks (const SrvSched *sched, guint *counts);
/* n repetitions are over, blocks drawn: all tokens but those of the last step. Sets the last one as chosen, for srv_sched_done. */
void srv_sched_repeat (SrvSched *sched, guint n);

/* ---- for policies ---- */

static inline guint
srv_seq_known (const SrvSeq *seq)
{
  return seq->input + seq->produced;
}
static inline gboolean
srv_seq_decodes (const SrvSeq *seq)
{
  return seq->produced > 0 && seq->computed + 1 == srv_seq_known (seq);
}
/* `tokens` new tokens of a running sequence are in the step; their blocks are held. */
void srv_sched_choose (SrvSched *sched, SrvSeq *seq, guint tokens);
/* The first of the queue runs, with what it finds in the cache and blocks for `tokens` more. */
void srv_sched_admit (SrvSched *sched, SrvHit hit, guint tokens);
/* running[at] loses its KV and waits: first in the queue, or last. */
void srv_sched_preempt (SrvSched *sched, guint at, gboolean first);
void srv_schedule_vllm (SrvSched *sched);
void srv_schedule_sglang (SrvSched *sched);
void srv_schedule_trtllm (SrvSched *sched);
/* TensorRT-LLM's attention_dp_config.enable_balance: holds prompts while all ranks decode and some rank has no prompt, for at most
 * limits.wait steps in a row. Before srv_sched_step of all `n` ranks. */
void srv_scheds_balance (SrvSched *const *scheds, guint n);
gboolean srv_settled_vllm (const SrvSched *sched);
gboolean srv_settled_sglang (const SrvSched *sched);

#endif
