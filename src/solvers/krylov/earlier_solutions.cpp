#include "heddle/earlier_solutions.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/long_double.hpp"
#include "positive_system.hpp"
#include "solvers/blocks/field_block.hpp"
#include "solvers/blocks/field_block_cuda.hpp"
#include "solvers/operators/operator_checks.hpp"
#include "solvers/operators/spectrum.hpp"

namespace heddle {

namespace earlier_solutions {
namespace {

template <class S>
void check_operator(const LinearOperator<S>& matrix, std::size_t most) {
  constexpr std::size_t limit = EarlierSolutions<S>::limit;
  static_assert(limit <= cuda::max_fields);
  if (most < 1 || most > limit) {
    throw Error(ErrorKind::usage, "the number of earlier solutions is 1 to " +
                                      std::to_string(limit) + ", not " + std::to_string(most));
  }
  detail::check_square(matrix, "a guess from earlier solutions");
  if (!matrix.has_adjoint()) {
    throw Error(ErrorKind::unsupported,
                "a guess from earlier solutions needs a Hermitian matrix, and these entries have "
                "no adjoint");
  }
}

/// Bytes of the fields and sums. Throws `Error` (memory) if they are not available.
template <class S>
long long memory_for(const LinearOperator<S>& matrix, std::size_t most) {
  check_operator(matrix, most);
  const long long field = detail::bytes_of_field(matrix);
  const long long fields = 2 * static_cast<long long>(most) + 1;
  const long long needed =
      fields * field + detail::BlockOperations<Ring::real, S>::bytes(
                           static_cast<int>(most), matrix.rows(), matrix.device().stream());
  detail::check_available(matrix, std::to_string(most) + " earlier solutions need", fields, needed);
  return needed;
}

}  // namespace
}  // namespace earlier_solutions

/// The newest solution and the differences between successive ones. They have the span of the
/// solutions, and if those change slowly, the differences are what distinguishes them. A Gram
/// matrix of the solutions themselves would lose the differences in its rounding.
template <class S>
class EarlierSolutions<S>::State {
  using T = sum_t<S>;
  using Operations = detail::BlockOperations<Ring::real, S>;
  using Matrix = typename Operations::Matrix;

 public:
  State(OperatorReference<S> matrix, std::size_t most)
      : memory(earlier_solutions::memory_for(*matrix, most)),
        matrix_(std::move(matrix)),
        device_(matrix_->device()),
        stream_(device_.stream()),
        count_(static_cast<int>(most)),
        reduction_(matrix_->rows(), device_),
        operations_(reduction_, stream_, count_),
        vectors_(store_.make(*matrix_, count_)),
        images_(store_.make(*matrix_, count_)),
        residual_(store_.make(*matrix_, 1)),
        guessed_(residual_),
        inputs_(vectors_.begin(), vectors_.end()),
        gram_(count_, count_),
        along_(count_, 1),
        solution_(count_, 1),
        system_(count_) {
    // Both are called on zeros, so that they allocate all their memory.
    operations_.gram(vectors_, images_, false, gram_);
    operations_.combine(vectors_, solution_, guessed_);
  }

  const long long memory;

  EarlierGuess guess(const FieldView<const S>& b, const FieldView<S>& x) {
    check(b, "a right-hand side");
    check(FieldView<const S>(x), "a guess");
    check_apart(b, x, "b", "x");
    EarlierGuess result;
    const T size = std::sqrt(real_dot<S>(b, b, reduction_, stream_));
    if (!(size > 0) || !std::isfinite(size)) return result;
    const FieldView<S>& r = residual_.front();
    const T before = std::sqrt(matrix_->residual(b, x, r, reduction_, stream_));
    result.residual_before = result.residual = static_cast<double>(before / size);
    if (kept_ == 0 || !(before > 0) || !std::isfinite(before)) return result;
    renew_images();
    operations_.gram(vectors_, images_, false, gram_);
    operations_.gram(vectors_, residual_, false, along_);
    const int used = system_.solve(gram_, along_, rounding, solution_);
    if (used == 0) return result;
    guessed_.front() = x;
    operations_.combine(vectors_, solution_, guessed_, true);
    for (int i = 0; i < count_; ++i) solution_(i, 0) = -solution_(i, 0);
    operations_.combine(images_, solution_, residual_, true);
    const T after = std::sqrt(real_dot<S>(r, r, reduction_, stream_));
    result.residual = static_cast<double>(after / size);
    result.used = static_cast<std::size_t>(used);
    return result;
  }

  bool keep(const FieldView<const S>& x) {
    check(x, "a solution");
    const T squared = real_dot<S>(x, x, reduction_, stream_);
    if (!(squared > 0) || !std::isfinite(squared)) return false;
    if (kept_ > 0) axpby<S>(S(1), x, S(-1), newest(), stream_);
    newest_ = kept_ == 0 ? 0 : (newest_ + 1) % vectors_.size();
    copy<S>(x, newest(), stream_);
    kept_ = std::min(kept_ + 1, vectors_.size());
    ++without_image_;
    return true;
  }

  void clear() {
    for (std::size_t k = 0; k < vectors_.size(); ++k) {
      fill<S>(S(0), vectors_[k], stream_);
      fill<S>(S(0), images_[k], stream_);
    }
    kept_ = without_image_ = 0;
  }

  std::size_t size() const { return kept_; }

 private:
  /// Upper bound of the eigenvalues of a scaled Gram matrix that are only rounding, in its sums or
  /// in fields.
  static constexpr T epsilon = std::numeric_limits<S>::epsilon();
  static constexpr T rounding =
      std::max(T(1e3) * std::numeric_limits<T>::epsilon(), T(256) * epsilon * epsilon);

  const FieldView<S>& newest() const { return vectors_[newest_]; }

  void check(const FieldView<const S>& field, const char* what) const {
    check_same_shape(field, residual_.front(), what);
    if (detail::fits_in_place(field, matrix_->vector_layout(), matrix_->row_basis(), stream_)) {
      return;
    }
    throw Error(ErrorKind::size_mismatch,
                std::string(what) +
                    " for earlier solutions is not in the operator's basis, layout and memory; "
                    "`permute` takes it there");
  }

  /// Computes A times each vector, with the values that A has now.
  void renew_images() {
    const std::optional<long long> generation = detail::generation_of(*matrix_);
    const bool is_same = generation && generation == generation_;
    if (is_same && without_image_ == 0) return;
    if (!is_same || without_image_ > 1) {
      multiply(0, vectors_.size());
    } else if (newest_ > 0) {
      multiply(newest_ - 1, 2);
    } else {
      multiply(0, 1);
      if (kept_ > 1) multiply(vectors_.size() - 1, 1);
    }
    without_image_ = 0;
    generation_ = generation;
  }
  void multiply(std::size_t begin, std::size_t count) {
    constexpr std::size_t most = Reduction<S>::width;
    for (const std::size_t end = begin + count; begin < end; begin += most) {
      const std::size_t taken = std::min(most, end - begin);
      matrix_->apply_all(std::span(inputs_).subspan(begin, taken),
                         std::span(images_).subspan(begin, taken), {}, reduction_, stream_);
    }
  }

  OperatorReference<S> matrix_;
  Device device_;
  Stream stream_;
  int count_;
  Reduction<S> reduction_;
  Operations operations_;
  detail::FieldStore<S> store_;
  /// A ring buffer whose newest field is the last solution; the others are differences, or still
  /// zero.
  detail::FieldBlock<S> vectors_, images_;
  detail::FieldBlock<S> residual_, guessed_;  // one field each
  std::vector<FieldView<const S>> inputs_;
  Matrix gram_, along_, solution_;
  detail::PositiveSystem<T> system_;
  std::size_t newest_ = 0, kept_ = 0;
  std::size_t without_image_ = 0;  // solutions kept since the last products
  std::optional<long long> generation_;
};

template <class S>
EarlierSolutions<S>::EarlierSolutions(OperatorReference<S> matrix, std::size_t most)
    : state_(std::make_unique<State>(std::move(matrix), most)) {}
template <class S>
EarlierSolutions<S>::~EarlierSolutions() = default;

template <class S>
EarlierGuess EarlierSolutions<S>::guess(const FieldView<const S>& b, const FieldView<S>& x) {
  return state_->guess(b, x);
}
template <class S>
bool EarlierSolutions<S>::keep(const FieldView<const S>& x) {
  return state_->keep(x);
}
template <class S>
void EarlierSolutions<S>::clear() {
  state_->clear();
}
template <class S>
std::size_t EarlierSolutions<S>::size() const {
  return state_->size();
}
template <class S>
long long EarlierSolutions<S>::memory() const {
  return state_->memory;
}

template class EarlierSolutions<float>;
template class EarlierSolutions<double>;
HEDDLE_IN_LONG_DOUBLE(template class EarlierSolutions<long double>;)

}  // namespace heddle
