#include "hierarchical_tables.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <iterator>
#include <map>
#include <string_view>
#include <utility>

#include "amounts.hpp"
#include "hierarchical_ratios.hpp"

namespace heddle::bench {

using namespace report;

namespace hierarchical_tables_of {
namespace {

std::string number(double value, int digits) {
  char text[40];
  std::snprintf(text, sizeof text, "%.*f", digits, value);
  return text;
}

Matrix bytes_of_entries(const std::vector<const Record*>& records) {
  Matrix matrix;
  for (const Record* record : records) {
    if (!record->quantity.starts_with("memory") || record->entries == 0) continue;
    const std::string line = record->problem + ", " + record->entry +
                             (record->quantity.ends_with("single") ? ", single" : ", double");
    for (const Candidate& candidate : record->candidates) {
      if (!candidate.memory_bytes) continue;
      const std::string column = candidate.method.empty() ? candidate.library : candidate.method;
      matrix.put(line, column,
                 number(static_cast<double>(*candidate.memory_bytes) /
                            static_cast<double>(record->entries),
                        2));
    }
  }
  return matrix;
}

struct Time {
  double seconds, of_byte, gflops;
};
/// Times of one way of doing a quantity, by problem.
using Times = std::map<std::string, Time>;
using Ways = std::map<std::string, Times>;

struct Spread {
  double mean = 0, deviation = 0;

  explicit Spread(const std::vector<double>& values) {
    for (const double v : values) mean += v / static_cast<double>(values.size());
    double square = 0;
    for (const double v : values) square += (v - mean) * (v - mean);
    deviation = std::sqrt(square / static_cast<double>(values.size()));
  }
};

/// The paper counts a multiplication by x, one by a factor and an addition for each entry of A
/// (section 7), also in sums.
double gflops_of_paper(const Record& record, double seconds) {
  return 3e-9 * static_cast<double>(record.entries) / seconds;
}

/// Medians: ways of sums and of Heddle by name, products of another library by its fastest way.
std::map<std::string, double> medians(const Record& record) {
  std::map<std::string, double> times;
  for (const Candidate& candidate : record.candidates) {
    if (!candidate.seconds || !is_right(record, candidate)) continue;
    const std::string name = candidate.role == Role::peer && !record.quantity.ends_with("sum")
                                 ? candidate.library
                                 : candidate.library + " " + short_method(candidate);
    const auto [at, is_new] = times.emplace(name, candidate.seconds->median);
    if (!is_new) at->second = std::min(at->second, candidate.seconds->median);
  }
  return times;
}

double geometric_mean_of_ratios(const Times& times, const Times& over) {
  double sum = 0;
  int count = 0;
  for (const auto& [problem, time] : times) {
    const auto other = over.find(problem);
    if (other == over.end()) continue;
    sum += std::log(time.seconds / other->second.seconds);
    ++count;
  }
  return count == 0 ? 0 : std::exp(sum / count);
}

/// A problem's name without its size: `road` for `road-20000`.
std::string family_of(const Record& record) {
  return record.problem.substr(0, record.problem.rfind('-'));
}

/// Keeps the problems that every way has: means over different problems say nothing.
void keep_common_problems(Ways& ways) {
  std::map<std::string, std::size_t> ways_of;
  for (const auto& [who, times] : ways) {
    for (const auto& [problem, time] : times) ++ways_of[problem];
  }
  for (auto& [who, times] : ways) {
    std::erase_if(times, [&](const auto& time) { return ways_of[time.first] < ways.size(); });
  }
}

/// Times in double precision for the largest problem of each family: means over a mixture of both
/// precisions or of sizes say nothing.
Matrix spreads(const std::vector<const Record*>& records) {
  std::vector<std::pair<std::string, Ways>> quantities;
  for (const char* name : {"product", "transposed product", "sum", "transposed sum"}) {
    quantities.emplace_back(name, Ways());
  }
  std::map<std::string, long long> max_rows;
  for (const Record* record : records) {
    long long& rows = max_rows[family_of(*record)];
    rows = std::max<long long>(rows, record->rows);
  }
  for (const Record* record : records) {
    if (record->precision != "double" || !record->compulsory_bytes) continue;
    if (record->rows < max_rows[family_of(*record)]) continue;
    for (auto& [name, ways] : quantities) {
      if (name != record->quantity) continue;
      for (const auto& [who, seconds] : medians(*record)) {
        ways[who][record->problem] = {seconds,
                                      seconds / static_cast<double>(*record->compulsory_bytes),
                                      gflops_of_paper(*record, seconds)};
      }
    }
  }
  for (auto& [name, ways] : quantities) keep_common_problems(ways);
  Matrix matrix;
  const Ways& products = quantities.front().second;
  for (const auto& [name, ways] : quantities) {
    for (const auto& [who, times] : ways) {
      if (times.empty()) continue;
      std::string line = name;
      line.append(": ").append(who);
      std::vector<double> all_seconds, all_of_byte, all_gflops;
      for (const auto& [problem, time] : times) {
        all_seconds.push_back(time.seconds);
        all_of_byte.push_back(time.of_byte);
        all_gflops.push_back(time.gflops);
      }
      const Spread seconds(all_seconds), bytes(all_of_byte);
      const auto [least, most] = std::minmax_element(all_of_byte.begin(), all_of_byte.end());
      matrix.put(line, "problems", std::to_string(times.size()));
      matrix.put(line, "mean", readable_seconds(seconds.mean));
      matrix.put(line, "deviation", readable_seconds(seconds.deviation));
      matrix.put(line, "GFLOPS", number(Spread(all_gflops).mean, 2));
      matrix.put(line, "ns a byte", number(bytes.mean * 1e9, 3));
      matrix.put(line, "max / min", number(*most / *least, 1));
      matrix.put(line, "deviation / mean", number(bytes.deviation / bytes.mean, 2));
      const auto product = products.find(who);
      if (name == "transposed product" && product != products.end()) {
        matrix.put(line, "over A x", number(geometric_mean_of_ratios(times, product->second), 2));
      }
    }
  }
  return matrix;
}

Matrix conversions(const std::vector<const Record*>& records) {
  Matrix matrix;
  for (const Record* record : records) {
    const Candidate* const own = timed(*record, Role::chosen);
    if (own == nullptr || !record->compulsory_bytes) continue;
    const double seconds = own->seconds->median;
    matrix.put(problem_of(*record), record->quantity,
               readable_seconds(seconds) + ", " +
                   readable_bandwidth(static_cast<double>(*record->compulsory_bytes) / seconds));
  }
  return matrix;
}

}  // namespace
}  // namespace hierarchical_tables_of

std::vector<TitledMatrix> hierarchical_tables(const std::vector<const Record*>& records) {
  using namespace hierarchical_tables_of;
  const auto chosen = [&](const auto& fits) {
    std::vector<const Record*> found;
    std::copy_if(records.begin(), records.end(), std::back_inserter(found),
                 [&](const Record* record) { return fits(record->quantity); });
    return found;
  };
  const auto is_edit = [](const std::string& quantity) { return quantity.starts_with("edit"); };
  const auto is_conversion = [](const std::string& quantity) { return quantity.ends_with(" CSR"); };
  const auto is_other = [&](const std::string& quantity) {
    return !quantity.starts_with("memory") && !is_edit(quantity) && !is_conversion(quantity);
  };
  std::vector<TitledMatrix> tables = {
      {"Bytes per entry (figure 2)", "problem", bytes_of_entries(records)},
      {"Mean and deviation over the problems that all ways have, the largest of each kind (tables "
       "1 and 2), and of the time for a compulsory byte; mean of GFLOPS, 3 entries / time (figures "
       "5 and 6); sums of trees whose schedules exist; "
       "products of other libraries by their fastest way; over A x: geometric mean",
       "way", spreads(records)},
      {"How trees compare: geometric means over the problems that have both sides, and the worst",
       "ratio", hierarchical_ratios(records)},
      {"Median of each product and sum", "problem", step_matrix(chosen(is_other))},
      {"Median of each conversion, and the bytes read and written in that time", "problem",
       conversions(chosen(is_conversion))},
      {"Median of each edit, and over that of a product", "problem", step_matrix(chosen(is_edit))}};
  std::erase_if(tables, [](const TitledMatrix& table) { return table.matrix.lines.empty(); });
  return tables;
}

}  // namespace heddle::bench
