#include "rank_volumes.hpp"

#include <algorithm>
#include <cstddef>

#include "heddle/detail/reduction.hpp"

namespace heddle::detail {

namespace {

std::vector<int> owners_of_groups(const Partition& partition) {
  std::vector<int> owners(
      static_cast<std::size_t>((partition.rows() + rows_of_group - 1) / rows_of_group));
  for (int rank = 0; rank < partition.ranks(); ++rank) {
    const long long groups = (partition.rows_of(rank) + rows_of_group - 1) / rows_of_group;
    for (long long group = 0; group < groups; ++group) {
      owners[static_cast<std::size_t>(partition.place_of_group(rank, group))] = rank;
    }
  }
  return owners;
}

}  // namespace

std::vector<RankVolume> rank_volumes(const PatternView& pattern, const Partition& partition) {
  const std::vector<int> owners = owners_of_groups(partition);
  std::vector<RankVolume> volumes(static_cast<std::size_t>(partition.ranks()));
  // The last rank that needed a column, and for each rank the last that needed any of its columns.
  std::vector<int> wanted_by(static_cast<std::size_t>(pattern.columns), -1);
  std::vector<int> asked_by(volumes.size(), -1);
  for (int rank = 0; rank < partition.ranks(); ++rank) {
    RankVolume& mine = volumes[static_cast<std::size_t>(rank)];
    mine.rows = partition.rows_of(rank);
    const long long groups = (mine.rows + rows_of_group - 1) / rows_of_group;
    for (long long group = 0; group < groups; ++group) {
      const long long first = partition.place_of_group(rank, group) * rows_of_group;
      const long long end = std::min(partition.rows(), first + rows_of_group);
      bool is_interior = end - first == rows_of_group;  // see `split_rows`
      for (Offset k = pattern.offsets[first]; k < pattern.offsets[end]; ++k) {
        const auto column = static_cast<std::size_t>(pattern.column[k]);
        const auto owner = static_cast<std::size_t>(owners[column / rows_of_group]);
        if (owner == static_cast<std::size_t>(rank)) continue;
        is_interior = false;
        ++mine.remote_entries;
        if (wanted_by[column] == rank) continue;
        wanted_by[column] = rank;
        ++mine.received;
        ++volumes[owner].sent;
        if (asked_by[owner] == rank) continue;
        asked_by[owner] = rank;
        ++mine.senders;
        ++volumes[owner].receivers;
      }
      const long long entries = pattern.offsets[end] - pattern.offsets[first];
      mine.entries += entries;
      if (!is_interior) continue;
      mine.interior_rows += end - first;
      mine.interior_entries += entries;
    }
  }
  return volumes;
}

RankVolume worst_of(const std::vector<RankVolume>& volumes) {
  RankVolume worst = volumes.front();
  for (const RankVolume& volume : volumes) {
    for (const auto number :
         {&RankVolume::rows, &RankVolume::entries, &RankVolume::remote_entries,
          &RankVolume::received, &RankVolume::sent, &RankVolume::senders, &RankVolume::receivers}) {
      worst.*number = std::max(worst.*number, volume.*number);
    }
    for (const auto number : {&RankVolume::interior_rows, &RankVolume::interior_entries}) {
      worst.*number = std::min(worst.*number, volume.*number);
    }
  }
  return worst;
}

}  // namespace heddle::detail
