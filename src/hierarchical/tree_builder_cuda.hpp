// A tree that a GPU makes from its leaves.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "inner_levels_cuda.hpp"
#include "tree_levels_cuda.hpp"

namespace heddle::cuda {

/// Like `detail::TreeBuilder`, for counted leaves in a GPU's memory.
class TreeBuilderOnGpu {
 public:
  /// The levels above may be counted already. The tree lies in the memory of `device`, all else in
  /// that of `work`, on the same stream.
  TreeBuilderOnGpu(Index rows, Index columns, LevelOnGpu leaves, const Device& device,
                   const Device& work, const std::optional<long long>& limit = {},
                   std::optional<InnerLevels> inner = {});

  const LevelOnGpu& leaves() const { return levels_.front(); }
  /// Uninitialized bytes: whoever writes leaves writes all of them.
  unsigned char* pool() { return reinterpret_cast<unsigned char*>(pool_->data()); }
  /// Writes all other nodes, and waits for them.
  detail::Tree finish();

 private:
  /// For matrices whose levels do not suit `InnerLevels`.
  void add_levels(int levels);

  Device work_;
  detail::Tree tree_;
  std::vector<LevelOnGpu> levels_;  // the leaves, and the levels above if `inner_` is empty
  std::optional<InnerLevels> inner_;
  std::shared_ptr<Array<std::byte>> pool_;
};

}  // namespace heddle::cuda
