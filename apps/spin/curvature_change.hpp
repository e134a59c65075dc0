// rho, the requested change of mean curvature half-density: one number per triangle, with the unit
// of one over length.
#pragma once

#include <string>
#include <vector>

#include "surface_mesh.hpp"

namespace heddle::spin {

/// Reads a text of numbers separated by white space, optionally compressed: one per triangle, or
/// one per vertex of the surface or of its file, which are averaged over the three corners. Throws
/// `Error` (io, malformed_file, not_finite, size_mismatch) with the path in front.
std::vector<double> curvature_change_from_file(const std::string& path,
                                               const mesh::SurfaceMesh& surface);

/// The functions that `named_curvature_change` knows, each with its formula.
struct NamedFunction {
  std::string name;
  std::string formula;
};
const std::vector<NamedFunction>& named_functions();

/// scale / R times a function of (p - c) / R, where p is the centre of the triangle, c the
/// area-weighted centre of the surface, and 4 pi R^2 the surface's area: the same for a surface of
/// any size. Throws `Error` (usage) for an unknown name.
std::vector<double> named_curvature_change(const std::string& name, double scale,
                                           const TriangleMesh& mesh);

/// The image at the texture coordinates of a triangle's corners, averaged; grey 0 to 1 maps to
/// -scale to scale. Throws `Error` (usage) for a surface without texture coordinates.
std::vector<double> curvature_change_from_image(const std::string& path, double scale,
                                                const mesh::SurfaceMesh& mesh);

}  // namespace heddle::spin
