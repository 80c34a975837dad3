/* What NCCL's tuner takes for a time, part by part: the same numbers as tuner.c, with where each comes from. */
#include <stdarg.h>

#include "nccl/tuner-private.h"

typedef struct {
  MdlTerm *term;
  unsigned n;
} Terms;

static void add (Terms *terms, const char *name, double value_s, const BaseNum *from, const char *format, ...) G_GNUC_PRINTF (5, 6);

static void
add (Terms *terms, const char *name, double value_s, const BaseNum *from, const char *format, ...)
{
  if (!(value_s > 0.0) || terms->n >= MDL_MAX_TERMS)
    return;
  va_list args;
  va_start (args, format);
  mdl_term_fill (&terms->term[terms->n++], name, value_s, from, format, args);
  va_end (args);
}

unsigned
mdl_tuner_explain (const MdlTuner *tuner, const MdlTunerQuestion *question, MdlAlgo algo, MdlProto proto,
                   MdlTerm term[MDL_MAX_TERMS])
{
  if (mdl_tuner_reason (tuner, question, algo, proto) != NULL || tuner->comm.ranks == 1)
    return 0;
  Terms terms = { .term = term };
  MdlTunerLatency l;
  mdl_tuner_latency (tuner, question->op, algo, proto, &l);
  MdlTunerFactors f = mdl_tuner_factors (tuner, question, algo, proto);
  const double again = f.count * f.penalty;
  double base_s = l.base != NULL ? l.base->v : 0.0;
  double extra_s = l.extra != NULL ? l.extra->v : 0.0;
  add (&terms, "base latency", base_s * again, l.base, "%.4g us", base_s * 1e6);
  add (&terms, "steps inside a node", l.n_intra * l.intra_s * again, l.intra, "%.4g steps x %.4g us%s", l.n_intra, l.intra_s * 1e6,
       l.intra == NULL ? ", CPU time to post a message" : "");
  add (&terms, "steps between nodes", l.n_inter * l.inter_s * again, l.inter, "%.4g steps x %.4g us", l.n_inter, l.inter_s * 1e6);
  add (&terms, algo == MDL_ALGO_PAT ? "ranks" : "peers of a node", l.n_extra * extra_s * again, l.extra, "%.4g x %.4g us",
       l.n_extra, extra_s * 1e6);
  double latency_s = mdl_tuner_latency_s (&l);
  add (&terms, "ring plateau", latency_s * (f.latency - 1.0) * again,
       tuner->comm.min_capability < 80 ? &tuner->spec->ring.plateau_before_80 : &tuner->spec->ring.plateau,
       "%.4g times the latency so far between nodes", f.latency - 1.0);
  char how[MDL_TUNER_HOW];
  double rate_Bps = mdl_tuner_rate_Bps (tuner, question->op, algo, proto, how) * f.rate;
  double size_s = question->size_B / rate_Bps * f.penalty;
  char by_size[24] = "";
  if (f.rate < 1.0)
    g_snprintf (by_size, sizeof by_size, " (%.2g by size)", f.rate);
  add (&terms, "size", size_s, NULL, "%.6g MB at %.4g GB/s%s: %.110s", question->size_B / 1e6, rate_Bps / 1e9, by_size, how);
  return terms.n;
}
