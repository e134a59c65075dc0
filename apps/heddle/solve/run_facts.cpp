#include "run_facts.hpp"

#include "heddle/tools/text.hpp"
#include "readable.hpp"

namespace heddle::cli {

RunFacts facts_of(const AnyMatrix& matrix, const std::string& path) {
  RunFacts facts;
  facts.path = path;
  facts.entry = matrix.entry();
  facts.precision = matrix.precision();
  facts.rows = matrix.rows();
  facts.columns = matrix.columns();
  facts.entries = matrix.entries();
  return facts;
}

std::string matrix_in_words(const RunFacts& facts) {
  return readable_count(facts.rows) + " x " + readable_count(facts.columns) + " " +
         std::string(facts.entry.name()) + " entries (" + std::string(name(facts.precision)) + ")";
}

void describe_matrix(ReportLines& report, const RunFacts& facts) {
  report.add("matrix",
             io::printable(facts.path) + ": " + matrix_in_words(facts) + ", " +
                 readable_count(facts.entries) + " stored",
             {{"entry", facts.entry.name()},
              {"precision", name(facts.precision)},
              {"rows", facts.rows},
              {"columns", facts.columns},
              {"entries", facts.entries}});
}

void describe_device(ReportLines& report, const Device& device, const std::string& processors) {
  report.add("device", device.description() + processors);  // add_provenance adds it to the JSON
}

void describe_plan(ReportLines& report, const RunFacts& facts) {
  const StorageFacts& storage = facts.storage;
  report.add("plan", storage.plan(), {{"plan", storage.plan()}});
  report.add("reason", io::printable(storage.choice.reason),
             {{"plan_reason", storage.choice.reason}, {"memory", storage.bytes()}});
  if (!facts.rank_choice.empty()) {
    report.add("ranks", facts.rank_choice, {{"rank_choice", facts.rank_choice}});
  }
  if (storage.ranks) describe(report, *storage.ranks);
}

void describe_status(ReportLines& report, Status status, long long iterations,
                     std::string_view detail) {
  std::string text =
      formatted("%s after %lld iterations", std::string(name(status)).c_str(), iterations);
  if (!detail.empty()) text += " (" + std::string(detail) + ")";
  report.add("status", text, {{"status", name(status)}, {"iterations", iterations}});
  if (!detail.empty()) report.add({{"detail", detail}});
}

void describe_times(ReportLines& report, const RunFacts& facts, std::optional<double> permute,
                    double iterate, long long iterations) {
  std::string text = "read " + readable_seconds(facts.read_seconds) + ", build " +
                     readable_seconds(facts.build_seconds);
  Json times = {{"read", facts.read_seconds}, {"build", facts.build_seconds}};
  if (permute) {
    text += ", permute " + readable_seconds(*permute);
    times["permute"] = *permute;
  }
  times["iterate"] = iterate;
  times["write"] = facts.write_seconds;
  report.add("time", text + ", iterate " + readable_iterations(iterate, iterations),
             {{"times", times}});
}

void describe_written(ReportLines& report, const std::optional<std::string>& output,
                      const char* refused) {
  if (output) report.add("written", refused != nullptr ? refused : io::printable(*output));
}

}  // namespace heddle::cli
