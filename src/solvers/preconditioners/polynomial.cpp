#include "heddle/polynomial.hpp"

#include <cmath>
#include <cstdio>
#include <limits>
#include <string>

#include "base/device_cuda.hpp"
#include "base/long_double.hpp"
#include "chebyshev_numbers.hpp"
#include "fields/vector_operations_cuda.hpp"
#include "heddle/config.hpp"
#include "heddle/detail/sliced_operator.hpp"
#include "preconditioner_fields.hpp"
#include "solvers/operators/applies_in_graph.hpp"
#include "solvers/operators/spectrum.hpp"

namespace heddle {

namespace polynomial {
namespace {

constexpr int lanczos_steps = 10;
constexpr double ratio = 30;  // upper bound / lower bound

template <class S>
bool is_capturable(const LinearOperator<S>& matrix, const Preconditioner<S>* inner) {
  return matrix.device().on_gpu() && detail::applies_in_graph(matrix.iterated()) &&
         (inner == nullptr || inner->is_capturable());
}

/// Bytes of `products` products with the matrix, one application more of the inner preconditioner,
/// and `passes` passes over fields.
template <class S>
long long bytes_moved(const LinearOperator<S>& matrix, const Preconditioner<S>* inner, int products,
                      int passes) {
  const long long field =
      static_cast<long long>(matrix.rows()) * matrix.row_components() * Offset(sizeof(S));
  return products * matrix.iterated().bytes_of_product() + passes * field +
         (inner != nullptr ? (products + 1LL) * (inner->bytes_of_application() + 2 * field) : 0);
}

[[noreturn]] void refuse(ErrorKind kind, const std::string& why) {
  throw Error(kind, "Chebyshev: " + why);
}

/// Kernels walk over z with the index of the matrix's own fields.
template <class S>
void check_in_place(const FieldView<S>& z, const FieldView<S>& own, const Stream& stream) {
  if (z.entry_stride != own.entry_stride || z.component_stride != own.component_stride) {
    throw Error(ErrorKind::size_mismatch, "Chebyshev: the fields differ in layout; copy one first");
  }
  if constexpr (has_cuda) {
    if (stream.on_gpu() && z.scalars() > 0 && !cuda::is_device_memory(z.data, stream)) {
      throw Error(
          ErrorKind::usage,
          "Chebyshev: a field in the host's memory is used on a GPU's stream; copy it there "
          "first");
    }
  }
}

/// direction = residual b + direction a; the numbers a and b lie in the fields' memory.
template <class S>
void combine(const Coefficient<Ring::real, S>* numbers, const FieldView<const S>& residual,
             const FieldView<S>& direction, const Stream& stream) {
  if constexpr (has_cuda && !std::is_same_v<S, long double>) {
    // The numbers are read when the kernel runs, so a graph uses those of the last refresh.
    if (stream.on_gpu()) {
      using Place = cuda::Operand<Coefficient<Ring::real, S>>;
      return cuda::axpby<Ring::real, S>(Place(numbers + 1), residual, Place(numbers), direction,
                                        stream);
    }
  }
  axpby<S>(numbers[1].real(), residual, numbers[0].real(), direction, stream);
}

std::string text_of(double number) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3g", number);
  return text;
}

void check(const SpectralInterval& given) {
  if (!detail::is_interval(given)) {
    refuse(ErrorKind::usage, "an interval needs 0 < lower < upper, not " + text_of(given.lower) +
                                 " and " + text_of(given.upper));
  }
}

void check(const ChebyshevOptions& options) {
  if (options.degree < 0) {
    refuse(ErrorKind::usage, "the degree is 0 or more, not " + std::to_string(options.degree));
  }
  if (options.interval) check(*options.interval);
}

}  // namespace
}  // namespace polynomial

template <class S>
Chebyshev<S>::Chebyshev(OperatorReference<S> matrix, std::shared_ptr<Preconditioner<S>> inner,
                        ChebyshevOptions options)
    : matrix_(std::move(matrix)),
      inner_(std::move(inner)),
      options_(options),
      device_(matrix_->device()),
      reduction_(matrix_->rows(), device_) {
  polynomial::check(options_);
  detail::check_parts(*matrix_, inner_.get(), "Chebyshev");
  if (inner_ && !inner_->is_hermitian()) {
    polynomial::refuse(ErrorKind::unsupported,
                       "the inner preconditioner says that it is not Hermitian; use another, or "
                       "none");
  }
  if (!matrix_->has_adjoint()) {
    polynomial::refuse(ErrorKind::unsupported,
                       "it needs a Hermitian matrix, and these entries have no adjoint; use "
                       "Neumann or Jacobi");
  }
  numbers_.resize(2 * (static_cast<std::size_t>(options_.degree) + 1));
  coefficients_ = Array<Number>(numbers_.size(), device_);
  direction_ = make_field();
  residual_ = make_field();
  preconditioned_ = make_field();
  spare_ = make_field();
  if (options_.interval) {
    check_hermitian();
    set_interval(*options_.interval);
  } else {
    refresh();
  }
}

template <class S>
FieldView<S> Chebyshev<S>::make_field() {
  return detail::make_field(*matrix_, storage_);
}

template <class S>
std::optional<FieldShape> Chebyshev<S>::shape() const {
  return detail::shape_of(*matrix_);
}

template <class S>
bool Chebyshev<S>::is_capturable() const {
  return polynomial::is_capturable(*matrix_, inner_.get());
}

template <class S>
long long Chebyshev<S>::bytes_of_application() const {
  // First d from r, and z += d; then r, d and z for each product, or r and d alone if d is z.
  const int degree = options_.degree;
  const int passes = detail::is_direction_solution(degree) ? 2 + 6 * degree : 4 + 7 * degree;
  return polynomial::bytes_moved(*matrix_, inner_.get(), degree, passes);
}

template <class S>
bool Chebyshev<S>::refreshes_in_graph() const {
  return options_.interval && inner_ && inner_->refreshes_in_graph();
}
template <class S>
void Chebyshev<S>::queue_refresh(Index* singular_row, const Stream& stream) {
  inner_->queue_refresh(singular_row, stream);
}

template <class S>
void Chebyshev<S>::replace_interval(const SpectralInterval& interval) {
  polynomial::check(interval);
  if (!options_.interval) {
    polynomial::refuse(ErrorKind::usage,
                       "the interval is estimated; only a given one can be replaced");
  }
  set_interval(interval);
}

template <class S>
void Chebyshev<S>::refresh() {
  if (inner_) inner_->refresh();
  if (options_.interval) return;
  const std::optional<long long> generation = detail::generation_of(*matrix_);
  if (generation && generation == generation_) return;
  check_hermitian();
  set_interval(estimate());
  generation_ = generation;
}

template <class S>
void Chebyshev<S>::check_hermitian() {
  const detail::ProbeFields<S> fields{direction_, residual_, preconditioned_, spare_};
  if (!detail::has_symmetry(detail::Symmetry::hermitian, *matrix_, fields, reduction_,
                            device_.stream())) {
    polynomial::refuse(ErrorKind::unsupported,
                       "the matrix is not Hermitian; use Neumann or Jacobi");
  }
}

template <class S>
SpectralInterval Chebyshev<S>::estimate() {
  if (all_rows(matrix_->rows(), device_.stream()) == 0) return {1 / polynomial::ratio, 1};
  const detail::LanczosFields<S> fields{direction_, residual_, spare_, preconditioned_};
  const auto found = detail::estimate_spectrum<S>(*matrix_, inner_.get(), polynomial::lanczos_steps,
                                                  fields, reduction_, device_.stream());
  using enum detail::SpectrumKind;
  switch (found.kind) {
    case positive:
      break;
    case not_finite:
      polynomial::refuse(
          ErrorKind::not_finite,
          "products with the matrix are not finite: a matrix value is not a number, or "
          "too large");
    case of_indefinite_preconditioner:
      polynomial::refuse(ErrorKind::unsupported,
                         "the inner preconditioner is not positive definite; use Neumann or none");
    case indefinite:
      polynomial::refuse(
          ErrorKind::unsupported,
          std::string("the matrix is not positive definite, as ") +
              (inner_ ? "the preconditioned one" : "it") + " has an eigenvalue of at most " +
              polynomial::text_of(static_cast<double>(found.smallest)) + "; use Neumann or none");
  }
  const double upper = detail::safety_of_estimate * static_cast<double>(found.largest);
  return {upper / polynomial::ratio, upper};
}

template <class S>
void Chebyshev<S>::set_interval(const SpectralInterval& interval) {
  if (!detail::set_chebyshev_numbers<S>(interval, options_.degree, numbers_)) {
    polynomial::refuse(ErrorKind::not_finite,
                       "the eigenvalues are too small for a field's numbers");
  }
  detail::copy_bytes(coefficients_.data(), numbers_.data(), numbers_.size() * sizeof(Number),
                     device_.stream());
  interval_ = interval;
}

template <class S>
void Chebyshev<S>::combine(int k, const FieldView<const S>& residual, const Stream& stream) const {
  polynomial::combine<S>(coefficients_.data() + 2 * static_cast<std::ptrdiff_t>(k), residual,
                         direction_, stream);
}

template <class S>
void Chebyshev<S>::apply(const FieldView<const S>& r, const FieldView<S>& z,
                         const Stream& stream) const {
  detail::check_fields(r, z, direction_, "Chebyshev");
  const bool in_place = detail::is_direction_solution(options_.degree);
  if (in_place) polynomial::check_in_place(z, direction_, stream);
  const FieldView<const S> direction = in_place ? z : direction_;
  for (int k = 0; k <= options_.degree; ++k) {
    if (k == 1) axpby<S>(S(1), r, S(0), residual_, stream);
    if (k > 0) matrix_->iterated().apply(S(-1), direction, S(1), residual_, stream);
    FieldView<const S> image = k > 0 ? FieldView<const S>(residual_) : r;
    if (inner_) {
      inner_->apply(image, preconditioned_, stream);
      image = preconditioned_;
    }
    if (in_place) {
      const Number* const numbers = coefficients_.data() + 2 * static_cast<std::ptrdiff_t>(k);
      polynomial::combine<S>(numbers, image, z, stream);
      continue;
    }
    combine(k, image, stream);
    axpby<S>(S(1), direction, S(k > 0 ? 1 : 0), z, stream);
  }
}

template <class S>
Neumann<S>::Neumann(OperatorReference<S> matrix, std::shared_ptr<Preconditioner<S>> inner,
                    int terms)
    : matrix_(std::move(matrix)), inner_(std::move(inner)), terms_(terms) {
  if (terms_ < 1) {
    throw Error(ErrorKind::usage,
                "Neumann: " + std::to_string(terms_) + " terms; it needs 1 or more");
  }
  detail::check_parts(*matrix_, inner_.get(), "Neumann");
  residual_ = detail::make_field(*matrix_, storage_);
  if (inner_) preconditioned_ = detail::make_field(*matrix_, storage_);
}

template <class S>
std::optional<FieldShape> Neumann<S>::shape() const {
  return detail::shape_of(*matrix_);
}

template <class S>
bool Neumann<S>::is_capturable() const {
  return polynomial::is_capturable(*matrix_, inner_.get());
}

template <class S>
long long Neumann<S>::bytes_of_application() const {
  return polynomial::bytes_moved(*matrix_, inner_.get(), terms_, 6 * terms_);
}

template <class S>
void Neumann<S>::apply(const FieldView<const S>& r, const FieldView<S>& z,
                       const Stream& stream) const {
  detail::check_fields(r, z, residual_, "Neumann");
  if (inner_) {
    inner_->apply(r, z, stream);
  } else {
    axpby<S>(S(1), r, S(0), z, stream);
  }
  for (int k = 1; k <= terms_; ++k) {
    axpby<S>(S(1), r, S(0), residual_, stream);
    matrix_->iterated().apply(S(-1), z, S(1), residual_, stream);
    if (inner_) inner_->apply(residual_, preconditioned_, stream);
    axpby<S>(S(1), inner_ ? preconditioned_ : residual_, S(1), z, stream);
  }
}

template class Chebyshev<float>;
template class Chebyshev<double>;
HEDDLE_IN_LONG_DOUBLE(template class Chebyshev<long double>;)
template class Neumann<float>;
template class Neumann<double>;
HEDDLE_IN_LONG_DOUBLE(template class Neumann<long double>;)

}  // namespace heddle
