// Vertices of a file that no element refers to, such as points that a mesher started from.
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

  /// Vertices that belong to no element passed so far, increasing.
  std::vector<Index> list() const {
    std::vector<Index> lonely;
    for (std::size_t v = 0; v < is_used_.size(); ++v) {
      if (!is_used_[v]) lonely.push_back(static_cast<Index>(v));
    }
    return lonely;
  }

  /// The other vertices, in their order.
  template <class Positions>
  auto without(const Positions& position) const {
    std::vector<typename Positions::value_type> left;
    for (std::size_t v = 0; v < is_used_.size(); ++v) {
      if (is_used_[v]) left.push_back(position[v]);
    }
    return left;
  }

  /// Renumbers corners by the places of the remaining vertices.
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
