// Traces in the memory of the device: a row of probes and electrodes for each step.
#pragma once

#include <vector>

#include "heddle/array.hpp"
#include "heddle/basis.hpp"
#include "passes.hpp"
#include "tissue_system.hpp"
#include "traces.hpp"

namespace heddle::heart {

class TraceRows {
 public:
  /// Number of rows kept, those of the last steps.
  static constexpr long long max_steps = 128;

  /// Traces potentials in the basis. Keeps nothing of the arguments.
  TraceRows(const Traces& traces, const Basis& basis, const Device& device);

  /// Probes of a potential, plus a change where that is not null, into the row of the clock's step.
  ProbePass probes(const Clock* clock, const Potential& potential, const double* change);
  /// Queues the electrodes after the probes.
  void queue_electrodes(const Clock* clock, const Potential& potential);
  /// Queues both, for the potential as it is.
  void queue(const Clock* clock, const Potential& potential);
  std::vector<double> row(long long step) const;

 private:
  Device device_;
  Offset probes_, electrodes_;
  Array<Index> probe_vertex_;
  Array<double> probe_weight_, electrode_weight_, rows_;
  std::vector<Array<double>> sums_;  // levels of the tree, the last with one sum per electrode
};

}  // namespace heddle::heart
