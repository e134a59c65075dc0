// A solver's loop in one cooperative kernel: what its host does, whatever the method.
#pragma once

#include <cuda_runtime_api.h>

#include <memory>

#include "heddle/array.hpp"
#include "heddle/detail/product_cuda.hpp"
#include "heddle/kernels/persistent_arguments.hpp"
#include "loop_cuda.hpp"
#include "persistent_program.hpp"

namespace heddle::cuda {

class PersistentLoop {
 public:
  /// `ring`: components of a coefficient, 0 for those of the entry. `inverses`: those of a
  /// `RowPreconditioner`, null without one. Throws `Error` (bad_plan) if the plan's slices or the
  /// GPU's shared memory do not allow it.
  PersistentLoop(PersistentMethod method, int ring, const Product& product, const void* inverses,
                 const Device& device);

  /// From r = b - A x, fields of the operator's basis and layout, which the kernel updates.
  RunResult run(void* x, void* r, const RunLimits& limits);
  /// The one launch of a run from the limits that `*state` has by then, whether or not the stream
  /// is being captured.
  void queue(void* x, void* r, device::LoopState* state, const Stream& stream);

 private:
  void compile(PersistentMethod method, int ring, int most_shared_bytes);

  const Product& product_;
  const void* inverses_;
  Device device_;
  LoopRun run_;
  int blocks_ = 1;
  int threads_ = 512;
  unsigned shared_bytes_ = 0;
  bool in_shared_ = false;
  Array<Index> first_slice_;
  Array<device::Packet> packets_;
  Array<unsigned long long> flags_;
  Array<char> told_;
  Array<unsigned long long> round_;
  cudaKernel_t kernel_ = nullptr;
};

/// A whole run as one kernel: for matrices that fill a GPU only for microseconds.
template <class S>
std::unique_ptr<detail::MethodLoop<S>> make_persistent_loop(PersistentMethod method, int ring,
                                                            const Product& product,
                                                            const void* inverses,
                                                            const Device& device);

}  // namespace heddle::cuda
