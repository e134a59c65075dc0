// --ranks auto: how many GPUs of one host are predicted to be worth it.
#pragma once

#include <string>
#include <vector>

#include "rank_options.hpp"

namespace heddle::cli {

struct RankChoice {
  int ranks = 1;  // 1: a solve without ranks
  std::string reason;
};

/// Of these devices, all GPUs or none, the first so many.
RankChoice choose_ranks(const RankOptions& options, const AnyMatrix& matrix,
                        const std::vector<Device>& devices);

}  // namespace heddle::cli
