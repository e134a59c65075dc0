// Deflation of a motion's systems by approximate eigenvectors of the matrix of one of them.
#pragma once

#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "heddle/deflation.hpp"
#include "heddle/operator.hpp"
#include "heddle/report.hpp"
#include "passes.hpp"

namespace heddle::elastic {

/// Costs and savings of deflation over the systems of a run.
struct DeflationRecord {
  long long most = 0;              // eigenvectors requested; 0: no deflation
  int vectors = 0;                 // independent ones in use
  long long eigen_iterations = 0;  // by LOBPCG
  double setup_seconds = 0;        // for LOBPCG and the first coarse space
  double renewal_seconds = 0;      // for the coarse spaces of other values
  long long first_iterations = 0;  // for the last system before them, which is not deflated
  long long systems = 0;           // deflated ones
  long long iterations = 0;        // total over these

  void add(const Report& report, bool is_deflated) {
    if (is_deflated) {
      ++systems;
      iterations += report.iterations;
    } else {
      first_iterations = report.iterations;
    }
  }
  double mean_iterations() const {
    return static_cast<double>(iterations) / static_cast<double>(systems);
  }
};

nlohmann::ordered_json to_json(const DeflationRecord& record);
/// The same as one line, for a record with systems.
std::string text_of(const DeflationRecord& record);

/// `record.most` approximate eigenvectors for A's smallest eigenvalues, as deflation combined with
/// Jacobi's preconditioner. Null if LOBPCG finds none, as for values that are not finite. Throws
/// `Error` (memory) if the fields do not fit. Fills in vectors, iterations and seconds of `record`.
std::shared_ptr<Deflation<double>> deflation_of(const Operator<Block>& A, DeflationRecord& record);

}  // namespace heddle::elastic
