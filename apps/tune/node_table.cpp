#include "node_table.hpp"

#include <algorithm>
#include <cstdio>

#include "amounts.hpp"
#include "text_table.hpp"

namespace heddle::tuning {

namespace {

nlohmann::ordered_json quartiles_of(const Statistics& seconds) {
  return {{"runs", seconds.runs},
          {"lower_quartile", seconds.lower_quartile},
          {"median", seconds.median},
          {"upper_quartile", seconds.upper_quartile}};
}

std::string two_digits(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.2f", value);
  return text;
}

std::string median_of(const TreeRecord& tree, const NodeTrial& size, TreeUse use) {
  return report::readable_seconds(size.seconds(use)) +
         (tree.best(use).nodes == size.nodes ? " *" : "  ");
}

}  // namespace

void print_nodes(const std::vector<TreeRecord>& trees, const std::string& device,
                 std::ostream& out) {
  out << report::wrapped("device     " + device, 11) << "\n";
  report::TextTable table({{"matrix", true, 12},
                           {"node"},
                           {"dense"},
                           {"launch"},
                           {"bytes an entry"},
                           {"A x"},
                           {"A* x"},
                           {"both"}});
  for (const TreeRecord& tree : trees) {
    for (const NodeTrial& size : tree.sizes) {
      const bool has_adjoint = size.adjoint_product.has_value();
      const double bytes = static_cast<double>(size.bytes) /
                           static_cast<double>(std::max<Offset>(1, tree.features.entries));
      table.add({&size == &tree.sizes.front() ? tree.matrix : "", std::to_string(size.nodes.size),
                 name_of_dense(size.nodes), to_string(size.nodes.launch), two_digits(bytes),
                 median_of(tree, size, TreeUse::product),
                 has_adjoint ? median_of(tree, size, TreeUse::adjoint_product) : "",
                 has_adjoint ? median_of(tree, size, TreeUse::both) : ""});
    }
  }
  table.print(out);
  out << "\n"
      << report::wrapped(
             "medians of one product; *: chosen, 128 unless another is faster by 1%; dense: "
             "percentage of filled places from which a leaf is dense, or bytes: where that takes "
             "fewer; launch: differences from the rule on a GPU; bytes of the tree and its "
             "schedules",
             0);
}

nlohmann::ordered_json nodes_json(const std::vector<TreeRecord>& trees, const std::string& device) {
  nlohmann::ordered_json json = {{"device", device}, {"storage", "hisparse"}};
  auto& all = json["matrices"] = nlohmann::ordered_json::array();
  for (const TreeRecord& tree : trees) {
    nlohmann::ordered_json sizes = nlohmann::ordered_json::array();
    for (const NodeTrial& size : tree.sizes) {
      sizes.push_back(
          {{"node", size.nodes.size},
           {"dense", name_of_dense(size.nodes)},
           {"launch", to_string(size.nodes.launch)},
           {"bytes", size.bytes},
           {"product", quartiles_of(size.product)},
           {"adjoint_product", size.adjoint_product ? quartiles_of(*size.adjoint_product)
                                                    : nlohmann::ordered_json()}});
    }
    const NodeLayout &product = tree.best(TreeUse::product).nodes,
                     &adjoint = tree.best(TreeUse::adjoint_product).nodes,
                     &both = tree.best(TreeUse::both).nodes;
    all.push_back({{"name", tree.matrix},
                   {"entry", tree.entry},
                   {"precision", tree.precision},
                   {"entries", tree.features.entries},
                   {"sizes", std::move(sizes)},
                   {"node", product.size},
                   {"dense", name_of_dense(product)},
                   {"launch", to_string(product.launch)},
                   {"node_of_adjoint", adjoint.size},
                   {"dense_of_adjoint", name_of_dense(adjoint)},
                   {"launch_of_adjoint", to_string(adjoint.launch)},
                   {"node_of_both", both.size},
                   {"dense_of_both", name_of_dense(both)},
                   {"launch_of_both", to_string(both.launch)}});
  }
  return json;
}

}  // namespace heddle::tuning
