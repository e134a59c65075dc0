// `heddle tune`: the best plan for a matrix, or for a set of them, on this device.
#include <algorithm>
#include <deque>
#include <exception>
#include <filesystem>
#include <future>
#include <iostream>
#include <limits>
#include <optional>

#include "../tune/evaluation_table.hpp"
#include "../tune/multigrid_table.hpp"
#include "../tune/node_table.hpp"
#include "../tune/space_listing.hpp"
#include "../tune/tune_output.hpp"
#include "commands.hpp"
#include "heddle/tools/text.hpp"
#include "heddle/version.hpp"
#include "json_report.hpp"
#include "message.hpp"
#include "options/companion.hpp"
#include "options/on_interrupt.hpp"
#include "output_path.hpp"
#include "profile_destination.hpp"
#include "provenance.hpp"
#include "tune_options.hpp"
#include "tune_watch.hpp"
#include "tuning/search/search_limits.hpp"

namespace heddle::cli {

namespace {

namespace fs = std::filesystem;
using tuning::MatrixReport;
using tuning::TuneReport;

// ---- the matrices ----

/// The file's name without the endings of its format; the path if several files have that name.
std::string name_of(const std::string& path, const std::vector<std::string>& all) {
  const auto stem = [](const std::string& file) {
    std::string name = fs::path(file).filename().string();
    for (const char* end : {".gz", ".mtx", ".npz"}) {
      if (name.size() > std::string(end).size() && ends_with(name, end)) {
        name.erase(name.size() - std::string(end).size());
      }
    }
    return name;
  };
  const std::string name = stem(path);
  const auto namesakes =
      std::count_if(all.begin(), all.end(), [&](const auto& other) { return stem(other) == name; });
  return namesakes > 1 ? path : name;
}

struct Matrices {
  std::deque<AnyMatrix> read;  // a deque does not move them
  std::vector<NamedMatrix> named;
};

Matrices read_all(const TuneCommand& options, Progress* progress) {
  Matrices matrices;
  for (const std::string& path : options.paths) {
    matrices.read.push_back(options.matrix.read(path, progress));
    matrices.named.push_back({name_of(path, options.paths), &matrices.read.back()});
  }
  return matrices;
}

// ---- what the command does ----

TuneOptions settings_of(const TuneCommand& options, const Device& device) {
  const TuneSettings given = options.of_search();
  TuneOptions settings = given.options;
  settings.seconds_limit =
      given.seconds > 0 ? given.seconds : usual_seconds(settings.search, device);
  if (!options.is_of_multigrid()) settings.objective = parse_objective(options.objective());
  settings.min_runs = std::min(settings.min_runs, settings.max_runs);
  return settings;
}

/// Runs `work(watch)`. The first Ctrl-C makes the watch end its search, and ends the process after
/// `work` has put out its results; a second one ends the process at once.
template <class Work>
int interruptible(TuneWatch& watch, Work&& work) {
  std::promise<void> finished;
  const OnInterrupt keep([&] {
    watch.stop();
    finished.get_future().get();
  });
  try {
    work();
    finished.set_value();
  } catch (...) {
    finished.set_exception(std::current_exception());
    throw;
  }
  return 0;
}

int list(const TuneCommand& options, const Device& device) {
  const Precision precision = options.matrix.scalar();
  TuningSubject subject;
  subject.objective = parse_objective(options.objective());
  subject.scalar_bytes = precision == Precision::double_precision ? 8 : 4;
  std::string words;
  AnyEntry entry = options.matrix.chosen_entry();
  if (options.paths.empty()) {
    constexpr Index rows = 1'000'000, row_length = 7;
    subject.rows = subject.columns = rows;
    subject.entries = Offset(rows) * row_length;
    subject.entry_bytes =
        visit_entry(entry.kind(), precision, []<class E>() { return static_cast<int>(sizeof(E)); });
    words = "one with a million rows of 7 entries each";
  } else {
    const auto progress = options.matrix.progress();
    const AnyMatrix matrix = options.matrix.read(options.paths.front(), progress.get());
    entry = matrix.entry();
    subject = tuning_subject(matrix, subject.objective, device.threads());
    words = options.paths.front() + ": " + readable_count(subject.rows) + " x " +
            readable_count(subject.columns) + ", " + readable_count(subject.entries) + " entries";
  }
  words += ", " + std::string(entry.name()) + " (" + std::string(name(precision)) + ")";
  const DeviceProperties here = properties_of(device);
  if (options.json) {
    std::cout << text_of(tuning::spaces_json(subject, here, words));
  } else {
    tuning::print_spaces(subject, here, words, std::cout);
  }
  return 0;
}

int evaluate_all(const TuneCommand& options, const Device& device) {
  const Profile profile = Profile::load(options.evaluate);
  const auto progress = options.matrix.progress();
  const Matrices matrices = read_all(options, progress.get());
  std::vector<MatrixReport> reports;
  for (const NamedMatrix& matrix : matrices.named) reports.emplace_back().name = matrix.name;
  TuneWatch watch(reports, progress.get());
  TuneOptions settings = settings_of(options, device);
  watch.listen(settings);
  return interruptible(watch, [&] {
    std::vector<tuning::EvaluatedMatrix> evaluated;
    for (const NamedMatrix& matrix : matrices.named) {
      if (watch.is_stopping()) break;
      try {
        evaluated.push_back({matrix.name, evaluate(profile, matrix, device, settings)});
      } catch (const Error&) {
        if (!watch.is_stopping()) throw;
      }
    }
    if (progress) progress->erase();
    if (options.json) {
      std::cout << text_of(tuning::evaluations_json(evaluated));
    } else if (!options.matrix.quiet) {
      tuning::print_evaluations(evaluated, std::cout);
    }
  });
}

TuneReport new_report(const TuneCommand& options, const Matrices& matrices,
                      const TuneOptions& settings, const Device& device) {
  TuneReport report;
  report.date = utc("%Y-%m-%dT%H:%M:%SZ");
  report.version = version;
  report.commit = commit();
  report.command = command_line();
  report.device = device.description();
  report.gpu = device.on_gpu();
  report.entry = matrices.read.empty() ? options.matrix.chosen_entry().name()
                                       : matrices.read.front().entry().name();
  report.precision = name(options.matrix.scalar());
  report.search = settings.search;
  report.objective = settings.objective;
  report.max_memory_ratio = settings.max_memory_ratio;
  report.memory_weight = settings.memory_weight;
  report.confidence = settings.confidence;
  report.tightness = settings.tightness;
  report.seconds_limit = settings.seconds_limit;
  return report;
}

void take_over(const Profile& found, TuneReport& report) {
  for (MatrixReport& matrix : report.matrices) {
    const auto record =
        std::find_if(found.records.begin(), found.records.end(),
                     [&](const ProfileRecord& r) { return r.matrix == matrix.name; });
    if (record != found.records.end()) matrix.record = *record;
  }
  if (!found.domains.empty()) report.domain = found.domains.front();
}

/// The `Error` that `work` throws, if any: results found before it are still written and shown.
template <class Work>
std::exception_ptr failure_of(Work&& work) {
  try {
    work();
  } catch (const Error&) {
    return std::current_exception();
  }
  return nullptr;
}

/// The path written to; empty if there is nothing to write or if writing fails. An earlier failure
/// is kept.
std::string write_found(const ProfileDestination& destination, const Profile& found, bool any,
                        std::exception_ptr& failure) {
  if (!any) return "";
  const std::exception_ptr of_file = failure_of([&] { destination.write(found); });
  if (!failure) failure = of_file;
  return of_file ? "" : destination.path();
}

void put_out_json(nlohmann::ordered_json json, const std::string& written) {
  json["profile"] = written.empty() ? nlohmann::ordered_json() : nlohmann::ordered_json(written);
  std::cout << text_of(json);
}

void print_written(const std::string& written) {
  if (!written.empty()) std::cout << "\nwritten    " << io::printable(written) << "\n";
}

void put_out(const TuneCommand& options, const TuneReport& report, const std::string& written) {
  if (!options.trials.empty()) {
    write_file(options.trials, text_of(tuning::trials_json(report), 1));
  }
  if (!options.html.empty()) write_file(options.html, tuning::html_page(report));
  if (options.json) {
    put_out_json(tuning::summary_json(report), written);
  } else if (!options.matrix.quiet) {
    tuning::print_table(report, std::cout);
    print_written(written);
  }
}

int tune_all(const TuneCommand& options, const Device& device) {
  const ProfileDestination destination(options.output, options.append, device);
  check_tune_files(options, destination.path());
  const auto progress = options.matrix.progress();
  const Matrices matrices = read_all(options, progress.get());
  TuneOptions settings = settings_of(options, device);
  settings.known = Profiles::for_device(device);
  for (const std::string& warning : settings.known.warnings()) {
    if (!options.matrix.quiet) warn(warning);
  }
  TuneReport report = new_report(options, matrices, settings, device);
  for (const NamedMatrix& matrix : matrices.named) {
    report.matrices.push_back(tuning::describe(matrix, device));
  }
  TuneWatch watch(report.matrices, progress.get());
  watch.listen(settings);
  return interruptible(watch, [&] {
    const bool of_domain = matrices.named.size() > 1 || !options.domain.empty();
    const std::string domain = options.domain.empty() ? "default" : options.domain;
    const Profile found = of_domain ? tune_domain(domain, matrices.named, device, settings)
                                    : tune(matrices.named.front(), device, settings);
    report.cancelled = watch.is_stopping();
    take_over(found, report);
    if (progress) progress->erase();
    const bool any = !found.records.empty();
    std::exception_ptr failure;
    put_out(options, report, write_found(destination, found, any, failure));
    if (failure) std::rethrow_exception(failure);
  });
}

/// Tunes something other than plans, one matrix at a time; earlier results are kept if a matrix is
/// refused. `tune_one(matrix, settings, progress)` returns a profile with `records`, which
/// `json_of` and `print` show.
template <class Record, class TuneOne, class JsonOf, class Print>
int tune_each(const TuneCommand& options, const Device& device,
              std::vector<Record> Profile::* records, const TuneOne& tune_one,
              const JsonOf& json_of, const Print& print) {
  const ProfileDestination destination(options.output, options.append, device);
  check_tune_files(options, destination.path());
  const auto progress = options.matrix.progress();
  const Matrices matrices = read_all(options, progress.get());
  TuneOptions settings = settings_of(options, device);
  if (!options.settings.has("seconds"))
    settings.seconds_limit = std::numeric_limits<double>::infinity();
  std::vector<MatrixReport> reports;
  for (const NamedMatrix& matrix : matrices.named) reports.emplace_back().name = matrix.name;
  TuneWatch watch(reports, progress.get());
  watch.listen(settings);
  return interruptible(watch, [&] {
    Profile found = Profile::of(device);
    std::exception_ptr failure = failure_of([&] {
      for (const NamedMatrix& matrix : matrices.named) {
        if (!watch.is_stopping()) found.merge(tune_one(matrix, settings, progress.get()));
      }
    });
    if (progress) progress->erase();
    const bool any = !(found.*records).empty();
    const std::string written = write_found(destination, found, any, failure);
    if (any || !failure) {
      if (options.json) {
        put_out_json(json_of(found.*records, device.description()), written);
      } else if (!options.matrix.quiet) {
        print(found.*records, device.description(), std::cout);
        print_written(written);
      }
    }
    if (failure) std::rethrow_exception(failure);
  });
}

/// Tunes the sizes of nodes of hierarchical storage.
int tune_trees(const TuneCommand& options, const Device& device) {
  const auto tune_one = [&](const NamedMatrix& matrix, const TuneOptions& settings, Progress*) {
    return tune_nodes(matrix, device, settings);
  };
  return tune_each(options, device, &Profile::trees, tune_one, tuning::nodes_json,
                   tuning::print_nodes);
}

/// Tunes the settings of multigrid.
int tune_multigrids(const TuneCommand& options, const Device& device) {
  const Profiles known = Profiles::for_device(device);
  const auto tune_one = [&](const NamedMatrix& matrix, TuneOptions settings, Progress* progress) {
    settings.known = known;
    const MultigridChoice candidates =
        options.multigrid.read({}, options.settings, *matrix.matrix, device, progress);
    return tune_multigrid(matrix, candidates, device, settings);
  };
  return tune_each(options, device, &Profile::multigrids, tune_one, tuning::multigrids_json,
                   tuning::print_multigrids);
}

int run(const TuneCommand& options) {
  check_tune_options(options);
  const Device device = options.matrix.on();
  if (options.list) return list(options, device);
  if (!options.evaluate.empty()) return evaluate_all(options, device);
  if (options.is_of_multigrid()) return tune_multigrids(options, device);
  return options.hierarchical ? tune_trees(options, device) : tune_all(options, device);
}

}  // namespace

void add_tune(CLI::App& app, int& status) {
  auto options = std::make_shared<TuneCommand>();
  CLI::App* command = app.add_subcommand(tune_companion.name, tune_companion.description);
  add_tune_options(*command, *options);
  command->callback([options, &status] { status = run(*options); });
}

}  // namespace heddle::cli
