#include "projection_cuda.hpp"

#include <utility>

#include "fields/vector_operations_cuda.hpp"

namespace heddle::cuda {

namespace {

template <Ring R, class S>
class RingProjection final : public Projection<S> {
 public:
  RingProjection(std::vector<FieldView<S>> vectors, const Device& device)
      : vectors_(std::move(vectors)),
        partials_(static_cast<std::size_t>(partials_of<R>(vectors_.front()) * ring_size(R)),
                  device),
        finished_(1, device),
        along_(ring_size(R), device) {}

  void queue(const FieldView<S>& field, const Stream& stream) override {
    const DeviceSums to{partials_.data(), finished_.data(), along_.data()};
    for (const FieldView<S>& v : vectors_) {
      dot<R, S>(v, field, to, stream);
      subtract_multiple<R, S>(v, along_.data(), field, stream);
    }
  }

 private:
  std::vector<FieldView<S>> vectors_;
  Array<double> partials_;
  Array<unsigned> finished_;
  Array<double> along_;  // <v, field>
};

}  // namespace

template <class S>
std::unique_ptr<Projection<S>> make_projection(std::vector<FieldView<S>> vectors, Ring ring,
                                               const Device& device) {
  switch (ring) {
    case Ring::complex:
      return std::make_unique<RingProjection<Ring::complex, S>>(std::move(vectors), device);
    case Ring::quaternion:
      return std::make_unique<RingProjection<Ring::quaternion, S>>(std::move(vectors), device);
    case Ring::real:
      break;
  }
  return std::make_unique<RingProjection<Ring::real, S>>(std::move(vectors), device);
}

template std::unique_ptr<Projection<float>> make_projection(std::vector<FieldView<float>>, Ring,
                                                            const Device&);
template std::unique_ptr<Projection<double>> make_projection(std::vector<FieldView<double>>, Ring,
                                                             const Device&);

}  // namespace heddle::cuda
