#include "storage_option.hpp"

#include <algorithm>
#include <memory>

#include "heddle/dynamic_product.hpp"
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
                  "sliced, under a plan, or hisparse: a tree of small nodes (spmv also: "
                  "hisparse,schedule=tree), see "
                  "docs/hierarchical.md")
      ->capture_default_str()
      ->type_name("NAME");
  node.add_to(command);
}

bool StorageOption::is_hierarchical() const {
  if (storage == "hisparse" || is_dynamic()) return true;
  if (storage == "sliced") return false;
  throw Error(ErrorKind::usage,
              "--storage is sliced, hisparse or " + std::string(dynamic) + ", not " + storage);
}

void StorageOption::check_use(const std::vector<std::string>& plans, const ProfileOption& profile,
                              bool solves) const {
  if (is_dynamic() && solves) {
    throw Error(ErrorKind::usage,
                "schedule=tree adds in another order in each run, so that it serves no solver: "
                "take --storage hisparse, or measure it by heddle spmv");
  }
  if (!is_hierarchical()) {
    if (node.is_given()) {
      throw Error(ErrorKind::usage, "--node is of --storage hisparse, not of sliced storage");
    }
    return profile.check_use(plans);
  }
  const bool has_plan = std::ranges::any_of(plans, [](const auto& plan) { return !plan.empty(); });
  if (has_plan) return profile.check_use(plans);
  if (profile.is_given() && node.is_given()) {
    throw Error(ErrorKind::usage,
                "--profile chooses a size of nodes, and --node names one: give one of them");
  }
}

NodeChoice StorageOption::choose(const AnyMatrix& matrix, const Device& device,
                                 const ProfileOption& profile, TreeUse use) const {
  if (node.is_given()) return {node.node, "by --node"};
  return profile.profiles_for({""}, device).choose_node(subject_of(matrix), device, use);
}

namespace {
void refuse_definition(const AnyMatrix& matrix) {
  if (!matrix.is_defined()) return;
  throw Error(
      ErrorKind::unsupported,
      "--storage hisparse takes the entries of --entry; those of a definition lie in sliced "
      "storage");
}
}  // namespace

AnyLinearOperator dynamic_product(const AnyMatrix& matrix, const NodeChoice& choice,
                                  const Device& device) {
  refuse_definition(matrix);
  return matrix.visit([&]<class E>(const CsrMatrix<E>& m) -> AnyLinearOperator {
    using S = vector_scalar_t<E>;
    const HierarchicalMatrix<E> tree(m, choice.node, device);
    return {matrix.entry(),
            std::shared_ptr<const LinearOperator<S>>(std::make_shared<DynamicProduct<E>>(tree))};
  });
}

StoredTree store_as_tree(const AnyMatrix& matrix, const NodeChoice& choice, const Device& device,
                         NeededEntries needed) {
  refuse_definition(matrix);
  return matrix.visit([&]<class E>(const CsrMatrix<E>& m) -> StoredTree {
    using S = vector_scalar_t<E>;
    const auto tree = std::make_shared<HierarchicalMatrix<E>>(m, choice.node, device);
    const auto sliced = [&](const AnyMatrix& entries) {
      return AnyOperator(entries, parse_plan("CSR"), device);
    };
    const auto entries_for = [&] {
      if (needed == NeededEntries::all) return sliced(matrix);
      return sliced(AnyMatrix(needed == NeededEntries::none ? CsrMatrix<E>() : tree->diagonal()));
    };
    return {{matrix.entry(), std::shared_ptr<const LinearOperator<S>>(tree)},
            entries_for(),
            [tree] { return tree->memory(); }};
  });
}

}  // namespace heddle::cli
