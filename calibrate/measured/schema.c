/* The keys of systems.yaml and margins.yaml. */
#include "calibrate/measured.h"
#include "models/coll.h"

#define STR(key_, type, member, help_)          BASE_ROW (type, key_, member, STR, .help = help_)
#define NEEDED(key_, type, member, help_)       BASE_ROW (type, key_, member, STR, .required = TRUE, .help = help_)
#define ENUM(key_, type, member, names_, help_) BASE_ROW (type, key_, member, ENUM, .names = names_, .help = help_)

static const BaseName library_names[] = { { "nccl", CAL_LIBRARY_NCCL, "what the vendor ships" },
                                          { "plain", CAL_LIBRARY_PLAIN, "alpha and beta of the links alone" },
                                          { NULL, 0, NULL } };

static const BaseField system_fields[] = {
  NEEDED ("name", CalSystem, name, "as the scoreboard says it"),
  NEEDED ("topology", CalSystem, topology, "the machine: a shipped name, or a file beside this one"),
  STR ("calibration", CalSystem, calibration, "default: the one named like the GPU"),
  BASE_ROW (CalSystem, "launch", launch, ENUM, .names = mdl_launch_names, .fallback = "threads",
            .help = "how operations reached the GPUs; rows whose `launch` column says otherwise are not its own"),
  BASE_ROW (CalSystem, "disable", disable, STRS, .help = "algorithms and protocols that were switched off"),
  BASE_ROW (CalSystem, "library", library, ENUM, .names = library_names, .fallback = "nccl",
            .help = "plain: hold the textbook algorithms against it"),
  BASE_ROW (CalSystem, "p2p", p2p, BOOL, .fallback = "on",
            .help = "off: GPUs did not reach each other directly (NCCL_P2P_DISABLE)"),
  BASE_ROW (CalSystem, "one_way", one_way, BOOL, .fallback = "no",
            .help = "in its sendrecv one rank sent and the other received; nccl-tests' ranks do both"),
  STR ("source", CalSystem, source, "rows of a CSV file whose `source` column says this"),
  STR ("gpu", CalSystem, gpu, "rows of a CSV file whose `gpu` column says this"),
  STR ("note", CalSystem, note, "what this rests on"),
  BASE_ROW_END,
};
static const BaseSchema system_schema = { .name = "systems", .help = "A machine that was measured.", .fields = system_fields };

static const BaseField section_fields[] = {
  NEEDED ("title", CalPart, title, "what stands after '## ', or in the column `setting`"),
  BASE_ROW (CalPart, "systems", systems, STRS, .help = "in place of the file's"),
  ENUM ("algo", CalPart, algo, mdl_algo_names, "NCCL_ALGO; default: the library's choice; sends have none"),
  ENUM ("proto", CalPart, proto, mdl_proto_names, "NCCL_PROTO; default: the library's choice; it holds for no send"),
  BASE_ROW_NUM (CalPart, "nodes", nodes, COUNT, .min = "1", .max = "1000000", .fallback = "1",
                .help = "nodes, where no column says"),
  BASE_ROW_NUM (CalPart, "gpus", gpus, COUNT, .min = "1", .max = "1024", .help = "GPUs of a node, where no column says"),
  BASE_ROW_NUM (CalPart, "max_channels", max_channels, COUNT, .min = "1", .max = "1024", .help = "as NCCL_MAX_NCHANNELS was"),
  BASE_ROW_END,
};
static const BaseSchema section_schema = { .name = "files.sections", .help = "A part of a file.", .fields = section_fields };

static const BaseField file_fields[] = {
  NEEDED ("path", CalMeasuredFile, path, "below the folder; .csv, or nccl-tests' output"),
  BASE_ROW (CalMeasuredFile, "systems", systems, STRS,
            .help = "which of the systems it is of: the first that fits a row; default: all"),
  ENUM ("op", CalMeasuredFile, op, mdl_op_names, "operation, where no column says"),
  BASE_ROW (CalMeasuredFile, "sections", sections, LIST, .sub = &section_schema, .item_size = sizeof (CalPart),
            .help = "parts that count; nccl-tests' output: all of it is one part if there is one only"),
  BASE_ROW_END,
};
static const BaseSchema file_schema = { .name = "files", .help = "A file of measurements.", .fields = file_fields };

static const BaseField measurements_fields[] = {
  NEEDED ("measurements", CalMeasurements, name, "name of the collection"),
  BASE_ROW (CalMeasurements, "systems", systems, LIST, .sub = &system_schema, .item_size = sizeof (CalSystem),
            .help = "machines that were measured", .required = TRUE),
  BASE_ROW (CalMeasurements, "files", files, LIST, .sub = &file_schema, .item_size = sizeof (CalMeasuredFile),
            .help = "what was measured", .required = TRUE),
  BASE_ROW_END,
};
const BaseSchema cal_schema_measurements = { .name = "systems.yaml",
                                             .help = "Which file was measured on which machine, and how.",
                                             .fields = measurements_fields };

static const BaseField limit_fields[] = {
  BASE_ROW (CalLimit, "systems", systems, STRS, .help = "names of systems"),
  BASE_ROW_NUM (CalLimit, "nodes", nodes, COUNT, .help = "number of nodes"),
  ENUM ("op", CalLimit, op, mdl_op_names, "operation"),
  ENUM ("algo", CalLimit, algo, mdl_algo_names, "algorithm as measured"),
  ENUM ("proto", CalLimit, proto, mdl_proto_names, "protocol as measured"),
  ENUM ("band", CalLimit, band, mdl_size_names, "size band"),
  BASE_ROW_NUM (CalLimit, "median", median, RATIO, .help = "the median error may be as large as this"),
  BASE_ROW_NUM (CalLimit, "p95", p95, RATIO, .help = "the 95th percentile of the errors may be as large as this"),
  STR ("note", CalLimit, note, "why it is not tighter"),
  BASE_ROW_END,
};
static const BaseSchema limit_schema = { .name = "limits", .help = "What it does not name it holds for.", .fields = limit_fields };

static const BaseField margins_fields[] = {
  NEEDED ("margins", CalMargins, name, "name of the set"),
  BASE_ROW_NUM (CalMargins, "small_to", small_to, BYTES, .fallback = "64 KiB", .help = "smaller sizes are the band `small`"),
  BASE_ROW_NUM (CalMargins, "middle_to", middle_to, BYTES, .fallback = "16 MiB",
                .help = "smaller sizes are the band `middle`, others `large`"),
  BASE_ROW (CalMargins, "limits", limits, LIST, .sub = &limit_schema, .item_size = sizeof (CalLimit),
            .help = "the first that fits a row of the scoreboard counts"),
  BASE_ROW_END,
};
const BaseSchema cal_schema_margins = { .name = "margins.yaml",
                                        .help = "How far off a prediction may be.",
                                        .fields = margins_fields };
