// `PROGRAM poisson|elasticity ROWS ...`: the problems for programs of other libraries' multigrids.
#pragma once

#include <charconv>
#include <cstdio>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

#include "heddle/problems.hpp"

namespace heddle::bench {

struct ModelProblem {
  std::string name;
  Index rows = 0;
};

/// The problem named by the first two arguments. If they name none, writes the usage of `program`
/// to standard error and returns nothing.
inline std::optional<ModelProblem> model_problem_of(int count, char** arguments,
                                                    const char* program, const char* others) {
  if (count > 2) {
    ModelProblem problem{arguments[1], 0};
    const std::string_view size = arguments[2];
    const char* const end = size.data() + size.size();
    const auto [after, error] = std::from_chars(size.data(), end, problem.rows);
    const bool is_number = error == std::errc() && after == end && problem.rows >= 4;
    if (is_number && (problem.name == "poisson" || problem.name == "elasticity")) return problem;
  }
  std::fprintf(stderr, "usage: %s poisson|elasticity ROWS [%s...]\n", program, others);
  return std::nullopt;
}

}  // namespace heddle::bench
