// Tables of what `Operator<E>` and `Jacobi<E>` know about E, made from the type: compiled once for
// the built-in entries, and by users for their own.
#pragma once

#include <cmath>
#include <limits>
#include <type_traits>
#include <utility>

#include "heddle/config.hpp"
#include "heddle/detail/diagonal_search.hpp"
#include "heddle/detail/sliced_operator.hpp"
#include "heddle/detail/wide_loop.hpp"
#include "heddle/entry_writer.hpp"
#include "heddle/kernels/unit_inverse.hpp"
#include "heddle/tools/team.hpp"

namespace heddle::detail {

/// E computing in the scalar in which residuals are summed: double for floats.
template <class E>
struct promoted {
  using type = E;
};
template <class E>
  requires(!std::is_same_v<vector_scalar_t<E>, sum_t<vector_scalar_t<E>>>) &&
          requires { typename arithmetic_t<E>::template with_scalar<double>; }
struct promoted<E> {
  using type = stored_as<stored_scalar_t<E>,
                         typename arithmetic_t<E>::template with_scalar<sum_t<vector_scalar_t<E>>>>;
};
template <class Code, class A>
  requires(!std::is_same_v<vector_scalar_t<A>, sum_t<vector_scalar_t<A>>>) &&
          requires { typename A::template with_scalar<double>; } && has_scale<encoded<Code, A>>
struct promoted<encoded<Code, A>> {
  using type = encoded<Code, typename A::template with_scalar<sum_t<vector_scalar_t<A>>>>;
};

/// Entries whose copy in floats, `stored_as<float, E>`, iterations may read under
/// iteration-precision=single: not those that hold floats already, nor those that only their own
/// `load()` understands.
template <class E>
inline constexpr bool can_narrow = std::is_same_v<arithmetic_t<E>, E> &&
                                   sizeof(stored_scalar_t<E>) > sizeof(float);

/// Entries that a dictionary may hold as they are, and those that may be a real times a unit.
template <class E>
inline constexpr bool can_list =
    std::is_same_v<arithmetic_t<E>, E> &&
    (std::is_same_v<stored_scalar_t<E>, float> || std::is_same_v<stored_scalar_t<E>, double>);
template <class E>
inline constexpr bool can_be_unit = false;
template <>
inline constexpr bool can_be_unit<quaternion<float>> = true;
template <>
inline constexpr bool can_be_unit<quaternion<double>> = true;

/// Entries whose copy in 16 bits iterations may read, including those that hold floats.
template <class E>
inline constexpr bool can_encode =
    std::is_floating_point_v<stored_scalar_t<E>> &&
    (std::is_same_v<arithmetic_t<E>, E> ||
     std::is_same_v<stored_as<stored_scalar_t<E>, arithmetic_t<E>>, E>);

/// The entry that stores E's adjoint: none for an entry without one, nor for an encoded one.
template <class E>
struct stored_adjoint {};
template <class A>
  requires std::is_same_v<arithmetic_t<A>, A> && std::is_floating_point_v<stored_scalar_t<A>> &&
           requires(const A& a) {
             requires std::remove_cvref_t<decltype(adjoint(a))>::components == A::components;
           }
struct stored_adjoint<A> {
  using type = std::remove_cvref_t<decltype(adjoint(std::declval<const A&>()))>;
};
template <class Stored, class A>
  requires std::is_floating_point_v<Stored> && requires { typename stored_adjoint<A>::type; }
struct stored_adjoint<stored_as<Stored, A>> {
  using type = stored_as<Stored, typename stored_adjoint<A>::type>;
};

template <class A, class S>
void adjoint_components(const EntryTable<S>& /*of A*/, const S* components, S* result) {
  A a;
  for (int k = 0; k < A::components; ++k) {
    a.component[k] = static_cast<stored_scalar_t<A>>(components[k]);
  }
  const auto adjoint_entry = adjoint(a);
  for (int k = 0; k < A::components; ++k) result[k] = static_cast<S>(adjoint_entry.component[k]);
}

template <class S>
double magnitude(const S* component, int count) {
  double sum = 0;
  for (int k = 0; k < count; ++k) sum = std::hypot(sum, static_cast<double>(component[k]));
  return sum;
}
template <class A>
double magnitude(const A& a) {
  return magnitude(a.component, A::components);
}

/// True unless `inverse` has a correct digit: |a| |a^-1| epsilon >= 1 leaves none.
template <class S>
bool is_singular(const S* a, const S* inverse, int components) {
  const double condition = magnitude(a, components) * magnitude(inverse, components);
  return !(condition * static_cast<double>(std::numeric_limits<S>::epsilon()) < 1);
}
template <class A>
bool is_singular(const A& a, const A& inverse) {
  return is_singular(a.component, inverse.component, A::components);
}

/// Same as `Operator<E>::diagonal`.
template <class E>
void diagonal(const SlicedOperator<vector_scalar_t<E>>& matrix, arithmetic_t<E>* entries) {
  using stored = stored_scalar_t<E>;
  const DiagonalSearch search = diagonal_search(matrix.pattern());
  const EntryWriter<E> values(matrix.pattern(), matrix.plan().layout.inner,
                              reinterpret_cast<stored*>(matrix.stored_values().data()));
  parallel_for(team_size(matrix.device().stream(), matrix.rows()), matrix.rows(), [&](Index row) {
    const Offset slot = search.slot_among(row, 0, 1);
    entries[search.row_of(row)] = slot < 0 ? arithmetic_t<E>::zero() : load(values.load(slot));
  });
}

/// Calls `invert(row)` for each row of the row basis, false if the entry has no inverse. Returns
/// the first such row in the user's numbering, or the number of rows.
template <class S, class Invert>
Index first_singular_row(const SlicedOperator<S>& matrix, const Invert& invert) {
  return parallel_min(team_size(matrix.device().stream(), matrix.rows()), matrix.rows(),
                      matrix.rows(), [&](Index row, Index& first) {
                        if (invert(row)) return;
                        first = std::min(first, matrix.row_basis()->user_row(row));
                      });
}

/// `invert_or_unit` of one entry.
template <class A>
bool put_inverse(A entry, const double* unit, A& inverted) {
  return invert_or_unit(
      entry.component, inverted.component, A::components, unit, [&] { inverted = inverse(entry); },
      [&] { return is_singular(entry, inverted); });
}

template <class E>
Index invert_diagonal(const SlicedOperator<vector_scalar_t<E>>& matrix, const double* unit,
                      void* inverses) {
  auto* const entries = static_cast<arithmetic_t<E>*>(inverses);
  diagonal<E>(matrix, entries);
  return first_singular_row(
      matrix, [&](Index row) { return put_inverse(entries[row], unit, entries[row]); });
}

template <class A, class S>
void apply_inverses(const EntryTable<S>&, const void* inverses, const FieldView<const S>& r,
                    const FieldView<S>& z, Index begin, Index end) {
  using V = typename A::vector_entry;
  const Offset bytes_ahead = prefetch_distance(r);
  const A* const inverse = static_cast<const A*>(inverses);
  const auto apply_to = [&](const auto rows, S* const to, Offset entry_stride,
                            Offset component_stride) {
    constexpr Index block = 64;
    for (Index from = begin; from < end; from += block) {
      const Index last = std::min(end, from + block);
      if (bytes_ahead > 0) {
        const char* const ahead = reinterpret_cast<const char*>(inverse + from) + bytes_ahead;
        for (std::size_t byte = 0; byte < sizeof(A) * block; byte += 64) {
          __builtin_prefetch(ahead + byte);
        }
      }
      HEDDLE_TURNS_APART
      for (Index row = from; row < last; ++row) {
        V product = zero_vector<V>();
        multiply_add(product, inverse[row], rows(row));
        S* const at = to + row * entry_stride;
        for (int k = 0; k < V::components; ++k) at[k * component_stride] = product.component[k];
      }
    }
  };
  run_widely<S>([&] {
    if (r.is_aos() && z.is_aos()) {
      apply_to(PackedVector<V, S>{r.data}, z.data, V::components, 1);
    } else {
      apply_to(StridedVector<V, S>{r.data, r.entry_stride, r.component_stride}, z.data,
               z.entry_stride, z.component_stride);
    }
  });
}

template <class E>
HEDDLE_EXPORT EntryTableHandle<vector_scalar_t<E>> entry_table();

/// Sizes of E as they appear in a kernel's text.
template <class E>
inline constexpr cuda::EntryShape entry_sizes = {E::components,
                                                 sizeof(stored_scalar_t<E>),
                                                 vector_entry_t<E>::components,
                                                 result_entry_t<E>::components,
                                                 sizeof(vector_scalar_t<E>),
                                                 ring_size(arithmetic_t<E>::ring)};

template <class E>
EntryTexts entry_texts() {
  EntryTexts texts;
  if constexpr (has_entry_text<E> && !std::is_same_v<vector_scalar_t<E>, long double>) {
    using P = typename promoted<E>::type;
    static_assert(!has_cuda || has_entry_text<P>,
                  "heddle entry: residuals of floats compute in double; HEDDLE_ENTRY also has to "
                  "name the entry over double");
    texts.own = entry_text_of<E>::text();
    if constexpr (has_entry_text<P>) texts.exact = entry_text_of<P>::text();
  }
  return texts;
}

/// A table of E with the fields that every table states.
template <class E>
std::shared_ptr<EntryTable<vector_scalar_t<E>>> make_plain_table() {
  using A = arithmetic_t<E>;
  using S = vector_scalar_t<E>;
  const auto table = new_entry_table<S>(entry_texts<E>());
  table->sizes = entry_sizes<E>;
  table->ring = A::ring;
  table->has_adjoint = has_adjoint<E>;
  table->arithmetic = {A::components, sizeof(stored_scalar_t<A>)};
  if constexpr (requires { A::block_rows; }) {
    table->block_rows = A::block_rows;
    table->block_columns = A::block_columns;
  }
  table->multiply = multiply_cpu<E, S>;
  return table;
}

/// The table of an encoded copy: only what iterations need.
template <class Code, class A>
EntryTableHandle<vector_scalar_t<A>> encoded_table() {
  using E = encoded<Code, A>;
  const auto table = make_plain_table<E>();
  table->is_encoded = true;
  table->trailing_bytes = static_cast<int>(sizeof(CodeWord));
  if constexpr (has_table<E>) table->trailing_bytes = E::table_bytes;
  return table;
}

template <class E>
EntryTableHandle<vector_scalar_t<E>> make_entry_table() {
  // Its entries are followed by a scale, which the operator that makes such a copy writes.
  static_assert(!is_encoded<E>,
                "heddle entry: plans make copies in 16 bits, of entries that are not encoded");
  using A = arithmetic_t<E>;
  using S = vector_scalar_t<E>;
  using P = typename promoted<E>::type;
  using stored = stored_scalar_t<E>;
  const auto table = make_plain_table<E>();
  if constexpr (can_narrow<E>) table->narrow = entry_table<stored_as<float, E>>();
  if constexpr (can_encode<E>) {
    table->encoded = {encoded_table<half_code, A>(), encoded_table<bfloat_code, A>(),
                      encoded_table<scaled_code, A>()};
  }
  if constexpr (can_list<E>) table->encoded[3] = encoded_table<dictionary_code, A>();
  if constexpr (can_be_unit<E>) table->encoded[4] = encoded_table<unit_code, A>();
  table->holds_floats = std::is_same_v<stored, float>;
  table->residual = product_cpu<P, S, RowResult::residual>;
  table->place = place_values_on_cpu<stored, E::components>;
  if constexpr (requires { typename stored_adjoint<E>::type; }) {
    using Adjoint = typename stored_adjoint<E>::type;
    table->adjoint = adjoint_components<A, S>;
    if constexpr (!std::is_same_v<Adjoint, E>) table->adjoint_entry = entry_table<Adjoint>;
  }
  if constexpr (has_inverse<E>) {
    table->invert_diagonal = invert_diagonal<E>;
    table->apply_inverses = apply_inverses<A, S>;
  }
  return table;
}

template <class E>
HEDDLE_EXPORT EntryTableHandle<vector_scalar_t<E>> entry_table() {
  static const auto table = make_entry_table<E>();
  return table;
}

}  // namespace heddle::detail
