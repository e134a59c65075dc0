// Runs in both builds.
// y = alpha A x + beta y in every layout, for every entry, compared with sums in long double.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "support/few_entries.hpp"
#include "support/product_check.hpp"
#include "support/where_it_runs.hpp"

namespace product {
namespace {

using namespace heddle;
using namespace heddle::test;

std::vector<PatternRequest> every_shape() {
  std::vector<PatternRequest> shapes = odd_patterns();
  const auto rectangular = odd_rectangular_patterns();
  shapes.insert(shapes.end(), rectangular.begin(), rectangular.end());
  return shapes;
}

template <class E>
void expect_products(const std::vector<Plan>& plans, const PatternRequest& shape,
                     Generator& generator) {
  SCOPED_TRACE(shape.name);
  const Problem<E> problem(shape, generator);
  for (const Plan& plan : plans) {
    if (!fits(plan, shape.rows, shape.columns)) continue;
    const Device device = Device::cpu(random_between(1, 3, generator));
    expect_poisoned_product(Operator<E>(problem.matrix, plan, device), problem, generator);
    if (testing::Test::HasFailure()) return;
  }
}

template <class E>
class EveryEntry : public testing::Test {};
template <class S>
using block2 = block<S, 2, 2>;
template <class S>
using block3 = block<S, 3, 3>;
template <class S>
using block4 = block<S, 4, 4>;
template <class S>
using block6 = block<S, 6, 6>;
template <class S>
using complex_block3 = block<complex<S>, 3, 3>;
using Entries =
    testing::Types<real<float>, real<double>, complex<float>, complex<double>, quaternion<float>,
                   quaternion<double>, dual_quaternion<float>, dual_quaternion<double>,
                   block2<float>, block2<double>, block3<float>, block3<double>, block4<float>,
                   block4<double>, block6<float>, block6<double>, complex_block3<float>,
                   complex_block3<double>>;
TYPED_TEST_SUITE(EveryEntry, FewWhereSanitized<Entries>);

TYPED_TEST(EveryEntry, InLayoutsThatCoverAllPairsOfChoices) {
  Seed seed(501 + sizeof(TypeParam));
  const std::vector<Plan> plans = covering_layouts(seed.generator);
  for (const PatternRequest& shape : every_shape()) {
    expect_products<TypeParam>(plans, shape, seed.generator);
    if (this->HasFailure()) return;
  }
}

TYPED_TEST(EveryEntry, InThePapersLayouts) {
  Seed seed(502 + sizeof(TypeParam));
  std::vector<Plan> plans;
  for (const char* name :
       {"CSR", "ELL", "Sl-16", "Sl-32", "pJDS", "K1", "K1r", "K1rs", "K2", "K2r", "K2rs"}) {
    plans.push_back(parse_plan(name));
  }
  for (const PatternRequest& shape : every_shape()) {
    expect_products<TypeParam>(plans, shape, seed.generator);
    if (this->HasFailure()) return;
  }
}

template <class E>
void in_every_layout(Generator& generator) {
  const std::vector<Plan> plans = all_layouts();
  ASSERT_GT(plans.size(), 5000u);
  const Problem<E> problem(
      {.rows = 71, .columns = 71, .empty_rows = true, .dense_row = true, .sorted = false},
      generator);
  for (const Plan& plan : plans) {
    expect_poisoned_product(Operator<E>(problem.matrix, plan, Device::cpu(1)), problem, generator);
    if (testing::Test::HasFailure()) return;
  }
}

TEST(EveryLayout, OfQuaternions) {
  HEDDLE_DEEP_CHECK_ONLY();
  Seed seed(503);
  in_every_layout<quaternion<double>>(seed.generator);
}
TEST(EveryLayout, OfBlocks) {
  HEDDLE_DEEP_CHECK_ONLY();
  Seed seed(504);
  in_every_layout<block<double, 3, 3>>(seed.generator);
}

/// A plan without prefetching has a separate loop, which must round as all others do.
template <class E>
void expect_bits_of_no_prefetch(Generator& generator) {
  using S = vector_scalar_t<E>;
  const Problem<E> problem({.rows = 500, .columns = 500, .dense_row = true}, generator);
  const Field<E> x = random_field<E>(500, generator);
  for (const std::string layout : {"CSR", "ELL", "C=4,inner=soa"}) {
    SCOPED_TRACE(layout);
    const auto product = [&](const std::string& asks) {
      const Operator<E> A(problem.matrix, parse_plan(layout + asks), Device::cpu(1));
      Field<E> y(500);
      A.apply(S(1.5), x.view(), S(0), y.view(), A.device().stream());
      return y;
    };
    const Field<E> with = product(",prefetch-x=24,prefetch-matrix=2048");
    const Field<E> without = product(",prefetch-x=0,prefetch-matrix=0");
    EXPECT_TRUE(std::ranges::equal(with.scalars(), without.scalars()));
  }
}

TEST(Prefetches, ChangeNoBit) {
  Seed seed(506);
  expect_bits_of_no_prefetch<real<float>>(seed.generator);
  expect_bits_of_no_prefetch<real<double>>(seed.generator);
  expect_bits_of_no_prefetch<complex<float>>(seed.generator);
  expect_bits_of_no_prefetch<complex<double>>(seed.generator);
  expect_bits_of_no_prefetch<quaternion<float>>(seed.generator);
}

/// The computation of `Operator::apply` on a machine without AVX2.
template <class E>
void apply_baseline(const Operator<E>& matrix, vector_scalar_t<E> alpha,
                    const FieldView<const vector_scalar_t<E>>& x, vector_scalar_t<E> beta,
                    const FieldView<vector_scalar_t<E>>& y) {
  using S = vector_scalar_t<E>;
  using V = vector_entry_t<E>;
  const SlicedPattern& A = matrix.pattern();
  const stored_scalar_t<E>* values = matrix.values_in_basis().data();
  const auto ahead_of = [&]<class Vector>(const Vector& vector) {
    return detail::PrefetchAhead<E, Vector>{A.column.data(),
                                            vector,
                                            reinterpret_cast<const char*>(values),
                                            {matrix.plan().cpu.prefetch_x, 0}};
  };
  const auto store = detail::RowStore<S>::scaled(alpha, beta, y);
  // Any range of rows may be requested: cut in odd places.
  const auto in_pieces = [&](const auto& rows) {
    for (Index begin = 0; begin < A.rows; begin += 29) rows(begin, std::min(A.rows, begin + 29));
  };
  if (matrix.plan().layout.inner == InnerLayout::aos && x.is_aos()) {
    const PackedValues<E> packed{values};
    const PackedVector<V, S> vector{x.data};
    in_pieces([&](Index begin, Index end) {
      detail::product_rows_baseline<E>(A, A.column.data(), packed, vector, ahead_of(vector), begin,
                                       end, store);
    });
  } else {
    const StridedValues<E> strided{
        values,
        slot_formula<E::components>(matrix.plan().layout.inner, A.C, A.slots, sizeof(*values))};
    const StridedVector<V, S> vector{x.data, x.entry_stride, x.component_stride};
    in_pieces([&](Index begin, Index end) {
      detail::product_rows_baseline<E>(A, A.column.data(), strided, vector, NothingAhead{}, begin,
                                       end, store);
    });
  }
}

template <class E>
void expect_baseline_products(Generator& generator) {
  using S = vector_scalar_t<E>;
  const std::vector<Plan> plans = covering_layouts(generator);
  for (const PatternRequest& shape : odd_patterns()) {
    SCOPED_TRACE(shape.name);
    const Problem<E> problem(shape, generator);
    for (const Plan& plan : plans) {
      SCOPED_TRACE(to_string(plan));
      Operator<E> matrix(problem.matrix, plan, Device::cpu(1));
      poison_padding(matrix);
      expect_product(matrix, problem, S(3.7), S(-1), generator,
                     [&](S alpha, const FieldView<const S>& x, S beta, const FieldView<S>& y) {
                       apply_baseline(matrix, alpha, x, beta, y);
                     });
      if (testing::Test::HasFailure()) return;
    }
  }
}

TEST(Baseline, WithoutAvx2) {
  Seed seed(505);
  expect_baseline_products<quaternion<double>>(seed.generator);
  expect_baseline_products<block<float, 3, 3>>(seed.generator);
  expect_baseline_products<real<double>>(seed.generator);
}

}  // namespace
}  // namespace product
