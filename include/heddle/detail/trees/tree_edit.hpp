// Batches of edits on a tree: nodes that they touch are written anew into a pool of their own; all
// others are shared with the tree before.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "heddle/detail/trees/tree.hpp"
#include "heddle/export.hpp"

namespace heddle::detail {

enum class EditAction : unsigned char { set, add, remove };

struct HEDDLE_EXPORT PlacedEdit {
  Index row;
  Index column;
  EditAction action;
};

/// The effect of an edit on a leaf.
struct HEDDLE_EXPORT LeafChange {
  Index row;  // row of blocks
  Index column;
  bool stays;          // false if the leaf no longer has an entry
  NodeReference leaf;  // the leaf there, new or in place of another
};
using LeafChanges = std::vector<LeafChange>;

struct HEDDLE_EXPORT EditedTree {
  Tree tree;
  /// In the order of a walk over the tree; null if all nodes have moved, or if not requested.
  std::shared_ptr<const LeafChanges> changes;
};

/// sum = a + b, for one entry.
using AddEntries = void (*)(const std::byte* a, const std::byte* b, std::byte* sum);

/// Edit i has the value at i * tree.leaf.payload_bytes. Throws `Error`: out_of_range for a place
/// beyond the matrix or without an entry to remove, usage for two edits of one place, memory.
/// `asks_for_changes`: a schedule can be mended with them.
HEDDLE_EXPORT EditedTree edited(const Tree& tree, std::span<const PlacedEdit> edits,
                                const std::byte* values, AddEntries add, bool asks_for_changes,
                                const Device& device);

/// Edits of the transpose as edits of the tree. Throws like `edited`, in the words of the edits
/// given.
HEDDLE_EXPORT std::vector<PlacedEdit> transposed_edits(const Tree& tree,
                                                       std::span<const PlacedEdit> edits);

/// Throws like `edited` for a place beyond the matrix and for two edits of one place.
void check_edits(const Tree& tree, std::span<const PlacedEdit> edits);
/// Throws like `edited` for an edit, counted from 0, that removes a missing entry.
[[noreturn]] void refuse_missing(std::size_t number, const PlacedEdit& edit);

}  // namespace heddle::detail
