// Solids for tests, and systems made of them.
#pragma once

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <vector>

#include "boundary.hpp"
#include "elastic_system.hpp"
#include "heddle/problems.hpp"
#include "heddle/vector_operations.hpp"

namespace heddle::elastic::test {

using simulation::Boundary;
using simulation::Triangle;
using Vector = Eigen::Vector3d;

inline Vector vector(const Point& p) { return {p[0], p[1], p[2]}; }
inline Point point(const Vector& v) { return {v[0], v[1], v[2]}; }

inline Model model_of(const TetrahedronMesh& mesh, const Material& material) {
  return Model::make({mesh.position.begin(), mesh.position.end()},
                     {mesh.tetrahedron.begin(), mesh.tetrahedron.end()}, material);
}

/// A box of cells of six tetrahedra each (Kuhn), all around the cell's diagonal. Inner vertices are
/// moved by up to `jitter` of a cell, the same in every call.
inline Model box(const std::array<Index, 3>& cells, const Point& sides, const Material& material,
                 double jitter = 0) {
  std::vector<Point> position;
  std::vector<Tetrahedron> tetrahedra;
  const auto vertex = [&](Index x, Index y, Index z) {
    return (z * (cells[1] + 1) + y) * (cells[0] + 1) + x;
  };
  unsigned state = 12345;
  const auto random = [&] {
    state = state * 1664525U + 1013904223U;
    return state / 4294967296.0 - 0.5;
  };
  for (Index z = 0; z <= cells[2]; ++z) {
    for (Index y = 0; y <= cells[1]; ++y) {
      for (Index x = 0; x <= cells[0]; ++x) {
        Point p{sides[0] * x / cells[0], sides[1] * y / cells[1], sides[2] * z / cells[2]};
        const bool inner = x > 0 && y > 0 && z > 0 && x < cells[0] && y < cells[1] && z < cells[2];
        for (std::size_t k = 0; k < 3; ++k) {
          if (inner) p[k] += 2 * jitter * random() * sides[k] / cells[k];
        }
        position.push_back(p);
      }
    }
  }
  for (Index z = 0; z < cells[2]; ++z) {
    for (Index y = 0; y < cells[1]; ++y) {
      for (Index x = 0; x < cells[0]; ++x) {
        std::array<int, 3> axis{0, 1, 2};
        do {
          std::array<Index, 3> at{x, y, z};
          Tetrahedron t{};
          t[0] = vertex(at[0], at[1], at[2]);
          for (std::size_t k = 0; k < 3; ++k) {
            ++at[static_cast<std::size_t>(axis[k])];
            t[k + 1] = vertex(at[0], at[1], at[2]);
          }
          const bool even = (axis[1] == (axis[0] + 1) % 3);
          if (!even) std::swap(t[2], t[3]);
          tetrahedra.push_back(t);
        } while (std::next_permutation(axis.begin(), axis.end()));
      }
    }
  }
  return Model::make(std::move(position), std::move(tetrahedra), material);
}

/// Prescribes a vertex's whole displacement.
inline void give(Model& model, Index vertex, const Point& displacement) {
  const auto v = static_cast<std::size_t>(vertex);
  model.fixed[v] = 7;
  model.displacement[v] = displacement;
}

template <class Where>
void clamp(Model& model, const Where& where) {
  for (Index v = 0; v < model.vertices(); ++v) {
    if (where(model.position[static_cast<std::size_t>(v)])) give(model, v, {});
  }
}

/// A system with its pattern.
struct Simulation {
  ElementPattern pattern;
  ElasticSystem system;

  explicit Simulation(const Model& model, const SystemOptions& options = {},
                      const char* plan = "CSR", const Device& device = Device::cpu())
      : pattern(pattern_of(model)), system(model, pattern, parse_plan(plan), device, options) {}
};

/// The stored matrix, entry by entry in the order of the pattern.
inline CsrMatrix<Block> matrix_of(const Simulation& simulation) {
  Operator<Block> A = simulation.system.matrix();
  const ElementPattern& pattern = simulation.pattern;
  const Array<Offset> slots = slots_of_entries(A.pattern());
  const EntryWriter<Block> entries = A.entry_writer();
  Array<double> values(pattern.column.size() * Block::components);
  for (std::size_t i = 0; i < pattern.column.size(); ++i) {
    std::copy_n(entries.load(slots[i]).component, Block::components,
                values.data() + i * Block::components);
  }
  return {pattern.nodes(), pattern.nodes(), Array<Offset>(std::span<const Offset>(pattern.offsets)),
          Array<Index>(std::span<const Index>(pattern.column)), std::move(values)};
}

inline Eigen::Matrix3d matrix_of(const Block& b) {
  return Eigen::Map<const Eigen::Matrix<double, 3, 3, Eigen::RowMajor>>(b.component);
}

/// The largest length among the values.
inline double largest(const std::vector<Point>& values) {
  double most = 0;
  for (const Point& p : values) most = std::max(most, vector(p).norm());
  return most;
}

}  // namespace heddle::elastic::test
