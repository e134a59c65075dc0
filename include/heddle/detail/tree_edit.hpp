// Batches of edits on a tree: nodes that they touch are written anew into a pool of their own, all
// others are shared with the tree before.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "heddle/detail/tree.hpp"
#include "heddle/export.hpp"

namespace heddle::detail {

enum class EditAction : unsigned char { set, add, remove };

struct HEDDLE_EXPORT PlacedEdit {
  Index row;
  Index column;
  EditAction action;
};

/// What an edit makes of a leaf.
struct HEDDLE_EXPORT LeafChange {
  Index row;  // of blocks
  Index column;
  bool stays;          // false where the leaf has no entry any more
  NodeReference leaf;  // lies there, new or instead of another
};
using LeafChanges = std::vector<LeafChange>;

struct HEDDLE_EXPORT EditedTree {
  Tree tree;
  /// In the order of a walk over the tree; null where all nodes have moved, or nobody asked.
  std::shared_ptr<const LeafChanges> changes;
};

/// sum = a + b, of one entry.
using AddEntries = void (*)(const std::byte* a, const std::byte* b, std::byte* sum);

/// Edit i has the value at i * tree.leaf.payload_bytes. Throws `Error`: out_of_range for a place
/// beyond the matrix or without an entry to remove, usage for two edits of one place, memory.
/// `asks_for_changes` where a schedule can be mended by them.
HEDDLE_EXPORT EditedTree edited(const Tree& tree, std::span<const PlacedEdit> edits,
                                const std::byte* values, AddEntries add, bool asks_for_changes,
                                const Device& device);

/// Throws as `edited` for a place beyond the matrix and for two edits of one place.
void check_edits(const Tree& tree, std::span<const PlacedEdit> edits);
/// As `edited` for an edit, counted from 0, that removes what is not there.
[[noreturn]] void refuse_missing(std::size_t number, const PlacedEdit& edit);

}  // namespace heddle::detail
