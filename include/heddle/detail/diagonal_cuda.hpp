// Inverses of diagonal entries on a GPU: the Jacobi preconditioner below the entry's type.
#pragma once

#include <memory>
#include <vector>

#include "heddle/array.hpp"
#include "heddle/detail/product_cuda.hpp"
#include "heddle/export.hpp"
#include "heddle/row_preconditioner.hpp"

namespace heddle::cuda {

class HEDDLE_EXPORT Diagonal final : public RowPreconditioner {
 public:
  /// `components` and `scalar_bytes` are those of the entry in the form in which it computes;
  /// `unit`: see `unit_entry`.
  Diagonal(const Product& product, int components, int scalar_bytes,
           const std::vector<double>& unit, const Device& device);
  ~Diagonal() override;

  /// Returns the first row in the user's order that has no inverse, not even a unit's, or the
  /// number of rows. Waits for the stream.
  Index invert(const Stream& stream);

  /// Same in stream order: `*first_singular`, on the device, is lowered to that row. The bases'
  /// arrays must be on the device, as they are after the first `invert`.
  void queue_inversion(Index* first_singular, const Stream& stream);

  EntryText text() const override;
  const void* data() const override { return inverses_.data(); }
  void apply(const void* r, void* z, const Stream& stream, const device::LoopState* state,
             bool overlapped) const override;
  const void* inverses() const override { return inverses_.data(); }

 private:
  struct Kernels;

  const Product& product_;
  Device device_;
  Array<char> inverses_;
  Array<double> unit_;
  std::unique_ptr<Kernels> kernels_;
};

}  // namespace heddle::cuda
