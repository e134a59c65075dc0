// Cuts faces of any number of corners into triangles.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <unordered_set>
#include <vector>

#include "heddle/entries/slots.hpp"

namespace heddle::mesh {

/// Knows all edges of a surface, so that no diagonal coincides with another edge.
class FaceCutter {
 public:
  /// Must be called for all faces before the first `cut`.
  void add_edges(std::span<const Index> face);

  /// Calls `take` with three places in `face` for each of its triangles: the fan around the first
  /// corner, as long as its diagonals are new edges.
  template <class Take>
  void cut(std::span<const Index> face, const Take& take);

 private:
  /// Returns false for an edge that already exists, or whose ends coincide.
  bool add_edge(Index a, Index b);

  std::unordered_set<std::uint64_t> edges_;  // keyed by the lesser and the greater vertex
  std::vector<std::size_t> next_;            // in the current face: the next corner of each
};

template <class Take>
void FaceCutter::cut(std::span<const Index> face, const Take& take) {
  next_.resize(face.size());
  for (std::size_t i = 0; i < face.size(); ++i) next_[i] = (i + 1) % face.size();
  std::size_t before = 0, refused = 0;
  for (std::size_t left = face.size(); left > 3;) {
    const std::size_t ear = next_[before], after = next_[ear];
    // If all diagonals exist already, it does not matter which one is duplicated.
    if (!add_edge(face[before], face[after]) && refused < left) {
      before = ear;
      ++refused;
      continue;
    }
    take(std::array{before, ear, after});
    next_[before] = after;
    refused = 0;
    --left;
  }
  take(std::array{before, next_[before], next_[next_[before]]});
}

}  // namespace heddle::mesh
