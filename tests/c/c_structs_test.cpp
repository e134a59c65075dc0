// The structs of heddle.h in memory: programs that were compiled before keep working.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <initializer_list>
#include <limits>
#include <string>
#include <vector>

#include "c_objects.hpp"
#include "heddle.h"

using namespace heddle::c_test;

namespace {

// Of version 0.1. A member that moves breaks every program: new ones come at the end.
#define SIZE(type, bytes) static_assert(sizeof(type) == (bytes));
#define MEMBER(type, name, at) static_assert(offsetof(type, name) == (at));
#include "../../bindings/c/layouts.txt"
#undef MEMBER
#undef SIZE

/// Writes no byte behind what the program owns, and keeps the program's size.
template <class T>
void expect_init_of_size(void (*init)(T*, std::size_t), std::size_t size) {
  SCOPED_TRACE(size);
  std::array<unsigned char, sizeof(T) + 16> bytes{};
  bytes.fill(0xA5);
  alignas(T) std::array<unsigned char, sizeof(T) + 16> memory = bytes;
  init(reinterpret_cast<T*>(memory.data()), size);
  for (std::size_t at = size; at < memory.size(); ++at) ASSERT_EQ(memory[at], 0xA5) << at;
  std::size_t told = 0;
  std::memcpy(&told, memory.data(), sizeof told);
  EXPECT_EQ(told, size);
  for (std::size_t at = sizeof(T); at < size; ++at) EXPECT_EQ(memory[at], 0) << at;
}

TEST(CStructs, InitTakesTheSizeOfTheProgram) {
  for (const int more : {-8, 0, 8}) {
    expect_init_of_size(heddle_operator_options_init, sizeof(heddle_operator_options) + more);
    expect_init_of_size(heddle_solver_options_init, sizeof(heddle_solver_options) + more);
    expect_init_of_size(heddle_tune_options_init, sizeof(heddle_tune_options) + more);
    expect_init_of_size(heddle_description_options_init, sizeof(heddle_description_options) + more);
    expect_init_of_size(heddle_multigrid_options_init, sizeof(heddle_multigrid_options) + more);
    expect_init_of_size(heddle_least_squares_options_init,
                        sizeof(heddle_least_squares_options) + more);
  }
  heddle_solver_options options;
  heddle_solver_options_init(&options, sizeof options);
  EXPECT_EQ(options.tolerance, -1);
  EXPECT_EQ(options.max_iterations, 10000);
  EXPECT_EQ(options.restart, 30);
  EXPECT_EQ(options.time_limit, std::numeric_limits<double>::infinity());
  EXPECT_EQ(options.observer, nullptr);
  std::size_t untouched = 5;
  heddle_solver_options_init(reinterpret_cast<heddle_solver_options*>(&untouched), 4);
  EXPECT_EQ(untouched, 5U);
}

/// Of every size but the struct's: half of a pointer is none.
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
  heddle_operator_options storage;
  heddle_operator_options_init(&storage, sizeof storage);
  storage.device = "cpu";
  storage.plan = "CSR";
  Operator other;
  expect_refused(storage, [&] { return heddle_operator_create(matrix, &storage, &other); },
                 {40, 48, 64});
  heddle_solver_options options;
  heddle_solver_options_init(&options, sizeof options);
  expect_refused(options, [&] { return heddle_solver_create(A, "cg", nullptr, &options, &solver); },
                 {64, 96, 104});
  heddle_multigrid_options levels;
  heddle_multigrid_options_init(&levels, sizeof levels);
  Preconditioner multigrid;
  expect_refused(levels, [&] {
    return heddle_preconditioner_create_multigrid(A, "multigrid", &levels, &multigrid);
  });
  heddle_least_squares_options limits;
  heddle_least_squares_options_init(&limits, sizeof limits);
  LeastSquares lsmr;
  expect_refused(limits, [&] { return heddle_least_squares_create(A, &limits, &lsmr); });
  std::vector<double> numbers(8), solution(8);
  const heddle_view b = view(numbers, HEDDLE_REAL), x = view(solution, HEDDLE_REAL);
  heddle_least_squares_report told{};
  expect_refused(told, [&] { return heddle_least_squares_solve(lsmr, &b, &x, &told); });
  heddle_info info{};
  expect_refused(info, [&] { return heddle_matrix_info(matrix, &info); });
  heddle_pattern own{};
  heddle_view values{};
  expect_refused(own, [&] { return heddle_matrix_arrays(matrix, &own, &values); });
  Matrix copy;
  expect_refused(own, [&] { return heddle_matrix_from_csr(context, &own, &values, &copy); });
}

}  // namespace
