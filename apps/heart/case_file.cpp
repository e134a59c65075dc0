#include "case_file.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "../simulation/case_json.hpp"
#include "../simulation/case_object.hpp"
#include "../simulation/message_text.hpp"
#include "heddle/error.hpp"
#include "heddle/tools/points.hpp"
#include "matrix/definitions/strict_json.hpp"

namespace heddle::heart {

using nlohmann::json;
using simulation::CaseObject;
using simulation::printable;
using simulation::shortest;
using namespace points;

namespace {

/// Generous bounds for tissue: a number outside them is in another unit.
struct Quantity {
  double least;
  double most;
  const char* unit;
};
constexpr Quantity conductivity_range{1e-5, 20, "S/m"};
constexpr Quantity chi_range{1, 1000, "1/mm"};
constexpr Quantity capacitance_range{1e-3, 0.1, "uF/mm2"};
constexpr Quantity amplitude_range{1e-3, 5000, "uA/mm3"};
constexpr Quantity spacing_range{1e-3, 10, "mm"};
constexpr Quantity step_range{1e-5, 5, "ms"};
constexpr Quantity duration_range{1e-4, 1e6, "ms"};
constexpr Quantity error_range{1e-6, 20, "mV"};

double quantity(const CaseObject& object, const char* key, const Quantity& range) {
  const double value = object.number(key);
  if (value >= range.least && value <= range.most) return value;
  object.refuse(object.path_of(key), "must be from " + shortest(range.least) + " to " +
                                         shortest(range.most) + " " + range.unit + ", not " +
                                         shortest(value));
}

double quantity_or(const CaseObject& object, const char* key, const Quantity& range, double usual) {
  return object.has(key) ? quantity(object, key, range) : usual;
}

SlabCase read_slab(const CaseObject& object) {
  object.check_keys({"slab", "h", "split"});
  SlabCase slab;
  slab.sides = object.point("slab");
  // Checked before cubes are counted or made.
  check_width(std::max({slab.sides[0], slab.sides[1], slab.sides[2]}));
  slab.h = quantity(object, "h", spacing_range);
  if (object.has("split") && object.text_of("split", {"six", "five"}) == "five") {
    slab.split = mesh::CubeSplit::five;
  }
  return slab;
}

/// Conductivity of the spaces inside and outside of cells in series, along or across a fibre.
double in_series(double inside, double outside) { return inside * outside / (inside + outside); }

ConductivityCase read_pair(const CaseObject& object) {
  object.check_keys({"along", "across"});
  return {quantity(object, "along", conductivity_range),
          quantity(object, "across", conductivity_range)};
}

ConductivityCase read_conductivity(const CaseObject& object) {
  if (!object.has("intracellular") && !object.has("extracellular")) return read_pair(object);
  object.check_keys({"intracellular", "extracellular"});
  const ConductivityCase inside = read_pair(object.object("intracellular"));
  const ConductivityCase outside = read_pair(object.object("extracellular"));
  return {in_series(inside.along, outside.along), in_series(inside.across, outside.across)};
}

std::string read_word(const CaseObject& object, const char* key) {
  const json& value = object.at(key);
  if (!value.is_string()) object.refuse(object.path_of(key), "must be a string");
  auto word = value.get<std::string>();
  if (word.empty()) object.refuse(object.path_of(key), "is empty");
  return word;
}

bool read_flag(const CaseObject& object, const char* key) {
  const json& value = object.at(key);
  if (!value.is_boolean()) object.refuse(object.path_of(key), "must be true or false");
  return value.get<bool>();
}

MembraneChoice read_membrane(const CaseObject& object) {
  object.check_keys({"model", "type", "parameters"});
  MembraneChoice choice;
  choice.model = read_word(object, "model");
  if (object.has("type")) choice.type = read_word(object, "type");
  if (object.has("parameters")) {
    const CaseObject parameters = object.object("parameters");
    for (const auto& [name, value] : object.at("parameters").items()) {
      choice.parameters[name] = parameters.number(name.c_str());
    }
  }
  try {
    model_of(choice);
  } catch (const Error& error) {
    object.refuse(object.path() + ":", error.what());
  }
  return choice;
}

RegionCase read_region(const CaseObject& object, const std::optional<ConductivityCase>& of_all) {
  object.check_keys({"membrane", "conductivity", "group", "box"});
  RegionCase region;
  region.where = simulation::read_selection(object);
  region.membrane = read_membrane(object.object("membrane"));
  if (object.has("conductivity")) {
    region.conductivity = read_conductivity(object.object("conductivity"));
  } else if (of_all) {
    region.conductivity = *of_all;
  } else {
    object.refuse(object.path_of("conductivity"), "is missing, here and for the whole tissue");
  }
  return region;
}

Point read_direction(const CaseObject& object, const char* key) {
  const Point direction = object.point(key);
  const double size = length(direction);
  if (!(size > 0) || !std::isfinite(size)) {
    object.refuse(object.path_of(key), "must have a length above 0");
  }
  return (1 / size) * direction;
}

FibreCase read_fibres(const CaseObject& object, const std::string& case_path) {
  FibreCase fibres;
  if (object.has("direction")) {
    object.check_keys({"direction"});
    fibres.direction = read_direction(object, "direction");
    return fibres;
  }
  if (object.has("file")) {
    object.check_keys({"file"});
    fibres.type = FibreCase::Type::file;
    const std::string name = read_word(object, "file");
    if (name.empty()) object.refuse(object.path_of("file"), "must be the name of a file");
    // The name is relative to the case file.
    const auto folder = std::filesystem::path(case_path).parent_path();
    fibres.file = (folder / name).string();
    return fibres;
  }
  object.check_keys({"from", "to", "angles", "axis"});
  fibres.type = FibreCase::Type::wall;
  fibres.from = simulation::read_place(object.object("from"));
  fibres.to = simulation::read_place(object.object("to"));
  const json& angles = object.at("angles");
  if (!angles.is_array() || angles.size() != 2 || !angles[0].is_number() ||
      !angles[1].is_number()) {
    object.refuse(object.path_of("angles"), "must be two numbers, in degrees");
  }
  fibres.angle_from = angles[0].get<double>();
  fibres.angle_to = angles[1].get<double>();
  if (!(std::abs(fibres.angle_from) <= 180) || !(std::abs(fibres.angle_to) <= 180)) {
    object.refuse(object.path_of("angles"), "must be from -180 to 180 degrees");
  }
  fibres.axis = read_direction(object, "axis");
  return fibres;
}

StimulusCase read_stimulus(const CaseObject& object) {
  object.check_keys({"group", "box", "start", "duration", "amplitude", "period", "count"});
  StimulusCase stimulus;
  stimulus.where = simulation::read_place(object);
  if (object.has("start")) stimulus.start = object.number("start", {.least = 0, .most = 1e6});
  stimulus.duration = quantity(object, "duration", duration_range);
  stimulus.amplitude = quantity(object, "amplitude", amplitude_range);
  if (object.has("period") != object.has("count")) {
    object.refuse(object.path(),
                  "has only one of period and count; give both, or neither for one pulse");
  }
  if (!object.has("period")) return stimulus;
  stimulus.period = quantity(object, "period", duration_range);
  stimulus.count = object.count("count", 1);
  if (stimulus.period < stimulus.duration) {
    object.refuse(object.path_of("period"), "is shorter than the duration");
  }
  return stimulus;
}

/// Number of steps in a time, which must be a whole number of them.
long long steps_of(const CaseObject& object, const char* key, double step) {
  const double time = quantity(object, key, duration_range);
  const double steps = std::round(time / step);
  if (steps < 1 || !(std::abs(steps * step - time) <= 1e-6 * step)) {
    object.refuse(object.path_of(key),
                  "is not a whole number of time steps of " + shortest(step) + " ms");
  }
  if (steps > 1e9) object.refuse(object.path_of(key), "takes more than 1e9 time steps");
  return static_cast<long long>(steps);
}

AdaptiveCase read_adaptive(const CaseObject& object, double step) {
  object.check_keys({"tolerance", "max_step"});
  AdaptiveCase adaptive;
  if (object.has("tolerance")) adaptive.tolerance = quantity(object, "tolerance", error_range);
  if (!object.has("max_step")) return adaptive;
  adaptive.max_step = quantity(object, "max_step", step_range);
  if (*adaptive.max_step < step) {
    object.refuse(object.path_of("max_step"),
                  "is shorter than the time step, " + shortest(step) + " ms");
  }
  return adaptive;
}

TimeCase read_time(const CaseObject& object) {
  TimeCase time;
  if (object.has("scheme") && object.text_of("scheme", {"splitting", "newton"}) == "newton") {
    object.check_keys({"step", "end", "scheme", "adaptive"});
    time.scheme = Scheme::newton;
  } else if (object.has("adaptive")) {
    object.refuse(object.path_of("adaptive"), "applies only to the scheme newton");
  } else {
    object.check_keys({"step", "end", "scheme", "splitting", "theta", "mass", "ionic_current"});
  }
  time.step = quantity(object, "step", step_range);
  time.steps = steps_of(object, "end", time.step);
  if (object.has("adaptive")) time.adaptive = read_adaptive(object.object("adaptive"), time.step);
  if (object.has("splitting") && object.text_of("splitting", {"godunov", "strang"}) == "strang") {
    time.splitting = Splitting::strang;
  }
  if (object.has("theta")) time.theta = object.number("theta", {.least = 0.5, .most = 1});
  if (object.has("mass") && object.text_of("mass", {"consistent", "lumped"}) == "lumped") {
    time.mass = Mass::lumped;
  }
  if (object.has("ionic_current") &&
      object.text_of("ionic_current", {"nodes", "integration-points"}) == "integration-points") {
    time.ionic_current = CurrentPlace::integration_points;
  }
  return time;
}

/// A stimulus acts in whole steps of the membranes; one shorter than a step may act in none.
void check_pulses(const CaseObject& object, const Case& read) {
  const TimeCase& time = read.time;
  const double step = time.splitting == Splitting::strang ? time.step / 2 : time.step;
  for (const StimulusCase& stimulus : read.stimuli) {
    // Rounding must not make a step of 0.1 longer than a pulse of 0.1.
    if (stimulus.duration >= step * (1 - 1e-9)) continue;
    object.refuse(stimulus.where.path + ".duration",
                  "is shorter than a step of the membranes, " + shortest(step) + " ms");
  }
}

SolverCase read_solver(const CaseObject& object) {
  object.check_keys({"tolerance", "max_iterations", "guess"});
  SolverCase solver;
  if (object.has("tolerance")) {
    solver.tolerance = object.number("tolerance", {.least = 0, .most = 1e-2, .min_is_in = false});
  }
  if (object.has("max_iterations")) solver.max_iterations = object.count("max_iterations", 1);
  if (object.has("guess") && object.text_of("guess", {"last", "extrapolated"}) == "last") {
    solver.guess = Guess::last;
  }
  return solver;
}

std::vector<NamedPoint> read_points(const CaseObject& object, const char* key) {
  std::vector<NamedPoint> points;
  if (!object.has(key)) return points;
  const CaseObject list = object.object(key);
  for (const auto& [name, value] : object.at(key).items()) {
    // Names go into the first line of a file of comma-separated values.
    if (name.empty() || name != printable(name) || name.find_first_of(",\"") != std::string::npos) {
      object.refuse(object.path_of(key),
                    "has a name that is empty, too long or not plain text: " + printable(name));
    }
    points.emplace_back(name, list.point(name.c_str()));
  }
  return points;
}

}  // namespace

void check_width(double width) {
  constexpr double least = 0.5, most = 1000;
  if (width >= least && width <= most) return;
  throw Error(ErrorKind::malformed_file,
              "the mesh is " + shortest(width) + " mm wide, as its coordinates are in mm; heart " +
                  "muscle is from " + shortest(least) + " to " + shortest(most) + " mm wide");
}

Case parse_case(const std::string& text, const std::string& path) {
  const json value = simulation::parse_case_json(text, path);
  const CaseObject object(value, path, "");
  object.check_keys({"mesh", "regions", "conductivity", "chi", "Cm", "fibres", "stimuli", "time",
                     "output_every", "trace_every", "activation_threshold", "points", "electrodes",
                     "solver", "tables"});
  Case read;
  read.path = path;
  if (object.has("mesh")) read.slab = read_slab(object.object("mesh"));
  std::optional<ConductivityCase> of_all;
  if (object.has("conductivity")) of_all = read_conductivity(object.object("conductivity"));
  object.each("regions",
              [&](const CaseObject& each) { read.regions.push_back(read_region(each, of_all)); });
  if (read.regions.empty()) {
    object.refuse("regions", object.has("regions") ? "is empty" : "is missing");
  }
  read.chi = quantity_or(object, "chi", chi_range, read.chi);
  read.Cm = quantity_or(object, "Cm", capacitance_range, read.Cm);
  if (object.has("fibres")) read.fibres = read_fibres(object.object("fibres"), path);
  object.each("stimuli",
              [&](const CaseObject& each) { read.stimuli.push_back(read_stimulus(each)); });
  if (read.stimuli.size() > 32) object.refuse("stimuli", "has more than 32 entries");
  read.time = read_time(object.object("time"));
  check_pulses(object, read);
  read.output_every = object.has("output_every") ? steps_of(object, "output_every", read.time.step)
                                                 : read.time.steps;
  if (object.has("trace_every")) {
    read.trace_every = steps_of(object, "trace_every", read.time.step);
  } else if (read.time.adaptive) {
    read.trace_every = 0;
  }
  if (object.has("activation_threshold")) {
    read.activation_threshold = object.number("activation_threshold", {.least = -90, .most = 60});
  }
  if (object.has("tables")) read.tables = read_flag(object, "tables");
  read.points = read_points(object, "points");
  read.electrodes = read_points(object, "electrodes");
  if (object.has("solver")) read.solver = read_solver(object.object("solver"));
  if (read.time.scheme == Scheme::newton && object.has("solver") &&
      object.object("solver").has("guess")) {
    object.refuse("solver.guess", "applies only to the scheme splitting");
  }
  return read;
}

Case read_case(const std::string& path) { return parse_case(detail::text_of_file(path), path); }

}  // namespace heddle::heart
