#include "run_checks.hpp"

#include <cmath>
#include <cstddef>
#include <string>
#include <variant>

#include "../command/output_path.hpp"
#include "../simulation/message_text.hpp"
#include "heddle/error.hpp"

namespace heddle::heart {

namespace {

/// `fibres`: the case's file of fibres if the case is already known, else empty.
void check_files(const RunOptions& options, const std::string& fibres) {
  cli::RunFiles files = options.files({options.activation, options.restart});
  files.reads("the case", fibres);
  files.writes("--activation", options.activation);
  files.writes("--traces", options.traces);
  files.writes("--restart", options.restart);
  // A later state of the same run may replace an earlier one.
  if (options.resume != options.restart) files.reads("--resume", options.resume.value_or(""));
  files.check();
}

/// The period must be a whole number of steps, like all times of a case; 1e15 or more means never.
void check_restart_every(double every, double step) {
  if (!(every >= step)) {
    throw Error(ErrorKind::usage, "--restart-every must be at least a time step, " +
                                      simulation::shortest(step) + " ms");
  }
  const double whole = std::round(every / step);
  if (whole < 1e15 && !(std::abs(whole * step - every) <= 1e-6 * step)) {
    throw Error(ErrorKind::usage, "--restart-every is not a whole number of time steps of " +
                                      simulation::shortest(step) + " ms");
  }
}

/// Names the membrane, which the system that takes the steps cannot.
void check_step(const Case& given) {
  if (given.time.scheme == Scheme::newton) return;
  const double parts = given.time.splitting == Splitting::strang ? 2 : 1;
  for (std::size_t i = 0; i < given.regions.size(); ++i) {
    const MembraneChoice& membrane = given.regions[i].membrane;
    const double largest =
        parts * std::visit([](const auto& of_cells) { return of_cells.largest_step(); },
                           model_of(membrane));
    if (given.time.step <= largest) continue;
    throw Error(ErrorKind::usage,
                given.path + ": time.step of " + simulation::shortest(given.time.step) +
                    " ms is unstable for " + membrane.model + " of regions[" + std::to_string(i) +
                    "]; at most " + simulation::shortest(largest) + " ms are stable");
  }
}

}  // namespace

void check_outputs(const RunOptions& options) {
  cli::check_ending("--output", options.output, ".pvd", "a series of states is written as");
  cli::check_ending("--activation", options.activation, ".vtu",
                    "a map of activation is written as");
  cli::check_ending("--traces", options.traces, ".csv", "a table of traces is written as");
  if (options.restart_every && !options.restart) {
    throw Error(ErrorKind::usage, "--restart-every needs --restart, the file to write");
  }
  if (options.restart_every && !(*options.restart_every > 0)) {
    throw Error(ErrorKind::usage, "--restart-every must be above 0 ms, not " +
                                      simulation::shortest(*options.restart_every));
  }
  check_files(options, "");
}

void check_case_fits(const RunOptions& options, const Case& given) {
  check_files(options, given.fibres.file);
  if (options.mesh.empty() && !given.slab) {
    throw Error(ErrorKind::usage, "there is no mesh: name a file, or give the case a slab as mesh");
  }
  if (!options.mesh.empty() && given.slab) {
    throw Error(ErrorKind::usage, given.path + " has a slab as mesh already; leave out " +
                                      simulation::printable(options.mesh));
  }
  if (options.traces && given.points.empty() && given.electrodes.empty()) {
    throw Error(ErrorKind::usage,
                "--traces: " + given.path + " has neither points nor electrodes to follow");
  }
  if (options.assembly_on_cpu && given.time.scheme != Scheme::newton) {
    throw Error(ErrorKind::usage, "--assembly-on-cpu applies only to the scheme newton");
  }
  if (options.restart_every) check_restart_every(*options.restart_every, given.time.step);
  check_step(given);
}

}  // namespace heddle::heart
