#include "persistent_cuda.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "base/cuda_call.hpp"
#include "block_shares.hpp"
#include "heddle/array.hpp"
#include "heddle/kernels/persistent_arguments.hpp"
#include "loop_cuda.hpp"
#include "loop_workspace_cuda.hpp"
#include "spmv/kernel_library_cuda.hpp"

namespace heddle::cuda {

namespace {

template <class S>
class PersistentLoop final : public detail::MethodLoop<S> {
 public:
  PersistentLoop(PersistentMethod method, int ring, const Product& product, const void* inverses,
                 const Device& device)
      : product_(product), inverses_(inverses), device_(device), run_(device) {
    const SlicedPattern& A = product.pattern();
    const Plan& plan = product.plan();
    check_plan_for_persistent_loop(plan, !A.target.empty());
    const Stream& stream = device_.stream();
    const OnGpu here(stream);
    const BlockShares shares = share_out(A, persistent_blocks(A, device_));
    blocks_ = shares.blocks();
    threads_ = Offset(shares.max_slices) * A.C > 512 ? 1024 : 512;
    first_slice_ = Array<Index>(std::span<const Index>(shares.first_slice), device_);
    const PersistentNeeds needs = needs_of(method, inverses != nullptr, ring);
    const EntryShape& shape = product.shape();
    const long long row_bytes =
        static_cast<long long>(shape.result_components) * shape.scalar_bytes;
    // The 64 registers that 1024 threads leave do not hold two such rows along with an entry.
    constexpr long long wide_row = 64;
    if (method == PersistentMethod::bicgstab && row_bytes >= wide_row) threads_ = 512;
    const long long vectors = needs.vectors * row_bytes * shares.max_rows;
    const long long matrix =
        shares.max_slots * (static_cast<long long>(shape.components) * shape.stored_bytes +
                            static_cast<long long>(sizeof(Index)));
    int most = 0;
    check(cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, stream.gpu),
          "cudaDeviceGetAttribute");
    constexpr long long alignment = 16;
    const long long available = most - persistent_static_shared;
    if (vectors > available) {
      throw Error(ErrorKind::bad_plan, "plan: loop=persistent keeps " +
                                           std::to_string(needs.vectors) +
                                           " vectors in shared memory, which do not fit; "
                                           "loop=graph takes matrices of any size");
    }
    in_shared_ = may_lie_in_shared_memory(plan) && vectors + alignment + matrix <= available;
    shared_bytes_ = static_cast<unsigned>(vectors + (in_shared_ ? alignment + matrix : 0));
    kernel_ = load_kernel(persistent_source({product_.program(device::store_and_dot, ring),
                                             threads_, inverses_ != nullptr, in_shared_, method}),
                          "heddle_solve", stream);
    // Solvers of other matrices share the kernel: this is the most that any may take, not the
    // amount for this one.
    check(cudaKernelSetAttributeForDevice(kernel_, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                          static_cast<int>(available), stream.gpu),
          "cudaKernelSetAttributeForDevice");
    const auto blocks = static_cast<std::size_t>(blocks_);
    packets_ = Array<device::Packet>(static_cast<std::size_t>(needs.packets) * blocks, device_);
    flags_ = Array<unsigned long long>(static_cast<std::size_t>(needs.flags) * blocks, device_);
    published_ =
        Array<char>(static_cast<std::size_t>(needs.published * row_bytes * A.rows), device_);
    round_ = Array<unsigned long long>(1, device_);
  }

  void run(std::span<const detail::RunOf<S>> systems, std::span<RunResult> results) override {
    const detail::RunOf<S>& system = systems.front();  // it has one place
    const RunLimits* const limits = system.limits;
    capture_run(system.x, system.r, run_.begin({&limits, 1}), device_.stream());
    run_.wait({&limits, 1}, results);
  }

  /// The one launch of a run, whether or not the stream is being captured.
  void capture_run(const FieldView<S>& x, const FieldView<S>& r, device::LoopState* state,
                   const Stream& stream) override {
    const OnGpu here(stream);
    device::PersistentArguments<char, char, char> arguments{};
    arguments.matrix = product_.matrix();
    arguments.first_slice = first_slice_.data();
    arguments.x = reinterpret_cast<char*>(x.data);
    arguments.r = reinterpret_cast<char*>(r.data);
    arguments.u = published_.data();
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
  bool can_be_skipped() const override { return true; }

 private:
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
  Array<char> published_;
  Array<unsigned long long> round_;
  cudaKernel_t kernel_ = nullptr;
};

}  // namespace

template <class S>
std::unique_ptr<detail::MethodLoop<S>> make_persistent_loop(PersistentMethod method, int ring,
                                                            const Product& product,
                                                            const void* inverses,
                                                            const Device& device) {
  return std::make_unique<PersistentLoop<S>>(method, ring, product, inverses, device);
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
