// Operations on many fields at once against sums in long double, on either device.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "solvers/blocks/field_block.hpp"
#include "support/random_matrix.hpp"

namespace heddle::test {

struct BlockShape {
  Index rows;
  int numbers;  // numbers of the ring in a row
  VectorLayout layout;
  int left, right;  // fields
  int shift = 0;    // scalars between a multiple of 16 bytes and the data
};

template <Ring R, class S>
class CheckedBlock {
 public:
  using Number = Coefficient<R, long double>;

  CheckedBlock(const BlockShape& shape, int count, const Device& device, Generator& generator)
      : shape_(shape) {
    const int components = shape.numbers * ring_size(R);
    for (int k = 0; k < count; ++k) {
      std::vector<S> scalars(static_cast<std::size_t>(shape.shift) +
                             static_cast<std::size_t>(shape.rows) *
                                 static_cast<std::size_t>(components));
      for (S& scalar : scalars)
        scalar = random_components<Coefficient<Ring::real, S>>(generator).real();
      memory_.emplace_back(scalars, device);
      values.push_back(std::move(scalars));
      fields.push_back({memory_.back().data() + shape.shift, shape.rows, components, shape.layout});
    }
  }

  std::vector<std::vector<S>> values;
  detail::FieldBlock<S> fields;

  /// Copies the results of operations to `values`.
  void read() {
    for (std::size_t k = 0; k < values.size(); ++k) values[k] = memory_[k].to_host();
  }
  Number at(int field, Index row, int number) const {
    Number result{};
    for (int c = 0; c < ring_size(R); ++c) {
      const Offset component = Offset(number) * ring_size(R) + c;
      const Offset place = shape_.layout == VectorLayout::aos
                               ? Offset(row) * shape_.numbers * ring_size(R) + component
                               : component * shape_.rows + row;
      result.component[c] =
          values[static_cast<std::size_t>(field)][static_cast<std::size_t>(shape_.shift + place)];
    }
    return result;
  }
  template <class Act>
  void for_each_element(const Act& act) const {
    for (Index row = 0; row < shape_.rows; ++row) {
      for (int number = 0; number < shape_.numbers; ++number) act(row, number);
    }
  }

 private:
  BlockShape shape_;
  std::vector<Array<S>> memory_;
};

template <Ring R, class S>
void expect_gram(const detail::RingMatrix<R, sum_t<S>>& found, const CheckedBlock<R, S>& u,
                 const CheckedBlock<R, S>& v) {
  for (int j = 0; j < found.columns(); ++j) {
    for (int i = 0; i < found.rows(); ++i) {
      Coefficient<R, long double> sum{};
      long double size = 0;
      u.for_each_element([&](Index row, int number) {
        const auto left = u.at(i, row, number), right = v.at(j, row, number);
        add_inner_product(left, right, sum.component);
        size += std::sqrt(squared_norm(left) * squared_norm(right));
      });
      const long double bound = 256 * std::numeric_limits<sum_t<S>>::epsilon() * size;
      for (int c = 0; c < ring_size(R); ++c) {
        ASSERT_FALSE(!(std::abs(found(i, j).component[c] - sum.component[c]) <= bound))
            << "component " << c << " of " << i << ", " << j << ": " << found(i, j).component[c]
            << " is not " << sum.component[c];
      }
    }
  }
}

/// Checks that `to` = `from` C + `before`.
template <Ring R, class S>
void expect_combined(const CheckedBlock<R, S>& to, const CheckedBlock<R, S>& from,
                     const detail::RingMatrix<R, sum_t<S>>& c, const CheckedBlock<R, S>* before) {
  for (int j = 0; j < c.columns(); ++j) {
    to.for_each_element([&](Index row, int number) {
      auto sum = before ? before->at(j, row, number) : Coefficient<R, long double>{};
      long double size = 1;
      for (int i = 0; i < c.rows(); ++i) {
        Coefficient<R, long double> factor{};
        for (int k = 0; k < ring_size(R); ++k) {
          factor.component[k] = static_cast<S>(c(i, j).component[k]);
        }
        add_multiple(sum, from.at(i, row, number), factor);
        size += std::sqrt(squared_norm(from.at(i, row, number)) * squared_norm(factor));
      }
      const long double bound = 8 * (c.rows() + 1) * std::numeric_limits<S>::epsilon() * size;
      const auto found = to.at(j, row, number);
      for (int k = 0; k < ring_size(R); ++k) {
        ASSERT_FALSE(!(std::abs(found.component[k] - sum.component[k]) <= bound))
            << "field " << j << ", row " << row << ", component " << k;
      }
    });
  }
}

/// Runs every operation twice: both times give the same bits.
template <Ring R, class S>
void expect_block_operations(const BlockShape& shape, const Device& device, Generator& generator) {
  SCOPED_TRACE(std::to_string(shape.rows) + " rows of " + std::to_string(shape.numbers) +
               (shape.layout == VectorLayout::aos ? " AoS, " : " SoA, ") +
               std::to_string(shape.left) + " and " + std::to_string(shape.right) +
               " fields, shift " + std::to_string(shape.shift));
  using T = sum_t<S>;
  const Stream stream = device.stream();
  Reduction<S> reduction(shape.rows, device);
  detail::BlockOperations<R, S> operations(reduction, stream, std::max(shape.left, shape.right));
  const CheckedBlock<R, S> u(shape, shape.left, device, generator);
  const CheckedBlock<R, S> v(shape, shape.right, device, generator);
  const auto gram = operations.gram(u.fields, v.fields);
  expect_gram<R, S>(gram, u, v);
  const auto own = operations.gram(u.fields, u.fields, true);
  expect_gram<R, S>(own, u, u);
  const auto again = operations.gram(u.fields, v.fields);
  const std::vector<T> norms = operations.norms(u.fields);
  for (int i = 0; i < shape.left; ++i) {
    EXPECT_NEAR(norms[static_cast<std::size_t>(i)], std::sqrt(own(i, i).real()),
                1e-12 * (1 + std::sqrt(own(i, i).real())));
    for (int j = 0; j < shape.right; ++j) {
      for (int c = 0; c < ring_size(R); ++c) {
        EXPECT_EQ(again(i, j).component[c], gram(i, j).component[c]);
      }
    }
  }
  detail::RingMatrix<R, T> c(shape.left, shape.right);
  for (int j = 0; j < c.columns(); ++j) {
    for (int i = 0; i < c.rows(); ++i) c(i, j) = random_components<Coefficient<R, T>>(generator);
  }
  CheckedBlock<R, S> to(shape, shape.right, device, generator);
  CheckedBlock<R, S> before = to;
  operations.combine(u.fields, c, to.fields, true);
  device.synchronize();
  to.read();
  expect_combined<R, S>(to, u, c, &before);
  for (const FieldView<S>& field : to.fields) {
    fill<S>(std::numeric_limits<S>::quiet_NaN(), field, stream);
  }
  operations.combine(u.fields, c, to.fields);
  device.synchronize();
  to.read();
  expect_combined<R, S>(to, u, c, nullptr);
}

template <Ring R, class S>
void expect_block_operations(const Device& device) {
  Seed seed(7100);
  const Index many = device.on_gpu() ? 5003 : 1283;  // the reference is slow
  for (const VectorLayout layout : {VectorLayout::aos, VectorLayout::soa}) {
    for (const BlockShape& shape :
         {BlockShape{1, 1, layout, 1, 1}, BlockShape{37, 1, layout, 3, 2},
          BlockShape{301, 2, layout, 5, 7, 1}, BlockShape{1031, 3, layout, 4, 9},
          BlockShape{many, 1, layout, 33, 6}}) {
      expect_block_operations<R, S>(shape, device, seed.generator);
    }
  }
}

}  // namespace heddle::test
