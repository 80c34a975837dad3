/* libforerun: how long communication, storage and training take on a GPU cluster, from C and from whatever calls C.
 *
 *   FrError *error = NULL;
 *   FrSession *session = fr_session_new (NULL, &error);                        // finds the shipped data
 *   FrScenario *scenario = fr_scenario_load (session, "quickstart", &error);   // a file, or a shipped name
 *   fr_scenario_set (scenario, "cluster.nodes", "4", &error);
 *   FrResult *result = fr_scenario_run (scenario, &error);
 *   double time_s;
 *   if (result != NULL && fr_result_number (result, "time_s", &time_s))
 *     printf ("%g s\n", time_s);
 *
 * Ownership: what a function ending in _new, _load, _parse or _run returns is the caller's. The function of its type that ends in
 * _free frees it, in any order; _free of NULL does nothing. Texts that are returned belong to the handle that they were asked of,
 * and live as long as it does. Arguments are copied.
 *
 * Errors: a function that can fail takes an FrError ** as its last argument, which may be NULL. On failure it returns NULL or false
 * and sets *error to an error that the caller frees. Nothing is printed, and nothing ends the process but a lack of memory.
 *
 * Units: SI, and bytes: s, B, B/s, USD, W, J. The ending of a key says the unit, as does fr_result_unit.
 *
 * Threads: different handles may be used in different threads at the same time, scenarios of one session too. One handle is for one
 * thread at a time. The same question gives the same bytes in any thread. */
#ifndef FORERUN_H
#define FORERUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define FR_API __attribute__ ((visibility ("default")))

/* "0.2.0". Static. */
FR_API const char *fr_version (void);

/* ---- errors ---- */

typedef struct FrError FrError;

typedef enum {
  FR_STATUS_RUN = 1,       /* the run failed: a deadlock of tasks, a file that cannot be written */
  FR_STATUS_INPUT = 2,     /* an argument, a file or a value is wrong; the message says where and what is accepted */
  FR_STATUS_INFEASIBLE = 3 /* nothing meets the constraints */
} FrStatus;                /* the same numbers as the exit status of the program */

FR_API FrStatus fr_error_status (const FrError *error);
/* One message a line, without a line end at its end: "FILE:LINE:COLUMN: what is wrong; what is accepted". Borrowed. */
FR_API const char *fr_error_message (const FrError *error);
FR_API void fr_error_free (FrError *error);

/* ---- session: where the shipped data are ---- */

typedef struct FrSession FrSession;

/* `data`: the folder with topologies/, scenarios/ and calibrate/. NULL: the environment variable FORERUN_DATA, else share/forerun
 * where the library is installed, else the source tree that it was built in. Fails with FR_STATUS_INPUT where there is none. */
FR_API FrSession *fr_session_new (const char *data, FrError **error);
/* The folder that was found. Borrowed. */
FR_API const char *fr_session_data (const FrSession *session);
FR_API void fr_session_free (FrSession *session);
/* Refuses simulations that need more memory than `size` ("4 GiB") before they start, as --limit-memory does. NULL: 16 GiB, the
 * default. It holds for all sessions of the process, for each simulation by itself; not while one runs. */
FR_API bool fr_session_limit_memory (FrSession *session, const char *size, FrError **error);

/* From now on, all of this process reads files only below `folder` and the shipped data of its sessions, and refuses links that
 * lead elsewhere: for scenarios and plans of people who are not trusted. A folder below may follow, and nothing lifts it. Fails
 * with FR_STATUS_INPUT where `folder` is none, or is outside the one that was set. */
FR_API bool fr_sandbox_set (const char *folder, FrError **error);

/* ---- scenario: what is asked ---- */

typedef struct FrScenario FrScenario;

/* `name`: a path, or the name of a shipped scenario (`forerun list scenarios`). Fails where there is no such file. Its content is
 * read and checked by fr_scenario_run. */
FR_API FrScenario *fr_scenario_load (FrSession *session, const char *name, FrError **error);
/* The same from `text`: what the file would hold (docs/scenario.md). Paths in it are relative to the working directory. */
FR_API FrScenario *fr_scenario_parse (FrSession *session, const char *text, FrError **error);
FR_API void fr_scenario_free (FrScenario *scenario);

/* Changes a key, as --set PATH=VALUE does: ("cluster.nodes", "4"), ("topology.node.nics.rate", "200 Gb/s"). The last value of a
 * path counts. Fails where the path is empty or holds '='; whether the scenario has such a key is seen by fr_scenario_run. */
FR_API bool fr_scenario_set (FrScenario *scenario, const char *path, const char *value, FrError **error);
/* In place of the file's seed; at most 2^63 - 1. */
FR_API bool fr_scenario_set_seed (FrScenario *scenario, uint64_t seed, FrError **error);

typedef enum {
  FR_MODE_EVENT, /* the event engine: the default */
  FR_MODE_MODEL  /* closed form: faster, without what happens at the same time */
} FrMode;
FR_API bool fr_scenario_set_mode (FrScenario *scenario, FrMode mode, FrError **error);

/* ---- result: what is answered ---- */

typedef struct FrResult FrResult;
FR_API void fr_result_free (FrResult *result);

/* Reads the scenario and runs it. The handle can be changed and run again. Fails with all that is wrong with the file. */
FR_API FrResult *fr_scenario_run (FrScenario *scenario, FrError **error);

/* A field by its key. Keys are those of `results` in the JSON document, joined by dots inside objects
 * ("breakdown_s.compute_fwd"), with the number of an item inside lists ("links.0.utilisation"). Where all of `results` is a list,
 * keys begin with the number of a row: "0.time_s". */

/* false, and *value as it was, where there is no such field, it is not a number, or it is not known (null in JSON). Truth is 1. */
FR_API bool fr_result_number (const FrResult *result, const char *key, double *value);
/* NULL where there is no such field, it is not a text, or it is not known. Borrowed. */
FR_API const char *fr_result_text (const FrResult *result, const char *key);
/* "s", "B", "B/s", "USD"; "" where it has none, or where there is no such field. Static. */
FR_API const char *fr_result_unit (const FrResult *result, const char *key);

/* Items of the list at `key`, "" for all of the answer; 0 where it is no list. */
FR_API size_t fr_result_n_items (const FrResult *result, const char *key);
/* All fields, in the order of the JSON document: keys from 0 up to fr_result_n_fields. NULL beyond. Borrowed. */
FR_API size_t fr_result_n_fields (const FrResult *result);
FR_API const char *fr_result_key (const FrResult *result, size_t i);

/* The whole answer: the document that the program prints with --format json, with its inputs and warnings. Borrowed. */
FR_API const char *fr_result_json (const FrResult *result);

/* What there is to know of the answer beside its fields: keys without effect, constants that are missing. NULL beyond the last.
 * Borrowed. */
FR_API size_t fr_result_n_warnings (const FrResult *result);
FR_API const char *fr_result_warning (const FrResult *result, size_t i);

/* ---- collective: time and bandwidth by message size, without a file ---- */

typedef struct FrColl FrColl;

/* `op`: "all_reduce", "all_gather", "reduce_scatter", "broadcast", "reduce", "alltoall" or "sendrecv". `topology`: a path, or the
 * name of a shipped topology (`forerun list topologies`). Both are checked by fr_coll_run. */
FR_API FrColl *fr_coll_new (FrSession *session, const char *op, const char *topology, FrError **error);
FR_API void fr_coll_free (FrColl *coll);
/* Changes a key of the topology, as fr_scenario_set does: ("node.nics.rate", "200 Gb/s"). */
FR_API bool fr_coll_set (FrColl *coll, const char *path, const char *value, FrError **error);
/* A flag of `forerun coll` by its long name: ("nodes", "1,2,4"), ("minbytes", "1M"), ("algo", "ring"). The last value counts, of
 * "nccl" all. Fails where there is no such flag; values are checked by fr_coll_run. */
FR_API bool fr_coll_option (FrColl *coll, const char *name, const char *value, FrError **error);
/* A row for each size on each number of nodes, as `forerun coll`: "0.bytes", "0.time_s", "0.busbw_Bps", "1.bytes", … */
FR_API FrResult *fr_coll_run (FrColl *coll, FrError **error);
/* A row for each algorithm that can run, by its fastest protocol, at each size on each number of nodes, as `forerun compare`: the
 * fields of fr_coll_run, "0.best" and "0.margin". Fails where the option "algo" is set. */
FR_API FrResult *fr_coll_compare (FrColl *coll, FrError **error);

/* ---- plan: the cluster and the parallel layout that meet a goal at the least time, cost or energy ---- */

typedef struct FrPlan FrPlan;

/* As fr_scenario_load and fr_scenario_parse, of a plan (docs/plan.md). */
FR_API FrPlan *fr_plan_load (FrSession *session, const char *name, FrError **error);
FR_API FrPlan *fr_plan_parse (FrSession *session, const char *text, FrError **error);
FR_API void fr_plan_free (FrPlan *plan);
FR_API bool fr_plan_set (FrPlan *plan, const char *path, const char *value, FrError **error);
/* A flag of `forerun plan` by its long name: ("best", "5"), ("rows", "20"), ("threads", "4"), ("seed", "7"),
 * ("per-machine", NULL). */
FR_API bool fr_plan_option (FrPlan *plan, const char *name, const char *value, FrError **error);
/* Searches, and simulates the best. Takes seconds, and all processors unless the option "threads" says how many. Fields:
 * "choices.0.…" is the recommended configuration, "verdict.0" the answer in words, "choices.N.pareto" is "yes" on the front of
 * time and cost. Where nothing meets the constraints there are no choices, and "fell_out" says why. */
FR_API FrResult *fr_plan_run (FrPlan *plan, FrError **error);

#ifdef __cplusplus
}
#endif

#endif
