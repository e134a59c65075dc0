// Nodes by the numbers that a file gives them, which need not follow one another.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "heddle/entries/slots.hpp"

namespace heddle::mesh {

class NodeNumbers {
 public:
  /// A number >= 0; `offset` is where the file has it.
  void add(long long number, std::size_t offset) { nodes_.push_back({number, offset}); }
  std::size_t size() const { return nodes_.size(); }

  struct Node {
    long long number;
    std::size_t offset;
  };
  /// Makes `find` possible. Returns the first node, in the order of the file, whose number an
  /// earlier one has.
  std::optional<Node> finish();

  /// The place of a node in the order of the file; -1 where there is none of that number.
  Index find(long long number) const;

 private:
  struct Place {
    long long number;
    Index index;
  };

  std::vector<Node> nodes_;
  long long first_ = 0;
  std::vector<Index> index_;   // of first_, first_ + 1, ...; -1 where there is no such node
  std::vector<Place> sorted_;  // instead, where numbers are too far apart for that
};

}  // namespace heddle::mesh
