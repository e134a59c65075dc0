// Products on the caller's own arrays.
#pragma once

#include <type_traits>

#include "heddle/export.hpp"
#include "heddle/linear_operator.hpp"

namespace heddle {

/// y = alpha A x + beta y under any plan of A. Fields are in the user's order or in the operator's
/// basis, with any strides; for an operator on a GPU, in its memory or the host's. y is not read
/// when beta = 0; x and y do not overlap. On a GPU's stream it may return before y is ready, unless
/// y lies in the host's memory. A field that `A.apply` cannot take is copied through one that it
/// can, allocated for the call: two more passes over memory, a third for y with beta. For products
/// in a loop use fields of the operator, `A.field()`. Throws `Error` (size_mismatch) for fields
/// that do not fit.
template <class S>
HEDDLE_EXPORT void multiply(const LinearOperator<S>& A,
                            const std::type_identity_t<FieldView<const S>>& x,
                            const std::type_identity_t<FieldView<S>>& y,
                            std::type_identity_t<S> alpha = S(1),
                            std::type_identity_t<S> beta = S(0));

}  // namespace heddle
