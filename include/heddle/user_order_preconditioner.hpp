// A preconditioner for loops other than Heddle's: z = M^-1 r over the caller's own arrays.
#pragma once

#include <memory>

#include "heddle/export.hpp"
#include "heddle/linear_operator.hpp"
#include "heddle/preconditioner.hpp"

namespace heddle {

/// Fields are in the user's order, with any strides; for an operator on a GPU in its memory or,
/// with a wait, the host's. A field that M cannot take as it is passes through one that it can,
/// allocated once: two more passes over memory. Calls must follow one another.
template <class S>
class HEDDLE_EXPORT UserOrderPreconditioner {
 public:
  /// `preconditioner` was made for `matrix`; null: M = I. Throws `Error`: unsupported for an
  /// operator that is not square, size_mismatch for a preconditioner of other fields.
  UserOrderPreconditioner(OperatorReference<S> matrix,
                          std::shared_ptr<Preconditioner<S>> preconditioner);
  UserOrderPreconditioner(UserOrderPreconditioner&&) noexcept;
  ~UserOrderPreconditioner();

  /// Renews M if the matrix has new values, in the order of `stream`; until then applications keep
  /// what M has computed from the old ones. It may wait for a GPU. It may be captured if M
  /// `can_queue_refresh`, but does not name a singular row then. Throws `Error`: singular, usage
  /// for a capture that cannot be.
  void update(const Stream& stream);

  /// z = M^-1 r. On a GPU it is queued in the order of `stream`, of that GPU, on the device's own,
  /// and returns before it is done, unless the host drives M or a field is in the host's memory. It
  /// may be captured where `is_capturable`, after a first call that was not; the device's stream is
  /// then part of that capture until it ends. Throws `Error`: size_mismatch for fields of other
  /// sizes, usage for fields that overlap, and for a capture that cannot be.
  void apply(const FieldView<const S>& r, const FieldView<S>& z, const Stream& stream) const;

  /// True if `apply` only queues work.
  bool is_capturable() const;

 private:
  class Parts;
  std::unique_ptr<Parts> parts_;
};

extern template class UserOrderPreconditioner<float>;
extern template class UserOrderPreconditioner<double>;

}  // namespace heddle
