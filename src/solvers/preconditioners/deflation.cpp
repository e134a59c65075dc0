#include "heddle/deflation.hpp"

#include <string>

#include "base/device_cuda.hpp"
#include "base/long_double.hpp"
#include "coarse_space.hpp"
#include "heddle/config.hpp"
#include "preconditioner_fields.hpp"
#include "solvers/blocks/field_block_cuda.hpp"
#include "solvers/operators/operator_checks.hpp"
#include "solvers/operators/spectrum.hpp"

namespace heddle {

namespace deflation {
namespace {

template <class S>
void check_vectors(const LinearOperator<S>& matrix, std::span<const FieldView<const S>> vectors,
                   const Preconditioner<S>* inner) {
  constexpr std::size_t limit = Deflation<S>::limit;
  static_assert(limit <= cuda::max_fields);
  if (vectors.empty() || vectors.size() > limit) {
    throw Error(ErrorKind::usage, "deflation takes 1 to " + std::to_string(limit) +
                                      " vectors, not " + std::to_string(vectors.size()));
  }
  detail::check_parts(matrix, inner, "deflation");
  if (!matrix.has_adjoint()) {
    throw Error(ErrorKind::unsupported,
                "deflation needs a Hermitian matrix, and these entries have no adjoint");
  }
  if (inner != nullptr && !inner->is_hermitian()) {
    throw Error(ErrorKind::unsupported,
                "deflation needs a Hermitian inner preconditioner, and this one says that it is "
                "not");
  }
  if (matrix.row_components() % ring_size(matrix.coefficient_ring()) != 0) {
    throw Error(ErrorKind::size_mismatch, "rows of " + std::to_string(matrix.row_components()) +
                                              " components are not whole elements of the ring");
  }
  for (const FieldView<const S>& vector : vectors) {
    vector.check();
    if (vector.size == matrix.rows() && vector.components == matrix.row_components()) continue;
    throw Error(ErrorKind::size_mismatch,
                "the operator has " + std::to_string(matrix.rows()) + " rows of " +
                    std::to_string(matrix.row_components()) +
                    " components, a vector of the deflation " + std::to_string(vector.size) +
                    " of " + std::to_string(vector.components));
  }
}

template <class S>
void check_memory(const LinearOperator<S>& matrix, std::size_t vectors) {
  const long long field = detail::bytes_of_field(matrix);
  const long long fields = static_cast<long long>(vectors) +
                           detail::CoarseSpaceOver<Ring::real, S>::spare_fields(vectors);
  const long long needed =
      fields * field + detail::BlockOperations<Ring::quaternion, S>::bytes(
                           static_cast<int>(vectors), matrix.rows(), matrix.device().stream());
  detail::check_available(matrix, "deflation on " + std::to_string(vectors) + " vectors needs",
                          fields, needed);
}

template <class S>
std::unique_ptr<detail::CoarseSpace<S>> make_space(const LinearOperator<S>& matrix,
                                                   std::span<const FieldView<const S>> vectors,
                                                   const Preconditioner<S>* inner) {
  check_vectors(matrix, vectors, inner);
  check_memory(matrix, vectors.size());
  switch (matrix.coefficient_ring()) {
    case Ring::complex:
      return std::make_unique<detail::CoarseSpaceOver<Ring::complex, S>>(matrix, vectors);
    case Ring::quaternion:
      return std::make_unique<detail::CoarseSpaceOver<Ring::quaternion, S>>(matrix, vectors);
    case Ring::real:
      break;
  }
  return std::make_unique<detail::CoarseSpaceOver<Ring::real, S>>(matrix, vectors);
}

template <class S>
bool lies_as(const FieldView<const S>& field, const FieldView<S>& other) {
  return field.entry_stride == other.entry_stride &&
         field.component_stride == other.component_stride;
}

}  // namespace
}  // namespace deflation

template <class S>
Deflation<S>::Deflation(OperatorReference<S> matrix, std::span<const FieldView<const S>> vectors,
                        std::shared_ptr<Preconditioner<S>> inner)
    : matrix_(std::move(matrix)),
      inner_(std::move(inner)),
      coarse_(deflation::make_space<S>(*matrix_, vectors, inner_.get())) {
  refresh();
}
template <class S>
Deflation<S>::Deflation(Deflation&&) noexcept = default;
template <class S>
Deflation<S>::~Deflation() = default;

template <class S>
std::optional<FieldShape> Deflation<S>::shape() const {
  return detail::shape_of(*matrix_);
}

template <class S>
void Deflation<S>::refresh() {
  if (inner_) inner_->refresh();
  const std::optional<long long> generation = detail::generation_of(*matrix_);
  if (generation && generation == generation_) return;
  coarse_->renew(*matrix_, inner_.get());
  generation_ = generation;
}

template <class S>
Workspace Deflation<S>::workspace() const {
  return inner_ ? inner_->workspace() : Workspace{};
}

template <class S>
bool Deflation<S>::is_symmetric() const {
  // W W* of complex vectors is Hermitian, not symmetric.
  return matrix_->coefficient_ring() == Ring::real && (!inner_ || inner_->is_symmetric());
}

template <class S>
long long Deflation<S>::bytes_of_application() const {
  const long long field = detail::bytes_of_field(*matrix_);
  // W is read twice and r once; z is read and written.
  return (2 * vectors() + 3) * field + (inner_ ? inner_->bytes_of_application() : 0);
}

template <class S>
void Deflation<S>::apply(const FieldView<const S>& r, const FieldView<S>& z,
                         const Stream& stream) const {
  const Stream own = matrix_->device().stream();
  const FieldView<S>& like = coarse_->field();
  detail::check_fields(r, z, like, "deflation");
  if (!deflation::lies_as<S>(r, like) || !deflation::lies_as<S>(z, like)) {
    throw Error(ErrorKind::size_mismatch,
                "deflation: a field has a different layout than the operator's plan");
  }
  if (inner_) {
    inner_->apply(r, z, stream);
  } else {
    copy<S>(r, z, stream);
  }
  const bool is_another = stream.on_gpu() && stream.queue != own.queue;
  if constexpr (has_cuda) {
    if (is_another) cuda::synchronize(stream);
  }
  coarse_->add_correction(r, z);
  if constexpr (has_cuda) {
    if (is_another) cuda::synchronize(own);
  }
}

template <class S>
int Deflation<S>::vectors() const {
  return coarse_->vectors;
}
template <class S>
double Deflation<S>::sigma() const {
  return coarse_->sigma;
}

template class Deflation<float>;
template class Deflation<double>;
HEDDLE_IN_LONG_DOUBLE(template class Deflation<long double>;)

}  // namespace heddle
