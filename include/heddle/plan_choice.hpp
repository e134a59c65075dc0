// The plan that a matrix gets where nobody named one, and why: what profiles know, else a
// prediction.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "heddle/any_matrix.hpp"
#include "heddle/profile.hpp"

namespace heddle {

struct PlanChoice {
  Plan plan;
  std::string reason;  // "tuned for this pattern (profile.json)", "predicted: no profile", ...
};

/// Profiles in the order in which they are asked: a named file, that of HEDDLE_PROFILE, those of
/// the user's cache folder ($XDG_CACHE_HOME/heddle/profiles or ~/.cache/heddle/profiles), and those
/// that come with the library. What cannot be used (of another device, of a newer schema, broken)
/// is left out with a warning of one line; a solve never fails for it.
class Profiles {
 public:
  /// None at all: every plan is a prediction.
  Profiles() = default;
  /// A named file that is not there or broken is an error (bad_plan), since somebody asked for
  /// it; one from another device, or of a newer schema, is a warning.
  static Profiles for_device(const Device& device, const std::optional<std::string>& path = {});

  PlanChoice choose(const AnyMatrix& matrix, const Device& device, Objective objective) const;

  const std::vector<std::string>& warnings() const { return warnings_; }

 private:
  struct Source {
    std::string path;
    Profile profile;
  };
  std::vector<Source> sources_;
  std::vector<std::string> warnings_;
};

/// Where `tune` writes without a file being named.
std::string profile_folder();

}  // namespace heddle
