#include "base/schema.h"
#include "harness.h"
#include "schema_document.h"

#include <string.h>

typedef struct {
  BaseHead head;
  BaseNum rate;
} Link;

typedef struct {
  BaseHead head;
  BaseNum nodes, speed;
  BaseEnum kind;
  Link up, down;
  BaseList links;
  BaseRef type;
  BaseStrs under;
  BaseStr name;
  BaseBool sharp;
  BaseNums dims;
  const BaseYamlNode *domain, *any;
} Spec;

static const BaseField link_fields[] = {
  { "rate", BASE_FIELD_NUM, offsetof (Link, rate), "one way | per port", .dim = BASE_DIM_BANDWIDTH, .min = "1 b/s",
    .max = "1 TB/s" },
  { 0 },
};
static const BaseSchema link_schema = { .name = "Fabric.link", .help = "A cable.", .fields = link_fields, .scalar_key = "rate" };
static const BaseField domain_fields[] = { { "nodes", BASE_FIELD_NUM, 16, "nodes", .dim = BASE_DIM_COUNT }, { 0 } };
static const BaseSchema domain_schema = { .name = "NVLink domain", .fields = domain_fields };
static const BaseName kinds[] = { { "torus", 0, "rings in each direction" }, { "none", 1, "no fabric" }, { 0 } };
static const BaseField fields[] = {
  { "nodes", BASE_FIELD_NUM, offsetof (Spec, nodes), "how many", .required = TRUE, .dim = BASE_DIM_COUNT, .min = "1" },
  { "speed", BASE_FIELD_NUM, offsetof (Spec, speed), "how fast", .fallback = "1.5 GHz", .dim = BASE_DIM_FREQUENCY },
  { "kind", BASE_FIELD_ENUM, offsetof (Spec, kind), "shape", .fallback = "none", .names = kinds },
  { "up", BASE_FIELD_MAP, offsetof (Spec, up), "up", .sub = &link_schema },
  { "down", BASE_FIELD_MAP, offsetof (Spec, down), "down", .sub = &link_schema },
  { "links", BASE_FIELD_LIST, offsetof (Spec, links), "links", .sub = &link_schema, .item_size = sizeof (Link) },
  { "type", BASE_FIELD_REF, offsetof (Spec, type), "type", .sub = &link_schema, .item_size = sizeof (Link),
    .folder = "topologies/links" },
  { "under", BASE_FIELD_STRS, offsetof (Spec, under), "under", .required = FALSE },
  { "name", BASE_FIELD_STR, offsetof (Spec, name), "name", .required = FALSE },
  { "sharp", BASE_FIELD_BOOL, offsetof (Spec, sharp), "sharp", .required = FALSE },
  { "dims", BASE_FIELD_NUMS, offsetof (Spec, dims), "dims", .dim = BASE_DIM_COUNT, .max = "64" },
  { "domain", BASE_FIELD_NODE, offsetof (Spec, domain), "`node`, or how many", .sub = &domain_schema },
  { "any", BASE_FIELD_NODE, offsetof (Spec, any), "anything", .required = FALSE },
  { 0 },
};
static const BaseSchema schema = { .name = "topology", .help = "A cluster.", .fields = fields };

static void
a_list_is_printed_for_each_mapping_once (void)
{
  g_autofree char *text = schema_document (&schema);
  TEST_STR (text, "## topology\n"
                  "\n"
                  "A cluster.\n"
                  "\n"
                  "- **`nodes`** (integer ≥ 1): how many\n"
                  "- `speed: 1.5 GHz` (frequency): how fast\n"
                  "- `kind: none`: shape\n"
                  "  - `torus`: rings in each direction\n"
                  "  - `none`: no fabric\n"
                  "- [`up`](#fabriclink): up\n"
                  "- [`down`](#fabriclink): down\n"
                  "- [`links`](#fabriclink) (list): links\n"
                  "- `type` (name in `topologies/links`, path, or [Fabric.link](#fabriclink)): type\n"
                  "- `under` (text or list): under\n"
                  "- `name`: name\n"
                  "- `sharp` (boolean): sharp\n"
                  "- `dims` (integer or list ≤ 64): dims\n"
                  "- `domain` ([NVLink domain](#nvlink-domain)): `node`, or how many\n"
                  "- `any`: anything\n"
                  "\n"
                  "## Fabric.link\n"
                  "\n"
                  "A cable. A bare value sets `rate`.\n"
                  "\n"
                  "- `rate` (bandwidth ≤ 1 TB/s): one way | per port\n"
                  "\n"
                  "## NVLink domain\n"
                  "\n"
                  "- `nodes` (integer): nodes\n");
}

typedef struct {
  BaseHead head;
  BaseEnum a, b, small;
} Shape;

static void
names_are_listed_once (void)
{
  static const BaseName letters[] = { { "r", 0, "red" },   { "s", 1, "sand" },   { "t", 2, "tan" },
                                      { "u", 3, "umber" }, { "v", 4, "violet" }, { 0 } };
  static const BaseName one[] = { { "only", 0, "the only one" }, { 0 } };
  static const BaseField first_fields[] = {
    { "a", BASE_FIELD_ENUM, offsetof (Shape, a), "inside", .names = letters },
    { "b", BASE_FIELD_ENUM, offsetof (Shape, b), "outside", .names = letters },
    { "small", BASE_FIELD_ENUM, offsetof (Shape, small), "size", .names = one },
    { 0 },
  };
  static const BaseField second_fields[] = { { "c", BASE_FIELD_ENUM, offsetof (Shape, a), "below", .names = letters }, { 0 } };
  static const BaseSchema first = { .name = "first one", .fields = first_fields };
  static const BaseSchema second = { .name = "second", .fields = second_fields };
  static const BaseSchema *const schemas[] = { &first, &second, &first, NULL };
  g_autofree char *text = schema_documents (schemas);
  TEST_STR (text, "## first one\n"
                  "\n"
                  "- `a`: inside\n"
                  "  - `r`: red\n"
                  "  - `s`: sand\n"
                  "  - `t`: tan\n"
                  "  - `u`: umber\n"
                  "  - `v`: violet\n"
                  "- `b` (as `a`): outside\n"
                  "- `small` (`only`): size\n"
                  "\n"
                  "## second\n"
                  "\n"
                  "- `c` (as `a` of [first one](#first-one)): below\n");
}

static void
keys_of_another_mapping_are_a_link (void)
{
#define SHARED                                                                                                       \
  { "a", BASE_FIELD_STR, 16, "first", .required = FALSE }, { "b", BASE_FIELD_STR, 32, "second", .required = FALSE }, \
      { "c", BASE_FIELD_STR, 48, "third", .required = FALSE },                                                       \
  {                                                                                                                  \
    "d", BASE_FIELD_STR, 64, "fourth", .required = FALSE                                                             \
  }
  static const BaseField cable_fields[] = { SHARED, { 0 } };
  static const BaseSchema cable = { .name = "cable", .fields = cable_fields };
  static const BaseField end_fields[] = { { "to", BASE_FIELD_MAP, 80, "far end", .sub = &cable }, SHARED, { 0 } };
  static const BaseSchema end = { .name = "end", .fields = end_fields };
  g_autofree char *text = schema_document (&end);
  TEST_STR (text, "## end\n"
                  "\n"
                  "- [`to`](#cable): far end\n"
                  "- all keys of [cable](#cable)\n"
                  "\n"
                  "## cable\n"
                  "\n"
                  "- `a`: first\n"
                  "- `b`: second\n"
                  "- `c`: third\n"
                  "- `d`: fourth\n");
}

static void
a_sound_table_has_no_fault (void)
{
  g_autofree char *fault = schema_check (&schema);
  TEST_STR (fault, NULL);
}

static void
faults_of_a_table_are_named (void)
{
  static const struct {
    BaseField field;
    const char *fault;
  } cases[] = {
    { { "x", BASE_FIELD_NUM, 64, "x", .fallback = "450", .dim = BASE_DIM_BANDWIDTH }, "key 'x': bandwidth '450' has no unit" },
    { { "x", BASE_FIELD_NUM, 64, "x", .min = "fast", .dim = BASE_DIM_TIME }, "key 'x': 'fast' is not a time" },
    { { "x", BASE_FIELD_NUM, 64, "x", .max = "1", .fallback = "2", .dim = BASE_DIM_NUMBER }, "'x' must be at most 1, found '2'" },
    { { "x", BASE_FIELD_ENUM, 64, "x", .names = kinds, .fallback = "ring" }, "'x' must be one of torus, none, found 'ring'" },
    { { "x", BASE_FIELD_NUMS, 64, "x", .fallback = "[1, 2", .dim = BASE_DIM_COUNT }, "a ',' or ']' is missing" },
    { { "x", BASE_FIELD_BOOL, 64, "x", .fallback = "1" }, "'x' must be true or false" },
    { { "x", BASE_FIELD_ENUM, 64, "x", .required = FALSE }, "key 'x': an enumeration without names" },
    { { "x", BASE_FIELD_MAP, 64, "x", .required = FALSE }, "key 'x': a mapping without schema" },
    { { "x", BASE_FIELD_LIST, 64, "x", .sub = &link_schema }, "key 'x': no item_size" },
    { { "x", BASE_FIELD_REF, 64, "x", .sub = &link_schema, .item_size = sizeof (Link) }, "key 'x': a reference without folder" },
    { { "x", BASE_FIELD_STR, 64, "x", .min = "1" }, "key 'x': bounds on what is no number" },
    { { "x", BASE_FIELD_NODE, 64, "x", .fallback = "1" }, "key 'x': a default on a mapping, list or node" },
    { { "x", BASE_FIELD_STR, 64, "x", .required = TRUE, .fallback = "1" }, "key 'x': required, and yet a default" },
    { { "x", BASE_FIELD_STR, 64, NULL, .required = FALSE }, "key 'x': no help" },
    { { "first", BASE_FIELD_STR, 64, "x", .required = FALSE }, "key 'first' twice" },
    { { "x", BASE_FIELD_STR, 16, "x", .required = FALSE }, "keys 'first' and 'x' fill the same place" },
  };
  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++) {
    const BaseField two[] = { { "first", BASE_FIELD_STR, 16, "first", .required = FALSE }, cases[i].field, { 0 } };
    const BaseSchema inner = { .name = "inner", .fields = two };
    const BaseField outer_fields[] = { { "inner", BASE_FIELD_MAP, 16, "inner", .sub = &inner }, { 0 } };
    const BaseSchema outer = { .name = "outer", .fields = outer_fields };
    g_autofree char *fault = schema_check (&outer);
    test_has (fault, cases[i].fault, "fault", __FILE__, __LINE__);
  }
  const BaseSchema no_key = { .name = "link", .fields = link_fields, .scalar_key = "speed" };
  g_autofree char *fault = schema_check (&no_key);
  TEST_STR (fault, "schema 'link': no key 'speed' for a bare value");
  const BaseSchema nameless = { .fields = link_fields };
  g_autofree char *no_name = schema_check (&nameless);
  TEST_HAS (no_name, "has no name or no fields");
}

int
main (void)
{
  static const TestCase cases[] = {
    { "a list is printed for each mapping, once", a_list_is_printed_for_each_mapping_once },
    { "names are listed once", names_are_listed_once },
    { "keys of another mapping are a link", keys_of_another_mapping_are_a_link },
    { "a sound table has no fault", a_sound_table_has_no_fault },
    { "faults of a table are named", faults_of_a_table_are_named },
    { 0 },
  };
  return test_main ("base/schema_document", cases);
}
