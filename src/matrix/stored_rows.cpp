#include "stored_rows.hpp"

#include <algorithm>
#include <tuple>
#include <utility>
#include <vector>

#include "heddle/detail/matrix_product_rows.hpp"
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

/// Rows that a thread takes at a time, because they differ in length.
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
  UnsetArray<Index> columns(entries);
  UnsetArray<Offset> slot(entries);
  const int team = team_size(host, pattern.entries);
  parallel_for(team, n, [&](Index stored) {
    rows.offsets[static_cast<std::size_t>(row_of(stored)) + 1] = length_of(stored);
  });
  sum_up(rows.offsets);
  parallel_shares(team, n, stored_rows_at_once, [&](auto&& for_each) {
    std::vector<std::pair<Index, Offset>> order;
    for_each([&](Index stored) {
      const SlicesView::RowPlace place = slices.place_of(stored);
      const Index count = length_of(stored);
      const Offset first = rows.begin(row_of(stored));
      Index* const to = columns.data() + first;
      Offset* const slots = slot.data() + first;
      for (Index j = 0; j < count; ++j) {
        slots[j] = slot_of(place.offset, slices.C, place.T, place.r, j);
        to[j] = pattern.column_basis->user_row(column.data()[slots[j]]);
      }
      if (std::is_sorted(to, to + count)) return;
      order.clear();
      for (Index j = 0; j < count; ++j) order.emplace_back(to[j], slots[j]);
      std::sort(order.begin(), order.end());
      for (Index j = 0; j < count; ++j) {
        std::tie(to[j], slots[j]) = order[static_cast<std::size_t>(j)];
      }
    });
  });
  rows.column = std::move(columns).into_array();
  rows.slot = std::move(slot).into_array();
  return rows;
}

UserRows transposed(const UserRows& rows, Index columns, const Stream& host, Array<Offset>& place) {
  UserRows transpose;
  adjoint_pattern(rows.view(columns), host, transpose.offsets, transpose.column, place);
  return transpose;
}

}  // namespace heddle::detail
