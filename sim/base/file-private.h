/* Opening a file whose size and kind are the user's. */
#ifndef BASE_FILE_PRIVATE_H
#define BASE_FILE_PRIVATE_H

#include "base/file.h"

/* A descriptor of a file that base_file_read would read; close it. -1 and *error where it cannot be read. */
int base_file_open (const char *path, gsize max_B, GError **error);

#endif
