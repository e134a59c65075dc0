#include "hierarchical.hpp"

#include <utility>

#include "heddle/hierarchical_matrix.hpp"
#include "heddle/plan_choice.hpp"
#include "heddle/runtime/defined_tree.hpp"

namespace heddle::c {

namespace {

AnyOperator sliced(const AnyMatrix& matrix, const Device& device) {
  return {matrix, parse_plan("CSR"), device};
}

}  // namespace

int node_of(const heddle_matrix& matrix, int node, const Device& device) {
  if (node != 0) return node;
  const Profiles profiles = Profiles::for_device(device);
  return profiles.choose_node(subject_of(matrix.matrix), device, TreeUse::product).node;
}

OperatorParts tree_of(const heddle_matrix& given, int node, const Device& device,
                      std::shared_ptr<std::pmr::memory_resource> memory) {
  const AnyMatrix& matrix = given.matrix;
  const int size = node_of(given, node, device);
  OperatorParts made{std::move(memory), AnyLinearOperator(matrix.entry(), {}), given.entry,
                     std::nullopt};
  if (matrix.is_defined()) {
    matrix.visit_defined([&]<class S>(const DefinedMatrix<S>& m) {
      const auto tree = std::make_shared<const DefinedTree<S>>(m, size, device);
      made.matrix = {matrix.entry(), std::shared_ptr<const LinearOperator<S>>(tree)};
      made.entries = [tree, device](NeededEntries) {
        return sliced(AnyMatrix(tree->to_rows()), device);
      };
    });
    return made;
  }
  matrix.visit([&]<class E>(const CsrMatrix<E>& m) {
    const auto tree = std::make_shared<const HierarchicalMatrix<E>>(m, size, device);
    made.matrix = {matrix.entry(), std::shared_ptr<const LinearOperator<vector_scalar_t<E>>>(tree)};
    made.entries = [tree, device](NeededEntries needed) {
      const bool takes_all = needed == NeededEntries::all;
      return sliced(AnyMatrix(takes_all ? tree->to_csr() : tree->diagonal()), device);
    };
  });
  return made;
}

}  // namespace heddle::c
