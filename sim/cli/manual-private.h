/* What the tables of flags say, in print: --help, manual pages, completion. `verbs`: all verbs in order, ends with NULL. */
#ifndef CLI_MANUAL_PRIVATE_H
#define CLI_MANUAL_PRIVATE_H

#include "cli-private.h"

#define CLI_HELP_WIDTH 100 /* characters of a line of --help */

/* Sentences that --help and forerun(1) share. */
extern const char cli_help_about[], cli_help_exit_status[];
typedef struct {
  const char *command, *question;
} CliFirst;
extern const CliFirst cli_help_first[]; /* first commands to try, ends with NULL */

void cli_help_program (const CliVerb *const *verbs, GString *out);
void cli_help_short (const CliVerb *const *verbs, GString *out);
void cli_help_verb (const CliVerb *verb, GString *out);
/* Usage, example and where the flags are listed, three lines, for a verb that was given nothing to do. */
void cli_help_example (const CliVerb *verb, GString *out);
/* The commit that the program was built from; NULL: not built from a git checkout. */
const char *cli_build_commit (void);
const char *cli_build_compiler (void);
const char *cli_build_type (void); /* CMAKE_BUILD_TYPE: "Release" */
const char *cli_build_mpi (void);  /* the version of MPI's interface; NULL: built without */
/* SHA-256 in hex of names and contents of all shipped files that answers can depend on, below `root`. Returned: full, g_free. */
char *cli_data_checksum (const char *root);

/* Whether the verb does nothing without a word or a flag. */
gboolean cli_help_needs_words (const CliVerb *verb);

/* A page of section 1 in man(7): of a verb, or of the program for `verb` NULL. */
void cli_manual_page (const CliVerb *const *verbs, const CliVerb *verb, GString *out);
/* Appends a script that completes verbs, flags and shipped names for bash, zsh or fish. FALSE: another shell. */
gboolean cli_completion (const CliVerb *const *verbs, const char *shell, GString *out);
/* Writes all pages and completions below `folder` as they lie below share/. FALSE and *error: a file cannot be written. */
gboolean cli_manuals_write (const CliVerb *const *verbs, const char *folder, GError **error);

#endif
