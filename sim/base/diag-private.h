#ifndef BASE_DIAG_PRIVATE_H
#define BASE_DIAG_PRIVATE_H

#include "base/diag.h"

/* Whether the file of `mark` has as many errors as are kept. */
gboolean base_diag_is_full (BaseDiag *diag, BaseMark mark);

/* An error without text, for those who have said enough: known by its place alone, and counted in "… and N more". */
void base_diag_count (BaseDiag *diag, BaseMark mark);

#endif
