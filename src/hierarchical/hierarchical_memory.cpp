#include "heddle/hierarchical_memory.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "base/text/readable.hpp"
#include "heddle/detail/trees/leaf_schedule.hpp"
#include "heddle/detail/trees/tree.hpp"
#include "heddle/error.hpp"

namespace heddle {

namespace {

/// Empty for a text that is not a whole number.
std::optional<int> whole_number(std::string_view text) {
  int number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return {};
  return number;
}

bool is_power_of_two_up_to(int number, int most) {
  return number > 0 && number <= most && (number & (number - 1)) == 0;
}

}  // namespace

double HierarchicalMemory::paper_formula(int node_size, int entry_bytes) const {
  if (leaves.nodes() == 0) return 0;
  const double L = static_cast<double>(leaves.nodes()), N = static_cast<double>(inner.nodes());
  const double bits = 2 * std::log2(node_size) + 8.0 * entry_bytes;
  return (1 + N / L) * (static_cast<double>(leaves.items) * bits + 32 * L) / 8;
}

NodeBound bound_of_nodes(Index rows, Index columns, Offset entries, int node_size) {
  NodeBound bound;
  if (entries == 0) return bound;
  const auto count = static_cast<double>(entries);
  const double places = static_cast<double>(node_size) * node_size;
  double rounded_up = 1;
  while (rounded_up < count) rounded_up *= places;
  const int log2_size = detail::leaf_shape(node_size, 1).log2_size;
  double of_level = 1;
  for (int left = detail::levels_of(rows, columns, log2_size); left > 0; --left) {
    // The terms of the paper's sum, level by level instead of by the entries that need them.
    bound.paper += static_cast<long long>(std::min(of_level, rounded_up));
    bound.of_entries += static_cast<long long>(std::min(of_level, count));
    of_level *= places;
  }
  return bound;
}

std::string name_of_dense(const NodeLayout& nodes) {
  return nodes.dense == NodeLayout::by_bytes ? "bytes"
         : nodes.dense == NodeLayout::never  ? "never"
                                             : std::to_string(nodes.dense);
}

std::string to_string(const NodeLayout& nodes) {
  return "node=" + std::to_string(nodes.size) +
         (nodes.dense == NodeLayout::by_bytes ? "" : ",dense=" + name_of_dense(nodes)) +
         (nodes.launch == TreeLaunch() ? "" : "," + to_string(nodes.launch));
}

int parse_dense(std::string_view text) {
  if (text == "bytes") return NodeLayout::by_bytes;
  if (text == "never") return NodeLayout::never;
  const auto percent = whole_number(text);
  if (percent && *percent >= 1 && *percent <= 100) return *percent;
  throw Error(ErrorKind::usage, "dense is 1 to 100, never or bytes, not " + std::string(text));
}

std::string to_string(const TreeLaunch& launch) {
  std::string text;
  const auto add = [&](const char* key, int number) {
    if (number == 0) return;
    text += (text.empty() ? "" : ",") + std::string(key) + "=" + std::to_string(number);
  };
  add("run", launch.run);
  add("warps", launch.warps);
  add("piece", launch.piece);
  return text;
}

TreeLaunch parse_tree_launch(std::string_view text) {
  TreeLaunch launch;
  for (std::string_view left = text; !left.empty();) {
    const std::string_view part = left.substr(0, left.find(','));
    left.remove_prefix(std::min(left.size(), part.size() + 1));
    const auto equals = part.find('=');
    const std::string_view key = part.substr(0, equals);
    int* const number = key == "run"     ? &launch.run
                        : key == "warps" ? &launch.warps
                        : key == "piece" ? &launch.piece
                                         : nullptr;
    const auto value = equals == part.npos ? std::nullopt : whole_number(part.substr(equals + 1));
    if (number == nullptr || !value || *value == 0 || *number != 0) {
      throw Error(ErrorKind::usage,
                  "a launch is run=N, warps=N and piece=N, separated by commas, each once, not " +
                      std::string(text));
    }
    *number = *value;
  }
  detail::check_launch(launch);
  return launch;
}

void detail::check_launch(const TreeLaunch& launch) {
  const auto refuse = [](const char* key, const char* numbers, int given) {
    throw Error(ErrorKind::usage, "the launch of a tree's products has " + std::string(key) + "=" +
                                      numbers + ", not " + std::to_string(given));
  };
  if (launch.run != 0 && !is_power_of_two_up_to(launch.run, 4)) {
    refuse("run", "1, 2 or 4", launch.run);
  }
  if (launch.warps != 0 && !is_power_of_two_up_to(launch.warps, 8)) {
    refuse("warps", "1, 2, 4 or 8", launch.warps);
  }
  if (launch.piece != 0 && (launch.piece < 64 || launch.piece > 65536)) {
    refuse("piece", "64 to 65536", launch.piece);
  }
}

HierarchicalMemory hierarchical_memory(const PatternView& pattern, const NodeLayout& nodes,
                                       int entry_bytes, const Device& device) {
  const NodeShape leaf = detail::leaf_shape(nodes, entry_bytes);
  const int log2_size = leaf.log2_size;
  check_sizes(pattern);
  check_pattern(pattern, device);
  std::vector<detail::NodeLevel> levels;
  levels.push_back(detail::group_into_nodes(pattern, log2_size, device));
  while (static_cast<int>(levels.size()) <
         detail::levels_of(pattern.rows, pattern.columns, log2_size)) {
    levels.push_back(detail::group_into_nodes(levels.back().pattern(), log2_size, device));
  }
  HierarchicalMemory memory = detail::count_nodes(levels, leaf, device);
  const Offset leaves = memory.leaves.nodes();
  const Index rows = levels.front().rows, columns = levels.front().columns;
  memory.schedule = detail::LeafSchedule::bytes(rows, columns, leaves);
  memory.adjoint_schedule = detail::LeafSchedule::bytes(columns, rows, leaves);
  return memory;
}

std::string to_string(const HierarchicalMemory& memory) {
  return "leaves " + readable_bytes(memory.leaves.bytes) + ", inner nodes " +
         readable_bytes(memory.inner.bytes) + ", schedules " +
         readable_bytes(memory.schedule + memory.adjoint_schedule) +
         (memory.shared == 0 ? "" : "; shared nodes save " + readable_bytes(memory.shared));
}

}  // namespace heddle
