#include "operator_trials_cuda.hpp"

#include <utility>

#include "base/cuda_call.hpp"
#include "measure_cuda.hpp"
#include "spmv/kernel_library_cuda.hpp"

namespace heddle::cuda {

namespace {

class ReplayedProduct final : public PreparedPlan {
 public:
  ReplayedProduct(const AnyOperator& matrix, std::unique_ptr<ProductWork> product,
                  const Device& device)
      : matrix_(matrix),
        product_(std::move(product)),
        replay_([this](const Stream& stream) { product_->run(stream); }, device) {}
  double run() override { return replay_.seconds(); }

 private:
  AnyOperator matrix_;
  std::unique_ptr<ProductWork> product_;
  Replay replay_;
};

}  // namespace

std::unique_ptr<PreparedPlan> replayed_product(const AnyOperator& matrix,
                                               std::unique_ptr<ProductWork> product,
                                               const Device& device) {
  return std::make_unique<ReplayedProduct>(matrix, std::move(product), device);
}

KernelTarget kernel_target(const Device& device) {
  const Stream& stream = device.stream();
  int shared = 0;
  check(cudaDeviceGetAttribute(&shared, cudaDevAttrMaxSharedMemoryPerBlockOptin, stream.gpu),
        "cudaDeviceGetAttribute");
  return {architecture(stream), multiprocessors(stream), shared};
}

void make_ready(const KernelSource& source, const Device& device) {
  load_kernels(source, device.stream());
}

}  // namespace heddle::cuda
