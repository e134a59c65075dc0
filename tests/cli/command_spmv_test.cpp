// Runs in the release.
// `heddle spmv`: its measurements, for every entry and several plans.
#include "cli/run.hpp"
#include "cli/small_systems.hpp"

namespace {

using Spmv = CommandLine;

TEST_F(Spmv, Json) {
  for (const SmallSystem& system : small_systems()) {
    SCOPED_TRACE(system.name);
    // Every run also measures the triad for a second, so forms that differ only in the file are
    // skipped.
    if (system.name != "real" && system.name != "complex_block3" && system.name != "block6" &&
        system.name != "dual_quaternion_components") {
      continue;
    }
    folder.write("a.mtx", system.text);
    const Result result = run({"spmv", "a.mtx", "--entry", system.entry, "--json", "--repetitions",
                               "1", "--plan", "CSR", "--plan", "K1", "--plan", "K2rs"});
    ASSERT_EQ(result.status, 0) << result.error;
    const auto json = result.json();
    for (const char* key : {"entry", "precision", "rows", "columns", "entries", "device",
                            "repetitions", "triad_bandwidth", "products"}) {
      EXPECT_TRUE(json.contains(key)) << key;
    }
    EXPECT_EQ(json["entry"], system.entry);
    EXPECT_EQ(json["rows"], system.rows);
    EXPECT_EQ(json["repetitions"], 1);
    EXPECT_GT(json["triad_bandwidth"].get<double>(), 0);
    ASSERT_EQ(json["products"].size(), 3u);
    for (const auto& product : json["products"]) {
      const double median = product["seconds"]["median"];
      EXPECT_GT(median, 0);
      EXPECT_LE(product["seconds"]["lower_quartile"].get<double>(), median);
      EXPECT_GE(product["seconds"]["upper_quartile"].get<double>(), median);
      // The value common to all layouts, and the addition of each layout.
      EXPECT_EQ(product["compulsory_bytes"], json["products"][0]["compulsory_bytes"]);
      EXPECT_GE(product["moved_bytes"], product["compulsory_bytes"]);
      const double bandwidth = product["bandwidth"];
      EXPECT_NEAR(bandwidth * median, product["compulsory_bytes"].get<double>(), 1e-6 * bandwidth);
      EXPECT_NEAR(product["of_triad"].get<double>() * json["triad_bandwidth"].get<double>(),
                  bandwidth, 1e-9 * bandwidth);
    }
    EXPECT_NE(json["products"][0]["plan"], json["products"][1]["plan"]);
  }
}

TEST_F(Spmv, UpdateOfValues) {
  const SmallSystem system = complex_system("complex-block3", 6);
  folder.write("a.mtx", system.text);
  const Result result = run({"spmv", "a.mtx", "--entry", system.entry, "--json", "--repetitions",
                             "3", "--update-values", "--plan", "CSR", "--plan", "K1"});
  ASSERT_EQ(result.status, 0) << result.error;
  const auto json = result.json();
  ASSERT_EQ(json["products"].size(), 2u);
  const double values = json["entries"].get<double>() * 9 * 16;
  for (const bool mapped : {false, true}) {
    const auto& update = json["products"][mapped ? 1 : 0]["update_values"];
    // Values are read and written, plus four bytes per entry for the map; CSR keeps every entry's
    // place and needs no map.
    EXPECT_EQ(update["moved_bytes"].get<double>(),
              2 * values + (mapped ? 4 * json["entries"].get<double>() : 0));
    const double median = update["seconds"]["median"], bandwidth = update["bandwidth"];
    EXPECT_GT(median, 0);
    EXPECT_LE(update["seconds"]["lower_quartile"].get<double>(), median);
    EXPECT_GE(update["seconds"]["upper_quartile"].get<double>(), median);
    EXPECT_NEAR(bandwidth * median, update["moved_bytes"].get<double>(), 1e-6 * bandwidth);
    EXPECT_NEAR(update["of_triad"].get<double>() * json["triad_bandwidth"].get<double>(), bandwidth,
                1e-9 * bandwidth);
  }

  const Result text =
      run({"spmv", "a.mtx", "--entry", system.entry, "--repetitions", "1", "--update-values"});
  ASSERT_EQ(text.status, 0) << text.error;
  EXPECT_NE(text.out.find("\nnew values  "), std::string::npos) << text.out;
  const Result without = run({"spmv", "a.mtx", "--entry", system.entry, "--repetitions", "1"});
  EXPECT_EQ(without.out.find("new values"), std::string::npos) << without.out;
}

TEST_F(Spmv, ColdCaches) {
  const SmallSystem system = complex_system("complex-block3", 6);
  folder.write("a.mtx", system.text);
  const Result result = run({"spmv", "a.mtx", "--entry", system.entry, "--json", "--repetitions",
                             "3", "--cold", "--update-values", "--plan", "CSR", "--plan", "K1"});
  ASSERT_EQ(result.status, 0) << result.error;
  const auto json = result.json();
  const auto expect_timing = [](const nlohmann::json& seconds) {
    EXPECT_EQ(seconds.size(), 3u);
    const double median = seconds["median"];
    EXPECT_GT(median, 0);
    EXPECT_LE(seconds["lower_quartile"].get<double>(), median);
    EXPECT_GE(seconds["upper_quartile"].get<double>(), median);
  };
  expect_timing(json["cold_nothing"]);
  ASSERT_EQ(json["products"].size(), 2u);
  for (const auto& product : json["products"]) {
    const auto& cold = product["cold"];
    expect_timing(cold["seconds"]);
    EXPECT_TRUE(product.contains("update_values"));
    const double bandwidth = cold["bandwidth"], median = cold["seconds"]["median"];
    EXPECT_NEAR(bandwidth * median, product["compulsory_bytes"].get<double>(), 1e-6 * bandwidth);
    EXPECT_NEAR(cold["of_triad"].get<double>() * json["triad_bandwidth"].get<double>(), bandwidth,
                1e-9 * bandwidth);
  }

  const Result text =
      run({"spmv", "a.mtx", "--entry", system.entry, "--repetitions", "1", "--cold"});
  ASSERT_EQ(text.status, 0) << text.error;
  EXPECT_NE(text.out.find("\ncold        "), std::string::npos) << text.out;
  EXPECT_NE(text.out.find("of a run that does nothing\n"), std::string::npos) << text.out;
}

TEST_F(Spmv, ProductsOfIterationsInFloats) {
  folder.write("a.mtx", matrix_market(real_matrix(12)));
  const Result result = run({"spmv", "a.mtx", "--repetitions", "1", "--json", "--plan", "CSR",
                             "--plan", "CSR,stored=float"});
  ASSERT_EQ(result.status, 0) << result.error;
  const auto json = result.json();
  const long long saved = 4 * json["entries"].get<long long>();
  for (const char* key : {"compulsory_bytes", "moved_bytes"}) {
    EXPECT_EQ(json["products"][0][key].get<long long>() - saved, json["products"][1][key]) << key;
  }
}

TEST_F(Spmv, RectangularMatrices) {
  folder.write("a.mtx",
               "%%MatrixMarket matrix coordinate real general\n4 6 3\n1 1 1\n4 6 2\n2 3 1\n");
  const Result result = run({"spmv", "a.mtx", "--repetitions", "1", "--json", "--plan", "CSR",
                             "--plan", "Sl-16", "--plan", "K1"});
  ASSERT_EQ(result.status, 0) << result.error;
  EXPECT_EQ(result.json()["rows"], 4);
  EXPECT_EQ(result.json()["columns"], 6);
  EXPECT_EQ(result.json()["products"].size(), 3u);
}

TEST_F(Spmv, TextForPeople) {
  folder.write("a.mtx", matrix_market(real_matrix(12)));
  const Result result = run({"spmv", "a.mtx", "--repetitions", "3"});
  ASSERT_EQ(result.status, 0) << result.error;
  for (const char* part : {"matrix  a.mtx", "triad ", "3 interleaved repetitions", "median",
                           "quartiles", "compulsory", "moved", "% of triad"}) {
    EXPECT_NE(result.out.find(part), std::string::npos) << part << " in\n" << result.out;
  }
  EXPECT_EQ(result.out.find("cold"), std::string::npos) << result.out;
  const Result quiet = run({"spmv", "a.mtx", "--repetitions", "1", "--quiet"});
  EXPECT_EQ(quiet.status, 0);
  EXPECT_EQ(quiet.out + quiet.error, "");
  EXPECT_EQ(files(), Names{"a.mtx"});
}

}  // namespace
