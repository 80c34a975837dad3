/* The section `storage`: one row a key, see models/storage.h for what each is used for. */
#include "models/storage.h"
#include "base/rows.h"
#include "constants/section.h"
#include "models/library-spec.h"

static SCHEMA (side_schema, "storage direction", "Reads, or writes.", NUM (MdlIoSide, latency, TIME, "of one small request alone"),
               FROM (MdlIoSide, iops, FREQUENCY, "0.001 Hz", "small requests a second, any number in flight; default: no limit"),
               NUM (MdlIoSide, random_latency, TIME, "at random offsets; default: `latency`"),
               FROM (MdlIoSide, random_iops, FREQUENCY, "0.001 Hz", "at random offsets; default: `iops`"),
               FROM (MdlIoSide, stream, BANDWIDTH, "1 kB/s", "of one request at a time, beyond its latency; default: no limit"),
               FROM (MdlIoSide, rate, BANDWIDTH, "1 kB/s", "of all together; default: no limit"));

static SCHEMA (way_schema, "storage path", "What a path to a GPU's memory adds.",
               NUM (MdlIoRoute, latency, TIME, "a request, on top; default 0"),
               FROM (MdlIoRoute, stream, BANDWIDTH, "1 kB/s", "of a request's second leg, after the first; default: there is none"),
               FROM (MdlIoRoute, rate, BANDWIDTH, "1 kB/s", "of all together, where that is less than the storage's"));

static SCHEMA (save_schema, "storage checkpoint", "What torch.distributed.checkpoint takes beside copies and storage.",
               FROM (MdlSaveSpec, stage, BANDWIDTH, "1 kB/s",
                     "of a rank's state into the host's buffers, which training waits for if it saves beside it"),
               FROM (MdlSaveSpec, save, BANDWIDTH, "1 kB/s", "of a rank's state, packed for its file; default: no cost"),
               FROM (MdlSaveSpec, load, BANDWIDTH, "1 kB/s", "of a rank's state, unpacked; default: no cost"),
               NUM (MdlSaveSpec, background, NUMBER, "what a save takes beside training over one that training waits for",
                    .min = "1", .max = "100", .fallback = "1"));

static SCHEMA (storage_schema, "storage", "Reads and writes of one storage: a drive, several, a server.",
               NUM (MdlStorage, error, RATIO, "half-width of the 90 % band", .max = "10", .fallback = "0"),
               MAP_AS (MdlStorage, "read", op[MDL_IO_READ], &side_schema, "reads"),
               MAP_AS (MdlStorage, "write", op[MDL_IO_WRITE], &side_schema, "writes"),
               NUM (MdlStorage, blend, NUMBER,
                    "how sharply a request's own time gives way to the device's: 1 they add, large: the slower counts", .min = "1",
                    .max = "16", .fallback = "2"),
               MAP (MdlStorage, cufile, &way_schema, "straight to a GPU (GPUDirect Storage)"),
               MAP (MdlStorage, bounce, &way_schema, "to a GPU by way of the host's memory"),
               MAP (MdlStorage, checkpoint, &save_schema, "software that saves and loads states"),
               FROM (MdlStorage, core, BANDWIDTH, "1 kB/s", "that one core of the host copies between two buffers"),
               NUM (MdlStorage, cache, RATIO, "part of the host's memory that its page cache may take", .max = "1"));

const CstSection cst_storage = { "storage", &storage_schema, sizeof (MdlStorage), offsetof (MdlLibrary, storage) };
