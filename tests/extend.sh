#!/usr/bin/env bash
# Extending the program is cheap: in a copy of the tree, by the recipes of CONTRIBUTING.md, this adds a collective algorithm, a
# pipeline schedule, a link class, a storage type, a kind of workload and a verb. It builds the copy, asks each new thing a
# question, and counts the files that each touched (documentation and tests come on top). A row without its part is refused by
# name.
#   usage: extend.sh SOURCE_DIR BUILD_DIR     BUILD_DIR: where the copy stands, made anew; the copy's build is kept there
set -euo pipefail

[ $# -eq 2 ] || { sed -n '6s/^# *//p' "$0" >&2; exit 2; }
source=$(realpath -- "$1")
mkdir -p -- "$2"
build=$(realpath -- "$2")
tree=$build/tree
wrong=0
if ! { command -v perl && git -C "$source" rev-parse; } >/dev/null 2>&1; then
  echo "skipped: needs perl, git and a checkout"
  exit 77
fi

fail () # message
{
  echo "FAILED: $1"
  wrong=1
}

# Files that are as they were keep their times, so that a second build makes only what is new.
mkdir -p -- "$tree"
(cd -- "$source" && git ls-files -co --exclude-standard -- CMakeLists.txt CMakePresets.json LICENSE README.md cmake sim models \
  calibrate topologies scenarios plots docs tests/CMakeLists.txt | while read -r file; do [ ! -f "$file" ] || echo "$file"; done) \
  >"$build/files"
rm -rf -- "$tree/.git"
(cd -- "$tree" && find . -type f | sed 's|^\./||' | { grep -vxF -f "$build/files" || true; } | xargs -r -d '\n' rm -f --)
while read -r file; do
  cmp -s -- "$source/$file" "$tree/$file" || { mkdir -p -- "$tree/$(dirname -- "$file")" && cp -- "$source/$file" "$tree/$file"; }
done <"$build/files"
cd -- "$tree"
git init -q . && git add -A . && git -c user.name=x -c user.email=x@localhost commit -qm before

touched () # what, how many files at most
{
  local n
  git add -A .
  n=$(git diff --cached --name-only | grep -vcE '^(docs|tests)/' || true)
  [ "$n" -le "$2" ] || fail "$1 touches $n files, $2 are accepted: $(git diff --cached --name-only | tr '\n' ' ')"
  [ "$n" -gt 0 ] || fail "$1 touches no file"
  echo "$1: $n files ($(git diff --cached --name-only | tr '\n' ' '))"
  git -c user.name=x -c user.email=x@localhost commit -qm "$1"
}

after () # file, line that begins so, text: puts text behind the line, which must be there once
{
  [ "$(grep -cF -- "$2" "$1")" -eq 1 ] || { echo "FAILED: '$2' is not once in $1"; exit 1; }
  WANTED=$2 TEXT=$3 perl -pi -e '$_ .= "$ENV{TEXT}\n" if index ($_, $ENV{WANTED}) >= 0' "$1"
}

row () # file, list of rows, new row: puts it last
{
  LIST=$2 NEW=$3 perl -0pi -e 's/(#define $ENV{LIST}\(ROW\)(?:[^\n]*\\\n)*[^\n]*\))\n/$1 \\\n  ROW ($ENV{NEW})\n/ or exit 1' "$1" ||
    { echo "FAILED: $1 has no list $2"; exit 1; }
}

# ---- a collective: the root sends to each rank; first without its edges ----

row models/include/models/op.h MDL_ALGO_ROWS "STAR, star, 'S', \"the root sends to each rank\""
cat >models/collective/star.c <<'C'
/* Star: the root sends all bytes to every other rank. Textbook form: alpha + (n-1) S beta. Source: a test's. */
#include "collective/terms-private.h"

static unsigned
n_steps (const MdlCollQuestion *q)
{
  (void)q;
  return 1;
}

static const char *
why_not (const MdlLibrary *library, MdlProto proto, const MdlCollQuestion *q)
{
  (void)library;
  (void)proto;
  (void)q;
  return "the library has no such algorithm";
}

static void
star_plain (const MdlCollQuestion *q, MdlCollCost *cost)
{
  double alpha_s = mdl_plain_alpha_s (q);
  cost->bound_Bps = mdl_plain_bound_Bps (q, (double)q->n_ranks - 1.0);
  mdl_cost_term (q, cost, "hop latency", alpha_s, NULL, "all at once: %.4g us", alpha_s * 1e6);
}

static void
star_cost (const MdlLibrary *library, MdlProto proto, const MdlCollQuestion *q, MdlCollCost *cost)
{
  (void)library;
  (void)proto;
  star_plain (q, cost);
}

const MdlColl mdl_coll_star = {
  .algo = MDL_ALGO_STAR,
  .ops = 1u << MDL_OP_BROADCAST,
  .n_steps = n_steps,
  .cost = star_cost,
  .plain = star_plain,
  .why_not = why_not,
};
C
git add -A . && git -c user.name=x -c user.email=x@localhost commit -qm 'without edges'
cmake -S . -B "$build/out" -G Ninja -DCMAKE_BUILD_TYPE=Debug -DCMAKE_C_FLAGS_DEBUG=-O0 -DBUILD_TESTING=OFF \
  -DCMAKE_C_COMPILER_LAUNCHER="${CMAKE_C_COMPILER_LAUNCHER:-}" >"$build/log" 2>&1 || { tail "$build/log"; exit 1; }
make_it ()
{
  cmake --build "$build/out" --target forerun >"$build/log" 2>&1 ||
    { tail -30 "$build/log"; echo "FAILED: does not build"; exit 1; }
}
ask () # text that the answer must have, arguments
{
  local want=$1 out
  shift
  out=$(FORERUN_DATA=$tree "$build/out/forerun" "$@" 2>&1) || true
  if [[ $out == *"$want"* ]]; then
    echo "  forerun $*: has '$want'"
  else
    fail "forerun $*: should have '$want', gave: ${out:0:2000}"
  fi
}

make_it
ask "algorithm 'star' loads no link: its row of \`travels\` in sim/collective/traffic.c" list algorithms

git reset -q --soft HEAD~1
after sim/collective/traffic.c '[MDL_ALGO_PAIRWISE] = ' '  [MDL_ALGO_STAR] = { .pipes = star_pipes },'
TEXT=$(cat <<'C'
static void
star_pipes (const ColPipesQuery *ask, GPtrArray *pipes)
{
  ColPipe *pipe = pipe_new (ask, ask->comm->n - 1, 0);
  for (guint32 i = 0; i < ask->comm->n; i++)
    if (i != ask->root)
      pipe_add (pipe, (ColEdge){ ask->root, i, CLU_NONE, 1 }, NULL, 0);
  g_ptr_array_add (pipes, pipe);
}
C
) perl -pi -e '$_ = "$ENV{TEXT}\n\n$_" if m{^/\* How the bytes of each algorithm travel}' sim/collective/traffic.c
touched 'a collective' 3

# ---- a schedule: the backward passes of gpipe in reverse ----

row models/include/models/schedule.h MDL_SCHEDULE_ROWS 'LIFO, lifo, "all forwards, then all backwards, the last first"'
cat >models/schedules/lifo.c <<'C'
/* lifo: gpipe whose backward passes begin with the last micro-batch. Source: a test's. */
#include "orders-private.h"

static void
order_lifo (const MdlPipeline *pipe, guint32 rank, GArray *turns)
{
  (void)rank;
  for (guint32 k = 0; k < pipe->m; k++)
    mdl_turns_add (turns, MDL_TURN_FORWARD, k, 0);
  for (guint32 k = pipe->m; k-- > 0;)
    mdl_turns_add (turns, MDL_TURN_BACKWARD, k, 0);
}

const MdlScheduleRow mdl_schedule_lifo = {
  .cuts = 1,
  .order = order_lifo,
  .facts = { .bubble = "(p-1)(F+B+W)", .in_flight = "m", .source = "tests/extend.sh", .grows_with_m = TRUE, .loops = TRUE },
};
C
touched 'a schedule' 3

# ---- a link class and a storage type: a file each ----

sed 's/^link_class:.*/link_class: upi_new/' topologies/links/upi.yaml >topologies/links/upi_new.yaml
touched 'a link class' 1
sed 's/^storage_type:.*/storage_type: new_store/' topologies/storage/lustre.yaml >topologies/storage/new_store.yaml
touched 'a storage type' 1

# ---- a kind of workload: GPUs wait ----

row sim/scenario/include/scenario/scenario.h SCN_KIND_ROWS 'WAIT, wait, "all GPUs wait"'
cat >sim/scenario/kind_wait.c <<'C'
/* Workloads of kind `wait`: all GPUs wait for some time. */
#include "jobs-private.h"

typedef struct {
  BaseHead head;
  BaseEnum kind;
  BaseNum time;
} Spec;

typedef struct {
  double time_s, gpu_s;
  const char *bound_by;
} Result;

static const BaseName names[] = { { "wait", 0, "waiting" }, { NULL, 0, NULL } };
static const BaseField fields[] = {
  BASE_ROW (Spec, "kind", kind, ENUM, .names = names, .required = TRUE, .help = "wait"),
  BASE_ROW_NUM (Spec, "time", time, TIME, .min = "0", .required = TRUE, .help = "how long"),
  BASE_ROW_END,
};
static const BaseSchema schema = { .name = "workload (wait)", .help = "Waiting.", .fields = fields };
static const BaseMember members[] = {
  BASE_MEMBER (Result, "time_s", time_s, BASE_SHOWN ("time (us)", 1e6, "%.2f")),
  BASE_MEMBER (Result, "gpu_s", gpu_s, BASE_SHOWN ("GPU time (us)", 1e6, "%.2f")),
  BASE_MEMBER_END,
};

static gboolean
run (const Scn *scenario, ScnResult *result, GError **error)
{
  const Spec *spec = scenario->own;
  Result *own = g_new0 (Result, 1);
  (void)error;
  own->time_s = spec->time.v;
  own->bound_by = "waiting";
  own->gpu_s = spec->time.v * scenario->system.gpus->len;
  result->own = own;
  return TRUE;
}

const ScnKindOps scn_kind_wait = {
  .schema = &schema, .spec_size = sizeof (Spec), .run = run, .members = members,
  .time = BASE_MEMBER (Result, "time_s", time_s), .bound = BASE_MEMBER (Result, "bound_by", bound_by),
};
C
after sim/scenario/CMakeLists.txt 'kind_transfer.c' '    kind_wait.c'
touched 'a kind of workload' 3

# ---- a verb ----

cat >sim/cli/cmd_count.c <<'C'
/* forerun count: how many letters a word has. */
#include <string.h>

#include "cli-private.h"

static gboolean
run (Cli *cli, const void *flags, char **words, GError **error)
{
  (void)flags;
  if (words[0] == NULL)
    return cli_fail (cli, error, "which word?");
  g_string_append_printf (cli->out, "%zu letters\n", strlen (words[0]));
  return TRUE;
}

const CliVerb cli_verb_count = {
  .name = "count", .summary = "counts the letters of a word", .usage = "WORD", .example = "forerun count ring", .run = run,
};
C
perl -pi -e 's/&cli_verb_fit,\s+NULL/&cli_verb_fit, &cli_verb_count, NULL/' sim/cli/main.c
perl -pi -e 's/^(    cli_verb_offers);/$1, cli_verb_count;/' sim/cli/cli-private.h
perl -0pi -e 's/cmd_coll\.c/cmd_coll.c cmd_count.c/' sim/cli/CMakeLists.txt
touched 'a verb' 4

# ---- each of them answers ----

make_it
ask 'star' list algorithms
ask ' star  ' coll broadcast --library plain --algo star --topology hgx_h200 -n 2 -b 1G -e 1G
ask ' star  ' coll broadcast --library plain --algo star --topology hgx_h200 -n 2 -b 1M -e 1M --steps exact
ask 'star cannot run here: the library has no such algorithm' coll broadcast --algo star --topology hgx_h200 -n 2 -b 1G -e 1G
ask 'lifo' list schedules
# gpipe's time: where the backward passes are alike, their order moves nothing
ask '"step_time_s" : 2.0532' run scenarios/pipeline_4_stages.yaml --set workload.schedule=lifo --format json
ask 'upi_new' list links
ask 'upi_new      socket - socket' topo hgx_h200 --set node.sockets.interconnect.class=upi_new
ask 'new_store' list storage-types
printf '%s\n' 'scenario: read' 'cluster: {topology: hgx_h200, nodes: 2}' \
  'workload: {kind: io, tier: scratch, op: read, bytes: 1 GiB}' >io.yaml
ask 'parallel_fs, new_store' run io.yaml --set topology.storage.0.type=new_store
printf 'scenario: wait\ncluster: {topology: hgx_h200, nodes: 2}\nworkload: {kind: wait, time: 3 us}\n' >wait.yaml
ask '48' run wait.yaml --columns gpu_s
ask '"gpu_s" : 4.8' run wait.yaml --format json
sed 's/workload: {kind: collective, op: alltoall.*}}/workload: {kind: wait, time: 3 us}}/' scenarios/two_jobs.yaml >wait.yaml
ask "a workload of kind 'wait' runs alone, not among jobs" run wait.yaml
ask '4 letters' count ring
rm -f wait.yaml io.yaml
[ "$wrong" -ne 0 ] || echo "a row each: all six were added and answer"
exit "$wrong"
