// The part that adapters for host packages share: their matrices of numbers as blocks of heddle.h.
#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <Eigen/Sparse>
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "c_objects.hpp"
#include "heddle/adapters/system.hpp"

namespace c_adapter_system {
namespace {

using heddle::adapters::Goal;
using heddle::adapters::Options;
using heddle::adapters::Solved;
using heddle::adapters::System;
using Vector = Eigen::VectorXd;
template <class I>
using Rows = Eigen::SparseMatrix<double, Eigen::RowMajor, I>;

const Goal tight{1e-12, 0, 5000};

Vector random_vector(Eigen::Index size, unsigned seed) {
  const auto numbers = heddle::c_test::random_numbers(static_cast<std::size_t>(size), seed);
  return Eigen::Map<const Vector>(numbers.data(), size);
}

/// Row (node, component) of `nodes` nodes, as the options number it.
struct Numbering {
  int size, nodes;
  bool by_component;

  int operator()(int node, int component) const {
    return by_component ? component * nodes + node : node * size + component;
  }
  Options options(const std::string& preconditioner = "") const {
    Options options;
    options.components = size;
    options.by_component = by_component;
    options.preconditioner = preconditioner;
    return options;
  }
};

/// A band of nodes with random numbers, some of a block's left out; its diagonal dominates.
template <class I>
Rows<I> band(const Numbering& at, unsigned seed) {
  std::mt19937 engine(seed);
  std::uniform_real_distribution<double> number(-1, 1);
  std::vector<Eigen::Triplet<double, I>> numbers;
  for (int node = 0; node < at.nodes; ++node) {
    for (const int other : {node - 5, node, node + 1}) {
      if (other < 0 || other >= at.nodes) continue;
      for (int c = 0; c < at.size; ++c) {
        for (int d = 0; d < at.size; ++d) {
          const bool is_diagonal = node == other && c == d;
          if (!is_diagonal && number(engine) > 0.6) continue;
          numbers.emplace_back(at(node, c), at(other, d),
                               number(engine) + (is_diagonal ? 4 * at.size : 0));
        }
      }
    }
  }
  Rows<I> A(at.size * at.nodes, at.size * at.nodes);
  A.setFromTriplets(numbers.begin(), numbers.end());
  return A;
}

/// Springs between neighbours in the plane, along edges and diagonals, clamped at one side.
struct Lattice {
  static constexpr int width = 120, height = 8;
  Numbering at;
  Rows<int> A;
  std::vector<double> coordinates;

  explicit Lattice(bool by_component, double stiffness = 1)
      : at{2, width * height, by_component}, A(2 * at.nodes, 2 * at.nodes), coordinates(A.rows()) {
    std::vector<Eigen::Triplet<double>> numbers;
    for (int x = 0; x < width; ++x) {
      for (int y = 0; y < height; ++y) {
        const int node = x * height + y;
        coordinates[at(node, 0)] = x;
        coordinates[at(node, 1)] = y;
        for (int c = 0; c < 2 && x == 0; ++c) {
          numbers.emplace_back(at(node, c), at(node, c), stiffness);
        }
        for (const auto& [dx, dy] :
             std::array<std::array<int, 2>, 4>{{{1, 0}, {0, 1}, {1, 1}, {1, -1}}}) {
          if (x + dx >= width || y + dy >= height || y + dy < 0) continue;
          add_spring(numbers, node, (x + dx) * height + y + dy, {double(dx), double(dy)},
                     stiffness);
        }
      }
    }
    A.setFromTriplets(numbers.begin(), numbers.end());
  }

 private:
  void add_spring(std::vector<Eigen::Triplet<double>>& numbers, int node, int other,
                  const std::array<double, 2>& d, double stiffness) const {
    const double factor = stiffness / (d[0] * d[0] + d[1] * d[1]);
    for (int a = 0; a < 2; ++a) {
      for (int b = 0; b < 2; ++b) {
        const double k = factor * d[a] * d[b];
        numbers.emplace_back(at(node, a), at(node, b), k);
        numbers.emplace_back(at(other, a), at(other, b), k);
        numbers.emplace_back(at(node, a), at(other, b), -k);
        numbers.emplace_back(at(other, a), at(node, b), -k);
      }
    }
  }
};

template <class I>
bool take(System& system, const Options& options, const Rows<I>& A) {
  return system.take(options, A.rows(), A.outerIndexPtr(), A.innerIndexPtr(), A.valuePtr());
}

Solved solve(System& system, const Vector& b, Vector& x, const Goal& goal = tight,
             bool transposed = false) {
  return system.solve(system.field(b.data(), b.size()), system.field(x.data(), x.size()), goal,
                      transposed);
}

Vector apply(const System& system, const Vector& r, bool transposed = false) {
  Vector z = Vector::Zero(r.size());
  system.apply(system.field(r.data(), r.size()), system.field(z.data(), z.size()), transposed);
  return z;
}

template <class F>
std::string message_of(const F& f) {
  try {
    f();
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return "no error";
}

/// x of A x = b and of A^T x = b, of new values too, next to a dense factorization.
template <class I>
void expect_solutions(const Numbering& at, unsigned seed) {
  SCOPED_TRACE(std::to_string(at.size) + (at.by_component ? " by component" : " by node"));
  System system;
  for (int pass = 0; pass < 2; ++pass) {
    Rows<I> A = band<I>(at, seed);
    if (pass == 1) A.coeffs() *= 1.5, A.coeffs()[3] += 0.25;
    EXPECT_EQ(take(system, at.options(), A), pass == 0);
    const Eigen::MatrixXd dense(A);
    const Vector b = random_vector(A.rows(), seed + 1);
    Vector x = Vector::Zero(b.size());
    EXPECT_EQ(solve(system, b, x).outcome, HEDDLE_CONVERGED);
    EXPECT_LT((x - dense.fullPivLu().solve(b)).norm(), 1e-10 * x.norm());
    x.setZero();
    EXPECT_EQ(solve(system, b, x, tight, true).outcome, HEDDLE_CONVERGED);
    EXPECT_LT((x - dense.transpose().fullPivLu().solve(b)).norm(), 1e-10 * x.norm());
  }
}

TEST(CAdapterSystem, SolvesWithBlocksOfEverySize) {
  unsigned seed = 1;
  for (const int size : {1, 2, 3, 4, 6}) {
    expect_solutions<int>({size, 37, false}, ++seed);
    expect_solutions<std::int64_t>({size, 37, true}, ++seed);
  }
}

/// Jacobi inverts whole blocks, so that it shows which numbers they took.
TEST(CAdapterSystem, AppliesThePreconditionerOfBlocks) {
  for (const bool by_component : {false, true}) {
    const Numbering at{3, 20, by_component};
    const Rows<int> A = band<int>(at, 7);
    System system;
    take(system, at.options("jacobi"), A);
    const Eigen::MatrixXd dense(A);
    Eigen::MatrixXd diagonal = Eigen::MatrixXd::Zero(A.rows(), A.rows());
    for (int node = 0; node < at.nodes; ++node) {
      for (int k = 0; k < 9; ++k) {
        const int row = at(node, k / 3), column = at(node, k % 3);
        diagonal(row, column) = dense(row, column);
      }
    }
    const Vector r = random_vector(A.rows(), 8);
    EXPECT_LT((diagonal * apply(system, r) - r).norm(), 1e-12 * r.norm());
    EXPECT_LT((diagonal.transpose() * apply(system, r, true) - r).norm(), 1e-12 * r.norm());
  }
}

TEST(CAdapterSystem, TakesColumnsInAnyOrderAndNumbersOfAnyType) {
  const Numbering at{2, 30, false};
  const Rows<int> A = band<int>(at, 11);
  const auto rows = static_cast<std::size_t>(A.rows());
  const std::vector<std::size_t> offsets(A.outerIndexPtr(), A.outerIndexPtr() + rows + 1);
  std::vector<unsigned> columns(A.innerIndexPtr(), A.innerIndexPtr() + A.nonZeros());
  std::vector<float> values(A.valuePtr(), A.valuePtr() + A.nonZeros());
  for (std::size_t row = 0; row < rows; ++row) {
    std::reverse(columns.begin() + offsets[row], columns.begin() + offsets[row + 1]);
    std::reverse(values.begin() + offsets[row], values.begin() + offsets[row + 1]);
  }
  System system;
  system.take(at.options(), A.rows(), offsets.data(), columns.data(), values.data());
  const Vector b = random_vector(A.rows(), 12);
  Vector x = Vector::Zero(b.size());
  solve(system, b, x);
  const Eigen::MatrixXd rounded = Eigen::MatrixXd(A).cast<float>().cast<double>();
  EXPECT_LT((rounded * x - b).norm(), 1e-11 * b.norm());
}

TEST(CAdapterSystem, KnowsTheMotionsOfARigidBody) {
  const Goal goal{1e-7, 0, 1000};  // x is large: its rounding alone leaves 1e-9
  std::array<std::int64_t, 2> iterations{};
  for (const bool by_component : {false, true}) {
    const Lattice lattice(by_component);
    const Vector b = Vector::Ones(lattice.A.rows());
    Options options = lattice.at.options();
    System system;
    take(system, options, lattice.A);
    Vector x = Vector::Zero(b.size());
    const auto plain = solve(system, b, x, goal).iterations;
    options.coordinates = lattice.coordinates;
    EXPECT_TRUE(take(system, options, lattice.A)) << "other options make a new hierarchy";
    x.setZero();
    const auto known = solve(system, b, x, goal).iterations;
    EXPECT_LT(2 * known, plain);
    EXPECT_LT((lattice.A * x - b).norm(), 1.1e-7 * b.norm());
    iterations[by_component] = known;

    // The same motions as fields.
    options.coordinates.clear();
    options.candidates.assign(3, std::vector<double>(b.size()));
    for (int node = 0; node < lattice.at.nodes; ++node) {
      const int i = lattice.at(node, 0), j = lattice.at(node, 1);
      options.candidates[0][i] = options.candidates[1][j] = 1;
      options.candidates[2][i] = -lattice.coordinates[j];
      options.candidates[2][j] = lattice.coordinates[i];
    }
    take(system, options, lattice.A);
    x.setZero();
    EXPECT_NEAR(solve(system, b, x, goal).iterations, known, 2);

    EXPECT_FALSE(take(system, options, Lattice(by_component, 3).A));
    x.setZero();
    EXPECT_NEAR(solve(system, b, x, goal).iterations, known, 2) << "of new values";
    EXPECT_LT((3 * (lattice.A * x) - b).norm(), 1.1e-7 * b.norm());
  }
  EXPECT_NEAR(iterations[0], iterations[1], 1);
}

TEST(CAdapterSystem, MeasuresAgainstTheResidualOfTheGuess) {
  const Lattice lattice(false);
  System system;
  take(system, lattice.at.options(), lattice.A);
  const Vector b = random_vector(lattice.A.rows(), 21);
  Vector x = 1e4 * random_vector(b.size(), 22);
  const double norm = (b - lattice.A * x).norm();
  const Solved first = solve(system, b, x, {1e-6, 0, 1000});
  EXPECT_EQ(first.outcome, HEDDLE_CONVERGED);
  EXPECT_NEAR(first.initial_norm, norm, 1e-10 * norm);
  EXPECT_LE(first.norm, 1e-6 * norm);
  EXPECT_NEAR((b - lattice.A * x).norm(), first.norm, 1e-3 * first.norm);
  x.setZero();
  const Solved limited = solve(system, b, x, {1e-12, 0, 2});
  EXPECT_EQ(limited.outcome, HEDDLE_ITERATION_LIMIT);
  EXPECT_EQ(limited.iterations, 2);
  EXPECT_NEAR(limited.initial_norm, b.norm(), 1e-10 * b.norm());
  x.setZero();
  const Solved near = solve(system, b, x, {0, 1e-3, 1000});
  EXPECT_LE(near.norm, 1e-3);
  EXPECT_GT(near.norm, 1e-7);
}

/// A choice for symmetric values does not suit others of the same pattern.
TEST(CAdapterSystem, ChoosesAgainForNewValues) {
  const Lattice lattice(false);
  Rows<int> upwind = lattice.A;
  for (int row = 0; row < upwind.rows(); ++row) {
    for (Rows<int>::InnerIterator entry(upwind, row); entry; ++entry) {
      if (entry.col() != row) entry.valueRef() *= entry.col() < row ? 1.3 : 0.7;
    }
  }
  const Vector b = random_vector(upwind.rows(), 24);
  for (const std::string text : {"", "jacobi"}) {
    Options options = lattice.at.options(text);
    options.coordinates = text.empty() ? lattice.coordinates : std::vector<double>();
    System system;
    take(system, options, lattice.A);
    Vector x = Vector::Zero(b.size());
    solve(system, b, x, {1e-6, 0, 5000});
    EXPECT_TRUE(take(system, options, upwind)) << text;
    for (const bool transposed : {false, true}) {
      x.setZero();
      const Solved solved = solve(system, b, x, {1e-6, 0, 5000}, transposed);
      EXPECT_EQ(solved.outcome, HEDDLE_CONVERGED) << text;
      const Vector image = transposed ? Vector(upwind.transpose() * x) : Vector(upwind * x);
      EXPECT_LT((image - b).norm(), 1.1e-6 * b.norm()) << text;
    }
    EXPECT_FALSE(take(system, options, upwind)) << text;
    EXPECT_TRUE(take(system, options, lattice.A)) << text;
  }
}

/// A residual next to rounding can still be reduced: what is added to x is solved for.
TEST(CAdapterSystem, ConvergesFromAGuessThatIsNearlyTheSolution) {
  const Lattice lattice(false);
  System system;
  take(system, lattice.at.options(), lattice.A);
  const Vector b = random_vector(lattice.A.rows(), 25);
  Vector x = Vector::Zero(b.size());
  for (int pass = 0; pass < 4; ++pass) {
    EXPECT_EQ(solve(system, b, x, {1e-9, 0, 1000}).outcome, HEDDLE_CONVERGED) << pass;
  }
  EXPECT_LT((lattice.A * x - b).norm(), 1e-9 * b.norm());
}

TEST(CAdapterSystem, SaysInALineWhatDoesNotFit) {
  const Numbering at{2, 9, false};
  const Rows<int> A = band<int>(at, 31);
  System system;
  Options options = at.options();
  const auto refusal = [&] { return message_of([&] { take(system, options, A); }); };
  options.components = 5;
  EXPECT_EQ(refusal(),
            "heddle: 18 rows in nodes of 5 are no blocks: nodes have 1, 2, 3, 4 or 6 rows");
  options.components = 4;
  EXPECT_EQ(refusal(),
            "heddle: 18 rows in nodes of 4 are no blocks: nodes have 1, 2, 3, 4 or 6 rows");
  options = at.options();
  options.settings["cycel"] = "w";
  EXPECT_EQ(refusal(), "heddle: there is no setting 'cycel'; did you mean cycle?");
  options = at.options("jacobi");
  options.coordinates.resize(17);
  EXPECT_EQ(refusal(), "heddle: a vector has 17 numbers, the matrix 18 rows");
  options.coordinates.resize(18);
  EXPECT_EQ(refusal(), "heddle: coordinates is for the preconditioner multigrid, not for jacobi");
  options = at.options("jacoby");
  EXPECT_NE(refusal().find("jacoby"), std::string::npos);

  const std::array<int, 3> offsets{0, 1, 2};
  const std::array<int, 2> columns{0, 2};
  const std::array<double, 2> ones{1, 1};
  EXPECT_EQ(message_of([&] { System().take({}, 2, offsets.data(), columns.data(), ones.data()); }),
            "heddle: a matrix of 2 rows has more columns: give a square one");

  Vector z = Vector::Zero(17);
  options = at.options("jacobi");
  EXPECT_TRUE(take(system, options, A));
  EXPECT_EQ(message_of([&] { system.field(z.data(), z.size()); }),
            "heddle: a vector has 17 numbers, the matrix 18 rows");
  Rows<int> singular = A;
  for (int row = 0; row < 2; ++row) {
    for (Rows<int>::InnerIterator entry(singular, row); entry; ++entry)
      entry.valueRef() = std::nan("");
  }
  EXPECT_NE(message_of([&] { take(system, options, singular); }).find("row 0"), std::string::npos);
  EXPECT_EQ(message_of([&] { apply(system, random_vector(18, 32)); }),
            "heddle: it has no matrix, or one failed");
  EXPECT_TRUE(take(system, options, A)) << "good values after singular ones";
  const Vector r = random_vector(18, 32);
  System fresh;
  take(fresh, options, A);
  EXPECT_EQ(apply(system, r), apply(fresh, r));
}

}  // namespace
}  // namespace c_adapter_system
