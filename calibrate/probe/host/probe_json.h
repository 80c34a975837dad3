/* A JSON text, written piece by piece; whatever is put in, valid JSON comes out. */
#ifndef FORERUN_PROBE_JSON_H
#define FORERUN_PROBE_JSON_H

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PROBE_JSON_DEEPEST 16

typedef struct {
  char *text; /* always ends with NUL once something was written */
  size_t length, room;
  unsigned depth;
  bool has_member[PROBE_JSON_DEEPEST + 1]; /* a comma is due before the next */
  bool own_line;                           /* the next member begins a line */
  bool failed;                             /* out of memory, or nested too deep: `text` is of no use */
} ProbeJson;

/* `json` is zeroed to begin with. `key` is NULL inside arrays and for the outermost value. */
void probe_json_open (ProbeJson *json, const char *key, char bracket);        /* '{' or '[' */
void probe_json_close (ProbeJson *json, char bracket);                        /* '}' or ']' */
void probe_json_string (ProbeJson *json, const char *key, const char *value); /* NULL: null */
void probe_json_number (ProbeJson *json, const char *key, double value);      /* NaN, infinite: null */
void probe_json_bool (ProbeJson *json, const char *key, bool value);
void probe_json_null (ProbeJson *json, const char *key);
void probe_json_raw (ProbeJson *json, const char *key, const char *value); /* a value that is JSON already */
void probe_json_line (ProbeJson *json);                                    /* the next member begins a line */
void probe_json_free (ProbeJson *json);

/* Writes all of `text` and a line end to a new file beside `path` with a random name, has it on the disk, then renames it: `path`
 * holds the old or the new, never a part. False: why in errno. */
bool probe_json_save (const char *path, const char *text, size_t length);

#ifdef __cplusplus
}
#endif
#endif
