#include "lane_group.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

namespace heddle::heart::test::lane_group {
namespace {

using Group = LaneGroup<16, 2>;
constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

struct Exp {
  template <class N>
  HEDDLE_INLINE N operator()(const N& x) const {
    return exp(x);
  }
};
struct Log {
  template <class N>
  HEDDLE_INLINE N operator()(const N& x) const {
    return log(x);
  }
};

template <class F>
HEDDLE_INLINE void apply_to_groups(std::vector<double>& x) {
  for (std::size_t i = 0; i + Group::lanes <= x.size(); i += Group::lanes) {
    F()(Group::load(x.data() + i)).store(x.data() + i);
  }
}
template <class F>
void apply_baseline(std::vector<double>& x) {
  apply_to_groups<F>(x);
}
/// Uses fused multiplications, like cells that are advanced with AVX2.
template <class F>
__attribute__((target("avx2,fma"), flatten)) void apply_fused(std::vector<double>& x) {
  apply_to_groups<F>(x);
}

/// F of every number of x, in each way that this machine supports.
template <class F>
std::vector<std::vector<double>> applied(std::vector<double> x) {
  x.resize((x.size() + Group::lanes - 1) / Group::lanes * Group::lanes, 1);
  std::vector<std::vector<double>> results(1, x);
  apply_baseline<F>(results[0]);
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
    results.push_back(x);
    apply_fused<F>(results[1]);
  }
  return results;
}

/// In units in the last place of the exact value.
double error(double value, long double exact) {
  const double last = std::ldexp(1, std::max(std::ilogb(static_cast<double>(exact)), -1022) - 52);
  return static_cast<double>(std::fabs(value - exact)) / last;
}

template <class F>
double worst(const std::vector<double>& x, long double (*exact)(long double)) {
  double most = 0;
  for (const std::vector<double>& y : applied<F>(x)) {
    for (std::size_t i = 0; i < x.size(); ++i) {
      const double off = error(y[i], exact(x[i]));
      EXPECT_TRUE(off < 1.25) << "at " << x[i] << " by " << off;
      most = std::max(most, off);
    }
  }
  return most;
}

TEST(LaneGroup, TheExponentialIsExactButForItsLastBit) {
  std::mt19937 random(1);
  std::vector<double> x;
  std::uniform_real_distribution<double> all(-708, 709.78), near(-1, 1);
  for (int i = 0; i < 100000; ++i) {
    x.push_back(all(random));
    x.push_back(near(random));
    x.push_back(std::ldexp(near(random), -i % 70));
  }
  // Halfway between multiples of ln 2, where n changes.
  for (int n = -1020; n < 1024; ++n) {
    for (int k = -2; k <= 2; ++k) x.push_back((n + 0.5 + k * 1e-15) * 0.6931471805599453);
  }
  EXPECT_GT(worst<Exp>(x, expl), 0.5);
}

TEST(LaneGroup, TheExponentialEndsWhereNumbersDo) {
  const std::vector<double> x = {0,         -0.,      710,  709.7827128933841,
                                 1e300,     infinity, -709, -746.,
                                 -infinity, -1e300,   nan,  709.782712893384};
  for (const std::vector<double>& y : applied<Exp>(x)) {
    EXPECT_EQ(y[0], 1);
    EXPECT_EQ(y[1], 1);
    for (int k = 2; k < 6; ++k) EXPECT_EQ(y[k], infinity) << x[k];
    for (int k = 6; k < 10; ++k) EXPECT_EQ(y[k], 0) << x[k];
    EXPECT_TRUE(std::isnan(y[10]));
    EXPECT_LT(error(y[11], expl(x[11])), 1.25);
  }
}

TEST(LaneGroup, TheLogarithmIsExactButForItsLastBit) {
  std::mt19937 random(2);
  std::vector<double> x;
  std::uniform_real_distribution<double> exponent(-1074, 1024), near(0.5, 2);
  for (int i = 0; i < 100000; ++i) {
    x.push_back(std::exp2(exponent(random)));
    x.push_back(near(random));
    x.push_back(1 + std::ldexp(near(random) - 1.25, -i % 50));
  }
  EXPECT_GT(worst<Log>(x, logl), 0.5);
}

TEST(LaneGroup, TheLogarithmEndsWhereNumbersDo) {
  const std::vector<double> x = {1, 0, -0., -1, -infinity, infinity, nan, 5e-324};
  for (const std::vector<double>& y : applied<Log>(x)) {
    EXPECT_EQ(y[0], 0);
    EXPECT_EQ(y[1], -infinity);
    EXPECT_EQ(y[2], -infinity);
    EXPECT_TRUE(std::isnan(y[3]));
    EXPECT_TRUE(std::isnan(y[4]));
    EXPECT_EQ(y[5], infinity);
    EXPECT_TRUE(std::isnan(y[6]));
    EXPECT_EQ(y[7], std::log(5e-324));
  }
}

TEST(LaneGroup, OtherOperationsAreThoseOfEachLane) {
  const double a[4] = {1.5, -2, nan, 0}, b[4] = {3, -2, 1, -0.};
  double c[4];
  const auto x = Group::load(a), y = Group::load(b);
  (x / y - x * y + (-x)).store(c);
  for (int k = 0; k < 2; ++k) EXPECT_EQ(c[k], a[k] / b[k] - a[k] * b[k] - a[k]);
  EXPECT_TRUE(std::isnan(c[2]));
  select(x < y, Group(1), select(x == y, Group(2), Group(3))).store(c);
  EXPECT_EQ(std::vector<double>(c, c + 4), (std::vector<double>{1, 2, 3, 2}));
  sqrt(Group(2)).store(c);
  EXPECT_EQ(c[3], std::sqrt(2.));
  Group(-0.).store(c);
  EXPECT_TRUE(std::signbit(c[1]));
}

}  // namespace
}  // namespace heddle::heart::test::lane_group
