#include "code_balance.hpp"

#include <algorithm>
#include <vector>

#include "heddle/tuning/device_properties.hpp"

namespace heddle::detail {

namespace {

int flops_of(const AnyMatrix& matrix) {
  if (matrix.is_defined()) {
    return matrix.visit_defined([](const auto& defined) {
      return 2 * static_cast<int>(defined.definition()->product.size());
    });
  }
  return detail::flops_of(matrix.kind());
}

int components_of_row(const AnyMatrix& matrix) {
  if (matrix.is_defined()) {
    return matrix.visit_defined(
        [](const auto& defined) { return defined.definition()->vector_size(); });
  }
  return visit_entry<double>(matrix.kind(),
                             []<class E>() { return int{vector_entry_t<E>::components}; });
}

/// Rows of x in a cache, the most recently used one in front.
class RecentRows {
 public:
  RecentRows(Index columns, long long most)
      : max_(most),
        before_(size_of(columns), none),
        after_(size_of(columns), none),
        is_here_(size_of(columns)) {}

  /// True if the row was in the cache; it is in front afterwards.
  bool use(Index row) {
    const bool was_here = is_here_[at(row)];
    if (was_here) {
      take_out(row);
    } else if (++count_ > max_) {
      if (last_ != none) take_out(last_);
      --count_;
    }
    if (max_ > 0) put_in_front(row);
    return was_here;
  }

 private:
  static constexpr Index none = -1;
  static std::size_t size_of(Index columns) { return static_cast<std::size_t>(columns); }
  static std::size_t at(Index row) { return static_cast<std::size_t>(row); }

  void take_out(Index row) {
    const Index before = before_[at(row)], after = after_[at(row)];
    (before == none ? first_ : after_[at(before)]) = after;
    (after == none ? last_ : before_[at(after)]) = before;
    is_here_[at(row)] = false;
  }
  void put_in_front(Index row) {
    before_[at(row)] = none;
    after_[at(row)] = first_;
    (first_ == none ? last_ : before_[at(first_)]) = row;
    first_ = row;
    is_here_[at(row)] = true;
  }

  long long max_, count_ = 0;
  Index first_ = none, last_ = none;
  std::vector<Index> before_, after_;
  std::vector<bool> is_here_;
};

/// Loads of rows of x that go to memory.
struct Loads {
  Offset with_cache = 0;
  Offset with_all_of_x = 0;  // one for each row that is read
};

Loads loads_from_memory(const PatternView& pattern, long long rows_in_cache) {
  RecentRows cache(pattern.columns, rows_in_cache);
  std::vector<bool> was_read(static_cast<std::size_t>(pattern.columns));
  Loads loads;
  const Offset entries = pattern.entries();
  for (Offset k = 0; k < entries; ++k) {
    const Index row = pattern.column[k];
    if (cache.use(row)) continue;  // a row in the cache was read
    ++loads.with_cache;
    const auto at = static_cast<std::size_t>(row);
    if (!was_read[at]) ++loads.with_all_of_x;
    was_read[at] = true;
  }
  return loads;
}

}  // namespace

int flops_of(EntryKind kind) {
  return visit_entry<double>(kind, []<class E>() {
    using V = vector_entry_t<E>;
    E entry{};
    for (int k = 0; k < E::components; ++k) entry.component[k] = 1 + k;
    int products = 0;
    for (int j = 0; j < V::components; ++j) {
      V unit = zero_vector<V>();
      unit.component[j] = 1;
      auto image = zero_vector<result_entry_t<E>>();
      multiply_add(image, entry, unit);
      products +=
          static_cast<int>(std::count_if(std::begin(image.component), std::end(image.component),
                                         [](double component) { return component != 0; }));
    }
    return 2 * products;
  });
}

int row_bytes_of(const AnyMatrix& matrix) {
  return components_of_row(matrix) * (matrix.precision() == Precision::double_precision ? 8 : 4);
}

CodeBalance code_balance(const AnyMatrix& matrix, const BalanceAssumptions& assumptions,
                         const Device& device) {
  const PatternView pattern = matrix.pattern();
  CodeBalance made;
  made.entry_bytes = matrix.entry_bytes() + static_cast<int>(sizeof(Index));
  made.x_bytes = made.y_bytes = row_bytes_of(matrix);
  made.flops = flops_of(matrix);
  made.cache = assumptions.cache > 0 ? assumptions.cache : properties_of(device).last_cache;
  const auto entries = static_cast<double>(pattern.entries());
  if (entries == 0) return made;
  const double rows = pattern.rows, columns = pattern.columns;
  const double N = made.row_length = entries / rows;
  const Loads loads = loads_from_memory(pattern, made.cache / made.x_bytes);
  made.alpha = static_cast<double>(loads.with_cache) / entries;
  made.least_alpha = static_cast<double>(loads.with_all_of_x) / entries;

  // y is loaded and stored.
  const auto bytes_of_entry = [&](double alpha) { return made.entry_bytes + alpha * made.x_bytes; };
  const double y = 2.0 * made.y_bytes;
  made.bytes_per_flop = (bytes_of_entry(made.alpha) + y / N) / made.flops;
  made.worst_bytes_per_flop = (bytes_of_entry(1) + y / N) / made.flops;
  const double memory_rate = assumptions.bandwidth * 1e9, link_rate = assumptions.link * 1e9;
  // Bytes of a row, on average.
  const double transferred = made.x_bytes * columns / rows + made.y_bytes;
  made.product_seconds = rows * (N * bytes_of_entry(made.alpha) + y) / memory_rate;
  made.transfer_seconds = rows * transferred / link_rate;
  const auto row_length_where_product_takes = [&](double transfers) {
    return std::max(
        0.0, (transfers * transferred * memory_rate / link_rate - y) / bytes_of_entry(made.alpha));
  };
  made.favours_host_up_to = row_length_where_product_takes(1);
  made.hides_transfer_from = row_length_where_product_takes(10);
  return made;
}

}  // namespace heddle::detail
