#include "heddle/report.hpp"

#include <iomanip>
#include <ostream>

namespace heddle {

std::string_view name(Status status) {
  switch (status) {
    case Status::converged:
      return "converged";
    case Status::iteration_limit:
      return "iteration limit";
    case Status::time_limit:
      return "time limit";
    case Status::cancelled:
      return "cancelled";
    case Status::indefinite:
      return "indefinite";
    case Status::breakdown:
      return "breakdown";
    case Status::stagnated:
      return "stagnated";
    case Status::not_finite:
      return "not finite";
    case Status::accuracy_limit:
      return "accuracy limit";
    case Status::out_of_range:
      return "out of range";
    case Status::not_hermitian:
      return "not Hermitian";
  }
  return "unknown";
}

std::ostream& operator<<(std::ostream& out, const Report& report) {
  const auto flags = out.flags();
  const auto precision = out.precision();
  out << name(report.status) << " in " << report.iterations
      << (report.iterations == 1 ? " iteration" : " iterations");
  if (!report.detail.empty()) out << " (" << report.detail << ")";
  out << std::scientific << std::setprecision(2) << ", true residual " << report.residual
      << " of the baseline " << report.baseline_norm;
  if (report.backward_error >= 0) out << ", backward error " << report.backward_error;
  out << std::defaultfloat << std::setprecision(3) << ", " << report.iterate_seconds << " s";
  if (report.restarts > 0) out << ", " << report.restarts << " restarts";
  out << ", loop " << report.loop;
  if (report.stored != "own") out << ", stored " << report.stored;
  if (report.bandwidth() > 0) out << ", " << report.bandwidth() / 1e9 << " GB/s modelled";
  out.flags(flags);
  out.precision(precision);
  return out;
}

}  // namespace heddle
