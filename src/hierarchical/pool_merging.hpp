// How a tree that is edited again and again keeps few pools and few unused bytes: it merges small
// pools as a log-structured merge tree does (O'Neil et al., Acta Informatica 33, 1996).
#pragma once

#include <cstddef>
#include <new>

#include "heddle/detail/trees/tree_edit.hpp"
#include "heddle/error.hpp"

namespace heddle::detail {

/// Merges the last pools of a tree after an edit, and moves nodes out of a pool of which little is
/// used, so that there are some hundreds of pools at most, which hold at most three times the
/// tree's bytes plus 64 KiB. It copies at most half of the tree, mostly an eighth of it or less. It
/// copies all of it where that does not suffice: the edit wrote or freed most of the tree, or a
/// tree most of whose bytes are inner nodes was edited all over. Leaves that move are changes too.
/// Throws `Error` (memory) or std::bad_alloc, and leaves `edited` whole.
void merge_pools(EditedTree& edited, const Device& device);

/// The first of the last pools that are to be merged after an edit; the number of pools if none
/// are.
std::size_t first_pool_to_merge(const Tree& tree);
/// True if pools hold more than three times the tree's bytes plus 64 KiB.
bool holds_too_much(const Tree& tree);

/// If memory is short, a tree may have this many pools that are not merged.
inline constexpr std::size_t max_pools = 1 << 14;

/// Calls `merge()`, after which a tree is whole even if it throws.
template <class Merge>
void merge_if_memory_is_there(const Tree& tree, const Merge& merge) {
  try {
    merge();
  } catch (const std::bad_alloc&) {
    if (tree.pools.size() > max_pools) throw;
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::memory || tree.pools.size() > max_pools) throw;
  }
}

}  // namespace heddle::detail
