#include "case_file.hpp"

#include <utility>

#include "../simulation/case_json.hpp"
#include "../simulation/case_object.hpp"
#include "heddle/lobpcg.hpp"
#include "matrix/definitions/strict_json.hpp"

namespace heddle::elastic {

using nlohmann::json;
using simulation::CaseObject;
using simulation::Range;
using simulation::read_place;
using simulation::read_selection;

namespace {

/// Range of numbers that are squared, or multiplied by others of this range.
constexpr Range size{.least = 0, .most = 1e100, .min_is_in = false};

MaterialCase read_material(const CaseObject& object) {
  object.check_keys({"young", "poisson", "density", "group", "box"});
  MaterialCase material;
  material.where = read_selection(object);
  material.young = object.number("young", size);
  material.poisson = object.number("poisson", {.least = 0, .most = 0.5, .max_is_in = false});
  if (object.has("density")) material.density = object.number("density", size);
  return material;
}

DisplacementCase read_support(const CaseObject& object) {
  object.check_keys({"fixed", "group", "box"});
  DisplacementCase support;
  support.where = read_place(object);
  if (!object.has("fixed")) {
    support.component = {0.0, 0.0, 0.0};
    return support;
  }
  const json& fixed = object.at("fixed");
  const std::string axes = "xyz";
  const bool is_list = fixed.is_array() && !fixed.empty();
  if (!is_list) object.refuse(object.path_of("fixed"), "must be an array of \"x\", \"y\", \"z\"");
  for (const json& axis : fixed) {
    const std::string name = axis.is_string() ? axis.get<std::string>() : "";
    const std::size_t k = name.size() == 1 ? axes.find(name) : std::string::npos;
    if (k == std::string::npos) {
      object.refuse(object.path_of("fixed"), "must be an array of \"x\", \"y\", \"z\"");
    }
    support.component[k] = 0.0;
  }
  return support;
}

DisplacementCase read_displacement(const CaseObject& object) {
  object.check_keys({"x", "y", "z", "group", "box"});
  DisplacementCase displacement;
  displacement.where = read_place(object);
  const char* const axes[] = {"x", "y", "z"};
  bool any = false;
  for (std::size_t k = 0; k < 3; ++k) {
    if (!object.has(axes[k])) continue;
    displacement.component[k] = object.number(axes[k]);
    any = true;
  }
  if (!any) object.refuse(object.path(), "gives no displacement; give x, y or z");
  return displacement;
}

SurfaceLoadCase read_load(const CaseObject& object) {
  object.check_keys({"pressure", "traction", "group", "box"});
  SurfaceLoadCase load;
  load.where = read_place(object);
  if (object.has("pressure") == object.has("traction")) {
    object.refuse(object.path(), "needs either a pressure or a traction");
  }
  if (object.has("pressure")) load.pressure = object.number("pressure");
  if (object.has("traction")) load.traction = object.point("traction");
  return load;
}

AnalysisCase read_statics(const CaseObject& object) {
  object.check_keys({"type", "null_space"});
  AnalysisCase analysis;
  if (object.has("null_space")) {
    const std::string name = object.text_of("null_space", {"automatic", "rigid", "none"});
    analysis.null_space = name == "rigid"  ? NullSpace::rigid
                          : name == "none" ? NullSpace::none
                                           : NullSpace::automatic;
  }
  return analysis;
}

AnalysisCase read_modes(const CaseObject& object) {
  object.check_keys({"type", "count"});
  AnalysisCase analysis;
  analysis.type = AnalysisType::modes;
  if (object.has("count")) {
    analysis.count = static_cast<int>(object.count("count", 1, EigenOptions::max_pairs));
  }
  return analysis;
}

AnalysisCase read_analysis(const CaseObject& object) {
  const std::string type = object.text_of("type", {"static", "dynamic", "corotational", "modes"});
  if (type == "static") return read_statics(object);
  if (type == "modes") return read_modes(object);
  object.check_keys({"type", "method", "beta", "gamma", "time_step", "steps", "output_every",
                     "initial_velocity"});
  AnalysisCase analysis;
  analysis.type = type == "dynamic" ? AnalysisType::dynamics : AnalysisType::corotational;
  // Fixed rotations and Newmark's method need small steps.
  if (type == "corotational") analysis.method = Method::backward_euler;
  if (object.has("method")) {
    analysis.method = object.text_of("method", {"newmark", "backward-euler"}) == "newmark"
                          ? Method::newmark
                          : Method::backward_euler;
  }
  for (const char* key : {"beta", "gamma"}) {
    if (object.has(key) && analysis.method != Method::newmark) {
      object.refuse(object.path_of(key), "applies to the method newmark, not to backward-euler");
    }
  }
  // Unconditionally stable only for gamma >= 1/2 and 4 beta >= 2 gamma; others are for small steps.
  if (object.has("beta")) analysis.beta = object.number("beta", {.least = 0, .most = 0.5});
  if (object.has("gamma")) analysis.gamma = object.number("gamma", {.least = 0.5, .most = 1});
  analysis.time_step = object.number("time_step", size);
  analysis.steps = object.count("steps", 1);
  if (object.has("output_every")) analysis.output_every = object.count("output_every", 1);
  if (object.has("initial_velocity")) {
    analysis.initial_velocity = object.point("initial_velocity");
  }
  return analysis;
}

SolverCase usual_solver(const AnalysisCase& analysis) {
  SolverCase solver;
  if (analysis.type == AnalysisType::corotational) solver.earlier_solutions = 8;
  return solver;
}

SolverCase read_solver(const CaseObject& object, const AnalysisCase& analysis) {
  object.check_keys(
      {"tolerance", "max_iterations", "earlier_solutions", "deflation", "preconditioner"});
  SolverCase solver = usual_solver(analysis);
  if (object.has("tolerance")) {
    solver.tolerance =
        object.number("tolerance", {.least = 0, .most = 1, .min_is_in = false, .max_is_in = false});
  }
  if (object.has("max_iterations")) solver.max_iterations = object.count("max_iterations", 1);
  if (object.has("earlier_solutions")) {
    solver.earlier_solutions = object.count("earlier_solutions", 0, 32);
    if (solver.earlier_solutions > 0 && !analysis.is_stepped()) {
      object.refuse(object.path_of("earlier_solutions"),
                    "applies only to analyses that take steps; leave it out");
    }
  }
  if (object.has("deflation")) {
    solver.deflation = object.count("deflation", 1, EigenOptions::max_pairs);
    if (!analysis.is_stepped()) {
      object.refuse(object.path_of("deflation"),
                    "applies only to analyses that take steps; leave it out");
    }
  }
  if (object.has("preconditioner")) {
    solver.multigrid = object.text_of("preconditioner", {"jacobi", "multigrid"}) == "multigrid";
    if (analysis.type == AnalysisType::modes) {
      object.refuse(object.path_of("preconditioner"), "does not apply to modes; leave it out");
    }
  }
  return solver;
}

}  // namespace

Case parse_case(const std::string& text, const std::string& path) {
  const json value = simulation::parse_case_json(text, path);
  const CaseObject object(value, path, "");
  object.check_keys(
      {"materials", "supports", "displacements", "loads", "gravity", "analysis", "solver"});
  Case read;
  read.path = path;
  object.each("materials",
              [&](const CaseObject& each) { read.materials.push_back(read_material(each)); });
  if (read.materials.empty()) {
    object.refuse("materials", object.has("materials") ? "is empty" : "is missing");
  }
  object.each("supports",
              [&](const CaseObject& each) { read.displacements.push_back(read_support(each)); });
  object.each("displacements", [&](const CaseObject& each) {
    read.displacements.push_back(read_displacement(each));
  });
  object.each("loads", [&](const CaseObject& each) { read.loads.push_back(read_load(each)); });
  if (object.has("gravity")) read.gravity = object.point("gravity");
  read.analysis = read_analysis(object.object("analysis"));
  read.solver = object.has("solver") ? read_solver(object.object("solver"), read.analysis)
                                     : usual_solver(read.analysis);
  const bool needs_density = read.analysis.needs_density() || read.gravity != Point{};
  for (const MaterialCase& material : read.materials) {
    if (needs_density && !material.density) {
      object.refuse(material.where.path + ".density",
                    std::string("is missing; ") +
                        (read.analysis.needs_density() ? "motion" : "gravity") + " needs it");
    }
  }
  return read;
}

Case read_case(const std::string& path) { return parse_case(detail::text_of_file(path), path); }

}  // namespace heddle::elastic
