// Runs in both builds.
// `heddle convert`: formats and entries, in both directions.
#include <string>
#include <vector>

#include "cli/run.hpp"
#include "cli/small_systems.hpp"
#include "support/where_it_runs.hpp"

namespace command_convert {
namespace {

class Convert : public CommandLine {
 protected:
  void convert(const std::vector<std::string>& arguments) const {
    std::vector<std::string> all = {"convert"};
    all.insert(all.end(), arguments.begin(), arguments.end());
    all.push_back("-q");
    const Result result = run(all);
    ASSERT_EQ(result.status, 0) << result.error;
    EXPECT_EQ(result.out + result.error, "");
  }
  void expect_refused(const std::vector<std::string>& arguments, const std::string& message) const {
    const Result result = run(arguments);
    EXPECT_EQ(result.status, 2) << result.error;
    EXPECT_EQ(result.error_lines(), 1U) << result.error;
    EXPECT_NE(result.error.find(message), std::string::npos) << result.error;
  }
};

TEST_F(Convert, KeepsEveryEntryThereAndBack) {
  HEDDLE_RELEASE_ONLY();
  for (const SmallSystem& system : small_systems()) {
    SCOPED_TRACE(system.name);
    folder.write("a.mtx", system.text);
    convert({"a.mtx", "expanded.mtx", "--entry", system.entry});
    convert({"expanded.mtx", "entries.npz", "--entry", system.entry});
    convert({"entries.npz", "again.mtx.gz", "--entry", system.entry});
    convert({"again.mtx.gz", "back.mtx", "--entry", system.entry});
    EXPECT_EQ(text_of("back.mtx"), text_of("expanded.mtx"));
    const auto json = run({"info", "entries.npz", "--entry", system.entry, "--json"}).json();
    EXPECT_EQ(json["rows"], system.rows);
    if (system.entry == "real") continue;
    // The real expansion yields the same entries.
    convert({"a.mtx", "real.mtx", "--entry", system.entry, "--to", "real"});
    EXPECT_EQ(run({"info", "real.mtx", "--json"}).json()["rows"], system.representation.rows);
    convert({"real.mtx", "folded.mtx", "--entry", system.entry});
    EXPECT_EQ(text_of("folded.mtx"), text_of("expanded.mtx"));
  }
}

TEST_F(Convert, KeepsTheSignOfZero) {
  for (const std::string entry : {"real", "complex"}) {
    const std::string kind = entry == "real" ? "real" : "complex",
                      more = entry == "real" ? "" : " -0";
    const std::string text = "%%MatrixMarket matrix coordinate " + kind +
                             " general\n1 2 2\n1 1 -0" + more + "\n1 2 0" + more + "\n";
    folder.write("a.mtx", text);
    convert({"a.mtx", "a.npz", "--entry", entry});
    convert({"a.npz", "b.mtx", "--entry", entry});
    EXPECT_EQ(text_of("b.mtx"), text);
  }
  const std::string blocks =
      "%%MatrixMarket matrix coordinate real general\n%heddle tiles 2 x 2\n2 2 4\n1 1 -0\n1 2 0\n"
      "2 1 3\n2 2 -0\n";
  folder.write("blocks.mtx", blocks);
  convert({"blocks.mtx", "blocks.npz", "--entry", "block2"});
  convert({"blocks.npz", "again.mtx", "--entry", "block2"});
  EXPECT_EQ(text_of("again.mtx"), blocks);
}

TEST_F(Convert, GoesFromOneEntryToAnother) {
  folder.write("a.mtx",
               "%%MatrixMarket matrix coordinate complex general\n1 2 2\n1 1 1 2\n1 2 3 0\n");
  convert({"a.mtx", "b.mtx", "--entry", "complex", "--to", "block2"});
  EXPECT_EQ(text_of("b.mtx"),
            "%%MatrixMarket matrix coordinate real general\n%heddle tiles 2 x 2\n2 4 8\n1 1 1\n"
            "1 2 -2\n1 3 3\n1 4 0\n2 1 2\n2 2 1\n2 3 0\n2 4 3\n");
  convert({"b.mtx", "c.mtx", "--entry", "block2", "--to", "complex"});
  EXPECT_EQ(text_of("c.mtx"), text_of("a.mtx"));
  // A quaternion is a block, and not two adjacent complex numbers.
  folder.write("q.mtx",
               "%%MatrixMarket matrix coordinate real general\n4 1 4\n1 1 1\n2 1 2\n"
               "3 1 3\n4 1 4\n");
  convert({"q.mtx", "block.npz", "--entry", "quaternion", "--to", "block4"});
  EXPECT_EQ(run({"info", "block.npz", "--entry", "block4", "--json"}).json()["entries"], 1);
  expect_refused({"convert", "q.mtx", "d.mtx", "--entry", "quaternion", "--to", "complex"},
                 "q.mtx: tile (0, 1) is not the 2 x 2 representation of an entry: scalar row ");
}

TEST_F(Convert, LeavesNumbersAsTheyAre) {
  const std::string text =
      "%%MatrixMarket matrix coordinate real general\n3 2 3\n1 1 0.1\n2 2 1e-300\n3 1 0\n";
  folder.write("a.mtx", text);
  const Result result = run({"convert", "a.mtx", "a.npz"});
  EXPECT_EQ(result.status, 0) << result.error;
  EXPECT_EQ(result.out, "3 x 2 real entries, 3 stored, written to a.npz\n");
  convert({"a.npz", "b.mtx"});
  EXPECT_EQ(text_of("b.mtx"), text);
  folder.write("c.mtx",
               "%%MatrixMarket matrix coordinate complex hermitian\n2 2 2\n1 1 1 0\n"
               "2 1 2 3\n");
  convert({"c.mtx", "c.npz"});
  convert({"c.npz", "d.mtx"});
  EXPECT_EQ(text_of("d.mtx"),
            "%%MatrixMarket matrix coordinate complex general\n2 2 3\n1 1 1 0\n"
            "1 2 2 -3\n2 1 2 3\n");
}

TEST_F(Convert, RefusesInOneLineAndWritesNothing) {
  folder.write("a.mtx",
               "%%MatrixMarket matrix coordinate real general\n4 4 3\n1 1 1\n2 2 2\n3 4 1\n");
  expect_refused({"convert", "a.mtx", "b.npz", "--entry", "complex"},
                 "a.mtx: tile (0, 0) is not the 2 x 2 representation of an entry: scalar row ");
  expect_refused({"convert", "a.mtx", "b.npz", "--entry", "block3"}, "a.mtx: ");
  expect_refused({"convert", "a.mtx", "b.npz", "--entry", "octonion"}, "octonion");
  expect_refused({"convert", "a.mtx", "b.npz", "--entry", "real", "--to", "real"},
                 "--to real is the same as --entry");
  expect_refused({"convert", "a.mtx", "b.npz", "--to", "real"}, "--to");
  expect_refused({"convert", "a.mtx", "a.mtx"}, "OUT a.mtx is the file that the command reads");
  expect_refused({"convert", "none.mtx", "b.npz"}, "none.mtx");
  expect_refused({"convert", "a.mtx"}, "OUT");
  // A name without a known format is refused before anything is read.
  for (const char* const name : {"b.foo", "b.npz.gz", "b.NPZ", "b", "-"}) {
    expect_refused({"convert", "none.mtx", name},
                   "OUT: " + std::string(name) + " does not end in .mtx, .mtx.gz or .npz");
  }
  EXPECT_EQ(files(), (Names{"a.mtx"}));
}

}  // namespace
}  // namespace command_convert
