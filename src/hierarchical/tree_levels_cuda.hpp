// The levels of a tree, made in a GPU's memory from places that lie there.
#pragma once

#include <vector>

#include "base/unset_array.hpp"
#include "heddle/array.hpp"
#include "heddle/detail/trees/tree.hpp"
#include "hierarchical/pools/node_bits.hpp"

namespace heddle::cuda {

/// Rows and columns of some entries, or of the nodes of a level, in a GPU's memory.
struct PlacesOnGpu {
  const Index* row;
  const Index* column;
  Offset count;  // below 2^31
  Index rows;    // in the whole matrix
  Index columns;
};

/// The blocks of 2^shift rows and columns in which places lie, numbered by block rows and then by
/// block columns. There is a bit for each block, for as many block rows at once as fit.
class NumberedBlocks {
 public:
  /// Throws `Error` (memory). Places beyond the matrix are left out, see `are_all_inside`.
  NumberedBlocks(const PlacesOnGpu& places, int shift, const Device& device);

  Index rows() const { return rows_; }  // in blocks
  Index columns() const { return columns_; }
  Offset count() const { return count_; }
  bool are_all_inside() const { return inside_; }

  /// Some block rows, and the number of the first block there.
  struct Batch {
    BlockBits blocks;
    Offset first;
  };
  int batches() const { return static_cast<int>(first_.size()); }
  Batch batch(int k);

 private:
  void mark(int k);

  PlacesOnGpu places_;
  int shift_;
  Device device_;
  Index rows_, columns_, rows_of_batch_;
  int marked_ = -1;
  bool inside_ = true;
  Offset count_ = 0;
  std::vector<Offset> first_;
  UnsetArray<unsigned long long> bits_;
  UnsetArray<Offset> before_;  // and after them: is a place outside?
};

/// The nodes of a level. The arrays of nodes are in the order of their block rows.
struct LevelOnGpu {
  Index rows = 0;  // blocks
  Index columns = 0;
  NodeShape shape;
  Offset count = 0;  // nodes; arrays may have room for more
  UnsetArray<Index> row, column;
  UnsetArray<int> held;
  UnsetArray<Offset> byte;  // after `begin`
  Offset begin = 0;         // where the level begins in the pool
  NodeCounts counts;
  UnsetArray<Index> large;  // the first `larges` are nodes with more entries than a warp takes
  Offset larges = 0;

  // Entries of each node together, in any order.
  UnsetArray<Offset> first;             // one more for the end
  UnsetArray<unsigned short> position;  // in the node
  UnsetArray<unsigned> source;          // which place it is

  Offset nodes() const { return count; }
};

/// A warp writes a node with up to this many entries.
inline constexpr int entries_of_warp = 32;

/// Writes the rows and columns of all blocks.
void write_places(NumberedBlocks& blocks, LevelOnGpu& level, const Device& device);
/// Gives nodes that hold something their bytes, and counts them.
void count_level(LevelOnGpu& level, const Device& device);
/// The nodes of this shape that hold some entries. `inside` reports whether all places lie in the
/// matrix; if not, there is no level.
LevelOnGpu level_of(const PlacesOnGpu& places, const NodeShape& shape, bool& inside,
                    const Device& device);

/// Where the payload of an entry is read, word by word.
struct PayloadsOnGpu {
  const void* data;
  int word_bytes;              // 1, 4 or 8; data lies at a multiple of it
  const int* order = nullptr;  // the word that becomes word k of an entry, in a GPU's memory
};
/// Writes all nodes of a level into a pool of zeros. Sets `twice` if two entries have one place.
void write_level(const LevelOnGpu& level, const PayloadsOnGpu& payloads, unsigned char* pool,
                 int* twice, const Device& device);

}  // namespace heddle::cuda
