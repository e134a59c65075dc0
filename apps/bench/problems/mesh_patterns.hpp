// Patterns like those of meshes and stencils, of any exact number of rows: neighbourhood on a
// lattice is a function of places and hashes alone, so any thread can ask for any row by itself.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "heddle/csr.hpp"

namespace heddle::bench {

/// A pattern whose rows are made one by one.
class Pattern {
 public:
  virtual ~Pattern() = default;
  virtual Index rows() const = 0;
  /// The columns of a row, including the diagonal, increasing, each once.
  virtual void columns(Index row, std::vector<Index>& columns) const = 0;
};

/// A closed surface of triangles: a lattice of squares, each cut along one of its diagonals. Rows
/// have 5 to 9 entries, 7 on average; one vertex in about 1500 is joined to the 24 around it.
/// `rows` must be at least 64.
std::unique_ptr<Pattern> triangle_mesh(Index rows, std::uint64_t seed);

/// A solid of tetrahedra: a lattice of cubes whose faces are cut along one diagonal each, some
/// cubes along a space diagonal too. Rows have 6 to about 25 entries, 13.5 on average; one vertex
/// in about 3000 has 42. `rows` must be at least 512.
std::unique_ptr<Pattern> tetrahedral_mesh(Index rows, std::uint64_t seed);

/// A random choice from the 5 x 5 x 5 points around each lattice point, with 30 entries a row on
/// average. Symmetric. `rows` must be at least 1000.
std::unique_ptr<Pattern> thinned_stencil(Index rows, std::uint64_t seed);

/// `length` entries in every row, 1 to 129: a band of random offsets up to 4 `length` away.
/// Symmetric where `length` is odd; an even length has one more entry on the right.
std::unique_ptr<Pattern> band(Index rows, int length, std::uint64_t seed);

/// A pseudo-random number in [0, 1) for an unordered pair.
double of_pair(std::uint64_t seed, Index a, Index b);
/// The same for a single place.
double of_place(std::uint64_t seed, std::uint64_t place);

/// Numbers of rows after shuffling within windows of 256: `moved[i]` is the new number of row i,
/// `origin` its inverse.
struct Shuffle {
  std::vector<Index> moved;
  std::vector<Index> origin;
};
Shuffle shuffle_in_windows(Index rows, std::uint64_t seed);

}  // namespace heddle::bench
