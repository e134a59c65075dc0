// Rows on their way from a hierarchy on rank 0 to the ranks that have them.
#include <span>

#include "rank_hierarchy.hpp"

namespace heddle::detail {

template <class S>
RankRows RankHierarchy<S>::rows_of(const TileMatrix* whole, const Partition& partition) const {
  PatternView pattern;
  if (whole != nullptr) pattern = whole->pattern.view(whole->columns);
  return rows_from_root(ranks_, partition, whole != nullptr ? &pattern : nullptr);
}

template <class S>
std::vector<std::byte> RankHierarchy<S>::values_of(const TileMatrix* whole,
                                                   const LevelEntry<S>& entry,
                                                   const Partition& partition) const {
  const auto bytes = static_cast<std::size_t>(entry.table->bytes());
  PatternView pattern;
  std::vector<std::byte> stored;
  together(ranks_, [&] {
    if (whole == nullptr) return;
    pattern = whole->pattern.view(whole->columns);
    stored.resize(static_cast<std::size_t>(whole->pattern.entries()) * bytes);
    components_from_tiles(entry.tiles, whole->values.span(), stored,
                          entry.table->sizes.stored_bytes, whole_->host().stream());
  });
  return values_from_root(ranks_, partition, whole != nullptr ? &pattern : nullptr, stored, bytes);
}

#define HEDDLE_RANK_HIERARCHY_ROWS(S)                                                     \
  template RankRows RankHierarchy<S>::rows_of(const TileMatrix*, const Partition&) const; \
  template std::vector<std::byte> RankHierarchy<S>::values_of(                            \
      const TileMatrix*, const LevelEntry<S>&, const Partition&) const;
HEDDLE_RANK_HIERARCHY_ROWS(float)
HEDDLE_RANK_HIERARCHY_ROWS(double)
#undef HEDDLE_RANK_HIERARCHY_ROWS

}  // namespace heddle::detail
