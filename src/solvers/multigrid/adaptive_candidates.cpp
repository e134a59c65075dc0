// Candidates of a multigrid that come from its matrix alone.
#include <cmath>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "heddle/conjugate_gradient.hpp"
#include "heddle/detail/sliced_jacobi.hpp"
#include "heddle/multigrid.hpp"
#include "heddle/polynomial.hpp"
#include "solvers/operators/operator_field.hpp"
#include "solvers/tiles/entry_tiles.hpp"

namespace heddle {

namespace {

constexpr int relaxations = 4, degree = 10;
constexpr int rounds = 3, iterations = 10;
/// Fraction of a field below which its part orthogonal to the others is rounding.
constexpr double min_rest = 1e-5;

/// Fields of A's rows, in its basis and memory.
template <class S>
class Relaxed {
 public:
  Relaxed(const detail::SlicedOperator<S>& matrix, int count)
      : matrix_(matrix), reduction_(matrix.rows(), matrix.device()) {
    for (int k = 0; k < count; ++k) {
      fields_.push_back(detail::row_field_of<S>(matrix));
      fill<S>(S(1), fields_.back().view, stream());
      randomize<S>(fields_.back().view, static_cast<unsigned long long>(k) + 1, stream());
    }
  }

  /// Steps of x -= q(D^-1 A) D^-1 A x, which leave what a level's smoother leaves.
  void relax() {
    const Chebyshev<S> smoother(matrix_, std::make_shared<detail::SlicedJacobi<S>>(matrix_),
                                {.degree = degree});
    const auto image = detail::row_field_of<S>(matrix_), step = detail::row_field_of<S>(matrix_);
    for (const detail::OperatorField<S>& x : fields_) {
      for (int k = 0; k < relaxations; ++k) {
        matrix_.apply(S(1), x.view, S(0), image.view, stream());
        smoother.apply(image.view, step.view, stream());
        axpby<S>(S(-1), step.view, S(1), x.view, stream());
      }
      normalize(x);
    }
  }

  /// Replaces each x by y, after a few iterations for A y = x with the multigrid of all x. All x
  /// are kept orthogonal: otherwise all would become the eigenvector of the smallest eigenvalue.
  void improve(const MultigridOptions& options) {
    std::vector<FieldView<const S>> candidates;
    candidates.reserve(fields_.size());
    for (const auto& x : fields_) candidates.push_back(x.view);
    ConjugateGradient<S> solver(matrix_, Multigrid<S>(matrix_, options, candidates),
                                {.tolerance = 1e-2, .max_iterations = iterations});
    auto y = detail::row_field_of<S>(matrix_);
    for (detail::OperatorField<S>& x : fields_) {
      fill<S>(S(0), y.view, stream());
      solver.solve(x.view, y.view);
      if (normalize(y)) std::swap(x, y);
    }
    const Ring ring = matrix_.ring();
    if (ring == Ring::real) orthogonalize<Ring::real>();
    if (ring == Ring::complex) orthogonalize<Ring::complex>();
    if (ring == Ring::quaternion) orthogonalize<Ring::quaternion>();
  }

  /// The fields in the user's order.
  std::vector<std::vector<S>> to_host() const {
    const int components = matrix_.row_components();
    std::vector<std::vector<S>> candidates;
    for (const auto& x : fields_) {
      auto& field = candidates.emplace_back(static_cast<std::size_t>(matrix_.rows()) *
                                            static_cast<std::size_t>(components));
      permute<S>(x.view, FieldView<S>(field.data(), matrix_.rows(), components), S(1), stream());
    }
    matrix_.device().synchronize();
    return candidates;
  }

 private:
  Stream stream() const { return matrix_.device().stream(); }

  /// Makes each field orthogonal to those before it, by the modified Gram-Schmidt process, twice
  /// (Giraud et al. 2005). A field that depends on them is left unchanged.
  template <Ring R>
  void orthogonalize() {
    std::vector<detail::OperatorField<S>> unit;  // fields of norm 1
    for (const detail::OperatorField<S>& x : fields_) {
      auto rest = detail::row_field_of<S>(matrix_);
      axpby<S>(S(1), x.view, S(0), rest.view, stream());
      const auto before = norm<S>(rest.view, stream());
      for (int pass = 0; pass < 2; ++pass) {
        for (const detail::OperatorField<S>& e : unit) {
          const auto along = dot<R, S>(e.view, rest.view, reduction_, stream());
          Coefficient<R, S> minus{};
          for (int k = 0; k < minus.size; ++k) {
            minus.component[k] = static_cast<S>(-along.component[k]);
          }
          axpby<S, R>(minus, e.view, Coefficient<R, S>::from_real(S(1)), rest.view, stream());
        }
      }
      const auto after = norm<S>(rest.view, stream());
      if (!(after > min_rest * before)) continue;
      axpby<S>(S(1), rest.view, S(0), x.view, stream());
      normalize(x);
      scale<S>(static_cast<S>(1 / after), rest.view, stream());
      unit.push_back(std::move(rest));
    }
  }

  /// False if x cannot be normalized, e.g. after an overflow.
  bool normalize(const detail::OperatorField<S>& x) {
    const auto largest = largest_magnitude<S>(x.view, reduction_, stream());
    if (!(largest > 0) || !std::isfinite(largest)) return false;
    axpby<S>(static_cast<S>(1 / largest), x.view, S(0), x.view, stream());
    return true;
  }

  detail::SlicedOperator<S> matrix_;
  Reduction<S> reduction_;
  std::vector<detail::OperatorField<S>> fields_;
};

}  // namespace

template <class S>
std::vector<std::vector<S>> adaptive_candidates(const detail::SlicedOperator<S>& matrix, int count,
                                                const MultigridOptions& options) {
  if (count < 0) {
    throw Error(ErrorKind::usage, "multigrid: " + std::to_string(count) +
                                      " adaptive candidates; it needs one or more");
  }
  if (count == 0) count = detail::tiles_of(matrix.entry(), "multigrid").size;
  Relaxed<S> fields(matrix, count);
  fields.relax();
  MultigridOptions constant = options;
  if (constant.cycle == Cycle::k) constant.cycle = Cycle::v;
  for (int round = 0; round < rounds; ++round) fields.improve(constant);
  return fields.to_host();
}

template std::vector<std::vector<float>> adaptive_candidates(const detail::SlicedOperator<float>&,
                                                             int, const MultigridOptions&);
template std::vector<std::vector<double>> adaptive_candidates(const detail::SlicedOperator<double>&,
                                                              int, const MultigridOptions&);

}  // namespace heddle
