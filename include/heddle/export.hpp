// The names that a shared libheddle exports, and the language that its headers need.
#pragma once

#if __cplusplus < 202002L
#error "heddle needs C++20: compile with -std=c++20, with nvcc too"
// No such file: compilation ends here, before less helpful errors.
#include "heddle/needs_cxx20"
#endif

/// Marks the symbols that programs link: functions and classes of the public headers, and the types
/// with which the library instantiates its templates. A static library (HEDDLE_STATIC) adds no
/// names to a shared library that contains it.
#if defined(HEDDLE_STATIC) || defined(__CUDACC_RTC__)
#define HEDDLE_EXPORT
#else
#define HEDDLE_EXPORT __attribute__((visibility("default")))
#endif
