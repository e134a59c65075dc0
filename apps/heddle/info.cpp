// `heddle info`: the properties of a matrix, and the memory of each of its layouts.
#include <cstdio>
#include <filesystem>
#include <iostream>
#include <nlohmann/json.hpp>

#include "commands.hpp"
#include "description/matrix_description.hpp"
#include "heddle/tools/text.hpp"
#include "json_report.hpp"
#include "options/matrix_options.hpp"
#include "ranks/scaling_options.hpp"
#include "row_histogram.hpp"
#include "setting_options.hpp"
#include "storage_option.hpp"

namespace heddle::cli {

namespace {

using detail::CodeBalance;
using detail::ExactCopy;
using detail::JaggedStorage;
using detail::MatrixDescription;
using detail::MultigridAdvice;
using detail::ShortColumns;
using detail::TreeMemory;

struct InfoOptions {
  MatrixOptions matrix;
  NodeOption node;
  Settings settings;
  ScalingOptions scaling;
  HistogramOption histogram;

  detail::BalanceAssumptions balance() const {
    const auto given = with_settings(DescriptionSettings(), settings);
    return {given.cache, given.bandwidth, given.link};
  }
  bool json = false;
};

void print(const NodeCounts& nodes, const char* label, const char* items) {
  std::printf("%-11s %s dense, %s COO1, %s COO2, %s COO4; mean %.1f %s, %s\n", label,
              readable_count(nodes.of_kind[0]).c_str(), readable_count(nodes.of_kind[1]).c_str(),
              readable_count(nodes.of_kind[2]).c_str(), readable_count(nodes.of_kind[3]).c_str(),
              nodes.nodes() == 0
                  ? 0.0
                  : static_cast<double>(nodes.items) / static_cast<double>(nodes.nodes()),
              items, readable_bytes(static_cast<double>(nodes.bytes)).c_str());
}

void print(const TreeMemory& tree) {
  const HierarchicalMemory& memory = tree.memory;
  const NodeLayout& nodes = tree.nodes;
  std::printf("\nhisparse    nodes of %d x %d", nodes.size, nodes.size);
  if (nodes.dense == NodeLayout::never) std::printf(", no leaf dense");
  if (nodes.dense > 0 && nodes.dense <= 100) std::printf(", leaves dense from %d%%", nodes.dense);
  std::printf("\n");
  print(memory.leaves, "leaves", "entries");
  print(memory.inner, "inner nodes", "children");
  std::printf("nodes       %s; at most %s for this number of entries, %s by the paper's appendix\n",
              readable_count(memory.leaves.nodes() + memory.inner.nodes()).c_str(),
              readable_count(tree.bound.of_entries).c_str(),
              readable_count(tree.bound.paper).c_str());
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

void print(const std::vector<ExactCopy>& copies) {
  for (const ExactCopy& copy : copies) {
    if (copy.why_not.empty()) {
      std::printf("iteration-precision=%s: %.2f bytes an entry with its column, %.2f in full\n",
                  copy.precision.c_str(), copy.bytes, copy.full);
    } else {
      std::printf("iteration-precision=%s: none, %s\n", copy.precision.c_str(),
                  copy.why_not.c_str());
    }
  }
}

void print(const JaggedStorage& jagged) {
  if (jagged.slice_bytes == 0) return;
  std::printf(
      "pJDS        %.1f%% less than ELL, padding %.3g%% of the entries; slices %s, the paper's "
      "column starts %s\n",
      100 * jagged.saved, 100 * jagged.padding,
      readable_bytes(static_cast<double>(jagged.slice_bytes)).c_str(),
      readable_bytes(static_cast<double>(jagged.column_starts)).c_str());
}

void print(const CodeBalance& balance, const detail::BalanceAssumptions& assumed) {
  std::printf("\nbalance     %.2f bytes a flop, %.2f without a cache; an entry takes %d flops\n",
              balance.bytes_per_flop, balance.worst_bytes_per_flop, balance.flops);
  std::printf(
      "x           %.3f of its loads go to memory with %s of cache, %.3f with room for "
      "all of x\n",
      balance.alpha, readable_bytes(static_cast<double>(balance.cache)).c_str(),
      balance.least_alpha);
  std::printf("transfer    x and y %s at %g GB/s, a product %s at %g GB/s\n",
              readable_seconds(balance.transfer_seconds).c_str(), assumed.link,
              readable_seconds(balance.product_seconds).c_str(), assumed.bandwidth);
  std::printf(
      "rows        with up to %.1f entries take less time than their transfer, from %.1f on ten "
      "times as much; here %.1f\n",
      balance.favours_host_up_to, balance.hides_transfer_from, balance.row_length);
}

void print(const MultigridAdvice& advice) {
  if (!advice.why_not.empty()) {
    std::printf("\nmultigrid   no: %s\n", advice.why_not.c_str());
    return;
  }
  std::printf(
      "\nmultigrid   an iteration leaves %.2f of the residual, and reads as much as %.1f with "
      "jacobi\n",
      advice.factor, advice.iterations_of_jacobi);
  if (advice.most_of_jacobi == 0) {
    std::printf("            did not reach %.0e in %lld iterations\n", advice.tolerance,
                advice.iterations);
    return;
  }
  const std::string jacobi = advice.jacobi_iterations
                                 ? std::to_string(*advice.jacobi_iterations)
                                 : "more than " + std::to_string(advice.most_of_jacobi);
  std::printf("            %lld iterations to %.0e, jacobi %s\n", advice.iterations,
              advice.tolerance, jacobi.c_str());
}

/// The features that decide how the matrix is solved, and the resulting solve.
void print_character(const MatrixDescription& matrix) {
  const Features& f = matrix.features;
  if (f.square) {
    if (!f.symmetric_pattern) {
      std::printf("symmetry   none: the pattern is not symmetric\n");
    } else if (!f.has_adjoint) {
      std::printf("symmetry   pattern only; these entries have no adjoint\n");
    } else if (f.hermitian_defect == 0) {
      std::printf("symmetry   Hermitian, exactly\n");
    } else {
      std::printf("symmetry   pattern only; |A - A*| / |A| = %.2e by the largest entry\n",
                  f.hermitian_defect);
    }
    std::printf("diagonal   %s missing, %s singular\n", readable_count(f.missing_diagonal).c_str(),
                readable_count(f.singular_diagonal).c_str());
  }
  const detail::SolveAdvice& solve = matrix.solve;
  if (solve.solver.empty()) return;
  std::printf("solve      --solver %s: %s\n", solve.solver.c_str(), solve.solver_reason.c_str());
  std::printf("           --preconditioner %s: %s\n", solve.preconditioner.c_str(),
              solve.preconditioner_reason.c_str());
}

void print(const std::string& path, const MatrixDescription& matrix) {
  const Features& f = matrix.features;
  std::printf("matrix     %s: %s x %s %s entries (%s), %s stored\n", io::printable(path).c_str(),
              readable_count(f.rows).c_str(), readable_count(f.columns).c_str(),
              std::string(matrix.entry.name()).c_str(), std::string(name(matrix.precision)).c_str(),
              readable_count(f.entries).c_str());
  print_character(matrix);
  std::printf("rows       %d to %d entries, mean %.2f, standard deviation %.2f, %s empty\n",
              f.shortest_row, f.longest_row, f.mean_row, f.deviation_of_rows,
              readable_count(f.empty_rows).c_str());
  std::printf("columns    bandwidth %s, mean distance from the diagonal %.1f\n",
              readable_count(f.bandwidth).c_str(), f.mean_distance);
  std::printf("\n%-10s %12s %8s   the part of the matrix that a product reads\n", "layout",
              "memory", "of CSR");
  for (const LayoutMemory& layout : matrix.layouts) {
    std::printf("%-10s %12s %7.2fx\n", layout.plan.c_str(),
                readable_bytes(static_cast<double>(layout.use.product())).c_str(), layout.of_csr);
  }
  const ShortColumns& columns = matrix.short_columns;
  std::printf("column-bits=16 in %s: %.1f%% of slots, %.2f bytes an entry, %.2f with 32 bits\n",
              ShortColumns::layout, 100 * columns.share, columns.mixed, columns.wide);
}

std::string words_of(const AnyMatrix& matrix, const detail::Scaling& scaling) {
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
  options.histogram.add_outputs(files);
  files.check();
  const auto progress = options.matrix.progress();
  const AnyMatrix matrix = options.matrix.read(progress.get());
  const Device device = options.matrix.on();
  const MatrixDescription description = detail::describe(
      matrix, {nodes, options.balance(), true, options.scaling.question()}, device);
  const std::string file = std::filesystem::path(options.matrix.path).filename().string();
  options.histogram.draw(matrix.pattern(), file);
  if (const auto& scaling = description.scaling) {
    options.scaling.draw(*scaling, file + " on ranks, predicted", words_of(matrix, *scaling));
  }
  if (progress) progress->erase();
  if (options.json) {
    nlohmann::ordered_json json = to_json(description);
    add_provenance(json, options.matrix.path, device);
    std::cout << text_of(json);
  } else if (!options.matrix.quiet) {
    print(options.matrix.path, description);
    print(description.jagged);
    print(description.copies);
    print(description.tree);
    print(description.balance, options.balance());
    if (description.multigrid) print(*description.multigrid);
    if (description.scaling) cli::print(*description.scaling);
    std::printf("\nadvice      %s\n", description.solve.text.c_str());
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
  add_settings(*command, SettingUse::description, {"cache", "bandwidth", "link"},
               options->settings);
  options->scaling.add_to(*command);
  options->histogram.add_to(*command);
  command->add_flag("--json", options->json, "print the result as one JSON object");
  command->footer("Example: heddle info dirac.mtx.gz --entry quaternion");
  command->callback([options, &status] { status = run_info(*options); });
}

}  // namespace heddle::cli
