#include "queued_product_cuda.hpp"

#include <algorithm>

#include "base/launch_cuda.cuh"
#include "fields/chunk_operations.hpp"
#include "fields/vector_operations_cuda.hpp"
#include "heddle/kernels/loop.cuh"
#include "heddle/kernels/step.cuh"
#include "ranks_in_loop.hpp"
#include "step_shape.hpp"

namespace heddle::cuda {

namespace {

template <class S>
class StoredProduct final : public QueuedProduct<S> {
 public:
  StoredProduct(const Product& product, const LoopProduct& multiplies)
      : product_(product), multiplies_(multiplies) {}

  FieldView<S> shape() const override {
    return FieldView<S>::unallocated(product_.pattern().rows, product_.shape().result_components,
                                     product_.plan().layout.vector);
  }
  Offset partials(int max_systems) const override { return product_.partials(max_systems); }
  int parts(int max_systems) const override {
    return product_.partial_sums(nullptr, max_systems).parts;
  }
  Plan plan() const override { return product_.plan(); }
  bool ends_with_loop() const override { return true; }

  void prepare_loop(int max_systems) override { product_.prepare(in_loop(max_systems)); }
  void prepare_residual() override { product_.prepare({.epilogue = device::store_residual}); }
  void prepare_dot() override { product_.prepare({.epilogue = device::store_and_dot}); }

  device::PartialSums multiply(const typename QueuedProduct<S>::Call& of,
                               const Stream& stream) override {
    Product::Call call = in_loop(of.max_systems);
    call.systems = of.systems;
    call.ticket = of.ticket;
    call.overlapped = of.overlapped;
    product_.launch(call, stream);
    return product_.partial_sums(of.systems.front().partials, of.max_systems);
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
  Product::Call in_loop(int max_systems) const {
    Product::Call call;
    call.max_systems = max_systems;
    call.epilogue = multiplies_.epilogue;
    call.ring = multiplies_.ring;
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
  LoopProduct multiplies_;
};

/// The sums that a fused product forms along with y.
template <Ring R, device::Epilogue epilogue, class S>
struct SumsOfProduct {
  static constexpr int count = device::sums_of(epilogue, ring_size(R));
  const S* with;
  const S* y;

  template <class C>
  __device__ void operator()(const C& chunk, double* sums) const {
    const auto left = chunk.load(with), right = chunk.load(y);
    for (int e = 0; e < C::elements; ++e) {
      if (e >= chunk.count) continue;
      add_inner_product<epilogue != device::store_and_plain_dot>(left.at[e], right.at[e], sums);
      if constexpr (epilogue == device::store_and_dots) {
        add_squared_norm(right.at[e], sums[count - 1]);
      }
    }
  }
};
template <class Chunk, class Sums>
__global__ void __launch_bounds__(device::threads_of_step, device::resident_blocks_of_step)
    sums_of_product(Walk walk, const device::LoopState* state, Sums fields, double* partials) {
  if (device::is_over(*state)) return;
  double sums[Sums::count] = {};
  device::visit_and_leave<Chunk, Sums::count>(walk, partials, fields, sums);
}

template <Ring R, device::Epilogue epilogue, class S>
class OperatorProduct final : public QueuedProduct<S> {
 public:
  OperatorProduct(const LinearOperator<S>& matrix, const LoopProduct& multiplies)
      : matrix_(matrix), multiplies_(multiplies) {
    const auto* const ranks = dynamic_cast<RanksInLoop*>(matrix.device().stream().share);
    if (ranks == nullptr || epilogue == device::store_scaled) return;
    RankProduct* const product = ranks->product_of(&matrix);
    if (product != nullptr && product->parts() > 0) of_ranks_ = product;
  }

  FieldView<S> shape() const override {
    auto shape = FieldView<S>::unallocated(matrix_.rows(), matrix_.row_components(),
                                           matrix_.vector_layout());
    shape.basis = matrix_.row_basis();
    return shape;
  }
  Offset partials(int) const override {
    // The last block of a rank's product may also leave sums of rows that do not exist.
    constexpr Offset max_of_block = 8;
    const Offset of_ranks =
        of_ranks_ != nullptr ? Offset(groups_of(matrix_.rows())) * of_ranks_->parts() : 0;
    return std::max<Offset>(
        {left_by(walk(), nullptr).count, partials_of<R>(shape()), of_ranks + max_of_block});
  }
  int parts(int) const override { return 1; }
  Plan plan() const override { return {}; }
  bool ends_with_loop() const override { return of_ranks_ != nullptr; }

  // The operator's user has called it before, see `KrylovSolver`.
  void prepare_loop(int) override {
    if (of_ranks_ != nullptr) of_ranks_->prepare(multiplies_);
  }
  void prepare_residual() override {}
  void prepare_dot() override {}

  device::PartialSums multiply(const typename QueuedProduct<S>::Call& call,
                               const Stream& stream) override {
    for (const device::ProductOperands& system : call.systems) multiply(system, stream);
    if (of_ranks_ != nullptr) {
      const int parts = of_ranks_->parts();
      return {call.systems.front().partials,
              static_cast<unsigned>(groups_of(matrix_.rows()) * parts), parts};
    }
    if constexpr (epilogue == device::store_scaled) {
      return {};
    } else {
      return left_by(walk(), call.systems.front().partials);
    }
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
  void multiply(const device::ProductOperands& of, const Stream& stream) const {
    if (of_ranks_ != nullptr) return of_ranks_->queue(multiplies_, of, stream);
    const S* const with = static_cast<const S*>(of.with);
    S* const y = static_cast<S*>(of.y);
    matrix_.apply(S(1), at(static_cast<const S*>(of.x)), S(0), at(y), stream);
    if constexpr (epilogue != device::store_scaled) {
      const Walk over = walk();
      const SumsOfProduct<R, epilogue, S> fields{with, y};
      const auto sum = [&]<class Chunk>() {
        const unsigned blocks = blocks_of(over);
        launch_kernel(sums_of_product<Chunk, SumsOfProduct<R, epilogue, S>>,
                      Chunk::by_groups ? std::min(blocks, max_blocks_over_groups) : blocks,
                      device::threads_of_step, false, stream, over, of.state, fields, of.partials);
      };
      if (has_ranks(matrix_)) {
        sum.template operator()<GroupedChunk<R, S, true>>();
      } else if (is_contiguous<R>(shape())) {
        sum.template operator()<ContiguousChunk<R, S, true>>();
      } else if constexpr (R != Ring::real) {
        sum.template operator()<PlanarChunk<R, S>>();
      }
    }
  }

  Walk walk() const {
    return has_ranks(matrix_) ? walk_over_groups<R>(shape())
                              : walk_over<R>(shape(), max_steps_of_walk);
  }
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
  LoopProduct multiplies_;
  RankProduct* of_ranks_ = nullptr;  // the one that leaves sums; null: there is none
};

}  // namespace

template <class S>
std::unique_ptr<QueuedProduct<S>> make_queued_product(const LinearOperator<S>& matrix,
                                                      const LoopProduct& multiplies) {
  if (const Product* product = matrix.product_on_gpu()) {
    return std::make_unique<StoredProduct<S>>(*product, multiplies);
  }
  using enum device::Epilogue;
  const auto over = [&]<Ring R, device::Epilogue epilogue>() -> std::unique_ptr<QueuedProduct<S>> {
    return std::make_unique<OperatorProduct<R, epilogue, S>>(matrix, multiplies);
  };
  switch (multiplies.epilogue) {
    case store_scaled:
      return over.template operator()<Ring::real, store_scaled>();
    case store_and_plain_dot:
      return over.template operator()<Ring::complex, store_and_plain_dot>();
    case store_and_dots:
      if (multiplies.ring == 4) {
        return over.template operator()<Ring::quaternion, store_and_dots>();
      }
      if (multiplies.ring == 2) {
        return over.template operator()<Ring::complex, store_and_dots>();
      }
      return over.template operator()<Ring::real, store_and_dots>();
    default:
      return over.template operator()<Ring::real, store_and_dot>();
  }
}
template std::unique_ptr<QueuedProduct<float>> make_queued_product(const LinearOperator<float>&,
                                                                   const LoopProduct&);
template std::unique_ptr<QueuedProduct<double>> make_queued_product(const LinearOperator<double>&,
                                                                    const LoopProduct&);

}  // namespace heddle::cuda
