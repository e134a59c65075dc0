#include "problem.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <numeric>
#include <span>
#include <utility>

#include "heddle/tools/random_field.hpp"
#include "heddle/tools/team.hpp"
#include "hierarchical_problems.hpp"
#include "known_plans.hpp"
#include "lattice_with_lengths.hpp"
#include "mesh_patterns.hpp"
#include "mesh_problem.hpp"
#include "paper_matrices.hpp"

namespace heddle::bench {

namespace {

using Quaternion = std::array<double, 4>;
using Rotation = std::array<double, 9>;  // row by row
using Complex = std::array<double, 2>;

constexpr std::uint64_t seed = 1;

// Purposes of random numbers, each with a seed of its own.
enum Purpose : std::uint64_t { gauge = 1001, weight, skew, shuffle };

double component(Index v, int k) {
  return random_component(gauge, 4 * static_cast<std::uint64_t>(v) + static_cast<std::uint64_t>(k));
}

/// Uses only quotients and square roots, which round the same way on every machine.
template <std::size_t N>
std::array<double, N> unit_vector(Index v) {
  std::array<double, N> g;
  double square = 0;
  for (std::size_t k = 0; k < N; ++k) {
    g[k] = component(v, static_cast<int>(k));
    square += g[k] * g[k];
  }
  const double norm = std::sqrt(square);
  for (double& c : g) c = norm > 0 ? c / norm : 0;
  if (!(norm > 0)) g[0] = 1;
  return g;
}

Rotation rotation(Index v) {
  const auto [w, x, y, z] = unit_vector<4>(v);
  return {1 - 2 * (y * y + z * z), 2 * (x * y - w * z),     2 * (x * z + w * y),
          2 * (x * y + w * z),     1 - 2 * (x * x + z * z), 2 * (y * z - w * x),
          2 * (x * z - w * y),     2 * (y * z + w * x),     1 - 2 * (x * x + y * y)};
}

double weight_of(Index v, Index u) { return 0.5 + of_pair(weight, v, u); }

// A weighted graph Laplacian whose unknowns are rotated by a number of their own at each vertex: -w
// g conj(h) between two vertices, the sum of weights and a little more on the diagonal. It has the
// eigenvalues of the real Laplacian, and entries that fill all components. Each pair is computed
// once, so the matrix is Hermitian bit by bit.

Quaternion relative_rotation(const Quaternion& g, const Quaternion& h) {  // g conj(h)
  return {g[0] * h[0] + g[1] * h[1] + g[2] * h[2] + g[3] * h[3],
          g[1] * h[0] - g[0] * h[1] + g[3] * h[2] - g[2] * h[3],
          g[2] * h[0] - g[0] * h[2] + g[1] * h[3] - g[3] * h[1],
          g[3] * h[0] - g[0] * h[3] + g[2] * h[1] - g[1] * h[2]};
}

/// Values of one family of problems: the entry between two vertices, and the diagonal entry.
struct QuaternionLaplacian {
  using Entry = Quaternion;

  static Entry between(Index v, Index u) {
    Quaternion a =
        relative_rotation(unit_vector<4>(std::min(v, u)), unit_vector<4>(std::max(v, u)));
    const double w = weight_of(v, u);
    for (std::size_t k = 0; k < 4; ++k) a[k] *= k > 0 && v > u ? w : -w;
    return a;
  }
  static double size(const Entry&, Index v, Index u) { return weight_of(v, u); }
  static Entry diagonal(double sum, Index) { return {sum + 1e-4, 0, 0, 0}; }
};

struct BlockLaplacian {
  using Entry = Rotation;

  static Entry between(Index v, Index u) {
    const Rotation g = rotation(std::min(v, u)), h = rotation(std::max(v, u));
    const double w = weight_of(v, u);
    Entry a;
    for (std::size_t i = 0; i < 3; ++i) {
      for (std::size_t j = 0; j < 3; ++j) {
        const double product =
            g[3 * i] * h[3 * j] + g[3 * i + 1] * h[3 * j + 1] + g[3 * i + 2] * h[3 * j + 2];
        a[v < u ? 3 * i + j : 3 * j + i] = -w * product;
      }
    }
    return a;
  }
  static double size(const Entry&, Index v, Index u) { return weight_of(v, u); }
  static Entry diagonal(double sum, Index) {
    const double d = sum + 1e-4;
    return {d, 0, 0, 0, d, 0, 0, 0, d};
  }
};

/// More weight on one side than on the other, and some damping: no symmetry remains, and the
/// diagonal outweighs its row by a thousandth.
struct ComplexTransport {
  using Entry = Complex;

  static Entry between(Index v, Index u) {
    const Complex g = unit_vector<2>(v), h = unit_vector<2>(u);
    const double w = weight_of(v, u) * (1 + (v < u ? 0.5 : -0.5) * of_pair(skew, v, u));
    return {-w * (g[0] * h[0] + g[1] * h[1]), -w * (g[1] * h[0] - g[0] * h[1])};
  }
  static double size(const Entry& a, Index, Index) { return std::sqrt(a[0] * a[0] + a[1] * a[1]); }
  static Entry diagonal(double sum, Index v) {
    return {1.001 * sum, 0.01 * sum * of_place(skew, static_cast<std::uint64_t>(v))};
  }
};

/// Assembles rows in the order of their numbers after the shuffle.
template <class E, class Values>
CsrMatrix<E> assemble(const Pattern& pattern) {
  using S = stored_scalar_t<E>;
  using Entry = typename Values::Entry;
  const Index n = pattern.rows();
  const Shuffle numbers = shuffle_in_windows(n, shuffle);
  const auto place = [](Index i) { return static_cast<std::size_t>(i); };
  Array<Offset> offsets(place(n) + 1);
  parallel_shares(default_threads(), n, 0, [&](auto&& for_each) {
    std::vector<Index> columns;
    for_each([&](Index row) {
      pattern.columns(numbers.origin[place(row)], columns);
      offsets[place(row) + 1] = static_cast<Offset>(columns.size());
    });
  });
  for (Index row = 0; row < n; ++row) offsets[place(row) + 1] += offsets[place(row)];
  const auto entries = static_cast<std::size_t>(offsets[place(n)]);
  Array<Index> column(entries);
  Array<S> values(entries * E::components);
  parallel_shares(default_threads(), n, 0, [&](auto&& for_each) {
    std::vector<Index> columns;
    std::vector<std::pair<Index, Entry>> filled;
    for_each([&](Index row) {
      const Index v = numbers.origin[place(row)];
      pattern.columns(v, columns);
      filled.clear();
      double sum = 0;
      for (const Index u : columns) {
        if (u == v) continue;
        const Entry a = Values::between(v, u);
        sum += Values::size(a, v, u);
        filled.emplace_back(numbers.moved[place(u)], a);
      }
      filled.emplace_back(row, Values::diagonal(sum, v));
      std::sort(filled.begin(), filled.end(),
                [](const auto& a, const auto& b) { return a.first < b.first; });
      auto to = static_cast<std::size_t>(offsets[place(row)]);
      for (const auto& [c, a] : filled) {
        column[to] = c;
        for (std::size_t k = 0; k < a.size(); ++k) {
          values[to * E::components + k] = static_cast<S>(a[k]);
        }
        ++to;
      }
    });
  });
  return {n, n, std::move(offsets), std::move(column), std::move(values)};
}

template <class S>
AnyMatrix matrix_of(EntryKind entry, const Pattern& pattern) {
  switch (entry) {
    case EntryKind::quaternion:
      return AnyMatrix(assemble<quaternion<S>, QuaternionLaplacian>(pattern));
    case EntryKind::block3:
      return AnyMatrix(assemble<block<S, 3, 3>, BlockLaplacian>(pattern));
    case EntryKind::complex:
      return AnyMatrix(assemble<complex<S>, ComplexTransport>(pattern));
    default:
      throw Error(ErrorKind::internal, "no problem has entries of that kind");
  }
}

/// A family of problems: the part of the name before the number of rows, and the pattern where a
/// paper's matrix does not decide it.
struct Family {
  const char* name;
  EntryKind entry;
  double row_length;
  std::unique_ptr<Pattern> (*pattern)(Index rows, std::uint64_t seed);
};
constexpr std::array<Family, 4> families = {{{"surface", EntryKind::quaternion, 7, triangle_mesh},
                                             {"solid", EntryKind::block3, 13.5, tetrahedral_mesh},
                                             {"filter", EntryKind::complex, 30, thinned_stencil},
                                             {"device", EntryKind::complex, 5, nullptr}}};

constexpr const char* by_rows = "rows-";
constexpr const char* by_length = "length-";
constexpr Index rows_by_length = 65536;

/// The family that starts the name, after an optional prefix; null where there is none.
const Family* family_of(std::string name) {
  if (name.starts_with(by_rows)) name.erase(0, std::string(by_rows).size());
  for (const Family& family : families) {
    if (name.starts_with(std::string(family.name) + "-")) return &family;
  }
  return nullptr;
}

/// A pattern whose rows have the paper's lengths after the shuffle.
std::unique_ptr<Pattern> pattern_of(const PaperMatrix& matrix) {
  const std::vector<Index> stored = row_lengths(wanted_statistics(matrix), seed);
  const Shuffle numbers = shuffle_in_windows(matrix.rows, shuffle);
  std::vector<Index> lengths;
  lengths.reserve(stored.size());
  for (const Index row : numbers.moved) lengths.push_back(stored[static_cast<std::size_t>(row)]);
  return lattice_with_lengths(lengths, matrix.dimensions);
}

std::unique_ptr<Pattern> pattern_of(const ProblemName& problem) {
  if (const PaperMatrix* matrix = paper_matrix(problem.entry, problem.rows)) {
    return pattern_of(*matrix);
  }
  if (problem.name.starts_with(by_length)) {
    return band(problem.rows, static_cast<int>(problem.row_length), seed);
  }
  const Family* family = family_of(problem.name);
  if (family == nullptr || family->pattern == nullptr) {
    throw Error(ErrorKind::usage, "no problem is named '" + problem.name + "'");
  }
  return family->pattern(problem.rows, seed);
}

void add_by_length(std::vector<ProblemName>& all) {
  for (const EntryKind entry : {EntryKind::quaternion, EntryKind::complex}) {
    for (const int length : {1, 2, 4, 8, 16, 32, 64, 128}) {
      const std::string name =
          std::string(by_length) + std::string(heddle::name(entry)) + "-" + std::to_string(length);
      all.push_back({name, entry, Precision::double_precision, rows_by_length});
      all.back().scaling = true;
      all.back().row_length = length;
      all.back().quick = entry == EntryKind::complex && (length == 4 || length == 16);
    }
  }
}

void add_meshes(std::vector<ProblemName>& all) {
  // A mesh has about 5.7 tetrahedra per node.
  const std::pair<const char*, EntryKind> diffusion = {"diffusion-", EntryKind::real},
                                          elasticity = {"elasticity-", EntryKind::block3};
  using Names = std::vector<std::pair<const char*, EntryKind>>;
  const std::vector<std::pair<Index, Names>> meshes = {
      {2'000, {diffusion, elasticity}},
      {3'129, {diffusion}},  // Wong, Kuhl, Darve 2015, table II: three meshes of a heart
      {4'563, {diffusion}},
      {20'000, {diffusion, elasticity}},
      {28'639, {diffusion}},
      {180'000, {diffusion, elasticity}}};
  for (const auto& [rows, names] : meshes) {
    for (const auto& [name, entry] : names) {
      all.push_back({name + std::to_string(rows), entry, Precision::double_precision, rows});
      all.back().assembly = true;
      all.back().row_length = 15;
      all.back().quick = rows == 2'000;
    }
  }
}

void add_vectors(std::vector<ProblemName>& all) {
  for (const Index rows : {65'536, 1'000'000}) {
    all.push_back(
        {"vectors-" + std::to_string(rows), EntryKind::real, Precision::double_precision, rows});
    all.back().primitives = true;
    all.back().row_length = 1;
    all.back().quick = rows == 65'536;
  }
}

/// A diagonal matrix of ones, for suites that take only its rows.
Problem make_vectors(const ProblemName& problem) {
  const auto rows = static_cast<std::size_t>(problem.rows);
  Array<Offset> offsets(rows + 1);
  Array<Index> column(rows);
  std::iota(offsets.begin(), offsets.end(), 0);
  std::iota(column.begin(), column.end(), 0);
  AnyMatrix matrix(CsrMatrix<real<double>>(
      problem.rows, problem.rows, std::move(offsets), std::move(column),
      Array<double>(std::span<const double>(std::vector<double>(rows, 1)))));
  std::vector<double> x = random_x(matrix);
  return {.name = problem.name, .matrix = std::move(matrix), .plans = {}, .x = std::move(x)};
}

}  // namespace

std::vector<ProblemName> problems() {
  std::vector<ProblemName> all;
  const auto add = [&](const Family& family, Index rows, Precision precision) -> ProblemName& {
    const bool single = precision == Precision::single_precision;
    all.push_back(
        {std::string(family.name) + "-" + std::to_string(rows) + (single ? "-single" : ""),
         family.entry, precision, rows});
    const PaperMatrix* matrix = paper_matrix(family.entry, rows);
    all.back().row_length =
        matrix == nullptr ? family.row_length : static_cast<double>(matrix->entries) / rows;
    return all.back();
  };
  const auto& [surface, solid, filter, plane] = families;
  constexpr Precision in_double = Precision::double_precision;
  for (const Index rows : {2562, 34834, 172974, 435545, 543524}) {
    add(surface, rows, in_double).quick = rows <= 34834;
  }
  for (const Index rows : {1016, 9095, 26436, 27112, 66840}) {
    add(solid, rows, in_double).quick = rows <= 1016;
  }
  for (const Index rows : {1280, 74062, 169410}) add(filter, rows, in_double).quick = rows <= 1280;
  add(plane, 74104, in_double);
  add(surface, 34834, Precision::single_precision);
  add(surface, 543524, Precision::single_precision);
  add(solid, 66840, Precision::single_precision);
  add(surface, 2'000'000, in_double).many_times_cache = true;
  add(surface, 6'000'000, in_double).many_times_cache = true;
  add(solid, 1'000'000, in_double).many_times_cache = true;
  add(filter, 2'000'000, in_double).many_times_cache = true;
  for (const Family* family : {&surface, &solid, &filter}) {
    for (const Index rows : {4096, 16384, 65536, 262144, 1048576}) {
      ProblemName& problem = add(*family, rows, in_double);
      problem.name.insert(0, by_rows);
      problem.scaling = true;
      problem.quick = family == &surface && rows <= 16384;
    }
  }
  add_by_length(all);
  std::stable_sort(all.begin(), all.end(), [](const ProblemName& a, const ProblemName& b) {
    if (a.scaling || b.scaling) return a.scaling < b.scaling;
    return a.rows < b.rows;
  });
  add_meshes(all);
  for (ProblemName& problem : hierarchical_problems()) all.push_back(std::move(problem));
  add_vectors(all);
  return all;
}

Problem make_problem(const ProblemName& problem, const Device& device) {
  if (problem.assembly) return make_mesh_problem(problem);
  if (problem.hierarchical) return make_hierarchical_problem(problem);
  if (problem.primitives) return make_vectors(problem);
  const std::unique_ptr<Pattern> pattern = pattern_of(problem);
  AnyMatrix matrix = problem.precision == Precision::single_precision
                         ? matrix_of<float>(problem.entry, *pattern)
                         : matrix_of<double>(problem.entry, *pattern);
  const bool is_hermitian =
      problem.entry != EntryKind::complex && !problem.name.starts_with(by_length);
  std::vector<std::string> plans = known_plans(matrix, device);
  std::vector<double> x = random_x(matrix);
  return {.name = problem.name,
          .matrix = std::move(matrix),
          .hermitian_positive_definite = is_hermitian,
          .plans = std::move(plans),
          .x = std::move(x)};
}

}  // namespace heddle::bench
