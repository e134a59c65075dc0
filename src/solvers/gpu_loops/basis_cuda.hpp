// The basis of a method on a GPU: the kernels of kernels/basis.cuh as work that a loop queues.
#pragma once

#include <cuda_runtime_api.h>

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "heddle/array.hpp"
#include "heddle/detail/basis_room.hpp"
#include "heddle/kernels/basis_arguments.hpp"
#include "heddle/row_share.hpp"
#include "step_program.hpp"
#include "step_walk.hpp"

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

  /// Throws `Error` (unsupported) for more vectors than a block has room for their coefficients.
  DeviceBasis(const detail::MethodProgram& program, const detail::BasisRoom& room,
              const StepWalk<S>& walk, const Device& device);

  /// Doubles that it allocates. `groups`: of 256 rows, where ranks share them.
  static Offset doubles(const detail::MethodProgram& program, int most,
                        std::optional<Index> groups);

  /// Step i of a listing; z: `to` preconditioned, of a flexible method. `overlaps()`: whether the
  /// next kernel may overlap the one before. Where ranks share the rows it is collective, and waits
  /// for the products of all of them: a block has the groups of 256 rows one by one then.
  void orthogonalize(const Kernels& kernels, bool start, int i, const StateSide& state, S* from,
                     S* to, const S* z, const std::function<bool()>& overlaps,
                     const Stream& stream);
  /// to = V y, once a run has ended; to += V y where the method is not preconditioned, or to += Z y
  /// where it is flexible.
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
  std::optional<Index> groups_;  // else of this rank
  int vectors_ = 0;              // of the basis, as far as it is queued; of ranks
  std::vector<double> joined_;
  Array<double> numbers_;
  Array<int> count_;
  device::BasisArguments arguments_{};
};

}  // namespace heddle::cuda
