#include "support/rare_entries.hpp"

namespace heddle {

#define HEDDLE_TEST_TABLE(...)                                    \
  template detail::EntryTableHandle<vector_scalar_t<__VA_ARGS__>> \
  detail::entry_table<__VA_ARGS__>();
#define HEDDLE_TEST_NARROW_TABLE(...) HEDDLE_TEST_TABLE(stored_as<float, __VA_ARGS__>)
HEDDLE_TEST_RARE_ENTRIES(HEDDLE_TEST_TABLE)
HEDDLE_TEST_RARE_ENTRIES(HEDDLE_TEST_NARROW_TABLE)
#undef HEDDLE_TEST_NARROW_TABLE
#undef HEDDLE_TEST_TABLE

}  // namespace heddle
