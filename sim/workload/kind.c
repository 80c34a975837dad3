/* The kinds of workloads: a row in each of two tables. */
#include "scenario-private.h"

const BaseName wrk_kind_names[] = {
  { "collective", WRK_KIND_COLLECTIVE, "one collective operation" },
  { "transfer", WRK_KIND_TRANSFER, "copies from one device to another" },
  { "training", WRK_KIND_TRAINING, "a training step of a model, or of layers with given times" },
  { "io", WRK_KIND_IO, "storage reads and writes" },
  { NULL, 0, NULL },
};

static const WrkKindOps *const kinds[WRK_KIND_N] = {
  [WRK_KIND_COLLECTIVE] = &wrk_kind_collective,
  [WRK_KIND_TRANSFER] = &wrk_kind_transfer,
  [WRK_KIND_TRAINING] = &wrk_kind_training,
  [WRK_KIND_IO] = &wrk_kind_io,
};

const WrkKindOps *
wrk_kind_ops (WrkKind kind)
{
  return kinds[kind];
}
