#include "step_options.hpp"

#include <cmath>

#include "heddle/error.hpp"
#include "heddle/method_info.hpp"
#include "tuning/planning/method_choice.hpp"

namespace heddle::cli {

namespace {

[[noreturn]] void refuse(const std::string& why) { throw Error(ErrorKind::usage, why); }

/// The names of the methods that have it.
std::string names_of(bool MethodInfo::* takes) {
  std::string names;
  for (const MethodInfo& method : method_table()) {
    if (method.*takes) names += (names.empty() ? "" : " or ") + std::string(method.name);
  }
  return names;
}

}  // namespace

void StepOptions::add_to(CLI::App& command) {
  command
      .add_option("--interval", interval_,
                  "of the eigenvalues of M^-1 A, for chebyshev and richardson; an estimate without "
                  "it")
      ->expected(2)
      ->type_name("LOWER UPPER");
  command
      .add_option("--omega", omega_,
                  "the step of richardson, for any matrix; without it 2 / (LOWER + UPPER)")
      ->type_name("W");
}

void StepOptions::check(const std::string& method) const {
  if (!interval_.empty() && !has_method(method, &MethodInfo::takes_interval)) {
    refuse("--interval is for --solver " + names_of(&MethodInfo::takes_interval));
  }
  if (omega_ && !has_method(method, &MethodInfo::takes_omega)) {
    refuse("--omega is for --solver " + names_of(&MethodInfo::takes_omega));
  }
  if (!interval_.empty() && omega_) refuse("--omega and --interval: give one of them");
  if (!interval_.empty()) {
    const double lower = interval_.front(), upper = interval_.back();
    if (!(0 < lower && lower < upper && std::isfinite(upper))) {
      refuse("--interval needs 0 < LOWER < UPPER, both finite");
    }
  }
  if (omega_ && !(std::isfinite(*omega_) && *omega_ != 0)) {
    refuse("--omega is finite and not 0");
  }
}

void StepOptions::apply_to(SolverOptions& settings) const {
  if (!interval_.empty()) settings.interval = {interval_.front(), interval_.back()};
  settings.omega = omega_;
}

}  // namespace heddle::cli
