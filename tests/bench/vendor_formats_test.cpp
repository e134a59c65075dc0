// Formats of other libraries, multiplied by loops over their arrays.
#include "peers/vendor_formats.hpp"

#include <gtest/gtest.h>

#include <complex>

#include "problems/problem.hpp"
#include "support/few_entries.hpp"
#include "support/random_matrix.hpp"

namespace heddle::bench {
namespace {

using heddle::test::random_matrix;

/// The numbers of a vector in a format, real ones as complex ones without imaginary parts.
using Numbers = std::vector<std::complex<double>>;

Numbers numbers_of(const std::vector<double>& scalars, int parts) {
  Numbers numbers;
  for (std::size_t i = 0; i < scalars.size(); i += static_cast<std::size_t>(parts)) {
    numbers.emplace_back(scalars[i], parts == 2 ? scalars[i + 1] : 0.0);
  }
  return numbers;
}

std::vector<double> scalars_of(const Numbers& numbers, int parts) {
  std::vector<double> scalars;
  for (const auto& number : numbers) {
    scalars.push_back(number.real());
    if (parts == 2) scalars.push_back(number.imag());
  }
  return scalars;
}

template <class E>
class VendorFormats : public testing::Test {
 protected:
  VendorFormats()
      : problem_{
            "random",
            AnyMatrix(random_matrix<E>(
                {.rows = 91, .columns = 91, .empty_rows = true, .dense_row = true, .sorted = false},
                seed_.generator)),
            false,
            {},
            {}} {
    problem_.x = random_x(problem_.matrix);
    reference_ = reference_product(problem_, problem_.x);
  }

  static std::vector<BlockForm> forms() {
    std::vector<BlockForm> forms = {real_form<E>()};
    if constexpr (has_complex_representation<E>) forms.push_back(complex_form<E>());
    if (std::is_same_v<E, quaternion<double>>) forms.push_back(complex_form_of_quaternions());
    if (std::is_same_v<E, dual_quaternion<double>>) {
      forms.push_back(complex_form_of_dual_quaternions());
    }
    return forms;
  }

  /// Calls `f` with the entries of the matrix.
  template <class F>
  void with_entries(F&& f) const {
    problem_.matrix.visit([&]<class Stored>(const CsrMatrix<Stored>& matrix) {
      if constexpr (std::is_same_v<Stored, E>) {
        f(EntriesView<double>{matrix.view().pattern(), matrix.values().data(), E::components});
      }
    });
  }

  Numbers x_in(const BlockForm& form) const {
    return numbers_of(with_signs<double>(problem_.x, form), form.parts);
  }
  void expect_product(const Numbers& y, const BlockForm& form) const {
    const std::vector<double> users = without_signs(scalars_of(y, form.parts), form);
    EXPECT_LE(relative_difference(users, reference_), 1e-14) << form.name();
  }

  heddle::test::Seed seed_{20};
  Problem problem_;
  std::vector<double> reference_;
};

using FormatEntries =
    testing::Types<real<double>, complex<double>, quaternion<double>, dual_quaternion<double>,
                   block<double, 2, 2>, block<double, 3, 3>, block<double, 4, 4>,
                   block<double, 6, 6>, block<complex<double>, 3, 3>>;
TYPED_TEST_SUITE(VendorFormats, test::FewWhereSanitized<FormatEntries>);

TYPED_TEST(VendorFormats, BlocksInBothOrders) {
  this->with_entries([&](const EntriesView<double>& entries) {
    const PatternView& pattern = entries.pattern;
    for (const BlockForm& form : this->forms()) {
      for (const bool by_columns : {false, true}) {
        const Numbers values = numbers_of(block_values(entries, form, by_columns), form.parts);
        const Numbers x = this->x_in(form);
        const int n = form.size;
        Numbers y(x.size());
        for (Index row = 0; row < pattern.rows; ++row) {
          for (Offset k = pattern.offsets[row]; k < pattern.offsets[row + 1]; ++k) {
            for (int i = 0; i < n; ++i) {
              for (int j = 0; j < n; ++j) {
                const auto at =
                    static_cast<std::size_t>(k * n * n + (by_columns ? j * n + i : i * n + j));
                y[static_cast<std::size_t>(row * n + i)] +=
                    values[at] * x[static_cast<std::size_t>(pattern.column[k] * n + j)];
              }
            }
          }
        }
        this->expect_product(y, form);
      }
    }
  });
}

TYPED_TEST(VendorFormats, RowsOfNumbers) {
  this->with_entries([&](const EntriesView<double>& entries) {
    for (const BlockForm& form : this->forms()) {
      const NumberRows<double> rows = number_rows(entries, form);
      EXPECT_EQ(static_cast<long long>(rows.column.size()), count_numbers(entries.pattern, form));
      const Numbers values = numbers_of(rows.values, form.parts);
      const Numbers x = this->x_in(form);
      Numbers y(x.size());
      for (std::size_t row = 0; row < y.size(); ++row) {
        for (auto k = static_cast<std::size_t>(rows.offsets[row]);
             k < static_cast<std::size_t>(rows.offsets[row + 1]); ++k) {
          y[row] += values[k] * x[static_cast<std::size_t>(rows.column[k])];
        }
      }
      this->expect_product(y, form);
    }
  });
}

TYPED_TEST(VendorFormats, SlicedEll) {
  this->with_entries([&](const EntriesView<double>& entries) {
    for (const BlockForm& form : this->forms()) {
      for (const int slice : {2, 8, 64}) {
        const SlicedEll<double> ell = sliced_ell(number_rows(entries, form), slice);
        const Numbers values = numbers_of(ell.values, form.parts);
        ASSERT_EQ(values.size(), ell.column.size());
        ASSERT_EQ(values.size(), static_cast<std::size_t>(ell.offsets.back()));
        const Numbers x = this->x_in(form);
        Numbers y(x.size());
        for (std::size_t s = 0; s + 1 < ell.offsets.size(); ++s) {
          for (int k = ell.offsets[s]; k < ell.offsets[s + 1]; ++k) {
            const auto slot = static_cast<std::size_t>(k);
            if (ell.column[slot] < 0) continue;
            const std::size_t row = s * static_cast<std::size_t>(slice) +
                                    static_cast<std::size_t>((k - ell.offsets[s]) % slice);
            ASSERT_LT(row, y.size());
            y[row] += values[slot] * x[static_cast<std::size_t>(ell.column[slot])];
          }
        }
        this->expect_product(y, form);
      }
    }
  });
}

TEST(VendorFormatsOfDualQuaternions, LeaveOutTheQuarterOfZeros) {
  heddle::test::Seed seed(3);
  const auto matrix =
      random_matrix<dual_quaternion<double>>({.rows = 20, .columns = 20}, seed.generator);
  const BlockForm form = real_form<dual_quaternion<double>>();
  EXPECT_EQ(count_numbers(matrix.view().pattern(), form), 48 * matrix.entries());
}

}  // namespace
}  // namespace heddle::bench
