// How an operation walks over a field: group by group of 256 rows, and within each over runs of
// evenly spaced elements of a coefficient ring.
#pragma once

#include <algorithm>
#include <array>

#include "heddle/detail/reduction.hpp"
#include "heddle/field.hpp"
#include "heddle/methods/coefficient.hpp"
#include "heddle/tools/team.hpp"

namespace heddle::detail {

/// The layout of elements with several components: one after another (an AoS field), in planes of
/// components (an SoA field), or either, as the run says.
enum class RunKind { aos, soa, either };

template <Ring R, RunKind kind>
struct Run {
  static constexpr int size = ring_size(R);
  Offset first;
  Offset count;
  Offset step;   // to the next element
  Offset plane;  // to the next component

  Offset at(Offset i, int c) const {
    if constexpr (size == 1) return first + i;
    if constexpr (kind == RunKind::aos) return first + i * size + c;
    if constexpr (kind == RunKind::soa) return first + i + c * plane;
    return first + i * step + c * plane;
  }
};

/// Real elements lie the same way in all fields, and long double is not worth two copies of each
/// loop: in both cases `body` sees one type of run.
template <Ring R, class S, class Body>
void for_each_run(const FieldView<S>& field, Index group, Body& body) {
  constexpr int size = ring_size(R);
  constexpr bool one_kind = size == 1 || std::is_same_v<std::remove_const_t<S>, long double>;
  constexpr RunKind aos = one_kind ? RunKind::either : RunKind::aos;
  constexpr RunKind soa = one_kind ? RunKind::either : RunKind::soa;
  const Offset row = Offset(group) * rows_of_group;
  const Offset rows = std::min<Offset>(rows_of_group, field.size - row);
  if (field.is_aos()) {
    body(Run<R, aos>{row * field.components, rows * (field.components / size), size, 1});
  } else {
    for (int element = 0; element < field.components / size; ++element) {
      body(Run<R, soa>{Offset(element) * size * field.size + row, rows, 1, field.size});
    }
  }
}

/// Throws `Error` (unsupported) for a GPU: fields that come here have no kernels.
template <class S, class Body>
void for_each_group(const FieldView<S>& field, const Stream& stream, const Body& body) {
  if (stream.on_gpu()) {
    throw Error(ErrorKind::unsupported,
                "fields on a GPU need float or double, and a heddle built with CUDA");
  }
  parallel_for(team_size(stream, field.scalars()), groups_of(field.size),
               [&](Index group) { body(group); });
}

/// Prefetches the lines of every array that hold the elements `distance` bytes after place i.
template <int elements, class Run, class... Data>
void prefetch_ahead(const Run& run, Offset i, Offset distance, const Data*... data) {
  constexpr Offset line = 64;
  [[maybe_unused]] const auto prefetch = [&](const auto* array) {
    constexpr Offset bytes = sizeof(*array) * Run::size * elements;
    const char* begin = reinterpret_cast<const char*>(array + run.at(i, 0)) + distance;
    for (Offset byte = 0; byte < bytes; byte += line) __builtin_prefetch(begin + byte);
  };
  (prefetch(data), ...);
}

/// Calls `body(run, i)` for every element, with the arrays that it walks over prefetched.
template <Ring R, class S, class Body, class... Data>
void for_each_element(const FieldView<S>& field, const Stream& stream, Body body,
                      const Data*... data) {
  constexpr int block = 8;
  const Offset distance = prefetch_distance(field);
  for_each_group(field, stream, [&](Index group) {
    const auto over_run = [&](const auto& run) {
      Offset i = 0;
      for (; i + block <= run.count; i += block) {
        prefetch_ahead<block>(run, i, distance, data...);
        for (int k = 0; k < block; ++k) body(run, i + k);
      }
      for (; i < run.count; ++i) body(run, i);
    };
    for_each_run<R>(field, group, over_run);
  });
}

/// Adds what `term(i, sums)` adds for i < count, in independent lanes joined by a tree; `ahead(i)`
/// is called before each `lanes_of_sums<N>` terms.
template <int N>
inline constexpr int lanes_of_sums = N <= 2 ? 8 : 2;

template <class T, int N, class Term, class Ahead>
std::array<T, N> sum_over(Offset count, const Term& term, const Ahead& ahead) {
  constexpr int lanes = lanes_of_sums<N>;
  T sums[lanes][N] = {};
  Offset i = 0;
  for (; i + lanes <= count; i += lanes) {
    ahead(i);
    for (int lane = 0; lane < lanes; ++lane) term(i + lane, sums[lane]);
  }
  for (int lane = 0; i + lane < count; ++lane) term(i + lane, sums[lane]);
  for (int half = lanes / 2; half > 0; half /= 2) {
    for (int lane = 0; lane < half; ++lane) {
      for (int v = 0; v < N; ++v) sums[lane][v] += sums[lane + half][v];
    }
  }
  std::array<T, N> total;
  for (int v = 0; v < N; ++v) total[static_cast<std::size_t>(v)] = sums[0][v];
  return total;
}

template <class S, class Field>
void check_reduction(const Reduction<S>& reduction, const FieldView<Field>& field,
                     const Stream& stream) {
  if (reduction.groups() != groups_of(field.size)) {
    throw Error(ErrorKind::size_mismatch,
                "the reduction has a different number of rows than the field's " +
                    std::to_string(field.size));
  }
  const Stream& own = reduction.device().stream();
  if (own.gpu != stream.gpu || own.queue != stream.queue) {
    throw Error(ErrorKind::usage,
                "the reduction was made for a device or stream other than the fields'");
  }
}

/// N sums over all elements of a field; `term(run, i, sums)` may also update what it reads. `data`
/// are the arrays that it walks over.
template <Ring R, int N, class S, class Field, class Term, class... Data>
std::array<sum_t<S>, Reduction<S>::width> reduce(const FieldView<Field>& field,
                                                 Reduction<S>& reduction, const Stream& stream,
                                                 const Term& term, const Data*... data) {
  static_assert(N <= Reduction<S>::width);
  using T = sum_t<S>;
  check_reduction(reduction, field, stream);
  const Offset distance = prefetch_distance(field);
  for_each_group(field, stream, [&](Index group) {
    std::array<T, N> sums{};
    const auto over_run = [&](const auto& run) {
      const auto of_run = sum_over<T, N>(
          run.count, [&](Offset i, T* into) { term(run, i, into); },
          [&](Offset i) { prefetch_ahead<lanes_of_sums<N>>(run, i, distance, data...); });
      for (int v = 0; v < N; ++v) {
        sums[static_cast<std::size_t>(v)] += of_run[static_cast<std::size_t>(v)];
      }
    };
    for_each_run<R>(field, group, over_run);
    std::copy(sums.begin(), sums.end(), reduction.partials(group));
  });
  return reduction.finish(N);
}

/// The element at a run's place i.
template <Ring R, class S, class Run>
Coefficient<R, std::remove_const_t<S>> element(S* data, const Run& run, Offset i) {
  Coefficient<R, std::remove_const_t<S>> e;
  for (int c = 0; c < e.size; ++c) e.component[c] = data[run.at(i, c)];
  return e;
}

template <Ring R, class S, class Run>
void set_element(S* data, const Run& run, Offset i, const Coefficient<R, S>& value) {
  for (int c = 0; c < value.size; ++c) data[run.at(i, c)] = value.component[c];
}

/// The element at a run's place i, as operations see chunks of fields (kernels/chunks.hpp).
template <Ring R, class S, class Run>
struct ElementChunk {
  struct Values {
    Coefficient<R, S> at[1];
  };
  static constexpr int elements = 1;
  static constexpr int count = 1;

  Run run;
  Offset place;
  Offset first = run.at(place, 0);  // scalar

  HEDDLE_INLINE Values load(const S* data) const { return {{element<R>(data, run, place)}}; }
  HEDDLE_INLINE void store(S* data, const Values& values) const {
    set_element<R>(data, run, place, values.at[0]);
  }
};

}  // namespace heddle::detail
