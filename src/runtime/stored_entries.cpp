#include "heddle/detail/stored_entries.hpp"

#include <type_traits>
#include <utility>

#include "base/long_double.hpp"
#include "heddle/approximate_inverse.hpp"
#include "heddle/block_jacobi.hpp"
#include "heddle/detail/sliced_jacobi.hpp"
#include "heddle/multigrid.hpp"
#include "heddle/runtime/preconditioner_choice.hpp"
#include "multigrid_candidates.hpp"

namespace heddle::detail {

namespace {

/// Only tests compute in long double, which these preconditioners lack.
template <class S>
constexpr bool is_wide = std::is_same_v<S, long double>;
[[noreturn]] void refuse_wide() {
  throw Error(ErrorKind::unsupported, "this preconditioner is not made in long double");
}

}  // namespace

template <class S>
std::shared_ptr<Preconditioner<S>> StoredEntries<S>::jacobi() const {
  return std::make_shared<SlicedJacobi<S>>(sliced_diagonal());
}

template <class S>
std::shared_ptr<Preconditioner<S>> StoredEntries<S>::make_inverse(
    const PreconditionerChoice& choice) const {
  if constexpr (is_wide<S>) {
    refuse_wide();
  } else {
    switch (choice.kind) {
      case PreconditionerKind::block_jacobi:
        return std::make_shared<BlockJacobi<S>>(sliced(), choice.number);
      case PreconditionerKind::fsai:
        return std::make_shared<Fsai<S>>(sliced(), choice.number);
      case PreconditionerKind::isai:
        return std::make_shared<Isai<S>>(sliced(), choice.number);
      default:
        throw Error(ErrorKind::usage, choice.text() + " is not made from all entries");
    }
  }
}

template <class S>
MadeMultigrid<S> StoredEntries<S>::make_multigrid(int degree, const MultigridChoice& choice) const {
  if constexpr (is_wide<S>) {
    refuse_wide();
  } else {
    const SlicedOperator<S> matrix = sliced();
    const MultigridOptions options = multigrid_options(degree, choice);
    const auto fields = candidate_fields(matrix, options, choice);
    auto made = std::make_shared<Multigrid<S>>(matrix, options, candidate_views(matrix, fields));
    return {made, [known = std::weak_ptr<Multigrid<S>>(made)] {
              const auto there = known.lock();
              return there ? there->report() : MultigridReport{};
            }};
  }
}

template class StoredEntries<float>;
template class StoredEntries<double>;
HEDDLE_IN_LONG_DOUBLE(template class StoredEntries<long double>;)

template <class S>
SlicedCopies<S>::SlicedCopies() = default;
template <class S>
SlicedCopies<S>::~SlicedCopies() = default;

template <class S>
SlicedOperator<S> SlicedCopies<S>::diagonal(const Make& make) {
  const std::lock_guard lock(making_);
  if (all_) return *all_;
  if (!diagonal_) diagonal_ = std::make_unique<SlicedOperator<S>>(make());
  return *diagonal_;
}

template <class S>
SlicedOperator<S> SlicedCopies<S>::all(const Make& make) {
  const std::lock_guard lock(making_);
  if (!all_) all_ = std::make_unique<SlicedOperator<S>>(make());
  return *all_;
}

template <class S>
long long SlicedCopies<S>::bytes() const {
  const std::lock_guard lock(making_);
  return (diagonal_ ? diagonal_->memory().total() : 0) + (all_ ? all_->memory().total() : 0);
}

template class SlicedCopies<float>;
template class SlicedCopies<double>;
HEDDLE_IN_LONG_DOUBLE(template class SlicedCopies<long double>;)

}  // namespace heddle::detail
