/* What an importer reads off a machine before it is written as a topology: one kind of node, as the dump shows it. */
#ifndef CLUSTER_IMPORT_PRIVATE_H
#define CLUSTER_IMPORT_PRIVATE_H

#include "base/arena.h"
#include "base/diag.h"
#include "base/lookup.h"
#include "cluster/cluster.h"
#include "cluster/import.h"

/* As many GPUs and NICs of a node as a topology file takes. */
#define CLU_IMPORT_MAX_GPUS 1024u
#define CLU_IMPORT_MAX_NICS 1024u

/* PCI vendor ids (pci.ids). */
enum { CLU_PCI_NVIDIA = 0x10de, CLU_PCI_AMD = 0x1002, CLU_PCI_MELLANOX = 0x15b3, CLU_PCI_AMAZON = 0x1d0f };

typedef struct {
  BaseMark mark;
  guint32 number;             /* as the machine counts it */
  guint32 vendor, device, sm; /* PCI ids, 80 for sm_80; 0 unknown */
  guint32 arch;               /* AMD's: 1 plus its row in types.c; 0 unknown, or not AMD's */
  guint32 socket;             /* index into sockets */
  guint32 pcie_switch;        /* index into switches; CLU_NONE: attached to the socket */
  double slot_GTps;           /* 0 unknown */
  guint32 slot_lanes;         /* 0 unknown */
  guint32 switch_lanes;       /* NVLinks to NVSwitches together */
  double c2c_Bps;             /* coherent link to the CPU, 0 none */
} CluImportGpu;

typedef enum { CLU_IMPORT_WIRE_UNKNOWN, CLU_IMPORT_WIRE_INFINIBAND, CLU_IMPORT_WIRE_ROCE, CLU_IMPORT_WIRE_EFA,
               CLU_IMPORT_WIRE_ETHERNET } CluImportWire;

typedef struct {
  BaseMark mark;
  const char *name;
  CluImportWire wire;
  double rate_bps;            /* bit/s; 0 unknown */
  guint32 vendor, device;
  guint32 socket, pcie_switch;
} CluImportNic;

typedef struct {
  BaseMark mark;
  guint32 socket;
  double uplink_GTps;         /* 0 unknown */
  guint32 uplink_lanes;
  gboolean uplink_known;      /* the dump speaks of uplinks at all */
} CluImportSwitch;

typedef struct {
  gint32 numa;                /* -1 unknown */
  CluCpu vendor;
  gboolean vendor_known;
} CluImportSocket;

typedef struct {
  BaseMark mark;
  guint32 a, b;               /* index into gpus: a says that it has lanes to b */
  guint32 lanes;
} CluImportLink;

typedef struct {
  const CluImport *input;
  const char *origin;         /* "NCCL topology dump": notes say it */
  const char *link_word;      /* of links between GPUs: "NVLink" */
  guint32 n_hosts;            /* nodes that the dump shows (an NVLink domain); the arrays hold one of them */
  GArray *gpus, *nics, *switches, *sockets, *links;
  GArray *planes;             /* guint32: NVLinks of one GPU to each NVSwitch; empty: not distinguished */
  guint32 n_nvswitches;       /* 0: not told */
  gboolean nvlinks_untold;    /* the file does not speak of NVLinks at all */
  BaseArena *arena;
} CluImportMachine;

void clu_import_machine_init (CluImportMachine *machine, const CluImport *input, const char *origin);
void clu_import_machine_clear (CluImportMachine *machine);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (CluImportMachine, clu_import_machine_clear)

/* A warning, printf-like: what was not said, or does not fit. */
#define clu_import_warn(machine, mark, ...) base_diag_warn ((machine)->input->warnings, mark, __VA_ARGS__)

/* Adds a wire by the name that Linux' rdma-core gives an adapter; `fallback` for other names. */
CluImportWire clu_import_wire_of_name (const char *name, CluImportWire fallback);

/* --- types.c: which shipped type a device is. */
typedef struct {
  char *name;          /* NULL: no type is shipped; owned */
  const char *product; /* pci.ids' name; NULL unknown */
  guint32 sm;          /* the type's; 0 unknown */
  guint32 lanes;       /* scale-up links of one GPU; 0: none, or not known */
} CluImportType;
void clu_import_type_clear (CluImportType *type);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (CluImportType, clu_import_type_clear)

/* The type of the machine's GPUs. `lanes`: NVLinks of one of them, 0 none or not told. With no shipped type, *out has no name.
 * FALSE and *error when it cannot be told. */
gboolean clu_import_gpu_type (CluImportMachine *machine, guint32 lanes, CluImportType *out, GError **error);

/* Scale-up links of one GPU of a shipped type, and the most of any shipped NVIDIA type; 0 when not known. */
guint32 clu_import_type_lanes (const BaseLookup *lookup, const char *name);
guint32 clu_import_most_lanes (const BaseLookup *lookup);

/* The shipped NIC type of that wire nearest in rate, and its rate (bit/s). NULL when none is of that wire. Borrowed. */
const char *clu_import_nic_type (const CluImportNic *nic, const BaseLookup *lookup, double *rate_bps);

/* What the adapters of a node with such GPUs usually run at (bit/s), for dumps that do not say; 0 not known. */
double clu_import_usual_nic_rate (guint32 sm);

/* AMD's architecture by its name, "908" or "gfx942", for CluImportGpu; 0 when not known. `name` may be NULL. */
guint32 clu_import_amd_arch (const char *name);
/* Link class of the links between such GPUs: of an AMD architecture, else of the NVLinks of sm_NN; NULL when not known. */
const char *clu_import_link_class (const CluImportGpu *gpu, guint32 sm);
/* PCIe generation of a rate in GT/s a lane; 0 unknown. */
guint32 clu_import_pcie_generation (double GTps);

/* --- write.c */
/* The machine as topology YAML. Renumbers GPUs and NICs of the machine. Returned: full, g_free; NULL and *error. */
char *clu_import_write (CluImportMachine *machine, GError **error);

#endif
