// Vertices that a file has and no element refers to: points that a mesher began with, say.
#pragma once

#include <cstddef>
#include <vector>

#include "heddle/entries/slots.hpp"

namespace heddle::mesh {

class LonelyVertices {
 public:
  explicit LonelyVertices(std::size_t vertices) : is_used_(vertices) {}

  template <class Elements>
  void take_out_corners_of(const Elements& elements) {
    for (const auto& corners : elements) {
      for (const Index v : corners) is_used_[static_cast<std::size_t>(v)] = true;
    }
  }

  /// Those of which no element was taken out, increasing.
  std::vector<Index> list() const {
    std::vector<Index> lonely;
    for (std::size_t v = 0; v < is_used_.size(); ++v) {
      if (!is_used_[v]) lonely.push_back(static_cast<Index>(v));
    }
    return lonely;
  }

  /// The others, in their order.
  template <class Positions>
  auto without(const Positions& position) const {
    std::vector<typename Positions::value_type> left;
    for (std::size_t v = 0; v < is_used_.size(); ++v) {
      if (is_used_[v]) left.push_back(position[v]);
    }
    return left;
  }

  /// Corners as the others are counted.
  template <class Elements>
  void renumber(Elements& elements) const {
    std::vector<Index> number(is_used_.size());
    Index next = 0;
    for (std::size_t v = 0; v < is_used_.size(); ++v) number[v] = is_used_[v] ? next++ : -1;
    for (auto& corners : elements) {
      for (Index& v : corners) v = number[static_cast<std::size_t>(v)];
    }
  }

 private:
  std::vector<bool> is_used_;
};

}  // namespace heddle::mesh
