// Entries that are not built in, and that several tests multiply by. The table of one entry, with
// those of its copies, takes up to half a minute to compile: rare_entries.cpp holds all of them.
#pragma once

#include "base/long_double.hpp"
#include "heddle/operator.hpp"

#define HEDDLE_TEST_RARE_ENTRIES(with)                                      \
  with(real<double, 3>) with(block<double, 2, 3>) with(block<double, 3, 2>) \
      with(block<complex<double>, 2, 2>)                                    \
          HEDDLE_IN_LONG_DOUBLE(with(real<long double>) with(quaternion<long double>))

namespace heddle {

#define HEDDLE_TEST_EXTERN(...)                                          \
  extern template detail::EntryTableHandle<vector_scalar_t<__VA_ARGS__>> \
  detail::entry_table<__VA_ARGS__>();
#define HEDDLE_TEST_EXTERN_NARROW(...) HEDDLE_TEST_EXTERN(stored_as<float, __VA_ARGS__>)
HEDDLE_TEST_RARE_ENTRIES(HEDDLE_TEST_EXTERN)
HEDDLE_TEST_RARE_ENTRIES(HEDDLE_TEST_EXTERN_NARROW)
#undef HEDDLE_TEST_EXTERN_NARROW
#undef HEDDLE_TEST_EXTERN

}  // namespace heddle
