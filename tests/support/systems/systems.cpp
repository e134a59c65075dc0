#include "systems.hpp"

#include <algorithm>
#include <cstdint>

namespace heddle::test {

Eigen::MatrixXd& TileRows::at(Index i, Index j) {
  auto& tile = rows[static_cast<std::size_t>(i)][j];
  if (tile.size() == 0) tile = Eigen::MatrixXd::Zero(size, size);
  return tile;
}

TileRows random_tiles(int size, TileMaker tile, Index n, int edges_per_row, double shift,
                      double skew, Generator& generator) {
  TileRows tiles(size, n);
  std::vector<double> scale(static_cast<std::size_t>(n));
  for (double& s : scale) s = uniform(generator, 1, 2);
  const auto add = [&](Index i, Index j, const Eigen::MatrixXd& term) {
    tiles.at(i, j) +=
        term * (scale[static_cast<std::size_t>(i)] * scale[static_cast<std::size_t>(j)]);
  };
  const Eigen::MatrixXd one = Eigen::MatrixXd::Identity(size, size);
  for (Index i = 0; i < n; ++i) {
    add(i, i, shift * one);
    for (int e = 0; e < edges_per_row && n > 1; ++e) {
      // Mostly near rows, so that orders and windows have something to find.
      const Index reach = e % 4 == 3 ? n - 1 : std::min<Index>(n - 1, 12);
      const auto step = 1 + static_cast<Index>(generator() % static_cast<std::uint64_t>(reach));
      const Index j = (i + step) % n;
      const Eigen::MatrixXd u = tile(generator, uniform(generator, 0.5, 1));
      add(i, i, one);
      add(j, j, (u.transpose() * u + (u.transpose() * u).transpose()) / 2);
      add(i, j, -u);
      add(j, i, -u.transpose());
      if (skew > 0) {
        const Eigen::MatrixXd w = tile(generator, uniform(generator, 0, skew));
        add(i, j, w);
        add(j, i, -w.transpose());
      }
    }
  }
  return tiles;
}

TileRows dominant_tiles(int size, TileMaker tile, Index n, int entries_per_row, double shift,
                        Generator& generator) {
  TileRows tiles(size, n);
  std::vector<double> weight(static_cast<std::size_t>(n), shift);
  for (Index i = 0; i < n; ++i) {
    for (int e = 0; e < entries_per_row; ++e) {
      const auto j = static_cast<Index>(generator() % static_cast<std::uint64_t>(n));
      const Eigen::MatrixXd term = tile(generator, uniform(generator, 0.2, 1));
      tiles.at(i, j) += term;
      weight[static_cast<std::size_t>(i)] += term.norm() / 2;
      weight[static_cast<std::size_t>(j)] += term.norm() / 2;
    }
  }
  for (Index i = 0; i < n; ++i) {
    tiles.at(i, i) += weight[static_cast<std::size_t>(i)] * Eigen::MatrixXd::Identity(size, size);
  }
  return tiles;
}

TileRows laplacian_tiles(const std::vector<Eigen::MatrixXd>& q, int edges_per_row,
                         Generator& generator) {
  const auto n = static_cast<Index>(q.size());
  TileRows tiles(static_cast<int>(q.front().rows()), n);
  const auto join = [&](Index i, Index j) {
    const double weight = uniform(generator, 0.2, 1);
    const Eigen::MatrixXd u =
        q[static_cast<std::size_t>(i)] * q[static_cast<std::size_t>(j)].transpose();
    const auto one = Eigen::MatrixXd::Identity(u.rows(), u.cols());
    tiles.at(i, i) += weight * one;
    tiles.at(j, j) += weight * one;
    tiles.at(i, j) -= weight * u;
    tiles.at(j, i) -= weight * u.transpose();
  };
  for (Index i = 1; i < n; ++i) {
    join(i, static_cast<Index>(generator() % static_cast<std::uint64_t>(i)));
    for (int e = 1; e < edges_per_row; ++e) {
      const auto j = static_cast<Index>(generator() % static_cast<std::uint64_t>(n));
      if (j != i) join(i, j);
    }
  }
  return tiles;
}

}  // namespace heddle::test
