/* A folder outside of which nothing is read or written, for a program that answers others' questions.
 *
 * It is of the process: once set it stays, and can only become narrower. Symbolic links are followed before a path is judged.
 * What was opened is judged again by the name that the system has for it, so a link that changes meanwhile gains nothing. */
#ifndef BASE_SANDBOX_H
#define BASE_SANDBOX_H

#include "base/error.h"

/* From now on files are read below `folder` and the shipped data, and written below `folder`. FALSE and *error
 * (BASE_ERROR_INPUT) where it is no folder, or not below the one that is set. */
gboolean base_sandbox_set (const char *folder, GError **error);
gboolean base_sandbox_is_set (void);
/* The shipped data below `root` may be read. Each BaseLookup says so of its own. */
void base_sandbox_add_data (const char *root);

/* FALSE and *error (BASE_ERROR_INPUT, names `path` alone) where a sandbox is set and `path` leads out of it, whether there is
 * such a file or not. */
gboolean base_sandbox_may_read (const char *path, GError **error);
gboolean base_sandbox_may_write (const char *path, GError **error);
/* The same of what is open as `fd`, which was opened by `path`. */
gboolean base_sandbox_may_read_open (int fd, const char *path, GError **error);
gboolean base_sandbox_may_write_open (int fd, const char *path, GError **error);

#endif
