#include <algorithm>
#include <numeric>
#include <vector>

#include "../base/cuda_call.hpp"
#include "../spmv/kernel_library_cuda.hpp"
#include "conjugate_gradient_cuda.hpp"
#include "heddle/kernels/persistent_arguments.hpp"
#include "loop_cuda.hpp"
#include "persistent_program.hpp"

namespace heddle::cuda {

namespace {

/// Rows and slots of one block's slices.
struct Part {
  Index rows = 0;
  Offset slots = 0;
};

template <class S>
class PersistentLoop final : public ConjugateGradientLoop<S> {
 public:
  PersistentLoop(const Product& product, const Diagonal* diagonal, const Device& device)
      : product_(product), diagonal_(diagonal), device_(device), run_(device) {
    const SlicedPattern& A = product.pattern();
    const Plan& plan = product.plan();
    check_plan_for_persistent_loop(plan, !A.target.empty());
    const Stream& stream = device_.stream();
    const OnGpu here(stream);
    share_out(A);
    const long long vectors = (diagonal != nullptr ? 6LL : 5LL) * largest_.rows *
                              product.shape().result_components * static_cast<long long>(sizeof(S));
    const long long matrix = largest_.slots * (static_cast<long long>(product.shape().components) *
                                                   product.shape().stored_bytes +
                                               static_cast<long long>(sizeof(Index)));
    int most = 0;
    check(cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, stream.gpu),
          "cudaDeviceGetAttribute");
    constexpr long long static_shared = 12288, alignment = 16;
    const long long room = most - static_shared;
    if (vectors > room) {
      throw Error(
          ErrorKind::bad_plan,
          "plan: loop=persistent keeps four vectors in shared memory, and these do not fit; "
          "loop=graph takes matrices of any size");
    }
    in_shared_ = may_lie_in_shared_memory(plan) && vectors + alignment + matrix <= room;
    shared_bytes_ = static_cast<unsigned>(vectors + (in_shared_ ? alignment + matrix : 0));
    compile(static_cast<int>(room));
    packets_ = Array<device::Packet>(4 * static_cast<std::size_t>(blocks_), device_);
    flags_ = Array<unsigned long long>(static_cast<std::size_t>(blocks_), device_);
    round_ = Array<unsigned long long>(1, device_);
    u_ = Array<S>(static_cast<std::size_t>(A.rows) *
                      static_cast<std::size_t>(product.shape().result_components),
                  device_);
  }

  RunResult run(const ConjugateGradientFields<S>& fields, const RunLimits& limits) override {
    capture_run(fields, run_.begin(limits, {}), device_.stream());
    return run_.wait(limits);
  }

  /// One launch, whether or not the stream is being captured.
  void capture_run(const ConjugateGradientFields<S>& fields, device::LoopState* state,
                   const Stream& stream) override {
    const OnGpu here(stream);
    device::PersistentArguments<char, S, char> arguments{};
    arguments.matrix = product_.matrix();
    arguments.first_slice = first_slice_.data();
    arguments.x = fields.x.data;
    arguments.r = fields.r.data;
    arguments.u = u_.data();
    arguments.inverses =
        diagonal_ != nullptr ? static_cast<const char*>(diagonal_->inverses()) : nullptr;
    arguments.packets = packets_.data();
    arguments.flags = flags_.data();
    arguments.state = state;
    arguments.round = round_.data();
    void* pointers[] = {&arguments};
    LaunchShape shape;
    shape.blocks = static_cast<unsigned>(blocks_);
    shape.threads = static_cast<unsigned>(threads_);
    shape.shared_bytes = shared_bytes_;
    shape.cooperative = true;
    launch(kernel_, shape, stream, pointers);
  }

 private:
  /// Slices that follow one another for each block, as even in slots as slices allow.
  void share_out(const SlicedPattern& A) {
    const std::vector<Offset> offset = A.offset.to_host();
    const std::vector<Index> first_row = A.first_row.to_host();
    blocks_ =
        std::max(1, std::min({multiprocessors(device_.stream()), A.slices(), device::most_blocks}));
    const auto row_of = [&](Index slice) {
      return first_row.empty()
                 ? static_cast<Index>(std::min<Offset>(A.rows, Offset(slice) * (A.C / A.T)))
                 : first_row[static_cast<std::size_t>(slice)];
    };
    // A slice costs its slots, and its lanes' rows in vector work.
    const auto cost = [&](Index slice) {
      return static_cast<double>(offset[static_cast<std::size_t>(slice)]) + 2.0 * row_of(slice);
    };
    const double whole = cost(A.slices());
    std::vector<Index> first(static_cast<std::size_t>(blocks_) + 1);
    Index slice = 0;
    Offset most_lanes = 0;
    for (int block = 0; block < blocks_; ++block) {
      first[static_cast<std::size_t>(block)] = slice;
      const Index begin = slice;
      const double until = whole * (block + 1) / blocks_;
      const Index left_for_others = blocks_ - 1 - block;
      while (slice < A.slices() - left_for_others &&
             (slice == begin || (cost(slice) + cost(slice + 1)) / 2 < until)) {
        ++slice;
      }
      if (block == blocks_ - 1) slice = A.slices();
      largest_.rows = std::max(largest_.rows, row_of(slice) - row_of(begin));
      largest_.slots = std::max(largest_.slots, offset[static_cast<std::size_t>(slice)] -
                                                    offset[static_cast<std::size_t>(begin)]);
      most_lanes = std::max(most_lanes, Offset(slice - begin) * A.C);
    }
    first.back() = A.slices();
    first_slice_ = Array<Index>(std::span<const Index>(first), device_);
    threads_ = most_lanes > 512 ? 1024 : 512;
  }

  void compile(int most_shared_bytes) {
    kernel_ = load_kernel(persistent_source({product_.program(device::store_and_dot), threads_,
                                             diagonal_ != nullptr, in_shared_}),
                          "heddle_solve", device_.stream());
    // Solvers of other matrices share the kernel: the most that any may take, not what this one
    // does.
    check(cudaKernelSetAttributeForDevice(kernel_, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                          most_shared_bytes, device_.stream().gpu),
          "cudaKernelSetAttributeForDevice");
  }

  const Product& product_;
  const Diagonal* diagonal_;
  Device device_;
  LoopRun run_;
  int blocks_ = 1;
  int threads_ = 512;
  unsigned shared_bytes_ = 0;
  bool in_shared_ = false;
  Part largest_;
  Array<Index> first_slice_;
  Array<device::Packet> packets_;
  Array<unsigned long long> flags_;
  Array<S> u_;
  Array<unsigned long long> round_;
  cudaKernel_t kernel_ = nullptr;
};

}  // namespace

template <class S>
std::unique_ptr<ConjugateGradientLoop<S>> conjugate_gradient_persistent(const Product& product,
                                                                        const Diagonal* diagonal,
                                                                        const Device& device) {
  return std::make_unique<PersistentLoop<S>>(product, diagonal, device);
}
template std::unique_ptr<ConjugateGradientLoop<float>> conjugate_gradient_persistent(
    const Product&, const Diagonal*, const Device&);
template std::unique_ptr<ConjugateGradientLoop<double>> conjugate_gradient_persistent(
    const Product&, const Diagonal*, const Device&);

}  // namespace heddle::cuda
