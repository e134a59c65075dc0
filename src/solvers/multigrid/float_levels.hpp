// Levels in floats for a matrix and fields of doubles.
#pragma once

#include <memory>
#include <span>

#include "fields/field_precision.hpp"
#include "fields/vector_operations_cuda.hpp"
#include "heddle/config.hpp"
#include "heddle/operator.hpp"
#include "heddle/runtime/defined_operator.hpp"
#include "heddle/runtime/entry_kind.hpp"
#include "hierarchy.hpp"
#include "solvers/cycles/level_cycle.hpp"
#include "solvers/operators/operator_in_floats.hpp"
#include "solvers/preconditioners/preconditioner_fields.hpp"

namespace heddle::detail {

/// A cycle in floats, between residuals and corrections in doubles. A residual is scaled to a norm
/// of about 1, by a power of two, so that it and far smaller values stay in the range of floats;
/// the correction is scaled back.
class CycleInFloats final : public Preconditioner<double> {
 public:
  /// Both must outlive it.
  CycleInFloats(const SlicedOperator<double>& matrix, const Levels<float>& levels)
      : matrix_(matrix),
        levels_(levels),
        residual_(row_field_of<float>(levels.matrix())),
        correction_(row_field_of<float>(levels.matrix())),
        reduction_(matrix.rows(), matrix.device()),
        squared_norm_(1, matrix.device()) {
    if constexpr (has_cuda) {
      if (!matrix.device().on_gpu()) return;
      reduction_.reserve(cuda::partials_of<Ring::real, double>(row_shape()));
    }
  }

  std::optional<FieldShape> shape() const override { return shape_of<double>(matrix_); }
  bool is_constant() const override { return levels_.cycle().is_constant(); }
  bool is_capturable() const override { return levels_.cycle().is_capturable(); }
  long long bytes_of_application() const override {
    // r is read once more, for its norm; the floats of both fields are written and read.
    return levels_.cycle().bytes_of_application() + bytes_of_field<double>(matrix_) +
           4 * bytes_of_field<float>(levels_.matrix());
  }
  void apply(const FieldView<const double>& r, const FieldView<double>& z,
             const Stream& stream) const override {
    check_cycle_field(matrix_, r, "r");
    check_cycle_field(matrix_, z, "z");
    check_apart(r, z, "r", "z");
    if constexpr (has_cuda) {
      if (stream.on_gpu()) {
        DeviceSums to = reduction_.space(cuda::partials_of<Ring::real, double>(row_shape()));
        to.results = squared_norm_.data();
        cuda::dot<Ring::real, double>(r, r, to, stream);
      }
    }
    if (!stream.on_gpu()) squared_norm_[0] = real_dot<double>(r, r, reduction_, stream);
    narrow_to_unit(squared_norm_.data(), r, residual_.view, stream);
    levels_.cycle().apply(residual_.view, correction_.view, stream);
    widen_from_unit(squared_norm_.data(), correction_.view, z, stream);
  }

 private:
  /// The shape of r and z, without memory.
  FieldView<double> row_shape() const {
    auto shape = FieldView<double>::unallocated(matrix_.rows(), matrix_.row_components(),
                                                matrix_.vector_layout());
    shape.basis = matrix_.row_basis();
    return shape;
  }

  const SlicedOperator<double>& matrix_;
  const Levels<float>& levels_;
  OperatorField<float> residual_, correction_;
  mutable Reduction<double> reduction_;
  mutable Array<double> squared_norm_;  // in A's memory
};

/// The same entry over floats.
inline EntryTableHandle<float> entry_in_floats(const EntryTable<double>& entry) {
  if (entry.definition) return defined_entry_table<float>(entry.definition);
  for (std::size_t kind = 0; kind < entry_kind_names.size(); ++kind) {
    const bool is_it = visit_entry<double>(
        static_cast<EntryKind>(kind), [&]<class E>() { return entry_table<E>().get() == &entry; });
    if (!is_it) continue;
    return visit_entry<float>(static_cast<EntryKind>(kind),
                              []<class E>() { return entry_table<E>(); });
  }
  throw Error(ErrorKind::unsupported,
              "multigrid: levels in single precision need the library's entries, or those "
              "that a definition describes");
}

/// The finest level is a copy of A in floats, on A's pattern. All others are computed from A's own
/// values and from candidates in double, and rounded.
class FloatLevels final : public Levels<double> {
 public:
  /// Throws like `Multigrid`.
  FloatLevels(const SlicedOperator<double>& matrix, const MultigridOptions& options,
              std::span<const FieldView<const double>> candidates)
      : matrix_(matrix), in_floats_(operator_in_floats(matrix, entry_in_floats(matrix.entry()))) {
    round();
    hierarchy_ = std::make_unique<Hierarchy<float>>(in_floats_, matrix_, options, candidates);
    cycle_ = std::make_unique<CycleInFloats>(matrix_, *hierarchy_);
  }

  void refresh() override {
    round();
    hierarchy_->refresh();
  }
  const Preconditioner<double>& cycle() const override { return *cycle_; }
  const SlicedOperator<double>& matrix() const override { return matrix_; }
  MultigridReport report() const override {
    MultigridReport report = hierarchy_->report();
    report.device_bytes += bytes_of_values(in_floats_);
    return report;
  }

 private:
  void round() {
    if (generation_ == matrix_.generation()) return;
    try {
      round_values(matrix_, in_floats_);
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::bad_plan) throw;
      throw Error(ErrorKind::unsupported,
                  "multigrid: the matrix has values beyond the range of floats, which levels in "
                  "single precision use; scale it, or use full precision");
    }
    generation_ = matrix_.generation();
  }

  SlicedOperator<double> matrix_;
  SlicedOperator<float> in_floats_;
  long long generation_ = -1;
  std::unique_ptr<Hierarchy<float>> hierarchy_;
  std::unique_ptr<CycleInFloats> cycle_;
};

}  // namespace heddle::detail
