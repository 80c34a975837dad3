/* What libforerun and the command line share: finding the shipped data, and scenarios by name. Not installed. */
#ifndef API_LOAD_H
#define API_LOAD_H

#include "base/lookup.h"

/* Where bare names of scenarios are looked for, below the shipped data. */
#define FR_SCENARIOS_FOLDER "scenarios"
#define FR_CASES_FOLDER     "scenarios/cases"

/* The folder with topologies/, scenarios/ and calibrate/: FORERUN_DATA; else share/forerun, or the folder itself, on the way up
 * from `file` (the program or the library; NULL: none); else the source tree of the build. NULL and *error (BASE_ERROR_INPUT) where
 * there is none: says where it was looked for. Returned: full, g_free. */
char *fr_data_root (const char *file, GError **error);

/* The file of a scenario, by path or shipped name; the error is that of the first folder. Returned: full, g_free. */
char *fr_scenario_path (const BaseLookup *lookup, const char *name, GError **error);

#endif
