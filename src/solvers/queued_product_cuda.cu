#include "queued_product_cuda.hpp"

#include <algorithm>

#include "base/launch_cuda.cuh"
#include "fields/chunk_operations.hpp"
#include "fields/vector_operations_cuda.hpp"
#include "heddle/kernels/loop.cuh"
#include "heddle/kernels/reduce.cuh"
#include "step_walk.hpp"

namespace heddle::cuda {

namespace {

template <class S>
class StoredProduct final : public QueuedProduct<S> {
 public:
  StoredProduct(const Product& product, const ProductSums& sums) : product_(product), sums_(sums) {}

  FieldView<S> shape() const override {
    return FieldView<S>::unallocated(product_.pattern().rows, product_.shape().result_components,
                                     product_.plan().layout.vector);
  }
  Offset partials() const override { return product_.partials(); }
  int parts() const override { return product_.partial_sums(nullptr).parts; }
  Plan plan() const override { return product_.plan(); }
  bool ends_with_loop() const override { return true; }

  void prepare_loop() override { product_.prepare(in_loop()); }
  void prepare_checks(bool with_dot) override {
    product_.prepare({.epilogue = device::store_residual});
    if (with_dot) product_.prepare({.epilogue = device::store_and_dot});
  }

  device::PartialSums multiply(const typename QueuedProduct<S>::Call& of,
                               const Stream& stream) override {
    Product::Call call = in_loop();
    call.x = of.x;
    call.with = of.with;
    call.y = of.y;
    call.sums.partials = of.partials;
    call.ticket = of.ticket;
    call.state = of.state;
    call.overlapped = of.overlapped;
    product_.launch(call, stream);
    return product_.partial_sums(of.partials);
  }

  void residual(const FieldView<S>& b, const FieldView<S>& x, const FieldView<S>& r,
                const DeviceSums& to, unsigned* ticket, const Stream& stream) override {
    queue(device::store_residual, x, b, r, to, ticket, stream);
  }
  void apply_dot(const FieldView<S>& x, const FieldView<S>& y, const DeviceSums& to,
                 unsigned* ticket, const Stream& stream) override {
    queue(device::store_and_dot, x, x, y, to, ticket, stream);
  }

 private:
  Product::Call in_loop() const {
    Product::Call call;
    call.epilogue = !sums_.any   ? device::store_scaled
                    : sums_.ring ? device::store_and_dots
                                 : device::store_and_dot;
    call.ring = sums_.ring ? ring_size(*sums_.ring) : 0;
    call.in_loop = true;
    return call;
  }

  void queue(device::Epilogue epilogue, const FieldView<S>& x, const FieldView<S>& with,
             const FieldView<S>& y, const DeviceSums& to, unsigned* ticket, const Stream& stream) {
    Product::Call call;
    call.epilogue = epilogue;
    call.x = x.data;
    call.y = y.data;
    call.with = with.data;
    call.sums = to;
    call.ticket = ticket;
    product_.launch(call, stream);
  }

  const Product& product_;
  ProductSums sums_;
};

/// What a fused product sums beside y: Re <with, y>, or <with, y> in the ring and |y|^2.
template <Ring R, bool in_ring, class S>
struct SumsOfProduct {
  static constexpr int count = in_ring ? ring_size(R) + 1 : 1;
  const S* with;
  const S* y;

  template <class C>
  __device__ void operator()(const C& chunk, double* sums) const {
    const auto left = chunk.load(with), right = chunk.load(y);
    for (int e = 0; e < C::elements; ++e) {
      if (e >= chunk.count) continue;
      add_conjugate_product(left.at[e], right.at[e], sums);
      if constexpr (in_ring) add_squared_norm(right.at[e], sums[count - 1]);
    }
  }
};
template <class Chunk, class Sums>
__global__ void __launch_bounds__(device::threads_of_step, device::resident_blocks_of_step)
    sums_of_product(Walk walk, const device::LoopState* state, Sums fields, double* partials) {
  if (device::is_over(*state)) return;
  double sums[Sums::count] = {};
  const unsigned thread = blockIdx.x * device::threads_of_step + threadIdx.x;
  const unsigned block = thread / threads_of_block;
  if (block < walk.blocks()) {
    visit_chunks<Chunk>(walk, block, static_cast<int>(thread % threads_of_block), fields, sums);
  }
  device::store_partials<Sums::count, device::threads_of_step>({partials, nullptr}, sums,
                                                               blockIdx.x);
}

template <Ring R, bool in_ring, class S>
class OperatorProduct final : public QueuedProduct<S> {
 public:
  OperatorProduct(const LinearOperator<S>& matrix, bool has_sums)
      : matrix_(matrix), has_sums_(has_sums) {}

  FieldView<S> shape() const override {
    auto shape = FieldView<S>::unallocated(matrix_.rows(), matrix_.row_components(),
                                           matrix_.vector_layout());
    shape.basis = matrix_.row_basis();
    return shape;
  }
  Offset partials() const override {
    return std::max<Offset>(left_by(walk(), nullptr).count, partials_of<R>(shape()));
  }
  int parts() const override { return 1; }
  Plan plan() const override { return {}; }
  bool ends_with_loop() const override { return false; }

  // Its user has called it before, see `KrylovSolver`.
  void prepare_loop() override {}
  void prepare_checks(bool) override {}

  device::PartialSums multiply(const typename QueuedProduct<S>::Call& call,
                               const Stream& stream) override {
    matrix_.apply(S(1), at(call.x), S(0), at(call.y), stream);
    if (!has_sums_) return {};
    const Walk over = walk();
    const SumsOfProduct<R, in_ring, S> fields{call.with, call.y};
    const auto sum = [&]<class Chunk>() {
      launch_kernel(sums_of_product<Chunk, SumsOfProduct<R, in_ring, S>>, blocks_of(over),
                    device::threads_of_step, false, stream, over, call.state, fields,
                    call.partials);
    };
    if (is_contiguous<R>(shape())) {
      sum.template operator()<ContiguousChunk<R, S, true>>();
    } else if constexpr (R != Ring::real) {
      sum.template operator()<PlanarChunk<R, S>>();
    }
    return left_by(over, call.partials);
  }

  void residual(const FieldView<S>& b, const FieldView<S>& x, const FieldView<S>& r,
                const DeviceSums& to, unsigned*, const Stream& stream) override {
    cuda::copy<S>(b, r, stream);
    matrix_.apply(S(-1), x, S(1), r, stream);
    cuda::dot<Ring::real, S>(r, r, to, stream);
  }
  void apply_dot(const FieldView<S>& x, const FieldView<S>& y, const DeviceSums& to, unsigned*,
                 const Stream& stream) override {
    matrix_.apply(S(1), x, S(0), y, stream);
    cuda::dot<Ring::real, S>(x, y, to, stream);
  }

 private:
  Walk walk() const { return walk_over<R>(shape(), most_steps_of_walk); }
  static unsigned blocks_of(const Walk& walk) {
    return (walk.blocks() + blocks_of_step - 1) / blocks_of_step;
  }
  static device::PartialSums left_by(const Walk& walk, const double* partials) {
    return {partials, blocks_of(walk) * device::partials_of_block(device::threads_of_step), 1};
  }
  template <class T>
  FieldView<T> at(T* data) const {
    return {data, matrix_.rows(), matrix_.row_components(), matrix_.vector_layout(),
            matrix_.row_basis()};
  }

  const LinearOperator<S>& matrix_;
  bool has_sums_;
};

}  // namespace

template <class S>
std::unique_ptr<QueuedProduct<S>> make_queued_product(const LinearOperator<S>& matrix,
                                                      const ProductSums& sums) {
  if (const Product* product = matrix.product_on_gpu()) {
    return std::make_unique<StoredProduct<S>>(*product, sums);
  }
  const auto over = [&]<Ring R, bool in_ring>() -> std::unique_ptr<QueuedProduct<S>> {
    return std::make_unique<OperatorProduct<R, in_ring, S>>(matrix, sums.any);
  };
  if (!sums.ring) return over.template operator()<Ring::real, false>();
  switch (*sums.ring) {
    case Ring::complex:
      return over.template operator()<Ring::complex, true>();
    case Ring::quaternion:
      return over.template operator()<Ring::quaternion, true>();
    case Ring::real:
      break;
  }
  return over.template operator()<Ring::real, true>();
}
template std::unique_ptr<QueuedProduct<float>> make_queued_product(const LinearOperator<float>&,
                                                                   const ProductSums&);
template std::unique_ptr<QueuedProduct<double>> make_queued_product(const LinearOperator<double>&,
                                                                    const ProductSums&);

}  // namespace heddle::cuda
