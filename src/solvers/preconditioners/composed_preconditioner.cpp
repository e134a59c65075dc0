#include "heddle/composed_preconditioner.hpp"

#include <algorithm>
#include <string>

#include "base/long_double.hpp"
#include "preconditioner_fields.hpp"
#include "solvers/operators/applies_in_graph.hpp"

namespace heddle {

namespace detail {

template <class S>
ComposedPreconditioner<S>::ComposedPreconditioner(OperatorReference<S> matrix, Parts parts,
                                                  const char* name, int fields)
    : matrix_(std::move(matrix)), parts_(std::move(parts)), name_(name) {
  if (parts_.empty())
    throw Error(ErrorKind::usage, std::string(name) + " needs at least one preconditioner");
  check_square(*matrix_, name);
  for (const auto& part : parts_) {
    if (!part) throw Error(ErrorKind::usage, std::string(name) + ": a null preconditioner");
    check_fits(*part, *matrix_);
  }
  for (int i = 0; i < fields; ++i) fields_.push_back(make_field(*matrix_, storage_));
}

template <class S>
std::optional<FieldShape> ComposedPreconditioner<S>::shape() const {
  return shape_of(*matrix_);
}

template <class S>
bool ComposedPreconditioner<S>::is_first(std::size_t i) const {
  const auto end = parts_.begin() + static_cast<std::ptrdiff_t>(i);
  return std::find(parts_.begin(), end, parts_[i]) == end;
}

template <class S>
void ComposedPreconditioner<S>::refresh() {
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    if (is_first(i)) parts_[i]->refresh();
  }
}

template <class S>
void ComposedPreconditioner<S>::set_watch(const InnerWatch* watch) {
  for (const auto& part : parts_) part->set_watch(watch);
}

template <class S>
Workspace ComposedPreconditioner<S>::workspace() const {
  Workspace sum;
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    if (is_first(i)) sum = sum + parts_[i]->workspace();
  }
  return sum;
}

template <class S>
bool ComposedPreconditioner<S>::is_constant() const {
  return std::all_of(parts_.begin(), parts_.end(), [](const auto& p) { return p->is_constant(); });
}
template <class S>
bool ComposedPreconditioner<S>::all_hermitian() const {
  return std::all_of(parts_.begin(), parts_.end(), [](const auto& p) { return p->is_hermitian(); });
}
template <class S>
bool ComposedPreconditioner<S>::all_symmetric() const {
  return std::all_of(parts_.begin(), parts_.end(), [](const auto& p) { return p->is_symmetric(); });
}
template <class S>
bool ComposedPreconditioner<S>::is_palindrome() const {
  return std::equal(parts_.begin(), parts_.end(), parts_.rbegin());
}

template <class S>
bool ComposedPreconditioner<S>::is_capturable() const {
  return matrix_->device().on_gpu() && std::all_of(parts_.begin(), parts_.end(), [](const auto& p) {
           return p->is_capturable();
         });
}

template <class S>
bool ComposedPreconditioner<S>::refreshes_in_graph() const {
  return std::all_of(parts_.begin(), parts_.end(),
                     [](const auto& p) { return p->refreshes_in_graph(); });
}
template <class S>
bool ComposedPreconditioner<S>::can_queue_refresh() const {
  return std::all_of(parts_.begin(), parts_.end(),
                     [](const auto& p) { return p->can_queue_refresh(); });
}
template <class S>
void ComposedPreconditioner<S>::queue_refresh(Index* singular_row, const Stream& stream) {
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    if (is_first(i)) parts_[i]->queue_refresh(singular_row, stream);
  }
}

template <class S>
void ComposedPreconditioner<S>::check_operands(const FieldView<const S>& r,
                                               const FieldView<S>& z) const {
  check_fields(r, z, fields_.front(), name_);
}

template <class S>
long long ComposedPreconditioner<S>::bytes_of_field() const {
  return static_cast<long long>(matrix_->rows()) * matrix_->row_components() *
         static_cast<long long>(sizeof(S));
}
template <class S>
long long ComposedPreconditioner<S>::bytes_of_parts() const {
  long long bytes = 0;
  for (const auto& part : parts_) bytes += part->bytes_of_application() + 2 * bytes_of_field();
  return bytes;
}

template class ComposedPreconditioner<float>;
template class ComposedPreconditioner<double>;
HEDDLE_IN_LONG_DOUBLE(template class ComposedPreconditioner<long double>;)

}  // namespace detail

template <class S>
ProductPreconditioner<S>::ProductPreconditioner(
    OperatorReference<S> matrix, std::vector<std::shared_ptr<Preconditioner<S>>> parts)
    : detail::ComposedPreconditioner<S>(std::move(matrix), std::move(parts),
                                        "a product of preconditioners", 1) {}

template <class S>
long long ProductPreconditioner<S>::bytes_of_application() const {
  return this->bytes_of_parts() - 2 * this->bytes_of_field();
}

template <class S>
void ProductPreconditioner<S>::apply(const FieldView<const S>& r, const FieldView<S>& z,
                                     const Stream& stream) const {
  this->check_operands(r, z);
  FieldView<const S> from = r;
  // Results alternate between two fields, so that the last one is in z.
  for (std::size_t left = this->parts().size(); left > 0; --left) {
    const FieldView<S>& to = left % 2 == 1 ? z : this->field(0);
    this->parts()[left - 1]->apply(from, to, stream);
    from = to;
  }
}

template <class S>
MultiplicativePreconditioner<S>::MultiplicativePreconditioner(
    OperatorReference<S> matrix, std::vector<std::shared_ptr<Preconditioner<S>>> parts)
    : detail::ComposedPreconditioner<S>(std::move(matrix), std::move(parts),
                                        "a multiplicative preconditioner", 2) {}

template <class S>
bool MultiplicativePreconditioner<S>::is_capturable() const {
  return detail::ComposedPreconditioner<S>::is_capturable() &&
         detail::applies_in_graph(this->matrix().iterated());
}

template <class S>
long long MultiplicativePreconditioner<S>::bytes_of_application() const {
  // Each part except the first takes a copy, a product that adds, and z += correction.
  const auto others = static_cast<long long>(this->parts().size()) - 1;
  return this->bytes_of_parts() - 2 * this->bytes_of_field() +
         others * (this->matrix().iterated().bytes_of_product() + 6 * this->bytes_of_field());
}

template <class S>
void MultiplicativePreconditioner<S>::apply(const FieldView<const S>& r, const FieldView<S>& z,
                                            const Stream& stream) const {
  this->check_operands(r, z);
  const FieldView<S>&residual = this->field(0), &correction = this->field(1);
  for (std::size_t i = 0; i < this->parts().size(); ++i) {
    const Preconditioner<S>& part = *this->parts()[i];
    if (i == 0) {
      part.apply(r, z, stream);
      continue;
    }
    axpby<S>(S(1), r, S(0), residual, stream);
    this->matrix().iterated().apply(S(-1), z, S(1), residual, stream);
    part.apply(residual, correction, stream);
    axpby<S>(S(1), correction, S(1), z, stream);
  }
}

template class ProductPreconditioner<float>;
template class ProductPreconditioner<double>;
HEDDLE_IN_LONG_DOUBLE(template class ProductPreconditioner<long double>;)
template class MultiplicativePreconditioner<float>;
template class MultiplicativePreconditioner<double>;
HEDDLE_IN_LONG_DOUBLE(template class MultiplicativePreconditioner<long double>;)

}  // namespace heddle
