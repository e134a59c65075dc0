// Runs in both builds.
// Every operation on fields compared with its plain formula in long double, over real numbers,
// complex numbers and quaternions, AoS and SoA; and the same bits for any number of threads.
#include "heddle/vector_operations.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "support/expect_error.hpp"
#include "support/over.hpp"
#include "support/random_matrix.hpp"

namespace {

using namespace heddle;
using namespace heddle::test;

/// A real number, a complex number or a quaternion in long double: w, x, y, z.
struct Number {
  std::array<long double, 4> at{};

  Number operator+(const Number& b) const {
    Number sum = *this;
    for (std::size_t k = 0; k < 4; ++k) sum.at[k] += b.at[k];
    return sum;
  }
  Number operator-() const {
    Number negated;
    for (std::size_t k = 0; k < 4; ++k) negated.at[k] = -at[k];
    return negated;
  }
  Number operator-(const Number& b) const { return *this + -b; }
  /// Hamilton's product, where i j = k.
  Number operator*(const Number& b) const {
    const auto& [w, x, y, z] = at;
    const auto& [W, X, Y, Z] = b.at;
    return {{w * W - x * X - y * Y - z * Z, w * X + x * W + y * Z - z * Y,
             w * Y + y * W + z * X - x * Z, w * Z + z * W + x * Y - y * X}};
  }
};
Number conj(const Number& a) { return {{a.at[0], -a.at[1], -a.at[2], -a.at[3]}}; }
long double squared(const Number& a) {
  long double sum = 0;
  for (const long double c : a.at) sum += c * c;
  return sum;
}
long double length(const Number& a) { return std::sqrt(squared(a)); }

template <Ring R, class S>
Number number(const Coefficient<R, S>& c) {
  Number n;
  for (int k = 0; k < c.size; ++k) n.at[static_cast<std::size_t>(k)] = c.component[k];
  return n;
}

/// A field of 4 components: one quaternion, two complex numbers or four real numbers per row.
template <class S, Ring R>
struct Numbers {
  static constexpr int components = 4;
  static constexpr int size = ring_size(R);
  static constexpr int a_row = components / size;

  std::vector<S> scalars;
  FieldView<S> view;

  Numbers(Index rows, VectorLayout layout, Generator& generator)
      : scalars(static_cast<std::size_t>(rows) * components) {
    std::uniform_real_distribution<double> uniform(-1, 1);
    for (S& value : scalars) value = static_cast<S>(uniform(generator));
    view = FieldView<S>(scalars.data(), rows, components, layout);
  }
  Numbers(const Numbers& other) : scalars(other.scalars), view(other.view) {
    view.data = scalars.data();
  }
  Numbers& operator=(const Numbers&) = delete;
  Number operator[](Index i) const {
    Number n;
    for (int c = 0; c < size; ++c) {
      n.at[static_cast<std::size_t>(c)] = view.at(i / a_row, i % a_row * size + c);
    }
    return n;
  }
  Index count() const { return view.size * a_row; }
  FieldView<const S> read() const { return view; }
};

/// The error of a component of a product or sum of Numbers, in roundings of its factors' lengths.
constexpr int roundings_of_a_product = 8;

template <class S, Ring R, class Expected, class Magnitude>
void expect_each(const Numbers<S, R>& computed, int products, const Expected& expected,
                 const Magnitude& magnitude) {
  for (Index i = 0; i < computed.count(); ++i) {
    const Number difference = computed[i] - expected(i);
    const long double bound = products * roundings_of_a_product * unit_roundoff<S> * magnitude(i);
    ASSERT_FALSE(!(length(difference) <= bound))
        << "element " << i << ": off by " << length(difference) << ", bound " << bound;
  }
}

/// Checks a sum of `count` products in the scalar type of sums.
template <class S>
void expect_sum(long double computed, long double expected, long double magnitude, Index count) {
  const long double bound = (count + roundings_of_a_product) * unit_roundoff<sum_t<S>> * magnitude;
  EXPECT_FALSE(!(std::abs(computed - expected) <= bound)) << computed << " is not " << expected;
}
template <class S, Ring R>
void expect_dot(const Coefficient<R, sum_t<S>>& computed, const Numbers<S, R>& x,
                const Numbers<S, R>& y) {
  Number expected;
  long double magnitude = 0;
  for (Index i = 0; i < x.count(); ++i) {
    expected = expected + conj(x[i]) * y[i];
    magnitude += length(x[i]) * length(y[i]);
  }
  for (int k = 0; k < computed.size; ++k) {
    SCOPED_TRACE("component " + std::to_string(k));
    expect_sum<S>(computed.component[k], expected.at[static_cast<std::size_t>(k)], magnitude,
                  x.count() * computed.size);
  }
}
template <class S, Ring R>
void expect_squared_norm(long double computed, const Numbers<S, R>& x) {
  long double sum = 0;
  for (Index i = 0; i < x.count(); ++i) sum += squared(x[i]);
  expect_sum<S>(computed, sum, sum, x.count() * x.size);
}

template <class Case>
class Operations : public testing::Test {
 protected:
  using S = typename Case::S;
  static constexpr Ring R = Case::ring;
  using Field = Numbers<S, R>;

  /// Calls `test(rows, layout, generator)` with rows below, at and above a group's border.
  template <class Test>
  void for_each_shape(std::uint64_t seed_value, const Test& test) {
    Seed seed(seed_value);
    for (const Index rows : {0, 1, 7, 255, 256, 257, 1030}) {
      for (const VectorLayout layout : {VectorLayout::aos, VectorLayout::soa}) {
        SCOPED_TRACE(std::to_string(rows) + (layout == VectorLayout::aos ? " AoS" : " SoA"));
        test(rows, layout, seed.generator);
        if (this->HasFailure()) return;
      }
    }
  }
  Coefficient<R, S> coefficient(Generator& generator) {
    return random_components<Coefficient<R, S>>(generator);
  }
  static constexpr Stream stream{2};
};
using OperandCases =
    testing::Types<Over<float, Ring::real>, Over<float, Ring::complex>,
                   Over<float, Ring::quaternion>, Over<double, Ring::real>,
                   Over<double, Ring::complex>, Over<double, Ring::quaternion>,
                   Over<long double, Ring::real>, Over<long double, Ring::quaternion>>;
TYPED_TEST_SUITE(Operations, OperandCases);

TYPED_TEST(Operations, AxpbyMultipliesFromTheRight) {
  this->for_each_shape(601, [&](Index rows, VectorLayout layout, Generator& generator) {
    const typename TestFixture::Field x(rows, layout, generator), before(rows, layout, generator);
    auto y = before;
    const auto alpha = this->coefficient(generator), beta = this->coefficient(generator);
    const Number a = number(alpha), b = number(beta);
    axpby(alpha, x.read(), beta, y.view, this->stream);
    expect_each(
        y, 2, [&](Index i) { return x[i] * a + before[i] * b; },
        [&](Index i) { return length(x[i]) * length(a) + length(before[i]) * length(b); });

    auto z = before;
    using S = typename TestFixture::S;
    axpby(S(0.7), x.read(), S(-1.3), z.view, this->stream);
    expect_each(
        z, 2, [&](Index i) { return x[i] * Number{{S(0.7)}} + before[i] * Number{{S(-1.3)}}; },
        [&](Index i) { return length(x[i]) + 2 * length(before[i]); });
  });
}

TYPED_TEST(Operations, AxpbyReadsYUnlessBetaIsZero) {
  using S = typename TestFixture::S;
  using C = Coefficient<TestFixture::R, S>;
  this->for_each_shape(602, [&](Index rows, VectorLayout layout, Generator& generator) {
    const typename TestFixture::Field x(rows, layout, generator);
    auto y = x;
    std::fill(y.scalars.begin(), y.scalars.end(), std::numeric_limits<S>::quiet_NaN());
    axpby(C::from_real(1), x.read(), C{}, y.view, this->stream);
    EXPECT_EQ(y.scalars, x.scalars);
    std::fill(y.scalars.begin(), y.scalars.end(), std::numeric_limits<S>::quiet_NaN());
    axpby(S(1), x.read(), S(0), y.view, this->stream);
    EXPECT_EQ(y.scalars, x.scalars);
    // beta is not zero, though its square underflows.
    const S large = S(1) / std::numeric_limits<S>::min(), tiny = 1 / large;
    for (const bool by_ring : {false, true}) {
      std::fill(y.scalars.begin(), y.scalars.end(), large);
      if (by_ring) {
        axpby(C{}, x.read(), C::from_real(tiny), y.view, this->stream);
      } else {
        axpby(S(0), x.read(), tiny, y.view, this->stream);
      }
      for (const S value : y.scalars) ASSERT_EQ(value, large * tiny);
    }
  });
}

TYPED_TEST(Operations, DotConjugatesTheFirst) {
  using S = typename TestFixture::S;
  this->for_each_shape(603, [&](Index rows, VectorLayout layout, Generator& generator) {
    const typename TestFixture::Field x(rows, layout, generator), y(rows, layout, generator);
    Reduction<S> reduction(rows);
    expect_dot(dot<TestFixture::R>(x.read(), y.read(), reduction, this->stream), x, y);

    long double real_part = 0, magnitude = 0;
    for (std::size_t i = 0; i < x.scalars.size(); ++i) {
      const long double term = static_cast<long double>(x.scalars[i]) * y.scalars[i];
      real_part += term;
      magnitude += std::abs(term);
    }
    const auto count = static_cast<Index>(x.scalars.size());
    expect_sum<S>(real_dot(x.read(), y.read(), reduction, this->stream), real_part, magnitude,
                  count);
    expect_sum<S>(dot(x.read(), y.read(), this->stream), real_part, magnitude, count);
    const long double of_x = norm(x.read(), this->stream);
    expect_squared_norm<S>(of_x * of_x, x);
    expect_dot(dot<TestFixture::R>(x.read(), y.read(), reduction, this->stream), x, y);
  });
}

TYPED_TEST(Operations, FillAndScale) {
  using S = typename TestFixture::S;
  this->for_each_shape(604, [&](Index rows, VectorLayout layout, Generator& generator) {
    typename TestFixture::Field y(rows, layout, generator);
    auto expected = y.scalars;
    for (S& value : expected) value *= S(-2.5);
    scale(S(-2.5), y.view, this->stream);
    EXPECT_EQ(y.scalars, expected);
    fill(S(0.125), y.view, this->stream);
    EXPECT_EQ(y.scalars, std::vector<S>(expected.size(), S(0.125)));
  });
}

template <class S>
bool same_bits(const std::vector<S>& a, const std::vector<S>& b) {
  // Not for long double, whose padding has no value.
  return std::memcmp(a.data(), b.data(), a.size() * sizeof(S)) == 0;
}

template <class S, Ring R>
void expect_same_bits_for_any_team(VectorLayout layout, Generator& generator) {
  // 79 groups, the last one short: enough for any team.
  constexpr Index rows = 20011;
  using Field = Numbers<S, R>;
  const Field u(rows, layout, generator), v(rows, layout, generator),
      start(rows, layout, generator);
  const auto a = random_components<Coefficient<R, S>>(generator);
  const auto b = random_components<Coefficient<R, S>>(generator);
  const auto run = [&](int threads) {
    const Stream stream{threads};
    Reduction<S> reduction(rows);
    std::vector<std::vector<S>> fields;
    std::vector<double> sums;
    const auto keep = [&](const Field& field) { fields.push_back(field.scalars); };
    const auto keep_number = [&](const auto& c) {
      sums.insert(sums.end(), std::begin(c.component), std::end(c.component));
    };
    Field y = start;
    axpby(a, u.read(), b, y.view, stream);
    keep(y);
    keep_number(dot<R>(u.read(), y.read(), reduction, stream));
    sums.push_back(real_dot(u.read(), v.read(), reduction, stream));
    sums.push_back(norm(v.read(), stream));
    scale(S(1.7), y.view, stream);
    keep(y);
    return std::pair(fields, sums);
  };
  const auto expected = run(1);
  for (const int threads : {2, 3, 5}) {
    const auto computed = run(threads);
    EXPECT_TRUE(same_bits(computed.second, expected.second)) << threads << " threads";
    for (std::size_t i = 0; i < expected.first.size(); ++i) {
      EXPECT_TRUE(same_bits(computed.first[i], expected.first[i]))
          << threads << " threads, result " << i;
    }
  }
}

TEST(Repeatable, AnyNumberOfThreads) {
  Seed seed(607);
  for (const VectorLayout layout : {VectorLayout::aos, VectorLayout::soa}) {
    expect_same_bits_for_any_team<double, Ring::real>(layout, seed.generator);
    expect_same_bits_for_any_team<float, Ring::complex>(layout, seed.generator);
    expect_same_bits_for_any_team<double, Ring::quaternion>(layout, seed.generator);
    expect_same_bits_for_any_team<float, Ring::real>(layout, seed.generator);
  }
}

TEST(VectorOperations, QuaternionsDoNotCommute) {
  // i as the field, j as the coefficient: i j = k, not -k.
  const std::vector<double> i{0, 1, 0, 0};
  std::vector<double> y(4);
  const FieldView<const double> x(i.data(), 1, 4);
  const FieldView<double> to(y.data(), 1, 4);
  using Q = Coefficient<Ring::quaternion, double>;
  axpby(Q{{0, 0, 1, 0}}, x, Q{}, to, Stream{1});
  EXPECT_EQ(y, (std::vector<double>{0, 0, 0, 1}));
  // <i, k> = conj(i) k = -i k = j.
  Reduction<double> reduction(1);
  const Q product =
      dot<Ring::quaternion>(x, FieldView<const double>(y.data(), 1, 4), reduction, Stream{1});
  EXPECT_EQ(std::vector<double>(product.component, product.component + 4),
            (std::vector<double>{0, 0, 1, 0}));
}

TEST(VectorOperations, LargestMagnitudeLooksAtEveryGroup) {
  constexpr Index rows = 20011;  // the last of 79 groups is short
  constexpr float infinity = std::numeric_limits<float>::infinity();
  std::vector<float> scalars(3 * rows, -1);
  Reduction<float> reduction(rows);
  for (const VectorLayout layout : {VectorLayout::aos, VectorLayout::soa}) {
    const FieldView<const float> x(scalars.data(), rows, 3, layout);
    for (const std::size_t at : {0, 256, 30000, 3 * rows - 1}) {
      for (const float value : {-2.5f, -infinity, infinity - infinity, -1.0f}) {
        scalars[at] = value;
        const double largest = largest_magnitude(x, reduction, Stream{3});
        EXPECT_TRUE(std::isnan(value) ? std::isnan(largest) : largest == -value) << value;
      }
    }
  }
}

TEST(VectorOperations, SinglePrecisionIsSummedInDouble) {
  // 2^24 + 1 is not a float.
  std::vector<float> ones(20000, 1.0f);
  ones[0] = 4096;
  const FieldView<const float> x(ones.data(), 20000);
  EXPECT_EQ(dot(x, x, Stream{2}), 16777216.0 + 19999.0);
  ones.assign(3, 1e30f);
  EXPECT_DOUBLE_EQ(norm(FieldView<const float>(ones.data(), 3), Stream{1}),
                   std::sqrt(3.0) * double(1e30f));
}

void expect_mismatch(const std::string& message, const auto& operation) {
  expect_error(ErrorKind::size_mismatch, message, operation);
}

TEST(VectorOperations, RefuseFieldsThatDiffer) {
  std::vector<double> data(64);
  double* at = data.data();
  using View = FieldView<double>;
  using Const = FieldView<const double>;
  const Stream stream{1};
  Reduction<double> reduction(6);
  const View y(at, 6, 2);
  expect_mismatch("axpby: a field of 5 rows of 2 components is used with one of 6 of 2",
                  [&] { axpby(1.0, Const(at, 5, 2), 1.0, y, stream); });
  expect_mismatch("dot: a field of 6 rows of 3 components is used with one of 6 of 2",
                  [&] { dot(Const(at, 6, 3), Const(y), stream); });
  expect_mismatch("copy: a field of 6 rows of 1 components is used with one of 6 of 2",
                  [&] { copy(Const(at, 6, 1), y, stream); });
  expect_mismatch("permute: a field of 7 rows of 2 components is used with one of 6 of 2",
                  [&] { permute(Const(at, 7, 2), y, 1.0, stream); });

  const Const planes(at, 6, 2, VectorLayout::soa);
  const std::string layouts = ": the fields differ in layout; copy one first";
  expect_mismatch("axpby" + layouts, [&] { axpby(1.0, planes, 1.0, y, stream); });
  View gapped = y;
  gapped.entry_stride = 5;
  expect_mismatch("dot" + layouts, [&] { dot(Const(gapped), Const(gapped), stream); });

  const std::vector<Index> backwards{5, 4, 3, 2, 1, 0};
  const auto basis =
      Basis::from_order(Array<Index>(std::span<const Index>(backwards)), Device::cpu());
  const Const elsewhere(at, 6, 2, VectorLayout::aos, basis);
  for (const auto& [name, operation] : std::vector<std::pair<std::string, std::function<void()>>>{
           {"axpby", [&] { axpby(1.0, elsewhere, 1.0, y, stream); }},
           {"dot", [&] { dot(elsewhere, Const(y), stream); }},
           {"copy", [&] { copy(elsewhere, y, stream); }}}) {
    expect_mismatch(name + ": the fields are in different bases", operation);
  }
  // The natural basis is the user's order.
  const Const natural(at, 6, 2, VectorLayout::aos, Basis::natural(6));
  EXPECT_NO_THROW(axpby(1.0, natural, 1.0, y, stream));

  using Q = Coefficient<Ring::quaternion, double>;
  expect_mismatch("axpby: coefficients of 4 components do not act on 2",
                  [&] { axpby(Q{}, Const(y), Q{}, y, stream); });
  const View triple(at, 6, 3);
  expect_mismatch("dot: coefficients of 2 components do not act on 3",
                  [&] { dot<Ring::complex>(Const(triple), Const(triple), reduction, stream); });
}

}  // namespace
