// A method as what a GPU's loop is made of: its listings as data, and the name of its type for the
// run-time compiler.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "heddle/methods/listing.hpp"

namespace heddle::detail {

/// The type of a method and the header that defines it: one of heddle/methods/, or a text that
/// `register_entry_header` knows.
struct MethodText {
  std::string type;  // before its template arguments
  std::string header;
};

struct MethodProgram {
  MethodText text;
  Ring ring = Ring::real;
  bool preconditioned = false;
  int vectors = 0;
  methods::Facts start, iteration;
  std::vector<std::pair<int, int>> swaps;
};

template <class... Swap>
std::vector<std::pair<int, int>> swaps_of(methods::Listing<Swap...>) {
  return {{Swap::a, Swap::b}...};
}

template <template <Ring, bool> class Method, Ring R, bool preconditioned>
MethodProgram program_of(MethodText text) {
  using M = Method<R, preconditioned>;
  MethodProgram program{std::move(text),
                        M::ring,
                        preconditioned,
                        M::vectors,
                        methods::facts_of<typename M::Start>,
                        methods::facts_of<typename M::Iteration>,
                        {}};
  if constexpr (requires { typename M::Swaps; }) {
    program.swaps = swaps_of(typename M::Swaps{});
  }
  return program;
}

}  // namespace heddle::detail
