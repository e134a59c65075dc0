#include "stored_rows.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "heddle/detail/row_products.hpp"
#include "heddle/tools/team.hpp"

namespace heddle::detail {

namespace {

/// An array that the host can read: itself, or a copy of one on a GPU.
template <class T>
class OnHost {
 public:
  explicit OnHost(const Array<T>& array) : data_(array.data()) {
    if (!array.device().on_gpu() || array.empty()) return;
    kept_ = array.to_host();
    data_ = kept_.data();
  }
  /// Null for an empty array.
  const T* data() const { return data_; }

 private:
  const T* data_;
  std::vector<T> kept_;
};

/// Rows differ in length.
constexpr Offset stored_rows_at_once = 64;

}  // namespace

void sum_up(Array<Offset>& offsets) {
  for (std::size_t row = 1; row < offsets.size(); ++row) offsets[row] += offsets[row - 1];
}

StoredRows stored_rows(const SlicedPattern& pattern, const Stream& host) {
  const OnHost offset(pattern.offset);
  const OnHost first_row(pattern.first_row), length(pattern.row_length), column(pattern.column),
      target(pattern.target);
  const OnHost threads(pattern.threads);
  const SlicesView slices{pattern.C,     pattern.T,        pattern.slices(),
                          offset.data(), first_row.data(), threads.data()};
  const Index n = pattern.rows;
  const auto row_of = [&](Index stored) {
    return pattern.row_basis->user_row(target.data() != nullptr ? target.data()[stored] : stored);
  };
  const auto length_of = [&](Index stored) {
    return length.data() != nullptr
               ? length.data()[stored]
               : static_cast<Index>(offset.data()[stored + 1] - offset.data()[stored]);
  };
  const auto entries = static_cast<std::size_t>(pattern.entries);
  StoredRows rows;
  rows.offsets = Array<Offset>(static_cast<std::size_t>(n) + 1);
  rows.column = Array<Index>(entries);
  rows.slot = Array<Offset>(entries);
  for (Index stored = 0; stored < n; ++stored) {
    rows.offsets[static_cast<std::size_t>(row_of(stored)) + 1] = length_of(stored);
  }
  sum_up(rows.offsets);
  parallel_shares(team_size(host, pattern.entries), n, stored_rows_at_once, [&](auto&& for_each) {
    std::vector<std::pair<Index, Offset>> order;
    for_each([&](Index stored) {
      const SlicesView::RowPlace place = slices.place_of(stored);
      const Index count = length_of(stored);
      order.clear();
      for (Index j = 0; j < count; ++j) {
        const Offset slot = slot_of(place.offset, slices.C, place.T, place.r, j);
        order.emplace_back(pattern.column_basis->user_row(column.data()[slot]), slot);
      }
      std::sort(order.begin(), order.end());
      auto to = static_cast<std::size_t>(rows.begin(row_of(stored)));
      for (const auto& [user_column, slot] : order) {
        rows.column[to] = user_column;
        rows.slot[to++] = slot;
      }
    });
  });
  return rows;
}

UserRows transposed(const UserRows& rows, Index columns, Array<Offset>& place) {
  UserRows turned;
  adjoint_pattern(rows.view(columns), turned.offsets, turned.column, place);
  return turned;
}

}  // namespace heddle::detail
