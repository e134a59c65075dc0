// The options that simulations share: a mesh, a case, and the output common to all.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "../command/run_files.hpp"
#include "../command/run_options.hpp"

namespace heddle::simulation {

struct CaseOptions : cli::RunOptions {
  std::string mesh;  // empty if the case has one
  std::string case_path;
  std::optional<std::string> output;   // one state (.vtu) or a series (.pvd)
  std::optional<std::string> picture;  // .png

  /// The files that these options read and write. Throws `Error` (usage) for unknown endings.
  /// `others`, which the run writes too, may have names of the series' states, see
  /// `FrameWriter::names_of`.
  cli::RunFiles files(const std::vector<std::optional<std::string>>& others) const;
};

}  // namespace heddle::simulation
