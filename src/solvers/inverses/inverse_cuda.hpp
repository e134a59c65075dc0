// Values of an approximate inverse on a GPU, from those of the matrix there.
#pragma once

#include <span>
#include <vector>

#include "heddle/array.hpp"
#include "heddle/detail/product_cuda.hpp"
#include "heddle/kernels/inverse_arguments.hpp"
#include "inverse_program.hpp"

namespace heddle::cuda {

/// The first user's row of each kind of failure; the number of rows where there is none.
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
    /// Of each entry of `first` in the user's order, which one of `second` it is.
    std::span<const Offset> place_in_second;
  };
  /// Keeps pointers to the patterns and values of `parts`, and memory beside them: 8 bytes a slot
  /// of a factor, 4 bytes a row, workspaces for rows that shared memory has no room for. Compiles.
  LocalInverse(const detail::EntryTiles& tiles, const Parts& parts, const Device& device);
  ~LocalInverse();

  /// Waits for the stream.
  InverseFailures compute(const Stream& stream);
  /// Only queues kernels: the same in stream order, where each kind lowers its own `failed[kind]`,
  /// on the device.
  void queue(Index* const (&failed)[device::row_failures], const Stream& stream) const;

 private:
  struct Launch;

  void sort_rows(const InverseProgram& program, const SlicedPattern& G);
  void make_launch(const InverseProgram& program, const InverseTeam& team,
                   const std::vector<Index>& rows, Index longest);

  Device device_;
  device::InverseArguments<char, char> arguments_{};
  int shared_bytes_ = 0;  // that a block may have
  Array<Offset> second_slot_;
  Array<Index> stored_row_;
  Array<Index> failed_;
  std::vector<Launch> launches_;
};

}  // namespace heddle::cuda
