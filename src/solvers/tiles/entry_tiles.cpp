#include "entry_tiles.hpp"

#include <cmath>
#include <cstddef>
#include <limits>
#include <string>

#include "base/long_double.hpp"
#include "heddle/runtime/entry_definition.hpp"
#include "heddle/tools/random_field.hpp"
#include "stored_scalars.hpp"

namespace heddle::detail {

namespace {

[[noreturn]] void refuse_entry(const char* who, const std::string& entry, const char* why) {
  throw Error(ErrorKind::unsupported, std::string(who) + ": " + entry + why);
}

/// A matrix of one entry, to see what the entry does.
template <class S>
class OneEntry {
 public:
  explicit OneEntry(const EntryTable<S>& entry)
      : bytes_(static_cast<std::size_t>(entry.bytes())),
        stored_bytes_(entry.sizes.stored_bytes),
        matrix_(std::make_shared<const EntryTable<S>>(entry), PatternView{1, 1, offsets, &column},
                ComponentOrder::row_major, Plan{}, Device::cpu(1)) {}

  /// a x, for components of a and x.
  std::vector<S> image(const std::vector<S>& a, const std::vector<S>& x) {
    for (std::size_t k = 0; k < a.size(); ++k) {
      set_stored(bytes_.data(), stored_bytes_, static_cast<Offset>(k), a[k]);
    }
    matrix_.update_values(bytes_);
    std::vector<S> y(static_cast<std::size_t>(matrix_.row_components()));
    matrix_.apply(S(1), FieldView<const S>(x.data(), 1, matrix_.column_components()), S(0),
                  FieldView<S>(y.data(), 1, matrix_.row_components()), Device::cpu(1).stream());
    return y;
  }

 private:
  static constexpr Offset offsets[] = {0, 1};
  static constexpr Index column = 0;
  std::vector<std::byte> bytes_;
  int stored_bytes_;
  SlicedOperator<S> matrix_;
};

}  // namespace

template <class S>
EntryTiles tiles_of(const EntryTable<S>& entry, const char* who) {
  const std::string name = entry.definition ? "entry " + entry.definition->name : "the entry";
  const int K = entry.sizes.components, V = entry.sizes.vector_components;
  const int ring = ring_size(entry.ring);
  if (V != entry.sizes.result_components || V % ring != 0 || entry.arithmetic.components != K) {
    refuse_entry(who, name, " is not a square tile of its components");
  }
  OneEntry<S> one(entry);
  const auto unit = [](int size, int at) {
    std::vector<S> vector(static_cast<std::size_t>(size));
    vector[static_cast<std::size_t>(at)] = S(1);
    return vector;
  };
  // One number that acts on several components in the same way needs no tile of more than itself.
  bool is_one_number = K == 1;
  for (int j = 0; is_one_number && j < V; ++j) {
    is_one_number = one.image(unit(1, 0), unit(V, j)) == unit(V, j);
  }
  EntryTiles tiles;
  tiles.ring = is_one_number ? 1 : ring;
  tiles.size = is_one_number ? 1 : V / ring;
  const int size = tiles.size;
  tiles.component_of.resize(static_cast<std::size_t>(size * size * tiles.ring));
  tiles.number_of.resize(static_cast<std::size_t>(K));
  const auto number_at = [&](int row, int j) {
    return (row / tiles.ring * size + j) * tiles.ring + row % tiles.ring;
  };
  for (int k = 0; k < K; ++k) {
    for (int j = 0; j < size; ++j) {
      const auto image = one.image(unit(K, k), unit(V, j * tiles.ring));
      for (int i = 0; i < size * tiles.ring; ++i) {
        const S value = image[static_cast<std::size_t>(i)];
        if (value == 0) continue;
        SignedPlace& place = tiles.component_of[static_cast<std::size_t>(number_at(i, j))];
        if (place.sign != 0 || (value != 1 && value != -1)) {
          refuse_entry(who, name, " mixes its components; it must show each to be inverted");
        }
        place = {k, value > 0 ? 1 : -1};
        tiles.number_of[static_cast<std::size_t>(k)] = {number_at(i, j), place.sign};
      }
    }
  }
  // An encoded entry is not linear in what it stores.
  std::vector<S> a(static_cast<std::size_t>(K));
  for (std::size_t k = 0; k < a.size(); ++k) {
    a[k] = static_cast<S>(static_cast<float>(random_component(1, k)));
  }
  for (int j = 0; j < size; ++j) {
    const auto image = one.image(a, unit(V, j * tiles.ring));
    for (int i = 0; i < size * tiles.ring; ++i) {
      const auto [at, sign] = tiles.component_of[static_cast<std::size_t>(number_at(i, j))];
      const S expected = static_cast<S>(sign) * a[static_cast<std::size_t>(at)];
      const S defect = std::abs(image[static_cast<std::size_t>(i)] - expected);
      if (!(defect <= 4 * std::numeric_limits<S>::epsilon())) {
        refuse_entry(who, name,
                     " is encoded; use an entry that stores the numbers it computes with");
      }
    }
  }
  for (const SignedPlace& number : tiles.number_of) {
    if (number.sign == 0) refuse_entry(who, name, " does not show all of its components");
  }
  return tiles;
}

template EntryTiles tiles_of(const EntryTable<float>&, const char*);
template EntryTiles tiles_of(const EntryTable<double>&, const char*);
HEDDLE_IN_LONG_DOUBLE(template EntryTiles tiles_of(const EntryTable<long double>&, const char*);)

}  // namespace heddle::detail
