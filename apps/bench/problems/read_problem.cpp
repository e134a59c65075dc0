// Reads a file's matrix with the entry that fits it.
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <utility>

#include "heddle/read.hpp"
#include "heddle/tuning/features.hpp"
#include "known_plans.hpp"
#include "problem.hpp"

namespace heddle::bench {

namespace {

/// Returns true if the entries hold no more numbers than the file, so that all blocks are full.
template <class E>
bool is_full(const CsrMatrix<E>& folded, const ScalarMatrix& file) {
  return folded.entries() * E::components == file.entries();
}

/// The file as entries E, if its sizes are divisible by theirs and every tile represents one.
template <class E>
std::optional<AnyMatrix> folded_into(const ScalarMatrix& file, bool must_be_full) {
  try {
    CsrMatrix<E> folded = fold<E>(ScalarMatrix(file));
    if (must_be_full && !is_full(folded, file)) return {};
    return AnyMatrix(std::move(folded));
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::memory || error.kind() == ErrorKind::internal) throw;
    return {};
  }
}

AnyMatrix fitting(const ScalarMatrix& file) {
  if (file.is_complex()) {
    if (auto blocks = folded_into<block<complex<double>, 3, 3>>(file, true)) return *blocks;
    return *folded_into<complex<double>>(file, false);
  }
  // A representation says more than a full block: any 4 x 4 numbers are a block, few a quaternion.
  // A file that is higher than wide holds columns of components, if they make a square matrix.
  const auto makes_square = [&](int components) {
    return file.rows() == file.columns() || file.rows() == Offset(components) * file.columns();
  };
  if (makes_square(8)) {
    if (auto fits = folded_into<dual_quaternion<double>>(file, false)) return *fits;
  }
  if (makes_square(4)) {
    if (auto fits = folded_into<quaternion<double>>(file, false)) return *fits;
  }
  if (file.rows() == file.columns()) {
    if (auto fits = folded_into<complex<double>>(file, false)) return *fits;
    if (auto fits = folded_into<block<double, 6, 6>>(file, true)) return *fits;
    if (auto fits = folded_into<block<double, 4, 4>>(file, true)) return *fits;
    if (auto fits = folded_into<block<double, 3, 3>>(file, true)) return *fits;
    if (auto fits = folded_into<block<double, 2, 2>>(file, true)) return *fits;
  }
  return *folded_into<real<double>>(file, false);
}

/// Returns true where the file could be the representation of any entry.
bool is_diagonal(const ScalarMatrix& file) {
  return file.entries() <= std::max<Offset>(file.rows(), file.columns());
}

constexpr double rounding = 1e-12;

bool may_be_positive_definite(const Features& found) {
  return found.symmetric_pattern && found.has_adjoint && found.hermitian_defect <= rounding &&
         found.missing_diagonal == 0;
}
bool is_complex_symmetric(const Features& found) {
  return found.symmetric_pattern && found.has_transpose && found.symmetric_defect <= rounding;
}

}  // namespace

Problem read_problem(const std::string& path, const std::optional<EntryKind>& entry,
                     const Device& device) {
  const Device host = Device::cpu(device.threads());
  AnyMatrix matrix =
      entry ? AnyMatrix::read(path, *entry, Precision::double_precision, host) : [&] {
        const ScalarMatrix file = read_scalar_matrix(path, host);
        if (is_diagonal(file) && !file.is_complex()) {
          return AnyMatrix(fold<real<double>>(ScalarMatrix(file)));
        }
        return fitting(file);
      }();
  std::vector<std::string> plans = known_plans(matrix, device);
  std::vector<double> x = random_x(matrix);
  const Features found = features(matrix, host);
  return {.name = std::filesystem::path(path).filename().string(),
          .matrix = std::move(matrix),
          .hermitian_positive_definite = may_be_positive_definite(found),
          .plans = std::move(plans),
          .x = std::move(x),
          .complex_symmetric = is_complex_symmetric(found)};
}

}  // namespace heddle::bench
