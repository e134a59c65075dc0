// `heddle generate`: model problems into files that `heddle solve` reads.
#include <algorithm>
#include <cctype>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <system_error>

#include "any_case.hpp"
#include "commands.hpp"
#include "heddle/expansion.hpp"
#include "heddle/matrix_market.hpp"
#include "heddle/npz.hpp"
#include "heddle/problems.hpp"
#include "heddle/tools/progress.hpp"
#include "heddle/tools/team.hpp"
#include "heddle/tools/text.hpp"
#include "io/field_files.hpp"
#include "io/write_entries.hpp"
#include "output_path.hpp"
#include "run_files.hpp"
#include "whole_number.hpp"

namespace heddle::cli {

namespace {

struct Arguments {
  std::string problem;
  long long size = 100000;
  std::uint64_t seed = 1;
  std::string output, points;
  std::optional<double> contrast, points_per_wavelength, damping, potential, shift, young,
      poisson_ratio, irregularity;
  bool quiet = false;
};

/// The setting of one option of the command line, and the problem that takes it.
struct Choice {
  const char* problem;
  const char* option;
  const std::optional<double>& given;
  double* into;
};

/// The 4 m x n matrix whose 4 x 1 tiles are the components of the entries.
CsrMatrix<real<double>> components(const CsrMatrix<quaternion<double>>& matrix) {
  const Index rows = detail::scaled_size(matrix.rows(), 4);
  const auto entries = static_cast<std::size_t>(matrix.entries());
  Array<Offset> offsets(static_cast<std::size_t>(rows) + 1);
  Array<Index> column(entries * 4);
  Array<double> values(entries * 4);
  parallel_for(default_threads(), matrix.rows(), [&](Index row) {
    const Offset begin = matrix.offsets()[row];
    const Offset length = matrix.offsets()[row + 1] - begin;
    for (int k = 0; k < 4; ++k) {
      const Offset to = 4 * begin + k * length;
      offsets[static_cast<std::size_t>(row) * 4 + k + 1] = to + length;
      for (Offset j = 0; j < length; ++j) {
        column[to + j] = matrix.column()[begin + j];
        values[to + j] = matrix.values()[(begin + j) * 4 + k];
      }
    }
  });
  return {rows, matrix.columns(), std::move(offsets), std::move(column), std::move(values)};
}

void write_text(const std::string& path, const CsrMatrix<real<double>>& matrix,
                Progress* progress) {
  write_scalar_matrix(path, matrix.view(), Symmetry::symmetric, progress);
}
void write_text(const std::string& path, const CsrMatrix<complex<double>>& matrix,
                Progress* progress) {
  write_scalar_matrix(path, matrix.view(), Symmetry::symmetric, progress);
}
void write_text(const std::string& path, const CsrMatrix<block<double, 3, 3>>& matrix,
                Progress* progress) {
  write_scalar_matrix(path, ScalarMatrix{expand(matrix), 3, 3}, Symmetry::symmetric, progress);
}
void write_text(const std::string& path, const CsrMatrix<quaternion<double>>& matrix,
                Progress* progress) {
  write_scalar_matrix(path, ScalarMatrix{components(matrix), 4, 1}, Symmetry::general, progress);
}

std::string file_size(const std::string& path) {
  std::error_code unknown;
  const auto bytes = std::filesystem::file_size(path, unknown);
  if (unknown) return "written";
  char text[40];
  std::snprintf(text, sizeof text, bytes < 1'000'000 ? "%.1f kB" : "%.1f MB",
                bytes < 1'000'000 ? bytes / 1e3 : bytes / 1e6);
  return text;
}

std::string in_quotes(const std::string& path) {
  const bool plain = std::all_of(path.begin(), path.end(), [](unsigned char c) {
    return std::isalnum(c) != 0 ||
           std::string("/._-+=,:@%").find(static_cast<char>(c)) != std::string::npos;
  });
  if (plain) return path;
  std::string text = "'";
  for (const char c : path) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return text + "'";
}

/// Generates and writes a problem, then reports what was written and how to use it.
template <class Generate>
void write_problem(const Arguments& arguments, const char* description, const char* solve_options,
                   const Generate& generate) {
  using Clock = std::chrono::steady_clock;
  std::optional<TerminalProgress> terminal;
  if (!arguments.quiet) terminal.emplace();
  Progress* progress = terminal ? &*terminal : nullptr;

  const auto start = Clock::now();
  const auto matrix = generate();
  const std::chrono::duration<double> made = Clock::now() - start;
  if (ends_with(arguments.output, ".npz")) {
    write_npz(arguments.output, block_view(matrix), NpzCompression::stored, progress);
  } else {
    write_text(arguments.output, matrix, progress);
  }
  const std::chrono::duration<double> all = Clock::now() - start;
  if (arguments.quiet) return;
  terminal->erase();

  Offset shortest = matrix.entries(), longest = 0;
  for (Index row = 0; row < matrix.rows(); ++row) {
    const Offset length = matrix.offsets()[row + 1] - matrix.offsets()[row];
    shortest = std::min(shortest, length);
    longest = std::max(longest, length);
  }
  char text[200];
  std::snprintf(text, sizeof text, "%d rows, %lld entries, %.2f a row (%lld to %lld)",
                matrix.rows(), matrix.entries(),
                static_cast<double>(matrix.entries()) / matrix.rows(), shortest, longest);
  std::cout << description << ": " << text << '\n';
  std::snprintf(text, sizeof text, "%s (generated in %.2f s, written in %.2f s)",
                file_size(arguments.output).c_str(), made.count(), (all - made).count());
  std::cout << io::printable(arguments.output) << ": " << text << '\n';
  std::cout << "next: heddle solve " << io::printable(in_quotes(arguments.output)) << ' '
            << solve_options << '\n';
}

void generate(const Arguments& arguments) {
  PoissonOptions poisson_options;
  ElasticityOptions elasticity_options;
  HelmholtzOptions helmholtz_options;
  DiracOptions dirac_options;
  const std::string& problem = arguments.problem;
  const bool is_poisson = problem == "poisson";
  if (!is_poisson && problem != "elasticity" && problem != "helmholtz" && problem != "dirac") {
    throw Error(ErrorKind::usage, "there is no problem '" + problem +
                                      "'; there are poisson, elasticity, helmholtz, dirac");
  }
  const Choice choices[] = {
      {"poisson", "--contrast", arguments.contrast, &poisson_options.contrast},
      {"helmholtz", "--contrast", arguments.contrast, &helmholtz_options.contrast},
      {"helmholtz", "--points-per-wavelength", arguments.points_per_wavelength,
       &helmholtz_options.points_per_wavelength},
      {"helmholtz", "--damping", arguments.damping, &helmholtz_options.damping},
      {"elasticity", "--young", arguments.young, &elasticity_options.young},
      {"elasticity", "--poisson-ratio", arguments.poisson_ratio, &elasticity_options.poisson},
      {"elasticity", "--irregularity", arguments.irregularity, &elasticity_options.irregularity},
      {"dirac", "--potential", arguments.potential, &dirac_options.potential},
      {"dirac", "--shift", arguments.shift, &dirac_options.shift}};
  for (const Choice& choice : choices) {
    if (!choice.given) continue;
    const bool taken = std::any_of(std::begin(choices), std::end(choices), [&](const Choice& c) {
      return c.problem == problem && c.option == std::string(choice.option);
    });
    if (!taken) {
      throw Error(ErrorKind::usage,
                  std::string(choice.option) + " has no meaning for " + problem + "; leave it out");
    }
    *choice.into = *choice.given;
  }
  if (!arguments.points.empty() && problem != "elasticity") {
    throw Error(ErrorKind::usage, "--points has no meaning for " + problem + "; leave it out");
  }
  if (!arguments.points.empty()) io::check_field_path("--points", arguments.points);
  RunFiles files;
  files.writes("--output", arguments.output);
  if (!arguments.points.empty()) files.writes("--points", arguments.points);
  files.check();
  if (!io::is_special_file(arguments.output)) check_entries_path("--output", arguments.output);

  const auto size = static_cast<Index>(arguments.size);
  const std::uint64_t seed = arguments.seed;
  if (is_poisson) {
    write_problem(arguments, "poisson, real", "--entry real --solver cg",
                  [&] { return poisson(size, seed, poisson_options); });
  } else if (problem == "elasticity") {
    write_problem(arguments, "elasticity, 3 x 3 blocks", "--entry block3 --solver cg", [&] {
      if (arguments.points.empty()) return elasticity(size, seed, elasticity_options);
      const TetrahedronMesh mesh = random_solid(size, seed, elasticity_options.irregularity);
      CsrMatrix<block<double, 3, 3>> matrix = elasticity(mesh, elasticity_options);
      write_scalar_field(arguments.points,
                         {mesh.free_vertices, 3, false, mesh.position.data()->data()});
      return matrix;
    });
  } else if (problem == "helmholtz") {
    write_problem(arguments, "helmholtz, complex", "--entry complex --solver bicgstab",
                  [&] { return helmholtz(size, seed, helmholtz_options); });
  } else {
    write_problem(arguments, "dirac, quaternion", "--entry quaternion --solver cg",
                  [&] { return dirac(size, seed, dirac_options); });
  }
}

}  // namespace

void add_generate(CLI::App& app, int& status) {
  auto arguments = std::make_shared<Arguments>();
  Arguments& a = *arguments;
  CLI::App* command =
      app.add_subcommand("generate", "Write the matrix of a model problem to a file");
  command
      ->add_option("problem", a.problem,
                   "poisson (real), elasticity (3x3 blocks), helmholtz (complex) or dirac "
                   "(quaternion)")
      ->required()
      ->transform(any_case())
      ->type_name("PROBLEM");
  command->add_option("--size", a.size, "Number of rows; rounded to the nearest possible size")
      ->capture_default_str()
      ->transform(whole_number(1, largest_problem))
      ->type_name("N");
  command->add_option("--seed", a.seed, "Random seed; the same seed and size give the same file")
      ->capture_default_str()
      ->transform(whole_number())
      ->type_name("S");
  command
      ->add_option("-o,--output", a.output,
                   "File to write: .mtx or .mtx.gz (Matrix Market), .npz (SciPy CSR or BSR)")
      ->required()
      ->type_name("FILE");
  command
      ->add_option("--points", a.points,
                   "Also write the point of each row, for --coordinates of `heddle solve`: .mtx, "
                   ".mtx.gz, .npy or .txt")
      ->type_name("FILE")
      ->group("elasticity");
  command->add_flag("-q,--quiet", a.quiet, "Print only errors");
  const auto number = [&](const char* name, std::optional<double>& into, const char* help,
                          const char* group) {
    command->add_option(name, into, help)->type_name("X")->group(group);
  };
  number(
      "--contrast", a.contrast,
      "Relative variation of the coefficient (poisson, 0.5) or wavenumber (helmholtz, 0.1), 0 to "
      "0.999",
      "poisson and helmholtz");
  number("--points-per-wavelength", a.points_per_wavelength,
         "Grid points per wavelength, 4 or more [10]", "helmholtz");
  number("--damping", a.damping, "Absorption: k^2 becomes k^2 (1 + i X), 0 or more [0.05]",
         "helmholtz");
  number("--young", a.young, "Young's modulus, above 0 [1]", "elasticity");
  number("--poisson-ratio", a.poisson_ratio, "Poisson's ratio, 0 to 0.4999 [0.3]", "elasticity");
  number("--irregularity", a.irregularity, "Irregularity of the mesh, 0 to 1 [0.5]", "elasticity");
  number("--potential", a.potential, "Largest curvature potential, 0 or more [1]", "dirac");
  number("--shift", a.shift, "Multiple of the lumped mass to add, above 0 [4]", "dirac");
  command->footer("Example: heddle generate dirac --size 10000 --seed 1 -o dirac.mtx.gz");
  command->callback([arguments, &status] {
    generate(*arguments);
    status = 0;
  });
}

}  // namespace heddle::cli
