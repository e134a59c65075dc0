// How a matrix would scale over the devices of a network: a prediction for each number of ranks.
#pragma once

#include <string>
#include <vector>

#include "distributed/exchange_choice.hpp"
#include "distributed/scaling_model.hpp"
#include "heddle/device.hpp"
#include "heddle/runtime/any_matrix.hpp"
#include "heddle/runtime/settings.hpp"
#include "heddle/transfer.hpp"

namespace heddle::detail {

/// What is to be predicted.
struct ScalingQuestion {
  std::string network;                // as `parse_network` reads it
  std::string rates = "h100";         // as `parse_device_rates`; or "device", the one at hand
  std::string partition = "entries";  // or "rows", "metis"
  std::vector<int> ranks;             // none: 1, 2, 4 and so on to 1024, or to the groups of rows
  int unknowns = 0;                   // of a row, in place of those of its entries

  /// Throws `Error` (usage) for texts that name nothing, and numbers out of their range.
  void check() const;
};

ScalingQuestion question_of(const DescriptionSettings& settings);

struct Scaling {
  Network network;
  DeviceRates rates;
  std::string partition;
  double alone = 0;          // seconds of an iteration without ranks
  double product_alone = 0;  // of a product
  double flops = 0;          // of a product
  int unknowns = 0;          // of a row, where the question names a number
  std::vector<ScalingPoint> points;
  WeakScaling weak;
  int best = 1;  // of these numbers, see `best_number_of_ranks`

  /// Its weak scaling to so many ranks; null where there is none.
  const ScalingPoint* weak_point(int ranks) const;
};

/// What ranks of a matrix read and write.
BytesOnRanks bytes_on_ranks(const AnyMatrix& matrix);

/// Between GPUs of one host.
Network network_of(Transfer transfer);

/// Where nobody names a mode of exchange. On GPUs, where ranks are threads, by the rows of all that
/// rank 0 has in `matrix`. Collective.
ExchangeChoice choose_exchange(Communicator& ranks, const Partition& partition,
                               const AnyMatrix& matrix, const Device& device);

/// `flops` of an entry with x. Throws `Error`: unsupported unless the matrix is square, else as
/// `check` and `Partition`.
Scaling predict_scaling(const AnyMatrix& matrix, const ScalingQuestion& question, int flops,
                        const Device& device);

}  // namespace heddle::detail
