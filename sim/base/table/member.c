#include "base/member.h"

#include "base/finite.h"

#include <math.h>
#include <string.h>

/* Rows go on until one has neither a key nor members to put among the others. */
static gboolean
is_row (const BaseMember *member)
{
  return member->key != NULL || member->sub != NULL;
}

static const void *
at (const BaseMember *member, const void *of)
{
  const char *from = member->through > 0 ? *(const char *const *)((const char *)of + member->through - 1) : of;
  return from + member->offset;
}

/* A struct's members, a list, parts of a sum: what is not one value. */
static gboolean
is_single (const BaseMember *member)
{
  return member->kind < BASE_MEMBER_PARTS || member->number != NULL || member->text != NULL;
}

static gboolean
is_text (const BaseMember *member)
{
  return member->text != NULL || member->names != NULL || member->kind == BASE_MEMBER_TEXT || member->kind == BASE_MEMBER_CHARS;
}

static BaseCellKind
cell_kind (const BaseMember *member)
{
  if (member->number != NULL)
    return BASE_CELL_NUMBER;
  if (is_text (member))
    return BASE_CELL_TEXT;
  return member->kind == BASE_MEMBER_INT      ? BASE_CELL_BOOL
         : member->kind == BASE_MEMBER_NUMBER ? BASE_CELL_NUMBER
                                              : BASE_CELL_INTEGER;
}

/* ---- values ---- */

static void
read_number (const BaseMember *member, const void *of, BaseValue *value)
{
  const void *place = at (member, of);
  const double number = member->number != NULL               ? member->number (of)
                        : member->kind == BASE_MEMBER_UINT   ? *(const unsigned *)place
                        : member->kind == BASE_MEMBER_UINT64 ? (double)*(const guint64 *)place
                        : member->kind == BASE_MEMBER_NUMBER ? *(const double *)place
                                                             : *(const int *)place;
  if (member->key != NULL && !(member->positive && number <= 0))
    base_finite_look (member->key, number);
  value->known = isfinite (number) && !(member->positive && number <= 0);
  if (value->known)
    value->number = number;
}

static void
read_text (const BaseMember *member, const void *of, BaseValue *value)
{
  if (member->text != NULL)
    value->text = member->text (of);
  else if (member->names != NULL) {
    read_number (member, of, value);
    value->text = value->known ? base_name (member->names, (int)value->number) : NULL;
  } else
    value->text = member->kind == BASE_MEMBER_TEXT ? *(char *const *)at (member, of) : at (member, of);
  value->known = value->text != NULL && !(member->kind == BASE_MEMBER_CHARS && value->text[0] == '\0');
}

/* Of a member that is one value; `of` NULL: it is null. */
static BaseValue
read_value (const BaseMember *member, const void *of)
{
  BaseValue value = { .member = member, .kind = cell_kind (member), .number = (double)NAN, .dim = base_dim_of_key (member->key) };
  if (of == NULL || member->by_hand || (member->when != NULL && !member->when (of)))
    return value;
  if (value.kind == BASE_CELL_TEXT)
    read_text (member, of, &value);
  else
    read_number (member, of, &value);
  return value;
}

static BaseValue
read_part (const BaseMember *member, const void *of, guint part)
{
  BaseValue value = { .member = member, .kind = BASE_CELL_NUMBER, .number = (double)NAN, .dim = base_dim_of_key (member->key) };
  const double number = of != NULL ? ((const double *)at (member, of))[part] : (double)NAN;
  base_finite_look (member->key, number);
  value.known = isfinite (number);
  value.number = value.known ? number : (double)NAN;
  return value;
}

/* The struct of a group's members; NULL where the group is null. */
static const void *
group_of (const BaseMember *member, const void *of)
{
  return of == NULL || (member->when != NULL && !member->when (of)) ? NULL : at (member, of);
}

/* How many structs a list holds; none where it is null, and of what is not a list. */
static guint
n_items (const BaseMember *member, const void *of)
{
  if (group_of (member, of) == NULL || (member->kind != BASE_MEMBER_LIST && member->kind != BASE_MEMBER_LIST_OF_POINTERS))
    return 0;
  const void *list = *(const void *const *)at (member, of);
  if (list == NULL)
    return 0;
  return member->kind == BASE_MEMBER_LIST ? ((const GArray *)list)->len : ((const GPtrArray *)list)->len;
}

static const void *
array_at (const GArray *items, guint i)
{
  return items->data + (gsize)i * g_array_get_element_size ((GArray *)items);
}

static const void *
item_at (const BaseMember *member, const void *of, guint i)
{
  const void *list = *(const void *const *)at (member, of);
  return member->kind == BASE_MEMBER_LIST ? array_at (list, i) : ((const GPtrArray *)list)->pdata[i];
}

/* Of the item of a list that `path` begins with the number of, as in "0.time_s". */
static gboolean
value_of_item (const BaseMember *member, const void *of, const char *path, BaseValue *value)
{
  char *end;
  const guint64 i = g_ascii_isdigit (*path) ? g_ascii_strtoull (path, &end, 10) : G_MAXUINT64;
  return i < n_items (member, of) && *end == '.' &&
         base_members_value (member->sub, item_at (member, of, (guint)i), end + 1, value);
}

gboolean
base_members_value (const BaseMember *members, const void *of, const char *path, BaseValue *value)
{
  for (const BaseMember *member = members; is_row (member); member++) {
    if (member->key == NULL) {
      if (base_members_value (member->sub, group_of (member, of), path, value))
        return TRUE;
      continue;
    }
    const size_t n = strlen (member->key);
    if (strncmp (path, member->key, n) != 0)
      continue;
    if (path[n] == '\0' && is_single (member)) {
      *value = read_value (member, of);
      return TRUE;
    }
    if (path[n] == '.' && member->kind == BASE_MEMBER_GROUP) {
      const gboolean found = base_members_value (member->sub, group_of (member, of), path + n + 1, value);
      if (found && value->kind == BASE_CELL_NUMBER && value->dim == BASE_DIM_NUMBER)
        value->dim = base_dim_of_key (member->key);
      return found;
    }
    if (path[n] == '.' && !is_single (member) && n_items (member, of) > 0)
      return value_of_item (member, of, path + n + 1, value);
    for (guint part = 0; path[n] == '.' && member->kind == BASE_MEMBER_PARTS && part < member->n_parts; part++)
      if (strcmp (path + n + 1, member->parts[part]) == 0) {
        *value = read_part (member, group_of (member, of) != NULL ? of : NULL, part);
        return TRUE;
      }
  }
  return FALSE;
}

static void
add_paths (const BaseMember *members, const void *of, const char *before, GPtrArray *paths)
{
  for (const BaseMember *member = members; is_row (member); member++) {
    g_autofree char *path = g_strconcat (before, member->key, NULL);
    g_autofree char *inside = member->key != NULL ? g_strconcat (path, ".", NULL) : g_strdup (before);
    if (is_single (member) && !member->by_hand)
      g_ptr_array_add (paths, g_steal_pointer (&path));
    else if (member->kind == BASE_MEMBER_GROUP)
      add_paths (member->sub, group_of (member, of), inside, paths);
    for (guint part = 0; member->kind == BASE_MEMBER_PARTS && part < member->n_parts; part++)
      g_ptr_array_add (paths, g_strconcat (inside, member->parts[part], NULL));
    for (guint i = 0; !is_single (member) && i < n_items (member, of); i++) {
      g_autofree char *item = g_strdup_printf ("%s%u.", inside, i);
      add_paths (member->sub, item_at (member, of, i), item, paths);
    }
  }
}

char **
base_members_paths (const BaseMember *members, const void *of)
{
  GPtrArray *paths = g_ptr_array_new ();
  add_paths (members, of, "", paths);
  g_ptr_array_add (paths, NULL);
  return (char **)g_ptr_array_free (paths, FALSE);
}

/* ---- JSON ---- */

static void
build_value (const BaseValue *value, JsonBuilder *json)
{
  if (!value->known)
    json_builder_add_null_value (json);
  else if (value->kind == BASE_CELL_BOOL || value->member->kind == BASE_MEMBER_BOOL)
    json_builder_add_boolean_value (json, value->number != 0);
  else if (value->kind == BASE_CELL_TEXT) {
    g_autofree char *valid = g_utf8_make_valid (value->text, -1);
    json_builder_add_string_value (json, valid);
  } else
    base_json_add_number (json, value->number);
}

static void
build_object (const BaseMember *members, const void *of, JsonBuilder *json)
{
  json_builder_begin_object (json);
  base_members_json (members, of, json);
  json_builder_end_object (json);
}

void
base_members_list (const BaseMember *members, const GArray *items, JsonBuilder *json)
{
  json_builder_begin_array (json);
  for (guint i = 0; items != NULL && i < items->len; i++)
    build_object (members, array_at (items, i), json);
  json_builder_end_array (json);
}

static void
build_inside (const BaseMember *member, const void *of, JsonBuilder *json)
{
  if (member->kind == BASE_MEMBER_WRITTEN)
    member->write (of, json);
  else if (member->kind == BASE_MEMBER_GROUP)
    build_object (member->sub, at (member, of), json);
  else if (member->kind == BASE_MEMBER_PARTS) {
    json_builder_begin_object (json);
    for (guint part = 0; part < member->n_parts; part++) {
      const BaseValue value = read_part (member, of, part);
      json_builder_set_member_name (json, member->parts[part]);
      build_value (&value, json);
    }
    json_builder_end_object (json);
  } else {
    json_builder_begin_array (json);
    for (guint i = 0; i < n_items (member, of); i++)
      build_object (member->sub, item_at (member, of, i), json);
    json_builder_end_array (json);
  }
}

void
base_members_json (const BaseMember *members, const void *of, JsonBuilder *json)
{
  for (const BaseMember *member = members; is_row (member); member++) {
    const gboolean single = is_single (member);
    const BaseValue value = single ? read_value (member, of) : (BaseValue){ .known = group_of (member, of) != NULL };
    if (member->by_hand || (!value.known && member->optional))
      continue;
    if (member->key == NULL) {
      base_members_json (member->sub, group_of (member, of), json);
      continue;
    }
    json_builder_set_member_name (json, member->key);
    if (single)
      build_value (&value, json);
    else if (value.known)
      build_inside (member, of, json);
    else
      json_builder_add_null_value (json);
  }
}

/* ---- tables ---- */

static void
add_columns (const BaseMember *members, GArray *columns)
{
  for (const BaseMember *member = members; is_row (member); member++) {
    const BaseColumn column = { member->key, member->title, cell_kind (member), member->scale, member->format, member->rank };
    if (member->key == NULL)
      add_columns (member->sub, columns);
    else if (is_single (member) && !member->no_column)
      g_array_append_val (columns, column);
  }
}

static void
set_cell (BaseTable *table, const char *key, const BaseValue *value)
{
  if (!value->known)
    return;
  switch (value->kind) {
    case BASE_CELL_TEXT:
      base_table_text (table, key, value->text);
      break;
    case BASE_CELL_NUMBER:
      base_table_number (table, key, value->number);
      break;
    case BASE_CELL_INTEGER:
      base_table_integer (table, key, (gint64)value->number);
      break;
    case BASE_CELL_BOOL:
      base_table_bool (table, key, value->number != 0);
      break;
  }
}

static void
fill_row (BaseTable *table, const BaseMember *members, const void *of)
{
  for (const BaseMember *member = members; is_row (member); member++)
    if (member->key == NULL)
      fill_row (table, member->sub, group_of (member, of));
    else if (is_single (member) && !member->no_column) {
      const BaseValue value = read_value (member, of);
      set_cell (table, member->key, &value);
    }
}

void
base_members_add (BaseTable *table, const BaseMember *members, const void *of)
{
  base_table_row (table);
  fill_row (table, members, of);
}

BaseTable *
base_members_table (const BaseMember *members, const GArray *rows)
{
  g_autoptr (GArray) columns = g_array_new (TRUE, TRUE, sizeof (BaseColumn));
  add_columns (members, columns);
  BaseTable *table = base_table_new ((const BaseColumn *)(gpointer)columns->data);
  for (guint i = 0; rows != NULL && i < rows->len; i++)
    base_members_add (table, members, array_at (rows, i));
  return table;
}

/* The paths, with all parts where "*" stands for them. Returned: full. */
static GPtrArray *
whole_paths (const BaseMember *members, const char *const *paths)
{
  GPtrArray *whole = g_ptr_array_new_with_free_func (g_free);
  g_auto (GStrv) all = base_members_paths (members, NULL);
  for (; *paths != NULL; paths++) {
    const size_t n = strlen (*paths) - 1;
    if ((*paths)[n] != '*')
      g_ptr_array_add (whole, g_strdup (*paths));
    for (char **path = all; (*paths)[n] == '*' && *path != NULL; path++)
      if (strncmp (*path, *paths, n) == 0)
        g_ptr_array_add (whole, g_strdup (*path));
  }
  return whole;
}

/* "breakdown_compute_s" of "breakdown_s.compute"; a text has no unit. Returned: full. */
static char *
column_key (const char *path, gboolean text)
{
  const char *dot = strchr (path, '.'), *unit = dot != NULL ? g_strrstr_len (path, dot - path, "_") : NULL;
  if (dot == NULL)
    return g_strdup (path);
  if (unit == NULL)
    unit = dot;
  return g_strdup_printf ("%.*s_%s%.*s", (int)(unit - path), path, dot + 1, text ? 0 : (int)(dot - unit), unit);
}

/* The value at `path`, and the column for it. */
static BaseColumn
column_at (const BaseMember *members, const void *of, const char *path, BaseValue *value)
{
  const char *equals = strchr (path, '='), *inside = equals != NULL ? equals + 1 : path;
  if (!base_members_value (members, of, inside, value))
    g_error ("no member '%s'", inside); /* paths are the program's own */
  g_autofree char *key =
      equals != NULL ? g_strndup (path, (gsize)(equals - path)) : column_key (path, value->kind == BASE_CELL_TEXT);
  const BaseMember *member = value->member;
  return (BaseColumn){ g_intern_string (key), member->title, value->kind, member->scale, member->format, member->rank };
}

BaseTable *
base_members_row (const BaseMember *members, const char *const *paths, const void *of)
{
  if (paths == NULL) {
    BaseTable *table = base_members_table (members, NULL);
    base_members_add (table, members, of);
    return table;
  }
  g_autoptr (GPtrArray) whole = whole_paths (members, paths);
  g_autofree BaseColumn *columns = g_new0 (BaseColumn, whole->len + 1);
  g_autofree BaseValue *values = g_new0 (BaseValue, whole->len);
  for (guint i = 0; i < whole->len; i++)
    columns[i] = column_at (members, of, whole->pdata[i], &values[i]);
  BaseTable *table = base_table_new (columns);
  base_table_row (table);
  for (guint i = 0; i < whole->len; i++)
    set_cell (table, columns[i].key, &values[i]);
  return table;
}
