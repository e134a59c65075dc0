// Ranks that assemble a matrix by parts and solve with it together: a grid of springs that join
// points to their neighbours in space, 3x3 blocks. Here ranks are threads of one process; with
// `heddle/mpi.hpp` the same function takes processes of MPI.
#include <iostream>
#include <span>
#include <vector>

#include "heddle/communicator.hpp"
#include "heddle/conjugate_gradient.hpp"
#include "heddle/distributed_operator.hpp"
#include "heddle/partition.hpp"

using E = heddle::block<double, 3, 3>;

constexpr long long side = 16;
constexpr long long points = side * side * side;

/// A spring along an axis resists stretching more than shearing.
E spring(int axis, double sign) {
  E block{};
  for (long long k = 0; k < 3; ++k) block.component[4 * k] = sign * (k == axis ? 1.0 : 0.25);
  return block;
}

void add_point(long long point, heddle::RankRows& rows, std::vector<E>& values) {
  const long long steps[] = {1, side, side * side};
  const long long place[] = {point % side, point / side % side, point / (side * side)};
  E diagonal{};
  for (long long k = 0; k < 3; ++k) diagonal.component[4 * k] = 0.01;  // each is held a little
  for (int axis = 0; axis < 3; ++axis) {
    for (const int direction : {-1, 1}) {
      const long long there = place[axis] + direction;
      if (there < 0 || there >= side) continue;
      rows.columns.push_back(point + direction * steps[axis]);
      values.push_back(spring(axis, -1));
      for (int c = 0; c < 9; ++c) diagonal.component[c] += spring(axis, 1).component[c];
    }
  }
  rows.columns.push_back(point);
  values.push_back(diagonal);
  rows.offsets.push_back(static_cast<heddle::Offset>(values.size()));
}

/// Finds where gravity pulls the points: writes this rank's part of `x`, which all ranks may write
/// to.
heddle::Report solve(heddle::Communicator& ranks, std::vector<double>& x) {
  const auto partition = heddle::Partition::even(points, ranks.size());
  const long long first = partition.first_row(ranks.rank());
  const auto count = static_cast<heddle::Index>(partition.rows_of(ranks.rank()));
  heddle::RankRows rows;
  std::vector<E> values;
  for (heddle::Index k = 0; k < count; ++k) add_point(first + k, rows, values);

  const auto A = heddle::distribute<E>(ranks, partition, rows, std::span<const E>(values));
  heddle::ConjugateGradient<double> solver(A, A->jacobi());
  std::vector<double> b(static_cast<std::size_t>(3 * count));
  for (heddle::Index k = 0; k < count; ++k) b[static_cast<std::size_t>(3 * k + 2)] = -1e-3;
  return solver.solve(heddle::FieldView<const double>(b.data(), count, 3),
                      heddle::FieldView<double>(x.data() + 3 * first, count, 3));
}

int main() {
  std::vector<double> first;
  for (const int count : {1, 2, 3, 8}) {
    std::vector<double> x(3 * points);
    heddle::Report report;
    heddle::run_on_ranks(count, [&](heddle::Communicator& ranks) {
      const heddle::Report mine = solve(ranks, x);
      if (ranks.rank() == 0) report = mine;
    });
    if (first.empty()) first = x;
    std::cout << count << " ranks: " << name(report.status) << " in " << report.iterations
              << " iterations, " << (x == first ? "the same bits" : "other bits") << "\n";
    if (!report.converged() || x != first) return 1;
  }
}
