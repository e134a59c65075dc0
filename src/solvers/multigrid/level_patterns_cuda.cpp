// The patterns of a hierarchy's levels in a GPU's memory, and room for their values.
#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>
#include <utility>

#include "base/returned_memory_cuda.hpp"
#include "level_values_cuda.hpp"

namespace heddle::cuda {

using heddle::detail::TileMatrix, heddle::detail::UserRows, heddle::detail::ProductPlaces;

namespace level_patterns {

std::vector<TileComponent> components_of(const std::vector<heddle::detail::SignedPlace>& places) {
  std::vector<TileComponent> components;
  components.reserve(places.size());
  for (const auto& [at, sign] : places) components.push_back({at, sign});
  return components;
}

std::size_t numbers_of(const DevicePattern& pattern, const heddle::detail::TileShape& shape) {
  return pattern.column.size() * static_cast<std::size_t>(shape.scalars());
}

template <class T>
Array<T> on_host(const Array<T>& values) {
  Array<T> result(values.size());
  heddle::detail::copy_bytes(result.data(), values.data(), values.size() * sizeof(T),
                             values.device().stream());
  return result;
}

/// Scalars of a dense level.
std::size_t dense_scalars(Index rows, const heddle::detail::TileShape& shape) {
  const auto n = static_cast<std::size_t>(rows) * static_cast<std::size_t>(shape.height);
  return n * n * static_cast<std::size_t>(shape.ring);
}

/// Scratch scalars for the coarse rows: a tile and its pivots each.
std::size_t scratch_scalars(Index rows, const heddle::detail::TileShape& shape) {
  return static_cast<std::size_t>(rows) * static_cast<std::size_t>(shape.scalars() + shape.height);
}

long long bytes_of(const auto&... arrays) {
  return (static_cast<long long>(arrays.span().size_bytes()) + ...);
}

}  // namespace level_patterns

template <class S>
LevelValues<S>::LevelValues(const heddle::detail::SlicedOperator<S>& matrix, const Levels& levels,
                            const StoredValues& source)
    : matrix_(matrix),
      levels_(levels),
      source_(source),
      device_(matrix.device()),
      values_(levels.size()),
      doubts_(device_.stream()) {
  *doubts_ = {.singular = matrix_.rows()};
  const auto components = level_patterns::components_of(levels.front()->entry.tiles.component_of);
  components_ = Array<TileComponent>(std::span<const TileComponent>(components), device_);
  values_.front().matrix.pattern = stored_rows(matrix_.pattern(), slot_, device_);
  add_level(0);
  make_staged();
}

/// Makes staging memory as large as the levels need so far.
template <class S>
void LevelValues<S>::make_staged() {
  const auto grow = [&](auto& array, std::size_t size) {
    if (array.size() >= size) return;
    wait_before_memory_goes_back(device_);
    array = {};
    array = std::remove_cvref_t<decltype(array)>(size, device_);
  };
  grow(staged_, staged_bytes_);
  grow(sums_, static_cast<std::size_t>(staged_sums_) / sizeof(double));
}

template <class S>
void LevelValues<S>::bring(const Pattern& pattern, UserRows& rows) const {
  rows.offsets = level_patterns::on_host(pattern.offsets);
  rows.column = level_patterns::on_host(pattern.column);
}

template <class S>
void LevelValues<S>::bring(const Places& places, const Pattern& product,
                           ProductPlaces& on_host) const {
  on_host = {};
  on_host.longest = static_cast<std::size_t>(product.longest);
  on_host.first = level_patterns::on_host(places.first);
  on_host.mirror = level_patterns::on_host(places.mirror);
  const auto take = [&]<class Place>(UnsetArray<Place>& of_terms) {
    of_terms = UnsetArray<Place>(places.of_terms.size() / sizeof(Place));
    heddle::detail::copy_bytes(of_terms.data(), places.of_terms.data(), places.of_terms.size(),
                               device_.stream());
  };
  if (places.bytes == 1) take(on_host.bytes);
  if (places.bytes == 2) take(on_host.halves);
  if (places.bytes == 4) take(on_host.words);
}

template <class S>
auto LevelValues<S>::stored_of(const heddle::detail::EntryTable<S>& entry,
                               const heddle::detail::EntryTiles& tiles, std::size_t numbers)
    -> Stored {
  Stored stored;
  stored.scalar_bytes = entry.sizes.stored_bytes;
  if (stored.scalar_bytes == sizeof(double) && is_in_order(tiles)) return stored;
  const auto of_entry = level_patterns::components_of(tiles.number_of);
  stored.numbers = Array<TileComponent>(std::span<const TileComponent>(of_entry), device_);
  staged_bytes_ = std::max(staged_bytes_, numbers * static_cast<std::size_t>(stored.scalar_bytes));
  return stored;
}

template <class S>
void LevelValues<S>::add_level(std::size_t number) {
  const Level& level = *levels_[number];
  const TileMatrix& a = level.matrix;
  Values& own = values_[number];
  const std::size_t numbers = level_patterns::numbers_of(own.matrix.pattern, a.shape);
  own.matrix.values = UnsetArray<double>(numbers, device_);
  own.diagonal = diagonal_entries(own.matrix.pattern, device_);
  own.of_matrix = stored_of(*level.entry.table, level.entry.tiles, numbers);
  if (level.inverse) return;
  const auto rows = static_cast<std::size_t>(level.rows);
  own.inverses = Array<double>(rows * static_cast<std::size_t>(a.shape.scalars()), device_);
  own.energies = Array<double>(rows, device_);
  own.reach = Array<double>(rows, device_);
}

/// Makes T, and the candidates of the next level's rows.
template <class S>
void LevelValues<S>::make_tentative(std::size_t number,
                                    const heddle::detail::Aggregates& aggregates) {
  const heddle::detail::TileShape& shape = levels_[number]->transfer.tentative.shape;
  Matrix& t = values_[number].tentative;
  t.pattern = tentative_pattern(aggregates, device_);
  t.values = UnsetArray<double>(level_patterns::numbers_of(t.pattern, shape), device_);
  Array<Offset> place;
  const Pattern members = adjoint_pattern(t.pattern, place, device_);
  const Offset of_coarse = Offset(shape.width) * shape.width * shape.ring;
  Array<double> coarse(static_cast<std::size_t>(aggregates.count * of_coarse), device_);
  device::TentativeRows rows;
  rows.members = members.view();
  rows.entry = t.pattern.offsets.data();
  rows.candidates = candidates_.data();
  rows.tentative = t.values.data();
  rows.coarse = coarse.data();
  rows.rounding = std::sqrt(std::numeric_limits<double>::epsilon());
  rows.height = shape.height, rows.width = shape.width;
  orthonormalize(rows, shape.ring, device_.stream());
  wait_before_memory_goes_back(device_);
  candidates_ = std::move(coarse);
}

template <class S>
void LevelValues<S>::find_patterns(std::size_t number, const heddle::detail::Aggregates& aggregates,
                                   Interpolation interpolation) {
  values_.resize(levels_.size());
  make_tentative(number, aggregates);
  Values &own = values_[number], &next = values_[number + 1];
  const Pattern &a = own.matrix.pattern, &t = own.tentative.pattern;
  Pattern &p = own.prolongation.pattern, &image = own.image.pattern,
          &adjoint = own.restriction.pattern, &coarse = next.matrix.pattern;
  own.is_smoothed = interpolation == Interpolation::smoothed;
  if (own.is_smoothed) {
    p = product_pattern(a, t, device_);
    own.to_prolongation.places = product_places(a, t, p, false, device_);
  } else {
    p = t;
  }
  image = product_pattern(a, p, device_);
  own.to_image.places = product_places(a, p, image, false, device_);
  adjoint = adjoint_pattern(p, own.place, device_);
  coarse = product_pattern(adjoint, image, device_);
  const bool may_be_half = levels_[number + 1]->matrix.shape.scalars() > 1;
  own.to_coarse.places = product_places(adjoint, image, coarse, may_be_half, device_);
}

template <class S>
void LevelValues<S>::extend(std::size_t number) {
  add_level(number + 1);
  add_transfer(number);
  make_staged();
}

/// Cuts the long rows of C = A B, with tiles of this shape, into pieces.
template <class S>
void LevelValues<S>::cut_rows(const Matrix& a, const Matrix& b, const Pattern& c,
                              const heddle::detail::TileShape& shape, Product& product) {
  const double length = b.pattern.mean_length();
  const Offset of_piece = heddle::detail::entries_of_piece(
      a.pattern.entries(), shape.height, shape.width, shape.ring, length, c.longest);
  if (a.pattern.longest < 2 * of_piece) return;  // before the offsets are copied
  device::TileProduct p;
  p.a = a.pattern.view(), p.b = b.pattern.view(), p.places = product.places.view();
  p.height = shape.height, p.width = shape.width;
  product.pieces = cut(p, level_patterns::on_host(a.pattern.offsets).span(), shape.ring, length,
                       c.longest, device_);
  staged_sums_ = std::max(staged_sums_, product.pieces.sizes.bytes_of_sums());
}

template <class S>
void LevelValues<S>::add_transfer(std::size_t number) {
  const Level& level = *levels_[number];
  const Level& coarse = *levels_[number + 1];
  Values& own = values_[number];
  const heddle::detail::TileShape& shape = level.transfer.tentative.shape;
  const std::size_t of_p = level_patterns::numbers_of(own.prolongation.pattern, shape),
                    of_image = level_patterns::numbers_of(own.image.pattern, shape);
  own.prolongation.values = UnsetArray<double>(of_p, device_);
  // A T is stored there before A P, whose pattern includes it.
  own.image.values = UnsetArray<double>(std::max(of_image, of_p), device_);
  own.restriction.values = UnsetArray<double>(of_p, device_);
  const Pattern& p = own.prolongation.pattern;
  if (own.is_smoothed) cut_rows(own.matrix, own.tentative, p, shape, own.to_prolongation);
  cut_rows(own.matrix, own.prolongation, own.image.pattern, shape, own.to_image);
  cut_rows(own.restriction, own.image, values_[number + 1].matrix.pattern, coarse.matrix.shape,
           own.to_coarse);
  own.scales = Array<double>(static_cast<std::size_t>(coarse.rows), device_);
  own.scratch =
      Array<double>(level_patterns::scratch_scalars(coarse.rows, coarse.matrix.shape), device_);
  const heddle::detail::EntryTiles& tiles = level.transfer.adjoint_entry.tiles;
  own.of_p = stored_of(level.transfer.interpolate->entry(), tiles, of_p);
  own.of_adjoint = stored_of(*level.transfer.adjoint_entry.table, tiles, of_p);
}

template <class S>
void LevelValues<S>::add_inverse(std::size_t number) {
  const Level& level = *levels_[number];
  Values& own = values_[number];
  const std::size_t scalars = level_patterns::dense_scalars(level.rows, level.matrix.shape);
  const auto n =
      static_cast<std::size_t>(level.rows) * static_cast<std::size_t>(level.matrix.shape.height);
  for (Array<double>* const array : {&own.dense, &own.other, &own.inverse}) {
    *array = Array<double>(scalars, device_);
  }
  constexpr std::size_t max_rows = device::rows_of_panel<Ring::real>;
  own.panel = Array<double>(
      std::min(n, max_rows) * n * static_cast<std::size_t>(level.matrix.shape.ring), device_);
  own.sizes = Array<double>(n, device_);
  stored_of(*levels_[number]->entry.table, levels_[number]->entry.tiles, scalars);  // for its room
  make_staged();
}

template <class S>
void LevelValues<S>::bring_patterns() {
  for (std::size_t l = 0; l < levels_.size(); ++l) {
    Level& level = *levels_[l];
    auto& to = level.transfer;
    const Values& own = values_[l];
    if (level.matrix.pattern.offsets.empty()) bring(own.matrix.pattern, level.matrix.pattern);
    if (!to.interpolate || !to.prolongation.pattern.offsets.empty()) continue;
    bring(own.tentative.pattern, to.tentative.pattern);
    to.tentative.make_values();
    heddle::detail::copy_bytes(to.tentative.values.data(), own.tentative.values.data(),
                               own.tentative.values.size() * sizeof(double), device_.stream());
    bring(own.prolongation.pattern, to.prolongation.pattern);
    bring(own.image.pattern, to.image.pattern);
    bring(own.restriction.pattern, to.restriction.pattern);
    bring(own.to_prolongation.places, own.prolongation.pattern, to.to_prolongation);
    bring(own.to_image.places, own.image.pattern, to.to_image);
    bring(own.to_coarse.places, values_[l + 1].matrix.pattern, to.to_coarse);
    to.place = level_patterns::on_host(own.place);
  }
}

template <class S>
long long LevelValues<S>::bytes() const {
  using level_patterns::bytes_of;
  long long bytes = bytes_of(slot_, components_, staged_, sums_);
  for (const Values& own : values_) {
    for (const Matrix* matrix :
         {&own.matrix, &own.tentative, &own.prolongation, &own.image, &own.restriction}) {
      bytes += bytes_of(matrix->pattern.offsets, matrix->pattern.column, matrix->values);
    }
    for (const Product* product : {&own.to_prolongation, &own.to_image, &own.to_coarse}) {
      const auto& [places, pieces] = *product;
      bytes += bytes_of(places.of_terms, places.first, places.mirror, pieces.row, pieces.first,
                        pieces.entry, pieces.place);
    }
    bytes += bytes_of(own.diagonal, own.inverses, own.energies, own.reach, own.place, own.scales,
                      own.scratch, own.dense, own.other, own.panel, own.sizes, own.inverse);
  }
  return bytes;
}

template class LevelValues<float>;
template class LevelValues<double>;

}  // namespace heddle::cuda
