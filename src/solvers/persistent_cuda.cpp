#include "persistent_cuda.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "base/cuda_call.hpp"
#include "block_shares.hpp"
#include "loop_workspace_cuda.hpp"
#include "spmv/kernel_library_cuda.hpp"

namespace heddle::cuda {

PersistentLoop::PersistentLoop(PersistentMethod method, int ring, const Product& product,
                               const void* inverses, const Device& device)
    : product_(product), inverses_(inverses), device_(device), run_(device) {
  const SlicedPattern& A = product.pattern();
  const Plan& plan = product.plan();
  check_plan_for_persistent_loop(plan, !A.target.empty());
  const Stream& stream = device_.stream();
  const OnGpu here(stream);
  const BlockShares shares = share_out(A, persistent_blocks(A, device_));
  blocks_ = shares.blocks();
  threads_ = Offset(shares.most_slices) * A.C > 512 ? 1024 : 512;
  first_slice_ = Array<Index>(std::span<const Index>(shares.first_slice), device_);
  const PersistentNeeds needs = needs_of(method, inverses != nullptr, ring);
  const EntryShape& shape = product.shape();
  const long long row_bytes = static_cast<long long>(shape.result_components) * shape.scalar_bytes;
  // The 64 registers that 1024 threads leave hold no two such rows beside an entry.
  constexpr long long wide_row = 64;
  if (method == PersistentMethod::bicgstab && row_bytes >= wide_row) threads_ = 512;
  const long long vectors = needs.vectors * row_bytes * shares.most_rows;
  const long long matrix =
      shares.most_slots * (static_cast<long long>(shape.components) * shape.stored_bytes +
                           static_cast<long long>(sizeof(Index)));
  int most = 0;
  check(cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, stream.gpu),
        "cudaDeviceGetAttribute");
  constexpr long long alignment = 16;
  const long long room = most - persistent_static_shared;
  if (vectors > room) {
    throw Error(ErrorKind::bad_plan, "plan: loop=persistent keeps " +
                                         std::to_string(needs.vectors) +
                                         " vectors in shared memory, and these do not fit; "
                                         "loop=graph takes matrices of any size");
  }
  in_shared_ = may_lie_in_shared_memory(plan) && vectors + alignment + matrix <= room;
  shared_bytes_ = static_cast<unsigned>(vectors + (in_shared_ ? alignment + matrix : 0));
  compile(method, ring, static_cast<int>(room));
  const auto blocks = static_cast<std::size_t>(blocks_);
  packets_ = Array<device::Packet>(static_cast<std::size_t>(needs.packets) * blocks, device_);
  flags_ = Array<unsigned long long>(static_cast<std::size_t>(needs.flags) * blocks, device_);
  told_ = Array<char>(static_cast<std::size_t>(needs.told * row_bytes * A.rows), device_);
  round_ = Array<unsigned long long>(1, device_);
}

RunResult PersistentLoop::run(void* x, void* r, const RunLimits& limits) {
  queue(x, r, run_.begin(limits), device_.stream());
  return run_.wait(limits);
}

void PersistentLoop::queue(void* x, void* r, device::LoopState* state, const Stream& stream) {
  const OnGpu here(stream);
  device::PersistentArguments<char, char, char> arguments{};
  arguments.matrix = product_.matrix();
  arguments.first_slice = first_slice_.data();
  arguments.x = static_cast<char*>(x);
  arguments.r = static_cast<char*>(r);
  arguments.u = told_.data();
  arguments.inverses = static_cast<const char*>(inverses_);
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

void PersistentLoop::compile(PersistentMethod method, int ring, int most_shared_bytes) {
  kernel_ = load_kernel(persistent_source({product_.program(device::store_and_dot, ring), threads_,
                                           inverses_ != nullptr, in_shared_, method}),
                        "heddle_solve", device_.stream());
  // Solvers of other matrices share the kernel: the most that any may take, not what this one does.
  check(cudaKernelSetAttributeForDevice(kernel_, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                        most_shared_bytes, device_.stream().gpu),
        "cudaKernelSetAttributeForDevice");
}

namespace {

template <class S>
class OneKernel final : public detail::MethodLoop<S> {
 public:
  OneKernel(PersistentMethod method, int ring, const Product& product, const void* inverses,
            const Device& device)
      : loop_(method, ring, product, inverses, device) {}

  detail::RunResult<double> run(const FieldView<S>& x, const FieldView<S>& r,
                                const detail::RunLimits<double>& limits) override {
    return loop_.run(x.data, r.data, limits);
  }
  void capture_run(const FieldView<S>& x, const FieldView<S>& r, device::LoopState* state,
                   const Stream& capturing) override {
    loop_.queue(x.data, r.data, state, capturing);
  }

 private:
  PersistentLoop loop_;
};

}  // namespace

template <class S>
std::unique_ptr<detail::MethodLoop<S>> make_persistent_loop(PersistentMethod method, int ring,
                                                            const Product& product,
                                                            const void* inverses,
                                                            const Device& device) {
  return std::make_unique<OneKernel<S>>(method, ring, product, inverses, device);
}

template std::unique_ptr<detail::MethodLoop<float>> make_persistent_loop(PersistentMethod, int,
                                                                         const Product&,
                                                                         const void*,
                                                                         const Device&);
template std::unique_ptr<detail::MethodLoop<double>> make_persistent_loop(PersistentMethod, int,
                                                                          const Product&,
                                                                          const void*,
                                                                          const Device&);

}  // namespace heddle::cuda
