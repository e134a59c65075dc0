// Times of activation: the wave speed that they imply, files and pictures.
#pragma once

#include <limits>
#include <span>
#include <string>
#include <vector>

#include "model.hpp"

namespace heddle::heart {

/// Velocity of the wave in each element, grad T / |grad T|^2 in mm/ms (m/s), from times at the
/// vertices: three numbers an element. NaN where a corner was not activated, or where all corners
/// were activated at once.
std::vector<double> wave_velocity(const Model& model, std::span<const double> activation);

/// In mm/ms, which is m/s: the speed is below `low` in a twentieth of the tetrahedra, and above
/// `high` in another twentieth. NaN if no tetrahedron has a speed.
struct SpeedRange {
  double low = std::numeric_limits<double>::quiet_NaN();
  double median = std::numeric_limits<double>::quiet_NaN();
  double high = std::numeric_limits<double>::quiet_NaN();
};
/// Speeds in the tetrahedra that a wave ran through, except those with a stimulated corner.
SpeedRange speed_range(const Model& model, std::span<const double> activation);

/// Writes the times at vertices, and velocity, speed and fibres of elements, for ParaView (.vtu).
void write_activation(const std::string& path, const Model& model,
                      std::span<const double> activation);

inline constexpr int picture_bands = 10;
/// Draws the surface, seen from negative y with z up, in ten bands of equal time from the first
/// activation (blue) to the last (red), with a scale below; grey where it was not activated.
void write_activation_picture(const std::string& path, const Model& model,
                              std::span<const double> activation);

}  // namespace heddle::heart
