#include "hierarchical_ratios.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <initializer_list>
#include <iterator>
#include <map>
#include <string>
#include <string_view>
#include <utility>

namespace heddle::bench {

namespace hierarchical_ratios_of {
namespace {

std::string joined(std::initializer_list<std::string_view> parts) {
  std::string text;
  for (const std::string_view part : parts) text.append(part);
  return text;
}

std::string text_of(double ratio) {
  char text[40];
  std::snprintf(text, sizeof text, ratio < 0.1 ? "%.3f" : "%.2f", ratio);
  return text;
}

/// Sums by a walk over both trees next to those by kept schedules.
constexpr std::string_view walk_over_kept = ": schedule=tree over kept schedules";
constexpr std::string_view and_a_sum = "hisparse, and a sum";

/// The end of a line's ratios that is the worst one.
enum class Worst { least, most };

class Lines {
 public:
  void put(const std::string& line, Worst worst, const std::string& problem, double ratio) {
    if (!(ratio > 0) || !std::isfinite(ratio)) return;
    const auto [at, is_new] = number_of_.emplace(line, lines_.size());
    if (is_new) lines_.push_back({line, worst, {}});
    lines_[at->second].ratios.emplace_back(ratio, problem);
  }
  Matrix matrix() const {
    Matrix matrix;
    for (const Line& line : lines_) {
      double logarithms = 0;
      for (const auto& [ratio, problem] : line.ratios) logarithms += std::log(ratio);
      const auto [least, most] = std::minmax_element(line.ratios.begin(), line.ratios.end());
      const auto& [worst, problem] = line.worst == Worst::least ? *least : *most;
      matrix.put(line.name, "problems", std::to_string(line.ratios.size()));
      matrix.put(line.name, "geometric mean",
                 text_of(std::exp(logarithms / static_cast<double>(line.ratios.size()))));
      matrix.put(line.name, "worst", text_of(worst));
      matrix.put(line.name, "in", problem);
    }
    return matrix;
  }

 private:
  struct Line {
    std::string name;
    Worst worst;
    std::vector<std::pair<double, std::string>> ratios;
  };
  std::vector<Line> lines_;
  std::map<std::string, std::size_t> number_of_;
};

bool counts(const Record& record, const Candidate& candidate) {
  return candidate.seconds && candidate.seconds->median > 0 && is_right(record, candidate);
}

/// Median of each other library's fastest way.
std::map<std::string, double> fastest_peers(const Record& record) {
  std::map<std::string, double> times;
  for (const Candidate& candidate : record.candidates) {
    if (candidate.role != Role::peer || !counts(record, candidate)) continue;
    const double median = candidate.seconds->median;
    const auto [at, is_new] = times.emplace(candidate.library, median);
    at->second = std::min(at->second, median);
  }
  return times;
}

/// The median of Heddle's way of this name, or 0.
double time_of(const Record& record, std::string_view method) {
  for (const Candidate& candidate : record.candidates) {
    if (candidate.method == method && counts(record, candidate)) return candidate.seconds->median;
  }
  return 0;
}

/// The record of a quantity for the same problem, entry and precision, or null.
const Record* other_of(const std::vector<const Record*>& records, const Record& record,
                       std::string_view quantity) {
  const auto at = std::find_if(records.begin(), records.end(), [&](const Record* other) {
    return other->quantity == quantity && other->problem == record.problem &&
           other->entry == record.entry && other->precision == record.precision;
  });
  return at == records.end() ? nullptr : *at;
}

/// The operation that the quantity measures, in the documents' notation; empty if unknown.
std::string_view formula_of(const std::string& quantity) {
  constexpr std::pair<std::string_view, std::string_view> formulas[] = {
      {"product", "A x"},           {"transposed product", "A* x"}, {"sum", "A + B"},
      {"transposed sum", "A + B*"}, {"from CSR", "from CSR"},       {"to CSR", "to CSR"}};
  for (const auto& [name, formula] : formulas) {
    if (name == quantity) return formula;
  }
  return {};
}

void put_adjoint(const std::vector<const Record*>& records, Lines& lines) {
  for (const Record* record : records) {
    const Record* const adjoint =
        record->quantity == "product" ? other_of(records, *record, "transposed product") : nullptr;
    if (adjoint == nullptr) continue;
    for (const Candidate& candidate : record->candidates) {
      if (candidate.role == Role::peer || !counts(*record, candidate)) continue;
      lines.put("A* x over A x: " + candidate.method, Worst::most, record->problem,
                time_of(*adjoint, candidate.method) / candidate.seconds->median);
    }
    const auto peers = fastest_peers(*record);
    for (const auto& [library, seconds] : fastest_peers(*adjoint)) {
      const auto direct = peers.find(library);
      if (direct == peers.end()) continue;
      lines.put("A* x over A x: " + library, Worst::most, record->problem,
                seconds / direct->second);
    }
  }
}

void put_others(const std::vector<const Record*>& records, Lines& lines) {
  for (const Record* record : records) {
    const Candidate* const own = timed(*record, Role::chosen);
    const std::string_view formula = formula_of(record->quantity);
    if (own == nullptr || formula.empty()) continue;
    const double seconds = own->seconds->median;
    constexpr std::string_view over = " over the tree's";
    if (record->quantity.ends_with("product")) {
      for (const auto& [library, time] : fastest_peers(*record)) {
        lines.put(joined({formula, ": ", library, over}), Worst::least, record->problem,
                  time / seconds);
      }
      lines.put(joined({formula, ": sliced storage", over}), Worst::least, record->problem,
                time_of(*record, "sliced storage") / seconds);
    } else {
      for (const Candidate& candidate : record->candidates) {
        if (candidate.role != Role::peer || !counts(*record, candidate)) continue;
        lines.put(joined({formula, ": ", candidate.library, " ", candidate.method, over}),
                  Worst::least, record->problem, candidate.seconds->median / seconds);
      }
      lines.put(joined({formula, walk_over_kept}), Worst::most, record->problem,
                time_of(*record, "hisparse, schedule=tree") / seconds);
    }
  }
}

void put_shares(const std::vector<const Record*>& records, Lines& lines) {
  for (const Record* record : records) {
    const std::string formula(formula_of(record->quantity));
    if (formula.empty()) continue;
    const bool of_peers = record->quantity.ends_with("sum");
    for (const Candidate& candidate : record->candidates) {
      const bool is_shown =
          candidate.role == Role::chosen || (of_peers && candidate.role == Role::peer);
      if (!is_shown || !candidate.of_bandwidth || !counts(*record, candidate)) continue;
      lines.put("share of a copy's speed: " + formula +
                    (candidate.role == Role::peer ? ", " + candidate.method : ""),
                Worst::least, record->problem, *candidate.of_bandwidth);
    }
  }
}

void put_memory(const std::vector<const Record*>& records, Lines& lines) {
  for (const Record* record : records) {
    if (!record->quantity.starts_with("memory")) continue;
    const std::string of = record->entry == "real" ? "real" : "larger";
    for (const Candidate& candidate : record->candidates) {
      if (!candidate.memory_ratio || candidate.library != "Heddle") continue;
      lines.put(record->quantity + " over CSR, " + of + ": " + candidate.method, Worst::most,
                record->problem, *candidate.memory_ratio);
    }
  }
}

void put_edits(const std::vector<const Record*>& records, Lines& lines) {
  const Record* least = nullptr;  // the first record of edits of one node
  for (const Record* record : records) {
    if (!record->quantity.starts_with("edit")) continue;
    double anew = 0;
    for (const Candidate& candidate : record->candidates) {
      if (candidate.role == Role::peer && counts(*record, candidate)) {
        anew = candidate.seconds->median;
      }
    }
    for (const Candidate& candidate : record->candidates) {
      if (candidate.role == Role::peer || candidate.method == "a product" ||
          candidate.method.starts_with(and_a_sum) || !counts(*record, candidate)) {
        continue;
      }
      const std::string line = record->quantity + ": " + candidate.method;
      lines.put(line + " over a product", Worst::most, record->problem,
                candidate.of_product.value_or(0));
      if (record->quantity == "edit of one node") {
        const double before = least == nullptr ? 0 : time_of(*least, candidate.method);
        if (record->problem.starts_with("edits-") && before > 0) {
          lines.put(line + " over that of " + least->problem, Worst::most, record->problem,
                    candidate.seconds->median / before);
        }
      } else if (anew > 0) {
        lines.put(line + " over CSR anew", Worst::most, record->problem,
                  candidate.seconds->median / anew);
      }
    }
    lines.put(
        joined({record->quantity, " and a sum", walk_over_kept}), Worst::most, record->problem,
        time_of(*record, joined({and_a_sum, ", schedule=tree"})) / time_of(*record, and_a_sum));
    if (record->quantity == "edit of one node" && record->problem.starts_with("edits-") &&
        least == nullptr) {
      least = record;
    }
  }
}

}  // namespace
}  // namespace hierarchical_ratios_of

Matrix hierarchical_ratios(const std::vector<const Record*>& records) {
  using namespace hierarchical_ratios_of;
  std::vector<const Record*> of_double;
  std::copy_if(records.begin(), records.end(), std::back_inserter(of_double),
               [](const Record* record) { return record->precision == "double"; });
  Lines lines;
  put_adjoint(of_double, lines);
  put_others(of_double, lines);
  put_shares(of_double, lines);
  put_memory(of_double, lines);
  put_edits(of_double, lines);
  return lines.matrix();
}

}  // namespace heddle::bench
