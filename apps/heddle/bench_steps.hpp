// Which problems `heddle bench` measures, and by which suites.
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
  std::string path;  // of one that is read
  std::vector<std::string> suites;
  double weight = 1;  // of the time that all take, about
};

/// Those that the options ask for, in the order in which they run. Throws `Error`: usage for names
/// that there are not and where nothing is left, io for a folder that cannot be read.
std::vector<BenchStep> steps_of(const BenchOptions& options, const Device& device);

/// Those of them that are generated, perhaps none.
std::vector<BenchStep> generated_steps(const BenchOptions& options, const Device& device);

/// Prints the generated ones.
void list_steps(const BenchOptions& options, const Device& device);

}  // namespace heddle::cli
