// Runs in both builds.
// `heddle info`: features that can be counted by hand.
#include "cli/run.hpp"
#include "cli/small_systems.hpp"
#include "support/html_check.hpp"
#include "support/where_it_runs.hpp"

namespace {

class Info : public CommandLine {
 protected:
  nlohmann::json info(const std::string& text, const std::string& entry) const {
    folder.write("a.mtx", text);
    const Result result = run({"info", "a.mtx", "--entry", entry, "--json"});
    EXPECT_EQ(result.status, 0) << result.error;
    return result.json();
  }
};

const std::string banner = "%%MatrixMarket matrix coordinate real general\n";

TEST_F(Info, CountsRows) {
  const auto json = info(banner + "4 4 6\n1 1 1\n1 2 1\n1 4 1\n2 2 0\n4 4 1\n4 1 5\n", "real");
  EXPECT_EQ(json["rows"], 4);
  EXPECT_EQ(json["columns"], 4);
  EXPECT_EQ(json["entries"], 6);
  EXPECT_EQ(json["row_length"]["shortest"], 0);
  EXPECT_EQ(json["row_length"]["longest"], 3);
  EXPECT_EQ(json["row_length"]["empty_rows"], 1);
  EXPECT_DOUBLE_EQ(json["row_length"]["mean"], 1.5);
  EXPECT_NEAR(json["row_length"]["deviation"].get<double>(), std::sqrt(5.0 / 4), 1e-12);
  EXPECT_EQ(json["bandwidth"], 3);
  EXPECT_DOUBLE_EQ(json["mean_distance"], (1 + 3 + 3) / 6.0);
  EXPECT_EQ(json["symmetric_pattern"], false);
  EXPECT_TRUE(json["hermitian_defect"].is_null());
  EXPECT_EQ(json["missing_diagonal"], 1);
  EXPECT_EQ(json["singular_diagonal"], 1);
}

TEST_F(Info, KnowsHermitianMatricesOfEveryEntry) {
  HEDDLE_RELEASE_ONLY();
  for (const SmallSystem& system : small_systems()) {
    SCOPED_TRACE(system.name);
    const auto json = info(system.text, system.entry);
    EXPECT_EQ(json["entry"], system.entry);
    EXPECT_EQ(json["rows"], system.rows);
    EXPECT_EQ(json["symmetric_pattern"], true);
    EXPECT_EQ(json["missing_diagonal"], 0);
    EXPECT_EQ(json["singular_diagonal"], 0);
    if (system.entry == "dual-quaternion") {
      EXPECT_TRUE(json["hermitian_defect"].is_null());
    } else {
      EXPECT_EQ(json["hermitian_defect"], 0.0);
    }
    ASSERT_FALSE(json["layouts"].empty());
    const double csr = json["layouts"][0]["bytes"];
    for (const auto& layout : json["layouts"]) {
      EXPECT_NEAR(layout["of_csr"].get<double>() * csr, layout["bytes"].get<double>(), 1e-6 * csr);
    }
  }
}

TEST_F(Info, AdvisesMultigrid) {
  HEDDLE_RELEASE_ONLY();
  const auto advice_on = [&](const std::vector<std::string>& made, const std::string& entry) {
    std::vector<std::string> arguments{"generate"};
    arguments.insert(arguments.end(), made.begin(), made.end());
    arguments.insert(arguments.end(), {"-o", "g.mtx"});
    EXPECT_EQ(run(arguments).status, 0);
    return run({"info", "g.mtx", "--entry", entry, "--json"}).json()["multigrid"];
  };
  const auto poisson = advice_on({"poisson", "--size", "30000", "--contrast", "0"}, "real");
  EXPECT_EQ(poisson["advised"], true);
  EXPECT_LE(poisson["iterations"], 8);
  EXPECT_LT(poisson["factor"], 0.2);
  EXPECT_TRUE(poisson["jacobi_iterations"].is_null());
  EXPECT_NE(run({"info", "g.mtx"}).out.find("\nadvice      Take cg with multigrid: "),
            std::string::npos);
  const auto waves = advice_on({"helmholtz", "--size", "512"}, "complex");
  EXPECT_EQ(waves["advised"], false);
  EXPECT_EQ(waves["why_not"], "the matrix is not Hermitian");
  const auto indefinite = info(banner + "2 2 4\n1 1 1\n1 2 2\n2 1 2\n2 2 1\n", "real");
  EXPECT_EQ(indefinite["multigrid"]["why_not"], "the matrix is not positive semidefinite");
  const auto alone = info(banner + "2 2 2\n1 1 1\n2 2 2\n", "real");
  EXPECT_EQ(alone["multigrid"]["advised"], false);
  EXPECT_EQ(alone["multigrid"]["jacobi_iterations"], 1);
  EXPECT_FALSE(info(banner + "2 3 1\n1 1 1\n", "real").contains("multigrid"));
}

TEST_F(Info, TellsWhichExactCopiesThereAre) {
  const auto laplacian = info(banner + "2 2 4\n1 1 2\n2 2 2\n1 2 -1\n2 1 -1\n", "real");
  ASSERT_EQ(laplacian["exact_copies"].size(), 1u);
  EXPECT_EQ(laplacian["exact_copies"][0]["fits"], true);
  // A byte and a column each, and a quarter of 256 doubles from the next multiple of 16 bytes on.
  EXPECT_EQ(laplacian["exact_copies"][0]["bytes_an_entry"], (16 + 256 * 8) / 4 + 4);
  EXPECT_EQ(laplacian["exact_copies"][0]["in_full"], 12);

  std::string many = banner + "1 257 257\n";
  for (int i = 1; i <= 257; ++i) many += "1 " + std::to_string(i) + " " + std::to_string(i) + "\n";
  const auto other = info(many, "real")["exact_copies"][0];
  EXPECT_EQ(other["fits"], false);
  EXPECT_NE(other["why_not"].get<std::string>().find("256"), std::string::npos);
}

TEST_F(Info, MeasuresADefect) {
  const auto json = info(banner + "2 2 4\n1 1 2\n2 2 2\n1 2 1\n2 1 -1\n", "real");
  EXPECT_EQ(json["symmetric_pattern"], true);
  EXPECT_GT(json["hermitian_defect"].get<double>(), 0.1);
}

TEST_F(Info, RectangularMatricesHaveNoSymmetry) {
  const auto json = info(banner + "2 3 2\n1 1 2\n2 3 2\n", "real");
  EXPECT_EQ(json["columns"], 3);
  EXPECT_FALSE(json.contains("symmetric_pattern"));
  EXPECT_FALSE(json["layouts"].empty());
}

/// Equations 1 to 4 of Kreutzer et al. (2012), evaluated by hand.
TEST_F(Info, ModelsAProduct) {
  // Loads of x in order: 1 2 4, 2, 1 4.
  folder.write("b.mtx", banner + "4 4 6\n1 1 1\n1 2 1\n1 4 1\n2 2 9\n4 4 1\n4 1 5\n");
  const auto model = [&](const char* entry, const char* cache) {
    const Result result = run({"info", "b.mtx", "--entry", entry, "--json", "--cache", cache,
                               "--bandwidth", "100", "--link", "10"});
    EXPECT_EQ(result.status, 0) << result.error;
    return result.json()["code_balance"];
  };
  const auto all = model("real", "1000");
  EXPECT_EQ(all["flops"], 2);
  EXPECT_EQ(all["entry_bytes"], 12);
  EXPECT_DOUBLE_EQ(all["alpha"], 0.5);
  EXPECT_DOUBLE_EQ(all["least_alpha"], 0.5);
  EXPECT_DOUBLE_EQ(all["bytes_per_flop"], 6 + 4 * 0.5 + 8 / 1.5);
  EXPECT_DOUBLE_EQ(all["worst_bytes_per_flop"], 6 + 4 + 8 / 1.5);
  EXPECT_DOUBLE_EQ(all["product_seconds"], 8 * 4 / 100e9 * (1.5 * (0.5 + 1.5) + 2));
  EXPECT_DOUBLE_EQ(all["transfer_seconds"], 16 * 4 / 10e9);
  EXPECT_DOUBLE_EQ(all["favours_host_up_to"], 2 * (10 - 1) / (0.5 + 1.5));
  EXPECT_DOUBLE_EQ(all["hides_transfer_from"], (20 * 10 - 2) / (0.5 + 1.5));
  EXPECT_DOUBLE_EQ(model("real", "16")["alpha"], 5.0 / 6);
  EXPECT_DOUBLE_EQ(model("real", "8")["alpha"], 1);
  EXPECT_DOUBLE_EQ(model("real", "1")["alpha"], 1);

  // One 4 x 4 tile, which a quaternion's product fills.
  folder.write("b.mtx", banner + "4 4 4\n1 1 2\n2 2 2\n3 3 2\n4 4 2\n");
  const auto quaternion = model("quaternion", "1000");
  EXPECT_EQ(quaternion["flops"], 32);
  EXPECT_EQ(quaternion["entry_bytes"], 36);
  EXPECT_DOUBLE_EQ(quaternion["bytes_per_flop"], (36 + 32 + 64) / 32.0);
  EXPECT_EQ(model("block4", "1000")["flops"], 32);
  EXPECT_EQ(model("complex", "1000")["flops"], 8);
}

TEST_F(Info, PredictsRanks) {
  HEDDLE_RELEASE_ONLY();
  ASSERT_EQ(run({"generate", "poisson", "--size", "2000", "--output", "p.npz"}).status, 0);
  const auto json = run({"info", "p.npz", "--json", "--scaling", "2,10", "--ranks", "4,1,2,2",
                         "--rates", "10,100,20,50", "--plot", "s.svg"})
                        .json()["scaling"];
  ASSERT_EQ(json["points"].size(), 3u);
  EXPECT_EQ(json["best_ranks"], 1);
  EXPECT_DOUBLE_EQ(json["latency"], 2e-6);
  double ranks = 1;
  for (const auto& point : json["points"]) {
    EXPECT_EQ(point["ranks"], ranks);
    EXPECT_EQ(point["halo"] > 0, ranks > 1);
    EXPECT_EQ(point["sums"] > 0, ranks > 1);
    EXPECT_LE(point["product_task"], point["product_vector"]);
    EXPECT_LT(point["product_task"], point["iteration_task"]);
    EXPECT_GE(point["split_naive"], point["product_vector"]);
    EXPECT_LE(point["split_task"], point["split_naive"]);
    EXPECT_TRUE(point.contains("weak_iteration_task"));
    ranks *= 2;
  }
  EXPECT_NE(text_of("s.svg").find("p.npz on ranks, predicted"), std::string::npos);
  const Result text = run({"info", "p.npz", "--scaling", "ndr", "--partition", "rows"});
  EXPECT_EQ(text.status, 0) << text.error;
  EXPECT_NE(text.out.find("\nscaling     on h100 at ndr, "), std::string::npos) << text.out;
  EXPECT_NE(text.out.find("\nbest        no ranks\n"), std::string::npos) << text.out;
  EXPECT_NE(text.out.find("\nranks  vector  naive  task\n"), std::string::npos) << text.out;

  const auto expect_refused = [&](const std::vector<std::string>& more, const std::string& why) {
    std::vector<std::string> arguments = {"info", "p.npz"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const Result result = run(arguments);
    EXPECT_EQ(result.status, 2);
    EXPECT_EQ(result.error, "heddle: " + why + "\n");
  };
  expect_refused({"--ranks", "2"}, "--ranks is for --scaling: give that too");
  expect_refused(
      {"--scaling", "token-ring"},
      "the network is nvlink, nccl, staged, ndr, hdr, qdr, ethernet, or microseconds and GB/s "
      "such as 2.5,25, not 'token-ring'");
  expect_refused({"--scaling", ""}, "--scaling: the value is empty (see --help)");
  expect_refused(
      {"--scaling", "ndr", "--rates", "1,2"},
      "the rates are h100, h200, c2050, or microseconds and GB/s of an iteration alone and "
      "on ranks such as 16,2900,56,2940, not '1,2'");
  expect_refused({"--scaling", "ndr", "--plot", "s.png"},
                 "--plot s.png: the picture is written as .svg");
  folder.write("r.mtx", banner + "2 3 2\n1 1 2\n2 3 2\n");
  EXPECT_EQ(run({"info", "r.mtx", "--scaling", "ndr"}).error,
            "heddle: scaling: ranks share square matrices, not one of 2 rows and 3 columns\n");
}

/// 100 rows of 1, 2, 3, 4, 1, 2 ... entries, but one of 40.
std::string rows_of_four_lengths() {
  std::string entries;
  int count = 0;
  for (int row = 1; row <= 100; ++row) {
    const int length = row == 57 ? 40 : 1 + (row - 1) % 4;
    for (int k = 0; k < length; ++k, ++count) {
      entries += std::to_string(row) + " " + std::to_string((row + 7 * k) % 100 + 1) + " 1\n";
    }
  }
  return banner + "100 100 " + std::to_string(count) + "\n" + entries;
}

/// Four blocks of 32 rows by length, the longest of which have 40, 3, 2 and 1 entries; ELLPACK pads
/// 100 rows to 40. A slot has 12 bytes. Both have 4 for each row and 256 further columns.
TEST_F(Info, ComparesPaddedRowsWithEllpack) {
  const auto json = info(rows_of_four_lengths(), "real");
  const double slots = 32 * (40 + 3 + 2 + 1), both = 4 * 100 + 4 * 256;
  const double ellpack = 12 * 100 * 40 + 8 * (1 + 1) + both;
  const double jagged = 12 * slots + 8 * (4 + 1) + both;
  const auto& pjds = json["pjds"];
  EXPECT_DOUBLE_EQ(pjds["saved_of_ell"], 1 - jagged / ellpack);
  EXPECT_DOUBLE_EQ(pjds["padding"], (slots - 289) / 289);
  EXPECT_EQ(pjds["slice_bytes"], 8 * (4 + 1));
  EXPECT_EQ(pjds["column_start_bytes"], 4 * 40);
  EXPECT_NE(run({"info", "a.mtx"})
                .out.find("\npJDS        61.3% less than ELL, padding 409% of the entries; "
                          "slices 40 B, the paper's column starts 160 B\n"),
            std::string::npos);
  EXPECT_FALSE(info(banner + "2 3 1\n1 1 1\n", "real").contains("pjds"));
}

TEST_F(Info, DrawsLengthsOfRows) {
  folder.write("h.mtx", rows_of_four_lengths());
  const Result result = run({"info", "h.mtx", "--histogram", "h.svg", "--quiet"});
  ASSERT_EQ(result.status, 0) << result.error;
  const std::string picture = text_of("h.svg");
  for (const char* part : {"h.mtx: lengths of rows", "100 rows of 1 to 40 entries, mean 2.89",
                           ">share of the rows<", "24 rows of 1, 24%", "25 rows of 2, 25%",
                           "25 rows of 3, 25%", "25 rows of 4, 25%", "1 row of 40, 1%"}) {
    EXPECT_NE(picture.find(part), std::string::npos) << part << " in\n" << picture;
  }
  EXPECT_EQ(heddle::test::count_of(picture, "<circle"), 6u);  // those and the legend's
  folder.write("empty.mtx", banner + "3 3 0\n");
  EXPECT_EQ(run({"info", "empty.mtx", "--histogram", "e.svg"}).status, 0);
  EXPECT_NE(text_of("e.svg").find("3 rows of 0, 100%"), std::string::npos);

  const auto expect_refused = [&](const std::string& path, const std::string& why) {
    const Result refused = run({"info", "h.mtx", "--histogram", path});
    EXPECT_EQ(refused.status, 2);
    EXPECT_EQ(refused.error, "heddle: " + why + "\n");
    EXPECT_EQ(refused.out, "");
  };
  expect_refused("h.png", "--histogram h.png: the picture is written as .svg");
  EXPECT_EQ(run({"info", "h.mtx", "--histogram", "nowhere/h.svg"}).status, 2);
  EXPECT_EQ(files(), (Names{"e.svg", "empty.mtx", "h.mtx", "h.svg"}));
}

TEST_F(Info, EndsWithAdvice) {
  const auto advice = [&](const std::string& entries) {
    return info(banner + entries, "real")["advice"].get<std::string>();
  };
  EXPECT_EQ(advice("2 2 2\n1 1 1\n2 2 2\n"),
            "Take cg with jacobi, as a solve does by default: the matrix is Hermitian.");
  const auto hole = info(banner + "2 2 3\n1 2 1\n2 1 1\n2 2 3\n", "real");
  EXPECT_EQ(hole["solver"], "minres");
  EXPECT_EQ(hole["preconditioner"], "jacobi");
  EXPECT_EQ(hole["advice"],
            "Take minres with jacobi, as a solve does by default: the matrix is Hermitian and not "
            "positive definite: row 0 (counted from 0) has 0 on the diagonal.");
  EXPECT_EQ(advice("2 2 3\n1 1 1\n1 2 1\n2 2 1\n"),
            "Take bicgstab with jacobi, as a solve does by default: the matrix is not Hermitian.");
  const auto indefinite = info(banner + "2 2 4\n1 1 1\n1 2 2\n2 1 2\n2 2 1\n", "real");
  EXPECT_EQ(indefinite["solver"], "minres");
  EXPECT_NE(indefinite["solver_reason"].get<std::string>().find("Lanczos"), std::string::npos);
  EXPECT_EQ(advice("2 3 1\n1 1 1\n"),
            "Take lsmr, as a solve does by default: the matrix is rectangular.");
  ASSERT_EQ(run({"generate", "elasticity", "--size", "500", "-o", "e.mtx", "-q"}).status, 0);
  const std::string numbers = run({"info", "e.mtx", "--json"}).json()["advice"];
  EXPECT_NE(numbers.find(" Rows come in threes: 3 x 3 tiles are 100% full; as block3 entries "),
            std::string::npos)
      << numbers;
  const std::string blocks = run({"info", "e.mtx", "--entry", "block3", "--json"}).json()["advice"];
  EXPECT_EQ(blocks.find("threes"), std::string::npos) << blocks;
}

TEST_F(Info, TextForPeople) {
  folder.write("a.mtx", matrix_market(real_matrix(12)));
  const Result result = run({"info", "a.mtx", "--entry", "block3", "--precision", "single"});
  ASSERT_EQ(result.status, 0) << result.error;
  for (const char* part : {"4 x 4 block3 entries (single)", "rows ", "columns ",
                           "symmetry   Hermitian, exactly", "0 missing, 0 singular", "CSR "}) {
    EXPECT_NE(result.out.find(part), std::string::npos) << part << " in\n" << result.out;
  }
  // The properties and the solution method come first, then storage, then advice.
  std::size_t last = 0;
  for (const char* part : {"matrix     a.mtx", "\nsymmetry ", "\nsolve      --solver cg: ",
                           "\n           --preconditioner jacobi: ", "\nrows ", "\nlayout ",
                           "\nadvice      Take cg with "}) {
    const std::size_t place = result.out.find(part);
    ASSERT_NE(place, std::string::npos) << part << " in\n" << result.out;
    EXPECT_GE(place, last) << part;
    last = place;
  }
  const Result quiet = run({"info", "a.mtx", "--quiet"});
  EXPECT_EQ(quiet.status, 0);
  EXPECT_EQ(quiet.out + quiet.error, "");
  EXPECT_EQ(files(), Names{"a.mtx"});
}

}  // namespace
