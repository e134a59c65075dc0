// Which mode of exchange ranks take where nobody names one.
#pragma once

#include <string>
#include <vector>

#include "heddle/communicator.hpp"
#include "heddle/distributed_operator.hpp"
#include "heddle/export.hpp"
#include "scaling_model.hpp"

namespace heddle::detail {

struct ExchangeChoice {
  ExchangeMode mode = ExchangeMode::task;
  std::string reason;
};

/// Of ranks on GPUs: `task` where a product is predicted to gain more by it than the start of the
/// kernel that another stream costs, else `vector`.
HEDDLE_EXPORT ExchangeChoice choose_exchange(const ScalingModel& model,
                                             const std::vector<RankVolume>& volumes);

/// Of ranks on CPUs: `vector` where they share one host, `task` elsewhere. Collective.
HEDDLE_EXPORT ExchangeChoice choose_exchange(Communicator& ranks);

/// The ranks before this one that share its host. Collective.
HEDDLE_EXPORT int place_on_host(Communicator& ranks);

}  // namespace heddle::detail
