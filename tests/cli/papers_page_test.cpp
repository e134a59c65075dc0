// Runs in the release.
// docs/papers.md: each item of the papers has commands that make it, or a reason for having none,
// and the commands run.
#include <algorithm>
#include <cctype>
#include <map>
#include <regex>
#include <sstream>

#include "cli/run.hpp"
#include "heddle/device.hpp"
#include "support/scoped_environment.hpp"

namespace papers_page {
namespace {

const std::string page_path = HEDDLE_SOURCE_DIR "/docs/papers.md";
using Texts = std::vector<std::string>;
using Labels = std::set<std::string>;

struct Row {
  std::string item;
  std::string command;
  std::string look;
};

struct Paper {
  std::string name;
  std::vector<Row> rows;
};

Texts matches(const std::string& text, const std::string& pattern) {
  const std::regex regex(pattern);
  Texts found;
  for (std::sregex_iterator match(text.begin(), text.end(), regex), end; match != end; ++match) {
    found.push_back((*match)[1]);
  }
  return found;
}

/// The tables of the page, one for each heading.
std::vector<Paper> papers_of(const std::string& page) {
  std::vector<Paper> papers;
  std::istringstream lines(page);
  for (std::string line; std::getline(lines, line);) {
    if (line.rfind("## ", 0) == 0) papers.push_back({line.substr(3), {}});
    if (line.rfind("| ", 0) != 0 || line.rfind("| ---", 0) == 0 || line.rfind("| item ", 0) == 0) {
      continue;
    }
    const Texts cells = matches(line, R"(\| (|[^|]*[^| ]) ?(?=\|))");
    if (cells.size() != 4 || papers.empty()) {
      ADD_FAILURE() << "not four cells under a heading: " << line;
    } else {
      papers.back().rows.push_back({cells[0], cells[2], cells[3]});
    }
  }
  return papers;
}

Texts commands_of(const Row& row) { return matches(row.command, "`([^`]+)`"); }

bool needs_gpu(const std::string& command) {
  return command.find("--device cuda") != std::string::npos;
}

/// Programs that CTest runs already.
bool is_a_test(const std::string& command) {
  return command.rfind("ctest ", 0) == 0 || command.rfind("example_", 0) == 0;
}

/// "Figures 1, 3 to 5, A.1: ..." is Figure 1, 3, 4, 5 and A.1.
Labels labels_of(const std::string& item) {
  std::smatch match;
  if (!std::regex_match(item, match,
                        std::regex("(Table|Figure|Equation|Listing|Algorithm)s? ([^:]*)(:.*)?"))) {
    return {};
  }
  Labels labels;
  std::istringstream parts(match[2]);
  for (std::string part; std::getline(parts >> std::ws, part, ',');) {
    int first = 0;
    int last = 0;
    if (std::sscanf(part.c_str(), "%d to %d", &first, &last) != 2) {
      labels.insert(match[1].str() + " " + part);
    }
    for (int number = first; last > 0 && number <= last; ++number) {
      labels.insert(match[1].str() + " " + std::to_string(number));
    }
  }
  return labels;
}

/// All that has a number in each paper.
const std::map<std::string, Texts> numbered = {
    {"Mueller-Roemer, Stork and Fellner 2020",
     {"Tables 1 to 9", "Figures 1 to 7", "Equations 1 to 3"}},
    {"Mueller-Roemer, Stork and Fellner 2019",
     {"Tables 1 to 6", "Figures 1 to 5", "Equations 1 to 3"}},
    {"Derler, Zayer, Seidel and Steinberger 2017",
     {"Tables 1 to 2", "Figures 1 to 6", "Equation 1", "Algorithm 1"}},
    {"Kreutzer and others 2012",
     {"Table 1", "Figures 1 to 5", "Equations 1 to 4", "Listings 1 to 2"}},
    {"Wong, Kuhl and Darve 2015",
     {"Tables I, II, III, IV, V, VI, VII, VIII, IX", "Figures 1 to 12",
      "Figures A.1, A.2, A.3, A.4, A.5, A.6", "Equations 1 to 14", "Listings 1 to 3"}},
};

/// The address of a heading on a page.
Labels anchors_of(const std::string& page) {
  Labels anchors;
  for (const std::string& heading : matches("\n" + page, "\n#+ ([^\n]*)")) {
    std::string anchor;
    for (const char c : heading) {
      if (c == ' ') anchor += '-';
      if (std::isalnum(static_cast<unsigned char>(c)) || c == '-' || c == '_') {
        anchor += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
      }
    }
    anchors.insert("#" + anchor);
  }
  return anchors;
}

/// Sources of all tests, in which a test is TEST(suite, name) or similar.
std::string sources_of_tests() {
  std::string all;
  for (const auto& file :
       std::filesystem::recursive_directory_iterator(HEDDLE_SOURCE_DIR "/tests")) {
    const auto extension = file.path().extension();
    if (extension == ".cpp" || extension == ".cu") all += contents(file.path().string());
  }
  return all;
}

TEST(PapersPage, HasEveryNumberOfEachPaper) {
  const auto papers = papers_of(contents(page_path));
  ASSERT_EQ(papers.size(), numbered.size());
  for (const Paper& paper : papers) {
    SCOPED_TRACE(paper.name);
    ASSERT_TRUE(numbered.contains(paper.name));
    Labels expected;
    for (const std::string& item : numbered.at(paper.name)) expected.merge(labels_of(item));
    Labels found;
    for (const Row& row : paper.rows) found.merge(labels_of(row.item));
    EXPECT_EQ(found, expected);
  }
}

TEST(PapersPage, HasACommandOrAReasonInEveryRow) {
  const std::regex reason(
      "none: .*(cusp|bhSparse|clSpMV|yaSpMV|ModernGPU|tensors|the paper's own hardware).*");
  const std::regex commands("(GPU: )?`[^`]+`((, |; )`[^`]+`)*");
  for (const Paper& paper : papers_of(contents(page_path))) {
    for (const Row& row : paper.rows) {
      SCOPED_TRACE(paper.name + ", " + row.item);
      const bool has_reason = std::regex_match(row.command, reason);
      EXPECT_TRUE(has_reason || std::regex_match(row.command, commands)) << row.command;
      const Texts all = commands_of(row);
      EXPECT_EQ(std::any_of(all.begin(), all.end(), needs_gpu), row.command.rfind("GPU: ", 0) == 0);
    }
  }
}

TEST(PapersPage, NamesTestsExamplesAndPagesThatExist) {
  const std::string tests = sources_of_tests();
  for (const Paper& paper : papers_of(contents(page_path))) {
    for (const Row& row : paper.rows) {
      SCOPED_TRACE(paper.name + ", " + row.item);
      for (const std::string& command : commands_of(row)) {
        if (command.rfind("example_", 0) == 0) {
          EXPECT_TRUE(
              std::filesystem::exists(HEDDLE_SOURCE_DIR "/examples/" + command.substr(8) + ".cpp"));
        } else if (is_a_test(command)) {
          std::smatch name;
          ASSERT_TRUE(std::regex_match(command, name,
                                       std::regex(R"(ctest --preset release -R (\w+)\.(\w+))")))
              << command;
          EXPECT_NE(tests.find("(" + name[1].str() + ", " + name[2].str() + ")"), std::string::npos)
              << command;
        }
      }
      for (const std::string& link : matches(row.look, R"(\]\(([^)]+)\))")) {
        const auto hash = std::min(link.find('#'), link.size());
        const std::string file = HEDDLE_SOURCE_DIR "/docs/" + link.substr(0, hash);
        EXPECT_TRUE(std::filesystem::exists(file)) << link;
        if (hash < link.size()) {
          EXPECT_TRUE(anchors_of(contents(file)).contains(link.substr(hash))) << link;
        }
      }
    }
  }
}

class PapersCommands : public CommandLine, public testing::WithParamInterface<std::size_t> {
 protected:
  /// Commands of the page are for the root of the repository, with the programs on the path.
  PapersCommands() {
    for (const char* name : {"data", "scripts"}) {
      std::filesystem::create_symlink(std::string(HEDDLE_SOURCE_DIR "/") + name, folder / name);
    }
    std::filesystem::create_directory(folder / "build");
    std::filesystem::create_symlink(programs_, folder / "build/release");
  }

 private:
  using Variable = heddle::test::ScopedEnvironment;

  const std::string programs_ = std::filesystem::path(HEDDLE_PROGRAM).parent_path().string();
  const Variable path_{"PATH", (programs_ + ":" + std::getenv("PATH")).c_str()};
  const Variable cache_{"XDG_CACHE_HOME", (folder / "cache").c_str()};
  // Other tests run at the same time: threads would wait for one another.
  const Variable threads_{"HEDDLE_NUM_THREADS", "1"};
  const Variable openmp_{"OMP_NUM_THREADS", "1"};
};

/// The commands of one paper that no earlier one has.
TEST_P(PapersCommands, Run) {
  const std::string page = contents(page_path);
  const auto papers = papers_of(page);
  ASSERT_LT(GetParam(), papers.size());
  Labels seen;
  for (const std::string& files : matches(page, "```sh\n([^`]*)```")) {
    const Result made = shell(files);
    ASSERT_EQ(made.status, 0) << files << made.error;
  }
  for (std::size_t paper = 0; paper <= GetParam(); ++paper) {
    for (const Row& row : papers[paper].rows) {
      for (const std::string& command : commands_of(row)) {
        if (!seen.insert(command).second || paper < GetParam() || is_a_test(command)) continue;
        if (needs_gpu(command) && !heddle::Device::why_no_gpu().empty()) continue;
        const Result result = shell(command);
        EXPECT_EQ(result.status, 0) << row.item << ": " << command << "\n" << result.error;
        EXPECT_NE(result.out, "") << row.item << ": " << command;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(EachPaper, PapersCommands,
                         testing::Range(std::size_t{0}, numbered.size()));

}  // namespace
}  // namespace papers_page
