// Nodes with equal bytes become one, which makes the tree a directed acyclic graph.
#include <cstddef>
#include <cstring>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "heddle/detail/trees/tree.hpp"
#include "heddle/tools/memory_error.hpp"

namespace heddle::detail {

namespace {

class SharedNodes {
 public:
  explicit SharedNodes(const Tree& tree) : tree_(tree) {}

  Tree share(const Device& device) {
    Tree shared = tree_;
    if (tree_.entries == 0) return shared;
    const int levels = levels_of(tree_.rows, tree_.columns, tree_.leaf.log2_size);
    shared.root = take(tree_.root, levels - 1);
    auto pool = std::make_shared<Pool>(static_cast<std::size_t>(bytes_), device);
    for (const auto* nodes : {&leaves_, &inner_}) {
      for (const auto& [bytes, at] : *nodes) {
        std::memcpy(pool->data() + at.byte(), bytes.data(), bytes.size());
      }
    }
    shared.pools = {{std::move(pool), shared.memory.tree()}};
    shared.shares_nodes = true;
    return shared;
  }

 private:
  /// Bytes of nodes, and the only node that has them.
  using Nodes = std::unordered_map<std::string_view, NodeReference>;

  static std::string_view bytes_of(const NodeView& node) {
    return {reinterpret_cast<const char*>(node.data), static_cast<std::size_t>(node.bytes())};
  }

  NodeReference take(NodeReference at, int level) {
    const NodeView node = tree_.node(at, level);
    if (level == 0) return only_one(leaves_, bytes_of(node), node.kind);
    if (const auto known = known_.find(at.bits); known != known_.end()) return known->second;
    std::string bytes(bytes_of(node));
    const auto payloads = static_cast<std::size_t>(node.payloads() - node.data);
    node.for_each([&](LocalPlace, int payload) {
      const NodeReference child = take(child_at(node, payload), level - 1);
      std::memcpy(bytes.data() + payloads + static_cast<std::size_t>(payload) * sizeof child,
                  &child, sizeof child);
    });
    written_.push_back(std::move(bytes));
    const std::size_t others = inner_.size();
    const NodeReference only = only_one(inner_, written_.back(), node.kind);
    if (inner_.size() == others) written_.pop_back();
    if (tree_.shares_nodes) known_.emplace(at.bits, only);
    return only;
  }
  NodeReference only_one(Nodes& nodes, std::string_view bytes, NodeKind kind) {
    const auto [found, is_new] = nodes.try_emplace(bytes, NodeReference::make(kind, 0, bytes_));
    if (is_new) bytes_ += static_cast<Offset>(bytes.size());
    return found->second;
  }

  const Tree& tree_;
  Nodes leaves_, inner_;
  std::deque<std::string> written_;                              // bytes of inner nodes
  std::unordered_map<unsigned long long, NodeReference> known_;  // inner nodes shared before
  Offset bytes_ = 0;
};

}  // namespace

Tree with_shared_nodes(const Tree& tree, const Device& device) {
  return or_refuse_memory("nodes", static_cast<std::size_t>(tree.memory.leaves.nodes()),
                          sizeof(NodeReference) + sizeof(std::string_view),
                          [&] { return SharedNodes(tree).share(device); });
}

}  // namespace heddle::detail
