/* The numbers that a run reads, written down, or some of them changed: the sensitivity of an answer is found by changing them. A
 * lookup that carries a watch (base_lookup_watch) shows it every number that schemas read with it. */
#ifndef BASE_WATCH_H
#define BASE_WATCH_H

#include "base/leaf.h"
#include "base/lookup.h"
#include "base/units.h"

typedef struct {
  char *place;       /* owned: "file:line:column", of a default "SCHEMA.KEY": tells numbers apart */
  char *file;        /* owned; NULL: a default */
  unsigned line;
  char *key, *note;  /* owned; note NULL: none */
  double v;          /* SI, as it stands in the file */
  BaseDim dim;
  BaseSource source;
} BaseWatched;

typedef struct BaseWatch BaseWatch;

/* Returned: full. */
BaseWatch *base_watch_new (void);
void base_watch_free (BaseWatch *watch);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (BaseWatch, base_watch_free)
/* From now on the number at `place` is read as `factor` times what stands there, within the bounds that its schema has. */
void base_watch_change (BaseWatch *watch, const char *place, double factor);
/* Whether a number that `watch` changes is one that the other watch has seen read; with `seen` NULL: whether it changes any. */
gboolean base_watch_changes_seen (const BaseWatch *watch, const BaseWatch *seen);
/* What was read, each place once, in the order of reading: BaseWatched *. Borrowed. */
const GPtrArray *base_watch_seen (const BaseWatch *watch);

/* `watch` is borrowed and must outlive what is read; NULL: none. */
void base_lookup_set_watch (BaseLookup *lookup, BaseWatch *watch);
BaseWatch *base_lookup_watch (const BaseLookup *lookup); /* NULL: none */

/* For those who read: what the number comes to, within [least, most]. schema: of a default, whose mark has no file. */
double base_watch_read (BaseWatch *watch, const char *schema, const char *key, BaseDim dim, const BaseNum *num, double least,
                        double most);

#endif
