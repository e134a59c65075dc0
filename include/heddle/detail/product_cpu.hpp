// The product on the CPU: groups of 256 rows shared among threads, AVX2 if the machine has it, and
// software prefetch of x and of the matrix ahead of their use.
#pragma once

#include <algorithm>
#include <array>
#include <span>
#include <utility>

#include "heddle/detail/instruction_sets.hpp"
#include "heddle/detail/reduction.hpp"
#include "heddle/detail/row_store.hpp"
#include "heddle/detail/sliced.hpp"
#include "heddle/entries/encoded.hpp"
#include "heddle/entries/row_product.hpp"
#include "heddle/field.hpp"
#include "heddle/plan.hpp"
#include "heddle/tools/team.hpp"

namespace heddle::detail {

template <class S>
class SlicedOperator;

/// How far ahead cache lines are prefetched: x in entries, 0 for never; the entries themselves in
/// bytes. Addresses past the end are harmless: a prefetch never faults.
struct Prefetch {
  Index x;
  Offset matrix;
};

/// Calls `body` with each constant below N: for loops that must vanish, so that what they index
/// stays in registers. A body that computes is `always_inline`: if clang leaves it as a separate
/// function, that has the instructions of every machine, and so other bits.
template <int N, class Body>
HEDDLE_INLINE void for_each_below(const Body& body) {
  [&]<int... k>(std::integer_sequence<int, k...>) __attribute__((always_inline)) {
    (body(std::integral_constant<int, k>()), ...);
  }(std::make_integer_sequence<int, N>());
}

/// Prefetches ahead of the entry on a slot: a line of x, by the column of a later entry, and the
/// lines of the entry that lies `distance.matrix` bytes after this one. Small entries prefetch a
/// line several times; counting lines instead costs more than it saves.
template <class E, class Vector>
struct PrefetchAhead {
  const Index* column;
  Vector x;
  const char* entries;
  Prefetch distance;

  HEDDLE_INLINE void operator()(Offset slot) const {
    constexpr Offset line = 64;
    constexpr Offset bytes = sizeof(E);
    if (distance.x > 0) __builtin_prefetch(x.address(column[slot + distance.x]));
    const char* begin = entries + slot * bytes + distance.matrix;
    for (Offset byte = 0; byte < bytes; byte += line) __builtin_prefetch(begin + byte);
  }
};

/// Takes its place if a plan asks for no prefetch. The barrier keeps iterations of the loop apart:
/// g++ would multiply for two of them at once, which rounds before the sum does, unlike any other
/// plan's loop.
struct TurnsApart {
  HEDDLE_INLINE void operator()(Offset) const { asm volatile(""); }
};

/// The shares of a row of T threads, joined by the tree that a warp's shuffles form.
template <class E, class Values, class Vector, class Ahead>
HEDDLE_INLINE result_entry_t<E> shared_row_product(const Values& values, const Index* column,
                                                   const Vector& x, Offset step, Offset C, int lane,
                                                   int length, int T, const Ahead& ahead) {
  constexpr int max_threads = 64;
  result_entry_t<E> sums[max_threads];
  int half = 1;
  for (int t = 0; t < T; ++t) {
    sums[t] =
        row_product<E>(values, column, x, step, C, lane + t, share_of_row(length, t, T), ahead);
    if (half * 2 <= t) half *= 2;
  }
  for (; half > 0; half /= 2) {
    for (int t = 0; t < half && t + half < T; ++t) {
      sums[t] = add_components(sums[t], sums[t + half]);
    }
  }
  return sums[0];
}

/// Entries that take as long to prefetch as to multiply: if a plan asks for no prefetch, their
/// product has a loop without it.
template <class E>
inline constexpr bool is_small_entry = sizeof(E) <= 16;

/// Multiplies stored rows [begin, end): `store(row of y, sum)` takes each result, and is returned.
/// Everything is passed by value: a store to y could change what a reference reads, and would cost
/// reloads.
template <class E, class Values, class Vector, class Ahead, class Store>
HEDDLE_INLINE Store product_rows(const SlicedPattern& A, const Index* column, const Values values,
                                 const Vector x, const Ahead ahead, Index begin, Index end,
                                 Store store) {
  const Offset* offset = A.offset.data();
  const Index* target = A.target.empty() ? nullptr : A.target.data();
  if (A.C == 1) {
    for (Index row = begin; row < end; ++row) {
      const Offset first = offset[row];
      const int length = static_cast<int>(offset[row + 1] - first);
      store(target != nullptr ? target[row] : row,
            row_product<E>(values, column, x, first, 1, 0, length, ahead));
    }
    return store;
  }
  const Index* row_length = A.row_length.data();
  Index slice = A.slice_of(begin);
  for (Index row = begin; row < end; ++slice) {
    const int T = A.threads_of(slice);
    const Index first_row = A.first_row_of(slice);
    const Index last_row = std::min(end, A.first_row_of(slice + 1));
    const Offset step = offset[slice];
    for (; row < last_row; ++row) {
      const int lane = (row - first_row) * T;
      store(target != nullptr ? target[row] : row,
            T == 1 ? row_product<E>(values, column, x, step, A.C, lane, row_length[row], ahead)
                   : shared_row_product<E>(values, column, x, step, A.C, lane, row_length[row], T,
                                           ahead));
    }
  }
  return store;
}

/// Number of fields whose sums of a row fit together into the 16 registers of a CPU: a product with
/// that many reads an entry once for all, and the sums of one field do not wait for those of
/// another. Large entries have enough work between waits.
template <class E>
inline constexpr int fields_at_once = is_encoded<E> || E::components > 16 ? 1
                                      : sizeof(row_sum_t<E>) <= 32        ? 4
                                      : E::components <= 4                ? 2
                                                                          : 1;

/// `product_rows` with N fields, for matrices with one thread per row; each field's bits are those
/// of `product_rows`.
template <class E, int N, class Values, class Vector, class Store>
HEDDLE_INLINE std::array<Store, N> product_rows_of_fields(const SlicedPattern& A,
                                                          const Index* column, const Values values,
                                                          const std::array<Vector, N> x,
                                                          const Prefetch distance, Index begin,
                                                          Index end, std::array<Store, N> store) {
  const PrefetchAhead<E, Vector> ahead{column, x[0], reinterpret_cast<const char*>(values.data),
                                       distance};
  const Offset* offset = A.offset.data();
  const Index* target = A.target.empty() ? nullptr : A.target.data();
  Index slice = A.slice_of(begin);
  for (Index row = begin; row < end; ++row) {
    const bool is_sliced = A.C != 1;
    if (is_sliced && row >= A.first_row_of(slice + 1)) ++slice;
    const int lane = is_sliced ? row - A.first_row_of(slice) : 0;
    const int length = is_sliced ? A.row_length[static_cast<std::size_t>(row)]
                                 : static_cast<int>(offset[row + 1] - offset[row]);
    std::array<row_sum_t<E>, N> sums{};
    Offset step = offset[is_sliced ? slice : row];
    for (int j = 0; j < length; ++j, step += A.C) {
      const Offset slot = step + lane;
      ahead(slot);
      for_each_below<N - 1>([&](auto k) __attribute__((always_inline)) {
        if (distance.x > 0) __builtin_prefetch(x[k + 1].address(column[slot + distance.x]));
      });
      const auto entry = load(values(step, lane));
      const Index at = column[slot];
      for_each_below<N>(
          [&](auto k) __attribute__((always_inline)) { multiply_add(sums[k], entry, x[k](at)); });
    }
    const Index to = target != nullptr ? target[row] : row;
    for_each_below<N>([&](auto k)
                          __attribute__((always_inline)) { store[k](to, result_of(sums[k])); });
  }
  return store;
}

// One body, compiled twice: for every x86-64 machine, and for those with AVX2 and FMA.
template <class E, class Values, class Vector, class Ahead, class Store>
__attribute__((flatten)) Store product_rows_baseline(const SlicedPattern& A, const Index* column,
                                                     const Values& values, const Vector& x,
                                                     const Ahead& ahead, Index begin, Index end,
                                                     Store store) {
  return product_rows<E>(A, column, values, x, ahead, begin, end, store);
}
template <class E, class Values, class Vector, class Ahead, class Store>
__attribute__((target("avx2,fma"), flatten)) Store
product_rows_avx2(const SlicedPattern& A, const Index* column, const Values& values,
                  const Vector& x, const Ahead& ahead, Index begin, Index end, Store store) {
  return product_rows<E>(A, column, values, x, ahead, begin, end, store);
}

template <class E, int N, class Values, class Vector, class Store>
__attribute__((flatten)) std::array<Store, N> product_rows_of_fields_baseline(
    const SlicedPattern& A, const Index* column, const Values& values,
    const std::array<Vector, N>& x, const Prefetch& distance, Index begin, Index end,
    const std::array<Store, N>& store) {
  return product_rows_of_fields<E, N>(A, column, values, x, distance, begin, end, store);
}
template <class E, int N, class Values, class Vector, class Store>
__attribute__((target("avx2,fma"), flatten)) std::array<Store, N> product_rows_of_fields_avx2(
    const SlicedPattern& A, const Index* column, const Values& values,
    const std::array<Vector, N>& x, const Prefetch& distance, Index begin, Index end,
    const std::array<Store, N>& store) {
  return product_rows_of_fields<E, N>(A, column, values, x, distance, begin, end, store);
}

/// Calls `body(group)` for every group of 256 stored rows under the plan's schedule; `work` is the
/// number of entries in all of them.
template <class Body>
void for_each_product_group(Index groups, Offset work, const Plan& plan, const Stream& stream,
                            const Body& body) {
  parallel_for(team_size(stream, work), groups,
               plan.schedule.kind == ScheduleKind::fixed ? 0 : plan.schedule.chunk, body);
}

/// Calls `multiply_rows(begin, end, k, take)` for each group of A's stored rows and for fields from
/// k on, until all are done, so that the fields of a group find its rows in the cache. It passes
/// the store of each field to `take`, whose partial sum goes to `reduction` if there is one.
template <class S, class MultiplyRows>
void for_each_product_group(const SlicedOperator<S>& A, std::size_t fields, Reduction<S>* reduction,
                            const Stream& stream, const MultiplyRows& multiply_rows) {
  const Index rows = A.rows();
  const Offset work = A.pattern().entries * static_cast<Offset>(fields);
  for_each_product_group(groups_of(rows), work, A.plan(), stream, [&](Index group) {
    const Index begin = group * rows_of_group;
    const auto end = static_cast<Index>(std::min<Offset>(rows, Offset(begin) + rows_of_group));
    std::size_t k = 0;
    const auto take = [&](const RowStore<S>& done) {
      if (reduction != nullptr) reduction->partials(group)[k] = done.partial;
      ++k;
    };
    while (k < fields) multiply_rows(begin, end, k, take);
  });
}

/// The product of values of E, all in one layout, with each x, all in one layout of their own.
template <class E, class S, class Store, class Values, class Vector>
void product_into(const SlicedOperator<S>& matrix, const Values& values,
                  Vector (*vector_of)(const FieldView<const S>&),
                  std::span<const FieldView<const S>> x, std::span<const RowStore<S>> y,
                  Reduction<S>* reduction, const Stream& stream) {
  const SlicedPattern& A = matrix.pattern();
  const Plan& plan = matrix.plan();
  const bool one_stream = plan.layout.inner != InnerLayout::soa;
  const Prefetch distance{plan.cpu.prefetch_x, one_stream ? plan.cpu.prefetch_matrix : 0};
  const auto rows = [&]<class Ahead>(const Index* column, const Vector& field, const Ahead& ahead,
                                     Index begin, Index end, const Store& store) {
    // Layouts for a GPU's lanes are not worth a second body for each encoding.
    if constexpr (!has_scale<E> || std::is_same_v<Values, PackedValues<E>>) {
      if (has_avx2()) {
        return product_rows_avx2<E, Values, Vector, Ahead, Store>(A, column, values, field, ahead,
                                                                  begin, end, store);
      }
    }
    return product_rows_baseline<E, Values, Vector, Ahead, Store>(A, column, values, field, ahead,
                                                                  begin, end, store);
  };
  const auto store_of = [&](std::size_t k) -> Store {
    if constexpr (has_scale<E>) {
      return {{y[k]}, values.data[A.slots * E::components]};
    } else {
      return {y[k]};
    }
  };
  constexpr int N = fields_at_once<E>;
  const std::size_t together = A.T == 1 && A.threads.empty() ? x.size() / N * N : 0;
  for_each_product_group(
      matrix, x.size(), reduction, stream,
      [&](Index begin, Index end, std::size_t k, const auto& take) {
        const Index* const column = columns_of_rows(A, begin, end, distance.x);
        if constexpr (N > 1) {
          if (k < together) {
            const auto all = has_avx2()
                                 ? product_rows_of_fields_avx2<E, N, Values, Vector, Store>
                                 : product_rows_of_fields_baseline<E, N, Values, Vector, Store>;
            std::array<Vector, N> fields;
            std::array<Store, N> stores;
            for (std::size_t n = 0; n < N; ++n) {
              fields[n] = vector_of(x[k + n]);
              stores[n] = store_of(k + n);
            }
            for (const Store& done : all(A, column, values, fields, distance, begin, end, stores)) {
              take(done);
            }
            return;
          }
        }
        const Vector field = vector_of(x[k]);
        if constexpr (is_small_entry<E> && !is_encoded<E>) {
          if (distance.x == 0 && distance.matrix == 0) {
            return take(rows(column, field, TurnsApart{}, begin, end, store_of(k)));
          }
        }
        const auto* const entries = reinterpret_cast<const char*>(values.data);
        const PrefetchAhead<E, Vector> ahead{column, field, entries, distance};
        take(rows(column, field, ahead, begin, end, store_of(k)));
      });
}

/// Multiplies stored values of E in their inner layout by each x, all in one layout of their own,
/// into y, all of the `known` result; partial sums go to `reduction` if there is one.
template <class E, class S, RowResult known>
void product_cpu(const SlicedOperator<S>& matrix, std::span<const FieldView<const S>> x,
                 std::span<const RowStore<S>> y, Reduction<S>* reduction, const Stream& stream) {
  using V = vector_entry_t<E>;
  using Known = KnownRowStore<known, S>;
  using Store = std::conditional_t<has_scale<E>, ScaledRows<Known>, Known>;
  const SlicedPattern& A = matrix.pattern();
  const Layout& layout = matrix.plan().layout;
  const auto* const values =
      reinterpret_cast<const stored_scalar_t<E>*>(matrix.stored_values().data());
  const auto decoded = [&]<class Values>(const Values& kept) {
    if constexpr (has_table<E>) {
      return DecodedValues<E, Values>{kept, values, trailing_table<E>(values, A.slots)};
    } else {
      return kept;
    }
  };
  const bool aosoa =
      layout.inner == InnerLayout::aosoa_component || layout.inner == InnerLayout::aosoa_16;
  if ((layout.inner == InnerLayout::aos || (aosoa && A.C == 1)) && x.front().is_aos()) {
    PackedVector<V, S> (*const vector_of)(const FieldView<const S>&) =
        [](const FieldView<const S>& field) { return PackedVector<V, S>{field.data}; };
    return product_into<E, S, Store>(matrix, decoded(PackedValues<E>{values}), vector_of, x, y,
                                     reduction, stream);
  }
  const StridedValues<E> strided{
      values, slot_formula<E::components>(layout.inner, A.C, A.slots, sizeof(stored_scalar_t<E>))};
  StridedVector<V, S> (*const vector_of)(const FieldView<const S>&) =
      [](const FieldView<const S>& field) {
        return StridedVector<V, S>{field.data, field.entry_stride, field.component_stride};
      };
  product_into<E, S, Store>(matrix, decoded(strided), vector_of, x, y, reduction, stream);
}

/// Same for either result that an iteration asks for.
template <class E, class S>
void multiply_cpu(const SlicedOperator<S>& matrix, std::span<const FieldView<const S>> x,
                  std::span<const RowStore<S>> y, Reduction<S>* reduction, const Stream& stream) {
  const auto product = y.front().result == RowResult::dotted ? product_cpu<E, S, RowResult::dotted>
                                                             : product_cpu<E, S, RowResult::scaled>;
  product(matrix, x, y, reduction, stream);
}

}  // namespace heddle::detail
