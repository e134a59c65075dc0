#include "node_table.hpp"

#include <algorithm>
#include <cstdio>
#include <optional>
#include <utility>

#include "amounts.hpp"
#include "text_table.hpp"

namespace heddle::tuning {

namespace {

nlohmann::ordered_json quartiles_of(const std::optional<Statistics>& seconds) {
  if (!seconds) return nullptr;
  return {{"runs", seconds->runs},
          {"lower_quartile", seconds->lower_quartile},
          {"median", seconds->median},
          {"upper_quartile", seconds->upper_quartile}};
}

std::string two_digits(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.2f", value);
  return text;
}

std::string name_of(NodeSchedule schedule) {
  return schedule == NodeSchedule::tree ? "tree" : "kept";
}

std::string median_of(const TreeRecord& tree, const NodeTrial& size, TreeUse use, double seconds) {
  return report::readable_seconds(seconds) + (&tree.best(use, {}) == &size ? " *" : "  ");
}

}  // namespace

void print_nodes(const std::vector<TreeRecord>& trees, const std::string& device,
                 std::ostream& out) {
  out << report::wrapped("device     " + device, 11) << "\n";
  report::TextTable table({{"matrix", true, 12},
                           {"node"},
                           {"dense"},
                           {"launch"},
                           {"schedule", true},
                           {"bytes an entry"},
                           {"A x"},
                           {"A* x"},
                           {"both"},
                           {"iteration"}});
  for (const TreeRecord& tree : trees) {
    for (const NodeTrial& size : tree.sizes) {
      const bool has_adjoint = size.adjoint_product.has_value();
      const double bytes = static_cast<double>(size.bytes) /
                           static_cast<double>(std::max<Offset>(1, tree.features.entries));
      const auto median = [&](TreeUse use) {
        return median_of(tree, size, use, size.seconds(use));
      };
      table.add(
          {&size == &tree.sizes.front() ? tree.matrix : "", std::to_string(size.nodes.size),
           name_of_dense(size.nodes), to_string(size.nodes.launch), name_of(size.schedule),
           two_digits(bytes), median(TreeUse::product),
           has_adjoint ? median(TreeUse::adjoint_product) : "",
           has_adjoint ? median(TreeUse::both) : "",
           size.iteration ? median_of(tree, size, TreeUse::solve, size.iteration->median) : ""});
    }
  }
  table.print(out);
  out << "\n"
      << report::wrapped(
             "medians of one product; *: chosen, 128 unless another is faster by 1%; dense: "
             "percentage of filled places from which a leaf is dense, or bytes: where that takes "
             "fewer; launch: differences from the rule on a GPU; bytes of the tree and its "
             "schedules or queues; iteration: of a solver, measured if schedule=tree is the "
             "fastest for A x",
             0);
}

nlohmann::ordered_json nodes_json(const std::vector<TreeRecord>& trees, const std::string& device) {
  nlohmann::ordered_json json = {{"device", device}, {"storage", "hisparse"}};
  auto& all = json["matrices"] = nlohmann::ordered_json::array();
  for (const TreeRecord& tree : trees) {
    nlohmann::ordered_json sizes = nlohmann::ordered_json::array();
    for (const NodeTrial& size : tree.sizes) {
      sizes.push_back({{"node", size.nodes.size},
                       {"dense", name_of_dense(size.nodes)},
                       {"launch", to_string(size.nodes.launch)},
                       {"schedule", name_of(size.schedule)},
                       {"bytes", size.bytes},
                       {"product", quartiles_of(size.product)},
                       {"adjoint_product", quartiles_of(size.adjoint_product)},
                       {"iteration", quartiles_of(size.iteration)}});
    }
    nlohmann::ordered_json matrix = {{"name", tree.matrix},
                                     {"entry", tree.entry},
                                     {"precision", tree.precision},
                                     {"entries", tree.features.entries},
                                     {"sizes", std::move(sizes)}};
    for (const auto& [use, of] : {std::pair{TreeUse::product, ""},
                                  {TreeUse::adjoint_product, "_of_adjoint"},
                                  {TreeUse::both, "_of_both"},
                                  {TreeUse::solve, "_of_solve"}}) {
      const NodeTrial& best = tree.best(use, {});
      matrix[std::string("node") + of] = best.nodes.size;
      matrix[std::string("dense") + of] = name_of_dense(best.nodes);
      matrix[std::string("launch") + of] = to_string(best.nodes.launch);
      matrix[std::string("schedule") + of] = name_of(best.schedule);
    }
    all.push_back(std::move(matrix));
  }
  return json;
}

}  // namespace heddle::tuning
