// The corners of triangles that meet at each vertex.
#pragma once

#include <algorithm>
#include <atomic>
#include <compare>
#include <cstddef>
#include <span>
#include <vector>

#include "heddle/problems.hpp"
#include "heddle/tools/team.hpp"

namespace heddle::mesh {

/// Lets each thread sum at its own vertices: no atomics, and the same bits for any number of
/// threads.
class VertexCorners {
 public:
  struct Corner {
    Index triangle;
    int k;  // 0, 1 or 2
    auto operator<=>(const Corner&) const = default;
  };

  /// The mesh's corners must be in range.
  explicit VertexCorners(const TriangleMesh& mesh)
      : offset_(mesh.position.size() + 1), corner_(3 * mesh.triangle.size()) {
    const auto triangles = static_cast<Index>(mesh.triangle.size());
    std::vector<Index> left(mesh.position.size());
    const auto count = [&](Index v) { return std::atomic_ref(left[static_cast<std::size_t>(v)]); };
    parallel_for(default_threads(), triangles, [&](Index t) {
      for (const Index v : mesh.triangle[t]) count(v).fetch_add(1, std::memory_order_relaxed);
    });
    for (std::size_t v = 0; v < left.size(); ++v) {
      offset_[v + 1] = offset_[v] + static_cast<std::size_t>(left[v]);
    }
    parallel_for(default_threads(), triangles, [&](Index t) {
      for (int k = 0; k < 3; ++k) {
        const Index v = mesh.triangle[t][k];
        const Index place = count(v).fetch_sub(1, std::memory_order_relaxed) - 1;
        corner_[offset_[static_cast<std::size_t>(v)] + static_cast<std::size_t>(place)] = {t, k};
      }
    });
    parallel_for(default_threads(), left.size(), [&](std::size_t v) {
      const auto begin = corner_.begin();
      std::sort(begin + static_cast<std::ptrdiff_t>(offset_[v]),
                begin + static_cast<std::ptrdiff_t>(offset_[v + 1]));
    });
  }

  std::size_t offset(std::size_t v) const { return offset_[v]; }
  /// Sorted by triangle.
  std::span<const Corner> at(Index v) const {
    const auto place = static_cast<std::size_t>(v);
    return std::span(corner_).subspan(offset_[place], offset_[place + 1] - offset_[place]);
  }

 private:
  std::vector<std::size_t> offset_;
  std::vector<Corner> corner_;
};

}  // namespace heddle::mesh
