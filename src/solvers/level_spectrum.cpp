#include "level_spectrum.hpp"

#include <algorithm>
#include <cmath>

#include "extreme_eigenvalues.hpp"
#include "heddle/linear_operator.hpp"
#include "heddle/preconditioner.hpp"
#include "heddle/tools/team.hpp"

namespace heddle::detail {

namespace {

constexpr int eigenvalue_steps = 12;

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

/// y += a x, for fields of `size` numbers a row.
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

/// y = A x, as no other alpha and beta are asked for.
class TileOperator final : public LinearOperator<double> {
 public:
  TileOperator(const TileMatrix& a, const Device& host) : a_(a), host_(host) {}

  Index rows() const override { return a_.rows(); }
  int row_components() const override { return a_.shape.height * a_.shape.ring; }
  Device device() const override { return host_; }
  void apply(double, const FieldView<const double>& x, double, const FieldView<double>& y,
             const Stream& stream) const override {
    const long long work = a_.pattern.entries() * a_.shape.scalars();
    with_tile(a_.shape, [&]<Ring R, int N>() {
      const int size = N > 0 ? N : a_.shape.height;
      const Offset components = Offset(size) * ring_size(R), scalars = components * size;
      const Offset* const offsets = a_.pattern.offsets.data();
      const Index* const columns = a_.pattern.column.data();
      const double* const values = a_.values.data();
      parallel_for(team_size(stream, work), a_.rows(), [=](Index row) {
        double* const to = y.data + row * components;
        std::fill_n(to, components, double(0));
        for (Offset e = offsets[row], end = offsets[Offset(row) + 1]; e < end; ++e) {
          add_product<R>(values + e * scalars, x.data + columns[e] * components, to, size);
        }
      });
    });
  }

 private:
  const TileMatrix& a_;
  Device host_;
};

class TileDiagonal final : public Preconditioner<double> {
 public:
  TileDiagonal(const TileShape& shape, const Array<double>& inverse)
      : shape_(shape), inverse_(inverse) {}

  void apply(const FieldView<const double>& r, const FieldView<double>& z,
             const Stream& stream) const override {
    const auto rows = static_cast<Index>(static_cast<Offset>(inverse_.size()) / shape_.scalars());
    with_tile(shape_, [&]<Ring R, int N>() {
      const int size = N > 0 ? N : shape_.height;
      const Offset components = Offset(size) * ring_size(R), scalars = components * size;
      const double* const inverse = inverse_.data();
      parallel_for(team_size(stream, rows * scalars), rows, [=](Index row) {
        double* const to = z.data + row * components;
        std::fill_n(to, components, double(0));
        add_product<R>(inverse + row * scalars, r.data + row * components, to, size);
      });
    });
  }

 private:
  TileShape shape_;
  const Array<double>& inverse_;
};

/// The largest of scale / D over the rows, at least 1.
double largest_share(const TileShape& shape, const Array<double>& inverse,
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
              "multigrid: the matrix is not positive semidefinite; take jacobi, or none");
}

void refuse_not_finite() {
  throw Error(ErrorKind::not_finite, "multigrid: a value of the matrix is no number, or too large");
}

namespace {

/// |a b|_F, of square tiles.
template <Ring R>
HEDDLE_INLINE double norm_of_product(const double* a, const double* b, int size) {
  constexpr Offset r = ring_size(R);
  if (r * size == 1) return std::abs(*a * *b);
  double squares = 0;
  for (int i = 0; i < size; ++i) {
    for (int j = 0; j < size; ++j) {
      double sum[r] = {};
      for (int k = 0; k < size; ++k) {
        multiply_add_at<R>(sum, a + (i * size + k) * r, b + (k * size + j) * r);
      }
      for (const double part : sum) squares += part * part;
    }
  }
  return std::sqrt(squares);
}

}  // namespace

bool may_exceed(const TileMatrix& a, const Array<double>& inverse, double bound, bool is_new,
                SpectrumRoom& room, const Device& host) {
  constexpr double growth = 1.05;
  const int team = team_size(host.stream(), a.pattern.entries() * a.shape.scalars());
  bool result = is_new;
  with_tile(a.shape, [&]<Ring R, int N>() {
    const int size = N > 0 ? N : a.shape.height;
    const Offset scalars = a.shape.scalars();
    result = parallel_reduce(
        team, a.rows(), is_new,
        [&](Index row, bool& exceeds) {
          double sum = 1;
          for (Offset e = a.pattern.begin(row); e < a.pattern.begin(row + 1); ++e) {
            if (a.pattern.column[static_cast<std::size_t>(e)] == row) continue;
            sum += norm_of_product<R>(inverse.data() + row * scalars, a.tile(e), size);
          }
          double& known = room.reach[static_cast<std::size_t>(row)];
          if (!(sum <= std::max(bound, growth * known))) exceeds = true;
          if (is_new) known = sum;
        },
        [](bool& exceeds, bool other) { exceeds = exceeds || other; });
  });
  return result;
}

SpectrumRoom::SpectrumRoom(const TileMatrix& a, const Device& host)
    : storage(4 * static_cast<std::size_t>(Offset(a.rows()) * a.shape.height * a.shape.ring)),
      reduction(a.rows(), host),
      reach(static_cast<std::size_t>(a.rows())) {}

double largest_eigenvalue(const TileMatrix& a, const Array<double>& inverse,
                          std::span<const double> scale, SpectrumRoom& room, const Device& host) {
  const TileOperator matrix(a, host);
  const TileDiagonal diagonal(a.shape, inverse);
  const int components = matrix.row_components();
  const auto field = [&](std::size_t k) {
    return FieldView<double>(room.storage.data() + k * (room.storage.size() / 4), a.rows(),
                             components);
  };
  const auto found = extreme_ritz_values<double>(
      matrix, &diagonal, eigenvalue_steps,
      LanczosFields<double>{field(0), field(1), field(2), field(3)}, room.reduction, host.stream());
  if (!found.is_positive) refuse_indefinite();
  if (!std::isfinite(found.smallest + found.largest)) refuse_not_finite();
  const double size = found.largest * largest_share(a.shape, inverse, scale);
  if (!(found.largest > 0) || found.smallest < least_energy * size) refuse_indefinite();
  return found.largest;
}

double largest_eigenvalue(const TileMatrix& a, const Array<double>& inverse, const Device& host) {
  SpectrumRoom room(a, host);
  return largest_eigenvalue(a, inverse, {}, room, host);
}

}  // namespace heddle::detail
