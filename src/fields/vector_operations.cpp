#include "heddle/vector_operations.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "../base/device_cuda.hpp"
#include "groups.hpp"
#include "heddle/config.hpp"
#include "random_factor.hpp"
#include "transfer_cuda.hpp"
#include "vector_operations_cuda.hpp"

namespace heddle {

namespace {

template <class S, class U>
void check_one_basis(const FieldView<S>& a, const FieldView<U>& b, const char* what) {
  const bool natural_a = !a.basis || a.basis->is_natural();
  const bool natural_b = !b.basis || b.basis->is_natural();
  if (natural_a != natural_b || (!natural_a && !same_basis(*a.basis, *b.basis))) {
    throw Error(ErrorKind::size_mismatch, std::string(what) + ": the fields live in two bases");
  }
}

/// Rows may be taken in any order: fields that share memory must be one and the same.
template <class S, class U>
void check_same_or_apart(const FieldView<S>& x, const FieldView<U>& y) {
  const bool same = x.data == y.data && x.entry_stride == y.entry_stride &&
                    x.component_stride == y.component_stride;
  if (!same) check_apart(x, y, "x", "y");
}

/// Fields that one loop may walk with one index.
template <class S, class U>
void check_alike(const FieldView<S>& a, const FieldView<U>& b, const char* what) {
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
      throw Error(ErrorKind::usage, std::string(what) +
                                        ": a field in the host's memory meets a GPU's stream; "
                                        "copy it there first");
    }
  };
  (check(fields), ...);
}

/// The first `count` of the sums that `launch(space)` leaves.
template <Ring R, class S, class Field, class Launch>
auto sums_on_gpu(const FieldView<Field>& field, Reduction<S>& reduction, int count,
                 const Stream& stream, const Launch& launch) {
  detail::check_reduction(reduction, field, stream);
  launch(reduction.space(cuda::partials_of<R>(field)));
  return reduction.finish(count);
}

/// Sums from `at` on as a number of the ring.
template <Ring R, class Sums>
auto coefficient_at(const Sums& sums, int at) {
  Coefficient<R, typename Sums::value_type> c;
  std::copy_n(sums.begin() + at, c.size, c.component);
  return c;
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
  check_alike(x, y, "axpby");
  check_ring<R>(x, "axpby");
  if constexpr (has_kernels<S>) {
    if (stream.on_gpu()) {
      check_on_gpu(stream, "axpby", x, y);
      return cuda::axpby<R, S>(alpha, x, beta, y, stream);
    }
  }
  // Not by the norm: the square of a small coefficient underflows.
  const bool reads_y = std::any_of(std::begin(beta.component), std::end(beta.component),
                                   [](S c) { return c != S(0); });
  detail::for_each_element<R>(y, stream, [&](const auto& run, Offset i) {
    Coefficient<R, S> sum = detail::element<R>(x.data, run, i) * alpha;
    if (reads_y) {
      const auto old = detail::element<R>(y.data, run, i);
      multiply_add_at<R>(sum.component, old.component, beta.component);
    }
    detail::set_element<R>(y.data, run, i, sum);
  });
}

template <class S>
void fill(S value, const FieldView<S>& y, const Stream& stream) {
  check_alike(y, y, "fill");
  if constexpr (has_kernels<S>) {
    if (stream.on_gpu()) {
      check_on_gpu(stream, "fill", y);
      return cuda::fill<S>(value, y, stream);
    }
  }
  detail::for_each_element<Ring::real>(
      y, stream, [&](const auto& run, Offset i) { y.data[run.at(i, 0)] = value; });
}

template <class S>
void scale(S alpha, const FieldView<S>& y, const Stream& stream) {
  check_alike(y, y, "scale");
  if constexpr (has_kernels<S>) {
    if (stream.on_gpu()) {
      check_on_gpu(stream, "scale", y);
      return cuda::scale<S>(alpha, y, stream);
    }
  }
  detail::for_each_element<Ring::real>(
      y, stream, [&](const auto& run, Offset i) { y.data[run.at(i, 0)] *= alpha; });
}

template <class S>
void copy(const FieldView<const S>& x, const FieldView<S>& y, const Stream& stream) {
  check_same_shape(x, y, "copy");
  check_one_basis(x, y, "copy");
  check_same_or_apart(x, y);
  if constexpr (has_kernels<S>) {
    if (stream.on_gpu()) return cuda::transfer<S>(x, y, S(1), stream);
  }
  detail::for_each_group(y, stream, [&](Index group) {
    const Index first = group * rows_of_group;
    const Index last = static_cast<Index>(std::min<Offset>(y.size, Offset(first) + rows_of_group));
    for (Index row = first; row < last; ++row) {
      for (int k = 0; k < y.components; ++k) y.at(row, k) = x.at(row, k);
    }
  });
}

template <class S>
void permute(const FieldView<const S>& x, const FieldView<S>& y, S scale, const Stream& stream) {
  check_same_shape(x, y, "permute");
  for (const auto& basis : {x.basis.get(), y.basis.get()}) {
    if (basis != nullptr && basis->size() != x.size) {
      throw Error(ErrorKind::size_mismatch, "permute: a field of " + std::to_string(x.size) +
                                                " rows in a basis of " +
                                                std::to_string(basis->size()));
    }
  }
  const bool natural_x = !x.basis || x.basis->is_natural();
  const bool natural_y = !y.basis || y.basis->is_natural();
  natural_x&& natural_y ? check_same_or_apart(x, y) : check_apart(x, y, "x", "y");
  if constexpr (has_kernels<S>) {
    if (stream.on_gpu()) return cuda::transfer<S>(x, y, scale, stream);
  }
  detail::for_each_group(y, stream, [&](Index group) {
    const Index first = group * rows_of_group;
    const Index last = static_cast<Index>(std::min<Offset>(y.size, Offset(first) + rows_of_group));
    for (Index row = first; row < last; ++row) {
      const Index user_row = y.basis ? y.basis->user_row(row) : row;
      const Index source = x.basis ? x.basis->position(user_row) : user_row;
      for (int k = 0; k < y.components; ++k) y.at(row, k) = scale * x.at(source, k);
    }
  });
}

template <Ring R, class S>
Coefficient<R, sum_t<S>> dot(const FieldView<const S>& x, const FieldView<const S>& y,
                             Reduction<S>& reduction, const Stream& stream) {
  check_alike(x, y, "dot");
  check_ring<R>(x, "dot");
  constexpr int size = ring_size(R);
  if constexpr (has_kernels<S>) {
    if (stream.on_gpu()) {
      check_on_gpu(stream, "dot", x, y);
      const auto sums = sums_on_gpu<R>(x, reduction, size, stream, [&](const DeviceSums& to) {
        cuda::dot<R, S>(x, y, to, stream);
      });
      return coefficient_at<R>(sums, 0);
    }
  }
  const auto sums = detail::reduce<R, size>(
      x, reduction, stream,
      [&](const auto& run, Offset i, sum_t<S>* into) {
        add_conjugate_product<R>(detail::element<R>(x.data, run, i),
                                 detail::element<R>(y.data, run, i), into);
      },
      x.data, y.data);
  return coefficient_at<R>(sums, 0);
}

template <class S>
sum_t<S> real_dot(const FieldView<const S>& x, const FieldView<const S>& y, Reduction<S>& reduction,
                  const Stream& stream) {
  return dot<Ring::real>(x, y, reduction, stream).real();
}

template <class S>
sum_t<S> dot(const FieldView<const S>& x, const FieldView<const S>& y, const Stream& stream) {
  Reduction<S> reduction(x.size, stream.on_gpu()
                                     ? Device::cuda(stream.gpu, stream.queue, stream.memory)
                                     : Device::cpu());
  return real_dot(x, y, reduction, stream);
}

template <class S>
sum_t<S> norm(const FieldView<const S>& x, const Stream& stream) {
  return std::sqrt(dot(x, x, stream));
}

template <class S>
sum_t<S> largest_magnitude(const FieldView<const S>& x, Reduction<S>& reduction,
                           const Stream& stream) {
  check_alike(x, x, "largest_magnitude");
  if constexpr (has_kernels<S>) {
    if (stream.on_gpu()) {
      check_on_gpu(stream, "largest_magnitude", x);
      return sums_on_gpu<Ring::real>(x, reduction, 1, stream, [&](const DeviceSums& to) {
        cuda::largest_magnitude<S>(x, to, stream);
      })[0];
    }
  }
  sum_t<S> largest = 0;
  for (Offset i = 0; i < x.scalars(); ++i) {
    const sum_t<S> magnitude = std::abs(static_cast<sum_t<S>>(x.data[i]));
    if (std::isnan(magnitude)) return magnitude;
    largest = std::max(largest, magnitude);
  }
  return largest;
}

template <class S>
void randomize(const FieldView<S>& y, unsigned long long seed, const Stream& stream) {
  check_alike(y, y, "randomize");
  if constexpr (has_kernels<S>) {
    if (stream.on_gpu()) {
      check_on_gpu(stream, "randomize", y);
      return cuda::randomize<S>(y, seed, stream);
    }
  }
  detail::for_each_element<Ring::real>(y, stream, [&](const auto& run, Offset i) {
    const Offset at = run.at(i, 0);
    y.data[at] *=
        static_cast<S>(detail::random_factor_at(static_cast<unsigned long long>(at), seed));
  });
}

template <class S>
sum_t<S> update_residual(S alpha, const FieldView<const S>& q, const FieldView<S>& r,
                         Reduction<S>& reduction, const Stream& stream) {
  check_alike(q, r, "update_residual");
  if constexpr (has_kernels<S>) {
    if (stream.on_gpu()) {
      check_on_gpu(stream, "update_residual", q, r);
      return sums_on_gpu<Ring::real>(r, reduction, 1, stream, [&](const DeviceSums& to) {
        cuda::update_residual<S>(alpha, q, r, to, stream);
      })[0];
    }
  }
  return detail::reduce<Ring::real, 1>(
      r, reduction, stream,
      [&](const auto& run, Offset i, sum_t<S>* into) {
        const Offset at = run.at(i, 0);
        const S value = r.data[at] - alpha * q.data[at];
        r.data[at] = value;
        into[0] += sum_t<S>(value) * value;
      },
      q.data, r.data)[0];
}

template <class S>
void update_solution_and_direction(S alpha, const FieldView<S>& x, S beta,
                                   const FieldView<const S>& z, const FieldView<S>& p,
                                   const Stream& stream) {
  check_alike(x, p, "update_solution_and_direction");
  check_alike(z, p, "update_solution_and_direction");
  if constexpr (has_kernels<S>) {
    if (stream.on_gpu()) {
      check_on_gpu(stream, "update_solution_and_direction", x, z, p);
      return cuda::update_solution_and_direction<S>(alpha, x, beta, z, p, stream);
    }
  }
  detail::for_each_element<Ring::real>(
      p, stream,
      [&](const auto& run, Offset i) {
        const Offset at = run.at(i, 0);
        const S direction = p.data[at];
        x.data[at] += alpha * direction;
        p.data[at] = z.data[at] + beta * direction;
      },
      x.data, z.data, p.data);
}

template <Ring R, class S>
void update_direction(const FieldView<const S>& r, const FieldView<const S>& v,
                      const Coefficient<R, S>& omega, const Coefficient<R, S>& beta,
                      const FieldView<S>& p, const Stream& stream) {
  check_alike(r, p, "update_direction");
  check_alike(v, p, "update_direction");
  check_ring<R>(p, "update_direction");
  if constexpr (has_kernels<S>) {
    if (stream.on_gpu()) {
      check_on_gpu(stream, "update_direction", r, v, p);
      return cuda::update_direction<R, S>(r, v, omega, beta, p, stream);
    }
  }
  const Coefficient<R, S> minus_omega_beta = -(omega * beta);
  detail::for_each_element<R>(
      p, stream,
      [&](const auto& run, Offset i) {
        Coefficient<R, S> sum = detail::element<R>(r.data, run, i);
        const auto old = detail::element<R>(p.data, run, i);
        const auto image = detail::element<R>(v.data, run, i);
        multiply_add_at<R>(sum.component, old.component, beta.component);
        multiply_add_at<R>(sum.component, image.component, minus_omega_beta.component);
        detail::set_element<R>(p.data, run, i, sum);
      },
      r.data, v.data, p.data);
}

template <Ring R, class S>
sum_t<S> half_step(const FieldView<const S>& v, const Coefficient<R, S>& alpha,
                   const FieldView<S>& r, Reduction<S>& reduction, const Stream& stream) {
  check_alike(v, r, "half_step");
  check_ring<R>(r, "half_step");
  if constexpr (has_kernels<S>) {
    if (stream.on_gpu()) {
      check_on_gpu(stream, "half_step", v, r);
      return sums_on_gpu<R>(r, reduction, 1, stream, [&](const DeviceSums& to) {
        cuda::half_step<R, S>(v, alpha, r, to, stream);
      })[0];
    }
  }
  const Coefficient<R, S> minus_alpha = -alpha;
  return detail::reduce<R, 1>(
      r, reduction, stream,
      [&](const auto& run, Offset i, sum_t<S>* into) {
        Coefficient<R, S> s = detail::element<R>(r.data, run, i);
        const auto image = detail::element<R>(v.data, run, i);
        multiply_add_at<R>(s.component, image.component, minus_alpha.component);
        detail::set_element<R>(r.data, run, i, s);
        for (S c : s.component) into[0] += sum_t<S>(c) * c;
      },
      v.data, r.data)[0];
}

template <Ring R, class S>
std::pair<Coefficient<R, sum_t<S>>, sum_t<S>> dot_and_norm(const FieldView<const S>& t,
                                                           const FieldView<const S>& s,
                                                           Reduction<S>& reduction,
                                                           const Stream& stream) {
  check_alike(t, s, "dot_and_norm");
  check_ring<R>(s, "dot_and_norm");
  constexpr int size = ring_size(R);
  if constexpr (has_kernels<S>) {
    if (stream.on_gpu()) {
      check_on_gpu(stream, "dot_and_norm", t, s);
      const auto sums = sums_on_gpu<R>(s, reduction, size + 1, stream, [&](const DeviceSums& to) {
        cuda::dot_and_norm<R, S>(t, s, to, stream);
      });
      return {coefficient_at<R>(sums, 0), sums[size]};
    }
  }
  const auto sums = detail::reduce<R, size + 1>(
      s, reduction, stream,
      [&](const auto& run, Offset i, sum_t<S>* into) {
        const auto image = detail::element<R>(t.data, run, i);
        add_conjugate_product<R>(image, detail::element<R>(s.data, run, i), into);
        for (S c : image.component) into[size] += sum_t<S>(c) * c;
      },
      t.data, s.data);
  return {coefficient_at<R>(sums, 0), sums[size]};
}

template <Ring R, class S>
std::pair<sum_t<S>, Coefficient<R, sum_t<S>>> full_step(
    const FieldView<const S>& p, const Coefficient<R, S>& alpha, const FieldView<const S>& s,
    const Coefficient<R, S>& omega, const FieldView<const S>& t, const FieldView<const S>& shadow,
    const FieldView<S>& x, const FieldView<S>& r, Reduction<S>& reduction, const Stream& stream) {
  for (const auto* field : {&p, &s, &t, &shadow}) check_alike(*field, r, "full_step");
  check_alike(x, r, "full_step");
  check_ring<R>(r, "full_step");
  constexpr int size = ring_size(R);
  if constexpr (has_kernels<S>) {
    if (stream.on_gpu()) {
      check_on_gpu(stream, "full_step", p, s, t, shadow, x, r);
      const auto sums = sums_on_gpu<R>(r, reduction, size + 1, stream, [&](const DeviceSums& to) {
        cuda::full_step<R, S>(p, alpha, s, omega, t, shadow, x, r, to, stream);
      });
      return {sums[0], coefficient_at<R>(sums, 1)};
    }
  }
  const Coefficient<R, S> minus_omega = -omega;
  const auto sums = detail::reduce<R, size + 1>(
      r, reduction, stream,
      [&](const auto& run, Offset i, sum_t<S>* into) {
        Coefficient<R, S> solution = detail::element<R>(x.data, run, i);
        const auto along_p = detail::element<R>(p.data, run, i);
        const auto along_s = detail::element<R>(s.data, run, i);
        multiply_add_at<R>(solution.component, along_p.component, alpha.component);
        multiply_add_at<R>(solution.component, along_s.component, omega.component);
        detail::set_element<R>(x.data, run, i, solution);
        Coefficient<R, S> residual = detail::element<R>(r.data, run, i);
        const auto image = detail::element<R>(t.data, run, i);
        multiply_add_at<R>(residual.component, image.component, minus_omega.component);
        detail::set_element<R>(r.data, run, i, residual);
        for (S c : residual.component) into[0] += sum_t<S>(c) * c;
        add_conjugate_product<R>(detail::element<R>(shadow.data, run, i), residual, into + 1);
      },
      p.data, s.data, t.data, shadow.data, x.data, r.data);
  return {sums[0], coefficient_at<R>(sums, 1)};
}

// Real coefficients serve every field; rings where solvers ask for them.
#define HEDDLE_INSTANTIATE_RING(R, S)                                                         \
  template void axpby(const Coefficient<R, S>&, const FieldView<const S>&,                    \
                      const Coefficient<R, S>&, const FieldView<S>&, const Stream&);          \
  template Coefficient<R, sum_t<S>> dot(const FieldView<const S>&, const FieldView<const S>&, \
                                        Reduction<S>&, const Stream&);                        \
  template void update_direction(const FieldView<const S>&, const FieldView<const S>&,        \
                                 const Coefficient<R, S>&, const Coefficient<R, S>&,          \
                                 const FieldView<S>&, const Stream&);                         \
  template sum_t<S> half_step(const FieldView<const S>&, const Coefficient<R, S>&,            \
                              const FieldView<S>&, Reduction<S>&, const Stream&);             \
  template std::pair<Coefficient<R, sum_t<S>>, sum_t<S>> dot_and_norm<R, S>(                  \
      const FieldView<const S>&, const FieldView<const S>&, Reduction<S>&, const Stream&);    \
  template std::pair<sum_t<S>, Coefficient<R, sum_t<S>>> full_step(                           \
      const FieldView<const S>&, const Coefficient<R, S>&, const FieldView<const S>&,         \
      const Coefficient<R, S>&, const FieldView<const S>&, const FieldView<const S>&,         \
      const FieldView<S>&, const FieldView<S>&, Reduction<S>&, const Stream&);
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
  template sum_t<S> update_residual(S, const FieldView<const S>&, const FieldView<S>&,            \
                                    Reduction<S>&, const Stream&);                                \
  template void update_solution_and_direction(                                                    \
      S, const FieldView<S>&, S, const FieldView<const S>&, const FieldView<S>&, const Stream&);  \
  HEDDLE_INSTANTIATE_RING(Ring::real, S)                                                          \
  HEDDLE_INSTANTIATE_RING(Ring::complex, S)                                                       \
  HEDDLE_INSTANTIATE_RING(Ring::quaternion, S)
HEDDLE_INSTANTIATE(float)
HEDDLE_INSTANTIATE(double)
HEDDLE_INSTANTIATE(long double)

}  // namespace heddle
