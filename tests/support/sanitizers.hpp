// The sanitizers that a test runs under.
#pragma once

#if defined(__has_feature)
#define HEDDLE_TEST_HAS_FEATURE(feature) __has_feature(feature)
#else
#define HEDDLE_TEST_HAS_FEATURE(feature) 0
#endif

#if defined(__SANITIZE_THREAD__) || HEDDLE_TEST_HAS_FEATURE(thread_sanitizer)
#define HEDDLE_TEST_THREAD_SANITIZER 1
#else
#define HEDDLE_TEST_THREAD_SANITIZER 0
#endif

#if defined(__SANITIZE_ADDRESS__) || HEDDLE_TEST_HAS_FEATURE(address_sanitizer)
#define HEDDLE_TEST_ADDRESS_SANITIZER 1
#else
#define HEDDLE_TEST_ADDRESS_SANITIZER 0
#endif
