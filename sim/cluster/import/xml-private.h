/* A small XML document as a tree of elements with positions. */
#ifndef CLUSTER_IMPORT_XML_PRIVATE_H
#define CLUSTER_IMPORT_XML_PRIVATE_H

#include "base/arena.h"
#include "base/error.h"
#include "base/mark.h"

/* A dump of the largest NVLink domain is below 1 MiB; nesting in practice below 10, attributes of an element below 16 (NCCL's own
 * limit, src/graph/xml.h MAX_ATTR_COUNT). */
#define CLU_XML_MAX_B          (16u << 20)
#define CLU_XML_MAX_DEPTH      64u
#define CLU_XML_MAX_ELEMENTS   100000u
#define CLU_XML_MAX_ATTRIBUTES 64u

typedef struct CluXml CluXml;
struct CluXml {
  const char *name;
  BaseMark mark;                /* of its '<' */
  const char *const *attribute; /* name, value, …, NULL */
  CluXml *parent, *first, *last, *next;
};

/* Text between elements is ignored. All is borrowed from `arena`; `path` names the file in marks and must outlive them. NULL and
 * *error (BASE_ERROR_INPUT, `path:line:column: …; …`): not UTF-8, not well-formed, no element, over a limit. */
CluXml *clu_xml_parse (const char *path, const char *bytes, gsize n_B, BaseArena *arena, GError **error);

/* Borrowed; NULL when absent. */
const char *clu_xml_get (const CluXml *element, const char *attribute);
gboolean clu_xml_is (const CluXml *element, const char *name);

#endif
