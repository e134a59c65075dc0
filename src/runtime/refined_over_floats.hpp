// Refined solves of a matrix whose entries are chosen at run time.
#pragma once

#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "heddle/refined_solver.hpp"
#include "heddle/runtime/any_solver.hpp"

namespace heddle::detail {

/// A `RefinedSolver` whose matrix in floats is made from the one in doubles, on its pattern, and is
/// updated with new values at the next solve.
class RefinedOverFloats final : public SystemSolver<double> {
 public:
  /// `wide`: a solver of `matrix`. Throws `Error` as `AnySolver::refine` does.
  RefinedOverFloats(const AnyOperator& matrix, const ComposedChoice& preconditioner,
                    std::shared_ptr<KrylovSolver<double>> wide);

  Report solve(const FieldView<const double>& b, const FieldView<double>& x) override;
  std::vector<Report> solve(std::span<const FieldView<const double>> b,
                            std::span<const FieldView<double>> x) override;
  const std::vector<double>& history(std::size_t system = 0) const override {
    return solver_->history(system);
  }
  void set_null_space(const std::vector<FieldView<const double>>& vectors) override {
    solver_->set_null_space(vectors);
  }
  const SolverOptions& options() const override { return solver_->options(); }
  void set_options(SolverOptions options) override { solver_->set_options(std::move(options)); }
  /// Bytes of the values in floats, and of their copy in 16 bits.
  long long matrix_memory() const;

 private:
  void refresh();

  SlicedOperator<double> matrix_;
  SlicedOperator<float> in_floats_;
  long long generation_ = -1;  // generation of the values in floats
  std::unique_ptr<RefinedSolver> solver_;
};

}  // namespace heddle::detail
