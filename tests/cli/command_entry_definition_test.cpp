// Runs in the release.
// `--entry-definition`: systems with the shipped entries solved from both forms of file, and
// refused input.
#include <cmath>
#include <random>
#include <regex>
#include <sstream>

#include "cli/run.hpp"
#include "cli/small_systems.hpp"

namespace {

const std::string split = std::string(HEDDLE_SOURCE_DIR) + "/data/entries/split-complex.json";
const std::string dual = std::string(HEDDLE_SOURCE_DIR) + "/data/entries/dual-complex.json";

using Entry = std::vector<double>;

/// x + y e acts as [x y; y x].
DenseMatrix split_tile(const Entry& a) {
  DenseMatrix tile(2, 2);
  tile.values = {a[0], a[1], a[1], a[0]};
  return tile;
}

/// a + b eps acts as [A 0; B A], complex numbers as [re -im; im re].
DenseMatrix dual_tile(const Entry& a) {
  DenseMatrix tile(4, 4);
  tile.values = {a[0], -a[1], 0,    0,     a[1], a[0], 0,    0,
                 a[2], -a[3], a[0], -a[1], a[3], a[2], a[1], a[0]};
  return tile;
}

struct System {
  int size;  // components
  int rows;
  DenseMatrix components;      // size x 1 tiles
  DenseMatrix representation;  // size x size tiles

  System(int k, int n) : size(k), rows(n), components(k * n, n), representation(k * n, k * n) {}

  template <class Tile>
  void set(int row, int column, const Entry& entry, const Tile& tile) {
    for (int k = 0; k < size; ++k) {
      components.at(size * row + k, column) = entry[static_cast<std::size_t>(k)];
    }
    representation.set_tile(size * row, size * column, tile(entry));
  }
};

/// Symmetric and diagonally dominant, so positive definite: off the diagonal |x| + |y| < 2.
System split_system(int rows) {
  System system(2, rows);
  std::mt19937 random(7);
  std::uniform_real_distribution<double> uniform(-1, 1);
  for (int i = 0; i < rows; ++i) {
    system.set(i, i, {13 + uniform(random), uniform(random)}, split_tile);
    for (const int j : {i - 1, i - 4, i - 9}) {
      if (j < 0) continue;
      const Entry entry = {uniform(random), uniform(random)};
      system.set(i, j, entry, split_tile);
      system.set(j, i, entry, split_tile);
    }
  }
  return system;
}

System dual_system(int rows) {
  System system(4, rows);
  std::mt19937 random(8);
  std::uniform_real_distribution<double> uniform(-1, 1);
  const auto entry = [&] {
    return Entry{uniform(random), uniform(random), uniform(random), uniform(random)};
  };
  for (int i = 0; i < rows; ++i) {
    Entry diagonal = entry();
    diagonal[0] += 9;
    system.set(i, i, diagonal, dual_tile);
    for (const int j : {i - 1, i + 1, i - 7, i + 5}) {
      if (j >= 0 && j < rows) system.set(i, j, entry(), dual_tile);
    }
  }
  return system;
}

class EntryDefinition : public CommandLine {
 protected:
  /// Solves with a random b of `columns` numbers per row, and checks x independently.
  void expect_solved(const System& system, const DenseMatrix& matrix, const std::string& definition,
                     const std::string& solver, const std::vector<std::string>& more = {}) {
    folder.write("a.mtx", matrix_market(matrix));
    std::vector<double> b(static_cast<std::size_t>(system.size * system.rows));
    std::mt19937 random(9);
    for (double& value : b) value = std::uniform_real_distribution<double>(-1, 1)(random);
    std::ostringstream text;
    text.precision(17);
    text << "%%MatrixMarket matrix array real general\n"
         << system.rows << ' ' << system.size << '\n';
    for (int k = 0; k < system.size; ++k) {
      for (int i = 0; i < system.rows; ++i) {
        text << b[static_cast<std::size_t>(i * system.size + k)] << '\n';
      }
    }
    folder.write("b.mtx", text.str());
    std::vector<std::string> arguments = {"solve",    "a.mtx", "--entry-definition",
                                          definition, "--rhs", "b.mtx",
                                          "--solver", solver,  "--json",
                                          "-o",       "x.mtx"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const Result result = run(arguments);
    ASSERT_EQ(result.status, 0) << result.error << result.out;
    const auto json = result.json();
    EXPECT_EQ(json["rows"], system.rows);
    EXPECT_EQ(definition.find(json["entry"].get<std::string>() + ".json") == std::string::npos,
              false)
        << json["entry"];
    const std::vector<double> x = components_of(text_of("x.mtx"));
    ASSERT_EQ(x.size(), b.size());
    const bool single = !more.empty() && more.back() == "single";
    const double residual = relative_residual(system.representation, x, b);
    EXPECT_TRUE(residual <= (single ? 1e-5 : 1e-10)) << residual;
  }
};

TEST_F(EntryDefinition, SplitComplexByConjugateGradients) {
  for (const int rows : {1, 7, 120}) {
    SCOPED_TRACE(rows);
    const System system = split_system(rows);
    expect_solved(system, system.components, split, "cg");
    expect_solved(system, system.representation, split, "cg");
  }
  const System system = split_system(60);
  expect_solved(system, system.components, split, "bicgstab", {"--preconditioner", "none"});
  expect_solved(system, system.components, split, "cg", {"--precision", "single"});
  for (const char* plan : {"Sl-32", "pJDS,inner=soa,vector=soa", "K1rs,stored=float"}) {
    SCOPED_TRACE(plan);
    expect_solved(system, system.components, split, "cg", {"--plan", plan});
  }
}

TEST_F(EntryDefinition, DualComplexByBiCGStab) {
  for (const int rows : {1, 9, 100}) {
    SCOPED_TRACE(rows);
    const System system = dual_system(rows);
    expect_solved(system, system.components, dual, "bicgstab");
    expect_solved(system, system.representation, dual, "bicgstab");
    expect_solved(system, system.components, dual, "bicgstab",
                  {"--plan", "recurrence=real,schedule=dynamic"});
  }
}

TEST_F(EntryDefinition, ThreadsChangeNoBit) {
  folder.write("a.mtx", matrix_market(split_system(900).components));
  for (const char* threads : {"1", "3"}) {
    const Result result = run({"solve", "a.mtx", "--entry-definition", split, "--threads", threads,
                               "--json", "-o", std::string("x") + threads + ".mtx"});
    ASSERT_EQ(result.status, 0) << result.error;
    const double error = result.json()["error"];
    EXPECT_TRUE(error <= 1e-8) << error;
  }
  EXPECT_EQ(text_of("x1.mtx"), text_of("x3.mtx"));
}

TEST_F(EntryDefinition, InfoAndSpmv) {
  folder.write("a.mtx", matrix_market(split_system(20).components));
  const auto info = run({"info", "a.mtx", "--entry-definition", split, "--json"}).json();
  EXPECT_EQ(info["entry"], "split-complex");
  EXPECT_EQ(info["rows"], 20);
  EXPECT_EQ(info["hermitian_defect"], 0);
  EXPECT_EQ(info["singular_diagonal"], 0);
  EXPECT_FALSE(info["layouts"].empty());
  const auto spmv = run({"spmv", "a.mtx", "--entry-definition", split, "--json", "--repetitions",
                         "1", "--update-values"})
                        .json();
  EXPECT_EQ(spmv["entry"], "split-complex");
  EXPECT_GT(spmv["products"][0]["update_values"]["moved_bytes"], 0);
  EXPECT_EQ(spmv["products"].size(), 1u);
  folder.write("dual.mtx", matrix_market(dual_system(20).components));
  const auto no_adjoint = run({"info", "dual.mtx", "--entry-definition", dual, "--json"}).json();
  EXPECT_TRUE(no_adjoint["hermitian_defect"].is_null());
  const Result text = run({"info", "dual.mtx", "--entry-definition", dual});
  EXPECT_NE(text.out.find("20 x 20 dual-complex entries"), std::string::npos) << text.out;
}

TEST_F(EntryDefinition, LiesInTreesToo) {
  const System system = split_system(60);
  for (const char* const preconditioner : {"jacobi", "none", "block-jacobi"}) {
    SCOPED_TRACE(preconditioner);
    expect_solved(system, system.components, split, "cg",
                  {"--storage", "hisparse", "--node", "8", "--preconditioner", preconditioner});
  }
  expect_solved(system, system.components, split, "cg",
                {"--storage", "hisparse", "--precision", "single"});
  expect_solved(dual_system(60), dual_system(60).components, dual, "bicgstab",
                {"--storage", "hisparse"});
  folder.write("a.mtx", matrix_market(system.components));
  const Result by_lsmr = run({"solve", "a.mtx", "--entry-definition", split, "--solver", "lsmr",
                              "--storage", "hisparse", "--tolerance", "1e-12", "--json"});
  ASSERT_EQ(by_lsmr.status, 0) << by_lsmr.error;
  EXPECT_LE(by_lsmr.json()["error"], 1e-8);
  const Result spmv = run({"spmv", "a.mtx", "--entry-definition", split, "--storage", "hisparse",
                           "--plan", "CSR", "--adjoint", "--json", "--repetitions", "1"});
  ASSERT_EQ(spmv.status, 0) << spmv.error;
  EXPECT_EQ(spmv.json()["products"][0]["plan"], "hisparse,node=128");
  const Result tuned = run({"tune", "a.mtx", "--entry-definition", split, "--storage", "hisparse",
                            "--max-runs", "2", "-o", "p.json"});
  ASSERT_EQ(tuned.status, 0) << tuned.error;
  const Result chosen = run({"solve", "a.mtx", "--entry-definition", split, "--storage", "hisparse",
                             "--profile", "p.json", "--json"});
  ASSERT_EQ(chosen.status, 0) << chosen.error;
  EXPECT_EQ(chosen.json()["plan_reason"], "tuned for this pattern (profile p.json)");
}

/// A + 2 A* of a symmetric matrix is 3 A, in either format.
TEST_F(EntryDefinition, AddsTrees) {
  folder.write("a.mtx", matrix_market(split_system(30).components));
  const auto add = [&](const std::string& right, const std::string& alpha, const std::string& to) {
    const Result result = run({"add", "a.mtx", right, "--entry-definition", split, "--alpha", alpha,
                               "--beta", "2", "--adjoint", "-o", to, "-q"});
    ASSERT_EQ(result.status, 0) << result.error;
  };
  add("a.mtx", "1", "c.mtx");
  add("a.mtx", "1", "c.npz");
  for (const char* const sum : {"c.mtx", "c.npz"}) {
    SCOPED_TRACE(sum);
    add(sum, "-6", "zero.mtx");
    std::istringstream lines(text_of("zero.mtx"));
    std::string line;
    while (std::getline(lines, line) && line.starts_with("%")) {
    }
    EXPECT_EQ(line.substr(0, 6), "60 60 ");
    while (std::getline(lines, line)) {
      std::istringstream numbers(line);
      int row = 0, column = 0;
      double value = 1;
      numbers >> row >> column >> value;
      EXPECT_LT(std::abs(value), 1e-13) << line;
    }
  }
}

TEST_F(EntryDefinition, FaultsAreOneLine) {
  folder.write("split.mtx", matrix_market(split_system(6).components));
  folder.write("dual.mtx", matrix_market(dual_system(6).components));
  DenseMatrix bad = split_system(6).representation;
  bad.at(3, 2) += 1e-9;
  folder.write("bad.mtx", matrix_market(bad));
  folder.write("faulty.json",
               "{\"name\": \"n\", \"members\": [\"x\"], \"multiply\": {\"x\": \"\"}}");
  folder.write("bare.json",
               "{\"name\": \"bare\", \"members\": [\"x\", \"y\"], \"multiply\": {"
               "\"x\": \"a.x * x.x + a.y * x.y\", \"y\": \"a.x * x.y + a.y * x.x\"}}");
  const std::pair<std::vector<std::string>, std::string> faults[] = {
      {{"solve", "dual.mtx", "--entry-definition", dual, "--solver", "cg"},
       "conjugate gradient needs a Hermitian matrix.*no adjoint.*BiCGStab.*"},
      {{"solve", "split.mtx", "--entry-definition", "none.json"}, "none\\.json: No such file.*"},
      {{"solve", "split.mtx", "--entry-definition", "faulty.json"},
       "faulty\\.json: multiply\\.x: column 1: .*"},
      {{"info", "split.mtx", "--entry-definition", "faulty.json"}, "faulty\\.json: multiply\\.x.*"},
      {{"spmv", "split.mtx", "--entry-definition", "split.mtx"}, "split\\.mtx: parse error.*"},
      {{"solve", "split.mtx", "--entry-definition", split, "--entry", "real"},
       ".*--entry.*excludes.*"},
      {{"solve", "split.mtx", "--entry-definition", dual}, "split\\.mtx gives 3 x 6 entries.*"},
      {{"solve", "dual.mtx", "--entry-definition", dual, "--solver", "lsmr"},
       "no adjoint: entry dual-complex has none of its kind, or is encoded"},
      {{"spmv", "split.mtx", "--entry-definition", split, "--storage", "hisparse,schedule=tree"},
       "hisparse,schedule=tree supports only the entries of --entry; .*"},
      {{"spmv", "dual.mtx", "--entry-definition", dual, "--storage", "hisparse", "--adjoint"},
       "no adjoint: entry dual-complex does not define one"},
      {{"add", "dual.mtx", "dual.mtx", "--entry-definition", dual, "--adjoint", "-o", "x.mtx"},
       "--adjoint: dual-complex entries have no adjoint"},
      {{"add", "split.mtx", "split.mtx", "--entry-definition", split, "--alpha", "2i", "-o",
        "x.mtx"},
       "--alpha and --beta with an imaginary part .* not for split-complex entries"},
      {{"solve", "bad.mtx", "--entry-definition", split}, "bad\\.mtx: tile \\(1, 1\\) is not.*"},
      {{"solve", "split.mtx", "--entry-definition", "bare.json", "--preconditioner", "jacobi"},
       "Jacobi: entry bare defines no inverse.*none.*"}};
  for (const auto& [arguments, message] : faults) {
    SCOPED_TRACE(message);
    const Result result = run(arguments);
    EXPECT_EQ(result.status, 2);
    EXPECT_EQ(result.out, "");
    EXPECT_EQ(result.error_lines(), 1u) << result.error;
    EXPECT_TRUE(std::regex_match(result.error, std::regex("heddle: " + message + "\n")))
        << result.error;
  }
}

}  // namespace
