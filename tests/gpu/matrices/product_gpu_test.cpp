// The product on a GPU in every layout and schedule, for every entry, against sums in long double.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "support/expect_error.hpp"
#include "support/gpu.hpp"
#include "support/product_check.hpp"

namespace product_gpu {
namespace {

using namespace heddle;
using namespace heddle::test;

/// Randomizes how a GPU runs a layout, without effect on any bit of the result.
Plan with_random_schedule(Plan plan, Generator& generator) {
  constexpr ScheduleKind schedules[] = {ScheduleKind::full, ScheduleKind::fixed,
                                        ScheduleKind::dynamic};
  constexpr LoadHint loads[] = {LoadHint::normal, LoadHint::streaming, LoadHint::no_allocate,
                                LoadHint::evict_first};
  plan.schedule.kind = schedules[random_between(0, 2, generator)];
  plan.gpu.load = loads[random_between(0, 3, generator)];
  plan.gpu.l2_percent = random_between(0, 1, generator) * random_between(0, 100, generator);
  constexpr int block_sizes[] = {32, 64, 96, 128, 160, 192, 224, 256, 384, 512, 768, 1024};
  plan.gpu.block_size = block_sizes[random_between(0, 11, generator)];
  plan.gpu.blocks = random_between(0, 2, generator);
  plan.schedule.chunk = random_between(1, 3, generator);
  plan.gpu.unroll = random_between(1, 4, generator);
  return plan;
}

/// A field on the GPU with the numbers, layout and basis of a host field.
template <class S>
struct OnDevice {
  Array<std::remove_const_t<S>> scalars;
  FieldView<std::remove_const_t<S>> view;

  OnDevice(const FieldView<S>& host, const Device& device)
      : scalars(std::span<const std::remove_const_t<S>>(host.data,
                                                        static_cast<std::size_t>(host.scalars())),
                device) {
    view.data = scalars.data();
    view.size = host.size;
    view.components = host.components;
    view.entry_stride = host.entry_stride;
    view.component_stride = host.component_stride;
    view.basis = host.basis;
  }
  void copy_to(const FieldView<S>& host) const {
    const auto values = scalars.to_host();
    std::copy(values.begin(), values.end(), host.data);
  }
};

template <class E>
void expect_gpu_product(const Problem<E>& problem, const Plan& plan, const Device& device,
                        Generator& generator) {
  using S = vector_scalar_t<E>;
  SCOPED_TRACE(to_string(plan));
  Operator<E> on_host(problem.matrix, plan);
  poison_padding(on_host);
  Operator<E> matrix(problem.matrix, plan, device);
  const auto poisoned = on_host.values_in_basis();
  ASSERT_EQ(matrix.values_in_basis().size(), poisoned.size());
  heddle::detail::copy_bytes(matrix.values_in_basis().data(), poisoned.data(),
                             poisoned.size_bytes(), device.stream());
  constexpr S factors[] = {0, 1, -1, S(3.7), S(-0.125)};
  const S alpha = factors[random_between(0, 4, generator)];
  const S beta = factors[random_between(0, 4, generator)];
  expect_product(on_host, problem, alpha, beta, generator,
                 [&](S a, const FieldView<const S>& x, S b, const FieldView<S>& y) {
                   const OnDevice<const S> x_on(x, device);
                   const OnDevice<S> y_on(y, device);
                   matrix.apply(a, x_on.view, b, y_on.view, device.stream());
                   y_on.copy_to(y);
                 });
}

bool fits_a_warp(const Plan& plan) { return plan.layout.threads_per_row <= 32; }

template <class E>
class ProductOnGpu : public OnGpu {};
using Entries =
    testing::Types<real<float>, real<double>, complex<float>, complex<double>, quaternion<float>,
                   quaternion<double>, dual_quaternion<float>, dual_quaternion<double>,
                   block<float, 2, 2>, block<double, 2, 2>, block<float, 3, 3>, block<double, 3, 3>,
                   block<float, 4, 4>, block<double, 4, 4>, block<float, 6, 6>, block<double, 6, 6>,
                   block<complex<float>, 3, 3>, block<complex<double>, 3, 3>,
                   stored_as<float, quaternion<double>>, stored_as<float, block<double, 3, 3>>>;
TYPED_TEST_SUITE(ProductOnGpu, Entries);

TYPED_TEST(ProductOnGpu, InLayoutsThatCoverAllPairsOfChoices) {
  Seed seed(2501 + sizeof(TypeParam));
  std::vector<PatternRequest> shapes = odd_patterns();
  for (const auto& shape : odd_rectangular_patterns()) shapes.push_back(shape);
  std::size_t next = 0;
  for (const Plan& layout : covering_layouts(seed.generator)) {
    if (!fits_a_warp(layout)) continue;
    const Plan plan = with_random_schedule(layout, seed.generator);
    // Kernels take longer to compile than to run: each one is used with three shapes.
    for (int taken = 0; taken < 3; ++next) {
      const PatternRequest& shape = shapes[next % shapes.size()];
      if (!fits(plan, shape.rows, shape.columns)) continue;
      ++taken;
      SCOPED_TRACE(shape.name);
      const Problem<TypeParam> problem(shape, seed.generator);
      expect_gpu_product(problem, plan, this->device, seed.generator);
      if (this->HasFailure()) return;
    }
  }
}

TYPED_TEST(ProductOnGpu, InThePapersLayouts) {
  Seed seed(2502 + sizeof(TypeParam));
  for (const char* name : {"CSR", "ELL", "Sl-16", "pJDS", "K1", "K1r", "K2", "K2rs"}) {
    for (const PatternRequest& shape : odd_patterns()) {
      SCOPED_TRACE(shape.name);
      const Problem<TypeParam> problem(shape, seed.generator);
      expect_gpu_product(problem, parse_plan(name), this->device, seed.generator);
      if (this->HasFailure()) return;
    }
  }
}

class RepeatableOnGpu : public OnGpu {};

TEST_F(RepeatableOnGpu, DotsAndResidualsDoNotDependOnTheSchedule) {
  using E = quaternion<double>;
  Seed seed(2503);
  const CsrMatrix<E> matrix = random_positive_definite_matrix<E>(5003, 7, seed.generator);
  const Field<E> x = random_field<E>(5003, seed.generator);
  const Field<E> b = random_field<E>(5003, seed.generator);
  for (const char* layout : {"C=1", "C=32,T=1", "C=32,sigma=n,T=4", "K2rs", "C=64,T=2,inner=soa"}) {
    SCOPED_TRACE(layout);
    std::vector<double> first;
    for (int repetition = 0; repetition < 12; ++repetition) {
      const Plan plan = with_random_schedule(parse_plan(layout), seed.generator);
      SCOPED_TRACE(to_string(plan));
      const Operator<E> A(matrix, plan, device);
      Field<E> x_in = A.field(), b_in = A.field(), r = A.field();
      permute<double>(x.view(), x_in.view(), 1.0, device.stream());
      permute<double>(b.view(), b_in.view(), 1.0, device.stream());
      Reduction<double> reduction(A.rows(), device);
      const std::vector<double> sums = {
          A.apply_dot(x_in.view(), r.view(), reduction, device.stream()),
          A.residual(b_in.view(), x_in.view(), r.view(), reduction, device.stream())};
      if (first.empty()) first = sums;
      EXPECT_EQ(sums, first);
      EXPECT_GT(sums[0], 0);
    }
  }
}

class UpdateOnGpu : public OnGpu {};

TEST_F(UpdateOnGpu, NewValuesFromHostOrDeviceGiveTheirProduct) {
  using E = block<double, 3, 3>;
  Seed seed(2504);
  Problem<E> problem(PatternRequest{.name = "update", .rows = 501, .columns = 501}, seed.generator);
  const Plan plan = parse_plan("C=32,sigma=64,T=2,inner=aosoa16");
  Operator<E> A(problem.matrix, plan, device);
  Operator<E> on_host(problem.matrix, plan);
  for (const bool from_device : {false, true}) {
    auto& values = problem.matrix.values();
    std::uniform_real_distribution<double> uniform(-1, 1);
    for (auto& value : values) value = uniform(seed.generator);
    problem.product = reference_product(problem.matrix, problem.x);
    if (from_device) {
      const Array<double> copied(std::span<const double>(values.span()), device);
      A.update_values(copied);
      device.synchronize();
    } else {
      A.update_values(values);
    }
    expect_product(
        on_host, problem, 1.0, 0.0, seed.generator,
        [&](double a, const FieldView<const double>& x, double b, const FieldView<double>& y) {
          const OnDevice<const double> x_on(x, device);
          const OnDevice<double> y_on(y, device);
          A.apply(a, x_on.view, b, y_on.view, device.stream());
          y_on.copy_to(y);
        });
  }
}

class OperandsOnGpu : public OnGpu {};

TEST_F(OperandsOnGpu, OfTheHostOrAnotherLayoutAreRefusedAndNothingBreaks) {
  using E = quaternion<double>;
  Seed seed(2505);
  const CsrMatrix<E> matrix = random_positive_definite_matrix<E>(300, 7, seed.generator);
  const Operator<E> A(matrix, parse_plan("C=32,T=2"), device);
  Field<E> on_host(300), x(300, device), y(300, device), soa(300, device, VectorLayout::soa);
  const Stream& stream = device.stream();
  expect_error(ErrorKind::usage,
               "x is in the host's memory, but the matrix is in a GPU's; `permute` copies it there",
               [&] { A.apply(1, on_host.view(), 0, y.view(), stream); });
  expect_error(ErrorKind::size_mismatch,
               "y is not laid out as the plan says; `permute` copies it into a field that is",
               [&] { A.apply(1, x.view(), 0, soa.view(), stream); });
  Array<double> longer(300 * 4 + 1, device);
  const FieldView<const double> shifted(longer.data() + 1, 300, 4);
  expect_error(ErrorKind::usage, "x does not begin at a multiple of 16 bytes, as a GPU requires",
               [&] { A.apply(1, shifted, 0, y.view(), stream); });
  A.apply(1, x.view(), 0, y.view(), stream);
  device.synchronize();
}

}  // namespace
}  // namespace product_gpu
