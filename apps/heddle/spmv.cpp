// `heddle spmv`: the speed of the product, and its distance from the limit.
#include <cstdio>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "commands.hpp"
#include "heddle/detail/trees/scheduler_statistics.hpp"
#include "heddle/tools/text.hpp"
#include "heddle/tuning/measure.hpp"
#include "heddle/tuning/operator_work.hpp"
#include "json_report.hpp"
#include "options/matrix_options.hpp"
#include "profile_option.hpp"
#include "queue_report.hpp"
#include "storage_option.hpp"
#include "tuning/search/linear_work.hpp"
#include "whole_number.hpp"

namespace heddle::cli {

namespace {

struct SpmvOptions {
  MatrixOptions matrix;
  std::vector<std::string> plans;
  ProfileOption profile;
  StorageOption storage;
  bool adjoint = false;
  bool update_values = false;
  bool cold = false;
  int repetitions = 25;
  std::uint64_t seed = 1;
  bool json = false;
};

struct Measured {
  std::string plan;
  std::string reason;
  Timing timing = {};
  long long compulsory = 0;
  long long moved = 0;
  Timing update = {};
  long long moved_by_update = 0;
  Timing cold = {};
  std::shared_ptr<const detail::ScheduledProduct> scheduled = {};  // null if a schedule is kept
  std::optional<SchedulerStatistics> queues = {};                  // of its last product, on a GPU
};

double gigabytes_a_second(long long bytes, double seconds) {
  return static_cast<double>(bytes) / seconds / 1e9;
}

nlohmann::ordered_json to_json(const Timing& timing) {
  return {{"lower_quartile", timing.lower_quartile},
          {"median", timing.median},
          {"upper_quartile", timing.upper_quartile}};
}

void print_timing(const char* label, const Timing& timing) {
  std::printf("%-11s %s median (quartiles %s, %s)\n", label,
              readable_seconds(timing.median).c_str(),
              readable_seconds(timing.lower_quartile).c_str(),
              readable_seconds(timing.upper_quartile).c_str());
}

/// The products that are timed, and the updates of values timed with them.
struct Works {
  std::vector<Measured> measured;  // one for each plan
  std::vector<std::unique_ptr<OperatorWork>> all;
  std::vector<OperatorWork*> products;
};

/// Adds the product of an operator or, if the options say so, of its adjoint.
template <class S>
void add_product(const SpmvOptions& options, std::shared_ptr<const LinearOperator<S>> A,
                 Measured measured, Works& works) {
  if (options.adjoint) A = A->adjoint();
  measured.moved = A->bytes_of_product();
  measured.scheduled = std::dynamic_pointer_cast<const detail::ScheduledProduct>(A);
  works.measured.push_back(std::move(measured));
  works.all.push_back(std::make_unique<LinearWork<S>>(std::move(A), options.seed));
  works.products.push_back(works.all.back().get());
}

/// Bytes that a product reads and writes in any storage, like `AnyOperator::compulsory_bytes`.
template <class S>
long long compulsory_bytes(const LinearOperator<S>& A, const AnyMatrix& matrix) {
  const auto fields = static_cast<long long>(A.rows()) * A.row_components() +
                      static_cast<long long>(A.columns()) * A.column_components();
  return matrix.entries() * (matrix.entry_bytes() + static_cast<long long>(sizeof(Index))) +
         (matrix.rows() + 1LL) * static_cast<long long>(sizeof(Offset)) +
         fields * static_cast<long long>(sizeof(S));
}

void add_tree(const SpmvOptions& options, const AnyMatrix& matrix, const Device& device,
              Works& works) {
  const NodeChoice choice =
      options.storage.choose(matrix, device, options.profile,
                             options.adjoint ? TreeUse::adjoint_product : TreeUse::product);
  const AnyLinearOperator tree = options.storage.store_as_tree(matrix, choice, device).matrix;
  tree.visit([&](const auto& A) {
    add_product(options, A,
                {.plan = options.storage.text_of(choice),
                 .reason = options.storage.reason_of(choice),
                 .compulsory = compulsory_bytes(*A, matrix)},
                works);
  });
}

Works works_of(const SpmvOptions& options, const std::vector<std::string>& plans,
               const AnyMatrix& matrix, const Profiles& profiles, const Device& device) {
  Works works;
  if (options.storage.is_hierarchical()) add_tree(options, matrix, device, works);
  for (const std::string& text : plans) {
    const auto choice_from = [&](const Profiles& known) {
      return choice_for(text, matrix, device, Objective::product(), known);
    };
    PlanChoice choice = choice_from(profiles);
    std::optional<AnyOperator> built;
    options.profile.build(
        choice, [&](const Plan& plan) { built.emplace(matrix, plan, device); },
        [&] { return choice_from(Profiles()); });
    const AnyOperator& A = *built;
    Measured measured{.plan = choice.text(),
                      .reason = choice.reason,
                      .compulsory = A.compulsory_bytes(),
                      .moved = A.bytes_of_product(),
                      .moved_by_update = bytes_of_value_update(A)};
    if (options.adjoint) {
      A.visit([&](const auto& sliced) {
        add_product(options, sliced.handle(), std::move(measured), works);
      });
      continue;
    }
    works.measured.push_back(std::move(measured));
    AnyField x = A.column_field();
    fill_random(x, options.seed);
    works.all.push_back(product_work(A, x));
    works.products.push_back(works.all.back().get());
    if (options.update_values) works.all.push_back(value_update_work(A, matrix));
  }
  return works;
}

/// Limits that times are compared with.
struct Limits {
  std::string name;      // name of the triad
  double bandwidth = 0;  // the triad's, GB/s
  Timing cold_nothing;   // a run that does nothing
};

/// Measures the times of `works.measured`.
Limits measure_all(const SpmvOptions& options, Triad& triad, const Device& device,
                   Progress* progress, Works& works) {
  std::vector<std::function<void(const Stream&)>> timed = {
      [&triad](const Stream& stream) { triad.run(stream); }};
  int done = 0;
  const int of_cold =
      options.cold ? (options.repetitions + 1) * static_cast<int>(works.products.size()) : 0;
  const int total = (2 * options.repetitions + 1) * static_cast<int>(works.all.size()) + of_cold;
  const auto with_progress = [&](OperatorWork* work) {
    return [&, work](const Stream& stream) {
      work->run(stream);
      if (progress) progress->report(static_cast<double>(++done) / total, "measuring");
    };
  };
  for (const auto& work : works.all) timed.emplace_back(with_progress(work.get()));
  const std::vector<Timing> timings = measure(timed, options.repetitions, device);
  std::vector<Timing> cold;
  if (options.cold) {
    timed = {run_nothing};
    for (OperatorWork* product : works.products) timed.emplace_back(with_progress(product));
    cold = measure_cold(timed, options.repetitions, device);
  }
  std::size_t next = 1;
  for (Measured& m : works.measured) {
    m.timing = timings[next++];
    if (options.update_values) m.update = timings[next++];
  }
  for (std::size_t i = 1; i < cold.size(); ++i) works.measured[i - 1].cold = cold[i];
  for (Measured& m : works.measured) {
    if (m.scheduled) m.queues = m.scheduled->statistics(device.stream());
  }
  return {std::string(triad.name()), gigabytes_a_second(triad.bytes(), timings[0].median),
          options.cold ? cold[0] : Timing()};
}

nlohmann::ordered_json to_json(const SpmvOptions& options, const AnyMatrix& matrix,
                               const Device& device, const std::vector<Measured>& measured,
                               const Limits& limits) {
  nlohmann::ordered_json json;
  json["entry"] = matrix.entry().name();
  json["precision"] = name(matrix.precision());
  json["rows"] = matrix.rows();
  json["columns"] = matrix.columns();
  json["entries"] = matrix.entries();
  json["adjoint"] = options.adjoint;
  json["repetitions"] = options.repetitions;
  json["triad_bandwidth"] = limits.bandwidth * 1e9;
  if (options.cold) json["cold_nothing"] = to_json(limits.cold_nothing);
  json["products"] = nlohmann::ordered_json::array();
  for (const Measured& m : measured) {
    nlohmann::ordered_json product = {
        {"plan", m.plan},
        {"plan_reason", m.reason},
        {"seconds", to_json(m.timing)},
        {"compulsory_bytes", m.compulsory},
        {"moved_bytes", m.moved},
        {"bandwidth", gigabytes_a_second(m.compulsory, m.timing.median) * 1e9},
        {"of_triad", gigabytes_a_second(m.compulsory, m.timing.median) / limits.bandwidth}};
    if (m.queues) product["queues"] = report::queues_json(*m.queues);
    if (options.update_values) {
      const double reached = gigabytes_a_second(m.moved_by_update, m.update.median);
      product["update_values"] = {{"seconds", to_json(m.update)},
                                  {"moved_bytes", m.moved_by_update},
                                  {"bandwidth", reached * 1e9},
                                  {"of_triad", reached / limits.bandwidth}};
    }
    if (options.cold) {
      const double reached = gigabytes_a_second(m.compulsory, m.cold.median);
      product["cold"] = {{"seconds", to_json(m.cold)},
                         {"bandwidth", reached * 1e9},
                         {"of_triad", reached / limits.bandwidth}};
    }
    json["products"].push_back(std::move(product));
  }
  add_provenance(json, options.matrix.path, device);
  return json;
}

void print(const SpmvOptions& options, const AnyMatrix& matrix, const Device& device,
           const std::vector<Measured>& measured, const Limits& limits) {
  std::printf("matrix  %s: %s x %s %s entries (%s), %s stored\n",
              io::printable(options.matrix.path).c_str(), readable_count(matrix.rows()).c_str(),
              readable_count(matrix.columns()).c_str(), std::string(matrix.entry().name()).c_str(),
              std::string(name(matrix.precision())).c_str(),
              readable_count(matrix.entries()).c_str());
  std::printf("device  %s\n", device.description().c_str());
  std::printf("%-6s  %.1f GB/s, %d interleaved repetitions\n", limits.name.c_str(),
              limits.bandwidth, options.repetitions);
  const auto print_bandwidth = [&](const char* label, long long bytes, const Timing& timing) {
    const double reached = gigabytes_a_second(bytes, timing.median);
    std::printf("%-11s %s: %.1f GB/s, %.0f%% of %s\n", label,
                readable_bytes(static_cast<double>(bytes)).c_str(), reached,
                100 * reached / limits.bandwidth, limits.name.c_str());
  };
  for (const Measured& m : measured) {
    std::printf("\nplan        %s\n", m.plan.c_str());
    std::printf("reason      %s\n", io::printable(m.reason).c_str());
    print_timing("time", m.timing);
    print_bandwidth("compulsory", m.compulsory, m.timing);
    print_bandwidth("moved", m.moved, m.timing);
    if (options.cold) {
      print_timing("cold", m.cold);
      print_bandwidth("compulsory", m.compulsory, m.cold);
    }
    if (m.queues) std::printf("queues      %s\n", report::queues_in_words(*m.queues).c_str());
    if (!options.update_values) continue;
    print_timing("new values", m.update);
    print_bandwidth("moved", m.moved_by_update, m.update);
  }
  if (options.cold) {
    std::printf("\ncold times include the %s of a run that does nothing\n",
                readable_seconds(limits.cold_nothing.median).c_str());
  }
}

int run_spmv(const SpmvOptions& options) {
  const Device device = options.matrix.on();
  std::vector<std::string> plans = options.plans;
  if (plans.empty() && !options.storage.is_hierarchical()) plans.emplace_back();
  if (options.update_values && (options.storage.is_hierarchical() || options.adjoint)) {
    throw Error(ErrorKind::usage,
                "--update-values measures sliced storage: leave out --storage hisparse and "
                "--adjoint");
  }
  for (const std::string& text : plans) check_plan_text(text, device);
  options.storage.check_use(plans, options.profile);
  RunFiles files;
  options.matrix.add_inputs(files);
  options.profile.add_inputs(files);
  files.check();
  const Profiles profiles = options.profile.profiles_for(plans, device);
  const auto progress = options.matrix.progress();
  const AnyMatrix matrix = options.matrix.read(progress.get());
  if (options.adjoint) check_adjoint(matrix);

  if (progress) progress->erase();
  Triad triad(device);
  Works works = works_of(options, plans, matrix, profiles, device);
  const Limits limits = measure_all(options, triad, device, progress.get(), works);
  if (progress) progress->erase();
  if (options.json) {
    std::cout << text_of(to_json(options, matrix, device, works.measured, limits));
  } else if (!options.matrix.quiet) {
    print(options, matrix, device, works.measured, limits);
  }
  return 0;
}

}  // namespace

void add_spmv(CLI::App& app, int& status) {
  auto options = std::make_shared<SpmvOptions>();
  CLI::App* command = app.add_subcommand("spmv", "Measure the product y = A x, or y = A* x");
  options->matrix.add_to(*command);
  command
      ->add_option("--plan", options->plans,
                   "layout and schedule, as in `heddle solve`; give it several times to compare")
      ->type_name("TEXT")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  options->profile.add_to(*command, options->matrix.quiet);
  options->storage.add_to(*command);
  command->add_flag("--adjoint", options->adjoint,
                    "y = A* x instead: by the tree itself, or by a second sliced matrix");
  command->add_flag("--update-values", options->update_values,
                    "also measure how fast new values of the same pattern replace the old ones");
  command->add_flag("--cold", options->cold,
                    "also measure products that find nothing in the caches");
  command->add_option("--repetitions", options->repetitions, "repetitions of each, interleaved")
      ->capture_default_str()
      ->transform(whole_number(1, 100000))
      ->type_name("N");
  command->add_option("--seed", options->seed, "seed of the random x")
      ->capture_default_str()
      ->transform(whole_number());
  command->add_flag("--json", options->json, "print the result as one JSON object");
  command->footer("Example: heddle spmv dirac.mtx.gz --entry quaternion --plan CSR --plan K1rs");
  command->callback([options, &status] { status = run_spmv(*options); });
}

}  // namespace heddle::cli
