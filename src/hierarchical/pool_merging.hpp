// How a tree that is edited again and again keeps few pools, and few bytes that nobody uses: it
// merges small pools as a log-structured merge tree does (O'Neil et al., Acta Informatica 33,
// 1996).
#pragma once

#include <cstddef>
#include <new>

#include "heddle/detail/tree_edit.hpp"
#include "heddle/error.hpp"

namespace heddle::detail {

/// Merges the last pools of a tree behind an edit, and moves nodes out of a pool of which little is
/// used, so that pools are some hundreds at most and hold at most three times the tree's bytes and
/// 64 KiB. It copies at most half of the tree, mostly an eighth of it or less, but all of it where
/// that does not suffice: the edit wrote or freed most of the tree, or one in most of whose bytes
/// are inner nodes was edited all over. Leaves that move are changes too. Throws
/// `Error` (memory) or std::bad_alloc, and leaves `edited` whole.
void merge_pools(EditedTree& edited, const Device& device);

/// The first of the last pools that are to be merged behind an edit; the number of pools for none.
std::size_t first_pool_to_merge(const Tree& tree);
/// Whether pools hold more than three times the tree's bytes and 64 KiB.
bool holds_too_much(const Tree& tree);

/// Where memory is short a tree may have so many pools that are not merged.
inline constexpr std::size_t most_pools = 1 << 14;

/// Calls `merge()`, behind which a tree is whole also where it throws.
template <class Merge>
void merge_if_memory_is_there(const Tree& tree, const Merge& merge) {
  try {
    merge();
  } catch (const std::bad_alloc&) {
    if (tree.pools.size() > most_pools) throw;
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::memory || tree.pools.size() > most_pools) throw;
  }
}

}  // namespace heddle::detail
