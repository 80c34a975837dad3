/* Memory that lives and dies with one loaded file: many small allocations, one free. */
#ifndef BASE_ARENA_H
#define BASE_ARENA_H

#include <glib.h>

typedef struct BaseArena BaseArena;

BaseArena *base_arena_new (void);
void base_arena_free (BaseArena *arena);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (BaseArena, base_arena_free)

/* Zeroed, aligned for any type; borrowed from the arena. */
void *base_arena_alloc (BaseArena *arena, gsize size_B);
/* n x size_B, overflow aborts (a programmer's fault: sizes are bounded when input is validated). */
void *base_arena_alloc_n (BaseArena *arena, gsize n, gsize size_B);
char *base_arena_strdup (BaseArena *arena, const char *text);
char *base_arena_strndup (BaseArena *arena, const char *text, gsize n);
char *base_arena_printf (BaseArena *arena, const char *format, ...) G_GNUC_PRINTF (2, 3);

#endif
