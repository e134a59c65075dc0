// Gram matrices and combinations of many fields as one launch each on a GPU: a launch for every
// pair of fields would take longer than all the arithmetic. All fields of a call agree in rows,
// components and strides, AoS or SoA; S is float or double. Defined in builds with CUDA.
#pragma once

#include <span>

#include "fields/chunks.hpp"
#include "heddle/vector_operations.hpp"

namespace heddle::cuda {

/// The maximum number of fields in a block.
inline constexpr int max_fields = 96;

/// Number of doubles that `gram` or `squared_norms` leave as partial sums for `numbers` numbers.
/// Never less for more numbers.
Offset partials_of_block(Offset numbers);

/// results = U* V, column by column, at most `max_fields` of each, in stream order. `hermitian`:
/// numbers below the diagonal may be left out. `partials` has room for
/// `partials_of_block(u.size() v.size() ring_size(R))`.
template <Ring R, class S>
void gram(std::span<const FieldView<S>> u, std::span<const FieldView<S>> v, bool hermitian,
          double* partials, double* results, const Stream& stream);

/// The same as partial sums of each group of 256 rows, one group after another, of fields of type
/// AoS: for ranks that share the rows. `partials` has room for u.size() v.size() ring_size(R) of
/// each group.
template <Ring R, class S>
void gram_of_groups(std::span<const FieldView<S>> u, std::span<const FieldView<S>> v,
                    bool hermitian, double* partials, const Stream& stream);
template <class S>
void squared_norms_of_groups(std::span<const FieldView<S>> u, double* partials,
                             const Stream& stream);

/// results = |u|^2 over all components, for each field.
template <class S>
void squared_norms(std::span<const FieldView<S>> u, double* partials, double* results,
                   const Stream& stream);

/// `to` = `from` C, or `to` += `from` C if `adds`; C lies column by column on the GPU. `to` and
/// `from` share no field.
template <Ring R, class S>
void combine(std::span<const FieldView<S>> from, const S* c, std::span<const FieldView<S>> to,
             bool adds, const Stream& stream);

}  // namespace heddle::cuda
