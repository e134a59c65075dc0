// Arrays of other libraries as fields.
#include <gtest/gtest.h>

#include <array>
#include <complex>
#include <cstdint>
#include <span>
#include <vector>

#include "heddle/eigen.hpp"
#include "heddle/field.hpp"

namespace {

using namespace heddle;
using Complex = std::complex<double>;

template <class N>
void takes_a_size_of() {
  double numbers[3] = {1, 2, 3};
  const FieldView<double> view{numbers, N(3)};
  EXPECT_EQ(view.size, 3);
  EXPECT_EQ((FieldView<const double>{numbers, N(1), 3}).components, 3);
  EXPECT_EQ(Field<real<double>>(N(3)).size(), 3);
}

TEST(FieldViews, TakeSizesOfAnyIntegralType) {
  takes_a_size_of<int>();
  takes_a_size_of<long>();
  takes_a_size_of<std::size_t>();
  takes_a_size_of<Eigen::Index>();
  takes_a_size_of<std::uint8_t>();
  double number = 0;
  const auto too_many = [&](auto size) {
    try {
      FieldView<double>{&number, size};
      return false;
    } catch (const Error& error) {
      return error.kind() == ErrorKind::size_mismatch;
    }
  };
  EXPECT_TRUE(too_many(std::int64_t{1} << 32));
  EXPECT_TRUE(too_many(std::uint32_t{1} << 31));
  EXPECT_TRUE(too_many(-1));
  EXPECT_TRUE(too_many(~std::size_t{0}));
}

TEST(FieldViews, TakeStandardArrays) {
  std::vector<double> numbers = {1, 2, 3, 4, 5, 6};
  const FieldView<double> view(numbers);
  EXPECT_EQ(view.data, numbers.data());
  EXPECT_EQ(view.size, 6);
  EXPECT_EQ(view.components, 1);
  const std::vector<double>& fixed = numbers;
  EXPECT_EQ(FieldView<const double>(fixed).size, 6);
  EXPECT_EQ(FieldView<const double>(std::span(numbers).first(2)).size, 2);
  static_assert(!std::is_constructible_v<FieldView<double>, const std::vector<double>&>);
  static_assert(!std::is_constructible_v<FieldView<double>, std::vector<float>&>);

  const auto rows = field_view<block<double, 3, 3>>(numbers);
  static_assert(std::is_same_v<decltype(rows), const FieldView<double>>);
  EXPECT_EQ(rows.size, 2);
  EXPECT_EQ(rows.at(1, 2), 6);
  static_assert(
      std::is_same_v<decltype(field_view<quaternion<double>>(fixed)), FieldView<const double>>);
  EXPECT_THROW(field_view<quaternion<double>>(numbers), Error);
}

TEST(FieldViews, TakeStandardComplexNumbers) {
  std::array<Complex, 2> numbers = {Complex(1, 2), Complex(3, 4)};
  FieldView<double> view(numbers);
  EXPECT_EQ(view.size, 2);
  EXPECT_EQ(view.components, 2);
  view.at(1, 1) = 5;
  EXPECT_EQ(numbers[1], Complex(3, 5));
  EXPECT_EQ((FieldView<const double>{numbers.data(), numbers.size()}).at(0, 1), 2);
  EXPECT_EQ((FieldView<const double>(std::span<const Complex>(numbers))).size, 2);
  EXPECT_EQ((field_view<block<complex<double>, 2, 2>>(numbers).components), 4);
}

TEST(FieldViews, TakeDenseArraysOfEigen) {
  Eigen::VectorXd x = Eigen::VectorXd::LinSpaced(6, 1, 6);
  FieldView<double>(x).at(5, 0) = 7;
  EXPECT_EQ(x(5), 7);
  const Eigen::VectorXd& fixed = x;
  static_assert(!std::is_constructible_v<FieldView<double>, const Eigen::VectorXd&>);
  EXPECT_EQ(FieldView<const double>(fixed).data, x.data());

  Eigen::Ref<Eigen::VectorXd> reference(x);
  EXPECT_EQ(FieldView<double>(reference).data, x.data());
  EXPECT_EQ(FieldView<double>(x.segment(2, 3)).at(2, 0), 5);
  Eigen::Map<Eigen::VectorXd, 0, Eigen::InnerStride<2>> every_other(x.data(), 3);
  EXPECT_EQ(FieldView<double>(every_other).at(2, 0), 5);
  const Eigen::RowVectorXd lying = x.transpose();
  EXPECT_EQ(FieldView<const double>(lying).size, 6);

  // A row is a row of the field, and its columns are the components, in either storage order.
  Eigen::MatrixXd points(2, 3);
  points << 1, 2, 3, 4, 5, 6;
  EXPECT_EQ(FieldView<double>(points).at(1, 2), 6);
  EXPECT_EQ((field_view<block<double, 3, 3>>(points).at(1, 0)), 4);
  const Eigen::Matrix<double, 2, 3, Eigen::RowMajor> by_rows = points;
  EXPECT_EQ(FieldView<const double>(by_rows).at(0, 1), 2);

  Eigen::VectorXcd z(2);
  z << Complex(1, 2), Complex(3, 4);
  EXPECT_EQ(FieldView<double>(z).components, 2);
  EXPECT_EQ(FieldView<double>(z).at(1, 0), 3);
  EXPECT_EQ(FieldView<const double>(z.reverse()).at(0, 1), 4);
}

TEST(FieldViews, EvaluateExpressionsOfEigenOnce) {
  const Eigen::VectorXd x = Eigen::VectorXd::Ones(4);
  const FieldView<const double> sum = x + 2 * x;
  EXPECT_EQ(sum.at(3, 0), 3);
  EXPECT_NE(sum.keep_alive, nullptr);
  static_assert(!std::is_constructible_v<FieldView<double>, decltype(x + x)>);
}

}  // namespace
