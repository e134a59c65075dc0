// The contents of a case file about a solid: materials, supports, loads, and the analysis. The
// schema is docs/reference/elastic-case-schema.json, the meaning is in docs/simulations/elastic.md.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "../simulation/selection.hpp"
#include "heddle/tools/points.hpp"

namespace heddle::elastic {

using simulation::Selection;

struct MaterialCase {
  Selection where;
  double young = 0;    // > 0
  double poisson = 0;  // 0 to below 0.5
  std::optional<double> density;
};

/// Prescribed displacements: 0 for supports.
struct DisplacementCase {
  Selection where;
  std::array<std::optional<double>, 3> component;
};

/// Forces on an area of the boundary: pressure or traction.
struct SurfaceLoadCase {
  Selection where;
  double pressure = 0;  // into the solid
  Point traction{};     // force per area
};

enum class AnalysisType { statics, dynamics, corotational, modes };
enum class Method { newmark, backward_euler };
enum class NullSpace { automatic, rigid, none };

struct AnalysisCase {
  AnalysisType type = AnalysisType::statics;
  NullSpace null_space = NullSpace::automatic;  // for statics
  int count = 6;                                // for modes: their number without rigid motions
  // For the other types.
  Method method = Method::newmark;
  double beta = 0.25;
  double gamma = 0.5;
  double time_step = 0;
  long long steps = 0;
  long long output_every = 1;
  Point initial_velocity{};

  bool is_stepped() const {
    return type == AnalysisType::dynamics || type == AnalysisType::corotational;
  }
  bool needs_density() const { return type != AnalysisType::statics; }
};

struct SolverCase {
  double tolerance = 1e-10;
  long long max_iterations = 10000;
  std::optional<bool> multigrid;    // replaces Jacobi's preconditioner; none: the faster one
  long long deflation = 0;          // eigenvectors that deflate all steps except the first
  long long earlier_solutions = 0;  // used for guesses; 0: a step starts from the last solution
};

struct Case {
  std::string path;  // path of the case file
  std::vector<MaterialCase> materials;
  std::vector<DisplacementCase> displacements;  // supports included
  std::vector<SurfaceLoadCase> loads;
  Point gravity{};
  AnalysisCase analysis;
  SolverCase solver;
};

/// Throws `Error`: io for a file that cannot be read; malformed_file for anything that does not
/// follow the schema, "case.json: materials[0].yong is not known; did you mean young?".
Case read_case(const std::string& path);
/// The same from text; `path` is for messages.
Case parse_case(const std::string& text, const std::string& path);

}  // namespace heddle::elastic
