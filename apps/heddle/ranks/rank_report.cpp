#include "rank_report.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "heddle/transfer.hpp"
#include "readable.hpp"

namespace heddle::cli {

namespace {

Extremes extremes_of(Communicator& ranks, long long mine) {
  const std::vector<long long> all = gather(ranks, mine);
  const auto [least, most] = std::minmax_element(all.begin(), all.end());
  return {static_cast<double>(*least), static_cast<double>(*most)};
}
Extremes extremes_of_seconds(Communicator& ranks, double mine) {
  const Extremes nanoseconds = extremes_of(ranks, std::llround(mine * 1e9));
  return {nanoseconds.least * 1e-9, nanoseconds.most * 1e-9};
}

Json both(const Extremes& extremes) { return {extremes.least, extremes.most}; }
Json both_counts(const Extremes& extremes) {
  return {std::llround(extremes.least), std::llround(extremes.most)};
}

std::string counts(const Extremes& extremes) {
  const std::string least = readable_count(std::llround(extremes.least));
  const std::string most = readable_count(std::llround(extremes.most));
  return least == most ? least : least + " to " + most;
}
std::string times(const Extremes& extremes) {
  return readable_seconds(extremes.least) + " to " + readable_seconds(extremes.most);
}

Json json_of(const RankSummary& summary) {
  Json json = {{"count", summary.ranks},
               {"communicator", summary.communicator},
               {"exchange", summary.exchange},
               {"exchange_reason", summary.exchange_reason},
               {"boundary", summary.boundary},
               {"rows", both_counts(summary.rows)},
               {"interior_rows", both_counts(summary.interior_rows)},
               {"halo", both_counts(summary.halo)},
               {"neighbours", both_counts(summary.neighbours)},
               {"times",
                {{"product", both(summary.product)},
                 {"exchange", both(summary.exchanging)},
                 {"waiting", both(summary.waiting)},
                 {"sums", both(summary.sums)}}}};
  if (!summary.transfer.empty()) json["transfer"] = summary.transfer;
  return json;
}

}  // namespace

template <class S>
RankSummary summary_of(Communicator& ranks, const DistributedOperator<S>& matrix) {
  const RankTimes times = matrix.times();
  RankSummary summary;
  summary.ranks = ranks.size();
  summary.communicator = ranks.name();
  summary.exchange = name(matrix.mode());
  if (matrix.device().on_gpu()) summary.transfer = name(transfer_of(ranks));
  summary.boundary = name(matrix.boundary());
  const std::vector<long long> memory = gather(ranks, matrix.memory());
  summary.memory = std::accumulate(memory.begin(), memory.end(), 0LL);
  summary.rows = extremes_of(ranks, matrix.rows());
  summary.interior_rows = extremes_of(ranks, matrix.interior_rows());
  summary.halo = extremes_of(ranks, matrix.halo());
  summary.neighbours = extremes_of(ranks, matrix.neighbours());
  summary.product = extremes_of_seconds(ranks, times.product);
  summary.exchanging = extremes_of_seconds(ranks, times.exchange);
  summary.waiting = extremes_of_seconds(ranks, times.waiting);
  summary.sums = extremes_of_seconds(ranks, times.sums);
  return summary;
}
template RankSummary summary_of(Communicator&, const DistributedOperator<float>&);
template RankSummary summary_of(Communicator&, const DistributedOperator<double>&);

void describe(ReportLines& report, const RankSummary& summary) {
  const std::string by = summary.transfer.empty() ? "" : " by " + summary.transfer;
  report.add("ranks",
             formatted("%d (%s), exchange %s%s, boundary %s: %s rows, %s of them interior",
                       summary.ranks, summary.communicator.c_str(), summary.exchange.c_str(),
                       by.c_str(), summary.boundary.c_str(), counts(summary.rows).c_str(),
                       counts(summary.interior_rows).c_str()),
             {{"ranks", json_of(summary)}});
  report.add("halo",
             counts(summary.halo) + " rows of " + counts(summary.neighbours) + " neighbours");
  report.add("of ranks",
             formatted("product %s, of which waiting for the exchange %s; exchange %s; sums %s",
                       times(summary.product).c_str(), times(summary.waiting).c_str(),
                       times(summary.exchanging).c_str(), times(summary.sums).c_str()));
  report.add("memory", readable_bytes(static_cast<double>(summary.memory)) + " of all ranks");
}

}  // namespace heddle::cli
