// Values of an approximate inverse on a GPU, from those of the matrix there.
#pragma once

#include <span>
#include <vector>

#include "heddle/array.hpp"
#include "heddle/detail/product_cuda.hpp"
#include "heddle/kernels/inverse_arguments.hpp"
#include "inverse_program.hpp"

namespace heddle::cuda {

/// The first user row of each kind of failure; the number of rows if there is none.
struct InverseFailures {
  Index row[device::row_failures];
};

class LocalInverse {
 public:
  struct Parts {
    const Product& matrix;
    const Product& first;   // G, or the inverse
    const Product* second;  // G*; null for an inverse
    void* first_values;
    void* second_values;
    /// The entry of `second` for each entry of `first`, in the user's order.
    std::span<const Offset> place_in_second;
    /// The first user row of each block, and then the number of rows; only for block Jacobi.
    std::span<const Index> groups;
    double mirror_tolerance;  // for blocks: see dense_blocks.hpp
  };
  /// Keeps pointers to the patterns and values of `parts`, and memory of its own: 8 bytes per slot
  /// of a factor, at most 8 bytes per row, and workspaces for rows that do not fit in shared
  /// memory. Compiles.
  LocalInverse(const detail::EntryTiles& tiles, const Parts& parts, const Device& device);
  ~LocalInverse();

  /// Waits for the stream.
  InverseFailures compute(const Stream& stream);
  /// Same, but only queues kernels in stream order; each kind of failure lowers its own
  /// `failed[kind]`, on the device.
  void queue(Index* const (&failed)[device::row_failures], const Stream& stream) const;

 private:
  struct Launch;

  std::vector<Index> rows_of_blocks(const Parts& parts);
  void sort_rows(const InverseProgram& program, const SlicedPattern& G,
                 const std::vector<Index>& rows);
  void make_launch(const InverseProgram& program, const InverseTeam& team,
                   const std::vector<Index>& rows, Index longest);

  Device device_;
  device::InverseArguments<char, char> arguments_{};
  int shared_bytes_ = 0;  // most that a block may have
  Array<Offset> second_slot_;
  Array<Index> stored_row_, row_of_inverse_;
  Array<Index> failed_;
  std::vector<Launch> launches_;
};

}  // namespace heddle::cuda
