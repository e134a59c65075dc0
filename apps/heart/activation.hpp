// Times of activation: the speed of the wave that they give, files and pictures.
#pragma once

#include <limits>
#include <span>
#include <string>
#include <vector>

#include "model.hpp"

namespace heddle::heart {

/// Velocity of the wave in each element, grad T / |grad T|^2 in mm/ms (m/s), from times at the
/// vertices: three numbers an element. NaN where a corner was not activated, or where all were at
/// once.
std::vector<double> wave_velocity(const Model& model, std::span<const double> activation);

/// mm/ms, which is m/s: of a twentieth of the tetrahedra the speed is below `low`, of as many above
/// `high`. NaN where there is none.
struct SpeedRange {
  double low = std::numeric_limits<double>::quiet_NaN();
  double median = std::numeric_limits<double>::quiet_NaN();
  double high = std::numeric_limits<double>::quiet_NaN();
};
/// Of the tetrahedra that a wave ran through: without a corner where a stimulus acts.
SpeedRange speed_range(const Model& model, std::span<const double> activation);

/// Times of the vertices, and velocity, speed and fibres of the elements, for ParaView (.vtu).
void write_activation(const std::string& path, const Model& model,
                      std::span<const double> activation);

inline constexpr int picture_bands = 10;
/// The surface, seen from the negative y, z up, in ten bands of equal time from the first
/// activation (blue) to the last (red), with a scale below; grey where it was not activated.
void write_activation_picture(const std::string& path, const Model& model,
                              std::span<const double> activation);

}  // namespace heddle::heart
