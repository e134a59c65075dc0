// The memory layout of the structs of heddle.h: programs compiled earlier keep working.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <initializer_list>
#include <string>
#include <vector>

#include "c_objects.hpp"
#include "heddle.h"

using namespace heddle::c_test;

namespace {

// Layouts since version 0.1. Moving a member would break every program: new members come at the
// end.
#define SIZE(type, bytes) static_assert(sizeof(type) == (bytes));
#define MEMBER(type, name, at) static_assert(offsetof(type, name) == (at));
#include "../../bindings/c/layouts.txt"
#undef MEMBER
#undef SIZE

/// Tries every size except those of the struct's versions: half of a pointer is not accepted.
TEST(CStructs, SizesOfNoVersionAreRefused) {
  Context context;
  Matrix matrix;
  Operator A;
  Solver solver;
  ASSERT_EQ(heddle_context_create(&context), HEDDLE_OK);
  ASSERT_EQ(heddle_matrix_generate(context, "poisson", 8, 1, &matrix), HEDDLE_OK);
  ASSERT_EQ(heddle_operator_create(matrix, nullptr, &A), HEDDLE_OK);
  const auto expect_refused = [&](auto& given, const auto& call,
                                  std::initializer_list<std::size_t> older = {}) {
    for (std::size_t size = 0; size <= sizeof given + 16; ++size) {
      if (size == sizeof given || std::ranges::find(older, size) != older.end()) continue;
      given.struct_size = size;
      ASSERT_EQ(call(), HEDDLE_ERROR_USAGE) << size;
      ASSERT_NE(message(context).find("struct_size is " + std::to_string(size)), std::string::npos)
          << message(context);
    }
    given.struct_size = sizeof given;
    EXPECT_EQ(call(), HEDDLE_OK) << message(context);
  };
  LeastSquares lsmr;
  ASSERT_EQ(heddle_solver_create(A, "cg", nullptr, nullptr, &solver), HEDDLE_OK);
  ASSERT_EQ(heddle_least_squares_create(A, nullptr, &lsmr), HEDDLE_OK);
  std::vector<double> numbers(8), solution(8);
  const heddle_view b = view(numbers, HEDDLE_REAL), x = view(solution, HEDDLE_REAL);
  heddle_report ended{};
  expect_refused(ended, [&] { return heddle_solver_solve(solver, &b, &x, &ended); }, {72});
  heddle_least_squares_report result{};
  expect_refused(result, [&] { return heddle_least_squares_solve(lsmr, &b, &x, &result); });
  heddle_eigen_report pairs{};
  double value = 0;
  expect_refused(pairs, [&] {
    return heddle_eigen_solve(A, nullptr, nullptr, nullptr, 1, &x, &value, nullptr, nullptr,
                              nullptr, 0, &pairs);
  });
  heddle_info info{};
  expect_refused(info, [&] { return heddle_matrix_info(matrix, &info); });
  heddle_pattern own{};
  heddle_view values{};
  expect_refused(own, [&] { return heddle_matrix_arrays(matrix, &own, &values); });
  Matrix copy;
  expect_refused(own, [&] { return heddle_matrix_from_csr(context, &own, &values, &copy); });
  heddle_product_times times{};
  expect_refused(times, [&] { return heddle_operator_measure(A, 1, 0, 0, &times); });
}

}  // namespace
