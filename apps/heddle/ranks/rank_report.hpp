// The part of a report about ranks that share a matrix.
#pragma once

#include <string>

#include "heddle/communicator.hpp"
#include "heddle/distributed_operator.hpp"
#include "report_lines.hpp"

namespace heddle::cli {

/// The smallest and largest value over all ranks.
struct Extremes {
  double least = 0, most = 0;
};

struct RankSummary {
  int ranks = 1;
  std::string communicator;
  std::string exchange;  // the mode
  std::string exchange_reason;
  std::string transfer;  // between GPUs; empty on CPUs
  std::string boundary;  // its storage
  long long memory = 0;  // sum over the ranks
  Extremes rows, interior_rows, halo, neighbours;
  Extremes product, exchanging, waiting, sums;  // seconds, see `RankTimes`
};

/// Sums up all ranks. Collective.
template <class S>
RankSummary summary_of(Communicator& ranks, const DistributedOperator<S>& matrix);

void describe(ReportLines& report, const RankSummary& summary);

}  // namespace heddle::cli
