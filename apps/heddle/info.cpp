// `heddle info`: what a matrix looks like, and what each layout of it would take.
#include <cstdio>
#include <filesystem>
#include <iostream>
#include <nlohmann/json.hpp>
#include <optional>

#include "code_balance.hpp"
#include "commands.hpp"
#include "exact_copies.hpp"
#include "heddle/hierarchical_memory.hpp"
#include "heddle/tools/text.hpp"
#include "heddle/tuning/features.hpp"
#include "json_report.hpp"
#include "matrix_options.hpp"
#include "scaling_options.hpp"
#include "storage_option.hpp"

namespace heddle::cli {

namespace {

struct InfoOptions {
  MatrixOptions matrix;
  NodeOption node;
  BalanceOptions balance;
  ScalingOptions scaling;
  bool json = false;
};

/// The tree of hierarchical storage, and bytes an entry as others count them.
struct TreeMemory {
  HierarchicalMemory memory;
  double paper_formula = 0;
  double entries = 0, rows = 0;
  int entry_bytes = 0;

  double of(long long bytes) const {
    return entries == 0 ? 0 : static_cast<double>(bytes) / entries;
  }
  double coo() const { return entry_bytes + 8; }
  /// With offsets of 4 bytes, as the paper counts.
  double csr() const { return entries == 0 ? 0 : entry_bytes + 4 + 4 * (rows + 1) / entries; }
};

TreeMemory tree_memory(const AnyMatrix& matrix, const NodeLayout& nodes, const Device& device) {
  TreeMemory tree;
  tree.entry_bytes = matrix.entry_bytes();
  tree.memory = hierarchical_memory(matrix.pattern(), nodes, tree.entry_bytes, device);
  tree.paper_formula = tree.memory.paper_formula(nodes.size, tree.entry_bytes);
  tree.entries = static_cast<double>(matrix.entries());
  tree.rows = matrix.rows();
  return tree;
}

nlohmann::ordered_json to_json(const NodeCounts& nodes) {
  return {{"dense", nodes.of_kind[0]}, {"coo1", nodes.of_kind[1]}, {"coo2", nodes.of_kind[2]},
          {"coo4", nodes.of_kind[3]},  {"items", nodes.items},     {"bytes", nodes.bytes}};
}

nlohmann::ordered_json to_json(const TreeMemory& tree, const NodeLayout& nodes) {
  const HierarchicalMemory& memory = tree.memory;
  return {{"node", nodes.size},
          {"dense", name_of_dense(nodes)},
          {"leaves", to_json(memory.leaves)},
          {"inner_nodes", to_json(memory.inner)},
          {"schedule_bytes", memory.schedule},
          {"adjoint_schedule_bytes", memory.adjoint_schedule},
          {"paper_formula_bytes", tree.paper_formula},
          {"bytes_per_entry",
           {{"tree", tree.of(memory.tree())},
            {"with_schedule", tree.of(memory.tree() + memory.schedule)},
            {"with_both_schedules", tree.of(memory.total())},
            {"csr", tree.csr()},
            {"coo", tree.coo()}}}};
}

void print(const NodeCounts& nodes, const char* label, const char* items) {
  std::printf("%-11s %s dense, %s COO1, %s COO2, %s COO4; mean %.1f %s, %s\n", label,
              readable_count(nodes.of_kind[0]).c_str(), readable_count(nodes.of_kind[1]).c_str(),
              readable_count(nodes.of_kind[2]).c_str(), readable_count(nodes.of_kind[3]).c_str(),
              nodes.nodes() == 0
                  ? 0.0
                  : static_cast<double>(nodes.items) / static_cast<double>(nodes.nodes()),
              items, readable_bytes(static_cast<double>(nodes.bytes)).c_str());
}

void print(const TreeMemory& tree, const NodeLayout& nodes) {
  const HierarchicalMemory& memory = tree.memory;
  std::printf("\nhisparse    nodes of %d x %d", nodes.size, nodes.size);
  if (nodes.dense == NodeLayout::never) std::printf(", no leaf dense");
  if (nodes.dense > 0 && nodes.dense <= 100) std::printf(", leaves dense from %d%%", nodes.dense);
  std::printf("\n");
  print(memory.leaves, "leaves", "entries");
  print(memory.inner, "inner nodes", "children");
  std::printf("tree        %s, %.2f of the paper's formula; schedules %s for A x, %s for A* x\n",
              readable_bytes(static_cast<double>(memory.tree())).c_str(),
              tree.paper_formula == 0 ? 0 : static_cast<double>(memory.tree()) / tree.paper_formula,
              readable_bytes(static_cast<double>(memory.schedule)).c_str(),
              readable_bytes(static_cast<double>(memory.adjoint_schedule)).c_str());
  std::printf(
      "an entry    %.2f bytes, %.2f with the schedule of A x, %.2f with both; CSR %.2f, "
      "COO %.2f\n",
      tree.of(memory.tree()), tree.of(memory.tree() + memory.schedule), tree.of(memory.total()),
      tree.csr(), tree.coo());
}

/// What columns of 16 bits save a product in the layout that GPUs begin with.
struct ShortColumns {
  static constexpr const char* layout = "Sl-32";
  double share = 0;            // of slots
  double wide = 0, mixed = 0;  // bytes an entry that a product reads of the matrix

  explicit ShortColumns(const AnyMatrix& matrix) {
    const auto use_under = [&](const std::string& plan) {
      return memory_use(matrix.pattern(), parse_plan(plan), matrix.entry_bytes(), Device::cpu());
    };
    const MemoryUse use = use_under(std::string(layout) + ",column-bits=16");
    const auto entries = static_cast<double>(matrix.pattern().entries());
    if (entries == 0) return;
    share = static_cast<double>(use.short_slots) / static_cast<double>(use.slots);
    wide = static_cast<double>(use_under(layout).product()) / entries;
    mixed = static_cast<double>(use.product()) / entries;
  }
};

void print_json(const AnyMatrix& matrix, const Features& f,
                const std::vector<LayoutMemory>& layouts, const std::vector<ExactCopy>& copies,
                const TreeMemory& tree, const NodeLayout& nodes, const CodeBalance& balance,
                const std::optional<Scaling>& scaling) {
  nlohmann::ordered_json json;
  json["entry"] = matrix.entry().name();
  json["precision"] = name(matrix.precision());
  json["rows"] = f.rows;
  json["columns"] = f.columns;
  json["entries"] = f.entries;
  json["row_length"] = {{"shortest", f.shortest_row},
                        {"mean", f.mean_row},
                        {"deviation", f.deviation_of_rows},
                        {"longest", f.longest_row},
                        {"empty_rows", f.empty_rows}};
  json["bandwidth"] = f.bandwidth;
  json["mean_distance"] = f.mean_distance;
  if (f.square) {
    json["symmetric_pattern"] = f.symmetric_pattern;
    json["hermitian_defect"] = f.symmetric_pattern && f.has_adjoint
                                   ? nlohmann::ordered_json(f.hermitian_defect)
                                   : nlohmann::ordered_json();
    json["missing_diagonal"] = f.missing_diagonal;
    json["singular_diagonal"] = f.singular_diagonal;
  }
  for (const LayoutMemory& layout : layouts) {
    json["layouts"].push_back(
        {{"plan", layout.plan}, {"bytes", layout.use.product()}, {"of_csr", layout.of_csr}});
  }
  const ShortColumns columns(matrix);
  json["short_columns"] = {{"plan", std::string(ShortColumns::layout) + ",column-bits=16"},
                           {"share_of_slots", columns.share},
                           {"bytes_an_entry", columns.mixed},
                           {"with_32_bits", columns.wide}};
  json["exact_copies"] = to_json(copies);
  json["hisparse"] = to_json(tree, nodes);
  json["code_balance"] = to_json(balance);
  if (scaling) json["scaling"] = to_json(*scaling);
  std::cout << text_of(json);
}

void print(const std::string& path, const AnyMatrix& matrix, const Features& f,
           const std::vector<LayoutMemory>& layouts) {
  std::printf("matrix     %s: %s x %s %s entries (%s), %s stored\n", io::printable(path).c_str(),
              readable_count(f.rows).c_str(), readable_count(f.columns).c_str(),
              std::string(matrix.entry().name()).c_str(),
              std::string(name(matrix.precision())).c_str(), readable_count(f.entries).c_str());
  std::printf("rows       %d to %d entries, mean %.2f, standard deviation %.2f, %s empty\n",
              f.shortest_row, f.longest_row, f.mean_row, f.deviation_of_rows,
              readable_count(f.empty_rows).c_str());
  std::printf("columns    bandwidth %s, mean distance from the diagonal %.1f\n",
              readable_count(f.bandwidth).c_str(), f.mean_distance);
  if (f.square) {
    if (!f.symmetric_pattern) {
      std::printf("symmetry   none: the pattern is not symmetric\n");
    } else if (!f.has_adjoint) {
      std::printf("symmetry   of the pattern; these entries have no adjoint\n");
    } else if (f.hermitian_defect == 0) {
      std::printf("symmetry   Hermitian, exactly\n");
    } else {
      std::printf("symmetry   of the pattern; |A - A*| / |A| = %.2e by the largest entry\n",
                  f.hermitian_defect);
    }
    std::printf("diagonal   %s missing, %s singular\n", readable_count(f.missing_diagonal).c_str(),
                readable_count(f.singular_diagonal).c_str());
  }
  std::printf("\n%-10s %12s %8s   what a product reads of the matrix\n", "layout", "memory",
              "of CSR");
  for (const LayoutMemory& layout : layouts) {
    std::printf("%-10s %12s %7.2fx\n", layout.plan.c_str(),
                readable_bytes(static_cast<double>(layout.use.product())).c_str(), layout.of_csr);
  }
  const ShortColumns columns(matrix);
  std::printf("column-bits=16 in %s: %.1f%% of slots, %.2f bytes an entry, with 32 bits %.2f\n",
              ShortColumns::layout, 100 * columns.share, columns.mixed, columns.wide);
}

std::string picture_title(const std::string& path) {
  return std::filesystem::path(path).filename().string() + " on ranks, predicted";
}
std::string words_of(const AnyMatrix& matrix, const Scaling& scaling) {
  const std::string unknowns = std::to_string(scaling.unknowns);
  const std::string entry = scaling.unknowns > 0 ? "blocks of " + unknowns + " x " + unknowns
                                                 : std::string(matrix.entry().name());
  return readable_count(matrix.rows()) + " rows of " + entry + ", " +
         readable_count(matrix.entries()) + " entries; " + scaling.rates.name + " at " +
         scaling.network.name + ", rows by " + scaling.partition;
}

int run_info(const InfoOptions& options) {
  options.scaling.check();
  const NodeLayout nodes = options.node.nodes();
  RunFiles files;
  options.matrix.add_inputs(files);
  options.scaling.add_outputs(files);
  files.check();
  const auto progress = options.matrix.progress();
  const AnyMatrix matrix = options.matrix.read(progress.get());
  const Device device = options.matrix.on();
  const Features f = features(matrix, device);
  const std::vector<LayoutMemory> layouts = layout_memory(matrix, device);
  const TreeMemory tree = tree_memory(matrix, nodes, Device::cpu(options.matrix.processor.threads));
  const CodeBalance balance = code_balance(matrix, options.balance, device);
  const std::vector<ExactCopy> copies =
      exact_copies(matrix, Device::cpu(options.matrix.processor.threads));
  std::optional<Scaling> scaling;
  if (options.scaling.is_given()) {
    scaling = options.scaling.predict(matrix, balance);
    options.scaling.draw(*scaling, picture_title(options.matrix.path), words_of(matrix, *scaling));
  }
  if (progress) progress->erase();
  if (options.json) {
    print_json(matrix, f, layouts, copies, tree, nodes, balance, scaling);
  } else if (!options.matrix.quiet) {
    print(options.matrix.path, matrix, f, layouts);
    print(copies);
    print(tree, nodes);
    print(balance, options.balance);
    if (scaling) print(*scaling);
  }
  return 0;
}

}  // namespace

void add_info(CLI::App& app, int& status) {
  auto options = std::make_shared<InfoOptions>();
  CLI::App* command =
      app.add_subcommand("info", "Features of a matrix, and the memory that each layout takes");
  options->matrix.add_to(*command);
  options->node.add_to(*command);
  options->balance.add_to(*command);
  options->scaling.add_to(*command);
  command->add_flag("--json", options->json, "the result as one JSON object");
  command->footer("Example: heddle info dirac.mtx.gz --entry quaternion");
  command->callback([options, &status] { status = run_info(*options); });
}

}  // namespace heddle::cli
