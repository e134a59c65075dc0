// The basis that a method keeps on a CPU (methods::Orthogonalize), of numbers of any ring and
// stored as S or in floats.
#pragma once

#include <memory>

#include "heddle/detail/basis_room.hpp"
#include "heddle/field.hpp"
#include "heddle/methods/coefficient.hpp"

namespace heddle::detail {

template <class S>
class HostBasis {
 public:
  virtual ~HostBasis() = default;

  virtual void clear() = 0;
  /// The methods::Basis of numbers of the ring that decisions see.
  virtual void* numbers() = 0;

  /// Takes the vectors of the basis off `from`, as far as the decision needs to know; `append` does
  /// the rest and makes what is left the newest vector. `to`: where that is worked on, if the
  /// basis is not `is_in_place`.
  virtual void orthogonalize(const FieldView<S>& from) = 0;
  virtual void append(const FieldView<S>& from, const FieldView<S>& to) = 0;

  /// True where vectors are stored as they are worked on: none is copied.
  virtual bool is_in_place() const = 0;
  /// Where it is in place: the newest vector, and where that is to be preconditioned into.
  virtual S* newest() const = 0;
  virtual S* preconditioned() const = 0;
  /// Where it is not: stores z in the second basis, and rounds z to what was stored, since the next
  /// image is of that.
  virtual void keep_preconditioned(const FieldView<S>& z) = 0;

  /// to = V y, or Z y of a flexible method, where y are the first numbers of the column.
  virtual void combine(const FieldView<S>& to) = 0;
};

/// `is_flexible`: a second basis, of what was preconditioned, lies behind the first. `kept`:
/// numbers that the method's decisions keep.
template <class S>
std::unique_ptr<HostBasis<S>> make_host_basis(Ring ring, const BasisRoom& room, bool is_flexible,
                                              long long kept, Index rows, const Stream& stream);

}  // namespace heddle::detail
