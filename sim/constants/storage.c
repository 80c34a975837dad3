/* The section `storage`: one row a key, see models/storage.h for what each is used for. */
#include "models/storage.h"
#include "constants/section.h"
#include "models/library-spec.h"

#define NUM(type, member, key_, dim_, help_) BASE_ROW (type, key_, member, NUM, .dim = (dim_), .help = (help_))
#define RATE(type, member, key_, help_) \
  BASE_ROW (type, key_, member, NUM, .dim = BASE_DIM_BANDWIDTH, .min = "1 kB/s", .help = (help_))
#define IOPS(type, member, key_, help_) \
  BASE_ROW (type, key_, member, NUM, .dim = BASE_DIM_FREQUENCY, .min = "0.001 Hz", .help = (help_))

static const BaseField side_fields[] = {
  NUM (MdlIoSide, latency, "latency", BASE_DIM_TIME, "of one small request alone"),
  IOPS (MdlIoSide, iops, "iops", "small requests a second, any number in flight; default: no limit"),
  NUM (MdlIoSide, random_latency, "random_latency", BASE_DIM_TIME, "at random offsets; default: `latency`"),
  IOPS (MdlIoSide, random_iops, "random_iops", "at random offsets; default: `iops`"),
  RATE (MdlIoSide, stream, "stream", "of one request at a time, beyond its latency; default: no limit"),
  RATE (MdlIoSide, rate, "rate", "of all together; default: no limit"),
  BASE_ROW_END,
};
static const BaseSchema side_schema = { .name = "storage direction", .help = "Reads, or writes.", .fields = side_fields };

static const BaseField way_fields[] = {
  NUM (MdlIoWay, latency, "latency", BASE_DIM_TIME, "a request, on top; default 0"),
  RATE (MdlIoWay, stream, "stream", "of a request's second leg, after the first; default: there is none"),
  RATE (MdlIoWay, rate, "rate", "of all together, where that is less than the storage's"),
  BASE_ROW_END,
};
static const BaseSchema way_schema = { .name = "storage path",
                                       .help = "What a path to a GPU's memory adds.",
                                       .fields = way_fields };

static const BaseField save_fields[] = {
  RATE (MdlSaveSpec, stage, "stage", "of a rank's state into the host's buffers, which training waits for if it saves beside it"),
  RATE (MdlSaveSpec, save, "save", "of a rank's state, packed for its file; default: no cost"),
  RATE (MdlSaveSpec, load, "load", "of a rank's state, unpacked; default: no cost"),
  BASE_ROW_NUM (MdlSaveSpec, "background", background, NUMBER, .min = "1", .max = "100", .fallback = "1",
                .help = "what a save takes beside training over one that training waits for"),
  BASE_ROW_END,
};
static const BaseSchema save_schema = { .name = "storage checkpoint",
                                        .help = "What torch.distributed.checkpoint takes beside copies and storage.",
                                        .fields = save_fields };

static const BaseField storage_fields[] = {
  BASE_ROW_NUM (MdlStorage, "error", error, RATIO, .max = "10", .fallback = "0", .help = "half-width of the 90 % band"),
  BASE_ROW (MdlStorage, "read", op[MDL_IO_READ], MAP, .sub = &side_schema, .help = "reads"),
  BASE_ROW (MdlStorage, "write", op[MDL_IO_WRITE], MAP, .sub = &side_schema, .help = "writes"),
  BASE_ROW_NUM (MdlStorage, "blend", blend, NUMBER, .min = "1", .max = "16", .fallback = "2",
                .help = "how sharply a request's own time gives way to the device's: 1 they add, large: the slower counts"),
  BASE_ROW (MdlStorage, "cufile", cufile, MAP, .sub = &way_schema, .help = "straight to a GPU (GPUDirect Storage)"),
  BASE_ROW (MdlStorage, "bounce", bounce, MAP, .sub = &way_schema, .help = "to a GPU by way of the host's memory"),
  BASE_ROW (MdlStorage, "checkpoint", checkpoint, MAP, .sub = &save_schema, .help = "software that saves and loads states"),
  RATE (MdlStorage, core, "core", "that one core of the host copies between two buffers"),
  BASE_ROW_NUM (MdlStorage, "cache", cache, RATIO, .max = "1", .help = "part of the host's memory that its page cache may take"),
  BASE_ROW_END,
};
static const BaseSchema storage_schema = { .name = "storage",
                                           .help = "Reads and writes of one storage: a drive, several, a server.",
                                           .fields = storage_fields };

const CstSection cst_storage = { "storage", &storage_schema, sizeof (MdlStorage), offsetof (MdlLibrary, storage) };
