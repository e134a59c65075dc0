// Uses that `heddle bench` makes of earlier runs.
#pragma once

#include <optional>
#include <string>

namespace heddle::cli {

/// Prints how two runs differ; returns 1 if something is slower, else 0.
int compare_files(const std::string& before, const std::string& after, double threshold);

/// Writes the page of results to `output` or standard output. It covers the runs in `folder`, and
/// those of simulations and of tuning in its subfolders. Throws `Error`.
void write_results(const std::string& folder, const std::optional<std::string>& output);

}  // namespace heddle::cli
