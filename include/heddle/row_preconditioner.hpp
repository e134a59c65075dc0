// A preconditioner on a GPU whose row of z depends on that row of r alone, as loops that live there
// see it: its text becomes part of their kernels.
#pragma once

#include "heddle/entry_text.hpp"
#include "heddle/field.hpp"

namespace heddle {

namespace device {
struct LoopState;
}

namespace cuda {

class HEDDLE_EXPORT RowPreconditioner {
 public:
  virtual ~RowPreconditioner() = default;

  /// A type as heddle/kernels/rows.cuh describes it, and its headers.
  virtual EntryText text() const = 0;
  /// The data that this type reads: on the GPU, where it stays while a loop uses it.
  virtual const void* data() const = 0;

  /// z = M^-1 r, queued; the fields have the operator's layout. If `state` is not null, it belongs
  /// to a loop: nothing need be done once that has ended. `overlapped`: as in `Product::Call`; a
  /// kernel may be launched without it.
  virtual void apply(const void* r, void* z, const Stream& stream, const device::LoopState* state,
                     bool overlapped) const = 0;

  /// If M^-1 is a diagonal of entries of the operator's arithmetic: component k of row i at [k *
  /// rows + i]. Null for any other, which kernels that run a whole solve do not take.
  virtual const void* inverses() const { return nullptr; }
};

}  // namespace cuda

}  // namespace heddle
