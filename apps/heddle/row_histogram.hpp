// --histogram of `heddle info`: how many rows have each length, as a picture.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>

#include "heddle/csr.hpp"
#include "run_files.hpp"

namespace heddle::cli {

class HistogramOption {
 public:
  void add_to(CLI::App& command);
  void add_outputs(RunFiles& files) const;

  /// Draws the picture, if one is asked for: the share of rows of each length on a logarithmic axis
  /// (Kreutzer et al. 2012, figure 3). `name` is that of the matrix.
  void draw(const PatternView& pattern, const std::string& name) const;

 private:
  std::optional<std::string> picture_;
};

}  // namespace heddle::cli
