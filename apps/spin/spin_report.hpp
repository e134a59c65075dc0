// What `heddle-spin` tells of a run.
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
  double radius = 0;  // of the sphere of the surface's area
  mesh::Box box;
  long long left_out = 0;  // vertices of no face
  double least_rho = 0, largest_rho = 0;
  SpinTransformation spin;
  // Where a surface was made:
  Distribution distortion = {};
  double dirac_eigenvalue = 0;
  double curvature_error = 0;
  double read_seconds = 0, quality_seconds = 0, write_seconds = 0, seconds = 0;
};

/// Where a surface was made that is of little use, one line that says why; else empty.
std::string warning_of(const SpinReport& report);

nlohmann::ordered_json to_json(const SpinReport& report);
/// The same for people, on standard output.
void print(const SpinReport& report);

}  // namespace heddle::spin
