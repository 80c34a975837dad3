/* Calibrations as they are, which runs of a sensitivity take over where nothing of them is changed. */
#ifndef STUDY_UNCHANGED_PRIVATE_H
#define STUDY_UNCHANGED_PRIVATE_H

#include "base/watch.h"
#include "constants/store.h"

/* Those of all machines; they outlive the plans that borrow them. Not changed while runs are under way. */
typedef struct {
  BaseLookup *lookup;
  CstStore store;
  GPtrArray *inputs; /* BaseYaml *, whose text they borrow */
  BaseDiag *warnings;
  GArray *all; /* Calibration (unchanged.c) */
} StdUnchanged;
void std_unchanged_open (StdUnchanged *known, const BaseLookup *like);
void std_unchanged_clear (StdUnchanged *known);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (StdUnchanged, std_unchanged_clear)

/* A store of a plan's run, and those that it may take over. Initialise with zeroes, the store's lookup, and: */
typedef struct {
  CstStore store;
  StdUnchanged *known;           /* takes what is loaded; NULL: nothing is to be taken */
  const StdUnchanged *unchanged; /* NULL: everything is loaded */
  const BaseWatch *watch;        /* what the run changes */
} StdLoader;
void std_loader_clear (StdLoader *loader);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (StdLoader, std_loader_clear)

/* ScnLibraryLoad: loads as it is, for the machine whose watch sees it, and, the first time, by itself. */
const MdlLibrary *std_load_and_know (void *user, const MdlLibraryQuery *query, GError **error);
/* ScnLibraryLoad: the one that is known, where nothing of it is changed. */
const MdlLibrary *std_load_changed (void *user, const MdlLibraryQuery *query, GError **error);

#endif
