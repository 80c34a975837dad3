/* Reads and writes of a file with O_DIRECT, past the page cache. A sample: each of so many threads moves k blocks, one after
 * the other; the time from the first thread's begin to the last one's end, over k. So the rate is threads x block_B / median_s, and
 * with one thread the median is the latency of a block. The device's own cache and a server's stay in between: a file of at most
 * 1 GiB may sit in them. */
#include "storage.h"

#include "probe_core.h"
#include "probe_random.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

#define FILE_MOST_B    ((size_t)1 << 30)
#define FREE_SHARE     10   /* at most a tenth of what is free */
#define FILL_SHARE     0.3  /* of the section's time; a slow disk gets a smaller file */
#define TARGET_S       0.02 /* of a sample */
#define K_MOST         4096
#define ALIGNED        4096 /* memory and offsets of O_DIRECT; 512 is less than some devices take */
#define CHECKED_BLOCKS 8

static const char *const move_names[] = { "read", "write" };

/* Incompressible, and known from the place alone. */
static void
fill_block (char *block, size_t offset_B, uint64_t seed)
{
  uint64_t *word = (uint64_t *)block;
  for (size_t i = 0; i < STORAGE_BLOCK_MOST_B / sizeof *word; i++)
    word[i] = probe_random (seed, offset_B / sizeof *word + i);
}

/* ---- one case ---- */

bool
storage_move_host (void *user, unsigned thread, bool write, size_t block_B, size_t offset_B)
{
  Storage *storage = (Storage *)user;
  ssize_t n = write ? pwrite (storage->fd, storage->buffer[thread], block_B, (off_t)offset_B)
                    : pread (storage->fd, storage->buffer[thread], block_B, (off_t)offset_B);
  return n == (ssize_t)block_B || probe_fail ("%s", strerror (n < 0 ? errno : EIO));
}

/* What the threads of a case go on with from sample to sample. */
typedef struct {
  Storage *storage;
  const StorageCase *what;
  unsigned n;                           /* blocks of each thread in a sample */
  uint64_t moved[STORAGE_THREADS_MOST]; /* blocks so far */
} Run;

static bool
run_thread (unsigned rank, void *user)
{
  Run *run = (Run *)user;
  const StorageCase *c = run->what;
  size_t stripe = run->storage->size_B / c->threads / c->block_B, blocks = run->storage->size_B / c->block_B;
  uint64_t seed = probe_random (probe_options (run->storage->probe)->seed, rank);
  if (!probe_team_barrier (run->storage->team))
    return false;
  for (unsigned i = 0; i < run->n; i++) {
    uint64_t moved = run->moved[rank]++;
    size_t block = c->random ? probe_random (seed, moved) % blocks : rank * stripe + moved % stripe;
    if (!c->move (c->user, rank, c->write, c->block_B, block * c->block_B))
      return false;
  }
  return true;
}

static double
run_blocks (void *user, unsigned n)
{
  Run *run = (Run *)user;
  run->n = n;
  return probe_team_time (run->storage->team, run->what->threads, run_thread, run);
}

void
storage_measure (Storage *storage, const StorageCase *c)
{
  Probe *probe = storage->probe;
  if (!probe_selected (probe, "storage", move_names[c->write]))
    return;
  ProbeCase *point = probe_case ("storage", move_names[c->write],
                                 { { "path", c->path },
                                   { "pattern", c->random ? "random" : "sequential" },
                                   { "threads", c->threads },
                                   { "block_B", c->block_B } });
  if (probe_options (probe)->list) {
    probe_list (probe, point);
    return;
  }
  probe_add (point, { { "file_B", storage->size_B } });
  if (storage->size_B / c->threads < c->block_B) {
    probe_skip (probe, point, "the file is too small for so many threads and such blocks");
    return;
  }
  Run run = Run ();
  run.storage = storage;
  run.what = c;
  ProbeRepeat repeat = { run_blocks, &run, 0, 0 };
  if (probe_repeat_settle (&repeat, TARGET_S, 1, K_MOST))
    probe_measure (probe, point, probe_repeat_sample, &repeat);
  else
    probe_failed (probe, point);
}

/* ---- the file ---- */

/* It is there, filled, and what was written comes back. */
static bool
make_file (Storage *storage)
{
  const ProbeOptions *options = probe_options (storage->probe);
  struct statvfs status;
  if (statvfs (options->storage_dir, &status) != 0)
    return probe_fail ("%s", strerror (errno));
  double most = (double)status.f_bavail * (double)status.f_frsize / FREE_SHARE;
  size_t size = most < (double)FILE_MOST_B ? (size_t)most : FILE_MOST_B;
  size -= size % STORAGE_BLOCK_MOST_B;
  if (size == 0)
    return probe_fail ("less than 40 MiB are free there");
  int n = snprintf (storage->path, sizeof storage->path, "%s/forerun-probe-XXXXXX", options->storage_dir);
  if (n < 0 || (size_t)n >= sizeof storage->path)
    return probe_fail ("%s", strerror (ENAMETOOLONG));
  storage->fd = mkostemp (storage->path, O_DIRECT | O_CLOEXEC);
  if (storage->fd < 0) {
    int why = errno;
    unlink (storage->path); /* some file systems make the file and then refuse O_DIRECT */
    return probe_fail ("%s", why == EINVAL ? "its file system knows no O_DIRECT" : strerror (why));
  }
  probe_remove_at_end (storage->path);
  double end = probe_now () + probe_left (storage->probe) * FILL_SHARE;
  for (storage->size_B = 0; storage->size_B < size && probe_now () < end && !probe_interrupted ();
       storage->size_B += STORAGE_BLOCK_MOST_B) {
    fill_block (storage->buffer[0], storage->size_B, options->seed);
    if (!storage_move_host (storage, 0, true, STORAGE_BLOCK_MOST_B, storage->size_B))
      return false;
  }
  if (storage->size_B == 0)
    return probe_fail ("there was no time to write it");
  for (size_t i = 0; i < CHECKED_BLOCKS; i++) {
    size_t offset = probe_random (options->seed, i) % (storage->size_B / STORAGE_BLOCK_MOST_B) * STORAGE_BLOCK_MOST_B;
    if (!storage_move_host (storage, 0, false, STORAGE_BLOCK_MOST_B, offset))
      return false;
    fill_block (storage->buffer[1], offset, options->seed);
    if (memcmp (storage->buffer[0], storage->buffer[1], STORAGE_BLOCK_MOST_B) != 0)
      return probe_fail ("wrong data: what was written does not come back");
  }
  return true;
}

static void
close_storage (Storage *storage)
{
  if (storage->fd >= 0)
    close (storage->fd);
  probe_remove_at_end (NULL);
  for (unsigned t = 0; t < STORAGE_THREADS_MOST; t++)
    free (storage->buffer[t]);
  probe_team_free (storage->team);
}

static bool
open_storage (Storage *storage)
{
  storage->team = probe_team_new (STORAGE_THREADS_MOST);
  bool ok = storage->team != NULL;
  for (unsigned t = 0; t < STORAGE_THREADS_MOST && ok; t++)
    ok = posix_memalign ((void **)&storage->buffer[t], ALIGNED, STORAGE_BLOCK_MOST_B) == 0;
  for (unsigned t = 0; t < STORAGE_THREADS_MOST && ok; t++)
    fill_block (storage->buffer[t], t * STORAGE_BLOCK_MOST_B, probe_options (storage->probe)->seed + 1);
  if (!ok)
    probe_note (storage->probe, "storage: out of memory or threads");
  return ok;
}

/* The first pass has what tells most: few threads and many, small blocks and large. */
static void
measure_host (Storage *storage)
{
  static const unsigned threads[2][3] = { { 1, 8, 32 }, { 2, 4, 16 } };
  static const size_t blocks[2][3] = { { 4096, (size_t)1 << 18, (size_t)4 << 20 },
                                       { (size_t)1 << 14, (size_t)1 << 16, (size_t)1 << 20 } };
  Probe *probe = storage->probe;
  int passes = probe_options (probe)->quick ? 1 : 4;
  size_t wanted = probe_selected (probe, "storage", "read") + probe_selected (probe, "storage", "write");
  probe_expect (probe, wanted * (size_t)passes * 2 * 9);
  for (int pass = 0; pass < passes; pass++)
    for (bool write : { false, true })
      for (bool random : { false, true })
        for (size_t block_B : blocks[pass % 2])
          for (unsigned n : threads[pass / 2]) {
            const StorageCase c = { "host", storage_move_host, storage, write, random, n, block_B };
            storage_measure (storage, &c);
          }
}

bool
probe_storage (Probe *probe)
{
  static Storage storage;
  memset (&storage, 0, sizeof storage);
  storage.probe = probe;
  storage.fd = -1;
  if (!probe_selected (probe, "storage", "read") && !probe_selected (probe, "storage", "write"))
    return true;
  if (probe_options (probe)->storage_dir == NULL) {
    if (!probe_options (probe)->list)
      probe_note (probe, "storage: left out; --storage DIR says where");
    return true;
  }
  if (probe_options (probe)->list) {
    measure_host (&storage);
    storage_bounce (&storage);
    storage_cufile (&storage);
    return true;
  }
  bool ok = open_storage (&storage);
  if (ok && !make_file (&storage)) {
    probe_note (probe, "storage: %s: %s", probe_options (probe)->storage_dir, probe_why ());
    ok = false;
  }
  if (ok && !probe_interrupted ()) {
    measure_host (&storage);
    storage_bounce (&storage);
    storage_cufile (&storage);
  }
  close_storage (&storage);
  return ok;
}
