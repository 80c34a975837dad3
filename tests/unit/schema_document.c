/* The tables read by people: reference documentation, and a check of the tables themselves. Both walk a schema and all that it
 * embeds once, in the order in which they are first named. */
#include "schema_document.h"

#include "schema-private.h"

#include <string.h>

/* A line holds no more names than these when they are explained elsewhere. */
#define MOST_NAMES_IN_LINE 4

static gboolean
embeds (const BaseField *field)
{
  return field->kind == BASE_FIELD_MAP || field->kind == BASE_FIELD_LIST || field->kind == BASE_FIELD_REF;
}

/* Appends a schema and all that it embeds, in order of first mention, without those that are there. */
static void
collect_into (GPtrArray *all, const BaseSchema *schema)
{
  unsigned i = all->len;
  if (!g_ptr_array_find (all, schema, NULL))
    g_ptr_array_add (all, (void *)schema);
  for (; i < all->len; i++) {
    const BaseSchema *one = all->pdata[i];
    for (const BaseField *field = one->fields; field->key != NULL; field++)
      if (field->sub != NULL && !g_ptr_array_find (all, field->sub, NULL))
        g_ptr_array_add (all, (void *)field->sub);
  }
}

/* Returned: the container. */
static GPtrArray *
collect (const BaseSchema *schema)
{
  GPtrArray *all = g_ptr_array_new ();
  collect_into (all, schema);
  return all;
}

/* A link to a schema's heading. GitHub's anchor: lower case, blanks to hyphens, other punctuation dropped. */
static void
append_anchor (GString *out, const BaseSchema *schema)
{
  g_string_append (out, "(#");
  for (const char *p = schema->name; *p != '\0'; p++)
    if (g_ascii_isalnum (*p) || *p == '_' || *p == '-')
      g_string_append_c (out, g_ascii_tolower (*p));
    else if (*p == ' ')
      g_string_append_c (out, '-');
  g_string_append_c (out, ')');
}

static void
append_link (GString *out, const BaseSchema *schema)
{
  g_string_append_printf (out, "[%s]", schema->name);
  append_anchor (out, schema);
}

/* How many names a field accepts, if they have explanations, which are listed below the table; else 0. */
static unsigned
n_explained (const BaseField *field)
{
  unsigned n = 0;
  gboolean explained = FALSE;
  for (const BaseName *name = field->names; name->name != NULL; name++, n++)
    explained = explained || (name->help != NULL && name->help[0] != '\0');
  return explained ? n : 0;
}

static gboolean
is_number (const BaseField *field)
{
  return field->kind == BASE_FIELD_NUM || field->kind == BASE_FIELD_NUMS;
}

/* Numbers without a unit need no example of how they are written. */
static gboolean
has_unit (const BaseField *field)
{
  return is_number (field) && field->dim != BASE_DIM_NUMBER && field->dim != BASE_DIM_COUNT && field->dim != BASE_DIM_RATIO;
}

/* Limits that no real input reaches are left out: they only catch typing errors, and the message then names them. */
static const char *
real_limit (const char *limit, BaseDim dim, gboolean upper)
{
  static const double largest[BASE_DIM_N] = {
    [BASE_DIM_COUNT] = 1e5, [BASE_DIM_BYTES] = 1e12, [BASE_DIM_TIME] = 30 * 86400.0, [BASE_DIM_BANDWIDTH] = 1e17
  };
  double v;
  if (limit == NULL || largest[dim] <= 0 || !base_quantity_parse (limit, dim, &v, NULL))
    return limit;
  if (upper)
    return v < largest[dim] ? limit : NULL;
  return (dim == BASE_DIM_BYTES && v == 1) || (dim == BASE_DIM_BANDWIDTH && v < 1e5) ? NULL : limit;
}

/* The limit as it is printed: a ratio in per cent. NULL: none. Returned: full. */
static char *
limit_shown (const char *limit, BaseDim dim)
{
  double v;
  return limit != NULL && dim == BASE_DIM_RATIO && base_quantity_parse (limit, dim, &v, NULL) ? g_strdup_printf ("%g %%", 100 * v)
                                                                                              : g_strdup (limit);
}

static void
append_number (GString *out, const BaseField *field, gboolean list)
{
  g_autofree char *min = limit_shown (real_limit (field->min, field->dim, FALSE), field->dim);
  g_autofree char *max = limit_shown (real_limit (field->max, field->dim, TRUE), field->dim);
  g_string_append_printf (out, "%s%s", field->dim == BASE_DIM_COUNT ? "integer" : base_dim_name (field->dim),
                          list ? " or list" : "");
  if (min != NULL && max != NULL)
    g_string_append_printf (out, " %s–%s", min, max);
  else if (min != NULL)
    g_string_append_printf (out, " ≥ %s", min);
  else if (max != NULL)
    g_string_append_printf (out, " ≤ %s", max);
}

/* Where the names of an enumeration are listed. */
typedef struct {
  const BaseSchema *schema;
  const BaseField *field;
} Listed;

/* Whether the key must be there and accepts one value only, so that nothing is left to explain. */
static gboolean
is_fixed (const BaseField *field)
{
  return field->kind == BASE_FIELD_ENUM && field->required && field->names[0].name != NULL && field->names[1].name == NULL;
}

/* The names, or the key that explains them; nothing where they are listed below this very key. */
static void
append_choice (GString *out, GHashTable *listed, const BaseSchema *schema, const BaseField *field)
{
  const Listed *first = g_hash_table_lookup (listed, field->names);
  if ((first != NULL && first->field == field) || is_fixed (field))
    return;
  if (n_explained (field) <= MOST_NAMES_IN_LINE) {
    for (const BaseName *name = field->names; name->name != NULL; name++)
      g_string_append_printf (out, "%s`%s`", name == field->names ? "" : ", ", name->name);
    return;
  }
  g_string_append_printf (out, "as `%s`", first->field->key);
  if (first->schema != schema) {
    g_string_append (out, " of ");
    append_link (out, first->schema);
  }
}

/* `listed`: by the names of an enumeration, the field that lists them (Listed). */
static void
append_value (GString *out, GHashTable *listed, const BaseSchema *schema, const BaseField *field)
{
  switch (field->kind) {
    case BASE_FIELD_NUM:
    case BASE_FIELD_NUMS:
      append_number (out, field, field->kind == BASE_FIELD_NUMS);
      return;
    case BASE_FIELD_STR:
      return;
    case BASE_FIELD_STRS:
      g_string_append (out, "text or list");
      return;
    case BASE_FIELD_BOOL:
      g_string_append (out, field->fallback == NULL ? "boolean" : "");
      return;
    case BASE_FIELD_ENUM:
      append_choice (out, listed, schema, field);
      return;
    case BASE_FIELD_MAP:
      return;
    case BASE_FIELD_LIST:
      g_string_append (out, "list");
      return;
    case BASE_FIELD_REF:
      g_string_append_printf (out, "name in `%s`, path, or ", field->folder);
      append_link (out, field->sub);
      return;
    case BASE_FIELD_NODE:
      if (field->sub != NULL)
        append_link (out, field->sub);
      return;
  }
}

/* A field whose names have explanations lists them. Of fields with the same names, only the first does. */
static void
find_lists (GHashTable *listed, const BaseSchema *schema)
{
  for (const BaseField *field = schema->fields; field->key != NULL; field++)
    if (field->kind == BASE_FIELD_ENUM && n_explained (field) > 1 && !g_hash_table_contains (listed, field->names)) {
      Listed *first = g_new (Listed, 1);
      *first = (Listed){ schema, field };
      g_hash_table_insert (listed, (void *)field->names, first);
    }
}

static void
append_names (GString *out, GHashTable *listed, const BaseField *field)
{
  const Listed *first = g_hash_table_lookup (listed, field->names);
  if (first == NULL || first->field != field)
    return;
  for (const BaseName *name = field->names; name->name != NULL; name++)
    g_string_append_printf (out, "  - `%s`%s%s\n", name->name, name->help != NULL ? ": " : "",
                            name->help != NULL ? name->help : "");
}

/* One key: "- `KEY: DEFAULT` (kind of value, limits): meaning", in bold if required, then the names that it explains. The key of
 * a mapping, or of a list of mappings, links to its keys. */
static void
append_key (GString *out, GHashTable *listed, const BaseSchema *schema, const BaseField *field)
{
  g_autoptr (GString) value = g_string_new (NULL);
  append_value (value, listed, schema, field);
  gboolean linked = field->kind == BASE_FIELD_MAP || field->kind == BASE_FIELD_LIST;
  const char *written = is_fixed (field) ? field->names[0].name : field->fallback;
  const char *bold = field->required ? "**" : "";
  g_string_append_printf (out, "- %s%s`%s%s%s`", linked ? "[" : "", bold, field->key, written != NULL ? ": " : "",
                          written != NULL ? written : "");
  g_string_append_printf (out, "%s%s", bold, linked ? "]" : "");
  if (linked)
    append_anchor (out, field->sub);
  if (value->len > 0)
    g_string_append_printf (out, " (%s)", value->str);
  if (!is_fixed (field))
    g_string_append_printf (out, ": %s", field->help);
  g_string_append_c (out, '\n');
  if (field->kind == BASE_FIELD_ENUM)
    append_names (out, listed, field);
}

/* A run of keys shorter than this is listed even where another mapping has the same. */
#define LEAST_SHARED 4

static gboolean
is_same (const BaseField *a, const BaseField *b)
{
  return strcmp (a->key, b->key) == 0 && a->kind == b->kind && a->kind != BASE_FIELD_ENUM && a->required == b->required &&
         g_strcmp0 (a->fallback, b->fallback) == 0 && strcmp (a->help, b->help) == 0;
}

/* How many keys from `field` on are all those of `other`; 0 when they are not. */
static unsigned
n_shared (const BaseField *field, const BaseSchema *other)
{
  unsigned n = 0;
  for (; other->fields[n].key != NULL; n++)
    if (field[n].key == NULL || !is_same (&field[n], &other->fields[n]))
      return 0;
  return n >= LEAST_SHARED ? n : 0;
}

/* Appends one key, or a link to the mapping all of whose keys follow here. Returns how many keys that are. */
static unsigned
append_keys (GString *out, const GPtrArray *all, GHashTable *listed, const BaseSchema *schema, const BaseField *field)
{
  for (unsigned i = 0; i < all->len; i++) {
    const BaseSchema *other = all->pdata[i];
    unsigned n = other != schema && other->fields != schema->fields ? n_shared (field, other) : 0;
    if (n > 0 && !(field == schema->fields && field[n].key == NULL)) {
      g_string_append (out, "- all keys of ");
      append_link (out, other);
      g_string_append_c (out, '\n');
      return n;
    }
  }
  append_key (out, listed, schema, field);
  return 1;
}

/* `all`: the mappings of the page. */
static void
append_section (GString *out, const GPtrArray *all, GHashTable *listed, const BaseSchema *schema)
{
  find_lists (listed, schema);
  g_string_append_printf (out, "%s## %s\n\n", out->len > 0 ? "\n" : "", schema->name);
  if (schema->help != NULL)
    g_string_append_printf (out, "%s%s", schema->help, schema->scalar_key != NULL ? " " : "\n\n");
  if (schema->scalar_key != NULL)
    g_string_append_printf (out, "A bare value sets `%s`.\n\n", schema->scalar_key);
  for (const BaseField *field = schema->fields; field->key != NULL;)
    field += append_keys (out, all, listed, schema, field);
}

char *
schema_units (const BaseSchema *const *schemas)
{
  g_return_val_if_fail (schemas != NULL, NULL);
  g_autoptr (GPtrArray) all = g_ptr_array_new ();
  for (; *schemas != NULL; schemas++)
    collect_into (all, *schemas);
  gboolean seen[BASE_DIM_N] = { FALSE };
  GString *out = g_string_new (NULL);
  for (unsigned i = 0; i < all->len; i++)
    for (const BaseField *field = ((const BaseSchema *)all->pdata[i])->fields; field->key != NULL; field++)
      if (has_unit (field) && !seen[field->dim]) {
        seen[field->dim] = TRUE;
        g_string_append_printf (out, "%s%s `%s`", out->len > 0 ? ", " : "", base_dim_name (field->dim),
                                base_dim_example (field->dim));
      }
  return g_string_free (out, FALSE);
}

char *
schema_documents (const BaseSchema *const *schemas)
{
  g_return_val_if_fail (schemas != NULL, NULL);
  g_autoptr (GPtrArray) all = g_ptr_array_new ();
  for (; *schemas != NULL; schemas++)
    collect_into (all, *schemas);
  g_autoptr (GHashTable) listed = g_hash_table_new_full (NULL, NULL, NULL, g_free);
  GString *out = g_string_new (NULL);
  for (unsigned i = 0; i < all->len; i++)
    append_section (out, all, listed, all->pdata[i]);
  return g_string_free (out, FALSE);
}

char *
schema_document (const BaseSchema *schema)
{
  g_return_val_if_fail (schema != NULL, NULL);
  const BaseSchema *const schemas[] = { schema, NULL };
  return schema_documents (schemas);
}

/* What the kind needs and the row lacks; NULL when all is there. */
static const char *
missing_part (const BaseField *field)
{
  if (field->kind == BASE_FIELD_ENUM && field->names == NULL)
    return "an enumeration without names";
  if (embeds (field) && field->sub == NULL)
    return "a mapping without schema";
  if ((field->kind == BASE_FIELD_LIST || field->kind == BASE_FIELD_REF) && field->item_size < sizeof (BaseHead))
    return "no item_size";
  if (field->kind == BASE_FIELD_REF && field->folder == NULL)
    return "a reference without folder";
  if (is_number (field) && (unsigned)field->dim >= BASE_DIM_N)
    return "no dimension";
  if (!is_number (field) && (field->min != NULL || field->max != NULL))
    return "bounds on what is no number";
  if (field->fallback != NULL &&
      (field->kind == BASE_FIELD_MAP || field->kind == BASE_FIELD_LIST || field->kind == BASE_FIELD_NODE))
    return "a default on a mapping, list or node";
  if (field->required && field->fallback != NULL)
    return "required, and yet a default";
  if (field->help == NULL || field->help[0] == '\0')
    return "no help";
  return NULL;
}

/* Returned: full, or NULL. */
static char *
check_texts (const BaseField *field)
{
  const char *const texts[] = { field->min, field->max };
  for (gsize i = 0; i < G_N_ELEMENTS (texts); i++) {
    double v;
    g_autoptr (GError) error = NULL;
    if (texts[i] != NULL && !base_quantity_parse (texts[i], field->dim, &v, &error))
      return g_strdup (error->message);
  }
  if (field->fallback == NULL || field->kind == BASE_FIELD_REF)
    return NULL;
  g_autoptr (BaseArena) arena = base_arena_new ();
  g_autoptr (GError) error = NULL;
  union {
    BaseNum num;
    BaseStr str;
    BaseEnum code;
    BaseBool flag;
    BaseNums nums;
    BaseStrs strs;
  } out;
  return base_schema_read_default (field, arena, &out, &error) ? NULL : g_strdup (error->message);
}

static char *
check_one (const BaseSchema *schema)
{
  for (const BaseField *field = schema->fields; field->key != NULL; field++) {
    const char *missing = missing_part (field);
    if (missing != NULL)
      return g_strdup_printf ("schema '%s', key '%s': %s", schema->name, field->key, missing);
    for (const BaseField *other = schema->fields; other != field; other++) {
      if (strcmp (other->key, field->key) == 0)
        return g_strdup_printf ("schema '%s': key '%s' twice", schema->name, field->key);
      if (other->offset == field->offset)
        return g_strdup_printf ("schema '%s': keys '%s' and '%s' fill the same place", schema->name, other->key, field->key);
    }
    g_autofree char *text = check_texts (field);
    if (text != NULL)
      return g_strdup_printf ("schema '%s', key '%s': %s", schema->name, field->key, text);
  }
  return NULL;
}

char *
schema_check (const BaseSchema *schema)
{
  g_return_val_if_fail (schema != NULL, NULL);
  g_autoptr (GPtrArray) all = collect (schema);
  for (unsigned i = 0; i < all->len; i++) {
    const BaseSchema *one = all->pdata[i];
    if (one->name == NULL || one->fields == NULL)
      return g_strdup_printf ("schema %u below '%s' has no name or no fields", i, schema->name != NULL ? schema->name : "");
    char *fault = check_one (one);
    if (fault != NULL)
      return fault;
    gboolean known = one->scalar_key == NULL;
    for (const BaseField *field = one->fields; field->key != NULL; field++)
      known = known || strcmp (field->key, one->scalar_key) == 0;
    if (!known)
      return g_strdup_printf ("schema '%s': no key '%s' for a bare value", one->name, one->scalar_key);
  }
  return NULL;
}
