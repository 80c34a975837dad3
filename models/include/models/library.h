/* The constants of a communication library and of copies on one kind of hardware, each with its source. Filled by calibrate/ from
 * calibrate/defaults/ and calibration files; pure data here. Struct members: library-spec.h of this folder. */
#ifndef MODELS_LIBRARY_H
#define MODELS_LIBRARY_H

#include "base/diag.h"
#include "base/lookup.h"
#include "models/op.h"

/* How operations reach the GPU. */
typedef enum {
  MDL_LAUNCH_GRAPH,      /* CUDA graph replay: no launch cost */
  MDL_LAUNCH_THREADS,    /* one thread or process a GPU, plain launches (torchrun, mpirun) */
  MDL_LAUNCH_SERIAL,     /* one thread launches on all GPUs of the node */
  MDL_LAUNCH_REGISTERED, /* CUDA graph replay on buffers that NCCL registers: ncclMemAlloc's, as nccl-tests has, no cudaMalloc's */
  MDL_LAUNCH_N
} MdlLaunch;
extern const BaseName mdl_launch_names[];       /* graph threads serial registered */
gboolean mdl_launch_replays (MdlLaunch launch); /* a CUDA graph: no launch of its own */

/* What an operation's buffers are to NCCL. */
typedef enum {
  MDL_BUFFERS_PLAIN,
  MDL_BUFFERS_REGISTERED, /* registered with the communicator (ncclCommRegister), of ncclMemAlloc */
  MDL_BUFFERS_SYMMETRIC, /* in windows of symmetric memory (ncclCommWindowRegister, NCCL_WIN_COLL_SYMMETRIC) */
} MdlBuffers;
extern const BaseName mdl_buffers_names[]; /* plain registered symmetric */

/* What carries a step between two neighbouring ranks. */
typedef enum { MDL_HOP_NVLINK, MDL_HOP_PCIE, MDL_HOP_HOST, MDL_HOP_NET, MDL_HOP_NET_HOST, MDL_HOP_TCP, MDL_HOP_N } MdlHop;

typedef struct MdlLibrary MdlLibrary;

/* Copies and links that come with it (models/links.h), borrowed; NULL: none. */
const struct MdlLinks *mdl_library_links (const MdlLibrary *library);
/* "NCCL", "RCCL"; borrowed. */
const char *mdl_library_name (const MdlLibrary *library);
/* "2.28.9", as the constants of its choice are of; NULL where no version is known. Borrowed. */
const char *mdl_library_version (const MdlLibrary *library);

/* Threads of the host that serve the network, on cores that are too few for them. */
typedef struct {
  double core_Bps; /* of TCP, that one core copies; 0: not known */
  double post_B;   /* that a thread hands to an adapter at once … */
  double post_s;   /* … and what that takes it, its turn on a shared core included */
  double turn_s;   /* until a thread runs again, for each other one on its core */
} MdlHostThreads;
MdlHostThreads mdl_library_cpu (const MdlLibrary *library);

/* What NCCL's variables make of a library's constants; 0: as they are. */
typedef struct {
  double buffer_B;        /* NCCL_BUFFSIZE: of a Simple connection, all slots */
  unsigned threads;       /* NCCL_NTHREADS: of a block by LL and Simple */
  unsigned ll128_threads; /* NCCL_LL128_NTHREADS */
  unsigned net_channels;  /* NCCL_NCHANNELS_PER_NET_PEER */
  unsigned sockets;       /* NCCL_SOCKET_NTHREADS x NCCL_NSOCKS_PERTHREAD: connections of a channel */
} MdlLibraryEnv;
/* A copy with these laid over it. Its lists and texts stay those of `library`, which must outlive it. Blocks of fewer threads are
 * taken to move as much less (bytes under way are a thread's, times threads), which is assumed. Returned: full, g_free. */
MdlLibrary *mdl_library_with (const MdlLibrary *library, const MdlLibraryEnv *env);

/* Constants of the library's own choice of algorithms (models/tuner.h); NULL: it has none that is modelled. */
const struct MdlTunerSpec *mdl_library_tuner (const MdlLibrary *library);

/* Constants of expert dispatch and combine (models/moe.h); NULL: none. */
const struct MdlMoeSpec *mdl_library_moe (const MdlLibrary *library);
/* Names of the inference frameworks whose all-reduce kernels are known (MDL_ALGO_ONE_SHOT), borrowed; the last is NULL. Returned:
 * full, g_ptr_array_unref. */
GPtrArray *mdl_one_shot_frameworks (const MdlLibrary *library);

/* Whether a plugin of the library serves networks of this link class (NULL: none), in place of the library's own transport. */
gboolean mdl_library_plugged (const MdlLibrary *library, const char *link_class);

/* Buffers of a Simple connection that this plugin asks for, B; 0: NCCL's own. */
double mdl_library_buffer_B (const MdlLibrary *library, const char *link_class);

/* Communicators that are created one after another. */
typedef struct {
  unsigned count, ranks, local, nodes; /* local: ranks of a node */
  gboolean again;                      /* their processes have created others before */
} MdlCreateQuestion;
typedef struct {
  double time_s;     /* until they are ready for use: all that follows included */
  double connect_s;  /* of it: connections that the library makes at the first use, not when it creates them */
  BaseSource source; /* weakest constant used */
} MdlCreateTime;
/* What creating them takes, s; all 0 for count 0 or one rank. Source: collective/library.c. */
void mdl_create_time (const MdlLibrary *library, const MdlCreateQuestion *question, MdlCreateTime *out);

/* What that plugin tells NCCL of its latency, s; 0 where there is none or it tells nothing. */
double mdl_library_tuner_latency_s (const MdlLibrary *library, const char *link_class);

/* What that plugin chooses in NCCL's place (models/tuner_region.h); NULL: nothing. */
const struct MdlTunerRegions *mdl_library_regions (const MdlLibrary *library, const char *link_class, unsigned compute_capability);

/* Whether the library works inside each node first, then between nodes. */
gboolean mdl_library_is_hierarchical (const MdlLibrary *library);

/* Whether the library sees the adapters beside one GPU as one, on a network of this link class (NULL: none). */
gboolean mdl_library_groups (const MdlLibrary *library, const char *link_class);

/* A library that is asked for; NULL: none, and what then holds. */
typedef struct {
  const char *name;         /* calibration, a path or a bare name; NULL: the one named like gpu_type if one is shipped, else none,
                             * which is warned about: data sheet and default efficiencies, marked assumed, wide band */
  const char *from;         /* file that a path is relative to */
  const char *gpu_type;     /* "h100_sxm": its file names the vendor */
  const char *nccl;         /* version of NCCL whose choice is taken, "2.28" or "2.28.9"; NULL: that of the calibration, else the
                             * newest known */
  gboolean nccl_if_known;   /* a version that is not known is as if none were asked for; else an error */
  const BaseLookup *lookup; /* needed */
  GPtrArray *inputs;        /* BaseYaml *: a reference of each file read is appended */
  BaseDiag *warnings;
} MdlLibraryQuery;

#endif
