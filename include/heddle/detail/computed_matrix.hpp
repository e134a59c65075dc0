// Products and adjoints of assembled matrices on a GPU, below the types of entries.
#pragma once

#include <concepts>
#include <cstddef>
#include <memory>

#include "heddle/array.hpp"
#include "heddle/csr.hpp"
#include "heddle/entries/block.hpp"
#include "heddle/entries/complex.hpp"
#include "heddle/entries/quaternion.hpp"
#include "heddle/entries/real.hpp"
#include "heddle/export.hpp"

namespace heddle::detail {

/// An entry as a tile of height x width numbers of `ring` scalars each, row by row.
struct EntryTile {
  int height = 0, width = 0, ring = 0;
  int scalar_bytes = 0;

  constexpr int scalars() const { return height * width * ring; }
};

/// Without numbers for entries that only the CPU multiplies: dual quaternions, the user's entries.
template <class E>
inline constexpr EntryTile tile_of_entry{};
template <class S, int K>
inline constexpr EntryTile tile_of_entry<real<S, K>>{1, 1, 1, sizeof(S)};
template <class S>
inline constexpr EntryTile tile_of_entry<complex<S>>{1, 1, 2, sizeof(S)};
template <class S>
inline constexpr EntryTile tile_of_entry<quaternion<S>>{1, 1, 4, sizeof(S)};
template <class T, int R, int C>
inline constexpr EntryTile tile_of_entry<block<T, R, C>>{R, C, block_element<T>::size,
                                                         sizeof(typename block<T, R, C>::scalar)};

/// Compressed rows in a GPU's memory that a GPU computes from other matrices, and computes again
/// for new values of those on the same patterns.
class HEDDLE_EXPORT ComputedMatrix {
 public:
  virtual ~ComputedMatrix() = default;

  /// Takes arrays on the host or the GPU, as long as the patterns require; `right` is null for
  /// adjoints. Queues work, and allocates nothing after the first call with such arrays.
  virtual void compute(const void* left, const void* right) = 0;

  Device device;
  Index rows = 0, columns = 0;
  Array<Offset> offsets;
  Array<Index> column;
  Array<std::byte> values;

 protected:
  explicit ComputedMatrix(const Device& device) : device(device) {}
};

/// On the pattern of A B, with the values to come. Throws `Error`: size_mismatch unless A has as
/// many columns as B has rows; memory; and like `check_pattern`.
HEDDLE_EXPORT std::shared_ptr<ComputedMatrix> product_on_gpu(const PatternView& a,
                                                             const EntryTile& of_a,
                                                             const PatternView& b,
                                                             const EntryTile& of_b,
                                                             const Device& device);
/// Same on the pattern of A*.
HEDDLE_EXPORT std::shared_ptr<ComputedMatrix> adjoint_on_gpu(const PatternView& a,
                                                             const EntryTile& of_a,
                                                             const Device& device);

/// Throws `Error` (size_mismatch) unless B has as many rows as A has columns.
HEDDLE_EXPORT void check_factors(const PatternView& a, const PatternView& b);

/// Throws `Error` (unsupported) for blocks stored by columns.
HEDDLE_EXPORT void refuse_columns(ComponentOrder order);

/// Throws `Error` (unsupported) for a GPU, because `what` works on the host.
HEDDLE_EXPORT void refuse_gpu(const Device& device, const char* what);

}  // namespace heddle::detail

namespace heddle {

/// Entries whose products a GPU makes: real and complex numbers, quaternions, and blocks, in float
/// or double.
template <class E>
concept multiplied_on_gpu = detail::tile_of_entry<E>.scalars() > 0 &&
                            (std::same_as<stored_scalar_t<E>, float> ||
                             std::same_as<stored_scalar_t<E>, double>);

}  // namespace heddle
