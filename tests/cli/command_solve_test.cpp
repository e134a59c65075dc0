// Runs in both builds.
// `heddle solve` for every entry, in every form of file, and the report as JSON.
#include <unistd.h>

#include <array>

#include "cli/run.hpp"
#include "cli/small_systems.hpp"

namespace {

using Json = nlohmann::json;

const std::set<std::string> provenance = {"file",   "device", "threads", "program", "version",
                                          "commit", "date",   "command", "host"};

void expect_report(const Json& json, const std::string& entry, double tolerance) {
  const std::set<std::string> needed = {"status",        "iterations",
                                        "residual",      "error",
                                        "plan",          "loop",
                                        "entry",         "precision",
                                        "rows",          "entries",
                                        "restarts",      "memory",
                                        "times",         "bytes_per_iteration",
                                        "bandwidth",     "stored",
                                        "plan_reason",   "solver",
                                        "solver_reason", "backward_error",
                                        "shift",         "preconditioner",
                                        "systems",       "interval",
                                        "omega",         "returned",
                                        "settings",      "columns"};
  const std::set<std::string> conditional = {"detail", "advice", "preconditioner_reason",
                                             "processors"};
  std::set<std::string> found;
  for (const auto& [key, value] : json.items()) {
    if (!conditional.contains(key) && !provenance.contains(key)) found.insert(key);
  }
  ASSERT_EQ(found, needed);
  for (const char* key :
       {"iterations", "rows", "entries", "restarts", "memory", "bytes_per_iteration"}) {
    EXPECT_TRUE(json[key].is_number_integer()) << key;
    EXPECT_GE(json[key].get<long long>(), 0) << key;
  }
  std::set<std::string> times;
  for (const auto& [key, value] : json["times"].items()) {
    times.insert(key);
    EXPECT_TRUE(value.is_number() && value.get<double>() >= 0) << key;
  }
  EXPECT_EQ(times, (std::set<std::string>{"read", "build", "permute", "iterate", "write"}));
  EXPECT_EQ(json["status"], "converged");
  EXPECT_EQ(json["entry"], entry);
  EXPECT_EQ(json["loop"], "stepped");
  ASSERT_TRUE(json["residual"].is_number());
  EXPECT_LE(json["residual"].get<double>(), tolerance);
  EXPECT_GT(json["memory"].get<long long>(), 0);
  EXPECT_GT(json["bytes_per_iteration"].get<long long>(), 0);
  EXPECT_GT(json["bandwidth"].get<double>(), 0);
}

class Solve : public CommandLine, public testing::WithParamInterface<SmallSystem> {};

class SolveNames : public CommandLine {};

TEST_F(SolveNames, ReportsSayWhereTheyComeFrom) {
  folder.write("a.mtx", matrix_market(real_matrix(12)));
  for (const std::string command : {"solve", "eigen", "spmv", "info", "lsmr"}) {
    std::vector<std::string> arguments = {command == "lsmr" ? "solve" : command, "a.mtx",
                                          "--threads", "2", "--json"};
    if (command == "lsmr") arguments.insert(arguments.end(), {"--solver", "lsmr"});
    const Json json = run(arguments).json();
    for (const std::string& key : provenance) EXPECT_TRUE(json.contains(key)) << command << key;
    EXPECT_EQ(json["file"], "a.mtx");
    EXPECT_EQ(json["threads"], 2);
    EXPECT_GE(json["processors"], 1);
    EXPECT_LE(json["processors"], 2);
    EXPECT_EQ(json["program"], "heddle " + json["version"].get<std::string>());
    EXPECT_NE(json["device"].get<std::string>().find("2 threads"), std::string::npos);
    std::string line = "heddle";
    for (const std::string& word : arguments) line += " " + word;
    EXPECT_EQ(json["command"], line);
    std::array<char, 256> host{};
    ASSERT_EQ(gethostname(host.data(), host.size() - 1), 0);
    EXPECT_EQ(json["host"], host.data());
  }
}

TEST_F(SolveNames, AreTakenInAnyCase) {
  folder.write("a.mtx", matrix_market(real_matrix(12)));
  const Json json =
      run({"solve", "a.mtx", "--entry", "Block3", "--precision", "Double", "--device", "CPU",
           "--solver", "BiCGStab", "--preconditioner", "Jacobi*FSAI:1", "--plan",
           "csr,Schedule=Dynamic", "--storage", "Sliced", "--basis-precision", "FULL", "--json"})
          .json();
  EXPECT_EQ(json["status"], "converged");
  EXPECT_EQ(json["entry"], "block3");
  EXPECT_EQ(json["solver"], "bicgstab");
  EXPECT_EQ(json["preconditioner"], "jacobi*fsai:1");
  EXPECT_NE(json["plan"].get<std::string>().find("schedule=dynamic"), std::string::npos);
  EXPECT_EQ(run({"solve", "a.mtx", "--solver", "AUTO", "--preconditioner", "Multigrid:W", "--json"})
                .json()["multigrid"]["cycle"],
            "w");
  EXPECT_EQ(
      run({"solve", "a.mtx", "--ranks", "2", "--partition", "Rows", "--exchange", "Task"}).status,
      0);
  EXPECT_EQ(run({"generate", "Poisson", "--size", "100", "-o", "p.mtx"}).status, 0);
  EXPECT_EQ(run({"convert", "p.mtx", "p.npz", "--entry", "REAL"}).status, 0);
}

TEST_P(Solve, ReportsAsJson) {
  const SmallSystem& system = GetParam();
  folder.write("a.mtx", system.text);
  const Result result =
      run({"solve", "a.mtx", "--entry", system.entry, "--solver", system.solver, "--json"});
  ASSERT_EQ(result.status, 0) << result.error;
  EXPECT_EQ(result.error, "");
  const Json json = result.json();
  expect_report(json, system.entry, 1e-10);
  EXPECT_EQ(json["precision"], "double");
  EXPECT_EQ(json["rows"], system.rows);
  ASSERT_TRUE(json["error"].is_number());
  EXPECT_LE(json["error"].get<double>(), 1e-8);
  EXPECT_EQ(files(), Names{"a.mtx"});
}

TEST_P(Solve, WritesWhatSolvesTheSystem) {
  const SmallSystem& system = GetParam();
  folder.write("a.mtx", system.text);
  const Result result = run({"solve", "a.mtx", "--entry", system.entry, "--solver", system.solver,
                             "--rhs", "ones", "--output", "x.mtx", "--json"});
  ASSERT_EQ(result.status, 0) << result.error;
  EXPECT_TRUE(result.json()["error"].is_null());
  const std::vector<double> x = components_of(text_of("x.mtx"));
  ASSERT_EQ(x.size(), static_cast<std::size_t>(system.representation.columns));
  std::vector<double> ones(x.size());  // the number 1 everywhere
  for (std::size_t i = 0; i < x.size(); ++i) {
    ones[i] = i % static_cast<std::size_t>(parts_of_number(system.entry)) == 0 ? 1 : 0;
  }
  EXPECT_LE(relative_residual(system.representation, x, ones), 1e-10);
  EXPECT_EQ(files(), (Names{"a.mtx", "x.mtx"}));
}

TEST_P(Solve, ReadsTheRightHandSideFromAFile) {
  const SmallSystem& system = GetParam();
  folder.write("a.mtx", system.text);
  std::vector<double> b;
  std::string column = "%%MatrixMarket matrix array real general\n" +
                       std::to_string(system.representation.rows) + " 1\n";
  for (int i = 0; i < system.representation.rows; ++i) {
    b.push_back(0.5 * i - 2);
    column += std::to_string(b.back()) + "\n";
  }
  folder.write("b.mtx", column);
  const Result result = run({"solve", "a.mtx", "--entry", system.entry, "--solver", system.solver,
                             "--rhs", "b.mtx", "-o", "x.mtx.gz", "--quiet"});
  ASSERT_EQ(result.status, 0) << result.error;
  EXPECT_EQ(result.out, "");
  ASSERT_EQ(shell("gunzip x.mtx.gz").status, 0);
  const std::vector<double> x = components_of(text_of("x.mtx"));
  ASSERT_EQ(x.size(), b.size());
  EXPECT_LE(relative_residual(system.representation, x, b), 1e-10);
}

TEST_P(Solve, InSinglePrecision) {
  const SmallSystem& system = GetParam();
  write_gzip(folder / "a.mtx.gz", system.text);
  const Result result = run({"solve", "a.mtx.gz", "--entry", system.entry, "--solver",
                             system.solver, "--precision", "single", "--json"});
  ASSERT_EQ(result.status, 0) << result.error;
  const Json json = result.json();
  expect_report(json, system.entry, 1e-5);
  EXPECT_EQ(json["precision"], "single");
  EXPECT_LE(json["error"].get<double>(), 1e-3);
}

INSTANTIATE_TEST_SUITE_P(Entries, Solve, testing::ValuesIn(small_systems()),
                         [](const auto& system) { return system.param.name; });

TEST_F(CommandLine, ASolveThatIsRefusedKeepsWhatIsThere) {
  folder.write("skew.mtx",
               "%%MatrixMarket matrix coordinate real general\n2 2 4\n"
               "1 1 1\n1 2 5\n2 1 -5\n2 2 1\n");
  folder.write("x.mtx", "older");
  const Result result = run({"solve", "skew.mtx", "--solver", "cg", "-o", "x.mtx"});
  EXPECT_EQ(result.status, 1);
  EXPECT_NE(result.out.find("written    nothing"), result.out.npos) << result.out;
  EXPECT_EQ(text_of("x.mtx"), "older");
}

/// `heddle generate` reports how to solve what it wrote; this holds for .mtx.gz and .npz too.
class SolveGenerated : public CommandLine, public testing::WithParamInterface<const char*> {};

TEST_P(SolveGenerated, AsGenerateSays) {
  std::vector<std::string> solutions;
  for (const std::string file : {"a.mtx", "a.mtx.gz", "a.npz"}) {
    SCOPED_TRACE(file);
    const Result generated = run({"generate", GetParam(), "--size", "300", "-o", file});
    ASSERT_EQ(generated.status, 0) << generated.error;
    const std::string mark = "next: heddle ";
    const std::size_t next = generated.out.find(mark);
    ASSERT_NE(next, std::string::npos) << generated.out;
    std::string line = generated.out.substr(next + mark.size());
    line.erase(line.find('\n'));
    const Result solved = shell("$heddle " + line + " --json --output x.mtx");
    ASSERT_EQ(solved.status, 0) << line << solved.error;
    const Json json = solved.json();
    EXPECT_EQ(json["status"], "converged");
    EXPECT_LE(json["residual"].get<double>(), 1e-10);
    EXPECT_LE(json["error"].get<double>(), 1e-6);
    solutions.push_back(text_of("x.mtx"));
    EXPECT_EQ(solutions.back(), solutions.front());
  }
}

INSTANTIATE_TEST_SUITE_P(Problems, SolveGenerated,
                         testing::Values("poisson", "elasticity", "helmholtz", "dirac"),
                         [](const auto& problem) { return std::string(problem.param); });

}  // namespace
