/* The keys of systems.yaml and margins.yaml. */
#include "base/rows.h"
#include "calibrate/measured.h"
#include "models/coll.h"

static const BaseName library_names[] = { { "nccl", CAL_LIBRARY_NCCL, "model of the vendor's library" },
                                          { "plain", CAL_LIBRARY_PLAIN, "textbook: latency and rate of the links alone" },
                                          { NULL, 0, NULL } };

const BaseName cal_role_names[] = { { "fit", CAL_ROLE_FIT, "constants were fitted to its rows" },
                                    { "score", CAL_ROLE_SCORE, "held out: its rows only score" },
                                    { "none", CAL_ROLE_NONE, "its rows are left out" },
                                    { NULL, 0, NULL } };

static SCHEMA (system_schema, "systems", "A machine that was measured.",
               ROW (CalSystem, name, STR, "name in the results of `forerun validate`", .required = TRUE),
               ROW (CalSystem, topology, STR, "its topology: a shipped name, or a path relative to this file", .required = TRUE),
               ROW (CalSystem, calibration, STR, "calibration to predict with; default: the one named like the GPU"),
               ROW (CalSystem, launch, ENUM,
                    "how operations reached the GPUs; rows with another value in column `launch` do not belong to it",
                    .names = mdl_launch_names, .fallback = "threads"),
               ROW (CalSystem, buffers, ENUM,
                    "what the buffers were to NCCL; points of the probe with other `buffers` do not belong to it",
                    .names = mdl_buffers_names, .fallback = "plain"),
               NUMS (CalSystem, sizes, BYTES, "sizes of the probe's points that belong to it; default: all"),
               ROW (CalSystem, role, ENUM, "what its rows are used for", .names = cal_role_names),
               ROW (CalSystem, disable, STRS, "algorithms and protocols that were switched off"),
               ROW (CalSystem, library, ENUM, "what predicts: the model of the library, or textbook algorithms",
                    .names = library_names, .fallback = "nccl"),
               ROW (CalSystem, p2p, BOOL, "off: GPUs did not reach each other directly (NCCL_P2P_DISABLE)", .fallback = "on"),
               ROW (CalSystem, one_way, BOOL, "in sendrecv, one rank sent and the other received; in nccl-tests, both do both",
                    .fallback = "no"),
               ROW (CalSystem, one_shot, STR, "inference framework whose all-reduce kernels ran, as `one_shot` of `nccl`"),
               ROW (CalSystem, source, STR, "rows of a CSV file with this value in column `source` belong to it"),
               ROW (CalSystem, gpu, STR, "rows of a CSV file with this value in column `gpu` belong to it"),
               ROW (CalSystem, note, STR, "remark, such as the source"));

static SCHEMA (section_schema, "files.sections", "A part of a file.",
               ROW (CalPart, title, STR, "text after `## `, or value of the column `setting`", .required = TRUE),
               ROW (CalPart, systems, STRS, "instead of the file's"),
               ROW (CalPart, algo, ENUM, "value of NCCL_ALGO; default: the library's choice; no effect on sends",
                    .names = mdl_algo_names),
               ROW (CalPart, proto, ENUM, "value of NCCL_PROTO; default: the library's choice; no effect on sends",
                    .names = mdl_proto_names),
               NUM (CalPart, nodes, COUNT, "nodes, if no column gives them", .min = "1", .max = "1000000", .fallback = "1"),
               NUM (CalPart, gpus, COUNT, "GPUs of a node, if no column gives them", .min = "1", .max = "1024"),
               NUM (CalPart, max_channels, COUNT, "value of NCCL_MAX_NCHANNELS", .min = "1", .max = "1024"));

static SCHEMA (file_schema, "files", "A file of measurements.",
               ROW (CalMeasuredFile, path, STR, "path inside the folder; .csv, or output of nccl-tests", .required = TRUE),
               ROW (CalMeasuredFile, systems, STRS,
                    "systems that were measured; a row belongs to the first that it fits; default: all"),
               ROW (CalMeasuredFile, op, ENUM, "operation, if no column gives it", .names = mdl_op_names),
               LIST (CalMeasuredFile, sections, &section_schema, CalPart,
                     "parts that are used; in output of nccl-tests without titles, the only section is the whole file"));

SCHEMA (cal_schema_measurements, "systems.yaml", "Which file was measured on which machine, and how.",
        ROW_AS (CalMeasurements, "measurements", name, STR, "name of the collection", .required = TRUE),
        LIST (CalMeasurements, systems, &system_schema, CalSystem, "machines that were measured", .required = TRUE),
        LIST (CalMeasurements, files, &file_schema, CalMeasuredFile, "what was measured", .required = TRUE));

static SCHEMA (limit_schema, "limits", "Accepted errors. A key that is absent excludes nothing.",
               ROW (CalLimit, systems, STRS, "names of systems"), NUM (CalLimit, nodes, COUNT, "number of nodes"),
               ROW (CalLimit, op, ENUM, "operation", .names = mdl_op_names),
               ROW (CalLimit, algo, ENUM, "algorithm as measured", .names = mdl_algo_names),
               ROW (CalLimit, proto, ENUM, "protocol as measured", .names = mdl_proto_names),
               ROW (CalLimit, band, ENUM, "size band", .names = mdl_size_names),
               NUM (CalLimit, median, RATIO, "largest accepted median error"),
               NUM (CalLimit, p95, RATIO, "largest accepted 95th percentile of the errors"),
               ROW (CalLimit, note, STR, "reason for the limit"));

SCHEMA (cal_schema_margins, "margins.yaml", "Accepted errors of predictions.",
        ROW_AS (CalMargins, "margins", name, STR, "name of the set", .required = TRUE),
        NUM (CalMargins, small_max, BYTES, "smaller sizes are the band `small`", .fallback = "64 KiB", .was = "small_to"),
        NUM (CalMargins, middle_max, BYTES, "smaller sizes are the band `middle`, others `large`", .fallback = "16 MiB",
             .was = "middle_to"),
        LIST (CalMargins, limits, &limit_schema, CalLimit, "for each row of the results, the first that fits counts"));
