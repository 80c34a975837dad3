#include "base/parallel.h"
#include "harness.h"

typedef struct {
  guint64 value;
  guint times;
} Item;

static void
square (void *data)
{
  Item *item = data;
  item->value *= item->value;
  item->times++;
}

/* One thread, some, as many as there are cores, more than there are items; none at all has nothing to do. */
static void
every_item_is_worked_on_once (void)
{
  static const guint threads[] = { 1, 2, 3, 0, 64 };
  static const gsize counts[] = { 0, 1, 2, 7, 1000 };
  for (gsize t = 0; t < G_N_ELEMENTS (threads); t++)
    for (gsize c = 0; c < G_N_ELEMENTS (counts); c++) {
      Item items[1001];
      for (guint i = 0; i < G_N_ELEMENTS (items); i++)
        items[i] = (Item){ i, 0 };
      base_parallel_each (items, counts[c], sizeof (Item), threads[t], NULL, square);
      guint wrong = 0;
      for (guint64 i = 0; i < G_N_ELEMENTS (items); i++)
        wrong += i < counts[c] ? items[i].value != i * i || items[i].times != 1 : items[i].value != i || items[i].times != 0;
      TEST_INT (wrong, 0);
    }
}

int
main (void)
{
  static const TestCase cases[] = {
    { "every item is worked on once", every_item_is_worked_on_once },
    { 0 },
  };
  return test_main ("base/parallel", cases);
}
