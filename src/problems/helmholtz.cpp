// Helmholtz' equation in a box that waves leave.
#include "checks.hpp"
#include "grid.hpp"
#include "random.hpp"

namespace heddle {

using namespace problems;

CsrMatrix<complex<double>> helmholtz(Index size, std::uint64_t seed,
                                     const HelmholtzOptions& options) {
  check_size("helmholtz", size);
  check_option("helmholtz", "points per wavelength", options.points_per_wavelength, 4, 1e6);
  check_option("helmholtz", "contrast", options.contrast, 0, 0.999);
  check_option("helmholtz", "damping", options.damping, 0, 1e6);
  const Grid grid = make_grid(size, 2);
  check_memory("helmholtz", grid.size(), 8 + 7 * 20);

  constexpr double two_pi = 6.283185307179586;
  const double wavenumber = two_pi / options.points_per_wavelength;
  const SmoothField variation(seed, Purpose::wavenumber, 0, 0, 1);
  const Index longest = *std::max_element(grid.sides.begin(), grid.sides.end());

  // A vertex on the boundary owns half a cell; widths and their products are exact.
  const auto on_boundary = [&](const GridPoint& p, int axis) {
    return p[axis] == 0 || p[axis] + 1 == grid.sides[axis];
  };
  const auto width = [&](const GridPoint& p, int axis) { return on_boundary(p, axis) ? 0.5 : 1.0; };
  const auto area = [&](const GridPoint& p, int axis) {
    return width(p, (axis + 1) % 3) * width(p, (axis + 2) % 3);
  };

  return assemble_grid<complex<double>>(
      grid,
      [&](Index, const GridPoint& p, int axis, bool) {
        return complex<double>{{-area(p, axis), 0}};
      },
      [&](Index, const GridPoint& p) {
        Point x;
        for (int axis = 0; axis < 3; ++axis) x[axis] = static_cast<double>(p[axis]) / longest;
        const double k = wavenumber * (1 + options.contrast * variation(x));
        double inner = 0, outer = 0;
        for (int axis = 0; axis < 3; ++axis) {
          inner += on_boundary(p, axis) ? area(p, axis) : 2 * area(p, axis);
          if (on_boundary(p, axis)) outer += area(p, axis);
        }
        const double mass = k * k * (width(p, 0) * width(p, 1) * width(p, 2));
        return complex<double>{{inner - mass, -(options.damping * mass) - k * outer}};
      });
}

}  // namespace heddle
