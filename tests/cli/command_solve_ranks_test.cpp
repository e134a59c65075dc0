// Runs in the release.
// `heddle solve --ranks`: ranks of one process give the solution of one process.
#include <string>
#include <vector>

#include "cli/run.hpp"

namespace command_solve_ranks {
namespace {

class Ranks : public CommandLine {
 protected:
  Ranks() {
    const Result made = run({"generate", "poisson", "--size", "1500", "--output", "a.npz"});
    EXPECT_EQ(made.status, 0) << made.error;
  }
  std::string solution(const std::vector<std::string>& more) const {
    std::vector<std::string> arguments{"solve", "a.npz", "--plan", "CSR", "--output", "x.mtx"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const Result result = run(arguments);
    EXPECT_EQ(result.status, 0) << result.error;
    return text_of("x.mtx");
  }
  void expect_refused(const std::vector<std::string>& more, const std::string& message) const {
    std::vector<std::string> arguments{"solve", "a.npz"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const Result result = run(arguments);
    EXPECT_EQ(result.status, 2);
    EXPECT_EQ(result.error, "heddle: " + message + "\n");
  }
};

TEST_F(Ranks, WriteTheSolutionOfOneProcess) {
  for (const std::vector<std::string>& method :
       {std::vector<std::string>{"--solver", "auto"},
        {"--solver", "fgmres", "--preconditioner", "cr"},
        {"--solver", "cr", "--preconditioner", "none", "--shift", "0.5"},
        {"--solver", "block-cg", "--right-hand-sides", "3"},
        {"--solver", "lsmr", "--tolerance", "1e-6"},
        {"--damping", "0.1"},
        {"--solver", "cg", "--preconditioner", "chebyshev", "--right-hand-sides", "2"}}) {
    const std::string alone = solution(method);
    for (const std::string exchange : {"vector", "naive", "task"}) {
      std::vector<std::string> on_ranks = method;
      on_ranks.insert(on_ranks.end(), {"--ranks", "3", "--exchange", exchange});
      EXPECT_EQ(solution(on_ranks), alone) << method[1] << " " << exchange;
    }
  }
  EXPECT_EQ(solution({"--ranks", "4", "--partition", "0,0,512,1024"}), solution({}));
  EXPECT_EQ(solution({"--ranks", "2", "--partition", "rows"}), solution({}));
  for (const std::string preconditioner :
       {"jacobi", "block-jacobi", "chebyshev", "neumann", "fsai", "isai*jacobi", "gmres",
        "multigrid:2:w:l1-jacobi", "multigrid:1:k:gauss-seidel"}) {
    const std::string alone = solution({"--preconditioner", preconditioner});
    for (const std::string partition : {"0,0", "0,1452"}) {
      EXPECT_EQ(
          solution({"--preconditioner", preconditioner, "--ranks", "2", "--partition", partition}),
          alone)
          << preconditioner << " " << partition;
    }
  }
}

TEST_F(Ranks, FindTheVectorsOfOneProcess) {
  const auto vectors = [&](const std::vector<std::string>& more) {
    std::vector<std::string> arguments{"eigen",       "a.npz", "--plan", "CSR",      "--count", "2",
                                       "--tolerance", "1e-4",  "--json", "--output", "v.mtx"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const Result result = run(arguments);
    EXPECT_EQ(result.status, 0) << result.error;
    const auto json = result.json();
    EXPECT_EQ(json.contains("ranks"), !more.empty() && more.front() == "--ranks");
    return text_of("v-1.mtx") + text_of("v-2.mtx") + json["eigenvalues"].dump();
  };
  EXPECT_EQ(vectors({"--ranks", "3"}), vectors({}));
  // All rows of this mass are interior on every rank.
  std::string mass = "%%MatrixMarket matrix coordinate real symmetric\n1452 1452 1452\n";
  for (int row = 1; row <= 1452; ++row) {
    const std::string number = std::to_string(row);
    mass += number + " " + number + " " + std::to_string(1 + row % 3) + "\n";
  }
  folder.write("mass.mtx", mass);
  EXPECT_EQ(vectors({"--ranks", "3", "--mass", "mass.mtx"}), vectors({"--mass", "mass.mtx"}));
  folder.write("small.mtx", "%%MatrixMarket matrix coordinate real symmetric\n1 1 1\n1 1 2\n");
  const Result refused = run({"eigen", "a.npz", "--mass", "small.mtx", "--ranks", "2"});
  EXPECT_EQ(refused.status, 2);
  EXPECT_EQ(refused.error, "heddle: the mass is 1 x 1, the matrix 1452 x 1452\n");
}

TEST_F(Ranks, TakeGroupsOfRowsOfOtherLibraries) {
  EXPECT_EQ(run({"generate", "elasticity", "--size", "3000", "--output", "e.npz"}).status, 0);
  for (const std::vector<std::string>& matrix :
       {std::vector<std::string>{"a.npz"}, {"e.npz", "--entry", "block3"}}) {
    std::vector<std::string> arguments{"solve", "--plan", "CSR", "--output", "x.mtx"};
    arguments.insert(arguments.end(), matrix.begin(), matrix.end());
    EXPECT_EQ(run(arguments).status, 0);
    const std::string alone = text_of("x.mtx");
    arguments.insert(arguments.end(), {"--ranks", "3", "--partition", ""});
    for (const std::string by : {"metis", "scotch"}) {
      arguments.back() = by;
      const Result result = run(arguments);
      if (result.status == 2) {
        EXPECT_NE(result.error.find("heddle: this heddle was built without "), std::string::npos);
        continue;
      }
      EXPECT_EQ(result.status, 0) << result.error;
      EXPECT_EQ(text_of("x.mtx"), alone) << matrix.front() << " " << by;
    }
  }
}

TEST_F(Ranks, AreReported) {
  const auto json = run({"solve", "a.npz", "--ranks", "3", "--json"}).json();
  EXPECT_EQ(json["ranks"]["count"], 3);
  EXPECT_EQ(json["ranks"]["communicator"], "threads");
  const auto exchange = json["ranks"]["exchange"].get<std::string>();
  EXPECT_EQ(json["ranks"]["exchange_reason"].get<std::string>().find("ranks on one host"), 0u);
  EXPECT_EQ(json["ranks"]["boundary"], "whole");
  const auto split =
      run({"solve", "a.npz", "--ranks", "3", "--boundary", "split", "--json"}).json();
  EXPECT_EQ(split["ranks"]["boundary"], "split");
  EXPECT_EQ(split["ranks"]["interior_rows"], json["ranks"]["interior_rows"]);
  EXPECT_LT(split["error"].get<double>(), 1e-6);
  EXPECT_LE(json["ranks"]["rows"][0].get<int>(), json["ranks"]["rows"][1].get<int>());
  EXPECT_GT(json["ranks"]["halo"][1].get<int>(), 0);
  EXPECT_EQ(json["ranks"]["times"].size(), 4u);
  EXPECT_GT(json["memory"].get<long long>(), 0);
  const Result text = run({"solve", "a.npz", "--ranks", "3"});
  EXPECT_NE(text.out.find("\nranks      3 (threads), exchange " + exchange + ", boundary whole: "),
            std::string::npos);
  const auto named =
      run({"solve", "a.npz", "--ranks", "3", "--exchange", "naive", "--json"}).json();
  EXPECT_EQ(named["ranks"]["exchange"], "naive");
  EXPECT_EQ(named["ranks"]["exchange_reason"], "by --exchange");
}

TEST_F(Ranks, SetAMultigridUpAsOneProcess) {
  const std::vector<std::string> adaptive = {"--preconditioner", "multigrid:2", "--candidates",
                                             "adaptive"};
  std::vector<std::string> on_ranks = adaptive;
  on_ranks.insert(on_ranks.end(), {"--ranks", "3"});
  EXPECT_EQ(solution(on_ranks), solution(adaptive));
  const auto multigrid = [&](const char* ranks) {
    return run({"solve", "a.npz", "--ranks", ranks, "--preconditioner", "multigrid", "--json"})
        .json()["multigrid"];
  };
  const auto found = multigrid("3");
  EXPECT_EQ(found["levels"], multigrid("1")["levels"]);
  EXPECT_EQ(found["reason"], "default");
  EXPECT_EQ(found["smoother"], "chebyshev");
}

TEST_F(Ranks, AreNoneWhereTheyShareAProcessor) {
  const std::string alone = solution({});
  EXPECT_EQ(solution({"--ranks", "auto"}), alone);
  const auto json =
      run({"solve", "a.npz", "--ranks", "auto", "--device", "cpu,cpu", "--json"}).json();
  EXPECT_EQ(json["rank_choice"],
            "none: threads of one process share the processor's cores and memory");
  EXPECT_FALSE(json.contains("ranks"));
  const Result other = run({"solve", "a.npz", "--ranks", "all"});
  EXPECT_EQ(other.status, 2);
  EXPECT_NE(other.error.find("'all' is not a whole number from 1 to 1024"), std::string::npos);
}

TEST_F(Ranks, RefuseWhatTheyDoNotShare) {
  expect_refused({"--exchange", "naive"}, "--exchange is for ranks: give --ranks too");
  expect_refused({"--transfer", "nccl"}, "--transfer is for ranks: give --ranks too");
  expect_refused({"--ranks", "2", "--transfer", "nccl"},
                 "--transfer is for ranks on GPUs: give --device too");
  expect_refused({"--ranks", "2", "--storage", "hisparse"},
                 "ranks share matrices in sliced storage, not in --storage hisparse");
  expect_refused({"--ranks", "2", "--partition", "0,5"},
                 "partition: rank 1 begins at row 5, which is not a multiple of 256");
  expect_refused({"--ranks", "2", "--partition", "halves"},
                 "partition: halves is not entries, rows, metis, scotch, or first rows "
                 "separated by commas");
  expect_refused(
      {"--ranks", "auto", "--partition", "0,512"},
      "--partition with first rows fixes the number of ranks: give that number, not auto");
  expect_refused({"--ranks", "auto", "--transfer", "staged"},
                 "--transfer is for ranks on GPUs: give --device too");
  expect_refused({"--ranks", "auto", "--partition", "halves"},
                 "partition: halves is not entries, rows, metis, scotch, or first rows "
                 "separated by commas");
  expect_refused({"--device", "cpu,cpu"}, "--device cpu,cpu is for ranks: give --ranks too");
  expect_refused({"--ranks", "3", "--device", "cpu,cpu"},
                 "--device cpu,cpu names 2 devices for 3 ranks: give one for each, or one for all");
  expect_refused({"--ranks", "2", "--device", "cpu,"},
                 "no device is named ''; there are: cpu, cuda, cuda:N, auto");
  expect_refused({"--ranks", "2", "--cycle", "w"}, "--cycle is for --preconditioner multigrid");
  folder.write("wide.mtx", "%%MatrixMarket matrix coordinate real general\n2 3 2\n1 1 2\n2 3 2\n");
  EXPECT_EQ(run({"solve", "wide.mtx", "--ranks", "2"}).error,
            "heddle: ranks share square matrices, not one of 2 rows and 3 columns\n");
  EXPECT_EQ(run({"solve", "wide.mtx", "--ranks", "auto"}).status, 0);
}

}  // namespace
}  // namespace command_solve_ranks
