// Nodes by the numbers that a file gives them, which need not be consecutive.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "heddle/entries/slots.hpp"

namespace heddle::mesh {

class NodeNumbers {
 public:
  /// Adds a number >= 0; `offset` is its position in the file.
  void add(long long number, std::size_t offset) { nodes_.push_back({number, offset}); }
  std::size_t size() const { return nodes_.size(); }

  struct Node {
    long long number;
    std::size_t offset;
  };
  /// Must be called before `find`. Returns the first node, in the order of the file, whose number
  /// an earlier node already has.
  std::optional<Node> finish();

  /// The place of a node in the order of the file; -1 if no node has that number.
  Index find(long long number) const;

 private:
  struct Place {
    long long number;
    Index index;
  };

  std::vector<Node> nodes_;
  long long first_ = 0;
  std::vector<Index> index_;   // for first_, first_ + 1, ...; -1 if there is no such node
  std::vector<Place> sorted_;  // used instead if numbers are too far apart for index_
};

}  // namespace heddle::mesh
