#include "base/arena.h"
#include "harness.h"

#include <stdalign.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

static void
memory_is_zeroed_and_aligned_for_any_type (void)
{
  g_autoptr (BaseArena) arena = base_arena_new ();
  for (gsize size = 0; size < 300; size++) {
    char *bytes = base_arena_alloc (arena, size);
    TEST_INT ((uintptr_t)bytes % alignof (max_align_t), 0);
    for (gsize i = 0; i < size; i++)
      if (bytes[i] != 0)
        TEST_TRUE (FALSE);
    memset (bytes, 0xff, size);
  }
}

/* Each piece is filled with its number; were two to overlap, one would read another's. */
static void
pieces_of_all_sizes_do_not_overlap (void)
{
  g_autoptr (BaseArena) arena = base_arena_new ();
  enum { N = 2000 };
  static unsigned char *piece[N];
  static gsize size[N];
  for (unsigned i = 0; i < N; i++) {
    size[i] = i % 50 == 0 ? 100000 : i % 97 + 1;
    piece[i] = base_arena_alloc (arena, size[i]);
    memset (piece[i], (int)(i % 251), size[i]);
  }
  unsigned wrong = 0;
  for (unsigned i = 0; i < N; i++)
    for (gsize k = 0; k < size[i]; k++)
      wrong += piece[i][k] != i % 251;
  TEST_INT (wrong, 0);
}

static void
an_empty_request_gets_an_address_of_its_own (void)
{
  g_autoptr (BaseArena) arena = base_arena_new ();
  TEST_TRUE (base_arena_alloc (arena, 0) != base_arena_alloc (arena, 0));
  TEST_TRUE (base_arena_alloc_n (arena, 0, 8) != NULL);
  TEST_TRUE (base_arena_alloc_n (arena, 8, 0) != NULL);
}

static void
strings_are_copied_cut_and_printed (void)
{
  g_autoptr (BaseArena) arena = base_arena_new ();
  char text[] = "nvlink";
  char *copy = base_arena_strdup (arena, text);
  text[0] = 'X';
  TEST_STR (copy, "nvlink");
  TEST_STR (base_arena_strndup (arena, "nvlink", 2), "nv");
  TEST_STR (base_arena_strndup (arena, "nv", 100), "nv");
  TEST_STR (base_arena_strndup (arena, "nv", 0), "");
  TEST_STR (base_arena_printf (arena, "node%u.gpu%u", 3u, 7u), "node3.gpu7");
  TEST_TRUE (base_arena_strdup (arena, NULL) == NULL);
}

/* strndup looks at n bytes at most: the text need not end. */
static void
strndup_reads_no_further_than_it_copies (void)
{
  g_autoptr (BaseArena) arena = base_arena_new ();
  const char bytes[3] = { 'a', 'b', 'c' };
  TEST_STR (base_arena_strndup (arena, bytes, 3), "abc");
}

static void
freeing_nothing_is_allowed (void)
{
  base_arena_free (NULL);
  base_arena_free (base_arena_new ());
}

int
main (void)
{
  static const TestCase cases[] = {
    { "memory is zeroed and aligned for any type", memory_is_zeroed_and_aligned_for_any_type },
    { "pieces of all sizes do not overlap", pieces_of_all_sizes_do_not_overlap },
    { "an empty request gets an address of its own", an_empty_request_gets_an_address_of_its_own },
    { "strings are copied, cut and printed", strings_are_copied_cut_and_printed },
    { "strndup reads no further than it copies", strndup_reads_no_further_than_it_copies },
    { "freeing nothing is allowed", freeing_nothing_is_allowed },
    { 0 },
  };
  return test_main ("base/arena", cases);
}
