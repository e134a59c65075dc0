// What a state of a run depends on: with anything else it would not go on as its run did.
#pragma once

#include <string>
#include <vector>

#include "case_file.hpp"
#include "model.hpp"
#include "tissue_system.hpp"

namespace heddle::heart {

/// "time step" and "0.05"; of larger things, as a mesh, a fingerprint behind '#'.
struct IdentityItem {
  std::string name;
  std::string value;
};
using Identity = std::vector<IdentityItem>;

class RunIdentity {
 public:
  RunIdentity(const Model& model, const TissueSystem& system, const Case& given);

  /// Of a state after so many steps: of stimuli, those pulses that began before it.
  Identity after(long long steps) const;

 private:
  Identity items_;
  std::vector<Stimulus> stimuli_;
  std::vector<std::string> places_;  // fingerprints of their vertices
  double step_;                      // ms
};

/// The names of the items that differ, with both values where they can be read: "time step (0.05,
/// not 0.025), membranes". What only follows from others is left out. Empty where none differs.
std::string differences(const Identity& of_state, const Identity& of_run);

}  // namespace heddle::heart
