// The entries of levels. Those of interpolations from levels with more candidates than a row has
// numbers, and of their adjoints, have no copies in 16 bits: their products would take most of the
// time to compile.
#include <string>

#include "heddle/operator.hpp"
#include "multigrid_hierarchy.hpp"

namespace heddle::detail {

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

}  // namespace heddle::detail
