#include "stored_tree.hpp"

#include <memory>

#include "heddle/dynamic_product.hpp"
#include "heddle/hierarchical_matrix.hpp"
#include "heddle/runtime/defined_tree.hpp"

namespace heddle {

StoredTree stored_tree(const AnyMatrix& matrix, const NodeLayout& nodes, NodeSchedule schedule,
                       const Device& device) {
  const auto kept = [&]<class S>(const auto& tree) -> StoredTree {
    return {{matrix.entry(), std::shared_ptr<const LinearOperator<S>>(tree)},
            [tree] { return tree->memory(); },
            tree->launch()};
  };
  if (matrix.is_defined()) {
    return matrix.visit_defined([&]<class S>(const DefinedMatrix<S>& m) {
      return kept.template operator()<S>(std::make_shared<DefinedTree<S>>(m, nodes, device));
    });
  }
  return matrix.visit([&]<class E>(const CsrMatrix<E>& m) -> StoredTree {
    using S = vector_scalar_t<E>;
    const auto tree = std::make_shared<HierarchicalMatrix<E>>(m, nodes, device);
    if (schedule == NodeSchedule::kept) return kept.template operator()<S>(tree);
    const auto product = std::make_shared<DynamicProduct<E>>(*tree);
    return {{matrix.entry(), std::shared_ptr<const LinearOperator<S>>(product)},
            [tree, product] {
              HierarchicalMemory memory = tree->memory();
              memory.workspaces += product->bytes_of_queues();
              return memory;
            },
            {}};
  });
}

}  // namespace heddle
