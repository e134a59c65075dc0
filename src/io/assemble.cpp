#include "assemble.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "heddle/tools/team.hpp"

namespace heddle::io {

namespace {

/// Sorts one row in place and sums duplicates. Returns the number of entries left.
class RowSorter {
 public:
  explicit RowSorter(int components) : components_(static_cast<std::size_t>(components)) {}

  Index operator()(Index* column, double* values, Index length) {
    // The place in the lower half of a key keeps equal columns in the order of the file.
    keys_.resize(static_cast<std::size_t>(length));
    for (Index i = 0; i < length; ++i) {
      keys_[static_cast<std::size_t>(i)] =
          static_cast<std::uint64_t>(column[i]) << 32 | static_cast<std::uint32_t>(i);
    }
    std::sort(keys_.begin(), keys_.end());
    unsorted_.assign(values, values + keys_.size() * components_);
    Index kept = 0;
    for (const std::uint64_t key : keys_) {
      const auto to_column = static_cast<Index>(key >> 32);
      const double* from = unsorted_.data() + (key & 0xFFFFFFFF) * components_;
      if (kept > 0 && column[kept - 1] == to_column) {
        double* to = values + static_cast<std::size_t>(kept - 1) * components_;
        for (std::size_t k = 0; k < components_; ++k) finite_ &= std::isfinite(to[k] += from[k]);
      } else {
        column[kept] = to_column;
        std::copy_n(from, components_, values + static_cast<std::size_t>(kept) * components_);
        ++kept;
      }
    }
    return kept;
  }
  bool finite() const { return finite_; }

 private:
  std::size_t components_;
  bool finite_ = true;
  std::vector<std::uint64_t> keys_;
  std::vector<double> unsorted_;
};

}  // namespace

Index sort_and_sum_rows(Array<Offset>& offsets, Array<Index>& column, Array<double>& values,
                        int components, const Device& device) {
  const auto rows = static_cast<Index>(offsets.size() - 1);
  const auto at = [&](Index row) { return offsets[static_cast<std::size_t>(row)]; };
  const int threads = team_size(device.stream(), static_cast<Offset>(column.size()) + rows);
  std::vector<std::pair<Index, Index>> shortened;  // rows with duplicates, and their new lengths
  Index not_finite = rows;
  std::mutex shortening;
  parallel_shares(threads, rows, 0, [&](auto&& for_each) {
    RowSorter sort(components);
    for_each([&](Index row) {
      Index* const first = column.data() + at(row);
      const auto length = static_cast<Index>(at(row + 1) - at(row));
      const auto not_less = [](Index a, Index b) { return a >= b; };
      if (std::adjacent_find(first, first + length, not_less) == first + length) return;
      const bool was_finite = sort.finite();
      const Index kept = sort(first, values.data() + at(row) * components, length);
      if (kept == length) return;
      const std::lock_guard lock(shortening);
      shortened.emplace_back(row, kept);
      if (was_finite && !sort.finite()) not_finite = std::min(not_finite, row);
    });
  });
  if (not_finite < rows) return not_finite;
  if (shortened.empty()) return -1;

  Array<Offset> old(offsets);
  for (auto [row, kept] : shortened) offsets[static_cast<std::size_t>(row)] = -kept - 1;
  Offset total = 0;
  for (Index row = 0; row < rows; ++row) {
    const auto r = static_cast<std::size_t>(row);
    const Offset length = offsets[r] < 0 ? -offsets[r] - 1 : old[r + 1] - old[r];
    offsets[r] = total;
    total += length;
  }
  offsets[static_cast<std::size_t>(rows)] = total;
  const auto size = static_cast<std::size_t>(total);
  Array<Index> dense_column(size, device);
  Array<double> dense_values(size * static_cast<std::size_t>(components), device);
  parallel_for(threads, rows, [&](Index row) {
    const auto r = static_cast<std::size_t>(row);
    const Offset length = at(row + 1) - at(row);
    std::copy_n(column.data() + old[r], length, dense_column.data() + at(row));
    std::copy_n(values.data() + old[r] * components, length * components,
                dense_values.data() + at(row) * components);
  });
  column = std::move(dense_column);
  values = std::move(dense_values);
  return -1;
}

}  // namespace heddle::io
