// Preconditioners that a caller's own loop applies: on its streams, and in its graphs.
#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "heddle/conjugate_gradient.hpp"
#include "heddle/user_order_preconditioner.hpp"
#include "runtime/adjoint_preconditioner.hpp"
#include "support/distance.hpp"
#include "support/enqueued.hpp"
#include "support/expect_error.hpp"
#include "support/gpu.hpp"
#include "support/random_matrix.hpp"

namespace user_order_preconditioner_gpu {
namespace {

using namespace heddle;
using namespace heddle::test;

template <class E>
class PreconditionersOnStreams : public OnGpu {};
using Entries =
    testing::Types<real<double>, complex<double>, block<double, 3, 3>, quaternion<float>>;
TYPED_TEST_SUITE(PreconditionersOnStreams, Entries);

constexpr Index rows = 1501;
const std::string no_graph = "this preconditioner cannot become part of a graph: ";
const char* const plans[] = {"C=32,sigma=n,inner=aosoa16", "CSR", "pJDS,vector-layout=soa"};
const char* const texts[] = {
    "none",      "jacobi",        "block-jacobi:2", "chebyshev:2",        "neumann", "fsai", "isai",
    "multigrid", "multigrid:2:k", "cr:3",           "jacobi*fsai*jacobi", "direct"};

template <class E>
struct Made {
  using S = vector_scalar_t<E>;

  Made(const CsrMatrix<E>& matrix, const std::string& plan, const std::string& text,
       const Device& device)
      : A(matrix, parse_plan(plan), device),
        choice(ComposedChoice::parse(text)),
        made(make_preconditioner<S>(OperatorReference<S>(A), choice)),
        M(A, made) {}

  Operator<E> A;
  ComposedChoice choice;
  std::shared_ptr<Preconditioner<S>> made;
  UserOrderPreconditioner<S> M;
};

TYPED_TEST(PreconditionersOnStreams, AgreeWithTheCpu) {
  using E = TypeParam;
  using S = vector_scalar_t<E>;
  Seed seed(7411 + sizeof(E));
  const auto matrix = random_positive_definite_matrix<E>(rows, 7, seed.generator);
  const Field<E> r = random_field<E>(rows, seed.generator);
  const Field<E> r_there = on_gpu(r, this->device);
  const OwnStream stream;
  const Device own = Device::cuda(0, stream.get());
  for (const std::string plan : plans) {
    for (const std::string text : texts) {
      SCOPED_TRACE(plan + " " + text);
      const Made<E> here(matrix, plan, text, Device::cpu()),
          there(matrix, plan, text, this->device);
      Field<E> expected(rows), z(rows);
      here.M.apply(r.view(), expected.view(), Stream());
      // Krylov methods end where they are: their scalars round in another order.
      const double tolerance = text.find("cr") != text.npos || text.find("k") != text.npos ? 1e-2
                               : sizeof(S) == 4                                            ? 1e-4
                                                                                           : 1e-9;
      for (const Stream& on : {this->device.stream(), own.stream()}) {
        Field<E> z_there(rows, this->device);
        this->device.synchronize();
        there.M.apply(r_there.view(), z_there.view(), on);
        this->device.synchronize();
        own.synchronize();
        EXPECT_FALSE(!(distance(z_there.to_host().scalars(), expected.scalars()) <= tolerance));
        there.M.apply(r.view(), z.view(), on);  // both in the host's memory
        EXPECT_FALSE(!(distance(z.scalars(), z_there.to_host().scalars()) <= 1e-12));
      }
    }
  }
}

TYPED_TEST(PreconditionersOnStreams, BecomePartOfTheCallersGraph) {
  using E = TypeParam;
  Seed seed(7412 + sizeof(E));
  const auto matrix = random_positive_definite_matrix<E>(rows, 7, seed.generator);
  const OwnStream stream;
  const Device own = Device::cuda(0, stream.get());
  const Stream on = own.stream();
  for (const std::string plan : plans) {
    for (const std::string text : texts) {
      SCOPED_TRACE(plan + " " + text);
      const Made<E> made(matrix, plan, text, this->device);
      Field<E> r(rows, this->device), z(rows, this->device), expected(rows, this->device);
      this->device.synchronize();
      const auto apply = [&] { made.M.apply(r.view(), z.view(), on); };
      if (!made.M.is_capturable()) {
        apply();
        continue;
      }
      OwnGraph unprepared(stream.get(), [&] {
        expect_error(ErrorKind::usage,
                     no_graph + "apply it to these fields once before the capture", apply);
      });
      apply();
      const OwnGraph graph(stream.get(), apply);
      if (this->HasFailure()) return;
      for (int replay = 0; replay < 3; ++replay) {
        const Field<E> now = random_field<E>(rows, seed.generator);
        assign(r, now);
        this->device.synchronize();
        graph.launch(stream.get());
        own.synchronize();
        made.M.apply(r.view(), expected.view(), this->device.stream());
        this->device.synchronize();
        EXPECT_EQ(distance(z.to_host().scalars(), expected.to_host().scalars()), 0);
      }
    }
  }
}

/// Whose levels the host makes.
const char* const gauss_seidel = "multigrid:1:v:gauss-seidel";

TYPED_TEST(PreconditionersOnStreams, AreRenewedInGraphs) {
  using E = TypeParam;
  Seed seed(7413 + sizeof(E));
  auto matrix = random_positive_definite_matrix<E>(rows, 7, seed.generator);
  const OwnStream stream;
  const Device own = Device::cuda(0, stream.get());
  const Stream on = own.stream();
  for (const std::string text :
       {"jacobi", "block-jacobi:2", "fsai", "jacobi*fsai*jacobi", "multigrid", gauss_seidel}) {
    SCOPED_TRACE(text);
    Made<E> made(matrix, "C=32,sigma=n", text, this->device);
    const Field<E> r = on_gpu(random_field<E>(rows, seed.generator), this->device);
    Field<E> z(rows, this->device), expected(rows, this->device);
    this->device.synchronize();
    made.M.apply(r.view(), z.view(), on);
    const bool renews = made.made->can_queue_refresh();
    EXPECT_EQ(renews, text != gauss_seidel);
    const OwnGraph graph(stream.get(), [&] {
      const auto update = [&] { made.M.update(on); };
      if (renews) {
        update();
      } else {
        expect_error(ErrorKind::usage, no_graph + "the host takes part in its update", update);
      }
      made.M.apply(r.view(), z.view(), on);
    });
    if (this->HasFailure()) return;
    EXPECT_EQ(graph.calls_of_host(), 0U);
    auto changed = matrix;
    for (auto& value : changed.values()) value *= 2;
    made.A.update_values(changed.values());
    this->device.synchronize();
    if (!renews) made.M.update(on);
    graph.launch(stream.get());
    own.synchronize();
    const Made<E> fresh(changed, "C=32,sigma=n", text, this->device);
    fresh.M.apply(r.view(), expected.view(), this->device.stream());
    this->device.synchronize();
    const double tolerance = sizeof(vector_scalar_t<E>) == 4 ? 1e-5 : 1e-12;
    EXPECT_FALSE(!(distance(z.to_host().scalars(), expected.to_host().scalars()) <= tolerance));
  }
}

/// New values, new levels and the solve are one graph of the caller's: the bits are those of a
/// solve that the host drives.
TYPED_TEST(PreconditionersOnStreams, RenewInTheGraphOfTheirSolve) {
  using E = TypeParam;
  using S = vector_scalar_t<E>;
  Seed seed(7415 + sizeof(E));
  const auto first = random_positive_definite_matrix<E>(rows, 7, seed.generator);
  const OwnStream stream;
  const Device own = Device::cuda(0, stream.get());
  const std::string plan = "pJDS,T=4,loop=graph";
  Made<E> step(first, plan, "multigrid", own), other(first, plan, "multigrid", own);
  ConjugateGradient<S> solver(step.A, step.made), reference(other.A, other.made);
  Array<S> values(std::span<const S>(first.values()), own);
  const Field<E> b = on_gpu(random_field<E>(rows, seed.generator), own);
  Field<E> x(rows, own), expected(rows, own);
  const PinnedReport report;
  solver.prepare_enqueue(b.view(), x.view(), report.get());
  own.synchronize();
  const OwnGraph graph(stream.get(), [&] {
    step.A.update_values(values);
    step.M.update(own.stream());
    solver.enqueue(b.view(), x.view(), report.get());
  });
  if (this->HasFailure()) return;
  EXPECT_EQ(graph.calls_of_host(), 0U);
  for (const double factor : {1.3, 0.7, 1.0}) {
    SCOPED_TRACE(factor);
    auto now = first;
    for (auto& value : now.values()) value *= static_cast<S>(factor);
    detail::copy_bytes(values.data(), now.values().data(), values.size() * sizeof(S), own.stream());
    assign(x, Field<E>(rows));
    graph.launch(stream.get());
    EXPECT_EQ(report.after(own).status, Status::converged);
    other.A.update_values(now.values());
    assign(expected, Field<E>(rows));
    const Report of_host = reference.solve(b.view(), expected.view());
    EXPECT_EQ(report.after(own).iterations, of_host.iterations);
    EXPECT_EQ(distance(x.to_host().scalars(), expected.to_host().scalars()), 0);
  }
}

/// <M^-1 x, y> = <x, M^-* y>.
TYPED_TEST(PreconditionersOnStreams, HaveAdjoints) {
  using E = TypeParam;
  using S = vector_scalar_t<E>;
  Seed seed(7414 + sizeof(E));
  const auto matrix = random_positive_definite_matrix<E>(rows, 7, seed.generator);
  const Field<E> x = on_gpu(random_field<E>(rows, seed.generator), this->device),
                 y = on_gpu(random_field<E>(rows, seed.generator), this->device);
  const Stream stream = this->device.stream();
  Reduction<S> reduction(rows, this->device);
  for (const std::string text : {"jacobi", "block-jacobi:2*jacobi", "fsai*neumann", "multigrid"}) {
    SCOPED_TRACE(text);
    const Made<E> made(matrix, "C=32,sigma=n", text, this->device);
    const OperatorReference<S> A(made.A);
    const UserOrderPreconditioner<S> adjoint(A, adjoint_of<S>(made.made, A, made.choice));
    Field<E> z(rows, this->device), w(rows, this->device);
    made.M.apply(x.view(), z.view(), stream);
    adjoint.apply(y.view(), w.view(), stream);
    const double zy = static_cast<double>(real_dot<S>(z.view(), y.view(), reduction, stream));
    const double xw = static_cast<double>(real_dot<S>(x.view(), w.view(), reduction, stream));
    const double size =
        std::sqrt(static_cast<double>(real_dot<S>(z.view(), z.view(), reduction, stream)) *
                  static_cast<double>(real_dot<S>(y.view(), y.view(), reduction, stream)));
    EXPECT_NEAR(zy, xw, (sizeof(S) == 4 ? 1e-5 : 1e-12) * size);
  }
}

}  // namespace
}  // namespace user_order_preconditioner_gpu
