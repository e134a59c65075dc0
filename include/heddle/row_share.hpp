// A rank's knowledge of fields that several ranks share.
#pragma once

#include "heddle/entries/slots.hpp"
#include "heddle/export.hpp"
#include "heddle/kernels/loop_state.hpp"

namespace heddle {

struct Stream;

/// A rank's share of the rows of fields that several ranks hold together: whole groups of 256
/// consecutive rows, of which only the last of all may be shorter. If a `Stream` names it, the sums
/// over a field are those over the rows of all ranks, added in the tree that one process would use.
/// Its calls are collective: all ranks make the same ones in the same order. If one rank fails, the
/// others' calls throw `Error`.
class HEDDLE_EXPORT RowShare {
 public:
  enum class Join { sum, largest };

  virtual ~RowShare() = default;

  virtual Index rows() const = 0;          // rows of this rank
  virtual long long all_rows() const = 0;  // rows of all ranks
  /// The place, among the groups of all ranks, of a group of this rank's fields.
  virtual long long place_of_group(Index group) const = 0;

  /// Writes `count` numbers, over the groups of all ranks, to `to`. `partials` are those of this
  /// rank's groups, `stride` apart; it may overwrite them.
  virtual void join(double* partials, int stride, int count, double* to, Join how) = 0;
  virtual void join(long double* partials, int stride, int count, long double* to, Join how) = 0;

  /// The reason for which a rank requests the end of a run, or `loop_runs`: the result that the
  /// last `join` has brought from all ranks. `own` travels with the next one, so that agreement
  /// costs no extra message.
  virtual device::LoopEnd agree(device::LoopEnd own) = 0;

  /// Like `join`, for partial sums in the memory of the stream's GPU, those of a group one after
  /// the other. Returns when the stream has reached this point.
  virtual void join_on_gpu(double* partials, int count, double* to, Join how,
                           const Stream& stream) = 0;
};

}  // namespace heddle
