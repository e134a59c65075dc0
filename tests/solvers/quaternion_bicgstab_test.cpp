// The quaternion form of BiCGStab solves a dense system of n rows in n steps, the real form in 2n.
#include <gtest/gtest.h>

#include "heddle/bicgstab.hpp"
#include "heddle/entries/quaternion.hpp"
#include "support/systems/systems.hpp"

namespace heddle::test {
namespace {

#ifdef HEDDLE_HAS_LONG_DOUBLE
using S = long double;
constexpr Index max_rows = 16;
constexpr double tolerance = 1e-15;
#else
using S = double;
constexpr Index max_rows = 8;
constexpr double tolerance = 1e-10;
#endif
using Q = quaternion<S>;

/// Dense rows and columns of quaternions.
class DenseQuaternions final : public LinearOperator<S> {
 public:
  DenseQuaternions(Index n, Recurrence recurrence, Generator& generator)
      : n_(n), recurrence_(recurrence), entries_(static_cast<std::size_t>(n) * n) {
    // The identity and a random part of norm about 1 / 2: singular values within a factor of 3.
    const double size = 0.25 / std::sqrt(static_cast<double>(n));
    for (Q& entry : entries_) {
      for (S& c : entry.component) c = size * uniform(generator, -1.7, 1.7);
    }
    for (Index i = 0; i < n; ++i) entries_[static_cast<std::size_t>(i) * (n + 1)].component[0] += 1;
  }

  Index rows() const override { return n_; }
  int row_components() const override { return 4; }
  Ring ring() const override { return Ring::quaternion; }
  Recurrence recurrence() const override { return recurrence_; }
  Device device() const override { return Device::cpu(1); }

  void apply(S alpha, const FieldView<const S>& x, S beta, const FieldView<S>& y,
             const Stream&) const override {
    for (Index i = 0; i < n_; ++i) {
      Q sum = Q::zero();
      for (Index j = 0; j < n_; ++j) {
        const Q at{{x.at(j, 0), x.at(j, 1), x.at(j, 2), x.at(j, 3)}};
        multiply_add(sum, entries_[static_cast<std::size_t>(i) * n_ + j], at);
      }
      for (int k = 0; k < 4; ++k) {
        y.at(i, k) = alpha * sum.component[k] + (beta == 0 ? 0 : beta * y.at(i, k));
      }
    }
  }

 private:
  Index n_;
  Recurrence recurrence_;
  std::vector<Q> entries_;
};

long long iterations(Index n, unsigned seed, Recurrence recurrence) {
  Generator generator(seed);
  const DenseQuaternions A(n, recurrence, generator);
  Field<Q> b = random_vector<Q>(n, generator), x(n);
  BiCGStab solver(A, {.tolerance = tolerance});
  const Report report = solver.solve(b, x);
  EXPECT_TRUE(report.converged()) << report;
  EXPECT_EQ(report.restarts, 0);
  EXPECT_TRUE(report.residual <= tolerance);
  return report.iterations;
}

TEST(QuaternionBiCGStab, EndsInAsManyStepsAsRows) {
  for (Index n = 1; n <= max_rows; ++n) {
    long long in_reals = 0;
    constexpr unsigned seeds = 20;
    for (unsigned seed = 1; seed <= seeds; ++seed) {
      SCOPED_TRACE("n " + std::to_string(n) + " seed " + std::to_string(seed));
      EXPECT_LE(iterations(n, seed, Recurrence::ring), n);
      const long long real_form = iterations(n, seed, Recurrence::real);
      EXPECT_LE(real_form, 2 * n);
      in_reals += real_form;
    }
    EXPECT_GT(in_reals, n * seeds) << "n " << n;
  }
}

}  // namespace
}  // namespace heddle::test
