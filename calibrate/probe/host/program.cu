/* What the programs share: sections one after another, the file, the end. */
#include "probe_core.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool
is_wanted (Probe *probe, const ProbePart *part)
{
  return probe_options_want (&probe->options, probe_section_name (part->section), NULL);
}

/* What the time was too short for, so that one knows what a longer run would add. */
static void
note_left_out (Probe *probe, const char *name)
{
  std::string text;
  for (const std::string &part : probe->left_out)
    text += (text.empty () ? "" : ", ") + part;
  if (!text.empty ())
    probe_note (probe, "%s: its time was over before all was measured; left out%s: %s; --budget gives more", name,
                probe->left_is_told ? "" : ", whole or in part", text.c_str ());
  else if (probe_left (probe) <= 0 && !probe->left_is_told)
    probe_note (probe, "%s: its time was over; its last measurements may have been cut short; --budget gives more", name);
}

static bool
run_section (Probe *probe, const ProbePart *part, double weights_left)
{
  const char *name = probe_section_name (part->section);
  double begin = probe_now (), left = probe->options.budget_s - begin;
  probe->section_end_s = begin + (left > 0 ? left * part->weight / weights_left : 0);
  probe->expected = 0;
  probe->left_out.clear ();
  probe->left_is_told = false;
  size_t points = probe->points.size ();
  if (!probe->options.list)
    fprintf (stderr, "forerun-probe: %s, up to %.0f s\n", name, probe->section_end_s - begin);
  probe_forget ();
  bool ok = part->measure (probe);
  if (probe->options.list)
    return ok;
  if (!ok && !probe_interrupted ())
    probe_note (probe, "%s: failed as a whole; see the notes before this one", name);
  if (!probe_interrupted () && !probe->lost)
    note_left_out (probe, name);
  fprintf (stderr, "forerun-probe: %s: %zu points in %.1f s\n", name, probe->points.size () - points, probe_now () - begin);
  probe_document_save (probe);
  return ok;
}

bool
probe_program_sections (Probe *probe, const ProbePart *part, size_t n_parts)
{
  bool ok = true;
  double weights = 0;
  for (size_t i = 0; i < n_parts; i++)
    weights += is_wanted (probe, &part[i]) ? part[i].weight : 0;
  for (size_t i = 0; i < n_parts && !probe_interrupted () && !probe->lost; i++) {
    if (!is_wanted (probe, &part[i]))
      continue;
    ok = run_section (probe, &part[i], weights) && ok;
    weights -= part[i].weight;
  }
  for (unsigned i = 0; i < probe->options.n_only; i++) {
    const ProbeOnly *only = &probe->options.only[i];
    if (only->met || probe_interrupted () || probe->lost)
      continue;
    bool is_whole = only->what == NULL;
    probe_note (probe, "--only %s%s%s: %s", probe_section_name (only->section), is_whole ? "" : "/", is_whole ? "" : only->what,
                is_whole ? "this program was built without it" : "nothing of that name was measured; --list says what there is");
    ok = false;
  }
  return ok;
}

/* Results are not lost to a second run, and a folder that cannot be written is known before minutes are spent. */
static bool
can_write (Probe *probe)
{
  struct stat status;
  if (!probe->options.force && lstat (probe->options.output, &status) == 0) {
    fprintf (stderr, "forerun-probe: %s exists; give another name with -o, or --force to overwrite it\n", probe->options.output);
    return false;
  }
  return probe_document_save (probe);
}

int
probe_program_measure (Probe *probe, const ProbePart *part, size_t n_parts)
{
  if (!can_write (probe))
    return 1;
  bool ok = probe_program_sections (probe, part, n_parts);
  probe->finished = probe_utc_now ();
  probe->complete = ok && !probe_interrupted () && !probe->lost;
  bool saved = probe_document_save (probe);
  if (!probe_interrupted () && !probe->lost)
    fprintf (stderr, "forerun-probe: %zu points in %.0f s (%zu not known to %.3g %%, %zu skipped, %zu failed): %s\n",
             probe->points.size (), probe_now (), probe->n_short, probe->options.target * 100, probe->n_skipped, probe->n_failed,
             probe->options.output);
  if (probe_interrupted ()) {
    fprintf (stderr, "forerun-probe: interrupted; %zu points are in %s\n", probe->points.size (), probe->options.output);
    return 130;
  }
  return ok && saved && !probe->lost ? 0 : 1;
}

/* What --no-nvls and the environment say of it, together. */
static void
settle_nvls (Probe *probe)
{
  const char *nvls = getenv ("NCCL_NVLS_ENABLE");
  probe->options.no_nvls = probe->options.no_nvls || (nvls != NULL && strcmp (nvls, "0") == 0);
  if (probe->options.no_nvls)
    setenv ("NCCL_NVLS_ENABLE", "0", 1); /* before NCCL starts, here and in workers */
}

bool
probe_program_begin (Probe *probe, ProbeProgram program, int argc, char **argv, bool speaks, int *status)
{
  static const char *const names[] = { "forerun-probe", "forerun-probe-mpi" };
  probe_now (); /* the clock starts */
  *status = 0;
  if (!probe_options_read (argc, argv, program, &probe->options)) {
    if (speaks)
      fprintf (stderr, "forerun-probe: %s\n", probe_why ());
    *status = speaks ? 2 : 0;
    return false;
  }
  if (probe->options.help || probe->options.version) {
    if (speaks && probe->options.help)
      fputs (probe_options_help (program), stdout);
    else if (speaks)
      printf ("%s %s\n", names[program], PROBE_VERSION);
    return false;
  }
  probe_document_begin (probe, argc, argv);
  settle_nvls (probe);
  probe_catch_signals ();
  probe->terminal = speaks && isatty (STDERR_FILENO) == 1;
  return true;
}
