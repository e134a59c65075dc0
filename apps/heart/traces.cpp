#include "traces.hpp"

#include <algorithm>
#include <limits>
#include <string>

#include "../simulation/message_text.hpp"
#include "diffusion.hpp"
#include "heddle/error.hpp"

namespace heddle::heart {

using namespace points;

namespace {

[[noreturn]] void refuse(const std::string& name, const std::string& what) {
  throw Error(ErrorKind::malformed_file, simulation::printable(name) + " " + what);
}

}  // namespace

Place find_place(const Model& model, const Point& point, const std::string& name) {
  constexpr double zero = 1e-9, outside = -1e-6;
  double best = -std::numeric_limits<double>::infinity();
  Place place;
  for (std::size_t e = 0; e < model.tetrahedron.size() && best < -zero; ++e) {
    const std::array<Point, 4> corner = model.corners(e);
    const ElementGeometry element(corner);
    std::array<double, 4> weight{};
    for (std::size_t a = 1; a < 4; ++a) weight[a] = dot(element.gradient[a], point - corner[0]);
    weight[0] = 1 - (weight[1] + weight[2] + weight[3]);
    const double least = *std::min_element(weight.begin(), weight.end());
    if (!(least > best)) continue;
    best = least;
    place = {model.tetrahedron[e], weight};
  }
  if (best < outside) refuse(name, "lies outside the mesh");
  double sum = 0;
  for (double& weight : place.weight) {
    if (weight < zero) weight = 0;
    sum += weight;
  }
  for (double& weight : place.weight) weight /= sum;
  return place;
}

std::vector<double> electrode_weights(const Model& model, const Point& electrode,
                                      const std::string& name) {
  std::vector<double> weights(model.position.size());
  for (std::size_t e = 0; e < model.tetrahedron.size(); ++e) {
    const std::array<Point, 4> corner = model.corners(e);
    const Point middle = 0.25 * (corner[0] + corner[1] + corner[2] + corner[3]);
    const Point to = electrode - middle;
    const double distance = length(to);
    const ElementGeometry element(corner);
    if (!(distance > 0)) {
      refuse(name, "lies in the middle of tetrahedron " + std::to_string(e + 1) + " of the mesh");
    }
    const Point steepest = (1 / (distance * distance * distance)) * to;
    for (std::size_t a = 0; a < 4; ++a) {
      weights[static_cast<std::size_t>(model.tetrahedron[e][a])] -=
          element.volume *
          model.diffusivity_in(e).product(model.fibre[e], element.gradient[a], steepest);
    }
  }
  return weights;
}

Traces find_traces(const Model& model, const Case& given) {
  Traces traces;
  for (const auto& [name, point] : given.points) {
    traces.probes.push_back(find_place(model, point, given.path + ": points." + name));
  }
  for (const auto& [name, point] : given.electrodes) {
    traces.electrodes.push_back(
        electrode_weights(model, point, given.path + ": electrodes." + name));
  }
  return traces;
}

}  // namespace heddle::heart
