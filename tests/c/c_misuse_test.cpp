// Calls that heddle.h refuses, each in one line: none of them ends the process.
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <limits>
#include <string>
#include <thread>
#include <vector>

#include "c_objects.hpp"
#include "heddle.h"

using namespace heddle::c_test;

namespace {

class CMisuse : public testing::Test {
 protected:
  CMisuse() {
    EXPECT_EQ(heddle_context_create(&context), HEDDLE_OK);
    EXPECT_EQ(heddle_matrix_generate(context, "poisson", 8, 1, &matrix), HEDDLE_OK);
    EXPECT_EQ(heddle_operator_create(matrix, nullptr, &A), HEDDLE_OK);
    EXPECT_EQ(heddle_solver_create(A, "cg", nullptr, nullptr, &solver), HEDDLE_OK);
  }
  CMisuse(const CMisuse&) = delete;
  CMisuse& operator=(const CMisuse&) = delete;
  ~CMisuse() override {
    heddle_context_destroy(&context);  // in any order
    heddle_matrix_destroy(&matrix);
    heddle_operator_destroy(&A);
    heddle_solver_destroy(&solver);
    heddle_solver_destroy(&solver);  // twice
    EXPECT_EQ(solver, nullptr);
  }

  std::string message() const {
    std::array<char, 512> text{};
    heddle_message(context, text.data(), text.size());
    return text.data();
  }
  void expect_solve(heddle_status status, const heddle_view* right, const heddle_view* left,
                    const std::string& words) {
    EXPECT_EQ(heddle_solver_solve(solver, right, left, nullptr), status);
    EXPECT_NE(message().find(words), std::string::npos) << message();
  }

  heddle_context* context = nullptr;
  heddle_matrix* matrix = nullptr;
  heddle_operator* A = nullptr;
  heddle_solver* solver = nullptr;
  std::vector<double> b = std::vector<double>(8, 1), x = std::vector<double>(8);
  heddle_view b_view{b.data(), 8, HEDDLE_REAL, HEDDLE_DOUBLE, HEDDLE_ROW_MAJOR, HEDDLE_HOST};
  heddle_view x_view{x.data(), 8, HEDDLE_REAL, HEDDLE_DOUBLE, HEDDLE_ROW_MAJOR, HEDDLE_HOST};
};

TEST_F(CMisuse, NullHandlesAndPointers) {
  EXPECT_EQ(heddle_context_create(nullptr), HEDDLE_ERROR_USAGE);
  EXPECT_EQ(heddle_matrix_generate(nullptr, "poisson", 8, 1, &matrix), HEDDLE_ERROR_USAGE);
  EXPECT_EQ(heddle_matrix_generate(context, nullptr, 8, 1, &matrix), HEDDLE_ERROR_USAGE);
  EXPECT_EQ(heddle_matrix_generate(context, "poisson", 8, 1, nullptr), HEDDLE_ERROR_USAGE);
  EXPECT_EQ(message(), "matrix is a null pointer");
  EXPECT_EQ(heddle_operator_create(nullptr, nullptr, &A), HEDDLE_ERROR_USAGE);
  EXPECT_EQ(heddle_operator_apply(A, nullptr, &x_view), HEDDLE_ERROR_USAGE);
  EXPECT_EQ(heddle_operator_apply(nullptr, &b_view, &x_view), HEDDLE_ERROR_USAGE);
  EXPECT_EQ(
      heddle_operator_from_callback(context, 8, HEDDLE_REAL, HEDDLE_DOUBLE, nullptr, nullptr, &A),
      HEDDLE_ERROR_USAGE);
  EXPECT_EQ(heddle_solver_create(A, nullptr, nullptr, nullptr, &solver), HEDDLE_ERROR_USAGE);
  EXPECT_EQ(heddle_solver_solve(nullptr, &b_view, &x_view, nullptr), HEDDLE_ERROR_USAGE);
  EXPECT_EQ(heddle_choose_method(matrix, nullptr, nullptr, nullptr), HEDDLE_ERROR_USAGE);
  std::int64_t untouched = 7;
  EXPECT_EQ(heddle_operator_size(A, &untouched, nullptr), HEDDLE_ERROR_USAGE);
  EXPECT_EQ(untouched, 7);
  EXPECT_EQ(heddle_operator_plan(nullptr, nullptr, 0), 0U);
  EXPECT_EQ(heddle_solver_summary(nullptr, nullptr, 0), 0U);
  EXPECT_EQ(heddle_solver_detail(nullptr, 0, nullptr, 0), 0U);
  heddle_context_destroy(nullptr);
  heddle_matrix_destroy(nullptr);
  heddle_operator_destroy(nullptr);
  heddle_preconditioner_destroy(nullptr);
  heddle_solver_destroy(nullptr);
  heddle_settings_destroy(nullptr);
}

/// A null handle has no context: the calling thread's messages report it, until another message
/// follows.
TEST_F(CMisuse, NullHandlesTellTheirOwnMessage) {
  const auto message_of_none = [] {
    std::array<char, 512> text{};
    heddle_message(nullptr, text.data(), text.size());
    return std::string(text.data());
  };
  const std::string why = "heddle_solver_solve: its object is a null pointer";
  EXPECT_EQ(heddle_matrix_generate(context, "soap", 8, 1, &matrix), HEDDLE_ERROR_USAGE);
  const std::string before = message();
  EXPECT_EQ(heddle_solver_solve(nullptr, &b_view, &x_view, nullptr), HEDDLE_ERROR_USAGE);
  EXPECT_EQ(message(), why);
  EXPECT_EQ(message_of_none(), why);
  std::thread([&] { EXPECT_EQ(message(), before); }).join();
  EXPECT_EQ(heddle_solver_solve(solver, nullptr, &x_view, nullptr), HEDDLE_ERROR_USAGE);
  EXPECT_EQ(message(), "b is a null pointer");
  EXPECT_EQ(heddle_context_create(nullptr), HEDDLE_ERROR_USAGE);
  EXPECT_EQ(message_of_none(), "heddle_context_create: context is a null pointer");
  EXPECT_EQ(heddle_tune_domain(nullptr, nullptr, 1, nullptr, nullptr, nullptr), HEDDLE_ERROR_USAGE);
  EXPECT_EQ(message_of_none(), "heddle_tune_domain: matrices is a null pointer");
  EXPECT_EQ(heddle_communicator_rank(nullptr), -1);
  EXPECT_EQ(message(), "heddle_communicator_rank: its object is a null pointer");
}

TEST_F(CMisuse, MessagesAreALineOfPrintableCharacters) {
  heddle_matrix* made = nullptr;
  for (const char* const name :
       {"two\nlines", "a\ttab", "\x1b[2J", "no\xff utf-8", "\xe2\x80\xa8"}) {
    EXPECT_EQ(heddle_matrix_read(context, name, HEDDLE_REAL, HEDDLE_DOUBLE, &made),
              HEDDLE_ERROR_IO);
    EXPECT_NE(message().find('?'), std::string::npos) << message();
    EXPECT_EQ(heddle_matrix_generate(context, name, 8, 1, &made), HEDDLE_ERROR_USAGE);
    EXPECT_NE(message().find('?'), std::string::npos) << message();
    for (const char c : message()) {
      EXPECT_GE(static_cast<unsigned char>(c), 0x20U);
      EXPECT_NE(c, '\x7f');
    }
  }
  EXPECT_EQ(heddle_matrix_read(context, "\xc3\xa9.mtx", HEDDLE_REAL, HEDDLE_DOUBLE, &made),
            HEDDLE_ERROR_IO);
  EXPECT_NE(message().find("\xc3\xa9.mtx"), std::string::npos) << message();
}

TEST_F(CMisuse, CountsBeyondAllMemory) {
  const std::int64_t most = std::numeric_limits<std::int64_t>::max();
  for (const std::int64_t count : {most, most / 64, std::int64_t{1} << 40, std::int64_t{9}}) {
    EXPECT_EQ(heddle_solver_set_null_space(solver, count, &b_view), HEDDLE_ERROR_USAGE);
    EXPECT_EQ(message(),
              std::to_string(count) + " vectors of 8 numbers each are linearly dependent");
  }
  EXPECT_EQ(heddle_solver_solve_all(solver, most, &b_view, &x_view, nullptr), HEDDLE_ERROR_USAGE);
  EXPECT_EQ(message(), "no memory has room for 9223372036854775807 solutions of 8 rows");
}

TEST_F(CMisuse, ViewsThatDoNotFit) {
  expect_solve(HEDDLE_ERROR_USAGE, nullptr, &x_view, "b is a null pointer");
  heddle_view wrong = b_view;
  wrong.count = 7;
  expect_solve(HEDDLE_ERROR_SIZE_MISMATCH, &wrong, &x_view, "7");
  wrong.count = -1;
  expect_solve(HEDDLE_ERROR_SIZE_MISMATCH, &wrong, &x_view, "-1");
  wrong.count = std::numeric_limits<std::int64_t>::max();
  expect_solve(HEDDLE_ERROR_SIZE_MISMATCH, &wrong, &x_view, "9223372036854775807");
  wrong = b_view;
  wrong.entry = HEDDLE_QUATERNION;
  expect_solve(HEDDLE_ERROR_SIZE_MISMATCH, &wrong, &x_view, "b has entries quaternion");
  wrong.entry = static_cast<heddle_entry>(99);
  expect_solve(HEDDLE_ERROR_USAGE, &wrong, &x_view, "no entry number 99");
  wrong = b_view;
  wrong.precision = HEDDLE_SINGLE;
  expect_solve(HEDDLE_ERROR_SIZE_MISMATCH, &wrong, &x_view, "b is in single precision");
  wrong.precision = static_cast<heddle_precision>(2);
  expect_solve(HEDDLE_ERROR_USAGE, &wrong, &x_view, "no precision number 2");
  wrong = b_view;
  wrong.data = nullptr;
  expect_solve(HEDDLE_ERROR_USAGE, &wrong, &x_view, "b.data is a null pointer");
  wrong.data = reinterpret_cast<char*>(b.data()) + 1;
  expect_solve(HEDDLE_ERROR_USAGE, &wrong, &x_view, "not aligned");
  wrong = b_view;
  wrong.layout = HEDDLE_COLUMN_MAJOR;
  expect_solve(HEDDLE_ERROR_USAGE, &wrong, &x_view, "b.layout");
  wrong = b_view;
  wrong.location = HEDDLE_DEVICE;
  expect_solve(HEDDLE_ERROR_USAGE, &wrong, &x_view, "not in the host's memory");
  wrong.location = static_cast<heddle_location>(7);
  expect_solve(HEDDLE_ERROR_USAGE, &wrong, &x_view, "neither HEDDLE_HOST nor HEDDLE_DEVICE");
  expect_solve(HEDDLE_ERROR_USAGE, &x_view, &x_view, "");  // b and x share memory
  heddle_report report{};
  EXPECT_EQ(heddle_solver_solve(solver, &b_view, &x_view, &report), HEDDLE_ERROR_USAGE);
  EXPECT_NE(message().find("heddle_report.struct_size is 0"), std::string::npos) << message();
}

TEST_F(CMisuse, PatternsThatAreNone) {
  std::vector<double> values{1, 1};
  heddle_view v{values.data(), 2, HEDDLE_REAL, HEDDLE_DOUBLE, HEDDLE_ROW_MAJOR, HEDDLE_HOST};
  const std::array<std::int64_t, 3> offsets{0, 1, 2};
  const std::array<std::int32_t, 3> falling{0, 2, 1};
  std::array<std::int32_t, 2> column{0, 1};
  heddle_pattern good{};
  good.struct_size = sizeof good;
  good.rows = good.columns = good.entries = 2;
  good.row = offsets.data();
  good.column = column.data();
  good.row_bits = 64;
  good.column_bits = 32;
  heddle_matrix* made = nullptr;
  const auto expect = [&](heddle_status status, const heddle_pattern& p, const std::string& words) {
    EXPECT_EQ(heddle_matrix_from_csr(context, &p, &v, &made), status) << words;
    EXPECT_EQ(made, nullptr);
    EXPECT_NE(message().find(words), std::string::npos) << message();
  };
  heddle_pattern p = good;
  p.struct_size = 8;
  expect(HEDDLE_ERROR_USAGE, p, "heddle_pattern.struct_size is 8");
  p.struct_size = sizeof p + 8;
  expect(HEDDLE_ERROR_USAGE, p, "heddle_pattern.struct_size");
  p = good;
  p.rows = -1;
  expect(HEDDLE_ERROR_SIZE_MISMATCH, p, "-1 rows");
  p = good;
  p.rows = std::int64_t{1} << 40;
  expect(HEDDLE_ERROR_SIZE_MISMATCH, p, "do not fit one matrix");
  p = good;
  p.entries = 3;
  expect(HEDDLE_ERROR_SIZE_MISMATCH, p, "3 entries");
  p = good;
  p.row_bits = 16;
  expect(HEDDLE_ERROR_USAGE, p, "row_bits is 16");
  p = good;
  p.base = 2;
  expect(HEDDLE_ERROR_USAGE, p, "base");
  p = good;
  p.column = nullptr;
  expect(HEDDLE_ERROR_USAGE, p, "pattern.column is a null pointer");
  p = good;
  p.row = falling.data();
  p.row_bits = 32;
  expect(HEDDLE_ERROR_SIZE_MISMATCH, p, "the last row offset is 1");
  const std::array<std::int32_t, 3> unordered{1, 0, 2};
  p.row = unordered.data();
  p.row_bits = 32;
  expect(HEDDLE_ERROR_USAGE, p, "row offsets begin with 1");
  p = good;
  column[1] = 2;
  expect(HEDDLE_ERROR_OUT_OF_RANGE, p, "2");
  column[1] = -1;
  expect(HEDDLE_ERROR_OUT_OF_RANGE, p, "-1");
  v.location = HEDDLE_DEVICE;
  column[1] = 1;
  expect(HEDDLE_ERROR_UNSUPPORTED, p, "host");
}

TEST_F(CMisuse, NamesOfNothing) {
  heddle_matrix* made = nullptr;
  EXPECT_EQ(heddle_matrix_generate(context, "soap", 8, 1, &made), HEDDLE_ERROR_USAGE);
  EXPECT_NE(message().find("poisson, elasticity"), std::string::npos);
  EXPECT_EQ(heddle_matrix_generate(context, "poisson", 0, 1, &made), HEDDLE_ERROR_USAGE);
  EXPECT_EQ(heddle_matrix_read(context, "/no/file", HEDDLE_REAL, HEDDLE_DOUBLE, &made),
            HEDDLE_ERROR_IO);
  EXPECT_EQ(heddle_matrix_write(matrix, "/tmp/matrix.bin"), HEDDLE_ERROR_USAGE);
  heddle_solver* other = nullptr;
  EXPECT_EQ(heddle_solver_create(A, "soap", nullptr, nullptr, &other), HEDDLE_ERROR_USAGE);
  heddle_preconditioner* none = nullptr;
  EXPECT_EQ(heddle_preconditioner_create(A, "soap", nullptr, &none), HEDDLE_ERROR_USAGE);
  heddle_operator* another = nullptr;
  const auto expect_stored = [&](heddle_status status, const char* name, const char* value) {
    const Settings settings(context, {{name, value}});
    EXPECT_EQ(heddle_operator_create(matrix, settings, &another), status) << message();
    EXPECT_EQ(another, nullptr);
  };
  expect_stored(HEDDLE_ERROR_BAD_PLAN, "plan", "soap");
  expect_stored(HEDDLE_ERROR_USAGE, "device", "abacus");
  EXPECT_EQ(message(), "no device is named 'abacus'; there are: cpu, cuda, cuda:N, auto");
  expect_stored(HEDDLE_ERROR_NO_DEVICE, "device", "cuda:977");
  const Settings settings(context);
  int stream = 0;
  EXPECT_EQ(heddle_settings_use_stream(settings, &stream), HEDDLE_OK);
  EXPECT_EQ(heddle_operator_create(matrix, settings, &another), HEDDLE_ERROR_USAGE);
  EXPECT_EQ(message(), "a stream belongs to a GPU, but device 'cpu' is the CPU");
  EXPECT_EQ(heddle_settings_use_stream(settings, nullptr), HEDDLE_OK);
  EXPECT_EQ(heddle_operator_create(matrix, settings, &another), HEDDLE_OK);
  heddle_operator_destroy(&another);
  EXPECT_EQ(other, nullptr);
}

}  // namespace
