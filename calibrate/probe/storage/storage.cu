/* Reads and writes of a file with O_DIRECT, past the page cache. A sample: each of so many threads moves k blocks, one after
 * the other; the time from the first thread's begin to the last one's end, over k. So the rate is threads x block_B / median_s, and
 * with one thread the median is the latency of a block. The device's own cache and a server's stay in between: a file of at most
 * 1 GiB may sit in them. */
#include "storage.h"

#include "probe_core.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
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

static uint64_t
mix (uint64_t z) /* splitmix64's finish: incompressible, and known from the place alone */
{
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ z >> 27) * 0x94d049bb133111ebULL;
  return z ^ z >> 31;
}

static void
fill_block (char *block, size_t offset_B, uint64_t seed)
{
  uint64_t *word = (uint64_t *)block;
  for (size_t i = 0; i < STORAGE_BLOCK_MOST_B / sizeof *word; i++)
    word[i] = mix (seed + 0x9e3779b97f4a7c15ULL * (offset_B / sizeof *word + i + 1));
}

/* ---- one case ---- */

static int
move_host (void *user, unsigned thread, bool write, size_t block_B, size_t offset_B)
{
  Storage *storage = (Storage *)user;
  ssize_t n = write ? pwrite (storage->fd, storage->buffer[thread], block_B, (off_t)offset_B)
                    : pread (storage->fd, storage->buffer[thread], block_B, (off_t)offset_B);
  return n == (ssize_t)block_B ? 0 : n < 0 ? errno : EIO;
}

static void
run_thread (unsigned rank, void *user)
{
  StorageRun *run = (StorageRun *)user;
  size_t stripe = run->storage->size_B / run->threads / run->block_B, blocks = run->storage->size_B / run->block_B;
  int failed = 0;
  probe_team_barrier (run->storage->team);
  run->begin_s[rank] = probe_clock_s ();
  for (unsigned i = 0; i < run->k && failed == 0; i++) {
    size_t block = rank * stripe + run->next[rank];
    if (run->random)
      block = mix (run->state[rank] += 0x9e3779b97f4a7c15ULL) % blocks;
    run->next[rank] = (run->next[rank] + 1) % stripe;
    failed = run->move (run->user, rank, run->write, run->block_B, block * run->block_B);
  }
  run->end_s[rank] = probe_clock_s ();
  run->failed[rank] = failed;
}

static double
run_k (StorageRun *run, unsigned k, const char **error)
{
  double begin = INFINITY, end = 0;
  run->k = k;
  probe_team_run (run->storage->team, run->threads, run_thread, run);
  for (unsigned t = 0; t < run->threads; t++) {
    if (run->failed[t] != 0) {
      *error = strerror (run->failed[t]);
      return -1;
    }
    begin = fmin (begin, run->begin_s[t]);
    end = fmax (end, run->end_s[t]);
  }
  return (end - begin) / k;
}

static double
sample (void *user, const char **error)
{
  StorageRun *run = (StorageRun *)user;
  if (run->k == 0) {
    double rough = run_k (run, 1, error);
    if (rough < 0)
      return -1;
    double k = ceil (TARGET_S / fmax (rough, 1e-9));
    run->k = k > K_MOST ? K_MOST : (unsigned)k;
  }
  return run_k (run, run->k, error);
}

void
storage_measure (Storage *storage, const char *path, StorageMove move, void *user, bool write, bool random, unsigned threads,
                 size_t block_B)
{
  static StorageRun run;
  ProbeCase *c = probe_case (storage->probe, "storage", write ? "write" : "read");
  probe_text (c, "path", path);
  probe_text (c, "pattern", random ? "random" : "sequential");
  probe_number (c, "threads", threads);
  probe_number (c, "block_B", (double)block_B);
  if (probe_listing (storage->probe)) {
    probe_list (storage->probe, c);
    return;
  }
  probe_number (c, "file_B", (double)storage->size_B);
  if (storage->size_B / threads < block_B) {
    probe_skip (storage->probe, c, "the file is too small for so many threads and such blocks");
    return;
  }
  memset (&run, 0, sizeof run);
  run.storage = storage;
  run.move = move;
  run.user = user;
  run.write = write;
  run.random = random;
  run.threads = threads;
  run.block_B = block_B;
  for (unsigned t = 0; t < threads; t++)
    run.state[t] = mix (probe_options (storage->probe)->seed + t + 1);
  probe_measure (storage->probe, c, sample, &run);
}

/* ---- the file ---- */

/* NULL: it is there, filled, and what was written comes back. Else why not. */
static const char *
make_file (Storage *storage)
{
  const ProbeOptions *options = probe_options (storage->probe);
  struct statvfs status;
  if (statvfs (options->storage_dir, &status) != 0)
    return strerror (errno);
  double most = (double)status.f_bavail * (double)status.f_frsize / FREE_SHARE;
  size_t size = most < (double)FILE_MOST_B ? (size_t)most : FILE_MOST_B;
  size -= size % STORAGE_BLOCK_MOST_B;
  if (size == 0)
    return "less than 40 MiB are free there";
  int n = snprintf (storage->path, sizeof storage->path, "%s/forerun-probe-XXXXXX", options->storage_dir);
  if (n < 0 || (size_t)n >= sizeof storage->path)
    return strerror (ENAMETOOLONG);
  storage->fd = mkostemp (storage->path, O_DIRECT | O_CLOEXEC);
  if (storage->fd < 0) {
    int why = errno;
    unlink (storage->path); /* some file systems make the file and then refuse O_DIRECT */
    return why == EINVAL ? "its file system knows no O_DIRECT" : strerror (why);
  }
  probe_remove_at_end (storage->path);
  double end = probe_now () + probe_left (storage->probe) * FILL_SHARE;
  for (storage->size_B = 0; storage->size_B < size && probe_now () < end && !probe_interrupted ();
       storage->size_B += STORAGE_BLOCK_MOST_B) {
    fill_block (storage->buffer[0], storage->size_B, options->seed);
    int why = move_host (storage, 0, true, STORAGE_BLOCK_MOST_B, storage->size_B);
    if (why != 0)
      return strerror (why);
  }
  if (storage->size_B == 0)
    return "there was no time to write it";
  for (size_t i = 0; i < CHECKED_BLOCKS; i++) {
    size_t offset = mix (options->seed + i) % (storage->size_B / STORAGE_BLOCK_MOST_B) * STORAGE_BLOCK_MOST_B;
    int why = move_host (storage, 0, false, STORAGE_BLOCK_MOST_B, offset);
    if (why != 0)
      return strerror (why);
    fill_block (storage->buffer[1], offset, options->seed);
    if (memcmp (storage->buffer[0], storage->buffer[1], STORAGE_BLOCK_MOST_B) != 0)
      return "wrong data: what was written does not come back";
  }
  return NULL;
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
  static const char *const what[2] = { "read", "write" };
  Probe *probe = storage->probe;
  int passes = probe_options (probe)->quick ? 1 : 4;
  size_t wanted = probe_selected (probe, "storage", what[0]) + probe_selected (probe, "storage", what[1]);
  probe_expect (probe, wanted * (size_t)passes * 2 * 9);
  for (int pass = 0; pass < passes; pass++)
    for (int write = 0; write < 2; write++)
      for (int random = 0; random < 2; random++)
        for (size_t b = 0; b < 3; b++)
          for (size_t t = 0; t < 3; t++)
            if (probe_selected (probe, "storage", what[write]))
              storage_measure (storage, "host", move_host, storage, write == 1, random == 1, threads[pass / 2][t],
                               blocks[pass % 2][b]);
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
    if (!probe_listing (probe))
      probe_note (probe, "storage: left out; --storage DIR says where");
    return true;
  }
  if (probe_listing (probe)) {
    measure_host (&storage);
    storage_cufile (&storage);
    return true;
  }
  const char *why = NULL;
  bool ok = open_storage (&storage);
  if (ok && (why = make_file (&storage)) != NULL) {
    probe_note (probe, "storage: %s: %s", probe_options (probe)->storage_dir, why);
    ok = false;
  }
  if (ok && !probe_interrupted ()) {
    measure_host (&storage);
    storage_cufile (&storage);
  }
  close_storage (&storage);
  return ok;
}
