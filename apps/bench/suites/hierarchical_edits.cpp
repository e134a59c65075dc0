#include "hierarchical_edits.hpp"

#include <algorithm>
#include <limits>
#include <memory>
#include <string>
#include <type_traits>
#include <unordered_set>
#include <utility>
#include <vector>

#include "heddle/hierarchical_matrix.hpp"
#include "heddle/tools/team.hpp"
#include "peers/own_product.hpp"
#include "problems/mesh_patterns.hpp"
#include "timed_ways.hpp"

namespace heddle::bench {

namespace hierarchical_edits {
namespace {

using heddle::detail::EditAction;
using heddle::detail::PlacedEdit;

/// Random edits of `rows`, places once: every other one removes an entry, the others set one at
/// most 50 columns from an entry.
template <class E>
EditBatch<E> random_edits(const CsrMatrix<E>& A, Index begin, Index end, Offset count) {
  constexpr std::uint64_t which = 3001, by = 3002, value = 3003;
  constexpr Index reach = 50;
  const Offset first = A.offsets()[static_cast<std::size_t>(begin)];
  const Offset entries = A.offsets()[static_cast<std::size_t>(end)] - first;
  EditBatch<E> edits;
  edits.reserve(static_cast<std::size_t>(count));
  std::unordered_set<std::uint64_t> taken;
  for (std::uint64_t k = 0; static_cast<Offset>(k) < count; ++k) {
    const Offset i = first + static_cast<Offset>(of_place(which, k) * static_cast<double>(entries));
    const auto above = std::upper_bound(A.offsets().begin(), A.offsets().end(), i);
    const auto row = static_cast<Index>(above - A.offsets().begin() - 1);
    Index column = A.column()[static_cast<std::size_t>(i)];
    const bool removes = k % 2 == 0;
    if (!removes) {
      const auto step = static_cast<Index>(of_place(by, k) * (2 * reach + 1)) - reach;
      column = std::clamp(column + step, 0, A.columns() - 1);
    }
    if (!taken.insert(static_cast<std::uint64_t>(row) << 32 | static_cast<std::uint64_t>(column))
             .second) {
      continue;
    }
    if (removes) {
      edits.remove(row, column);
      continue;
    }
    E entry{};
    for (int c = 0; c < E::components; ++c) {
      entry.component[c] = static_cast<stored_scalar_t<E>>(
          of_place(value, k * E::components + static_cast<std::uint64_t>(c)));
    }
    edits.set(row, column, entry);
  }
  return edits;
}

/// The matrix in compressed rows anew: a merge of each row with its edits, rows by all threads.
template <class E>
CsrMatrix<E> rebuilt(const CsrMatrix<E>& A, const EditBatch<E>& edits, const Device& device) {
  struct Edit {
    PlacedEdit place;
    std::size_t index;
  };
  std::vector<Edit> sorted;
  sorted.reserve(edits.size());
  for (std::size_t i = 0; i < edits.size(); ++i) sorted.push_back({edits.places()[i], i});
  std::sort(sorted.begin(), sorted.end(), [](const Edit& a, const Edit& b) {
    return std::pair(a.place.row, a.place.column) < std::pair(b.place.row, b.place.column);
  });
  // Calls `body(column, entry)` with the entries of a row afterwards.
  const auto for_each_entry = [&](Index row, const auto& body) {
    auto edit = std::partition_point(sorted.begin(), sorted.end(),
                                     [&](const Edit& e) { return e.place.row < row; });
    const auto take_until = [&](Index column) {
      for (; edit != sorted.end() && edit->place.row == row && edit->place.column < column;
           ++edit) {
        body(edit->place.column, edits.values()[edit->index]);
      }
    };
    for (Offset i = A.offsets()[static_cast<std::size_t>(row)];
         i < A.offsets()[static_cast<std::size_t>(row) + 1]; ++i) {
      const Index column = A.column()[static_cast<std::size_t>(i)];
      take_until(column);
      if (edit != sorted.end() && edit->place.row == row && edit->place.column == column) {
        if (edit->place.action == EditAction::set) body(column, edits.values()[edit->index]);
        ++edit;
      } else {
        body(column, A.entry(i));
      }
    }
    take_until(std::numeric_limits<Index>::max());
  };
  const int team = team_size(device.stream(), A.entries());
  Array<Offset> offsets(static_cast<std::size_t>(A.rows()) + 1);
  parallel_for(team, A.rows(), [&](Index row) {
    for_each_entry(row, [&](Index, const E&) { ++offsets[static_cast<std::size_t>(row) + 1]; });
  });
  for (std::size_t row = 1; row < offsets.size(); ++row) offsets[row] += offsets[row - 1];
  Array<Index> column(static_cast<std::size_t>(offsets.span().back()));
  Array<stored_scalar_t<E>> values(column.size() * E::components);
  parallel_for(team, A.rows(), [&](Index row) {
    auto to = static_cast<std::size_t>(offsets[static_cast<std::size_t>(row)]);
    for_each_entry(row, [&](Index of_column, const E& entry) {
      column[to] = of_column;
      std::copy_n(entry.component, E::components, values.data() + to * E::components);
      ++to;
    });
  });
  return {A.rows(), A.columns(), std::move(offsets), std::move(column), std::move(values)};
}

/// 0 where both are the same bit by bit.
template <class E>
double difference(const CsrMatrix<E>& a, const CsrMatrix<E>& b) {
  const bool is_same =
      std::equal(a.offsets().begin(), a.offsets().end(), b.offsets().begin(), b.offsets().end()) &&
      std::equal(a.column().begin(), a.column().end(), b.column().begin(), b.column().end()) &&
      std::equal(a.values().begin(), a.values().end(), b.values().begin(), b.values().end());
  return is_same ? 0 : std::numeric_limits<double>::infinity();
}

template <class E>
void measure(Session& session, const Problem& problem, const CsrMatrix<E>& matrix,
             const std::string& quantity, const EditBatch<E>& edits) {
  const Device device = session.device();
  using Tree = HierarchicalMatrix<E>;
  const auto A = std::make_shared<const Tree>(matrix, default_node_size, device);
  const OwnProduct product = product_by<E>(A, problem.x);
  const auto B = std::make_shared<std::unique_ptr<Tree>>();
  const auto anew = std::make_shared<CsrMatrix<E>>();
  const auto edit = [=, &edits](const Stream&) {
    *B = std::make_unique<Tree>(A->edited(edits));
    device.synchronize();
  };
  const auto edit_and_multiply = [=](const Stream& stream) {
    edit(stream);
    Field<E> x((*B)->columns(), device), y((*B)->rows(), device);
    (*B)->apply(vector_scalar_t<E>(1), std::as_const(x).view(), vector_scalar_t<E>(0), y.view(),
                stream);
    device.synchronize();
  };
  const auto expected = rebuilt(matrix, edits, Device::cpu());
  const auto error = [B, &expected] { return difference((*B)->to_csr(), expected); };
  std::vector<TimedWay> ways = {
      {Role::chosen, "Heddle", "hisparse", edit, error, {}, true},
      {Role::tried,
       "Heddle",
       "hisparse, and the first product",
       edit_and_multiply,
       error,
       {},
       true},
      {Role::tried,
       "Heddle",
       "a product",
       A->is_capturable() ? product.queue : waiting(product.queue, device),
       {},
       {},
       !A->is_capturable()}};
  if (!device.on_gpu()) {
    ways.push_back({Role::peer, "textbook", "compressed rows anew",
                    [=, &matrix, &edits](const Stream&) { *anew = rebuilt(matrix, edits, device); },
                    [anew, &expected] { return difference(*anew, expected); }});
  }
  Record record = measured(session, record_of("hierarchical", problem, quantity), ways);
  const auto product_time = record.candidates[2].seconds;
  for (Candidate& candidate : record.candidates) {
    if (product_time && candidate.seconds) {
      candidate.of_product = candidate.seconds->median / product_time->median;
    }
  }
  session.add(std::move(record));
}

}  // namespace
}  // namespace hierarchical_edits

template <class E>
void measure_edits(Session& session, const Problem& problem, const CsrMatrix<E>& matrix) {
  using namespace hierarchical_edits;
  if (matrix.entries() == 0) return;
  const Index rows = matrix.rows(), nodes = (rows - 1) / default_node_size + 1;
  measure(session, problem, matrix, "edits of 1%",
          random_edits(matrix, 0, rows, std::max<Offset>(2, matrix.entries() / 100)));
  const Index begin = nodes / 2 * default_node_size;
  const Index end = std::min(rows, begin + (nodes / 100 + 1) * default_node_size);
  const Offset near = matrix.offsets()[static_cast<std::size_t>(end)] -
                      matrix.offsets()[static_cast<std::size_t>(begin)];
  if (near == 0) return;
  measure(session, problem, matrix, "edits in 1% of the leaves",
          random_edits(matrix, begin, end, std::max<Offset>(2, near / 10)));
  EditBatch<E> one;
  const Index middle =
      matrix.column()[static_cast<std::size_t>(matrix.offsets()[static_cast<std::size_t>(begin)])];
  one.set(begin, middle, E{});
  measure(session, problem, matrix, "edit of one node", one);
}

#define HEDDLE_INSTANTIATE(E) \
  template void measure_edits<E>(Session&, const Problem&, const CsrMatrix<E>&);
HEDDLE_INSTANTIATE(real<float>)
HEDDLE_INSTANTIATE(real<double>)
HEDDLE_INSTANTIATE(complex<double>)
HEDDLE_INSTANTIATE(quaternion<double>)
template void measure_edits<block<double, 3, 3>>(Session&, const Problem&,
                                                 const CsrMatrix<block<double, 3, 3>>&);
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::bench
