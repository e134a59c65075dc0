// Finite element assembly: as a product, from element values and by a kernel, beside atomic
// additions, colours and a loop over the elements; and the order that a kernel's storage asks for.
#include <algorithm>
#include <chrono>
#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "assembly_passes.hpp"
#include "heddle/choose_plan.hpp"
#include "heddle/tuning/measure.hpp"
#include "heddle/vector_operations.hpp"
#include "interleave.hpp"
#include "problems/mesh_elements.hpp"
#include "suite.hpp"

namespace heddle::bench {

namespace assembly_suites {
namespace {

using Queue = std::function<void(const Stream&)>;

/// One way of doing a record's work, which only queues.
struct Way {
  Role role;
  const char* library;
  std::string method;
  Queue queue;
  std::function<double()> error = {};  // of what the last run left; where it is checked
  Queue prepare = {};                  // before that run
  bool on_host = false;                // waits for the host, so that no graph holds it
};

double seconds_of(const Device& device, const Queue& work) {
  using Clock = std::chrono::steady_clock;
  const auto start = Clock::now();
  work(device.stream());
  return std::chrono::duration<double>(Clock::now() - start).count();
}

void take(const Interleaved& outcome, Candidate& candidate) {
  if (outcome.failure.empty()) {
    candidate.seconds = outcome.timing;
  } else {
    candidate.failure = one_line(outcome.failure);
  }
}

/// The record with what each way takes; those that are wrong are not timed.
Record measured(Session& session, Record record, const std::vector<Way>& ways) {
  const Device& device = session.device();
  session.doing(record.quantity);
  std::vector<std::size_t> timed;
  std::vector<TimedRun> runs;
  for (std::size_t i = 0; i < ways.size(); ++i) {
    Candidate candidate;
    candidate.role = ways[i].role;
    candidate.library = ways[i].library;
    candidate.method = ways[i].method;
    const bool is_right = or_failure(candidate, [&] {
      if (ways[i].prepare) ways[i].prepare(device.stream());
      ways[i].queue(device.stream());
      device.synchronize();
      if (!ways[i].error) return;
      candidate.error = ways[i].error();
      if (!(*candidate.error <= most_error_double)) {
        throw Error(ErrorKind::internal, "wrong result");
      }
    });
    record.candidates.push_back(std::move(candidate));
    if (!is_right) continue;
    timed.push_back(i);
    runs.emplace_back([&device, queue = ways[i].queue] { return seconds_of(device, queue); });
  }
  InterleaveOptions options;
  options.repetitions = session.settings().repetitions;
  options.seconds_in_all = session.seconds_for_timing() * 3;
  if (!device.on_gpu()) {
    const std::vector<Interleaved> outcomes = interleave(runs, options);
    for (std::size_t k = 0; k < timed.size(); ++k) {
      take(outcomes[k], record.candidates[timed[k]]);
    }
    return record;
  }
  for (std::size_t k = 0; k < timed.size(); ++k) {
    const Way& way = ways[timed[k]];
    Candidate& candidate = record.candidates[timed[k]];
    or_failure(candidate, [&] {
      if (way.on_host) return take(interleave({runs[k]}, options)[0], candidate);
      const std::vector<Queue> work = {way.queue};
      candidate.seconds = measure(work, session.settings().repetitions, device)[0];
    });
  }
  return record;
}

/// Elements in the order of their colours. No two of one colour share a node.
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
    reorder();
  }
  /// The matrices of all elements as a vector, for a product that sums them.
  std::vector<double> element_values() {
    write(ElementOrder::by_element)(device_.stream());
    return matrices_.to_host();
  }

 private:
  MeshKernel<E> kernel() const { return {gradient_.data(), volume_.data()}; }
  heddle::detail::ElementNumbering numbering(ElementOrder order, int components) const {
    return {mesh_.elements(), 4, nullptr, nullptr, order, components};
  }
  Queue write(ElementOrder order) {
    return [this, order](const Stream& stream) {
      run(WriteMatrices<E>{mesh_.elements(), kernel(), numbering(order, K), matrices_.data()},
          stream);
    };
  }
  /// So that no check sees the entries of an earlier way.
  Queue spoil() {
    return [this](const Stream& stream) {
      const auto stored = assembly_.matrix().values_in_basis();
      heddle::detail::fill_bytes(stored.data(), 0xff, stored.size_bytes(), stream);
    };
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

  /// The slots of what each element adds to.
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

  /// Of the entries that are stored, in the order of the pattern.
  double error() {
    const auto stored = assembly_.matrix().values_in_basis();
    std::vector<double> copied(stored.size()), found, expected;
    heddle::detail::copy_bytes(copied.data(), stored.data(), stored.size_bytes(), device_.stream());
    const EntryWriter<E> entries(assembly_.matrix().pattern(), plan_.layout.inner, copied.data());
    for (std::size_t i = 0; i < slots_.size(); ++i) {
      const E entry = entries.load(slots_[i]), of_loop = matrix_.entry(static_cast<Offset>(i));
      found.insert(found.end(), entry.component, entry.component + K);
      expected.insert(expected.end(), of_loop.component, of_loop.component + K);
    }
    return relative_difference(found, expected);
  }

  /// Against a loop over the elements.
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
      heddle::detail::fill_bytes(stored.data(), 0, stored.size_bytes(), stream);
      ScatterAdd<E> pass{mesh_.elements(), nullptr,      !by_colours,
                         kernel(),         slot_.data(), assembly_.matrix().entry_writer(),
                         stored.data()};
      if (!by_colours) {
        Stream alone = stream;
        if (!stream.on_gpu()) alone.threads = 1;
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

  /// From gradients and volumes to the stored matrix.
  void matrices() {
    const auto check = [this] { return error(); };
    const std::string colours = std::to_string(first_of_colour_.size() - 1) + " colours";
    session_.add(measured(
        session_, record("matrix", bytes_of_elements() + bytes_of_matrix()),
        {{Role::natural, "Heddle", "element values",
          both(write(ElementOrder::by_element), sum(ElementOrder::by_element)), check, spoil()},
         {Role::tried, "Heddle", "element values in planes",
          both(write(ElementOrder::planes), sum(ElementOrder::planes)), check, spoil()},
         {Role::chosen, "Heddle", "kernel",
          [this](const Stream&) { assemble(assembly_, kernel()); }, check, spoil()},
         {Role::peer, "textbook", device_.on_gpu() ? "atomic additions" : "one thread",
          scatter(false), check, spoil()},
         {Role::peer, "textbook", colours, scatter(true), check, spoil()}}));
  }

  /// The same from element values that lie there. Both orders take one array in turn, whose numbers
  /// are right when the sums are checked.
  void sums() {
    const auto way = [this](Role role, const char* method, ElementOrder order) {
      return Way{role,
                 "Heddle",
                 method,
                 sum(order),
                 [this] { return error(); },
                 both(write(order), spoil())};
    };
    session_.add(measured(session_, record("sum", bytes_of_matrices() + bytes_of_matrix()),
                          {way(Role::natural, "element values", ElementOrder::by_element),
                           way(Role::tried, "element values in planes", ElementOrder::planes)}));
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

  /// Values in the order of CSR into the kernel's, over the time of a product (Wong, Kuhl, Darve
  /// 2015, figure 10).
  void reorder() {
    Operator<E>& A = assembly_.matrix();
    const Array<double> values(matrix_.values().span(), device_);
    Field<E> x = A.field();
    fill<double>(1, x.view(), device_.stream());
    const auto check = [this] { return error(); };
    std::vector<Way> ways = {
        {Role::tried, "Heddle", "a product",
         [&](const Stream& stream) { A.apply(1, x.view(), 0, field_.view(), stream); }},
        {Role::chosen, "Heddle", device_.on_gpu() ? "on the GPU" : "on the CPU",
         [&](const Stream&) { A.update_values(values.span()); }, check, spoil()}};
    std::optional<Operator<E>> on_host;
    const auto by_host = [&](const Stream& stream) {
      if (!on_host) on_host.emplace(matrix_, plan_);
      on_host->update_values(matrix_.values().span());
      const auto from = on_host->values_in_basis();
      heddle::detail::copy_bytes(A.values_in_basis().data(), from.data(), from.size_bytes(),
                                 stream);
      device_.synchronize();
    };
    if (device_.on_gpu()) {
      ways.push_back(
          {Role::tried, "Heddle", "on the CPU, then copied", by_host, check, spoil(), true});
    }
    Record made = measured(session_, record_of("assembly", problem_, "reorder"), ways);
    const auto of_product = made.candidates[0].seconds;
    for (Candidate& candidate : made.candidates) {
      if (!candidate.seconds || !of_product || !(of_product->median > 0)) continue;
      candidate.of_product = candidate.seconds->median / of_product->median;
    }
    session_.add(std::move(made));
  }

  Session& session_;
  const Problem& problem_;
  const CsrMatrix<E>& matrix_;
  const ElementMesh& mesh_;
  Device device_;
  Plan plan_;
  ElementPattern pattern_;
  Assembly<E> assembly_;
  std::vector<Offset> slots_;  // of the pattern's entries
  Array<double> gradient_, volume_, matrices_, vectors_;
  Field<E> field_;
  Array<unsigned> slot_;
  Array<Index> coloured_;
  std::vector<Offset> first_of_colour_;
};

/// Each row of the matrix sums the contributions to one entry, as the paper has it: any library's
/// product does.
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
  };
  problem.matrix.visit([&]<class E>(const CsrMatrix<E>& matrix) {
    if constexpr (std::is_same_v<E, real<double>> || std::is_same_v<E, block<double, 3, 3>>) {
      measure_all(matrix);
    }
  });
}

}  // namespace heddle::bench
