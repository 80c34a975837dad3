/* A build without protobuf-c. */
#include "chakra-private.h"

gboolean
scn_chakra_read_proto (ScnChakraTrace *trace, const char *bytes, gsize n_B, GError **error)
{
  (void)bytes;
  (void)n_B;
  return scn_chakra_fail (trace, NULL, error,
                          "this build reads no protobuf; install it (Debian: libprotobuf-c-dev and protobuf-c-compiler) and "
                          "build again, or give the JSON form (PREFIX.RANK.json)");
}
