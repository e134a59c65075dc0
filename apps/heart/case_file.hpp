// Case files of heart muscle and of runs. The schema is docs/reference/heart-case-schema.json, the
// meaning is in docs/simulations/heart.md. Lengths are in mm, times in ms, potentials in mV.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "../mesh/slab_mesh.hpp"
#include "../simulation/selection.hpp"
#include "membranes/membrane_cells.hpp"

namespace heddle::heart {

using simulation::Selection;

struct SlabCase {
  Point sides;
  double h = 0;
  mesh::CubeSplit split = mesh::CubeSplit::six;
};

/// In S/m, for the whole tissue (intracellular and extracellular space in series).
struct ConductivityCase {
  double along = 0;
  double across = 0;
};

struct RegionCase {
  Selection where;
  MembraneChoice membrane;
  ConductivityCase conductivity;
};

struct FibreCase {
  enum class Type { constant, file, wall };
  Type type = Type::constant;
  Point direction = {1, 0, 0};  // constant
  std::string file;             // one vector per line, for each tetrahedron
  // In a wall from one surface to another: degrees from the circumference towards the axis.
  Selection from, to;
  double angle_from = 0, angle_to = 0;
  Point axis = {0, 0, 1};
};

struct StimulusCase {
  Selection where;
  double start = 0;
  double duration = 0;
  double amplitude = 0;  // uA/mm3
  double period = 0;     // 0: once
  long long count = 1;
};

enum class Scheme { splitting, newton };
enum class Splitting { godunov, strang };
enum class Mass { consistent, lumped };
/// Where the membranes are: at vertices, or at the integration points of tetrahedra.
enum class CurrentPlace { nodes, integration_points };
enum class Guess { last, extrapolated };

/// Steps of Newton's scheme that are 1, 2, 4 ... times as long as the time step.
struct AdaptiveCase {
  double tolerance = 0.1;          // mV, for the error of each step
  std::optional<double> max_step;  // ms
};

struct TimeCase {
  double step = 0;
  long long steps = 0;
  Scheme scheme = Scheme::splitting;
  // For splitting only.
  Splitting splitting = Splitting::godunov;
  double theta = 0.5;
  Mass mass = Mass::consistent;
  CurrentPlace ionic_current = CurrentPlace::nodes;
  std::optional<AdaptiveCase> adaptive;  // for Newton's method only

  double end() const { return static_cast<double>(steps) * step; }
};

struct SolverCase {
  double tolerance = 1e-8;
  long long max_iterations = 1000;
  Guess guess = Guess::extrapolated;
};

using NamedPoint = std::pair<std::string, Point>;

struct Case {
  std::string path;  // path of the case file
  std::optional<SlabCase> slab;
  std::vector<RegionCase> regions;
  double chi = 140;  // membrane surface per volume, 1/mm
  double Cm = 0.01;  // uF/mm2
  FibreCase fibres;
  std::vector<StimulusCase> stimuli;
  TimeCase time;
  long long output_every = 1;  // steps
  long long trace_every = 1;   // steps; 0: every adaptive step
  double activation_threshold = 0;
  bool tables = true;  // tabulate the membranes' functions of the potential
  std::vector<NamedPoint> points;
  std::vector<NamedPoint> electrodes;
  SolverCase solver;
};

/// Throws `Error` (malformed_file) for a width in mm that no heart muscle can have.
void check_width(double width);

/// Throws `Error`: io for a file that cannot be read; malformed_file for anything that does not
/// follow the schema, and for numbers that can only be in other units, "case.json: chi must be from
/// 1 to 1000 1/mm, not 140000".
Case read_case(const std::string& path);
/// The same from text; `path` is for messages.
Case parse_case(const std::string& text, const std::string& path);

}  // namespace heddle::heart
