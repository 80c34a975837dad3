#include "base/random.h"
#include "engine/queue.h"
#include "harness.h"

static void
push (EngQueue *queue, EngTime at, uint32_t slot)
{
  eng_queue_push (queue, (EngEntry){ .at = at, .slot = slot, .generation = 7 });
}

static void
times_come_out_in_order (void)
{
  EngQueue *queue = eng_queue_new ();
  EngTime times[] = { 5, 0, UINT64_C (1) << 63, 64, 63, 4096, 1, ENG_TIME_NEVER };
  EngTime sorted[] = { 0, 1, 5, 63, 64, 4096, UINT64_C (1) << 63, ENG_TIME_NEVER };
  for (uint32_t i = 0; i < G_N_ELEMENTS (times); i++)
    push (queue, times[i], i);
  TEST_INT (eng_queue_n (queue), 8);
  for (size_t i = 0; i < G_N_ELEMENTS (times); i++) {
    EngEntry entry;
    TEST_TRUE (eng_queue_peek (queue) == sorted[i]);
    TEST_TRUE (eng_queue_pop (queue, &entry));
    TEST_TRUE (entry.at == sorted[i]);
    TEST_TRUE (times[entry.slot] == entry.at && entry.generation == 7);
  }
  EngEntry entry;
  TEST_FALSE (eng_queue_pop (queue, &entry));
  TEST_TRUE (eng_queue_peek (queue) == ENG_TIME_NEVER);
  eng_queue_free (queue);
}

/* 100 is pushed from near and from far, before and after the queue has moved: slots 0, 1, 2, 3 in that order. */
static void
equal_times_come_out_in_the_order_of_pushes (void)
{
  EngQueue *queue = eng_queue_new ();
  EngEntry entry;
  push (queue, 100, 0);
  push (queue, 3, 10);
  push (queue, 100, 1);
  TEST_TRUE (eng_queue_pop (queue, &entry) && entry.slot == 10);
  push (queue, 100, 2);
  push (queue, 99, 11);
  TEST_TRUE (eng_queue_pop (queue, &entry) && entry.slot == 11);
  push (queue, 100, 3);
  for (uint32_t i = 0; i < 4; i++)
    TEST_TRUE (eng_queue_pop (queue, &entry) && entry.at == 100 && entry.slot == i);
  eng_queue_free (queue);
}

/* Peeking must not move the queue: after seeing 1000, 500 may still come. */
static void
peeking_does_not_forbid_earlier_pushes (void)
{
  EngQueue *queue = eng_queue_new ();
  EngEntry entry;
  push (queue, 1000, 0);
  TEST_INT (eng_queue_peek (queue), 1000);
  TEST_FALSE (eng_queue_pop_at (queue, 999, &entry));
  push (queue, 500, 1);
  TEST_INT (eng_queue_peek (queue), 500);
  TEST_FALSE (eng_queue_pop_at (queue, 1000, &entry));
  TEST_TRUE (eng_queue_pop_at (queue, 500, &entry) && entry.slot == 1);
  TEST_FALSE (eng_queue_pop_at (queue, 500, &entry));
  TEST_TRUE (eng_queue_pop (queue, &entry) && entry.slot == 0);
  eng_queue_free (queue);
}

static int
by_time_and_number (gconstpointer a, gconstpointer b)
{
  const EngEntry *x = a, *y = b;
  if (x->at != y->at)
    return x->at < y->at ? -1 : 1;
  return x->slot < y->slot ? -1 : x->slot > y->slot;
}

/* Against a sorted array: pushes and pops at random, times near and far, many equal; slots count pushes. */
static void
random_pushes_and_pops_agree_with_a_sorted_array (void)
{
  for (uint64_t seed = 1; seed <= 300; seed++) {
    EngQueue *queue = eng_queue_new ();
    GArray *model = g_array_new (FALSE, FALSE, sizeof (EngEntry));
    BaseRandom random = base_random_stream (seed, "queue");
    EngTime last = 0;
    uint32_t n_pushed = 0, n_wrong = 0;
    for (unsigned step = 0; step < 400; step++) {
      if (base_random_below (&random, 3) != 0) {
        unsigned bits = base_random_below (&random, 40);
        EngTime ahead = (EngTime)base_random_u32 (&random) << 8 >> (40 - bits);
        EngEntry entry = { .at = last + ahead, .slot = n_pushed++ };
        eng_queue_push (queue, entry);
        g_array_append_val (model, entry);
      } else if (model->len > 0) {
        EngEntry entry = { 0 };
        g_array_sort (model, by_time_and_number);
        EngEntry expected = g_array_index (model, EngEntry, 0);
        g_array_remove_index (model, 0);
        n_wrong += eng_queue_peek (queue) != expected.at;
        n_wrong += !eng_queue_pop (queue, &entry) || entry.at != expected.at || entry.slot != expected.slot;
        last = entry.at;
      }
    }
    TEST_INT (n_wrong, 0);
    TEST_INT (eng_queue_n (queue), model->len);
    g_array_unref (model);
    eng_queue_free (queue);
  }
}

static bool
is_even (const EngEntry *entry, void *user)
{
  ++*(unsigned *)user;
  return entry->slot % 2 == 0;
}

/* 1000 entries at times i / 10 x 7: compaction keeps the 500 even ones, and their order. */
static void
shrinking_keeps_all_in_their_order (void)
{
  EngQueue *queue = eng_queue_new ();
  EngEntry entry;
  for (uint32_t i = 0; i < 10000; i++)
    push (queue, i / 10 * 7, i);
  for (uint32_t i = 0; i < 9003; i++)
    TEST_TRUE (eng_queue_pop (queue, &entry) && entry.slot == i);
  eng_queue_shrink (queue);
  TEST_INT (eng_queue_n (queue), 997);
  push (queue, 900 * 7, 10000); /* the time that leaves at the moment */
  for (uint32_t i = 9003; i < 9010; i++)
    TEST_TRUE (eng_queue_pop (queue, &entry) && entry.slot == i && entry.at == 900 * 7);
  TEST_TRUE (eng_queue_pop (queue, &entry) && entry.slot == 10000);
  for (uint32_t i = 9010; i < 10000; i++)
    TEST_TRUE (eng_queue_pop (queue, &entry) && entry.slot == i && entry.at == i / 10 * 7);
  TEST_FALSE (eng_queue_pop (queue, &entry));
  eng_queue_free (queue);
}

static void
compaction_drops_what_is_not_kept_and_nothing_else (void)
{
  EngQueue *queue = eng_queue_new ();
  EngEntry entry;
  unsigned n_asked = 0;
  for (uint32_t i = 0; i < 1000; i++)
    push (queue, i / 10 * 7, i);
  TEST_TRUE (eng_queue_pop (queue, &entry) && entry.slot == 0);
  eng_queue_compact (queue, is_even, &n_asked);
  TEST_INT (n_asked, 999);
  TEST_INT (eng_queue_n (queue), 499);
  for (uint32_t i = 2; i < 1000; i += 2)
    TEST_TRUE (eng_queue_pop (queue, &entry) && entry.slot == i && entry.at == i / 10 * 7);
  TEST_FALSE (eng_queue_pop (queue, &entry));
  eng_queue_free (queue);
}

int
main (void)
{
  static const TestCase cases[] = {
    { "times come out in order", times_come_out_in_order },
    { "equal times come out in the order of pushes", equal_times_come_out_in_the_order_of_pushes },
    { "peeking does not forbid earlier pushes", peeking_does_not_forbid_earlier_pushes },
    { "random pushes and pops agree with a sorted array", random_pushes_and_pops_agree_with_a_sorted_array },
    { "shrinking keeps all in their order", shrinking_keeps_all_in_their_order },
    { "compaction drops what is not kept and nothing else", compaction_drops_what_is_not_kept_and_nothing_else },
    { NULL, NULL },
  };
  return test_main ("engine queue", cases);
}
