// rho, the change of mean curvature half-density that is asked for: one number a triangle, of unit
// one over length.
#pragma once

#include <string>
#include <vector>

#include "surface_mesh.hpp"

namespace heddle::spin {

/// From a text of numbers separated by white space, also compressed: one a triangle, or one a
/// vertex of the surface or of its file, whose mean over the three corners is taken. Throws `Error`
/// (io, malformed_file, not_finite, size_mismatch) with the path in front.
std::vector<double> curvature_change_from_file(const std::string& path,
                                               const mesh::SurfaceMesh& surface);

/// The functions that `named_curvature_change` knows, with what each is.
struct NamedFunction {
  std::string name;
  std::string formula;
};
const std::vector<NamedFunction>& named_functions();

/// scale / R times a function of (p - c) / R, p the centre of the triangle, c that of the surface
/// by area, and 4 pi R^2 the surface's area: the same for a surface of any size. Throws `Error`
/// (usage) for a name that is not known.
std::vector<double> named_curvature_change(const std::string& name, double scale,
                                           const TriangleMesh& mesh);

/// The image at the texture coordinates of a triangle's corners, averaged; grey 0 to 1 becomes
/// -scale to scale. Throws `Error` (usage) for a surface without texture coordinates.
std::vector<double> curvature_change_from_image(const std::string& path, double scale,
                                                const mesh::SurfaceMesh& mesh);

}  // namespace heddle::spin
