// Contacts that come and go: in each step the contacts of one per cent of an elastic body's nodes
// appear, and conjugate gradient continues from the last solution. A matrix assembled from scratch
// is timed for comparison.
#include <chrono>
#include <cstdio>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "heddle/conjugate_gradient.hpp"
#include "heddle/editable_matrix.hpp"
#include "heddle/hierarchical_jacobi.hpp"
#include "heddle/hierarchical_matrix.hpp"
#include "heddle/jacobi.hpp"
#include "heddle/multiply.hpp"
#include "heddle/problems.hpp"
#include "heddle/triplets.hpp"

namespace {

using Entry = heddle::block<double, 3, 3>;
using Matrix = heddle::HierarchicalMatrix<Entry>;
using heddle::Index;

double seconds_of(const auto& act) {
  const auto start = std::chrono::steady_clock::now();
  act();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// A spring between two nodes along the diagonal of space: `sign` is that of the node's own entry
/// or of the other node's.
Entry spring(double sign) {
  Entry stiffness;
  for (double& component : stiffness.component) component = sign;
  return stiffness;
}

/// Calls `body(i, j)` with the pairs of nodes that touch in a step: no node occurs twice.
void for_each_contact(Index nodes, int step, const auto& body) {
  for (Index i = step; i < nodes / 2; i += 100) body(i, i + nodes / 2);
}

}  // namespace

int main() {
  const auto body = heddle::elasticity(20000);
  const Index nodes = body.rows();
  heddle::EditableMatrix<Entry> A{Matrix(body)};
  const auto body_triplets = A.matrix().to_triplets();
  const auto jacobi = std::make_shared<heddle::HierarchicalJacobi<Entry>>(A);
  heddle::ConjugateGradient cg(A, jacobi);  // uses A in all steps
  heddle::Field<Entry> load(nodes), x(nodes), y(nodes);
  for (Index i = 0; i < nodes; ++i) load.set(i, {{0, 0, -1}});
  const heddle::Plan plan = heddle::parse_plan("CSR");

  for (int step = 0; step < 5; ++step) {
    heddle::EditBatch<Entry> edits;
    if (step > 0) {
      for_each_contact(nodes, step - 1, [&](Index i, Index j) {
        for (const Index node : {i, j}) edits.add(node, node, spring(-1));
        edits.remove(i, j);
        edits.remove(j, i);
      });
    }
    for_each_contact(nodes, step, [&](Index i, Index j) {
      for (const Index node : {i, j}) edits.add(node, node, spring(1));
      edits.set(i, j, spring(-1));
      edits.set(j, i, spring(-1));
    });
    // Both ways are timed until the preconditioner is ready and a first product is done.
    const double edit_seconds = seconds_of([&] {
      A.edit(edits);
      jacobi->refresh();  // the solve would do the same
      heddle::multiply(A, load, y);
    });
    const heddle::Report report = cg.solve(load, x);

    auto triplets = body_triplets;
    const double assembly_seconds = seconds_of([&] {
      for_each_contact(nodes, step, [&](Index i, Index j) {
        for (const Index node : {i, j}) triplets.push_back({node, node, spring(1)});
        triplets.push_back({i, j, spring(-1)});
        triplets.push_back({j, i, spring(-1)});
      });
      const heddle::Operator<Entry> again(
          heddle::assemble<Entry>(nodes, nodes, std::span<const heddle::Triplet<Entry>>(triplets))
              .matrix,
          plan);
      const heddle::Jacobi<Entry> of_again(again);
      heddle::multiply(again, load, y);
    });
    std::printf("step %d: %zu edits in %.1f ms, assembled anew in %.1f ms; %lld iterations, %s\n",
                step, edits.size(), 1e3 * edit_seconds, 1e3 * assembly_seconds, report.iterations,
                std::string(name(report.status)).c_str());
    if (!report.converged()) return 1;
  }
  return 0;
}
