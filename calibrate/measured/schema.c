/* The keys of systems.yaml and margins.yaml. */
#include "base/rows.h"
#include "calibrate/measured.h"
#include "models/coll.h"

static const BaseName library_names[] = { { "nccl", CAL_LIBRARY_NCCL, "what the vendor ships" },
                                          { "plain", CAL_LIBRARY_PLAIN, "alpha and beta of the links alone" },
                                          { NULL, 0, NULL } };

static SCHEMA (
    system_schema, "systems", "A machine that was measured.",
    ROW (CalSystem, name, STR, "as the scoreboard says it", .required = TRUE),
    ROW (CalSystem, topology, STR, "the machine: a shipped name, or a file beside this one", .required = TRUE),
    ROW (CalSystem, calibration, STR, "default: the one named like the GPU"),
    ROW (CalSystem, launch, ENUM, "how operations reached the GPUs; rows whose `launch` column says otherwise are not its own",
         .names = mdl_launch_names, .fallback = "threads"),
    ROW (CalSystem, disable, STRS, "algorithms and protocols that were switched off"),
    ROW (CalSystem, library, ENUM, "plain: hold the textbook algorithms against it", .names = library_names, .fallback = "nccl"),
    ROW (CalSystem, p2p, BOOL, "off: GPUs did not reach each other directly (NCCL_P2P_DISABLE)", .fallback = "on"),
    ROW (CalSystem, one_way, BOOL, "in its sendrecv one rank sent and the other received; nccl-tests' ranks do both",
         .fallback = "no"),
    ROW (CalSystem, source, STR, "rows of a CSV file whose `source` column says this"),
    ROW (CalSystem, gpu, STR, "rows of a CSV file whose `gpu` column says this"), ROW (CalSystem, note, STR, "what this rests on"));

static SCHEMA (section_schema, "files.sections", "A part of a file.",
               ROW (CalPart, title, STR, "what stands after '## ', or in the column `setting`", .required = TRUE),
               ROW (CalPart, systems, STRS, "in place of the file's"),
               ROW (CalPart, algo, ENUM, "NCCL_ALGO; default: the library's choice; sends have none", .names = mdl_algo_names),
               ROW (CalPart, proto, ENUM, "NCCL_PROTO; default: the library's choice; it holds for no send",
                    .names = mdl_proto_names),
               NUM (CalPart, nodes, COUNT, "nodes, where no column says", .min = "1", .max = "1000000", .fallback = "1"),
               NUM (CalPart, gpus, COUNT, "GPUs of a node, where no column says", .min = "1", .max = "1024"),
               NUM (CalPart, max_channels, COUNT, "as NCCL_MAX_NCHANNELS was", .min = "1", .max = "1024"));

static SCHEMA (file_schema, "files", "A file of measurements.",
               ROW (CalMeasuredFile, path, STR, "below the folder; .csv, or nccl-tests' output", .required = TRUE),
               ROW (CalMeasuredFile, systems, STRS, "which of the systems it is of: the first that fits a row; default: all"),
               ROW (CalMeasuredFile, op, ENUM, "operation, where no column says", .names = mdl_op_names),
               LIST (CalMeasuredFile, sections, &section_schema, CalPart,
                     "parts that count; nccl-tests' output: all of it is one part if there is one only"));

SCHEMA (cal_schema_measurements, "systems.yaml", "Which file was measured on which machine, and how.",
        ROW_AS (CalMeasurements, "measurements", name, STR, "name of the collection", .required = TRUE),
        LIST (CalMeasurements, systems, &system_schema, CalSystem, "machines that were measured", .required = TRUE),
        LIST (CalMeasurements, files, &file_schema, CalMeasuredFile, "what was measured", .required = TRUE));

static SCHEMA (limit_schema, "limits", "What it does not name it holds for.", ROW (CalLimit, systems, STRS, "names of systems"),
               NUM (CalLimit, nodes, COUNT, "number of nodes"), ROW (CalLimit, op, ENUM, "operation", .names = mdl_op_names),
               ROW (CalLimit, algo, ENUM, "algorithm as measured", .names = mdl_algo_names),
               ROW (CalLimit, proto, ENUM, "protocol as measured", .names = mdl_proto_names),
               ROW (CalLimit, band, ENUM, "size band", .names = mdl_size_names),
               NUM (CalLimit, median, RATIO, "the median error may be as large as this"),
               NUM (CalLimit, p95, RATIO, "the 95th percentile of the errors may be as large as this"),
               ROW (CalLimit, note, STR, "why it is not tighter"));

SCHEMA (cal_schema_margins, "margins.yaml", "How far off a prediction may be.",
        ROW_AS (CalMargins, "margins", name, STR, "name of the set", .required = TRUE),
        NUM (CalMargins, small_max, BYTES, "smaller sizes are the band `small`", .fallback = "64 KiB", .was = "small_to"),
        NUM (CalMargins, middle_max, BYTES, "smaller sizes are the band `middle`, others `large`", .fallback = "16 MiB",
             .was = "middle_to"),
        LIST (CalMargins, limits, &limit_schema, CalLimit, "the first that fits a row of the scoreboard counts"));
