#include "mesh_patterns.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "heddle/error.hpp"
#include "heddle/tools/random_field.hpp"
#include "heddle/tools/team.hpp"

namespace heddle::bench {

double of_place(std::uint64_t seed, std::uint64_t place) {
  return 0.5 + 0.5 * random_component(seed, place);
}

double of_pair(std::uint64_t seed, Index a, Index b) {
  const auto [low, high] = std::minmax(a, b);
  return of_place(seed, (static_cast<std::uint64_t>(high) << 32) + static_cast<std::uint64_t>(low));
}

Shuffle shuffle_in_windows(Index rows, std::uint64_t seed) {
  constexpr Index window = 256;
  Shuffle shuffle{std::vector<Index>(static_cast<std::size_t>(rows)),
                  std::vector<Index>(static_cast<std::size_t>(rows))};
  std::iota(shuffle.origin.begin(), shuffle.origin.end(), 0);
  parallel_for(default_threads(), (rows + window - 1) / window, [&](Index which) {
    const Index first = which * window;
    const Index last = std::min(rows, first + window);
    // The Fisher-Yates shuffle.
    for (Index i = last - 1; i > first; --i) {
      const auto other = first + static_cast<Index>(of_place(seed, static_cast<std::uint64_t>(i)) *
                                                    (i - first + 1));
      std::swap(shuffle.origin[static_cast<std::size_t>(i)],
                shuffle.origin[static_cast<std::size_t>(other)]);
    }
    for (Index i = first; i < last; ++i) {
      shuffle.moved[static_cast<std::size_t>(shuffle.origin[static_cast<std::size_t>(i)])] = i;
    }
  });
  return shuffle;
}

namespace {

// Purposes of random choices, each with a seed of its own.
enum Choice : std::uint64_t { face_xy = 101, face_yz, face_zx, body, hub, thin, offsets };

void check_rows(Index rows, Index least) {
  if (rows >= least) return;
  throw Error(ErrorKind::usage, "a pattern of this kind needs at least " + std::to_string(least) +
                                    " rows, not " + std::to_string(rows));
}

void sort_once(std::vector<Index>& columns) {
  std::sort(columns.begin(), columns.end());
  columns.erase(std::unique(columns.begin(), columns.end()), columns.end());
}

/// Vertex v of a lattice that winds around like a thread: v + 1 lies next to it, v + width above
/// it, and v + layer, in three dimensions, in front of it.
class Lattice : public Pattern {
 public:
  Lattice(Index rows, Index width, Index layer, std::uint64_t seed)
      : rows_(rows), width_(width), layer_(layer), seed_(seed) {}
  Index rows() const override { return rows_; }

 protected:
  using Step = std::array<int, 3>;

  Offset distance(const Step& step) const {
    return step[0] + Offset(step[1]) * width_ + Offset(step[2]) * layer_;
  }
  /// On a closed lattice the last vertex is followed by the first.
  Index around(Index v, const Step& step) const {
    const Offset to = (v + distance(step)) % rows_;
    return static_cast<Index>(to < 0 ? to + rows_ : to);
  }
  /// On an open lattice there is nothing beyond either end: -1.
  Index next_to(Index v, const Step& step) const {
    const Offset to = v + distance(step);
    return to < 0 || to >= rows_ ? -1 : static_cast<Index>(to);
  }
  double chance(Choice choice, Index v) const {
    return of_place(seed_ * 1000 + choice, static_cast<std::uint64_t>(v));
  }
  /// True for one vertex in each run of `every` consecutive ones, possibly except the last run.
  bool is_hub(Index v, Index every) const {
    const Index piece = v / every;
    return v == piece * every + static_cast<Index>(chance(hub, piece) * every);
  }

  Index rows_, width_, layer_;
  std::uint64_t seed_;
};

Index root(Index rows, double power) {
  return static_cast<Index>(std::lround(std::pow(static_cast<double>(rows), power)));
}

class TriangleMesh final : public Lattice {
 public:
  TriangleMesh(Index rows, std::uint64_t seed) : Lattice(rows, root(rows, 0.5), 0, seed) {}

  void columns(Index v, std::vector<Index>& columns) const override {
    columns = {v};
    for (const Step& step : {Step{1, 0, 0}, {-1, 0, 0}, {0, 1, 0}, {0, -1, 0}}) {
      columns.push_back(around(v, step));
    }
    // Neighbours across the four squares at v, which are named by their lowest corner: the opposite
    // corner if v is on the diagonal along which the square is cut.
    if (rises(v)) columns.push_back(around(v, {1, 1, 0}));
    if (rises(around(v, {-1, -1, 0}))) columns.push_back(around(v, {-1, -1, 0}));
    if (!rises(around(v, {-1, 0, 0}))) columns.push_back(around(v, {-1, 1, 0}));
    if (!rises(around(v, {0, -1, 0}))) columns.push_back(around(v, {1, -1, 0}));
    const bool at_hub = is_hub(v, every);
    for (int i = -2; i <= 2; ++i) {
      for (int j = -2; j <= 2; ++j) {
        const Index other = around(v, {i, j, 0});
        if (at_hub || is_hub(other, every)) columns.push_back(other);
      }
    }
    sort_once(columns);
  }

 private:
  static constexpr Index every = 1500;

  bool rises(Index square) const { return chance(face_xy, square) < 0.5; }
};

class TetrahedralMesh final : public Lattice {
 public:
  TetrahedralMesh(Index rows, std::uint64_t seed)
      : Lattice(rows, root(rows, 1.0 / 3), root(rows, 1.0 / 3) * root(rows, 1.0 / 3), seed) {
    for (int i = -1; i <= 1; ++i) {
      for (int j = -1; j <= 1; ++j) {
        for (int k = -1; k <= 1; ++k) {
          if (i != 0 || j != 0 || k != 0) around_hub_.push_back({i, j, k});
          around_hub_.push_back({2, j, k});
          if (i <= 0 && k != i) around_hub_.push_back({i, 2, k});
        }
      }
    }
    std::sort(around_hub_.begin(), around_hub_.end());
    around_hub_.erase(std::unique(around_hub_.begin(), around_hub_.end()), around_hub_.end());
  }

  void columns(Index v, std::vector<Index>& columns) const override {
    columns = {v};
    const auto add = [&](const Step& step) {
      const Index to = next_to(v, step);
      if (to >= 0) columns.push_back(to);
    };
    for (const Step& step :
         {Step{1, 0, 0}, {-1, 0, 0}, {0, 1, 0}, {0, -1, 0}, {0, 0, 1}, {0, 0, -1}}) {
      add(step);
    }
    add_diagonals(v, face_xy, {1, 0, 0}, {0, 1, 0}, columns);
    add_diagonals(v, face_yz, {0, 1, 0}, {0, 0, 1}, columns);
    add_diagonals(v, face_zx, {0, 0, 1}, {1, 0, 0}, columns);
    if (is_cut(v)) add({1, 1, 1});
    const Index below = next_to(v, {-1, -1, -1});
    if (below >= 0 && is_cut(below)) columns.push_back(below);
    const bool at_hub = is_hub(v, every);
    for (const Step& step : around_hub_) {
      if (at_hub) add(step);
      const Index from = next_to(v, {-step[0], -step[1], -step[2]});
      if (from >= 0 && is_hub(from, every)) columns.push_back(from);
    }
    sort_once(columns);
  }

 private:
  static constexpr Index every = 3000;

  bool is_cut(Index cube) const { return chance(body, cube) < 0.25; }

  /// Adds neighbours across v's four faces of one direction, as with squares of a triangle mesh.
  void add_diagonals(Index v, Choice face, const Step& a, const Step& b,
                     std::vector<Index>& columns) const {
    const auto sum = [&](int i, int j) {
      return Step{i * a[0] + j * b[0], i * a[1] + j * b[1], i * a[2] + j * b[2]};
    };
    const auto add = [&](int i, int j, int corner_i, int corner_j, bool rising) {
      const Index to = next_to(v, sum(i, j));
      // A face is cut only where its lowest corner exists.
      const Index corner = next_to(v, sum(corner_i, corner_j));
      if (to >= 0 && corner >= 0 && (chance(face, corner) < 0.5) == rising) columns.push_back(to);
    };
    add(1, 1, 0, 0, true);
    add(-1, -1, -1, -1, true);
    add(-1, 1, -1, 0, false);
    add(1, -1, 0, -1, false);
  }

  std::vector<Step> around_hub_;
};

class ThinnedStencil final : public Lattice {
 public:
  ThinnedStencil(Index rows, std::uint64_t seed)
      : Lattice(rows, root(rows, 1.0 / 3), root(rows, 1.0 / 3) * root(rows, 1.0 / 3), seed) {}

  void columns(Index v, std::vector<Index>& columns) const override {
    constexpr double kept = 29.0 / 124;
    columns = {v};
    for (int k = -2; k <= 2; ++k) {
      for (int j = -2; j <= 2; ++j) {
        for (int i = -2; i <= 2; ++i) {
          const Index to = around(v, {i, j, k});
          if (to != v && of_pair(seed_ * 1000 + thin, v, to) < kept) columns.push_back(to);
        }
      }
    }
    sort_once(columns);
  }
};

class Band final : public Pattern {
 public:
  Band(Index rows, int length, std::uint64_t seed) : rows_(rows), offset_{0} {
    std::vector<Index> distances(static_cast<std::size_t>(4) * static_cast<std::size_t>(length));
    std::iota(distances.begin(), distances.end(), 1);
    for (std::size_t i = 0; i < distances.size(); ++i) {
      const auto rest = static_cast<double>(distances.size() - i);
      const auto other = i + static_cast<std::size_t>(of_place(seed * 1000 + offsets, i) * rest);
      std::swap(distances[i], distances[other]);
    }
    for (std::size_t i = 0; offset_.size() < static_cast<std::size_t>(length); ++i) {
      offset_.push_back(distances[i]);
      if (offset_.size() < static_cast<std::size_t>(length)) offset_.push_back(-distances[i]);
    }
  }

  Index rows() const override { return rows_; }
  void columns(Index v, std::vector<Index>& columns) const override {
    columns.clear();
    for (const Index offset : offset_) columns.push_back((v + offset + rows_) % rows_);
    sort_once(columns);
  }

 private:
  Index rows_;
  std::vector<Index> offset_;
};

template <class P>
std::unique_ptr<Pattern> pattern_of(Index rows, Index least, std::uint64_t seed) {
  check_rows(rows, least);
  return std::make_unique<P>(rows, seed);
}

}  // namespace

std::unique_ptr<Pattern> triangle_mesh(Index rows, std::uint64_t seed) {
  return pattern_of<TriangleMesh>(rows, 64, seed);
}
std::unique_ptr<Pattern> tetrahedral_mesh(Index rows, std::uint64_t seed) {
  return pattern_of<TetrahedralMesh>(rows, 512, seed);
}
std::unique_ptr<Pattern> thinned_stencil(Index rows, std::uint64_t seed) {
  return pattern_of<ThinnedStencil>(rows, 1000, seed);
}

std::unique_ptr<Pattern> band(Index rows, int length, std::uint64_t seed) {
  constexpr int longest = 129;
  if (length < 1 || length > longest) {
    throw Error(ErrorKind::usage, "a band has 1 to " + std::to_string(longest) +
                                      " entries a row, not " + std::to_string(length));
  }
  check_rows(rows, 10 * length);
  return std::make_unique<Band>(rows, length, seed);
}

}  // namespace heddle::bench
