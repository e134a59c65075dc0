// The vectors of LOBPCG: Ritz vectors X, new directions W and last directions P, with their images
// under A and M. They are kept orthonormal in the mass's inner product, as Hetmaniuk and Lehoucq
// (2006) and Duersch, Shao, Yang and Gu (2018) advise: that is what makes the method robust.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "heddle/linear_operator.hpp"
#include "heddle/report.hpp"
#include "projected_eigenproblem.hpp"
#include "solvers/blocks/field_block.hpp"

namespace heddle::detail {

/// The reason why a solve ends; `converged` if there is none yet.
struct EigenEnd {
  Status status = Status::converged;
  std::string_view detail;
};

template <Ring R, class S>
class LobpcgBasis {
 public:
  using T = sum_t<S>;
  using Matrix = RingMatrix<R, T>;

  /// Fields with their images; `m` is empty where M = 1.
  struct Part {
    FieldBlock<S> v, a, m;
  };

  static constexpr T epsilon = std::numeric_limits<S>::epsilon();
  static constexpr std::string_view mass_is_negative =
      "x* M x is negative: the mass is not positive definite";

  /// `mass`: null for 1.
  LobpcgBasis(const LinearOperator<S>& matrix, const LinearOperator<S>* mass, int count,
              Reduction<S>& reduction)
      : matrix_(matrix),
        mass_(mass),
        stream_(matrix.device().stream()),
        reduction_(reduction),
        operations_(reduction, stream_, 3 * count),
        count_(count) {
    for (Part* part : {&x, &w, &p}) {
      part->v = make_fields(count_);
      part->a = make_fields(count_);
      if (mass_ != nullptr) part->m = make_fields(count_);
    }
    spare_ = make_fields(2 * count_);
  }

  Part x, w, p;
  std::vector<T> values;  // Ritz values of X
  EigenEnd end;           // set by functions that return false or no direction
  int restarts = 0;       // without P
  long long products = 0;
  T norm_of_mass = 1;  // estimated; `begin` raises it to what it sees

  /// M v.
  const FieldBlock<S>& weighted(const Part& part) const { return mass_ ? part.m : part.v; }
  static const FieldView<S>& at(const FieldBlock<S>& block, int k) {
    return block[static_cast<std::size_t>(k)];
  }
  T norm_of(const FieldView<S>& field) {
    return std::sqrt(real_dot<S>(field, field, reduction_, stream_));
  }
  std::vector<T> norms_of(std::span<const FieldView<S>> fields) {
    return operations_.norms(fields);
  }
  void multiply_matrix(const Part& part, int count) {
    products += count;
    multiply(matrix_, part.v, part.a, count);
  }
  void multiply_mass(const Part& part, int count) {
    if (mass_ != nullptr) multiply(*mass_, part.v, part.m, count);
  }
  /// <v_i, M v_j> is known to within noise_i noise_j, because the products with M were rounded to
  /// S. Empty without a mass, since nothing was rounded.
  std::vector<T> noise_of(const FieldBlock<S>& fields) {
    if (mass_ == nullptr) return {};
    std::vector<T> noise = norms_of(fields);
    for (T& size : noise) size *= std::sqrt(4 * epsilon * norm_of_mass);
    return noise;
  }
  struct Orthonormality {
    T rounding = 0;  // most rounding in x* M x
    bool holds = true, is_negative = false;
  };
  /// Tests if X* M X = 1 for the first `count` vectors, by newly computed products with M.
  Orthonormality orthonormality(int count) {
    constexpr T some = 64 * epsilon;
    const FieldBlock<S> vectors = first(x.v, count);
    const Matrix gram = operations_.gram(vectors, first(weighted(x), count), true);
    std::vector<T> noise = noise_of(vectors);
    noise.resize(static_cast<std::size_t>(count));
    Orthonormality seen;
    for (int j = 0; j < count; ++j) {
      const T own = noise[static_cast<std::size_t>(j)];
      seen.rounding = std::max(seen.rounding, own * own);
      seen.is_negative = seen.is_negative || gram(j, j).real() < -own * own;
      for (int i = 0; i <= j; ++i) {
        Coefficient<R, T> number = gram(i, j);
        if (i == j) number.component[0] -= 1;
        const T distance = std::sqrt(squared_norm(number));
        if (!(distance <= some + 2 * noise[static_cast<std::size_t>(i)] * own)) seen.holds = false;
      }
    }
    return seen;
  }

  /// Makes X orthonormal, and then Ritz vectors. `make_random(field)` replaces vectors that depend
  /// on the rest.
  template <class MakeRandom>
  bool begin(const MakeRandom& make_random) {
    last_ = 0;
    if (!make_first_orthonormal(make_random)) return false;
    multiply_matrix(x, count_);
    return project(0, {});
  }

  /// One step along the first `directions` fields of W; `active` are the vectors that go on. False
  /// with `end` unset: no direction is independent of X and P.
  bool step(int directions, const std::vector<int>& active) {
    const int independent = make_directions_orthonormal(directions);
    if (independent == 0) return false;
    multiply_matrix(w, independent);
    return project(independent, active);
  }

 private:
  /// Upper bound of the eigenvalues of a scaled Gram matrix that are only rounding, in its sums or
  /// in fields.
  static constexpr T dependent =
      std::max(T(1e3) * std::numeric_limits<T>::epsilon(), T(256) * epsilon * epsilon);

  FieldBlock<S> make_fields(int count) { return store_.make(matrix_, count); }
  void multiply(const LinearOperator<S>& by, const FieldBlock<S>& from, const FieldBlock<S>& to,
                int count) {
    multiply_block(by, from, to, count, reduction_, stream_);
  }
  bool ends(Status status, std::string_view detail) {
    end = {status, detail};
    return false;
  }
  bool ends_not_finite() {
    return ends(Status::not_finite, "the iteration overflowed, or gave a NaN");
  }
  bool ends_indefinite() { return ends(Status::indefinite, mass_is_negative); }

  template <class MakeRandom>
  bool make_first_orthonormal(const MakeRandom& make_random) {
    constexpr int max_rounds = 8;
    constexpr T well_conditioned = T(0.5);
    for (int round = 0; round < max_rounds; ++round) {
      const std::vector<T> norms = norms_of(x.v);
      for (int k = 0; k < count_; ++k) {
        scale<S>(static_cast<S>(1 / norms[static_cast<std::size_t>(k)]), at(x.v, k), stream_);
      }
      multiply_mass(x, count_);
      const Matrix gram = operations_.gram(x.v, weighted(x), true);
      if (!gram.is_finite()) return ends_not_finite();
      if (mass_ != nullptr) {
        for (const T image : norms_of(x.m)) norm_of_mass = std::max(norm_of_mass, image);
      }
      const auto basis = orthonormal(x.v, gram);
      if (basis.is_negative) return ends_indefinite();
      const int rank = basis.to.columns();
      transform(x.v, basis.to);
      if (mass_ != nullptr) transform(x.m, basis.to);
      for (int k = rank; k < count_; ++k) make_random(at(x.v, k));
      if (rank == count_ && basis.least > well_conditioned) return true;
    }
    return ends(Status::breakdown,
                "the mass leaves no independent vectors to start with in this precision");
  }
  /// `orthonormal_columns` of fields that have this Gram matrix under M.
  OrthonormalColumns<R, T> orthonormal(const FieldBlock<S>& fields, const Matrix& gram) {
    auto found = orthonormal_columns(gram, dependent);
    // Doubles leave enough digits if nothing looks negative.
    if (mass_ != nullptr && (std::is_same_v<S, float> || found.is_negative)) {
      found = orthonormal_columns(gram, dependent, noise_of(fields));
    }
    return found;
  }
  void transform(FieldBlock<S>& block, const Matrix& c) { operations_.transform(block, c, spare_); }

  /// Makes W orthonormal to X and P, and in itself; returns the number of its independent
  /// directions.
  int make_directions_orthonormal(int count) {
    constexpr int max_rounds = 4;
    constexpr T well_conditioned = T(0.01);
    const FieldBlock<S> last = first(p.v, last_), basis = joined<S>(x.v, last);
    const FieldBlock<S> last_m = first(weighted(p), last_);
    const FieldBlock<S> basis_m = joined<S>(weighted(x), last_m);
    for (int round = 0; round < max_rounds && count > 0; ++round) {
      // The first projection leaves only rounding of a direction that otherwise lies in X and P.
      count = normalize_directions(count, round == 1 ? 16 * epsilon : T(0));
      const Matrix along = operations_.gram(basis_m, first(w.v, count));
      operations_.combine(basis, negated(along), first(w.v, count), true);
      if (round == 0) continue;
      multiply_mass(w, count);
      const Matrix gram = operations_.gram(first(w.v, count), first(weighted(w), count), true);
      if (!gram.is_finite()) return ends_not_finite();
      const auto own = orthonormal(first(w.v, count), gram);
      if (own.is_negative) return ends_indefinite();
      transform(w.v, own.to);
      if (mass_ != nullptr) transform(w.m, own.to);
      count = own.to.columns();
      if (own.least > well_conditioned) break;
    }
    return count;
  }
  /// Scales directions to length 1; those of length up to `least` are left out.
  int normalize_directions(int count, T least) {
    const std::vector<T> norms = norms_of(first(w.v, count));
    int kept = 0;
    for (int k = 0; k < count; ++k) {
      const T norm = norms[static_cast<std::size_t>(k)];
      // A direction with a NaN is kept, and ends the solve once sums see it.
      if (norm <= std::max(least, T(std::numeric_limits<S>::min()))) continue;
      scale<S>(static_cast<S>(1 / norm), at(w.v, k), stream_);
      std::swap(w.v[static_cast<std::size_t>(kept)], w.v[static_cast<std::size_t>(k)]);
      ++kept;
    }
    return kept;
  }

  /// The best vectors of [X W P], and the directions that led to them.
  bool project(int directions, const std::vector<int>& active) {
    const auto basis = [&](FieldBlock<S> Part::* image) {
      const FieldBlock<S> of_w = first(w.*image, directions), of_p = first(p.*image, last_);
      return joined<S>(joined<S>(x.*image, of_w), of_p);
    };
    const FieldBlock<S> vectors = basis(&Part::v);
    const Matrix gram = operations_.gram(vectors, mass_ ? basis(&Part::m) : vectors, true);
    const Matrix energy = operations_.gram(vectors, basis(&Part::a), true);
    if (!gram.is_finite() || !energy.is_finite()) return ends_not_finite();
    auto found = solve_projected(gram, energy, count_, active, count_ + directions, dependent);
    if (found.vectors.columns() < count_) {
      return ends(Status::breakdown, "the vectors became linearly dependent");
    }
    restarts += found.left_directions;
    if (found.left_directions) last_ = 0;
    values = std::move(found.values);
    const int next = directions > 0 ? found.directions.columns() : 0;
    for (FieldBlock<S> Part::* const image : {&Part::v, &Part::a, &Part::m}) {
      if ((x.*image).empty()) continue;
      replace(x.*image, p.*image, basis(image), found, next);
    }
    last_ = next;
    return true;
  }
  void replace(FieldBlock<S>& vectors, FieldBlock<S>& last, const FieldBlock<S>& from,
               const ProjectedEigenpairs<R, T>& found, int next) {
    Matrix both(static_cast<int>(from.size()), count_ + next);
    for (int j = 0; j < both.columns(); ++j) {
      for (int i = 0; i < both.rows(); ++i) {
        both(i, j) = j < count_ ? found.vectors(i, j) : found.directions(i, j - count_);
      }
    }
    operations_.combine(from, both, first(spare_, both.columns()));
    for (int k = 0; k < count_; ++k) {
      const auto place = static_cast<std::size_t>(k);
      std::swap(vectors[place], spare_[place]);
      std::swap(last[place], spare_[static_cast<std::size_t>(count_) + place]);
    }
  }

  const LinearOperator<S>& matrix_;
  const LinearOperator<S>* mass_;
  Stream stream_;
  Reduction<S>& reduction_;
  BlockOperations<R, S> operations_;
  int count_;     // vectors in X
  int last_ = 0;  // directions in P
  FieldStore<S> store_;
  FieldBlock<S> spare_;
};

}  // namespace heddle::detail
