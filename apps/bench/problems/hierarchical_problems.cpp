#include "hierarchical_problems.hpp"

#include <array>
#include <memory>
#include <string>
#include <utility>

#include "heddle/problems.hpp"
#include "heddle/tools/team.hpp"
#include "mesh_patterns.hpp"
#include "mesh_problem.hpp"

namespace heddle::bench {

namespace hierarchical_problems_of {
namespace {

// Purposes of random numbers, each with a seed of its own.
enum Purpose : std::uint64_t { value = 2101, hub, near, far, length, square };

using Columns = std::vector<Index>;

Index whole(double random, Index end) { return static_cast<Index>(random * end); }

std::uint64_t place(Index row, int k) {
  return static_cast<std::uint64_t>(row) * 65536 + static_cast<std::uint64_t>(k);
}

/// A column at most `reach` away.
Index near_column(Index row, int k, Index reach, Index columns) {
  const Index by = whole(of_place(near, place(row, k)), 2 * reach + 1) - reach;
  return std::clamp(row + by, 0, columns - 1);
}

void dense(Index, Index columns, Columns& to) {
  for (Index column = 0; column < columns; ++column) to.push_back(column);
}

/// Full squares of 200 rows, one for each 2000 rows, at any column: the paper's "special" matrix
/// has its entries in few places, close together.
void special(Index row, Index columns, Columns& to) {
  constexpr Index side = 200, apart = 2000;
  if (row % apart >= side) return to.push_back(row);
  const Index first =
      whole(of_place(square, static_cast<std::uint64_t>(row / apart)), columns - side);
  for (Index k = 0; k < side; ++k) to.push_back(first + k);
}

/// Two neighbours of each row.
void road(Index row, Index columns, Columns& to) {
  for (int k = 0; k < 2; ++k) to.push_back(near_column(row, k, 30, columns));
}

/// Five entries near the diagonal; four rows and four columns hold two fifths of all entries.
void circuit(Index row, Index columns, Columns& to) {
  constexpr int hubs = 4;
  constexpr double share = 0.4;
  to.push_back(row);
  for (int k = 0; k < 4; ++k) to.push_back(near_column(row, k, 40, columns));
  const Index apart = columns / hubs;
  for (int k = 0; k < hubs; ++k) {
    if (of_place(hub, place(row, k)) < share) to.push_back(k * apart);
  }
  if (row % apart != 0) return;
  for (Index column = 0; column < columns; ++column) {
    if (of_place(far, place(row / apart, 0) * 65536 + static_cast<std::uint64_t>(column)) < share) {
      to.push_back(column);
    }
  }
}

/// Neighbours at distances of powers of 7 on both sides: states of a chain that differ in one
/// digit.
void cage(Index row, Index columns, Columns& to) {
  to.push_back(row);
  for (Offset step = 1; step < columns; step *= 7) {
    if (row >= step) to.push_back(static_cast<Index>(row - step));
    if (row + step < columns) to.push_back(static_cast<Index>(row + step));
  }
}

/// Power-law row lengths, at least 2 and 4 on average; half of the columns near the diagonal, half
/// anywhere, mostly among the first ones.
void web(Index row, Index columns, Columns& to) {
  constexpr double longest = 2000;
  const double random = of_place(length, static_cast<std::uint64_t>(row));
  const auto count = static_cast<int>(std::min(longest, 2 / std::sqrt(std::max(random, 1e-9))));
  for (int k = 0; k < count; ++k) {
    const double where = of_place(far, place(row, k));
    to.push_back(k % 2 == 0 ? near_column(row, k, 50, columns)
                            : whole(where * where * where, columns));
  }
}

void least_squares(Index row, Index columns, Columns& to) {
  for (int k = 0; k < 4; ++k) to.push_back(whole(of_place(far, place(row, k)), columns));
}

/// Rows of ten entries in a band, as `band` makes them.
void edited_band(Index row, Index columns, Columns& to) {
  static const std::unique_ptr<Pattern> wide = band(1'000'000'000, 10, 1);
  constexpr Index middle = 500'000'000;
  wide->columns(middle, to);
  for (Index& column : to) column += row - middle;
  std::erase_if(to, [&](Index column) { return column < 0 || column >= columns; });
}

struct Family {
  const char* name;
  void (*columns_of_row)(Index row, Index columns, Columns& to);
  double row_length;
  Index rows, quick_rows;  // rows measured, and those with --quick, 0 for none
};
constexpr std::array<Family, 7> families = {{{"dense", dense, 2048, 2048, 300},
                                             {"special", special, 21, 200'000, 0},
                                             {"road", road, 2, 1'000'000, 20'000},
                                             {"circuit", circuit, 8, 300'000, 0},
                                             {"cage", cage, 14, 250'000, 0},
                                             {"web", web, 4, 400'000, 0},
                                             {"least-squares", least_squares, 4, 400'000, 6'000}}};
constexpr Family edited_family = {"edits", edited_band, 10, 0, 0};

Index columns_of(const std::string& family, Index rows) {
  return family == "least-squares" ? rows * 3 / 20 : rows;
}

template <class S>
CsrMatrix<real<S>> filled(const Family& family, Index rows) {
  const Index columns = columns_of(family.name, rows);
  const auto read = [&](Index row, Columns& to) {
    to.clear();
    family.columns_of_row(row, columns, to);
    std::sort(to.begin(), to.end());
    to.erase(std::unique(to.begin(), to.end()), to.end());
  };
  Array<Offset> offsets(static_cast<std::size_t>(rows) + 1);
  parallel_shares(default_threads(), rows, 0, [&](auto&& for_each) {
    Columns found;
    for_each([&](Index row) {
      read(row, found);
      offsets[static_cast<std::size_t>(row) + 1] = static_cast<Offset>(found.size());
    });
  });
  for (std::size_t row = 1; row < offsets.size(); ++row) offsets[row] += offsets[row - 1];
  const auto entries = static_cast<std::size_t>(offsets[static_cast<std::size_t>(rows)]);
  Array<Index> column(entries);
  Array<S> values(entries);
  parallel_shares(default_threads(), rows, 0, [&](auto&& for_each) {
    Columns found;
    for_each([&](Index row) {
      read(row, found);
      auto to = static_cast<std::size_t>(offsets[static_cast<std::size_t>(row)]);
      for (const Index c : found) {
        column[to] = c;
        values[to] = static_cast<S>(random_component(value, to));
        ++to;
      }
    });
  });
  return {rows, columns, std::move(offsets), std::move(column), std::move(values)};
}

template <class S>
AnyMatrix real_matrix(const ProblemName& problem) {
  for (const Family& family : families) {
    if (problem.name.starts_with(family.name)) return AnyMatrix(filled<S>(family, problem.rows));
  }
  return AnyMatrix(filled<S>(edited_family, problem.rows));
}

AnyMatrix matrix_of(const ProblemName& problem) {
  if (problem.name.starts_with("fem")) return make_mesh_problem(problem).matrix;
  if (problem.entry == EntryKind::quaternion) return AnyMatrix(dirac(problem.rows));
  if (problem.entry == EntryKind::block3) return AnyMatrix(elasticity(problem.rows));
  return problem.precision == Precision::single_precision ? real_matrix<float>(problem)
                                                          : real_matrix<double>(problem);
}

}  // namespace
}  // namespace hierarchical_problems_of

std::vector<ProblemName> hierarchical_problems() {
  using namespace hierarchical_problems_of;
  std::vector<ProblemName> all;
  const auto add = [&](const std::string& name, EntryKind entry, Index rows, double row_length,
                       Precision precision = Precision::double_precision) -> ProblemName& {
    const bool single = precision == Precision::single_precision;
    all.push_back(
        {name + "-" + std::to_string(rows) + (single ? "-single" : ""), entry, precision, rows});
    all.back().hierarchical = true;
    all.back().row_length = row_length;
    return all.back();
  };
  for (const Family& family : families) {
    if (family.quick_rows > 0) {
      add(family.name, EntryKind::real, family.quick_rows,
          std::min<double>(family.row_length, family.quick_rows))
          .quick = true;
    }
    add(family.name, EntryKind::real, family.rows, family.row_length);
  }
  for (const Family& family : families) {
    if (family.name == std::string("circuit") || family.name == std::string("web")) {
      add(family.name, EntryKind::real, family.rows, family.row_length,
          Precision::single_precision);
    }
  }
  add("fem", EntryKind::real, 180'000, 15);
  add("dirac", EntryKind::quaternion, 2'562, 7).quick = true;
  add("dirac", EntryKind::quaternion, 200'000, 7);
  add("stiffness", EntryKind::block3, 60'000, 15);
  for (const Index rows : {10'000, 100'000, 1'000'000, 10'000'000}) {
    ProblemName& problem = add(edited_family.name, EntryKind::real, rows, edited_family.row_length);
    problem.edits_only = true;
    problem.quick = rows == 10'000;
    problem.many_times_cache = rows == 10'000'000;
  }
  return all;
}

Problem make_hierarchical_problem(const ProblemName& problem) {
  AnyMatrix matrix = hierarchical_problems_of::matrix_of(problem);
  std::vector<double> x = random_x(matrix);
  return {.name = problem.name,
          .matrix = std::move(matrix),
          .plans = {},
          .x = std::move(x),
          .edits_only = problem.edits_only};
}

}  // namespace heddle::bench
