#include "base/random.h"
#include "harness.h"
#include "nearest-private.h"

#include <math.h>

/* What a heap says of the same pushes. */
typedef struct {
  EngNearest nearest;
  EngHeap heap;
} Both;

static void
begin (Both *both)
{
  eng_nearest_reset (&both->nearest);
  both->heap.n = 0;
}

static void
push (Both *both, double key, uint32_t id)
{
  eng_nearest_push (&both->nearest, key, id);
  eng_heap_push (&both->heap, key, id);
}

/* Returns how many of the `n` came out as from the heap. */
static unsigned
n_alike (Both *both, unsigned n)
{
  unsigned alike = 0;
  for (uint32_t id; n > 0 && eng_nearest_pop (&both->nearest, &id); n--) {
    alike += both->heap.n > 0 && both->heap.items[0].id == id;
    eng_heap_pop (&both->heap);
  }
  return alike;
}

static void
end (Both *both)
{
  uint32_t id;
  TEST_FALSE (eng_nearest_pop (&both->nearest, &id));
  TEST_INT (both->heap.n, 0);
  eng_nearest_clear (&both->nearest);
  eng_heap_clear (&both->heap);
}

static void
keys_of_every_size_come_out_in_order (void)
{
  static const double keys[] = { 5e9, -3, 1e-300, 0.0, -0.0, 5e9, 1e300, 4.9999e9, 2e5, -1e300, 6e9, 1e12, 5e9 };
  Both both = { 0 };
  begin (&both);
  for (uint32_t i = 0; i < G_N_ELEMENTS (keys); i++)
    push (&both, keys[i], i);
  TEST_INT (n_alike (&both, G_N_ELEMENTS (keys)), G_N_ELEMENTS (keys));
  begin (&both); /* the first one says where lots are; here it does not help */
  for (uint32_t i = 0; i < G_N_ELEMENTS (keys); i++)
    push (&both, keys[(i + 1) % G_N_ELEMENTS (keys)], i);
  TEST_INT (n_alike (&both, G_N_ELEMENTS (keys)), G_N_ELEMENTS (keys));
  end (&both);
}

/* As levels do: near those that came out last, most of them above. Or all nearly alike, so that one lot has them all. */
static void
random_pushes_and_pops_agree_with_a_heap (void)
{
  BaseRandom random = base_random_stream (7, "nearest");
  static const double spreads[] = { 1.0, 0.2, 1e-3, 0.0 };
  Both both = { 0 };
  for (unsigned round = 0; round < 40; round++) {
    const double spread = spreads[round % 4];
    double level = 5e10;
    uint32_t id = 0;
    begin (&both);
    for (unsigned step = 0; step < 400; step++) {
      for (uint32_t n = base_random_below (&random, step < 200 ? 5 : 3); n > 0; n--)
        push (&both, level * (1.0 + spread * (base_random_unit (&random) * 4.0 - 0.5)), id++);
      const unsigned n = both.heap.n < 2 ? both.heap.n : 2;
      level = n > 0 ? both.heap.items[0].key : level;
      TEST_INT (n_alike (&both, n), n);
    }
    const unsigned left = both.heap.n;
    TEST_INT (n_alike (&both, left), left);
  }
  end (&both);
}

static void
what_is_left_is_forgotten (void)
{
  Both both = { 0 };
  uint32_t id;
  begin (&both);
  for (uint32_t i = 0; i < 200; i++)
    push (&both, 1.0 + i, i);
  TEST_INT (n_alike (&both, 1), 1);
  begin (&both);
  TEST_FALSE (eng_nearest_pop (&both.nearest, &id));
  push (&both, 2.0, 1);
  push (&both, 1.0, 2);
  TEST_INT (n_alike (&both, 2), 2);
  end (&both);
}

int
main (void)
{
  static const TestCase cases[] = {
    { "keys of every size come out in order", keys_of_every_size_come_out_in_order },
    { "random pushes and pops agree with a heap", random_pushes_and_pops_agree_with_a_heap },
    { "what is left is forgotten", what_is_left_is_forgotten },
    { NULL, NULL },
  };
  return test_main ("engine nearest", cases);
}
