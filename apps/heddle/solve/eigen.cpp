// `heddle eigen`: the smallest eigenpairs of a Hermitian matrix, found and reported.
#include <memory>
#include <string>

#include "any_case.hpp"
#include "commands.hpp"
#include "find_pairs.hpp"
#include "io/field_files.hpp"
#include "setting_options.hpp"
#include "system_choice.hpp"

namespace heddle::cli {

namespace {

/// Like `preconditioners_in_words`, without those that LOBPCG refuses.
std::string suitable_preconditioners() {
  std::string words;
  for (const PreconditionerInfo& info : preconditioner_table()) {
    if (!info.is_hermitian || info.varies) continue;
    words += (words.empty() ? "" : ", ") + in_words(info);
  }
  return words;
}

}  // namespace

void check(const EigenCommand& options, const Device& device, bool on_ranks) {
  if (const auto choice = ComposedChoice::parse(options.preconditioner);
      !choice.is_hermitian() || choice.varies()) {
    throw Error(ErrorKind::usage, std::string("LOBPCG needs a ") +
                                      (choice.varies() ? "constant " : "") +
                                      "Hermitian preconditioner, not " + options.preconditioner +
                                      "; there are " + suitable_preconditioners() +
                                      ", and compositions that read the same from both ends");
  }
  check_plan_text(options.plan, device);
  options.storage.check_use({options.plan}, options.profile);
  if (options.storage.is_hierarchical() && !options.plan.empty()) {
    throw Error(ErrorKind::usage, "--plan is for sliced storage, not for --storage hisparse");
  }
  if (options.output) io::check_field_path("--output", *options.output);
  RunFiles files;
  options.matrix.add_inputs(files);
  files.reads("--mass", options.mass);
  options.profile.add_inputs(files);
  for (int k = 1; options.output && k <= options.of_solver().count; ++k) {
    files.writes("--output", numbered(*options.output, k));
  }
  files.check();
  if (on_ranks) check_storage_for_ranks(options.storage);
}

namespace {

int eigen_alone(const EigenCommand& options) {
  const Device device = options.matrix.on();
  EigenProblem problem = read_problem(options, device, false);
  const auto progress = options.matrix.progress();
  OneProcess here(options.storage, options.profile, device, progress.get(),
                  [&] { return choose_eigen_plan(options, problem.matrix, device, Profiles()); });
  const auto forget = [&] {
    problem.matrix = AnyMatrix(CsrMatrix<real<double>>());
    problem.mass.reset();
  };
  return find_pairs(options, problem, here, forget);
}

}  // namespace

void add_eigen(CLI::App& app, int& status, Communicator* ranks) {
  auto options = std::make_shared<EigenCommand>();
  CLI::App* command =
      app.add_subcommand("eigen", "The smallest eigenvalues of a Hermitian matrix, by LOBPCG");
  options->matrix.add_to(*command);
  command
      ->add_option("--mass", options->mass,
                   "M of A x = M x lambda, a Hermitian positive definite matrix with the same "
                   "entries; default: 1")
      ->type_name("FILE");
  command
      ->add_option("-o,--output", options->output,
                   "where to write the vectors, arrays of one entry a row: v.mtx writes v-1.mtx, "
                   "v-2.mtx, ... (or .mtx.gz)")
      ->type_name("FILE");
  command
      ->add_option("--preconditioner", options->preconditioner,
                   suitable_preconditioners() + compositions_in_words())
      ->capture_default_str()
      ->transform(any_case())
      ->type_name("NAME[:N]...");
  add_settings(*command, SettingUse::eigen, options->settings);
  add_plan_option(*command, options->plan);
  options->storage.add_to(*command);
  options->ranks.add_to(*command, ranks != nullptr, false);
  options->profile.add_to(*command, options->matrix.quiet);
  command->add_flag("--json", options->json, "print the report as one JSON object");
  add_settings_file(*command);
  command->footer(
      "Example: heddle eigen dirac.mtx.gz --entry quaternion --count 2 --tolerance 1e-6 --output "
      "v.mtx\n"
      "Exit status: 0 converged, 1 not converged, 2 bad input, 3 resources, 130 interrupted.");
  command->callback([options, &status, ranks] {
    if (ranks != nullptr) {
      status = eigen_on_ranks(*options, *ranks);
    } else {
      options->ranks.check_use(options->matrix.processor.device);
      status = options->ranks.is_given() ? eigen_on_ranks(*options) : eigen_alone(*options);
    }
  });
}

}  // namespace heddle::cli
