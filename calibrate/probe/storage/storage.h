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

/* Moves one block of a thread. */
typedef bool (*StorageMove) (void *user, unsigned thread, bool write, size_t block_B, size_t offset_B);

typedef struct {
  const char *path; /* host or cufile */
  StorageMove move;
  void *user;
  bool write, random;
  unsigned threads;
  size_t block_B;
} StorageCase;

/* Measures one case, if it is selected, and makes its point. In --list mode lists it. */
void storage_measure (Storage *storage, const StorageCase *c);
/* A StorageMove of the host's own; `user`: Storage. */
bool storage_move_host (void *user, unsigned thread, bool write, size_t block_B, size_t offset_B);
/* All cases of the path to the GPU by way of the host, or a point that says why there are none. */
void storage_bounce (Storage *storage);
/* All cases of the GPU path, or a point that says why there are none. */
void storage_cufile (Storage *storage);

#endif
