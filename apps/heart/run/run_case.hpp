// A case from file to file: read, checked, computed, written.
#pragma once

#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "../simulation/case_options.hpp"
#include "../simulation/run_summary.hpp"
#include "activation.hpp"
#include "case_file.hpp"
#include "heart_system.hpp"

namespace heddle::heart {

struct RunOptions : simulation::CaseOptions {
  std::optional<std::string> activation;  // .vtu
  std::optional<std::string> traces;      // .csv
  std::optional<std::string> restart;
  std::optional<double> restart_every;  // ms
  std::optional<std::string> resume;
  bool assembly_on_cpu = false;  // under Newton's method
};

/// In seconds.
struct PhaseTimes {
  double read = 0;   // case and mesh, checks, fibres and traces included
  double setup = 0;  // pattern, plan, matrices, membranes, solver
  StepTimes steps;
  double output = 0;  // only while the run waited for it
};

/// Why a run ended early.
struct Failure {
  std::optional<Status> of_solve;  // if one failed; else a potential is not finite, or too large
  double time = 0;                 // ms, end of the step
  Index vertex = 0;                // the first without a finite potential, or the one with the
                                   // largest; counted from 0
  bool is_finite = false;          // true if the potential is finite
  double potential = 0;            // at that vertex, mV
};

/// The contents of a report.
struct Outcome : simulation::RunSummary {
  Case given;
  std::string membranes;
  bool is_tabulated = false;  // true if the cells use tables
  double largest_step = 0;
  bool on_gpu = false;
  SolveRecord solves;
  long long newton_iterations = 0;
  std::optional<StepCounts> adaptive;
  long long first_step = 0;  // first step of this run, which may be resumed
  long long steps = 0;       // taken since time 0
  long long frames = 0;
  long long states_kept = 0;
  long long activated = 0;  // vertices
  double first_activation = std::numeric_limits<double>::quiet_NaN();
  double last_activation = std::numeric_limits<double>::quiet_NaN();
  SpeedRange speed;
  std::vector<double> activation_of_points;
  std::vector<std::string> warnings;
  std::optional<Failure> failure;
  bool is_interrupted = false;
  PhaseTimes times;
  double wall = 0;

  bool is_newton() const { return given.time.scheme == Scheme::newton; }
  double time() const { return static_cast<double>(steps) * given.time.step; }
};

/// Throws `Error` for whatever is wrong with the input, before anything is written. A solve that
/// fails, or a potential that is not finite or beyond 500 mV, ends the run, and so does Ctrl-C: all
/// results until then are written. Throws `WriteFailed` if some output cannot be written during the
/// run: the state is kept if that was requested. Warns on standard error.
Outcome run_case(const RunOptions& options);

/// "at 1.2 ms ..."; for an outcome with a failure.
std::string failure_text(const Failure& failure);

}  // namespace heddle::heart
