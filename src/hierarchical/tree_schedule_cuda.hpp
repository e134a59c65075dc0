// The schedule of a tree's product in a GPU's memory.
#pragma once

#include <memory>

#include "heddle/detail/leaf_schedule.hpp"
#include "heddle/detail/tree_product_cuda.hpp"
#include "tree_pieces.hpp"

namespace heddle::cuda {

struct TreeSchedule {
  std::shared_ptr<const detail::LeafPlaces> places;  // on the host
  TreePieces on_host;
  Array<device::TreeLeaf> leaves;
  Array<device::TreePiece> pieces;
  long long sent = 0;  // bytes of both that came from the host

  long long bytes() const {
    return static_cast<long long>(leaves.size() * sizeof(device::TreeLeaf) +
                                  pieces.size() * sizeof(device::TreePiece));
  }
};

}  // namespace heddle::cuda
