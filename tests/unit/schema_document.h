/* Schema tables read by people: the reference that documents print, and a check of the tables themselves. */
#ifndef SCHEMA_DOCUMENT_H
#define SCHEMA_DOCUMENT_H

#include "base/schema.h"

/* What is wrong with the tables themselves: a default or bound that does not parse, a key twice, a part that its kind needs and
 * lacks; NULL when all is well. base_schema_read aborts on such a table when it meets the fault. Returned: full, g_free. */
char *schema_check (const BaseSchema *schema);

/* Markdown reference of a schema and all that it embeds, one list a mapping. Returned: full, g_free. */
char *schema_document (const BaseSchema *schema);
/* The same of several schemas, which end with NULL: each mapping and each list of names appears once. */
char *schema_documents (const BaseSchema *const *schemas);

/* How each quantity with a unit is written: "time `2 us`, size `16 GiB`". Returned: full, g_free; may be empty. */
char *schema_units (const BaseSchema *const *schemas);

#endif
