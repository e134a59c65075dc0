// Poisson's equation with a random coefficient on a box.
#include "checks.hpp"
#include "grid.hpp"
#include "random.hpp"

namespace heddle {

using namespace problems;

CsrMatrix<real<double>> poisson(Index size, std::uint64_t seed, const PoissonOptions& options) {
  check_size("poisson", size);
  check_option("poisson", "contrast", options.contrast, 0, 0.999);
  const Grid grid = make_grid(size, 1);
  check_memory("poisson", grid.size(), 8 + 7 * 12);

  const auto coefficient = [&](Index cell) {
    return uniform(seed, Purpose::coefficient, cell, 1 - options.contrast, 1 + options.contrast);
  };
  const auto between = [&](Index cell, Index other) {
    const double a = coefficient(cell), b = coefficient(other);
    return 2 * (a * b) / (a + b);
  };
  const auto neighbour = [&](Index cell, int axis, bool up) {
    return up ? cell + grid.stride(axis) : cell - grid.stride(axis);
  };
  return assemble_grid<real<double>>(
      grid,
      [&](Index cell, const GridPoint&, int axis, bool up) {
        return real<double>{{-between(cell, neighbour(cell, axis, up))}};
      },
      [&](Index cell, const GridPoint& p) {
        double sum = 0;
        for (int axis = 0; axis < 3; ++axis) {
          for (const bool up : {false, true}) {
            const bool inside = up ? p[axis] + 1 < grid.sides[axis] : p[axis] > 0;
            sum += inside ? between(cell, neighbour(cell, axis, up)) : coefficient(cell);
          }
        }
        return real<double>{{sum}};
      });
}

}  // namespace heddle
