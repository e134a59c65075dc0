// Fields move between host and GPU and from basis to basis, and keep their streams.
#include "heddle/field.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "heddle/vector_operations.hpp"
#include "support/expect_error.hpp"
#include "support/gpu.hpp"
#include "support/random_matrix.hpp"

namespace fields_gpu {
namespace {

using namespace heddle;
using namespace heddle::test;

constexpr VectorLayout layouts[] = {VectorLayout::aos, VectorLayout::soa};

template <class S>
class GpuTransfers : public OnGpu {};
using Scalars = testing::Types<float, double>;
TYPED_TEST_SUITE(GpuTransfers, Scalars);

std::shared_ptr<const Basis> random_basis(Index n, Generator& generator) {
  Array<Index> order(static_cast<std::size_t>(n));
  std::iota(order.begin(), order.end(), 0);
  std::shuffle(order.begin(), order.end(), generator);
  return Basis::from_order(std::move(order), Device::cpu());
}

/// A field with three scalars between rows, poisoned.
template <class S>
FieldView<S> gapped(std::vector<S>& memory, Index rows, int components) {
  memory.assign(static_cast<std::size_t>(rows) * (static_cast<std::size_t>(components) + 3),
                std::numeric_limits<S>::quiet_NaN());
  FieldView<S> view(memory.data(), rows, components);
  view.entry_stride = components + 3;
  return view;
}

TYPED_TEST(GpuTransfers, PermuteBetweenHostAndGpu) {
  using S = TypeParam;
  Seed seed(653);
  const S poison = std::numeric_limits<S>::quiet_NaN();
  const Stream& stream = this->device.stream();
  for (const Index rows : {0, 1, 31, 1000, 40003}) {
    const auto basis = random_basis(rows, seed.generator);
    const auto other = random_basis(rows, seed.generator);
    for (const int components : {1, 3, 4, 8, 9}) {
      for (const VectorLayout layout : layouts) {
        SCOPED_TRACE(std::to_string(rows) + " rows of " + std::to_string(components) +
                     (layout == VectorLayout::aos ? " AoS" : " SoA"));
        const std::size_t scalars =
            static_cast<std::size_t>(rows) * static_cast<std::size_t>(components);
        std::vector<S> x(scalars), y(scalars, poison), expected(scalars), with_gaps;
        for (S& value : x) value = static_cast<S>(random_between(-999, 999, seed.generator));
        const FieldView<const S> x_view(x.data(), rows, components);
        const FieldView<S> y_view(y.data(), rows, components, layout);
        permute<S>(x_view, {expected.data(), rows, components, layout}, S(0.5), Stream{});

        const std::vector<S> poisoned(scalars + 1, poison);
        Array<S> a(std::span<const S>(poisoned), this->device),
            b(std::span<const S>(poisoned), this->device);
        // Into one basis, from there into another, unaligned one, and back to the host.
        const FieldView<S> in_basis(a.data(), rows, components, layout, basis);
        const FieldView<S> in_other(b.data() + 1, rows, components, VectorLayout::aos, other);
        permute<S>(x_view, in_basis, S(0.25), stream);
        permute<S>(in_basis, in_other, S(4), stream);
        permute<S>(in_other, y_view, S(0.5), stream);
        EXPECT_EQ(y, expected);

        // The rows are where the basis places them.
        std::vector<S> raw = a.to_host();
        const FieldView<S> raw_view(raw.data(), rows, components, layout);
        for (Index i = 0; i < rows; ++i) {
          ASSERT_EQ(raw_view.at(i, 0), S(0.25) * x_view.at(basis->user_row(i), 0));
        }

        // A strided field on the host.
        const FieldView<S> strided = gapped(with_gaps, rows, components);
        permute<S>(in_other, strided, S(0.5), stream);
        for (Index i = 0; i < rows; ++i) {
          for (int k = 0; k < components; ++k)
            ASSERT_EQ(strided.at(i, k), S(0.5) * x_view.at(i, k));
          ASSERT_TRUE(std::isnan(with_gaps[static_cast<std::size_t>(i) * (components + 3) +
                                           static_cast<std::size_t>(components)]));
        }
        permute<S>(strided, in_basis, S(2), stream);
        std::fill(y.begin(), y.end(), poison);
        permute<S>(in_basis, y_view, S(0.5), stream);
        EXPECT_EQ(y, expected);

        // Copies in the same layout and in another one.
        const FieldView<S> plain(a.data(), rows, components, layout);
        copy<S>(y_view, plain, stream);
        std::fill(y.begin(), y.end(), poison);
        copy<S>(plain, y_view, stream);
        EXPECT_EQ(y, expected);
        std::vector<S> row_by_row(scalars, poison);
        copy<S>(plain, {row_by_row.data(), rows, components}, stream);
        for (std::size_t i = 0; i < scalars; ++i) ASSERT_EQ(row_by_row[i], S(0.5) * x[i]);
        if (this->HasFailure()) return;
      }
    }
  }
}

TYPED_TEST(GpuTransfers, OwnedFieldsReadAndSetRows) {
  using S = TypeParam;
  using E = quaternion<S>;
  Seed seed(654);
  for (const VectorLayout layout : layouts) {
    Field<E> field(37, this->device, layout);
    for (Index row = 0; row < 37; ++row) field.set(row, random_components<E>(seed.generator));
    const Field<E> host = field.to_host();
    EXPECT_FALSE(host.device().on_gpu());
    for (Index row = 0; row < 37; ++row) {
      const E a = field[row], b = host[row];
      for (int k = 0; k < 4; ++k) EXPECT_EQ(a.component[k], b.component[k]);
    }
    EXPECT_NEAR(norm(field), norm(host), 1e-12 * norm(host));
    Field<E> twice(37, this->device, layout);
    axpby<E>(S(2), field, S(0), twice);
    EXPECT_NEAR(dot(twice, field), 2 * dot(host, host), 1e-12 * dot(host, host));
  }
}

using GpuFields = OnGpu;

/// Full parts and an odd rest, by two threads, one of which has the pinned memory.
TEST_F(GpuFields, TravelInManyParts) {
  std::vector<float> numbers((std::size_t(5) << 20) + 3);
  std::iota(numbers.begin(), numbers.end(), 1.0f);
  const auto there_and_back = [&] {
    for (int turn = 0; turn < 3; ++turn) {
      const Array<float> there(std::span<const float>(numbers), device);
      EXPECT_EQ(there.to_host(), numbers);
    }
  };
  std::thread other(there_and_back);
  there_and_back();
  other.join();
}

TEST_F(GpuFields, OfTwoStreams) {
  Seed seed(655);
  OwnStream second_stream;
  const Device devices[] = {device, Device::cuda(0, second_stream.get())};
  constexpr Index rows = 300007;
  const auto host = random_field<real<double>>(rows, seed.generator);
  std::vector<double> sums[2];
  for (const Device& on : devices) {
    Field<real<double>> x(rows, on), y(rows, on);
    Reduction<double> reduction(rows, on);
    copy<double>(host.view(), x.view(), on.stream());
    for (int i = 0; i < 20; ++i) {
      axpby<double>(1.0, x.view(), -0.5, y.view(), on.stream());
      axpby<double>(-0.125, y.view(), 1.0, x.view(), on.stream());
      sums[&on - devices].push_back(real_dot<double>(x.view(), x.view(), reduction, on.stream()));
    }
  }
  EXPECT_EQ(sums[0], sums[1]);
  EXPECT_GT(sums[0].back(), 0);
  // A reduction serves one stream.
  Field<real<double>> x(rows, devices[0]);
  Reduction<double> reduction(rows, devices[1]);
  expect_error(ErrorKind::usage,
               "the reduction was made for a device or stream other than the fields'",
               [&] { real_dot<double>(x.view(), x.view(), reduction, devices[0].stream()); });
}

TEST_F(GpuFields, RefuseWhatAKernelCannotRead) {
  Field<real<double>> on_gpu(5, device), on_host(5);
  expect_error(ErrorKind::usage,
               "axpby: a field in the host's memory is used on a GPU's stream; copy it there first",
               [&] { axpby<double>(1.0, on_host.view(), 0.0, on_gpu.view(), device.stream()); });
#ifdef HEDDLE_HAS_LONG_DOUBLE
  std::vector<long double> wide(3);
  const FieldView<long double> view(wide.data(), 3);
  expect_error(ErrorKind::unsupported,
               "fields on a GPU need float or double, and a heddle built with CUDA",
               [&] { fill<long double>(1, view, device.stream()); });
  expect_error(ErrorKind::unsupported, "a GPU sums in double: solve in float or double there",
               [&] { Reduction<long double>(3, device); });
#endif
}

TEST_F(GpuFields, LargestMagnitudeOfWhatIsNotFinite) {
  Reduction<float> reduction(1000, device);
  Field<real<float>> x(1000, device);
  const auto largest = [&] {
    return largest_magnitude<float>(x.view(), reduction, device.stream());
  };
  EXPECT_EQ(largest(), 0);
  x.set(999, {{-2.5f}});
  EXPECT_EQ(largest(), 2.5);
  x.set(3, {{-std::numeric_limits<float>::infinity()}});
  EXPECT_EQ(largest(), std::numeric_limits<double>::infinity());
  x.set(500, {{std::numeric_limits<float>::quiet_NaN()}});
  EXPECT_TRUE(std::isnan(largest()));
}

}  // namespace
}  // namespace fields_gpu
