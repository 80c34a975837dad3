/* What libforerun and the command line share: finding the shipped data, loading constants, and loading a scenario by name. Not
 * installed. */
#ifndef API_LOAD_H
#define API_LOAD_H

#include "base/lookup.h"
#include "constants/calibration.h"
#include "scenario/scenario.h"

G_BEGIN_DECLS

/* Where bare names of scenarios are looked for, below the shipped data. */
#define FR_SCENARIOS_FOLDER "scenarios"
#define FR_CASES_FOLDER     "scenarios/cases"

/* The folder with topologies/, scenarios/ and calibrate/: FORERUN_DATA; else share/forerun, or the folder itself, on the way up
 * from `file` (the program or the library; NULL: none); else the source tree of the build. NULL and *error (BASE_ERROR_INPUT) where
 * there is none: says where it was looked for. Returned: full, g_free. */
char *fr_data_root (const char *file, GError **error);

/* Constants that were loaded, and live as long as this does. */
typedef struct {
  const BaseLookup *lookup; /* borrowed; set before anything is loaded */
  GPtrArray *loaded;        /* Cst *, owned, in the order of loading; NULL: none yet */
  char *shared;             /* owned: by what names fr_constants_share loaded the last of them; NULL: it has not */
} FrConstants;

/* Matches ScnLibraryLoad; `user`: the FrConstants. */
const MdlLibrary *fr_constants_load (void *user, const MdlLibraryAsk *ask, GError **error);
/* The same, for communicators of one question: where the last were loaded for the same names, these, and nothing is read again. Not
 * to be mixed with fr_constants_load. */
const MdlLibrary *fr_constants_share (void *user, const MdlLibraryAsk *ask, GError **error);
const char *fr_constants_name (const FrConstants *constants); /* of those that were loaded last; NULL: none were */
void fr_constants_clear (FrConstants *constants);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (FrConstants, fr_constants_clear)

/* A scenario, and the constants that it points into. */
typedef struct {
  Scn *scenario;
  FrConstants constants;
} FrLoaded;

/* The file of a scenario, by path or shipped name; the error is that of the first folder. Returned: full, g_free. */
char *fr_scenario_path (const BaseLookup *lookup, const char *name, GError **error);
/* `text` NULL: the file `path`; else `path` stands for a file in messages. NULL and *error on failure. Returned: full. */
FrLoaded *fr_loaded_new (const char *path, const char *text, const BaseLookup *lookup, const ScnOptions *options, GError **error);
void fr_loaded_free (FrLoaded *loaded);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FrLoaded, fr_loaded_free)

G_END_DECLS

#endif
