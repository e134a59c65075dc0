// Gathers rows of a field one after another, by runs of neighbours.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

#include "heddle/csr.hpp"
#include "heddle/tools/team.hpp"

namespace heddle::detail {

/// Rows that a boundary needs from its own rank lie mostly next to each other. Copied row by row
/// they took a fifteenth of the instructions of an iteration over 29 580 rows of 3 x 3 blocks.
class RowRuns {
 public:
  RowRuns() = default;
  explicit RowRuns(std::span<const Index> rows) : rows_(static_cast<Offset>(rows.size())) {
    for (std::size_t k = 0; k < rows.size(); ++k) {
      const bool goes_on = !runs_.empty() && runs_.back().count < most &&
                           rows[k] == runs_.back().from + runs_.back().count;
      if (goes_on) {
        ++runs_.back().count;
      } else {
        runs_.push_back({rows[k], static_cast<Index>(k), 1});
      }
    }
  }

  /// Gathers rows of `width` scalars.
  template <class S>
  void gather(const S* from, std::size_t width, S* to, const Stream& stream) const {
    const auto at = [width](Index row) { return static_cast<std::size_t>(row) * width; };
    const auto scalars = rows_ * static_cast<Offset>(width);
    parallel_for(team_size(stream, scalars), static_cast<Offset>(runs_.size()), [&](Offset r) {
      const Run& run = runs_[static_cast<std::size_t>(r)];
      std::copy_n(from + at(run.from), at(run.count), to + at(run.to));
    });
  }

 private:
  static constexpr Index most = 256;  // so that threads share them
  struct Run {
    Index from, to, count;
  };

  std::vector<Run> runs_;
  Offset rows_ = 0;
};

}  // namespace heddle::detail
