/* The collectives of exact.sh and the traffic of irregular.sh by SimGrid, for comparison: a ring all-reduce and an all-to-all of
 * 1,024 ranks, 1 MiB a message; flows at random on a fat tree, and flows of many to one; by mailboxes. Its network model is set to
 * what is compared: max-min shares of links of 50 GB/s and 1 us, no TCP window, no factors, no cross-traffic. Prints microseconds.
 * usage: bench_simgrid TOPOLOGY all_reduce|alltoall    TOPOLOGY as in tests/data/workload
 *        bench_simgrid poisson|incast N
 * API: SimGrid 3.32, simgrid/mailbox.h and comm.h. */
#define _POSIX_C_SOURCE 200809L

#include <simgrid/actor.h>
#include <simgrid/comm.h>
#include <simgrid/engine.h>
#include <simgrid/host.h>
#include <simgrid/mailbox.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench_flows.h"

enum { RANKS = 1024 };
static const long MESSAGE_B = 1048576;

static const struct {
  const char *name, *shape; /* shape: SimGrid's; its cluster has a private link, both ways, a host and the tree's above it */
} topologies[] = {
  { "star_1024", "" },
  { "tree_1024", " topology=\"FAT_TREE\" topo_parameters=\"3;16,8,8;1,16,8;1,1,1\"" },
  { "tree_1024_4to1", " topology=\"FAT_TREE\" topo_parameters=\"3;16,8,8;1,4,8;1,1,1\"" },
};

static sg_mailbox_t
mailbox_of (const char *what, unsigned from, unsigned to)
{
  char name[64];
  snprintf (name, sizeof name, "%s%u-%u", what, from, to);
  return sg_mailbox_by_name (name);
}

static void
ring (unsigned rank)
{
  unsigned next = (rank + 1) % RANKS, before = (rank + RANKS - 1) % RANKS;
  sg_mailbox_t to = mailbox_of ("m", rank, next), from = mailbox_of ("m", before, rank);
  for (unsigned step = 0; step < 2 * (RANKS - 1); step++) {
    void *got;
    sg_comm_t both[] = { sg_mailbox_put_async (to, &ring, MESSAGE_B), sg_mailbox_get_async (from, &got) };
    sg_comm_wait_all (both, 2);
  }
}

static void
all_to_all (unsigned rank)
{
  sg_comm_t *comms = malloc (2 * RANKS * sizeof *comms);
  void *got;
  size_t n = 0;
  for (unsigned d = 1; d < RANKS; d++) {
    comms[n++] = sg_mailbox_put_async (mailbox_of ("m", rank, (rank + d) % RANKS), comms, MESSAGE_B);
    comms[n++] = sg_mailbox_get_async (mailbox_of ("m", (rank + d) % RANKS, rank), &got);
  }
  sg_comm_wait_all (comms, n);
  free (comms);
}

static void
be_rank (int argc, char **argv)
{
  unsigned rank = (unsigned)strtoul (argv[argc - 1], NULL, 10);
  if (strcmp (argv[argc - 2], "alltoall") == 0)
    all_to_all (rank);
  else
    ring (rank);
}

static BenchFlow *flows;
static size_t n_flows;

/* A host's flows, each at its time: those that it sends, or those that it receives. */
static void
be_host (int argc, char **argv)
{
  const unsigned host = (unsigned)strtoul (argv[argc - 1], NULL, 10);
  const int sends = strcmp (argv[argc - 2], "send") == 0;
  size_t n = 0, n_mine = 0;
  for (size_t i = 0; i < n_flows; i++)
    n_mine += (sends ? flows[i].from : flows[i].to) == host;
  sg_comm_t *comms = malloc ((n_mine + 1) * sizeof *comms);
  for (size_t i = 0; i < n_flows; i++) {
    void *got;
    if ((sends ? flows[i].from : flows[i].to) != host)
      continue;
    if (flows[i].start_s > simgrid_get_clock ())
      sg_actor_sleep_for (flows[i].start_s - simgrid_get_clock ());
    sg_mailbox_t mailbox = mailbox_of ("f", (unsigned)i, 0);
    comms[n++] = sends ? sg_mailbox_put_async (mailbox, comms, (long)flows[i].bytes) : sg_mailbox_get_async (mailbox, &got);
  }
  sg_comm_wait_all (comms, n);
  free (comms);
}

/* 0: not an operation with a number of flows. */
static unsigned
draw (const char *operation, const char *number)
{
  n_flows = strtoull (number, NULL, 10);
  const int incast = strcmp (operation, "incast") == 0;
  if (n_flows == 0 || (!incast && strcmp (operation, "poisson") != 0))
    return 0;
  flows = malloc (n_flows * sizeof *flows);
  if (incast)
    bench_draw_incast (flows, n_flows);
  else
    bench_draw_poisson (flows, n_flows, FLOWS_LOAD);
  return incast ? (unsigned)n_flows + 1 : FLOWS_HOSTS;
}

static void
start_hosts (unsigned n)
{
  for (unsigned host = 0; host < 2 * n; host++) {
    char name[32], number[32], *what = host % 2 == 0 ? "send" : "receive";
    snprintf (name, sizeof name, "n%u", host / 2);
    snprintf (number, sizeof number, "%u", host / 2);
    char *words[] = { name, what, number };
    sg_actor_create (name, sg_host_by_name (name), be_host, 3, words);
  }
}

static void
start_ranks (char *operation)
{
  for (unsigned rank = 0; rank < RANKS; rank++) {
    char host[32], number[32];
    snprintf (host, sizeof host, "n%u", rank);
    snprintf (number, sizeof number, "%u", rank);
    char *words[] = { host, operation, number };
    sg_actor_create (host, sg_host_by_name (host), be_rank, 3, words);
  }
}

static void
load (const char *shape, unsigned n_hosts)
{
  char path[] = "bench_simgrid_XXXXXX.xml";
  int file = mkstemps (path, 4);
  FILE *xml = file < 0 ? NULL : fdopen (file, "w");
  if (xml == NULL) {
    perror (path);
    exit (1);
  }
  fprintf (xml,
           "<?xml version='1.0'?>\n<!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">\n<platform version=\"4.1\">\n"
           "<cluster id=\"c\" prefix=\"n\" suffix=\"\" radical=\"0-%u\" speed=\"1Gf\" bw=\"50GBps\" lat=\"1us\" "
           "sharing_policy=\"SPLITDUPLEX\"%s/>\n</platform>\n",
           n_hosts - 1, shape);
  fclose (xml);
  simgrid_load_platform (path);
  unlink (path);
}

int
main (int argc, char **argv)
{
  const char *shape = NULL;
  const unsigned n_hosts = argc == 3 ? draw (argv[1], argv[2]) : 0;
  if (n_hosts > 0)
    shape = strcmp (argv[1], "poisson") == 0 ? " topology=\"FAT_TREE\" topo_parameters=\"2;32,32;1,32;1,1\"" : "";
  for (size_t i = 0; argc == 3 && i < sizeof topologies / sizeof *topologies; i++)
    if (strcmp (argv[1], topologies[i].name) == 0)
      shape = topologies[i].shape;
  if (shape == NULL || (n_hosts == 0 && strcmp (argv[2], "all_reduce") != 0 && strcmp (argv[2], "alltoall") != 0)) {
    fprintf (stderr, "usage: bench_simgrid star_1024|tree_1024|tree_1024_4to1 all_reduce|alltoall\n"
                     "       bench_simgrid poisson|incast N\n");
    return 2;
  }
  char *words[] = { argv[0],
                    "--cfg=network/model:CM02",
                    "--cfg=network/TCP-gamma:0",
                    "--cfg=network/latency-factor:1",
                    "--cfg=network/bandwidth-factor:1",
                    "--cfg=network/weight-S:0",
                    "--cfg=network/crosstraffic:0",
                    "--cfg=contexts/stack-size:32",
                    "--log=root.threshold:warning",
                    NULL };
  int n_words = (int)(sizeof words / sizeof *words) - 1;
  simgrid_init (&n_words, words);
  load (shape, n_hosts > 0 ? n_hosts : RANKS);
  if (n_hosts > 0)
    start_hosts (n_hosts);
  else
    start_ranks (argv[2]);
  simgrid_run ();
  printf ("%.6f\n", simgrid_get_clock () * 1e6);
  free (flows);
  return 0;
}
