#include "level_spectrum.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>

#include "heddle/tools/team.hpp"
#include "heddle/vector_operations.hpp"
#include "number_rows.hpp"
#include "solvers/operators/extreme_eigenvalues.hpp"

namespace heddle::detail {

namespace {

/// Calls `run` with the ring and the size of square tiles as constants, 0 for a size that seldom
/// occurs.
template <class Run>
void with_tile(const TileShape& shape, const Run& run) {
  const auto of_size = [&](int size) { return shape.height == size && shape.width == size; };
  if (shape.ring == ring_size(Ring::real)) {
    if (of_size(1)) return run.template operator()<Ring::real, 1>();
    if (of_size(3)) return run.template operator()<Ring::real, 3>();
    if (of_size(6)) return run.template operator()<Ring::real, 6>();
    return run.template operator()<Ring::real, 0>();
  }
  if (shape.ring == ring_size(Ring::complex)) return run.template operator()<Ring::complex, 0>();
  run.template operator()<Ring::quaternion, 0>();
}

/// y += a x, for fields of `size` numbers per row.
template <Ring R>
HEDDLE_INLINE void add_product(const double* a, const double* x, double* y, int size) {
  constexpr Offset r = ring_size(R);
  for (int i = 0; i < size; ++i) {
    double sum[r];
    std::copy_n(y + i * r, r, sum);
    for (int j = 0; j < size; ++j) multiply_add_at<R>(sum, a + (i * size + j) * r, x + j * r);
    std::copy_n(sum, r, y + i * r);
  }
}

/// The vectors of Lanczos' method for D^-1 A in the inner product of D, one row after another. v
/// and the vector before it have the norms `norm` and `norm_before`, and z = D^-1 v.
struct LanczosVectors {
  double *v, *before, *z, *image;
  double norm = 1, norm_before = 1;
};

/// `body(first, end)` for each group of rows, which returns its part of a sum.
template <class Body>
double sum_of_groups(int team, Index rows, Reduction<double>& reduction, const Body& body) {
  parallel_for(team, groups_of(rows), [&](Index group) {
    const Offset first = Offset(group) * rows_of_group;
    *reduction.partials(group) =
        body(static_cast<Index>(first),
             static_cast<Index>(std::min<Offset>(first + rows_of_group, rows)));
  });
  return reduction.finish(1)[0];
}

/// The inner product over a group of rows, in eight sums that do not wait for each other.
double inner_product(const double* a, const double* b, Offset count) {
  constexpr Offset sums = 8;
  double sum[sums] = {};
  run_widely_fused([&] {
    Offset k = 0;
    for (; k + sums <= count; k += sums) {
      for (Offset i = 0; i < sums; ++i) sum[i] += a[k + i] * b[k + i];
    }
    for (; k < count; ++k) sum[0] += a[k] * b[k];
  });
  return ((sum[0] + sum[4]) + (sum[1] + sum[5])) + ((sum[2] + sum[6]) + (sum[3] + sum[7]));
}

/// image = A z. Returns <z, A z>.
double energy_of_image(const TileMatrix& a, const LanczosVectors& at, Reduction<double>& reduction,
                       const Stream& host) {
  double result = 0;
  const int team = team_size(host, a.pattern.entries() * a.shape.scalars());
  with_tile(a.shape, [&]<Ring R, int N>() {
    const int size = N > 0 ? N : a.shape.height;
    const Offset components = Offset(size) * ring_size(R), scalars = components * size;
    const Offset* const offsets = a.pattern.offsets.data();
    const Index* const columns = a.pattern.column.data();
    const double *const values = a.values.data(), *const z = at.z;
    double* const image = at.image;
    result = sum_of_groups(team, a.rows(), reduction, [=](Index first, Index end) {
      if constexpr (R == Ring::real && N == 1) {
        sum_rows(NumberRows<double>{offsets, columns, values}, z, first, end, image + first);
        return inner_product(z + first, image + first, end - first);
      }
      double sum = 0;
      for (Offset row = first; row < end; ++row) {
        double* const to = image + row * components;
        std::fill_n(to, components, double(0));
        for (Offset e = offsets[row], last = offsets[row + 1]; e < last; ++e) {
          add_product<R>(values + e * scalars, z + columns[e] * components, to, size);
        }
        for (Offset k = 0; k < components; ++k) sum += z[row * components + k] * to[k];
      }
      return sum;
    });
  });
  return result;
}

/// Replaces the vector before v with the image minus its parts along v and along that vector, then
/// forms z from it. Returns its square. With `is_first` v is the start, and only z is formed.
double orthogonalize(const TileShape& shape, const UnsetArray<double>& inverse, Index rows,
                     double alpha, double beta, bool is_first, const LanczosVectors& at,
                     Reduction<double>& reduction, const Stream& host) {
  double result = 0;
  const int team = team_size(host, Offset(rows) * shape.scalars());
  with_tile(shape, [&]<Ring R, int N>() {
    const int size = N > 0 ? N : shape.height;
    const Offset components = Offset(size) * ring_size(R), scalars = components * size;
    const double along = alpha / at.norm, along_before = beta / at.norm_before, by = 1 / at.norm;
    const double* const inverses = inverse.data();
    double* const left = is_first ? at.v : at.before;
    result = sum_of_groups(team, rows, reduction, [=](Index first, Index end) {
      if constexpr (R == Ring::real && N == 1) {
        run_widely_fused([=] {
          HEDDLE_TURNS_APART
          for (Offset k = first; k < end; ++k) {
            const double own =
                is_first ? left[k] : by * at.image[k] - along * at.v[k] - along_before * left[k];
            left[k] = own;
            at.z[k] = inverses[k] * own;
          }
        });
        return inner_product(left + first, at.z + first, end - first);
      }
      double sum = 0;
      for (Offset k = first * components; !is_first && k < end * components; ++k) {
        left[k] = by * at.image[k] - along * at.v[k] - along_before * left[k];
      }
      for (Offset row = first; row < end; ++row) {
        const double* const own = left + row * components;
        double* const to = at.z + row * components;
        std::fill_n(to, components, double(0));
        add_product<R>(inverses + row * scalars, own, to, size);
        for (Offset k = 0; k < components; ++k) sum += own[k] * to[k];
      }
      return sum;
    });
  });
  return result;
}

/// Like `extreme_ritz_values`, but in two walks per step.
RitzValues<double> lanczos_values(const TileMatrix& a, const UnsetArray<double>& inverse,
                                  SpectrumWorkspace& workspace, const Stream& host) {
  constexpr double rounding = 16 * std::numeric_limits<double>::epsilon();
  const int components = a.shape.height * a.shape.ring;
  const std::size_t of_field = workspace.storage.size() / 4;
  const auto field = [&](std::size_t k) { return workspace.storage.data() + k * of_field; };
  LanczosVectors at{field(0), field(1), field(2), field(3)};
  const FieldView<double> start(at.v, a.rows(), components);
  fill<double>(1, start, host);
  randomize<double>(start, 1, host);
  fill<double>(0, FieldView<double>(at.before, a.rows(), components), host);
  const auto orthogonalized = [&](double alpha, double beta, bool is_first) {
    return orthogonalize(a.shape, inverse, a.rows(), alpha, beta, is_first, at, workspace.reduction,
                         host);
  };
  double squared = orthogonalized(0, 0, true), beta = 0, size = 0;
  std::array<double, eigenvalue_steps> diagonal{}, couplings{};
  for (std::size_t step = 0; step < diagonal.size(); ++step) {
    if (!(squared > 0) || !std::isfinite(squared)) break;
    at.norm = std::sqrt(squared);
    const double alpha = energy_of_image(a, at, workspace.reduction, host) / squared;
    diagonal[step] = alpha;
    size = std::max({size, std::abs(alpha), beta});
    squared = orthogonalized(alpha, beta, false);
    if (!std::isfinite(alpha)) squared = alpha;
    std::swap(at.v, at.before);
    at.norm_before = at.norm;
    beta = std::sqrt(std::max(squared, double(0)));
    // Only rounding is then left of v.
    const bool is_over = squared >= 0 && beta <= rounding * size;
    couplings[step] = is_over ? 0 : beta;
    if (std::isfinite(squared) && (is_over || (squared >= 0 && step + 1 == diagonal.size()))) {
      return ritz_values(std::span(diagonal).first(step + 1), std::span(couplings).first(step + 1));
    }
  }
  RitzValues<double> none;
  none.is_positive = !(squared <= 0);
  none.smallest = none.largest = std::numeric_limits<double>::quiet_NaN();
  return none;
}

/// The largest of scale / D over the rows, at least 1.
double largest_share(const TileShape& shape, const UnsetArray<double>& inverse,
                     std::span<const double> scale) {
  double largest = 1;
  const Offset height = shape.height, ring = shape.ring;
  for (std::size_t row = 0; row < scale.size(); ++row) {
    const double* const tile = inverse.data() + static_cast<Offset>(row) * shape.scalars();
    for (Offset i = 0; i < height; ++i) {
      largest = std::max(largest, scale[row] * tile[i * (height + 1) * ring]);
    }
  }
  return largest;
}

}  // namespace

void refuse_indefinite() {
  throw Error(ErrorKind::unsupported,
              "multigrid: the matrix is not positive semidefinite; use jacobi, or none");
}

void refuse_not_finite() {
  throw Error(ErrorKind::not_finite,
              "multigrid: a value of the matrix is not a number, or too large");
}

namespace {

/// Returns |a b|_F for square tiles; `trace` gets the real part of the trace of a b.
template <Ring R>
HEDDLE_INLINE double norm_of_product(const double* a, const double* b, int size, double& trace) {
  constexpr Offset r = ring_size(R);
  if (r * size == 1) {
    trace = *a * *b;
    return std::abs(trace);
  }
  double squares = 0;
  trace = 0;
  for (int i = 0; i < size; ++i) {
    for (int j = 0; j < size; ++j) {
      double sum[r] = {};
      for (int k = 0; k < size; ++k) {
        multiply_add_at<R>(sum, a + (i * size + k) * r, b + (k * size + j) * r);
      }
      for (const double part : sum) squares += part * part;
      if (i == j) trace += sum[0];
    }
  }
  return std::sqrt(squares);
}

/// A sign without pattern.
HEDDLE_INLINE double sign_of_column(Index column) {
  return (static_cast<std::uint32_t>(column) * 2654435769U) >> 31 != 0 ? 1 : -1;
}

}  // namespace

bool may_exceed(const TileMatrix& a, const UnsetArray<double>& inverse, double bound, bool is_new,
                SpectrumWorkspace& workspace, const Device& host) {
  constexpr double growth = 1.05, shift = 0.1;
  const int team = team_size(host.stream(), a.pattern.entries() * a.shape.scalars());
  bool result = is_new;
  with_tile(a.shape, [&]<Ring R, int N>() {
    const int size = N > 0 ? N : a.shape.height;
    const Offset scalars = a.shape.scalars();
    result = parallel_reduce(
        team, a.rows(), is_new,
        [&](Index row, bool& exceeds) {
          double sum = 1, balance = 0;
          for (Offset e = a.pattern.begin(row); e < a.pattern.begin(row + 1); ++e) {
            const Index column = a.pattern.column[static_cast<std::size_t>(e)];
            if (column == row) continue;
            double trace;
            sum += norm_of_product<R>(inverse.data() + row * scalars, a.tile(e), size, trace);
            balance += sign_of_column(column) * trace;
          }
          double& known = workspace.reach[static_cast<std::size_t>(row)];
          double& known_balance = workspace.balance[static_cast<std::size_t>(row)];
          const bool has_changed_signs = workspace.has_balance && !(sum <= bound) &&
                                         !(std::abs(balance - known_balance) <= shift * sum);
          if (has_changed_signs || !(sum <= std::max(bound, growth * known))) exceeds = true;
          if (!is_new) return;
          known = sum;
          known_balance = balance;
        },
        [](bool& exceeds, bool other) { exceeds = exceeds || other; });
  });
  workspace.has_balance = workspace.has_balance || is_new;
  return result;
}

SpectrumWorkspace::SpectrumWorkspace(const TileMatrix& a, const Device& host)
    : storage(4 * static_cast<std::size_t>(Offset(a.rows()) * a.shape.height * a.shape.ring)),
      reduction(a.rows(), host, 1),
      reach(static_cast<std::size_t>(a.rows())),
      balance(static_cast<std::size_t>(a.rows())) {}

double largest_eigenvalue(const TileMatrix& a, const UnsetArray<double>& inverse,
                          std::span<const double> scale, SpectrumWorkspace& workspace,
                          const Device& host) {
  const auto found = lanczos_values(a, inverse, workspace, host.stream());
  if (!found.is_positive) refuse_indefinite();
  if (!std::isfinite(found.smallest + found.largest)) refuse_not_finite();
  const double size = found.largest * largest_share(a.shape, inverse, scale);
  if (!(found.largest > 0) || found.smallest < min_energy * size) refuse_indefinite();
  return found.largest;
}

double largest_eigenvalue(const TileMatrix& a, const UnsetArray<double>& inverse,
                          const Device& host) {
  SpectrumWorkspace workspace(a, host);
  return largest_eigenvalue(a, inverse, {}, workspace, host);
}

}  // namespace heddle::detail
