/* Leaves: scalars and lists of scalars. */
#include "schema-private.h"

#include "base/text.h"
#include "base/watch.h"
#include "diag-private.h"
#include "units/text-private.h"
#include "yaml-private.h"

#include <string.h>

#define NAMES_SHOWN 24u

/* Messages that one reading puts together, most of them the same: an alias can make a million errors of a short file. */
#define SAID_MAX 1000u

gboolean
base_schema_fail_unsaid (SchemaReader *reader, BaseMark mark)
{
  BaseDiag *diag = reader->context->diag;
  if (reader->n_said < SAID_MAX && !base_diag_is_full (diag, mark))
    return FALSE;
  base_diag_count (diag, mark);
  reader->failed = TRUE;
  return TRUE;
}

void
base_schema_fail (SchemaReader *reader, BaseMark mark, const char *format, ...)
{
  if (base_schema_fail_unsaid (reader, mark))
    return;
  va_list args;
  va_start (args, format);
  g_autofree char *text = g_strdup_vprintf (format, args);
  va_end (args);
  reader->n_said++;
  base_diag_error (reader->context->diag, mark, "%s", text);
  reader->failed = TRUE;
}

char *
base_schema_subject (BaseMark mark, const char *key)
{
  const gboolean flag = mark.file != NULL && mark.line == 0 && g_str_has_suffix (mark.file, key);
  const char *before = flag ? mark.file + strlen (mark.file) - strlen (key) : NULL;
  const gboolean named = before != NULL && before > mark.file && strchr (". ", before[-1]) != NULL;
  return named ? g_strdup ("") : g_strconcat (key, ": ", NULL);
}

char *
base_schema_found (const BaseYamlNode *node)
{
  switch (base_yaml_kind (node)) {
    case BASE_YAML_SEQ:
      return g_strdup ("a list");
    case BASE_YAML_MAP:
      return g_strdup ("a mapping");
    case BASE_YAML_SCALAR:
      break;
  }
  if (base_yaml_is_null (node))
    return g_strdup ("nothing");
  g_autofree char *text = base_text_shown (base_yaml_text (node));
  return g_strdup_printf ("'%s'", text);
}

static char *
accepted_number (const BaseField *field)
{
  const char *name = base_dim_name (field->dim);
  return g_strdup_printf ("%s %s (e.g. '%s')", strchr ("aeiou", name[0]) != NULL ? "an" : "a", name, base_dim_example (field->dim));
}

char *
base_schema_accepted (const BaseField *field)
{
  g_autofree char *number = NULL;
  switch (field->kind) {
    case BASE_FIELD_NUM:
      return accepted_number (field);
    case BASE_FIELD_NUMS:
      number = accepted_number (field);
      return g_strdup_printf ("%s or a list of such", number);
    case BASE_FIELD_STR:
      return g_strdup ("text");
    case BASE_FIELD_STRS:
      return g_strdup ("text or a list of such");
    case BASE_FIELD_ENUM: {
      g_autofree const char **names = base_names (field->names);
      g_autofree char *list = base_text_list (names, NAMES_SHOWN);
      return g_strdup_printf ("one of %s", list);
    }
    case BASE_FIELD_BOOL:
      return g_strdup ("true or false");
    case BASE_FIELD_MAP:
      return g_strdup ("a mapping");
    case BASE_FIELD_LIST:
      return g_strdup ("a list");
    case BASE_FIELD_REF:
      return g_strdup ("a name, a path or a mapping");
    case BASE_FIELD_NODE:
      return g_strdup ("any value");
  }
  return g_strdup ("");
}

void
base_schema_fail_kind (SchemaReader *reader, const BaseField *field, const BaseYamlNode *node)
{
  if (base_schema_fail_unsaid (reader, base_yaml_mark (node)))
    return;
  g_autofree char *found = base_schema_found (node);
  g_autofree char *accepted = base_schema_accepted (field);
  base_schema_fail (reader, base_yaml_mark (node), "'%s' must be %s, found %s", field->key, accepted, found);
}

/* A leaf's value apart from where it comes from. */
typedef struct {
  const BaseYamlNode *value;
  BaseSource source;
  const char *note; /* borrowed from the document */
} Leaf;

static gboolean
read_source (SchemaReader *reader, const BaseYamlNode *node, BaseSource *source)
{
  const char *text = base_yaml_text (node), *names[BASE_SOURCE_N + 1] = { NULL };
  for (unsigned i = 0; i < BASE_SOURCE_N; i++) {
    names[i] = base_source_name ((BaseSource)i);
    if (g_strcmp0 (text, names[i]) == 0) {
      *source = (BaseSource)i;
      return TRUE;
    }
  }
  g_autofree char *found = base_schema_found (node);
  g_autofree char *hint = base_hint (text != NULL ? text : "", names);
  base_schema_fail (reader, base_yaml_mark (node), "'source' must be one of measured, datasheet, assumed, found %s%s", found, hint);
  return FALSE;
}

/* Takes {value, source, note} apart. */
static gboolean
leaf_open (SchemaReader *reader, const BaseField *field, const BaseYamlNode *node, Leaf *out)
{
  static const char *const keys[] = { "value", "source", "note", NULL };
  *out = (Leaf){ node, reader->context->source, NULL };
  if (base_yaml_kind (node) != BASE_YAML_MAP)
    return TRUE;
  gboolean ok = TRUE;
  out->value = NULL;
  for (unsigned i = 0; i < base_yaml_n (node); i++) {
    const char *key = base_yaml_key (node, i);
    const BaseYamlNode *item = base_yaml_item (node, i);
    if (strcmp (key, "value") == 0) {
      out->value = item;
    } else if (strcmp (key, "source") == 0) {
      ok = read_source (reader, item, &out->source) && ok;
    } else if (strcmp (key, "note") == 0 && base_yaml_kind (item) == BASE_YAML_SCALAR) {
      out->note = base_yaml_text (item);
    } else {
      g_autofree char *shown = base_text_shown (key);
      g_autofree char *hint = base_hint (key, keys);
      if (strcmp (key, "note") == 0)
        base_schema_fail (reader, base_yaml_mark (item), "'note' of '%s' must be text", field->key);
      else
        base_schema_fail (reader, base_yaml_key_mark (node, i),
                          "unknown key '%s' in the value of '%s'%s; accepted: value, source, note", shown, field->key, hint);
      ok = FALSE;
    }
  }
  if (ok && (out->value == NULL || base_yaml_is_null (out->value))) {
    base_schema_fail (reader, base_yaml_mark (node), "'%s' has no value; write it bare, or as {value: …, source: …, note: …}",
                      field->key);
    ok = FALSE;
  }
  return ok;
}

static double
bound (const BaseField *field, const char *text)
{
  double v = 0;
  g_autoptr (GError) error = NULL;
  if (!base_quantity_parse (text, field->dim, &v, &error))
    g_error ("schema key '%s': bound '%s': %s", field->key, text, error->message);
  return v;
}

static gboolean
check_range (SchemaReader *reader, const BaseField *field, const BaseYamlNode *node, double v)
{
  gboolean below = field->min == NULL ? v < 0 : v < bound (field, field->min);
  gboolean above = field->max != NULL && v > bound (field, field->max);
  if (!below && !above)
    return TRUE;
  if (base_schema_fail_unsaid (reader, base_yaml_mark (node)))
    return FALSE;
  g_autofree char *found = base_schema_found (node);
  BaseMark mark = base_yaml_mark (node);
  if (below && field->min == NULL)
    base_schema_fail (reader, mark, "'%s' must not be negative, found %s", field->key, found);
  else
    base_schema_fail (reader, mark, "'%s' must be at %s %s, found %s", field->key, below ? "least" : "most",
                      below ? field->min : field->max, found);
  return FALSE;
}

void
base_schema_watch (SchemaReader *reader, const char *schema, const BaseField *field, BaseNum *num)
{
  const BaseLookup *lookup = reader->context->lookup;
  BaseWatch *watch = lookup != NULL ? base_lookup_watch (lookup) : NULL;
  if (watch != NULL)
    num->v = base_watch_read (watch, schema, field->key, field->dim, num, field->min != NULL ? bound (field, field->min) : 0,
                              field->max != NULL ? bound (field, field->max) : G_MAXDOUBLE);
}

static gboolean
read_number (SchemaReader *reader, const BaseField *field, const Leaf *leaf, BaseNum *out)
{
  const char *text = base_yaml_text (leaf->value);
  out->mark = base_yaml_mark (leaf->value); /* also where it is refused: base_num_written */
  if (text == NULL || base_yaml_is_null (leaf->value)) {
    base_schema_fail_kind (reader, field, leaf->value);
    return FALSE;
  }
  g_autoptr (GError) error = NULL;
  double v;
  if (!base_quantity_parse (text, field->dim, &v, &error)) {
    /* "bandwidth '450' has no unit" says what it speaks of; "'x' is not a number" does not. */
    gboolean named = field->dim != BASE_DIM_NUMBER && field->dim != BASE_DIM_COUNT && field->dim != BASE_DIM_RATIO;
    g_autofree char *subject = named ? g_strdup ("") : base_schema_subject (out->mark, field->key);
    base_schema_fail (reader, base_yaml_mark (leaf->value), "%s%s", subject, error->message);
    return FALSE;
  }
  if (!check_range (reader, field, leaf->value, v))
    return FALSE;
  const char *note = base_arena_strdup (reader->context->arena, leaf->note);
  *out = (BaseNum){ v, TRUE, leaf->source, note, base_yaml_mark (leaf->value) };
  base_schema_watch (reader, NULL, field, out);
  return TRUE;
}

static gboolean
read_text (SchemaReader *reader, const BaseField *field, const BaseYamlNode *node, BaseStr *out)
{
  if (base_yaml_kind (node) != BASE_YAML_SCALAR || base_yaml_is_null (node)) {
    base_schema_fail_kind (reader, field, node);
    return FALSE;
  }
  g_autofree char *text = base_text_one_line (g_strdup (base_yaml_text (node)));
  *out = (BaseStr){ base_arena_strdup (reader->context->arena, text), TRUE, base_yaml_mark (node) };
  return TRUE;
}

static gboolean
read_enum (SchemaReader *reader, const BaseField *field, const BaseYamlNode *node, BaseEnum *out)
{
  const char *text = base_yaml_text (node);
  const BaseName *name = text != NULL ? base_name_find (field->names, text) : NULL;
  if (name != NULL) {
    *out = (BaseEnum){ name->code, TRUE, base_yaml_mark (node) };
    return TRUE;
  }
  if (base_schema_fail_unsaid (reader, base_yaml_mark (node)))
    return FALSE;
  g_autofree const char **names = base_names (field->names);
  g_autofree char *found = base_schema_found (node);
  g_autofree char *accepted = base_schema_accepted (field);
  g_autofree char *hint = base_hint (text != NULL ? text : "", names);
  base_schema_fail (reader, base_yaml_mark (node), "'%s' must be %s, found %s%s", field->key, accepted, found, hint);
  return FALSE;
}

static gboolean
read_bool (SchemaReader *reader, const BaseField *field, const BaseYamlNode *node, BaseBool *out)
{
  static const struct {
    const char *name;
    gboolean v;
  } words[] = { { "true", TRUE }, { "false", FALSE }, { "yes", TRUE }, { "no", FALSE }, { "on", TRUE }, { "off", FALSE } };
  const char *text = base_yaml_text (node);
  for (gsize i = 0; text != NULL && i < G_N_ELEMENTS (words); i++)
    if (g_ascii_strcasecmp (text, words[i].name) == 0) {
      *out = (BaseBool){ words[i].v, TRUE, base_yaml_mark (node) };
      return TRUE;
    }
  base_schema_fail_kind (reader, field, node);
  return FALSE;
}

gboolean
base_schema_count_items (SchemaReader *reader, const BaseField *field, const BaseYamlNode *node, unsigned n)
{
  if (n > BASE_SCHEMA_MAX_ITEMS - reader->n_items) {
    base_schema_fail (reader, base_yaml_mark (node), "the %u items of '%s' make more than %u in all lists; that is the most", n,
                      field->key, BASE_SCHEMA_MAX_ITEMS);
    return FALSE;
  }
  reader->n_items += n;
  return TRUE;
}

/* How many leaves `node` is: a lone scalar or {value, …} counts as a list of one. */
static unsigned
list_length (const BaseYamlNode *node)
{
  return base_yaml_kind (node) == BASE_YAML_SEQ ? base_yaml_n (node) : 1;
}

static const BaseYamlNode *
list_item (const BaseYamlNode *node, unsigned i)
{
  return base_yaml_kind (node) == BASE_YAML_SEQ ? base_yaml_item (node, i) : node;
}

static gboolean
read_numbers (SchemaReader *reader, const BaseField *field, const BaseYamlNode *node, BaseNums *out)
{
  Leaf all;
  if (!leaf_open (reader, field, node, &all) || !base_schema_count_items (reader, field, all.value, list_length (all.value)))
    return FALSE;
  unsigned n = list_length (all.value);
  gboolean ok = TRUE;
  BaseNum *item = base_arena_alloc_n (reader->context->arena, n, sizeof *item);
  for (unsigned i = 0; i < n; i++) {
    Leaf leaf;
    const BaseYamlNode *value = list_item (all.value, i);
    if (!leaf_open (reader, field, value, &leaf)) {
      ok = FALSE;
      continue;
    }
    if (base_yaml_kind (value) != BASE_YAML_MAP) {
      leaf.source = all.source;
      leaf.note = all.note;
    }
    ok = read_number (reader, field, &leaf, &item[i]) && ok;
  }
  if (ok)
    *out = (BaseNums){ n, TRUE, base_yaml_mark (node), item };
  return ok;
}

static gboolean
read_texts (SchemaReader *reader, const BaseField *field, const BaseYamlNode *node, BaseStrs *out)
{
  unsigned n = list_length (node);
  if (!base_schema_count_items (reader, field, node, n))
    return FALSE;
  gboolean ok = TRUE;
  BaseStr *item = base_arena_alloc_n (reader->context->arena, n, sizeof *item);
  for (unsigned i = 0; i < n; i++)
    ok = read_text (reader, field, list_item (node, i), &item[i]) && ok;
  if (ok)
    *out = (BaseStrs){ n, TRUE, base_yaml_mark (node), item };
  return ok;
}

gboolean
base_schema_read_leaf (SchemaReader *reader, const BaseField *field, const BaseYamlNode *node, void *out)
{
  Leaf leaf;
  if (field->kind == BASE_FIELD_NUMS)
    return read_numbers (reader, field, node, out);
  if (field->kind == BASE_FIELD_STRS)
    return read_texts (reader, field, node, out);
  if (!leaf_open (reader, field, node, &leaf))
    return FALSE;
  switch (field->kind) {
    case BASE_FIELD_NUM:
      return read_number (reader, field, &leaf, out);
    case BASE_FIELD_STR:
      return read_text (reader, field, leaf.value, out);
    case BASE_FIELD_ENUM:
      return read_enum (reader, field, leaf.value, out);
    case BASE_FIELD_BOOL:
      return read_bool (reader, field, leaf.value, out);
    case BASE_FIELD_NUMS:
    case BASE_FIELD_STRS:
    case BASE_FIELD_MAP:
    case BASE_FIELD_LIST:
    case BASE_FIELD_REF:
    case BASE_FIELD_NODE:
      break;
  }
  g_assert_not_reached ();
}

/* The text of a default as a node, so that it goes the way of the user's text; "[1, 2]" is a list. Lives in `arena`. */
static BaseYamlNode *
default_node (BaseArena *arena, const BaseField *field, GError **error)
{
  const char *text = field->fallback;
  BaseYamlNode *node = base_arena_alloc (arena, sizeof *node);
  *node = (BaseYamlNode){ .kind = BASE_YAML_SCALAR, .text = text, .height = 1, .n_nodes = 1 };
  if ((field->kind != BASE_FIELD_NUMS && field->kind != BASE_FIELD_STRS) || text[0] != '[')
    return node;
  BaseYamlNode *list = NULL;
  if (!base_yaml_parse (arena, "default", TRUE, text, strlen (text), &list, error))
    return NULL;
  list->mark = BASE_MARK_NONE;
  for (unsigned i = 0; i < list->n; i++)
    list->item[i]->mark = BASE_MARK_NONE;
  return list;
}

/* A default was not written: `set` is cleared again. */
static void
clear_set (const BaseField *field, void *out)
{
  switch (field->kind) {
    case BASE_FIELD_NUM:
      ((BaseNum *)out)->set = FALSE;
      return;
    case BASE_FIELD_STR:
      ((BaseStr *)out)->set = FALSE;
      return;
    case BASE_FIELD_ENUM:
      ((BaseEnum *)out)->set = FALSE;
      return;
    case BASE_FIELD_BOOL:
      ((BaseBool *)out)->set = FALSE;
      return;
    case BASE_FIELD_NUMS:
      ((BaseNums *)out)->set = FALSE;
      for (unsigned i = 0; i < ((BaseNums *)out)->n; i++)
        ((BaseNums *)out)->item[i].set = FALSE;
      return;
    case BASE_FIELD_STRS:
      ((BaseStrs *)out)->set = FALSE;
      for (unsigned i = 0; i < ((BaseStrs *)out)->n; i++)
        ((BaseStrs *)out)->item[i].set = FALSE;
      return;
    case BASE_FIELD_MAP:
    case BASE_FIELD_LIST:
    case BASE_FIELD_REF:
    case BASE_FIELD_NODE:
      g_assert_not_reached ();
  }
}

gboolean
base_schema_read_default (const BaseField *field, BaseArena *arena, void *out, GError **error)
{
  BaseYamlNode *node = default_node (arena, field, error);
  if (node == NULL)
    return FALSE;
  g_autoptr (BaseDiag) diag = base_diag_new ();
  BaseSchemaContext context = { .arena = arena, .diag = diag, .source = BASE_SOURCE_ASSUMED };
  SchemaReader reader = { .context = &context };
  if (!base_schema_read_leaf (&reader, field, node, out)) {
    base_diag_finish (diag, error);
    return FALSE;
  }
  clear_set (field, out);
  return TRUE;
}

gboolean
base_schema_read_num (const BaseField *field, const BaseYamlNode *node, const BaseSchemaContext *context, BaseNum *out)
{
  g_return_val_if_fail (field != NULL && node != NULL && context != NULL && context->diag != NULL && context->arena != NULL, FALSE);
  SchemaReader reader = { .context = context };
  Leaf leaf;
  return leaf_open (&reader, field, node, &leaf) && read_number (&reader, field, &leaf, out);
}
