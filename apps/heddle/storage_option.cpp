#include "storage_option.hpp"

#include <algorithm>
#include <memory>

#include "heddle/error.hpp"
#include "heddle/hierarchical_matrix.hpp"
#include "whole_number.hpp"

namespace heddle::cli {

void NodeOption::add_to(CLI::App& command) {
  option_ = command
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

void StorageOption::check_use(const std::vector<std::string>& plans,
                              const ProfileOption& profile) const {
  if (!is_hierarchical()) {
    if (node.is_given()) {
      throw Error(ErrorKind::usage, "--node is of --storage hisparse, not of sliced storage");
    }
    return profile.check_use(plans);
  }
  const bool has_plan = std::ranges::any_of(plans, [](const auto& plan) { return !plan.empty(); });
  if (has_plan) return profile.check_use(plans);
  if (profile.is_given()) {
    throw Error(ErrorKind::usage,
                "--profile chooses a plan of sliced storage, which --storage hisparse has not");
  }
}

StoredTree StorageOption::tree(const AnyMatrix& matrix, const Device& device,
                               bool with_diagonal) const {
  if (matrix.is_defined()) {
    throw Error(ErrorKind::unsupported,
                "--storage hisparse takes the entries of --entry; those of a definition lie in "
                "sliced storage");
  }
  return matrix.visit([&]<class E>(const CsrMatrix<E>& m) -> StoredTree {
    using S = vector_scalar_t<E>;
    const auto tree = std::make_shared<HierarchicalMatrix<E>>(m, node.node, device);
    const AnyMatrix diagonal(with_diagonal ? tree->diagonal() : CsrMatrix<E>());
    return {{matrix.entry(), std::shared_ptr<const LinearOperator<S>>(tree)},
            AnyOperator(diagonal, parse_plan("CSR"), device),
            [tree] { return tree->memory(); }};
  });
}

}  // namespace heddle::cli
