// How an entry's components are stored, without the entry's table. The table itself holds products
// by every kind of copy, which take long to compile.
#pragma once

#include "heddle/detail/entry_table.hpp"

namespace heddle::test {

/// Same as `EntryTable::stored` for an entry that is no copy.
template <class E>
EntryShape stored_shape(ComponentOrder order) {
  EntryShape shape{E::components, sizeof(stored_scalar_t<E>)};
  if constexpr (requires { E::block_rows; }) {
    if (order == ComponentOrder::column_major) {
      shape.block_rows = E::block_rows;
      shape.block_columns = E::block_columns;
    }
  }
  return shape;
}

}  // namespace heddle::test
