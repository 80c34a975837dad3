/* References: keys that name a file, a path, or hold the mapping itself. */
#include "base/schema.h"
#include "folder_fixture.h"

#include <string.h>

typedef struct {
  BaseHead head;
  BaseStr name;
  BaseNum memory;
  BaseRef next;
} Gpu;

typedef struct {
  BaseHead head;
  BaseRef type, spare;
  BaseNum count;
} Gpus;

static const BaseSchema gpu_schema;
static const BaseField gpu_fields[] = {
  { "gpu", BASE_FIELD_STR, offsetof (Gpu, name), "name", .required = FALSE },
  { "memory", BASE_FIELD_NUM, offsetof (Gpu, memory), "memory", .required = TRUE, .dim = BASE_DIM_BYTES },
  { "next", BASE_FIELD_REF, offsetof (Gpu, next), "next", .sub = &gpu_schema, .item_size = sizeof (Gpu),
    .folder = "topologies/gpus" },
  { 0 },
};
static const BaseSchema gpu_schema = { .name = "gpu", .fields = gpu_fields };

static const BaseField gpus_fields[] = {
  { "type", BASE_FIELD_REF, offsetof (Gpus, type), "type", .sub = &gpu_schema, .item_size = sizeof (Gpu),
    .folder = "topologies/gpus" },
  { "spare", BASE_FIELD_REF, offsetof (Gpus, spare), "spare", .fallback = "h100", .sub = &gpu_schema, .item_size = sizeof (Gpu),
    .folder = "topologies/gpus" },
  { "count", BASE_FIELD_NUM, offsetof (Gpus, count), "count", .dim = BASE_DIM_COUNT },
  { 0 },
};
static const BaseSchema gpus_schema = { .name = "node.gpus", .fields = gpus_fields };

typedef struct {
  char *root;
  BaseLookup *lookup;
  BaseArena *arena;
  BaseDiag *diag;
  GPtrArray *inputs;
  BaseSchemaContext context;
} Place;

static Place
place_new (void)
{
  Place p = { .root = g_dir_make_tmp ("test-schema-XXXXXX", NULL), .arena = base_arena_new (), .diag = base_diag_new () };
  p.lookup = base_lookup_new (p.root);
  p.inputs = g_ptr_array_new_with_free_func ((GDestroyNotify)base_yaml_free);
  p.context = (BaseSchemaContext){ p.arena, p.diag, p.lookup, BASE_SOURCE_DATASHEET, p.inputs };
  folder_put (p.root, "topologies/gpus/h100.yaml", "gpu: h100\nmemory: 80 GB\n");
  folder_put (p.root, "topologies/gpus/h200.yaml", "gpu: h200\nmemory: 141 GB\n");
  return p;
}

static void
place_free (Place *p)
{
  folder_remove (p->root);
  g_free (p->root);
  base_lookup_free (p->lookup);
  base_arena_free (p->arena);
  base_diag_free (p->diag);
  g_ptr_array_unref (p->inputs);
}

/* Reads `text` as ROOT/mine/node.yaml; returns the messages with ROOT for the temporary folder, "" when there are none. */
static char *
read_node (const Place *p, const char *text, gboolean overlay, Gpus *out)
{
  g_autofree char *path = g_build_filename (p->root, "mine/node.yaml", NULL);
  folder_put (p->root, "mine/node.yaml", text);
  g_autoptr (GError) error = NULL;
  BaseYaml *yaml = base_yaml_load_file (path, &error);
  g_assert_no_error (error);
  g_ptr_array_add (p->inputs, yaml); /* lives as long as what it fills */
  gboolean ok = base_schema_read (&gpus_schema, base_yaml_root (yaml), overlay, &p->context, out);
  TEST_INT (ok, base_diag_finish (p->diag, &error));
  return folder_hidden (p->root, ok ? "" : error->message);
}

static void
a_name_is_found_loaded_and_read (void)
{
  Place p = place_new ();
  Gpus node = { 0 };
  g_autofree char *errors = read_node (&p, "type: h200\ncount: 8\n", FALSE, &node);
  TEST_STR (errors, "");
  const Gpu *gpu = node.type.value;
  TEST_STR (node.type.name, "h200");
  TEST_TRUE (node.type.set && node.type.mark.line == 1);
  TEST_NEAR (gpu->memory.v, 141e9, 0);
  TEST_INT (gpu->memory.source, BASE_SOURCE_DATASHEET);
  TEST_TRUE (g_str_has_suffix (gpu->memory.mark.file, "topologies/gpus/h200.yaml"));
  TEST_INT (gpu->memory.mark.line, 2);
  /* A default is a name, too. */
  TEST_STR (node.spare.name, "h100");
  TEST_TRUE (!node.spare.set && ((const Gpu *)node.spare.value)->memory.v == 80e9);
  TEST_INT (p.inputs->len, 3);
  place_free (&p);
}

static void
a_mapping_stands_in_place_of_a_file (void)
{
  Place p = place_new ();
  Gpus node = { 0 };
  g_autofree char *errors = read_node (&p, "type: {memory: 1 GB, next: h100}\n", FALSE, &node);
  TEST_STR (errors, "");
  const Gpu *gpu = node.type.value;
  TEST_STR (node.type.name, "inline");
  TEST_NEAR (gpu->memory.v, 1e9, 0);
  TEST_STR (gpu->next.name, "h100");
  /* `next` and `spare` name the same file: loaded once, one value. */
  TEST_TRUE (gpu->next.value == node.spare.value);
  TEST_INT (p.inputs->len, 2);
  place_free (&p);
}

static void
errors_in_a_referenced_file_carry_its_own_positions (void)
{
  Place p = place_new ();
  folder_put (p.root, "mine/bad.yaml", "gpu: bad\nmemory: 80\n");
  folder_put (p.root, "mine/torn.yaml", "gpu: [\n");
  Gpus node = { 0 };
  g_autofree char *errors = read_node (&p, "type: bad\nspare: torn\ncount: -1\n", FALSE, &node);
  TEST_HAS (errors, "ROOT/mine/bad.yaml:2:9: size '80' has no unit; write '80 B', '80 MB' (1e6) or '80 MiB' (1024 x 1024)\n");
  TEST_HAS (errors, "ROOT/mine/torn.yaml:2:1: a value is missing here");
  TEST_HAS (errors, "ROOT/mine/node.yaml:3:8: 'count' must not be negative, found '-1'\n");
  TEST_HAS (errors, "3 errors, nothing was run");
  TEST_TRUE (node.type.value == NULL && !node.type.set);
  place_free (&p);
}

static void
a_name_without_file_says_the_nearest (void)
{
  Place p = place_new ();
  Gpus node = { 0 };
  g_autofree char *errors = read_node (&p, "type: h20\nspare: gpus/own.yaml\n", FALSE, &node);
  TEST_HAS (errors,
            "ROOT/mine/node.yaml:1:7: type: no 'h20.yaml' in 'ROOT/mine' nor among the shipped topologies/gpus (did you mean "
            "'h200'?); 'forerun list gpus' names them");
  TEST_HAS (errors, "ROOT/mine/node.yaml:2:8: spare: no file 'ROOT/mine/gpus/own.yaml'");
  place_free (&p);
}

static void
a_list_is_no_reference (void)
{
  Place p = place_new ();
  Gpus node = { 0 };
  g_autofree char *errors = read_node (&p, "type: [h200]\n", FALSE, &node);
  TEST_HAS (errors, "ROOT/mine/node.yaml:1:7: 'type' must be a name, a path or a mapping, found a list");
  place_free (&p);
}

static void
files_that_name_each_other_in_a_circle_are_refused (void)
{
  Place p = place_new ();
  folder_put (p.root, "topologies/gpus/a.yaml", "memory: 1 GB\nnext: b\n");
  folder_put (p.root, "topologies/gpus/b.yaml", "memory: 1 GB\nnext: a\n");
  Gpus node = { 0 };
  g_autofree char *errors = read_node (&p, "type: a\n", FALSE, &node);
  TEST_STR (errors, "ROOT/topologies/gpus/b.yaml:2:7: 'ROOT/topologies/gpus/a.yaml' refers to itself\n1 error, nothing was run");
  place_free (&p);
}

static void
a_chain_of_files_is_limited (void)
{
  Place p = place_new ();
  for (unsigned i = 0; i < 12; i++) {
    g_autofree char *file = g_strdup_printf ("topologies/gpus/c%u.yaml", i);
    g_autofree char *text = g_strdup_printf ("memory: 1 GB\nnext: c%u\n", i + 1);
    folder_put (p.root, file, text);
  }
  Gpus node = { 0 };
  g_autofree char *errors = read_node (&p, "type: c0\n", FALSE, &node);
  TEST_HAS (errors, "ROOT/topologies/gpus/c7.yaml:2:7: more than 8 files name each other in a chain");
  place_free (&p);
}

/* Overrides of one node must not change the type that other nodes share. */
static void
an_overlay_changes_a_copy_of_what_is_referenced (void)
{
  Place p = place_new ();
  Gpus base = { 0 };
  g_autofree char *errors = read_node (&p, "type: h200\n", FALSE, &base);
  TEST_STR (errors, "");
  Gpus other = base;
  g_autofree char *more = read_node (&p, "type: {memory: 96 GB}\n", TRUE, &other);
  TEST_STR (more, "");
  const Gpu *own = other.type.value, *shared = base.type.value;
  TEST_NEAR (own->memory.v, 96e9, 0);
  TEST_STR (own->name.v, "h200");
  TEST_STR (other.type.name, "h200");
  TEST_NEAR (shared->memory.v, 141e9, 0);
  place_free (&p);
}

/* A flag's value is relative to where the user stands, not to the file that it changes. */
static void
a_reference_set_by_a_flag_is_found_too (void)
{
  Place p = place_new ();
  folder_put (p.root, "mine/node.yaml", "type: h200\n");
  g_autofree char *path = g_build_filename (p.root, "mine/node.yaml", NULL);
  BaseYaml *yaml = base_yaml_load_file (path, NULL);
  g_ptr_array_add (p.inputs, yaml);
  TEST_TRUE (base_yaml_set (yaml, "type", "h100", "--set type", NULL));
  Gpus node = { 0 };
  TEST_TRUE (base_schema_read (&gpus_schema, base_yaml_root (yaml), FALSE, &p.context, &node));
  TEST_STR (node.type.name, "h100");
  place_free (&p);
}

int
main (void)
{
  static const TestCase cases[] = {
    { "a name is found, loaded and read", a_name_is_found_loaded_and_read },
    { "a mapping stands in place of a file", a_mapping_stands_in_place_of_a_file },
    { "errors in a referenced file carry its own positions", errors_in_a_referenced_file_carry_its_own_positions },
    { "a name without file says the nearest", a_name_without_file_says_the_nearest },
    { "a list is no reference", a_list_is_no_reference },
    { "files that name each other in a circle are refused", files_that_name_each_other_in_a_circle_are_refused },
    { "a chain of files is limited", a_chain_of_files_is_limited },
    { "an overlay changes a copy of what is referenced", an_overlay_changes_a_copy_of_what_is_referenced },
    { "a reference set by a flag is found, too", a_reference_set_by_a_flag_is_found_too },
    { 0 },
  };
  return test_main ("base/schema_file", cases);
}
