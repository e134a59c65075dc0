// Runs in the release.
// Hierarchical storage on the command line: `--storage hisparse`, `heddle info`, `heddle add`.
#include <cmath>
#include <sstream>
#include <string>
#include <vector>

#include "cli/run.hpp"
#include "cli/small_systems.hpp"
#include "heddle/runtime/preconditioner_choice.hpp"

namespace command_hierarchical {
namespace {

class Hierarchical : public CommandLine {
 protected:
  void expect_refused(const std::vector<std::string>& arguments, int status,
                      const std::string& message) const {
    const Result result = run(arguments);
    EXPECT_EQ(result.status, status) << result.error;
    EXPECT_EQ(result.error_lines(), 1u) << result.error;
    EXPECT_NE(result.error.find(message), std::string::npos) << result.error;
  }
};

TEST_F(Hierarchical, SolvesEverySystemAsSlicedStorageDoes) {
  for (const SmallSystem& system : small_systems()) {
    SCOPED_TRACE(system.name);
    folder.write("a.mtx", system.text);
    const Result result =
        run({"solve", "a.mtx", "--entry", system.entry, "--solver", system.solver, "--storage",
             "hisparse", "--node", "4", "--json", "--output", "x.mtx"});
    ASSERT_EQ(result.status, 0) << result.error;
    const auto json = result.json();
    EXPECT_EQ(json["status"], "converged");
    EXPECT_EQ(json["plan"], "hisparse,node=4");
    EXPECT_EQ(json["plan_reason"], "by --node");
    EXPECT_EQ(json["preconditioner"], "jacobi");
    EXPECT_LT(json["error"].get<double>(), 1e-8);
    EXPECT_GT(json["memory"].get<long long>(), 0);
    EXPECT_EQ(components_of(text_of("x.mtx")).size(),
              static_cast<std::size_t>(system.representation.columns));
  }
}

TEST_F(Hierarchical, SolvesByEveryMethodThatTakesOperators) {
  folder.write("a.mtx", matrix_market(real_matrix(24)));
  for (const std::string solver :
       {"auto", "cg", "bicgstab", "bicgstab2", "minres", "gmres", "fgmres", "cr"}) {
    for (const std::string preconditioner : {"none", "jacobi", "chebyshev", "neumann", "cr"}) {
      if (preconditioner == "cr" && solver != "fgmres" && solver != "auto") continue;
      SCOPED_TRACE(solver + " " + preconditioner);
      const Result result = run({"solve", "a.mtx", "--storage", "hisparse", "--solver", solver,
                                 "--preconditioner", preconditioner});
      EXPECT_EQ(result.status, 0) << result.out << result.error;
      EXPECT_NE(result.out.find("plan       hisparse,node=128\n"), std::string::npos);
    }
  }
  const auto memory_with = [&](const std::string& preconditioner) {
    const Result result = run({"solve", "a.mtx", "--storage", "hisparse", "--solver", "gmres",
                               "--preconditioner", preconditioner, "--json"});
    EXPECT_EQ(result.status, 0) << result.error;
    return result.json()["memory"].get<long long>();
  };
  // Only preconditioners that need the diagonal store it.
  EXPECT_GE(memory_with("jacobi"), memory_with("none") + 24 * 20);
  const Result shifted = run({"solve", "a.mtx", "--storage", "hisparse", "--shift", "0.5", "--json",
                              "--right-hand-sides", "2"});
  EXPECT_EQ(shifted.status, 0) << shifted.error;
  EXPECT_EQ(shifted.json()["systems"].size(), 2u);
}

TEST_F(Hierarchical, TakesPreconditionersOfAllEntries) {
  folder.write("a.mtx",
               "%%MatrixMarket matrix coordinate real symmetric\n4 4 6\n1 1 4\n2 2 5\n3 3 6\n"
               "4 4 7\n2 1 1\n4 2 -1\n");
  std::vector<std::string> preconditioners = {"fsai:2", "jacobi*fsai"};
  for (const heddle::PreconditionerInfo& row : heddle::preconditioner_table()) {
    if (row.is_of_all_entries) preconditioners.emplace_back(row.name);
  }
  for (const std::string& preconditioner : preconditioners) {
    const auto solve = [&](std::vector<std::string> more) {
      std::vector<std::string> arguments = {
          "solve", "a.mtx", "--preconditioner", preconditioner, "--json", "--solver", "gmres"};
      arguments.insert(arguments.end(), more.begin(), more.end());
      const Result result = run(arguments);
      EXPECT_EQ(result.status, 0) << preconditioner << ": " << result.error;
      return result.json();
    };
    const auto of_tree = solve({"--storage", "hisparse"}), of_rows = solve({"--plan", "CSR"});
    EXPECT_EQ(of_tree["iterations"], of_rows["iterations"]) << preconditioner;
    EXPECT_GT(of_tree["memory"], of_rows["memory"]) << "both are there";
  }
}

TEST_F(Hierarchical, FindsEigenpairs) {
  folder.write("a.mtx",
               "%%MatrixMarket matrix coordinate real symmetric\n4 4 6\n1 1 4\n2 2 5\n3 3 6\n"
               "4 4 7\n2 1 1\n4 2 -1\n");
  folder.write("m.mtx",
               "%%MatrixMarket matrix coordinate real symmetric\n4 4 4\n1 1 1\n2 2 2\n3 3 1\n"
               "4 4 3\n");
  for (const std::vector<std::string>& more : {std::vector<std::string>{},
                                               {"--mass", "m.mtx"},
                                               {"--preconditioner", "fsai"},
                                               {"--preconditioner", "none"}}) {
    const auto eigenvalues = [&](const std::vector<std::string>& storage) {
      std::vector<std::string> arguments = {"eigen", "a.mtx", "--count", "2", "--json"};
      arguments.insert(arguments.end(), more.begin(), more.end());
      arguments.insert(arguments.end(), storage.begin(), storage.end());
      const Result result = run(arguments);
      EXPECT_EQ(result.status, 0) << result.error;
      return result.json();
    };
    const auto of_tree = eigenvalues({"--storage", "hisparse", "--node", "4"});
    const auto of_rows = eigenvalues({"--plan", "CSR"});
    EXPECT_EQ(of_tree["plan"], "hisparse,node=4");
    ASSERT_EQ(of_tree["eigenvalues"].size(), 2u);
    for (std::size_t k = 0; k < 2; ++k) {
      EXPECT_NEAR(of_tree["eigenvalues"][k].get<double>(), of_rows["eigenvalues"][k].get<double>(),
                  1e-6);
    }
  }
  const Result text = run({"eigen", "a.mtx", "--storage", "hisparse", "--count", "1"});
  EXPECT_NE(text.out.find("memory     leaves "), std::string::npos) << text.out;
}

TEST_F(Hierarchical, TakesTunedSizesOfNodes) {
  folder.write("a.mtx", matrix_market(real_matrix(40)));
  folder.write("b.mtx",
               "%%MatrixMarket matrix coordinate real general\n4 6 3\n1 1 1\n4 6 2\n2 3 1\n");
  const Result tuned = run({"tune", "a.mtx", "b.mtx", "--storage", "hisparse", "--max-runs", "3",
                            "-o", "p.json", "--json"});
  ASSERT_EQ(tuned.status, 0) << tuned.error;
  const auto json = tuned.json();
  ASSERT_EQ(json["matrices"].size(), 2u);
  for (const auto& matrix : json["matrices"]) {
    ASSERT_GE(matrix["sizes"].size(), 2u);
    for (const auto& size : matrix["sizes"]) {
      EXPECT_GT(size["product"]["median"].get<double>(), 0);
      EXPECT_GT(size["adjoint_product"]["median"].get<double>(), 0);
      EXPECT_GT(size["bytes"].get<long long>(), 0);
    }
  }
  const auto plan_of = [](const nlohmann::json& matrix, const std::string& of) {
    const std::string dense = matrix["dense" + of];
    return "hisparse,node=" + std::to_string(matrix["node" + of].get<int>()) +
           (dense == "bytes" ? "" : ",dense=" + dense) +
           (matrix["schedule" + of] == "tree" ? ",schedule=tree" : "");
  };
  const auto& of_a = json["matrices"][0];
  const Result solved =
      run({"solve", "a.mtx", "--storage", "hisparse", "--profile", "p.json", "--json"});
  ASSERT_EQ(solved.status, 0) << solved.error;
  EXPECT_EQ(solved.json()["plan"], plan_of(of_a, "_of_solve"));
  EXPECT_TRUE(solved.json()["plan_reason"].get<std::string>().starts_with(
      "tuned for this pattern (profile p.json)"));
  const Result measured = run({"spmv", "a.mtx", "--storage", "hisparse", "--adjoint", "--profile",
                               "p.json", "--repetitions", "1", "--json"});
  ASSERT_EQ(measured.status, 0) << measured.error;
  EXPECT_EQ(measured.json()["products"][0]["plan"], plan_of(of_a, "_of_adjoint"));
  const Result squares =
      run({"solve", "b.mtx", "--storage", "hisparse", "--profile", "p.json", "--json"});
  EXPECT_EQ(squares.json()["plan"], plan_of(json["matrices"][1], "_of_both"));
  const Result text = run(
      {"tune", "a.mtx", "--storage", "hisparse", "--max-runs", "2", "-o", "p.json", "--append"});
  EXPECT_EQ(text.status, 0) << text.error;
  EXPECT_NE(text.out.find("written    p.json"), std::string::npos) << text.out;
  EXPECT_NE(text.out.find("bytes an entry"), std::string::npos) << text.out;
}

TEST_F(Hierarchical, TakesAScheduleThatAProfileNames) {
  folder.write("a.mtx", matrix_market(real_matrix(40)));
  ASSERT_EQ(
      run({"tune", "a.mtx", "--storage", "hisparse", "--max-runs", "2", "-o", "p.json"}).status, 0);
  // Makes one trial by schedule=tree the fastest.
  auto profile = nlohmann::ordered_json::parse(text_of("p.json"));
  const auto scaled = [](nlohmann::ordered_json statistics, double factor) {
    for (auto& [key, value] : statistics.items()) {
      if (key != "runs") value = value.get<double>() * factor;
    }
    return statistics;
  };
  auto& trials = profile["trees"][0]["sizes"];
  const auto usual = std::find_if(trials.begin(), trials.end(), [](const auto& trial) {
    return trial["node"] == 128 && trial.contains("schedule");
  });
  ASSERT_NE(usual, trials.end());
  const auto write = [&](double iterations_by_tree) {
    for (auto& trial : trials) {
      if (&trial == &*usual) continue;
      for (const char* const key : {"product", "adjoint_product"}) {
        trial[key] = scaled((*usual)[key], 2);
      }
      trial["iteration"] = trial["product"];
    }
    (*usual)["iteration"] = scaled((*usual)["product"], 2 * iterations_by_tree);
    folder.write("p.json", profile.dump());
  };
  const std::string kept = "hisparse,node=128", by_tree = kept + ",schedule=tree";
  const auto plan_by = [&](std::vector<std::string> arguments) {
    const bool measures = arguments.front() == "spmv";
    if (measures) arguments.insert(arguments.end(), {"--repetitions", "1"});
    arguments.insert(arguments.end(), {"a.mtx", "--profile", "p.json", "--threads", "1", "--json"});
    const Result result = run(arguments);
    EXPECT_EQ(result.status, 0) << result.error;
    const auto json = result.json();
    return (measures ? json["products"][0] : json)["plan"].get<std::string>();
  };
  for (const double iterations_by_tree : {0.5, 1.5}) {
    write(iterations_by_tree);
    const std::string& of_solve = iterations_by_tree < 1 ? by_tree : kept;
    EXPECT_EQ(plan_by({"solve", "--storage", "hisparse"}), of_solve);
    EXPECT_EQ(plan_by({"solve", "--storage", "hisparse", "--solver", "lsmr"}), by_tree);
    EXPECT_EQ(plan_by({"eigen", "--storage", "hisparse"}), by_tree);
    EXPECT_EQ(plan_by({"spmv", "--storage", "hisparse"}), by_tree);
    EXPECT_EQ(plan_by({"spmv", "--storage", "hisparse", "--adjoint"}), by_tree);
    EXPECT_EQ(plan_by({"solve", "--storage", "hisparse,schedule=tree"}), by_tree);
  }
}

TEST_F(Hierarchical, SolvesABlockOfSystems) {
  folder.write("a.mtx",
               "%%MatrixMarket matrix coordinate real symmetric\n4 4 6\n1 1 4\n2 2 5\n3 3 6\n"
               "4 4 7\n2 1 1\n4 2 -1\n");
  for (const std::string preconditioner : {"none", "jacobi", "chebyshev"}) {
    const Result result =
        run({"solve", "a.mtx", "--storage", "hisparse", "--solver", "block-cg", "--preconditioner",
             preconditioner, "--right-hand-sides", "3", "--json"});
    ASSERT_EQ(result.status, 0) << result.error;
    EXPECT_EQ(result.json()["solver"], "block-cg");
    EXPECT_EQ(result.json()["plan"], "hisparse,node=128");
    for (const auto& system : result.json()["systems"]) {
      EXPECT_LT(system["error"].get<double>(), 1e-8);
    }
  }
}

TEST_F(Hierarchical, SolvesLeastSquares) {
  folder.write("a.mtx",
               "%%MatrixMarket matrix coordinate real general\n4 2 5\n1 1 1\n2 1 2\n3 2 1\n"
               "4 1 1\n4 2 3\n");
  const Result result = run({"solve", "a.mtx", "--storage", "hisparse", "--json"});
  ASSERT_EQ(result.status, 0) << result.error;
  EXPECT_EQ(result.json()["solver"], "lsmr");
  EXPECT_EQ(result.json()["plan"], "hisparse,node=128");
  EXPECT_LT(result.json()["error"].get<double>(), 1e-8);
  const Result text = run({"solve", "a.mtx", "--storage", "hisparse"});
  EXPECT_NE(text.out.find("memory     leaves "), std::string::npos) << text.out;
}

TEST_F(Hierarchical, SolvesWithADynamicSchedule) {
  folder.write("a.mtx", matrix_market(real_matrix(40)));
  const std::string plan = "hisparse,node=8,schedule=tree";
  for (const char* const solver : {"bicgstab", "lsmr"}) {
    const Result result = run({"solve", "a.mtx", "--storage", "hisparse,schedule=tree", "--node",
                               "8", "--solver", solver, "--json"});
    ASSERT_EQ(result.status, 0) << result.error;
    EXPECT_EQ(result.json()["plan"], plan);
    EXPECT_LT(result.json()["error"].get<double>(), 1e-6);
  }
  const Result text = run({"eigen", "a.mtx", "--storage", "hisparse,schedule=tree"});
  EXPECT_EQ(text.status, 0) << text.error;
  EXPECT_NE(text.out.find("adds in another order in each run"), std::string::npos) << text.out;
}

TEST_F(Hierarchical, MeasuresProductsWithPlans) {
  folder.write("a.mtx",
               "%%MatrixMarket matrix coordinate real general\n4 6 3\n1 1 1\n4 6 2\n2 3 1\n");
  const Result dynamic = run({"spmv", "a.mtx", "--storage", "hisparse,schedule=tree", "--adjoint",
                              "--repetitions", "1", "--json"});
  ASSERT_EQ(dynamic.status, 0) << dynamic.error;
  EXPECT_EQ(dynamic.json()["products"][0]["plan"], "hisparse,node=128,schedule=tree");
  EXPECT_FALSE(dynamic.json()["products"][0].contains("queues"));  // a CPU has none
  for (const bool adjoint : {false, true}) {
    std::vector<std::string> arguments = {
        "spmv",   "a.mtx", "--storage", "hisparse",      "--node", "8",
        "--plan", "CSR",   "--json",    "--repetitions", "1"};
    if (adjoint) arguments.emplace_back("--adjoint");
    const Result result = run(arguments);
    ASSERT_EQ(result.status, 0) << result.error;
    const auto json = result.json();
    EXPECT_EQ(json["adjoint"], adjoint);
    ASSERT_EQ(json["products"].size(), 2u);
    EXPECT_EQ(json["products"][0]["plan"], "hisparse,node=8");
    EXPECT_EQ(json["products"][0]["compulsory_bytes"], json["products"][1]["compulsory_bytes"]);
    for (const auto& product : json["products"]) {
      EXPECT_GT(product["seconds"]["median"].get<double>(), 0);
      EXPECT_GT(product["moved_bytes"].get<double>(), 0);
    }
  }
}

TEST_F(Hierarchical, InfoCountsNodesAndBytes) {
  folder.write("a.mtx",
               "%%MatrixMarket matrix coordinate real general\n6 6 4\n1 1 1\n6 6 2\n5 6 1\n"
               "1 5 1\n");
  const Result result = run({"info", "a.mtx", "--node", "4", "--json"});
  ASSERT_EQ(result.status, 0) << result.error;
  const auto tree = result.json()["hisparse"];
  EXPECT_EQ(tree["node"], 4);
  EXPECT_EQ(tree["leaves"]["coo1"], 2);
  EXPECT_EQ(tree["leaves"]["coo2"], 1);
  EXPECT_EQ(tree["leaves"]["items"], 4);
  EXPECT_EQ(tree["leaves"]["bytes"], 2 * 16 + 32);
  EXPECT_EQ(tree["inner_nodes"]["coo4"], 1);
  EXPECT_EQ(tree["inner_nodes"]["items"], 3);
  EXPECT_EQ(tree["inner_nodes"]["bytes"], 16 + 32);
  EXPECT_EQ(tree["nodes"], 4);
  EXPECT_EQ(tree["bound_of_nodes"], 1 + 4);
  EXPECT_EQ(tree["paper_bound_of_nodes"], 1 * 2 + (16 - 1) * 1);
  EXPECT_EQ(tree["bytes_per_entry"]["tree"].get<double>(), (64 + 48) / 4.0);
  EXPECT_EQ(tree["bytes_per_entry"]["coo"], 16);
  EXPECT_EQ(tree["dense"], "bytes");
  const auto dense = [&](const std::string& from) {
    return run({"info", "a.mtx", "--node", "8", "--dense", from, "--json"}).json()["hisparse"];
  };
  EXPECT_EQ(dense("6")["leaves"]["dense"], 1);  // 4 of 64 places
  EXPECT_EQ(dense("7")["leaves"]["dense"], 0);
  EXPECT_EQ(dense("never")["dense"], "never");
  const Result text = run({"info", "a.mtx"});
  for (const char* part :
       {"hisparse    nodes of 128 x 128", "leaves      0 dense, 0 COO1", "inner nodes ",
        "nodes       1; at most 1 ", "of the paper's formula", "an entry    "}) {
    EXPECT_NE(text.out.find(part), std::string::npos) << part << " in\n" << text.out;
  }
}

TEST_F(Hierarchical, AddsMatricesOfEveryEntry) {
  for (const SmallSystem& system : small_systems()) {
    SCOPED_TRACE(system.name);
    folder.write("a.mtx", system.text);
    const Result result = run({"add", "a.mtx", "a.mtx", "--entry", system.entry, "--alpha", "2",
                               "--beta", "-0.5", "-o", "c.mtx"});
    ASSERT_EQ(result.status, 0) << result.error;
    EXPECT_NE(result.out.find("written to c.mtx"), std::string::npos) << result.out;
    const auto entries_of = [&](const std::string& file) {
      return run({"info", file, "--entry", system.entry, "--json"}).json()["entries"];
    };
    EXPECT_EQ(entries_of("c.mtx"), entries_of("a.mtx"));
    ASSERT_EQ(run({"add", "a.mtx", "a.mtx", "--entry", system.entry, "--alpha", "2", "--beta",
                   "-0.5", "--storage", "hisparse,schedule=tree", "-o", "walked.mtx", "-q"})
                  .status,
              0);
    EXPECT_EQ(text_of("walked.mtx"), text_of("c.mtx"));
    // C = 3/2 A, so that all entries of 2/3 C - A are zeros.
    ASSERT_EQ(run({"add", "c.mtx", "a.mtx", "--entry", system.entry, "--alpha",
                   "0.66666666666666663", "--beta", "-1", "-o", "zero.mtx", "-q"})
                  .status,
              0);
    std::istringstream lines(text_of("zero.mtx"));
    std::string line;
    while (std::getline(lines, line) && line.starts_with("%")) {  // sizes follow
    }
    while (std::getline(lines, line)) {
      std::istringstream numbers(line);
      int row = 0, column = 0;
      numbers >> row >> column;
      for (double value = 0; numbers >> value;) EXPECT_LT(std::abs(value), 1e-13) << line;
    }
  }
}

TEST_F(Hierarchical, AddsAdjoints) {
  folder.write("a.mtx",
               "%%MatrixMarket matrix coordinate complex general\n2 3 2\n1 3 1 2\n2 1 0 1\n");
  folder.write("b.mtx",
               "%%MatrixMarket matrix coordinate complex general\n3 2 2\n3 1 5 7\n2 2 3 4\n");
  const Result result =
      run({"add", "a.mtx", "b.mtx", "--entry", "complex", "--adjoint", "-o", "c.mtx", "-q"});
  ASSERT_EQ(result.status, 0) << result.error;
  EXPECT_EQ(result.out, "");
  EXPECT_EQ(text_of("c.mtx"),
            "%%MatrixMarket matrix coordinate complex general\n2 3 3\n1 3 6 -5\n2 1 0 1\n"
            "2 2 3 -4\n");
  // (1 + 1.5i) A
  const Result adjoint = run({"add", "a.mtx", "a.mtx", "--entry", "complex", "--alpha", "1+2i",
                              "--beta", "-0.5i", "-o", "turned.mtx", "-q"});
  ASSERT_EQ(adjoint.status, 0) << adjoint.error;
  EXPECT_EQ(text_of("turned.mtx"),
            "%%MatrixMarket matrix coordinate complex general\n2 3 2\n1 3 -2 3.5\n"
            "2 1 -1.5 1\n");
  ASSERT_EQ(run({"add", "c.mtx", "c.mtx", "--entry", "complex", "-o", "d.npz"}).status, 0);
  EXPECT_EQ(run({"info", "d.npz", "--entry", "complex", "--json"}).json()["entries"], 3);
}

TEST_F(Hierarchical, RefusesInOneLine) {
  folder.write("a.mtx", matrix_market(real_matrix(12)));
  folder.write("b.mtx", "%%MatrixMarket matrix coordinate real general\n2 3 1\n1 1 1\n");
  for (const SmallSystem& system : small_systems()) {
    if (system.entry == "dual-quaternion") folder.write("d.mtx", system.text);
  }
  expect_refused({"spmv", "a.mtx", "--storage", "tree"}, 2,
                 "--storage must be sliced, hisparse or hisparse,schedule=tree, not tree");
  expect_refused({"tune", "a.mtx", "--storage", "hisparse", "--objective", "cg"}, 2,
                 "--objective is for plans of sliced storage");
  expect_refused({"tune", "a.mtx", "--storage", "tree"}, 2, "--storage");
  expect_refused({"info", "a.mtx", "--node", "100"}, 2, "not '100'");
  expect_refused({"solve", "a.mtx", "--storage", "hisparse", "--node", "3"}, 2, "not '3'");
  for (const char* const dense : {"0", "101", "half", "5%"}) {
    expect_refused({"info", "a.mtx", "--dense", dense}, 2, "dense is 1 to 100, never or bytes");
  }
  for (const auto& [launch, message] :
       {std::pair{"warps=3", "the launch of a tree's products has warps=1, 2, 4 or 8, not 3"},
        {"blocks=2", "a launch is run=N, warps=N and piece=N"},
        {"warps=4,piece=512", "--launch is for products on a GPU, not on a CPU"}}) {
    expect_refused({"spmv", "a.mtx", "--storage", "hisparse", "--launch", launch}, 2, message);
  }
  expect_refused({"spmv", "a.mtx", "--storage", "hisparse,schedule=tree", "--launch", "run=1"}, 2,
                 "--launch is for the kept schedule");
  expect_refused({"solve", "a.mtx", "--storage", "hisparse", "--plan", "CSR"}, 2,
                 "--plan is for sliced storage");
  for (const char* const command : {"solve", "spmv", "eigen"}) {
    expect_refused(
        {command, "a.mtx", "--storage", "hisparse", "--node", "8", "--profile", "none"}, 2,
        "--profile chooses the nodes of a tree, and --node, --dense or --launch names them");
    expect_refused({command, "a.mtx", "--node", "64"}, 2,
                   "--node, --dense and --launch are for --storage hisparse");
    expect_refused({command, "a.mtx", "--profile", "none", "--plan", "CSR"}, 2,
                   "--profile chooses a plan, and --plan names one");
  }
  for (const std::vector<std::string>& command :
       {std::vector<std::string>{"spmv", "--adjoint"}, {"solve", "--solver", "lsmr"}}) {
    std::vector<std::string> arguments = command;
    arguments.insert(arguments.end(),
                     {"d.mtx", "--entry", "dual-quaternion", "--storage", "hisparse"});
    expect_refused(arguments, 2, "no adjoint: entry dual-quaternion has none of its kind");
  }
  expect_refused({"spmv", "a.mtx", "--storage", "hisparse", "--update-values"}, 2,
                 "--update-values measures sliced storage");
  expect_refused({"add", "a.mtx", "b.mtx", "-o", "c.mtx"}, 2,
                 "cannot add 12 x 12 and 2 x 3 entries");
  expect_refused({"add", "a.mtx", "a.mtx", "-o", "a.mtx"}, 2, "a.mtx");
  expect_refused({"add", "a.mtx", "a.mtx", "--storage", "sliced", "-o", "c.mtx"}, 2,
                 "--storage must be hisparse or hisparse,schedule=tree, not sliced");
  for (const char* const number : {"inf", "nan", "1+2", "1+i", "i", "2j", "1+2i3", "--1"}) {
    expect_refused({"add", "a.mtx", "a.mtx", "--alpha=" + std::string(number), "-o", "c.mtx"}, 2,
                   "--alpha");
  }
  expect_refused({"add", "a.mtx", "a.mtx", "--beta", "1e400", "-o", "c.mtx"}, 2,
                 "--beta must be a finite number, not 1e400");
  folder.write("large.mtx",
               "%%MatrixMarket matrix coordinate real general\n3 3 2\n1 1 1\n2 3 1e200\n");
  expect_refused({"add", "large.mtx", "large.mtx", "--alpha", "1e200", "-o", "c.mtx"}, 2,
                 "the sum is not finite in row 1, column 2, counted from 0");
  expect_refused({"add", "a.mtx", "a.mtx", "--alpha", "1+2i", "-o", "c.mtx"}, 2,
                 "are for entries of complex numbers, not for real entries");
  for (const char* const name : {"c.foo", "c.npz.gz", "c.NPZ", "-"}) {
    expect_refused({"add", "none.mtx", "a.mtx", "-o", name}, 2,
                   "--output: " + std::string(name) + " does not end in .mtx, .mtx.gz or .npz");
  }
  EXPECT_EQ(files(), (Names{"a.mtx", "b.mtx", "d.mtx", "large.mtx"}));
}

}  // namespace
}  // namespace command_hierarchical
