#include "probe_json.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define WHOLE_MOST 9007199254740992.0 /* 2^53: whole numbers up to here are exact in a double */

static void
put (ProbeJson *json, const char *text, size_t length)
{
  if (json->failed)
    return;
  if (json->room - json->length <= length) {
    size_t room = (json->length + length + 64) * 2;
    char *grown = realloc (json->text, room);
    if (grown == NULL) {
      json->failed = true;
      return;
    }
    json->text = grown;
    json->room = room;
  }
  memcpy (json->text + json->length, text, length);
  json->length += length;
  json->text[json->length] = '\0';
}

/* Bytes of the UTF-8 character at `s`; 0: it is none (then also too long, a surrogate or beyond Unicode). */
static size_t
utf8_length (const unsigned char *s)
{
  static const unsigned long least[] = { 0, 0, 0x80, 0x800, 0x10000 };
  size_t n = s[0] < 0x80 ? 1 : s[0] >> 5 == 6 ? 2 : s[0] >> 4 == 14 ? 3 : s[0] >> 3 == 30 ? 4 : 0;
  if (n < 2)
    return n;
  unsigned long code = s[0] & (0x7fU >> n);
  for (size_t i = 1; i < n; i++) {
    if (s[i] >> 6 != 2)
      return 0;
    code = code << 6 | (s[i] & 0x3fU);
  }
  return code < least[n] || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff) ? 0 : n;
}

static void
put_string (ProbeJson *json, const char *value)
{
  put (json, "\"", 1);
  for (const unsigned char *s = (const unsigned char *)value; *s != 0;) {
    size_t n = utf8_length (s);
    if (n == 1 && (*s == '"' || *s == '\\')) {
      char pair[2] = { '\\', (char)*s };
      put (json, pair, 2);
    } else if (n == 0 || *s < 0x20 || *s == 0x7f) { /* a byte that is no text is kept as the character of its number */
      char code[8];
      int length = snprintf (code, sizeof code, "\\u%04x", *s);
      put (json, code, (size_t)length);
      n = 1;
    } else {
      put (json, (const char *)s, n);
    }
    s += n;
  }
  put (json, "\"", 1);
}

static void
begin (ProbeJson *json, const char *key)
{
  if (json->has_member[json->depth])
    put (json, ",", 1);
  if (json->own_line)
    put (json, "\n", 1);
  else if (json->has_member[json->depth])
    put (json, " ", 1);
  json->own_line = false;
  json->has_member[json->depth] = true;
  if (key != NULL) {
    put_string (json, key);
    put (json, ": ", 2);
  }
}

void
probe_json_open (ProbeJson *json, const char *key, char bracket)
{
  begin (json, key);
  put (json, &bracket, 1);
  if (json->depth == PROBE_JSON_DEEPEST) {
    json->failed = true;
    return;
  }
  json->has_member[++json->depth] = false;
}

void
probe_json_close (ProbeJson *json, char bracket)
{
  if (json->own_line)
    put (json, "\n", 1);
  json->own_line = false;
  put (json, &bracket, 1);
  if (json->depth == 0)
    json->failed = true;
  else
    json->depth--;
}

void
probe_json_string (ProbeJson *json, const char *key, const char *value)
{
  begin (json, key);
  if (value == NULL)
    put (json, "null", 4);
  else
    put_string (json, value);
}

void
probe_json_number (ProbeJson *json, const char *key, double value)
{
  char text[40];
  if (!isfinite (value)) {
    probe_json_null (json, key);
    return;
  }
  bool whole = fabs (value) < WHOLE_MOST && floor (value) == value;
  int length = snprintf (text, sizeof text, whole ? "%.0f" : "%.9g", value);
  begin (json, key);
  put (json, text, (size_t)length);
}

void
probe_json_bool (ProbeJson *json, const char *key, bool value)
{
  probe_json_raw (json, key, value ? "true" : "false");
}

void
probe_json_null (ProbeJson *json, const char *key)
{
  probe_json_raw (json, key, "null");
}

void
probe_json_raw (ProbeJson *json, const char *key, const char *value)
{
  begin (json, key);
  put (json, value, strlen (value));
}

void
probe_json_line (ProbeJson *json)
{
  json->own_line = true;
}

void
probe_json_free (ProbeJson *json)
{
  free (json->text);
  *json = (ProbeJson){ 0 };
}

static bool
write_all (int fd, const char *text, size_t length)
{
  while (length > 0) {
    ssize_t n = write (fd, text, length);
    if (n < 0 && errno == EINTR)
      continue;
    if (n <= 0)
      return false;
    text += n;
    length -= (size_t)n;
  }
  return true;
}

/* mkstemp's own mode is for the owner alone; the umask's is wanted. */
static bool
fill (int fd, const char *text, size_t length)
{
  const mode_t mask = umask (077);
  (void)umask (mask);
  return fchmod (fd, 0666 & ~mask) == 0 && write_all (fd, text, length) && write_all (fd, "\n", 1) && fsync (fd) == 0;
}

bool
probe_json_save (const char *path, const char *text, size_t length)
{
  const size_t size = strlen (path) + sizeof ".XXXXXX";
  char *other = malloc (size);
  if (other == NULL)
    return false;
  snprintf (other, size, "%s.XXXXXX", path);
  int fd = mkstemp (other);
  bool ok = fd >= 0 && fill (fd, text, length);
  int why = errno;
  if (fd >= 0 && close (fd) != 0 && ok) {
    ok = false;
    why = errno;
  }
  if (ok && rename (other, path) != 0) {
    ok = false;
    why = errno;
  }
  if (!ok && fd >= 0)
    unlink (other);
  free (other);
  errno = why;
  return ok;
}
