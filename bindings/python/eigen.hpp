// Eigenpairs for Python.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <array>
#include <cstdint>
#include <vector>

#include "arrays.hpp"
#include "call.hpp"
#include "heddle.h"
#include "operator.hpp"
#include "settings.hpp"
#include "solver.hpp"

namespace heddle_python {

/// The operator of a mass matrix, in the order of A.
inline Operator mass_operator(const Matrix& mass, const Operator& A) {
  Operator made;
  made.context = mass.context;
  made.entry = A.entry;
  made.precision = A.precision;
  call(made.context,
       [&] { return heddle_operator_create_mass(mass.matrix.own, A.A.own, &made.A.own); });
  made.find_size();
  return made;
}

/// Solves from the guesses in x, one after the other in the host's memory, and writes x. `mass` and
/// `preconditioner` may be null. Returns outcome, detail, iterations, eigenvalues, their residuals
/// and error estimates.
inline nb::tuple eigen_solve(const Operator& A, const Operator* mass,
                             const Preconditioner* preconditioner, const Settings& settings,
                             const Writable& x, nb::handle callback) {
  Watch watch;
  heddle_settings_observe(settings.get(), Watch::observe, &watch);
  const AtWork here(watch, callback);
  const std::vector<heddle_view> views = rows_of(x, A.rows, A.entry, A.precision);
  std::vector<double> values(views.size()), residuals(views.size()), errors(views.size());
  std::array<char, 512> detail{};
  heddle_eigen_report report{};
  report.struct_size = sizeof report;
  call(A.context, [&] {
    return heddle_eigen_solve(
        A.A.own, mass != nullptr ? mass->A.own : nullptr,
        preconditioner != nullptr ? preconditioner->preconditioner.own : nullptr, settings.get(),
        static_cast<std::int64_t>(views.size()), views.data(), values.data(), residuals.data(),
        errors.data(), detail.data(), detail.size(), &report);
  });
  const auto list = [](const std::vector<double>& numbers) {
    nb::list made;
    for (const double number : numbers) made.append(number);
    return made;
  };
  return nb::make_tuple(heddle_outcome_name(report.outcome), detail.data(), report.iterations,
                        list(values), list(residuals), list(errors));
}

}  // namespace heddle_python
