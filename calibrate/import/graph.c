/* The XML of NCCL_GRAPH_DUMP_FILE: <graphs><graph id pattern nchannels speedintra speedinter typeintra typeinter samechannels>
 * <channel><gpu dev/>…</channel>…</graph>…</graphs>. Source: NVIDIA/nccl 5067397c src/graph/search.cc:ncclTopoGetXmlFromGraphs. */
#include <string.h>

#include "import/import-private.h"

#define MOST_DEPTH 16

typedef struct {
  CalFound found;
  unsigned depth, gpus; /* gpus: of the channel that is open */
  gboolean in_graphs, counted;
} Reader;

static gboolean
refuse (GMarkupParseContext *context, GError **error, const char *what)
{
  int line, column;
  g_markup_parse_context_get_position (context, &line, &column);
  base_fail (error, BASE_ERROR_INPUT, "%d:%d: %s", line, column, what);
  return FALSE;
}

static const char *
attribute (const char *const *names, const char *const *values, const char *name)
{
  for (; *names != NULL; names++, values++)
    if (strcmp (*names, name) == 0)
      return *values;
  return NULL;
}

static gboolean
read_number (const char *text, double most, double *out)
{
  char *end = NULL;
  *out = text != NULL ? g_ascii_strtod (text, &end) : -1;
  return text != NULL && end != text && *end == '\0' && *out >= 0 && *out <= most;
}

static gboolean
take_graph (GMarkupParseContext *context, Reader *reader, const char *const *names, const char *const *values, GError **error)
{
  double pattern, channels, intra, inter, same;
  const char *type_intra = attribute (names, values, "typeintra"), *type_inter = attribute (names, values, "typeinter");
  if (!read_number (attribute (names, values, "pattern"), 100, &pattern) ||
      !read_number (attribute (names, values, "nchannels"), 1024, &channels) ||
      !read_number (attribute (names, values, "speedintra"), 1e6, &intra) ||
      !read_number (attribute (names, values, "speedinter"), 1e6, &inter) ||
      !read_number (attribute (names, values, "samechannels"), 1, &same))
    return refuse (context, error, "<graph> needs the numbers pattern, nchannels, speedintra, speedinter and samechannels");
  type_intra = type_intra == NULL ? NULL : cal_path_of (type_intra);
  type_inter = type_inter == NULL ? NULL : cal_path_of (type_inter);
  if (type_intra == NULL || type_inter == NULL)
    return refuse (context, error,
                   "<graph> needs typeintra and typeinter; accepted: LOC, NVL, XGMI, NVB, C2C, PIX, PXB, P2C, PXN, PHB, SYS");
  CalGraphKind kind = cal_graph_of ((unsigned)pattern, reader->found.graph);
  if (kind == CAL_GRAPH_N)
    return TRUE;
  CalGraph *graph = &reader->found.graph[kind];
  *graph = (CalGraph){ .set = TRUE, .channels = (unsigned)channels, .intra_GBps = intra, .inter_GBps = inter, .same = same > 0 };
  g_strlcpy (graph->intra, type_intra, sizeof graph->intra);
  g_strlcpy (graph->inter, type_inter, sizeof graph->inter);
  return TRUE;
}

static void
start_element (GMarkupParseContext *context, const char *name, const char **names, const char **values, gpointer data,
               GError **error)
{
  Reader *reader = data;
  if (reader->depth == MOST_DEPTH) {
    refuse (context, error, "elements are nested more than 16 deep; NCCL writes 4 levels");
    return;
  }
  if (reader->depth++ == 0) {
    reader->in_graphs = strcmp (name, "graphs") == 0;
    if (!reader->in_graphs)
      refuse (context, error, "the top element is not <graphs>: this is no graph dump (NCCL_GRAPH_DUMP_FILE)");
    return;
  }
  if (strcmp (name, "graph") == 0)
    take_graph (context, reader, names, values, error);
  else if (strcmp (name, "gpu") == 0 && !reader->counted)
    reader->gpus++;
}

static void
end_element (GMarkupParseContext *context, const char *name, gpointer data, GError **error)
{
  Reader *reader = data;
  (void)context;
  (void)error;
  reader->depth--;
  if (strcmp (name, "channel") != 0 || reader->counted)
    return;
  reader->found.gpus = reader->gpus;
  reader->counted = TRUE;
}

char *
cal_import_nccl_graph (const CalText *text, const char *name, const char *over, GError **error)
{
  static const GMarkupParser parser = { .start_element = start_element, .end_element = end_element };
  Reader reader = { 0 };
  g_autoptr (GError) cause = NULL;
  g_autoptr (GMarkupParseContext) context = g_markup_parse_context_new (&parser, (GMarkupParseFlags)0, &reader, NULL);
  if (!g_markup_parse_context_parse (context, text->bytes, (gssize)text->n_B, &cause) ||
      !g_markup_parse_context_end_parse (context, &cause)) {
    int line, column;
    g_markup_parse_context_get_position (context, &line, &column);
    if (cause->domain == BASE_ERROR)
      base_fail (error, BASE_ERROR_INPUT, "%s:%s", text->path, cause->message);
    else
      base_fail (error, BASE_ERROR_INPUT, "%s:%d:%d: %s", text->path, line, column, cause->message);
    return NULL;
  }
  if (!reader.found.graph[CAL_GRAPH_RING].set || reader.found.gpus < 2) {
    base_fail (error, BASE_ERROR_INPUT, "%s:1:1: no ring (<graph pattern=\"4\">) over two GPUs or more", text->path);
    return NULL;
  }
  if (text->warnings != NULL)
    base_diag_warn (
        text->warnings, BASE_MARK_NONE,
        "a graph dump does not tell NCCL's version, the number of nodes and the channels in use; a log does (nccl-log)");
  return cal_import_write (&reader.found, "a graph dump", name, over);
}
