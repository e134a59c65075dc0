#include "host_lobpcg.hpp"

#include <Eigen/Eigenvalues>
#include <array>
#include <cmath>
#include <optional>

#include "heddle/vector_operations.hpp"
#include "parallel_sums.hpp"
#include "stopwatch.hpp"

namespace heddle::spin {

namespace {

using QuaternionField = Field<Quaternion>;

/// Coefficients that form a vector from x, the new direction w and the last one p; quaternions act
/// from the right.
struct Combination {
  Quaternion x, w, p;
};
struct RitzVector {
  double value = 0;
  Combination of;
};

/// The sums conj(u) M v and conj(u) A v for u, v = x, w, p, without those below the diagonal.
constexpr Eigen::Index vectors = 3, pairs = 6, sums_of_pairs = 8 * pairs;
using PairSums = std::array<double, sums_of_pairs>;

/// q c for real numbers c.
Eigen::Matrix4d left_product(const double* q) {
  Eigen::Matrix4d left;
  left << q[0], -q[1], -q[2], -q[3], q[1], q[0], -q[3], q[2], q[2], q[3], q[0], -q[1], q[3], -q[2],
      q[1], q[0];
  return left;
}

/// The least Ritz pair over the first `count` vectors; none if they are linearly dependent.
std::optional<RitzVector> least_ritz_vector(const PairSums& sums, Eigen::Index count) {
  Eigen::MatrixXd gram(4 * count, 4 * count), energy(4 * count, 4 * count);
  Eigen::VectorXd size(4 * count);
  const double* of_mass = sums.data();
  const double* of_matrix = of_mass + 4 * pairs;
  for (Eigen::Index i = 0; i < vectors; ++i) {
    for (Eigen::Index j = i; j < vectors; ++j, of_mass += 4, of_matrix += 4) {
      if (j >= count) continue;
      gram.block<4, 4>(4 * i, 4 * j) = left_product(of_mass);
      energy.block<4, 4>(4 * i, 4 * j) = left_product(of_matrix);
      // For i = j both are one block.
      gram.block<4, 4>(4 * j, 4 * i) = gram.block<4, 4>(4 * i, 4 * j).transpose().eval();
      energy.block<4, 4>(4 * j, 4 * i) = energy.block<4, 4>(4 * i, 4 * j).transpose().eval();
    }
    if (i < count) size.segment<4>(4 * i).setConstant(1 / std::sqrt(gram(4 * i, 4 * i)));
  }
  if (!size.allFinite() || !energy.allFinite()) return std::nullopt;
  // For vectors of norm 1, a pivot is the part of a vector that the ones before it do not span.
  gram = size.asDiagonal() * gram * size.asDiagonal();
  energy = size.asDiagonal() * energy * size.asDiagonal();
  constexpr double dependent = 1e-7;
  const Eigen::LLT<Eigen::MatrixXd> factor(gram);
  if (factor.info() != Eigen::Success || !(factor.matrixLLT().diagonal().minCoeff() > dependent)) {
    return std::nullopt;
  }
  const Eigen::GeneralizedSelfAdjointEigenSolver<Eigen::MatrixXd> pairs_of(energy, gram);
  if (pairs_of.info() != Eigen::Success) return std::nullopt;
  Eigen::VectorXd c = size.asDiagonal() * pairs_of.eigenvectors().col(0);
  RitzVector found{pairs_of.eigenvalues()[0], {}};
  Quaternion* const to[] = {&found.of.x, &found.of.w, &found.of.p};
  for (Eigen::Index i = 0; i < vectors; ++i) {
    *to[i] = i < count ? Quaternion{{c[4 * i], c[4 * i + 1], c[4 * i + 2], c[4 * i + 3]}}
                       : Quaternion::zero();
  }
  // Takes the one of the eigenvector's quaternion multiples that does not rotate x.
  const double along = std::sqrt(squared_norm(found.of.x));
  if (along > 0) {
    const Quaternion turn = times(1 / along, adjoint(found.of.x));
    for (Quaternion* const q : to) *q = product(*q, turn);
  }
  return found;
}

class HostLobpcg {
 public:
  HostLobpcg(const Operator<Quaternion>& matrix, Preconditioner<double>& preconditioner,
             const std::vector<double>& mass)
      : matrix_(matrix), preconditioner_(preconditioner), mass_(mass.size()) {
    QuaternionField given(matrix.rows()), own = matrix.field();
    const QuaternionsOf from(given.view()), to(own.view());
    parallel_for(default_threads(), given.size(),
                 [&](Index i) { from.set(i, {{mass[static_cast<std::size_t>(i)], 0, 0, 0}}); });
    permute<double>(given.view(), own.view(), 1, own.stream());
    parallel_for(default_threads(), own.size(),
                 [&](Index i) { mass_[static_cast<std::size_t>(i)] = to[i].w(); });
  }

  HostEigenpair solve(double bound, double angle, const SolverOptions& limits, QuaternionField& x) {
    const cli::Stopwatch watch;
    preconditioner_.refresh();
    permute<double>(x.view(), x_.view(), 1, x_.stream());
    begin();
    while (true) {
      double relative = found_.residual_norm / (bound * found_.vector_norm);
      if (relative <= angle) {
        // Combinations of images drift away from the image of the combination.
        multiply(x_, ax_);
        measure();
        relative = found_.residual_norm / (bound * found_.vector_norm);
      }
      if (is_over(relative, angle, limits, watch.seconds())) break;
      if (!step()) break;
      ++found_.iterations;
    }
    permute<double>(x_.view(), x.view(), 1, x_.stream());
    return found_;
  }

 private:
  void multiply(const QuaternionField& v, QuaternionField& image) {
    matrix_.apply(1, v.view(), 0, image.view(), v.stream());
    ++found_.products;
  }
  double mass(Index i) const { return mass_[static_cast<std::size_t>(i)]; }

  /// Normalizes x, and computes its Rayleigh quotient.
  void begin() {
    multiply(x_, ax_);
    const auto [size, energy] =
        parallel_sums<2>(mass_.size(), [&](std::size_t place, std::array<double, 2>& sums) {
          const auto i = static_cast<Index>(place);
          sums[0] += mass(i) * squared_norm(at_.x[i]);
          sums[1] += product(adjoint(at_.x[i]), at_.ax[i]).w();
        });
    found_.eigenvalue = energy / size;
    scale<double>(1 / std::sqrt(size), x_.view(), x_.stream());
    scale<double>(1 / std::sqrt(size), ax_.view(), x_.stream());
    measure();
  }

  Quaternion residual_of(Index i, const Quaternion& x, const Quaternion& ax) const {
    return add(ax, times(-found_.eigenvalue * mass(i), x));
  }
  /// Computes the residual and the norms.
  void measure() {
    take_norms(parallel_sums<2>(mass_.size(), [&](std::size_t place, std::array<double, 2>& sums) {
      const auto i = static_cast<Index>(place);
      const Quaternion x = at_.x[i], r = residual_of(i, x, at_.ax[i]);
      at_.r.set(i, r);
      sums[0] += squared_norm(r);
      sums[1] += squared_norm(x);
    }));
  }
  void take_norms(const std::array<double, 2>& squares) {
    found_.residual_norm = std::sqrt(squares[0]);
    found_.vector_norm = std::sqrt(squares[1]);
  }

  /// Returns false if the solve ends here.
  bool step() {
    preconditioner_.apply(r_.view(), w_.view(), w_.stream());
    multiply(w_, aw_);
    const PairSums sums = sums_of_all();
    std::optional<RitzVector> next;
    if (has_last_) next = least_ritz_vector(sums, vectors);
    if (!next) next = least_ritz_vector(sums, vectors - 1);
    if (!next) {
      found_.status = Status::breakdown;
      return false;
    }
    update(*next);
    return true;
  }

  PairSums sums_of_all() const {
    return parallel_sums<sums_of_pairs>(mass_.size(), [&](std::size_t place, PairSums& sums) {
      const auto i = static_cast<Index>(place);
      const Quaternion v[] = {at_.x[i], at_.w[i], at_.p[i]},
                       image[] = {at_.ax[i], at_.aw[i], at_.ap[i]};
      double *of_mass = sums.data(), *of_matrix = of_mass + 4 * pairs;
      for (Eigen::Index k = 0; k < vectors; ++k) {
        const Quaternion left = adjoint(v[k]), weighted = times(mass(i), left);
        for (Eigen::Index l = k; l < vectors; ++l, of_mass += 4, of_matrix += 4) {
          const Quaternion a = product(weighted, v[l]), b = product(left, image[l]);
          for (int c = 0; c < 4; ++c) {
            of_mass[c] += a.component[c];
            of_matrix[c] += b.component[c];
          }
        }
      }
    });
  }

  /// Updates x, the direction that led to it, their images, and the residual.
  void update(const RitzVector& next) {
    found_.eigenvalue = next.value;
    has_last_ = true;
    const Combination c = next.of;
    const auto renew = [&c](Index i, const QuaternionsOf& x, const QuaternionsOf& w,
                            const QuaternionsOf& p) {
      Quaternion last = product(w[i], c.w);
      multiply_add(last, p[i], c.p);
      p.set(i, last);
      multiply_add(last, x[i], c.x);
      x.set(i, last);
      return last;
    };
    take_norms(parallel_sums<2>(mass_.size(), [&](std::size_t place, std::array<double, 2>& sums) {
      const auto i = static_cast<Index>(place);
      const Quaternion x = renew(i, at_.x, at_.w, at_.p), ax = renew(i, at_.ax, at_.aw, at_.ap);
      const Quaternion r = residual_of(i, x, ax);
      at_.r.set(i, r);
      sums[0] += squared_norm(r);
      sums[1] += squared_norm(x);
    }));
  }

  bool is_over(double relative, double angle, const SolverOptions& limits, double seconds) {
    found_.status = Status::converged;
    if (!std::isfinite(relative)) {
      found_.status = Status::not_finite;
    } else if (relative > angle) {
      if (limits.observer && !limits.observer({found_.iterations, relative, seconds})) {
        found_.status = Status::cancelled;
      } else if (found_.iterations >= limits.max_iterations) {
        found_.status = Status::iteration_limit;
      } else if (seconds >= limits.time_limit) {
        found_.status = Status::time_limit;
      } else {
        return false;
      }
    }
    return true;
  }

  const Operator<Quaternion>& matrix_;
  Preconditioner<double>& preconditioner_;
  std::vector<double> mass_;  // in the matrix's order
  QuaternionField x_ = matrix_.field(), w_ = matrix_.field(), p_ = matrix_.field();
  QuaternionField ax_ = matrix_.field(), aw_ = matrix_.field(), ap_ = matrix_.field();
  QuaternionField r_ = matrix_.field();
  struct {
    QuaternionsOf x, w, p, ax, aw, ap, r;
  } at_{QuaternionsOf(x_.view()),  QuaternionsOf(w_.view()),  QuaternionsOf(p_.view()),
        QuaternionsOf(ax_.view()), QuaternionsOf(aw_.view()), QuaternionsOf(ap_.view()),
        QuaternionsOf(r_.view())};
  bool has_last_ = false;
  HostEigenpair found_;
};

}  // namespace

HostEigenpair host_lobpcg(const Operator<Quaternion>& matrix,
                          Preconditioner<double>& preconditioner, const std::vector<double>& mass,
                          double bound, double angle, const SolverOptions& limits,
                          Field<Quaternion>& x) {
  return HostLobpcg(matrix, preconditioner, mass).solve(bound, angle, limits, x);
}

}  // namespace heddle::spin
