// Batches of edits for tests, as arrays in a GPU's memory.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

#include "heddle/editable_matrix.hpp"

namespace heddle::gpu_test {

/// Edits in the host's memory, and as arrays in a GPU's memory.
template <class E>
struct Edits {
  using S = stored_scalar_t<E>;
  struct Part {
    std::vector<Index> row, column;
    std::vector<S> values;
    Array<Index> row_there, column_there;
    Array<S> values_there;

    void operator()(Index r, Index c, const E& value) {
      row.push_back(r);
      column.push_back(c);
      values.insert(values.end(), value.component, value.component + E::components);
    }
    /// A removed entry, whose value is not used.
    void operator()(Index r, Index c) {
      E value;
      std::fill_n(value.component, E::components, S(7));
      (*this)(r, c, value);
    }
    CooView<E> view(Index rows, Index columns, const Device& gpu) {
      row_there = Array<Index>(std::span<const Index>(row), gpu);
      column_there = Array<Index>(std::span<const Index>(column), gpu);
      values_there = Array<S>(std::span<const S>(values), gpu);
      return {rows,
              columns,
              static_cast<Offset>(row.size()),
              row_there.data(),
              column_there.data(),
              values_there.data(),
              row_major,
              gpu};
    }
  };
  Part set, add, remove;

  EditViews<E> views(Index rows, Index columns, const Device& gpu) {
    return {set.view(rows, columns, gpu), add.view(rows, columns, gpu),
            remove.view(rows, columns, gpu)};
  }
  EditBatch<E> batch() const {
    EditBatch<E> all;
    const auto entry = [](const Part& part, std::size_t i) {
      E value{};
      std::copy_n(part.values.data() + i * E::components, E::components, value.component);
      return value;
    };
    for (std::size_t i = 0; i < set.row.size(); ++i) {
      all.set(set.row[i], set.column[i], entry(set, i));
    }
    for (std::size_t i = 0; i < add.row.size(); ++i) {
      all.add(add.row[i], add.column[i], entry(add, i));
    }
    for (std::size_t i = 0; i < remove.row.size(); ++i) {
      all.remove(remove.row[i], remove.column[i]);
    }
    return all;
  }
};

}  // namespace heddle::gpu_test
