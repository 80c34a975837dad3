/* What a file is, which its first key says. */
#ifndef CLI_FILETYPE_PRIVATE_H
#define CLI_FILETYPE_PRIVATE_H

#include "base/yaml.h"
#include "cli-private.h"

typedef enum {
  CLI_FILE_TOPOLOGY,
  CLI_FILE_SCENARIO,
  CLI_FILE_CALIBRATION,
  CLI_FILE_PART,
  CLI_FILE_LLM,
  CLI_FILE_PLAN,
  CLI_FILE_OFFERS
} CliFileKind;

/* The first key of a file says what it is. */
typedef struct {
  const char *key;
  CliFileKind kind;
  const BaseSchema *schema; /* CLI_FILE_PART */
  size_t size;
  void (*check) (const void *spec, BaseMark mark,
                 BaseDiag *diag); /* of what goes together, `mark`: the file's start; NULL: nothing */
} CliFileType;

/* The kind of a file (borrowed, static). FALSE and *error (BASE_ERROR_INPUT) where its first key is none of the kinds'. */
gboolean cli_file_type (const BaseYaml *yaml, const CliFileType **out, GError **error);

#endif
