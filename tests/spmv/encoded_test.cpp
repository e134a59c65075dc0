// Runs in both builds.
// Copies of a matrix in 16 bits: the accuracy of the entries, and the resulting products.
#include <gtest/gtest.h>

#include <cmath>
#include <iterator>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "heddle/jacobi.hpp"
#include "matrix/encoding.hpp"
#include "spmv/nvrtc.hpp"
#include "support/compiled_images.hpp"
#include "support/few_entries.hpp"
#include "support/product_check.hpp"
#include "support/tuning/kernel_variants.hpp"
#include "support/where_it_runs.hpp"

namespace encoded_copies {
namespace {

using namespace heddle;
using namespace heddle::test;

constexpr StoredScalar kinds[] = {StoredScalar::half, StoredScalar::bfloat, StoredScalar::scaled};

template <class Format>
void expect_nearest_words(Generator& generator) {
  constexpr int infinity = (2 * (1 - Format::min_exponent) + 1) << Format::bits;
  for (int word = 0; word < infinity; ++word) {
    for (const int sign : {0, 0x8000}) {
      const double value = Format::decode(static_cast<CodeWord>(word | sign));
      ASSERT_EQ(detail::rounded_word<Format>(value), word | sign) << value;
      ASSERT_EQ(std::signbit(value), sign != 0);
    }
  }
  const double most = Format::decode(CodeWord(infinity - 1));
  const double least = std::ldexp(1.0, Format::min_exponent);  // the smallest normal number
  std::uniform_real_distribution<double> exponents(Format::min_exponent - 5, std::log2(most));
  for (int i = 0; i < 100000; ++i) {
    const double value = std::exp2(exponents(generator)) * (i % 2 == 0 ? 1 : -1);
    const double off = std::abs(Format::decode(detail::rounded_word<Format>(value)) - value);
    ASSERT_LE(off, std::ldexp(std::max(std::abs(value), least), -Format::bits - 1)) << value;
  }
  for (int word = 1; word + 1 < infinity; word += 7) {  // midpoints round to the even word
    const double middle =
        (double(Format::decode(CodeWord(word))) + double(Format::decode(CodeWord(word + 1)))) / 2;
    ASSERT_EQ(detail::rounded_word<Format>(middle), word + word % 2);
  }
  EXPECT_EQ(detail::rounded_word<Format>(2 * most), infinity - 1);
}

TEST(Encoded, WordsAreTheNearestOnes) {
  Seed seed(2301);
  expect_nearest_words<half_code>(seed.generator);
  expect_nearest_words<bfloat_code>(seed.generator);
}

/// The components that the copy of `A` holds for the entry in each slot.
template <class Code, class E>
std::vector<double> decoded_by(const Operator<E>& A) {
  using Kept = heddle::encoded<Code, E>;
  const SlicedPattern& pattern = A.pattern();
  auto* const words = reinterpret_cast<CodeWord*>(A.iterated().stored_values().data());
  const EntryWriter<Kept> entries(pattern, A.plan().layout.inner, words);
  const double scale = scale_of_word<double>(words[pattern.slots * E::components]);
  std::vector<double> all;
  for (Offset slot = 0; slot < pattern.slots; ++slot) {
    const E entry = load(entries.load(slot));
    for (const auto component : entry.component) all.push_back(double(component) * scale);
  }
  return all;
}
template <class E>
std::vector<double> decoded(const Operator<E>& A) {
  switch (A.plan().layout.stored) {
    case StoredScalar::half:
      return decoded_by<half_code>(A);
    case StoredScalar::bfloat:
      return decoded_by<bfloat_code>(A);
    default:
      return decoded_by<scaled_code>(A);
  }
}

/// The largest error of a component, as in docs/guide/encodings.md: `of_entry` and `of_matrix` are
/// the largest magnitudes of the entry and of the matrix.
double bound(StoredScalar kept, int K, double value, double of_entry, double of_matrix) {
  if (kept == StoredScalar::half) {
    return std::max(std::ldexp(std::abs(value), -11), std::ldexp(of_matrix, -39));
  }
  if (kept == StoredScalar::bfloat || K == 1) {
    return std::max(std::ldexp(std::abs(value), -8), std::ldexp(of_matrix, -147));
  }
  const int b = scaled_code::bits_of_exponent(K);
  return std::max(std::ldexp(of_entry, b - 15), std::ldexp(of_matrix, b - 141));
}

template <class E>
class EncodedEntry : public testing::Test {};
using Entries = testing::Types<real<double>, complex<float>, quaternion<double>,
                               block<double, 3, 3>, dual_quaternion<double>>;
TYPED_TEST_SUITE(EncodedEntry, FewWhereSanitized<Entries>);

/// Rows of entries whose components are equal in size, nearly equal, of all sizes, or zero.
template <class E>
CsrMatrix<E> awkward_matrix(double size, Generator& generator) {
  using S = stored_scalar_t<E>;
  CsrMatrix<E> matrix = random_matrix<E>({.rows = 61, .columns = 61}, generator);
  std::uniform_real_distribution<double> uniform(-1, 1);
  for (Offset i = 0; i < matrix.entries(); ++i) {
    const double of_entry = i % 4 == 3 ? std::exp2(-30 * std::abs(uniform(generator))) : 1;
    const double first = uniform(generator);
    for (int k = 0; k < E::components; ++k) {
      S& to = matrix.values()[static_cast<std::size_t>(i * E::components + k)];
      double value = uniform(generator);
      if (i % 4 == 1) value = first * (1 + 1e-4 * value);
      if (i % 4 == 2) value *= std::exp2(40 * uniform(generator) - 40);
      if (i % 17 == 5 || (i + k) % 13 == 0) value = i % 2 == 0 ? 0.0 : -0.0;
      to = static_cast<S>(value * of_entry * size);
    }
  }
  return matrix;
}

TYPED_TEST(EncodedEntry, IsWithinItsBoundWhateverTheSizeOfTheMatrix) {
  using E = TypeParam;
  Seed seed(2302);
  const bool is_double = std::is_same_v<stored_scalar_t<E>, double>;
  for (const double size : {1.0, 3e-30, 7e30, is_double ? 1e300 : 1e38, is_double ? 1e-290 : 1e-30,
                            is_double ? 2e-297 : 3e-40}) {
    const CsrMatrix<E> matrix = awkward_matrix<E>(size, seed.generator);
    double of_matrix = 0;
    for (const auto value : matrix.values())
      of_matrix = std::max(of_matrix, double(std::abs(value)));
    for (const StoredScalar kept : kinds) {
      SCOPED_TRACE(std::string(name(kept)) + " of size " + std::to_string(std::log2(size)));
      const Operator<E> A(matrix, Plan{.layout = {.stored = kept}});
      const std::vector<double> found = decoded(A);
      ASSERT_EQ(found.size(), matrix.values().size());
      for (Offset i = 0; i < matrix.entries(); ++i) {
        const auto* const own = matrix.values().data() + i * E::components;
        double of_entry = 0;
        for (int k = 0; k < E::components; ++k)
          of_entry = std::max(of_entry, double(std::abs(own[k])));
        for (int k = 0; k < E::components; ++k) {
          const double is = found[static_cast<std::size_t>(i * E::components + k)];
          const double most = bound(kept, E::components, own[k], of_entry, of_matrix);
          ASSERT_FALSE(!(std::abs(is - own[k]) <= most))
              << own[k] << " became " << is << ", in " << i << "; " << most;
          ASSERT_TRUE(own[k] != 0 || is == 0);
          // Integers have no negative zero; the entry of one component is stored as bfloat.
          const bool signs_zero = kept != StoredScalar::scaled || E::components == 1;
          ASSERT_TRUE(own[k] != 0 || std::signbit(is) == (signs_zero && std::signbit(own[k])));
        }
      }
    }
  }
}

TYPED_TEST(EncodedEntry, MultipliesAsItsDecodedEntriesInAllLayouts) {
  using E = TypeParam;
  Seed seed(2303);
  for (const StoredScalar kept : kinds) {
    CsrMatrix<E> matrix = random_matrix<E>({.rows = 83, .columns = 83}, seed.generator);
    for (auto& value : matrix.values()) value *= 1000;
    CsrMatrix<E> rounded = matrix;
    const std::vector<double> values =
        decoded(Operator<E>(matrix, Plan{.layout = {.stored = kept}}));
    for (std::size_t i = 0; i < values.size(); ++i) {
      rounded.values()[i] = static_cast<stored_scalar_t<E>>(values[i]);
    }
    const Problem<E> problem(rounded, seed.generator);
    for (Plan plan : covering_layouts(seed.generator)) {
      plan.layout.stored = kept;
      SCOPED_TRACE(to_string(plan));
      Operator<E> A(matrix, plan, Device::cpu(2));
      poison_padding(A);
      EXPECT_EQ(A.memory().copy,
                Offset(sizeof(CodeWord)) * (A.pattern().slots * E::components + 1));
      expect_product(A, problem, 1, 0, seed.generator,
                     [&](auto alpha, const auto& x, auto beta, const auto& y) {
                       A.iterated().apply(alpha, x, beta, y, Stream{2});
                     });
      if (this->HasFailure()) return;
    }
  }
}

TEST(EncodedMatrix, OfZerosIsZeroAndOfWhatIsNotFiniteIsNoNumber) {
  using E = quaternion<double>;
  Seed seed(2304);
  CsrMatrix<E> matrix = random_matrix<E>({.rows = 9, .columns = 9}, seed.generator);
  for (double& value : matrix.values()) value = 0;
  for (const StoredScalar kept : kinds) {
    SCOPED_TRACE(name(kept));
    Operator<E> A(matrix, Plan{.layout = {.stored = kept}});
    for (const double value : decoded(A)) EXPECT_EQ(value, 0);
    for (const double odd :
         {std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()}) {
      CsrMatrix<E> other = matrix;
      other.values()[3] = odd;
      A.update_values(other);
      for (const double value : decoded(A)) EXPECT_TRUE(std::isnan(value));
    }
    for (Offset i = 0; i < matrix.entries(); ++i) {  // next to ones in the same entry
      for (const double odd :
           {std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()}) {
        CsrMatrix<E> other = matrix;
        for (double& value : other.values()) value = 1;
        other.values()[static_cast<std::size_t>(4 * i + 2)] = odd;
        A.update_values(other);
        for (const double value : decoded(A)) ASSERT_TRUE(std::isnan(value));
      }
    }
    A.update_values(matrix);
    for (const double value : decoded(A)) EXPECT_EQ(value, 0);
  }
}

/// GPU programs compile, for each encoding, each inner layout, and each kind of product and loop.
TEST(EncodedPrograms, Compile) {
  HEDDLE_RELEASE_ONLY();
  try {
    cuda::nvrtc();
  } catch (const Error& error) {
    GTEST_SKIP() << error.what();
  }
  const VariantEntry entries[] = {
      variant_entry<heddle::encoded<half_code, quaternion<double>>>(),
      variant_entry<heddle::encoded<scaled_code, block<double, 3, 3>>>(),
      variant_entry<heddle::encoded<bfloat_code, real<float>>>(),
      variant_entry<heddle::encoded<scaled_code, complex<double>>>(),
      variant_entry<heddle::encoded<half_code, dual_quaternion<float>>>(),
      variant_entry<heddle::encoded<dictionary_code, quaternion<float>>>(),
      variant_entry<heddle::encoded<unit_code, quaternion<double>>>()};
  const char* const plans[] = {
      "C=32,inner=aosoa16,load=no-allocate,schedule=full", "C=1,load=streaming",
      "C=16,T=2,inner=soa,vector=soa,load=evict-first,schedule=dynamic",
      "C=32,threshold=8,inner=aosoa,unroll=3", "C=3,inner=aosoa16,unroll=1"};
  std::vector<cuda::KernelSource> sources;
  std::size_t number = 0;
  for (const VariantProgram& program : variant_programs()) {
    const bool is_product = program.kind == ProgramKind::product;
    if (!is_product && (program.kind != ProgramKind::persistent || program.jacobi)) continue;
    const VariantEntry& entry = entries[number % std::size(entries)];
    // Loops in one kernel have separate rules for plans.
    const char* const plan = is_product          ? plans[(number * 2 + number / 5) % 5]
                             : program.in_shared ? "C=32,threads=512"
                                                 : "C=32,inner=aosoa16,threads=512";
    ++number;
    if (!entry.has_adjoint && program.epilogue == device::store_and_dot) continue;
    sources.push_back(source_of(entry, program, parse_plan(plan), 90));
  }
  EXPECT_GE(sources.size(), 10u);
  try {
    const auto images = compiled_images(sources, 90);
    for (std::size_t i = 0; i < images.size(); ++i) {
      EXPECT_FALSE(images[i].data.empty()) << sources[i].name;
    }
  } catch (const cuda::CompileError& error) {
    FAIL() << error.what() << "\n" << error.log();
  }
}

}  // namespace
}  // namespace encoded_copies
