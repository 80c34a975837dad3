/* The section `networks`: kinds of network, and the error bands over each. */
#include "base/rows.h"
#include "constants/section.h"
#include "models/library-spec.h"

static SCHEMA (fabric_schema, "networks.fabrics", "A kind of network between ranks.",
               ROW (MdlFabric, name, STR, "its name in results", .required = TRUE),
               ROW (MdlFabric, library, STR, "name of the library that runs over it", .required = TRUE),
               ROW (MdlFabric, classes, STRS, "link classes of the NICs' ports; none: no NIC is crossed"),
               NUM (MdlFabric, domain, COUNT, "fewest ranks that one scale-up switch joins", .min = "2", .max = "1000000"),
               NUM (MdlFabric, clusters, COUNT, "clusters that were measured", .min = "0"),
               NUM (MdlFabric, rows, COUNT, "points that were measured", .min = "0"),
               NUM (MdlFabric, held_out, COUNT, "those that nothing was fitted to", .min = "0"),
               NUM (MdlFabric, nodes, COUNT, "most nodes measured; racks, if `domain` is set", .min = "1"),
               MAP (MdlFabric, error, &cst_error_schema, "half-width over it; default: not validated, `unmeasured` holds"));

static SCHEMA (networks_schema, "networks", "Kinds of network between ranks.",
               LIST (MdlNetworks, fabrics, &fabric_schema, MdlFabric, "the first that fits holds"),
               MAP (MdlNetworks, unmeasured, &cst_error_schema, "half-width over networks that were never measured"),
               NUM (MdlNetworks, per_doubling, RATIO, "growth of a band with each doubling of the nodes beyond those measured",
                    .max = "10", .fallback = "0"));

const CstSection cst_networks = { "networks", &networks_schema, sizeof (MdlNetworks), offsetof (MdlLibrary, networks), NULL };
