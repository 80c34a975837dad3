/* A CUnit suite from a table of cases; names are sentences. */
#ifndef TEST_HARNESS_H
#define TEST_HARNESS_H

#include <CUnit/CUnit.h>
#include <glib.h>

typedef struct {
  const char *name;
  void (*run) (void);
} TestCase; /* tables end with name NULL */

/* Runs the table as one suite; prints CUnit's summary; returns 0 when all passed and at least one ran. */
int test_main (const char *suite, const TestCase *cases);

/* |a - b| <= rel * |b|, and says both when not. */
void test_near (double a, double b, double rel, const char *what, const char *file, int line);
#define TEST_NEAR(a, b, rel) test_near ((a), (b), (rel), #a, __FILE__, __LINE__)

/* Equal strings, and says both when not. NULL equals NULL. */
void test_str (const char *a, const char *b, const char *what, const char *file, int line);
#define TEST_STR(a, b) test_str ((a), (b), #a, __FILE__, __LINE__)

/* `text` contains `part`, and says both when not. */
void test_has (const char *text, const char *part, const char *what, const char *file, int line);
#define TEST_HAS(text, part) test_has ((text), (part), #text, __FILE__, __LINE__)

/* Equal whole numbers, and says both when not. */
void test_int (long long a, long long b, const char *what, const char *file, int line);
#define TEST_INT(a, b) test_int ((long long)(a), (long long)(b), #a, __FILE__, __LINE__)

#define TEST_TRUE(x) CU_ASSERT_TRUE (x)
#define TEST_FALSE(x) CU_ASSERT_FALSE (x)

#endif
