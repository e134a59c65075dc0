// Finite element assembly: as a product, from element values and by a kernel, compared with atomic
// additions, colours and a loop over the elements; and the paper's kernels with their order.
#include <algorithm>
#include <limits>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "assembly_passes.hpp"
#include "heddle/choose_plan.hpp"
#include "heddle/vector_operations.hpp"
#include "problems/mesh_elements.hpp"
#include "reordering.hpp"
#include "suite.hpp"
#include "timed_ways.hpp"

namespace heddle::bench {

namespace assembly_suites {
namespace {

/// Elements in the order of their colours. No two elements of one colour share a node.
struct Colours {
  std::vector<Index> element;
  std::vector<Offset> first{0};
};

Colours colours_of(const ElementMesh& mesh) {
  const auto elements = static_cast<std::size_t>(mesh.elements());
  std::vector<int> colour(elements);
  std::vector<std::vector<int>> of_node(static_cast<std::size_t>(mesh.nodes));
  int most = 0;
  for (std::size_t e = 0; e < elements; ++e) {
    const auto is_taken = [&](int c) {
      return std::any_of(&mesh.node[4 * e], &mesh.node[4 * e] + 4, [&](Index v) {
        const auto& taken = of_node[static_cast<std::size_t>(v)];
        return std::find(taken.begin(), taken.end(), c) != taken.end();
      });
    };
    while (is_taken(colour[e])) ++colour[e];
    for (std::size_t a = 0; a < 4; ++a) {
      of_node[static_cast<std::size_t>(mesh.node[4 * e + a])].push_back(colour[e]);
    }
    most = std::max(most, colour[e] + 1);
  }
  Colours colours;
  for (int c = 0; c < most; ++c) {
    for (std::size_t e = 0; e < elements; ++e) {
      if (colour[e] == c) colours.element.push_back(static_cast<Index>(e));
    }
    colours.first.push_back(static_cast<Offset>(colours.element.size()));
  }
  return colours;
}

template <class E>
class AssemblySuite {
 public:
  static constexpr int K = E::components;
  static constexpr int R = result_entry_t<E>::components;

  AssemblySuite(Session& session, const Problem& problem, const CsrMatrix<E>& matrix)
      : session_(session),
        problem_(problem),
        matrix_(matrix),
        mesh_(*problem.mesh),
        device_(session.device()),
        plan_(choose_plan(matrix, device_)),
        pattern_(element_pattern({mesh_.nodes, mesh_.elements(), mesh_.node.data(), 4})),
        assembly_(pattern_, plan_, device_),
        slots_(slots_of_entries(assembly_.matrix().pattern()).to_host()),
        gradient_(mesh_.gradient, device_),
        volume_(mesh_.volume, device_),
        matrices_(static_cast<std::size_t>(16 * mesh_.elements() * K), device_),
        vectors_(static_cast<std::size_t>(4 * mesh_.elements() * R), device_),
        field_(assembly_.matrix().field()) {
    list_slots();
  }

  void measure_all() {
    matrices();
    sums();
    vectors();
    measure_reordering(session_, problem_, matrix_, plan_, "reorder");
  }
  /// The matrices of all elements as a vector, for a product that sums them.
  std::vector<double> element_values() {
    write(ElementOrder::by_element)(device_.stream());
    return matrices_.to_host();
  }

 private:
  MeshKernel<E> kernel() const { return {gradient_.data(), volume_.data()}; }
  heddle::detail::ElementNumbering numbering(ElementOrder order, int components) const {
    return {mesh_.elements(), 4, nullptr, nullptr, assembly_.row_places().data(), order,
            components};
  }
  Queue write(ElementOrder order) {
    return [this, order](const Stream& stream) {
      bench::write(
          WriteElements<E>{mesh_.elements(), kernel(), numbering(order, K), matrices_.data()},
          stream);
    };
  }
  TimedWay from_values(Role role, const char* method, ElementOrder order) {
    return {role,   "Heddle", method, both(write(order), sum(order)), [this] { return error(); },
            spoil()};
  }
  /// Overwrites the entries, so that no check sees those of an earlier way.
  Queue spoil() {
    return [this](const Stream& stream) { spoil_entries(assembly_.matrix(), stream); };
  }
  Queue sum(ElementOrder order) {
    return [this, order](const Stream&) { assembly_.assemble(matrices_.span(), order); };
  }
  static Queue both(Queue first, Queue second) {
    return [first = std::move(first), second = std::move(second)](const Stream& stream) {
      first(stream);
      second(stream);
    };
  }

  /// Lists the slots to which each element adds.
  void list_slots() {
    std::vector<unsigned> slot(static_cast<std::size_t>(16 * mesh_.elements()));
    for (std::size_t i = 0; i < slots_.size(); ++i) {
      for (unsigned at = pattern_.first_term[i]; at < pattern_.first_term[i + 1]; ++at) {
        slot[pattern_.term[at]] = static_cast<unsigned>(slots_[i]);
      }
    }
    slot_ = Array<unsigned>(slot, device_);
    const Colours colours = colours_of(mesh_);
    coloured_ = Array<Index>(colours.element, device_);
    first_of_colour_ = colours.first;
  }

  double error() { return error_of_entries(assembly_.matrix(), matrix_); }

  /// Compares with a loop over the elements.
  double error_of_field() {
    const MeshKernel<E> on_host{mesh_.gradient.data(), mesh_.volume.data()};
    std::vector<double> expected(static_cast<std::size_t>(mesh_.nodes) * R), found(expected.size());
    for (Offset e = 0; e < mesh_.elements(); ++e) {
      for (int a = 0; a < 4; ++a) {
        const auto of_corner = on_host.vector(e, a);
        const auto node = static_cast<std::size_t>(mesh_.node[static_cast<std::size_t>(4 * e + a)]);
        for (int k = 0; k < R; ++k) {
          expected[node * R + static_cast<std::size_t>(k)] += of_corner.component[k];
        }
      }
    }
    permute<double>(std::as_const(field_).view(), FieldView<double>(found.data(), mesh_.nodes, R),
                    1, device_.stream());
    return relative_difference(found, expected);
  }

  Queue scatter(bool by_colours) {
    return [this, by_colours](const Stream& stream) {
      const auto stored = assembly_.matrix().values_in_basis();
      const EntryWriter<E> writer = assembly_.matrix().entry_writer();
      heddle::detail::fill_bytes(stored.data(), 0, stored.size_bytes(), stream);
      if (!by_colours && stream.on_gpu()) {
        return run(AddAtomically<E>{16 * mesh_.elements() * K, kernel(), slot_.data(), writer,
                                    stored.data()},
                   stream);
      }
      AddElements<E> pass{mesh_.elements(), nullptr, kernel(), slot_.data(), writer, stored.data()};
      if (!by_colours) {
        Stream alone = stream;
        alone.threads = 1;
        return run(pass, alone);
      }
      for (std::size_t c = 0; c + 1 < first_of_colour_.size(); ++c) {
        pass.element = coloured_.data() + first_of_colour_[c];
        pass.count = first_of_colour_[c + 1] - first_of_colour_[c];
        run(pass, stream);
      }
    };
  }

  Record record(const char* quantity, long long bytes) const {
    Record made = record_of("assembly", problem_, quantity);
    made.compulsory_bytes = bytes;
    return made;
  }
  long long bytes_of_matrix() const { return pattern_.entries() * K * 8LL; }
  long long bytes_of_matrices() const { return mesh_.elements() * 16LL * K * 8; }
  long long bytes_of_elements() const { return mesh_.elements() * 13LL * 8; }

  /// Measures the way from gradients and volumes to the stored matrix.
  void matrices() {
    const auto check = [this] { return error(); };
    const std::string colours = std::to_string(first_of_colour_.size() - 1) + " colours";
    session_.add(
        measured(session_, record("matrix", bytes_of_elements() + bytes_of_matrix()),
                 {from_values(Role::natural, "element values", ElementOrder::by_element),
                  from_values(Role::tried, "element values in planes", ElementOrder::planes),
                  from_values(Role::tried, "element values by row", ElementOrder::by_row),
                  {Role::chosen, "Heddle", "kernel",
                   [this](const Stream&) { assemble(assembly_, kernel()); }, check, spoil()},
                  {Role::peer, "textbook", device_.on_gpu() ? "atomic additions" : "one thread",
                   scatter(false), check, spoil()},
                  {Role::peer, "textbook", colours, scatter(true), check, spoil()}}));
  }

  /// Measures the same from existing element values. All orders share one array in turn, whose
  /// numbers are right when the sums are checked.
  void sums() {
    const auto way = [this](Role role, const char* method, ElementOrder order) {
      return TimedWay{role,
                      "Heddle",
                      method,
                      sum(order),
                      [this] { return error(); },
                      both(write(order), spoil())};
    };
    session_.add(measured(session_, record("sum", bytes_of_matrices() + bytes_of_matrix()),
                          {way(Role::natural, "element values", ElementOrder::by_element),
                           way(Role::tried, "element values in planes", ElementOrder::planes),
                           way(Role::tried, "element values by row", ElementOrder::by_row)}));
  }

  void vectors() {
    const Queue from_values = [this](const Stream& stream) {
      const auto given = numbering(ElementOrder::by_element, R);
      run(WriteVectors<E>{mesh_.elements(), kernel(), given, vectors_.data()}, stream);
      assembly_.assemble_vector(vectors_.span(), field_.view());
    };
    const Queue by_kernel = [this](const Stream&) { assemble(assembly_, kernel(), field_.view()); };
    const auto check = [this] { return error_of_field(); };
    const Queue empty = [this](const Stream& stream) {
      fill<double>(std::numeric_limits<double>::quiet_NaN(), field_.view(), stream);
    };
    session_.add(measured(session_, record("vector", bytes_of_elements() + 8LL * mesh_.nodes * R),
                          {{Role::natural, "Heddle", "element values", from_values, check, empty},
                           {Role::chosen, "Heddle", "kernel", by_kernel, check, empty}}));
  }

  Session& session_;
  const Problem& problem_;
  const CsrMatrix<E>& matrix_;
  const ElementMesh& mesh_;
  Device device_;
  Plan plan_;
  ElementPattern pattern_;
  Assembly<E> assembly_;
  std::vector<Offset> slots_;  // slots of the pattern's entries
  Array<double> gradient_, volume_, matrices_, vectors_;
  Field<E> field_;
  Array<unsigned> slot_;
  Array<Index> coloured_;
  std::vector<Offset> first_of_colour_;
};

/// Each row of the matrix sums the contributions to one entry, as in the paper: any library's
/// product can do it.
Problem sums_as_product(const Problem& problem, std::vector<double> values) {
  const ElementMesh& mesh = *problem.mesh;
  const ElementPattern pattern =
      element_pattern({mesh.nodes, mesh.elements(), mesh.node.data(), 4});
  const std::vector<Offset> offsets(pattern.first_term.begin(), pattern.first_term.end());
  const std::vector<Index> column(pattern.term.begin(), pattern.term.end());
  const std::vector<double> ones(column.size(), 1);
  return {.name = problem.name,
          .matrix = AnyMatrix(CsrMatrix<real<double>>(
              static_cast<Index>(pattern.entries()), static_cast<Index>(values.size()),
              Array<Offset>(std::span<const Offset>(offsets)),
              Array<Index>(std::span<const Index>(column)),
              Array<double>(std::span<const double>(ones)))),
          .plans = {},
          .x = std::move(values)};
}

/// The kernels of Wong, Kuhl and Darve 2015 (tables IV to VI, figures 9 to 11) as plans: theirs, K1
/// without its sort, sorted rows that stay compressed, and CSR-vector, a warp for each row.
std::vector<std::string> plans_of_paper() {
  return {"K1",
          "K1r",
          "K1rs",
          "K2",
          "K2r",
          "K2rs",
          "C=32,columns=given,basis=user",
          "sigma=n,columns=given,basis=user",
          "C=32,threads-per-row=32,columns=given,basis=user"};
}

}  // namespace
}  // namespace assembly_suites

void assembly_suite(Session& session, const Problem& problem) {
  using namespace assembly_suites;
  const auto measure_all = [&]<class E>(const CsrMatrix<E>& matrix) {
    std::vector<double> values;
    {
      AssemblySuite<E> suite(session, problem, matrix);
      suite.measure_all();
      if constexpr (std::is_same_v<E, real<double>>) values = suite.element_values();
    }
    if (values.empty()) return;
    const Problem sums = sums_as_product(problem, std::move(values));
    measure_products(session, sums, record_of("assembly", sums, "sum as a product"), false, {"K1"});
    for (const char* plan : {"K1", "K2"}) {
      measure_reordering(session, problem, matrix, parse_plan(plan),
                         std::string("reorder, ") + plan);
    }
    measure_products(session, problem, record_of("assembly", problem, "ELL-WARP"), false,
                     plans_of_paper());
  };
  problem.matrix.visit([&]<class E>(const CsrMatrix<E>& matrix) {
    if constexpr (std::is_same_v<E, real<double>> || std::is_same_v<E, block<double, 3, 3>>) {
      measure_all(matrix);
    }
  });
}

}  // namespace heddle::bench
