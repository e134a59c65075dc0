// Runs in both builds.
// `heddle eigen`: reports, files of vectors, and one line for unsupported input.
#include <cmath>
#include <regex>

#include "cli/run.hpp"
#include "cli/small_systems.hpp"
#include "support/where_it_runs.hpp"

namespace {

class EigenPairs : public CommandLine {
 protected:
  /// |A x - lambda x| / |x|.
  static double defect(const DenseMatrix& A, const std::vector<double>& x, double lambda) {
    double difference = 0, size = 0;
    for (int i = 0; i < A.rows; ++i) {
      double r = -lambda * x[static_cast<std::size_t>(i)];
      for (int j = 0; j < A.columns; ++j) r += A.at(i, j) * x[static_cast<std::size_t>(j)];
      difference += r * r;
      size += x[static_cast<std::size_t>(i)] * x[static_cast<std::size_t>(i)];
    }
    return std::sqrt(difference / size);
  }
};

/// Products of these solvers read the entries as they are.
TEST_F(EigenPairs, AndLeastSquaresKeepNoCopyForIterations) {
  folder.write("a.mtx", matrix_market(real_matrix(12)));
  for (const std::vector<std::string>& command :
       {std::vector<std::string>{"eigen", "a.mtx"}, {"solve", "a.mtx", "--solver", "lsmr"}}) {
    const auto memory = [&](const std::string& plan) {
      std::vector<std::string> arguments = command;
      arguments.insert(arguments.end(), {"--plan", plan, "--json"});
      return run(arguments).json()["memory"];
    };
    EXPECT_EQ(memory("CSR,iteration-precision=scaled"), memory("CSR")) << command.front();
  }
}

TEST_F(EigenPairs, ReportsAndWritesPairsOfEveryEntry) {
  HEDDLE_RELEASE_ONLY();
  for (const SmallSystem& system : small_systems()) {
    if (system.entry == "dual-quaternion") continue;
    SCOPED_TRACE(system.name);
    folder.write("a.mtx", system.text);
    const Result result = run({"eigen", "a.mtx", "--entry", system.entry, "--count", "2",
                               "--tolerance", "1e-11", "--output", "v.mtx", "--json"});
    ASSERT_EQ(result.status, 0) << result.error;
    EXPECT_EQ(result.error, "");
    const auto json = result.json();
    EXPECT_EQ(json["status"], "converged");
    EXPECT_EQ(json["entry"], system.entry);
    EXPECT_EQ(json["rows"], system.rows);
    EXPECT_TRUE(json["mass_entries"].is_null());
    ASSERT_EQ(json["eigenvalues"].size(), 2u);
    ASSERT_EQ(json["residuals"].size(), 2u);
    for (std::size_t k = 0; k < 2; ++k) {
      EXPECT_LE(json["residuals"][k].get<double>(), 1e-11);
      const auto x = components_of(text_of("v-" + std::to_string(k + 1) + ".mtx"));
      ASSERT_EQ(x.size(), static_cast<std::size_t>(system.representation.columns));
      EXPECT_LE(defect(system.representation, x, json["eigenvalues"][k].get<double>()), 1e-9);
    }
  }
}

/// A path's adjacency matrix has eigenvalues 2 cos(k pi / (n + 1)).
TEST_F(EigenPairs, AreFoundWithoutADiagonal) {
  DenseMatrix A(9, 9);
  for (int i = 1; i < 9; ++i) A.at(i, i - 1) = A.at(i - 1, i) = 1;
  folder.write("a.mtx", matrix_market(A));
  for (const std::vector<std::string>& more : {std::vector<std::string>{}, {"--ranks", "2"}}) {
    std::vector<std::string> arguments{"eigen", "a.mtx", "--count", "2", "--json"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const Result result = run(arguments);
    ASSERT_EQ(result.status, 0) << result.error;
    const auto json = result.json();
    EXPECT_EQ(json["preconditioner"], "none");
    EXPECT_EQ(json["preconditioner_reason"], "no diagonal entry has an inverse");
    EXPECT_NEAR(json["eigenvalues"][0].get<double>(), -2 * std::cos(std::acos(-1.0) / 10), 1e-9);
  }
  const Result named = run({"eigen", "a.mtx", "--preconditioner", "jacobi"});
  EXPECT_EQ(named.status, 0) << named.error;
  EXPECT_NE(
      named.out.find("diagonal   9 entries have no inverse and count as 1, the first in row 0 "
                     "(counted from 0)\n"),
      std::string::npos)
      << named.out;
}

/// 2, -1 on a line with the mass 4, 1: eigenvectors are the same sines.
TEST_F(EigenPairs, TakesAMass) {
  DenseMatrix A(12, 12), M(12, 12);
  for (int i = 0; i < 12; ++i) {
    A.at(i, i) = 2;
    M.at(i, i) = 4;
    if (i == 0) continue;
    A.at(i, i - 1) = A.at(i - 1, i) = -1;
    M.at(i, i - 1) = M.at(i - 1, i) = 1;
  }
  folder.write("a.mtx", matrix_market(A));
  folder.write("m.mtx", matrix_market(M));
  const Result result =
      run({"eigen", "a.mtx", "--mass", "m.mtx", "--count", "3", "--plan", "pJDS", "--json"});
  ASSERT_EQ(result.status, 0) << result.error;
  const auto json = result.json();
  EXPECT_EQ(json["mass_entries"], 34);
  for (int k = 0; k < 3; ++k) {
    const double c = std::cos((k + 1) * std::acos(-1.0) / 13);
    EXPECT_NEAR(json["eigenvalues"][static_cast<std::size_t>(k)].get<double>(),
                (2 - 2 * c) / (4 + 2 * c), 1e-12);
  }
}

TEST_F(EigenPairs, PrintsATable) {
  folder.write("a.mtx", complex_system("complex", 5).text);
  const Result result = run({"eigen", "a.mtx", "--entry", "complex", "--count", "3"});
  ASSERT_EQ(result.status, 0) << result.error;
  for (const char* const line :
       {"\nstatus +converged after [0-9]+ iterations\n", "\n +eigenvalue +est\\. error +residual\n",
        "\n +1  2\\.0635[0-9]+ +[0-9.]+e-", "\n +3  4(\\.0|)[0-9]* +|\n +3  3\\.99[0-9]+ +"}) {
    EXPECT_TRUE(std::regex_search(result.out, std::regex(line))) << line << result.out;
  }
  const Result quiet = run({"eigen", "a.mtx", "--entry", "complex", "--quiet"});
  EXPECT_EQ(quiet.status, 0) << quiet.error;
  EXPECT_EQ(quiet.out, "");
}

TEST_F(EigenPairs, SaysWhereItDoesNotConverge) {
  folder.write("a.mtx", matrix_market(real_matrix(40)));
  DenseMatrix skewed = real_matrix(12);
  skewed.at(0, 5) = 3;
  folder.write("skewed.mtx", matrix_market(skewed));
  const Result few =
      run({"eigen", "a.mtx", "--max-iterations", "1", "--tolerance", "1e-12", "--json"});
  EXPECT_EQ(few.status, 1);
  EXPECT_EQ(few.json()["status"], "iteration limit");
  const Result refused = run({"eigen", "skewed.mtx", "--json", "-o", "v.mtx"});
  EXPECT_EQ(refused.status, 1);
  EXPECT_EQ(refused.json()["status"], "not Hermitian");
  EXPECT_EQ(files(), (Names{"a.mtx", "skewed.mtx"}));
  // No vectors are returned if the mass turns out to be indefinite.
  DenseMatrix line(40, 40), mass(40, 40);
  for (int i = 0; i < 40; ++i) {
    line.at(i, i) = i + 1;
    mass.at(i, i) = i == 7 ? -1 : 1;
  }
  folder.write("line.mtx", matrix_market(line));
  folder.write("mass.mtx", matrix_market(mass));
  const Result indefinite =
      run({"eigen", "line.mtx", "--mass", "mass.mtx", "--count", "2", "--json", "-o", "v.mtx"});
  EXPECT_EQ(indefinite.status, 1);
  EXPECT_EQ(indefinite.json()["status"], "indefinite");
  EXPECT_TRUE(indefinite.json()["eigenvalues"].empty());
  EXPECT_EQ(files(), (Names{"a.mtx", "line.mtx", "mass.mtx", "skewed.mtx"}));
}

TEST_F(EigenPairs, FindsAllPairsOfASmallMatrixWithoutACount) {
  DenseMatrix A(2, 2);
  A.at(0, 0) = 3;
  A.at(1, 1) = 5;
  folder.write("a.mtx", matrix_market(A));
  const Result result =
      run({"eigen", "a.mtx", "--mass", "a.mtx", "--preconditioner", "fsai:2", "--json"});
  ASSERT_EQ(result.status, 0) << result.error;
  const auto json = result.json();
  const Result composed =
      run({"eigen", "a.mtx", "--preconditioner", "jacobi,fsai,jacobi", "--json"});
  EXPECT_EQ(composed.status, 0) << composed.error;
  EXPECT_EQ(composed.json()["preconditioner"], "jacobi,fsai,jacobi");
  EXPECT_EQ(json["eigenvalues"].size(), 2u);
  EXPECT_EQ(json["error_estimates"].size(), 2u);
  EXPECT_EQ(json["preconditioner"], "fsai:2");
  EXPECT_GT(json["solver_memory"], 2 * 22 * 8);
}

TEST_F(EigenPairs, RefusesInOneLine) {
  folder.write("a.mtx", matrix_market(real_matrix(12)));
  folder.write("b.mtx", matrix_market(real_matrix(6)));
  folder.write("dual.mtx", dual_quaternion_systems()[0].text);
  folder.write("wide.mtx", "%%MatrixMarket matrix coordinate real general\n2 3 2\n1 1 1\n2 3 1\n");
  const Names before = files();
  const std::vector<std::pair<std::vector<std::string>, std::string>> faults = {
      {{"a.mtx", "--count", "0"}, "--count must be a whole number from 1 to 16, not .*"},
      {{"a.mtx", "--count", "17"}, "--count must be a whole number from 1 to 16, not .*"},
      {{"b.mtx", "--count", "7"}, ".*6 dimensions has no 7 eigenpairs"},
      {{"a.mtx", "--tolerance", "1"}, "--tolerance .*"},
      {{"a.mtx", "--mass", "b.mtx"}, "the mass is 6 x 6, the matrix 12 x 12"},
      {{"a.mtx", "--mass", "none.mtx"}, "none\\.mtx: .*"},
      {{"wide.mtx"}, "wide\\.mtx .*2 x 3.*square.*"},
      {{"dual.mtx", "--entry", "dual-quaternion", "--count", "1"}, ".*no adjoint.*"},
      {{"a.mtx", "--preconditioner", "ilu"}, ".*'ilu'.*"},
      {{"a.mtx", "--preconditioner", "isai:2"},
       ".*needs a Hermitian .*, not isai:2; there are auto, none, .*"},
      {{"a.mtx", "--preconditioner", "gmres"},
       ".*needs a constant Hermitian .*, not gmres; there are auto, none, .*"},
      {{"a.mtx", "--preconditioner", "multigrid:k"},
       ".*needs a constant Hermitian .*, not multigrid:k; there are auto, none, .*"},
      {{"a.mtx", "--preconditioner", "jacobi*fsai"}, ".*, not jacobi.fsai; .*same from both ends"},
      {{"a.mtx", "-o", "v.npz"}, ".*v\\.npz does not end in \\.mtx, .*"},
      {{"a.mtx", "-o", "none/v.mtx"}, ".*none/v-1\\.mtx.*"},
  };
  for (const auto& [options, message] : faults) {
    std::vector<std::string> arguments = {"eigen"};
    arguments.insert(arguments.end(), options.begin(), options.end());
    const Result result = run(arguments);
    EXPECT_EQ(result.status, 2) << message;
    EXPECT_EQ(result.out, "");
    EXPECT_EQ(result.error_lines(), 1u) << result.error;
    EXPECT_TRUE(std::regex_match(result.error, std::regex("heddle: " + message + "\n")))
        << result.error << message;
  }
  EXPECT_EQ(files(), before);
}

}  // namespace
