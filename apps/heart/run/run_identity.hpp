// The items that a run's state depends on: if any differed, the run would continue differently.
#pragma once

#include <string>
#include <vector>

#include "case_file.hpp"
#include "model.hpp"
#include "tissue_system.hpp"

namespace heddle::heart {

/// "time step" and "0.05"; for larger things, such as a mesh, a fingerprint after '#'.
struct IdentityItem {
  std::string name;
  std::string value;
};
using Identity = std::vector<IdentityItem>;

class RunIdentity {
 public:
  RunIdentity(const Model& model, const TissueSystem& system, const Case& given);

  /// Identity of a state after `steps` steps: of stimuli, it has the pulses that began before it.
  Identity after(long long steps) const;

 private:
  Identity items_;
  std::vector<Stimulus> stimuli_;
  std::vector<std::string> places_;  // fingerprints of the stimuli's vertices
  double step_;                      // ms
};

/// Names of the items that differ, with both values where they are readable: "time step (0.05, not
/// 0.025), membranes". Items that only follow from others are left out. Empty if none differs.
std::string differences(const Identity& of_state, const Identity& of_run);

}  // namespace heddle::heart
