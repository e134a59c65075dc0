// heddle.h as C programs use it: results have the same bits as from C++.
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "c_objects.hpp"
#include "heddle.h"
#include "heddle/config.hpp"
#include "heddle/heddle.hpp"

using namespace heddle::c_test;

namespace {

/// The C++ library's solution of the same system.
template <class E>
std::vector<double> solved_in_cpp(const heddle::CsrMatrix<E>& matrix, std::vector<double> b,
                                  const char* method) {
  const heddle::AnyMatrix any(matrix);
  const heddle::Device device = heddle::Device::cpu();
  const heddle::AnyOperator A(
      any, heddle::choose_plan(any, device, heddle::Profiles::for_device(device)), device);
  heddle::AnySolver solver(A, heddle::find_method(method), heddle::PreconditionerKind::jacobi, {});
  std::vector<double> x(b.size());
  const int components = heddle::vector_entry_t<E>::components;
  const auto rows = matrix.rows();
  EXPECT_TRUE(solver.solver<double>()
                  .solve(heddle::FieldView<const double>(b.data(), rows, components),
                         heddle::FieldView<double>(x.data(), rows, components))
                  .solved());
  return x;
}

void expect_bits_of_cpp(const char* problem, heddle_entry entry, const char* method,
                        const auto& matrix) {
  SCOPED_TRACE(problem);
  Context context;
  Matrix generated;
  Operator A;
  Preconditioner jacobi;
  Solver solver;
  ASSERT_EQ(heddle_context_create(&context), HEDDLE_OK);
  ASSERT_EQ(heddle_matrix_generate(context, problem, 300, 1, &generated), HEDDLE_OK);
  ASSERT_EQ(heddle_operator_create(generated, nullptr, &A), HEDDLE_OK);
  ASSERT_EQ(heddle_preconditioner_create(A, "jacobi", nullptr, &jacobi), HEDDLE_OK);
  ASSERT_EQ(heddle_solver_create(A, method, jacobi, nullptr, &solver), HEDDLE_OK);
  std::int64_t rows = 0, columns = 0;
  ASSERT_EQ(heddle_operator_size(A, &rows, &columns), HEDDLE_OK);
  std::vector<double> b = random_numbers(
      static_cast<std::size_t>(rows) * static_cast<std::size_t>(heddle_row_scalars(entry)), 7);
  std::vector<double> x(b.size());
  const heddle_view b_view = view(b, entry), x_view = view(x, entry);
  heddle_report result = report();
  ASSERT_EQ(heddle_solver_solve(solver, &b_view, &x_view, &result), HEDDLE_OK) << message(context);
  EXPECT_EQ(result.outcome, HEDDLE_CONVERGED);
  const std::vector<double> expected = solved_in_cpp(matrix, b, method);
  EXPECT_EQ(std::memcmp(x.data(), expected.data(), x.size() * sizeof(double)), 0);
}

TEST(CInterface, SolvesWithTheBitsOfCpp) {
  expect_bits_of_cpp("poisson", HEDDLE_REAL, "cg", heddle::poisson(300));
  expect_bits_of_cpp("dirac", HEDDLE_QUATERNION, "cg", heddle::dirac(300));
  expect_bits_of_cpp("elasticity", HEDDLE_BLOCK3, "minres", heddle::elasticity(300));
  expect_bits_of_cpp("helmholtz", HEDDLE_COMPLEX, "bicgstab", heddle::helmholtz(300));
}

TEST(CInterface, NamesAndCountsEntriesAsTheLibrary) {
  for (int k = 0; k < static_cast<int>(heddle::entry_kind_names.size()); ++k) {
    const auto entry = static_cast<heddle_entry>(k);
    const auto kind = static_cast<heddle::EntryKind>(k);
    EXPECT_EQ(heddle_entry_name(entry), heddle::name(kind));
    heddle::visit_entry<double>(kind, [&]<class E>() {
      EXPECT_EQ(heddle_entry_scalars(entry), E::components);
      EXPECT_EQ(heddle_row_scalars(entry), heddle::tile_columns<E>);
    });
  }
  EXPECT_EQ(heddle_entry_name(static_cast<heddle_entry>(9)), nullptr);
  EXPECT_EQ(heddle_entry_scalars(static_cast<heddle_entry>(-1)), 0);
  EXPECT_STREQ(heddle_version(), heddle::version);
  for (int k = 0; k <= HEDDLE_NOT_SYMMETRIC; ++k) {
    EXPECT_EQ(heddle_outcome_name(static_cast<heddle_outcome>(k)),
              heddle::name(static_cast<heddle::Status>(k)));
  }
  EXPECT_EQ(heddle_outcome_name(static_cast<heddle_outcome>(12)), nullptr);
  EXPECT_STREQ(heddle_status_name(HEDDLE_ERROR_BUSY), "busy");
}

TEST(CInterface, ShowsItsConfiguration) {
  std::string text(heddle_configuration(nullptr, 0), '\0');
  EXPECT_EQ(heddle_configuration(text.data(), text.size() + 1), text.size());
  const auto json = nlohmann::json::parse(text);
  EXPECT_EQ(json["version"], heddle::version);
  EXPECT_EQ(json["threads"], heddle::default_threads());
  EXPECT_FALSE(json["instructions"]["compiled"].empty());
  EXPECT_EQ(json["cuda"].is_object(), heddle::has_cuda);
  if (heddle::has_cuda) {
    const auto& gpus = json["cuda"]["gpus"];
    const std::string why = heddle::Device::why_no_gpu();
    EXPECT_TRUE(why.empty() ? gpus.is_array() && !gpus.empty() : gpus == why) << text;
  }
  EXPECT_TRUE(json["partitions"]["metis"].is_boolean());
  EXPECT_EQ(json["folders"]["profiles"], heddle::profile_folder());
}

/// [4 1; 1 3] with both widths of indices and both bases, as rows and as triplets.
TEST(CInterface, TakesIndicesOfBothWidthsAndBases) {
  Context context;
  ASSERT_EQ(heddle_context_create(&context), HEDDLE_OK);
  std::vector<double> values{4, 1, 1, 3};
  const heddle_view v = view(values, HEDDLE_REAL, true);
  const auto check = [&]<class I>(I base) {
    const auto plus = [base](std::vector<I> indices) {
      for (I& index : indices) index += base;
      return indices;
    };
    const auto offsets = plus({0, 2, 4}), row = plus({0, 0, 1, 1}), column = plus({0, 1, 0, 1});
    const heddle_pattern rows = pattern(2, offsets, column, static_cast<int>(base));
    const heddle_pattern triplets = pattern(2, row, column, static_cast<int>(base));
    Matrix of_rows, of_triplets;
    ASSERT_EQ(heddle_matrix_from_csr(context, &rows, &v, &of_rows), HEDDLE_OK) << message(context);
    ASSERT_EQ(heddle_matrix_from_triplets(context, &triplets, &v, &of_triplets), HEDDLE_OK);
    for (const heddle_matrix* matrix : {of_rows.own, of_triplets.own}) {
      heddle_pattern own{};
      own.struct_size = sizeof own;
      heddle_view own_values{};
      ASSERT_EQ(heddle_matrix_arrays(matrix, &own, &own_values), HEDDLE_OK);
      EXPECT_EQ(static_cast<const std::int64_t*>(own.row)[2], 4);
      EXPECT_EQ(static_cast<const std::int32_t*>(own.column)[3], 1);
      EXPECT_EQ(static_cast<const double*>(own_values.data)[3], 3);
      Operator A;
      ASSERT_EQ(heddle_operator_create(matrix, nullptr, &A), HEDDLE_OK);
      std::vector<double> x{1, 2}, y(2);
      const heddle_view x_view = view(x, HEDDLE_REAL), y_view = view(y, HEDDLE_REAL);
      ASSERT_EQ(heddle_operator_apply(A, &x_view, &y_view), HEDDLE_OK);
      EXPECT_EQ(y, (std::vector<double>{6, 7}));
    }
  };
  check(std::int32_t{0});
  check(std::int32_t{1});
  check(std::int64_t{0});
  check(std::int64_t{1});
}

/// Blocks by columns, vectors by components, and the adjoint, compared with a dense product.
TEST(CInterface, KnowsLayoutsAndAdjoint) {
  Context context;
  ASSERT_EQ(heddle_context_create(&context), HEDDLE_OK);
  std::vector<double> values = random_numbers(2 * 9, 3), by_columns(18);
  for (int e = 0; e < 2; ++e) {
    for (int i = 0; i < 3; ++i) {
      for (int j = 0; j < 3; ++j) by_columns[e * 9 + j * 3 + i] = values[e * 9 + i * 3 + j];
    }
  }
  const std::vector<std::int32_t> row{0, 1}, column{1, 0};
  const heddle_pattern p = pattern(2, row, column);
  const heddle_view v = view(by_columns, HEDDLE_BLOCK3, true, HEDDLE_COLUMN_MAJOR);
  Matrix matrix;
  Operator A, adjoint;
  ASSERT_EQ(heddle_matrix_from_triplets(context, &p, &v, &matrix), HEDDLE_OK);
  ASSERT_EQ(heddle_operator_create(matrix, nullptr, &A), HEDDLE_OK);
  ASSERT_EQ(heddle_operator_adjoint(A, &adjoint), HEDDLE_OK) << message(context);
  heddle_operator_destroy(&A);  // the adjoint keeps what it needs
  heddle_matrix_destroy(&matrix);
  std::vector<double> x = random_numbers(6, 4), y(6);
  const heddle_view x_view = view(x, HEDDLE_BLOCK3, false, HEDDLE_BY_COMPONENT);
  const heddle_view y_view = view(y, HEDDLE_BLOCK3);
  ASSERT_EQ(heddle_operator_apply(adjoint, &x_view, &y_view), HEDDLE_OK) << message(context);
  for (int e = 0; e < 2; ++e) {  // block e is at (e, 1 - e)
    for (int j = 0; j < 3; ++j) {
      double sum = 0;
      for (int i = 0; i < 3; ++i) sum += values[e * 9 + i * 3 + j] * x[i * 2 + e];
      EXPECT_NEAR(y[(1 - e) * 3 + j], sum, 1e-15);
    }
  }
}

TEST(CInterface, NewValuesReachSolversAndPreconditioners) {
  Context context;
  Matrix matrix;
  Operator A;
  Preconditioner jacobi;
  Solver solver;
  ASSERT_EQ(heddle_context_create(&context), HEDDLE_OK);
  const std::vector<std::int32_t> place{0, 1};
  std::vector<float> values{2, 4}, b{1, 1}, x(2);
  const heddle_pattern p = pattern(2, place, place);
  const heddle_view v = view(values, HEDDLE_REAL, true);
  ASSERT_EQ(heddle_matrix_from_triplets(context, &p, &v, &matrix), HEDDLE_OK);
  ASSERT_EQ(heddle_operator_create(matrix, nullptr, &A), HEDDLE_OK);
  ASSERT_EQ(heddle_preconditioner_create(A, "jacobi", nullptr, &jacobi), HEDDLE_OK);
  ASSERT_EQ(heddle_solver_create(A, "cg", jacobi, nullptr, &solver), HEDDLE_OK);
  values = {8, 16};
  ASSERT_EQ(heddle_operator_update_values(A, &v), HEDDLE_OK);
  heddle_operator_destroy(&A);
  heddle_preconditioner_destroy(&jacobi);
  const heddle_view b_view = view(b, HEDDLE_REAL), x_view = view(x, HEDDLE_REAL);
  ASSERT_EQ(heddle_solver_solve(solver, &b_view, &x_view, nullptr), HEDDLE_OK);
  EXPECT_EQ(x, (std::vector<float>{0.125F, 0.0625F}));
  ASSERT_EQ(heddle_matrix_update_values(matrix, &v), HEDDLE_OK);
  heddle_pattern own{};
  own.struct_size = sizeof own;
  heddle_view own_values{};
  ASSERT_EQ(heddle_matrix_arrays(matrix, &own, &own_values), HEDDLE_OK);
  EXPECT_EQ(static_cast<const float*>(own_values.data)[1], 16);
}

TEST(CInterface, ChoosesAMethodAsTheCommandLine) {
  Context context;
  ASSERT_EQ(heddle_context_create(&context), HEDDLE_OK);
  const std::pair<const char*, const char*> expected[] = {{"poisson", "cg"}, {"helmholtz", "cocr"}};
  for (const auto& [problem, method] : expected) {
    Matrix matrix;
    Operator A;
    const char* chosen = nullptr;
    ASSERT_EQ(heddle_matrix_generate(context, problem, 100, 1, &matrix), HEDDLE_OK);
    ASSERT_EQ(heddle_operator_create(matrix, nullptr, &A), HEDDLE_OK);
    ASSERT_EQ(heddle_choose_method(matrix, A, "jacobi", &chosen), HEDDLE_OK);
    EXPECT_STREQ(chosen, method);
  }
}

TEST(CInterface, ChoosesAPreconditionerAsTheCommandLine) {
  Context context;
  ASSERT_EQ(heddle_context_create(&context), HEDDLE_OK);
  const std::vector<std::int32_t> row{0, 1, 1}, column{1, 0, 1}, place{0, 1, 1};
  std::vector<double> values{1, 1, 3}, b{1, 5}, x(2);
  Matrix hole, whole;
  const heddle_view v = view(values, HEDDLE_REAL, true);
  heddle_pattern p = pattern(2, row, column);
  ASSERT_EQ(heddle_matrix_from_triplets(context, &p, &v, &hole), HEDDLE_OK);
  p = pattern(2, place, place);
  ASSERT_EQ(heddle_matrix_from_triplets(context, &p, &v, &whole), HEDDLE_OK);
  const char *preconditioner = nullptr, *method = nullptr;
  std::array<char, 200> reason{};
  ASSERT_EQ(
      heddle_choose_preconditioner(whole, nullptr, &preconditioner, reason.data(), reason.size()),
      HEDDLE_OK);
  EXPECT_STREQ(preconditioner, "jacobi");
  EXPECT_STREQ(reason.data(), "every diagonal entry has an inverse");
  ASSERT_EQ(
      heddle_choose_preconditioner(hole, nullptr, &preconditioner, reason.data(), reason.size()),
      HEDDLE_OK);
  EXPECT_STREQ(preconditioner, "jacobi");
  EXPECT_STREQ(reason.data(), "every diagonal entry has an inverse, or counts as 1");

  Operator A, shifted;
  Preconditioner made;
  Solver solver;
  ASSERT_EQ(heddle_operator_create(hole, nullptr, &A), HEDDLE_OK);
  for (heddle_operator* const of : {static_cast<heddle_operator*>(nullptr), A.own}) {
    for (const char* text : {"auto", "none"}) {
      ASSERT_EQ(heddle_choose_method(hole, of, text, &method), HEDDLE_OK);
      EXPECT_STREQ(method, "minres");
    }
  }
  ASSERT_EQ(heddle_preconditioner_create(A, "auto", nullptr, &made), HEDDLE_OK);
  ASSERT_EQ(heddle_solver_create(A, method, made, nullptr, &solver), HEDDLE_OK);
  const heddle_view b_view = view(b, HEDDLE_REAL), x_view = view(x, HEDDLE_REAL);
  heddle_report result = report();
  ASSERT_EQ(heddle_solver_solve(solver, &b_view, &x_view, &result), HEDDLE_OK);
  EXPECT_EQ(result.outcome, HEDDLE_CONVERGED);
  EXPECT_NEAR(x[0], 2, 1e-9);
  EXPECT_NEAR(x[1], 1, 1e-9);

  ASSERT_EQ(heddle_operator_shifted(A, 4, &shifted), HEDDLE_OK);
  ASSERT_EQ(heddle_choose_preconditioner(hole, shifted, &preconditioner, nullptr, 0), HEDDLE_OK);
  EXPECT_STREQ(preconditioner, "none");
  ASSERT_EQ(heddle_choose_method(hole, shifted, preconditioner, &method), HEDDLE_OK);
  EXPECT_STREQ(method, "cg");
}

TEST(CInterface, ChoosesAnotherMethodAsTheCommandLine) {
  Context context;
  ASSERT_EQ(heddle_context_create(&context), HEDDLE_OK);
  const char* other = nullptr;
  std::array<char, 200> reason{};
  const auto after = [&](const char* method, heddle_outcome outcome) -> std::string {
    EXPECT_EQ(heddle_choose_other_method(context, method, outcome, 7, &other, reason.data(),
                                         reason.size()),
              HEDDLE_OK);
    return other == nullptr ? "" : other;
  };
  EXPECT_EQ(after("cg", HEDDLE_INDEFINITE), "minres");
  EXPECT_STREQ(reason.data(), "conjugate gradient found the matrix indefinite after 7 iterations");
  EXPECT_EQ(after("cg", HEDDLE_NOT_HERMITIAN), "bicgstab");
  EXPECT_EQ(after("bicgstab", HEDDLE_BREAKDOWN), "gmres");
  EXPECT_EQ(after("bicgstab", HEDDLE_STAGNATED), "gmres");
  EXPECT_STREQ(reason.data(), "BiCGStab stagnated after 7 iterations");
  EXPECT_EQ(after("gmres", HEDDLE_BREAKDOWN), "");
  EXPECT_STREQ(reason.data(), "");
  EXPECT_EQ(after("cg", HEDDLE_CONVERGED), "");
  EXPECT_EQ(after("block-cg", HEDDLE_INDEFINITE), "");
  const auto no_outcome = static_cast<heddle_outcome>(99);
  EXPECT_EQ(heddle_choose_other_method(context, "cg", no_outcome, 7, &other, nullptr, 0),
            HEDDLE_ERROR_USAGE);
  EXPECT_EQ(heddle_choose_other_method(context, "sor", HEDDLE_BREAKDOWN, 7, &other, nullptr, 0),
            HEDDLE_ERROR_USAGE);
}

TEST(CInterface, MemoryIsReportedWithoutAnOperator) {
  Context context;
  ASSERT_EQ(heddle_context_create(&context), HEDDLE_OK);
  Matrix matrix;
  ASSERT_EQ(heddle_matrix_generate(context, "dirac", 200, 1, &matrix), HEDDLE_OK);
  heddle_info info{};
  info.struct_size = sizeof info;
  ASSERT_EQ(heddle_matrix_info(matrix, &info), HEDDLE_OK);
  Settings settings(context, {{"plan", "CSR"}});
  std::int64_t product = 0, total = 0;
  ASSERT_EQ(heddle_matrix_memory(matrix, settings, &product, &total), HEDDLE_OK);
  // Four doubles and a column of 4 bytes for each quaternion, an offset of 8 bytes per row, and
  // columns for 256 entries after the last.
  EXPECT_EQ(product, info.entries * (4 * 8 + 4) + 256 * 4 + (info.rows + 1) * 8);
  EXPECT_EQ(total, product);

  settings.reset("plan").set("storage", "hisparse").set("node", "16");
  ASSERT_EQ(heddle_matrix_memory(matrix, settings, &product, &total), HEDDLE_OK);
  EXPECT_GE(product, info.entries * 4 * 8);
  EXPECT_GT(total, product);
  const std::int64_t by_bytes = product;
  settings.set("dense", "1");  // percent of its places: every leaf
  ASSERT_EQ(heddle_matrix_memory(matrix, settings, &product, nullptr), HEDDLE_OK);
  EXPECT_GT(product, by_bytes);
  settings.set("dense", "bytes");
  ASSERT_EQ(heddle_matrix_memory(matrix, settings, &product, nullptr), HEDDLE_OK);
  EXPECT_EQ(product, by_bytes);
  settings.set("dense", "half");
  EXPECT_EQ(heddle_matrix_memory(matrix, settings, &product, nullptr), HEDDLE_ERROR_USAGE);
  EXPECT_EQ(heddle_matrix_memory(matrix, nullptr, nullptr, nullptr), HEDDLE_OK);
}

}  // namespace
