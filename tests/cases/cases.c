/* Runs the worked cases: scenarios/cases/NN_*.expect, each a few questions to forerun and what must hold of the answers.
 *
 *     title   forward+backward 10 ms, all-reduce 12 ms, no overlap
 *     kind    arithmetic                    (or measured, order)
 *     source  where the case and its answer come from
 *     let a = run 01_no_overlap.yaml : step_time_s
 *     let b = coll all_reduce --topology p5 -g 8 -b 1G -e 1G : 0.busbw_Bps
 *     check a ~ 22e-3 1%                    (within 1 per cent)
 *     check b > 2 * a                       (also < >= <= and `in LOW HIGH`)
 *     note    what a reader should know
 *
 * After `:` stands a path into "results" of the JSON: keys and list indices joined by dots. Commands run in the folder of the
 * case, each command once. --markdown prints the table of all cases (docs/cases.md), --answers their values (answers.tsv in the
 * folder). With --document FILE, a case fails if its row in FILE or its line in answers.tsv differs. */
#include <ctype.h>
#include <json-glib/json-glib.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
  const char *forerun, *folder, *file;
  GHashTable *value; /* name -> double * */
  GHashTable *asked; /* question -> JsonParser *, NULL where it failed */
  GString *answers;  /* "a = 0.022" */
  char *title, *kind, *source, *note;
  unsigned n_checks, n_failed, line;
} Case;

static void complain (Case *c, const char *format, ...) G_GNUC_PRINTF (2, 3);
static void
complain (Case *c, const char *format, ...)
{
  va_list args;
  va_start (args, format);
  g_autofree char *text = g_strdup_vprintf (format, args);
  va_end (args);
  fprintf (stderr, "%s:%u: %s\n", c->file, c->line, text);
  c->n_failed++;
}

/* ---- expressions: numbers, names, + - * / ( ) ---- */

typedef struct {
  Case *c;
  const char *at;
  gboolean bad;
} Expr;

static double sum (Expr *e);

static void
blanks (Expr *e)
{
  while (*e->at == ' ')
    e->at++;
}

static double
atom (Expr *e)
{
  blanks (e);
  if (*e->at == '(') {
    e->at++;
    double v = sum (e);
    blanks (e);
    e->bad |= *e->at != ')';
    e->at += *e->at == ')';
    return v;
  }
  if (*e->at == '-') {
    e->at++;
    return -atom (e);
  }
  if (isalpha ((unsigned char)*e->at)) {
    const char *from = e->at;
    while (isalnum ((unsigned char)*e->at) || *e->at == '_')
      e->at++;
    g_autofree char *name = g_strndup (from, (gsize)(e->at - from));
    const double *v = g_hash_table_lookup (e->c->value, name);
    e->bad |= v == NULL;
    return v != NULL ? *v : 0;
  }
  char *end;
  double v = g_ascii_strtod (e->at, &end);
  e->bad |= end == e->at;
  e->at = end;
  return v;
}

static double
product (Expr *e)
{
  double v = atom (e);
  for (blanks (e); !e->bad && (*e->at == '*' || *e->at == '/'); blanks (e)) {
    char op = *e->at++;
    double w = atom (e);
    v = op == '*' ? v * w : v / w;
  }
  return v;
}

static double
sum (Expr *e)
{
  double v = product (e);
  for (blanks (e); !e->bad && (*e->at == '+' || *e->at == '-'); blanks (e)) {
    char op = *e->at++;
    double w = product (e);
    v = op == '+' ? v + w : v - w;
  }
  return v;
}

static void
check (Case *c, const char *text)
{
  Expr e = { c, text, FALSE };
  double a = sum (&e), b, tolerance = 0, high = 0;
  blanks (&e);
  g_autofree char *op = g_strndup (e.at, strcspn (e.at, " "));
  e.at += strlen (op);
  b = sum (&e);
  blanks (&e);
  if (strcmp (op, "~") == 0) {
    char *end;
    tolerance = g_ascii_strtod (e.at, &end);
    e.bad |= end == e.at || *end != '%';
    e.at = end + (*end == '%');
  } else if (strcmp (op, "in") == 0)
    high = sum (&e);
  blanks (&e);
  c->n_checks++;
  if (e.bad || *e.at != '\0') {
    complain (c, "cannot read the check '%s'", text);
    return;
  }
  gboolean ok = strcmp (op, "~") == 0    ? fabs (a - b) <= tolerance / 100 * fabs (b)
                : strcmp (op, "<") == 0  ? a < b
                : strcmp (op, "<=") == 0 ? a <= b
                : strcmp (op, ">") == 0  ? a > b
                : strcmp (op, ">=") == 0 ? a >= b
                : strcmp (op, "in") == 0 ? a >= b && a <= high
                                         : FALSE;
  if (!ok)
    complain (c, "does not hold: %s (left %.6g, right %.6g)", text, a, b);
}

/* ---- questions ---- */

static JsonNode *
step_into (JsonNode *node, const char *part)
{
  if (node == NULL)
    return NULL;
  if (JSON_NODE_HOLDS_OBJECT (node))
    return json_object_get_member (json_node_get_object (node), part);
  if (!JSON_NODE_HOLDS_ARRAY (node) || !isdigit ((unsigned char)part[0]))
    return NULL;
  guint i = (guint)strtoul (part, NULL, 10);
  JsonArray *array = json_node_get_array (node);
  return i < json_array_get_length (array) ? json_array_get_element (array, i) : NULL;
}

/* What forerun answers, as JSON; NULL (and a complaint) where it fails. Borrowed, valid as long as the case. */
static JsonNode *
query (Case *c, const char *question)
{
  gpointer known = NULL;
  if (!g_hash_table_lookup_extended (c->asked, question, NULL, &known)) {
    g_autofree char *line = g_strdup_printf ("%s %s --format json --quiet", c->forerun, question);
    g_auto (GStrv) argv = NULL;
    g_autofree char *out = NULL, *err = NULL;
    int status = 0;
    g_autoptr (GError) error = NULL;
    JsonParser *parser = json_parser_new ();
    if (!g_shell_parse_argv (line, NULL, &argv, &error) ||
        !g_spawn_sync (c->folder, argv, NULL, G_SPAWN_SEARCH_PATH, NULL, NULL, &out, &err, &status, &error) || status != 0) {
      complain (c, "'forerun %s' failed: %s%s", question, error != NULL ? error->message : "", err != NULL ? err : "");
      g_clear_object (&parser);
    } else if (!json_parser_load_from_data (parser, out, -1, &error)) {
      complain (c, "'forerun %s' prints no JSON: %s", question, error->message);
      g_clear_object (&parser);
    }
    g_hash_table_insert (c->asked, g_strdup (question), parser);
    known = parser;
  }
  return known != NULL ? json_parser_get_root (known) : NULL;
}

static void
let (Case *c, const char *text)
{
  g_auto (GStrv) sides = g_strsplit (text, " = ", 2);
  const char *colon = sides[0] != NULL && sides[1] != NULL ? g_strrstr (sides[1], " : ") : NULL;
  if (colon == NULL) {
    complain (c, "cannot read 'let %s'", text);
    return;
  }
  g_strstrip (sides[0]);
  g_autofree char *question = g_strndup (sides[1], (gsize)(colon - sides[1]));
  JsonNode *node = query (c, question);
  if (node == NULL)
    return;
  g_autofree char *path = g_strdup_printf ("results.%s", colon + 3);
  g_auto (GStrv) parts = g_strsplit (path, ".", -1);
  for (char **part = parts; *part != NULL; part++)
    node = step_into (node, *part);
  if (node == NULL || !JSON_NODE_HOLDS_VALUE (node)) {
    complain (c, "'forerun %s' has no number at '%s'", question, path);
    return;
  }
  double *v = g_new (double, 1);
  *v = json_node_get_double (node);
  if (json_node_get_value_type (node) == G_TYPE_INT64)
    *v = (double)json_node_get_int (node);
  g_hash_table_insert (c->value, g_strdup (sides[0]), v);
  g_string_append_printf (c->answers, "%s%s = %.4g", c->answers->len > 0 ? ", " : "", sides[0], *v);
}

static void
run_line (Case *c, const char *line)
{
  g_autofree char *word = g_strndup (line, strcspn (line, " \t"));
  const char *rest = line + strlen (word);
  rest += strspn (rest, " \t");
  char **keep = strcmp (word, "title") == 0    ? &c->title
                : strcmp (word, "kind") == 0   ? &c->kind
                : strcmp (word, "source") == 0 ? &c->source
                : strcmp (word, "note") == 0   ? &c->note
                                               : NULL;
  if (keep != NULL) {
    char *joined = *keep != NULL ? g_strconcat (*keep, " ", rest, NULL) : g_strdup (rest);
    g_free (*keep);
    *keep = joined;
  } else if (strcmp (word, "let") == 0)
    let (c, rest);
  else if (strcmp (word, "check") == 0)
    check (c, rest);
  else
    complain (c, "unknown word '%s'; accepted: title, kind, source, let, check, note", word);
}

static void
unref_parser (gpointer parser)
{
  if (parser != NULL)
    g_object_unref (parser);
}

/* What is printed of a case. */
typedef enum { PRINT_VERDICT, PRINT_ROW, PRINT_ANSWERS } Print;

/* Returns how much of the case fails. `document` and `answers`: the texts that have its row and its answers, or NULL. */
static unsigned
run_case (const char *forerun, const char *folder, const char *file, Print print, const char *document, const char *answers)
{
  Case c = { .forerun = forerun, .folder = folder, .file = file, .answers = g_string_new (NULL) };
  c.value = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  c.asked = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, unref_parser);
  g_autofree char *path = g_build_filename (folder, file, NULL);
  g_autofree char *text = NULL;
  if (!g_file_get_contents (path, &text, NULL, NULL))
    complain (&c, "cannot read %s", path);
  g_auto (GStrv) lines = g_strsplit (text != NULL ? text : "", "\n", -1);
  for (char **line = lines; *line != NULL; line++) {
    c.line++;
    g_strstrip (*line);
    if (**line != '\0' && **line != '#')
      run_line (&c, *line);
  }
  if (c.n_checks == 0 || c.title == NULL || c.kind == NULL || c.source == NULL)
    complain (&c, "a case needs a title, a kind, a source and at least one check");
  g_autofree char *row = g_strdup_printf ("| %.2s | %s | %s | %s |\n", file, c.title, c.kind, c.note != NULL ? c.note : "");
  g_autofree char *line = g_strdup_printf ("%.*s\t%s\n", (int)strcspn (file, "."), file, c.answers->str);
  if (document != NULL && strstr (document, row) == NULL)
    complain (&c, "docs/cases.md has another row than:\n%s", row);
  if (answers != NULL && strstr (answers, line) == NULL)
    complain (&c, "answers.tsv has another line than:\n%s", line);
  if (print != PRINT_VERDICT)
    printf ("%s", print == PRINT_ROW ? row : line);
  else
    printf ("%-40s %3u checks  %s\n", file, c.n_checks, c.n_failed == 0 ? "ok" : "FAILED");
  unsigned failed = c.n_failed;
  g_hash_table_unref (c.value);
  g_hash_table_unref (c.asked);
  g_string_free (c.answers, TRUE);
  g_free (c.title);
  g_free (c.kind);
  g_free (c.source);
  g_free (c.note);
  return failed;
}

static int
by_name (gconstpointer a, gconstpointer b)
{
  return strcmp (*(const char *const *)a, *(const char *const *)b);
}

int
main (int argc, char **argv)
{
  int first = 3; /* of the cases that are named */
  Print print = argc > first && strcmp (argv[first], "--markdown") == 0  ? PRINT_ROW
                : argc > first && strcmp (argv[first], "--answers") == 0 ? PRINT_ANSWERS
                                                                         : PRINT_VERDICT;
  first += print != PRINT_VERDICT;
  g_autofree char *document = NULL, *answers = NULL;
  g_autoptr (GError) error = NULL;
  if (argc > first + 1 && strcmp (argv[first], "--document") == 0) {
    g_autofree char *path = g_build_filename (argv[2], "answers.tsv", NULL);
    if (!g_file_get_contents (argv[first + 1], &document, NULL, &error) || !g_file_get_contents (path, &answers, NULL, &error)) {
      fprintf (stderr, "%s\n", error->message);
      return 2;
    }
    first += 2;
  }
  if (argc < 3) {
    fprintf (stderr, "usage: cases FORERUN FOLDER [--markdown|--answers] [--document FILE] [NN …]\n");
    return 2;
  }
  g_autoptr (GPtrArray) files = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (GDir) dir = g_dir_open (argv[2], 0, NULL);
  for (const char *name; dir != NULL && (name = g_dir_read_name (dir)) != NULL;)
    if (g_str_has_suffix (name, ".expect")) {
      gboolean wanted = argc == first;
      for (int i = first; i < argc; i++)
        wanted |= g_str_has_prefix (name, argv[i]);
      if (wanted)
        g_ptr_array_add (files, g_strdup (name));
    }
  g_ptr_array_sort (files, by_name);
  unsigned failed = 0;
  if (print == PRINT_ROW)
    printf ("| case | question | kind | note |\n|---|---|---|---|\n");
  for (guint i = 0; i < files->len; i++)
    failed += run_case (argv[1], argv[2], files->pdata[i], print, document, answers);
  if (print == PRINT_VERDICT)
    printf ("%u cases, %u failures\n", files->len, failed);
  return files->len > 0 && failed == 0 ? 0 : 1;
}
