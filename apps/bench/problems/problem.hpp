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

/// A matrix with what a comparison needs of it. Immutable.
struct Problem {
  std::string name;  // e.g. surface-34834
  AnyMatrix matrix;
  bool hermitian_positive_definite = false;  // conjugate gradient may be run
  /// Plans that are known to be good for it, beside the one that is chosen.
  std::vector<std::string> plans;

  /// The x of its products and the right-hand side of its solves: pseudo-random numbers in [-1, 1]
  /// that floats represent, scalars of all rows in the user's order.
  std::vector<double> x;
  bool complex_symmetric = false;                     // COCG may be run
  std::shared_ptr<const ElementMesh> mesh = nullptr;  // whose elements sum up to the matrix
  bool edits_only = false;                            // of the suite `hierarchical`
};

/// A problem by its name, before it is made.
struct ProblemName {
  std::string name;
  EntryKind entry;
  Precision precision;
  Index rows;
  bool quick = false;  // of a run with --quick
  bool many_times_cache = false;
  bool scaling = false;       // of the suite `scaling` alone
  bool assembly = false;      // of the suite `assembly` alone
  bool hierarchical = false;  // of the suite `hierarchical` alone
  bool edits_only = false;    // of that suite, and conversions
  double row_length = 0;      // entries a row, about
};

/// All that there are, small ones first, those of the suites `scaling`, `assembly` and
/// `hierarchical` last.
std::vector<ProblemName> problems();
/// The same matrix on every machine and for any number of threads. `plans` are those for the
/// device.
Problem make_problem(const ProblemName& problem, const Device& device = Device::cpu());

/// The matrix as an .npz file; numbers in single precision are written in double.
void write_problem(const Problem& problem, const std::string& path);

/// Of a .mtx, .mtx.gz or .npz file, under `entry`, or the one that fits it: complex numbers where
/// the file has them, else what its tiles are representations of (dual quaternions, quaternions,
/// complex numbers), else the largest blocks that it is full of, else real numbers. Errors as
/// `read_matrix`.
Problem read_problem(const std::string& path, const std::optional<EntryKind>& entry = {},
                     const Device& device = Device::cpu());

/// The x of a problem over such a matrix.
std::vector<double> random_x(const AnyMatrix& matrix);

/// y = A x in double (the entries as stored), by a loop over CSR that shares no code with products.
std::vector<double> reference_product(const Problem& problem, const std::vector<double>& x);

/// |y - reference| / |reference|, 2-norms. Throws `Error` (size_mismatch) unless they are as long.
double relative_difference(const std::vector<double>& y, const std::vector<double>& reference);

/// |b - A x| / |b| with those.
double true_residual(const Problem& problem, const std::vector<double>& b,
                     const std::vector<double>& x);

}  // namespace heddle::bench
