// Streams, places and enqueued solves of heddle.h as far as they work without a GPU: copies of
// vectors, and refused calls.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "c_objects.hpp"
#include "heddle.h"

using namespace heddle::c_test;

namespace {

class CStreamOrder : public testing::Test {
 protected:
  CStreamOrder() {
    EXPECT_EQ(heddle_context_create(&context), HEDDLE_OK);
    EXPECT_EQ(heddle_matrix_generate(context, "dirac", 60, 1, &matrix), HEDDLE_OK);
    EXPECT_EQ(heddle_operator_create(matrix, nullptr, &A), HEDDLE_OK);
    EXPECT_EQ(heddle_solver_create(A, "cg", nullptr, nullptr, &solver), HEDDLE_OK);
    std::int64_t rows = 0, columns = 0;
    EXPECT_EQ(heddle_operator_size(A, &rows, &columns), HEDDLE_OK);
    b = random_numbers(static_cast<std::size_t>(rows) * 4, 5);
    x.resize(b.size());
  }
  heddle_view view_of(std::vector<double>& numbers, heddle_layout layout = HEDDLE_ROW_MAJOR) {
    return view(numbers, HEDDLE_QUATERNION, false, layout);
  }

  Context context;
  Matrix matrix;
  Operator A;
  Solver solver;
  std::vector<double> b, x;
};

TEST_F(CStreamOrder, CopiesKeepEveryRowInEveryLayout) {
  const std::size_t rows = b.size() / 4;
  const heddle_view from = view_of(b), by_component = view_of(x, HEDDLE_BY_COMPONENT);
  ASSERT_EQ(heddle_operator_copy(A, &from, &by_component), HEDDLE_OK) << message(context);
  for (std::size_t i = 0; i < rows; ++i) {
    for (std::size_t k = 0; k < 4; ++k) EXPECT_EQ(x[k * rows + i], b[4 * i + k]);
  }
  std::vector<double> back(b.size(), 7);
  const heddle_view to = view_of(back);
  ASSERT_EQ(heddle_operator_copy(A, &by_component, &to), HEDDLE_OK);
  EXPECT_EQ(back, b);
  ASSERT_EQ(heddle_operator_copy(A, nullptr, &to), HEDDLE_OK);
  EXPECT_EQ(back, std::vector<double>(b.size(), 0));
  heddle_view shorter = from;
  shorter.count -= 1;
  EXPECT_EQ(heddle_operator_copy(A, &shorter, &to), HEDDLE_ERROR_SIZE_MISMATCH);
  EXPECT_EQ(heddle_operator_copy(A, &from, nullptr), HEDDLE_ERROR_USAGE);
}

TEST_F(CStreamOrder, TheCpuHasNoStream) {
  int stream = 0;
  EXPECT_EQ(heddle_operator_gpu(A), -1);
  EXPECT_EQ(heddle_operator_gpu(nullptr), -1);
  EXPECT_EQ(heddle_operator_stream(A), nullptr);
  EXPECT_EQ(heddle_operator_stream(nullptr), nullptr);
  EXPECT_EQ(heddle_operator_wait_for(A, &stream), HEDDLE_ERROR_USAGE);
  EXPECT_EQ(message(context), "a stream belongs to a GPU, but the operator is on the CPU");
  const heddle_view from = view_of(b);
  heddle_view there = view_of(x);
  there.location = HEDDLE_DEVICE;
  EXPECT_EQ(heddle_operator_copy(A, &from, &there), HEDDLE_ERROR_USAGE);
  heddle_pattern own{};
  own.struct_size = sizeof own;
  heddle_view values{};
  ASSERT_EQ(heddle_matrix_arrays(matrix, &own, &values), HEDDLE_OK);
  ASSERT_EQ(heddle_operator_update_values(A, &values), HEDDLE_OK) << message(context);
  values.location = HEDDLE_DEVICE;
  EXPECT_EQ(heddle_operator_update_values(A, &values), HEDDLE_ERROR_USAGE);
  EXPECT_NE(message(context).find("values is not in the host's memory"), std::string::npos);
}

TEST_F(CStreamOrder, EnqueueNeedsAGpu) {
  const heddle_view right = view_of(b), left = view_of(x);
  heddle_device_report there{};
  for (heddle_device_report* report : {static_cast<heddle_device_report*>(nullptr), &there}) {
    EXPECT_EQ(heddle_solver_enqueue(solver, &right, &left, nullptr, report),
              HEDDLE_ERROR_UNSUPPORTED);
    EXPECT_NE(message(context).find("enqueue needs a"), std::string::npos) << message(context);
    EXPECT_EQ(heddle_solver_prepare_enqueue(solver, &right, &left, report),
              HEDDLE_ERROR_UNSUPPORTED);
  }
  EXPECT_EQ(heddle_solver_enqueue(nullptr, &right, &left, nullptr, nullptr), HEDDLE_ERROR_USAGE);
  heddle_report result = report();
  for (heddle_report* to : {static_cast<heddle_report*>(nullptr), &result}) {
    EXPECT_EQ(heddle_solver_wait(solver, to), HEDDLE_ERROR_USAGE);
    EXPECT_NE(message(context).find("no solve was enqueued"), std::string::npos);
  }
  result.struct_size = 1;
  EXPECT_EQ(heddle_solver_wait(solver, &result), HEDDLE_ERROR_USAGE);
  EXPECT_EQ(heddle_solver_cancel(solver), HEDDLE_OK);
  EXPECT_EQ(heddle_solver_cancel(nullptr), HEDDLE_ERROR_USAGE);
  // The solver can still solve, with its observer.
  result = report();
  int calls = 0;
  const Settings settings(context);
  const heddle_observer count = [](void* user, const heddle_progress*) {
    return ++*static_cast<int*>(user), 0;
  };
  ASSERT_EQ(heddle_settings_observe(settings, count, &calls), HEDDLE_OK);
  Solver watched;
  ASSERT_EQ(heddle_solver_create(A, "cg", nullptr, settings, &watched), HEDDLE_OK);
  EXPECT_EQ(heddle_solver_enqueue(watched, &right, &left, nullptr, nullptr),
            HEDDLE_ERROR_UNSUPPORTED);
  ASSERT_EQ(heddle_solver_solve(watched, &right, &left, &result), HEDDLE_OK) << message(context);
  EXPECT_EQ(result.outcome, HEDDLE_CONVERGED);
  EXPECT_GT(calls, 0);
}

}  // namespace
