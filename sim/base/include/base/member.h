/* Members of a result. A table has one row for each: its key, its title for people, and where in a C struct it stands. JSON, TSV,
 * tables of text and queries by key are all made from the same rows, so that a value is listed once.
 *
 *   BASE_MEMBER_NUMBER_OF (per_gpu, MyResult, it->rate_Bps / it->n_ranks)
 *   #define MEMBER(...) BASE_MEMBER (MyResult, __VA_ARGS__)
 *   const BaseMember my_members[] = { MEMBER ("time_s", time_s, BASE_SHOWN ("time (us)", 1e6, "%.2f")),
 *                                     MEMBER ("op", op, .names = mdl_op_names),
 *                                     { .key = "rate_per_gpu_Bps", .number = per_gpu },
 *                                     BASE_MEMBER_END };
 *
 *   base_members_json (my_members, &result, json);                       // members of the open object
 *   base_members_value (my_members, &result, "time_s", &value);          // one value, by its key
 *   g_autoptr (BaseTable) table = base_members_table (my_members, rows); // a row for each item of a GArray
 *
 * The unit of a value is the ending of its key: "time_s", "busbw_Bps", "batch_bytes". */
#ifndef BASE_MEMBER_H
#define BASE_MEMBER_H

#include <stddef.h>

#include "base/schema.h"
#include "base/table.h"

typedef enum {
  BASE_MEMBER_NUMBER,           /* double; null where it is not finite */
  BASE_MEMBER_UINT,             /* unsigned, guint32; an enum, with `names` */
  BASE_MEMBER_INT,              /* gboolean; an enum with a negative value, with `names` */
  BASE_MEMBER_UINT64,           /* guint64 */
  BASE_MEMBER_BOOL,             /* gboolean, which text and TSV write by `names` */
  BASE_MEMBER_TEXT,             /* char *; null where it is NULL */
  BASE_MEMBER_CHARS,            /* char[]; null where it is "" */
  BASE_MEMBER_PARTS,            /* double[] by `parts`: an object in JSON */
  BASE_MEMBER_GROUP,            /* a struct with members `sub`: an object; without a key its members stand among the others */
  BASE_MEMBER_LIST,             /* GArray * of such structs: an array of objects, empty where it is NULL */
  BASE_MEMBER_LIST_OF_POINTERS, /* GPtrArray * of pointers to such structs */
  BASE_MEMBER_WRITTEN           /* by `write`, in JSON alone */
} BaseMemberKind;

typedef struct BaseMember BaseMember;
struct BaseMember {
  const char *key; /* tables end with 0 in all fields */
  BaseMemberKind kind;
  size_t offset;     /* in the struct */
  size_t through;    /* 1 + the offset of a pointer in the struct: `offset` is in what it points to; 0: none */
  const char *title; /* as of BaseColumn, like the next three */
  double scale;
  const char *format;
  guint rank;
  const BaseName *names;    /* of an enum */
  const BaseMember *sub;    /* of GROUP and LIST */
  const char *const *parts; /* of PARTS */
  guint n_parts;
  gboolean positive;                                 /* a number that is not above 0 is null */
  gboolean optional;                                 /* left out of JSON where it is null */
  gboolean no_column;                                /* tables of all single values leave it out */
  gboolean by_hand;                                  /* a column of tables alone, which code fills */
  gboolean (*when) (const void *of);                 /* FALSE: null */
  double (*number) (const void *of);                 /* computed, in place of what stands at the offset */
  const char *(*text) (const void *of);              /* likewise; borrowed from `of` or static */
  void (*write) (const void *of, JsonBuilder *json); /* adds the value of the key */
};

/* The kind that the type of a member has by itself. */
#define BASE_MEMBER_KIND_OF(T, member) \
  _Generic (&((T *)0)->member,                            \
      double *: BASE_MEMBER_NUMBER,                       \
      unsigned *: BASE_MEMBER_UINT,                       \
      guint64 *: BASE_MEMBER_UINT64,                      \
      int *: BASE_MEMBER_INT,                             \
      char **: BASE_MEMBER_TEXT,                          \
      const char **: BASE_MEMBER_TEXT,                    \
      char (*)[16]: BASE_MEMBER_CHARS,                    \
      char (*)[64]: BASE_MEMBER_CHARS,                    \
      char (*)[160]: BASE_MEMBER_CHARS,                   \
      GArray **: BASE_MEMBER_LIST,                        \
      GPtrArray **: BASE_MEMBER_LIST_OF_POINTERS,         \
      default: BASE_MEMBER_GROUP)

#define BASE_MEMBER(T, name, member, ...) BASE_MEMBER_AS (BASE_MEMBER_KIND_OF (T, member), T, name, member, __VA_ARGS__)
#define BASE_MEMBER_AS(what, T, name, member, ...)                             \
  {                                                                            \
    .key = (name), .kind = (what), .offset = offsetof (T, member), __VA_ARGS__ \
  }
/* A member of the struct P that a member of T points to. */
#define BASE_MEMBER_THROUGH(T, pointer, P, name, member, ...) \
  BASE_MEMBER_AS (BASE_MEMBER_KIND_OF (P, member), P, name, member, .through = 1 + offsetof (T, pointer), __VA_ARGS__)
/* Parts of a sum: an array of double, named by an array of texts. */
#define BASE_MEMBER_PARTS_OF(T, name, member, texts, n, ...) \
  BASE_MEMBER_AS (BASE_MEMBER_PARTS, T, name, member, .parts = (texts), .n_parts = (n), __VA_ARGS__)
/* A column that code fills; `what` is one of BASE_MEMBER_NUMBER, _UINT, _INT (a gboolean) and _TEXT. */
#define BASE_MEMBER_BY_HAND(what, name, ...)                    \
  {                                                             \
    .key = (name), .kind = (what), .by_hand = TRUE, __VA_ARGS__ \
  }
#define BASE_MEMBER_END \
  {                     \
    .key = NULL         \
  }
/* In text: title, factor and format. */
#define BASE_SHOWN(head, factor, how) .title = (head), .scale = (factor), .format = (how)

/* Functions for `when`, `number` and `text`: an expression of `it`, which is a const T *. */
#define BASE_MEMBER_WHEN(name, T, expression)      BASE_MEMBER_FUNCTION (gboolean, name, T, expression)
#define BASE_MEMBER_NUMBER_OF(name, T, expression) BASE_MEMBER_FUNCTION (double, name, T, expression)
#define BASE_MEMBER_TEXT_OF(name, T, expression)   BASE_MEMBER_FUNCTION (const char *, name, T, expression)
#define BASE_MEMBER_FUNCTION(type, name, T, expression) \
  static type name (const void *of_)                    \
  {                                                     \
    const T *it = of_;                                  \
    return (expression);                                \
  }

/* One value. */
typedef struct {
  const BaseMember *member; /* whose it is */
  BaseCellKind kind;
  BaseDim dim;      /* of a number: base_dim_unit names its unit */
  gboolean known;   /* FALSE: null */
  double number;    /* of NUMBER, INTEGER and BOOL; NAN where it is not known */
  const char *text; /* of TEXT, and of BOOL with names; borrowed from the struct or static */
} BaseValue;

/* The value at `path`: a key, or keys of groups and parts joined by dots ("breakdown_s.compute"), items of a list by their numbers
 * from 0 ("links.0.bytes"). FALSE where there is none. */
gboolean base_members_value (const BaseMember *members, const void *of, const char *path, BaseValue *value);
/* Paths of all single values, in the order of the members; those of lists are of the items in `of`, NULL: without them. Returned:
 * full, g_strfreev. */
char **base_members_paths (const BaseMember *members, const void *of);

/* Members of the object that is open. */
void base_members_json (const BaseMember *members, const void *of, JsonBuilder *json);
/* An array with an object for each item of a GArray of structs; NULL: empty. */
void base_members_list (const BaseMember *members, const GArray *items, JsonBuilder *json);
/* A table whose columns are the single values, without those of objects inside. `rows`: GArray of structs, each a row; NULL: no
 * rows yet. Returned: full. */
BaseTable *base_members_table (const BaseMember *members, const GArray *rows);
void base_members_add (BaseTable *table, const BaseMember *members, const void *of); /* one more row */
/* A table of one row: all single values, or those of these paths, which end with NULL; "breakdown_s.*" are all its parts. A value
 * inside an object takes its name into that object's key: "breakdown_s.compute" is the column "breakdown_compute_s". A path may
 * name another column: "stops=failures.stops". Returned: full. */
BaseTable *base_members_row (const BaseMember *members, const char *const *paths, const void *of);

#endif
