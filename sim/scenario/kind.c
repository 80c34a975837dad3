/* The kinds of workloads: a row in each of two tables. */
#include "scenario/loaded.h"

const BaseName scn_kind_names[] = {
  { "collective", SCN_KIND_COLLECTIVE, "one collective operation" },
  { "transfer", SCN_KIND_TRANSFER, "copies from one device to another" },
  { "training", SCN_KIND_TRAINING, "a training step of a model, or of layers with given times" },
  { "io", SCN_KIND_IO, "storage reads and writes" },
  { NULL, 0, NULL },
};

static const ScnKindOps *const kinds[SCN_KIND_N] = {
  [SCN_KIND_COLLECTIVE] = &scn_kind_collective,
  [SCN_KIND_TRANSFER] = &scn_kind_transfer,
  [SCN_KIND_TRAINING] = &scn_kind_training,
  [SCN_KIND_IO] = &scn_kind_io,
};

const ScnKindOps *
scn_kind_ops (ScnKind kind)
{
  return kinds[kind];
}
