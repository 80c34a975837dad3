/* Running another program on files in memory. */
#ifndef REPORT_PROCESS_PRIVATE_H
#define REPORT_PROCESS_PRIVATE_H

#include <glib.h>

typedef struct {
  const char *folder;       /* that it works in */
  const char *const *words; /* the program, found by PATH, and its arguments; ends with NULL */
  const int *files;         /* descriptors that it inherits: /proc/self/fd/N for it too */
  size_t n_files;
  guint limit_s; /* after which it is stopped, with all that it has started */
} RepProcess;

/* Without a shell; stdin and stdout are /dev/null, and `said` gets its stderr. FALSE and *error where it cannot be run, fails, or
 * is stopped. */
gboolean rep_process_run (const RepProcess *process, GString *said, GError **error);

/* A file without a name that holds `bytes` (NULL: nothing), gone when all have closed it; -1 with errno. */
int rep_memory_file (const char *name, const GString *bytes);
/* All that it holds now. Returned: full. */
GString *rep_memory_file_read (int fd);

#endif
