#include "face_cutter.hpp"

#include <algorithm>

namespace heddle::mesh {

bool FaceCutter::add_edge(Index a, Index b) {
  const auto lesser = static_cast<std::uint32_t>(std::min(a, b));
  const auto greater = static_cast<std::uint32_t>(std::max(a, b));
  return a != b && edges_.insert(std::uint64_t(lesser) << 32 | greater).second;
}

void FaceCutter::add_edges(std::span<const Index> face) {
  Index before = face.back();
  for (const Index v : face) {
    add_edge(before, v);
    before = v;
  }
}

}  // namespace heddle::mesh
