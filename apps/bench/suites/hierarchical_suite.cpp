// Hierarchical storage as measured in its paper (Derler et al. 2017, section 7): products and
// transposed products, sums, conversion and memory, next to sliced storage and other libraries.
#include <algorithm>
#include <exception>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "csr_difference.hpp"
#include "heddle/choose_plan.hpp"
#include "heddle/dynamic_product.hpp"
#include "heddle/hierarchical_matrix.hpp"
#include "heddle/operator.hpp"
#include "hierarchical_edits.hpp"
#include "peers/own_product.hpp"
#include "problems/hierarchical_problems.hpp"
#include "suite.hpp"
#include "textbook_products.hpp"
#include "timed_ways.hpp"

namespace heddle::bench {

namespace hierarchical_suites {
namespace {

template <class E>
CsrMatrix<E> adjoint_of(const CsrMatrix<E>& A, const Device& device) {
  std::vector<Triplet<E>> triplets;
  triplets.reserve(static_cast<std::size_t>(A.entries()));
  for (Index row = 0; row < A.rows(); ++row) {
    for (Offset i = A.offsets()[static_cast<std::size_t>(row)];
         i < A.offsets()[static_cast<std::size_t>(row) + 1]; ++i) {
      triplets.push_back({A.column()[static_cast<std::size_t>(i)], row, adjoint(A.entry(i))});
    }
  }
  return assemble<E>(A.columns(), A.rows(), std::span<const Triplet<E>>(triplets), device).matrix;
}

template <class E>
class HierarchicalSuite {
  using S = vector_scalar_t<E>;
  using Tree = HierarchicalMatrix<E>;
  using Map = LinearOperator<S>;

 public:
  HierarchicalSuite(Session& session, const Problem& problem, const CsrMatrix<E>& matrix)
      : session_(session), problem_(problem), A_(matrix), device_(session.device()) {}

  void measure_all() {
    if (!problem_.edits_only) {
      memory();
      products(false, problem_.x, problem_.matrix);
      {
        const AnyMatrix adjoint(adjoint_of(A_, Device::cpu()));
        products(true, random_x(adjoint), adjoint);
      }
      sums();
    }
    conversions();
    measure_edits(session_, problem_, A_);
  }

 private:
  static std::string tree_name(int node) { return "hisparse, d = " + std::to_string(node); }
  static Role role_of(int node) { return node == default_node_size ? Role::chosen : Role::tried; }
  static constexpr int node_sizes[] = {default_node_size, 64, 256};

  Record record(const char* quantity, long long bytes) const {
    Record made = record_of("hierarchical", problem_, quantity);
    made.compulsory_bytes = bytes;
    return made;
  }
  static std::vector<double> product_of(const CsrMatrix<E>& matrix, const std::vector<double>& x) {
    return reference_product({.name = "", .matrix = AnyMatrix(matrix), .plans = {}, .x = {}}, x);
  }
  std::function<double()> against(const std::vector<double>& y,
                                  std::function<std::vector<double>()> result) const {
    return [&y, result = std::move(result)] { return relative_difference(result(), y); };
  }

  /// y = A x, or A* x where `transposes`; `matrix` is A or A*.
  void products(bool transposes, const std::vector<double>& x, const AnyMatrix& matrix) {
    const std::vector<double> y =
        reference_product({.name = "", .matrix = matrix, .plans = {}, .x = {}}, x);
    std::vector<TimedWay> ways;
    // A dynamic product only queues work, although no loop on a GPU can hold it.
    const auto add = [&](Role role, const std::string& method, const auto& make_map,
                         bool only_queues = false) {
      ways.push_back(way_of(role, "Heddle", method, [&](TimedWay& way) {
        const std::shared_ptr<const Map> made = make_map();
        const std::shared_ptr<const Map> map = transposes ? made->adjoint() : made;
        const OwnProduct product = product_by<E>(map, x);
        way.on_host = !only_queues && !made->is_capturable() && made->product_on_gpu() == nullptr;
        way.scheduled = std::dynamic_pointer_cast<const detail::ScheduledProduct>(map);
        way.queue = way.on_host ? waiting(product.queue, device_) : product.queue;
        way.error = against(y, product.result);
      }));
    };
    for (const int node : node_sizes) {
      add(role_of(node), tree_name(node),
          [&] { return std::make_shared<const Tree>(A_, node, device_); });
    }
    // The paper's scheduler.
    add(
        Role::tried, tree_name(default_node_size) + ", schedule=tree",
        [&] {
          return std::make_shared<const DynamicProduct<E>>(Tree(A_, default_node_size, device_));
        },
        device_.on_gpu());
    add(Role::tried, "sliced storage",
        [&] { return std::make_shared<const Operator<E>>(A_, choose_plan(A_, device_), device_); });
    if (!device_.on_gpu()) {
      const auto loop = std::make_shared<TextbookProduct<E>>(A_, transposes, x);
      ways.push_back({Role::peer, "textbook", transposes ? "one thread, adding by columns" : "rows",
                      [loop](const Stream& stream) { loop->run(stream); },
                      against(y, [loop] { return loop->result(); })});
    }
    for (const auto& peer : session_.peers()) add_peer_products(*peer, transposes, x, y, ways);
    session_.add(measured(
        session_,
        record(transposes ? "transposed product" : "product", compulsory_bytes(problem_.matrix)),
        ways));
  }
  void add_peer_products(Peer& peer, bool transposes, const std::vector<double>& x,
                         const std::vector<double>& y, std::vector<TimedWay>& ways) {
    const std::string library = peer.presence().name;
    try {
      for (const PeerProduct& product : peer.products_of_either(problem_, transposes, x, device_)) {
        ways.push_back(
            {Role::peer, library, product.method,
             product.queue ? product.queue : Queue([run = product.run](const Stream&) { run(); }),
             against(y, product.result)});
      }
    } catch (const std::exception&) {
      ways.push_back(way_of(Role::peer, library, "", [](TimedWay&) { throw; }));
    }
  }

  /// Figure 2, in both precisions: memory sizes are known without building.
  void memory() {
    constexpr int scalar = sizeof(stored_scalar_t<E>);
    for (const int other : {scalar, 12 - scalar}) {
      const int entry = int{sizeof(E)} / scalar * other;
      Record made =
          record_of("hierarchical", problem_, other == 8 ? "memory in double" : "memory in single");
      const auto entries = static_cast<double>(A_.entries());
      const double csr = entries * (entry + 4) + 4.0 * (A_.rows() + 1);
      const auto add = [&](Role role, const std::string& library, const std::string& method,
                           double bytes) {
        Candidate candidate;
        candidate.role = role;
        candidate.library = library;
        candidate.method = method;
        candidate.memory_bytes = static_cast<long long>(bytes);
        candidate.memory_ratio = bytes / csr;
        made.candidates.push_back(std::move(candidate));
      };
      for (const int node : node_sizes) {
        const HierarchicalMemory memory =
            hierarchical_memory(A_.view().pattern(), node, entry, Device::cpu(device_.threads()));
        const auto total = static_cast<double>(memory.tree());
        add(role_of(node), "Heddle", tree_name(node), total);
        add(Role::tried, "Heddle", tree_name(node) + ", schedule",
            total + static_cast<double>(memory.schedule));
        add(Role::tried, "Heddle", tree_name(node) + ", both schedules",
            static_cast<double>(memory.total()));
        if (node == default_node_size) {
          add(Role::tried, "HiSparse", "formula of section 3.3", memory.paper_formula(node, entry));
        }
      }
      add(Role::peer, "COO", "", entries * (entry + 8));
      add(Role::peer, "CSR", "", csr);
      session_.add(std::move(made));
    }
  }

  /// A copy of the matrix in the device's memory, with a view.
  struct RowsThere {
    Array<Offset> offsets;
    Array<Index> column;
    Array<stored_scalar_t<E>> values;
    CsrView<E> view;

    RowsThere(const CsrMatrix<E>& A, const Device& device)
        : offsets(A.offsets().span(), device),
          column(A.column().span(), device),
          values(A.values().span(), device),
          view{A.rows(),      A.columns(), offsets.data(), column.data(),
               values.data(), row_major,   device} {}
  };

  /// On a GPU, arrays of the host are converted there too, including the building of the tree.
  void conversions() {
    const Tree tree(A_, default_node_size, Device::cpu(device_.threads()));
    const long long bytes = csr_bytes(problem_.matrix) + tree.memory().tree();
    const auto made = std::make_shared<std::unique_ptr<Tree>>();
    const auto back = std::make_shared<CsrMatrix<E>>();
    const auto from_by = [&](Role role, const char* method, const auto& make_view) {
      return way_of(role, "Heddle", method, [&](TimedWay& way) {
        const auto make = [this, made, view = make_view()] {
          *made = std::make_unique<Tree>(view(), default_node_size, device_);
          device_.synchronize();
        };
        make();
        way.queue = [make](const Stream&) { make(); };
        way.error = [this, made] { return difference((*made)->to_csr(), A_); };
        way.on_host = true;
      });
    };
    const auto to_by = [&](Role role, const char* method, const auto& make_rows) {
      return way_of(role, "Heddle", method, [&](TimedWay& way) {
        const auto whole = std::make_shared<const Tree>(A_, default_node_size, device_);
        way.queue = [whole, make_rows](const Stream&) { make_rows(*whole); };
        way.error = [this, whole, back] {
          *back = whole->to_csr();
          return difference(*back, A_);
        };
        way.on_host = true;
      });
    };
    std::vector<TimedWay> from, to;
    if (device_.on_gpu()) {
      from.push_back(from_by(Role::chosen, "hisparse, arrays on the GPU", [this] {
        return [rows = std::make_shared<const RowsThere>(A_, device_)] { return rows->view; };
      }));
      to.push_back(to_by(Role::chosen, "hisparse, arrays on the GPU",
                         [](const Tree& whole) { static_cast<void>(whole.to_rows()); }));
    }
    const Role of_host = device_.on_gpu() ? Role::tried : Role::chosen;
    from.push_back(from_by(of_host, "hisparse", [this] { return [this] { return A_.view(); }; }));
    to.push_back(to_by(of_host, "hisparse", [back](const Tree& whole) { *back = whole.to_csr(); }));
    session_.add(measured(session_, record("from CSR", bytes), from));
    session_.add(measured(session_, record("to CSR", bytes), to));
  }

  /// A + B, and A + B* where A is square. Table 2 has A + B and A^T + B^T; as states of trees the
  /// latter is the former.
  void sums() {
    const CsrMatrix<E> B = moved_entries(A_, Device::cpu(device_.threads()));
    const Problem other{.name = "", .matrix = AnyMatrix(B), .plans = {}, .x = {}};
    const std::vector<double> of_A = product_of(A_, problem_.x);
    for (const bool transposes : {false, true}) {
      if (transposes && A_.rows() != A_.columns()) continue;
      const CsrMatrix<E> right = transposes ? adjoint_of(B, Device::cpu()) : CsrMatrix<E>(B);
      std::vector<double> y = product_of(right, problem_.x);
      for (std::size_t i = 0; i < y.size(); ++i) y[i] += of_A[i];
      sum(B, other, transposes, y, bytes_of_sum(right));
    }
  }
  void sum(const CsrMatrix<E>& B, const Problem& other, bool transposes,
           const std::vector<double>& y, long long bytes) {
    const auto make = [transposes](const Tree& a, const Tree& b,
                                   SumSchedule schedule = SumSchedule::kept) {
      return transposes ? add_adjoint(S(1), a, S(1), b, schedule) : add(S(1), a, S(1), b, schedule);
    };
    const auto C = std::make_shared<std::unique_ptr<Tree>>();
    const auto rows = std::make_shared<CsrMatrix<E>>();
    std::vector<TimedWay> ways;
    const auto of_trees = [&](Role role, const char* method, SumSchedule schedule) {
      ways.push_back(way_of(role, "Heddle", method, [&](TimedWay& way) {
        const Tree a(A_, default_node_size, device_), b(B, default_node_size, device_);
        way.queue = [this, a, b, make, C, schedule](const Stream&) {
          *C = std::make_unique<Tree>(make(a, b, schedule));
          device_.synchronize();
        };
        way.error = against(y, [this, C] { return product_of((*C)->to_csr(), problem_.x); });
        way.on_host = true;
      }));
    };
    of_trees(Role::chosen, "hisparse", SumSchedule::kept);
    of_trees(Role::tried, "hisparse, schedule=tree", SumSchedule::tree);
    ways.push_back(way_of(Role::tried, "Heddle", "hisparse, from CSR and back", [&](TimedWay& way) {
      static_cast<void>(Tree(CsrMatrix<E>(), default_node_size, device_));  // may refuse the device
      way.queue = [this, &B, make, rows](const Stream&) {
        *rows = make(Tree(A_, default_node_size, device_), Tree(B, default_node_size, device_))
                    .to_csr();
      };
      way.error = against(y, [this, rows] { return product_of(*rows, problem_.x); });
      way.on_host = true;
    }));
    if (device_.on_gpu()) ways.push_back(sum_of_rows_there(B, y, make, C));
    for (const auto& peer : session_.peers()) add_peer_sums(*peer, other, transposes, y, ways);
    session_.add(measured(session_, record(transposes ? "transposed sum" : "sum", bytes), ways));
  }
  /// Sums from compressed rows in GPU memory and back to compressed rows there.
  template <class Make>
  TimedWay sum_of_rows_there(const CsrMatrix<E>& B, const std::vector<double>& y, const Make& make,
                             const std::shared_ptr<std::unique_ptr<Tree>>& C) {
    return way_of(
        Role::tried, "Heddle", "hisparse, from CSR on the GPU and back", [&](TimedWay& way) {
          const auto a = std::make_shared<const RowsThere>(A_, device_);
          const auto b = std::make_shared<const RowsThere>(B, device_);
          way.queue = [this, a, b, make, C](const Stream&) {
            *C = std::make_unique<Tree>(make(Tree(a->view, default_node_size, device_),
                                             Tree(b->view, default_node_size, device_)));
            static_cast<void>((*C)->to_rows());
          };
          way.error = against(y, [this, C] { return product_of((*C)->to_csr(), problem_.x); });
          way.on_host = true;
        });
  }
  /// Bytes of compressed rows read from A and B, and written for the sum, with common places once.
  long long bytes_of_sum(const CsrMatrix<E>& B) const {
    Offset both = 0;
    for (std::size_t row = 0; row < static_cast<std::size_t>(A_.rows()); ++row) {
      auto a = A_.column().begin() + A_.offsets()[row];
      const auto end = A_.column().begin() + A_.offsets()[row + 1];
      for (Offset i = B.offsets()[row]; i < B.offsets()[row + 1]; ++i) {
        const Index column = B.column()[static_cast<std::size_t>(i)];
        while (a != end && *a < column) ++a;
        if (a != end && *a == column) ++both;
      }
    }
    const auto entries = static_cast<long long>(2 * (A_.entries() + B.entries()) - both);
    return entries * static_cast<long long>(sizeof(E) + sizeof(Index)) +
           3 * (A_.rows() + 1LL) * static_cast<long long>(sizeof(Offset));
  }
  void add_peer_sums(Peer& peer, const Problem& other, bool transposes,
                     const std::vector<double>& y, std::vector<TimedWay>& ways) {
    const std::string library = peer.presence().name;
    try {
      for (const PeerSum& sum : peer.sums(problem_, other, transposes, device_)) {
        ways.push_back(
            {Role::peer,
             library,
             sum.method,
             [run = sum.run](const Stream&) { run(); },
             against(y,
                     [this, result = sum.result] {
                       return reference_product(
                           {.name = "", .matrix = AnyMatrix(result()), .plans = {}, .x = {}},
                           problem_.x);
                     }),
             {},
             true});
      }
    } catch (const std::exception&) {
      ways.push_back(way_of(Role::peer, library, "", [](TimedWay&) { throw; }));
    }
  }

  Session& session_;
  const Problem& problem_;
  const CsrMatrix<E>& A_;
  Device device_;
};

}  // namespace
}  // namespace hierarchical_suites

void hierarchical_suite(Session& session, const Problem& problem) {
  problem.matrix.visit([&]<class E>(const CsrMatrix<E>& matrix) {
    using S = vector_scalar_t<E>;
    constexpr bool is_measured = std::is_same_v<E, real<S>> ||
                                 (std::is_same_v<S, double> && (std::is_same_v<E, complex<S>> ||
                                                                std::is_same_v<E, quaternion<S>> ||
                                                                std::is_same_v<E, block<S, 3, 3>>));
    if constexpr (is_measured) {
      hierarchical_suites::HierarchicalSuite<E>(session, problem, matrix).measure_all();
    } else {
      throw Error(ErrorKind::unsupported,
                  "the suite `hierarchical` takes real numbers, and in double precision complex "
                  "ones, quaternions and 3x3 blocks");
    }
  });
}

}  // namespace heddle::bench
