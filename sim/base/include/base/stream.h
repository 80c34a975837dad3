/* A text file of any length, read line by line in memory that does not grow with it. */
#ifndef BASE_STREAM_H
#define BASE_STREAM_H

#include "base/error.h"
#include "base/mark.h"

typedef struct BaseStream BaseStream;

/* A line longer than max_line_B is refused. NULL and *error (BASE_ERROR_INPUT) as base_file_read. Returned: full. */
BaseStream *base_stream_open (const char *path, gsize max_line_B, GError **error);
/* The same of bytes in memory, borrowed until the stream is freed; messages call them `name`, which is copied. */
BaseStream *base_stream_of_bytes (const char *name, const char *bytes, gsize n_B, gsize max_line_B);
void base_stream_free (BaseStream *stream);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (BaseStream, base_stream_free)

/* The next line without its end ("\n" or "\r\n") and a zero byte behind it; a byte order mark is left out of the first. It is
 * borrowed until the next call and may be changed. FALSE at the end of the file; FALSE and *error where it cannot be read, is
 * too long or holds a zero byte. */
gboolean base_stream_line (BaseStream *stream, char **line, gsize *n_B, GError **error);
/* The next mapping of a JSON list of mappings, borrowed until the next call: what stands between its outermost braces, whatever
 * that is (base_json_read judges it; no zero byte follows). *at is where it begins. FALSE at the end of the list; FALSE and
 * *error where there is no list, where it is cut off, or where a mapping is longer than a line may be. */
gboolean base_stream_json_item (BaseStream *stream, const char **item, gsize *n_B, BaseMark *at, GError **error);

/* The first bytes, at most n_B, without taking them: 0 where the file is empty or cannot be read. Before anything is taken. */
gsize base_stream_peek (BaseStream *stream, char *bytes, gsize n_B);
/* Of the line that base_stream_line gave last, counted from 1; 0: none yet. */
unsigned base_stream_line_number (const BaseStream *stream);
/* That line and this column (from 1; 0: none). Its file is borrowed from the stream. */
BaseMark base_stream_mark (const BaseStream *stream, gsize column);

#endif
