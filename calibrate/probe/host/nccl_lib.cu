#include "nccl_lib.h"

#include "probe_fail.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static bool tried;
static void *library;
static char reason[1024];

static void
try_open (const char *path)
{
  if (library != NULL || path == NULL || *path == '\0')
    return;
  library = dlopen (path, RTLD_NOW | RTLD_LOCAL);
  if (library == NULL && reason[0] == '\0') { /* what is wrong with the first is the most telling */
    const char *error = dlerror ();
    snprintf (reason, sizeof reason,
              "its library cannot be loaded: %s; give it with --nccl-lib FILE, or its folder in LD_LIBRARY_PATH",
              error != NULL ? error : path);
  }
}

bool
nccl_lib_open (const char *path)
{
  pthread_mutex_lock (&lock);
  if (!tried) {
    tried = true;
    if (path != NULL) {
      try_open (path);
    } else {
#ifdef PROBE_NCCL_FIRST
      try_open (PROBE_NCCL_FIRST); /* the one of NCCL_ROOT */
#endif
      try_open ("libnccl.so.2");
      try_open ("libnccl.so");
#ifdef PROBE_NCCL_LAST
      try_open (PROBE_NCCL_LAST); /* found when this was built, but not where the loader looks */
#endif
    }
  }
  bool ok = library != NULL;
  pthread_mutex_unlock (&lock);
  return ok || probe_fail ("%s", reason);
}

static void *
find (const char *name)
{
  return nccl_lib_open (NULL) ? dlsym (library, name) : NULL;
}

#define HAND_ON(name, parameters, arguments)                       \
  extern "C" ncclResult_t name parameters                          \
  {                                                                \
    static decltype (&name) real = (decltype (&name))find (#name); \
    return real != NULL ? real arguments : ncclSystemError;        \
  }

HAND_ON (ncclGetVersion, (int *version), (version))
HAND_ON (ncclGetUniqueId, (ncclUniqueId * id), (id))
HAND_ON (ncclCommInitRank, (ncclComm_t * comm, int n, ncclUniqueId id, int rank), (comm, n, id, rank))
HAND_ON (ncclCommInitRankConfig, (ncclComm_t * comm, int n, ncclUniqueId id, int rank, ncclConfig_t *config),
         (comm, n, id, rank, config))
HAND_ON (ncclCommDestroy, (ncclComm_t comm), (comm))
HAND_ON (ncclCommAbort, (ncclComm_t comm), (comm))
HAND_ON (ncclCommGetAsyncError, (ncclComm_t comm, ncclResult_t *error), (comm, error))
HAND_ON (ncclMemAlloc, (void **out, size_t bytes), (out, bytes))
HAND_ON (ncclCommRegister, (const ncclComm_t comm, void *buffer, size_t bytes, void **out), (comm, buffer, bytes, out))
HAND_ON (ncclCommDeregister, (const ncclComm_t comm, void *held), (comm, held))
#if NCCL_VERSION_CODE >= NCCL_VERSION(2, 27, 0)
HAND_ON (ncclCommWindowRegister, (ncclComm_t comm, void *buffer, size_t bytes, ncclWindow_t *out, int flags),
         (comm, buffer, bytes, out, flags))
HAND_ON (ncclCommWindowDeregister, (ncclComm_t comm, ncclWindow_t window), (comm, window))
#endif
HAND_ON (ncclGroupStart, (void), ())
HAND_ON (ncclGroupEnd, (void), ())
HAND_ON (ncclAllReduce,
         (const void *in, void *out, size_t n, ncclDataType_t type, ncclRedOp_t op, ncclComm_t comm, cudaStream_t stream),
         (in, out, n, type, op, comm, stream))
HAND_ON (ncclAllGather, (const void *in, void *out, size_t n, ncclDataType_t type, ncclComm_t comm, cudaStream_t stream),
         (in, out, n, type, comm, stream))
HAND_ON (ncclReduceScatter,
         (const void *in, void *out, size_t n, ncclDataType_t type, ncclRedOp_t op, ncclComm_t comm, cudaStream_t stream),
         (in, out, n, type, op, comm, stream))
HAND_ON (ncclBroadcast, (const void *in, void *out, size_t n, ncclDataType_t type, int root, ncclComm_t comm, cudaStream_t stream),
         (in, out, n, type, root, comm, stream))
HAND_ON (ncclReduce,
         (const void *in, void *out, size_t n, ncclDataType_t type, ncclRedOp_t op, int root, ncclComm_t comm, cudaStream_t stream),
         (in, out, n, type, op, root, comm, stream))
HAND_ON (ncclSend, (const void *in, size_t n, ncclDataType_t type, int peer, ncclComm_t comm, cudaStream_t stream),
         (in, n, type, peer, comm, stream))
HAND_ON (ncclRecv, (void *out, size_t n, ncclDataType_t type, int peer, ncclComm_t comm, cudaStream_t stream),
         (out, n, type, peer, comm, stream))

extern "C" const char *
ncclGetErrorString (ncclResult_t result)
{
  static decltype (&ncclGetErrorString) real = (decltype (&ncclGetErrorString))find ("ncclGetErrorString");
  return real != NULL ? real (result) : "NCCL's library is not loaded";
}

extern "C" const char *
ncclGetLastError (ncclComm_t comm)
{
  static decltype (&ncclGetLastError) real = (decltype (&ncclGetLastError))find ("ncclGetLastError");
  return real != NULL ? real (comm) : "";
}

void
nccl_lib_version (char *out, size_t size)
{
  int version = 0;
  out[0] = '\0';
  if (!nccl_lib_open (NULL) || ncclGetVersion (&version) != ncclSuccess)
    return;
  int major = version >= 10000 ? version / 10000 : version / 1000; /* 22809 is 2.28.9; 2809 would be 2.8.9 */
  int rest = version >= 10000 ? version % 10000 : version % 1000;
  snprintf (out, size, "%d.%d.%d", major, rest / 100, rest % 100);
}
