#include "heddle/vector_operations.hpp"

#include <algorithm>
#include <cmath>

#include "base/device_cuda.hpp"
#include "fits_in_place.hpp"
#include "heddle/config.hpp"
#include "heddle/detail/groups.hpp"
#include "random_factor.hpp"
#include "vector_operations_cuda.hpp"

namespace heddle {

namespace {

template <class S, class U>
void check_one_basis(const FieldView<S>& a, const FieldView<U>& b, const char* what) {
  if (!detail::in_basis(a.basis, b.basis)) {
    throw Error(ErrorKind::size_mismatch,
                std::string(what) + ": the fields are in different bases");
  }
}

/// Rows may be taken in any order, so fields that share memory must be identical.
template <class S, class U>
void check_same_or_apart(const FieldView<S>& x, const FieldView<U>& y) {
  const bool same = x.data == y.data && x.entry_stride == y.entry_stride &&
                    x.component_stride == y.component_stride;
  if (!same) check_apart(x, y, "x", "y");
}

/// Throws `Error` unless one loop may walk the fields with one index.
template <class S, class U>
void check_same_layout(const FieldView<S>& a, const FieldView<U>& b, const char* what) {
  check_same_shape(a, b, what);
  if (a.entry_stride != b.entry_stride || a.component_stride != b.component_stride ||
      !(a.is_aos() || a.is_soa())) {
    throw Error(ErrorKind::size_mismatch,
                std::string(what) + ": the fields differ in layout; copy one first");
  }
  check_one_basis(a, b, what);
}

template <Ring R, class S>
void check_ring(const FieldView<S>& field, const char* what) {
  if (field.components % ring_size(R) != 0) {
    throw Error(ErrorKind::size_mismatch,
                std::string(what) + ": coefficients of " + std::to_string(ring_size(R)) +
                    " components do not act on " + std::to_string(field.components));
  }
}

template <class S>
inline constexpr bool has_kernels = has_cuda && !std::is_same_v<S, long double>;

/// A kernel that reads the host's memory would end the process's use of the GPU.
template <class... Fields>
void check_on_gpu(const Stream& stream, const char* what, const Fields&... fields) {
  const auto check = [&](const auto& field) {
    if (field.scalars() > 0 && !cuda::is_device_memory(field.data, stream)) {
      throw Error(
          ErrorKind::usage,
          std::string(what) +
              ": a field in the host's memory is used on a GPU's stream; copy it there first");
    }
  };
  (check(fields), ...);
}

/// Room for an operation over ring R. If ranks share the rows, each group of rows has its own sums.
template <Ring R, class S, class Field>
DeviceSums space_on_gpu(const FieldView<Field>& field, Reduction<S>& reduction,
                        const Stream& stream) {
  if (stream.share == nullptr) return reduction.space(cuda::partials_of<R>(field));
  if (!field.is_aos()) {
    throw Error(ErrorKind::usage, "ranks on GPUs share fields of type aos");
  }
  return reduction.space(std::max<Index>(1, groups_of(field.size)));
}

/// The first `count` of the sums that `launch(space)` leaves.
template <Ring R, class S, class Field, class Launch>
auto sums_on_gpu(const FieldView<Field>& field, Reduction<S>& reduction, int count,
                 const Stream& stream, const Launch& launch) {
  detail::check_reduction(reduction, field, stream);
  launch(space_on_gpu<R>(field, reduction, stream));
  return reduction.finish(count);
}

/// The first of the sums as a number of the ring.
template <Ring R, class Sums>
auto coefficient_of(const Sums& sums) {
  Coefficient<R, typename Sums::value_type> c;
  std::copy_n(sums.begin(), c.size, c.component);
  return c;
}

/// Runs an operation without sums on every element of y and of the other fields.
template <Ring R, class S, class Operation, class... Fields>
void run(const char* what, const Operation& operation, const FieldView<S>& y, const Stream& stream,
         const Fields&... others) {
  if constexpr (has_kernels<S>) {
    if (stream.on_gpu()) {
      check_on_gpu(stream, what, others..., y);
      return cuda::run<R>(operation, y, stream);
    }
  }
  detail::for_each_element<R>(y, stream, [operation](const auto& run, Offset i) {
    operation(detail::ElementChunk<R, S, std::decay_t<decltype(run)>>{run, i},
              static_cast<S*>(nullptr));
  });
}

template <class S, class Body>
void for_each_row(const FieldView<S>& field, const Stream& stream, const Body& body) {
  detail::for_each_group(field, stream, [&](Index group) {
    const Offset first = Offset(group) * rows_of_group;
    const auto last = static_cast<Index>(std::min<Offset>(field.size, first + rows_of_group));
    for (auto row = static_cast<Index>(first); row < last; ++row) body(row);
  });
}

/// Throws `Error` unless the stream's share, if it has one, is of the field's rows in their order.
template <class S>
void check_shared(const FieldView<S>& x, const Stream& stream, const char* what) {
  const RowShare* const share = stream.share;
  if (share == nullptr) return;
  if (x.size != share->rows()) {
    throw Error(ErrorKind::size_mismatch, std::string(what) + ": a field of " +
                                              std::to_string(x.size) + " rows, but this rank has " +
                                              std::to_string(share->rows()));
  }
  if (x.basis && !x.basis->is_natural()) return;
  for (Index group = 1; group < groups_of(x.size); ++group) {
    if (share->place_of_group(group) > share->place_of_group(group - 1)) continue;
    throw Error(ErrorKind::usage, std::string(what) +
                                      ": the field is in natural order, but the operator that "
                                      "shares its rows has a basis; `permute` takes it there");
  }
}
template <class S>
void check_joins(const Reduction<S>& reduction, const Stream& stream) {
  if (reduction.device().stream().share == stream.share) return;
  throw Error(ErrorKind::usage, "the reduction joins ranks other than those of the fields' stream");
}

Device device_of(const Stream& gpu) {
  return Device::cuda(gpu.gpu, gpu.queue, gpu.memory).sharing(gpu.share);
}

/// Uses the factors that one process would take for all rows. On a GPU it goes through the host,
/// because solves need few such fields.
template <class S>
void randomize_shared(unsigned long long seed, const FieldView<S>& y, const Stream& stream) {
  check_shared(y, stream, "randomize");
  if (y.scalars() == 0) return;
  if (stream.on_gpu()) {
    const auto bytes = static_cast<std::size_t>(y.scalars()) * sizeof(S);
    Array<S> scalars(static_cast<std::size_t>(y.scalars()));
    detail::copy_bytes(scalars.data(), y.data, bytes, stream);
    FieldView<S> on_host = y;
    on_host.data = scalars.data();
    randomize_shared(seed, on_host, Device::cpu(stream.threads).sharing(stream.share).stream());
    return detail::copy_bytes(y.data, scalars.data(), bytes, stream);
  }
  const long long all = stream.share->all_rows();
  detail::for_each_group(y, stream, [&](Index group) {
    const Offset first = Offset(group) * rows_of_group;
    const Offset first_of_all = stream.share->place_of_group(group) * rows_of_group;
    const auto last = static_cast<Index>(std::min<Offset>(y.size, first + rows_of_group));
    for (auto row = static_cast<Index>(first); row < last; ++row) {
      // By the row's place in storage, as in one process, whose groups have the same order.
      const Offset row_of_all = first_of_all + row - first;
      for (int k = 0; k < y.components; ++k) {
        const Offset place = y.is_aos() ? row_of_all * y.components + k : k * all + row_of_all;
        y.at(row, k) *=
            static_cast<S>(detail::random_factor_at(static_cast<unsigned long long>(place), seed));
      }
    }
  });
}

}  // namespace

template <class S>
void axpby(S alpha, const FieldView<const S>& x, S beta, const FieldView<S>& y,
           const Stream& stream) {
  axpby(Coefficient<Ring::real, S>{{alpha}}, x, Coefficient<Ring::real, S>{{beta}}, y, stream);
}

template <class S, Ring R>
void axpby(const Coefficient<R, S>& alpha, const FieldView<const S>& x,
           const Coefficient<R, S>& beta, const FieldView<S>& y, const Stream& stream) {
  check_same_layout(x, y, "axpby");
  check_ring<R>(x, "axpby");
  run<R>("axpby", cuda::Axpby<R, S>{alpha, x.data, beta, y.data}, y, stream, x);
}

template <class S>
void fill(S value, const FieldView<S>& y, const Stream& stream) {
  check_same_layout(y, y, "fill");
  run<Ring::real>("fill", cuda::Fill<S>{value, y.data}, y, stream);
}

template <class S>
void scale(S alpha, const FieldView<S>& y, const Stream& stream) {
  check_same_layout(y, y, "scale");
  run<Ring::real>("scale", cuda::Scale<S>{alpha, y.data}, y, stream);
}

template <class S>
void copy(const FieldView<const S>& x, const FieldView<S>& y, const Stream& stream) {
  check_same_shape(x, y, "copy");
  check_one_basis(x, y, "copy");
  check_same_or_apart(x, y);
  if constexpr (has_kernels<S>) {
    if (stream.on_gpu()) return cuda::transfer<S>(x, y, S(1), stream);
  }
  for_each_row(y, stream, [&](Index row) {
    for (int k = 0; k < y.components; ++k) y.at(row, k) = x.at(row, k);
  });
}

template <class S>
void permute(const FieldView<const S>& x, const FieldView<S>& y, S scale, const Stream& stream) {
  check_same_shape(x, y, "permute");
  for (const auto& basis : {x.basis.get(), y.basis.get()}) {
    if (basis != nullptr && basis->size() != x.size) {
      throw Error(ErrorKind::size_mismatch, "permute: a field of " + std::to_string(x.size) +
                                                " rows does not fit a basis of " +
                                                std::to_string(basis->size()));
    }
  }
  const bool natural_x = !x.basis || x.basis->is_natural();
  const bool natural_y = !y.basis || y.basis->is_natural();
  natural_x&& natural_y ? check_same_or_apart(x, y) : check_apart(x, y, "x", "y");
  if constexpr (has_kernels<S>) {
    if (stream.on_gpu()) return cuda::transfer<S>(x, y, scale, stream);
  }
  for_each_row(y, stream, [&](Index row) {
    const Index user_row = y.basis ? y.basis->user_row(row) : row;
    const Index source = x.basis ? x.basis->position(user_row) : user_row;
    for (int k = 0; k < y.components; ++k) y.at(row, k) = scale * x.at(source, k);
  });
}

template <Ring R, class S>
Coefficient<R, sum_t<S>> dot(const FieldView<const S>& x, const FieldView<const S>& y,
                             Reduction<S>& reduction, const Stream& stream) {
  check_same_layout(x, y, "dot");
  check_ring<R>(x, "dot");
  check_joins(reduction, stream);
  constexpr int size = ring_size(R);
  if constexpr (has_kernels<S>) {
    if (stream.on_gpu()) {
      check_on_gpu(stream, "dot", x, y);
      const auto sums = sums_on_gpu<R>(x, reduction, size, stream, [&](const DeviceSums& to) {
        cuda::dot<R, S>(x, y, to, stream);
      });
      return coefficient_of<R>(sums);
    }
  }
  const auto sums = detail::reduce<R, size>(
      x, reduction, stream,
      [operation = cuda::Dot<R, S>{x.data, y.data}](const auto& run, Offset i, sum_t<S>* into) {
        operation(detail::ElementChunk<R, S, std::decay_t<decltype(run)>>{run, i}, into);
      },
      x.data, y.data);
  return coefficient_of<R>(sums);
}

template <class S>
sum_t<S> real_dot(const FieldView<const S>& x, const FieldView<const S>& y, Reduction<S>& reduction,
                  const Stream& stream) {
  return dot<Ring::real>(x, y, reduction, stream).real();
}

template <class S>
sum_t<S> dot(const FieldView<const S>& x, const FieldView<const S>& y, const Stream& stream) {
  check_shared(x, stream, "dot");
  Reduction<S> reduction(x.size,
                         stream.on_gpu() ? device_of(stream) : Device::cpu().sharing(stream.share));
  return real_dot(x, y, reduction, stream);
}

template <class S>
sum_t<S> norm(const FieldView<const S>& x, const Stream& stream) {
  return std::sqrt(dot(x, x, stream));
}

template <class S>
sum_t<S> largest_magnitude(const FieldView<const S>& x, Reduction<S>& reduction,
                           const Stream& stream) {
  check_same_layout(x, x, "largest_magnitude");
  check_joins(reduction, stream);
  detail::check_reduction(reduction, x, stream);
  if constexpr (has_kernels<S>) {
    if (stream.on_gpu()) {
      check_on_gpu(stream, "largest_magnitude", x);
      cuda::largest_magnitude<S>(x, space_on_gpu<Ring::real>(x, reduction, stream), stream);
      return reduction.finish_largest();
    }
  }
  detail::for_each_group(x, stream, [&](Index group) {
    sum_t<S> largest = 0;
    const auto over_run = [&](const auto& run) {
      for (Offset i = 0; i < run.count; ++i) {
        largest = Reduction<S>::larger(largest, std::abs(sum_t<S>(x.data[run.at(i, 0)])));
      }
    };
    detail::for_each_run<Ring::real>(x, group, over_run);
    *reduction.partials(group) = largest;
  });
  return reduction.finish_largest();
}

template <class S>
void randomize(const FieldView<S>& y, unsigned long long seed, const Stream& stream) {
  check_same_layout(y, y, "randomize");
  if (stream.share != nullptr) return randomize_shared(seed, y, stream);
  run<Ring::real>("randomize", cuda::Randomize<S>{seed, y.data}, y, stream);
}

// Real coefficients serve every field; other rings are instantiated where solvers need them.
#define HEDDLE_INSTANTIATE_RING(R, S)                                                         \
  template void axpby(const Coefficient<R, S>&, const FieldView<const S>&,                    \
                      const Coefficient<R, S>&, const FieldView<S>&, const Stream&);          \
  template Coefficient<R, sum_t<S>> dot(const FieldView<const S>&, const FieldView<const S>&, \
                                        Reduction<S>&, const Stream&);
#define HEDDLE_INSTANTIATE(S)                                                                     \
  template void axpby(S, const FieldView<const S>&, S, const FieldView<S>&, const Stream&);       \
  template void fill(S, const FieldView<S>&, const Stream&);                                      \
  template void scale(S, const FieldView<S>&, const Stream&);                                     \
  template void copy(const FieldView<const S>&, const FieldView<S>&, const Stream&);              \
  template void permute(const FieldView<const S>&, const FieldView<S>&, S, const Stream&);        \
  template sum_t<S> real_dot(const FieldView<const S>&, const FieldView<const S>&, Reduction<S>&, \
                             const Stream&);                                                      \
  template sum_t<S> dot(const FieldView<const S>&, const FieldView<const S>&, const Stream&);     \
  template sum_t<S> norm(const FieldView<const S>&, const Stream&);                               \
  template sum_t<S> largest_magnitude(const FieldView<const S>&, Reduction<S>&, const Stream&);   \
  template void randomize(const FieldView<S>&, unsigned long long, const Stream&);                \
  HEDDLE_INSTANTIATE_RING(Ring::real, S)                                                          \
  HEDDLE_INSTANTIATE_RING(Ring::complex, S)                                                       \
  HEDDLE_INSTANTIATE_RING(Ring::quaternion, S)
HEDDLE_INSTANTIATE(float)
HEDDLE_INSTANTIATE(double)
HEDDLE_INSTANTIATE(long double)

}  // namespace heddle
