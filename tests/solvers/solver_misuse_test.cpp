// Preconditioners for other fields, operators that are destroyed before their solver or moved from,
// and a solution that aliases the right-hand side.
#include <gtest/gtest.h>

#include <type_traits>

#include "heddle/bicgstab.hpp"
#include "heddle/conjugate_gradient.hpp"
#include "heddle/jacobi.hpp"
#include "heddle/minres.hpp"
#include "heddle/problems.hpp"
#include "heddle/runtime/any_solver.hpp"
#include "heddle/runtime/defined_operator.hpp"
#include "heddle/triplets.hpp"
#include "support/entry_definitions.hpp"
#include "support/expect_error.hpp"
#include "support/message_of.hpp"
#include "support/refusing_memory.hpp"

namespace heddle::test::solver_misuse {
namespace {

using E = real<double>;
using Q = quaternion<double>;

constexpr Index n = 60;

CsrMatrix<E> line_matrix(Index rows = n, double diagonal = 2.5) {
  std::vector<Triplet<E>> triplets;
  for (Index i = 0; i < rows; ++i) {
    triplets.push_back({i, i, E{{diagonal + 0.01 * i}}});
    if (i > 0) triplets.push_back({i, i - 1, E{{-1}}});
    if (i + 1 < rows) triplets.push_back({i, i + 1, E{{-1}}});
  }
  return assemble<E>(rows, rows, std::span<const Triplet<E>>(triplets)).matrix;
}
Operator<E> line_operator(const char* plan = "CSR", Index rows = n) {
  return {line_matrix(rows), parse_plan(plan)};
}

/// The inverse of the diagonal of `line_matrix`, from a user who states no more than its size.
class Inverses final : public Preconditioner<double> {
 public:
  explicit Inverses(std::optional<FieldShape> shape) : shape_(std::move(shape)) {}
  std::optional<FieldShape> shape() const override { return shape_; }
  void apply(const FieldView<const double>& r, const FieldView<double>& z,
             const Stream&) const override {
    for (Index i = 0; i < r.size; ++i) z.at(i, 0) = r.at(i, 0) / (2.5 + 0.01 * i);
  }

 private:
  std::optional<FieldShape> shape_;
};

std::shared_ptr<const Basis> reversed() {
  Array<Index> order(n);
  for (Index i = 0; i < n; ++i) order[static_cast<std::size_t>(i)] = n - 1 - i;
  return Basis::from_order(std::move(order), Device::cpu());
}

TEST(SolverMisuse, RefusesPreconditionersOfOtherFields) {
  const Operator<E> A = line_operator();
  const Operator<E> longer = line_operator("CSR", n + 1), shorter = line_operator("CSR", n - 1);
  const Operator<E> reordered(line_matrix(), parse_plan("CSR"), reversed());
  for (const Operator<E>* other : {&longer, &shorter, &reordered}) {
    expect_error(ErrorKind::size_mismatch, [&] { ConjugateGradient cg(A, Jacobi(*other)); });
    expect_error(ErrorKind::size_mismatch, [&] { BiCGStab solver(A, Jacobi(*other)); });
  }
  const CsrMatrix<Q> surface = dirac(n, 1);
  const Operator<Q> of_quaternions(surface, parse_plan("CSR"));
  const Operator<E> as_many(line_matrix(of_quaternions.rows()), parse_plan("CSR"));
  expect_error(ErrorKind::size_mismatch, [&] { BiCGStab solver(of_quaternions, Jacobi(as_many)); });
  const DefinedOperator<double> defined(as_defined(surface, quaternion_definition()),
                                        parse_plan("CSR"), Device::cpu());
  expect_error(ErrorKind::size_mismatch,
               [&] { ConjugateGradient cg(A, DefinedJacobi<double>(defined)); });
  EXPECT_NO_THROW(BiCGStab(of_quaternions, DefinedJacobi<double>(defined)));
  // Only the fields count, not the matrix: the Jacobi of a similar matrix is accepted.
  EXPECT_NO_THROW(ConjugateGradient(A, Jacobi(Operator<E>(line_matrix(n, 3), parse_plan("CSR")))));
}

TEST(SolverMisuse, AUsersPreconditionerSaysAsMuchAsItKnows) {
  const Operator<E> A = line_operator();
  const Operator<E> reordered(line_matrix(), parse_plan("CSR"), reversed());
  const auto solve_with = [](const Operator<E>& matrix, std::optional<FieldShape> shape) {
    ConjugateGradient cg(matrix, Inverses(std::move(shape)), {.tolerance = 1e-8});
    Field<E> b(n), x(n);
    fill<double>(1, b.view(), Device::cpu().stream());
    EXPECT_TRUE(cg.solve(b, x).converged());
  };
  solve_with(A, std::nullopt);
  solve_with(A, FieldShape{.rows = n});
  solve_with(A, FieldShape{.rows = n, .layout = VectorLayout::aos, .gpu = -1});
  solve_with(reordered, FieldShape{.rows = n, .basis = reversed()});
  const FieldShape others[] = {{.rows = n + 1},
                               {.rows = n, .components = 2},
                               {.rows = n, .basis = reversed()},
                               {.rows = n, .layout = VectorLayout::soa}};
  for (const FieldShape& other : others) {
    expect_error(ErrorKind::size_mismatch, [&] { solve_with(A, other); });
  }
  expect_error(ErrorKind::size_mismatch, [&] { solve_with(reordered, FieldShape{.rows = n}); });
  expect_error(ErrorKind::usage, [&] { solve_with(A, FieldShape{.rows = n, .gpu = 0}); });
  ConjugateGradient none(A, nullptr);
  Field<E> b(n), x(n);
  EXPECT_TRUE(none.solve(b, x).converged());
}

/// Returns r unchanged, and claims the properties that a test gives it.
struct Traits {
  bool is_constant = true, is_hermitian = true;
  Workspace workspace = {};
};
class Stated final : public Preconditioner<double> {
 public:
  explicit Stated(const Traits& traits) : traits_(traits) {}
  void apply(const FieldView<const double>& r, const FieldView<double>& z,
             const Stream& stream) const override {
    copy<double>(r, z, stream);
  }
  Workspace workspace() const override { return traits_.workspace; }
  bool is_constant() const override { return traits_.is_constant; }
  bool is_hermitian() const override { return traits_.is_hermitian; }

 private:
  Traits traits_;
};

TEST(SolverMisuse, RefusesPreconditionersThatVary) {
  const Operator<E> A = line_operator();
  const std::string why =
      " needs a constant preconditioner, and this one says that it varies; use FGMRES";
  const auto refused = [&](const char* title, const auto& make) {
    expect_error(ErrorKind::unsupported, title + why, make);
  };
  const Stated varying(Traits{.is_constant = false});
  refused("conjugate gradient", [&] { ConjugateGradient cg(A, varying); });
  refused("MINRES", [&] { Minres minres(A, varying); });
  refused("BiCGStab", [&] { BiCGStab bicgstab(A, varying); });
}

TEST(SolverMisuse, RefusesPreconditionersThatAreNotHermitianWhereTheMethodNeedsIt) {
  const Operator<E> A = line_operator();
  const std::string why =
      " needs a Hermitian preconditioner, and this one says that it is not; use BiCGStab";
  const Stated skew(Traits{.is_hermitian = false});
  expect_error(ErrorKind::unsupported, "conjugate gradient" + why,
               [&] { ConjugateGradient cg(A, skew); });
  expect_error(ErrorKind::unsupported, "MINRES" + why, [&] { Minres minres(A, skew); });
  Field<E> b(n), x(n);
  fill<double>(1, b.view(), Device::cpu().stream());
  EXPECT_TRUE(BiCGStab(A, skew).solve(b, x).converged());
}

TEST(SolverMisuse, CountsAPreconditionersWorkspaceBeforeItAllocates) {
  RefusingMemory memory(std::pmr::new_delete_resource());
  const Device device = Device::cpu(1, &memory);
  const Operator<E> A(line_matrix(), parse_plan("CSR"), device);
  EXPECT_NO_THROW(ConjugateGradient(A, Stated(Traits{.workspace = {3, 1 << 20}})));
  const long long allocations = memory.allocations;
  const auto refusal = [&](const Workspace& workspace) {
    return message_of([&] { ConjugateGradient cg(A, Stated(Traits{.workspace = workspace})); });
  };
  // The solver's own needs are 6 fields and 64 bytes of sums.
  const std::string of_fields = refusal({2'000'000'000, 0});
  EXPECT_TRUE(of_fields.starts_with("the solver needs 2000000006 fields of 480 B and 64 B for "))
      << of_fields;
  const std::string of_bytes = refusal({1, (1LL << 60) - 64});
  EXPECT_TRUE(of_bytes.starts_with("the solver needs 7 fields of 480 B and 1048576.0 TiB for "))
      << of_bytes;
  EXPECT_EQ(memory.allocations, allocations + 2);  // the sums of each
}

TEST(SolverMisuse, JacobiTakesItsOperatorsFieldsOnly) {
  const Operator<E> A = line_operator();
  const Jacobi<E> jacobi(A);
  Field<E> r(n), z(n), longer(n + 1), also_longer(n + 1);
  Field<E> reordered(n, Device::cpu(), VectorLayout::aos, reversed());
  const Stream stream = Device::cpu().stream();
  EXPECT_NO_THROW(jacobi.apply(r.view(), z.view(), stream));
  expect_error(ErrorKind::size_mismatch,
               [&] { jacobi.apply(longer.view(), also_longer.view(), stream); });
  expect_error(ErrorKind::size_mismatch, [&] { jacobi.apply(r.view(), longer.view(), stream); });
  expect_error(ErrorKind::size_mismatch, [&] { jacobi.apply(reordered.view(), z.view(), stream); });
}

/// Multiplies by 2, and counts its living instances.
class Twice final : public LinearOperator<double> {
 public:
  explicit Twice(int& alive) : alive_(&alive) { ++alive; }
  Twice(const Twice& other) : alive_(other.alive_) { ++*alive_; }
  ~Twice() override { --*alive_; }
  Index rows() const override { return n; }
  void apply(double alpha, const FieldView<const double>& x, double beta,
             const FieldView<double>& y, const Stream&) const override {
    EXPECT_GT(*alive_, 0);
    for (Index i = 0; i < n; ++i) {
      y.at(i, 0) = 2 * alpha * x.at(i, 0) + (beta == 0 ? 0 : beta * y.at(i, 0));
    }
  }

 private:
  int* alive_;
};

template <template <class> class Method>
void expect_kept() {
  Field<E> b(n), x(n);
  fill<double>(1, b.view(), Device::cpu().stream());
  const auto expect_solved = [&](KrylovSolver<double>& solver) {
    fill<double>(0, x.view(), Device::cpu().stream());
    const Report report = solver.solve(b, x);
    EXPECT_TRUE(report.converged());
    return report.iterations;
  };
  const Operator<E> A = line_operator("pJDS");
  Method<double> reference(A, Jacobi(A));
  const auto iterations = expect_solved(reference);
  // The objects that the solver was made of no longer exist.
  Method<double> of_temporary(line_operator("pJDS"), Jacobi(A));
  EXPECT_EQ(expect_solved(of_temporary), iterations);
  auto made = std::make_unique<Operator<E>>(A);
  Method<double> of_dead(*made, Jacobi(*made));
  made.reset();
  EXPECT_EQ(expect_solved(of_dead), iterations);
  auto held = std::make_unique<Operator<E>>(A);
  Method<double> by_base(static_cast<const LinearOperator<double>&>(*held), Jacobi(*held));
  held.reset();
  EXPECT_EQ(expect_solved(by_base), iterations);

  int alive = 0;
  {
    Method<double> of_moved{Twice(alive)};
    EXPECT_EQ(alive, 1);
    expect_solved(of_moved);
    Method<double> of_shared(std::make_shared<Twice>(alive));
    EXPECT_EQ(alive, 2);
    expect_solved(of_shared);
    const Twice own(alive);
    Method<double> of_own(own);
    EXPECT_EQ(alive, 3);  // held by reference
    expect_solved(of_own);
  }
  EXPECT_EQ(alive, 0);
  expect_error(ErrorKind::usage, [] { Method<double> solver(std::shared_ptr<const Twice>{}); });
}

TEST(SolverMisuse, SolversKeepTheirOperator) {
  expect_kept<ConjugateGradient>();
  expect_kept<BiCGStab>();
  // New values through any handle reach the solver.
  Operator<E> A = line_operator();
  ConjugateGradient cg(A, Jacobi(A));
  Field<E> b(n), x(n);
  fill<double>(1, b.view(), Device::cpu().stream());
  A.update_values(line_matrix(n, 1000));
  EXPECT_LE(cg.solve(b, x).iterations, 5);
  EXPECT_NEAR(x[0].component[0], 1e-3, 1e-5);
}

TEST(SolverMisuse, TemplateArgumentsAreDeduced) {
  const Operator<E> A = line_operator();
  const Operator<real<float>> single(CsrMatrix<real<float>>(), parse_plan("CSR"));
  const SolverOptions options{.tolerance = 1e-3};
  static_assert(std::is_same_v<decltype(ConjugateGradient(A)), ConjugateGradient<double>>);
  static_assert(std::is_same_v<decltype(ConjugateGradient(A, options)), ConjugateGradient<double>>);
  static_assert(
      std::is_same_v<decltype(ConjugateGradient(A, {.tolerance = 1})), ConjugateGradient<double>>);
  static_assert(std::is_same_v<decltype(ConjugateGradient(A, Jacobi(A), {.tolerance = 1})),
                               ConjugateGradient<double>>);
  static_assert(std::is_same_v<decltype(BiCGStab(single, nullptr)), BiCGStab<float>>);
  static_assert(std::is_same_v<decltype(BiCGStab(std::make_shared<Operator<E>>(A),
                                                 std::make_shared<Jacobi<E>>(A))),
                               BiCGStab<double>>);
  static_assert(!std::is_move_constructible_v<ConjugateGradient<double>>);
  BiCGStab shared(std::make_shared<Operator<E>>(A), std::make_shared<Jacobi<E>>(A));
  Field<E> b(n), x(n);
  EXPECT_TRUE(shared.solve(b, x).converged());
}

TEST(SolverMisuse, AMovedFromOperatorSaysSo) {
  Operator<E> A = line_operator();
  const Operator<E> taken = std::move(A);
  EXPECT_EQ(taken.rows(), n);
  Field<E> x(n), y(n);
  expect_error(ErrorKind::usage, [&] { A.rows(); });
  expect_error(ErrorKind::usage, [&] { A.plan(); });
  expect_error(ErrorKind::usage, [&] { A.field(); });
  expect_error(ErrorKind::usage, [&] { A.update_values(line_matrix()); });
  expect_error(ErrorKind::usage, [&] { A.values_changed(); });
  expect_error(ErrorKind::usage,
               [&] { A.apply(1, x.view(), 0, y.view(), Device::cpu().stream()); });
  expect_error(ErrorKind::usage, [&] { ConjugateGradient cg(A); });
  expect_error(ErrorKind::usage, [&] { Jacobi jacobi(A); });
  expect_error(ErrorKind::usage, [&] { A.scheduled(parse_plan("CSR")); });
  A = taken;
  EXPECT_EQ(A.rows(), n);

  DefinedOperator<double> defined(as_defined(dirac(n, 1), quaternion_definition()),
                                  parse_plan("CSR"), Device::cpu());
  const DefinedOperator<double> also = std::move(defined);
  expect_error(ErrorKind::usage, [&] { defined.rows(); });
  expect_error(ErrorKind::usage, [&] { DefinedJacobi<double> jacobi(defined); });

  AnyOperator any(AnyMatrix(line_matrix()), parse_plan("CSR"), Device::cpu());
  const AnyOperator same = std::move(any);
  EXPECT_EQ(same.rows(), n);
  expect_error(ErrorKind::usage, [&] { any.rows(); });
  expect_error(ErrorKind::usage,
               [&] { AnySolver solver(any, find_method("cg"), PreconditionerKind::none, {}); });
  AnyField field = same.row_field();
  const AnyField moved = std::move(field);
  EXPECT_EQ(moved.rows(), n);
  EXPECT_EQ(field.rows(), 0);
  expect_error(ErrorKind::size_mismatch,
               [] { AnyField negative(-1, 1, Precision::double_precision, Device::cpu()); });
}

TEST(SolverMisuse, TheSolutionHasMemoryOfItsOwn) {
  const Operator<E> A = line_operator();
  ConjugateGradient cg(A);
  std::vector<double> memory(4 * n, 1.0);
  const FieldView<double> b(memory.data(), n);
  expect_error(ErrorKind::usage, [&] { cg.solve(b, b); });
  expect_error(ErrorKind::usage, [&] { cg.solve(b, FieldView<double>(b.data + n - 1, n)); });
  EXPECT_TRUE(cg.solve(b, FieldView<double>(b.data + n, n)).converged());
  // Columns of one table do not overlap.
  FieldView<double> first = b, second = b;
  first.entry_stride = second.entry_stride = 2;
  ++second.data;
  EXPECT_TRUE(cg.solve(first, second).converged());
}

}  // namespace
}  // namespace heddle::test::solver_misuse
