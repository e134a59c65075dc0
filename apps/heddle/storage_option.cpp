#include "storage_option.hpp"

#include <memory>

#include "heddle/error.hpp"
#include "heddle/hierarchical_matrix.hpp"
#include "whole_number.hpp"

namespace heddle::cli {

void NodeOption::add_to(CLI::App& command) {
  command
      .add_option("--node", node,
                  "rows and columns of a node of hierarchical storage: 4, 8, ..., 256")
      ->capture_default_str()
      ->transform(whole_number(0, 1 << 20))
      ->type_name("N");
}

void StorageOption::add_to(CLI::App& command) {
  command
      .add_option("--storage", storage,
                  "sliced, under a plan, or hisparse: a tree of small nodes, see "
                  "docs/hierarchical.md")
      ->capture_default_str()
      ->type_name("NAME");
  node.add_to(command);
}

bool StorageOption::is_hierarchical() const {
  if (storage == "hisparse") return true;
  if (storage == "sliced") return false;
  throw Error(ErrorKind::usage, "--storage is sliced or hisparse, not " + storage);
}

StoredTree StorageOption::tree(const AnyMatrix& matrix, const Device& device) const {
  if (matrix.is_defined()) {
    throw Error(ErrorKind::unsupported,
                "--storage hisparse takes the entries of --entry; those of a definition lie in "
                "sliced storage");
  }
  return matrix.visit([&]<class E>(const CsrMatrix<E>& m) -> StoredTree {
    using S = vector_scalar_t<E>;
    const auto tree = std::make_shared<HierarchicalMatrix<E>>(m, node.node, device);
    const AnyMatrix diagonal(tree->rows() == tree->columns() ? tree->diagonal() : CsrMatrix<E>());
    return {{matrix.entry(), std::shared_ptr<const LinearOperator<S>>(tree)},
            AnyOperator(diagonal, parse_plan("CSR"), device),
            hierarchical_memory(m.view().pattern(), node.node, int{sizeof(E)},
                                detail::team_of(device))};
  });
}

}  // namespace heddle::cli
