// How a tree that is edited again and again keeps few pools, and few bytes that nobody uses: it
// merges small pools as a log-structured merge tree does (O'Neil et al., Acta Informatica 33,
// 1996).
#pragma once

#include "heddle/detail/tree_edit.hpp"

namespace heddle::detail {

/// Merges the last pools of a tree behind an edit, and moves nodes out of a pool of which little is
/// used, so that pools are some hundreds at most and hold at most three times the tree's bytes and
/// 64 KiB. It copies at most half of the tree, mostly an eighth of it or less, but all of it where
/// that does not suffice: the edit wrote or freed most of the tree, or one in most of whose bytes
/// are inner nodes was edited all over. Leaves that move are changes too. Throws
/// `Error` (memory) or std::bad_alloc, and leaves `edited` whole.
void merge_pools(EditedTree& edited, const Device& device);

}  // namespace heddle::detail
