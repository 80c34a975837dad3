/* XML on GMarkup. GMarkup tells where it stands, not where a tag began: the text is fed to it from one '<' to the next, so that the
 * position of the '<' is known when its element is reported. A '<' inside a comment or a processing instruction begins no
 * element. */
#include "import/xml-private.h"

#include <string.h>

#include "base/diag.h"

typedef struct {
  BaseArena *arena;
  CluXml *root, *open;
  BaseMark mark; /* of the last '<' */
  guint32 depth, n_elements;
} Reader;

static void
start_element (GMarkupParseContext *context, const char *name, const char **names, const char **values, gpointer data,
               GError **error)
{
  Reader *reader = data;
  (void)context;
  guint32 n = 0;
  while (names[n] != NULL)
    n++;
  g_autofree char *refused = NULL;
  if (reader->open == NULL && reader->root != NULL)
    refused = g_strdup_printf ("<%.40s> after the end of <%s>; one top element is accepted", name, reader->root->name);
  else if (reader->depth == CLU_XML_MAX_DEPTH)
    refused = g_strdup_printf ("elements are nested too deeply; at most %u levels", CLU_XML_MAX_DEPTH);
  else if (reader->n_elements == CLU_XML_MAX_ELEMENTS)
    refused = g_strdup_printf ("too many elements; at most %u", CLU_XML_MAX_ELEMENTS);
  else if (n > CLU_XML_MAX_ATTRIBUTES)
    refused = g_strdup_printf ("<%.40s> has %u attributes; at most %u", name, n, CLU_XML_MAX_ATTRIBUTES);
  if (refused != NULL) {
    base_fail_at (error, reader->mark, "%s", refused);
    return;
  }
  const char **attribute = base_arena_alloc_n (reader->arena, 2 * n + 1, sizeof *attribute);
  for (guint32 i = 0; i < n; i++) {
    attribute[2 * i] = base_arena_strdup (reader->arena, names[i]);
    attribute[2 * i + 1] = base_arena_strdup (reader->arena, values[i]);
  }
  CluXml *element = base_arena_alloc (reader->arena, sizeof *element);
  *element = (CluXml){ .name = base_arena_strdup (reader->arena, name),
                       .mark = reader->mark,
                       .attribute = (const char *const *)attribute,
                       .parent = reader->open };
  if (reader->open == NULL)
    reader->root = element;
  else if (reader->open->first == NULL)
    reader->open->first = reader->open->last = element;
  else
    reader->open->last = reader->open->last->next = element;
  reader->open = element;
  reader->depth++;
  reader->n_elements++;
}

static void
end_element (GMarkupParseContext *context, const char *name, gpointer data, GError **error)
{
  Reader *reader = data;
  (void)context;
  (void)name;
  (void)error;
  reader->open = reader->open->parent;
  reader->depth--;
}

static BaseMark
mark_at (const char *path, const char *bytes, const char *at)
{
  BaseMark mark = { path, 1, 1 };
  const char *line = bytes;
  for (const char *p = bytes; p < at; p++)
    if (*p == '\n') {
      mark.line++;
      line = p + 1;
    }
  mark.column = (unsigned)g_utf8_strlen (line, at - line) + 1;
  return mark;
}

static void
not_well_formed (const Reader *reader, const GError *why, GError **error)
{
  const char *text = why->message; /* "Error on line 3 char 9: …": the position is said already */
  const char *colon = g_str_has_prefix (text, "Error on line ") ? strstr (text, ": ") : NULL;
  g_autofree char *what = g_strdup_printf ("not well-formed XML (%.200s); a file written by NCCL_TOPO_DUMP_FILE is accepted",
                                           colon == NULL ? text : colon + 2);
  base_fail_at (error, reader->mark, "%s", what);
}

static gboolean
feed (Reader *reader, GMarkupParseContext *context, const char *bytes, gsize n_B, GError **error)
{
  const char *end = bytes + n_B, *counted = bytes;
  for (const char *at = bytes; at < end;) {
    const char *next = memchr (at + 1, '<', (gsize)(end - at - 1));
    next = next == NULL ? end : next;
    for (; counted < at; counted++) { /* columns count characters: the continuation bytes of UTF-8 do not */
      if (*counted == '\n') {
        reader->mark.line++;
        reader->mark.column = 1;
      } else if (((guchar)*counted & 0xC0u) != 0x80u)
        reader->mark.column++;
    }
    if (!g_markup_parse_context_parse (context, at, next - at, error))
      return FALSE;
    at = next;
  }
  return g_markup_parse_context_end_parse (context, error);
}

CluXml *
clu_xml_parse (const char *path, const char *bytes, gsize n_B, BaseArena *arena, GError **error)
{
  static const GMarkupParser parser = { .start_element = start_element, .end_element = end_element };
  Reader reader = { .arena = arena, .mark = { path, 1, 1 } };
  const char *bad = NULL;
  if (n_B > CLU_XML_MAX_B) {
    g_autofree char *what = g_strdup_printf ("%" G_GSIZE_FORMAT " bytes are too many; at most %u MiB", n_B, CLU_XML_MAX_B >> 20);
    base_fail_at (error, reader.mark, "%s", what);
    return NULL;
  }
  if (!g_utf8_validate_len (bytes, n_B, &bad)) {
    base_fail_at (error, mark_at (path, bytes, bad), "not UTF-8 text (or a NUL byte); XML in UTF-8 is accepted");
    return NULL;
  }
  g_autoptr (GMarkupParseContext) context = g_markup_parse_context_new (&parser, G_MARKUP_DEFAULT_FLAGS, &reader, NULL);
  g_autoptr (GError) why = NULL;
  if (!feed (&reader, context, bytes, n_B, &why)) {
    if (why->domain == BASE_ERROR)
      g_propagate_error (error, g_steal_pointer (&why));
    else
      not_well_formed (&reader, why, error);
    return NULL;
  }
  if (reader.root == NULL)
    base_fail_at (error, reader.mark, "no element; a file written by NCCL_TOPO_DUMP_FILE is accepted");
  return reader.root;
}

const char *
clu_xml_get (const CluXml *element, const char *attribute)
{
  for (const char *const *at = element->attribute; *at != NULL; at += 2)
    if (strcmp (at[0], attribute) == 0)
      return at[1];
  return NULL;
}

gboolean
clu_xml_is (const CluXml *element, const char *name)
{
  return strcmp (element->name, name) == 0;
}
