#include "node_numbers.hpp"

#include <algorithm>
#include <limits>

namespace heddle::mesh {

std::optional<NodeNumbers::Node> NodeNumbers::finish() {
  if (nodes_.empty()) return std::nullopt;
  const auto [least, greatest] =
      std::minmax_element(nodes_.begin(), nodes_.end(),
                          [](const Node& a, const Node& b) { return a.number < b.number; });
  first_ = least->number;
  const auto range = static_cast<std::size_t>(greatest->number - first_);
  if (range < 4 * nodes_.size() + 1024) {
    index_.assign(range + 1, -1);
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      Index& index = index_[static_cast<std::size_t>(nodes_[i].number - first_)];
      if (index >= 0) return nodes_[i];
      index = static_cast<Index>(i);
    }
    return std::nullopt;
  }
  sorted_.reserve(nodes_.size());
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    sorted_.push_back({nodes_[i].number, static_cast<Index>(i)});
  }
  std::sort(sorted_.begin(), sorted_.end(), [](const Place& a, const Place& b) {
    return a.number != b.number ? a.number < b.number : a.index < b.index;
  });
  Index repeated = std::numeric_limits<Index>::max();
  for (std::size_t i = 1; i < sorted_.size(); ++i) {
    if (sorted_[i].number == sorted_[i - 1].number) repeated = std::min(repeated, sorted_[i].index);
  }
  if (repeated == std::numeric_limits<Index>::max()) return std::nullopt;
  return nodes_[static_cast<std::size_t>(repeated)];
}

Index NodeNumbers::find(long long number) const {
  if (!index_.empty()) {
    if (number < first_) return -1;
    const auto place = static_cast<std::size_t>(number - first_);
    return place < index_.size() ? index_[place] : -1;
  }
  const auto found =
      std::lower_bound(sorted_.begin(), sorted_.end(), number,
                       [](const Place& place, long long n) { return place.number < n; });
  return found != sorted_.end() && found->number == number ? found->index : -1;
}

}  // namespace heddle::mesh
