// Where a test runs if builds only check (HEDDLE_QUICK_CHECK), as those of .ci/run do. A file is
// compiled into one build: into the sanitized one, unless its first line is "// Runs in the
// release." or "// Runs in both builds.", or its folder is named in cmake/tests.cmake. In a file of
// both builds, these statements begin the tests that one build is enough for. Other builds run
// every test.
#pragma once

#include <gtest/gtest.h>

#include "support/sanitizers.hpp"

#define HEDDLE_TEST_SKIP_IF(condition, elsewhere)                          \
  do {                                                                     \
    if (HEDDLE_TEST_QUICK_CHECK && (condition)) GTEST_SKIP() << elsewhere; \
  } while (false)

/// For a test that only compares numbers by references that are slow without optimisation, counts
/// iterations, measures, or searches over many plans: sanitizers see the same code in other tests.
#define HEDDLE_RELEASE_ONLY()                                                        \
  HEDDLE_TEST_SKIP_IF(HEDDLE_TEST_ADDRESS_SANITIZER || HEDDLE_TEST_THREAD_SANITIZER, \
                      "runs in the release")

/// For a long test that others repeat with fewer entries, layouts, plans or suites.
#define HEDDLE_DEEP_CHECK_ONLY() HEDDLE_TEST_SKIP_IF(true, "runs in scripts/deep-check")
