// The report of a `heddle-spin` run.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "mesh_summary.hpp"
#include "spin_transformation.hpp"

namespace heddle::spin {

struct SpinReport {
  std::string mesh, rho, output, device;
  Index vertices = 0;
  Offset triangles = 0;
  int genus = 0;
  double radius = 0;  // radius of the sphere with the surface's area
  mesh::Box box;
  long long left_out = 0;  // vertices that belong to no face
  double min_rho = 0, largest_rho = 0;
  SpinTransformation spin;
  // If a surface was made:
  Distribution distortion = {};
  double dirac_eigenvalue = 0;
  double curvature_error = 0;
  double read_seconds = 0, quality_seconds = 0, write_seconds = 0, seconds = 0;
};

/// If the surface that was made is of little use, one line that says why; else empty.
std::string warning_of(const SpinReport& report);

nlohmann::ordered_json to_json(const SpinReport& report);
/// Prints the same for people, to standard output.
void print(const SpinReport& report);

}  // namespace heddle::spin
