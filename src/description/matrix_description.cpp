#include "matrix_description.hpp"

namespace heddle::detail {

namespace {

TreeMemory tree_memory(const AnyMatrix& matrix, const NodeLayout& nodes, const Device& device) {
  TreeMemory tree;
  tree.nodes = nodes;
  tree.entry_bytes = matrix.entry_bytes();
  tree.memory = hierarchical_memory(matrix.pattern(), nodes, tree.entry_bytes, device);
  tree.paper_formula = tree.memory.paper_formula(nodes.size, tree.entry_bytes);
  tree.bound = bound_of_nodes(matrix.rows(), matrix.columns(), matrix.entries(), nodes.size);
  tree.entries = static_cast<double>(matrix.entries());
  tree.rows = matrix.rows();
  return tree;
}

ShortColumns short_columns(const AnyMatrix& matrix) {
  ShortColumns columns;
  const auto entries = static_cast<double>(matrix.entries());
  if (entries == 0) return columns;
  const auto use_under = [&](const std::string& plan) {
    return memory_use(matrix.pattern(), parse_plan(plan), matrix.entry_bytes(), Device::cpu());
  };
  const MemoryUse use = use_under(std::string(ShortColumns::layout) + ",column-bits=16");
  columns.share = static_cast<double>(use.short_slots) / static_cast<double>(use.slots);
  columns.wide = static_cast<double>(use_under(ShortColumns::layout).product()) / entries;
  columns.mixed = static_cast<double>(use.product()) / entries;
  return columns;
}

}  // namespace

MatrixDescription describe(const AnyMatrix& matrix, const DescriptionOptions& options,
                           const Device& device) {
  const Device host = device.on_gpu() ? Device::cpu() : device;
  const CodeBalance balance = code_balance(matrix, options.balance, device);
  std::optional<MultigridAdvice> multigrid;
  if (options.tries_multigrid) multigrid = multigrid_advice(matrix, host);
  SolveAdvice solve = solve_advice(matrix, multigrid, options.tries_multigrid, host);
  std::optional<Scaling> scaling;
  if (options.scaling) {
    scaling = predict_scaling(matrix, *options.scaling, balance.flops, device);
  }
  const Features known = features(matrix, device);
  std::vector<LayoutMemory> layouts = layout_memory(matrix, device);
  const JaggedStorage jagged = jagged_storage(layouts, known);
  return {matrix.entry(),
          matrix.precision(),
          known,
          std::move(layouts),
          jagged,
          short_columns(matrix),
          exact_copies(matrix, host),
          tree_memory(matrix, options.nodes, host),
          balance,
          std::move(multigrid),
          std::move(solve),
          std::move(scaling)};
}

}  // namespace heddle::detail
