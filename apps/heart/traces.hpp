// Values that are followed in time: linear functionals of the potential at vertices.
#pragma once

#include <array>
#include <span>
#include <vector>

#include "model.hpp"

namespace heddle::heart {

/// A place in a mesh: weights, which sum to 1, for the corners of the element that holds it.
struct Place {
  std::array<Index, 4> vertex{};
  std::array<double, 4> weight{};

  double of(std::span<const double> of_vertices) const {
    double sum = 0;
    for (std::size_t a = 0; a < 4; ++a) {
      // A corner of weight 0 contributes nothing, not even NaN.
      if (weight[a] != 0) sum += weight[a] * of_vertices[static_cast<std::size_t>(vertex[a])];
    }
    return sum;
  }
};

/// Barycentric coordinates below 1e-9 count as 0. Throws `Error` (malformed_file) with `name` for a
/// point that lies outside all elements by more than 1e-6 of the nearest one.
Place find_place(const Model& model, const Point& point, const std::string& name);

struct Traces {
  std::vector<Place> probes;
  std::vector<std::vector<double>> electrodes;  // a weight for each vertex
};

/// The weights w of phi = sum of w V = - sum over elements of V_e (D grad V) . grad(1 / r), where r
/// is the distance of the element's middle from the electrode: mV mm2/ms, positive where a wave
/// approaches (Gima, Rudy, Ionic current basis of electrocardiographic waveforms, 2002). Throws
/// `Error` (malformed_file) with `name` for an electrode in the middle of an element.
std::vector<double> electrode_weights(const Model& model, const Point& electrode,
                                      const std::string& name);

Traces find_traces(const Model& model, const Case& given);

}  // namespace heddle::heart
