#include "run_identity.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <utility>

#include "../simulation/message_text.hpp"
#include "fingerprint.hpp"
#include "heddle/plan.hpp"

namespace heddle::heart {

namespace {

constexpr const char* pulses_name = "stimuli before its time";

/// Pairs of items: the second differs wherever the first does.
constexpr std::pair<const char*, const char*> consequences[] = {
    {"mesh", "regions"},
    {"mesh", "fibres"},
    {"mesh", "order of the rows"},
    {"plan", "order of the rows"},
    {"mesh", pulses_name},
    {"time step", pulses_name},
    {"conductivity, chi or Cm", pulses_name}};

template <class Add>
std::string fingerprint(const Add& add) {
  Fingerprint print;
  add(print);
  char text[20];
  std::snprintf(text, sizeof text, "#%016llx", static_cast<unsigned long long>(print.value()));
  return text;
}

template <class T>
std::string fingerprint_of_all(const std::vector<T>& values) {
  return fingerprint([&](Fingerprint& print) {
    for (const T& value : values) print.add(value);
  });
}

std::string of_membranes(const Model& model) {
  return fingerprint([&](Fingerprint& print) {
    for (const MembraneChoice& membrane : model.membrane) {
      print.add_text(membrane.model);
      print.add_text(membrane.type);
      for (const auto& [name, value] : membrane.parameters) {
        print.add_text(name);
        print.add(value);
      }
    }
  });
}

std::string of_mesh(const Model& model) {
  return fingerprint([&](Fingerprint& print) {
    for (const Point& p : model.position) print.add(p);
    for (const Tetrahedron& t : model.tetrahedron) print.add(t);
  });
}

std::string of_rows(const Operator<Number>& matrix) {
  const Basis& basis = *matrix.row_basis();
  return fingerprint([&](Fingerprint& print) {
    for (Index i = 0; i < matrix.rows(); ++i) print.add(basis.user_row(i));
  });
}

std::string of_diffusivities(const Model& model) {
  return fingerprint([&](Fingerprint& print) {
    for (const auto& [along, across] : model.diffusivity) {
      print.add(along);
      print.add(across);
    }
  });
}

std::string of_step(const TimeCase& time) {
  using simulation::shortest;
  if (!time.adaptive) return shortest(time.step);
  const auto& [tolerance, max_step] = *time.adaptive;
  return shortest(time.step) + " to " + (max_step ? shortest(*max_step) : "usual") + " within " +
         shortest(tolerance) + " mV";
}

std::string of_place(const Model& model, std::size_t stimulus) {
  return fingerprint([&](Fingerprint& print) {
    for (std::size_t v = 0; v < model.stimuli_of_vertex.size(); ++v) {
      if ((model.stimuli_of_vertex[v] & (1U << stimulus)) != 0) print.add(v);
    }
  });
}

}  // namespace

RunIdentity::RunIdentity(const Model& model, const TissueSystem& system, const Case& given)
    : stimuli_(model.stimuli), step_(given.time.step) {
  using simulation::shortest;
  const TimeCase& time = given.time;
  items_ = {
      {"mesh", of_mesh(model)},
      {"regions", fingerprint_of_all(model.region)},
      {"membranes", of_membranes(model)},
      {"conductivity, chi or Cm", of_diffusivities(model)},
      {"fibres", fingerprint_of_all(model.fibre)},
      {"time step", of_step(time)},
      {"scheme", time.scheme == Scheme::newton ? "newton" : "splitting"},
      {"splitting", time.splitting == Splitting::strang ? "strang" : "godunov"},
      {"theta", shortest(time.theta)},
      {"mass", time.mass == Mass::lumped ? "lumped" : "consistent"},
      {"ionic_current", time.ionic_current == CurrentPlace::nodes ? "nodes" : "integration-points"},
      {"guess", given.solver.guess == Guess::last ? "last" : "extrapolated"},
      {"tolerance", shortest(given.solver.tolerance)},
      {"activation_threshold", shortest(given.activation_threshold)},
      {"tables", system.is_tabulated() ? "true" : "false"},
      {"plan", to_string(system.matrix().plan())},
      {"order of the rows", of_rows(system.matrix())}};
  for (std::size_t k = 0; k < stimuli_.size(); ++k) places_.push_back(of_place(model, k));
}

Identity RunIdentity::after(long long steps) const {
  const double time = static_cast<double>(steps) * step_;
  Identity items = items_;
  items.push_back(
      {"stimuli before its time", fingerprint([&](Fingerprint& print) {
         for (std::size_t k = 0; k < stimuli_.size(); ++k) {
           const Stimulus& stimulus = stimuli_[k];
           const double since = time - stimulus.start;
           if (!(since > 1e-6 * step_)) continue;
           const double most = stimulus.count > 0 ? static_cast<double>(stimulus.count) : HUGE_VAL;
           const double pulses =
               stimulus.period > 0 ? std::min(most, std::floor(since / stimulus.period) + 1) : 1;
           print.add_text(places_[k]);
           print.add(stimulus.start);
           print.add(stimulus.duration);
           print.add(stimulus.amplitude);
           print.add(pulses);
           print.add(pulses > 1 ? stimulus.period : 0);
         }
       })});
  return items;
}

std::string differences(const Identity& of_state, const Identity& of_run) {
  struct Difference {
    const IdentityItem* there;  // null: the state lacks the item
    const IdentityItem* here;
  };
  std::vector<Difference> different;
  for (const IdentityItem& item : of_run) {
    const auto there =
        std::find_if(of_state.begin(), of_state.end(),
                     [&](const IdentityItem& other) { return other.name == item.name; });
    const IdentityItem* const found = there == of_state.end() ? nullptr : &*there;
    if (found == nullptr || found->value != item.value) different.push_back({found, &item});
  }
  for (const auto& [cause, effect] : consequences) {
    const auto is = [](const char* name) {
      return [name](const Difference& d) { return d.here->name == name; };
    };
    if (std::any_of(different.begin(), different.end(), is(cause))) {
      std::erase_if(different, is(effect));
    }
  }
  std::string text;
  for (const auto& [there, here] : different) {
    text += (text.empty() ? "" : ", ") + here->name;
    if (there == nullptr || there->value.starts_with('#')) continue;
    text += " (" + simulation::printable(there->value) + ", not " + here->value + ")";
  }
  return text;
}

}  // namespace heddle::heart
