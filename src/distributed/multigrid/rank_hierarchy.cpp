#include "rank_hierarchy.hpp"

#include <algorithm>
#include <chrono>
#include <numeric>
#include <span>
#include <string>
#include <utility>

#include "distributed/exchange/root_exchange.hpp"
#include "distributed/exchange/rows_in_order.hpp"
#include "heddle/detail/reduction.hpp"
#include "solvers/cycles/level_cycle.hpp"
#include "solvers/multigrid/composed_cycle.hpp"

namespace heddle::detail {

namespace {

/// Groups of 256 rows per rank below which a level is on rank 0 alone: a rank's product would take
/// less time than the exchange.
constexpr Index min_groups = 2;

using Clock = std::chrono::steady_clock;

/// The rank with the most votes, the first of several.
int most_voted(std::span<const Offset> votes) {
  return static_cast<int>(std::max_element(votes.begin(), votes.end()) - votes.begin());
}

}  // namespace

template <class S>
RankHierarchy<S>::RankHierarchy(const DistributedOperator<S>& matrix,
                                const MultigridOptions& options, const Make& make)
    : matrix_(matrix),
      ranks_(matrix.ranks()),
      options_(broadcast_from_root(ranks_, std::vector{options}).front()),
      device_(matrix.device().sharing(nullptr)),
      plan_(matrix.diagonal().plan()),
      // A separate thread for each small level would be woken for each product.
      mode_(matrix.mode() == ExchangeMode::vector ? ExchangeMode::vector : ExchangeMode::naive) {
  const auto begin = Clock::now();
  if (device_.on_gpu()) {
    plan_.schedule.kind = ScheduleKind::full;
    plan_.loop.form = LoopForm::stepped;  // no graph holds a product of a level
  }
  set_up(make);
  tell();
  const std::vector<Partition> partitions = make_partitions();
  for (std::size_t l = 0; l < outlines_.size(); ++l) {
    add_level(l, partitions[l]);
    if (l > 0) add_transfers(l - 1);
  }
  for (std::size_t l = 0; l < outlines_.size(); ++l) {
    const WholeLevel* const whole = whole_level(l);
    if (outlines_[l].is_solved == 0) {
      smooth(l);
    } else {
      levels_[l].inverse =
          square_on(levels_[l], whole != nullptr ? &whole->inverse_tiles : nullptr);
    }
  }
  make_cycle();
  count_bytes();
  report_.setup_seconds = std::chrono::duration<double>(Clock::now() - begin).count();
}

template <class S>
void RankHierarchy<S>::set_up(const Make& make) {
  whole_.emplace(matrix_, plan_);
  together(ranks_, [&] {
    if (!is_root()) return;
    Made made = make(whole_->stored(), options_);
    hierarchy_ = std::move(made.hierarchy);
    candidates_ = made.candidates;
  });
  candidates_ = broadcast_from_root(ranks_, std::vector{candidates_}).front();
  together(ranks_, [&] { entries_ = level_entries(matrix_.diagonal(), candidates_); });
}

/// Sends what rank 0 knows about the levels to all ranks.
template <class S>
void RankHierarchy<S>::tell() {
  std::vector<Outline> outlines;
  MultigridReport report;
  if (is_root()) {
    for (const auto& level : hierarchy_->levels()) {
      Outline& outline = outlines.emplace_back();
      outline.rows = level->matrix.rows();
      outline.is_solved = level->inverse != nullptr ? 1 : 0;
      outline.colours = level->smoother.colours.count();
      if (!level->smoother.interval) continue;
      outline.lower = level->smoother.interval->lower;
      outline.upper = level->smoother.interval->upper;
    }
    report = hierarchy_->report();
  }
  outlines_ = broadcast_from_root(ranks_, outlines);
  report_.levels = broadcast_from_root(ranks_, report.levels);
  report_.operator_complexity =
      broadcast_from_root(ranks_, std::vector{report.operator_complexity}).front();
  report_.host_bytes = broadcast_from_root(ranks_, std::vector{report.host_bytes}).front();
}

/// The owners of the groups of the next coarser level, whose rows are the level's aggregates.
template <class S>
std::vector<int> RankHierarchy<S>::owners_below(const WholeLevel& level,
                                                const Partition& partition) const {
  const TileMatrix& tentative = level.transfer.tentative;
  const Index groups = groups_of(tentative.columns);
  std::vector<int> owners(static_cast<std::size_t>(groups), 0);
  const auto size = static_cast<std::size_t>(ranks_.size());
  if (groups < min_groups * ranks_.size()) return owners;
  std::vector<Offset> votes(owners.size() * size);
  for_each_row(partition, [&](std::size_t r, long long row) {
    for (const Index column : tentative.pattern.row(static_cast<Index>(row))) {
      ++votes[static_cast<std::size_t>(column / rows_of_group) * size + r];
    }
  });
  for (std::size_t g = 0; g < owners.size(); ++g) {
    owners[g] = most_voted(std::span(votes).subspan(g * size, size));
  }
  return owners;
}

template <class S>
std::vector<Partition> RankHierarchy<S>::make_partitions() {
  std::vector<Partition> partitions{matrix_.partition()};
  for (std::size_t l = 1; l < outlines_.size(); ++l) {
    std::vector<int> owners;
    together(ranks_, [&] {
      if (is_root()) owners = owners_below(*whole_level(l - 1), partitions.back());
    });
    owners = broadcast_from_root(ranks_, owners);
    partitions.push_back(Partition::by_owner(outlines_[l].rows, ranks_.size(), owners));
  }
  return partitions;
}

template <class S>
Plan RankHierarchy<S>::plan_of(const TileMatrix* whole) const {
  if (!device_.on_gpu()) return plan_;
  const std::string text =
      whole != nullptr
          ? to_full_string(plan_of_rows(whole->pattern.rows(), whole->pattern.entries(), plan_))
          : "";
  return parse_plan(text_of_rank(ranks_, 0, text));
}

template <class S>
void RankHierarchy<S>::add_level(std::size_t number, const Partition& partition) {
  Level& level = levels_.emplace_back();
  if (number == 0) {
    level.matrix = &matrix_;
    return;
  }
  const WholeLevel* const known = whole_level(number);
  const TileMatrix* const whole = known != nullptr ? &known->matrix : nullptr;
  const RankRows rows = rows_of(whole, partition);
  const auto values = values_of(whole, entries_.coarse, partition);
  level.own = std::make_unique<DistributedOperator<S>>(ranks_, partition, entries_.coarse.table,
                                                       rows, values, plan_, mode_, device_);
  level.matrix = level.own.get();
}

/// The entry of P*, to the next coarser level.
template <class S>
LevelEntry<S> RankHierarchy<S>::entry_above(std::size_t number) const {
  LevelEntry<S> entry = entry_below(number);
  if (entry.table->adjoint_entry != nullptr) entry.table = entry.table->adjoint_entry();
  return entry;
}

template <class S>
std::shared_ptr<RankOperator<S>> RankHierarchy<S>::make_transfer(
    const TileMatrix* whole, const LevelEntry<S>& entry, const DistributedOperator<S>& of_rows,
    const DistributedOperator<S>& of_columns) {
  const RankRows rows = rows_of(whole, of_rows.partition());
  auto made = std::make_shared<RankOperator<S>>(of_rows, of_columns, entry.table, rows,
                                                plan_of(whole), device_);
  const auto values = values_of(whole, entry, of_rows.partition());
  together(ranks_, [&] { made->update_values(values); });
  return made;
}

template <class S>
void RankHierarchy<S>::add_transfers(std::size_t number) {
  Level& fine = levels_[number];
  const DistributedOperator<S>& coarse = *levels_[number + 1].matrix;
  const WholeLevel* const whole = whole_level(number);
  fine.interpolate = make_transfer(whole != nullptr ? &whole->transfer.prolongation : nullptr,
                                   entry_below(number), *fine.matrix, coarse);
  fine.restrict = make_transfer(whole != nullptr ? &whole->transfer.restriction : nullptr,
                                entry_above(number), coarse, *fine.matrix);
}

/// A matrix of rank 0 between fields of the level, in its basis.
template <class S>
std::shared_ptr<RankOperator<S>> RankHierarchy<S>::square_on(const Level& level,
                                                             const TileMatrix* tiles) {
  return make_transfer(tiles, entry_on(level), *level.matrix, *level.matrix);
}

template <class S>
void RankHierarchy<S>::smooth(std::size_t number) {
  if (outlines_[number].colours > 0) return smooth_by_colours(number);
  Level& level = levels_[number];
  int sweeps = options_.degree;
  if (options_.smoother == Smoother::l1_jacobi) {
    const WholeLevel* const whole = whole_level(number);
    level.by_norms = square_on(level, whole != nullptr ? &whole->smoother.norm_inverses : nullptr);
    level.before = std::make_shared<InverseOperator<S>>(level.by_norms);
  } else {
    const bool is_jacobi = options_.smoother == Smoother::jacobi;
    if (!is_jacobi) sweeps = 1;
    level.polynomial = std::make_shared<Chebyshev<S>>(
        *level.matrix, level.matrix->jacobi(),
        ChebyshevOptions{
            .degree = is_jacobi ? 0 : options_.degree,
            .interval = SpectralInterval{outlines_[number].lower, outlines_[number].upper}});
    level.before = level.polynomial;
  }
  level.before = level.after = repeated<S>(*level.matrix, level.before, sweeps);
}

template <class S>
void RankHierarchy<S>::smooth_by_colours(std::size_t number) {
  Level& level = levels_[number];
  const Partition& partition = level.matrix->partition();
  const WholeLevel* const whole = whole_level(number);
  TileMatrix tiles, colours;
  together(ranks_, [&] {
    if (whole == nullptr) return;
    tiles = in_user_rows(whole->smoother.colours);
    colours = colour_of_rows(whole->smoother.colours);
  });
  const RankRows rows = rows_of(whole != nullptr ? &tiles : nullptr, partition);
  RankRows of_rows = rows_of(whole != nullptr ? &colours : nullptr, partition);
  level.colours = std::make_shared<RankColours<S>>(*level.matrix, entry_on(level).table, rows,
                                                   std::move(of_rows.columns),
                                                   outlines_[number].colours, plan_, device_);
  const auto values = values_of(whole != nullptr ? &tiles : nullptr, entry_on(level), partition);
  together(ranks_, [&] {
    level.colours->update_values(values);
    const auto sweeps_of = [&](bool is_forward) {
      return std::make_shared<GaussSeidel<S>>(*level.matrix, level.colours->operators(),
                                              options_.degree, is_forward);
    };
    level.before = sweeps_of(true);
    level.after = sweeps_of(false);
  });
}

template <class S>
void RankHierarchy<S>::make_cycle() {
  together(ranks_, [&] {
    const Level& last = levels_.back();
    if (last.inverse) {
      cycle_ = std::make_shared<InverseOperator<S>>(last.inverse);
    } else {
      cycle_ = cycle_of_smoothers<S>(*last.matrix, last.before, last.after);
    }
    cycle_ = compose_cycle<S>(
        options_.cycle, levels_.size(), cycle_,
        [&](std::size_t l) -> const LinearOperator<S>& { return *levels_[l].matrix; },
        [&](std::size_t l, auto coarse) {
          const Level& level = levels_[l];
          return std::make_shared<LevelCycle<S>>(
              *level.matrix, level.before,
              typename LevelCycle<S>::Transfer{level.interpolate, level.restrict},
              std::move(coarse), *levels_[l + 1].matrix, level.after);
        });
  });
}

template <class S>
void RankHierarchy<S>::refresh() {
  const auto begin = Clock::now();
  whole_->refresh([&] {
    together(ranks_, [&] {
      if (is_root()) hierarchy_->refresh();
    });
    tell();
    give_values();
    count_bytes();
    report_.setup_seconds = std::chrono::duration<double>(Clock::now() - begin).count();
  });
}

/// Gives all levels the values of rank 0's hierarchy.
template <class S>
void RankHierarchy<S>::give_values() {
  for (std::size_t l = 0; l < levels_.size(); ++l) {
    Level& level = levels_[l];
    const WholeLevel* const whole = whole_level(l);
    const auto give = [&](const TileMatrix* tiles, const LevelEntry<S>& entry,
                          const Partition& partition, auto& to) {
      const auto values = values_of(tiles, entry, partition);
      together(ranks_, [&] { to.update_values(values); });
    };
    const Partition& partition = level.matrix->partition();
    if (level.own) {
      give(whole != nullptr ? &whole->matrix : nullptr, entries_.coarse, partition, *level.own);
    }
    if (level.interpolate) {
      give(whole != nullptr ? &whole->transfer.prolongation : nullptr, entry_below(l), partition,
           *level.interpolate);
      give(whole != nullptr ? &whole->transfer.restriction : nullptr, entry_above(l),
           levels_[l + 1].matrix->partition(), *level.restrict);
    }
    if (level.inverse) {
      give(whole != nullptr ? &whole->inverse_tiles : nullptr, entry_on(level), partition,
           *level.inverse);
    }
    if (level.by_norms) {
      give(whole != nullptr ? &whole->smoother.norm_inverses : nullptr, entry_on(level), partition,
           *level.by_norms);
    }
    if (level.colours) {
      TileMatrix tiles;
      together(ranks_, [&] {
        if (whole != nullptr) tiles = in_user_rows(whole->smoother.colours);
      });
      give(whole != nullptr ? &tiles : nullptr, entry_on(level), partition, *level.colours);
    }
    if (!level.polynomial) continue;
    const SpectralInterval interval{outlines_[l].lower, outlines_[l].upper};
    together(ranks_, [&] {
      level.polynomial->refresh();
      if (level.polynomial->interval().upper != interval.upper) {
        level.polynomial->replace_interval(interval);
      }
    });
  }
}

template <class S>
void RankHierarchy<S>::count_bytes() {
  long long own = 0;
  for (const Level& level : levels_) {
    if (level.own) own += level.own->memory();
    if (level.inverse) own += level.inverse->memory();
    if (level.by_norms) own += level.by_norms->memory();
    if (level.colours) own += level.colours->memory();
    if (level.interpolate) own += level.interpolate->memory() + level.restrict->memory();
  }
  const std::vector<long long> bytes = gather(ranks_, own);
  report_.device_bytes = std::accumulate(bytes.begin(), bytes.end(), 0LL);
}

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

template class RankHierarchy<float>;
template class RankHierarchy<double>;

}  // namespace heddle::detail
