#include "nccl_section.h"

#include "nccl_worker.h"
#include "probe_fail.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool
nccl_files_make (NcclFiles *files)
{
  snprintf (files->folder, sizeof files->folder, "/tmp/forerun-probe-XXXXXX"); /* not TMPDIR: NCCL cuts long names */
  if (mkdtemp (files->folder) == NULL)
    return probe_fail ("%s: %s", files->folder, strerror (errno));
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

/* Where the name of the XML is set NCCL finds the machine twice, the first time to write it, and each time the ranks of a node tell
 * each other what they see: one that has it and one that has not wait for each other for ever (NVIDIA/nccl 2.28
 * src/init.cc:initTransportsRank, src/graph/topo.cc:ncclTopoGetSystem). */
void
nccl_settings_make (NcclSettings *settings, const NcclStage *stage, const ProbeOptions *options, const NcclFiles *files)
{
  *settings = NcclSettings ();
  for (size_t i = 0; i < NCCL_SETTINGS_MOST && stage->setting[i] != NULL; i++)
    settings->item[settings->n++] = stage->setting[i];
  if (options->no_nvls) /* other machines do not have this process's environment */
    settings->item[settings->n++] = "NCCL_NVLS_ENABLE=0";
  if (!stage->choice)
    return;
  snprintf (settings->xml, sizeof settings->xml, "NCCL_TOPO_DUMP_FILE=%s", files->xml);
  settings->item[settings->n++] = settings->xml;
  settings->item[settings->n++] = "NCCL_TOPO_DUMP_FILE_RANK=0"; /* the folder is there alone */
}

void
nccl_settings_add_log (NcclSettings *settings, const NcclFiles *files)
{
  snprintf (settings->log, sizeof settings->log, "NCCL_DEBUG_FILE=%s", files->log);
  settings->item[settings->n++] = settings->log;
  settings->item[settings->n++] = "NCCL_DEBUG=INFO";
  settings->item[settings->n++] = "NCCL_DEBUG_SUBSYS=TUNING,COLL,INIT,GRAPH";
}

void
nccl_command_make (NcclCommand *command, const ProbeOptions *options, unsigned gpus, int device, const NcclFiles *files)
{
  command->gpus = std::to_string (gpus);
  command->bytes = std::to_string (NCCL_BUFFER_B);
  command->device = std::to_string (device);
  const char *library = options->nccl_library != NULL ? options->nccl_library : "-";
  const char *const argv[] = { "/proc/self/exe",
                               NCCL_WORKER_OPTION,
                               command->gpus.c_str (),
                               command->bytes.c_str (),
                               "-",
                               library,
                               device < 0 ? NULL : command->device.c_str (),
                               NULL };
  memcpy (command->argv, argv, sizeof argv); /* exec takes them as not const, and leaves them alone */
  memcpy (command->argv_with_log, argv, sizeof argv);
  command->argv_with_log[4] = (char *)files->log;
}
