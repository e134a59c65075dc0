// Every operation on fields of a GPU against the same in long double on the CPU; sums repeat their
// bits, nothing is written beside a field, and fields go between host and GPU, basis and basis.
#include "heddle/vector_operations.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

#include "support/expect_error.hpp"
#include "support/gpu.hpp"
#include "support/over.hpp"
#include "support/random_matrix.hpp"

namespace vector_operations_gpu {
namespace {

using namespace heddle;
using namespace heddle::test;

struct Shape {
  Index rows;
  int components;
  VectorLayout layout;
  int shift = 0;  // scalars that data lie behind a multiple of 16 bytes

  std::size_t scalars() const {
    return static_cast<std::size_t>(rows) * static_cast<std::size_t>(components);
  }
  std::string text() const {
    return std::to_string(rows) + " rows of " + std::to_string(components) +
           (layout == VectorLayout::aos ? " AoS" : " SoA") + ", shift " + std::to_string(shift);
  }
};

/// A field of a GPU between poisoned neighbours.
template <class S>
class GuardedField {
 public:
  GuardedField(const Shape& shape, const std::vector<S>& values, const Device& device)
      : shape_(shape), memory_(padded(shape, values), device) {}

  FieldView<S> view() {
    return {memory_.data() + guard + shape_.shift, shape_.rows, shape_.components, shape_.layout};
  }
  std::vector<S> read() const {
    const std::vector<S> all = memory_.to_host();
    const auto begin = all.begin() + guard + shape_.shift;
    const auto end = begin + static_cast<std::ptrdiff_t>(shape_.scalars());
    const auto is_nan = [](S value) { return std::isnan(value); };
    EXPECT_TRUE(std::all_of(all.begin(), begin, is_nan) && std::all_of(end, all.end(), is_nan))
        << "written beside the field";
    return {begin, end};
  }

 private:
  static constexpr int guard = 16;

  static std::span<const S> padded(const Shape& shape, const std::vector<S>& values) {
    static std::vector<S> all;
    all.assign(values.size() + 2 * guard, std::numeric_limits<S>::quiet_NaN());
    std::copy(values.begin(), values.end(), all.begin() + guard + shape.shift);
    return all;
  }

  Shape shape_;
  Array<S> memory_;
};

template <class T, Ring R, class S>
Coefficient<R, T> converted(const Coefficient<R, S>& c) {
  Coefficient<R, T> result;
  for (int k = 0; k < c.size; ++k) result.component[k] = static_cast<T>(c.component[k]);
  return result;
}

template <class T>
using Fields = std::vector<FieldView<T>>;
template <class T>
FieldView<const T> read(const Fields<T>& fields, std::size_t i) {
  return fields[i];
}

template <class C>
void append(const C& coefficient, std::vector<long double>& sums) {
  sums.insert(sums.end(), std::begin(coefficient.component), std::end(coefficient.component));
}

template <class Case>
class GpuOperations : public OnGpu {
 protected:
  using S = typename Case::S;
  static constexpr Ring R = Case::ring;
  using Long = long double;

  /// Elements that an operation may overwrite without reading are poisoned.
  static constexpr std::size_t none = 99;

  /// Does `operation` on random fields on GPU and CPU: it takes fields, a reduction and a stream,
  /// and appends its sums. `sums` computes what they should be from the fields that it left.
  template <class Operation, class Sums>
  void check(const char* name, const Shape& shape, std::size_t poisoned, const Operation& operation,
             const Sums& sums) {
    SCOPED_TRACE(std::string(name) + ", " + shape.text());
    auto start = std::vector(values_.begin(), values_.end());
    for (auto& values : start) values.resize(shape.scalars());
    if (poisoned != none) {
      std::fill(start[poisoned].begin(), start[poisoned].end(),
                std::numeric_limits<S>::quiet_NaN());
    }
    std::vector<std::vector<Long>> expected(start.size());
    Fields<Long> expected_fields;
    for (std::size_t f = 0; f < start.size(); ++f) {
      expected[f].assign(start[f].begin(), start[f].end());
      expected_fields.emplace_back(expected[f].data(), shape.rows, shape.components, shape.layout);
    }
    Reduction<Long> long_reduction(shape.rows);
    std::vector<Long> unused;
    operation(expected_fields, long_reduction, Stream{}, unused);

    std::vector<std::vector<S>> first;
    std::vector<Long> first_sums;
    Reduction<S> reduction(shape.rows, device);
    for (int repeat = 0; repeat < 5; ++repeat) {
      std::vector<GuardedField<S>> fields;
      for (const auto& values : start) fields.emplace_back(shape, values, device);
      Fields<S> views;
      for (auto& field : fields) views.push_back(field.view());
      std::vector<Long> computed_sums;
      operation(views, reduction, device.stream(), computed_sums);
      std::vector<std::vector<S>> computed;
      for (auto& field : fields) computed.push_back(field.read());
      if (repeat == 0) {
        first = computed;
        first_sums = computed_sums;
      }
      ASSERT_EQ(first_sums, computed_sums) << "run " << repeat;
      for (std::size_t f = 0; f < first.size(); ++f) {
        if (shape.scalars() == 0) continue;
        ASSERT_EQ(std::memcmp(first[f].data(), computed[f].data(), shape.scalars() * sizeof(S)), 0)
            << "field " << f << ", run " << repeat;
      }
    }

    // Numbers below 32, each of at most 16 roundings.
    const Long bound = 32 * 16 * unit_roundoff<S>;
    for (std::size_t f = 0; f < first.size(); ++f) {
      for (std::size_t i = 0; i < shape.scalars(); ++i) {
        ASSERT_FALSE(!(std::abs(first[f][i] - expected[f][i]) <= bound))
            << "field " << f << " at " << i << ": " << first[f][i] << " is not " << expected[f][i];
      }
    }
    // Of the numbers as they were stored.
    for (std::size_t f = 0; f < first.size(); ++f) {
      std::copy(first[f].begin(), first[f].end(), expected[f].begin());
    }
    const std::vector<Long> expected_sums = sums(expected_fields, long_reduction);
    ASSERT_EQ(first_sums.size(), expected_sums.size());
    // A term is a product of numbers below 32, and joins the sum by at most 128 roundings.
    const Long sum_bound =
        128 * unit_roundoff<double> * 32 * 32 * (static_cast<Long>(shape.scalars()) + 1);
    for (std::size_t i = 0; i < expected_sums.size(); ++i) {
      EXPECT_FALSE(!(std::abs(first_sums[i] - expected_sums[i]) <= sum_bound))
          << "sum " << i << ": " << first_sums[i] << " is not " << expected_sums[i];
    }
  }

  void check_all(const Shape& shape, Generator& generator) {
    const auto alpha = random_components<Coefficient<R, S>>(generator),
               beta = random_components<Coefficient<R, S>>(generator);
    const S a = alpha.real();
    const Stream host;
    const auto no_sums = [](const auto&, auto&) { return std::vector<Long>(); };

    check(
        "axpby", shape, none,
        [&]<class T>(const Fields<T>& f, auto&, const Stream& stream, auto&) {
          axpby<T, R>(converted<T>(alpha), read(f, 0), converted<T>(beta), f[1], stream);
        },
        no_sums);
    check(
        "axpby without y", shape, 1,
        [&]<class T>(const Fields<T>& f, auto&, const Stream& stream, auto&) {
          axpby<T, R>(converted<T>(alpha), read(f, 0), Coefficient<R, T>{}, f[1], stream);
        },
        no_sums);
    check(
        "fill", shape, 0,
        [&]<class T>(const Fields<T>& f, auto&, const Stream& stream, auto&) {
          fill<T>(a, f[0], stream);
        },
        no_sums);
    check(
        "randomize", shape, none,
        [&]<class T>(const Fields<T>& f, auto&, const Stream& stream, auto&) {
          randomize<T>(f[0], 7, stream);
        },
        no_sums);
    check(
        "scale", shape, none,
        [&]<class T>(const Fields<T>& f, auto&, const Stream& stream, auto&) {
          scale<T>(a, f[0], stream);
        },
        no_sums);
    check(
        "copy", shape, 1,
        [&]<class T>(const Fields<T>& f, auto&, const Stream& stream, auto&) {
          copy<T>(read(f, 0), f[1], stream);
        },
        no_sums);
    check(
        "dot", shape, none,
        [&]<class T>(const Fields<T>& f, Reduction<T>& reduction, const Stream& stream,
                     auto& sums) {
          append(dot<R, T>(read(f, 0), read(f, 1), reduction, stream), sums);
          sums.push_back(real_dot<T>(read(f, 0), read(f, 1), reduction, stream));
        },
        [&](const Fields<Long>& f, Reduction<Long>& reduction) {
          std::vector<Long> sums;
          append(dot<R, Long>(read(f, 0), read(f, 1), reduction, host), sums);
          sums.push_back(real_dot<Long>(read(f, 0), read(f, 1), reduction, host));
          return sums;
        });
    check(
        "largest_magnitude", shape, none,
        [&]<class T>(const Fields<T>& f, Reduction<T>& reduction, const Stream& stream,
                     auto& sums) {
          sums.push_back(largest_magnitude<T>(read(f, 0), reduction, stream));
        },
        [&](const Fields<Long>& f, Reduction<Long>& reduction) {
          return std::vector{largest_magnitude<Long>(read(f, 0), reduction, host)};
        });
  }

  /// Two fields' worth of random numbers, for every shape alike.
  void draw(std::size_t scalars, Generator& generator) {
    std::uniform_real_distribution<double> uniform(-1, 1);
    values_.assign(2, std::vector<S>(scalars));
    for (auto& values : values_) {
      for (S& value : values) value = static_cast<S>(uniform(generator));
    }
  }

  std::vector<std::vector<S>> values_;
};
using Cases = testing::Types<Over<float, Ring::real>, Over<float, Ring::complex>,
                             Over<float, Ring::quaternion>, Over<double, Ring::real>,
                             Over<double, Ring::complex>, Over<double, Ring::quaternion>>;
TYPED_TEST_SUITE(GpuOperations, Cases);

constexpr VectorLayout layouts[] = {VectorLayout::aos, VectorLayout::soa};

TYPED_TEST(GpuOperations, AgreeWithTheCpu) {
  Seed seed(651);
  this->draw(40003 * 9, seed.generator);
  for (const Index rows : {0, 1, 31, 257, 1000, 40003}) {
    for (const int components : {1, 2, 3, 4, 8, 9}) {
      if (components % ring_size(TestFixture::R) != 0) continue;
      for (const VectorLayout layout : layouts) {
        for (const int shift : {0, 1}) {
          if (shift != 0 && rows > 1000) continue;
          this->check_all({rows, components, layout, shift}, seed.generator);
          if (this->HasFailure()) return;
        }
      }
    }
  }
}

TYPED_TEST(GpuOperations, SumOverSeveralChunksAThread) {
  Seed seed(652);
  this->draw(700001 * 4, seed.generator);
  for (const VectorLayout layout : layouts) {
    this->check_all({700001, 4, layout}, seed.generator);
    if (this->HasFailure()) return;
  }
}

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
        const Shape shape{rows, components, layout};
        SCOPED_TRACE(shape.text());
        const std::size_t scalars = shape.scalars();
        std::vector<S> x(scalars), y(scalars, poison), expected(scalars), with_gaps;
        for (S& value : x) value = static_cast<S>(random_between(-999, 999, seed.generator));
        const FieldView<const S> x_view(x.data(), rows, components);
        const FieldView<S> y_view(y.data(), rows, components, layout);
        permute<S>(x_view, {expected.data(), rows, components, layout}, S(0.5), Stream{});

        const std::vector<S> poisoned(scalars + 1, poison);
        Array<S> a(std::span<const S>(poisoned), this->device),
            b(std::span<const S>(poisoned), this->device);
        // Into one basis, from there into another, which is not aligned, and back to the host.
        const FieldView<S> in_basis(a.data(), rows, components, layout, basis);
        const FieldView<S> in_other(b.data() + 1, rows, components, VectorLayout::aos, other);
        permute<S>(x_view, in_basis, S(0.25), stream);
        permute<S>(in_basis, in_other, S(4), stream);
        permute<S>(in_other, y_view, S(0.5), stream);
        EXPECT_EQ(y, expected);

        // The rows lie where the basis says.
        std::vector<S> raw = a.to_host();
        const FieldView<S> raw_view(raw.data(), rows, components, layout);
        for (Index i = 0; i < rows; ++i) {
          ASSERT_EQ(raw_view.at(i, 0), S(0.25) * x_view.at(basis->user_row(i), 0));
        }

        // Strided on the host.
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

        // Copies, as they lie and not.
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
  expect_error(ErrorKind::usage, "a reduction made for another device or stream than the fields'",
               [&] { real_dot<double>(x.view(), x.view(), reduction, devices[0].stream()); });
}

TEST_F(GpuFields, RefuseWhatAKernelCannotRead) {
  Field<real<double>> on_gpu(5, device), on_host(5);
  expect_error(ErrorKind::usage,
               "axpby: a field in the host's memory meets a GPU's stream; copy it there first",
               [&] { axpby<double>(1.0, on_host.view(), 0.0, on_gpu.view(), device.stream()); });
  std::vector<long double> wide(3);
  const FieldView<long double> view(wide.data(), 3);
  expect_error(ErrorKind::unsupported,
               "fields on a GPU are of float or double, in a heddle that was built with CUDA",
               [&] { fill<long double>(1, view, device.stream()); });
  expect_error(ErrorKind::unsupported, "a GPU sums in double: solve in float or double there",
               [&] { Reduction<long double>(3, device); });
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
}  // namespace vector_operations_gpu
