#include "lattice_with_lengths.hpp"

#include <algorithm>
#include <cmath>
#include <span>
#include <tuple>
#include <utility>

#include "heddle/error.hpp"

namespace heddle::bench {

namespace {

/// Distances to vertices with larger numbers, near ones on the lattice first: at least four times
/// as many as `wanted`.
std::vector<Index> distances(Index rows, int dimensions, Index wanted) {
  const auto width = static_cast<Offset>(std::lround(std::pow(rows, 1.0 / dimensions)));
  const auto reach = static_cast<int>(std::pow(wanted, 1.0 / dimensions)) + 3;
  const int layers = dimensions == 3 ? reach : 0;
  std::vector<std::pair<int, Offset>> near;
  for (int k = -layers; k <= layers; ++k) {
    for (int j = -reach; j <= reach; ++j) {
      for (int i = -reach; i <= reach; ++i) {
        const Offset distance = i + width * (j + width * k);
        if (distance > 0 && distance < rows) near.emplace_back(i * i + j * j + k * k, distance);
      }
    }
  }
  std::sort(near.begin(), near.end(), [](const auto& a, const auto& b) {
    return std::tie(a.second, a.first) < std::tie(b.second, b.first);
  });
  const auto same = [](const auto& a, const auto& b) { return a.second == b.second; };
  near.erase(std::unique(near.begin(), near.end(), same), near.end());
  std::sort(near.begin(), near.end());
  std::vector<Index> sorted;
  sorted.reserve(near.size());
  for (const auto& step : near) sorted.push_back(static_cast<Index>(step.second));
  return sorted;
}

class LatticeWithLengths final : public Pattern {
 public:
  LatticeWithLengths(const std::vector<Index>& lengths, int dimensions) : offset_{0} {
    for (const Index length : lengths) offset_.push_back(offset_.back() + length);
    column_.resize(static_cast<std::size_t>(offset_.back()));
    filled_.resize(lengths.size());
    for (Index v = 0; v < rows(); ++v) put(v, v);
    join_nearest(distances(rows(), dimensions, *std::max_element(lengths.begin(), lengths.end())));
    for (auto [v, w] = lacking(); v >= 0; std::tie(v, w) = lacking()) join_by_exchange(v, w);
    for (Index v = 0; v < rows(); ++v) {
      const auto row = filled(v);
      std::sort(row.begin(), row.end());
    }
  }

  Index rows() const override { return static_cast<Index>(filled_.size()); }
  void columns(Index v, std::vector<Index>& columns) const override {
    const auto at = static_cast<std::size_t>(v);
    columns.assign(column_.begin() + offset_[at], column_.begin() + offset_[at + 1]);
  }

 private:
  Offset lacks(Index v) const {
    const auto at = static_cast<std::size_t>(v);
    return offset_[at + 1] - offset_[at] - filled_[at];
  }
  std::span<Index> filled(Index v) {
    const auto at = static_cast<std::size_t>(v);
    return {column_.data() + offset_[at], static_cast<std::size_t>(filled_[at])};
  }
  bool has(Index v, Index u) {
    const auto row = filled(v);
    return std::find(row.begin(), row.end(), u) != row.end();
  }
  void put(Index v, Index u) {
    const auto at = static_cast<std::size_t>(v);
    column_[static_cast<std::size_t>(offset_[at] + filled_[at]++)] = u;
  }
  void replace(Index v, Index old, Index by) {
    const auto row = filled(v);
    *std::find(row.begin(), row.end(), old) = by;
  }
  void join(Index v, Index u) {
    put(v, u);
    put(u, v);
  }

  void join_nearest(const std::vector<Index>& distances) {
    for (Index v = 0; v < rows(); ++v) {
      for (auto d = distances.begin(); d != distances.end() && lacks(v) > 0; ++d) {
        if (*d < rows() - v && lacks(v + *d) > 0) join(v, v + *d);
      }
    }
  }

  /// Two vertices that lack a neighbour, or one twice that lacks two; -1 where none does.
  std::pair<Index, Index> lacking() {
    while (first_lacking_ < rows() && lacks(first_lacking_) == 0) ++first_lacking_;
    if (first_lacking_ == rows()) return {-1, -1};
    if (lacks(first_lacking_) > 1) return {first_lacking_, first_lacking_};
    for (Index w = first_lacking_ + 1; w < rows(); ++w) {
      if (lacks(w) > 0) return {first_lacking_, w};
    }
    refuse();
  }

  /// Takes the nearest joined pair a, b away and joins v to a and w to b instead.
  void join_by_exchange(Index v, Index w) {
    for (Index distance = 1; distance < rows(); ++distance) {
      for (const Offset from : {Offset(v) - distance, Offset(v) + distance}) {
        if (from < 0 || from >= rows()) continue;
        const auto a = static_cast<Index>(from);
        if (has(v, a)) continue;
        for (const Index b : filled(a)) {
          if (b == a || has(w, b)) continue;
          replace(a, b, v);
          replace(b, a, w);
          put(v, a);
          put(w, b);
          return;
        }
      }
    }
    refuse();
  }

  [[noreturn]] static void refuse() {
    throw Error(ErrorKind::usage, "no symmetric pattern has these row lengths");
  }

  std::vector<Offset> offset_;
  std::vector<Index> column_;
  std::vector<Offset> filled_;
  Index first_lacking_ = 0;
};

}  // namespace

std::unique_ptr<Pattern> lattice_with_lengths(const std::vector<Index>& lengths, int dimensions) {
  return std::make_unique<LatticeWithLengths>(lengths, dimensions);
}

}  // namespace heddle::bench
