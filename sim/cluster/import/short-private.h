/* Tools that say a part of a node only: counts and types become a short topology, in which the rest is as in the shipped node of
 * the GPU's type. */
#ifndef CLUSTER_IMPORT_SHORT_PRIVATE_H
#define CLUSTER_IMPORT_SHORT_PRIVATE_H

#include "import/import-private.h"

/* 0 and NULL: not said. */
typedef struct {
  const char *tool;     /* notes say it */
  const char *gpu;      /* a shipped type, from the GPUs' name; --gpu goes before it */
  const char *gpu_name; /* as the tool prints it */
  guint32 n_gpus, lanes_used;
  gboolean no_lanes; /* no link between GPUs works */
  const char *nic;
  guint32 n_nics, n_sockets;
  guint64 memory_MiB; /* of all sockets together */
} CluImportParts;

/* A line of the text, and its number from 1. */
typedef gboolean (*CluImportVisit) (void *reader, char *line, BaseMark mark, GError **error);
/* Calls `visit` for each line, without white space at both ends; mark.column is its first character. FALSE and *error on a NUL byte
 * or what is not UTF-8, or as the visitor says. */
gboolean clu_import_lines (const CluImport *input, CluImportVisit visit, void *reader, GError **error);

/* What follows "PREFIX 12AFTER" at the start of a line, without blanks before it, and 12; NULL: the line starts otherwise. */
const char *clu_import_after_number (const char *line, const char *prefix, char after, guint32 *number);

/* The shipped type of a GPU as NVIDIA's tools print its name ("NVIDIA H100 80GB HBM3"); NULL: none. */
const char *clu_import_type_of_name (const char *name);

/* The text of a short topology: full, g_free; NULL and *error where neither the tool nor --gpu says the type. */
char *clu_import_write_short (const CluImport *input, const CluImportParts *parts, GError **error);

#endif
