// QWICK_CHECK(condition): for bugs of our own. Prints the place and the condition, then aborts.
// What a file or a request can cause is an Error instead (base/error.h).
#pragma once

#include <cstdio>
#include <cstdlib>

#define QWICK_CHECK(condition)                                                                \
  do {                                                                                        \
    if (!(condition)) [[unlikely]] {                                                          \
      std::fprintf(stderr, "%s:%d: bug: CHECK failed: %s\n", __FILE__, __LINE__, #condition); \
      std::abort();                                                                           \
    }                                                                                         \
  } while (false)
