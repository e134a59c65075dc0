// The entry of docs/inside/adding-an-entry.md in a matrix: assembled, multiplied, expanded and
// folded.
#include "dual_complex.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "entries/dense.hpp"
#include "heddle/entries/row_product.hpp"
#include "heddle/expansion.hpp"
#include "heddle/triplets.hpp"

namespace {

using namespace heddle;

template <class S>
CsrMatrix<dual_complex<S>> random_matrix(Index rows, Index columns, std::mt19937_64& generator) {
  std::vector<Triplet<dual_complex<S>>> triplets;
  for (Index i = 0; i < 5 * rows; ++i) {
    const auto row = static_cast<Index>(generator() % rows);
    const auto column = static_cast<Index>(generator() % columns);
    triplets.push_back({row, column, test::random<dual_complex<S>>(generator)});
  }
  return assemble<dual_complex<S>>(rows, columns,
                                   std::span<const Triplet<dual_complex<S>>>(triplets))
      .matrix;
}

template <class S>
void expect_product_of_the_expansion(unsigned seed) {
  SCOPED_TRACE("seed " + std::to_string(seed));
  using E = dual_complex<S>;
  std::mt19937_64 generator(seed);
  const Index rows = 23, columns = 17;
  const auto matrix = random_matrix<S>(rows, columns, generator);
  const auto expanded = expand(matrix);
  std::vector<S> x(columns * E::components);
  for (S& value : x) value = std::uniform_real_distribution<S>(-1, 1)(generator);

  const PackedValues<E> values{matrix.values().data()};
  const PackedVector<E> vector{x.data()};
  for (Index row = 0; row < rows; ++row) {
    const Offset begin = matrix.offsets()[row];
    const auto length = static_cast<int>(matrix.offsets()[row + 1] - begin);
    const E sum = row_product<E>(values, matrix.column().data(), vector, begin, 1, 0, length);
    for (int k = 0; k < E::components; ++k) {
      long double expected = 0, magnitude = 0;
      const Index scalar_row = row * E::components + k;
      for (Offset i = expanded.offsets()[scalar_row]; i < expanded.offsets()[scalar_row + 1]; ++i) {
        const long double term =
            static_cast<long double>(expanded.values()[i]) * x[expanded.column()[i]];
        expected += term;
        magnitude += std::abs(term);
      }
      // A sum of length * components products.
      const long double tolerance =
          (length * E::components + 1) * std::numeric_limits<S>::epsilon() * magnitude;
      EXPECT_LE(std::abs(sum.component[k] - expected), tolerance) << "row " << row;
    }
  }
}

TEST(DualComplex, ProductOfARow) {
  for (unsigned seed = 1; seed <= 5; ++seed) {
    expect_product_of_the_expansion<double>(seed);
    expect_product_of_the_expansion<float>(seed);
  }
}

TEST(DualComplex, HasAnInverseButNoAdjoint) {
  EXPECT_TRUE(has_inverse<dual_complex<double>>);
  EXPECT_FALSE(has_adjoint<dual_complex<double>>);
  EXPECT_TRUE(check_entry<dual_complex<float>>());
}

std::string text_of(const std::filesystem::path& path) {
  std::ifstream file(path);
  EXPECT_TRUE(file.is_open()) << path;
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(DualComplex, StandsInTheDocumentationAsItIsCompiled) {
  const auto here = std::filesystem::path(__FILE__).parent_path();
  const std::string header = text_of(here / "dual_complex.hpp");
  const std::string page = text_of(here / "../../docs/inside/adding-an-entry.md");
  EXPECT_NE(page.find("```cpp\n" + header + "```\n"), std::string::npos)
      << "docs/inside/adding-an-entry.md does not show dual_complex.hpp";
}

}  // namespace
