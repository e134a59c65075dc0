#include "trace_rows.hpp"

#include <cstddef>

#include "run_pass.hpp"
#include "sum_levels.hpp"

namespace heddle::heart {

TraceRows::TraceRows(const Traces& traces, const Basis& basis, const Device& device)
    : device_(device),
      probes_(static_cast<Offset>(traces.probes.size())),
      electrodes_(static_cast<Offset>(traces.electrodes.size())),
      sums_(sum_levels(electrodes_, basis.size(), device)) {
  std::vector<Index> vertex;
  std::vector<double> weight, of_electrodes;
  for (const Place& place : traces.probes) {
    for (const Index v : place.vertex) vertex.push_back(basis.position(v));
    weight.insert(weight.end(), place.weight.begin(), place.weight.end());
  }
  for (const std::vector<double>& weights : traces.electrodes) {
    for (Index i = 0; i < basis.size(); ++i) {
      of_electrodes.push_back(weights[static_cast<std::size_t>(basis.user_row(i))]);
    }
  }
  probe_vertex_ = Array<Index>(vertex, device);
  probe_weight_ = Array<double>(weight, device);
  electrode_weight_ = Array<double>(of_electrodes, device);
  rows_ = Array<double>(static_cast<std::size_t>(max_steps * (probes_ + electrodes_)), device);
}

ProbePass TraceRows::probes(const Clock* clock, const Potential& potential, const double* change) {
  return {static_cast<Index>(probes_),
          clock,
          probe_vertex_.data(),
          probe_weight_.data(),
          potential.scalars().data(),
          change,
          rows_.data(),
          probes_ + electrodes_,
          max_steps};
}

void TraceRows::queue_electrodes(const Clock* clock, const Potential& potential) {
  if (electrodes_ == 0) return;
  const Stream& stream = device_.stream();
  const double* const sums = queue_sums(electrode_weight_.data(), potential.scalars().data(),
                                        potential.size(), electrodes_, sums_, stream);
  run(ElectrodePass{static_cast<Index>(electrodes_), clock, sums, rows_.data(),
                    probes_ + electrodes_, max_steps, probes_},
      stream);
}

void TraceRows::queue(const Clock* clock, const Potential& potential) {
  run(probes(clock, potential, nullptr), device_.stream());
  queue_electrodes(clock, potential);
}

std::vector<double> TraceRows::row(long long step) const {
  const auto length = static_cast<std::size_t>(probes_ + electrodes_);
  std::vector<double> row(length);
  const auto at = static_cast<std::size_t>(step % max_steps);
  detail::copy_bytes(row.data(), rows_.data() + at * length, length * sizeof(double),
                     device_.stream());
  return row;
}

}  // namespace heddle::heart
