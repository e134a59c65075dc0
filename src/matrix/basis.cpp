#include "heddle/basis.hpp"

#include <algorithm>
#include <boost/graph/compressed_sparse_row_graph.hpp>
#include <boost/graph/cuthill_mckee_ordering.hpp>
#include <exception>
#include <future>
#include <map>
#include <mutex>
#include <numeric>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text/hash.hpp"
#include "gpu_pattern.hpp"
#include "heddle/config.hpp"
#include "heddle/tools/team.hpp"

namespace heddle {

namespace {

/// Columns of the symmetrised pattern, without the diagonal, as Boost.Graph reads them.
using Graph =
    boost::compressed_sparse_row_graph<boost::directedS, boost::no_property, boost::no_property,
                                       boost::no_property, Index, Offset>;

Graph adjacency(const PatternView& pattern) {
  std::vector<std::pair<Index, Index>> edges;
  edges.reserve(static_cast<std::size_t>(2 * pattern.entries()));
  for (Index row = 0; row < pattern.rows; ++row) {
    for (Offset i = pattern.offsets[row]; i < pattern.offsets[row + 1]; ++i) {
      if (pattern.column[i] == row) continue;
      edges.emplace_back(row, pattern.column[i]);
      edges.emplace_back(pattern.column[i], row);
    }
  }
  std::sort(edges.begin(), edges.end());
  edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
  return Graph(boost::edges_are_sorted, edges.begin(), edges.end(), pattern.rows,
               static_cast<Offset>(edges.size()));
}

std::vector<Index> reverse_cuthill_mckee(const PatternView& pattern) {
  const Graph graph = adjacency(pattern);
  const auto n = static_cast<std::size_t>(pattern.rows);
  std::vector<boost::default_color_type> colour(n);
  std::vector<Index> degree(n);
  for (std::size_t row = 0; row < n; ++row) {
    degree[row] = static_cast<Index>(out_degree(static_cast<Index>(row), graph));
  }
  std::vector<Index> order;
  order.reserve(n);
  boost::cuthill_mckee_ordering(
      graph, std::back_inserter(order),
      boost::make_iterator_property_map(colour.begin(), get(boost::vertex_index, graph)),
      boost::make_iterator_property_map(degree.begin(), get(boost::vertex_index, graph)));
  std::reverse(order.begin(), order.end());
  return order;
}

/// Hash of row lengths and columns.
Hash hash_of(const PatternView& pattern) {
  std::vector<Index> lengths(static_cast<std::size_t>(pattern.rows));
  for (Index row = 0; row < pattern.rows; ++row) {
    lengths[static_cast<std::size_t>(row)] = pattern.length(row);
  }
  const auto bytes = [](const Index* data, std::size_t count) {
    return std::string_view(reinterpret_cast<const char*>(data), count * sizeof(Index));
  };
  const Hash of_both[] = {hash(bytes(lengths.data(), lengths.size())),
                          hash(bytes(pattern.column, static_cast<std::size_t>(pattern.entries())))};
  return hash({reinterpret_cast<const char*>(of_both), sizeof of_both});
}

/// Returns the last order again for the same pattern. A matrix is sized before it is built, and a
/// search builds it again and again in several threads, while ordering takes longer than all else.
/// One order is kept for the life of the process; callers that ask while it is made wait for it.
Array<Index> reverse_cuthill_mckee(const PatternView& pattern, const Device& device) {
  using Order = std::vector<Index>;
  struct Last {
    std::mutex mutex;
    Hash pattern;
    std::shared_future<Order> order;
  };
  static Last last;
  const Hash wanted = hash_of(pattern);
  std::promise<Order> made;
  std::shared_future<Order> order;
  bool is_known = false;
  {
    const std::lock_guard lock(last.mutex);
    is_known = last.order.valid() && last.pattern == wanted;
    if (!is_known) {
      last.order = made.get_future().share();
      last.pattern = wanted;
    }
    order = last.order;
  }
  if (!is_known) {
    try {
      made.set_value(reverse_cuthill_mckee(pattern));
    } catch (...) {
      {
        const std::lock_guard lock(last.mutex);
        if (last.pattern == wanted) last.order = {};  // later callers try again
      }
      made.set_exception(std::current_exception());
    }
  }
  return Array<Index>(std::span<const Index>(order.get()), device);
}

/// Sorts stably, longest first, within each window.
void sort_by_length(const PatternView& pattern, Index window, const Stream& stream,
                    Array<Index>& order) {
  const Index n = pattern.rows;
  if (window == Layout::all_rows || window > n) window = n;
  const auto windows = static_cast<Index>((Offset(n) + window - 1) / window);
  parallel_for(team_size(stream, n), windows, 16, [&](Index w) {
    Index* begin = order.data() + static_cast<Offset>(w) * window;
    Index* end = order.data() + std::min<Offset>(n, (w + 1LL) * window);
    std::stable_sort(begin, end,
                     [&](Index a, Index b) { return pattern.length(a) > pattern.length(b); });
  });
}

}  // namespace

Array<Index> storage_order(const PatternView& pattern, const Plan& plan, const Device& device) {
  const bool sorts = plan.layout.sort_window != 1;
  if (pattern.rows == 0 || (!sorts && plan.layout.order == RowOrder::natural)) return {};
  Array<Index> order;
  const bool renumbers = plan.layout.order == RowOrder::reverse_cuthill_mckee;
  if (renumbers && pattern.rows != pattern.columns) {
    throw Error(ErrorKind::bad_plan, "plan: order=rcm needs a square matrix, this one is " +
                                         std::to_string(pattern.rows) + " x " +
                                         std::to_string(pattern.columns));
  }
  if constexpr (has_cuda) {
    if (device.on_gpu()) {
      if (renumbers) {
        const cuda::HostPattern host(pattern, device.stream());
        order = Array<Index>(
            reverse_cuthill_mckee(host.view(), Device::cpu(device.threads())).span(), device);
      }
      return cuda::sorted_by_length(pattern, plan.layout.sort_window, std::move(order), device);
    }
  }
  if (renumbers) {
    order = reverse_cuthill_mckee(pattern, device);
  } else {
    order = Array<Index>(static_cast<std::size_t>(pattern.rows), device);
    std::iota(order.begin(), order.end(), 0);
  }
  if (sorts) sort_by_length(pattern, plan.layout.sort_window, device.stream(), order);
  if (std::is_sorted(order.begin(), order.end())) return {};
  return order;
}

/// A basis is immutable: each GPU's copy is made once.
struct Basis::OnGpus {
  struct Copy {
    Array<Index> user_row;
    Array<Index> position;
  };
  std::mutex mutex;
  std::map<int, Copy> copies;
};

std::shared_ptr<const Basis> Basis::natural(Index size) {
  if (size < 0) {
    throw Error(ErrorKind::size_mismatch, "a basis cannot have " + std::to_string(size) + " rows");
  }
  auto basis = std::make_shared<Basis>();
  basis->size_ = size;
  return basis;
}

std::shared_ptr<const Basis> Basis::from_order(Array<Index> user_row, const Device& device) {
  if (device.on_gpu()) {  // a basis lives on the host, and is copied to GPUs on demand
    const std::vector<Index> rows = user_row.to_host();
    const Device host = Device::cpu(device.threads());
    return from_order(Array<Index>(std::span<const Index>(rows), host), host);
  }
  auto basis = std::make_shared<Basis>();
  basis->size_ = static_cast<Index>(user_row.size());
  basis->position_ = Array<Index>(user_row.size(), device);
  constexpr Index unset = -1;
  std::fill(basis->position_.begin(), basis->position_.end(), unset);
  for (std::size_t i = 0; i < user_row.size(); ++i) {
    const Index row = user_row[i];
    if (row < 0 || row >= basis->size_ ||
        basis->position_[static_cast<std::size_t>(row)] != unset) {
      throw Error(ErrorKind::out_of_range, "an order of " + std::to_string(basis->size_) +
                                               " rows names row " + std::to_string(row) +
                                               " twice or out of range at position " +
                                               std::to_string(i));
    }
    basis->position_[static_cast<std::size_t>(row)] = static_cast<Index>(i);
  }
  basis->user_row_ = std::move(user_row);
  basis->on_gpus_ = std::make_shared<OnGpus>();
  return basis;
}

std::shared_ptr<const Basis> Basis::make(const PatternView& pattern, const Plan& plan,
                                         const Device& device) {
  check_plan(plan);
  if (plan.layout.basis == BasisUse::user) return natural(pattern.rows);
  Array<Index> order = storage_order(pattern, plan, device);
  if (order.empty()) return natural(pattern.rows);
  if (pattern.rows != pattern.columns) {
    throw Error(ErrorKind::bad_plan,
                "plan: rows and columns of a " + std::to_string(pattern.rows) + " x " +
                    std::to_string(pattern.columns) +
                    " matrix cannot be permuted the same way; basis=user takes rectangular ones");
  }
  return from_order(std::move(order), device);
}

Basis::Arrays Basis::on(const Device& device) const {
  if (is_natural()) return {nullptr, nullptr};
  if (!device.on_gpu()) return {user_row_.data(), position_.data()};
  const std::lock_guard lock(on_gpus_->mutex);
  auto copy = on_gpus_->copies.find(device.stream().gpu);
  if (copy == on_gpus_->copies.end()) {
    // Both arrays or, if memory does not suffice, neither.
    OnGpus::Copy made{Array<Index>(user_row_.span(), device),
                      Array<Index>(position_.span(), device)};
    copy = on_gpus_->copies.emplace(device.stream().gpu, std::move(made)).first;
  }
  return {copy->second.user_row.data(), copy->second.position.data()};
}

bool same_basis(const Basis& a, const Basis& b) {
  if (&a == &b) return true;
  if (a.size() != b.size()) return false;
  if (a.is_natural() || b.is_natural()) return a.is_natural() && b.is_natural();
  for (Index i = 0; i < a.size(); ++i) {
    if (a.user_row(i) != b.user_row(i)) return false;
  }
  return true;
}

}  // namespace heddle
