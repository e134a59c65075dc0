// --complete and --manual: the completions that a shell offers, and the man page.
#include <fstream>
#include <sstream>

#include "cli/run.hpp"

namespace {

class Completion : public CommandLine {
 protected:
  Names offered(std::vector<std::string> words) const {
    words.insert(words.begin(), "--complete");
    const Result result = run(words);
    EXPECT_EQ(result.status, 0);
    EXPECT_EQ(result.error, "");
    Names found;
    std::istringstream lines(result.out);
    for (std::string line; std::getline(lines, line);) EXPECT_TRUE(found.insert(line).second);
    return found;
  }
};

TEST_F(Completion, OffersCommandsAndOptions) {
  EXPECT_EQ(offered({"so"}), Names({"solve"}));
  const Names commands = offered({""});
  for (const char* const name : {"solve", "eigen", "spmv", "info", "tune", "bench", "cache"}) {
    EXPECT_TRUE(commands.contains(name)) << name;
  }
  EXPECT_EQ(offered({"cache", ""}), Names({"list", "clear"}));
  EXPECT_EQ(offered({"solve", "A.mtx", "--toler"}), Names({"--tolerance"}));
  // Options of the groups that --help leaves out are offered too.
  EXPECT_EQ(offered({"solve", "--smoo"}), Names({"--smoother"}));
  EXPECT_EQ(offered({"tune", "--obj"}), Names({"--objective"}));
  EXPECT_EQ(shell("${heddle}-tune --complete A.mtx --obj").out, "--objective\n");
  EXPECT_EQ(shell("${heddle}-tune --complete tune --obj").out, "--objective\n");
  EXPECT_EQ(offered({"nonsense", "--"}), Names({"--configuration", "--help", "--version"}));
}

TEST_F(Completion, OffersValues) {
  EXPECT_EQ(offered({"solve", "A.mtx", "--solver", "c"}),
            Names({"cg", "cocg", "cocr", "cr", "chebyshev"}));
  EXPECT_EQ(offered({"solve", "--cycle", ""}), Names({"v", "w", "k"}));
  EXPECT_EQ(offered({"eigen", "--entry", "quat"}), Names({"quaternion"}));
  EXPECT_EQ(offered({"solve", "--preconditioner", "multi"}), Names({"multigrid"}));
  EXPECT_EQ(offered({"solve", "--help", "multi"}), Names({"multigrid"}));
  EXPECT_EQ(offered({"solve", "--cycle=v"}), Names({"--cycle=v"}));
  EXPECT_EQ(offered({"solve", "--cycle", "=", "v"}), Names({"v"}));
  EXPECT_EQ(offered({"solve", "--cycle", "="}), Names({"v", "w", "k"}));
  EXPECT_EQ(offered({"eigen", "--preconditioner", "isai"}), Names());  // LOBPCG refuses it
  // A file or a number may stand there.
  EXPECT_EQ(offered({"solve", ""}), Names());
  EXPECT_EQ(offered({"solve", "--rhs", ""}), Names());
  EXPECT_EQ(offered({"solve", "--tolerance", ""}), Names());
}

TEST_F(Completion, ThePageOfManHasEveryOption) {
  const Result page = run({"--manual"});
  ASSERT_EQ(page.status, 0);
  EXPECT_TRUE(page.out.starts_with(".TH heddle 1 "));
  for (const char* const command : {"solve", "eigen", "spmv", "info", "generate"}) {
    const std::size_t from = page.out.find(std::string(".SH heddle ") + command + "\n");
    ASSERT_NE(from, std::string::npos) << command;
    const std::string section =
        page.out.substr(from, page.out.find(".SH heddle ", from + 1) - from);
    for (std::string option : offered({command, "--"})) {
      for (std::size_t at = 0; (at = option.find('-', at)) != std::string::npos; at += 2) {
        option.insert(at, "\\");
      }
      EXPECT_NE(section.find(option), std::string::npos) << command << " " << option;
    }
  }
  std::ofstream(folder / "heddle.1") << page.out;
  if (shell("command -v groff").status != 0) return;
  EXPECT_EQ(shell("groff -ww -z -man heddle.1").error, "");
}

}  // namespace
