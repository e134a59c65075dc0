// Every operation on fields of a GPU compared with long double on the CPU; sums repeat their bits,
// and nothing is written outside a field.
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
  int shift = 0;  // scalars between a multiple of 16 bytes and the data

  std::size_t scalars() const {
    return static_cast<std::size_t>(rows) * static_cast<std::size_t>(components);
  }
  std::string text() const {
    return std::to_string(rows) + " rows of " + std::to_string(components) +
           (layout == VectorLayout::aos ? " AoS" : " SoA") + ", shift " + std::to_string(shift);
  }
};

/// A field on a GPU between poisoned neighbours.
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

  /// With this as `poisoned`, no field is; otherwise that field must be overwritten without being
  /// read.
  static constexpr std::size_t none = 99;

  /// Applies `operation` to random fields on GPU and CPU: it takes fields, a reduction and a
  /// stream, and appends its sums. `sums` computes the expected sums from the resulting fields.
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

    // Numbers are below 32, each with at most 16 roundings.
    const Long bound = 32 * 16 * unit_roundoff<S>;
    for (std::size_t f = 0; f < first.size(); ++f) {
      for (std::size_t i = 0; i < shape.scalars(); ++i) {
        ASSERT_FALSE(!(std::abs(first[f][i] - expected[f][i]) <= bound))
            << "field " << f << " at " << i << ": " << first[f][i] << " is not " << expected[f][i];
      }
    }
    // The expected sums use the numbers as stored.
    for (std::size_t f = 0; f < first.size(); ++f) {
      std::copy(first[f].begin(), first[f].end(), expected[f].begin());
    }
    const std::vector<Long> expected_sums = sums(expected_fields, long_reduction);
    ASSERT_EQ(first_sums.size(), expected_sums.size());
    // A term is a product of numbers below 32, and joins the sum with at most 128 roundings.
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

  /// Random numbers for two fields, the same for every shape.
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

}  // namespace
}  // namespace vector_operations_gpu
