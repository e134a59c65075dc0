// Runs in the release.
// The same bits for any number of threads and any schedule: y, the fused dot, the fused residual.
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "support/product_check.hpp"

namespace {

using namespace heddle;
using namespace heddle::test;

constexpr int thread_counts[] = {1, 2, 3, 5};
constexpr const char* schedules[] = {"schedule=static", "schedule=dynamic,chunk=1",
                                     "schedule=dynamic,chunk=4", "schedule=dynamic,chunk=1000"};

template <class S>
bool same_bits(const std::vector<S>& a, const std::vector<S>& b) {
  return a.size() == b.size() &&
         (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(S)) == 0);
}

template <class E>
struct Results {
  std::vector<vector_scalar_t<E>> y, dotted, residual;
  double dot = 0, squared_residual = 0;

  bool operator==(const Results& other) const {
    return same_bits(y, other.y) && same_bits(dotted, other.dotted) &&
           same_bits(residual, other.residual) && std::memcmp(&dot, &other.dot, sizeof dot) == 0 &&
           std::memcmp(&squared_residual, &other.squared_residual, sizeof squared_residual) == 0;
  }
};

template <class E>
Results<E> results(const Operator<E>& matrix, const Problem<E>& problem, const Stream& stream) {
  using S = vector_scalar_t<E>;
  const auto x = column_field(matrix);
  from_users_order(problem.x, x.view);
  const auto y = row_field(matrix, S(0.5)), dotted = row_field(matrix),
             b = row_field(matrix, S(0.25)), r = row_field(matrix);
  Reduction<S> reduction(matrix.rows());
  Results<E> of;
  matrix.apply(S(1.7), x.view, S(-0.3), y.view, stream);
  of.dot = matrix.apply_dot(x.view, dotted.view, reduction, stream);
  of.squared_residual = matrix.residual(b.view, x.view, r.view, reduction, stream);
  of.y = y.scalars;
  of.dotted = dotted.scalars;
  of.residual = r.scalars;
  return of;
}

template <class E>
void expect_same_bits(Generator& generator) {
  // 22 groups of 256 rows, the last one short, and enough work for a team; a long row would be too
  // much for ELLPACK.
  PatternRequest shape{.rows = 5501, .columns = 5501, .per_row = 7, .empty_rows = true};
  const Problem<E> short_rows(shape, generator);
  shape.dense_row = true;
  const Problem<E> long_row(shape, generator);
  for (const std::string layout :
       {"CSR", "ELL,inner=aosoa", "Sl-32,inner=soa,vector=soa", "pJDS", "K1", "K2rs,inner=aosoa16",
        "C=8,T=4,sigma=64", "C=3,sigma=7,use=scatter,vector=soa"}) {
    SCOPED_TRACE(layout);
    const Problem<E>& problem = layout.starts_with("ELL") ? short_rows : long_row;
    const Results<E> expected =
        results(Operator<E>(problem.matrix, parse_plan(layout)), problem, Stream{1});
    for (const char* schedule : schedules) {
      const Plan plan = parse_plan(layout + "," + schedule);
      // The device's threads build the matrix; the stream's threads multiply with it.
      const Operator<E> matrix(problem.matrix, plan, Device::cpu(3));
      for (const int threads : thread_counts) {
        EXPECT_TRUE(results(matrix, problem, Stream{threads}) == expected)
            << schedule << ", " << threads << " threads";
      }
    }
  }
}

TEST(Repeatable, Quaternions) {
  Seed seed(521);
  expect_same_bits<quaternion<double>>(seed.generator);
}
TEST(Repeatable, RealsInSinglePrecision) {
  Seed seed(522);
  expect_same_bits<real<float>>(seed.generator);
}
TEST(Repeatable, Blocks) {
  Seed seed(523);
  expect_same_bits<block<double, 3, 3>>(seed.generator);
}

TEST(Repeatable, PrefetchChangesNothing) {
  Seed seed(524);
  using E = complex<double>;
  const Problem<E> problem({.rows = 900, .columns = 900, .per_row = 30, .empty_rows = true},
                           seed.generator);
  for (const char* layout : {"CSR", "K1rs", "Sl-16,inner=soa"}) {
    const Results<E> expected =
        results(Operator<E>(problem.matrix, parse_plan(layout)), problem, Stream{2});
    for (const char* ahead : {",prefetch-x=0", ",prefetch-x=256,prefetch-matrix=1000000",
                              ",prefetch-matrix=0", ",prefetch-x=1,prefetch-matrix=1"}) {
      const Operator<E> matrix(problem.matrix, parse_plan(std::string(layout) + ahead));
      EXPECT_TRUE(results(matrix, problem, Stream{2}) == expected) << layout << ahead;
    }
  }
}

TEST(Repeatable, OneOperatorInSeveralThreads) {
  Seed seed(525);
  using E = quaternion<double>;
  const Problem<E> problem({.rows = 2000, .columns = 2000, .per_row = 15, .empty_rows = true},
                           seed.generator);
  const Operator<E> matrix(problem.matrix, parse_plan("K2rs"));
  const Results<E> expected = results(matrix, problem, Stream{1});
  constexpr int callers = 4, times = 5;
  std::vector<int> same(callers);
  std::vector<std::thread> threads;
  for (int caller = 0; caller < callers; ++caller) {
    threads.emplace_back([&, caller] {
      for (int i = 0; i < times; ++i) {
        same[static_cast<std::size_t>(caller)] +=
            results(matrix, problem, Stream{1 + caller % 2}) == expected;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(same, std::vector<int>(callers, times));
}

}  // namespace
