// Runs in both builds.
// Data must not be lost, and a command must neither block nor obey hostile input, whatever names,
// numbers and files it is given. Each table holds one kind of fault: a new case is one more line of
// it.
#include <sys/stat.h>

#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "cli/run.hpp"
#include "cli/small_systems.hpp"
#include "support/child.hpp"
#include "support/tuning/profiles.hpp"
#include "support/where_it_runs.hpp"

namespace {

namespace fs = std::filesystem;

class Hostile : public CommandLine {
 protected:
  using Contents = std::map<std::string, std::string>;

  void SetUp() override {
    folder.write("a.mtx", matrix_market(real_matrix(12)));
    folder.write("b.mtx", matrix_market(real_matrix(8)));
  }
  /// The contents of every file in the folder and its subfolders.
  Contents all() const {
    Contents found;
    for (const auto& file : fs::recursive_directory_iterator(folder / "")) {
      const std::string name = file.path().string();
      std::error_code loop;
      found[name] = file.is_regular_file(loop) ? contents(name) : "";
    }
    return found;
  }
  void save_profile(const std::string& name) const {
    fs::create_directories(fs::path(folder / name).parent_path());
    heddle::test::some_profile().save(folder / name);
  }
  /// Expects only one line on standard error, and every file unchanged.
  void expect_refused(const std::string& line, const std::string& part) const {
    SCOPED_TRACE(line);
    const Contents before = all();
    const Result result = shell(line);
    EXPECT_EQ(result.status, 2) << result.out;
    EXPECT_EQ(result.out, "");
    EXPECT_EQ(result.error_lines(), 1U) << result.error;
    EXPECT_NE(result.error.find(part), std::string::npos) << result.error;
    EXPECT_EQ(all(), before);
  }
};

class HostileOutputs : public Hostile {
 protected:
  void SetUp() override {
    Hostile::SetUp();
    folder.write("x.mtx", "%%MatrixMarket matrix array real general\n12 1\n" + ones(12));
    folder.write("e.json", "{}");
    save_profile("p.json");
    save_profile("cache/heddle/profiles/known.json");
    fs::create_directories(folder / "md");
    fs::create_directories(folder / "runs/tuning");
    fs::create_directories(folder / "runs/simulations");
    fs::copy(folder / "a.mtx", folder / "md/p.mtx");
    for (const char* name : {"runs/r.json", "runs/tuning/t.json", "runs/simulations/s.json"}) {
      folder.write(name, "{}");
    }
    fs::create_symlink("a.mtx", folder / "link.mtx");
    fs::create_hard_link(folder / "a.mtx", folder / "hard.mtx");
    fs::create_symlink("y.mtx", folder / "dangling.mtx");
    fs::create_symlink("loop", folder / "loop");
    fs::create_directory_symlink("md", folder / "same-md");
  }
  static std::string ones(int count) {
    std::string text;
    for (int i = 0; i < count; ++i) text += "1\n";
    return text;
  }
};

TEST_F(HostileOutputs, AreNoInputs) {
  HEDDLE_RELEASE_ONLY();
  const std::pair<const char*, const char*> lines[] = {
      {"$heddle tune a.mtx -o a.mtx", "--output a.mtx is the file that the command reads"},
      {"$heddle tune a.mtx --html a.mtx -o q.json", "--html a.mtx is the file that the command"},
      {"$heddle tune a.mtx --trials ./a.mtx -o q.json", "--trials"},
      {"$heddle tune b.mtx a.mtx --trials a.mtx -o q.json", "--trials"},
      {"$heddle tune a.mtx -o link.mtx", "--output"},
      {"$heddle tune a.mtx -o hard.mtx", "--output"},
      {"$heddle tune link.mtx -o md/../a.mtx", "--output"},
      {"$heddle tune a.mtx -o $PWD/a.mtx", "--output"},
      {"$heddle tune a.mtx --append -o a.mtx", "a.mtx"},
      {"$heddle tune /dev/stdin -o a.mtx < a.mtx", "--output"},
      {"$heddle tune a.mtx --entry-definition e.json -o e.json", "--entry-definition reads"},
      {"HEDDLE_PROFILE=p.json $heddle tune a.mtx -o q.json --html p.json", "HEDDLE_PROFILE reads"},
      {"$heddle solve a.mtx -o a.mtx", "--output"},
      {"$heddle solve a.mtx --rhs x.mtx -o x.mtx", "--rhs reads"},
      {"$heddle solve a.mtx --guess x.mtx --history x.mtx", "--guess reads"},
      {"$heddle solve a.mtx --entry-definition e.json --history e.json", "--entry-definition"},
      {"$heddle solve a.mtx --profile p.json -o p.json", "--profile reads"},
      {"$heddle solve a.mtx --profile p.json --history ./p.json", "--profile reads"},
      {"HEDDLE_PROFILE=p.json $heddle solve a.mtx -o p.json", "HEDDLE_PROFILE reads"},
      {"HEDDLE_PROFILE= XDG_CACHE_HOME=$PWD/cache $heddle solve a.mtx -o "
       "cache/heddle/profiles/known.json",
       "the choice of a plan reads"},
      {"$heddle info a.mtx >> a.mtx", "standard output is the file that the command reads"},
      {"$heddle spmv a.mtx >> a.mtx", "standard output"},
      {"$heddle tune --list a.mtx >> a.mtx", "standard output"},
      {"$heddle tune a.mtx --evaluate p.json >> p.json", "standard output"},
      {"$heddle bench --compare p.json e.json >> e.json", "standard output"},
      {"$heddle solve a.mtx --rhs x.mtx >> x.mtx", "standard output"},
      {"$heddle bench --matrices md -o md/p.mtx", "--matrices reads"},
      {"$heddle bench --matrices md -o same-md/p.mtx", "--matrices reads"},
      {"$heddle bench --matrices md --html md/p.mtx", "--matrices reads"},
      {"$heddle bench --quick --profile p.json -o p.json", "--profile reads"},
      {"$heddle bench --results runs -o runs/r.json", "--results reads"},
      {"$heddle bench --results runs -o runs/tuning/t.json", "--results reads"},
      {"$heddle bench --results runs -o runs/simulations/s.json", "--results reads"}};
  for (const auto& [line, part] : lines) expect_refused(line, part);
}

TEST_F(HostileOutputs, AreNotEachOther) {
  const std::pair<const char*, const char*> lines[] = {
      {"$heddle solve a.mtx -o y.mtx --history y.mtx", "--history y.mtx is the file that --output"},
      {"$heddle solve a.mtx -o y.mtx --history ./y.mtx", "--history"},
      {"$heddle solve a.mtx -o y.mtx --history dangling.mtx", "--history"},
      {"$heddle solve a.mtx -o md/y --history same-md/y", "--history"},
      {"$heddle tune a.mtx -o y.txt --html y.txt", "--output"},
      {"$heddle tune a.mtx -o q.json --html y.mtx --trials dangling.mtx", "--trials"},
      {"$heddle bench --quick -o y.txt --html y.txt", "--html"}};
  for (const auto& [line, part] : lines) expect_refused(line, part);
}

TEST_F(HostileOutputs, CanBeWritten) {
  const std::pair<const char*, const char*> lines[] = {
      {"$heddle solve a.mtx -o loop", "loop: cannot write: Too many levels of symbolic links"},
      {"$heddle generate poisson -o none/x.mtx", "there is no folder none"},
      {"$heddle bench --write-problems none", "none"}};
  for (const auto& [line, part] : lines) expect_refused(line, part);
}

/// Reading, changing and writing the same file is allowed where that is the purpose, or where
/// nothing is lost.
TEST_F(HostileOutputs, MayBeWhatIsMeantToChange) {
  HEDDLE_RELEASE_ONLY();
  const char* const lines[] = {
      "$heddle tune a.mtx --search predict -o q.json",
      "$heddle tune a.mtx --search predict -o q.json",
      "$heddle tune b.mtx --search predict -o q.json --append",
      "HEDDLE_PROFILE=q.json $heddle tune b.mtx --search predict -o q.json",
      "$heddle solve a.mtx --guess x.mtx -o x.mtx",
      "$heddle solve a.mtx -o /dev/null --history /dev/null",
      "$heddle solve a.mtx -o dangling.mtx"};
  for (const char* const line : lines) {
    const Result result = shell(line);
    EXPECT_EQ(result.status, 0) << line << "\n" << result.error;
  }
  EXPECT_TRUE(fs::is_symlink(folder / "dangling.mtx"));
  EXPECT_EQ(text_of("y.mtx").rfind("%%MatrixMarket", 0), 0U);
}

/// Runs end at about the same time.
TEST_F(HostileOutputs, OfRunsAtOnceAreAllKept) {
  HEDDLE_RELEASE_ONLY();
  const std::string prepare =
      "for i in 1 2 3; do $heddle generate poisson --size ${i}00 -q -o m$i.mtx; done; ";
  const auto tune_all = [](const std::string& options) {
    return "for i in 1 2 3; do $heddle tune m$i.mtx --search predict -q " + options +
           " & done; wait; ";
  };
  const Result result = shell(prepare + tune_all("--append -o q.json") +
                              "XDG_CACHE_HOME=$PWD/own; export XDG_CACHE_HOME; " + tune_all("") +
                              "cp own/heddle/profiles/*.json cached.json");
  EXPECT_EQ(result.status, 0);
  EXPECT_EQ(result.error, "");
  for (const char* const name : {"q.json", "cached.json"}) {
    const auto profile = nlohmann::json::parse(text_of(name), nullptr, false);
    EXPECT_EQ(profile["records"].size(), 3U) << name;
  }
}

using HostileNumbers = Hostile;

TEST_F(HostileNumbers, DoNotBecomeOthers) {
  HEDDLE_RELEASE_ONLY();
  const char* const options[] = {"solve a.mtx --seed",           "solve a.mtx --max-iterations",
                                 "solve a.mtx --repetitions",    "spmv a.mtx --seed",
                                 "spmv a.mtx --repetitions",     "generate poisson -o y --seed",
                                 "generate poisson -o y --size", "tune a.mtx --max-runs",
                                 "bench --repetitions"};
  const char* const numbers[] = {"-1",
                                 "-18446744073709551615",
                                 "18446744073709551616",
                                 "99999999999999999999999999",
                                 "1e3",
                                 "0x10",
                                 "1_000",
                                 "+1",
                                 "1.5",
                                 "' 1'",
                                 "''"};
  for (const char* const option : options) {
    for (const char* const number : numbers) {
      const std::string text(option);
      expect_refused("$heddle " + text + "=" + number, text.substr(text.rfind("--")));
    }
  }
  const Result decimal = shell("$heddle generate poisson --size 0100 -o y.mtx && head -n 2 y.mtx");
  EXPECT_EQ(decimal.status, 0);
  EXPECT_EQ(decimal.out.rfind("poisson, real: 100 rows", 0), 0U) << decimal.out;
}

TEST_F(HostileNumbers, OptionsAreNotIgnored) {
  const std::pair<const char*, const char*> lines[] = {
      {"$heddle bench --compare a b -o y.txt", "--output"},
      {"$heddle bench --compare a b --html y.txt", "--html"},
      {"$heddle bench --compare a b --json", "--json"},
      {"$heddle bench --results md --html y.txt", "--html"},
      {"$heddle bench --results md --compare a b", "--compare"},
      {"$heddle bench --list -o y.txt", "--output"},
      {"$heddle bench --write-problems . -o y.txt", "--output"},
      {"$heddle bench --threshold 0.1", "--compare"}};
  for (const auto& [line, part] : lines) expect_refused(line, part);
}

/// Tolerances at which the axes of pictures end.
TEST_F(HostileNumbers, EndPictures) {
  for (const char* const tolerance : {"1e-300", "1e-306", "1e-308", "5e-324"}) {
    const Result result = shell(std::string("timeout 60 $heddle solve a.mtx -q --plot p.svg ") +
                                "--tolerance " + tolerance);
    EXPECT_LE(result.status, 1) << tolerance << " " << result.error;
    const std::string picture = text_of("p.svg");
    EXPECT_NE(picture.find("</svg>"), std::string::npos) << tolerance;
    for (const char* const part : {"=\"nan", "=\"inf", "=\"-inf"}) {
      EXPECT_EQ(picture.find(part), std::string::npos) << tolerance;
    }
  }
}

using HostileDisk = Hostile;

/// There is one exit status for output that the system does not accept, wherever it goes.
TEST_F(HostileDisk, ThatIsFullIsStatusThree) {
  if (!fs::exists("/dev/full")) GTEST_SKIP() << "there is no /dev/full here";
  const char* const lines[] = {"$heddle --help > /dev/full",
                               "$heddle solve --help > /dev/full",
                               "$heddle --version > /dev/full",
                               "$heddle solve a.mtx --json > /dev/full",
                               "$heddle bench --list > /dev/full",
                               "$heddle solve a.mtx -q -o /dev/full",
                               "$heddle solve a.mtx -q --history /dev/full",
                               "$heddle generate poisson --size 100 -q -o /dev/full",
                               "$heddle tune a.mtx --search predict -q -o /dev/full",
                               "$heddle solve a.mtx >&-",
                               "ulimit -f 1; $heddle generate poisson --size 9000 -o y.mtx",
                               "ulimit -f 1; $heddle generate poisson --size 90000 -o y.mtx.gz",
                               "ulimit -f 1; $heddle generate poisson --size 9000 -o y.npz"};
  for (const char* const line : lines) {
    const Contents before = all();
    const Result result = shell(line);
    EXPECT_EQ(result.status, 3) << line;
    EXPECT_EQ(result.error_lines(), 1U) << line << "\n" << result.error;
    EXPECT_EQ(all(), before) << line;
  }
}

TEST_F(HostileDisk, PipesThatNobodyReadsAreStatusThree) {
  const Result result = shell(
      "{ $heddle generate poisson --size 300000 -q -o /dev/stdout; echo status $? >&2; } |"
      " head -n 1 > first");
  EXPECT_EQ(result.error, "heddle: /dev/stdout: cannot write: Broken pipe\nstatus 3\n");
}

/// A file that is opened while a stream is closed must not take the number of that stream.
TEST_F(HostileDisk, ClosedStreamsAreNoFiles) {
  ASSERT_EQ(run({"solve", "a.mtx", "-q", "-o", "y.mtx"}).status, 0);
  for (const char* const closed : {"<&-", ">&-", "2>&-", "<&- >&- 2>&-"}) {
    shell("$heddle solve a.mtx --device auto -o z.mtx " + std::string(closed));
    EXPECT_EQ(text_of("z.mtx"), text_of("y.mtx")) << closed;
    fs::remove(folder / "z.mtx");
  }
}

using HostileFiles = Hostile;

TEST_F(HostileFiles, WithoutAnEndAreNotReadToTheEnd) {
  fs::create_symlink("/dev/zero", folder / "zero");
  fs::create_directories(folder / "runs");
  fs::create_symlink("/dev/zero", folder / "runs/r.json");
  const std::pair<const char*, const char*> lines[] = {
      {"$heddle solve a.mtx --profile zero", "zero: over 16 MiB"},
      {"$heddle tune a.mtx --evaluate zero", "zero: over 16 MiB"},
      {"$heddle tune a.mtx --append -o a.mtx", "a.mtx"},
      {"$heddle solve a.mtx --entry-definition zero", "zero: over 1 MiB"},
      {"$heddle bench --compare zero zero", "zero: over 16 MiB"},
      {"$heddle bench --results runs", "no .json file"}};
  for (const auto& [line, part] : lines) expect_refused(line, part);
  const Result warned = shell("HEDDLE_PROFILE=zero $heddle solve a.mtx");
  EXPECT_EQ(warned.status, 0);
  EXPECT_EQ(warned.error_lines(), 1U) << warned.error;
}

/// Pipes that are not named explicitly are not waited for.
TEST_F(HostileFiles, PipesInFoldersArePassedOver) {
  const Result result = shell(
      "mkdir -p cache/heddle/profiles md; mkfifo cache/heddle/profiles/a.json md/b.mtx md/c.json;"
      " HEDDLE_PROFILE= XDG_CACHE_HOME=$PWD/cache timeout 20 $heddle solve a.mtx -q &&"
      " { timeout 20 $heddle bench --matrices md; timeout 20 $heddle bench --results md; }");
  EXPECT_EQ(result.status, 2);
  EXPECT_EQ(result.error_lines(), 2U) << result.error;
}

/// The unpacked size and the stated sizes of a file must not cost more than its contents are worth,
/// and a flipped bit must not pass as another number.
TEST_F(HostileFiles, CostWhatTheyHold) {
  HEDDLE_RELEASE_ONLY();  // files of 64 MiB and more, byte by byte
  ASSERT_EQ(run({"convert", "a.mtx", "a.npz"}).status, 0);
  std::string damaged = text_of("a.npz");
  const std::size_t at = damaged.find("data.npy");
  ASSERT_NE(at, std::string::npos);
  damaged[at + 8 + 128 + 7] ^= '\x40';  // a bit in the exponent of the first number
  folder.write("flip.npz", damaged);
  const std::string banner = "%%MatrixMarket matrix coordinate real general\n";
  write_gzip(folder / "blank.mtx.gz", banner + "2 2 2\n" + std::string(160 << 20, '\n'));
  write_gzip(folder / "header.mtx.gz", banner + std::string(80 << 20, '\n'));
  folder.write("cut.mtx.gz", text_of("blank.mtx.gz").substr(0, 300));
  folder.write("rows.mtx", banner + "2000000000 2 1\n1 1 1\n");
  folder.write("long.npy",
               std::string("\x93NUMPY\1\0F\0", 10) +
                   "{'descr': '<f8', 'fortran_order': False, 'shape': (99999999999,), }  \n");
  write_gzip(folder / "text.txt.gz", "1\n" + std::string(80 << 20, '\n'));
  const std::pair<const char*, const char*> lines[] = {
      {"$heddle info flip.npz", "member 'data.npy' is damaged: its checksum does not match its"},
      {"$heddle solve flip.npz", "is damaged"},
      {"$heddle info blank.mtx.gz",
       "more than 64 MiB of blank lines, comments and spaces for the 2"},
      {"$heddle info header.mtx.gz", "64 MiB without a size line"},
      {"$heddle info cut.mtx.gz", "the compressed file is truncated"},
      {"$heddle info rows.mtx", "nearly all would be empty"},
      {"$heddle solve a.mtx --rhs long.npy", "the array is truncated"},
      {"$heddle solve a.mtx --rhs text.txt.gz", "more than 64 MiB of blank lines"},
      {"$heddle solve a.mtx --rhs a.npz", "a zip archive"},
      {"$heddle solve a.mtx -o x.dat", "x.dat does not end in"}};
  const std::string limited = heddle::test::addresses_are_reserved ? "" : "ulimit -v 4000000; ";
  for (const auto& [line, part] : lines) expect_refused(limited + line, part);
}

using HostileNames = Hostile;

bool is_plain(const std::string& text) {
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return c == '\n' || (c >= ' ' && c <= '~'); });
}

TEST_F(HostileNames, AreShownOnOneLine) {
  const std::string name = "a\x1b[31m\n\r\xff\xc2\x9b.mtx";
  folder.write(name, text_of("a.mtx"));
  const auto lines = [](const std::string& text) {
    return std::count(text.begin(), text.end(), '\n');
  };
  for (const std::string command : {"solve", "info"}) {
    const Result plain = run({command, "a.mtx"}), hostile = run({command, name});
    ASSERT_EQ(hostile.status, 0) << hostile.error;
    EXPECT_TRUE(is_plain(hostile.out)) << hostile.out;
    EXPECT_EQ(lines(hostile.out), lines(plain.out));
  }
  const std::vector<std::string> faults[] = {{"solve", "none" + name},
                                             {"solve", "a.mtx", "--" + name},
                                             {"solve", "a.mtx", "--profile", name},
                                             {"solve", "a.mtx", "--solver", name},
                                             {"solve", "a.mtx", "--threads", name},
                                             {"solve", "a.mtx", "-o", "none/" + name},
                                             {"tune", "a.mtx", "-o", "p", "--objective", name},
                                             {"bench", "--problem", name},
                                             {"bench", "--matrices", name},
                                             {name}};
  for (const auto& arguments : faults) {
    const Result result = run(arguments);
    EXPECT_EQ(result.status, 2);
    EXPECT_TRUE(is_plain(result.error)) << result.error;
    EXPECT_EQ(result.error_lines(), 1U) << result.error;
  }
}

TEST_F(HostileNames, LeaveJsonValid) {
  const std::string name = "md/a\x1b\n\xff\xc3.mtx";
  fs::create_directories(folder / "md");
  folder.write(name, text_of("a.mtx"));
  const std::vector<std::string> commands[] = {
      {"solve", name, "--json"},
      {"info", name, "--json"},
      {"tune", name, "--search", "predict", "-o", "p\xff.json", "--json"},
      {"tune", name, "--seconds", "0.1", "--max-runs", "3", "-o", "p.json", "--json", "--trials",
       "t.json", "--html", "t.html", "--domain", "d\xfe"},
      {"tune", "--list", name, "--json"},
      {"tune", name, "--evaluate", "p.json", "--seconds", "0.1", "--max-runs", "3", "--json"},
      {"bench", "--matrices", "md", "--suite", "setup", "--quick", "--repetitions", "3", "--name",
       "n\xff", "-o", "r.json", "--json"}};
  for (const auto& arguments : commands) {
    const Result result = run(arguments);
    EXPECT_EQ(result.status, 0) << arguments[0] << "\n" << result.error;
    EXPECT_FALSE(result.json().empty());
  }
  for (const char* const file : {"p.json", "t.json", "r.json"}) {
    EXPECT_TRUE(nlohmann::json::accept(text_of(file))) << file;
  }
}

using HostileCache = Hostile;

TEST_F(HostileCache, OfOthersIsRefused) {
  fs::create_directory(folder / "kernels");
  for (const auto& [mode, is_safe] :
       {std::pair{0700U, true}, {0755U, true}, {0775U, false}, {0777U, false}, {01777U, false}}) {
    chmod((folder / "kernels").c_str(), mode);
    const Result result = shell("HEDDLE_CACHE_DIR=kernels $heddle cache list");
    EXPECT_EQ(result.status, is_safe ? 0 : 2) << mode;
    EXPECT_EQ(result.error.find("chmod go-w") == std::string::npos, is_safe) << result.error;
  }
}

}  // namespace
