#include "heddle/report.hpp"

#include <array>
#include <iomanip>
#include <ostream>

namespace heddle {

std::string_view name(Status status) {
  constexpr std::array<std::string_view, 12> names = {
      "converged",      "iteration limit", "time limit",    "cancelled",
      "indefinite",     "breakdown",       "stagnated",     "not finite",
      "accuracy limit", "out of range",    "not Hermitian", "not symmetric"};
  return names.at(static_cast<std::size_t>(status));
}

std::string_view name(Returned returned) {
  constexpr std::array<std::string_view, 3> names = {"last", "best", "guess"};
  return names.at(static_cast<std::size_t>(returned));
}

std::ostream& operator<<(std::ostream& out, const Report& report) {
  const auto flags = out.flags();
  const auto precision = out.precision();
  out << name(report.status) << " in " << report.iterations
      << (report.iterations == 1 ? " iteration" : " iterations");
  if (!report.detail.empty()) out << " (" << report.detail << ")";
  out << std::scientific << std::setprecision(2) << ", true residual " << report.residual
      << " of the baseline " << report.baseline_norm;
  if (!report.converged()) out << ", returned " << name(report.returned);
  if (report.backward_error >= 0) out << ", backward error " << report.backward_error;
  out << std::defaultfloat << std::setprecision(3);
  if (report.iterate_seconds >= 0) out << ", " << report.iterate_seconds << " s";
  if (report.restarts > 0) out << ", " << report.restarts << " restarts";
  out << ", loop " << report.loop;
  if (report.stored != "own") out << ", stored " << report.stored;
  if (report.interval) {
    out << ", interval " << report.interval->lower << " to " << report.interval->upper;
  }
  if (report.omega) out << ", omega " << *report.omega;
  if (report.bandwidth() > 0) out << ", " << report.bandwidth() / 1e9 << " GB/s modelled";
  out.flags(flags);
  out.precision(precision);
  return out;
}

}  // namespace heddle
