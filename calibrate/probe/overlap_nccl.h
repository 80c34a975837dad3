/* What the overlap section calls of NCCL, looked up in the library that is installed: the probe links no NCCL. */
#ifndef FORERUN_PROBE_OVERLAP_NCCL_H
#define FORERUN_PROBE_OVERLAP_NCCL_H

#include <dlfcn.h>
#include <nccl.h>

#define OVERLAP_NCCL_LIBRARY "libnccl.so.2"
/* The first that takes a number of channels for a communicator. */
#define OVERLAP_NCCL_SINCE NCCL_VERSION (2, 17, 0)

typedef struct {
  void *library;
  decltype (&ncclGetVersion) get_version;
  decltype (&ncclGetErrorString) get_error_string;
  decltype (&ncclGetUniqueId) get_unique_id;
  decltype (&ncclCommInitRankConfig) comm_init_rank_config;
  decltype (&ncclCommDestroy) comm_destroy;
  decltype (&ncclCommAbort) comm_abort;
  decltype (&ncclCommGetAsyncError) comm_get_async_error;
  decltype (&ncclGroupStart) group_start;
  decltype (&ncclGroupEnd) group_end;
  decltype (&ncclAllReduce) all_reduce;
  decltype (&ncclAllGather) all_gather;
  decltype (&ncclReduceScatter) reduce_scatter;
  decltype (&ncclSend) send;
  decltype (&ncclRecv) recv;
} OverlapNccl;

template <typename Function>
static inline bool
overlap_nccl_find (void *library, const char *name, Function *out)
{
  *out = reinterpret_cast<Function> (dlsym (library, name));
  return *out != NULL;
}

/* NULL, or what is missing. */
static inline const char *
overlap_nccl_open (OverlapNccl *n)
{
  n->library = dlopen (OVERLAP_NCCL_LIBRARY, RTLD_NOW | RTLD_LOCAL);
  if (n->library == NULL)
    return "no " OVERLAP_NCCL_LIBRARY " where the loader looks for libraries";
  int version = 0;
  const bool found = overlap_nccl_find (n->library, "ncclGetVersion", &n->get_version) &&
                     overlap_nccl_find (n->library, "ncclGetErrorString", &n->get_error_string) &&
                     overlap_nccl_find (n->library, "ncclGetUniqueId", &n->get_unique_id) &&
                     overlap_nccl_find (n->library, "ncclCommInitRankConfig", &n->comm_init_rank_config) &&
                     overlap_nccl_find (n->library, "ncclCommDestroy", &n->comm_destroy) &&
                     overlap_nccl_find (n->library, "ncclCommAbort", &n->comm_abort) &&
                     overlap_nccl_find (n->library, "ncclCommGetAsyncError", &n->comm_get_async_error) &&
                     overlap_nccl_find (n->library, "ncclGroupStart", &n->group_start) &&
                     overlap_nccl_find (n->library, "ncclGroupEnd", &n->group_end) &&
                     overlap_nccl_find (n->library, "ncclAllReduce", &n->all_reduce) &&
                     overlap_nccl_find (n->library, "ncclAllGather", &n->all_gather) &&
                     overlap_nccl_find (n->library, "ncclReduceScatter", &n->reduce_scatter) &&
                     overlap_nccl_find (n->library, "ncclSend", &n->send) && overlap_nccl_find (n->library, "ncclRecv", &n->recv);
  if (found && n->get_version (&version) == ncclSuccess && version >= OVERLAP_NCCL_SINCE)
    return NULL;
  return "this NCCL is older than 2.17, the first that takes channels for a communicator";
}

#endif
