#include "heddle/distributed_multigrid.hpp"

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "distributed/exchange/root_exchange.hpp"
#include "rank_hierarchy.hpp"
#include "runtime/multigrid_candidates.hpp"
#include "solvers/operators/operator_checks.hpp"
#include "solvers/operators/operator_field.hpp"

namespace heddle {

namespace distributed_multigrid {
namespace {

template <class S>
using Made = typename detail::RankHierarchy<S>::Made;

template <class S>
Made<S> made_of(const detail::SlicedOperator<S>& whole, const MultigridOptions& options,
                const std::vector<Array<S>>& fields) {
  if (std::is_same_v<S, double> && options.level_precision == StoredScalar::single) {
    throw Error(ErrorKind::unsupported,
                "multigrid: ranks allow no levels in single precision for a matrix in double");
  }
  return {std::make_unique<detail::Hierarchy<S>>(whole, options,
                                                 detail::candidate_views(whole, fields)),
          fields.size()};
}

/// The field of all ranks in the order of all rows, on rank 0, from each rank's rows.
template <class S>
Array<S> field_of_all(const DistributedOperator<S>& matrix, const FieldView<const S>& field) {
  Communicator& ranks = matrix.ranks();
  const auto width = static_cast<std::size_t>(matrix.row_components());
  std::vector<S> own(static_cast<std::size_t>(matrix.rows()) * width);
  together(ranks, [&] {
    const auto inside = detail::row_field_of<S>(matrix);
    const Stream stream = matrix.device().stream();
    check_same_shape(field, inside.view, "a multigrid candidate");
    permute<S>(field, inside.view, S(1), stream);
    permute<S>(inside.view, FieldView<S>(own.data(), matrix.rows(), matrix.row_components()), S(1),
               stream);
    matrix.device().synchronize();
  });
  const auto of_ranks = detail::bytes_to_root(ranks, std::as_bytes(std::span(own)));
  Array<S> all;
  together(ranks, [&] {
    if (ranks.rank() != 0) return;
    const Partition& partition = matrix.partition();
    all = Array<S>(static_cast<std::size_t>(partition.rows()) * width);
    const std::size_t bytes = width * sizeof(S);
    for (int r = 0; r < ranks.size(); ++r) {
      const std::byte* from = of_ranks[static_cast<std::size_t>(r)].data();
      for (long long i = 0; i < partition.rows_of(r); ++i, from += bytes) {
        const auto row = static_cast<std::size_t>(partition.row(partition.first_row(r) + i));
        std::memcpy(all.data() + row * width, from, bytes);
      }
    }
  });
  return all;
}

}  // namespace
}  // namespace distributed_multigrid

using distributed_multigrid::made_of;

template <class S>
DistributedMultigrid<S>::DistributedMultigrid(const DistributedOperator<S>& matrix,
                                              const MultigridOptions& options,
                                              std::span<const FieldView<const S>> candidates) {
  std::vector<Array<S>> fields;
  const auto counts = gather(matrix.ranks(), static_cast<long long>(candidates.size()));
  if (std::any_of(counts.begin(), counts.end(), [&](long long c) { return c != counts[0]; })) {
    throw Error(ErrorKind::usage, "ranks disagree about the number of multigrid candidates");
  }
  for (const FieldView<const S>& field : candidates) {
    fields.push_back(distributed_multigrid::field_of_all(matrix, field));
  }
  hierarchy_ = std::make_unique<detail::RankHierarchy<S>>(
      matrix, options, [&](const detail::SlicedOperator<S>& whole, const MultigridOptions& given) {
        return made_of(whole, given, fields);
      });
}
template <class S>
DistributedMultigrid<S>::DistributedMultigrid(const DistributedOperator<S>& matrix, int degree,
                                              const MultigridChoice& choice)
    : hierarchy_(std::make_unique<detail::RankHierarchy<S>>(
          matrix, detail::multigrid_options(degree, choice),
          [&](const detail::SlicedOperator<S>& whole, const MultigridOptions& given) {
            return made_of(whole, given, detail::candidate_fields(whole, given, choice));
          })) {}
template <class S>
DistributedMultigrid<S>::DistributedMultigrid(DistributedMultigrid&&) noexcept = default;
template <class S>
DistributedMultigrid<S>::~DistributedMultigrid() = default;

template <class S>
std::optional<FieldShape> DistributedMultigrid<S>::shape() const {
  return hierarchy_->cycle().shape();
}
template <class S>
void DistributedMultigrid<S>::refresh() {
  hierarchy_->refresh();
}
template <class S>
bool DistributedMultigrid<S>::is_constant() const {
  return hierarchy_->cycle().is_constant();
}
template <class S>
bool DistributedMultigrid<S>::is_symmetric() const {
  return hierarchy_->matrix().ring() == Ring::real;
}
template <class S>
long long DistributedMultigrid<S>::bytes_of_application() const {
  return hierarchy_->cycle().bytes_of_application();
}
template <class S>
void DistributedMultigrid<S>::apply(const FieldView<const S>& r, const FieldView<S>& z,
                                    const Stream& stream) const {
  hierarchy_->cycle().apply(r, z, stream);
}
template <class S>
MultigridReport DistributedMultigrid<S>::report() const {
  return hierarchy_->report();
}

template <class S>
detail::MadeMultigrid<S> DistributedOperator<S>::make_multigrid(
    int degree, const MultigridChoice& choice) const {
  auto made = std::make_shared<DistributedMultigrid<S>>(*this, degree, choice);
  return {made, [known = std::weak_ptr(made)] {
            const auto there = known.lock();
            return there ? there->report() : MultigridReport{};
          }};
}

template class DistributedMultigrid<float>;
template class DistributedMultigrid<double>;
template detail::MadeMultigrid<float> DistributedOperator<float>::make_multigrid(
    int, const MultigridChoice&) const;
template detail::MadeMultigrid<double> DistributedOperator<double>::make_multigrid(
    int, const MultigridChoice&) const;

}  // namespace heddle
