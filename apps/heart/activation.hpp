// What times of activation tell: how fast the wave ran, and pictures of it.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "model.hpp"

namespace heddle::heart {

/// Velocity of the wave in each element, grad T / |grad T|^2 in mm/ms (m/s), from times at the
/// vertices: three numbers an element. NaN where a corner was not activated, or where all were at
/// once.
std::vector<double> wave_velocity(const Model& model, std::span<const double> activation);

/// Times of the vertices, and velocity, speed and fibres of the elements, for ParaView (.vtu).
void write_activation(const std::string& path, const Model& model,
                      std::span<const double> activation);

/// The surface, seen from the negative y, z up, in ten bands of equal time from the first
/// activation (blue) to the last (red); grey where it was not activated.
void write_activation_picture(const std::string& path, const Model& model,
                              std::span<const double> activation);

}  // namespace heddle::heart
