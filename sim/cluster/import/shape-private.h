/* The regular shape that a topology file has, as near to a dump as it comes. */
#ifndef CLUSTER_IMPORT_SHAPE_PRIVATE_H
#define CLUSTER_IMPORT_SHAPE_PRIVATE_H

#include "import/import-private.h"

typedef struct {
  /* PCIe; rates and lanes are 0 where the dump does not say */
  guint32 switch_per;
  double uplink_GTps, slot_GTps;
  guint32 uplink_lanes, slot_lanes;
  gboolean uplink_known;
  /* CPUs */
  guint32 n_sockets;
  gboolean numa_known, cpu_known;
  CluCpu cpu;
  double c2c_Bps;
  /* scale-up */
  CluScaleUpKind scale_up;    /* none, switch or links */
  guint32 lanes;              /* of one GPU: to the switch, or to all peers (the most of any) */
  GArray *links;              /* CluImportLink, a < b, each pair once */
  /* network */
  GArray *nics;               /* CluImportNic: those of the fabric, alike and dividing over the GPUs */
  gboolean nics_under_switch;
  GPtrArray *nics_on;         /* char *: what each NIC stands on ("pcie_switch0"); NULL: they divide evenly */
  double frontend_bps;        /* 0: none */
  const char *frontend_name;
} CluImportShape;

/* Orders the machine's GPUs and fills `shape`; the machine has a GPU and every GPU a socket. Warnings go to machine->diag. */
void clu_import_shape_init (CluImportShape *shape, CluImportMachine *machine);
void clu_import_shape_clear (CluImportShape *shape);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (CluImportShape, clu_import_shape_clear)

#endif
