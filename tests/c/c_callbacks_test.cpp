// Callbacks of heddle.h: operators, preconditioners and observers of the caller, and the calls that
// a running solver refuses.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "c_objects.hpp"
#include "heddle.h"

using namespace heddle::c_test;

namespace {

struct Line {
  int products = 0, fails_at = -1;
};
/// -u'' + u on a line.
int apply_line(void* user, const heddle_view* x, const heddle_view* y) {
  Line& line = *static_cast<Line*>(user);
  if (line.products++ == line.fails_at) return 5;
  const double* const u = static_cast<const double*>(x->data);
  double* const image = static_cast<double*>(y->data);
  for (std::int64_t i = 0; i < x->count; ++i) {
    image[i] = 3 * u[i] - (i > 0 ? u[i - 1] : 0) - (i + 1 < x->count ? u[i + 1] : 0);
  }
  return 0;
}
int third(void*, const heddle_view* r, const heddle_view* z) {
  for (std::int64_t i = 0; i < r->count; ++i) {
    static_cast<double*>(z->data)[i] = static_cast<const double*>(r->data)[i] / 3;
  }
  return 0;
}

TEST(CCallbacks, CallsTheCallersOperatorAndPreconditioner) {
  Context context;
  Operator A;
  Preconditioner own;
  Solver solver;
  Line line;
  ASSERT_EQ(heddle_context_create(&context), HEDDLE_OK);
  ASSERT_EQ(
      heddle_operator_from_callback(context, 50, HEDDLE_REAL, HEDDLE_DOUBLE, apply_line, &line, &A),
      HEDDLE_OK);
  ASSERT_EQ(heddle_preconditioner_from_callback(A, third, nullptr, 0, &own), HEDDLE_OK);
  ASSERT_EQ(heddle_solver_create(A, "cg", own, nullptr, &solver), HEDDLE_OK);
  std::vector<double> b(50, 1), x(50), image(50);
  const heddle_view b_view = view(b, HEDDLE_REAL), x_view = view(x, HEDDLE_REAL),
                    image_view = view(image, HEDDLE_REAL);
  heddle_report result = report();
  ASSERT_EQ(heddle_solver_solve(solver, &b_view, &x_view, &result), HEDDLE_OK) << message(context);
  EXPECT_EQ(result.outcome, HEDDLE_CONVERGED);
  ASSERT_EQ(heddle_operator_apply(A, &x_view, &image_view), HEDDLE_OK);
  for (const double number : image) EXPECT_NEAR(number, 1, 1e-8);

  line.fails_at = line.products + 3;
  x.assign(50, 0);
  EXPECT_EQ(heddle_solver_solve(solver, &b_view, &x_view, &result), HEDDLE_ERROR_CALLBACK);
  EXPECT_EQ(message(context), "the callback of the operator returned 5");
  EXPECT_EQ(heddle_solver_solve(solver, &b_view, &x_view, &result), HEDDLE_OK) << "it goes on";
  EXPECT_EQ(result.outcome, HEDDLE_CONVERGED);

  Preconditioner jacobi;
  EXPECT_EQ(heddle_preconditioner_create(A, "jacobi", nullptr, &jacobi), HEDDLE_ERROR_USAGE);
  EXPECT_EQ(jacobi.own, nullptr);
}

TEST(CCallbacks, OperatorsAreOnTheDeviceOfTheSettings) {
  Context context;
  Operator A, none;
  Line line;
  ASSERT_EQ(heddle_context_create(&context), HEDDLE_OK);
  Settings settings(context, {{"threads", "1"}});
  const auto make = [&](Operator& of) {
    return heddle_operator_from_callback_on(context, settings, 3, HEDDLE_REAL, HEDDLE_DOUBLE,
                                            apply_line, &line, &of);
  };
  ASSERT_EQ(make(A), HEDDLE_OK) << message(context);
  EXPECT_EQ(heddle_operator_gpu(A), -1);
  std::vector<double> x{1, 2, 3}, y(3);
  const heddle_view from = view(x, HEDDLE_REAL), to = view(y, HEDDLE_REAL);
  ASSERT_EQ(heddle_operator_apply(A, &from, &to), HEDDLE_OK);
  EXPECT_EQ(y, (std::vector<double>{1, 2, 7}));
  settings.set("device", "toaster");
  EXPECT_EQ(make(none), HEDDLE_ERROR_USAGE);
  settings.reset("device").set("plan", "CSR");
  EXPECT_EQ(make(none), HEDDLE_ERROR_USAGE);
  EXPECT_EQ(message(context), "a plan is for a stored matrix, and a callback has none");
  settings.reset("plan").set("storage", "hisparse");
  EXPECT_EQ(make(none), HEDDLE_ERROR_USAGE);
  EXPECT_EQ(message(context), "a storage is for a stored matrix, and a callback has none");
}

/// With a sorted basis, the callback still sees the caller's order.
TEST(CCallbacks, CallbacksSeeTheCallersOrder) {
  Context context;
  Matrix matrix;
  Operator A;
  Preconditioner own;
  Solver solver;
  ASSERT_EQ(heddle_context_create(&context), HEDDLE_OK);
  ASSERT_EQ(heddle_matrix_generate(context, "dirac", 200, 1, &matrix), HEDDLE_OK);
  const Settings settings(context, {{"plan", "pJDS"}});
  ASSERT_EQ(heddle_operator_create(matrix, settings, &A), HEDDLE_OK) << message(context);
  std::vector<double> seen;
  const heddle_apply identity = [](void* user, const heddle_view* r, const heddle_view* z) {
    const auto count = static_cast<std::size_t>(r->count) * 4;
    auto& first = *static_cast<std::vector<double>*>(user);
    const double* const numbers = static_cast<const double*>(r->data);
    if (first.empty()) first.assign(numbers, numbers + count);
    std::memcpy(z->data, r->data, count * sizeof(double));
    return 0;
  };
  ASSERT_EQ(heddle_preconditioner_from_callback(A, identity, &seen, 0, &own), HEDDLE_OK);
  ASSERT_EQ(heddle_solver_create(A, "cg", own, nullptr, &solver), HEDDLE_OK);
  std::int64_t rows = 0, columns = 0;
  ASSERT_EQ(heddle_operator_size(A, &rows, &columns), HEDDLE_OK);
  std::vector<double> b = random_numbers(static_cast<std::size_t>(rows) * 4, 9), x(b.size());
  const heddle_view b_view = view(b, HEDDLE_QUATERNION), x_view = view(x, HEDDLE_QUATERNION);
  heddle_report result = report();
  ASSERT_EQ(heddle_solver_solve(solver, &b_view, &x_view, &result), HEDDLE_OK) << message(context);
  EXPECT_EQ(result.outcome, HEDDLE_CONVERGED);
  EXPECT_EQ(seen, b);  // the first residual, from zero
}

TEST(CCallbacks, ObservesCancelsAndKeepsTheHistory) {
  Context context;
  Matrix matrix;
  Operator A;
  Solver solver;
  ASSERT_EQ(heddle_context_create(&context), HEDDLE_OK);
  ASSERT_EQ(heddle_matrix_generate(context, "poisson", 1000, 1, &matrix), HEDDLE_OK);
  ASSERT_EQ(heddle_operator_create(matrix, nullptr, &A), HEDDLE_OK);
  int last = 0;
  Settings settings(context, {{"record_history", "true"}});
  const heddle_observer observer = [](void* user, const heddle_progress* progress) {
    *static_cast<int*>(user) = static_cast<int>(progress->iteration);
    return progress->iteration == 5 ? 1 : 0;
  };
  ASSERT_EQ(heddle_settings_observe(settings, observer, &last), HEDDLE_OK);
  ASSERT_EQ(heddle_solver_create(A, "cg", nullptr, settings, &solver), HEDDLE_OK);
  std::vector<double> b(1000, 1), x(1000);
  const heddle_view b_view = view(b, HEDDLE_REAL), x_view = view(x, HEDDLE_REAL);
  heddle_report result = report();
  ASSERT_EQ(heddle_solver_solve(solver, &b_view, &x_view, &result), HEDDLE_OK);
  EXPECT_EQ(result.outcome, HEDDLE_CANCELLED);
  EXPECT_EQ(last, 5);
  const double* history = nullptr;
  std::int64_t count = 0;
  ASSERT_EQ(heddle_solver_history(solver, &history, &count), HEDDLE_OK);
  ASSERT_EQ(count, 6);
  EXPECT_EQ(history[0], 1);
  std::array<char, 8> start{};
  EXPECT_GT(heddle_solver_summary(solver, start.data(), start.size()), 20U);
  EXPECT_STREQ(start.data(), "cancell");
}

/// In an observer the x that is reached has the residual that is reported; elsewhere there is none.
TEST(CCallbacks, AnObserverMayReadTheIterate) {
  Context context;
  Matrix matrix;
  Operator A;
  Solver solver;
  ASSERT_EQ(heddle_context_create(&context), HEDDLE_OK);
  ASSERT_EQ(heddle_matrix_generate(context, "elasticity", 300, 1, &matrix), HEDDLE_OK);
  ASSERT_EQ(heddle_operator_create(matrix, Settings(context, {{"plan", "C=8,sigma=64"}}), &A),
            HEDDLE_OK);
  std::int64_t rows = 0, columns = 0;
  ASSERT_EQ(heddle_operator_size(A, &rows, &columns), HEDDLE_OK);
  struct Look {
    heddle_solver* solver = nullptr;
    const heddle_operator* A = nullptr;
    std::vector<double> b, x, image;
    int looks = 0;
  } look;
  look.b = random_numbers(static_cast<std::size_t>(rows) * 3, 5);
  look.x = look.image = std::vector<double>(look.b.size());
  const heddle_observer observer = [](void* user, const heddle_progress* progress) {
    Look& now = *static_cast<Look*>(user);
    const heddle_view x = view(now.x, HEDDLE_BLOCK3), image = view(now.image, HEDDLE_BLOCK3);
    EXPECT_EQ(heddle_solver_iterate(now.solver, &x), HEDDLE_OK);
    EXPECT_EQ(heddle_operator_apply(now.A, &x, &image), HEDDLE_OK);
    double squared = 0, norm = 0;
    for (std::size_t i = 0; i < now.b.size(); ++i) {
      squared += (now.b[i] - now.image[i]) * (now.b[i] - now.image[i]);
      norm += now.b[i] * now.b[i];
    }
    EXPECT_NEAR(std::sqrt(squared / norm), progress->relative_residual, 1e-9);
    return ++now.looks == 20 ? 1 : 0;
  };
  const Settings settings(context);
  ASSERT_EQ(heddle_settings_observe(settings, observer, &look), HEDDLE_OK);
  ASSERT_EQ(heddle_solver_create(A, "cg", nullptr, settings, &solver), HEDDLE_OK);
  look.solver = solver;
  look.A = A;
  std::vector<double> x(look.b.size());
  const heddle_view b_view = view(look.b, HEDDLE_BLOCK3), x_view = view(x, HEDDLE_BLOCK3);
  ASSERT_EQ(heddle_solver_solve(solver, &b_view, &x_view, nullptr), HEDDLE_OK);
  EXPECT_EQ(look.looks, 20);
  EXPECT_EQ(heddle_solver_iterate(solver, &x_view), HEDDLE_ERROR_USAGE);
}

/// [1 2; 3 4; 5 6] and its transpose.
TEST(CCallbacks, LeastSquaresTakeCallbacksOfBoth) {
  Context context;
  Operator A, forward;
  ASSERT_EQ(heddle_context_create(&context), HEDDLE_OK);
  const heddle_apply tall = [](void*, const heddle_view* x, const heddle_view* y) {
    const auto* const from = static_cast<const double*>(x->data);
    auto* const to = static_cast<double*>(y->data);
    for (int i = 0; i < 3; ++i) to[i] = (2 * i + 1) * from[0] + (2 * i + 2) * from[1];
    return 0;
  };
  const heddle_apply wide = [](void*, const heddle_view* x, const heddle_view* y) {
    const auto* const from = static_cast<const double*>(x->data);
    auto* const to = static_cast<double*>(y->data);
    to[0] = from[0] + 3 * from[1] + 5 * from[2];
    to[1] = 2 * from[0] + 4 * from[1] + 6 * from[2];
    return 0;
  };
  const auto make = [&](heddle_apply adjoint, heddle_operator** made) {
    return heddle_operator_from_callbacks(context, nullptr, 3, 2, HEDDLE_REAL, HEDDLE_DOUBLE, tall,
                                          adjoint, nullptr, made);
  };
  ASSERT_EQ(make(wide, &A), HEDDLE_OK) << message(context);
  heddle_least_squares* solver = nullptr;
  ASSERT_EQ(heddle_least_squares_create(A, nullptr, &solver), HEDDLE_OK) << message(context);
  std::vector<double> b{5, 11, 17}, x(2);
  const heddle_view b_view = view(b, HEDDLE_REAL), x_view = view(x, HEDDLE_REAL);
  ASSERT_EQ(heddle_least_squares_solve(solver, &b_view, &x_view, nullptr), HEDDLE_OK);
  EXPECT_NEAR(x[0], 1, 1e-7);
  EXPECT_NEAR(x[1], 2, 1e-7);
  heddle_least_squares_destroy(&solver);
  ASSERT_EQ(make(nullptr, &forward), HEDDLE_OK);
  EXPECT_EQ(heddle_least_squares_create(forward, nullptr, &solver), HEDDLE_ERROR_UNSUPPORTED);
  heddle_solver* none = nullptr;
  EXPECT_EQ(heddle_solver_create(A, "cg", nullptr, nullptr, &none), HEDDLE_ERROR_SIZE_MISMATCH);
}

TEST(CCallbacks, ASolverAtWorkRefusesOtherCalls) {
  Context context;
  Matrix matrix;
  Operator A;
  Solver solver;
  ASSERT_EQ(heddle_context_create(&context), HEDDLE_OK);
  ASSERT_EQ(heddle_matrix_generate(context, "poisson", 1000, 1, &matrix), HEDDLE_OK);
  ASSERT_EQ(heddle_operator_create(matrix, nullptr, &A), HEDDLE_OK);
  std::vector<double> b(1000, 1), x(1000);
  struct Nested {
    heddle_solver* solver = nullptr;
    heddle_view b, x;
    heddle_status seen = HEDDLE_OK, seen_by_history = HEDDLE_OK;
    const double* history = nullptr;
    std::int64_t count = 7;
    std::size_t summary = 7;
  } nested{nullptr, view(b, HEDDLE_REAL), view(x, HEDDLE_REAL)};
  const heddle_observer observer = [](void* user, const heddle_progress*) {
    auto& call = *static_cast<Nested*>(user);
    call.seen = heddle_solver_solve(call.solver, &call.b, &call.x, nullptr);
    call.seen_by_history = heddle_solver_history(call.solver, &call.history, &call.count);
    call.summary = heddle_solver_summary(call.solver, nullptr, 0);
    return 1;
  };
  const Settings settings(context);
  ASSERT_EQ(heddle_settings_observe(settings, observer, &nested), HEDDLE_OK);
  ASSERT_EQ(heddle_solver_create(A, "cg", nullptr, settings, &solver), HEDDLE_OK);
  nested.solver = solver;
  ASSERT_EQ(heddle_solver_solve(solver, &nested.b, &nested.x, nullptr), HEDDLE_OK);
  EXPECT_EQ(nested.seen, HEDDLE_ERROR_BUSY);
  EXPECT_EQ(nested.seen_by_history, HEDDLE_ERROR_BUSY);
  EXPECT_EQ(nested.count, 7) << "what failed writes nothing";
  EXPECT_EQ(nested.summary, 0U);
  EXPECT_EQ(message(context), "this solver is in use by another call; it serves one at a time");
  EXPECT_EQ(heddle_solver_history(solver, &nested.history, &nested.count), HEDDLE_OK);
  EXPECT_GT(heddle_solver_summary(solver, nullptr, 0), 20U);
}

/// Each thread reads the message of its own failure; a thread without a failure reads the last
/// message.
TEST(CCallbacks, MessagesAreOfTheThread) {
  Context context;
  Matrix matrix;
  ASSERT_EQ(heddle_context_create(&context), HEDDLE_OK);
  const auto fail = [&](const std::string& problem) {
    heddle_matrix* none = nullptr;
    EXPECT_EQ(heddle_matrix_generate(context, problem.c_str(), 8, 1, &none), HEDDLE_ERROR_USAGE);
  };
  fail("own");
  const auto names = [&](const std::string& problem) {
    return message(context).find("'" + problem + "'") != std::string::npos;
  };
  std::thread([&] {
    EXPECT_TRUE(names("own"));
    fail("theirs");
    EXPECT_TRUE(names("theirs"));
  }).join();
  EXPECT_TRUE(names("own"));
  const auto repeat = [&](const std::string& problem) {
    for (int k = 0; k < 2000; ++k) {
      fail(problem);
      ASSERT_TRUE(names(problem)) << message(context);
    }
  };
  std::thread other(repeat, "a");
  repeat("a-longer-name-of-nothing");
  other.join();
}

}  // namespace
