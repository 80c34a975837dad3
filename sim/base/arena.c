#include "base/arena.h"

#include <stdalign.h>
#include <stddef.h>
#include <string.h>

/* A block doubles from the first size to the last, so that a small file costs little and a large one few calls. */
#define FIRST_BLOCK_B ((gsize)4 << 10)
#define LAST_BLOCK_B  ((gsize)256 << 10)

typedef struct Block Block;
struct Block {
  Block *next;
  alignas (max_align_t) char bytes[];
};

struct BaseArena {
  Block *blocks; /* the first is the one being filled */
  gsize used_B, size_B;
  gsize next_B; /* size of the next block */
};

BaseArena *
base_arena_new (void)
{
  BaseArena *arena = g_new0 (BaseArena, 1);
  arena->next_B = FIRST_BLOCK_B;
  return arena;
}

void
base_arena_free (BaseArena *arena)
{
  if (arena == NULL)
    return;
  for (Block *block = arena->blocks, *next; block != NULL; block = next) {
    next = block->next;
    g_free (block);
  }
  g_free (arena);
}

static Block *
block_new (gsize size_B)
{
  if (size_B > G_MAXSIZE - sizeof (Block))
    g_error ("base_arena: %" G_GSIZE_FORMAT " bytes asked for", size_B);
  return g_malloc0 (sizeof (Block) + size_B);
}

void *
base_arena_alloc (BaseArena *arena, gsize size_B)
{
  const gsize align = alignof (max_align_t);
  if (size_B > G_MAXSIZE - align)
    g_error ("base_arena: %" G_GSIZE_FORMAT " bytes asked for", size_B);
  /* No request is empty: each gets an address of its own. */
  gsize want_B = (MAX (size_B, 1) + align - 1) / align * align;

  if (arena->blocks != NULL && want_B <= arena->size_B - arena->used_B) {
    char *bytes = arena->blocks->bytes + arena->used_B;
    arena->used_B += want_B;
    return bytes;
  }
  /* A large one gets a block of its own behind the one being filled, whose rest stays in use. */
  if (arena->blocks != NULL && want_B > arena->next_B / 4) {
    Block *own = block_new (want_B);
    own->next = arena->blocks->next;
    arena->blocks->next = own;
    return own->bytes;
  }
  gsize size = MAX (arena->next_B, want_B);
  Block *block = block_new (size);
  block->next = arena->blocks;
  arena->blocks = block;
  arena->size_B = size;
  arena->used_B = want_B;
  arena->next_B = MIN (arena->next_B * 2, LAST_BLOCK_B);
  return block->bytes;
}

void *
base_arena_alloc_n (BaseArena *arena, gsize n, gsize size_B)
{
  if (size_B != 0 && n > G_MAXSIZE / size_B)
    g_error ("base_arena: %" G_GSIZE_FORMAT " x %" G_GSIZE_FORMAT " bytes asked for", n, size_B);
  return base_arena_alloc (arena, n * size_B);
}

char *
base_arena_strndup (BaseArena *arena, const char *text, gsize n)
{
  if (text == NULL)
    return NULL;
  gsize length = 0;
  while (length < n && text[length] != '\0')
    length++;
  char *copy = base_arena_alloc (arena, length + 1);
  memcpy (copy, text, length);
  return copy;
}

char *
base_arena_strdup (BaseArena *arena, const char *text)
{
  return text == NULL ? NULL : base_arena_strndup (arena, text, strlen (text));
}

char *
base_arena_printf (BaseArena *arena, const char *format, ...)
{
  va_list args;
  va_start (args, format);
  g_autofree char *text = g_strdup_vprintf (format, args);
  va_end (args);
  return base_arena_strdup (arena, text);
}
