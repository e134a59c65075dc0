#include "bicgstab_cuda.hpp"
#include "persistent_cuda.hpp"

namespace heddle::cuda {

namespace {

template <class S>
class BiCGStabInOneKernel final : public BiCGStabLoop<S> {
 public:
  BiCGStabInOneKernel(const Product& product, const Diagonal* diagonal, Ring ring,
                      const Device& device)
      : loop_(PersistentMethod::bicgstab, ring_size(ring), product, diagonal, device) {}

  RunResult run(const BiCGStabFields<S>& fields, double squared_norm,
                const RunLimits& limits) override {
    device::LoopState start{};
    start.squared_norm = squared_norm;
    return loop_.run(fields.x.data, fields.r.data, limits, start);
  }

  void capture_run(const BiCGStabFields<S>& fields, device::LoopState* state,
                   const Stream& capturing) override {
    loop_.queue(fields.x.data, fields.r.data, state, capturing);
  }

 private:
  PersistentLoop loop_;
};

}  // namespace

template <class S>
std::unique_ptr<BiCGStabLoop<S>> bicgstab_persistent(const Product& product,
                                                     const Diagonal* diagonal, Ring ring,
                                                     const Device& device) {
  return std::make_unique<BiCGStabInOneKernel<S>>(product, diagonal, ring, device);
}
template std::unique_ptr<BiCGStabLoop<float>> bicgstab_persistent(const Product&, const Diagonal*,
                                                                  Ring, const Device&);
template std::unique_ptr<BiCGStabLoop<double>> bicgstab_persistent(const Product&, const Diagonal*,
                                                                   Ring, const Device&);

}  // namespace heddle::cuda
