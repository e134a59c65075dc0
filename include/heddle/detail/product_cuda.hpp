// The product on a GPU: a program is written for exactly one entry, layout and schedule, and
// compiled when it is first needed.
#pragma once

#include <memory>
#include <span>

#include "heddle/detail/reduction.hpp"
#include "heddle/detail/sliced.hpp"
#include "heddle/entry_text.hpp"
#include "heddle/export.hpp"
#include "heddle/kernels/arguments.hpp"
#include "heddle/plan.hpp"

namespace heddle::cuda {

/// Sizes of an entry, for code that does not know its type.
struct HEDDLE_EXPORT EntryShape {
  int components;         // in the matrix entry
  int stored_bytes;       // in a stored scalar
  int vector_components;  // in a row of x
  int result_components;  // in a row of y
  int scalar_bytes;       // in a scalar of fields
  int ring;               // components in a Krylov coefficient
};

struct ProductProgram;

/// One matrix on one GPU as the kernels see it. May be used from several threads at once.
class HEDDLE_EXPORT Product {
 public:
  /// `text` for products, `exact` for residuals: the same entry computing in double. The pattern's
  /// arrays are on the device.
  Product(EntryText text, EntryText exact, const EntryShape& shape,
          std::shared_ptr<const SlicedPattern> pattern, const Plan& plan, const void* values,
          const Device& device);
  ~Product();

  /// Fields are laid out as the plan says, with 16-byte aligned data. `sums` has room for
  /// `partials()`.
  struct Call {
    device::Epilogue epilogue = device::store_scaled;
    const void* x = nullptr;
    void* y = nullptr;
    const void* with = nullptr;  // the epilogue's operand
    int ring = 0;                // components of the sums' ring; 0: the entry's
    double alpha = 1;
    double beta = 0;
    DeviceSums sums = {};
    /// A kernel of a solver's loop, which has its fields, sums and states in `systems`: it does
    /// nothing once a loop has ended, and leaves only partial sums, see `partial_sums`.
    bool in_loop = false;
    /// One system, or as many as a kernel for `max_systems` takes side by side.
    std::span<const device::ProductOperands> systems = {};
    int max_systems = 1;
    /// In a loop: the kernel may begin while the one before it still runs, and waits for that one
    /// itself.
    bool overlapped = false;
    /// Two counters on the device for a dynamic schedule, zero between launches; null: the
    /// product's own for the stream, which a graph must not keep.
    unsigned* ticket = nullptr;
  };
  void launch(const Call& call, const Stream& stream) const;

  /// Throws `Error` (usage, size_mismatch) that names the field unless a kernel may take it: in the
  /// GPU's memory, beginning at a multiple of 16 bytes, laid out as the plan says.
  void check_operand(const void* data, bool is_laid_out, const char* name) const;

  /// Compiles what `call` needs, so that no launch has to wait for it later.
  void prepare(const Call& call) const;

  /// The most partial sums, of up to `Reduction::width` numbers each, that a launch leaves.
  Offset partials(int max_systems = 1) const;
  /// The partial sums that a launch in a loop, with room for them at `partials`, left there.
  device::PartialSums partial_sums(const double* partials, int max_systems = 1) const;

  const EntryShape& shape() const { return shape_; }
  const SlicedPattern& pattern() const { return *pattern_; }
  const Plan& plan() const { return plan_; }

  // For loops that write a program of their own around the product.

  /// The program they are written for; see src/spmv/product_program.hpp.
  ProductProgram program(device::Epilogue epilogue, int ring = 0, bool in_loop = false) const;
  device::Matrix<char> matrix() const;

 private:
  struct Kernels;

  Offset partials_of(int threads) const;

  EntryText text_;
  EntryText exact_;
  EntryShape shape_;
  std::shared_ptr<const SlicedPattern> pattern_;
  Plan plan_;
  const void* values_;
  Device device_;
  std::unique_ptr<Kernels> kernels_;
};

/// Throws `Error` (bad_plan) if T is not a power of two or exceeds 32, which warps cannot run.
HEDDLE_EXPORT void check_plan_for_gpu(const Plan& plan);

}  // namespace heddle::cuda
