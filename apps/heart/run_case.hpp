// A case from file to file: read, checked, computed, written.
#pragma once

#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "../command/device_option.hpp"
#include "../command/profile_option.hpp"
#include "../mesh/mesh_summary.hpp"
#include "case_file.hpp"
#include "heart_system.hpp"
#include "heddle/detail/sliced.hpp"

namespace heddle::heart {

struct RunOptions {
  std::string mesh;  // empty: the slab of the case
  std::string case_path;
  std::optional<std::string> output;      // .pvd
  std::optional<std::string> activation;  // .vtu
  std::optional<std::string> traces;      // .csv
  std::optional<std::string> picture;     // .png
  std::optional<std::string> restart;
  std::optional<double> restart_every;  // ms
  std::optional<std::string> resume;
  cli::DeviceOption device;
  std::string plan;
  cli::ProfileOption profile;
  bool quiet = false;
};

/// Seconds.
struct PhaseTimes {
  double read = 0;   // case and mesh, checks, fibres and traces among it
  double setup = 0;  // pattern, plan, matrices, membranes, solver
  StepTimes steps;
  double output = 0;  // that the run waited for
};

/// Why a run ended early.
struct Failure {
  Status status = Status::not_finite;  // of the solve
  double time = 0;                     // ms, of the end of the step
  Index vertex = 0;                    // the first without a finite potential, or that of the
                                       // largest one; counted from 0
  bool is_finite = false;              // the potential
};

/// What a report is made of.
struct Outcome {
  Case given;
  std::string device;
  std::string membranes;
  double largest_step = 0;
  long long vertices = 0;
  long long tetrahedra = 0;
  mesh::Box box;
  std::vector<mesh::GroupSize> groups;
  long long left_out = 0;  // vertices of no element
  Offset entries = 0;
  PlanChoice choice;
  MemoryUse memory;
  bool on_gpu = false;
  SolveRecord solves;
  long long first_step = 0;  // of this run, which may be resumed
  long long steps = 0;       // taken since time 0
  long long frames = 0;
  long long states_kept = 0;
  long long activated = 0;  // vertices
  double last_activation = std::numeric_limits<double>::quiet_NaN();
  std::vector<double> activation_of_points;
  std::optional<Failure> failure;
  bool is_interrupted = false;
  PhaseTimes times;
  double wall = 0;

  double time() const { return static_cast<double>(steps) * given.time.step; }
};

/// Throws `Error` for whatever is wrong with the input, before anything is written. A solve that
/// fails, or a potential that is not finite, ends the run; states and traces before it are written.
Outcome run_case(const RunOptions& options);

/// "at 1.2 ms ..."; of an outcome with a failure.
std::string failure_text(const Failure& failure);

}  // namespace heddle::heart
