// --ranks auto: the number of GPUs of one host that is predicted to be worth using.
#pragma once

#include <string>
#include <vector>

#include "rank_options.hpp"

namespace heddle::cli {

struct RankChoice {
  int ranks = 1;  // 1: a solve without ranks
  std::string reason;
};

/// The number of ranks, which use the first of these devices: all are GPUs, or none is.
RankChoice choose_ranks(const RankOptions& options, const AnyMatrix& matrix,
                        const std::vector<Device>& devices);

}  // namespace heddle::cli
