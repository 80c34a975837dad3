/* A steady load in closed form: Little's law, and the time that prompts take from those that decode. */
#include "serving/closed.h"

#include <math.h>

#define FINE 1e-3 /* of the sequences that may decode: how well their number is found */

/* A step that was priced: n sequences of each rank decode, the first rank has `prompts` chunks, each the same piece of a prompt. */
typedef struct {
  guint n, prompts, pieces, piece;
  double time_s; /* 0: none is kept here */
} Known;

typedef struct {
  SrvStepModel *model;
  const SrvSteady *load;
  guint ranks;
  double window, tokens;
  SrvBatch *batches; /* of all ranks */
  SrvChunk chunks[64];
  guint pieces, piece; /* which piece of a prompt stands in `chunks` */
  Known known[32];     /* halving an interval comes to the same steps again and again */
} Steady;

/* Mean of min (window, context) while a request decodes. */
static double
seen (const Steady *s, double context)
{
  return s->window > 0 ? fmin (s->window, context) : context;
}

/* Time of a step in which n sequences of each rank decode, and the first rank has `prompts` chunks as in s->chunks. */
static double
at (Steady *s, guint n, guint prompts)
{
  const SrvSteady *load = s->load;
  const double context = load->input + 0.5 * load->output;
  const guint pieces = prompts > 0 ? s->pieces : 0, piece = prompts > 0 ? s->piece : 0;
  Known *known = &s->known[(n + 3 * prompts + 5 * piece) % G_N_ELEMENTS (s->known)];
  if (known->time_s > 0 && known->n == n && known->prompts == prompts && known->pieces == pieces && known->piece == piece)
    return known->time_s;
  for (guint i = 0; i < s->ranks; i++)
    s->batches[i] = (SrvBatch){ .chunks = s->chunks,
                                .n_chunks = i == 0 ? prompts : 0,
                                .n_decode = n,
                                .decode_context = n * context,
                                .decode_windowed = n * seen (s, context),
                                .n_sampled = n + (i == 0 ? prompts : 0) };
  *known = (Known){ n, prompts, pieces, piece, srv_step_time_s (s->model, s->batches, NULL) };
  return known->time_s;
}

/* The same for a number of sequences that is not whole. */
static double
step_s (Steady *s, double n, guint prompts)
{
  const guint low = (guint)n;
  const double part = n - low, low_s = low + prompts > 0 ? at (s, low, prompts) : 0;
  const double engine_s = part > 1e-3 ? (1 - part) * low_s + part * at (s, low + 1, prompts) : low_s;
  return fmax (engine_s, n * s->ranks * srv_step_front (s->model).token_s); /* the front end sends one token after the other */
}

/* What a prompt costs when `n` sequences of each rank decode and prompts come in groups. */
typedef struct {
  double own_s;   /* steps of its group */
  double added_s; /* to those that decode, of one prompt */
} Prompt;

static Prompt
prompt_of (Steady *s, double n, double decode_s, double requests_per_s)
{
  const SrvSteady *load = s->load;
  const gboolean apart = load->engine == SRV_ENGINE_SGLANG && !load->limits.mixed;
  const double lacks = fmax (load->input - load->cached, 1), beside = apart ? 0 : n;
  const double room = fmax (load->limits.max_tokens - beside * s->tokens, 1);
  const guint pieces = load->limits.chunked ? (guint)fmin (ceil (lacks / room), 64) : 1;
  const guint most = (guint)fmin (fmax (floor (room / lacks), 1), G_N_ELEMENTS (s->chunks));
  Prompt p = { 0 };
  guint group = 1;
  for (guint round = 0; round < 3; round++) { /* those that come during a step of prompts share the next one */
    p.own_s = 0;
    s->pieces = pieces;
    for (guint piece = 0; piece < pieces; piece++) {
      for (guint i = 0; i < group; i++)
        s->chunks[i] = (SrvChunk){ .tokens = lacks / pieces, .cached = load->cached + piece * lacks / pieces };
      s->piece = piece;
      p.own_s += step_s (s, beside, group);
    }
    const guint next = pieces > 1 ? 1 : (guint)CLAMP (round == 2 ? group : floor (requests_per_s * p.own_s / s->ranks), 1, most);
    if (next == group)
      break;
    group = next;
  }
  p.added_s = (p.own_s - (apart ? 0 : pieces * decode_s)) / group;
  return p;
}

/* Mean wait of a request behind a step in progress and other prompts. */
static double
wait_s (const Prompt *p, double decode_s, double requests_per_s)
{
  const double load = fmin (requests_per_s * p->own_s, 0.98);
  return 0.5 * ((1 - load) * decode_s + load * p->own_s) + 0.5 * load / (1 - load) * p->own_s;
}

/* Sequences that a scheduler runs at most. */
static double
most_running (const SrvSteady *load)
{
  const double each = load->input + (load->engine == SRV_ENGINE_TRTLLM ? 1 : 0.5) * load->output;
  return fmax (fmin (load->limits.max_seqs, load->pool > 0 ? floor (load->pool / each) : HUGE_VAL), 1);
}

/* A closed loop: finds how many decode, of those in flight. */
static void
closed_loop (Steady *s, SrvSteadyTimes *out)
{
  const SrvSteady *load = s->load;
  const double most = most_running (load) * s->ranks, active = fmin (load->in_flight, most), steps = fmax (load->output - 1, 0);
  const SrvFront front = srv_step_front (s->model);
  const double front_s = front.request_s + front.prompt_s * load->input;
  double low = 0, high = active;
  while (high - low > FINE * active) {
    const double decoding = 0.5 * (low + high), n = decoding / s->ranks;
    const double decode_s = step_s (s, fmax (n, 1), 0) / s->tokens;
    Prompt p = prompt_of (s, n, decode_s * s->tokens, out->requests_per_s);
    const double requests_per_s = 1 / (steps / fmax (decoding, 1e-9) * decode_s + p.added_s);
    const double first_s = wait_s (&p, decode_s, requests_per_s * (active - 1) / active) + p.own_s;
    out->requests_per_s = requests_per_s;
    out->decoding = decoding;
    out->prompt_s = p.added_s;
    out->tpot_s = steps > 0 ? decoding / requests_per_s / steps : 0;
    out->ttft_s = first_s + front_s + front.token_s;
    const double busy = decoding + requests_per_s * (first_s + front_s * (load->in_flight <= most ? 1 : 0));
    *(busy < active ? &low : &high) = decoding;
  }
  if (load->in_flight > most) /* the rest waits for a place */
    out->ttft_s += (load->in_flight - most) / out->requests_per_s;
}

/* An open load: as many decode as the rate keeps there. FALSE: it is more than the replica can serve. */
static gboolean
open_load (Steady *s, SrvSteadyTimes *out)
{
  const SrvSteady *load = s->load;
  const double most = most_running (load) * s->ranks, steps = fmax (load->output - 1, 0);
  const SrvFront front = srv_step_front (s->model);
  const double front_s = front.request_s + front.prompt_s * load->input;
  double low = 0, high = most;
  out->requests_per_s = load->rate;
  while (high - low > fmin (FINE * most, fmax (FINE * high, 1e-6))) {
    const double decoding = 0.5 * (low + high), n = decoding / s->ranks;
    const double decode_s = step_s (s, fmax (n, 1), 0) / s->tokens;
    const Prompt p = prompt_of (s, n, decode_s * s->tokens, load->rate);
    const double free = 1 - load->rate * p.added_s;
    out->tpot_s = free > 0 ? decode_s / free : HUGE_VAL;
    out->prompt_s = p.added_s;
    out->decoding = decoding;
    out->ttft_s = wait_s (&p, decode_s, load->rate) + p.own_s + front_s + front.token_s;
    *(load->rate * steps * out->tpot_s > decoding ? &low : &high) = decoding;
  }
  return high < most && isfinite (out->tpot_s);
}

void
srv_steady (SrvStepModel *model, const SrvSteady *load, SrvSteadyTimes *out)
{
  SrvBatch few[16];
  Steady s = { .model = model, .load = load, .ranks = srv_step_ranks (model), .window = srv_step_window (model) };
  s.tokens = fmax (load->tokens, 1);
  s.batches = s.ranks <= G_N_ELEMENTS (few) ? few : g_new (SrvBatch, s.ranks);
  *out = (SrvSteadyTimes){ .steady = TRUE };
  if (load->in_flight > 0)
    closed_loop (&s, out);
  else
    out->steady = open_load (&s, out);
  out->e2e_s = out->ttft_s + fmax (load->output - 1, 0) * out->tpot_s;
  out->output_tokens_per_s = out->requests_per_s * load->output;
  out->kv = load->pool > 0 ? out->decoding / s.ranks * (load->input + 0.5 * load->output) / load->pool : (double)NAN;
  if (!out->steady)
    *out = (SrvSteadyTimes){ .decoding = (double)NAN,
                             .ttft_s = (double)NAN,
                             .tpot_s = (double)NAN,
                             .e2e_s = (double)NAN,
                             .requests_per_s = (double)NAN,
                             .output_tokens_per_s = (double)NAN,
                             .prompt_s = (double)NAN,
                             .kv = (double)NAN };
  if (s.batches != few)
    g_free (s.batches);
}
