// The numbering of rows and columns during a solve.
#pragma once

#include <memory>

#include "heddle/csr.hpp"
#include "heddle/export.hpp"
#include "heddle/plan.hpp"

namespace heddle {

/// Immutable, and shared by every matrix and field in it.
class HEDDLE_EXPORT Basis {
 public:
  /// The user's own order of `size` rows.
  static std::shared_ptr<const Basis> natural(Index size);

  /// Position i holds the user's row `user_row[i]`; throws unless `user_row` is a permutation.
  static std::shared_ptr<const Basis> from_order(Array<Index> user_row, const Device& device);

  /// The basis of `plan` on this pattern: its order, then the sort by length within windows
  /// (stable, longest first). Square patterns only, unless that order is natural and unsorted.
  static std::shared_ptr<const Basis> make(const PatternView& pattern, const Plan& plan,
                                           const Device& device = Device::cpu());
  template <class E>
  static std::shared_ptr<const Basis> make(const CsrView<E>& view, const Plan& plan) {
    return make(view.pattern(), plan, view.device);
  }

  Index size() const { return size_; }
  bool is_natural() const { return user_row_.empty(); }

  /// The user's row at a position, and the position of a user's row.
  Index user_row(Index position) const {
    return is_natural() ? position : user_row_[static_cast<std::size_t>(position)];
  }
  Index position(Index user_row) const {
    return is_natural() ? user_row : position_[static_cast<std::size_t>(user_row)];
  }

  /// The same two arrays where kernels of `device` can read them; the first call for a GPU copies
  /// them there. Null for the natural order.
  const Index* user_rows_on(const Device& device) const { return on(device).user_row; }
  const Index* positions_on(const Device& device) const { return on(device).position; }

  long long bytes() const {
    return static_cast<long long>((user_row_.size() + position_.size()) * sizeof(Index));
  }

 private:
  struct Arrays {
    const Index* user_row;
    const Index* position;
  };
  struct OnGpus;

  Arrays on(const Device& device) const;

  Index size_ = 0;
  Array<Index> user_row_;  // both empty for the natural order
  Array<Index> position_;
  std::shared_ptr<OnGpus> on_gpus_;  // made with the order; null for the natural one
};

/// True if both number the rows the same way.
HEDDLE_EXPORT bool same_basis(const Basis& a, const Basis& b);

/// The user's rows in the storage order of `plan`, in the memory of `device`, for `Basis::make` and
/// a scattering matrix. Empty for the natural order.
HEDDLE_EXPORT Array<Index> storage_order(const PatternView& pattern, const Plan& plan,
                                         const Device& device);

}  // namespace heddle
