// Where elements meet in vertices and in matrix entries.
#pragma once

#include <array>
#include <span>
#include <vector>

#include "heddle/csr.hpp"

namespace heddle::simulation {

using Tetrahedron = std::array<Index, 4>;

/// In the order of the mesh. Each list names what is summed, in the order of the elements.
struct MeshPattern {
  std::vector<Offset> offsets;         // of rows, a vertex each
  std::vector<Index> column;           // increasing in each row
  std::vector<unsigned> first_term;    // entries + 1
  std::vector<unsigned> term;          // element * 16 + a * 4 + b: corner a is the row's vertex
  std::vector<unsigned> first_corner;  // vertices + 1
  std::vector<unsigned> corner;        // element * 4 + a

  Index vertices() const { return static_cast<Index>(offsets.size()) - 1; }
  Offset entries() const { return static_cast<Offset>(column.size()); }
  PatternView view() const {
    return {vertices(), vertices(), OffsetsView(offsets.data()), column.data()};
  }
};

/// Throws `Error` (unsupported) for 2^28 elements and more.
MeshPattern make_pattern(Index vertices, std::span<const Tetrahedron> tetrahedra);

/// The consistent mass matrix (Hughes, The Finite Element Method, section 7.3), a number for each
/// entry of the pattern: a twentieth of the mass of each element that has both vertices, twice that
/// on the diagonal.
std::vector<double> consistent_mass(std::span<const double> mass_of_element,
                                    const MeshPattern& pattern);

}  // namespace heddle::simulation
