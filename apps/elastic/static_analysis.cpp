#include "static_analysis.hpp"

namespace heddle::elastic {

StaticAnalysis::StaticAnalysis(ElasticSystem& system)
    : system_(system),
      displacement_(system.given_displacement()),
      residual_(system.field()),
      step_(system.field()) {
  system.deform(displacement_);
  system.set_matrix(0, 1);
  system.residual(nullptr, 1, residual_);
}

Report StaticAnalysis::solve() {
  const Report report = system_.solve(residual_, step_);
  system_.add(1, step_, displacement_);
  system_.deform(displacement_);
  return report;
}

Energies StaticAnalysis::energies() {
  return {0, system_.elastic_energy(), system_.work(displacement_)};
}

}  // namespace heddle::elastic
