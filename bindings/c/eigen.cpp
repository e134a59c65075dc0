// Eigenpairs of heddle.h.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "guard.hpp"
#include "handles.hpp"
#include "heddle/lobpcg.hpp"
#include "heddle/runtime/any_operator.hpp"
#include "runtime/mass_checks.hpp"
#include "settings_given.hpp"
#include "sized_struct.hpp"
#include "solve_calls.hpp"
#include "views.hpp"

using namespace heddle;
using namespace heddle::c;

namespace {

heddle_eigen_report c_report(const EigenReport& report) {
  heddle_eigen_report c{};
  c.outcome = static_cast<heddle_outcome>(report.status);
  c.restarts = report.restarts;
  c.iterations = report.iterations;
  c.products = report.products;
  c.matrix_norm = report.matrix_norm;
  c.mass_norm = report.mass_norm;
  c.seconds = report.seconds;
  return c;
}

template <class S>
std::optional<OperatorReference<S>> mass_for(const OperatorParts& A, const heddle_operator* mass) {
  if (mass == nullptr) return std::nullopt;
  detail::check_mass(A.matrix, mass->parts->matrix);
  using Shared = std::shared_ptr<const LinearOperator<S>>;
  return OperatorReference<S>(std::get<Shared>(mass->parts->matrix.visit(
      [](const auto& matrix) -> AnyLinearOperator::Matrix { return matrix; })));
}

/// Throws `Error` (unsupported) for an operator that ranks share.
void refuse_ranks(const OperatorParts& parts) {
  if (parts.ranks == nullptr) return;
  throw Error(ErrorKind::unsupported, "eigenpairs of an operator that ranks share need C++");
}

}  // namespace

heddle_status heddle_operator_create_mass(const heddle_matrix* mass, const heddle_operator* A,
                                          heddle_operator** result) {
  return guarded_by(mass, [&] {
    heddle_operator*& out = required(result, "result");
    const OperatorParts& parts = *required(A, "A").parts;
    refuse_ranks(parts);
    detail::check_mass(parts.matrix, mass->matrix);
    AnyOperator stored = parts.stored ? AnyOperator(mass->matrix, *parts.stored)
                                      : AnyOperator(mass->matrix, Plan(), parts.device());
    const AnyLinearOperator any(stored);
    out = new heddle_operator{
        mass->messages, std::make_shared<OperatorParts>(
                            OperatorParts{parts.memory, any, mass->entry, std::move(stored)})};
  });
}

heddle_status heddle_eigen_solve(const heddle_operator* A, const heddle_operator* mass,
                                 const heddle_preconditioner* preconditioner,
                                 const heddle_settings* settings, int64_t count,
                                 const heddle_view* x, double* eigenvalues, double* residuals,
                                 double* error_estimates, char* words, size_t capacity,
                                 heddle_eigen_report* report) {
  return guarded_by(A, [&] {
    if (report != nullptr) known_size(*report, "heddle_eigen_report");
    const OperatorParts& parts = *A->parts;
    refuse_ranks(parts);
    auto options = options_of<EigenOptions>(settings);
    options.observer = observer_of<SolveProgress>(settings);
    if (count < 1 || count > EigenOptions::max_pairs) {
      throw Error(ErrorKind::usage, std::to_string(count) + " eigenpairs: there may be 1 to " +
                                        std::to_string(EigenOptions::max_pairs));
    }
    options.count = static_cast<int>(count);
    const heddle_view& first = required(x, "x");
    double& values = required(eigenvalues, "eigenvalues");
    const AtWork there(preconditioner != nullptr ? preconditioner->parts.at_work.get() : nullptr,
                       "preconditioner");
    const auto solve = [&]<class S>(const std::shared_ptr<const LinearOperator<S>>& matrix) {
      Lobpcg<S> solver(OperatorReference<S>(matrix), mass_for<S>(parts, mass),
                       preconditioner_for<S>(preconditioner), options);
      std::vector<FieldView<S>> fields;
      fields.reserve(static_cast<std::size_t>(count));
      for (std::int64_t k = 0; k < count; ++k) {
        fields.push_back(field_of<S>(&first + k, parts.entry, matrix->row_components(),
                                     matrix->device().stream(),
                                     ("x[" + std::to_string(k) + "]").c_str()));
      }
      return solver.solve(fields);
    };
    const EigenReport made = parts.matrix.visit(solve);
    std::ranges::copy(made.eigenvalues, &values);
    if (residuals != nullptr) std::ranges::copy(made.residuals, residuals);
    if (error_estimates != nullptr) std::ranges::copy(made.error_estimates, error_estimates);
    copy_text(made.detail, words, capacity);
    if (report != nullptr) write_struct(report, ::c_report(made), "heddle_eigen_report");
  });
}
