// Optimised in full.
#include "heddle/refined_solver.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "fields/field_precision.hpp"
#include "fields/fits_in_place.hpp"
#include "listed_solver.hpp"
#include "solvers/krylov/host_solve.hpp"
#include "solvers/krylov/method_rows.hpp"
#include "solvers/krylov/watched_preconditioner.hpp"
#include "solvers/methods/continued_conjugate_gradient.hpp"
#include "solvers/operators/system_checks.hpp"

namespace heddle {

namespace {

/// The method over floats, in the form whose runs continue each other if there is one.
std::unique_ptr<KrylovSolver<float>> narrow_solver(
    const MethodInfo& method, OperatorReference<float> matrix,
    std::shared_ptr<Preconditioner<float>> preconditioner, SolverOptions options) {
  if (method.name == method_rows::conjugate_gradient.name) {
    return detail::continued_conjugate_gradient(std::move(matrix), std::move(preconditioner),
                                                std::move(options));
  }
  return listed_solver<float>(method, std::move(matrix), std::move(preconditioner), options);
}

void check_same_system(const LinearOperator<float>& narrow, const LinearOperator<double>& wide) {
  if (narrow.rows() != wide.rows() || narrow.row_components() != wide.row_components()) {
    throw Error(ErrorKind::size_mismatch,
                "a matrix of " + std::to_string(narrow.rows()) + " rows of " +
                    std::to_string(narrow.row_components()) + " floats cannot refine one of " +
                    std::to_string(wide.rows()) + " rows of " +
                    std::to_string(wide.row_components()) + " doubles");
  }
  const Stream &of_narrow = narrow.device().stream(), &of_wide = wide.device().stream();
  if (of_narrow.share != nullptr || of_wide.share != nullptr) {
    throw Error(ErrorKind::unsupported, "solves on ranks cannot be refined over floats");
  }
  if (of_narrow.gpu != of_wide.gpu || of_narrow.queue != of_wide.queue) {
    throw Error(ErrorKind::usage,
                "a matrix of floats refines only one of doubles on the same device and stream");
  }
}

/// The copy as decisions see it: `single` for a matrix of floats itself, since its fields are
/// floats.
StoredScalar copy_in(const LinearOperator<float>& matrix) {
  const bool in_words = &matrix.iterated() != &matrix && !is_exact(matrix.iterated_as()) &&
                        matrix.iterated_as() != StoredScalar::own;
  return in_words ? matrix.iterated_as() : StoredScalar::single;
}

template <class S>
using Parts = detail::KrylovParts<S>;

SolverOptions options_over_floats(SolverOptions options) {
  options.observer = nullptr;
  options.basis_precision = StoredScalar::own;  // floats
  return options;
}

}  // namespace

RefinedSolver::RefinedSolver(OperatorReference<float> narrow,
                             std::shared_ptr<Preconditioner<float>> preconditioner,
                             std::shared_ptr<KrylovSolver<double>> wide)
    : wide_(std::move(wide)) {
  if (!wide_) throw Error(ErrorKind::usage, "a null pointer to a solver");
  const LinearOperator<double>& A = wide_->matrix();
  check_same_system(*narrow, A);
  have_same_layout_ = narrow->vector_layout() == A.vector_layout() &&
                      detail::in_basis(narrow->row_basis(), A.row_basis());
  narrow_ = narrow_solver(Parts<double>::of(*wide_).inputs.method.info, std::move(narrow),
                          std::move(preconditioner), options_over_floats(wide_->options()));
  if (!have_same_layout_) {
    between_ = Array<float>(static_cast<std::size_t>(wide_->residual().scalars()), A.device());
  }
}

void RefinedSolver::set_options(SolverOptions options) {
  wide_->set_options(std::move(options));
  narrow_->set_options(options_over_floats(wide_->options()));
}

long long RefinedSolver::memory() const {
  return narrow_->memory() + static_cast<long long>(between_.size() * sizeof(float));
}

FieldView<float> RefinedSolver::like_wide(const FieldView<float>& own) {
  if (have_same_layout_) return own;
  const FieldView<double> r = wide_->residual();
  return {between_.data(), r.size, r.components, wide_->matrix().vector_layout(), r.basis};
}

void RefinedSolver::set_null_space(const std::vector<FieldView<const double>>& vectors) {
  wide_->set_null_space(vectors);
  const auto& wide = Parts<double>::of(*wide_);
  std::vector<Array<float>> storage;
  std::vector<FieldView<const float>> narrow;
  for (const FieldView<double>& vector : wide.null_space.vectors()) {
    storage.emplace_back(static_cast<std::size_t>(vector.scalars()), wide.inputs.device);
    const FieldView<float> field(storage.back().data(), vector.size, vector.components,
                                 wide_->matrix().vector_layout(), vector.basis);
    detail::narrow_field(1, vector, field, wide.inputs.stream);
    narrow.emplace_back(field);
  }
  narrow_->set_null_space(narrow);
  wide.inputs.device.synchronize();
}

detail::RunResult<double> RefinedSolver::run_over_floats(const detail::RunOf<double>& run) {
  const Stream& stream = Parts<double>::of(*wide_).inputs.stream;
  auto& solver = Parts<float>::of(*narrow_);
  detail::RunLimits<double> limits = *run.limits;
  if (scale_ == 0) scale_ = std::exp2(-std::ilogb(std::sqrt(limits.squared_norm)));
  const double squared_scale = scale_ * scale_;
  limits.target *= squared_scale;
  limits.squared_norm *= squared_scale;
  // The growth limit of the correction, whose rounding errors are those of its largest residual.
  constexpr double epsilon = std::numeric_limits<float>::epsilon();
  limits.growth =
      std::min(limits.growth * squared_scale, limits.squared_norm / (epsilon * epsilon));
  if (limits.observe) {
    limits.observe = [&run, squared_scale](long long iteration, double squared) {
      return run.limits->observe(iteration, squared / squared_scale);
    };
  }
  const auto& place = solver.fields.first();
  const FieldView<float>&r = place.residual, x = place.kept;
  const FieldView<float> r_like_wide = like_wide(r), x_like_wide = like_wide(x);
  detail::narrow_field(scale_, run.r, r_like_wide, stream);
  if (!have_same_layout_) permute<float>(r_like_wide, r, 1, stream);
  fill<float>(0, x, stream);
  const detail::RunOf<float> narrow{0, x, r, &limits};
  detail::RunResult<double> result;
  solver.loops.over(solver.loops.iterated()).run({&narrow, 1}, {&result, 1});
  if (!have_same_layout_) permute<float>(x, x_like_wide, 1, stream);
  detail::add_widened(1 / scale_, x_like_wide, run.x, stream);
  history_.assign(result.history.begin(), result.history.end());
  for (double& squared : history_) squared /= squared_scale;
  result.history = history_;
  return result;
}

void RefinedSolver::solve_system(const FieldView<const double>& b, const FieldView<double>& x,
                                 int system, Report& report) {
  auto& wide = Parts<double>::of(*wide_);
  auto& narrow = Parts<float>::of(*narrow_);
  const bool varies = wide.inputs.method.info.takes_varying;
  const LinearOperator<float>& floats = narrow.inputs.matrix;
  narrow.loops.iterate_by(floats.iterated());
  LoopForm form = narrow.loops.form(floats.iterated());
  detail::OtherRuns over_floats{copy_in(floats),
                                method_rows::continues_runs(narrow.inputs.method.info, form),
                                narrow.loops.bytes_per_iteration()};
  scale_ = 0;
  detail::HostSolve<double> solve(wide, b, x, 0, system, report, &over_floats);
  solve.begin(1);
  const auto goes_on = [&](long long iterations) { return solve.goes_on_inside(iterations); };
  {
    const detail::WatchedPreconditioner<float> watched(
        varies ? narrow.inputs.preconditioner.get() : nullptr, goes_on);
    const auto run_on = [&] {
      while (solve.runs()) solve.take(run_over_floats(solve.next_run(form)));
    };
    run_on();
    if (over_floats.copy != StoredScalar::single && solve.leaves_copy(StoredScalar::single)) {
      narrow.loops.iterate_by(floats);
      form = narrow.loops.form(floats);
      over_floats.bytes_per_iteration = narrow.loops.bytes_per_iteration();
      run_on();
    }
  }
  if (solve.leaves_copy(StoredScalar::own)) {
    const detail::WatchedPreconditioner<double> watched(
        varies ? wide.inputs.preconditioner.get() : nullptr, goes_on);
    const LinearOperator<double>& matrix = wide.inputs.matrix;
    auto& loop = wide.loops.over(matrix);
    while (solve.runs()) {
      const detail::RunOf<double> run = solve.next_run(wide.loops.form(matrix));
      detail::RunResult<double> result;
      loop.run({&run, 1}, {&result, 1});
      solve.take(result);
    }
  }
  solve.end();
}

Report RefinedSolver::solve(const FieldView<const double>& b, const FieldView<double>& x) {
  return solve({&b, 1}, {&x, 1}).front();
}

std::vector<Report> RefinedSolver::solve(std::span<const FieldView<const double>> b,
                                         std::span<const FieldView<double>> x) {
  detail::check_as_many(b.size(), x.size());
  detail::check_systems<double>(b, x, wide_->residual());
  auto& wide = Parts<double>::of(*wide_);
  wide.loops.iterate_by(wide.inputs.matrix);
  wide.begin(b.size());
  Parts<float>::of(*narrow_).prepare();
  std::vector<Report> reports(b.size());
  for (std::size_t k = 0; k < b.size(); ++k) {
    solve_system(b[k], x[k], static_cast<int>(k), reports[k]);
  }
  return reports;
}

}  // namespace heddle
