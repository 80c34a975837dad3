/* A buffer of one line at least; what was taken is overwritten by what follows. */
#include "base/stream.h"

#include "base/diag.h"
#include "file-private.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#define CHUNK_B 65536u

struct BaseStream {
  char *path;
  int fd; /* -1: bytes in memory, or closed */
  const char *bytes;
  gsize n_bytes_B;
  char *buffer; /* size_B + 1 bytes, for the zero byte behind a line */
  gsize size_B, begin, end;
  gsize max_line_B;
  unsigned line;
  gsize column; /* of json_item: characters taken of the line */
  gboolean begun, at_end;
};

static BaseStream *
stream_new (const char *path, gsize max_line_B)
{
  BaseStream *stream = g_new0 (BaseStream, 1);
  stream->path = g_strdup (path);
  stream->fd = -1;
  stream->max_line_B = max_line_B;
  stream->size_B = CHUNK_B;
  stream->buffer = g_malloc (CHUNK_B + 1);
  return stream;
}

BaseStream *
base_stream_open (const char *path, gsize max_line_B, GError **error)
{
  const int fd = base_file_open (path, G_MAXSSIZE, error);
  if (fd < 0)
    return NULL;
  BaseStream *stream = stream_new (path, max_line_B);
  stream->fd = fd;
  return stream;
}

BaseStream *
base_stream_of_bytes (const char *name, const char *bytes, gsize n_B, gsize max_line_B)
{
  BaseStream *stream = stream_new (name, max_line_B);
  stream->bytes = bytes;
  stream->n_bytes_B = n_B;
  return stream;
}

void
base_stream_free (BaseStream *stream)
{
  if (stream == NULL)
    return;
  if (stream->fd >= 0)
    close (stream->fd);
  g_free (stream->path);
  g_free (stream->buffer);
  g_free (stream);
}

static BaseMark
mark_of (const BaseStream *stream)
{
  return (BaseMark){ stream->path, stream->line, (unsigned)stream->column };
}

static gssize
take_bytes (BaseStream *stream, char *to, gsize room)
{
  if (stream->fd < 0) {
    const gsize n = MIN (room, stream->n_bytes_B);
    if (n > 0)
      memcpy (to, stream->bytes, n);
    stream->bytes += n;
    stream->n_bytes_B -= n;
    return (gssize)n;
  }
  gssize n;
  do
    n = read (stream->fd, to, room);
  while (n < 0 && errno == EINTR);
  return n;
}

/* More bytes behind `end`; what was taken makes room first. */
static gboolean
fill (BaseStream *stream, GError **error)
{
  if (stream->begin > 0 && stream->size_B - stream->end < CHUNK_B / 2) {
    memmove (stream->buffer, stream->buffer + stream->begin, stream->end - stream->begin);
    stream->end -= stream->begin;
    stream->begin = 0;
  }
  if (stream->end == stream->size_B) {
    stream->size_B *= 2;
    stream->buffer = g_realloc (stream->buffer, stream->size_B + 1);
  }
  const gssize n = take_bytes (stream, stream->buffer + stream->end, stream->size_B - stream->end);
  if (n < 0)
    return base_fail_at (error, (BaseMark){ .file = stream->path }, "%s", g_strerror (errno));
  stream->at_end = n == 0;
  stream->end += (gsize)n;
  return TRUE;
}

static gboolean
fail_long (BaseStream *stream, const char *what, GError **error)
{
  return base_fail_at (error, mark_of (stream), "%s of more than %" G_GSIZE_FORMAT " B; shorter ones are accepted", what,
                       stream->max_line_B);
}

gsize
base_stream_peek (BaseStream *stream, char *bytes, gsize n_B)
{
  while (!stream->at_end && stream->end - stream->begin < n_B && fill (stream, NULL))
    ;
  const gsize n = MIN (n_B, stream->end - stream->begin);
  memcpy (bytes, stream->buffer + stream->begin, n);
  return n;
}

static gboolean
begin (BaseStream *stream, GError **error)
{
  while (!stream->begun && !stream->at_end && stream->end - stream->begin < 3)
    if (!fill (stream, error))
      return FALSE;
  if (!stream->begun && stream->end - stream->begin >= 3 && memcmp (stream->buffer + stream->begin, "\xEF\xBB\xBF", 3) == 0)
    stream->begin += 3;
  stream->begun = TRUE;
  return TRUE;
}

gboolean
base_stream_line (BaseStream *stream, char **line, gsize *n_B, GError **error)
{
  if (!begin (stream, error))
    return FALSE;
  gsize looked = 0; /* bytes behind `begin` without a line end */
  char *end;
  for (;;) {
    const gsize have = stream->end - stream->begin;
    end = memchr (stream->buffer + stream->begin + looked, '\n', have - looked);
    if (end != NULL || stream->at_end)
      break;
    looked = have;
    if (have > stream->max_line_B) {
      stream->line++;
      return fail_long (stream, "a line", error);
    }
    if (!fill (stream, error))
      return FALSE;
  }
  if (end == NULL && stream->end == stream->begin)
    return FALSE;
  char *from = stream->buffer + stream->begin;
  gsize n = end != NULL ? (gsize)(end - from) : stream->end - stream->begin;
  stream->begin += n + (end != NULL);
  stream->line++;
  if (n > stream->max_line_B)
    return fail_long (stream, "a line", error);
  if (n > 0 && from[n - 1] == '\r')
    n--;
  const char *zero = memchr (from, '\0', n);
  if (zero != NULL)
    return base_fail_at (error, base_stream_mark (stream, (gsize)(zero - from) + 1), "a zero byte; a text file is accepted");
  from[n] = '\0';
  *line = from;
  *n_B = n;
  return TRUE;
}

/* The next character of a JSON list, which stays in the buffer behind `begin`; -1 at the end or with *error. */
static int
next_char (BaseStream *stream, gsize at, GError **error)
{
  while (stream->begin + at >= stream->end)
    if (stream->at_end || !fill (stream, error))
      return -1;
  const char c = stream->buffer[stream->begin + at];
  if (c == '\n') {
    stream->line++;
    stream->column = 0;
  } else
    stream->column += (c & 0xC0) != 0x80;
  return (guint8)c;
}

/* Passes what stands before the next mapping. '{', ']', or 0 with *error; 1: the end of the file. */
static int
to_item (BaseStream *stream, gboolean first, GError **error)
{
  gboolean open = !first;
  for (;;) {
    g_autoptr (GError) why = NULL;
    const int c = next_char (stream, 0, &why);
    if (why != NULL) {
      g_propagate_error (error, g_steal_pointer (&why));
      return 0;
    }
    if (c < 0)
      return 1;
    if (c == '{' && open)
      return c;
    stream->begin++;
    if (c == ']' && open)
      return c;
    if (c == '[' && !open)
      open = TRUE;
    else if (strchr (" \t\r\n,", c) == NULL || (c == ',' && first)) {
      base_fail_at (error, mark_of (stream), "a JSON list of mappings is expected: [{…}, {…}]");
      return 0;
    }
  }
}

gboolean
base_stream_json_item (BaseStream *stream, const char **item, gsize *n_B, BaseMark *at, GError **error)
{
  const gboolean first = !stream->begun;
  if (!begin (stream, error))
    return FALSE;
  stream->line = MAX (stream->line, 1);
  const int sign = to_item (stream, first, error);
  if (sign == 1)
    return base_fail_at (error, mark_of (stream), "the file ends within its JSON list: cut off; write it again");
  if (sign != '{')
    return FALSE;
  *at = mark_of (stream);
  gboolean in_text = FALSE;
  gsize depth = 1, n = 1;
  while (depth > 0) {
    g_autoptr (GError) why = NULL;
    const int c = next_char (stream, n, &why);
    if (why != NULL) {
      g_propagate_error (error, g_steal_pointer (&why));
      return FALSE;
    }
    if (c < 0)
      return base_fail_at (error, *at, "the file ends within this mapping: cut off; write it again");
    n++;
    if (n > stream->max_line_B)
      return fail_long (stream, "a mapping", error);
    if (in_text && c == '\\') {
      next_char (stream, n, NULL);
      n += stream->begin + n < stream->end;
    } else if (c == '"')
      in_text = !in_text;
    else if (!in_text)
      depth = depth + (c == '{') - (c == '}');
  }
  *item = stream->buffer + stream->begin;
  *n_B = n;
  stream->begin += n;
  return TRUE;
}

unsigned
base_stream_line_number (const BaseStream *stream)
{
  return stream->line;
}

BaseMark
base_stream_mark (const BaseStream *stream, gsize column)
{
  return (BaseMark){ stream->path, stream->line, (unsigned)column };
}
