// The eigenvector for the least eigenvalue, and how it was found.
#pragma once

#include <limits>
#include <vector>

#include "guess_record.hpp"
#include "heddle/report.hpp"
#include "quaternions.hpp"

namespace heddle::spin {

/// A solve of inverse iteration, or the single one of LOBPCG.
struct EigenvectorStep {
  /// The residual is relative to b; for LOBPCG it is the backward error of the pair.
  Report solve;
  // For a solve that converged, else NaN:
  /// The sine of the angle to the previous vector; for LOBPCG a bound of that to the eigenvector,
  /// if the next eigenvalue is as far away as on the sphere with the surface's area.
  double angle = std::numeric_limits<double>::quiet_NaN();
  double eigenvalue = std::numeric_limits<double>::quiet_NaN();  // without the shift
  long long products = 0;                                        // with the matrix
};

struct Eigenvector {
  std::vector<Quaternion> vector;  // mass-weighted norm 1
  std::vector<EigenvectorStep> steps;
  cli::GuessRecord guesses;  // for inverse iteration
  bool converged = false;

  long long iterations() const {
    long long sum = 0;
    for (const EigenvectorStep& step : steps) sum += step.solve.iterations;
    return sum;
  }
  long long products() const {
    long long sum = 0;
    for (const EigenvectorStep& step : steps) sum += step.products;
    return sum;
  }
};

}  // namespace heddle::spin
