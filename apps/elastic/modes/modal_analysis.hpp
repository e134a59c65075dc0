// The lowest natural frequencies of a solid and their modes: K x = M x omega^2, M lumped.
#pragma once

#include <functional>
#include <vector>

#include "elastic_system.hpp"
#include "heddle/lobpcg.hpp"

namespace heddle::elastic {

struct ModalOptions {
  int count = 6;  // number of modes, in addition to rigid motions
  double tolerance = 1e-10;
  long long max_iterations = 10000;
  std::function<bool(const SolveProgress&)> observer = {};
};

struct Mode {
  double frequency = 0;        // per second
  double frequency_error = 0;  // estimated error as an eigenvalue of the matrices
  double backward_error = 0;   // |K x - M x omega^2| / ((|K| + omega^2 |M|) |x|)
  std::vector<Point> shape;    // in the order of the mesh; x^T M x = 1, zero where held
};

struct Modes {
  EigenReport solve;        // for all pairs, rigid motions first
  int rigid_motions = 0;    // those that supports leave free, of frequency 0; not among `modes`
  std::vector<Mode> modes;  // from the lowest; none if the solve found no pairs
};

/// The mass of each vertex: a quarter of that of its tetrahedra, the row sum of the consistent mass
/// matrix (Hughes, The Finite Element Method, section 7.3.2).
std::vector<double> lumped_mass(const Model& model);

/// Uses LOBPCG with Chebyshev's polynomial over Jacobi's preconditioner. The system is left with K
/// as its matrix. In each shape, the first component of largest magnitude is positive. Throws
/// `Error` (malformed_file) for more modes than there are unknowns, or than LOBPCG iterates, rigid
/// motions deducted.
Modes find_modes(const Model& model, ElasticSystem& system, const ModalOptions& options);

}  // namespace heddle::elastic
