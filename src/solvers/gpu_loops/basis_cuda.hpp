// The basis of a method on a GPU: the kernels of kernels/basis.cuh as work that a loop queues.
#pragma once

#include <cuda_runtime_api.h>

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "heddle/array.hpp"
#include "heddle/detail/basis_storage.hpp"
#include "heddle/kernels/basis_arguments.hpp"
#include "heddle/row_share.hpp"
#include "step_program.hpp"
#include "step_shape.hpp"

namespace heddle::cuda {

/// The state of a run, and the side of it that was written last.
struct StateSide {
  device::LoopState* state = nullptr;
  int side = 0;
};

template <class S>
class DeviceBasis {
 public:
  using Kernels = std::map<std::string, cudaKernel_t>;

  /// Throws `Error` (unsupported) if a block has no room for the coefficients of so large a basis.
  DeviceBasis(const detail::MethodProgram& program, const detail::BasisStorage& storage,
              const StepShape<S>& shape, const Device& device);

  /// Number of doubles that it allocates. `groups`: number of groups of 256 rows, if ranks share
  /// the rows.
  static Offset doubles(const detail::MethodProgram& program, int most,
                        std::optional<Index> groups);

  /// Queues step i of a listing; z: `to` preconditioned, for a flexible method. `overlaps()`: true
  /// if the next kernel may overlap the one before. If ranks share the rows, the call is collective
  /// and waits for the products of all of them: each block then has one group of 256 rows.
  void orthogonalize(const Kernels& kernels, bool start, int i, const StateSide& state, S* from,
                     S* to, const S* z, const std::function<bool()>& overlaps,
                     const Stream& stream);
  /// to = V y, once a run has ended; to += V y if the method is not preconditioned, or to += Z y if
  /// it is flexible.
  void combine(const Kernels& kernels, const StateSide& state, S* to, const Stream& stream) const;

 private:
  unsigned shared_bytes(bool decides) const;
  void join_products(const Kernels& kernels, const std::string& name, device::BasisArguments& a,
                     const Stream& stream);
  void launch_basis(cudaKernel_t kernel, device::BasisArguments& arguments, unsigned blocks,
                    bool decides, bool overlapped, const Stream& stream) const;

  const detail::MethodProgram& program_;
  int ring_;                     // components of a number
  RowShare* share_;              // null where no ranks share the rows
  std::optional<Index> groups_;  // else the groups of this rank
  int vectors_ = 0;              // vectors of the basis queued so far; for ranks
  std::vector<double> joined_;
  Array<double> numbers_;
  Array<int> count_;
  device::BasisArguments arguments_{};
};

}  // namespace heddle::cuda
