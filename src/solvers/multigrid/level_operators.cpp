#include "level_operators.hpp"

#include <algorithm>
#include <bit>
#include <string>
#include <utility>

#include "heddle/config.hpp"
#include "heddle/operator.hpp"
#include "matrix/gpu_pattern.hpp"

namespace heddle::detail {

/// The entry of an interpolation from a level with more candidates than a row has numbers, or of
/// its adjoint. It has no copy in 16 bits: such products would take most of the time to compile.
template <class E>
EntryTableHandle<vector_scalar_t<E>> interpolation_table() {
  static const auto made = [] {
    using S = vector_scalar_t<E>;
    const auto table = make_plain_table<E>();
    if constexpr (can_narrow<E>) table->narrow = interpolation_table<stored_as<float, E>>();
    table->holds_floats = std::is_same_v<stored_scalar_t<E>, float>;
    table->residual = product_cpu<typename promoted<E>::type, S, RowResult::residual>;
    table->place = place_values_on_cpu<stored_scalar_t<E>, E::components>;
    table->adjoint = adjoint_components<arithmetic_t<E>, S>;
    table->adjoint_entry = interpolation_table<typename stored_adjoint<E>::type>;
    return EntryTableHandle<S>(table);
  }();
  return made;
}

template EntryTableHandle<float> interpolation_table<block<float, 3, 6>>();
template EntryTableHandle<double> interpolation_table<block<double, 3, 6>>();
template EntryTableHandle<float> interpolation_table<block<float, 2, 3>>();
template EntryTableHandle<double> interpolation_table<block<double, 2, 3>>();

namespace {

/// Real numbers that are the components in order; `size` is the size of square tiles.
EntryTiles tiles_in_order(int numbers, int size) {
  EntryTiles tiles;
  tiles.size = size;
  for (int k = 0; k < numbers; ++k) {
    tiles.component_of.push_back({k, 1});
    tiles.number_of.push_back({k, 1});
  }
  return tiles;
}

}  // namespace

template <class S>
LevelEntries<S> level_entries(const SlicedOperator<S>& matrix, std::size_t candidates) {
  const auto stored = [&](const EntryTableHandle<S>& table) {
    return keeps_floats(matrix) && table->narrow ? table->narrow : table;
  };
  LevelEntries<S> entries;
  entries.finest = {stored(std::make_shared<const EntryTable<S>>(matrix.entry())),
                    tiles_of(matrix.entry(), "multigrid")};
  if (!is_full(entries.finest.tiles)) {
    throw Error(
        ErrorKind::unsupported,
        "multigrid: products of these entries are of another kind; use block entries of all "
        "their numbers");
  }
  const int v = entries.finest.tiles.size;
  const bool is_wide = candidates > static_cast<std::size_t>(v);
  if (!is_wide) {
    entries.between = entries.coarse = entries.finest;
  } else if (v == 3 && candidates == 6 && entries.finest.tiles.ring == 1) {
    entries.between = {stored(interpolation_table<block<S, 3, 6>>()), tiles_in_order(18, 1)};
    entries.coarse = {stored(entry_table<block<S, 6, 6>>()), tiles_in_order(36, 6)};
  } else if (v == 2 && candidates == 3 && entries.finest.tiles.ring == 1) {
    entries.between = {stored(interpolation_table<block<S, 2, 3>>()), tiles_in_order(6, 1)};
    entries.coarse = {stored(entry_table<block<S, 3, 3>>()), tiles_in_order(9, 3)};
  } else {
    throw Error(ErrorKind::unsupported,
                "multigrid: " + std::to_string(candidates) + " candidates over entries of " +
                    std::to_string(v) + " x " + std::to_string(v) + " numbers; the limit is " +
                    std::to_string(v) + ", 6 over real blocks of 3 x 3, and 3 over those of 2 x 2");
  }
  return entries;
}

template LevelEntries<float> level_entries(const SlicedOperator<float>&, std::size_t);
template LevelEntries<double> level_entries(const SlicedOperator<double>&, std::size_t);

Plan plan_of_rows(Index rows, Offset entries, const Plan& of_matrix) {
  constexpr int warp = 32;
  constexpr double threads_to_fill = 400e3, rows_to_stream = 1 << 17;
  const auto count = static_cast<double>(std::max<Index>(1, rows));
  const double length = static_cast<double>(entries) / count;
  const double wanted = std::clamp(std::min(threads_to_fill / count, length), 1.0, double(warp));
  Plan plan = of_matrix;
  plan.layout.lanes = warp;
  plan.layout.threshold = 0;
  plan.layout.threads_per_row = static_cast<int>(std::bit_floor(static_cast<unsigned>(wanted)));
  plan.gpu.block_size = count * plan.layout.threads_per_row < threads_to_fill / 2 ? 64 : 128;
  plan.gpu.blocks = 0;
  plan.gpu.l2_percent = 0;  // levels take turns in L2
  if (count < rows_to_stream) plan.gpu.load = Plan().gpu.load;
  return plan;
}

template <class S>
LevelOperators<S>::LevelOperators(const SlicedOperator<S>& matrix, std::size_t candidates,
                                  const Device& host, SetupScratch& scratch)
    : device_(matrix.device()),
      host_(host),
      plan_(matrix.plan()),
      entries_(level_entries(matrix, candidates)),
      scratch_(scratch) {
  plan_.layout.stored = StoredScalar::own;
  // A product that counts what its blocks have taken allocates for each stream it is used with.
  if (device_.on_gpu()) plan_.schedule.kind = ScheduleKind::full;
}

template <class S>
void LevelOperators<S>::make(Level<S>& level, Level<S>& coarse, const PatternView& prolongation,
                             const PatternView& restriction, const PatternView& matrix) const {
  coarse.product = make_operator(matrix, entries_.coarse.table, nullptr, nullptr);
  const LevelEntry<S>& of_p = entry_of_p(level);
  LevelTransfer<S>& transfer = level.transfer;
  transfer.interpolate = make_operator(prolongation, of_p.table, level.product->row_basis(),
                                       coarse.product->row_basis());
  // P* is a separate matrix: on a GPU its rows are few and long where those of P are many and
  // short, and no layout suits both.
  transfer.adjoint_entry = of_p;
  if (of_p.table->adjoint_entry != nullptr)
    transfer.adjoint_entry.table = of_p.table->adjoint_entry();
  transfer.restrict = make_operator(restriction, transfer.adjoint_entry.table,
                                    coarse.product->row_basis(), level.product->row_basis());
}

template <class S>
std::shared_ptr<SlicedOperator<S>> LevelOperators<S>::make_operator(
    const PatternView& rows, const EntryTableHandle<S>& entry,
    std::shared_ptr<const Basis> row_basis, std::shared_ptr<const Basis> column_basis) const {
  Plan plan = plan_;
  if constexpr (has_cuda) {
    if (device_.on_gpu()) {
      plan = plan_of_rows(rows.rows, cuda::entries_of(rows, device_.stream()), plan_);
    }
  }
  // The library's own patterns need no check.
  if (!row_basis) row_basis = column_basis = Basis::make(rows, plan, device_);
  auto pattern = SlicedPattern::build(rows, plan, std::move(row_basis), std::move(column_basis),
                                      entry->bytes(plan), device_);
  return std::make_shared<SlicedOperator<S>>(entry, std::move(pattern), ComponentOrder::row_major,
                                             plan, device_);
}

template <class S>
std::shared_ptr<SlicedOperator<S>> LevelOperators<S>::make_square(const Level<S>& level,
                                                                  const TileMatrix& tiles) const {
  const auto basis = level.product->row_basis();
  return make_operator(tiles.pattern.view(level.rows), level.entry.table, basis, basis);
}

template <class S>
void LevelOperators<S>::put_values(const TileMatrix& from, const LevelEntry<S>& entry,
                                   SlicedOperator<S>& to) const {
  const int bytes = entry.table->sizes.stored_bytes;
  if (bytes == sizeof(double) && is_in_order(entry.tiles)) {
    return to.update_values(std::as_bytes(from.values.span()));
  }
  const std::size_t needed = static_cast<std::size_t>(from.pattern.entries()) *
                             static_cast<std::size_t>(entry.table->bytes());
  if (scratch_.stored.size() < needed) scratch_.stored = Array<std::byte>(needed, host_);
  const std::span<std::byte> stored(scratch_.stored.data(), needed);
  components_from_tiles(entry.tiles, from.values.span(), stored, bytes, host_.stream());
  to.update_values(stored);
}

template class LevelOperators<float>;
template class LevelOperators<double>;

}  // namespace heddle::detail
