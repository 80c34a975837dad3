/* Appending to a GArray whose room is known: no call while there is some. For arrays that grow by hundreds of thousands of small
 * elements, where g_array_append_vals() costs more than what is appended. */
#ifndef BASE_APPEND_H
#define BASE_APPEND_H

#include <glib.h>

/* Place of one more element of `each` B, not yet set, at the end of `array`, which is not zero-terminated. `room`: of how many
 * elements there is room, the caller's count of this array; 0 at first, however large the array was made. */
static inline gpointer
base_append (GArray *array, guint *room, gsize each)
{
  const guint n = array->len;
  if (n >= *room) {
    *room = n < 64 ? 128 : 2 * n;
    g_array_set_size (array, *room);
    array->len = n;
  }
  array->len = n + 1;
  return array->data + each * n;
}

/* Makes room for `n` elements at once. */
static inline void
base_append_room (GArray *array, guint *room, guint n)
{
  const guint len = array->len;
  if (n <= *room || n <= len)
    return;
  *room = n;
  g_array_set_size (array, n);
  array->len = len;
}

#endif
