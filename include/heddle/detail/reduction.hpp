// Sums with repeatable bits: partial sums belong to fixed groups of 256 rows (on a GPU that shares
// its rows with no other rank: of 256 threads of a launch whose shape follows from the field's) and
// are added in a fixed tree. The result therefore depends neither on thread count or schedule, nor
// on the number of ranks that share the rows.
#pragma once

#include <array>
#include <cmath>
#include <functional>
#include <memory>
#include <string>
#include <type_traits>

#include "heddle/array.hpp"
#include "heddle/entries/slots.hpp"
#include "heddle/error.hpp"
#include "heddle/export.hpp"
#include "heddle/row_share.hpp"

namespace heddle {

inline constexpr Index rows_of_group = 256;

/// Rows over all ranks of a field that has `rows` rows here.
inline long long all_rows(Index rows, const Stream& stream) {
  return stream.share != nullptr ? stream.share->all_rows() : rows;
}

inline Index groups_of(Index rows) {
  return static_cast<Index>((Offset(rows) + rows_of_group - 1) / rows_of_group);
}

/// The type in which scalars of type S are summed: double, or long double for long double.
template <class S>
using sum_t = std::conditional_t<std::is_same_v<S, long double>, long double, double>;

/// Where kernels leave sums. Two launches may share it only on one stream.
struct HEDDLE_EXPORT DeviceSums {
  double* partials = nullptr;    // on the device: all sums of each group of a launch together
  unsigned* finished = nullptr;  // on the device: blocks that are done; zero between launches
  /// On the device, or host memory that it can write to. Null if ranks share the rows: then the
  /// partial sums of each group of 256 rows are left, one after another.
  double* results = nullptr;
};

namespace detail {
/// Pinned host memory that every GPU can write to, kept for reuse when it is given back.
using PinnedSums = std::unique_ptr<double[], void (*)(double*)>;
HEDDLE_EXPORT PinnedSums take_pinned_sums();
inline constexpr int pinned_sums = 8;
}  // namespace detail

/// Room for up to `width` sums over a field, kept so that a solve allocates nothing.
template <class S>
class HEDDLE_EXPORT Reduction {
 public:
  using sum = sum_t<S>;
  static constexpr int width = detail::pinned_sums;

  /// Throws `Error` (unsupported) on a GPU unless S is float or double.
  /// `numbers`: the most sums, on the CPU.
  explicit Reduction(Index rows, const Device& device = Device::cpu(), int numbers = width)
      : rows_(rows), numbers_(numbers), device_(device) {
    const RowShare* const share = device.stream().share;
    if (share != nullptr && share->rows() != rows) {
      throw Error(ErrorKind::size_mismatch, "sums over " + std::to_string(rows) +
                                                " rows, but this rank has " +
                                                std::to_string(share->rows()));
    }
    if (!device.on_gpu()) {
      partials_ = Array<sum>(
          static_cast<std::size_t>(groups_of(rows)) * static_cast<std::size_t>(numbers), device);
      return;
    }
    if (!std::is_same_v<sum, double>) {
      throw Error(ErrorKind::unsupported, "a GPU sums in double: solve in float or double there");
    }
    finished_ = Array<unsigned>(1, device);
    results_ = detail::take_pinned_sums();
    reserve(1);
  }

  Index rows() const { return rows_; }
  Index groups() const { return groups_of(rows_); }
  const Device& device() const { return device_; }

  /// CPU: the partial sums of one group; whoever computes the group sets all that are finished
  /// later.
  sum* partials(Offset group) { return partials_.data() + group * numbers_; }

  /// GPU: makes room for `partials` times `width` sums; waits for the stream if it has to grow.
  void reserve(Offset partials) {
    const auto sums = static_cast<std::size_t>(partials) * width;
    if (sums <= partials_.size()) return;
    device_.synchronize();
    partials_ = Array<sum>();
    partials_ = Array<sum>(sums, device_);
  }
  /// GPU: the places that a kernel on the device's stream writes to, with room for `partials`;
  /// `finish` then returns what the kernel left in `results`.
  DeviceSums space(Offset partials)
    requires std::is_same_v<sum, double>
  {
    reserve(partials);
    const bool shares = device_.stream().share != nullptr;
    return {partials_.data(), finished_.data(), shares ? nullptr : results_.get()};
  }

  /// The first `count` sums: on the CPU those of all partials, with groups added pairwise, which
  /// destroys them; on a GPU those that its last kernel left, once the stream is done.
  std::array<sum, width> finish(int count) { return joined(count, std::plus<>()); }
  /// Same into `to`, on the CPU, where there may be more than `width` sums.
  void finish(int count, sum* to) { join_groups(count, to, std::plus<>()); }
  /// The largest of the groups' first sums instead; NaN if one is.
  sum finish_largest() { return joined(1, larger)[0]; }
  static sum larger(sum a, sum b) { return a > b || std::isnan(a) ? a : b; }

 private:
  template <class Join>
  static constexpr RowShare::Join how =
      std::is_same_v<Join, std::plus<>> ? RowShare::Join::sum : RowShare::Join::largest;

  template <class Join>
  std::array<sum, width> joined(int count, const Join& join) {
    std::array<sum, width> sums{};
    RowShare* const share = device_.stream().share;
    if (device_.on_gpu() && share != nullptr) {
      if constexpr (std::is_same_v<sum, double>) {
        share->join_on_gpu(partials_.data(), count, sums.data(), how<Join>, device_.stream());
      }
    } else if (device_.on_gpu()) {
      device_.synchronize();
      for (int v = 0; v < count; ++v) sums[static_cast<std::size_t>(v)] = results_[v];
    } else {
      join_groups(count, sums.data(), join);
    }
    return sums;
  }
  template <class Join>
  void join_groups(int count, sum* to, const Join& join) {
    if (RowShare* share = device_.stream().share) {
      return share->join(partials_.data(), numbers_, count, to, how<Join>);
    }
    const Offset groups = groups_of(rows_);
    for (Offset half = 1; half < groups; half *= 2) {
      for (Offset g = 0; g + half < groups; g += 2 * half) {
        for (int v = 0; v < count; ++v) {
          partials(g)[v] = join(partials(g)[v], partials(g + half)[v]);
        }
      }
    }
    for (int v = 0; v < count; ++v) to[v] = groups > 0 ? partials(0)[v] : 0;
  }

  Index rows_ = 0;
  int numbers_ = width;
  Device device_;
  Array<sum> partials_;
  Array<unsigned> finished_;
  detail::PinnedSums results_{nullptr, nullptr};
};

}  // namespace heddle
