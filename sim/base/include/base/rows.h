/* For files of schemas: rows that say each thing once. A row is named after the member that it fills, unless _AS gives its
 * key; what follows the help text is as in BaseField. REQUIRED, defined before this file is included, holds for all rows. */
#ifndef BASE_ROWS_H
#define BASE_ROWS_H

#include "base/schema.h"

#ifdef REQUIRED
#define ALL_ROWS .required = TRUE,
#else
#define ALL_ROWS
#endif

#define SCHEMA(id, name_, help_, ...) \
  const BaseSchema id = { .name = (name_), .help = (help_), .fields = (const BaseField[]){ __VA_ARGS__, BASE_ROW_END } }

#define ROW_AS(T, key_, member, kind_, help_, ...) BASE_ROW (T, key_, member, kind_, .help = (help_), ALL_ROWS __VA_ARGS__)
#define ROW(T, member, kind_, help_, ...)          ROW_AS (T, #member, member, kind_, help_, __VA_ARGS__)

#define NUM_AS(T, key_, member, dim_, help_, ...) ROW_AS (T, key_, member, NUM, help_, .dim = BASE_DIM_##dim_, __VA_ARGS__)
#define NUM(T, member, dim_, help_, ...)          NUM_AS (T, #member, member, dim_, help_, __VA_ARGS__)
/* Not below `min_`. */
#define FROM(T, member, dim_, min_, help_, ...) NUM_AS (T, #member, member, dim_, help_, .min = (min_), __VA_ARGS__)

#define NUMS_AS(T, key_, member, dim_, help_, ...) ROW_AS (T, key_, member, NUMS, help_, .dim = BASE_DIM_##dim_, __VA_ARGS__)
#define NUMS(T, member, dim_, help_, ...)          NUMS_AS (T, #member, member, dim_, help_, __VA_ARGS__)

#define MAP_AS(T, key_, member, schema_, help_, ...) ROW_AS (T, key_, member, MAP, help_, .sub = (schema_), __VA_ARGS__)
#define MAP(T, member, schema_, help_, ...)          MAP_AS (T, #member, member, schema_, help_, __VA_ARGS__)

#define LIST(T, member, schema_, item_, help_, ...) \
  ROW (T, member, LIST, help_, .sub = (schema_), .item_size = sizeof (item_), __VA_ARGS__)

#endif
