// Solves whose iterations keep every field in floats, to the residual that doubles reach: iterative
// refinement (Wilkinson 1963; Higham, Accuracy and Stability of Numerical Algorithms, 2002, ch.
// 12), in runs that continue one another (methods/continued_conjugate_gradient.hpp).
#pragma once

#include <memory>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "heddle/detail/method_loop.hpp"
#include "heddle/export.hpp"
#include "heddle/krylov_solver.hpp"

namespace heddle {

/// A run over floats reduces the residual b - A x, which is computed in double, by some amount, and
/// x is corrected by its result. Runs end, follow one another and are judged like those that read a
/// copy of the matrix (docs/guide/encodings.md). If they make no further progress, the solver over
/// doubles continues from the best x, so that every system that it can solve is solved. All data
/// stays in the device's memory.
class HEDDLE_EXPORT RefinedSolver : public SystemSolver<double> {
 public:
  /// `narrow`: the matrix of `wide` in floats, on its device and stream; if it also has the layout
  /// and the basis of `wide`, no run begins with a permutation. Its plan may keep a copy of 16 bits
  /// for the runs. `preconditioner`: that of `narrow`, null for none. Method, limits, observer and
  /// history are those of `wide`, which must not be used elsewhere while this object solves. Throws
  /// `Error`: usage for a null pointer or another device, size_mismatch for other sizes,
  /// unsupported for ranks, whose clocks differ, and like solvers do.
  RefinedSolver(OperatorReference<float> narrow,
                std::shared_ptr<Preconditioner<float>> preconditioner,
                std::shared_ptr<KrylovSolver<double>> wide);
  template <class P>
    requires std::is_base_of_v<Preconditioner<float>, P>
  RefinedSolver(OperatorReference<float> narrow, P preconditioner,
                std::shared_ptr<KrylovSolver<double>> wide)
      : RefinedSolver(std::move(narrow), std::make_shared<P>(std::move(preconditioner)),
                      std::move(wide)) {}

  /// Like `KrylovSolver::solve`. In the report, `stored` is the form that the last runs read: `own`
  /// if the solver over doubles had to continue.
  Report solve(const FieldView<const double>& b, const FieldView<double>& x) override;
  /// Solves several systems, one after the other.
  std::vector<Report> solve(std::span<const FieldView<const double>> b,
                            std::span<const FieldView<double>> x) override;

  /// Like those of `KrylovSolver`.
  const std::vector<double>& history(std::size_t system = 0) const override {
    return wide_->history(system);
  }
  void set_null_space(const std::vector<FieldView<const double>>& vectors) override;

  const SolverOptions& options() const override { return wide_->options(); }
  /// Sets the options of both solvers.
  void set_options(SolverOptions options) override;
  /// Bytes that the solver over floats has allocated, in addition to the memory of `wide`.
  long long memory() const;

 private:
  void solve_system(const FieldView<const double>& b, const FieldView<double>& x, int system,
                    Report& report);
  /// A run of the solver over floats from the residual of `run`, whose x it corrects.
  detail::RunResult<double> run_over_floats(const detail::RunOf<double>& run);
  /// A field of floats where `wide_` has its own: `own`, or the one that is kept for that.
  FieldView<float> like_wide(const FieldView<float>& own);

  std::shared_ptr<KrylovSolver<double>> wide_;
  std::unique_ptr<KrylovSolver<float>> narrow_;
  bool have_same_layout_ = false;  // true if fields of the two have the same layout
  Array<float> between_;           // used if they do not
  double scale_ = 0;               // power of two that scales a solve's residuals in floats
  std::vector<double> history_;    // history of the last run
};

}  // namespace heddle
