// `heddle eigen`: the smallest eigenpairs of a Hermitian matrix, found and reported.
#include <algorithm>
#include <cstdio>
#include <iostream>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>

#include "commands.hpp"
#include "heddle/runtime/any_eigen_solver.hpp"
#include "heddle/tools/text.hpp"
#include "json_report.hpp"
#include "matrix_options.hpp"
#include "output_path.hpp"
#include "profile_option.hpp"
#include "whole_number.hpp"

namespace heddle::cli {

namespace {

struct EigenCommand {
  MatrixOptions matrix;
  std::string mass;
  std::optional<std::string> output;
  static constexpr int usual_count = 4;
  std::optional<int> count;
  std::optional<int> guard;
  std::string preconditioner = "jacobi";
  std::optional<double> tolerance;
  long long max_iterations = EigenOptions{}.max_iterations;
  std::optional<double> time_limit;
  std::string plan;
  ProfileOption profile;
  std::uint64_t seed = EigenOptions{}.seed;
  bool json = false;
};

/// What the report is made of.
struct Found {
  AnyEntry entry = EntryKind::real;
  Precision precision;
  Index rows;
  Offset entries;
  std::optional<Offset> mass_entries;
  PlanChoice choice;
  MemoryUse memory;  // of the matrix
  long long solver_memory = 0;
  int count = 0;
  EigenReport report;
  double read_seconds = 0;
  double build_seconds = 0;
  double write_seconds = 0;
};

/// Of vector k of several, counted from 1: v.mtx.gz is v-3.mtx.gz.
std::string numbered(const std::string& path, int k) {
  for (const char* const end : {".mtx", ".mtx.gz"}) {
    if (!ends_with(path, end)) continue;
    return path.substr(0, path.size() - std::string(end).size()) + "-" + std::to_string(k) + end;
  }
  return path + "-" + std::to_string(k) + ".mtx";
}

/// As `preconditioners_in_words`, without those that LOBPCG refuses.
std::string suitable_preconditioners() {
  std::string words;
  for (const PreconditionerInfo& info : preconditioner_table()) {
    if (!info.is_hermitian || info.varies) continue;
    words += (words.empty() ? "" : ", ") + in_words(info);
  }
  return words;
}

nlohmann::ordered_json to_json(const EigenCommand& options, const Found& found) {
  const EigenReport& report = found.report;
  const auto numbers = [](const std::vector<double>& values) {
    nlohmann::ordered_json list = nlohmann::ordered_json::array();
    for (const double value : values) list.push_back(number_or_null(value));
    return list;
  };
  nlohmann::ordered_json json;
  json["status"] = name(report.status);
  if (!report.detail.empty()) json["detail"] = report.detail;
  json["iterations"] = report.iterations;
  json["eigenvalues"] = numbers(report.eigenvalues);
  json["residuals"] = numbers(report.residuals);
  json["residual_norms"] = numbers(report.residual_norms);
  json["error_estimates"] = numbers(report.error_estimates);
  json["matrix_norm"] = number_or_null(report.matrix_norm);
  json["mass_norm"] = number_or_null(report.mass_norm);
  json["preconditioner"] = options.preconditioner;
  json["plan"] = found.choice.text();
  json["plan_reason"] = found.choice.reason;
  json["entry"] = found.entry.name();
  json["precision"] = name(found.precision);
  json["rows"] = found.rows;
  json["entries"] = found.entries;
  json["mass_entries"] =
      found.mass_entries ? nlohmann::ordered_json(*found.mass_entries) : nlohmann::ordered_json();
  json["products"] = report.products;
  json["restarts"] = report.restarts;
  json["memory"] = found.memory.total();
  json["solver_memory"] = found.solver_memory;
  json["times"] = {{"read", found.read_seconds},
                   {"build", found.build_seconds},
                   {"iterate", report.seconds},
                   {"write", found.write_seconds}};
  return json;
}

void print_pairs(const EigenReport& report) {
  if (report.eigenvalues.empty()) return;
  std::printf("\n      eigenvalue                 error about  residual\n");
  for (std::size_t k = 0; k < report.eigenvalues.size(); ++k) {
    std::printf("%4zu  %-25.16g  %-11.1e  %.3e\n", k + 1, report.eigenvalues[k],
                report.error_estimates[k], report.residuals[k]);
  }
}

void print(const EigenCommand& options, const Found& found, const Device& device) {
  const EigenReport& report = found.report;
  const std::string rows = readable_count(found.rows);
  std::printf("matrix     %s: %s x %s %s entries (%s), %s stored\n",
              io::printable(options.matrix.path).c_str(), rows.c_str(), rows.c_str(),
              std::string(found.entry.name()).c_str(), std::string(name(found.precision)).c_str(),
              readable_count(found.entries).c_str());
  if (found.mass_entries) {
    std::printf("mass       %s: %s stored\n", io::printable(options.mass).c_str(),
                readable_count(*found.mass_entries).c_str());
  }
  std::printf("device     %s\n", device.description().c_str());
  std::printf("plan       %s\n", found.choice.text().c_str());
  std::printf("reason     %s\n", io::printable(found.choice.reason).c_str());
  std::printf("memory     %s, solver%s %s\n", to_string(found.memory).c_str(),
              found.mass_entries ? " and mass" : "", readable_bytes(found.solver_memory).c_str());
  std::printf("problem    A x = %sx lambda, the %d smallest, LOBPCG, preconditioner %s\n",
              found.mass_entries ? "M " : "", found.count, options.preconditioner.c_str());
  std::printf("status     %s after %lld iterations%s%s%s\n",
              std::string(name(report.status)).c_str(), report.iterations,
              report.detail.empty() ? "" : " (", std::string(report.detail).c_str(),
              report.detail.empty() ? "" : ")");
  std::printf(
      "residual   |A x - M x lambda| / ((|A| + |lambda| |M|) |x|), computed from x; |A| is "
      "about %.2e%s\n",
      report.matrix_norm, found.mass_entries ? "" : ", M = 1");
  std::printf(
      "time       read %s, build %s, iterate %s", readable_seconds(found.read_seconds).c_str(),
      readable_seconds(found.build_seconds).c_str(), readable_seconds(report.seconds).c_str());
  if (report.iterations > 0) {
    std::printf(" (%s an iteration)",
                readable_seconds(report.seconds / static_cast<double>(report.iterations)).c_str());
  }
  std::printf("\n");
  if (options.output) {
    const std::string files =
        numbered(*options.output, 1) +
        (found.count > 1 ? " to " + numbered(*options.output, found.count) : std::string());
    std::printf("written    %s\n", report.eigenvalues.empty() ? "nothing: no vector was found"
                                                              : io::printable(files).c_str());
  }
  print_pairs(report);
}

/// What is wrong with the options is said before a long read and a longer solve.
void check(const EigenCommand& options, const Device& device) {
  if (options.tolerance && !(*options.tolerance >= 0 && *options.tolerance < 1)) {
    throw Error(ErrorKind::usage, "--tolerance is at least 0 and below 1");
  }
  if (options.time_limit && !(*options.time_limit >= 0)) {
    throw Error(ErrorKind::usage, "--time-limit is a number of seconds, 0 or more");
  }
  if (const auto choice = ComposedChoice::parse(options.preconditioner);
      !choice.is_hermitian() || choice.varies()) {
    throw Error(ErrorKind::usage, "LOBPCG needs a Hermitian preconditioner, not " +
                                      options.preconditioner + "; there are " +
                                      suitable_preconditioners() +
                                      ", and compositions that read the same from both ends");
  }
  check_plan_text(options.plan, device);
  options.profile.check_use({options.plan});
  if (options.output && ends_with(*options.output, ".npz")) {
    throw Error(ErrorKind::usage, "--output " + *options.output +
                                      ": vectors are written as .mtx or .mtx.gz, not as .npz");
  }
  RunFiles files;
  options.matrix.add_inputs(files);
  files.reads("--mass", options.mass);
  options.profile.add_inputs(files);
  for (int k = 1; options.output && k <= options.count.value_or(options.usual_count); ++k) {
    files.writes("--output", numbered(*options.output, k));
  }
  files.check();
}

EigenOptions settings_of(const EigenCommand& options, Progress* progress) {
  EigenOptions settings;
  settings.count = options.count.value_or(options.usual_count);
  if (options.guard) settings.guard = *options.guard;
  if (options.tolerance) settings.tolerance = *options.tolerance;
  if (options.time_limit) settings.time_limit = *options.time_limit;
  settings.max_iterations = options.max_iterations;
  settings.seed = options.seed;
  if (progress != nullptr) {
    settings.observer = [progress](const SolveProgress& now) {
      char text[64];
      std::snprintf(text, sizeof text, "iteration %lld, residual %.1e", now.iteration,
                    now.relative_residual);
      progress->report(-1, text);
      return true;
    };
  }
  return settings;
}

AnyMatrix read_square(const EigenCommand& options, const std::string& path, Progress* progress) {
  AnyMatrix matrix = options.matrix.read(path, progress);
  if (matrix.rows() == matrix.columns()) return matrix;
  throw Error(ErrorKind::size_mismatch, path + " makes " + std::to_string(matrix.rows()) + " x " +
                                            std::to_string(matrix.columns()) +
                                            " entries; eigenvalues are those of a square matrix");
}

/// As vectors have them over the entry's ring; at least 1.
int dimensions_of(const AnyOperator& matrix) {
  return matrix.visit([](const auto& A) {
    const Offset dimensions = Offset(A.rows()) * A.row_components() / ring_size(A.ring());
    return static_cast<int>(std::clamp<Offset>(dimensions, 1, std::numeric_limits<int>::max()));
  });
}

int run_eigen(const EigenCommand& options) {
  const Device device = options.matrix.on();
  const ComposedChoice preconditioner = ComposedChoice::parse(options.preconditioner);
  check(options, device);
  const auto progress = options.matrix.progress();
  const Profiles profiles = options.profile.profiles_for({options.plan}, device);
  Found found;

  Stopwatch reading;
  const AnyMatrix matrix = read_square(options, options.matrix.path, progress.get());
  std::optional<AnyMatrix> mass;
  if (!options.mass.empty()) {
    mass.emplace(read_square(options, options.mass, progress.get()));
    found.mass_entries = mass->entries();
  }
  found.entry = matrix.entry();
  found.precision = matrix.precision();
  found.rows = matrix.rows();
  found.entries = matrix.entries();
  const Objective objective = Objective::product(options.count.value_or(options.usual_count));
  found.choice = choice_for(options.plan, matrix, device, objective, profiles);
  found.read_seconds = reading.seconds();

  Stopwatch building;
  EigenOptions settings = settings_of(options, progress.get());
  if (progress) progress->erase();
  std::optional<AnyOperator> built;
  std::optional<AnyEigenSolver> solver;
  try {
    options.profile.build(
        found.choice,
        [&](const Plan& plan) {
          solver.reset();
          built.emplace(matrix, plan, device);
          if (!options.count) settings.count = std::min(settings.count, dimensions_of(*built));
          solver.emplace(*built, mass ? &*mass : nullptr, preconditioner, settings);
        },
        [&] { return choice_for(options.plan, matrix, device, objective, Profiles()); });
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::singular) throw;
    throw Error(error.kind(), std::string(error.what()) + "; use --preconditioner none");
  }
  found.memory = built->memory();
  found.solver_memory = solver->memory();
  found.count = settings.count;
  found.build_seconds = building.seconds();

  std::vector<AnyField> x;
  x.reserve(static_cast<std::size_t>(found.count));
  for (int k = 0; k < found.count; ++k) x.push_back(built->column_field());
  found.report = solver->solve(x);

  Stopwatch writing;
  if (options.output && !found.report.eigenvalues.empty()) {
    for (int k = 0; k < found.count; ++k) {
      x[static_cast<std::size_t>(k)].write(numbered(*options.output, k + 1), matrix.entry(),
                                           progress.get());
    }
  }
  found.write_seconds = writing.seconds();
  if (progress) progress->erase();

  if (options.json) {
    std::cout << text_of(to_json(options, found));
  } else if (!options.matrix.quiet) {
    print(options, found, device);
  }
  return found.report.converged() ? 0 : 1;
}

}  // namespace

void add_eigen(CLI::App& app, int& status) {
  auto options = std::make_shared<EigenCommand>();
  CLI::App* command =
      app.add_subcommand("eigen", "The smallest eigenvalues of a Hermitian matrix, by LOBPCG");
  options->matrix.add_to(*command);
  constexpr int most = EigenOptions::most_pairs;
  command
      ->add_option("--mass", options->mass,
                   "M of A x = M x lambda, a Hermitian positive definite matrix of the same "
                   "entries; 1 without it")
      ->type_name("FILE");
  command
      ->add_option("--count", options->count,
                   "eigenpairs, 1 to " + std::to_string(most) + "; " +
                       std::to_string(EigenCommand::usual_count) +
                       " without it, or all of a smaller matrix")
      ->transform(whole_number(1, most))
      ->type_name("K");
  command
      ->add_option("--guard", options->guard,
                   "vectors that are iterated beside those, so that the last ones converge as fast "
                   "as the first; a quarter of the count without it")
      ->transform(whole_number(0, most))
      ->type_name("N");
  command
      ->add_option("-o,--output", options->output,
                   "where to write the vectors, arrays of one entry a row: v.mtx writes v-1.mtx, "
                   "v-2.mtx, ... (or .mtx.gz)")
      ->type_name("FILE");
  command
      ->add_option("--preconditioner", options->preconditioner,
                   suitable_preconditioners() + compositions_in_words())
      ->capture_default_str()
      ->type_name("NAME[:N]...");
  command
      ->add_option("--tolerance", options->tolerance,
                   "on |A x - M x lambda| / ((|A| + |lambda| |M|) |x|); default 1e-8 in double, "
                   "1e-5 in single precision")
      ->type_name("T");
  command->add_option("--max-iterations", options->max_iterations, "0 or more")
      ->capture_default_str()
      ->transform(whole_number(0, std::numeric_limits<long long>::max()))
      ->type_name("N");
  command->add_option("--time-limit", options->time_limit, "seconds of iterating")
      ->type_name("SECONDS");
  add_plan_option(*command, options->plan);
  options->profile.add_to(*command, options->matrix.quiet);
  command->add_option("--seed", options->seed, "of the first vectors")
      ->capture_default_str()
      ->transform(whole_number());
  command->add_flag("--json", options->json, "the report as one JSON object");
  command->footer(
      "Example: heddle eigen dirac.mtx.gz --entry quaternion --count 2 --tolerance 1e-6 --output "
      "v.mtx\n"
      "Exit status: 0 converged, 1 not converged, 2 bad input, 3 resources, 130 interrupted.");
  command->callback([options, &status] { status = run_eigen(*options); });
}

}  // namespace heddle::cli
