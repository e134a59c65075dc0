// Solves whose iterations have every field in floats, to the residual that doubles reach: iterative
// refinement (Wilkinson 1963; Higham, Accuracy and Stability of Numerical Algorithms, 2002, ch.
// 12), in runs that go on from one another (methods/continued_conjugate_gradient.hpp).
#pragma once

#include <memory>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "heddle/export.hpp"
#include "heddle/krylov_solver.hpp"

namespace heddle {

/// A run over floats takes the residual b - A x, which is computed in double, some way down, and x
/// is corrected by what it finds. Runs end, follow one another and are judged as those that read a
/// copy of the matrix (docs/guide/encodings.md). Where they come no further the solver over doubles
/// goes on from the best x, so that what it solves is solved. All stays in the device's memory.
class HEDDLE_EXPORT RefinedSolver : public SystemSolver<double> {
 public:
  /// `narrow`: the matrix of `wide` in floats, on its device and stream; where it has the layout
  /// and the basis of that too, no run begins by a permutation. Its plan may keep a copy of 16 bits
  /// for the runs. `preconditioner`: of `narrow`, null for none. Method, limits, observer and
  /// history are those of `wide`, which nobody else uses while this object solves. Throws `Error`:
  /// usage for a null pointer or another device, size_mismatch for other sizes, unsupported for
  /// ranks, whose clocks differ, and as solvers do.
  RefinedSolver(OperatorReference<float> narrow,
                std::shared_ptr<Preconditioner<float>> preconditioner,
                std::shared_ptr<KrylovSolver<double>> wide);
  template <class P>
    requires std::is_base_of_v<Preconditioner<float>, P>
  RefinedSolver(OperatorReference<float> narrow, P preconditioner,
                std::shared_ptr<KrylovSolver<double>> wide)
      : RefinedSolver(std::move(narrow), std::make_shared<P>(std::move(preconditioner)),
                      std::move(wide)) {}

  /// As `KrylovSolver::solve`. In the report `stored` is what the last runs read: `own` where the
  /// solver over doubles had to go on.
  Report solve(const FieldView<const double>& b, const FieldView<double>& x) override;
  /// Several systems, one after the other.
  std::vector<Report> solve(std::span<const FieldView<const double>> b,
                            std::span<const FieldView<double>> x) override;

  /// As those of `KrylovSolver`.
  const std::vector<double>& history(std::size_t system = 0) const override {
    return wide_->history(system);
  }
  void set_null_space(const std::vector<FieldView<const double>>& vectors) override;

  const SolverOptions& options() const override { return wide_->options(); }
  /// Sets those of both solvers.
  void set_options(SolverOptions options) override;
  /// What the solver over floats has allocated, beside the memory of `wide`.
  long long memory() const;

 private:
  void begin(std::size_t systems);
  void solve_system(const FieldView<const double>& b, const FieldView<double>& x, int system,
                    Report& report);
  /// A run of the solver over floats from the residual of `run`, whose x it corrects.
  detail::RunResult<double> run_over_floats(const detail::RunOf<double>& run);
  /// A field of floats where `wide_` has its own: `own`, or the one that is kept for that.
  FieldView<float> beside_wide(const FieldView<float>& own);

  std::shared_ptr<KrylovSolver<double>> wide_;
  std::unique_ptr<KrylovSolver<float>> narrow_;
  bool lie_alike_ = false;       // fields of the two
  Array<float> between_;         // where they do not
  double scale_ = 0;             // of a solve's residuals in floats: a power of two
  std::vector<double> history_;  // of the last run
};

}  // namespace heddle
