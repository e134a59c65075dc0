#include "unusual_values.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "../simulation/message_text.hpp"
#include "membranes/model_parameters.hpp"

namespace heddle::heart {

using simulation::shortest;

namespace {

/// Usual values in ventricular and atrial muscle, healthy or not, within the bounds of `read_case`.
struct UsualRange {
  const char* what;
  double least;
  double most;
  const char* unit;
};
constexpr UsualRange usual_along{"the conductivity along fibres", 0.003, 1, "S/m"};
constexpr UsualRange usual_across{"the conductivity across fibres", 0.003, 1, "S/m"};
constexpr UsualRange usual_chi{"chi", 20, 500, "1/mm"};
constexpr UsualRange usual_capacitance{"Cm", 0.003, 0.05, "uF/mm2"};
constexpr UsualRange usual_amplitude{"the amplitude", 1, 500, "uA/mm3"};
constexpr UsualRange usual_duration{"the duration", 0.02, 200, "ms"};
constexpr UsualRange usual_step{"the step", 0.0005, 5, "ms"};

class UnusualValues {
 public:
  explicit UnusualValues(const Case& given) : given_(given) {}

  /// Reports the first unusual value of its kind only.
  template <class Values, class Value>
  void check(const UsualRange& range, const char* list, const Values& values, const Value& value) {
    for (std::size_t i = 0; i < values.size(); ++i) {
      const double number = value(values[i]);
      if (is_usual(range, number)) continue;
      add(std::string(list) + "[" + std::to_string(i) + "]: ", range, number);
      return;
    }
  }
  void check(const UsualRange& range, const std::string& place, double value) {
    if (!is_usual(range, value)) add(place, range, value);
  }
  void tell(const std::string& text) { lines_.push_back(given_.path + ": " + text); }
  std::vector<std::string> lines() const { return lines_; }

 private:
  static bool is_usual(const UsualRange& range, double value) {
    return value >= range.least && value <= range.most;
  }
  void add(const std::string& place, const UsualRange& range, double value) {
    tell(place + range.what + " is " + shortest(value) + " " + range.unit + "; usual values are " +
         shortest(range.least) + " to " + shortest(range.most));
  }

  const Case& given_;
  std::vector<std::string> lines_;
};

void check_membranes(const Case& given, UnusualValues& found) {
  std::vector<std::string> reported;  // regions often share a membrane
  for (std::size_t i = 0; i < given.regions.size(); ++i) {
    const MembraneChoice& choice = given.regions[i].membrane;
    for (const KnownParameter& known : parameters_of(choice)) {
      const auto set = choice.parameters.find(known.name);
      if (set == choice.parameters.end() || known.is_usual(set->second)) continue;
      const std::string unit = known.unit == "1" ? "" : " " + known.unit;
      std::string text = "the parameter " + known.name + " of " + choice.model + " is ";
      text += shortest(set->second) + unit + "; its default is ";
      text += shortest(known.own) + unit;
      if (std::find(reported.begin(), reported.end(), text) != reported.end()) continue;
      reported.push_back(text);
      found.tell("regions[" + std::to_string(i) + "].membrane: " + text);
    }
  }
}

/// Cells meet end to end along fibres, the direction in which muscle conducts best.
void check_anisotropy(const Case& given, UnusualValues& found) {
  for (std::size_t i = 0; i < given.regions.size(); ++i) {
    const auto& [along, across] = given.regions[i].conductivity;
    if (across <= along) continue;
    found.tell("regions[" + std::to_string(i) + "]: the conductivity across fibres, " +
               shortest(across) + " S/m, is above that along them, " + shortest(along) + " S/m");
    return;
  }
}

void check_wall(const FibreCase& fibres, UnusualValues& found) {
  constexpr double half_turn = 3.2;  // radians, rounded up
  const double largest = std::max(std::abs(fibres.angle_from), std::abs(fibres.angle_to));
  if (fibres.type != FibreCase::Type::wall || largest == 0 || largest > half_turn) return;
  found.tell("fibres: angles are in degrees, and " + shortest(largest) +
             " is the largest; are they in radians?");
}

void check_times(const Case& given, UnusualValues& found) {
  found.check(usual_step, "time: ", given.time.step);
  for (std::size_t i = 0; i < given.stimuli.size(); ++i) {
    const StimulusCase& stimulus = given.stimuli[i];
    if (stimulus.start < given.time.end()) continue;
    found.tell("stimuli[" + std::to_string(i) + "] never acts: it begins at " +
               shortest(stimulus.start) + " ms, and the case ends at " +
               shortest(given.time.end()) + " ms");
  }
}

}  // namespace

std::vector<std::string> unusual_values(const Case& given) {
  UnusualValues found(given);
  found.check(usual_along, "regions", given.regions,
              [](const RegionCase& region) { return region.conductivity.along; });
  found.check(usual_across, "regions", given.regions,
              [](const RegionCase& region) { return region.conductivity.across; });
  check_anisotropy(given, found);
  found.check(usual_chi, "", given.chi);
  found.check(usual_capacitance, "", given.Cm);
  found.check(usual_amplitude, "stimuli", given.stimuli,
              [](const StimulusCase& stimulus) { return stimulus.amplitude; });
  found.check(usual_duration, "stimuli", given.stimuli,
              [](const StimulusCase& stimulus) { return stimulus.duration; });
  check_times(given, found);
  check_wall(given.fibres, found);
  check_membranes(given, found);
  return found.lines();
}

}  // namespace heddle::heart
