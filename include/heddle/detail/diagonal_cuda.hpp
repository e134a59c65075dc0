// Inverses of diagonal entries on a GPU: the Jacobi preconditioner below the entry's type.
#pragma once

#include <memory>

#include "heddle/array.hpp"
#include "heddle/detail/product_cuda.hpp"
#include "heddle/export.hpp"

namespace heddle::cuda {

class HEDDLE_EXPORT Diagonal {
 public:
  /// `components` and `scalar_bytes` of the entry in the form in which it computes.
  Diagonal(const Product& product, int components, int scalar_bytes, const Device& device);
  ~Diagonal();

  /// Throws nothing for singular entries: returns the first user's row that has no inverse, or the
  /// number of rows. Waits for the stream.
  Index invert(const Stream& stream);

  /// The same in stream order: `*first_singular`, on the device, is lowered to that row. The bases'
  /// arrays have to be on the device, as after the first `invert`.
  void queue_inversion(Index* first_singular, const Stream& stream);

  /// z = M^-1 r; with `state`, of a loop on the GPU, while that runs. `overlapped` as in
  /// `Product::Call`.
  void apply(const void* r, void* z, const Stream& stream, const device::LoopState* state = nullptr,
             bool overlapped = false) const;

  /// Partial sums that a kernel of a thread for each row leaves.
  Offset partials() const;
  const Product& product() const { return product_; }
  /// Of the scalars in which the entry computes.
  int scalar_bytes() const { return scalar_bytes_; }
  /// Component k of row i is at [k * rows + i], in the entry's arithmetic.
  const void* inverses() const { return inverses_.data(); }
  long long bytes() const { return static_cast<long long>(inverses_.size()); }

 private:
  struct Kernels;

  const Product& product_;
  int scalar_bytes_;
  Device device_;
  Array<char> inverses_;
  std::unique_ptr<Kernels> kernels_;
};

}  // namespace heddle::cuda
