// Checks of element access, for builds without NDEBUG: they do not slow down a release.
#pragma once

#include <cstdio>
#include <cstdlib>

#ifndef HEDDLE_ASSERTIONS
#ifdef NDEBUG
#define HEDDLE_ASSERTIONS 0
#else
#define HEDDLE_ASSERTIONS 1
#endif
#endif

namespace heddle::detail {

[[noreturn]] inline void assertion_failed(const char* condition, const char* file, int line) {
  std::fprintf(stderr, "%s:%d: heddle: '%s' does not hold\n", file, line, condition);
  std::abort();
}

}  // namespace heddle::detail

/// Ends the process if `condition` does not hold; does nothing in a release or on a GPU.
#if HEDDLE_ASSERTIONS && !defined(__CUDA_ARCH__)
#define HEDDLE_ASSERT(condition) \
  ((condition) ? void() : ::heddle::detail::assertion_failed(#condition, __FILE__, __LINE__))
#else
#define HEDDLE_ASSERT(condition) void()
#endif
