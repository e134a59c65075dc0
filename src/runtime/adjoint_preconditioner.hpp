// The adjoint of a preconditioner that was made by its name.
#pragma once

#include <memory>
#include <string>

#include "heddle/direct_inverse.hpp"
#include "make_preconditioner.hpp"

namespace heddle {

/// M^-*, where M was made for the matrix by `choice`; null: M = I. It is M itself if that is always
/// Hermitian, or M's own factors; else each part that is Hermitian is made again, the others from
/// A*. Throws `Error` (unsupported) for other parts, and for a matrix whose adjoint does not store
/// its entries.
template <class S>
std::shared_ptr<Preconditioner<S>> adjoint_of(const std::shared_ptr<Preconditioner<S>>& made,
                                              const OperatorReference<S>& matrix,
                                              const ComposedChoice& choice) {
  if (!made) return nullptr;
  if (choice.is_own_adjoint()) return made;
  if (const auto* const direct = dynamic_cast<const DirectInverse<S>*>(made.get())) {
    return std::make_shared<DirectInverse<S>>(direct->adjoint());
  }
  const auto refuse = [&](const char* why) {
    throw Error(ErrorKind::unsupported,
                "the preconditioner " + choice.text() + " has no adjoint here" + why);
  };
  if (!choice.has_adjoint()) refuse("; make one of the adjoint matrix");
  const OperatorReference<S> adjoint(matrix->adjoint());
  const auto *const stored = matrix->stored_entries(), *const other = adjoint->stored_entries();
  if ((stored == nullptr) != (other == nullptr)) {
    refuse(": the adjoint of this storage does not store entries");
  }
  if (other == nullptr) return make_preconditioner<S>(adjoint, choice.reversed());
  const detail::EntriesOfParts<S> entries(*stored, choice.is_of_all_entries()),
      of_adjoint(*other, choice.is_of_all_entries());
  PreconditionerFacts facts;
  return compose<S>(adjoint, choice.reversed(), [&](const PreconditionerChoice& part) {
    const bool is_own = part.info().adjoint == AdjointOf::itself;
    return make_part<S>(is_own ? matrix : adjoint, is_own ? entries : of_adjoint, part,
                        choice.multigrid, facts);
  });
}

}  // namespace heddle
