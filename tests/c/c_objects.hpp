// Objects, views and structs of heddle.h for tests.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <random>
#include <string>
#include <vector>

#include "heddle.h"

namespace heddle::c_test {

/// Owns an object and destroys it, in reverse order of declaration.
template <class T, void (*destroy)(T**)>
struct Held {
  T* own = nullptr;
  ~Held() { destroy(&own); }
  T** operator&() { return &own; }
  operator T*() const { return own; }
};
using Context = Held<heddle_context, heddle_context_destroy>;
using Matrix = Held<heddle_matrix, heddle_matrix_destroy>;
using Operator = Held<heddle_operator, heddle_operator_destroy>;
using Preconditioner = Held<heddle_preconditioner, heddle_preconditioner_destroy>;
using Solver = Held<heddle_solver, heddle_solver_destroy>;
using LeastSquares = Held<heddle_least_squares, heddle_least_squares_destroy>;

inline std::string message(const heddle_context* context) {
  std::array<char, 512> text{};
  heddle_message(context, text.data(), text.size());
  return text.data();
}

struct Setting {
  const char* name;
  std::string value;
};

/// Settings by name, as in Settings(context, {{"plan", "CSR"}, {"threads", "1"}}).
class Settings : public Held<heddle_settings, heddle_settings_destroy> {
 public:
  explicit Settings(heddle_context* context, std::initializer_list<Setting> given = {}) {
    EXPECT_EQ(heddle_settings_create(context, &own), HEDDLE_OK) << message(context);
    for (const Setting& setting : given) set(setting.name, setting.value);
  }
  Settings(const Settings&) = delete;
  Settings& operator=(const Settings&) = delete;

  Settings& set(const char* name, const std::string& value) {
    EXPECT_EQ(heddle_settings_set(own, name, value.c_str()), HEDDLE_OK) << name << "=" << value;
    return *this;
  }
  /// Restores the default.
  Settings& reset(const char* name) {
    EXPECT_EQ(heddle_settings_set(own, name, nullptr), HEDDLE_OK) << name;
    return *this;
  }
};

template <class S>
heddle_view view(std::vector<S>& scalars, heddle_entry entry, bool of_matrix = false,
                 heddle_layout layout = HEDDLE_ROW_MAJOR) {
  const int size = of_matrix ? heddle_entry_scalars(entry) : heddle_row_scalars(entry);
  return {scalars.data(), static_cast<std::int64_t>(scalars.size()) / size,
          entry,          sizeof(S) == sizeof(float) ? HEDDLE_SINGLE : HEDDLE_DOUBLE,
          layout,         HEDDLE_HOST};
}

template <class I>
heddle_pattern pattern(std::int64_t rows, const std::vector<I>& row, const std::vector<I>& column,
                       int base = 0) {
  heddle_pattern p{};
  p.struct_size = sizeof p;
  p.rows = p.columns = rows;
  p.entries = static_cast<std::int64_t>(column.size());
  p.row = row.data();
  p.column = column.data();
  p.row_bits = p.column_bits = 8 * sizeof(I);
  p.base = base;
  return p;
}

inline heddle_report report() {
  heddle_report r{};
  r.struct_size = sizeof r;
  return r;
}

inline std::vector<double> random_numbers(std::size_t count, unsigned seed) {
  std::mt19937_64 engine(seed);
  std::uniform_real_distribution<double> distribution(-1, 1);
  std::vector<double> numbers(count);
  for (double& number : numbers) number = distribution(engine);
  return numbers;
}

}  // namespace heddle::c_test
