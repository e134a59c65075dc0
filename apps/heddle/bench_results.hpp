// What `heddle bench` makes of runs that were measured before.
#pragma once

#include <optional>
#include <string>

namespace heddle::cli {

/// Prints how two runs differ; 1 where something is slower, else 0.
int compare_files(const std::string& before, const std::string& after, double threshold);

/// The page of results of the runs in `folder`, of simulations and of tuning in folders of it, to
/// `output` or standard output. Throws `Error`.
void write_results(const std::string& folder, const std::optional<std::string>& output);

}  // namespace heddle::cli
