#include "made_from_entries.hpp"

#include <utility>

#include "heddle/approximate_inverse.hpp"
#include "heddle/block_jacobi.hpp"
#include "heddle/detail/sliced_jacobi.hpp"
#include "heddle/direct_inverse.hpp"
#include "heddle/multigrid.hpp"
#include "heddle/runtime/preconditioner_choice.hpp"
#include "multigrid_candidates.hpp"

namespace heddle::detail {

template <class S>
std::shared_ptr<Preconditioner<S>> jacobi_of(const StoredEntries<S>& entries) {
  if (auto own = entries.jacobi()) return own;
  return std::make_shared<SlicedJacobi<S>>(entries.sliced_diagonal());
}

template <class S>
std::shared_ptr<Preconditioner<S>> inverse_of(const StoredEntries<S>& entries,
                                              const PreconditionerChoice& choice) {
  if (auto own = entries.make_inverse(choice)) return own;
  switch (choice.kind) {
    case PreconditionerKind::block_jacobi:
      return std::make_shared<BlockJacobi<S>>(entries.sliced(), choice.number);
    case PreconditionerKind::fsai:
      return std::make_shared<Fsai<S>>(entries.sliced(), choice.number);
    case PreconditionerKind::isai:
      return std::make_shared<Isai<S>>(entries.sliced(), choice.number);
    case PreconditionerKind::direct:
      return std::make_shared<DirectInverse<S>>(entries.sliced());
    default:
      throw Error(ErrorKind::internal, choice.text() + " is not made from all entries");
  }
}

template <class S>
MadeMultigrid<S> multigrid_of(const StoredEntries<S>& entries, int degree,
                              const MultigridChoice& choice) {
  if (auto own = entries.make_multigrid(degree, choice); own.preconditioner) return own;
  const SlicedOperator<S> matrix = entries.sliced();
  const MultigridOptions options = multigrid_options(degree, choice);
  const auto fields = candidate_fields(matrix, options, choice);
  auto made = std::make_shared<Multigrid<S>>(matrix, options, candidate_views(matrix, fields));
  return {made, [known = std::weak_ptr<Multigrid<S>>(made)] {
            const auto there = known.lock();
            return there ? there->report() : MultigridReport{};
          }};
}

template std::shared_ptr<Preconditioner<float>> jacobi_of(const StoredEntries<float>&);
template std::shared_ptr<Preconditioner<double>> jacobi_of(const StoredEntries<double>&);
template std::shared_ptr<Preconditioner<float>> inverse_of(const StoredEntries<float>&,
                                                           const PreconditionerChoice&);
template std::shared_ptr<Preconditioner<double>> inverse_of(const StoredEntries<double>&,
                                                            const PreconditionerChoice&);
template MadeMultigrid<float> multigrid_of(const StoredEntries<float>&, int,
                                           const MultigridChoice&);
template MadeMultigrid<double> multigrid_of(const StoredEntries<double>&, int,
                                            const MultigridChoice&);

}  // namespace heddle::detail
