// Preconditioners that a caller's own loop applies, from C.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "c_objects.hpp"
#include "heddle.h"

namespace c_preconditioner_on_vectors {
namespace {

using namespace heddle::c_test;
using Numbers = std::vector<double>;

double dot(const Numbers& x, const Numbers& y) {
  double sum = 0;
  for (std::size_t i = 0; i < x.size(); ++i) sum += x[i] * y[i];
  return sum;
}
double norm(const Numbers& x) { return std::sqrt(dot(x, x)); }
Numbers sum(double a, const Numbers& x, double b, const Numbers& y) {
  Numbers z(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) z[i] = a * x[i] + b * y[i];
  return z;
}

/// An operator and a preconditioner of it, for vectors of doubles.
struct System {
  Context context;
  Matrix matrix;
  Operator A;
  Preconditioner M;
  heddle_entry entry;
  std::int64_t rows = 0;

  explicit System(heddle_entry entry) : entry(entry) {
    EXPECT_EQ(heddle_context_create(&context), HEDDLE_OK);
  }
  System(const char* problem, heddle_entry entry, std::int64_t size = 300) : System(entry) {
    EXPECT_EQ(heddle_matrix_generate(context, problem, size, 1, &matrix), HEDDLE_OK);
  }
  /// Entries in a band of a few diagonals, dominated by the main one and not Hermitian.
  static System one_sided(heddle_entry entry, unsigned seed) {
    System made(entry);
    constexpr std::int32_t n = 90;
    std::vector<std::int32_t> row, column;
    for (std::int32_t i = 0; i < n; ++i) {
      for (const std::int32_t j : {i, i + 1, i + 7, i - 3}) {
        if (j < 0 || j >= n) continue;
        row.push_back(i);
        column.push_back(j);
      }
    }
    const auto scalars = static_cast<std::size_t>(heddle_entry_scalars(entry));
    Numbers values = random_numbers(row.size() * scalars, seed);
    for (std::size_t k = 0; k < row.size(); ++k) {
      if (row[k] != column[k]) continue;
      const std::size_t side = entry == HEDDLE_BLOCK3 ? 3 : 1;
      for (std::size_t d = 0; d < side; ++d) values[k * scalars + d * (side + 1)] += 8;
    }
    const heddle_pattern places = pattern(n, row, column);
    const heddle_view view_of_values = view(values, entry, true);
    EXPECT_EQ(heddle_matrix_from_triplets(made.context, &places, &view_of_values, &made.matrix),
              HEDDLE_OK);
    return made;
  }

  void store(const std::string& plan) {
    const Settings settings(context, {{"plan", plan}});
    ASSERT_EQ(heddle_operator_create(matrix, settings, &A), HEDDLE_OK) << message(context);
    std::int64_t columns = 0;
    ASSERT_EQ(heddle_operator_size(A, &rows, &columns), HEDDLE_OK);
  }
  void precondition(const std::string& text) {
    ASSERT_EQ(heddle_preconditioner_create(A, text.c_str(), nullptr, &M), HEDDLE_OK)
        << text << ": " << message(context);
  }
  Numbers field(unsigned seed) const {
    return random_numbers(static_cast<std::size_t>(rows * heddle_row_scalars(entry)), seed);
  }
  Numbers product(Numbers x) const {
    Numbers y(x.size());
    const heddle_view from = view(x, entry), to = view(y, entry);
    EXPECT_EQ(heddle_operator_apply(A, &from, &to), HEDDLE_OK) << message(context);
    return y;
  }
  Numbers by(decltype(heddle_preconditioner_apply)* apply, Numbers r) const {
    Numbers z(r.size(), std::nan(""));
    const heddle_view from = view(r, entry), to = view(z, entry);
    EXPECT_EQ(apply(M, &from, &to, nullptr), HEDDLE_OK) << message(context);
    return z;
  }
  Numbers inverse(const Numbers& r) const { return by(heddle_preconditioner_apply, r); }
  Numbers adjoint(const Numbers& r) const { return by(heddle_preconditioner_apply_adjoint, r); }
};

void expect_near(const Numbers& x, const Numbers& y, double tolerance = 1e-12) {
  ASSERT_EQ(x.size(), y.size());
  const double difference = norm(sum(1, x, -1, y));
  EXPECT_LE(difference, tolerance * norm(y));  // false for NaN
}

/// Iterations of the conjugate gradient, written as its textbook has it.
int iterations_of_own_loop(const System& s, double tolerance) {
  Numbers r = s.field(5), x(r.size()), z = s.inverse(r), p = z;
  const double target = tolerance * norm(r);
  double rho = dot(r, z);
  for (int k = 1; k < 1000; ++k) {
    const Numbers q = s.product(p);
    const double alpha = rho / dot(p, q);
    x = sum(1, x, alpha, p);
    r = sum(1, r, -alpha, q);
    if (norm(r) <= target) return k;
    z = s.inverse(r);
    const double before = rho;
    rho = dot(r, z);
    p = sum(1, z, rho / before, p);
  }
  return -1;
}
int iterations_of_solver(const System& s, double tolerance) {
  const Settings settings(s.context, {{"rtol", std::to_string(tolerance)}});
  Solver solver;
  EXPECT_EQ(heddle_solver_create(s.A, "cg", s.M, settings, &solver), HEDDLE_OK)
      << message(s.context);
  Numbers b = s.field(5), x(b.size());
  const heddle_view from = view(b, s.entry), to = view(x, s.entry);
  heddle_report result = report();
  EXPECT_EQ(heddle_solver_solve(solver, &from, &to, &result), HEDDLE_OK) << message(s.context);
  return static_cast<int>(result.iterations);
}

struct Problem {
  const char* name;
  heddle_entry entry;
};
constexpr Problem hermitian[] = {
    {"poisson", HEDDLE_REAL}, {"elasticity", HEDDLE_BLOCK3}, {"dirac", HEDDLE_QUATERNION}};
// With another order of rows, and other orders of rows and scalars.
constexpr const char* plans[] = {"CSR", "pJDS", "C=8,sigma=n,vector-layout=soa"};
constexpr const char* texts[] = {
    "none",    "auto", "jacobi",    "block-jacobi:2",     "chebyshev:3",
    "neumann", "fsai", "multigrid", "jacobi*fsai*jacobi", "direct"};

TEST(PreconditionerOnVectors, CountsTheIterationsOfASolver) {
  for (const Problem& problem : hermitian) {
    for (const char* text : texts) {
      SCOPED_TRACE(std::string(problem.name) + ", " + text);
      System s(problem.name, problem.entry);
      s.store("pJDS");
      s.precondition(text);
      const int expected = iterations_of_solver(s, 1e-6);
      EXPECT_NEAR(iterations_of_own_loop(s, 1e-6), expected, 1 + expected / 50);
    }
  }
}

TEST(PreconditionerOnVectors, DependsOnNoPlan) {
  for (const Problem& problem : hermitian) {
    for (const char* text : {"jacobi", "fsai", "chebyshev:3", "multigrid", "direct"}) {
      Numbers of_first;
      for (const char* plan : plans) {
        SCOPED_TRACE(std::string(problem.name) + ", " + text + ", " + plan);
        System s(problem.name, problem.entry);
        s.store(plan);
        s.precondition(text);
        const Numbers z = s.inverse(s.field(3));
        if (of_first.empty()) of_first = z;
        // Spectra are estimated from fields in the operator's order.
        expect_near(z, of_first, 0.02);
        const auto combined = s.inverse(sum(2, s.field(3), -3, s.field(4)));
        expect_near(combined, sum(2, z, -3, s.inverse(s.field(4))));
      }
    }
  }
}

TEST(PreconditionerOnVectors, TakesBothLayouts) {
  System s("dirac", HEDDLE_QUATERNION);
  s.store("pJDS");
  s.precondition("jacobi");
  Numbers r = s.field(1), by_components(r.size()), z(r.size());
  const auto n = static_cast<std::size_t>(s.rows);
  const auto turned = [&](const Numbers& x) {
    Numbers y(x.size());
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t k = 0; k < 4; ++k) y[k * n + i] = x[4 * i + k];
    }
    return y;
  };
  by_components = turned(r);
  const heddle_view from = view(by_components, s.entry, false, HEDDLE_BY_COMPONENT),
                    to = view(z, s.entry, false, HEDDLE_BY_COMPONENT);
  ASSERT_EQ(heddle_preconditioner_apply(s.M, &from, &to, nullptr), HEDDLE_OK);
  EXPECT_EQ(z, turned(s.inverse(r)));
}

void expect_adjoint(const System& s) {
  const Numbers x = s.field(6), y = s.field(7), z = s.inverse(x), w = s.adjoint(y);
  EXPECT_NEAR(dot(z, y), dot(x, w), 1e-11 * norm(z) * norm(y));
}

TEST(PreconditionerOnVectors, HasAnAdjoint) {
  for (const Problem& problem : hermitian) {
    for (const char* text : texts) {
      if (std::string(text) == "chebyshev:3") continue;
      SCOPED_TRACE(std::string(problem.name) + ", " + text);
      System s(problem.name, problem.entry);
      s.store("pJDS");
      s.precondition(text);
      expect_adjoint(s);
    }
  }
  for (const heddle_entry entry : {HEDDLE_REAL, HEDDLE_COMPLEX, HEDDLE_QUATERNION, HEDDLE_BLOCK3}) {
    for (const char* text :
         {"none", "jacobi", "block-jacobi:3", "neumann:3", "jacobi*neumann",
          "neumann,block-jacobi:2*jacobi", "fsai*jacobi,neumann", "direct", "direct*jacobi"}) {
      SCOPED_TRACE(std::string(heddle_entry_name(entry)) + ", " + text);
      System s = System::one_sided(entry, 11);
      s.store("pJDS");
      s.precondition(text);
      expect_adjoint(s);
    }
  }
}

TEST(PreconditionerOnVectors, RefusesAnAdjointThatItLacks) {
  System s = System::one_sided(HEDDLE_COMPLEX, 12);
  s.store("CSR");
  Numbers r = s.field(1), z(r.size());
  const heddle_view from = view(r, s.entry), to = view(z, s.entry);
  const auto expect_none = [&](const char* text, const std::string& words) {
    SCOPED_TRACE(text);
    Preconditioner M;
    ASSERT_EQ(heddle_preconditioner_create(s.A, text, nullptr, &M), HEDDLE_OK);
    EXPECT_EQ(heddle_preconditioner_apply_adjoint(M, &from, &to, nullptr),
              HEDDLE_ERROR_UNSUPPORTED);
    EXPECT_EQ(message(s.context), words);
  };
  for (const char* text : {"isai", "gmres:3", "block-jacobi", "jacobi*isai*jacobi"}) {
    expect_none(text, "the preconditioner " + std::string(text) +
                          " has no adjoint here; make one of the adjoint matrix");
  }
  Preconditioner own;
  const auto identity = [](void*, const heddle_view* x, const heddle_view* y) {
    std::copy_n(static_cast<const double*>(x->data), 2 * x->count, static_cast<double*>(y->data));
    return 0;
  };
  ASSERT_EQ(heddle_preconditioner_from_callback(s.A, identity, nullptr, 0, &own), HEDDLE_OK);
  EXPECT_EQ(heddle_preconditioner_apply(own, &from, &to, nullptr), HEDDLE_OK);
  EXPECT_EQ(z, r);
  EXPECT_EQ(heddle_preconditioner_apply_adjoint(own, &from, &to, nullptr),
            HEDDLE_ERROR_UNSUPPORTED);
}

/// A tree stores its entries, and its adjoint does not: no adjoint must lose its Jacobi.
TEST(PreconditionerOnVectors, OfATreeHasNoAdjointButItself) {
  for (const char* text : {"auto", "jacobi", "neumann", "fsai"}) {
    SCOPED_TRACE(text);
    System s = System::one_sided(HEDDLE_REAL, 13);
    const Settings settings(s.context, {{"storage", "hisparse"}});
    ASSERT_EQ(heddle_operator_create(s.matrix, settings, &s.A), HEDDLE_OK);
    std::int64_t columns = 0;
    ASSERT_EQ(heddle_operator_size(s.A, &s.rows, &columns), HEDDLE_OK);
    s.precondition(text);
    if (std::string(text) == "fsai") {
      expect_adjoint(s);
      continue;
    }
    Numbers r = s.field(1), z(r.size());
    const heddle_view from = view(r, s.entry), to = view(z, s.entry);
    EXPECT_EQ(heddle_preconditioner_apply(s.M, &from, &to, nullptr), HEDDLE_OK);
    EXPECT_EQ(heddle_preconditioner_apply_adjoint(s.M, &from, &to, nullptr),
              HEDDLE_ERROR_UNSUPPORTED);
  }
}

TEST(PreconditionerOnVectors, TakesNewValuesWhenUpdated) {
  for (const char* text : {"jacobi", "fsai", "direct", "multigrid"}) {
    SCOPED_TRACE(text);
    System s("poisson", HEDDLE_REAL);
    s.store("pJDS");
    s.precondition(text);
    const Numbers r = s.field(2), z = s.inverse(r), adjoint = s.adjoint(r);
    heddle_pattern places{};
    places.struct_size = sizeof places;
    heddle_view own{};
    ASSERT_EQ(heddle_matrix_arrays(s.matrix, &places, &own), HEDDLE_OK);
    const auto* const first = static_cast<const double*>(own.data);
    Numbers values(first, first + own.count);
    for (double& value : values) value *= 4;
    const heddle_view larger = view(values, HEDDLE_REAL, true);
    ASSERT_EQ(heddle_operator_update_values(s.A, &larger), HEDDLE_OK);
    EXPECT_EQ(s.inverse(r), z);
    ASSERT_EQ(heddle_preconditioner_update(s.M, nullptr), HEDDLE_OK) << message(s.context);
    expect_near(s.inverse(r), sum(0.25, z, 0, z));
    expect_near(s.adjoint(r), sum(0.25, adjoint, 0, adjoint));
    if (std::string(text) == "multigrid") continue;  // its coarsest level takes singular matrices
    values.assign(values.size(), std::string(text) == "jacobi" ? std::nan("") : 0);
    ASSERT_EQ(heddle_operator_update_values(s.A, &larger), HEDDLE_OK);
    EXPECT_EQ(heddle_preconditioner_update(s.M, nullptr), HEDDLE_ERROR_SINGULAR)
        << message(s.context);
  }
}

TEST(PreconditionerOnVectors, RefusesWhatDoesNotFit) {
  System s("dirac", HEDDLE_QUATERNION);
  s.store("pJDS");
  s.precondition("multigrid");
  Numbers r = s.field(1), z(r.size(), 7), shorter(r.size() - 4);
  std::vector<float> floats(r.size());
  const heddle_view from = view(r, s.entry), to = view(z, s.entry);
  heddle_view misplaced = from, unaligned = from, part = from;
  misplaced.location = HEDDLE_DEVICE;
  unaligned.data = static_cast<char*>(from.data) + 4;
  part.data = r.data() + 4;
  part.count -= 1;
  const struct {
    heddle_view r, z;
    heddle_status expected;
  } cases[] = {
      {view(shorter, s.entry), to, HEDDLE_ERROR_SIZE_MISMATCH},
      {from, view(shorter, s.entry), HEDDLE_ERROR_SIZE_MISMATCH},
      {view(floats, s.entry), to, HEDDLE_ERROR_SIZE_MISMATCH},
      {view(r, HEDDLE_REAL), to, HEDDLE_ERROR_SIZE_MISMATCH},
      {from, from, HEDDLE_ERROR_USAGE},
      {from, part, HEDDLE_ERROR_SIZE_MISMATCH},
      {misplaced, to, HEDDLE_ERROR_USAGE},
      {unaligned, to, HEDDLE_ERROR_USAGE},
  };
  for (const auto& given : cases) {
    EXPECT_EQ(heddle_preconditioner_apply(s.M, &given.r, &given.z, nullptr), given.expected);
    EXPECT_EQ(heddle_preconditioner_apply_adjoint(s.M, &given.r, &given.z, nullptr),
              given.expected);
    EXPECT_FALSE(message(s.context).empty());
  }
  EXPECT_EQ(heddle_preconditioner_apply(s.M, nullptr, &to, nullptr), HEDDLE_ERROR_USAGE);
  EXPECT_EQ(heddle_preconditioner_apply(s.M, &from, nullptr, nullptr), HEDDLE_ERROR_USAGE);
  EXPECT_EQ(heddle_preconditioner_apply(nullptr, &from, &to, nullptr), HEDDLE_ERROR_USAGE);
  int no_stream = 0;
  EXPECT_EQ(heddle_preconditioner_apply(s.M, &from, &to, &no_stream), HEDDLE_ERROR_USAGE);
  EXPECT_EQ(heddle_preconditioner_update(s.M, &no_stream), HEDDLE_ERROR_USAGE);
  EXPECT_EQ(z, Numbers(z.size(), 7));
  r[5] = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(heddle_preconditioner_apply(s.M, &from, &to, nullptr), HEDDLE_OK);
  EXPECT_TRUE(std::isnan(norm(z)));
}

}  // namespace
}  // namespace c_preconditioner_on_vectors
