// Runs in both builds.
// `heddle solve --monitor` and `--plot`: the progress shown during iterations, and the picture of
// it.
#include <sstream>

#include "cli/run.hpp"
#include "cli/small_systems.hpp"

namespace {

using nlohmann::json;

class SolveWatch : public CommandLine {
 protected:
  void SetUp() override {
    ASSERT_EQ(run({"generate", "dirac", "--size", "300", "-o", "a.mtx", "--quiet"}).status, 0);
  }
  Result solve(std::vector<std::string> options) const {
    options.insert(options.begin(), {"solve", "a.mtx", "--entry", "quaternion"});
    return run(options);
  }
  /// The first word of each line.
  static std::vector<std::string> first_words(const std::string& text) {
    std::vector<std::string> words;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
      std::istringstream in(line);
      words.emplace_back();
      in >> words.back();
    }
    return words;
  }
  /// The number of points in the longest line of a picture.
  static std::size_t points(const std::string& svg) {
    const std::string path = "<path d=\"M";
    std::size_t most = 0;
    for (std::size_t at = svg.find(path); at != svg.npos; at = svg.find(path, at + 1)) {
      const std::size_t begin = at + path.size(), end = svg.find('"', begin);
      if (svg.compare(end, 13, "\" class=\"line") != 0) continue;
      const auto count = std::count(svg.begin() + static_cast<std::ptrdiff_t>(begin),
                                    svg.begin() + static_cast<std::ptrdiff_t>(end), 'L');
      most = std::max(most, 1 + static_cast<std::size_t>(count));
    }
    return most;
  }
  /// Every element is closed by its own name, and no trace of an invalid number remains.
  static void expect_is_picture(const std::string& svg) {
    EXPECT_EQ(svg.rfind("<svg xmlns=\"http://www.w3.org/2000/svg\"", 0), 0u) << svg.substr(0, 80);
    std::vector<std::string> open;
    for (std::size_t at = svg.find('<'); at != svg.npos; at = svg.find('<', at)) {
      const std::size_t begin = at + 1;
      bool is_quoted = false;
      for (at = begin; at < svg.size() && (is_quoted || svg[at] != '>'); ++at) {
        if (svg[at] == '"') is_quoted = !is_quoted;
        ASSERT_NE(svg[at], '<');
      }
      ASSERT_LT(at, svg.size());
      const std::string tag = svg.substr(begin, at - begin);
      if (tag.front() == '/') {
        ASSERT_FALSE(open.empty());
        EXPECT_EQ(open.back(), tag.substr(1));
        open.pop_back();
      } else if (tag.back() != '/') {
        open.push_back(tag.substr(0, tag.find_first_of(" \n")));
      }
    }
    EXPECT_TRUE(open.empty());
    for (const char* no_number : {"\"nan", "\"inf", "\"-nan", "\"-inf"}) {
      EXPECT_EQ(svg.find(no_number), svg.npos) << no_number;
    }
  }
};

TEST_F(SolveWatch, MonitorShowsRowsOnStandardError) {
  const Result plain = solve({"--json"}), result = solve({"--json", "--monitor"});
  ASSERT_EQ(result.status, 0) << result.error;
  const json report = result.json();
  EXPECT_EQ(report["status"], "converged");
  EXPECT_EQ(report["loop"], plain.json()["loop"]);
  EXPECT_EQ(report["residual"], plain.json()["residual"]);
  const auto words = first_words(result.error);
  ASSERT_GE(words.size(), 8u);
  EXPECT_EQ(words.front(), "iteration");
  EXPECT_EQ(std::vector<std::string>(words.begin() + 1, words.begin() + 6),
            (std::vector<std::string>{"0", "1", "2", "5", "10"}));
  EXPECT_EQ(words.back(), "end");
  EXPECT_EQ(words[words.size() - 2], std::to_string(report["iterations"].get<int>()));
  EXPECT_EQ(std::set<std::string>(words.begin(), words.end()).size(), words.size());
  EXPECT_NE(result.error.find("converged; |b - A x| / |b| computed from x\n"), std::string::npos);
}

TEST_F(SolveWatch, MonitorBeginsAgain) {
  const Result twice = solve({"--monitor", "--repetitions", "2"});
  const auto words = first_words(twice.error);
  EXPECT_EQ(std::count(words.begin(), words.end(), "iteration"), 1);
  EXPECT_EQ(std::count(words.begin(), words.end(), "again"), 1);
  EXPECT_EQ(std::count(words.begin(), words.end(), "0"), 2);
  EXPECT_EQ(std::count(words.begin(), words.end(), "end"), 2);
  EXPECT_EQ(twice.out.find("|r| / |b|"), std::string::npos);

  // r^T r = 0 for b = (1, i): COCR breaks down.
  folder.write("i.mtx",
               "%%MatrixMarket matrix coordinate complex general\n2 2 2\n1 1 0 1\n2 2 0 1\n");
  folder.write("b.mtx", "%%MatrixMarket matrix array complex general\n2 1\n1 0\n0 1\n");
  const Result other = run({"solve", "i.mtx", "--entry", "complex", "--rhs", "b.mtx", "--monitor"});
  EXPECT_EQ(other.status, 0) << other.out;
  EXPECT_NE(other.error.find("\nbicgstab: COCR broke down"), std::string::npos) << other.error;
}

TEST_F(SolveWatch, MonitorMarksTheCyclesOfGmres) {
  const Result marked = solve({"--solver", "gmres", "--restart", "4", "--monitor"});
  EXPECT_NE(marked.error.find("from b - A x at 4\n"), std::string::npos) << marked.error;
}

TEST_F(SolveWatch, MonitorAndQuietAreOneErrorTogether) {
  const Result result = solve({"--monitor", "--quiet", "--output", "x.mtx"});
  EXPECT_EQ(result.status, 2);
  EXPECT_EQ(result.out, "");
  EXPECT_EQ(result.error, "heddle: --monitor shows what --quiet hides: give one of them\n");
  EXPECT_EQ(files(), Names{"a.mtx"});
}

TEST_F(SolveWatch, PlotHasAPointAnIteration) {
  const Result result = solve({"--plot", "h.svg", "--history", "h.csv", "--json"});
  ASSERT_EQ(result.status, 0) << result.error;
  const std::string svg = text_of("h.svg");
  expect_is_picture(svg);
  const auto iterations = result.json()["iterations"].get<std::size_t>();
  EXPECT_EQ(points(svg), iterations + 1);
  for (const std::string part :
       {"a.mtx: cg, preconditioner jacobi", "quaternion entries (double)", "tolerance 1e-10",
        ">iterations<", "relative residual |r| / |b|", "computed from x: "}) {
    EXPECT_NE(svg.find(part), std::string::npos) << part;
  }
  EXPECT_NE(svg.find("converged after " + std::to_string(iterations) + " iterations"),
            std::string::npos);
  EXPECT_EQ(files(), (Names{"a.mtx", "h.csv", "h.svg"}));
}

TEST_F(SolveWatch, PlotOfEveryEnd) {
  std::string zeros = "%%MatrixMarket matrix coordinate real general\n";
  folder.write("zero.mtx",
               zeros + std::to_string(solve({"--json"}).json()["rows"].get<int>()) + " 4 0\n");
  const std::vector<std::pair<std::vector<std::string>, std::string>> cases = {
      {{"--max-iterations", "1"}, "iteration limit after 1 iteration<"},
      {{"--max-iterations", "0"}, "iteration limit after 0 iterations<"},
      {{"--tolerance", "0"}, "accuracy limit after "},
      {{"--rhs", "zero.mtx"}, "Nothing to draw"},
      {{"--solver", "gmres", "--restart", "2", "--max-iterations", "3000", "--tolerance", "1e-12"},
       "residual of the recurrence"}};
  for (const auto& [options, part] : cases) {
    std::vector<std::string> all = options;
    all.insert(all.end(), {"--plot", "h.svg"});
    const Result result = solve(all);
    EXPECT_LT(result.status, 2) << result.error;
    expect_is_picture(text_of("h.svg"));
    EXPECT_NE(text_of("h.svg").find(part), std::string::npos) << part;
  }
}

TEST_F(SolveWatch, PlotStaysSmall) {
  // Thousands of iterations: two points per pixel.
  DenseMatrix slow(400, 400);
  for (int i = 0; i < 400; ++i) {
    slow.at(i, i) = 2;
    if (i > 0) slow.at(i, i - 1) = slow.at(i - 1, i) = -1;
  }
  folder.write("slow.mtx", matrix_market(slow));
  const Result result = run({"solve", "slow.mtx", "--solver", "gmres", "--restart", "5", "--plot",
                             "h.svg", "--json", "--max-iterations", "5000"});
  ASSERT_GT(result.json()["iterations"].get<int>(), 2500) << result.out;
  const std::string svg = text_of("h.svg");
  expect_is_picture(svg);
  EXPECT_LE(points(svg), 2002u);
  EXPECT_GE(points(svg), 500u);
}

TEST_F(SolveWatch, PlotRefusesOtherKindsAndInputs) {
  const std::string before = text_of("a.mtx");
  const Result png = solve({"--plot", "h.png"});
  EXPECT_EQ(png.status, 2);
  EXPECT_EQ(png.error, "heddle: --plot h.png: the picture is written as .svg\n");
  ASSERT_EQ(shell("cp a.mtx a.svg && cp a.mtx kept").status, 0);
  for (const std::vector<std::string>& arguments : std::vector<std::vector<std::string>>{
           {"solve", "a.mtx", "--rhs", "a.svg", "--plot", "a.svg"},
           {"solve", "a.mtx", "--guess", "a.svg", "--plot", "./a.svg"},
           {"solve", "a.mtx", "--history", "b.svg", "--plot", "b.svg"},
           {"solve", "a.mtx", "--plot", "nowhere/b.svg"}}) {
    const Result result = run(arguments);
    EXPECT_EQ(result.status, 2) << result.error;
    EXPECT_EQ(result.error_lines(), 1u) << result.error;
  }
  EXPECT_EQ(text_of("a.svg"), before);
  EXPECT_EQ(files(), (Names{"a.mtx", "a.svg", "kept"}));
}

TEST_F(SolveWatch, PlotEscapesNames) {
  ASSERT_EQ(shell("cp a.mtx 'a<&\">.mtx'").status, 0);
  ASSERT_EQ(run({"solve", "a<&\">.mtx", "--entry", "quaternion", "--plot", "h.svg", "-q"}).status,
            0);
  expect_is_picture(text_of("h.svg"));
  EXPECT_NE(text_of("h.svg").find("a&lt;&amp;&quot;&gt;.mtx: cg"), std::string::npos);
}

}  // namespace
