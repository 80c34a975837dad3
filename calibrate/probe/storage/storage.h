/* The storage section: what its host path (storage.cu) and its GPU path (storage_cufile.cu) share. */
#ifndef FORERUN_PROBE_STORAGE_H
#define FORERUN_PROBE_STORAGE_H

#include "probe.h"
#include "probe_team.h"

#define STORAGE_THREADS_MOST 32
#define STORAGE_BLOCK_MOST_B ((size_t)4 << 20)

typedef struct {
  Probe *probe;
  char path[4096];
  int fd; /* O_DIRECT */
  size_t size_B;
  ProbeTeam *team;
  char *buffer[STORAGE_THREADS_MOST]; /* STORAGE_BLOCK_MOST_B each, aligned for O_DIRECT */
} Storage;

/* Moves one block of thread t; 0, or an errno. */
typedef int (*StorageMove) (void *user, unsigned thread, bool write, size_t block_B, size_t offset_B);

typedef struct {
  Storage *storage;
  StorageMove move;
  void *user;
  bool write, random;
  unsigned threads;
  size_t block_B;
  unsigned k; /* blocks of each thread in a sample; 0: not yet known */
  size_t next[STORAGE_THREADS_MOST];
  uint64_t state[STORAGE_THREADS_MOST];
  double begin_s[STORAGE_THREADS_MOST], end_s[STORAGE_THREADS_MOST];
  int failed[STORAGE_THREADS_MOST];
} StorageRun;

/* Measures one case and makes its point; `path`: host or cufile. In --list mode lists it. */
void storage_measure (Storage *storage, const char *path, StorageMove move, void *user, bool write, bool random, unsigned threads,
                      size_t block_B);
/* All cases of the GPU path, or a point that says why there are none. */
void storage_cufile (Storage *storage);

#endif
