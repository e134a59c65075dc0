// Times of approximate inverses' values on a GPU, in units of products: printed, not judged.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <iostream>
#include <string>
#include <vector>

#include "heddle/approximate_inverse.hpp"
#include "heddle/operator.hpp"
#include "support/gpu.hpp"
#include "support/random_matrix.hpp"

namespace inverse_times_gpu {
namespace {

using namespace heddle;
using namespace heddle::test;

class InverseTimes : public OnGpu {};

/// A lattice of `side`^3 nodes, connected to neighbours at a distance of 1 in each coordinate, or
/// in one of them; entries of 3 x 3, Hermitian and definite.
template <class E>
CsrMatrix<E> lattice(Index side, bool only_faces) {
  using S = stored_scalar_t<E>;
  const Index n = side * side * side;
  Array<Offset> offsets(static_cast<std::size_t>(n) + 1);
  std::vector<Index> columns;
  std::vector<S> values;
  for (Index i = 0; i < n; ++i) {
    const Index x = i % side, y = i / side % side, z = i / side / side;
    for (int step = 0; step < 27; ++step) {
      const int dx = step % 3 - 1, dy = step / 3 % 3 - 1, dz = step / 9 - 1;
      if (only_faces && std::abs(dx) + std::abs(dy) + std::abs(dz) > 1) continue;
      const auto inside = [&](Index at) { return at >= 0 && at < side; };
      if (!inside(x + dx) || !inside(y + dy) || !inside(z + dz)) continue;
      const Index j = (x + dx) + side * ((y + dy) + side * (z + dz));
      columns.push_back(j);
      for (int k = 0; k < 9; ++k) {
        const double diagonal = k % 4 == 0 ? (i == j ? 30 + i % 7 : -1) : 0.1;
        values.push_back(static_cast<S>(diagonal));
      }
    }
    offsets[static_cast<std::size_t>(i) + 1] = static_cast<Offset>(columns.size());
  }
  return CsrMatrix<E>(n, n, std::move(offsets), Array<Index>(std::span<const Index>(columns)),
                      Array<S>(std::span<const S>(values)));
}

template <class F>
double best_seconds(const Device& device, const F& queue) {
  constexpr int times = 5;
  double best = 1e30;
  for (int turn = 0; turn < 4; ++turn) {
    device.synchronize();
    const auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < times; ++i) queue();
    device.synchronize();
    const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - begin;
    best = std::min(best, passed.count() / times);
  }
  return best;
}

template <class E>
void report_times(const Device& device, const char* name, bool only_faces) {
  using S = vector_scalar_t<E>;
  const char* const side = std::getenv("HEDDLE_TEST_SIDE");
  const auto matrix = lattice<E>(side != nullptr ? std::atoi(side) : 100, only_faces);
  const Operator<E> A(matrix, parse_plan("pJDS"), device);
  Field<E> x = A.field(), y = A.field();
  const Stream& stream = device.stream();
  const auto begin = std::chrono::steady_clock::now();
  Fsai<S> fsai(A);
  const std::chrono::duration<double> making = std::chrono::steady_clock::now() - begin;
  Isai<S> isai(A);
  const double product =
      best_seconds(device, [&] { A.apply(S(1), x.view(), S(0), y.view(), stream); });
  Array<Index> row(std::span<const Index>(std::vector<Index>(1, A.rows())), device);
  const double of_fsai = best_seconds(device, [&] { fsai.queue_refresh(row.data(), stream); });
  const double of_isai = best_seconds(device, [&] { isai.queue_refresh(row.data(), stream); });
  EXPECT_EQ(row.to_host()[0], A.rows());
  std::cout << name << ": " << A.rows() << " rows, " << matrix.offsets()[std::size_t(A.rows())]
            << " entries: product " << product * 1e3 << " ms, FSAI's values " << of_fsai * 1e3
            << " ms (" << of_fsai / product << " products), ISAI's " << of_isai * 1e3 << " ms ("
            << of_isai / product << " products); the first FSAI, with pattern and kernels, "
            << making.count() << " s\n";
}

/// Prints the times; HEDDLE_TEST_SIDE is the side of the lattice, 100 by default.
TEST_F(InverseTimes, TakeSoLong) {
  report_times<block<double, 3, 3>>(device, "7 entries a row, double", true);
  report_times<block<float, 3, 3>>(device, "7 entries a row, float", true);
  report_times<block<double, 3, 3>>(device, "27 entries a row, double", false);
  report_times<block<float, 3, 3>>(device, "27 entries a row, float", false);
}

}  // namespace
}  // namespace inverse_times_gpu
