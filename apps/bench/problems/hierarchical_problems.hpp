// Matrices of the kinds measured in the paper on HiSparse (Derler et al. 2017, figure 4), of any
// size, and the second operand of each matrix's sums.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "heddle/tools/random_field.hpp"
#include "heddle/triplets.hpp"
#include "problem.hpp"

namespace heddle::bench {

std::vector<ProblemName> hierarchical_problems();
Problem make_hierarchical_problem(const ProblemName& problem);

/// Approximately normal, with mean 0 and deviation 1: the sum of twelve uniform numbers less 6,
/// which rounds the same way on every machine.
inline double normal_number(std::uint64_t seed, std::uint64_t place) {
  double sum = 0;
  for (std::uint64_t k = 0; k < 12; ++k) sum += 0.5 * random_component(seed, 12 * place + k);
  return sum;
}

/// B of the paper's sums (section 7): each entry of A is moved by a normal distribution of
/// deviation 10 in both directions; entries that land in the same place are summed.
template <class E>
CsrMatrix<E> moved_entries(const CsrMatrix<E>& A, const Device& device) {
  constexpr std::uint64_t by_row = 2001, by_column = 2002;
  constexpr double deviation = 10;
  std::vector<Triplet<E>> triplets;
  triplets.reserve(static_cast<std::size_t>(A.entries()));
  const auto moved = [](std::uint64_t seed, Offset i, Index from, Index size) {
    const double by = deviation * normal_number(seed, static_cast<std::uint64_t>(i));
    return static_cast<Index>(std::clamp<Offset>(from + std::llround(by), 0, size - 1));
  };
  for (Index row = 0; row < A.rows(); ++row) {
    const auto r = static_cast<std::size_t>(row);
    for (Offset i = A.offsets()[r]; i < A.offsets()[r + 1]; ++i) {
      triplets.push_back({moved(by_row, i, row, A.rows()),
                          moved(by_column, i, A.column()[static_cast<std::size_t>(i)], A.columns()),
                          A.entry(i)});
    }
  }
  return assemble<E>(A.rows(), A.columns(), std::span<const Triplet<E>>(triplets), device).matrix;
}

}  // namespace heddle::bench
