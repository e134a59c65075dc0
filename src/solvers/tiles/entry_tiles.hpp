// An entry, whatever its type, as a small matrix over its ring, found from its action on unit
// vectors.
#pragma once

#include <vector>

#include "heddle/detail/sliced_operator.hpp"

namespace heddle::detail {

/// A number of a tile as a component of the entry, or a component as a number of the tile, with its
/// sign; sign 0 is the number 0.
struct SignedPlace {
  int at = 0;
  int sign = 0;
};

/// The tile of an entry: `size` x `size` numbers of a ring, of `ring` scalars each. Scalar p of
/// element (i, j) is number (i * size + j) * ring + p.
struct EntryTiles {
  int size = 1;
  int ring = 1;
  std::vector<SignedPlace> component_of;  // each number of the tile
  std::vector<SignedPlace> number_of;     // each component of the entry

  int components() const { return static_cast<int>(number_of.size()); }
};

/// Throws an `Error` (unsupported) whose text begins with `who`, for entries whose tiles are not
/// made of their components, such as encoded ones.
template <class S>
EntryTiles tiles_of(const EntryTable<S>& entry, const char* who);

extern template EntryTiles tiles_of(const EntryTable<float>&, const char*);
extern template EntryTiles tiles_of(const EntryTable<double>&, const char*);
extern template EntryTiles tiles_of(const EntryTable<long double>&, const char*);

}  // namespace heddle::detail
