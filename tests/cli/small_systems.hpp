// Small systems of every entry, written as in files, with the real matrix that each represents: an
// oracle that shares no code with the library.
#pragma once

#include <array>
#include <cmath>
#include <cstdio>
#include <sstream>
#include <string>
#include <vector>

struct DenseMatrix {
  int rows = 0;
  int columns = 0;
  std::vector<double> values;  // row by row

  DenseMatrix(int r, int c)
      : rows(r), columns(c), values(static_cast<std::size_t>(r) * static_cast<std::size_t>(c)) {}
  double& at(int row, int column) {
    return values[static_cast<std::size_t>(row) * static_cast<std::size_t>(columns) +
                  static_cast<std::size_t>(column)];
  }
  double at(int row, int column) const { return const_cast<DenseMatrix&>(*this).at(row, column); }

  void set_tile(int row, int column, const DenseMatrix& tile) {
    for (int i = 0; i < tile.rows; ++i) {
      for (int j = 0; j < tile.columns; ++j) at(row + i, column + j) = tile.at(i, j);
    }
  }
};

struct SmallSystem {
  std::string name;
  std::string entry;
  std::string solver;
  std::string text;            // Matrix Market
  int rows;                    // rows of entries
  DenseMatrix representation;  // acts on the components of x, one entry after the other
};

inline void PrintTo(const SmallSystem& system, std::ostream* out) { *out << system.name; }

/// The number of components in a number of the entry.
inline int parts_of_number(const std::string& entry) {
  if (entry.rfind("complex", 0) == 0) return 2;
  if (entry == "quaternion") return 4;
  return entry == "dual-quaternion" ? 8 : 1;
}

inline std::string matrix_market(const DenseMatrix& matrix) {
  std::ostringstream body;
  body.precision(17);
  int entries = 0;
  for (int i = 0; i < matrix.rows; ++i) {
    for (int j = 0; j < matrix.columns; ++j) {
      if (matrix.at(i, j) == 0) continue;
      body << i + 1 << ' ' << j + 1 << ' ' << matrix.at(i, j) << '\n';
      ++entries;
    }
  }
  return "%%MatrixMarket matrix coordinate real general\n" + std::to_string(matrix.rows) + " " +
         std::to_string(matrix.columns) + " " + std::to_string(entries) + "\n" + body.str();
}

/// The matrix that multiplies a quaternion w x y z by `q` from the left.
inline DenseMatrix left_multiplication(const std::array<double, 4>& q) {
  const auto [w, x, y, z] = q;
  DenseMatrix tile(4, 4);
  tile.values = {w, -x, -y, -z, x, w, -z, y, y, z, w, -x, z, -y, x, w};
  return tile;
}

inline DenseMatrix real_matrix(int size) {
  DenseMatrix A(size, size);
  for (int i = 0; i < size; ++i) {
    A.at(i, i) = 4 + 0.25 * i;
    if (i > 0) A.at(i, i - 1) = A.at(i - 1, i) = -1;
    if (i > 4) A.at(i, i - 5) = A.at(i - 5, i) = -0.5;
  }
  return A;
}

/// Hermitian and tridiagonal, 4 on the diagonal and -1 + 0.5 i below it; only this part is written.
inline SmallSystem complex_system(const std::string& entry, int size) {
  std::string text = "%%MatrixMarket matrix coordinate complex hermitian\n% by hand\n" +
                     std::to_string(size) + " " + std::to_string(size) + " " +
                     std::to_string(2 * size - 1) + "\n";
  DenseMatrix A(2 * size, 2 * size);
  for (int i = 0; i < size; ++i) {
    const std::string row = std::to_string(i + 1);
    text += row + " " + row + " 4 0\n";
    A.at(2 * i, 2 * i) = A.at(2 * i + 1, 2 * i + 1) = 4;
    if (i == 0) continue;
    text += row + " " + std::to_string(i) + " -1 0.5\n";
    DenseMatrix below(2, 2), above(2, 2);
    below.values = {-1, -0.5, 0.5, -1};
    above.values = {-1, 0.5, -0.5, -1};
    A.set_tile(2 * i, 2 * i - 2, below);
    A.set_tile(2 * i - 2, 2 * i, above);
  }
  return {entry, entry, "cg", text, entry == "complex" ? size : size / 3, A};
}

inline std::vector<SmallSystem> quaternion_systems() {
  const int n = 4;
  DenseMatrix components(4 * n, n), expansion(4 * n, 4 * n);
  const auto set = [&](int row, int column, const std::array<double, 4>& q) {
    for (int k = 0; k < 4; ++k) components.at(4 * row + k, column) = q[static_cast<std::size_t>(k)];
    expansion.set_tile(4 * row, 4 * column, left_multiplication(q));
  };
  for (int i = 0; i < n; ++i) {
    set(i, i, {4, 0, 0, 0});
    if (i == 0) continue;
    const double x = 0.3 * i, y = -0.2, z = 0.4;
    set(i, i - 1, {-0.5, x, y, z});
    set(i - 1, i, {-0.5, -x, -y, -z});
  }
  return {{"quaternion_components", "quaternion", "cg", matrix_market(components), n, expansion},
          {"quaternion_expansion", "quaternion", "cg", matrix_market(expansion), n, expansion}};
}

inline std::vector<SmallSystem> dual_quaternion_systems() {
  const int n = 3;
  DenseMatrix components(8 * n, n), expansion(8 * n, 8 * n);
  const auto set = [&](int row, int column, const std::array<double, 4>& standard,
                       const std::array<double, 4>& dual) {
    for (int k = 0; k < 4; ++k) {
      components.at(8 * row + k, column) = standard[static_cast<std::size_t>(k)];
      components.at(8 * row + 4 + k, column) = dual[static_cast<std::size_t>(k)];
    }
    expansion.set_tile(8 * row, 8 * column, left_multiplication(standard));
    expansion.set_tile(8 * row + 4, 8 * column, left_multiplication(dual));
    expansion.set_tile(8 * row + 4, 8 * column + 4, left_multiplication(standard));
  };
  for (int i = 0; i < n; ++i) {
    set(i, i, {3, 0.5, 0, -0.25}, {0.5, 0, 1, 0.25});
    if (i == 0) continue;
    set(i, i - 1, {-0.5, 0.1, 0.2, 0.3}, {0.1, 0.2, -0.3, 0.4});
    set(i - 1, i, {0.25, -0.1, 0.3, 0.1}, {0.2, -0.1, 0, 0.1});
  }
  return {{"dual_quaternion_components", "dual-quaternion", "bicgstab", matrix_market(components),
           n, expansion},
          {"dual_quaternion_expansion", "dual-quaternion", "bicgstab", matrix_market(expansion), n,
           expansion}};
}

/// Every entry, and both forms of those that have two.
inline std::vector<SmallSystem> small_systems() {
  std::vector<SmallSystem> systems;
  const DenseMatrix real = real_matrix(12);
  const std::string text = matrix_market(real);
  systems.push_back({"real", "real", "cg", text, 12, real});
  for (const int k : {2, 3, 4, 6}) {
    const std::string entry = "block" + std::to_string(k);
    systems.push_back({entry, entry, "cg", text, 12 / k, real});
  }
  systems.push_back(complex_system("complex", 5));
  systems.push_back(complex_system("complex-block3", 6));
  systems[systems.size() - 1].name = "complex_block3";
  for (const SmallSystem& system : quaternion_systems()) systems.push_back(system);
  for (const SmallSystem& system : dual_quaternion_systems()) systems.push_back(system);
  return systems;
}

/// The components of a field file written by Heddle, one entry after the other.
inline std::vector<double> components_of(const std::string& file) {
  std::istringstream lines(file);
  std::string banner;
  std::getline(lines, banner);
  const std::size_t parts = banner.find("complex") != std::string::npos ? 2 : 1;
  std::size_t rows = 0, columns = 0;
  lines >> rows >> columns;
  std::vector<double> x(rows * columns * parts, std::nan(""));
  for (std::size_t j = 0; j < columns; ++j) {
    for (std::size_t i = 0; i < rows; ++i) {
      for (std::size_t k = 0; k < parts; ++k) lines >> x[(i * columns + j) * parts + k];
    }
  }
  return x;
}

/// |b - A x| / |b|.
inline double relative_residual(const DenseMatrix& A, const std::vector<double>& x,
                                const std::vector<double>& b) {
  double difference = 0, size = 0;
  for (int i = 0; i < A.rows; ++i) {
    double r = b[static_cast<std::size_t>(i)];
    size += r * r;
    for (int j = 0; j < A.columns; ++j) r -= A.at(i, j) * x[static_cast<std::size_t>(j)];
    difference += r * r;
  }
  return std::sqrt(difference / size);
}
