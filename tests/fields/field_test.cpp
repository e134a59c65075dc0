// Fields: places of their components, views, copies between layouts, and bases in both directions.
#include "heddle/field.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <string>
#include <type_traits>
#include <vector>

#include "heddle/entries.hpp"
#include "heddle/vector_operations.hpp"
#include "support/expect_error.hpp"
#include "support/few_entries.hpp"
#include "support/random_matrix.hpp"

namespace {

using namespace heddle;
using namespace heddle::test;

constexpr VectorLayout layouts[] = {VectorLayout::aos, VectorLayout::soa};

std::shared_ptr<const Basis> random_basis(Index n, Generator& generator) {
  Array<Index> order(static_cast<std::size_t>(n));
  std::iota(order.begin(), order.end(), 0);
  std::shuffle(order.begin(), order.end(), generator);
  return Basis::from_order(std::move(order), Device::cpu());
}

template <class E>
class FieldOf : public testing::Test {};
using Entries =
    testing::Types<real<float>, real<double, 3>, complex<double>, quaternion<float>,
                   dual_quaternion<double>, block<double, 2, 3>, block<complex<float>, 3, 3>>;
TYPED_TEST_SUITE(FieldOf, FewWhereSanitized<Entries>);

TYPED_TEST(FieldOf, StartsAtZeroAndKeepsWhatIsSet) {
  using E = TypeParam;
  using V = typename Field<E>::entry;
  Seed seed(611);
  for (const VectorLayout layout : layouts) {
    Field<E> field(13, Device::cpu(), layout);
    EXPECT_EQ(field.size(), 13);
    EXPECT_EQ(field.layout(), layout);
    EXPECT_EQ(field.scalars().size(), 13u * V::components);
    for (const auto value : field.scalars()) EXPECT_EQ(value, 0);
    std::vector<V> set;
    for (Index row = 0; row < 13; ++row) {
      set.push_back(random_components<V>(seed.generator));
      field.set(row, set.back());
    }
    for (Index row = 0; row < 13; ++row) {
      const V read = field[row];
      for (int k = 0; k < V::components; ++k) {
        const auto value = set[static_cast<std::size_t>(row)].component[k];
        EXPECT_EQ(read.component[k], value);
        EXPECT_EQ(field.view().at(row, k), value);
        const auto place = layout == VectorLayout::aos ? row * V::components + k : k * 13 + row;
        EXPECT_EQ(field.scalars()[static_cast<std::size_t>(place)], value);
      }
    }
    const Field<E> copied = field;
    field.set(0, V{});
    EXPECT_EQ(copied[0].component[0], set[0].component[0]);
  }
}

TYPED_TEST(FieldOf, GoesIntoABasisAndBack) {
  using E = TypeParam;
  using S = typename Field<E>::scalar;
  Seed seed(612);
  constexpr Index n = 777;
  const auto a = random_basis(n, seed.generator), b = random_basis(n, seed.generator);
  for (const VectorLayout from : layouts) {
    for (const VectorLayout to : layouts) {
      const Field<E> user = random_field<E>(n, seed.generator, from);
      Field<E> in_a(n, Device::cpu(), to, a), in_b(n, Device::cpu(), from, b),
          back(n, Device::cpu(), from);
      const Stream stream{2};
      permute<S>(user.view(), in_a.view(), S(1), stream);
      for (Index i = 0; i < n; ++i) {
        ASSERT_EQ(in_a[i].component[0], user[a->user_row(i)].component[0]);
      }
      EXPECT_EQ(in_users_order(in_a.view()), in_users_order(user.view()));
      permute<S>(in_a.view(), in_b.view(), S(-2), stream);
      permute<S>(in_b.view(), back.view(), S(-0.5), stream);
      EXPECT_EQ(in_users_order(back.view()), in_users_order(user.view()));
    }
  }
}

TYPED_TEST(FieldOf, CopiesBetweenLayouts) {
  using E = TypeParam;
  using S = typename Field<E>::scalar;
  Seed seed(613);
  for (const Index n : {0, 1, 300}) {
    const auto basis = random_basis(n, seed.generator);
    const Field<E> aos = random_field<E>(n, seed.generator, VectorLayout::aos, basis);
    Field<E> soa(n, Device::cpu(), VectorLayout::soa, basis),
        back(n, Device::cpu(), VectorLayout::aos, basis);
    copy<S>(aos.view(), soa.view(), Stream{2});
    copy<S>(soa.view(), back.view(), Stream{1});
    for (Index row = 0; row < n; ++row) {
      for (int k = 0; k < Field<E>::entry::components; ++k) {
        ASSERT_EQ(soa[row].component[k], aos[row].component[k]);
      }
    }
    EXPECT_TRUE(std::equal(back.scalars().begin(), back.scalars().end(), aos.scalars().begin(),
                           aos.scalars().end()));
  }
}

TEST(Field, MeetsItsBasis) {
  expect_error(ErrorKind::size_mismatch, "a field of 4 rows does not fit a basis of 5",
               [] { Field<real<double>>(4, Device::cpu(), VectorLayout::aos, Basis::natural(5)); });
  const auto basis = Basis::natural(4);
  const Field<real<double>> field(4, Device::cpu(), VectorLayout::aos, basis);
  EXPECT_EQ(field.basis(), basis);
  EXPECT_EQ(field.view().basis, basis);
}

TEST(FieldView, KnowsItsLayout) {
  std::vector<float> data(60);
  const FieldView<float> aos(data.data(), 10, 6), soa(data.data(), 10, 6, VectorLayout::soa),
      single(data.data(), 60);
  EXPECT_TRUE(aos.is_aos() && !aos.is_soa());
  EXPECT_TRUE(soa.is_soa() && !soa.is_aos());
  EXPECT_TRUE(single.is_aos() && single.is_soa());
  EXPECT_EQ(aos.scalars(), 60);
  EXPECT_EQ(&aos.at(3, 2), data.data() + 20);
  EXPECT_EQ(&soa.at(3, 2), data.data() + 23);
  EXPECT_EQ(&single.at(7, 0), data.data() + 7);
  FieldView<float> gapped = aos;
  gapped.entry_stride = 7;
  EXPECT_FALSE(gapped.is_aos() || gapped.is_soa());
}

TEST(FieldView, BecomesOneThatIsOnlyRead) {
  std::vector<double> data(40);
  FieldView<double> view(data.data(), 5, 2, VectorLayout::aos, Basis::natural(5));
  view.entry_stride = 8;
  view.component_stride = 3;
  view.keep_alive = std::make_shared<int>(1);
  const FieldView<const double> read = view;
  EXPECT_EQ(read.data, view.data);
  EXPECT_EQ(read.size, 5);
  EXPECT_EQ(read.components, 2);
  EXPECT_EQ(read.entry_stride, 8);
  EXPECT_EQ(read.component_stride, 3);
  EXPECT_EQ(read.basis, view.basis);
  EXPECT_EQ(read.keep_alive, view.keep_alive);
  static_assert(!std::is_convertible_v<FieldView<const double>, FieldView<double>>);
}

TEST(FieldView, OfAnyStridesIsCopiedAndPermuted) {
  Seed seed(614);
  constexpr Index n = 300;
  // Two components out of seven, in reverse order.
  std::vector<double> wide(n * 7), narrow(n * 2), back(n * 7);
  for (double& value : wide) value = static_cast<double>(random_between(1, 1000, seed.generator));
  FieldView<double> strided(wide.data() + 5, n, 2);
  strided.entry_stride = 7;
  strided.component_stride = -3;
  const FieldView<double> packed(narrow.data(), n, 2);
  copy<double>(strided, packed, Stream{2});
  for (Index i = 0; i < n; ++i) {
    ASSERT_EQ(packed.at(i, 0), wide[static_cast<std::size_t>(i) * 7 + 5]);
    ASSERT_EQ(packed.at(i, 1), wide[static_cast<std::size_t>(i) * 7 + 2]);
  }
  FieldView<double> target = strided;
  target.data = back.data() + 5;
  target.basis = random_basis(n, seed.generator);
  permute<double>(packed, target, 1.0, Stream{2});
  EXPECT_EQ(in_users_order(target), narrow);
  // Nothing else is written.
  EXPECT_EQ(std::count(back.begin(), back.end(), 0.0), n * 5);
}

}  // namespace
