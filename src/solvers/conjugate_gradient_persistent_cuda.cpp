#include "conjugate_gradient_cuda.hpp"
#include "persistent_cuda.hpp"

namespace heddle::cuda {

namespace {

template <class S>
class ConjugateGradientInOneKernel final : public ConjugateGradientLoop<S> {
 public:
  ConjugateGradientInOneKernel(const Product& product, const Diagonal* diagonal,
                               const Device& device)
      : loop_(PersistentMethod::conjugate_gradient, 0, product, diagonal, device) {}

  RunResult run(const ConjugateGradientFields<S>& fields, const RunLimits& limits) override {
    return loop_.run(fields.x.data, fields.r.data, limits, {});
  }

  void capture_run(const ConjugateGradientFields<S>& fields, device::LoopState* state,
                   const Stream& capturing) override {
    loop_.queue(fields.x.data, fields.r.data, state, capturing);
  }

 private:
  PersistentLoop loop_;
};

}  // namespace

template <class S>
std::unique_ptr<ConjugateGradientLoop<S>> conjugate_gradient_persistent(const Product& product,
                                                                        const Diagonal* diagonal,
                                                                        const Device& device) {
  return std::make_unique<ConjugateGradientInOneKernel<S>>(product, diagonal, device);
}
template std::unique_ptr<ConjugateGradientLoop<float>> conjugate_gradient_persistent(
    const Product&, const Diagonal*, const Device&);
template std::unique_ptr<ConjugateGradientLoop<double>> conjugate_gradient_persistent(
    const Product&, const Diagonal*, const Device&);

}  // namespace heddle::cuda
