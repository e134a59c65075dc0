// Block Jacobi and sparse approximate inverses for matrices whose rows several ranks share.
#pragma once

#include <memory>
#include <optional>

#include "heddle/distributed_operator.hpp"
#include "heddle/export.hpp"
#include "heddle/preconditioner.hpp"
#include "heddle/runtime/preconditioner_choice.hpp"

namespace heddle {

/// z = M^-1 r by `BlockJacobi`, `Fsai` or `Isai`, with the same bits for any number of ranks; on
/// CPUs, the bits of one process. Each rank computes its rows of M^-1 on its host, from its own
/// rows of the matrix and the rows that they reach on other ranks. It requests those once, and gets
/// their new values from then on. Each factor multiplies as a matrix of its own, with an exchange
/// before it.
///
/// Set-up, `refresh` and applications are collective. `refresh` takes new values if any rank has
/// them. One application at a time.
template <class S>
class HEDDLE_EXPORT DistributedInverse final : public Preconditioner<S> {
 public:
  /// `choice` is that of rank 0; a block may have rows of several ranks. The matrix must outlive
  /// this object. Throws one `Error` on all ranks, with rows counted among those of all ranks, as
  /// the three classes do; usage for other kinds.
  DistributedInverse(const DistributedOperator<S>& matrix, const PreconditionerChoice& choice);
  DistributedInverse(DistributedInverse&&) noexcept;
  ~DistributedInverse() override;

  std::optional<FieldShape> shape() const override;
  void refresh() override;
  bool is_hermitian() const override;
  bool is_symmetric() const override;
  /// True on GPUs if a graph holds the iterations of the ranks, and its factors exchange on all of
  /// them.
  bool is_capturable() const override;
  long long bytes_of_application() const override;
  /// Throws `Error` (size_mismatch) for fields that are not the operator's.
  void apply(const FieldView<const S>& r, const FieldView<S>& z,
             const Stream& stream) const override;

  /// Bytes of this rank's rows and buffers, excluding what it keeps for new values.
  long long memory() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

extern template class DistributedInverse<float>;
extern template class DistributedInverse<double>;

}  // namespace heddle
