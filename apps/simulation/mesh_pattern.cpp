#include "mesh_pattern.hpp"

#include <algorithm>
#include <string>

#include "heddle/error.hpp"
#include "heddle/tools/team.hpp"

namespace heddle::simulation {

namespace {

struct Term {
  Index column;
  unsigned code;

  bool operator<(const Term& other) const {
    return column != other.column ? column < other.column : code < other.code;
  }
};

void list_corners(MeshPattern& pattern, Index vertices, std::span<const Tetrahedron> tetrahedra) {
  pattern.first_corner.resize(static_cast<std::size_t>(vertices) + 1);
  for (const Tetrahedron& corners : tetrahedra) {
    for (const Index v : corners) ++pattern.first_corner[static_cast<std::size_t>(v) + 1];
  }
  for (std::size_t v = 0; v < static_cast<std::size_t>(vertices); ++v) {
    pattern.first_corner[v + 1] += pattern.first_corner[v];
  }
  std::vector<unsigned> next(pattern.first_corner.begin(), pattern.first_corner.end() - 1);
  pattern.corner.resize(tetrahedra.size() * 4);
  for (std::size_t e = 0; e < tetrahedra.size(); ++e) {
    for (unsigned a = 0; a < 4; ++a) {
      const auto v = static_cast<std::size_t>(tetrahedra[e][a]);
      pattern.corner[next[v]++] = static_cast<unsigned>(e) * 4 + a;
    }
  }
}

/// The terms of a row, those of one entry together.
void find_terms(const MeshPattern& pattern, std::span<const Tetrahedron> tetrahedra, std::size_t v,
                std::vector<Term>& terms) {
  terms.clear();
  for (unsigned i = pattern.first_corner[v]; i < pattern.first_corner[v + 1]; ++i) {
    const unsigned element = pattern.corner[i] / 4;
    for (unsigned b = 0; b < 4; ++b) {
      terms.push_back({tetrahedra[element][b], pattern.corner[i] * 4 + b});
    }
  }
  std::sort(terms.begin(), terms.end());
}

}  // namespace

MeshPattern make_pattern(Index vertices, std::span<const Tetrahedron> tetrahedra) {
  constexpr std::size_t most = std::size_t{1} << 28;
  if (tetrahedra.size() >= most) {
    throw Error(ErrorKind::unsupported, "a mesh of " + std::to_string(tetrahedra.size()) +
                                            " tetrahedra; there may be " +
                                            std::to_string(most - 1));
  }
  MeshPattern pattern;
  list_corners(pattern, vertices, tetrahedra);
  const auto rows = static_cast<std::size_t>(vertices);
  pattern.offsets.resize(rows + 1);
  parallel_shares(default_threads(), rows, 0, [&](auto&& for_each) {
    std::vector<Term> terms;
    for_each([&](std::size_t v) {
      find_terms(pattern, tetrahedra, v, terms);
      Offset columns = 0;
      for (std::size_t i = 0; i < terms.size(); ++i) {
        columns += i == 0 || terms[i].column != terms[i - 1].column;
      }
      pattern.offsets[v + 1] = columns;
    });
  });
  for (std::size_t v = 0; v < rows; ++v) pattern.offsets[v + 1] += pattern.offsets[v];
  pattern.column.resize(static_cast<std::size_t>(pattern.offsets[rows]));
  pattern.first_term.resize(pattern.column.size() + 1);
  pattern.term.resize(tetrahedra.size() * 16);
  pattern.first_term.back() = static_cast<unsigned>(pattern.term.size());
  parallel_shares(default_threads(), rows, 0, [&](auto&& for_each) {
    std::vector<Term> terms;
    for_each([&](std::size_t v) {
      find_terms(pattern, tetrahedra, v, terms);
      auto entry = static_cast<std::size_t>(pattern.offsets[v]);
      std::size_t to = std::size_t{pattern.first_corner[v]} * 4;
      for (std::size_t i = 0; i < terms.size(); ++i, ++to) {
        pattern.term[to] = terms[i].code;
        if (i > 0 && terms[i].column == terms[i - 1].column) continue;
        pattern.column[entry] = terms[i].column;
        pattern.first_term[entry++] = static_cast<unsigned>(to);
      }
    });
  });
  return pattern;
}

std::vector<double> consistent_mass(std::span<const double> mass_of_element,
                                    const MeshPattern& pattern) {
  std::vector<double> mass(pattern.column.size());
  parallel_for(default_threads(), mass.size(), [&](std::size_t i) {
    for (unsigned at = pattern.first_term[i]; at < pattern.first_term[i + 1]; ++at) {
      const unsigned code = pattern.term[at];
      const double both = mass_of_element[code >> 4] / 20;
      mass[i] += ((code >> 2) & 3) == (code & 3) ? 2 * both : both;
    }
  });
  return mass;
}

}  // namespace heddle::simulation
