// Which mode of exchange ranks use if none is named.
#pragma once

#include <string>
#include <vector>

#include "distributed/partition/scaling_model.hpp"
#include "heddle/communicator.hpp"
#include "heddle/export.hpp"
#include "heddle/rank_exchange.hpp"

namespace heddle::detail {

struct ExchangeChoice {
  ExchangeMode mode = ExchangeMode::task;
  std::string reason;
};

/// For ranks on GPUs: `task` if a product is predicted to gain more by it than the start of the
/// kernel that another stream costs, else `vector`.
HEDDLE_EXPORT ExchangeChoice choose_exchange(const ScalingModel& model,
                                             const std::vector<RankVolume>& volumes);

/// For ranks on CPUs: `vector` if they share one host, `task` otherwise. Collective.
HEDDLE_EXPORT ExchangeChoice choose_exchange(Communicator& ranks);

/// Number of ranks before this one that share its host. Collective.
HEDDLE_EXPORT int place_on_host(Communicator& ranks);

}  // namespace heddle::detail
