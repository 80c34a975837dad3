/* The section `networks`: which kinds of network there are. */
#include "base/rows.h"
#include "constants/section.h"
#include "models/library-spec.h"

static SCHEMA (fabric_schema, "networks.fabrics", "A kind of network between ranks.",
               ROW (MdlFabric, name, STR, "its name in results", .required = TRUE),
               ROW (MdlFabric, library, STR, "name of the library that runs over it", .required = TRUE),
               ROW (MdlFabric, classes, STRS, "link classes of the NICs' ports; none: no NIC is crossed"),
               NUM (MdlFabric, domain, COUNT, "fewest ranks that one scale-up switch joins", .min = "2", .max = "1000000"));

static SCHEMA (networks_schema, "networks", "Kinds of network between ranks.",
               LIST (MdlNetworks, fabrics, &fabric_schema, MdlFabric, "the first that fits holds"));

const CstSection cst_networks = { "networks", &networks_schema, sizeof (MdlNetworks), offsetof (MdlLibrary, networks) };
