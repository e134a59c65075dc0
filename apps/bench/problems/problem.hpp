// The matrices that the benchmarks measure: generated ones, the same on every machine, or a folder
// of files.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "heddle/runtime/any_matrix.hpp"
#include "mesh_elements.hpp"

namespace heddle::bench {

/// A matrix with the data that a comparison needs. Immutable.
struct Problem {
  std::string name;  // e.g. surface-34834
  AnyMatrix matrix;
  bool hermitian_positive_definite = false;  // conjugate gradient may be run
  /// Plans known to be good for the matrix, besides the chosen one.
  std::vector<std::string> plans;

  /// The x of its products and the right-hand side of its solves: pseudo-random numbers in [-1, 1]
  /// that are exact in floats, scalars of all rows in the user's order.
  std::vector<double> x;
  bool complex_symmetric = false;                     // COCG may be run
  std::shared_ptr<const ElementMesh> mesh = nullptr;  // its elements sum up to the matrix
  bool edits_only = false;                            // only for edits of the suite `hierarchical`
};

/// A problem's name and properties, before the problem is made.
struct ProblemName {
  std::string name;
  EntryKind entry;
  Precision precision;
  Index rows;
  bool quick = false;  // part of a run with --quick
  bool many_times_cache = false;
  bool scaling = false;       // only in the suite `scaling`
  bool assembly = false;      // only in the suite `assembly`
  bool hierarchical = false;  // only in the suite `hierarchical`
  bool edits_only = false;    // only for that suite's edits and conversions
  bool primitives = false;    // only in the suite `primitives`
  double row_length = 0;      // approximate entries per row
};

/// All problems, small ones first, those of the suites `scaling`, `assembly`, `hierarchical` and
/// `primitives` last.
std::vector<ProblemName> problems();
/// Makes the same matrix on every machine and for any number of threads. `plans` are those for the
/// device.
Problem make_problem(const ProblemName& problem, const Device& device = Device::cpu());

/// Writes the matrix as an .npz file; numbers in single precision are written in double.
void write_problem(const Problem& problem, const std::string& path);

/// Reads a .mtx, .mtx.gz or .npz file with `entry`, or with the entry that fits it: complex numbers
/// where the file has them, else the numbers whose representations its tiles are (dual quaternions,
/// quaternions, complex numbers), else the largest blocks that are all full, else real numbers.
/// Errors are those of `read_matrix`.
Problem read_problem(const std::string& path, const std::optional<EntryKind>& entry = {},
                     const Device& device = Device::cpu());

/// The x of a problem for this matrix.
std::vector<double> random_x(const AnyMatrix& matrix);

/// y = A x in double (the entries as stored), by a loop over CSR that shares no code with products.
std::vector<double> reference_product(const Problem& problem, const std::vector<double>& x);

/// |y - reference| / |reference|, 2-norms. Throws `Error` (size_mismatch) unless the lengths agree.
double relative_difference(const std::vector<double>& y, const std::vector<double>& reference);

/// |b - A x| / |b| with that norm and product.
double true_residual(const Problem& problem, const std::vector<double>& b,
                     const std::vector<double>& x);

}  // namespace heddle::bench
