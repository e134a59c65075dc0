// A finite element loop: one pattern, new values in every step. The matrix is assembled once from
// triplets. After that only values are summed, stored and solved with, and nothing is allocated.
#include <iostream>
#include <vector>

#include "heddle/choose_plan.hpp"
#include "heddle/conjugate_gradient.hpp"
#include "heddle/jacobi.hpp"
#include "heddle/operator.hpp"
#include "heddle/triplets.hpp"

using E = heddle::block<double, 3, 3>;

/// A chain of springs in space: element e joins nodes e and e + 1, and one more spring holds node
/// 0.
void add_springs(int elements, double stiffness, std::vector<heddle::Triplet<E>>& triplets) {
  triplets.clear();
  const auto block = [](double k) { return E{{k, 0, 0, 0, k, 0, 0, 0, 2 * k}}; };
  triplets.push_back({0, 0, block(stiffness)});
  for (int e = 0; e < elements; ++e) {
    triplets.push_back({e, e, block(stiffness)});
    triplets.push_back({e, e + 1, block(-stiffness)});
    triplets.push_back({e + 1, e, block(-stiffness)});
    triplets.push_back({e + 1, e + 1, block(stiffness)});
  }
}

int main() {
  const int elements = 50, nodes = elements + 1;
  std::vector<heddle::Triplet<E>> triplets;
  add_springs(elements, 1, triplets);
  auto [matrix, map] = heddle::assemble<E>(nodes, nodes, triplets);

  heddle::Operator<E> A(matrix, heddle::choose_plan(matrix));
  heddle::ConjugateGradient cg(A, heddle::Jacobi(A));
  std::vector<double> force(3 * nodes), displacement(3 * nodes);
  force[3 * nodes - 3] = 1;  // pulls at the last node
  for (int step = 0; step < 5; ++step) {
    add_springs(elements, 1 + step, triplets);  // the same places in the same order
    map.apply(triplets, matrix.values().span());
    A.update_values(matrix);  // Jacobi follows at the next solve
    const auto report = cg.solve(heddle::field_view<E>(force), heddle::field_view<E>(displacement));
    std::cout << "step " << step << ": " << report << ", the end moved by "
              << displacement[3 * nodes - 3] << "\n";
    if (!report.converged()) return 1;
  }
}
