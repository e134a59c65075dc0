// The preconditioners that options name, over sliced storage.
#pragma once

#include <memory>

#include "heddle/approximate_inverse.hpp"
#include "heddle/detail/sliced_jacobi.hpp"
#include "heddle/runtime/preconditioner_choice.hpp"

namespace heddle {

/// Null for none.
template <class S>
std::shared_ptr<Preconditioner<S>> make_preconditioner(const detail::SlicedOperator<S>& matrix,
                                                       const PreconditionerChoice& choice) {
  switch (choice.kind) {
    case PreconditionerKind::none:
      return nullptr;
    case PreconditionerKind::jacobi:
      return std::make_shared<detail::SlicedJacobi<S>>(matrix);
    case PreconditionerKind::fsai:
      return std::make_shared<Fsai<S>>(matrix, choice.number);
    case PreconditionerKind::isai:
      return std::make_shared<Isai<S>>(matrix, choice.number);
  }
  return nullptr;
}

}  // namespace heddle
