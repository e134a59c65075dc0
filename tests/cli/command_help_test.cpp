// Runs in both builds.
// --help is accurate: every option that it shows is accepted, and it shows every documented one.
#include <algorithm>
#include <cstdlib>
#include <map>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>
#include <sstream>

#include "cli/run.hpp"
#include "cli/small_systems.hpp"
#include "heddle/runtime/settings.hpp"
#include "heddle/version.hpp"
#include "support/where_it_runs.hpp"

using namespace heddle;

namespace {

class Help : public CommandLine {
 protected:
  std::string help(const std::string& command, const std::string& group = "") const {
    const Result result =
        group.empty() ? run({command, "--help"}) : run({command, "--help", group});
    EXPECT_EQ(result.status, 0);
    EXPECT_EQ(result.error, "");
    return result.out;
  }
  static bool has_groups(const std::string& command) {
    return command == "solve" || command == "eigen" || command == "spmv";
  }
  static Names options(const std::string& help) {
    Names found;
    std::istringstream lines(help);
    const std::regex shown("^ +(-[a-z],)?(--[a-z-]+).*");
    std::smatch match;
    for (std::string line; std::getline(lines, line);) {
      if (!std::regex_match(line, match, shown)) continue;
      found.insert(match[2]);
      if (match[1].matched) found.insert(match[1].str().substr(0, 2));
    }
    return found;
  }
};

std::string option_of(std::string_view name) {
  std::string option = "--" + std::string(name);
  std::replace(option.begin(), option.end(), '_', '-');
  return option;
}

void add_settings(std::set<std::string>& names, const std::set<SettingUse>& uses) {
  for (const SettingRow& row : settings_table()) {
    if (uses.contains(row.use) && !row.of_programs) names.insert(option_of(row.name));
  }
}

/// The default of a setting, if that is a value; else empty.
std::string default_of(const std::string& option) {
  const SettingRow* const row = find_setting(option);
  return row != nullptr && row->is_value(row->by_default) ? std::string(row->by_default) : "";
}

const std::vector<std::string> commands = {"solve",    "eigen",   "spmv",     "info", "add",
                                           "multiply", "convert", "generate", "bench"};

TEST_F(Help, IsWhatABareCallShows) {
  const Result bare = run({});
  EXPECT_EQ(bare.status, 2);
  EXPECT_EQ(bare.error, "");
  EXPECT_EQ(bare.out, run({"--help"}).out);
  const Result cache = run({"cache"});
  EXPECT_EQ(cache.status, 2);
  EXPECT_EQ(cache.out, help("cache"));
}

TEST_F(Help, HasAnExample) {
  for (const std::string& command : commands) {
    EXPECT_NE(help(command).find("\nExample: heddle " + command), std::string::npos) << command;
  }
  const Result all = run({"--help"});
  EXPECT_EQ(all.status, 0);
  for (const std::string& command : commands) {
    EXPECT_NE(all.out.find("\n  " + command + " "), std::string::npos) << command;
  }
}

/// Without HEDDLE_DEEP_CHECK the benchmarks' example leaves out the suite of solvers, which takes a
/// minute.
TEST_F(Help, ExamplesWork) {
  HEDDLE_RELEASE_ONLY();
  const std::string benchmarks =
      std::getenv("HEDDLE_DEEP_CHECK") != nullptr
          ? ""
          : " --suite product --suite right-hand-sides --suite layouts --suite setup";
  for (const std::string command :
       {"generate", "solve", "eigen", "spmv", "info", "add", "multiply", "convert", "bench"}) {
    std::istringstream lines(help(command));
    const std::string mark = "Example: heddle ";
    for (std::string line; std::getline(lines, line);) {
      if (line.rfind(mark, 0) != 0) continue;
      const Result result = shell("$heddle " + line.substr(mark.size()) +
                                  (command == "spmv"    ? " --repetitions 1"
                                   : command == "bench" ? " --repetitions 3" + benchmarks
                                                        : ""));
      EXPECT_EQ(result.status, 0) << line << "\n" << result.error;
    }
  }
  EXPECT_EQ(files(), (Names{"dirac.mtx.gz", "dirac.npz", "product.mtx", "run.html", "run.json",
                            "sum.mtx", "v-1.mtx", "v-2.mtx", "x.mtx"}));
}

TEST_F(Help, ShowsWhatIsDocumented) {
  const Names matrix = {"--help",      "--entry",  "--entry-definition",
                        "--precision", "--device", "--json",
                        "--threads",   "--quiet",  "-q"};
  std::map<std::string, Names> documented = {
      {"solve",
       {"--rhs",
        "--guess",
        "--output",
        "-o",
        "--solver",
        "--preconditioner",
        "--coordinates",
        "--candidates",
        "--repetitions",
        "--plan",
        "--profile",
        "--history",
        "--plot",
        "--monitor",
        "--seed",
        "--shift",
        "--right-hand-sides",
        "--storage",
        "--node",
        "--dense",
        "--launch",
        "--ranks",
        "--settings"}},
      {"eigen",
       {"--mass", "--output", "-o", "--preconditioner", "--plan", "--profile", "--storage",
        "--node", "--dense", "--launch", "--ranks", "--settings"}},
      {"spmv",
       {"--plan", "--profile", "--update-values", "--cold", "--repetitions", "--seed", "--storage",
        "--node", "--dense", "--launch", "--adjoint"}},
      {"info", {"--node", "--dense", "--plot", "--histogram"}}};
  add_settings(documented["solve"], {SettingUse::solver, SettingUse::least_squares,
                                     SettingUse::multigrid, SettingUse::ranks});
  add_settings(documented["eigen"], {SettingUse::eigen, SettingUse::ranks});
  add_settings(documented["info"], {SettingUse::description});
  for (auto& [command, names] : documented) {
    names.insert(matrix.begin(), matrix.end());
    names.insert("-h");
    EXPECT_EQ(options(help(command, has_groups(command) ? "all" : "")), names) << command;
  }
  EXPECT_EQ(options(help("generate")),
            (Names{"-h", "--help", "--size", "--seed", "-o", "--output", "-q", "--quiet",
                   "--contrast", "--points-per-wavelength", "--damping", "--young",
                   "--poisson-ratio", "--irregularity", "--points", "--potential", "--shift"}));
  EXPECT_EQ(options(help("add")), (Names{"-h", "--help", "--entry", "--entry-definition", "--alpha",
                                         "--beta", "--adjoint", "--storage", "--node", "--dense",
                                         "-o", "--output", "-q", "--quiet"}));
  EXPECT_EQ(options(help("multiply")),
            (Names{"-h", "--help", "--entry", "--adjoint", "--left-adjoint", "--device",
                   "--threads", "-o", "--output", "-q", "--quiet"}));
  EXPECT_EQ(options(help("convert")), (Names{"-h", "--help", "--entry", "--to", "-q", "--quiet"}));
  EXPECT_EQ(options(help("bench")),
            (Names{"-h",        "--help",        "--suite",     "--problem", "--plan",
                   "--device",  "--threads",     "--quick",     "--list",    "--matrices",
                   "--entry",   "--repetitions", "--tolerance", "-o",        "--output",
                   "--html",    "--json",        "--name",      "-q",        "--quiet",
                   "--compare", "--threshold",   "--results",   "--profile", "--write-problems"}));
}

TEST_F(Help, OfAGroupShowsItsOptions) {
  const Names usual = options(help("solve"));
  EXPECT_LE(usual.size(), 20u);
  EXPECT_EQ(usual.count("--tolerance"), 1u);
  EXPECT_NE(help("solve").find("More options: --help system|"), std::string::npos);
  EXPECT_EQ(options(help("solve", "ranks")),
            (Names{"--ranks", "--partition", "--exchange", "--transfer", "--boundary"}));
  EXPECT_EQ(options(help("solve", "multigrid")).count("--smoother"), 1u);
  EXPECT_EQ(options(help("generate")).count("--contrast"), 1u);
  EXPECT_EQ(run({"solve", "--help", "p.mtx"}).out, help("solve"));
  EXPECT_EQ(help("solve", "RANKS"), help("solve", "ranks"));
  const Result none = run({"solve", "--help", "weather"});
  EXPECT_EQ(none.status, 2);
  EXPECT_EQ(none.error.find("heddle: --help 'weather': the groups are system "), 0u) << none.error;
}

TEST_F(Help, EveryOptionIsAccepted) {
  HEDDLE_RELEASE_ONLY();
  folder.write("a.mtx", matrix_market(real_matrix(12)));
  const std::map<std::string, std::string> values = {
      {"--entry", "block3"},
      {"--entry-definition", "number.json"},
      {"--precision", "double"},
      {"--device", "cpu"},
      {"--threads", "1"},
      {"--rhs", "ones"},
      {"--mass", "a.mtx"},
      {"--count", "2"},
      {"--guard", "1"},
      {"--guess", "zero.mtx"},
      {"--output", "x.mtx"},
      {"-o", "x.mtx"},
      {"--solver", "cg"},
      {"--preconditioner", "none"},
      {"--cycle", "w"},
      {"--smoother", "l1-jacobi"},
      {"--interpolation", "plain"},
      {"--level-precision", "single"},
      {"--strength", "0.01"},
      {"--coordinates", "points.mtx"},
      {"--candidates", "adaptive"},
      {"--tolerance", "1e-3"},
      {"--max-iterations", "50"},
      {"--time-limit", "9"},
      {"--plan", "CSR"},
      {"--profile", "none"},
      {"--history", "h.csv"},
      {"--plot", "h.svg"},
      {"--histogram", "h.svg"},
      {"--monitor", ""},
      {"--seed", "3"},
      {"--repetitions", "1"},
      {"--right-hand-sides", "1"},
      {"--restart", "5"},
      {"--basis-precision", "single"},
      {"--field-precision", "single"},
      {"--keep", "best"},
      {"--shift", "0.5"},
      {"--damping", "0.5"},
      {"--absolute-tolerance", "1e-6"},
      {"--settings", "settings.json"},
      {"--interval", "0.1"},
      {"--omega", "0.1"},
      {"--update-values", ""},
      {"--cold", ""},
      {"--storage", "hisparse"},
      {"--node", "16"},
      {"--dense", "never"},
      {"--launch", "warps=4"},
      {"--ranks", "2"},
      {"--partition", "rows"},
      {"--exchange", "naive"},
      {"--transfer", "auto"},
      {"--boundary", "split"},
      {"--cache", "1000000"},
      {"--bandwidth", "900"},
      {"--link", "25"},
      {"--scaling", "nvlink"},
      {"--rates", "h200"},
      {"--unknowns", "3"},
      {"--adjoint", ""},
      {"--quiet", ""},
      {"-q", ""},
      {"--json", ""},
      {"--help", ""},
      {"-h", ""},
  };
  folder.write("number.json",
               R"json({"name": "number", "members": ["x"], "multiply": {"x": "a.x * x.x"},
                        "inverse": {"x": "1 / a.x"}, "adjoint": {"x": "a.x"}})json");
  folder.write("settings.json", R"({"max_iterations": 500})");
  folder.write("zero.mtx", "%%MatrixMarket matrix coordinate real general\n12 1 0\n");
  folder.write(
      "points.mtx",
      "%%MatrixMarket matrix array real general\n4 3\n0\n1\n0\n0\n0\n0\n1\n0\n0\n0\n0\n1\n");
  for (const std::string command : {"solve", "eigen", "spmv", "info"}) {
    for (const std::string& option : options(help(command, has_groups(command) ? "all" : ""))) {
      SCOPED_TRACE(command + " " + option);
      ASSERT_TRUE(values.contains(option) || !default_of(option).empty());
      std::vector<std::string> arguments = {command, "a.mtx", option};
      const std::string value = values.contains(option) ? values.at(option) : default_of(option);
      if (!value.empty()) arguments.push_back(value);
      if (option == "--interval") {
        arguments.insert(arguments.end(), {"4", "--solver", "chebyshev"});
      }
      if (option == "--cycle" || option == "--smoother" || option == "--interpolation" ||
          option == "--level-precision" || option == "--strength" || option == "--coordinates" ||
          option == "--candidates") {
        arguments.insert(arguments.end(), {"--preconditioner", "multigrid", "--entry", "block3"});
      }
      if (option == "--omega") arguments.insert(arguments.end(), {"--solver", "richardson"});
      if (option == "--restart" || option == "--basis-precision") {
        arguments.insert(arguments.end(), {"--solver", "gmres"});
      }
      if ((option == "--node" || option == "--dense" || option == "--launch") &&
          command != "info") {
        arguments.insert(arguments.end(), {"--storage", "hisparse"});
      }
      const bool is_of_scaling = option == "--ranks" || option == "--partition" ||
                                 option == "--rates" || option == "--unknowns" ||
                                 option == "--plot";
      if (command == "info" && is_of_scaling) {
        arguments.insert(arguments.end(), {"--scaling", "nvlink"});
      } else if (option == "--partition" || option == "--exchange" || option == "--transfer" ||
                 option == "--boundary") {
        arguments.insert(arguments.end(), {"--ranks", "2"});
      }
      if (command == "spmv" && option != "--repetitions") {
        arguments.insert(arguments.end(), {"--repetitions", "1"});
      }
      const Result result = run(arguments);
      if (option == "--launch") {  // a CPU has no launches
        EXPECT_EQ(result.status, 2) << result.error;
        EXPECT_NE(result.error.find("--launch"), std::string::npos) << result.error;
        continue;
      }
      EXPECT_EQ(result.status, 0) << result.error;
    }
  }
  const std::map<std::string, std::pair<std::string, std::string>> problems = {
      {"--size", {"poisson", "50"}},
      {"--seed", {"poisson", "3"}},
      {"--quiet", {"poisson", ""}},
      {"-q", {"poisson", ""}},
      {"--help", {"poisson", ""}},
      {"-h", {"poisson", ""}},
      {"--output", {"poisson", "y.mtx"}},
      {"-o", {"poisson", "y.mtx"}},
      {"--contrast", {"helmholtz", "0.2"}},
      {"--points-per-wavelength", {"helmholtz", "12"}},
      {"--damping", {"helmholtz", "0.1"}},
      {"--young", {"elasticity", "2"}},
      {"--irregularity", {"elasticity", "0.3"}},
      {"--points", {"elasticity", "p.mtx"}},
      {"--poisson-ratio", {"elasticity", "0.25"}},
      {"--potential", {"dirac", "2"}},
      {"--shift", {"dirac", "3"}},
  };
  for (const std::string& option : options(help("generate"))) {
    SCOPED_TRACE("generate " + option);
    ASSERT_TRUE(problems.contains(option));
    const auto& [problem, value] = problems.at(option);
    std::vector<std::string> arguments = {"generate", problem, option};
    if (!value.empty()) arguments.push_back(value);
    if (option != "-o" && option != "--output") {
      arguments.insert(arguments.end(), {"-o", "y.mtx"});
    }
    if (option != "--size") arguments.insert(arguments.end(), {"--size", "100"});
    const Result result = run(arguments);
    EXPECT_EQ(result.status, 0) << result.error;
  }
}

TEST_F(Help, Version) {
  const Result result = run({"--version"});
  EXPECT_EQ(result.status, 0);
  EXPECT_TRUE(std::regex_match(result.out, std::regex("heddle [0-9]+\\.[0-9]+\\.[0-9]+\n")))
      << result.out;
}

TEST_F(Help, Configuration) {
  const Result result = run({"--configuration"});
  EXPECT_EQ(result.status, 0) << result.error;
  const auto json = nlohmann::json::parse(result.out);
  EXPECT_EQ(json["version"], version);
  EXPECT_GE(json["threads"], 1);
}

}  // namespace
