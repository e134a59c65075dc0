// The laws that every entry obeys, checked with its real representation.
#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <type_traits>

#include "dual_complex.hpp"
#include "entries/dense.hpp"
#include "heddle/runtime/entry_kind.hpp"

namespace {

using namespace heddle;
using namespace heddle::test;

/// Half the spacing of numbers is the error of one operation; twice that leaves room for the
/// higher-order terms of the bounds below.
template <class S>
constexpr long double epsilon = std::numeric_limits<S>::epsilon();

template <class E, class F>
void on_random_values(const std::string& name, F&& check) {
  for (unsigned seed = 1; seed <= 50; ++seed) {
    SCOPED_TRACE(name + ", seed " + std::to_string(seed));
    std::mt19937_64 generator(seed);
    check.template operator()<E>(generator);
    if (testing::Test::HasFailure()) return;
  }
}

/// Calls `check.operator()<E>(generator)` for every built-in entry, and for some user-style ones.
template <class F>
void for_every_entry(F&& check) {
  for (const std::string_view kind : entry_kind_names) {
    for (const std::string_view precision : precision_names) {
      visit_entry(parse_entry_kind(kind), parse_precision(precision), [&]<class E>() {
        on_random_values<E>(std::string(kind) + " " + std::string(precision), check);
      });
    }
  }
  on_random_values<real<float, 3>>("real<float, 3>", check);
  on_random_values<real<double, 3>>("real<double, 3>", check);
  on_random_values<block<double, 2, 3>>("block<double, 2, 3>", check);
  on_random_values<block<float, 3, 1>>("block<float, 3, 1>", check);
  on_random_values<block<complex<double>, 1, 2>>("block<complex<double>, 1, 2>", check);
  on_random_values<dual_complex<double>>("dual_complex<double>", check);
  on_random_values<stored_as<float, quaternion<double>>>("stored_as<float, quaternion>", check);
}

/// True if products of entries are vector entries again: for numbers, but not for matrices.
template <class E>
constexpr bool acts_on_itself = std::is_same_v<arithmetic_t<E>, vector_entry_t<E>>;

template <class E>
E product(const E& a, const E& b) {
  E ab = E::zero();
  multiply_add(ab, a, b);
  return ab;
}

TEST(Algebra, MultiplyAddIsTheRepresentationTimesTheVector) {
  for_every_entry([]<class E>(std::mt19937_64& generator) {
    const E a = random<E>(generator);
    const auto x = random<vector_entry_t<E>>(generator);
    const auto y = random<result_entry_t<E>>(generator);
    auto result = y;
    multiply_add(result, load(a), x);
    // A sum of one term and tile_columns products: tile_columns additions and one multiplication.
    const Dense bound = absolute(column(y)) + absolute(rep(a)) * absolute(column(x));
    EXPECT_LE(excess(column(result), column(y) + rep(a) * column(x), bound),
              (tile_columns<E> + 1) * epsilon<vector_scalar_t<E>>);
  });
}

TEST(Algebra, ActsLinearlyOnVectors) {
  for_every_entry([]<class E>(std::mt19937_64& generator) {
    using V = vector_entry_t<E>;
    const auto a = load(random<E>(generator));
    const V x = random<V>(generator), y = random<V>(generator);
    V sum;
    for (int k = 0; k < V::components; ++k) sum.component[k] = x.component[k] + y.component[k];
    auto of_sum = zero_vector<result_entry_t<E>>(), of_both = of_sum;
    multiply_add(of_sum, a, sum);
    multiply_add(of_both, a, x);
    multiply_add(of_both, a, y);
    // One rounding of the sum, then tile_columns products; compared with twice as many products.
    const Dense bound = absolute(rep(a)) * (absolute(column(x)) + absolute(column(y)));
    EXPECT_LE(excess(column(of_sum), column(of_both), bound),
              (3 * tile_columns<E> + 2) * epsilon<vector_scalar_t<E>>);
  });
}

TEST(Algebra, DistributesOverAddition) {
  for_every_entry([]<class E>(std::mt19937_64& generator) {
    const auto a = load(random<E>(generator)), b = load(random<E>(generator));
    // Each component is rounded once.
    EXPECT_LE(excess(rep(add(a, b)), rep(a) + rep(b), absolute(rep(a)) + absolute(rep(b))),
              epsilon<vector_scalar_t<E>>);
    using A = arithmetic_t<E>;
    EXPECT_EQ(norm(rep(A::zero())), 0);
  });
}

TEST(Algebra, RepresentationOfAProductIsTheProductOfRepresentations) {
  for_every_entry([]<class E>(std::mt19937_64& generator) {
    if constexpr (acts_on_itself<E>) {
      using A = arithmetic_t<E>;
      constexpr int n = tile_columns<E>;
      const auto a = random<A>(generator), b = random<A>(generator), c = random<A>(generator);
      const Dense A_ = rep(a), B = rep(b), C = rep(c);
      // n products and as many additions.
      EXPECT_LE(excess(rep(product(a, b)), A_ * B, absolute(A_) * absolute(B)),
                (n + 1) * epsilon<vector_scalar_t<E>>);
      // Both orders: two such products in a row, twice.
      const Dense bound = absolute(A_) * absolute(B) * absolute(C);
      EXPECT_LE(excess(rep(product(product(a, b), c)), rep(product(a, product(b, c))), bound),
                4 * (n + 1) * epsilon<vector_scalar_t<E>>);
    }
  });
}

TEST(Algebra, AdjointIsTheTransposeOfTheRepresentation) {
  for_every_entry([]<class E>(std::mt19937_64& generator) {
    const auto a = load(random<E>(generator));
    if constexpr (requires { adjoint(a); }) {
      EXPECT_EQ(rep(adjoint(a)).at, transpose(rep(a)).at);
    }
  });
  EXPECT_TRUE((has_adjoint<quaternion<double>> && has_adjoint<block<complex<float>, 3, 3>>));
  EXPECT_FALSE((has_adjoint<dual_quaternion<double>> || has_adjoint<dual_complex<double>> ||
                has_adjoint<block<double, 2, 3>>));
}

template <class A>
void expect_inverse(const A& a) {
  const Dense matrix = rep(a), inverted = rep(inverse(a));
  const int n = tile_columns<A>;
  // Elimination with pivoting leaves a residual of order n^2 eps |a| |a^-1| with a small factor
  // (Higham, Accuracy and Stability of Numerical Algorithms, chapter 14).
  const long double tolerance =
      2 * n * n * epsilon<vector_scalar_t<A>> * norm(matrix) * norm(inverted);
  Dense minus_one = identity(n);
  for (long double& value : minus_one.at) value = -value;
  EXPECT_TRUE(std::isfinite(tolerance));
  EXPECT_LE(norm(inverted * matrix + minus_one), tolerance);
  EXPECT_LE(norm(matrix * inverted + minus_one), tolerance);
}

TEST(Algebra, InverseTimesEntryIsOneBothWays) {
  for_every_entry([]<class E>(std::mt19937_64& generator) {
    if constexpr (has_inverse<E>) expect_inverse(load(random<E>(generator)));
  });
  EXPECT_FALSE((has_inverse<block<double, 2, 3>>));
  EXPECT_TRUE((has_inverse<dual_quaternion<float>> && has_inverse<stored_as<float, real<double>>>));
}

TEST(Algebra, InverseOfVeryLargeAndVerySmallEntries) {
  for_every_entry([]<class E>(std::mt19937_64& generator) {
    if constexpr (has_inverse<E>) {
      using A = arithmetic_t<E>;
      using S = vector_scalar_t<E>;
      const A a = random<A>(generator);
      const bool wide = std::numeric_limits<S>::max_exponent10 > 200;
      for (const S scale : {S(wide ? 1e-200 : 1e-25), S(wide ? 1e200 : 1e25)}) {
        SCOPED_TRACE("scale " + std::to_string(static_cast<double>(std::log10(scale))));
        A scaled = a;
        for (S& component : scaled.component) component *= scale;
        expect_inverse(scaled);
      }
    }
  });
}

TEST(Algebra, CoefficientsOfTheRingCommuteWithTheEntry) {
  for_every_entry([]<class E>(std::mt19937_64& generator) {
    using S = vector_scalar_t<E>;
    const auto a = load(random<E>(generator));
    constexpr Ring ring = arithmetic_t<E>::ring;
    const auto c = random<quaternion<S>>(generator);
    // Multiplies each group of ring_size(ring) components by c from the right.
    const auto times_c = [&](auto v) {
      for (int k = 0; k < v.components; k += ring_size(ring)) {
        S* const group = v.component + k;
        if constexpr (ring == Ring::quaternion) {
          const auto p = product(quaternion<S>{{group[0], group[1], group[2], group[3]}}, c);
          std::copy(p.component, p.component + 4, group);
        } else if constexpr (ring == Ring::complex) {
          const auto p = product(complex<S>{{group[0], group[1]}}, complex<S>{{c.w(), c.x()}});
          std::copy(p.component, p.component + 2, group);
        } else {
          group[0] *= c.w();
        }
      }
      return v;
    };
    const auto x = random<vector_entry_t<E>>(generator);
    auto of_multiple = zero_vector<result_entry_t<E>>(), multiple = of_multiple;
    multiply_add(of_multiple, a, times_c(x));
    multiply_add(multiple, a, x);
    multiple = times_c(multiple);
    // Sums of at most tile_columns * ring_size products of three numbers of magnitude at most 1,
    // each term rounded once more than there are sums.
    const long double terms = tile_columns<E> * ring_size(ring);
    Dense bound(tile_rows<E>, 1);
    std::fill(bound.at.begin(), bound.at.end(), terms);
    EXPECT_LE(excess(column(of_multiple), column(multiple), bound),
              2 * (terms + 2) * epsilon<vector_scalar_t<E>>);
  });
}

TEST(Algebra, QuaternionUnits) {
  using Q = quaternion<double>;
  const Q one{{1, 0, 0, 0}}, i{{0, 1, 0, 0}}, j{{0, 0, 1, 0}}, k{{0, 0, 0, 1}};
  const auto is = [](const Q& a, const Q& b, double sign) {
    for (int c = 0; c < 4; ++c)
      EXPECT_EQ(a.component[c], sign * b.component[c]) << "component " << c;
  };
  is(product(i, j), k, 1);
  is(product(j, k), i, 1);
  is(product(k, i), j, 1);
  is(product(j, i), k, -1);
  is(product(k, j), i, -1);
  is(product(i, k), j, -1);
  is(product(i, i), one, -1);
  is(product(j, j), one, -1);
  is(product(k, k), one, -1);
}

TEST(Algebra, DualPartsSquareToZero) {
  std::mt19937_64 generator(1);
  const auto zero = quaternion<double>::zero();
  const auto a = dual_quaternion<double>::from(zero, random<quaternion<double>>(generator));
  const auto b = dual_quaternion<double>::from(zero, random<quaternion<double>>(generator));
  EXPECT_EQ(norm(column(product(a, b))), 0);
  dual_complex<double> c{{0, 0, 0.5, -0.25}};
  EXPECT_EQ(norm(column(product(c, c))), 0);
}

/// Expects an inverse that is not finite, or so large that |a| |a^-1| eps > 1.
template <class A>
void expect_seen_as_singular(const A& a) {
  const long double a_norm = norm(column(a)), inverse_norm = norm(column(inverse(a)));
  EXPECT_TRUE(!std::isfinite(inverse_norm) ||
              a_norm * inverse_norm * epsilon<vector_scalar_t<A>> > 1)
      << "|a| = " << a_norm << ", |a^-1| = " << inverse_norm;
}

TEST(Algebra, InverseOfASingularEntryShowsIt) {
  for_every_entry([]<class E>(std::mt19937_64& generator) {
    if constexpr (has_inverse<E>) {
      using A = arithmetic_t<E>;
      expect_seen_as_singular(A::zero());
      if constexpr (requires { A::block_rows; }) {
        constexpr int n = A::block_rows;
        const A whole = random<A>(generator);
        A two_equal_rows = whole, zero_column = whole;
        for (int j = 0; j < n; ++j) {
          two_equal_rows.set(n - 1, j, whole.get(0, j));
          zero_column.set(j, n / 2, A::zero().get(0, 0));
        }
        expect_seen_as_singular(two_equal_rows);
        expect_seen_as_singular(zero_column);
      }
    }
  });
}

TEST(Algebra, NarrowStorageIsWidenedExactly) {
  std::mt19937_64 generator(3);
  const auto stored = random<stored_as<float, quaternion<double>>>(generator);
  quaternion<double> same;
  for (int k = 0; k < 4; ++k) same.component[k] = stored.component[k];
  EXPECT_EQ(rep(stored).at, rep(same).at);
  EXPECT_EQ(sizeof(stored), 4 * sizeof(float));
}

}  // namespace
