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

size_t
nccl_files_settings (const NcclFiles *files, char log[NCCL_FILES_TEXT], char xml[NCCL_FILES_TEXT],
                     const char *out[NCCL_FILES_SETTINGS])
{
  snprintf (log, NCCL_FILES_TEXT, "NCCL_DEBUG_FILE=%s", files->log);
  snprintf (xml, NCCL_FILES_TEXT, "NCCL_TOPO_DUMP_FILE=%s", files->xml);
  out[0] = log;
  out[1] = xml;
  out[2] = "NCCL_DEBUG=INFO";
  out[3] = "NCCL_DEBUG_SUBSYS=TUNING,COLL,INIT,GRAPH";
  return NCCL_FILES_SETTINGS;
}
