#include "inverse_parts.hpp"

#include <string>

#include "base/long_double.hpp"
#include "heddle/config.hpp"
#include "heddle/preconditioner.hpp"
#include "inverse_cuda.hpp"
#include "solvers/operators/operator_checks.hpp"

namespace heddle::detail {

namespace {

/// Floats suffice if iterations read a copy in floats: only that plan has refused values outside
/// their range.
template <class S>
EntryTableHandle<S> stored_entry(const SlicedOperator<S>& matrix) {
  const bool is_narrow =
      matrix.plan().layout.stored == StoredScalar::single && matrix.entry().narrow != nullptr;
  return is_narrow ? matrix.entry().narrow : std::make_shared<const EntryTable<S>>(matrix.entry());
}

}  // namespace

template <class S>
InverseParts<S>::InverseParts(const SlicedOperator<S>& matrix, InverseForm form, int number)
    : matrix_(matrix),
      local_(matrix.entry(), stored_entry(matrix), form, number,
             Device::cpu(matrix.device().threads()), matrix.product_on_gpu() == nullptr) {
  check_square(matrix, name());
  rows_ = stored_rows(matrix.pattern(), local_.stream());
  if (form == InverseForm::blocks) {
    local_.make_blocks(number > 0 ? uniform_groups(rows_.rows(), number)
                                  : natural_groups(rows_, local_.max_rows_of_block()));
  } else {
    const Index row = local_.first_without_diagonal(rows_);
    if (row < rows_.rows()) local_.refuse_without_diagonal(row);
    local_.make_powers(rows_);
  }
  make_operators(form);
  compute();
}

template <class S>
void InverseParts<S>::make_operators(InverseForm form) {
  Plan plan = matrix_.plan();
  plan.layout.stored = StoredScalar::own;
  // A product that counts what its blocks have taken allocates for each stream that it is used
  // with.
  if (matrix_.device().on_gpu()) plan.schedule.kind = ScheduleKind::full;

  local_.check_memory(rows_.entries());
  const auto make = [&](const UserRows& rows) {
    return std::make_shared<SlicedOperator<S>>(local_.entry(), rows.view(),
                                               ComponentOrder::row_major, plan, matrix_.device(),
                                               matrix_.row_basis(), matrix_.column_basis());
  };
  first_ = make(local_.pattern());
  if (form == InverseForm::factorized) {
    second_ = make(local_.make_adjoint_pattern());
    between_ = std::make_shared<OperatorField<S>>(row_field_of(*first_));
  }
  if (matrix_.product_on_gpu() != nullptr) return make_on_gpu();
  values_ = Array<D>(static_cast<std::size_t>(rows_.entries() * local_.tiles().components()));
}

/// From then on a GPU needs nothing from the host.
template <class S>
void InverseParts<S>::make_on_gpu() {
  if constexpr (has_cuda) {
    const cuda::Product* const matrix = matrix_.product_on_gpu();
    on_gpu_ = std::make_shared<cuda::LocalInverse>(
        local_.tiles(),
        cuda::LocalInverse::Parts{
            *matrix, *first_->product_on_gpu(), second_ ? second_->product_on_gpu() : nullptr,
            first_->stored_values().data(), second_ ? second_->stored_values().data() : nullptr,
            local_.place_in_second(), local_.groups(), local_.mirror_tolerance()},
        matrix_.device());
    rows_ = {};
    local_.forget_patterns();
  }
}

template <class S>
void InverseParts<S>::compute() {
  if constexpr (has_cuda) {
    if (on_gpu_) {
      const cuda::InverseFailures failed = on_gpu_->compute(matrix_.device().stream());
      local_.check_rows({failed.row[device::row_is_singular], failed.row[device::row_overflows],
                         failed.row[device::row_is_no_entry]},
                        matrix_.rows());
      first_->values_changed();
      if (second_) second_->values_changed();
      generation_ = matrix_.generation();
      return;
    }
  }
  read_values(matrix_, rows_, values_, local_.stream());
  local_.check_rows(local_.compute(rows_, values_.span()), matrix_.rows());
  first_->update_values(local_.first_values());
  if (second_) second_->update_values(local_.second_values());
  generation_ = matrix_.generation();
}

template <class S>
void InverseParts<S>::queue_refresh([[maybe_unused]] Index* singular_row,
                                    [[maybe_unused]] const Stream& stream) {
  if constexpr (has_cuda) on_gpu_->queue({singular_row, singular_row, singular_row}, stream);
}

template <class S>
void InverseParts<S>::apply(const FieldView<const S>& r, const FieldView<S>& z,
                            const Stream& stream) const {
  check_operand(r, matrix_.rows(), matrix_.row_components(), *matrix_.row_basis(), name());
  check_same_shape(r, z, name());
  if (!second_) return first_->apply(S(1), r, S(0), z, stream);
  first_->apply(S(1), r, S(0), between_->view, stream);
  second_->apply(S(1), between_->view, S(0), z, stream);
}

template <class S>
long long InverseParts<S>::bytes_of_application() const {
  const long long field = static_cast<long long>(matrix_.rows()) * matrix_.row_components() *
                          static_cast<long long>(sizeof(S));
  return first_->bytes_of_product() + (second_ ? second_->bytes_of_product() : 0) - 2 * field;
}

template class InverseParts<float>;
template class InverseParts<double>;
HEDDLE_IN_LONG_DOUBLE(template class InverseParts<long double>;)

}  // namespace heddle::detail
