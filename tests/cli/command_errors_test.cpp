// Runs in both builds.
// Bad input: exit status 2, one line on standard error with the fault and its place, no file left.
#include <regex>

#include "cli/run.hpp"
#include "cli/small_systems.hpp"
#include "support/where_it_runs.hpp"

namespace {

struct Fault {
  std::string name;
  std::vector<std::string> arguments;
  std::string message;  // a regular expression for the whole line after "heddle: "
};

void PrintTo(const Fault& fault, std::ostream* out) { *out << fault.name; }

const std::string general = "%%MatrixMarket matrix coordinate real general\n";

class Errors : public CommandLine, public testing::WithParamInterface<Fault> {
 protected:
  void SetUp() override {
    folder.write("good.mtx", matrix_market(real_matrix(12)));
    folder.write("dual.mtx", dual_quaternion_systems()[0].text);
    folder.write("hermitian.mtx", complex_system("complex", 5).text);
    folder.write("wide.mtx", general + "2 3 2\n1 1 1\n2 3 1\n");
    folder.write("hole.mtx", general + "3 3 3\n1 1 1\n2 1 1\n3 3 1\n");
    folder.write("word.mtx", general + "% one\n\n3 3 2\n1 1 1\n2 x 1\n");
    folder.write("outside.mtx", general + "3 3 2\n1 1 1\n4 1 1\n");
    folder.write("nan.mtx", general + "1 1 1\n1 1 nan\n");
    folder.write("short.mtx", general + "3 3 2\n1 1 1\n");
    folder.write("banner.mtx", "1 1 1\n");
    folder.write("empty.mtx", "");
    folder.write("text.npz", general + "1 1 1\n1 1 1\n");
    folder.write("tile.mtx", matrix_market(real_matrix(8)));
    folder.write("b5.mtx", "%%MatrixMarket matrix array real general\n5 1\n1\n1\n1\n1\n1\n");
    folder.write("bnan.mtx", "%%MatrixMarket matrix array real general\n1 1\ninf\n");
    std::filesystem::create_directory(folder / "sub");
    std::filesystem::create_directory(folder / "sub.npz");
    write_gzip(folder / "whole.mtx.gz", matrix_market(real_matrix(1000)));
    const std::string packed = text_of("whole.mtx.gz");
    folder.write("cut.mtx.gz", packed.substr(0, packed.size() / 2));
  }
};

TEST_P(Errors, OneLineAndNoFile) {
  const Names before = files();
  const Result result = run(GetParam().arguments);
  EXPECT_EQ(result.status, 2);
  EXPECT_EQ(result.out, "");
  EXPECT_EQ(result.error_lines(), 1u) << result.error;
  EXPECT_LT(result.error.size(), 400u) << result.error;
  const std::regex expected("heddle: " + GetParam().message + "\n");
  EXPECT_TRUE(std::regex_match(result.error, expected)) << result.error << GetParam().message;
  EXPECT_EQ(files(), before);
}

/// A fault in a solve of `matrix`, with an output that must not appear.
Fault solve(const std::string& name, const std::string& matrix,
            const std::vector<std::string>& options, const std::string& message) {
  std::vector<std::string> arguments = {"solve", matrix, "--output", "x.mtx", "--history", "h.csv"};
  arguments.insert(arguments.end(), options.begin(), options.end());
  return {name, arguments, message};
}

std::string showing_name(const testing::TestParamInfo<Fault>& fault) { return fault.param.name; }

INSTANTIATE_TEST_SUITE_P(
    Files, Errors,
    testing::Values(
        solve("missing", "none.mtx", {}, "none\\.mtx: No such file or directory"),
        solve("directory", "sub", {}, "sub: is a directory"),
        solve("directory_npz", "sub.npz", {}, "sub\\.npz: is a directory"),
        solve("word", "word.mtx", {}, "word\\.mtx:6: 'x' is not a column number.*"),
        solve("outside", "outside.mtx", {}, "outside\\.mtx:4: row '4' is outside 1 to 3.*"),
        solve("not_a_number", "nan.mtx", {}, "nan\\.mtx:3: .*nan.*"),
        solve("short", "short.mtx", {}, "short\\.mtx:3: the file ends after 1 of 2 entries.*"),
        solve("banner", "banner.mtx", {}, "banner\\.mtx:1: .*MatrixMarket.*"),
        solve("empty", "empty.mtx", {}, "empty\\.mtx:1: the file is empty.*"),
        solve("truncated_gzip", "cut.mtx.gz", {}, "cut\\.mtx\\.gz:[0-9]+: .*truncated.*"),
        solve("no_zip", "text.npz", {}, "text\\.npz: .*"),
        solve("not_square", "wide.mtx", {"--solver", "cg"}, "wide\\.mtx .*2 x 3.*square.*lsmr.*"),
        solve("no_tiles", "good.mtx", {"--entry", "dual-quaternion", "--solver", "bicgstab"},
              "good\\.mtx: .*12 x 12.*8 x 8.*"),
        solve("not_a_quaternion", "tile.mtx", {"--entry", "quaternion"}, "tile\\.mtx: .*"),
        solve("complex_into_real", "hermitian.mtx", {"--entry", "real"},
              "hermitian\\.mtx: .*complex.*"),
        Fault{"spmv", {"spmv", "none.mtx"}, "none\\.mtx: No such file or directory"},
        Fault{"info", {"info", "word.mtx"}, "word\\.mtx:6: .*"}),
    showing_name);

INSTANTIATE_TEST_SUITE_P(
    Names, Errors,
    testing::Values(
        solve("entry", "good.mtx", {"--entry", "octonion"}, ".*'octonion'.*quaternion.*"),
        solve("precision", "good.mtx", {"--precision", "half"}, ".*'half'.*single.*double.*"),
        solve("solver", "good.mtx", {"--solver", "sor"}, ".*'sor'.*cg.*bicgstab.*"),
        Fault{"no_shift", {"solve", "wide.mtx", "--shift", "1"}, "lsmr .*--shift.*--damping"},
        Fault{"no_preconditioner",
              {"solve", "good.mtx", "--solver", "lsmr", "--preconditioner", "jacobi"},
              "lsmr .*by --solver.*jacobi.*"},
        Fault{"one_right_hand_side",
              {"solve", "good.mtx", "--damping", "1", "--right-hand-sides", "2"},
              "lsmr .*by --damping.*--right-hand-sides.*"},
        solve("preconditioner", "good.mtx", {"--preconditioner", "ilu"}, ".*'ilu'.*none.*jacobi.*"),
        solve("plan", "good.mtx", {"--plan", "HYB"}, "plan: 'HYB'.*CSR.*"),
        solve("plan_key", "good.mtx", {"--plan", "CSR,width=3"}, "plan: .*'width'.*sigma.*"),
        solve("plan_value", "good.mtx", {"--plan", "C=many"}, "plan: C=many.*"),
        solve("device", "good.mtx", {"--device", "abacus"}, ".*'abacus'.*cpu.*"),
        Fault{"spmv_plan", {"spmv", "good.mtx", "--plan", "CSR", "--plan", "HYB"}, "plan: 'HYB'.*"},
        Fault{"problem", {"generate", "stokes", "-o", "x.mtx"}, ".*'stokes'.*poisson.*dirac.*"}),
    showing_name);

INSTANTIATE_TEST_SUITE_P(
    Values, Errors,
    testing::Values(
        solve("rhs_rows", "good.mtx", {"--rhs", "b5.mtx"}, "--rhs b5\\.mtx has 5 rows.*12.*"),
        solve("guess_rows", "good.mtx", {"--guess", "b5.mtx"}, "--guess b5\\.mtx has 5 rows.*12.*"),
        solve("rhs_shape", "good.mtx", {"--entry", "block2", "--rhs", "b5.mtx"},
              "b5\\.mtx: .*5 x 1.*"),
        solve("rhs_missing", "good.mtx", {"--rhs", "none.mtx"}, "none\\.mtx: No such file.*"),
        solve("rhs_infinite", "good.mtx", {"--rhs", "bnan.mtx"}, "bnan\\.mtx:3: .*inf.*"),
        solve("missing_diagonal", "hole.mtx", {"--preconditioner", "fsai"},
              ".*diagonal entry of row 1 .*use --preconditioner none"),
        solve("no_adjoint", "dual.mtx", {"--entry", "dual-quaternion", "--solver", "cg"},
              "conjugate gradient .*no adjoint.*BiCGStab.*"),
        solve("damping", "good.mtx", {"--damping", "-1"},
              "--damping must be a finite number, 0 or more, not '-1'"),
        solve("damping_of_another", "good.mtx", {"--damping", "1", "--solver", "cg"},
              "--damping .*--solver lsmr, not cg"),
        Fault{"no_adjoint_of_dual_quaternions",
              {"solve", "dual.mtx", "--entry", "dual-quaternion", "--solver", "lsmr"},
              "no adjoint: .*"},
        solve("tolerance_negative", "good.mtx", {"--tolerance", "-1"}, "--tolerance .*"),
        solve("tolerance_one", "good.mtx", {"--tolerance", "1"}, "--tolerance .*"),
        solve("tolerance_nan", "good.mtx", {"--tolerance", "nan"}, "--tolerance .*"),
        solve("tolerance_word", "good.mtx", {"--tolerance", "tight"},
              "--tolerance must be a number .*, not 'tight'"),
        solve("time_limit", "good.mtx", {"--time-limit", "-1"}, "--time-limit .*"),
        solve("max_iterations", "good.mtx", {"--max-iterations", "-1"},
              "--max-iterations must be a whole number, 0 or more, not '-1'"),
        solve("threads", "good.mtx", {"--threads", "-1"}, "--threads: .*-1.*"),
        solve("threads_hexadecimal", "good.mtx", {"--threads", "0x3"}, "--threads: '0x3' .*"),
        solve("ranks", "good.mtx", {"--ranks", "some"}, "--ranks: 'some' .*1 to 1024, nor auto.*"),
        Fault{"rate_nan",
              {"info", "good.mtx", "--bandwidth", "nan"},
              "--bandwidth must be a number above 0, in GB/s, not 'nan'"},
        Fault{"rate_negative",
              {"info", "good.mtx", "--link", "-1"},
              "--link must be a number above 0, .*, not '-1'"},
        Fault{"threshold",
              {"bench", "--threshold", "-1"},
              "--threshold: '-1' is not a number of at least 0.*"},
        Fault{"objective", {"tune", "good.mtx", "--objective", "sor"}, ".*'sor'.* cg.* multigrid"},
        Fault{"repetitions", {"spmv", "good.mtx", "--repetitions", "0"}, "--repetitions: .*"},
        Fault{"size", {"generate", "dirac", "--size", "0", "-o", "x.mtx"}, "--size: '0' .*"},
        Fault{"size_huge",
              {"generate", "dirac", "--size", "99999999999999999999", "-o", "x.mtx"},
              "--size: '9+' .*"},
        Fault{
            "size_word", {"generate", "dirac", "--size", "big", "-o", "x.mtx"}, ".*--size.*big.*"},
        Fault{"contrast",
              {"generate", "poisson", "--contrast", "2", "-o", "x.mtx"},
              "poisson takes contrast from 0 to 0\\.999, not 2"},
        Fault{"foreign_option",
              {"generate", "poisson", "--shift", "2", "-o", "x.mtx"},
              "--shift has no meaning for poisson.*"}),
    showing_name);

INSTANTIATE_TEST_SUITE_P(
    Outputs, Errors,
    testing::Values(
        Fault{"no_folder", {"solve", "good.mtx", "-o", "none/x.mtx"}, ".*none/x\\.mtx.*"},
        Fault{"folder", {"solve", "good.mtx", "-o", "sub"}, "sub is a folder.*"},
        Fault{"empty", {"solve", "good.mtx", "-o", ""}, "--output: the value is empty.*"},
        Fault{"unset", {"solve", "good.mtx", "--rhs", ""}, "--rhs: the value is empty.*"},
        Fault{"ending",
              {"solve", "good.mtx", "-o", "x.csv"},
              "--output: x\\.csv does not end.*npy.*"},
        Fault{"numpy", {"generate", "dirac", "-o", "x.npy"}, "--output: x\\.npy does not end.*npz"},
        Fault{"misspelt",
              {"solve", "good.mtx", "--tolerence", "1"},
              "'--tolerence' is no option; did you mean --tolerance\\? .*"},
        Fault{"cut_off",
              {"solve", "good.mtx", "--tol=1"},
              "'--tol=1' is no option; did you mean "
              "--tolerance\\? .*"},
        Fault{"foreign", {"solve", "good.mtx", "--zebra"}, "'--zebra' is no option \\(.*"},
        Fault{"command",
              {"solv", "good.mtx", "--solver", "cg"},
              "'solv' is no command; did you mean solve\\? .*"},
        Fault{"letters", {"slove", "good.mtx"}, "'slove' is no command; did you mean solve\\? .*"},
        Fault{"nested", {"cache", "lst"}, "'lst' is no command; did you mean list\\? .*"},
        Fault{"no_more", {"solve", "--", "good.mtx", "b"}, "'b' is one argument too many.*"},
        Fault{"history", {"solve", "good.mtx", "-o", "x.mtx", "--history", "none/h"}, ".*none/h.*"},
        Fault{"npz", {"solve", "good.mtx", "-o", "x.npz"}, "--output: x\\.npz does not end.*mtx.*"},
        Fault{"itself",
              {"solve", "good.mtx", "-o", "./good.mtx"},
              "--output \\./good\\.mtx is the file that the command reads"},
        Fault{"generate", {"generate", "dirac", "-o", "none/a.mtx"}, ".*none/a\\.mtx.*"},
        Fault{"generate_folder", {"generate", "dirac", "-o", "sub"}, "sub is a folder.*"}),
    showing_name);

INSTANTIATE_TEST_SUITE_P(
    Usage, Errors,
    testing::Values(Fault{"command", {"resolve"}, ".*--help.*"},
                    Fault{"option", {"solve", "good.mtx", "--fast"}, ".*--fast.*"},
                    Fault{"second_matrix", {"solve", "good.mtx", "dual.mtx"}, ".*dual\\.mtx.*"},
                    Fault{"no_matrix", {"solve"}, ".*matrix.*required.*"},
                    Fault{"no_value", {"solve", "good.mtx", "--plan"}, ".*--plan.*"},
                    Fault{"no_problem", {"generate", "-o", "x.mtx"}, ".*problem.*required.*"},
                    Fault{"no_output", {"generate", "dirac"}, ".*--output.*required.*"},
                    Fault{"info_no_matrix", {"info"}, ".*matrix.*required.*"}),
    showing_name);

using Memory = CommandLine;

/// One row names every column: in ELLPACK every row then has that length.
TEST_F(Memory, ThatDoesNotSufficeIsNamedInOneLine) {
  HEDDLE_RELEASE_ONLY();  // 1.2 million lines of a file
  constexpr int n = 600000;
  std::string text = general + std::to_string(n) + " " + std::to_string(n) + " " +
                     std::to_string(2 * n - 1) + "\n";
  for (int i = 1; i <= n; ++i) {
    const std::string number = std::to_string(i);
    text += "1 " + number + " 1\n";
    if (i > 1) text += number + " " + number + " 1\n";
  }
  folder.write("a.mtx", text);
  const Result result = run({"solve", "a.mtx", "--plan", "ELL", "-o", "x.mtx"});
  EXPECT_EQ(result.status, 3);
  EXPECT_EQ(result.out, "");
  EXPECT_EQ(result.error_lines(), 1u) << result.error;
  const std::regex expected(
      "heddle: this plan needs 5\\.2 TiB \\(values 2\\.6 TiB, columns 1\\.3 TiB, .*available are "
      ".*these fit: CSR .*Sl-32 .*pJDS .*\n");
  EXPECT_TRUE(std::regex_match(result.error, expected)) << result.error;
  EXPECT_EQ(files(), Names{"a.mtx"});
}

using FullDevice = CommandLine;

TEST_F(FullDevice, IsNoSuccess) {
  if (!std::filesystem::exists("/dev/full")) GTEST_SKIP() << "there is no /dev/full here";
  folder.write("good.mtx", matrix_market(real_matrix(12)));
  for (const char* command : {"solve good.mtx", "solve good.mtx --json", "info good.mtx"}) {
    const Result result = shell("$heddle " + std::string(command) + " > /dev/full");
    EXPECT_EQ(result.status, 3) << command;
    EXPECT_EQ(result.error_lines(), 1u) << result.error;
  }
  const Result written = run({"solve", "good.mtx", "-q", "-o", "/dev/full"});
  EXPECT_EQ(written.status, 3);
  EXPECT_EQ(written.error, "heddle: /dev/full: cannot write: No space left on device\n");
}

}  // namespace
