// The problems that `heddle bench` measures, and the suites that measure them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "bench_options.hpp"
#include "suites/suite.hpp"

namespace heddle::cli {

/// One problem and the suites that take it.
struct BenchStep {
  std::string name;
  std::optional<bench::ProblemName> generated;
  std::string path;  // the file of a problem that is read
  std::vector<std::string> suites;
  double weight = 1;  // approximate share of the total time
};

/// The steps that the options ask for, in the order in which they run. Throws `Error`: usage for
/// unknown names and if nothing is left, io for a folder that cannot be read.
std::vector<BenchStep> steps_of(const BenchOptions& options, const Device& device);

/// The generated ones among them, perhaps none.
std::vector<BenchStep> generated_steps(const BenchOptions& options, const Device& device);

/// Prints the generated steps.
void list_steps(const BenchOptions& options, const Device& device);

}  // namespace heddle::cli
