/* The section `storage`: one row a key, see models/storage.h for what each is used for. */
#include "models/storage.h"
#include "base/rows.h"
#include "constants/section.h"
#include "models/library-spec.h"

static SCHEMA (side_schema, "storage direction", "Reads, or writes.", NUM (MdlIoSide, latency, TIME, "one small request alone"),
               FROM (MdlIoSide, iops, FREQUENCY, "0.001 Hz", "small requests per second; default: no limit"),
               NUM (MdlIoSide, random_latency, TIME, "at random offsets; default: `latency`"),
               FROM (MdlIoSide, random_iops, FREQUENCY, "0.001 Hz", "at random offsets; default: `iops`"),
               FROM (MdlIoSide, stream, BANDWIDTH, "1 kB/s", "one request at a time, after its latency; default: no limit"),
               FROM (MdlIoSide, rate, BANDWIDTH, "1 kB/s", "all requests together; default: no limit"));

static SCHEMA (way_schema, "storage path", "Time added by a path to GPU memory.",
               NUM (MdlIoRoute, latency, TIME, "added per request; default 0"),
               FROM (MdlIoRoute, stream, BANDWIDTH, "1 kB/s", "second part of a request's path, after the first; default: none"),
               FROM (MdlIoRoute, rate, BANDWIDTH, "1 kB/s", "all requests together, if less than the storage's"));

static SCHEMA (save_schema, "storage checkpoint", "Time of torch.distributed.checkpoint without copies and storage.",
               FROM (MdlSaveSpec, stage, BANDWIDTH, "1 kB/s",
                     "a rank's state into host buffers; training waits for it if the save is asynchronous"),
               FROM (MdlSaveSpec, save, BANDWIDTH, "1 kB/s", "packing a rank's state for its file; default: no cost"),
               FROM (MdlSaveSpec, load, BANDWIDTH, "1 kB/s", "unpacking a rank's state; default: no cost"),
               NUM (MdlSaveSpec, background, NUMBER, "time of a save concurrent with training over a synchronous one", .min = "1",
                    .max = "100", .fallback = "1"));

static SCHEMA (storage_schema, "storage", "Reads and writes of one storage: a drive, several, a server.",
               NUM (MdlStorage, error, RATIO, "half-width of the 90 % band", .max = "10", .fallback = "0"),
               MAP_AS (MdlStorage, "read", op[MDL_IO_READ], &side_schema, "reads"),
               MAP_AS (MdlStorage, "write", op[MDL_IO_WRITE], &side_schema, "writes"),
               NUM (MdlStorage, blend, NUMBER,
                    "exponent p of the [queue formula](storage.md#time-of-a-request); 1: times add; large: the slower counts",
                    .min = "1", .max = "16", .fallback = "2"),
               MAP (MdlStorage, cufile, &way_schema, "directly to a GPU (GPUDirect Storage)"),
               MAP (MdlStorage, bounce, &way_schema, "to a GPU through host memory"),
               MAP (MdlStorage, checkpoint, &save_schema, "software that saves and loads states"),
               FROM (MdlStorage, core, BANDWIDTH, "1 kB/s", "copy rate of one host core between two buffers"),
               NUM (MdlStorage, cache, RATIO, "fraction of host memory for the page cache", .max = "1"));

const CstSection cst_storage = { "storage", &storage_schema, sizeof (MdlStorage), offsetof (MdlLibrary, storage), NULL };
