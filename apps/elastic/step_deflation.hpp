// Deflation of the systems of a motion by approximate eigenvectors of the matrix of one of them.
#pragma once

#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "heddle/deflation.hpp"
#include "heddle/operator.hpp"
#include "heddle/report.hpp"
#include "passes.hpp"

namespace heddle::elastic {

/// What deflation takes and saves over the systems of a run.
struct DeflationRecord {
  long long most = 0;              // eigenvectors that are asked for; 0: no deflation
  int vectors = 0;                 // independent ones that are in use
  long long eigen_iterations = 0;  // of LOBPCG
  double setup_seconds = 0;        // of LOBPCG and of the first coarse space
  double renewal_seconds = 0;      // of the coarse spaces of other values
  long long first_iterations = 0;  // of the last system before, which nothing deflates
  long long systems = 0;           // that are deflated
  long long iterations = 0;        // of these together

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
/// The same as a line, of a record with systems.
std::string text_of(const DeflationRecord& record);

/// `record.most` approximate eigenvectors of A's smallest eigenvalues, as deflation beside Jacobi's
/// preconditioner. Null where LOBPCG finds none, as for values that are not finite. Throws `Error`
/// (memory) where the fields do not fit. Fills in vectors, iterations and seconds of the record.
std::shared_ptr<Deflation<double>> deflation_of(const Operator<Block>& A, DeflationRecord& record);

}  // namespace heddle::elastic
