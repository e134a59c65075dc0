// How long a product and an iteration of conjugate gradient would take on ranks of a network: the
// bandwidth model of Kreutzer et al. (2012, equations 1 and 2), in which the bytes of the halo and
// the latency of messages take the place of whole vectors on their way over PCI Express.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "heddle/export.hpp"
#include "heddle/partition.hpp"
#include "rank_volumes.hpp"

namespace heddle::detail {

/// The network between the devices of any two ranks. Messages of a rank follow one another.
struct Network {
  std::string name;
  double latency = 0;         // seconds of a message, whatever its size
  double bandwidth = 0;       // bytes a second, of a rank, in either direction
  bool through_host = false;  // messages pass `DeviceRates::link` on both sides
  bool has_graphs = false;    // GPUs reach each other's memory, and graphs hold iterations

  bool operator==(const Network&) const = default;
};

/// The time that an iteration of conjugate gradient with Jacobi's preconditioner takes in addition
/// to that of its bytes, and bytes a second.
struct WorkRate {
  double start = 0;
  double bandwidth = 0;

  double seconds(double bytes) const { return start + bytes / bandwidth; }
};

/// Rates measured on one device. On ranks each iteration has more kernels, and the hosts meet, so
/// that its rates differ from those alone.
struct DeviceRates {
  std::string name;
  double kernel = 0;  // seconds in which a kernel begins after another
  double link = 0;    // bytes a second to the host
  WorkRate alone;
  WorkRate ranks;       // for entries of less than `large_entry` bytes
  double of_large = 1;  // fraction of that bandwidth for the others
  /// Seconds of `ranks.start` that two or more ranks save on a network with graphs.
  double in_graphs = 0;

  /// Bytes of an entry without its column. Quaternions (32) and blocks of 3 x 3 (72) are measured:
  /// the step lies between them.
  static constexpr int large_entry = 48;
};

/// "nvlink", "nccl", "staged", "ndr", "hdr", "qdr", "ethernet", or microseconds and GB/s: "2.5,25".
/// Throws `Error` (usage) for another text.
HEDDLE_EXPORT Network parse_network(std::string_view text);
/// "h100", "h200", "c2050", or four numbers: microseconds and GB/s of an iteration alone, and of
/// one on ranks, of entries of any size. The rates that these leave out, `kernel` and `link`, are
/// those of h100. Throws `Error` (usage) for another text.
HEDDLE_EXPORT DeviceRates parse_device_rates(std::string_view text);
/// The rates of a device by its full name. If it has not been measured, those of the fastest known
/// device: ranks gain least there.
HEDDLE_EXPORT DeviceRates rates_of_device(std::string_view full_name);

/// Bytes in memory of an entry with its column, and of a row of x or y.
struct BytesOnRanks {
  static constexpr int column = 4;

  int entry = 0;
  int row = 0;

  /// x and y once, and 8 bytes of a row's offset. For real numbers in double precision that is
  /// equation 1, in which alpha is the inverse of a row's length and y is loaded and stored.
  double of_product(double rows, double entries) const {
    return entries * entry + rows * (2.0 * row + 8);
  }
  /// Nine passes over vectors and the inverse of the diagonal.
  double of_iteration(double rows, double entries) const {
    return of_product(rows, entries) + rows * (9.0 * row + entry - column);
  }
};

struct ScalingPoint {
  int ranks = 1;
  RankVolume worst;     // over all ranks, see `worst_of`
  double nodes = 0;     // partial sums that ranks join, see `GroupTree`
  double exchange = 0;  // the longest of a rank, and the sums of an iteration
  double sums = 0;
  double product_vector = 0;  // exchange, then product
  double product_task = 0;    // exchange along with the interior rows
  // Every row split as Kreutzer et al. do (section 3.1), into entries in the rank's own columns and
  // those in columns of others, so that y is loaded and stored a second time:
  double split_naive = 0;  // exchange, as if nothing hid it, and both parts
  double split_task = 0;   // exchange along with the rank's own columns, then the others
  double iteration_vector = 0;
  double iteration_task = 0;
};

class HEDDLE_EXPORT ScalingModel {
 public:
  ScalingModel(DeviceRates rates, Network network, BytesOnRanks bytes);

  const DeviceRates& rates() const { return rates_; }
  const Network& network() const { return network_; }

  /// Seconds of a solve without ranks.
  double iteration_alone(long long rows, long long entries) const;
  double product_alone(long long rows, long long entries) const;

  /// Predictions for the matrix under a partition, and for ranks of these volumes.
  ScalingPoint predict(const PatternView& pattern, const Partition& partition) const;
  ScalingPoint predict(const std::vector<RankVolume>& volumes, double nodes) const;

 private:
  double exchange(const RankVolume& volume) const;
  /// Seconds of the part of split rows that needs no exchange, and of the rest.
  struct SplitProduct {
    double own = 0, remote = 0;
  };
  SplitProduct split(const RankVolume& volume) const;
  double sums(int ranks, double nodes) const;

  DeviceRates rates_;
  Network network_;
  BytesOnRanks bytes_;
};

/// The number of ranks predicted to take the least time, 1 for a solve without ranks. Ranks count
/// if they gain at least a tenth of `alone`: the model misses by a few hundredths.
HEDDLE_EXPORT int best_number_of_ranks(double alone, std::span<const ScalingPoint> points);

/// Ranks that each have as many rows as the matrix of `points` has in all.
struct WeakScaling {
  double exponent = 0;  // the halo of a rank grows as this power of its rows
  std::vector<ScalingPoint> points;
};

/// Predicted from partitions of one matrix: neighbours are those of its ranks, and the halo has
/// grown by the power that its partitions show. Without points if fewer than two of them exchange
/// anything.
HEDDLE_EXPORT WeakScaling weak_scaling(const ScalingModel& model, long long rows, long long entries,
                                       std::span<const ScalingPoint> points);

}  // namespace heddle::detail
