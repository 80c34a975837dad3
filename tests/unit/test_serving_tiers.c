/* KV below the GPU: stores, what is loaded and what is computed, and case 9 on a cluster. */
#include <math.h>
#include <string.h>

#include "collective/net.h"
#include "harness.h"
#include "serving/run.h"
#include "serving_fixture.h"
#include "serving_source_fixture.h"

/* ---- stores ---- */

static void
stores_keep_what_was_used_last (void)
{
  SrvStore *store = srv_store_new (2);
  TEST_TRUE (srv_store_begin (store, 1));
  TEST_TRUE (!srv_store_begin (store, 1));
  TEST_TRUE (!srv_store_use (store, 1)); /* not written yet */
  TEST_TRUE (!srv_store_has (store, 1));
  srv_store_ready (store, 1);
  TEST_TRUE (srv_store_use (store, 1));
  TEST_TRUE (srv_store_begin (store, 2));
  srv_store_ready (store, 2);
  TEST_TRUE (srv_store_use (store, 1)); /* so 2 goes */
  TEST_TRUE (srv_store_begin (store, 3));
  srv_store_ready (store, 2); /* has left: nothing */
  TEST_TRUE (!srv_store_has (store, 2));
  TEST_TRUE (srv_store_has (store, 1));
  TEST_INT (srv_store_units (store), 2);
  srv_store_free (store);
  store = srv_store_new (0);
  TEST_TRUE (!srv_store_begin (store, 1));
  srv_store_free (store);
  srv_store_free (NULL);
}

/* Blocks that were loaded are found as if they had been computed; a tail that was taken is filled. */
static void
loaded_blocks_are_found (void)
{
  SrvKv *kv = srv_kv_new (10, 16, TRUE);
  SrvHold a = { 0 }, b = { 0 };
  const guint64 hashes[] = { 1, 2, 3, 4 };
  TEST_INT (srv_kv_unit_tokens (kv), 0);
  srv_kv_name (kv, &a, hashes, 4, 32); /* units of two blocks */
  TEST_INT (srv_kv_unit_tokens (kv), 32);
  srv_kv_install (kv, &a, 0, 3);
  TEST_INT (srv_kv_match (kv, &a, 128).blocks, 6);
  TEST_TRUE (srv_kv_sums (kv, 0));
  srv_kv_draw (kv, 5); /* four that are plain, and one of the third unit, which is the oldest */
  srv_kv_name (kv, &b, hashes, 4, 32);
  TEST_INT (srv_kv_match (kv, &b, 128).blocks, 5);
  srv_kv_install (kv, &b, 2, 4); /* one block is free: the third unit is whole again, the fourth has no room */
  TEST_INT (srv_kv_match (kv, &b, 128).blocks, 5);
  b.blocks = 5;
  srv_kv_release (kv, &b, 0);
  srv_kv_install (kv, &a, 2, 4);
  TEST_INT (srv_kv_match (kv, &a, 129).blocks, 8);
  srv_kv_install (kv, &a, 0, 4); /* all are there */
  TEST_TRUE (srv_kv_sums (kv, 0));
  srv_kv_forget (kv, &a);
  srv_kv_forget (kv, &b);
  srv_hold_clear (&a);
  srv_hold_clear (&b);
  srv_kv_free (kv);
}

/* ---- runs: a token takes 1 ms to compute and 1 B to move ---- */

typedef struct {
  guint64 sent, n;
  guint prompts; /* different ones, in turn */
  guint input;
  double gap_s;
  guint64 hashes[64];
} Load;

static gboolean
next (gpointer user, SrvRequest *out, GError **error)
{
  Load *load = user;
  (void)error;
  if (load->sent == load->n)
    return FALSE;
  for (guint i = 0; i < load->input / 16; i++)
    load->hashes[i] = (load->sent % load->prompts) * 1000 + i;
  *out = (SrvRequest){ .index = load->sent,
                       .arrival_s = load->gap_s * (double)load->sent,
                       .input = load->input,
                       .output = 1,
                       .hash = load->hashes,
                       .n_hashes = load->input / 16,
                       .hash_tokens = 16 };
  load->sent++;
  return TRUE;
}

static double
time_of (gpointer model, const SrvBatch *batches, SrvStepCost *cost)
{
  const guint *ranks = model;
  double time_s = 0;
  (void)cost;
  for (guint k = 0; k < *ranks; k++)
    for (guint i = 0; i < batches[k].n_chunks; i++)
      time_s += 1e-3 * batches[k].chunks[i].tokens;
  return time_s;
}

typedef struct {
  EngLink read[SRV_TIER_N], write[SRV_TIER_N];
  double rate_Bps[SRV_TIER_N];
  gboolean cut; /* writes to drives have no way */
} Wires;

static gboolean
flow_of (gpointer user, const SrvTierEnd *end, guint tokens, GArray *uses, EngFlowSpec *spec, double *alone_s, GError **error)
{
  const Wires *wires = user;
  const EngUse use = { end->write ? wires->write[end->tier] : wires->read[end->tier], 1 };
  if (wires->cut && end->write && end->tier == SRV_TIER_NVME) {
    g_set_error (error, BASE_ERROR, BASE_ERROR_INPUT, "no way");
    return FALSE;
  }
  g_array_set_size (uses, 0);
  g_array_append_val (uses, use);
  *spec = (EngFlowSpec){ .amount = tokens, .uses = (const EngUse *)(const void *)uses->data, .n_uses = 1 };
  *alone_s = tokens / wires->rate_Bps[end->tier];
  return TRUE;
}

typedef struct {
  Load load;
  double rate_Bps[SRV_TIER_N], size_B[SRV_TIER_N];
  guint64 blocks;
  guint replicas, ranks;
  gboolean cut;
  SrvRouter router;
} Case;

static gboolean
try_run (Case its, SrvRunResult *out, GError **error)
{
  guint ranks = MAX (its.ranks, 1);
  g_autoptr (Eng) eng = eng_new ();
  Wires wires = { .cut = its.cut };
  SrvOffload offload = { .token_B = 1, .eng = eng, .user = &wires, .flow = flow_of };
  for (guint t = 0; t < SRV_TIER_N; t++) {
    wires.rate_Bps[t] = its.rate_Bps[t] > 0 ? its.rate_Bps[t] : 1;
    wires.read[t] = eng_link_new (eng, wires.rate_Bps[t]);
    wires.write[t] = eng_link_new (eng, wires.rate_Bps[t]);
    offload.tier[t] = (SrvTier){ its.size_B[t], t == SRV_TIER_REMOTE };
  }
  const SrvRunSpec spec = { .times = { .model = &ranks, .ranks = ranks, .time_s = time_of },
                            .source = { &its.load, next, nothing_follows, FALSE },
                            .engine = SRV_ENGINE_VLLM,
                            .limits = { .max_seqs = 256, .max_tokens = 8192, .chunked = TRUE },
                            .blocks = its.blocks,
                            .block = 16,
                            .caching = TRUE,
                            .replicas = MAX (its.replicas, 1),
                            .router = { .policy = its.router, .credit = 1, .host = 0.75, .nvme = 0.25, .scale = 1 },
                            .offload = offload,
                            .slo = { (double)INFINITY, (double)INFINITY, (double)INFINITY },
                            .watch = G_MAXUINT64 };
  return srv_run (&spec, out, error);
}

static SrvRunResult
run_of (Case its)
{
  SrvRunResult out;
  g_autoptr (GError) error = NULL;
  if (!try_run (its, &out, &error))
    g_error ("%s", error->message);
  return out;
}

/* Two prompts of 160 tokens in turn, and room for one and the first block of the other: 144 ms each without tiers. From host
 * memory at 10 kB/s 128 tokens come in 12.8 ms, and the last 16 take 16 ms. The first of each kind has nothing to load. */
static void
host_memory_gives_what_the_gpu_forgot (void)
{
  const Case none = { .load = { .n = 10, .prompts = 2, .input = 160, .gap_s = 1 }, .blocks = 11 };
  Case host = none;
  host.rate_Bps[SRV_TIER_HOST] = 10e3;
  host.size_B[SRV_TIER_HOST] = 320;
  const double mean_s = (2 * 0.16 + 8 * 0.144) / 10;
  TEST_NEAR (run_of (none).ttft.mean, mean_s, 1e-9);
  const SrvRunResult out = run_of (host);
  TEST_NEAR (out.ttft.p50, 0.0288, 1e-9);
  TEST_NEAR (out.ttft.mean, (2 * 0.16 + 8 * 0.0288) / 10, 1e-9);
  const SrvTierResult *tier = &out.tiers[SRV_TIER_HOST];
  TEST_INT (tier->reads, 8);
  TEST_INT (tier->hit_tokens, 8 * 128);
  TEST_NEAR (tier->saved_s, 8 * 0.128, 1e-9);
  TEST_NEAR (tier->read_s, 8 * 0.0128, 1e-9);
  TEST_NEAR (tier->written_B, 320, 1e-12);
  TEST_INT (tier->declined, 0);
  /* Room for one prompt in each of GPU and host: each forgets the other one. */
  host.size_B[SRV_TIER_HOST] = 160;
  TEST_NEAR (run_of (host).ttft.mean, mean_s, 1e-9);
}

/* At 1 kB/s loading is as slow as computing, and the prompt is computed. */
static void
slow_tiers_are_left_alone (void)
{
  Case slow = { .load = { .n = 10, .prompts = 2, .input = 160, .gap_s = 1 }, .blocks = 11 };
  slow.rate_Bps[SRV_TIER_HOST] = 1e3;
  slow.size_B[SRV_TIER_HOST] = 1000;
  const SrvRunResult out = run_of (slow);
  TEST_NEAR (out.ttft.mean, (2 * 0.16 + 8 * 0.144) / 10, 1e-9);
  TEST_INT (out.tiers[SRV_TIER_HOST].reads, 0);
  TEST_INT (out.tiers[SRV_TIER_HOST].declined, 8);
}

/* Host memory for 80 tokens, drives for all: the host keeps the end of the newest prompt, drives give all of the other. */
static void
tiers_follow_each_other (void)
{
  Case its = { .load = { .n = 20, .prompts = 4, .input = 160, .gap_s = 1 }, .blocks = 11 };
  its.rate_Bps[SRV_TIER_HOST] = 100e3;
  its.rate_Bps[SRV_TIER_NVME] = 10e3;
  its.rate_Bps[SRV_TIER_REMOTE] = 5e3;
  its.size_B[SRV_TIER_HOST] = 80;
  its.size_B[SRV_TIER_REMOTE] = 1000;
  const SrvRunResult remote = run_of (its);
  TEST_INT (remote.tiers[SRV_TIER_REMOTE].reads, 16);
  TEST_INT (remote.tiers[SRV_TIER_NVME].reads, 0);
  its.size_B[SRV_TIER_NVME] = 1000;
  const SrvRunResult out = run_of (its);
  TEST_INT (out.tiers[SRV_TIER_NVME].hit_tokens, 16 * 144);
  TEST_INT (out.tiers[SRV_TIER_REMOTE].reads, 0);
  TEST_TRUE (out.ttft.mean < remote.ttft.mean);
  TEST_NEAR (out.ttft.p50, 0.0304, 1e-9);
  TEST_NEAR (out.tiers[SRV_TIER_REMOTE].written_B, 640, 1e-12);
}

/* A second replica has the first one's prompts from a shared tier, not from its own drives. */
static void
shared_tiers_are_shared (void)
{
  Case its = { .load = { .n = 2, .prompts = 1, .input = 160, .gap_s = 1 }, .blocks = 100, .replicas = 2 };
  its.rate_Bps[SRV_TIER_NVME] = its.rate_Bps[SRV_TIER_REMOTE] = 10e3;
  its.size_B[SRV_TIER_NVME] = 1000;
  TEST_INT (run_of (its).tiers[SRV_TIER_NVME].reads, 0);
  its.size_B[SRV_TIER_REMOTE] = 1000;
  TEST_INT (run_of (its).tiers[SRV_TIER_REMOTE].reads, 1);
}

/* The router of KV counts tiers: each prompt goes where its host memory has it. Three prompts on two replicas in turn do not. */
static void
routers_count_tiers (void)
{
  Case its = { .load = { .n = 12, .prompts = 3, .input = 160, .gap_s = 1 }, .blocks = 11, .replicas = 2 };
  its.rate_Bps[SRV_TIER_HOST] = its.rate_Bps[SRV_TIER_NVME] = 10e3;
  its.size_B[SRV_TIER_HOST] = 160;
  its.size_B[SRV_TIER_NVME] = 1000;
  const double plain_s = run_of (its).ttft.mean;
  its.router = SRV_ROUTER_KV;
  TEST_TRUE (run_of (its).ttft.mean < plain_s);
}

/* Reads share the wire: two prompts at once take twice as long, so that half of it would be computed; both are answered. */
static void
reads_share_a_wire (void)
{
  Case its = { .load = { .n = 8, .prompts = 4, .input = 160, .gap_s = 1e-3 }, .blocks = 11, .ranks = 2 };
  its.rate_Bps[SRV_TIER_REMOTE] = 20e3;
  its.size_B[SRV_TIER_REMOTE] = 1000;
  its.load.gap_s = 0.5;
  const SrvRunResult out = run_of (its);
  TEST_INT (out.requests, 8);
  TEST_TRUE (out.tiers[SRV_TIER_REMOTE].reads > 0);
}

/* An error on the way to a tier ends the run, and leaves nothing behind. */
static void
errors_of_ways_end_the_run (void)
{
  Case its = { .load = { .n = 10, .prompts = 2, .input = 160, .gap_s = 0.1 }, .blocks = 11, .cut = TRUE };
  its.rate_Bps[SRV_TIER_HOST] = 1e6;
  its.size_B[SRV_TIER_HOST] = its.size_B[SRV_TIER_NVME] = 1000;
  SrvRunResult out;
  g_autoptr (GError) error = NULL;
  TEST_TRUE (!try_run (its, &out, &error));
  TEST_TRUE (error != NULL && strcmp (error->message, "no way") == 0);
}

/* ---- on a cluster ---- */

typedef struct {
  Serving s;
  ColNet *net;
  SrvTierWays *ways;
  SrvOffloadSpec specs[3];
} Cluster;

static void
cluster_open (Cluster *its, guint n, const char *const *tiers)
{
  *its = (Cluster){ 0 };
  serving_open (&its->s, "hgx_h100", 1, "{model: llama31_70b, engine: {name: vllm}, parallel: {tp: 8}}");
  its->net = col_net_new (its->s.scenario->system.clu);
  for (guint i = 0; i < n; i++) {
    its->specs[i].tier.v = tiers[i];
    its->specs[i].size.v = 1e12;
    its->specs[i].in_flight.v = 32;
  }
  its->ways = srv_tier_ways_new (&its->s.llm, &its->s.scenario->system, its->net, &its->s.keys.replica, 0, its->specs, n);
}

static void
cluster_close (Cluster *its)
{
  srv_tier_ways_free (its->ways);
  col_net_free (its->net);
  serving_clear (&its->s);
}

/* Case 9: a token of Llama 3.1 70B at tp 8 is 40,960 B a GPU: 0.739 us at 55.4 GB/s. All eight GPUs load at once here, by four
 * switches of PCIe Gen5 each to two sockets; drives give what they read together. */
static void
a_token_takes_as_long_as_case_9_says (void)
{
  static const char *const both[] = { "host", "nvme" };
  Cluster its;
  g_autoptr (GError) error = NULL;
  cluster_open (&its, 2, both);
  TEST_TRUE (srv_offload_check (&its.s.scenario->system, its.specs, 2, &error));
  const SrvOffload offload = srv_tier_ways_run (its.ways);
  TEST_NEAR (offload.token_B, 327680, 1e-12);
  TEST_TRUE (!offload.tier[SRV_TIER_HOST].shared && offload.tier[SRV_TIER_REMOTE].size_B <= 0);
  g_autoptr (GArray) uses = g_array_new (FALSE, FALSE, sizeof (EngUse));
  double took_s[2][2];
  for (guint t = 0; t < 2; t++)
    for (guint w = 0; w < 2; w++) {
      EngFlowSpec spec;
      const SrvTierEnd end = { 0, 0, (SrvTierKind)t, w == 1 };
      TEST_TRUE (offload.flow (offload.user, &end, 100000, uses, &spec, &took_s[t][w], &error));
      TEST_NEAR (spec.amount, 100000 * 327680.0, 1e-9);
    }
  const double host_us = took_s[0][0] / 100000 * 1e6, nvme_us = took_s[1][0] / 100000 * 1e6;
  TEST_TRUE (host_us > 0.739 && host_us < 2.2);     /* between one GPU alone and eight that share 158 GB/s */
  TEST_TRUE (nvme_us > host_us && nvme_us < 29.27); /* still less than computing */
  cluster_close (&its);
}

static void
tiers_that_are_not_there_are_refused (void)
{
  static const char *const none[] = { "host", "tape" }, *const twice[] = { "host", "host" };
  Serving serving;
  serving_open (&serving, "hgx_h100", 1, "{model: llama31_70b, engine: {name: vllm}, parallel: {tp: 8}}");
  for (guint i = 0; i < 2; i++) {
    const char *const *names = i == 0 ? none : twice;
    const SrvOffloadSpec specs[] = { { .tier.v = names[0] }, { .tier.v = names[1] } };
    g_autoptr (GError) error = NULL;
    TEST_TRUE (!srv_offload_check (&serving.scenario->system, specs, 2, &error));
    TEST_TRUE (strstr (error->message, i == 0 ? "no tier 'tape'; accepted: host" : "two tiers of kind 'host'") != NULL);
  }
  serving_clear (&serving);
}

int
main (void)
{
  static const TestCase cases[] = {
    { "stores keep what was used last", stores_keep_what_was_used_last },
    { "loaded blocks are found", loaded_blocks_are_found },
    { "host memory gives what the GPU forgot", host_memory_gives_what_the_gpu_forgot },
    { "slow tiers are left alone", slow_tiers_are_left_alone },
    { "tiers follow each other", tiers_follow_each_other },
    { "shared tiers are shared", shared_tiers_are_shared },
    { "routers count tiers", routers_count_tiers },
    { "reads share a wire", reads_share_a_wire },
    { "errors of ways end the run", errors_of_ways_end_the_run },
    { "a token takes as long as case 9 says", a_token_takes_as_long_as_case_9_says },
    { "tiers that are not there are refused", tiers_that_are_not_there_are_refused },
    { NULL, NULL },
  };
  return test_main ("serving/tiers", cases);
}
