// --scaling of `heddle info`: the predicted scaling of a matrix over the devices of a network.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>

#include "description/scaling.hpp"
#include "heddle/runtime/settings.hpp"
#include "run_files.hpp"

namespace heddle::cli {

class ScalingOptions {
 public:
  void add_to(CLI::App& command);
  /// Throws `Error` (usage) for unknown names, and for options without --scaling.
  void check() const;
  void add_outputs(RunFiles& files) const;

  /// None without --scaling.
  std::optional<detail::ScalingQuestion> question() const;
  /// Draws the picture, if one is asked for.
  void draw(const detail::Scaling& scaling, const std::string& title,
            const std::string& words) const;

 private:
  Settings settings_;
  std::optional<std::string> picture_;
};

void print(const detail::Scaling& scaling);

}  // namespace heddle::cli
