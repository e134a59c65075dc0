#include "sum_levels.hpp"

#include <cstddef>

#include "run_pass.hpp"

namespace heddle::heart {

std::vector<Array<double>> sum_levels(Offset sums, Offset terms, const Device& device) {
  std::vector<Array<double>> levels;
  if (sums == 0) return levels;
  do {
    terms = (terms + SumPass::width - 1) / SumPass::width;
    levels.emplace_back(static_cast<std::size_t>(sums * terms), device);
  } while (terms > 1);
  return levels;
}

const double* queue_sums(const double* weight, const double* term, Offset terms, Offset sums,
                         std::vector<Array<double>>& levels, const Stream& stream) {
  for (Array<double>& level : levels) {
    const Offset of_each = static_cast<Offset>(level.size()) / sums;
    run(SumPass{sums * of_each, of_each, terms, weight, term, level.data()}, stream);
    weight = nullptr;
    term = level.data();
    terms = of_each;
  }
  return term;
}

}  // namespace heddle::heart
