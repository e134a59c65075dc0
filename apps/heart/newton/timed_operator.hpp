// An operator on a CPU with a watch: the products of a solver that is given it are timed.
#pragma once

#include <memory>
#include <span>

#include "../../command/stopwatch.hpp"
#include "heddle/linear_operator.hpp"

namespace heddle::heart {

/// Products have the bits of the operator's own, which must outlive this one. Each adds to
/// `seconds`, and to `products`, those of several fields together as many.
class TimedOperator final : public LinearOperator<double> {
 public:
  struct Total {
    double seconds = 0;
    long long products = 0;
  };

  TimedOperator(const LinearOperator<double>& matrix, Total& total)
      : matrix_(matrix), total_(total) {}

  Index rows() const override { return matrix_.rows(); }
  Index columns() const override { return matrix_.columns(); }
  int row_components() const override { return matrix_.row_components(); }
  int column_components() const override { return matrix_.column_components(); }
  VectorLayout vector_layout() const override { return matrix_.vector_layout(); }
  std::shared_ptr<const Basis> row_basis() const override { return matrix_.row_basis(); }
  std::shared_ptr<const Basis> column_basis() const override { return matrix_.column_basis(); }
  Device device() const override { return matrix_.device(); }
  Ring ring() const override { return matrix_.ring(); }
  Recurrence recurrence() const override { return matrix_.recurrence(); }
  bool has_adjoint() const override { return matrix_.has_adjoint(); }
  std::shared_ptr<const LinearOperator> adjoint() const override { return matrix_.adjoint(); }
  long long bytes_of_product() const override { return matrix_.bytes_of_product(); }
  const detail::StoredEntries<double>* stored_entries() const override {
    return matrix_.stored_entries();
  }
  StoredScalar iterated_as() const override { return matrix_.iterated_as(); }
  std::shared_ptr<const LinearOperator> iterated_in_floats() const override {
    return matrix_.iterated_in_floats();
  }
  /// Products by a narrower copy are timed too.
  const LinearOperator& iterated() const override {
    const LinearOperator& narrow = matrix_.iterated();
    if (&narrow == &matrix_) return *this;
    if (!narrow_ || &narrow_->matrix_ != &narrow) {
      narrow_ = std::make_unique<TimedOperator>(narrow, total_);
    }
    return *narrow_;
  }

  void apply(double alpha, const FieldView<const double>& x, double beta,
             const FieldView<double>& y, const Stream& stream) const override {
    const Watch watch(total_);
    matrix_.apply(alpha, x, beta, y, stream);
  }
  double apply_dot(const FieldView<const double>& x, const FieldView<double>& y,
                   Reduction<double>& reduction, const Stream& stream) const override {
    const Watch watch(total_);
    return matrix_.apply_dot(x, y, reduction, stream);
  }
  void apply_all(std::span<const FieldView<const double>> x, std::span<const FieldView<double>> y,
                 std::span<double> dots, Reduction<double>& reduction,
                 const Stream& stream) const override {
    const Watch watch(total_, static_cast<long long>(x.size()));
    matrix_.apply_all(x, y, dots, reduction, stream);
  }
  double residual(const FieldView<const double>& b, const FieldView<const double>& x,
                  const FieldView<double>& r, Reduction<double>& reduction,
                  const Stream& stream) const override {
    const Watch watch(total_);
    return matrix_.residual(b, x, r, reduction, stream);
  }

 private:
  class Watch {
   public:
    explicit Watch(Total& total, long long products = 1) : total_(total), products_(products) {}
    Watch(const Watch&) = delete;
    Watch& operator=(const Watch&) = delete;
    ~Watch() {
      total_.seconds += watch_.seconds();
      total_.products += products_;
    }

   private:
    Total& total_;
    long long products_;
    cli::Stopwatch watch_;
  };

  const LinearOperator<double>& matrix_;
  Total& total_;
  mutable std::unique_ptr<TimedOperator> narrow_;
};

}  // namespace heddle::heart
