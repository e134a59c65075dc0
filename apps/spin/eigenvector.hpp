// The least eigenvalue's vector, and how it was found.
#pragma once

#include <limits>
#include <vector>

#include "guess_record.hpp"
#include "heddle/report.hpp"
#include "quaternions.hpp"

namespace heddle::spin {

/// A solve of inverse iteration, or the one of LOBPCG.
struct EigenvectorStep {
  /// Its residual is relative to b; of LOBPCG it is the backward error of the pair.
  Report solve;
  // Of a solve that converged, else no numbers:
  /// The sine of that to the vector before; of LOBPCG a bound of that to the eigenvector, where
  /// the next eigenvalue is as far away as it is on the sphere of the surface's area.
  double angle = std::numeric_limits<double>::quiet_NaN();
  double eigenvalue = std::numeric_limits<double>::quiet_NaN();  // without the shift
  long long products = 0;                                        // by the matrix
};

struct Eigenvector {
  std::vector<Quaternion> vector;  // of mass-weighted norm 1
  std::vector<EigenvectorStep> steps;
  cli::GuessRecord guesses;  // of inverse iteration
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
