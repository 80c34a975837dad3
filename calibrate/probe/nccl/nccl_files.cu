/* Where NCCL leaves its log and its XML. */
#include "nccl_section.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool
nccl_files_make (NcclFiles *files)
{
  snprintf (files->folder, sizeof files->folder, "/tmp/forerun-probe-XXXXXX"); /* not TMPDIR: NCCL cuts long names */
  if (mkdtemp (files->folder) == NULL)
    return false;
  snprintf (files->log, sizeof files->log, "%s/nccl.log", files->folder);
  snprintf (files->xml, sizeof files->xml, "%s/topology.xml", files->folder);
  return true;
}

void
nccl_files_remove (NcclFiles *files)
{
  unlink (files->log);
  unlink (files->xml);
  rmdir (files->folder);
}

/* Where the name is set NCCL finds the machine twice, the first time to write it, and each time the ranks of a node tell each other
 * what they see: one that has it and one that has not wait for each other for ever (NVIDIA/nccl 2.28
 * src/init.cc:initTransportsRank, src/graph/topo.cc:ncclTopoGetSystem). */
size_t
nccl_files_xml_settings (const NcclFiles *files, char text[NCCL_FILES_TEXT], const char *out[NCCL_FILES_SETTINGS])
{
  snprintf (text, NCCL_FILES_TEXT, "NCCL_TOPO_DUMP_FILE=%s", files->xml);
  out[0] = text;
  out[1] = "NCCL_TOPO_DUMP_FILE_RANK=0"; /* the folder is there alone */
  return 2;
}

size_t
nccl_files_log_settings (const NcclFiles *files, char text[NCCL_FILES_TEXT], const char *out[NCCL_FILES_SETTINGS])
{
  snprintf (text, NCCL_FILES_TEXT, "NCCL_DEBUG_FILE=%s", files->log);
  out[0] = text;
  out[1] = "NCCL_DEBUG=INFO";
  out[2] = "NCCL_DEBUG_SUBSYS=TUNING,COLL,INIT,GRAPH";
  return 3;
}
