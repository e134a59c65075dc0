// Several right-hand sides, null spaces, and memory of the caller.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <string>
#include <vector>

#include "c_objects.hpp"
#include "heddle.h"

using namespace heddle::c_test;

namespace {

class CSystems : public testing::Test {
 protected:
  CSystems() {
    EXPECT_EQ(heddle_context_create(&context), HEDDLE_OK);
    EXPECT_EQ(heddle_matrix_generate(context, "elasticity", 300, 1, &matrix), HEDDLE_OK);
  }
  static std::int64_t rows_of(const heddle_operator* A) {
    std::int64_t rows = 0, columns = 0;
    EXPECT_EQ(heddle_operator_size(A, &rows, &columns), HEDDLE_OK);
    return rows;
  }

  Context context;
  Matrix matrix;
  Operator A;
};

TEST_F(CSystems, EachTellsWhyItEndedSo) {
  std::vector<double> values = {1, 2, -3, 4};
  const std::vector<std::int32_t> row = {0, 2, 4}, column = {0, 1, 0, 1};
  const heddle_pattern p = pattern(2, row, column);
  const heddle_view v = view(values, HEDDLE_REAL, true);
  Matrix skew;
  Solver solver;
  ASSERT_EQ(heddle_matrix_from_csr(context, &p, &v, &skew), HEDDLE_OK) << message(context);
  ASSERT_EQ(heddle_operator_create(skew, nullptr, &A), HEDDLE_OK);
  ASSERT_EQ(heddle_solver_create(A, "cg", nullptr, nullptr, &solver), HEDDLE_OK);
  EXPECT_EQ(heddle_solver_detail(solver, 0, nullptr, 0), 0U);
  std::vector<double> zero(2), one(2, 1);
  std::array<heddle_view, 2> b = {view(zero, HEDDLE_REAL), view(one, HEDDLE_REAL)};
  std::vector<double> first(2), second(2);
  std::array<heddle_view, 2> to = {view(first, HEDDLE_REAL), view(second, HEDDLE_REAL)};
  std::array<heddle_report, 2> reports = {report(), report()};
  ASSERT_EQ(heddle_solver_solve_all(solver, 2, b.data(), to.data(), reports.data()), HEDDLE_OK);
  EXPECT_EQ(reports[0].outcome, HEDDLE_CONVERGED);
  EXPECT_EQ(reports[1].outcome, HEDDLE_NOT_HERMITIAN);
  EXPECT_EQ(heddle_solver_detail(solver, 0, nullptr, 0), 0U);
  std::array<char, 256> text{};
  const std::string why = "conjugate gradient needs a Hermitian matrix: use BiCGStab";
  EXPECT_EQ(heddle_solver_detail(solver, 1, text.data(), text.size()), why.size());
  EXPECT_EQ(text.data(), why);
  EXPECT_EQ(heddle_solver_detail(solver, 1, text.data(), 10), why.size());
  EXPECT_EQ(text.data(), why.substr(0, 9));
  for (const std::int64_t nobody : {-1, 2}) {
    EXPECT_EQ(heddle_solver_detail(solver, nobody, text.data(), text.size()), 0U);
    EXPECT_STREQ(text.data(), "");
  }
  ASSERT_EQ(heddle_solver_solve(solver, &b[0], &to[0], nullptr), HEDDLE_OK);
  EXPECT_EQ(heddle_solver_detail(solver, 1, nullptr, 0), 0U) << "of an earlier solve";
}

TEST_F(CSystems, EachHasTheBitsThatItHasAlone) {
  constexpr std::size_t systems = 11;  // more than run side by side
  ASSERT_EQ(heddle_operator_create(matrix, nullptr, &A), HEDDLE_OK);
  Preconditioner jacobi;
  Solver solver;
  ASSERT_EQ(heddle_preconditioner_create(A, "jacobi", nullptr, &jacobi), HEDDLE_OK);
  ASSERT_EQ(heddle_solver_create(A, "cg", jacobi, nullptr, &solver), HEDDLE_OK);
  const auto scalars = static_cast<std::size_t>(rows_of(A)) * 3;
  std::vector<std::vector<double>> b, x(systems, std::vector<double>(scalars));
  std::vector<heddle_view> right, left;
  for (std::size_t k = 0; k < systems; ++k) b.push_back(random_numbers(scalars, unsigned(k)));
  for (std::size_t k = 0; k < systems; ++k) {
    right.push_back(view(b[k], HEDDLE_BLOCK3));
    left.push_back(view(x[k], HEDDLE_BLOCK3));
  }
  std::array<heddle_report, systems> reports{};
  reports[0].struct_size = sizeof(heddle_report);
  ASSERT_EQ(heddle_solver_solve_all(solver, systems, right.data(), left.data(), reports.data()),
            HEDDLE_OK)
      << message(context);
  for (std::size_t k = 0; k < systems; ++k) {
    std::vector<double> alone(scalars);
    const heddle_view to = view(alone, HEDDLE_BLOCK3);
    heddle_report result = report();
    ASSERT_EQ(heddle_solver_solve(solver, &right[k], &to, &result), HEDDLE_OK);
    EXPECT_EQ(x[k], alone) << k;
    EXPECT_EQ(reports[k].struct_size, sizeof(heddle_report));
    EXPECT_EQ(reports[k].outcome, HEDDLE_CONVERGED);
    EXPECT_EQ(reports[k].iterations, result.iterations);
    EXPECT_EQ(reports[k].residual, result.residual);
  }
  EXPECT_EQ(heddle_solver_solve_all(solver, 0, nullptr, nullptr, nullptr), HEDDLE_OK);
  EXPECT_EQ(heddle_solver_solve_all(solver, -1, right.data(), left.data(), nullptr),
            HEDDLE_ERROR_USAGE);
  EXPECT_EQ(heddle_solver_solve_all(solver, 2, nullptr, left.data(), nullptr), HEDDLE_ERROR_USAGE);
  left[1] = left[0];
  EXPECT_EQ(heddle_solver_solve_all(solver, 2, right.data(), left.data(), nullptr),
            HEDDLE_ERROR_USAGE);
  right[1].count -= 1;
  EXPECT_EQ(heddle_solver_solve_all(solver, 2, right.data(), left.data(), nullptr),
            HEDDLE_ERROR_SIZE_MISMATCH);
  reports[0].struct_size = 3;
  EXPECT_EQ(heddle_solver_solve_all(solver, 1, right.data(), left.data(), reports.data()),
            HEDDLE_ERROR_USAGE);
}

TEST_F(CSystems, VectorsGoThroughFiles) {
  const std::string path =
      (std::filesystem::temp_directory_path() / "heddle_c_systems_test.mtx").string();
  std::vector<double> x = random_numbers(4 * 3, 1), y(x.size());
  std::vector<float> narrow(x.size());
  heddle_view from = view(x, HEDDLE_BLOCK3), to = view(y, HEDDLE_BLOCK3);
  heddle_view single = view(narrow, HEDDLE_BLOCK3, false, HEDDLE_BY_COMPONENT);
  ASSERT_EQ(heddle_vector_write(context, &from, path.c_str()), HEDDLE_OK) << message(context);
  ASSERT_EQ(heddle_vector_read(context, path.c_str(), &to), HEDDLE_OK) << message(context);
  EXPECT_EQ(y, x);
  ASSERT_EQ(heddle_vector_read(context, path.c_str(), &single), HEDDLE_OK) << message(context);
  EXPECT_EQ(narrow[4], static_cast<float>(x[1]));  // component 1 of row 0
  --to.count;
  EXPECT_EQ(heddle_vector_read(context, path.c_str(), &to), HEDDLE_ERROR_SIZE_MISMATCH);
  EXPECT_NE(message(context).find("has 4 rows, but x has 3"), std::string::npos)
      << message(context);
  to.location = HEDDLE_DEVICE;
  EXPECT_EQ(heddle_vector_read(context, path.c_str(), &to), HEDDLE_ERROR_USAGE);
  EXPECT_EQ(heddle_vector_read(context, "/nowhere/x.mtx", &from), HEDDLE_ERROR_IO);
  EXPECT_EQ(heddle_vector_write(context, &from, "/nowhere/x.mtx"), HEDDLE_ERROR_IO);
  EXPECT_EQ(heddle_vector_write(context, nullptr, path.c_str()), HEDDLE_ERROR_USAGE);
  std::filesystem::remove(path);
}

TEST_F(CSystems, FilesSayWhichNumbersTheyHold) {
  const std::string path =
      (std::filesystem::temp_directory_path() / "heddle_c_numbers_test").string();
  const auto write = [&](const std::string& text) { std::ofstream(path) << text; };
  for (const bool is_complex : {false, true}) {
    write(std::string("%%MatrixMarket matrix array ") + (is_complex ? "complex" : "real") +
          " general\n1 1\n2" + (is_complex ? " 1\n" : "\n"));
    heddle_matrix* matrix = nullptr;
    ASSERT_EQ(heddle_matrix_read(context, path.c_str(), HEDDLE_NUMBERS, HEDDLE_DOUBLE, &matrix),
              HEDDLE_OK)
        << message(context);
    EXPECT_EQ(heddle_matrix_write(matrix, (path + ".mtx").c_str()), HEDDLE_OK);
    heddle_matrix_destroy(&matrix);
    std::string banner;
    std::ifstream file(path + ".mtx");
    std::getline(file, banner);
    EXPECT_EQ(banner.find("complex") != std::string::npos, is_complex) << banner;
  }
  // Real numbers become real parts.
  write("1\n2\n3\n");
  std::vector<double> x(6);
  const heddle_view to = view(x, HEDDLE_COMPLEX);
  ASSERT_EQ(heddle_vector_read(context, path.c_str(), &to), HEDDLE_OK) << message(context);
  EXPECT_EQ(x, (std::vector<double>{1, 0, 2, 0, 3, 0}));
  EXPECT_EQ(heddle_vector_write(context, &to, (path + ".npy").c_str()), HEDDLE_OK);
  EXPECT_EQ(heddle_vector_write(context, &to, (path + ".dat").c_str()), HEDDLE_ERROR_USAGE);
  for (const char* const end : {"", ".mtx", ".npy"}) std::filesystem::remove(path + end);
}

/// A ring of springs is singular: constants are its null space.
TEST_F(CSystems, NullSpacesAreProjectedOut) {
  constexpr int n = 40;
  std::vector<std::int32_t> row, column;
  std::vector<double> values;
  for (int i = 0; i < n; ++i) {
    for (const int step : {0, 1, n - 1}) {
      row.push_back(i);
      column.push_back((i + step) % n);
      values.push_back(step == 0 ? 2 : -1);
    }
  }
  const heddle_pattern places = pattern(n, row, column);
  const heddle_view numbers = view(values, HEDDLE_REAL, true);
  Matrix ring;
  Solver solver;
  ASSERT_EQ(heddle_matrix_from_triplets(context, &places, &numbers, &ring), HEDDLE_OK);
  ASSERT_EQ(heddle_operator_create(ring, nullptr, &A), HEDDLE_OK);
  ASSERT_EQ(heddle_solver_create(A, "cg", nullptr, nullptr, &solver), HEDDLE_OK);
  std::vector<double> b = random_numbers(n, 3), x(n), ones(n, 1);
  const heddle_view right = view(b, HEDDLE_REAL), left = view(x, HEDDLE_REAL);
  const heddle_view constant = view(ones, HEDDLE_REAL);
  ASSERT_EQ(heddle_solver_set_null_space(solver, 1, &constant), HEDDLE_OK) << message(context);
  ones.assign(n, 0);  // they were copied
  heddle_report result = report();
  ASSERT_EQ(heddle_solver_solve(solver, &right, &left, &result), HEDDLE_OK);
  EXPECT_EQ(result.outcome, HEDDLE_CONVERGED);
  EXPECT_NEAR(std::accumulate(x.begin(), x.end(), 0.0), 0, 1e-9);
  EXPECT_EQ(heddle_solver_set_null_space(solver, -1, &constant), HEDDLE_ERROR_USAGE);
  EXPECT_EQ(heddle_solver_set_null_space(solver, 1, nullptr), HEDDLE_ERROR_USAGE);
  EXPECT_EQ(heddle_solver_set_null_space(solver, 1, &constant), HEDDLE_ERROR_USAGE);  // zero
  ASSERT_EQ(heddle_solver_set_null_space(solver, 0, nullptr), HEDDLE_OK);
}

struct Counted {
  long long held = 0, calls = 0, left = 0;
};

TEST_F(CSystems, ArraysAreOfTheCallersMemory) {
  Counted counted;
  counted.left = 1'000'000;
  heddle_allocator allocator{[](void* user, std::size_t bytes, std::size_t alignment) -> void* {
                               auto& c = *static_cast<Counted*>(user);
                               if (c.left-- <= 0) return nullptr;
                               c.held += static_cast<long long>(bytes);
                               ++c.calls;
                               return std::aligned_alloc(
                                   alignment, (bytes + alignment - 1) / alignment * alignment);
                             },
                             [](void* user, void* data, std::size_t bytes, std::size_t) {
                               static_cast<Counted*>(user)->held -= static_cast<long long>(bytes);
                               std::free(data);
                             },
                             &counted};
  const Settings settings(context);
  ASSERT_EQ(heddle_settings_use_allocator(settings, &allocator), HEDDLE_OK);
  {
    Operator adjoint;
    Preconditioner jacobi;
    Solver solver;
    ASSERT_EQ(heddle_operator_create(matrix, settings, &A), HEDDLE_OK) << message(context);
    const long long of_matrix = counted.held;
    EXPECT_GT(of_matrix, 300 * 9 * 8);
    ASSERT_EQ(heddle_operator_adjoint(A, &adjoint), HEDDLE_OK);
    ASSERT_EQ(heddle_preconditioner_create(A, "jacobi", nullptr, &jacobi), HEDDLE_OK);
    ASSERT_EQ(heddle_solver_create(A, "cg", jacobi, nullptr, &solver), HEDDLE_OK);
    EXPECT_GT(counted.held, of_matrix);
    const auto scalars = static_cast<std::size_t>(rows_of(A)) * 3;
    std::vector<double> b(scalars, 1), x(scalars);
    const heddle_view right = view(b, HEDDLE_BLOCK3), left = view(x, HEDDLE_BLOCK3);
    ASSERT_EQ(heddle_solver_solve(solver, &right, &left, nullptr), HEDDLE_OK);
    const long long calls = counted.calls;
    ASSERT_EQ(heddle_solver_solve(solver, &right, &left, nullptr), HEDDLE_OK);
    EXPECT_EQ(counted.calls, calls);
    heddle_operator_destroy(&A.own);
    EXPECT_GT(counted.held, 0);
  }
  EXPECT_EQ(counted.held, 0);
  counted.left = 1;
  EXPECT_EQ(heddle_operator_create(matrix, settings, &A), HEDDLE_ERROR_MEMORY);
  EXPECT_EQ(counted.held, 0);
  allocator.release = nullptr;
  EXPECT_EQ(heddle_settings_use_allocator(settings, &allocator), HEDDLE_ERROR_USAGE);
  EXPECT_EQ(message(context), "an allocator needs a function to allocate and one to release");
  EXPECT_EQ(heddle_settings_use_allocator(settings, nullptr), HEDDLE_OK);  // the library's own
  EXPECT_EQ(heddle_operator_create(matrix, settings, &A), HEDDLE_OK);
  EXPECT_EQ(counted.held, 0);
}

}  // namespace
