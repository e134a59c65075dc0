#include "reordering.hpp"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "heddle/vector_operations.hpp"
#include "own_plans.hpp"
#include "timed_ways.hpp"

namespace heddle::bench {

namespace reordering {
namespace {

/// A product that keeps its operator alive.
template <class E>
Queue product_with(const std::shared_ptr<Operator<E>>& A) {
  auto x = std::make_shared<Field<E>>(A->field()), y = std::make_shared<Field<E>>(A->field());
  fill<double>(1, x->view(), A->device().stream());
  return [A, x, y](const Stream& stream) { A->apply(1, x->view(), 0, y->view(), stream); };
}

/// Adds cuSPARSE's ways with compressed rows.
void add_peers(Session& session, const Problem& problem, std::vector<TimedWay>& ways) {
  for (const auto& peer : session.peers()) {
    if (!session.device().on_gpu() || !peer->presence().present) continue;
    for (PeerProduct& product : peer->products(problem, session.device())) {
      if (product.method.find("CSR") == std::string::npos) continue;
      ways.push_back({Role::peer, peer->presence().name, product.method, product.queue});
    }
  }
}

/// Sets times over that of a product under the plan, and against the fastest compressed rows.
void compare(Record& record) {
  const auto is_rows = [](const Candidate& candidate) {
    return candidate.role == Role::natural || candidate.role == Role::peer;
  };
  std::optional<double> product, of_rows;
  for (const Candidate& candidate : record.candidates) {
    if (!candidate.seconds) continue;
    const double seconds = candidate.seconds->median;
    if (candidate.method == "a product") product = seconds;
    if (is_rows(candidate)) of_rows = std::min(of_rows.value_or(seconds), seconds);
  }
  if (!product || !(*product > 0)) return;
  for (Candidate& candidate : record.candidates) {
    if (!candidate.seconds) continue;
    candidate.of_product = candidate.seconds->median / *product;
    if (is_rows(candidate) || candidate.method == "a product") continue;
    if (of_rows && *of_rows > *product) {
      candidate.products_to_pay = candidate.seconds->median / (*of_rows - *product);
    }
  }
}

}  // namespace
}  // namespace reordering

template <class E>
void measure_reordering(Session& session, const Problem& problem, const CsrMatrix<E>& matrix,
                        const Plan& plan, const std::string& quantity) {
  using namespace reordering;
  const Device& device = session.device();
  const auto A = std::make_shared<Operator<E>>(matrix, plan, device);
  const auto rows = std::make_shared<Operator<E>>(matrix, natural_plan(plan), device);
  const Array<double> values(matrix.values().span(), device);
  const auto check = [&] { return error_of_entries(*A, matrix); };
  const Queue spoil = [&](const Stream& stream) { spoil_entries(*A, stream); };
  std::vector<TimedWay> ways = {
      {Role::natural, "Heddle", "a product of compressed rows", product_with<E>(rows)},
      {Role::tried, "Heddle", "a product", product_with<E>(A)},
      {Role::chosen, "Heddle", device.on_gpu() ? "on the GPU" : "on the CPU",
       [&](const Stream&) { A->update_values(values.span()); }, check, spoil}};
  std::optional<Operator<E>> on_host;
  const auto by_host = [&](const Stream& stream) {
    if (!on_host) on_host.emplace(matrix, plan);
    on_host->update_values(matrix.values().span());
    const auto from = on_host->values_in_basis();
    heddle::detail::copy_bytes(A->values_in_basis().data(), from.data(), from.size_bytes(), stream);
    device.synchronize();
  };
  if (device.on_gpu()) {
    ways.push_back({Role::tried, "Heddle", "on the CPU, then copied", by_host, check, spoil, true});
  }
  add_peers(session, problem, ways);
  Record record = measured(session, record_of("assembly", problem, quantity), ways);
  compare(record);
  session.add(std::move(record));
}

template void measure_reordering(Session&, const Problem&, const CsrMatrix<real<double>>&,
                                 const Plan&, const std::string&);
template void measure_reordering(Session&, const Problem&, const CsrMatrix<block<double, 3, 3>>&,
                                 const Plan&, const std::string&);

}  // namespace heddle::bench
