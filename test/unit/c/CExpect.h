/*===- CExpect.h - Expectations of tests in C -------------------*- C -*-===*/

#ifndef KV_TEST_UNIT_C_CEXPECT_H
#define KV_TEST_UNIT_C_CEXPECT_H

#include "kv/Runtime/C/Api.h"

#include <stdio.h>
#include <string.h>

static int failures = 0;

#define EXPECT(condition)                                                      \
  do {                                                                         \
    if (!(condition)) {                                                        \
      fprintf(stderr, "%s:%d: %s is false; last error: %s\n", __FILE__,        \
              __LINE__, #condition, kvErrorMessage());                         \
      ++failures;                                                              \
    }                                                                          \
  } while (0)

#define OK(call) EXPECT((call) == KV_STATUS_OK)

// The call fails with this status and text.
#define FAILS(call, status, text)                                              \
  do {                                                                         \
    EXPECT((call) == (status));                                                \
    if (strcmp(kvErrorMessage(), text) != 0) {                                 \
      fprintf(stderr, "%s:%d: \"%s\", expected \"%s\"\n", __FILE__, __LINE__,  \
              kvErrorMessage(), text);                                         \
      ++failures;                                                              \
    }                                                                          \
  } while (0)

enum { Invalid = KV_STATUS_INVALID_ARGUMENT };

/* What main returns. */
static int report(void) {
  if (failures == 0)
    printf("all as expected\n");
  return failures != 0;
}

#endif /* KV_TEST_UNIT_C_CEXPECT_H */
