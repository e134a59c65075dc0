// How a matrix would scale over the devices of a network: a prediction for each number of ranks.
#pragma once

#include <string>
#include <vector>

#include "distributed/exchange/exchange_choice.hpp"
#include "distributed/partition/scaling_model.hpp"
#include "heddle/device.hpp"
#include "heddle/runtime/any_matrix.hpp"
#include "heddle/runtime/settings.hpp"
#include "heddle/transfer.hpp"

namespace heddle::detail {

/// The prediction that is asked for.
struct ScalingQuestion {
  std::string network;                // read by `parse_network`
  std::string rates = "h100";         // read by `parse_device_rates`; or "device", the one at hand
  std::string partition = "entries";  // or "rows", "metis"
  std::vector<int> ranks;             // none: 1, 2, 4 and so on to 1024, or to the groups of rows
  int unknowns = 0;                   // unknowns of a row, in place of those of its entries

  /// Throws `Error` (usage) for texts that name nothing, and numbers out of their range.
  void check() const;
};

ScalingQuestion question_of(const DescriptionSettings& settings);

struct Scaling {
  Network network;
  DeviceRates rates;
  std::string partition;
  double alone = 0;          // seconds of an iteration without ranks
  double product_alone = 0;  // seconds of a product
  double flops = 0;          // operations of a product
  int unknowns = 0;          // unknowns of a row, if the question names a number
  std::vector<ScalingPoint> points;
  WeakScaling weak;
  int best = 1;  // the best of these numbers, see `best_number_of_ranks`

  /// The weak scaling to `ranks` ranks; null if there is none.
  const ScalingPoint* weak_point(int ranks) const;
};

/// The bytes that ranks of a matrix read and write.
BytesOnRanks bytes_on_ranks(const AnyMatrix& matrix);

/// The network between GPUs of one host.
Network network_of(Transfer transfer);

/// The mode of exchange if none is named. On GPUs whose ranks are threads it depends on all the
/// rows, which rank 0 has in `matrix`. Collective.
ExchangeChoice choose_exchange(Communicator& ranks, const Partition& partition,
                               const AnyMatrix& matrix, const Device& device);

/// `flops`: operations of an entry with x. Throws `Error`: unsupported unless the matrix is square,
/// otherwise like `check` and `Partition`.
Scaling predict_scaling(const AnyMatrix& matrix, const ScalingQuestion& question, int flops,
                        const Device& device);

}  // namespace heddle::detail
