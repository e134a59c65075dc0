// The basis that a method keeps on a CPU (methods::Orthogonalize), of numbers of any ring, stored
// as S or in floats.
#pragma once

#include <memory>

#include "heddle/detail/basis_storage.hpp"
#include "heddle/field.hpp"
#include "heddle/methods/coefficient.hpp"

namespace heddle::detail {

template <class S>
class HostBasis {
 public:
  virtual ~HostBasis() = default;

  virtual void clear() = 0;
  /// The methods::Basis that decisions see, of numbers of the ring.
  virtual void* numbers() = 0;

  /// Subtracts the components along the basis from `from`, as far as the decision needs it;
  /// `append` does the rest and makes the remainder the newest vector. `to`: the field in which
  /// that vector is worked on, unless the basis `is_in_place`.
  virtual void orthogonalize(const FieldView<S>& from) = 0;
  virtual void append(const FieldView<S>& from, const FieldView<S>& to) = 0;

  /// True if vectors are stored as they are worked on, so that none is copied.
  virtual bool is_in_place() const = 0;
  /// For a basis in place: the newest vector, and the memory for that vector preconditioned.
  virtual S* newest() const = 0;
  virtual S* preconditioned() const = 0;
  /// For a basis not in place: stores z in the second basis, and rounds z to what was stored, since
  /// the next image is that of the stored vector.
  virtual void keep_preconditioned(const FieldView<S>& z) = 0;

  /// to = V y, or Z y in a flexible method, where y holds the first numbers of the column.
  virtual void combine(const FieldView<S>& to) = 0;
};

/// `is_flexible`: a second basis, of the preconditioned vectors, lies after the first. `kept`: how
/// many numbers the method's decisions keep.
template <class S>
std::unique_ptr<HostBasis<S>> make_host_basis(Ring ring, const BasisStorage& storage,
                                              bool is_flexible, long long kept, Index rows,
                                              const Stream& stream);

}  // namespace heddle::detail
