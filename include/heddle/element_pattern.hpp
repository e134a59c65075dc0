// Where the elements of a mesh meet in nodes and in entries of a matrix.
#pragma once

#include <vector>

#include "heddle/csr.hpp"
#include "heddle/export.hpp"
#include "heddle/kernels/assembly_sums.hpp"

namespace heddle {

/// A mesh in a user's arrays, not owned: the nodes of each element, one element after the other.
/// Either all elements have `arity` nodes, or those of element e are node[first[e]], ...,
/// node[first[e + 1] - 1].
struct HEDDLE_EXPORT ElementsView {
  Index nodes = 0;  // nodes of the mesh; rows and columns of the matrix
  Offset elements = 0;
  const Index* node = nullptr;
  int arity = 0;
  OffsetsView first = {};         // elements + 1 offsets from 0; if given, `arity` is not read
  Device device = Device::cpu();  // the device in whose memory the arrays lie
};

/// Lists of the terms to sum, on the host, in the order of the nodes. The terms of one sum are in
/// the order of the elements.
struct HEDDLE_EXPORT ElementPattern {
  Offset elements = 0;
  int max_corners = 0;  // the most corners of an element
  CornerCode code;
  std::vector<Offset> first_node;      // elements + 1; empty if all have `max_corners`
  std::vector<Offset> offsets;         // offsets of rows, one node each
  std::vector<Index> column;           // increasing in each row
  std::vector<unsigned> first_term;    // entries + 1
  std::vector<unsigned> term;          // (e, a, b): corner a is the row's node, b the column's
  std::vector<unsigned> first_corner;  // nodes + 1
  std::vector<unsigned> corner;        // (e, a): corner a is the node

  Index nodes() const { return static_cast<Index>(offsets.size()) - 1; }
  Offset entries() const { return static_cast<Offset>(column.size()); }
  PatternView view() const {
    return {nodes(), nodes(), OffsetsView(offsets.data()), column.data()};
  }
};

/// Runs on the threads of the host, whatever memory the mesh lies in. Throws `Error`: usage for a
/// mesh without nodes, elements or arrays, and an element without nodes; out_of_range for a node
/// that does not exist, naming the first such element; unsupported if codes of corners need more
/// than 32 bits, which suffice for 2^28 tetrahedra or 2^26 hexahedra.
HEDDLE_EXPORT ElementPattern element_pattern(const ElementsView& elements);

}  // namespace heddle
