// Runs in the release.
// `heddle solve --solver block-cg`: right-hand sides in one Krylov space.
#include <sstream>

#include "cli/run.hpp"
#include "cli/small_systems.hpp"

namespace solve_block {
namespace {

using nlohmann::json;

class SolveBlock : public CommandLine {
 protected:
  Result solve(std::vector<std::string> options) const {
    options.insert(options.begin(), {"solve", "a.mtx", "--solver", "block-cg"});
    return run(options);
  }
  void make_dirac() const {
    ASSERT_EQ(run({"generate", "dirac", "--size", "300", "-o", "a.mtx", "--quiet"}).status, 0);
  }
};

/// Writes fields of random numbers as one array file.
std::vector<double> write_fields(const TemporaryFolder& folder, const std::string& name,
                                 std::size_t numbers) {
  std::vector<double> values(numbers);
  std::ostringstream text;
  text.precision(17);
  text << "%%MatrixMarket matrix array real general\n" << numbers << " 1\n";
  for (std::size_t i = 0; i < numbers; ++i) {
    values[i] = std::sin(1.0 + 3.7 * static_cast<double>(i * i % 101));
    text << values[i] << '\n';
  }
  folder.write(name, text.str());
  return values;
}

TEST_F(SolveBlock, SolvesEveryHermitianEntry) {
  for (const SmallSystem& system : small_systems()) {
    if (system.solver != "cg") continue;
    for (const char* precision : {"double", "single"}) {
      SCOPED_TRACE(system.name + " " + precision);
      folder.write("a.mtx", system.text);
      const Result result = solve({"--entry", system.entry, "--right-hand-sides", "3",
                                   "--precision", precision, "--preconditioner", "none", "--json"});
      ASSERT_EQ(result.status, 0) << result.error;
      const json report = result.json();
      EXPECT_EQ(report["solver"], "block-cg");
      EXPECT_EQ(report["solver_reason"], "by --solver");
      EXPECT_GT(report["bytes_per_iteration"], 0);
      ASSERT_EQ(report["systems"].size(), 3U);
      for (const json& one : report["systems"]) {
        EXPECT_EQ(one["status"], "converged");
        EXPECT_LE(one["error"].get<double>(), precision[0] == 'd' ? 1e-8 : 1e-3);
      }
    }
  }
}

TEST_F(SolveBlock, AgreesWithADenseProductInFewerIterations) {
  const DenseMatrix A = real_matrix(60);
  folder.write("a.mtx", matrix_market(A));
  const std::vector<double> b = write_fields(folder, "b.mtx", 16 * 60);
  const std::vector<std::string> options = {"--rhs", "b.mtx", "--right-hand-sides", "16", "-o",
                                            "x.mtx", "--json"};
  const Result result = solve(options);
  ASSERT_EQ(result.status, 0) << result.error;
  const std::vector<double> x = components_of(text_of("x.mtx"));
  ASSERT_EQ(x.size(), b.size());
  for (std::ptrdiff_t k = 0; k < 16; ++k) {
    const std::vector<double> of_b(b.begin() + 60 * k, b.begin() + 60 * (k + 1));
    std::vector<double> of_x;
    for (std::size_t i = 0; i < 60; ++i) of_x.push_back(x[16 * i + static_cast<std::size_t>(k)]);
    EXPECT_LE(relative_residual(A, of_x, of_b), 2e-10) << k;
  }
  auto side_by_side = options;
  side_by_side.insert(side_by_side.begin(), {"solve", "a.mtx", "--solver", "cg"});
  EXPECT_LT(result.json()["iterations"], run(side_by_side).json()["iterations"]);
  auto guessing = options;
  guessing.insert(guessing.end(), {"--guess", "x.mtx"});
  EXPECT_EQ(solve(guessing).json()["iterations"], 0);
}

TEST_F(SolveBlock, OfOneRightHandSideIsConjugateGradient) {
  make_dirac();
  const std::vector<std::string> options = {"--entry", "quaternion", "--json"};
  const json block = solve(options).json();
  const json single = run({"solve", "a.mtx", "--entry", "quaternion", "--json"}).json();
  EXPECT_EQ(block["status"], "converged");
  EXPECT_NEAR(block["iterations"].get<double>(), single["iterations"].get<double>(), 2);
  EXPECT_LE(block["error"].get<double>(), 1e-6);
}

TEST_F(SolveBlock, IsWatchedAsOthersAre) {
  make_dirac();
  const Result result = solve({"--entry", "quaternion", "--right-hand-sides", "4", "--monitor",
                               "--history", "h.csv", "--plot", "h.svg", "--json"});
  ASSERT_EQ(result.status, 0) << result.error;
  const json report = result.json();
  EXPECT_NE(result.error.find("converged; |b - A x| / |b| computed from x\n"), std::string::npos);
  EXPECT_EQ(result.error.find("from b - A x"), std::string::npos) << result.error;
  const std::string history = text_of("h.csv");
  EXPECT_EQ(std::count(history.begin(), history.end(), '\n'), report["iterations"].get<int>() + 2);
  EXPECT_NE(text_of("h.svg").find("a.mtx: block-cg, preconditioner jacobi"), std::string::npos);
}

TEST_F(SolveBlock, TakesShiftsLimitsAndConstantHermitianPreconditioners) {
  make_dirac();
  const std::vector<std::string> two = {"--entry", "quaternion", "--right-hand-sides", "2",
                                        "--json"};
  const auto status_of = [&](std::vector<std::string> options) {
    options.insert(options.end(), two.begin(), two.end());
    const Result result = solve(options);
    return result.error + result.json()["status"].get<std::string>();
  };
  EXPECT_EQ(status_of({"--shift", "0.5"}), "converged");
  EXPECT_EQ(status_of({"--shift", "0.5", "--preconditioner", "chebyshev"}), "converged");
  EXPECT_EQ(status_of({"--preconditioner", "fsai"}), "converged");
  EXPECT_EQ(status_of({"--preconditioner", "block-jacobi:2"}), "converged");
  EXPECT_EQ(status_of({"--max-iterations", "2"}), "iteration limit");
  EXPECT_EQ(status_of({"--time-limit", "0"}), "time limit");
}

TEST_F(SolveBlock, RefusesWhatItDoesNotTake) {
  folder.write("a.mtx", matrix_market(real_matrix(12)));
  const auto error_of = [&](std::vector<std::string> options) {
    const Result result = solve(std::move(options));
    EXPECT_EQ(result.status, 2);
    EXPECT_EQ(result.error_lines(), 1U) << result.error;
    return result.error;
  };
  EXPECT_EQ(error_of({"--right-hand-sides", "17"}),
            "heddle: --solver block-cg solves up to 16 systems at once, not --right-hand-sides 17; "
            "the other solvers take any number\n");
  for (const char* name : {"isai", "gmres:3"}) {
    EXPECT_NE(error_of({"--preconditioner", name}).find("constant Hermitian preconditioner"),
              std::string::npos);
  }
  EXPECT_NE(error_of({"--restart", "5"}).find("--restart is for"), std::string::npos);
  DenseMatrix skewed = real_matrix(12);
  skewed.at(3, 4) += 0.25;
  folder.write("a.mtx", matrix_market(skewed));
  const Result other = solve({"--right-hand-sides", "2", "--json", "-o", "x.mtx"});
  EXPECT_EQ(other.status, 1);
  EXPECT_EQ(other.json()["status"], "not Hermitian");
  EXPECT_EQ(files(), Names{"a.mtx"});
  folder.write("a.mtx", dual_quaternion_systems()[0].text);
  EXPECT_NE(error_of({"--entry", "dual-quaternion"}).find("no adjoint"), std::string::npos);
}

}  // namespace
}  // namespace solve_block
