#include "hierarchical_edits.hpp"

#include <algorithm>
#include <memory>
#include <span>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "csr_difference.hpp"
#include "heddle/dynamic_product.hpp"
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

/// `count` random edits in rows [begin, end), each place once, or fewer where the rows have too few
/// places: every other edit removes an entry, the others set one at most 50 columns from an entry.
template <class E>
EditBatch<E> random_edits(const CsrMatrix<E>& A, Index begin, Index end, Offset count) {
  constexpr std::uint64_t which = 3001, by = 3002, value = 3003;
  constexpr Index reach = 50;
  constexpr std::uint64_t max_draws = 20;
  const Offset first = A.offsets()[static_cast<std::size_t>(begin)];
  const Offset entries = A.offsets()[static_cast<std::size_t>(end)] - first;
  const auto wanted = static_cast<std::size_t>(count);
  EditBatch<E> edits;
  edits.reserve(wanted);
  std::unordered_set<std::uint64_t> taken;
  for (std::uint64_t k = 0; edits.size() < wanted && k < max_draws * wanted; ++k) {
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

/// Edits sorted by row and column: those of row r are at [first[r], first[r + 1]).
struct SortedEdits {
  struct Edit {
    PlacedEdit place;
    std::size_t index;
  };
  std::vector<Edit> all;
  std::vector<std::size_t> first;

  SortedEdits(std::span<const PlacedEdit> places, Index rows)
      : first(static_cast<std::size_t>(rows) + 1) {
    all.reserve(places.size());
    for (std::size_t i = 0; i < places.size(); ++i) {
      all.push_back({places[i], i});
      ++first[static_cast<std::size_t>(places[i].row) + 1];
    }
    std::sort(all.begin(), all.end(), [](const Edit& a, const Edit& b) {
      return std::pair(a.place.row, a.place.column) < std::pair(b.place.row, b.place.column);
    });
    for (std::size_t row = 1; row < first.size(); ++row) first[row] += first[row - 1];
  }
  std::span<const Edit> of(std::size_t row) const {
    return std::span(all).subspan(first[row], first[row + 1] - first[row]);
  }
};

/// Rebuilds the matrix in compressed rows with all threads: rows with edits are merged with them,
/// others are copied.
template <class E>
CsrMatrix<E> rebuilt(const CsrMatrix<E>& A, const EditBatch<E>& edits, const Device& device) {
  const SortedEdits sorted(edits.places(), A.rows());
  const int team = team_size(device.stream(), A.entries());
  Array<Offset> offsets(static_cast<std::size_t>(A.rows()) + 1);
  parallel_for(team, A.rows(), [&](Index r) {
    const auto row = static_cast<std::size_t>(r);
    const auto begin = A.column().begin() + A.offsets()[row];
    const auto end = A.column().begin() + A.offsets()[row + 1];
    Offset length = end - begin;
    for (const auto& edit : sorted.of(row)) {
      if (edit.place.action == EditAction::remove) {
        --length;
      } else if (!std::binary_search(begin, end, edit.place.column)) {
        ++length;
      }
    }
    offsets[row + 1] = length;
  });
  for (std::size_t row = 1; row < offsets.size(); ++row) offsets[row] += offsets[row - 1];
  Array<Index> column(static_cast<std::size_t>(offsets.span().back()));
  Array<stored_scalar_t<E>> values(column.size() * E::components);
  parallel_for(team, A.rows(), [&](Index r) {
    const auto row = static_cast<std::size_t>(r);
    Offset from = A.offsets()[row], to = offsets[row];
    const auto copy = [&](Offset end) {
      std::copy_n(A.column().data() + from, end - from, column.data() + to);
      std::copy_n(A.values().data() + from * E::components, (end - from) * E::components,
                  values.data() + to * E::components);
      to += end - from;
      from = end;
    };
    const Offset end = A.offsets()[row + 1];
    for (const auto& edit : sorted.of(row)) {
      const auto at =
          std::lower_bound(A.column().begin() + from, A.column().begin() + end, edit.place.column);
      copy(at - A.column().begin());
      if (from < end && A.column()[static_cast<std::size_t>(from)] == edit.place.column) ++from;
      if (edit.place.action == EditAction::remove) continue;
      column[static_cast<std::size_t>(to)] = edit.place.column;
      std::copy_n(edits.values()[edit.index].component, E::components,
                  values.data() + to * E::components);
      ++to;
    }
    copy(end);
  });
  return {A.rows(), A.columns(), std::move(offsets), std::move(column), std::move(values)};
}

template <class E>
class Edits {
  using S = vector_scalar_t<E>;
  using Tree = HierarchicalMatrix<E>;

 public:
  Edits(Session& session, const Problem& problem, const CsrMatrix<E>& matrix)
      : session_(session), problem_(problem), matrix_(matrix), device_(session.device()) {}

  void measure(const std::string& quantity, const EditBatch<E>& edits) {
    const CsrMatrix<E> expected = rebuilt(matrix_, edits, Device::cpu());
    const std::vector<double> y = reference_product(
        {.name = "", .matrix = AnyMatrix(expected), .plans = {}, .x = {}}, problem_.x);
    std::vector<TimedWay> ways = {
        way_of(Role::chosen, "Heddle", "hisparse",
               [&](TimedWay& way) { edit(edits, expected, way); }),
        way_of(Role::tried, "Heddle", "hisparse, and the first product",
               [&](TimedWay& way) { edit_and_multiply(edits, expected, y, way); }),
        way_of(Role::tried, "Heddle", "hisparse, and the first product, schedule=tree",
               [&](TimedWay& way) { edit_and_multiply(edits, expected, y, way, true); }),
        way_of(Role::tried, "Heddle", "a product",
               [&](TimedWay& way) {
                 way.queue = waiting(product_by<E>(tree(), problem_.x).queue, device_);
                 way.on_host = true;
               }),
        way_of(Role::tried, "Heddle", "hisparse, and a sum",
               [&](TimedWay& way) { edit_and_add(edits, y, way, SumSchedule::kept); }),
        way_of(Role::tried, "Heddle", "hisparse, and a sum, schedule=tree",
               [&](TimedWay& way) { edit_and_add(edits, y, way, SumSchedule::tree); })};
    if (device_.on_gpu()) {
      ways.push_back(way_of(Role::tried, "Heddle", "hisparse, arrays on the GPU",
                            [&](TimedWay& way) { edit_there(edits, expected, way); }));
    }
    ways.push_back(anew(edits, expected));
    Record record = measured(session_, record_of("hierarchical", problem_, quantity), ways);
    const auto product_time = record.candidates[3].seconds;
    for (Candidate& candidate : record.candidates) {
      if (product_time && candidate.seconds) {
        candidate.of_product = candidate.seconds->median / product_time->median;
      }
    }
    session_.add(std::move(record));
  }

 private:
  /// A batch as arrays in a GPU's memory.
  struct EditsThere {
    struct Part {
      Array<Index> row, column;
      Array<stored_scalar_t<E>> values;
    };
    Part parts[3];  // indexed by `EditAction`
    EditViews<E> views;

    EditsThere(const EditBatch<E>& edits, const Tree& tree, const Device& device) {
      for (const auto action : {EditAction::set, EditAction::add, EditAction::remove}) {
        std::vector<Index> row, column;
        std::vector<stored_scalar_t<E>> values;
        for (std::size_t i = 0; i < edits.size(); ++i) {
          const PlacedEdit& edit = edits.places()[i];
          if (edit.action != action) continue;
          row.push_back(edit.row);
          column.push_back(edit.column);
          const E& value = edits.values()[i];
          values.insert(values.end(), value.component, value.component + E::components);
        }
        Part& part = parts[static_cast<int>(action)];
        part = {Array<Index>(std::span<const Index>(row), device),
                Array<Index>(std::span<const Index>(column), device),
                Array<stored_scalar_t<E>>(std::span<const stored_scalar_t<E>>(values), device)};
        CooView<E>& view = action == EditAction::set   ? views.set
                           : action == EditAction::add ? views.add
                                                       : views.remove;
        view = {tree.rows(),
                tree.columns(),
                static_cast<Offset>(row.size()),
                part.row.data(),
                part.column.data(),
                part.values.data(),
                row_major,
                device};
      }
    }
  };

  /// The tree that all ways share; its schedule exists.
  std::shared_ptr<const Tree> tree() {
    if (!tree_) tree_ = std::make_shared<const Tree>(matrix_, default_node_size, device_);
    return tree_;
  }
  void edit(const EditBatch<E>& edits, const CsrMatrix<E>& expected, TimedWay& way) {
    const auto B = std::make_shared<std::unique_ptr<Tree>>();
    way.queue = [B, A = tree(), &edits](const Stream&) {
      B->reset();
      *B = std::make_unique<Tree>(A->edited(edits));
    };
    way.error = [B, &expected] { return difference((*B)->to_csr(), expected); };
    way.on_host = true;
  }
  /// The sum of the edited tree and the one before; `y` is the product by the former.
  void edit_and_add(const EditBatch<E>& edits, const std::vector<double>& y, TimedWay& way,
                    SumSchedule schedule) {
    const auto C = std::make_shared<std::unique_ptr<Tree>>();
    way.queue = [C, A = tree(), &edits, schedule, device = device_](const Stream&) {
      C->reset();
      *C = std::make_unique<Tree>(add(S(1), A->edited(edits), S(1), *A, schedule));
      device.synchronize();
    };
    way.error = [this, C, &y] {
      const auto product = [&](const CsrMatrix<E>& matrix) {
        return reference_product({.name = "", .matrix = AnyMatrix(matrix), .plans = {}, .x = {}},
                                 problem_.x);
      };
      std::vector<double> expected = product(matrix_);
      for (std::size_t i = 0; i < y.size(); ++i) expected[i] += y[i];
      return relative_difference(product((*C)->to_csr()), expected);
    };
    way.on_host = true;
  }
  /// Rebuilds compressed rows and, for a GPU, copies them there.
  TimedWay anew(const EditBatch<E>& edits, const CsrMatrix<E>& expected) {
    const auto made = std::make_shared<CsrMatrix<E>>();
    const bool copies = device_.on_gpu();
    return {Role::peer,
            "textbook",
            copies ? "compressed rows anew, and their copy to the GPU" : "compressed rows anew",
            [=, this, &edits](const Stream&) {
              *made = {};
              *made = rebuilt(matrix_, edits, Device::cpu(device_.threads()));
              if (!copies) return;
              const Array<Offset> offsets(made->offsets().span(), device_);
              const Array<Index> column(made->column().span(), device_);
              const Array<stored_scalar_t<E>> values(made->values().span(), device_);
              device_.synchronize();
            },
            [made, &expected] { return difference(*made, expected); },
            {},
            true};
  }
  /// Edits on the GPU, from arrays in its memory.
  void edit_there(const EditBatch<E>& edits, const CsrMatrix<E>& expected, TimedWay& way) {
    const auto there = std::make_shared<const EditsThere>(edits, *tree(), device_);
    const auto B = std::make_shared<std::unique_ptr<Tree>>();
    way.queue = [B, there, A = tree(), device = device_](const Stream&) {
      B->reset();
      *B = std::make_unique<Tree>(A->edited(there->views));
      device.synchronize();
    };
    way.error = [B, &expected] { return difference((*B)->to_csr(), expected); };
    way.on_host = true;
  }
  void edit_and_multiply(const EditBatch<E>& edits, const CsrMatrix<E>& expected,
                         const std::vector<double>& y, TimedWay& way, bool is_dynamic = false) {
    struct Product {
      std::unique_ptr<DynamicProduct<E>> dynamic;
      std::unique_ptr<Tree> B;
      Field<E> x, y;
    };
    edit(edits, expected, way);
    const auto product = std::make_shared<Product>(
        Product{is_dynamic ? std::make_unique<DynamicProduct<E>>(*tree()) : nullptr, nullptr,
                Field<E>(tree()->columns(), device_), Field<E>(tree()->rows(), device_)});
    Field<E> x(tree()->columns());
    std::transform(problem_.x.begin(), problem_.x.end(), x.scalars().begin(),
                   [](double scalar) { return static_cast<S>(scalar); });
    copy<S>(x.view(), product->x.view(), device_.stream());
    const auto multiply = [product, device = device_](const Tree& A, const Stream& stream) {
      if (product->dynamic) product->dynamic->set_matrix(A);
      const LinearOperator<S>& multiplies =
          product->dynamic ? static_cast<const LinearOperator<S>&>(*product->dynamic) : A;
      multiplies.apply(S(1), std::as_const(product->x).view(), S(0), product->y.view(), stream);
      device.synchronize();
    };
    multiply(*tree(), device_.stream());
    if (is_dynamic) way.scheduled = {product, product->dynamic.get()};
    way.queue = [product, multiply, A = tree(), &edits](const Stream& stream) {
      product->B.reset();
      product->B = std::make_unique<Tree>(A->edited(edits));
      multiply(*product->B, stream);
    };
    way.error = [product, &expected, &y] {
      const Field<E> result = product->y.to_host();
      const auto& scalars = result.scalars();
      return std::max(difference(product->B->to_csr(), expected),
                      relative_difference({scalars.begin(), scalars.end()}, y));
    };
  }

  Session& session_;
  const Problem& problem_;
  const CsrMatrix<E>& matrix_;
  Device device_;
  std::shared_ptr<const Tree> tree_;
};

}  // namespace
}  // namespace hierarchical_edits

template <class E>
void measure_edits(Session& session, const Problem& problem, const CsrMatrix<E>& matrix) {
  using namespace hierarchical_edits;
  if (matrix.entries() == 0) return;
  const Index rows = matrix.rows(), nodes = (rows - 1) / default_node_size + 1;
  Edits<E> edits(session, problem, matrix);
  edits.measure("edits of 1%",
                random_edits(matrix, 0, rows, std::max<Offset>(2, matrix.entries() / 100)));
  const Index begin = nodes / 2 * default_node_size;
  const Index end = std::min(rows, begin + nodes / 100 * default_node_size);
  const Offset near = matrix.offsets()[static_cast<std::size_t>(end)] -
                      matrix.offsets()[static_cast<std::size_t>(begin)];
  if (near > 0) {
    edits.measure("edits in 1% of the leaves",
                  random_edits(matrix, begin, end, std::max<Offset>(2, near / 10)));
  }
  EditBatch<E> one;
  const Offset middle =
      std::min(matrix.offsets()[static_cast<std::size_t>(begin)], matrix.entries() - 1);
  const auto above = std::upper_bound(matrix.offsets().begin(), matrix.offsets().end(), middle);
  one.set(static_cast<Index>(above - matrix.offsets().begin() - 1),
          matrix.column()[static_cast<std::size_t>(middle)], E{});
  edits.measure("edit of one node", one);
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
