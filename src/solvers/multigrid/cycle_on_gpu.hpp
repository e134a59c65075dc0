// A V-cycle on a GPU as a preconditioner: steps that the levels' operators would take in several
// kernels each, with the same bits.
#pragma once

#include <memory>
#include <span>
#include <utility>

#include "cycle_cuda.hpp"
#include "heddle/detail/sliced_operator.hpp"
#include "heddle/preconditioner.hpp"
#include "solvers/preconditioners/preconditioner_fields.hpp"

namespace heddle::detail {

template <class S>
class CycleOnGpu final : public Preconditioner<S> {
 public:
  /// `bytes`: of an application. Holds a handle of the matrix, and nothing else of the levels.
  CycleOnGpu(const SlicedOperator<S>& matrix, std::shared_ptr<const cuda::Cycle> cycle,
             long long bytes)
      : matrix_(matrix), cycle_(std::move(cycle)), bytes_(bytes) {}

  std::optional<FieldShape> shape() const override { return shape_of<S>(matrix_); }
  bool is_capturable() const override { return true; }
  long long bytes_of_application() const override { return bytes_; }
  void apply(const FieldView<const S>& r, const FieldView<S>& z,
             const Stream& stream) const override {
    check(r, "r");
    check(z, "z");
    check_apart(r, z, "r", "z");
    cycle_->apply(r.data, z.data, stream);
  }

 private:
  template <class T>
  void check(const FieldView<T>& field, const char* name) const {
    check_operand(field, matrix_.rows(), matrix_.row_components(), *matrix_.row_basis(),
                  "multigrid");
    const bool is_aos = matrix_.vector_layout() == VectorLayout::aos;
    matrix_.product_on_gpu()->check_operand(field.data, is_aos ? field.is_aos() : field.is_soa(),
                                            name);
  }

  SlicedOperator<S> matrix_;
  std::shared_ptr<const cuda::Cycle> cycle_;
  long long bytes_;
};

}  // namespace heddle::detail
