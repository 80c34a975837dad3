/* libyaml's events to a tree of nodes. The stack is our own: depth is counted before a node is made, and an alias is counted as all
 * that it stands for, so that neither deep nor wide "bombs" cost more than the limits. */
#include "base/text.h"
#include "yaml-private.h"

#include "base/diag.h"
#include "units/text-private.h"

#include <string.h>
#include <yaml.h>

typedef struct {
  BaseYamlNode *node;
  GPtrArray *items;
  GPtrArray *keys;       /* mapping: const char * */
  GArray *key_marks;     /* mapping: BaseMark */
  GHashTable *key_index; /* mapping: key -> index + 1 */
  const char *key;       /* mapping: waits for its value */
} Frame;

typedef struct {
  BaseArena *arena;
  const char *file;
  gboolean flag;
  const char *bytes;
  gsize n_B;
  yaml_parser_t parser;
  GPtrArray *stack;    /* Frame * */
  GHashTable *anchors; /* name -> node */
  BaseYamlNode *root;
  unsigned n_nodes;
  GError **error;
} Reader;

static void
frame_free (void *data)
{
  Frame *frame = data;
  g_ptr_array_unref (frame->items);
  g_clear_pointer (&frame->keys, g_ptr_array_unref);
  g_clear_pointer (&frame->key_marks, g_array_unref);
  g_clear_pointer (&frame->key_index, g_hash_table_unref);
  g_free (frame);
}

/* libyaml counts lines and columns from 0. */
static BaseMark
to_mark (const Reader *reader, yaml_mark_t mark)
{
  if (reader->flag)
    return (BaseMark){ reader->file, 0, 0 };
  return (BaseMark){ reader->file, (unsigned)mark.line + 1, (unsigned)mark.column + 1 };
}

/* The position of a byte, in text that is UTF-8 up to there. */
static BaseMark
mark_of_byte (const Reader *reader, gsize at)
{
  BaseMark mark = { reader->file, 1, 1 };
  if (reader->flag)
    return (BaseMark){ .file = reader->file };
  for (gsize i = 0; i < at && i < reader->n_B; i++) {
    unsigned char c = (unsigned char)reader->bytes[i];
    if (c == '\n' || (c == '\r' && (i + 1 == reader->n_B || reader->bytes[i + 1] != '\n'))) {
      mark.line++;
      mark.column = 1;
    } else if ((c & 0xc0) != 0x80 && c != '\r') {
      mark.column++;
    }
  }
  return mark;
}

/* What libyaml says, in words of those who do not know its grammar. */
static const struct {
  const char *problem, *plain;
} plain_words[] = {
  { "mapping values are not allowed in this context",
    "a ':' is not expected here; quote text that holds ': ', and indent keys of one mapping alike" },
  { "did not find expected key", "a key is expected here; keys of one mapping are indented alike" },
  { "could not find expected ':'", "a ':' is missing behind a key" },
  { "did not find expected '-' indicator", "a '-' is expected here; items of one list are indented alike" },
  { "did not find expected ',' or ']'", "a ',' or ']' is missing" },
  { "did not find expected ',' or '}'", "a ',' or '}' is missing" },
  { "found unexpected end of stream", "the text ends inside quotes" },
  { "found unexpected document indicator", "the text ends inside quotes" },
  { "found unknown escape character", "unknown escape in double quotes; write '\\\\' for a backslash" },
  { "block sequence entries are not allowed in this context", "a '-' is not expected here; a list begins on a line of its own" },
  { "block mapping entries are not allowed in this context", "a mapping is not expected here; it begins on a line of its own" },
  { "mapping keys are not allowed in this context", "a key is not expected here" },
  { "did not find expected <document start>", "text behind the end of the document" },
  { "did not find expected node content", "a value is missing here" },
  { "control characters are not allowed", "a control character; remove it" },
  { "found undefined tag handle", "tags ('!…') are not supported; remove it" },
};

/* The character at an index in characters, '\0' at the end. The bytes need not end with NUL. */
static char
character_at (const Reader *reader, gsize index)
{
  gsize i = 0;
  for (; i < reader->n_B; i++)
    if (((unsigned char)reader->bytes[i] & 0xc0) != 0x80 && index-- == 0)
      return reader->bytes[i];
  return '\0';
}

static gboolean
fail_parser (const Reader *reader)
{
  const yaml_parser_t *parser = &reader->parser;
  const char *problem = parser->problem != NULL ? parser->problem : "cannot be read as YAML";
  BaseMark mark = to_mark (reader, parser->problem_mark);
  if (parser->error == YAML_READER_ERROR)
    mark = mark_of_byte (reader, parser->problem_offset);
  else if (character_at (reader, parser->problem_mark.index) == '\0') /* libyaml ends a last line that has no end */
    mark = mark_of_byte (reader, reader->n_B);
  for (gsize i = 0; i < G_N_ELEMENTS (plain_words); i++)
    if (strcmp (problem, plain_words[i].problem) == 0)
      problem = plain_words[i].plain;

  if (strcmp (problem, "found character that cannot start any token") == 0)
    problem = character_at (reader, parser->problem_mark.index) == '\t' ? "a tab indents; use spaces"
                                                                        : "a value cannot begin with this character; quote it";
  gboolean begun = parser->context != NULL && parser->context_mark.line != parser->problem_mark.line && !reader->flag;
  if (begun)
    return base_fail_at (reader->error, mark, "%s (in what begins at line %u)", problem, (unsigned)parser->context_mark.line + 1);
  return base_fail_at (reader->error, mark, "%s", problem);
}

static Frame *
top (const Reader *reader)
{
  return reader->stack->len == 0 ? NULL : reader->stack->pdata[reader->stack->len - 1];
}

static gboolean
wants_key (const Frame *frame)
{
  return frame != NULL && frame->node->kind == BASE_YAML_MAP && frame->key == NULL;
}

static gboolean
count_nodes (Reader *reader, unsigned n, BaseMark mark, const char *alias)
{
  if (n > BASE_YAML_MAX_NODES - reader->n_nodes) {
    if (alias != NULL)
      return base_fail_at (reader->error, mark,
                           "alias '*%s' stands for %u values, which makes more than %u in all; that is the most", alias, n,
                           BASE_YAML_MAX_NODES);
    return base_fail_at (reader->error, mark, "more than %u values; that is the most", BASE_YAML_MAX_NODES);
  }
  reader->n_nodes += n;
  return TRUE;
}

static gboolean
check_depth (const Reader *reader, unsigned height, BaseMark mark)
{
  return reader->stack->len + height <= BASE_YAML_MAX_DEPTH ||
         base_fail_at (reader->error, mark, "nested deeper than %u levels", BASE_YAML_MAX_DEPTH);
}

/* Puts a whole node where the stack waits for one. */
static void
place (Reader *reader, BaseYamlNode *node)
{
  Frame *frame = top (reader);
  if (frame == NULL) {
    reader->root = node;
    return;
  }
  g_ptr_array_add (frame->items, node);
  frame->key = NULL;
}

static BaseYamlNode *
node_new (Reader *reader, BaseYamlKind kind, BaseMark mark, const yaml_char_t *anchor)
{
  BaseYamlNode *node = base_arena_alloc (reader->arena, sizeof *node);
  node->kind = kind;
  node->mark = mark;
  node->height = kind == BASE_YAML_SCALAR ? 1 : 0; /* 0: still open, an alias to it would be endless */
  node->n_nodes = 1;
  if (anchor != NULL)
    g_hash_table_insert (reader->anchors, g_strdup ((const char *)anchor), node);
  return node;
}

static gboolean
check_tag (const Reader *reader, const yaml_char_t *tag, BaseMark mark, gboolean scalar)
{
  if (tag == NULL || strcmp ((const char *)tag, "!") == 0 || (scalar && strcmp ((const char *)tag, YAML_STR_TAG) == 0))
    return TRUE;
  g_autofree char *shown = base_text_shown ((const char *)tag);
  return base_fail_at (reader->error, mark, "tag '%s' is not supported; remove it", shown);
}

static gboolean
is_printable (const char *text)
{
  for (const char *p = text; *p != '\0'; p = g_utf8_next_char (p)) {
    const gunichar c = g_utf8_get_char_validated (p, -1);
    if (c == (gunichar)-1 || c == (gunichar)-2 || !base_text_is_printable (c))
      return FALSE;
  }
  return TRUE;
}

static gboolean
on_key (Reader *reader, const yaml_event_t *event, BaseMark mark)
{
  Frame *frame = top (reader);
  gboolean plain = event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
  const char *text = (const char *)event->data.scalar.value;
  if (strlen (text) != event->data.scalar.length)
    return base_fail_at (reader->error, mark, "a NUL character in a key");
  if (plain && base_yaml_text_is_null (text))
    return base_fail_at (reader->error, mark, "an empty key; a key is a word before ':'");
  if (!is_printable (text))
    return base_fail_at (reader->error, mark, "a control character in a key; letters, digits and signs are accepted");
  if (plain && strcmp (text, "<<") == 0)
    return base_fail_at (reader->error, mark,
                         "merge keys ('<<') are not supported; write the keys out, or name a file that has them");
  unsigned first = GPOINTER_TO_UINT (g_hash_table_lookup (frame->key_index, text));
  if (first != 0) {
    g_autofree char *shown = base_text_shown (text);
    BaseMark was = g_array_index (frame->key_marks, BaseMark, first - 1);
    if (reader->flag)
      return base_fail_at (reader->error, mark, "duplicate key '%s'", shown);
    return base_fail_at (reader->error, mark, "duplicate key '%s'; it is already at %u:%u", shown, was.line, was.column);
  }
  frame->key = base_arena_strdup (reader->arena, text);
  g_ptr_array_add (frame->keys, (void *)frame->key);
  g_array_append_val (frame->key_marks, mark);
  g_hash_table_insert (frame->key_index, (void *)frame->key, GUINT_TO_POINTER (frame->keys->len));
  return TRUE;
}

static gboolean
on_scalar (Reader *reader, const yaml_event_t *event)
{
  BaseMark mark = to_mark (reader, event->start_mark);
  const yaml_char_t *anchor = event->data.scalar.anchor;
  if (!check_tag (reader, event->data.scalar.tag, mark, TRUE))
    return FALSE;
  if (wants_key (top (reader)))
    return anchor == NULL ? on_key (reader, event, mark)
                          : base_fail_at (reader->error, mark, "an anchor on a key is not supported; put it on a value");

  const char *text = (const char *)event->data.scalar.value;
  if (strlen (text) != event->data.scalar.length) /* "\0" in double quotes */
    return base_fail_at (reader->error, mark, "a NUL character in a value");
  if (!check_depth (reader, 1, mark) || !count_nodes (reader, 1, mark, NULL))
    return FALSE;
  BaseYamlNode *node = node_new (reader, BASE_YAML_SCALAR, mark, anchor);
  node->plain = event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE && event->data.scalar.tag == NULL;
  node->text = base_arena_strdup (reader->arena, text);
  place (reader, node);
  return TRUE;
}

static gboolean
on_open (Reader *reader, const yaml_event_t *event)
{
  gboolean map = event->type == YAML_MAPPING_START_EVENT;
  const yaml_char_t *anchor = map ? event->data.mapping_start.anchor : event->data.sequence_start.anchor;
  const yaml_char_t *tag = map ? event->data.mapping_start.tag : event->data.sequence_start.tag;
  BaseMark mark = to_mark (reader, event->start_mark);
  if (wants_key (top (reader)))
    return base_fail_at (reader->error, mark, "a key must be a word, not a %s", map ? "mapping" : "list");
  if (!check_tag (reader, tag, mark, FALSE) || !check_depth (reader, 1, mark) || !count_nodes (reader, 1, mark, NULL))
    return FALSE;
  Frame *frame = g_new0 (Frame, 1);
  frame->node = node_new (reader, map ? BASE_YAML_MAP : BASE_YAML_SEQ, mark, anchor);
  frame->items = g_ptr_array_new ();
  if (map) {
    frame->keys = g_ptr_array_new ();
    frame->key_marks = g_array_new (FALSE, FALSE, sizeof (BaseMark));
    frame->key_index = g_hash_table_new (g_str_hash, g_str_equal);
  }
  g_ptr_array_add (reader->stack, frame);
  return TRUE;
}

static void
on_close (Reader *reader)
{
  Frame *frame = g_ptr_array_steal_index (reader->stack, reader->stack->len - 1);
  BaseYamlNode *node = frame->node;
  node->n = frame->items->len;
  node->item = base_arena_alloc_n (reader->arena, node->n, sizeof *node->item);
  if (node->kind == BASE_YAML_MAP) {
    node->key = base_arena_alloc_n (reader->arena, node->n, sizeof *node->key);
    node->key_mark = base_arena_alloc_n (reader->arena, node->n, sizeof *node->key_mark);
  }
  for (unsigned i = 0; i < node->n; i++) {
    node->item[i] = frame->items->pdata[i];
    node->height = MAX (node->height, node->item[i]->height);
    node->n_nodes += node->item[i]->n_nodes; /* cannot overflow: the sum is within what was counted */
    if (node->kind == BASE_YAML_MAP) {
      node->key[i] = frame->keys->pdata[i];
      node->key_mark[i] = g_array_index (frame->key_marks, BaseMark, i);
    }
  }
  node->height++;
  frame_free (frame);
  place (reader, node);
}

static gboolean
on_alias (Reader *reader, const yaml_event_t *event)
{
  BaseMark mark = to_mark (reader, event->start_mark);
  g_autofree char *name = base_text_shown ((const char *)event->data.alias.anchor);
  if (wants_key (top (reader)))
    return base_fail_at (reader->error, mark, "an alias cannot be a key; write the key out");
  BaseYamlNode *node = g_hash_table_lookup (reader->anchors, event->data.alias.anchor);
  if (node == NULL)
    return base_fail_at (reader->error, mark, "alias '*%s' has no anchor '&%s' before it", name, name);
  if (node->height == 0)
    return base_fail_at (reader->error, mark, "alias '*%s' stands inside what it names, without end", name);
  if (!check_depth (reader, node->height, mark) || !count_nodes (reader, node->n_nodes, mark, name))
    return FALSE;
  node->shared = TRUE;
  place (reader, node);
  return TRUE;
}

/* FALSE: error. *done TRUE: the stream is over. */
static gboolean
on_event (Reader *reader, const yaml_event_t *event, gboolean *done)
{
  switch (event->type) {
    case YAML_DOCUMENT_START_EVENT:
      if (reader->root != NULL)
        return base_fail_at (reader->error, to_mark (reader, event->start_mark), "more than one document; a file holds one");
      return TRUE;
    case YAML_SCALAR_EVENT:
      return on_scalar (reader, event);
    case YAML_ALIAS_EVENT:
      return on_alias (reader, event);
    case YAML_MAPPING_START_EVENT:
    case YAML_SEQUENCE_START_EVENT:
      return on_open (reader, event);
    case YAML_MAPPING_END_EVENT:
    case YAML_SEQUENCE_END_EVENT:
      on_close (reader);
      return TRUE;
    case YAML_STREAM_END_EVENT:
      *done = TRUE;
      return TRUE;
    case YAML_NO_EVENT:
    case YAML_STREAM_START_EVENT:
    case YAML_DOCUMENT_END_EVENT:
      return TRUE;
  }
  return TRUE;
}

/* Before libyaml sees a byte: encodings that it would take or stumble over are said plainly. */
static gboolean
check_bytes (Reader *reader)
{
  const char *bytes = reader->bytes;
  if (reader->n_B >= 2 && (memcmp (bytes, "\xff\xfe", 2) == 0 || memcmp (bytes, "\xfe\xff", 2) == 0))
    return base_fail_at (reader->error, mark_of_byte (reader, 0), "the file is UTF-16; save it as UTF-8");
  if (reader->n_B >= 3 && memcmp (bytes, "\xef\xbb\xbf", 3) == 0) {
    reader->bytes += 3;
    reader->n_B -= 3;
  }
  const char *nul = reader->n_B > 0 ? memchr (reader->bytes, '\0', reader->n_B) : NULL;
  const char *bad;
  gboolean utf8 = reader->n_B == 0 || g_utf8_validate_len (reader->bytes, reader->n_B, &bad);
  if (nul != NULL && (utf8 || nul <= bad))
    return base_fail_at (reader->error, mark_of_byte (reader, (gsize)(nul - reader->bytes)), "a NUL byte; this is no text file");
  if (!utf8)
    return base_fail_at (reader->error, mark_of_byte (reader, (gsize)(bad - reader->bytes)),
                         "byte 0x%02x is not UTF-8; save the file as UTF-8", (unsigned char)*bad);
  return TRUE;
}

static gboolean
read_events (Reader *reader)
{
  for (gboolean done = FALSE; !done;) {
    yaml_event_t event;
    if (!yaml_parser_parse (&reader->parser, &event))
      return fail_parser (reader);
    gboolean ok = on_event (reader, &event, &done);
    yaml_event_delete (&event);
    if (!ok)
      return FALSE;
  }
  return TRUE;
}

gboolean
base_yaml_parse (BaseArena *arena, const char *file, gboolean flag, const char *bytes, gsize n_B, BaseYamlNode **root,
                 GError **error)
{
  Reader reader = { .arena = arena, .file = file, .flag = flag, .bytes = bytes != NULL ? bytes : "", .n_B = n_B, .error = error };
  if (!check_bytes (&reader))
    return FALSE;
  if (!yaml_parser_initialize (&reader.parser))
    g_error ("libyaml: out of memory");
  yaml_parser_set_encoding (&reader.parser, YAML_UTF8_ENCODING);
  yaml_parser_set_input_string (&reader.parser, (const unsigned char *)reader.bytes, reader.n_B);
  reader.stack = g_ptr_array_new_with_free_func (frame_free);
  reader.anchors = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);

  gboolean ok = read_events (&reader);

  g_ptr_array_unref (reader.stack);
  g_hash_table_unref (reader.anchors);
  yaml_parser_delete (&reader.parser);
  if (!ok)
    return FALSE;
  BaseYamlNode *node = reader.root;
  *root = node != NULL && node->kind == BASE_YAML_SCALAR && node->plain && node->text[0] == '\0' ? NULL : node;
  return TRUE;
}
