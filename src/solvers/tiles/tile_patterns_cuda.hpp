// Patterns of products and adjoints of sparse matrices, found by a GPU. They equal those of the CPU
// (heddle/detail/matrix_product_rows.hpp, tile_products.hpp), number by number.
#pragma once

#include "heddle/array.hpp"
#include "tile_rows.hpp"

namespace heddle::cuda {

/// Compressed rows in a GPU's memory, with increasing columns.
struct DevicePattern {
  Array<Offset> offsets;
  Array<Index> column;
  Index rows = 0, columns = 0;
  Offset longest = 0;  // longest row, if made by the functions below

  Offset entries() const { return static_cast<Offset>(column.size()); }
  double mean_length() const { return rows > 0 ? static_cast<double>(entries()) / rows : 0; }
  device::TilePattern view() const { return {rows, offsets.data(), column.data()}; }
};

/// `detail::ProductPlaces` in a GPU's memory.
struct DevicePlaces {
  Array<unsigned char> of_terms;
  int bytes = 1;         // per place: 1, 2 or 4, by the longest row of C
  Array<Offset> first;   // first place of each row of C
  Array<Offset> mirror;  // empty unless half of C is summed

  device::TermPlaces view() const {
    return {of_terms.data(), bytes, first.data(), mirror.empty() ? nullptr : mirror.data()};
  }
};

/// The functions below wait for the device's stream, and take temporary memory from the device.
/// They throw `Error` (memory) if that does not suffice.

/// The pattern of C = A B. A has as many columns as B has rows.
DevicePattern product_pattern(const DevicePattern& a, const DevicePattern& b, const Device& device);

/// The places where the terms of C = A B are added. `is_hermitian`: C is Hermitian up to rounding,
/// and the numbers of its tiles are not single real ones; then half of it is summed if its pattern
/// is symmetric.
DevicePlaces product_places(const DevicePattern& a, const DevicePattern& b, const DevicePattern& c,
                            bool is_hermitian, const Device& device);

/// The pattern of A*; `place` gets the place of each entry of A in it.
DevicePattern adjoint_pattern(const DevicePattern& a, Array<Offset>& place, const Device& device);

/// The entry on the diagonal of each row, -1 if there is none.
Array<Offset> diagonal_entries(const DevicePattern& a, const Device& device);

}  // namespace heddle::cuda
