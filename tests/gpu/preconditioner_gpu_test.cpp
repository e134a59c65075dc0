// User-written preconditioners, and null spaces, in every form of a loop on a GPU.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "heddle/bicgstab.hpp"
#include "heddle/conjugate_gradient.hpp"
#include "heddle/fgmres.hpp"
#include "heddle/jacobi.hpp"
#include "heddle/row_preconditioner.hpp"
#include "support/distance.hpp"
#include "support/gpu.hpp"
#include "support/random_matrix.hpp"
#include "support/row_weights.hpp"

namespace preconditioner_gpu {
namespace {

using namespace heddle;
using namespace heddle::test;

template <class E>
E product(const E& a, const E& b) {
  if constexpr (E::components == 1) {
    return {{a.component[0] * b.component[0]}};
  } else {
    E result = E::zero();
    multiply_add(result, a, b);
    return result;
  }
}

/// The weighted Laplacian of a ring with chords of several lengths, well conditioned except for its
/// null space, in a random frame g at each node: -w g_i g_j^-1 off the diagonal, so that A g c = 0
/// for every number c of the ring.
template <class E>
struct Laplacian {
  CsrMatrix<E> matrix;
  Field<E> null_vector;

  explicit Laplacian(Index n, Generator& generator) : null_vector(n) {
    std::vector<E> frame;
    for (Index i = 0; i < n; ++i) {
      E g = random_components<E>(generator);
      g.component[0] += 2;  // not near zero
      double size = 0;
      for (const double component : g.component) size += component * component;
      for (auto& component : g.component) component /= std::sqrt(size);
      frame.push_back(g);
      for (int k = 0; k < E::components; ++k) null_vector.view().at(i, k) = g.component[k];
    }
    Pattern pattern{n, n, {0}, {}};
    std::vector<E> entries;
    for (Index i = 0; i < n; ++i) {
      double sum = 0;
      const std::size_t diagonal = entries.size();
      pattern.column.push_back(i);
      entries.push_back(E::zero());
      for (const Index step : {1, 11, 97, 731}) {
        for (const Index j : {(i + step) % n, (i + n - step) % n}) {
          const Index from = j == (i + step) % n ? i : j;
          const double weight = 1 + 0.5 * std::sin(double(from) * step);
          E entry = product(frame[static_cast<std::size_t>(i)],
                            adjoint(frame[static_cast<std::size_t>(j)]));
          for (auto& component : entry.component) component *= -weight;
          pattern.column.push_back(j);
          entries.push_back(entry);
          sum += weight;
        }
      }
      entries[diagonal].component[0] = sum;
      pattern.offsets.push_back(static_cast<Offset>(pattern.column.size()));
    }
    matrix = matrix_of(pattern, entries);
  }
};

template <class E>
Field<E> there(const Field<E>& field, const Device& device) {
  Field<E> copied(field.size(), device);
  copy<double>(field.view(), copied.view(), device.stream());
  device.synchronize();
  return copied;
}

/// Solves from x = 0 in stream order; the report is on the GPU.
template <class E>
std::vector<double> enqueued(KrylovSolver<double>& solver, const Field<E>& b, const Device& device,
                             DeviceReport& report) {
  const Field<E> right = there(b, device);
  Field<E> x(b.size(), device);
  Array<DeviceReport> on_gpu(1, device);
  solver.enqueue(right.view(), x.view(), on_gpu.data());
  device.synchronize();
  report = on_gpu.to_host()[0];
  return x.scalars().to_host();
}

const char* const plans[] = {"pJDS,loop=graph",
                             "Sl-32,vector=soa,inner=soa,loop=graph,reductions=1",
                             "pJDS,T=2,loop=graph,launch=overlapped",
                             "K1rs,loop=replay",
                             "pJDS,loop=graph,passes=1",
                             "pJDS,loop=persistent",
                             "pJDS,loop=stepped"};

/// The form of a plan's loop if preconditioning is work between its kernels.
std::string_view form_of(const std::string& plan, bool is_between) {
  if (plan.find("stepped") != std::string::npos) return "stepped";
  if (plan.find("replay") != std::string::npos) return "replay";
  return plan.find("persistent") != std::string::npos && !is_between ? "persistent" : "graph";
}

template <class E>
class PreconditionerOnGpu : public OnGpu {};
using Entries = testing::Types<real<double>, complex<double>, quaternion<double>>;
TYPED_TEST_SUITE(PreconditionerOnGpu, Entries);

template <class E, template <class> class Method>
void expect_projected(const Device& device, std::uint64_t number) {
  Seed seed(number);
  constexpr Index rows = 1501;
  const Laplacian<E> laplacian(rows, seed.generator);
  const Field<E> b = random_field<E>(rows, seed.generator);
  const auto solved = [&](const Operator<E>& A, bool jacobi, Report& report,
                          std::unique_ptr<Method<double>>& solver) {
    solver = jacobi ? std::make_unique<Method<double>>(A, Jacobi<E>(A))
                    : std::make_unique<Method<double>>(A);
    solver->set_null_space({laplacian.null_vector.view()});
    Field<E> x(rows);
    report = solver->solve(b.view(), x.view());
    return std::vector<double>(x.scalars().begin(), x.scalars().end());
  };
  const Operator<E> on_cpu(laplacian.matrix, parse_plan("CSR"));
  for (const bool jacobi : {false, true}) {
    Report host;
    std::unique_ptr<Method<double>> solver;
    const auto expected = solved(on_cpu, jacobi, host, solver);
    ASSERT_TRUE(host.converged()) << host;
    for (const std::string plan : plans) {
      SCOPED_TRACE(plan + (jacobi ? ", Jacobi" : ""));
      const Operator<E> A(laplacian.matrix, parse_plan(plan), device);
      Report report;
      const auto x = solved(A, jacobi, report, solver);
      EXPECT_TRUE(report.converged()) << report;
      constexpr bool has_one_kernel = !std::is_same_v<Method<double>, Fgmres<double>>;
      EXPECT_EQ(report.loop, form_of(plan, jacobi || !has_one_kernel));
      // Residuals of 1e-10 times a condition number far below 1e5.
      EXPECT_FALSE(!(distance(x, expected) <= 1e-5)) << distance(x, expected);
      const auto expect_near = [&](long long iterations) {
        EXPECT_LE(std::abs(iterations - host.iterations), 3 + host.iterations / 5);
      };
      expect_near(report.iterations);
      if (report.loop == "stepped") continue;
      DeviceReport queued;
      const auto y = enqueued(*solver, b, device, queued);
      EXPECT_EQ(queued.status, Status::converged);
      expect_near(queued.iterations);  // other kernels project b than in `solve`
      EXPECT_FALSE(!(distance(y, expected) <= 1e-5)) << distance(y, expected);
    }
  }
}

TYPED_TEST(PreconditionerOnGpu, NullSpacesAreProjectedOutByConjugateGradient) {
  expect_projected<TypeParam, ConjugateGradient>(this->device, 3301);
}
TYPED_TEST(PreconditionerOnGpu, NullSpacesAreProjectedOutByBiCGStab) {
  expect_projected<TypeParam, BiCGStab>(this->device, 3302);
}

/// FGMRES has a second basis, which holds projected vectors.
TYPED_TEST(PreconditionerOnGpu, NullSpacesAreProjectedOutByFgmres) {
  expect_projected<TypeParam, Fgmres>(this->device, 3304);
}

TYPED_TEST(PreconditionerOnGpu, ANullSpaceMayComeAndGo) {
  using E = TypeParam;
  Seed seed(3303);
  constexpr Index rows = 1501;
  const Laplacian<E> laplacian(rows, seed.generator);
  auto regular = laplacian.matrix;
  for (Index i = 0; i < rows; ++i) {  // the diagonal comes first
    regular.values()[static_cast<std::size_t>(regular.offsets()[static_cast<std::size_t>(i)] *
                                              E::components)] += 0.1;
  }
  const Field<E> b = random_field<E>(rows, seed.generator);
  const Operator<E> A(regular, parse_plan("pJDS,loop=persistent"), this->device);
  ConjugateGradient<double> solver(A, Jacobi<E>(A));
  const auto solved = [&](std::string_view loop) {
    Field<E> x(rows);
    const Report report = solver.solve(b.view(), x.view());
    EXPECT_TRUE(report.converged()) << report;
    EXPECT_EQ(report.loop, loop);
    DeviceReport queued;
    const auto again = enqueued(solver, b, this->device, queued);
    const std::vector<double> scalars(x.scalars().begin(), x.scalars().end());
    EXPECT_FALSE(!(distance(again, scalars) <= 1e-8));
    return scalars;
  };
  const auto first = solved("persistent");
  solver.set_null_space({laplacian.null_vector.view()});
  EXPECT_GT(distance(solved("graph"), first), 1e-3);
  solver.set_null_space({});
  EXPECT_EQ(solved("persistent"), first);
}

/// Two terms of Neumann's series for the inverse: z = 2 w r - w^2 A r.
template <class E>
class Neumann final : public Preconditioner<double> {
 public:
  Neumann(Operator<E> matrix, double w, bool is_capturable, std::shared_ptr<int> refreshed)
      : matrix_(std::move(matrix)),
        w_(w),
        is_capturable_(is_capturable),
        refreshed_(std::move(refreshed)) {}

  void apply(const FieldView<const double>& r, const FieldView<double>& z,
             const Stream& stream) const override {
    matrix_.apply(-w_ * w_, r, 0, z, stream);
    axpby<double>(2 * w_, r, 1, z, stream);
  }
  void refresh() override { ++*refreshed_; }
  bool is_capturable() const override { return is_capturable_; }

 private:
  Operator<E> matrix_;
  double w_;
  bool is_capturable_;
  std::shared_ptr<int> refreshed_;
};

template <class E, template <class> class Method>
void expect_own(const Device& device, std::uint64_t number) {
  Seed seed(number);
  constexpr Index rows = 1501;
  Laplacian<E> laplacian(rows, seed.generator);
  auto& matrix = laplacian.matrix;
  for (Index i = 0; i < rows; ++i) {
    matrix.values()[static_cast<std::size_t>(matrix.offsets()[static_cast<std::size_t>(i)] *
                                             E::components)] += 0.05;
  }
  const Field<E> b = random_field<E>(rows, seed.generator);
  constexpr double w = 1.0 / 24;  // no eigenvalue is above twice the largest diagonal entry
  const auto refreshed = std::make_shared<int>(0);
  std::vector<double> expected;
  Report host;
  {
    const Operator<E> A(matrix, parse_plan("CSR"));
    Method<double> solver(A, Neumann<E>(A, w, true, refreshed));
    Field<E> x(rows);
    host = solver.solve(b.view(), x.view());
    ASSERT_TRUE(host.converged()) << host;
    expected.assign(x.scalars().begin(), x.scalars().end());
  }
  for (const std::string plan : plans) {
    for (const bool is_capturable : {true, false}) {
      SCOPED_TRACE(plan + (is_capturable ? "" : ", driven by the host"));
      const Operator<E> A(matrix, parse_plan(plan), device);
      Method<double> solver(A, Neumann<E>(A, w, is_capturable, refreshed),
                            {.record_history = true});
      std::vector<double> first;
      for (int repetition = 0; repetition < 2; ++repetition) {
        *refreshed = 0;
        Field<E> x(rows);
        const Report report = solver.solve(b.view(), x.view());
        EXPECT_TRUE(report.converged()) << report;
        EXPECT_EQ(report.loop, is_capturable ? form_of(plan, true) : "stepped");
        EXPECT_EQ(*refreshed, 1);
        EXPECT_LE(std::abs(report.iterations - host.iterations), 2 + host.iterations / 10);
        EXPECT_EQ(static_cast<long long>(solver.history().size()), report.iterations + 1);
        const std::vector<double> scalars(x.scalars().begin(), x.scalars().end());
        EXPECT_FALSE(!(distance(scalars, expected) <= 1e-6)) << distance(scalars, expected);
        if (repetition > 0) {
          EXPECT_EQ(scalars, first);
        }
        first = scalars;
      }
      DeviceReport queued;
      if (form_of(plan, true) == "stepped" || !is_capturable) {
        EXPECT_THROW(enqueued(solver, b, device, queued), Error);
        continue;
      }
      for (int repetition = 0; repetition < 2; ++repetition) {
        EXPECT_EQ(enqueued(solver, b, device, queued), first);
        EXPECT_EQ(queued.status, Status::converged);
      }
    }
  }
}

TYPED_TEST(PreconditionerOnGpu, OfTheUsersOwnInConjugateGradient) {
  expect_own<TypeParam, ConjugateGradient>(this->device, 3304);
}
TYPED_TEST(PreconditionerOnGpu, OfTheUsersOwnInBiCGStab) {
  expect_own<TypeParam, BiCGStab>(this->device, 3305);
}

/// z = w r, row by row, with the same w for each row.
template <class E>
class Rows final : public cuda::RowPreconditioner {
 public:
  Rows(Index rows, double w, bool is_soa, const Device& device)
      : weights_(std::span<const double>(std::vector<double>(static_cast<std::size_t>(rows), w)),
                 device),
        w_(w),
        is_soa_(is_soa) {}

  EntryText text() const override {
    return row_weights_text(heddle::detail::entry_text_of<E>::text(), is_soa_);
  }
  const void* data() const override { return weights_.data(); }
  void apply(const void* r, void* z, const Stream& stream, const device::LoopState*,
             bool) const override {
    const auto scalars = static_cast<Index>(weights_.size()) * E::components;
    axpby<double>(w_, FieldView<const double>(static_cast<const double*>(r), scalars), 0,
                  FieldView<double>(static_cast<double*>(z), scalars), stream);
  }

 private:
  Array<double> weights_;
  double w_;
  bool is_soa_;
};

template <class E>
class Weighted final : public Preconditioner<double> {
 public:
  Weighted(Index rows, double w, bool is_soa, const Device& device)
      : rows_(std::make_shared<Rows<E>>(rows, w, is_soa, device)) {}
  void apply(const FieldView<const double>& r, const FieldView<double>& z,
             const Stream& stream) const override {
    rows_->apply(r.data, z.data, stream, nullptr, false);
  }
  bool is_capturable() const override { return true; }
  const cuda::RowPreconditioner* rows_on_gpu() const override { return rows_.get(); }

 private:
  std::shared_ptr<Rows<E>> rows_;
};

template <class E, template <class> class Method>
void expect_rows(const Device& device, std::uint64_t number) {
  Seed seed(number);
  constexpr Index rows = 1501;
  Laplacian<E> laplacian(rows, seed.generator);
  for (Index i = 0; i < rows; ++i) {
    laplacian.matrix.values()[static_cast<std::size_t>(i) * 9 * E::components] += 0.05;
  }
  const Field<E> b = random_field<E>(rows, seed.generator);
  for (const std::string plan : plans) {
    SCOPED_TRACE(plan);
    const Operator<E> A(laplacian.matrix, parse_plan(plan), device);
    const auto solved = [&](auto&... preconditioner) {
      Method<double> solver(A, preconditioner...);
      Field<E> x(rows);
      const Report report = solver.solve(b.view(), x.view());
      EXPECT_TRUE(report.converged()) << report;
      EXPECT_EQ(report.loop, form_of(plan, sizeof...(preconditioner) > 0));
      return x.scalars().to_host();
    };
    const bool is_soa = A.vector_layout() == VectorLayout::soa;
    const Weighted<E> weighted(rows, 0.25, is_soa, device);
    EXPECT_LE(distance(solved(weighted), solved()), 1e-6);
  }
}

/// Entries that are missing, zero, or zero in a place of their own diagonal.
template <class E>
void expect_jacobi_of_the_cpu(const Device& device, std::uint64_t number) {
  Seed seed(number);
  constexpr Index rows = 1501;
  auto matrix = random_matrix<E>({.rows = rows, .columns = rows, .per_row = 700}, seed.generator);
  for (Index row = 0; row < rows; ++row) {
    for (Offset i = matrix.offsets()[std::size_t(row)]; i < matrix.offsets()[std::size_t(row) + 1];
         ++i) {
      if (matrix.column()[std::size_t(i)] != row) continue;
      const int zeros = row % 3 == 0 ? E::components : row % 3;
      std::fill_n(matrix.values().begin() + i * E::components, std::min(zeros, E::components), 0.0);
    }
  }
  const Field<E> r = random_field<E>(rows, seed.generator);
  for (const char* plan :
       {"CSR", "pJDS", "C=8,T=4,inner=soa,vector=soa", "order=rcm,C=4,sigma=16"}) {
    SCOPED_TRACE(plan);
    const Operator<E> on_cpu(matrix, parse_plan(plan)), A(matrix, parse_plan(plan), device);
    const auto applied = [&](const Operator<E>& of) {
      const Jacobi<E> jacobi(of);
      Field<E> from = of.field(), to = of.field(), z(rows);
      permute<double>(r.view(), from.view(), 1, of.device().stream());
      jacobi.apply(std::as_const(from).view(), to.view(), of.device().stream());
      permute<double>(std::as_const(to).view(), z.view(), 1, of.device().stream());
      of.device().synchronize();
      return z.scalars().to_host();
    };
    EXPECT_FALSE(!(distance(applied(A), applied(on_cpu)) <= 1e-12));
  }
}

TYPED_TEST(PreconditionerOnGpu, JacobiTakesEntriesWithoutInverse) {
  expect_jacobi_of_the_cpu<TypeParam>(this->device, 3308);
}
TYPED_TEST(PreconditionerOnGpu, ThatActsByRowsInConjugateGradient) {
  expect_rows<TypeParam, ConjugateGradient>(this->device, 3306);
}
TYPED_TEST(PreconditionerOnGpu, ThatActsByRowsInBiCGStab) {
  expect_rows<TypeParam, BiCGStab>(this->device, 3307);
}

}  // namespace
}  // namespace preconditioner_gpu
