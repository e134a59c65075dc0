// The cycle of a level as the direction of a Krylov method, as a K-cycle uses it.
#pragma once

#include <array>
#include <memory>
#include <utility>

#include "fields/vector_operations_cuda.hpp"
#include "flexible_steps.hpp"
#include "heddle/config.hpp"
#include "heddle/preconditioner.hpp"
#include "solvers/operators/applies_in_graph.hpp"
#include "solvers/operators/operator_checks.hpp"
#include "solvers/operators/operator_field.hpp"
#include "solvers/preconditioners/preconditioner_fields.hpp"

namespace heddle::detail {

/// z = the result of two steps of flexible conjugate gradient for A z = r, preconditioned by the
/// cycle (Notay and Vassilevski 2008, Numer. Linear Algebra Appl. 15, algorithm 5.1 with the second
/// step always done, so that a graph can hold it). Step lengths are real over every ring, so that a
/// gauge changes nothing.
template <class S>
class FlexibleCycle final : public Preconditioner<S> {
 public:
  /// The matrix must outlive it.
  FlexibleCycle(const LinearOperator<S>& matrix, std::shared_ptr<Preconditioner<S>> cycle)
      : matrix_(matrix),
        cycle_(std::move(cycle)),
        first_(row_field_of<S>(matrix)),
        first_image_(row_field_of<S>(matrix)),
        second_(row_field_of<S>(matrix)),
        rest_(row_field_of<S>(matrix)),
        reduction_(matrix.rows(), matrix.device()) {
    if constexpr (has_cuda) {
      if (!stays_on_gpu(matrix.device().stream())) return;
      reduction_.reserve(cuda::partials_of<Ring::real, S>(rest_.view));
      sums_ = Array<double>(FlexibleSums::count, matrix.device());
      numbers_ = Array<Number>(2, matrix.device());
    }
  }

  std::optional<FieldShape> shape() const override { return shape_of<S>(matrix_); }
  bool is_constant() const override { return false; }
  bool is_capturable() const override {
    return stays_on_gpu(matrix_.device().stream()) && applies_in_graph<S>(matrix_.iterated()) &&
           cycle_->is_capturable();
  }
  long long bytes_of_application() const override {
    // Both steps have a cycle, a product and sums; updates come between and after them.
    return 2 * (cycle_->bytes_of_application() + matrix_.iterated().bytes_of_product()) +
           20 * bytes_of_field<S>(matrix_);
  }
  void apply(const FieldView<const S>& r, const FieldView<S>& z,
             const Stream& stream) const override {
    const FieldView<S>&c = first_.view, &v = first_image_.view, &d = second_.view, &w = z,
          &rest = rest_.view;
    cycle_->apply(r, c, stream);
    axpby<S>(S(1), r, S(0), rest, stream);
    if (!stays_on_gpu(stream)) {
      std::array<double, FlexibleSums::count> sums{};
      const auto multiply = [&](const FieldView<S>& x, const FieldView<S>& image) {
        return static_cast<double>(matrix_.iterated().apply_dot(x, image, reduction_, stream));
      };
      const auto sum = [&](const FieldView<S>& x, const FieldView<const S>& y) {
        return static_cast<double>(real_dot<S>(x, y, reduction_, stream));
      };
      sums[FlexibleSums::c_v] = multiply(c, v);
      sums[FlexibleSums::c_r] = sum(c, r);
      axpby<S>(static_cast<S>(-first_step(sums.data())), v, S(1), rest, stream);
      cycle_->apply(rest, d, stream);
      sums[FlexibleSums::d_w] = multiply(d, w);
      sums[FlexibleSums::d_v] = sum(d, v);
      sums[FlexibleSums::d_rest] = sum(d, rest);
      const TwoSteps steps = both_steps<S>(sums.data());
      axpby<S>(static_cast<S>(steps.c), c, S(0), z, stream);
      axpby<S>(static_cast<S>(steps.d), d, S(1), z, stream);
      return;
    }
    if constexpr (has_cuda) {
      const LinearOperator<S>& a = matrix_.iterated();
      a.apply(S(1), c, S(0), v, stream);
      queue_sum(FlexibleSums::c_v, c, v, stream);
      queue_sum(FlexibleSums::c_r, c, r, stream);
      cuda::set_first_step<S>(sums_.data(), numbers_.data(), stream);
      using Place = cuda::Operand<Number>;
      const Place one(Number::from_real(S(1))), zero(Number{});
      const Place number(numbers_.data()), next(numbers_.data() + 1);
      cuda::axpby<Ring::real, S>(number, v, one, rest, stream);
      cycle_->apply(rest, d, stream);
      a.apply(S(1), d, S(0), w, stream);
      queue_sum(FlexibleSums::d_w, d, w, stream);
      queue_sum(FlexibleSums::d_v, d, v, stream);
      queue_sum(FlexibleSums::d_rest, d, rest, stream);
      cuda::set_both_steps<S>(sums_.data(), numbers_.data(), stream);
      cuda::axpby<Ring::real, S>(number, c, zero, z, stream);
      cuda::axpby<Ring::real, S>(next, d, one, z, stream);
    }
  }

 private:
  using Number = Coefficient<Ring::real, S>;

  /// Ranks that share the rows join their sums on the host.
  static bool stays_on_gpu(const Stream& stream) {
    return stream.on_gpu() && stream.share == nullptr;
  }

  /// Queues a sum that stays on the GPU, by way of the partial sums of the reduction.
  void queue_sum(FlexibleSums::Place place, const FieldView<const S>& x,
                 const FieldView<const S>& y, const Stream& stream) const {
    DeviceSums to = reduction_.space(cuda::partials_of<Ring::real, S>(rest_.view));
    to.results = sums_.data() + static_cast<int>(place);
    cuda::dot<Ring::real, S>(x, y, to, stream);
  }

  const LinearOperator<S>& matrix_;
  std::shared_ptr<Preconditioner<S>> cycle_;
  OperatorField<S> first_, first_image_, second_, rest_;
  mutable Reduction<S> reduction_;
  mutable Array<double> sums_;     // on a GPU
  mutable Array<Number> numbers_;  // the step lengths, on a GPU
};

}  // namespace heddle::detail
