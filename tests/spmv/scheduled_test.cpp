// Runs in both builds.
// One stored matrix with several schedules: the same bits as from separate builds.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "heddle/runtime/any_solver.hpp"
#include "heddle/runtime/defined_operator.hpp"
#include "heddle/tuning/operator_work.hpp"
#include "support/entry_definitions.hpp"
#include "support/few_entries.hpp"
#include "support/random_matrix.hpp"
#include "support/refusing_memory.hpp"
#include "support/solve_outcome.hpp"

namespace scheduled {
namespace {

using namespace heddle;
using namespace heddle::test;

constexpr Index rows = 601;

/// The results of an operator that a solver uses, with all their bits.
template <class E>
std::vector<std::vector<vector_scalar_t<E>>> results(const Operator<E>& A,
                                                     const Field<E>& users_x) {
  using S = vector_scalar_t<E>;
  const Stream stream = A.device().stream();
  Field<E> x = A.field(), y = A.field(), z = A.field(), r = A.field();
  permute<S>(users_x.view(), x.view(), S(1), stream);
  Reduction<S> reduction(A.rows(), A.device());
  A.iterated().apply(S(1), x.view(), S(0), y.view(), stream);
  const auto dot = A.iterated().apply_dot(x.view(), z.view(), reduction, stream);
  const auto norm = A.residual(y.view(), x.view(), r.view(), reduction, stream);
  return {y.scalars().to_host(),
          z.scalars().to_host(),
          r.scalars().to_host(),
          {static_cast<S>(dot), static_cast<S>(norm)}};
}

template <class E>
class Scheduled : public testing::Test {};
using Entries = testing::Types<real<float>, complex<double>, quaternion<double>,
                               block<double, 3, 3>, dual_quaternion<float>>;
TYPED_TEST_SUITE(Scheduled, FewOf<Entries>);

TYPED_TEST(Scheduled, YieldsWhatABuildWouldAndBuildsNothing) {
  using E = TypeParam;
  Seed seed(5101);
  const auto matrix =
      random_matrix<E>({.rows = rows, .columns = rows, .empty_rows = true}, seed.generator);
  const Field<E> x = random_field<E>(rows, seed.generator);
  for (const char* layout : {"CSR", "Sl-32,inner=aosoa", "K2rs,vector=soa", "pJDS,stored=float",
                             "ELL,inner=soa,stored=float"}) {
    RefusingMemory memory(std::pmr::new_delete_resource());
    const Device device = Device::cpu(2, &memory);
    const Plan first = parse_plan(layout);
    const Operator<E> built(matrix, first, device);
    for (const char* schedule :
         {"schedule=dynamic,chunk=1", "prefetch-x=0,prefetch-matrix=0,recurrence=real",
          "schedule=full,prefetch-x=7,threads=64,unroll=4,loop=graph"}) {
      SCOPED_TRACE(std::string(layout) + "," + schedule);
      const Plan plan = parse_plan(schedule, first);
      const long long allocations = memory.allocations;
      const Operator<E> same = built.scheduled(plan);
      EXPECT_EQ(memory.allocations, allocations);
      EXPECT_EQ(same.plan(), plan);
      EXPECT_EQ(same.recurrence(), plan.loop.recurrence);
      EXPECT_EQ(&same.pattern(), &built.pattern());
      EXPECT_EQ(same.values_in_basis().data(), built.values_in_basis().data());
      EXPECT_EQ(built.plan(), first);
      const Operator<E> fresh(matrix, plan, device);
      EXPECT_EQ(results(same, x), results(fresh, x));
      EXPECT_EQ(same.iterated().bytes_of_product(), fresh.iterated().bytes_of_product());
    }
  }
}

TYPED_TEST(Scheduled, SharesNewValues) {
  using E = TypeParam;
  Seed seed(5102);
  const Pattern pattern = random_pattern({.rows = rows, .columns = rows}, seed.generator);
  const auto old = random_matrix_of<E>(pattern, seed.generator);
  const auto other = random_matrix_of<E>(pattern, seed.generator);
  const Field<E> x = random_field<E>(rows, seed.generator);
  for (const char* layout : {"CSR,stored=float", "K1rs"}) {
    SCOPED_TRACE(layout);
    const Plan plan = parse_plan(layout);
    Operator<E> first(old, plan);
    Operator<E> second = first.scheduled(parse_plan("schedule=dynamic", plan));
    const long long generation = first.generation();
    second.update_values(other);
    EXPECT_GT(first.generation(), generation);
    EXPECT_EQ(results(first, x), results(Operator<E>(other, plan), x));
    first.update_values(old);
    EXPECT_EQ(results(second, x), results(Operator<E>(old, second.plan()), x));
  }
}

TEST(ScheduledOperator, OutlivesTheOneItCameFrom) {
  Seed seed(5103);
  using E = quaternion<double>;
  const auto matrix = random_matrix<E>({.rows = rows, .columns = rows}, seed.generator);
  const Field<E> x = random_field<E>(rows, seed.generator);
  const Plan plan = parse_plan("schedule=dynamic");
  const Operator<E> same = Operator<E>(matrix, Plan{}).scheduled(plan);
  EXPECT_EQ(results(same, x), results(Operator<E>(matrix, plan), x));
}

TEST(ScheduledOperator, RefusesAnotherLayout) {
  Seed seed(5104);
  using E = complex<double>;
  const auto matrix = random_matrix<E>({.rows = 50, .columns = 50}, seed.generator);
  const Operator<E> A(matrix, parse_plan("Sl-32"));
  for (const char* other :
       {"CSR", "Sl-32,sigma=n", "Sl-32,T=2", "Sl-32,threshold=4", "Sl-32,inner=soa",
        "Sl-32,order=rcm", "Sl-32,columns=given", "Sl-32,use=scatter", "Sl-32,stored=float"}) {
    SCOPED_TRACE(other);
    try {
      static_cast<void>(A.scheduled(parse_plan(other)));
      ADD_FAILURE() << "no error";
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::bad_plan);
      const std::string what = error.what();
      EXPECT_EQ(what, "plan: a matrix stored as C=32 cannot run as " +
                          to_string(parse_plan(other)) + "; another layout requires rebuilding it");
    }
  }
  Plan meaningless = A.plan();
  meaningless.gpu.unroll = 9;
  EXPECT_THROW(static_cast<void>(A.scheduled(meaningless)), Error);
}

TEST(ScheduledOperator, OfADefinition) {
  Seed seed(5105);
  const auto matrix =
      random_matrix<quaternion<double>>({.rows = 300, .columns = 300}, seed.generator);
  const auto defined = as_defined(matrix, quaternion_definition());
  const Device device = Device::cpu(2);
  const DefinedOperator<double> built(defined, Plan{}, device);
  const Plan plan = parse_plan("schedule=dynamic,chunk=1,prefetch-x=3");
  const auto product = [&](const DefinedOperator<double>& A) {
    std::vector<double> x(1200), y(1200);
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = 1.0 / static_cast<double>(i + 1);
    A.apply(1, FieldView<const double>(x.data(), 300, 4, VectorLayout::aos), 0,
            FieldView<double>(y.data(), 300, 4, VectorLayout::aos), device.stream());
    return y;
  };
  const DefinedOperator<double> same = built.scheduled(plan);
  EXPECT_EQ(same.plan(), plan);
  EXPECT_EQ(product(same), product(DefinedOperator<double>(defined, plan, device)));
  EXPECT_THROW(static_cast<void>(built.scheduled(parse_plan("Sl-32"))), Error);
}

/// Fields of all rows, one after another.
std::vector<double> numbers(const AnyField& field) {
  std::vector<double> all(static_cast<std::size_t>(field.rows()) *
                          static_cast<std::size_t>(field.components()));
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = field.get(static_cast<Offset>(i));
  return all;
}

TEST(ScheduledOperator, OfAnEntryThatIsNamed) {
  Seed seed(5106);
  using E = block<double, 3, 3>;
  const AnyMatrix matrix(random_positive_definite_matrix<E>(400, 6, seed.generator));
  const Device device = Device::cpu(2);
  const Plan first = parse_plan("K1rs,vector=soa");
  const Plan plan = parse_plan("schedule=dynamic,chunk=1", first);
  const AnyOperator built(matrix, first, device);
  const AnyOperator same = built.scheduled(plan), fresh(matrix, plan, device);
  EXPECT_EQ(same.plan(), plan);
  EXPECT_EQ(same.entry().name(), "block3");
  EXPECT_EQ(same.memory().total(), built.memory().total());

  AnyField x = built.column_field();
  for (Offset i = 0; i < 1200; ++i) x.set(i, std::sin(static_cast<double>(i)));
  const auto product = [&](const AnyOperator& A) {
    const auto work = product_work(A, x);
    work->run(device.stream());
    AnyField y = A.row_field();
    work->take(y);
    AnyField applied = A.row_field();
    A.apply(x, applied);
    EXPECT_EQ(numbers(y), numbers(applied));
    return numbers(y);
  };
  EXPECT_EQ(product(same), product(fresh));

  const auto solution = [&](const AnyOperator& A) {
    AnySolver solver(A, find_method("cg"), PreconditionerKind::jacobi, {});
    AnyField solved = A.column_field();
    EXPECT_TRUE(solver.solve(x, solved).converged());
    return numbers(solved);
  };
  EXPECT_EQ(solution(same), solution(fresh));

  // Each run starts again from zero.
  SolverOptions options;
  options.tolerance = 0;
  const auto iterations =
      iteration_work(same, find_method("cg"), PreconditionerKind::jacobi, options, x);
  const Report once = iterations->run(5), few = iterations->run(2), again = iterations->run(5);
  EXPECT_EQ(once.iterations, 5);
  EXPECT_EQ(few.iterations, 2);
  EXPECT_EQ(again.iterations, 5);
  EXPECT_EQ(once.residual, again.residual);
  EXPECT_LT(once.residual, few.residual);
  EXPECT_LT(few.residual, 1);
  EXPECT_GT(once.residual, 0);
  // The x that they leave has that residual.
  AnyField reached = same.column_field(), image = same.row_field();
  iterations->take(reached);
  same.apply(reached, image);
  double squared = 0, squared_b = 0;
  for (std::size_t i = 0; i < numbers(x).size(); ++i) {
    const double b = numbers(x)[i], r = b - numbers(image)[i];
    squared += r * r;
    squared_b += b * b;
  }
  EXPECT_NEAR(std::sqrt(squared / squared_b), again.residual, 1e-12);
}

}  // namespace
}  // namespace scheduled
