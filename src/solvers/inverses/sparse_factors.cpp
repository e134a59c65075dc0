#include "sparse_factors.hpp"

#include <Eigen/SparseCholesky>
#include <Eigen/SparseCore>
#include <Eigen/SparseLU>
#include <algorithm>
#include <cmath>
#include <complex>
#include <memory>
#include <new>
#include <string>
#include <utility>

#include "base/memory_limits.hpp"
#include "base/text/readable.hpp"
#include "heddle/error.hpp"
#include "heddle/tools/random_field.hpp"

namespace heddle::detail {

namespace {

using Eigen::Index;  // wide: factors may have more than 2^31 numbers

/// An LDL* with a larger backward error has lost digits to growth, without pivots that prevent it.
constexpr double max_backward_error = 1e-12;
/// M^-1 A x differs more from x, relative to |x|, if rounding alone has made A regular.
constexpr double max_forward_error = 0.05;

[[noreturn]] void refuse_singular() {
  throw Error(ErrorKind::singular, "direct: the matrix is singular, exactly or to rounding");
}
[[noreturn]] void refuse_memory() {
  throw Error(ErrorKind::memory,
              "direct: out of memory for the factors; use an iterative preconditioner, such as "
              "jacobi");
}

template <class T>
using Columns = Eigen::SparseMatrix<T, Eigen::ColMajor, Index>;

template <class T>
struct Ldlt : Eigen::SimplicialLDLT<Columns<T>, Eigen::Lower, Eigen::AMDOrdering<Index>> {
  /// Off the diagonal of L, known after the analysis.
  Index nonzeros() const { return this->m_matrix.nonZeros(); }
};

template <class T>
struct Lu : Eigen::SparseLU<Columns<T>, Eigen::COLAMDOrdering<Index>> {
  /// Some failures leave `info` as it was.
  void factorize_anew(const Columns<T>& a) {
    this->m_lastError.clear();
    this->m_info = Eigen::NumericalIssue;
    this->factorize(a);
  }
};

/// True if a_ji is the conjugate of a_ij for all entries, but for `tolerance` of both and of the
/// root of the product of the diagonal's sizes in i and j: rows and columns may differ in scale.
template <class T>
bool is_hermitian(const Columns<T>& a, double tolerance) {
  const Columns<T> mirrored = a.adjoint();
  const Index n = a.cols(), count = a.nonZeros();
  if (!std::equal(a.outerIndexPtr(), a.outerIndexPtr() + n + 1, mirrored.outerIndexPtr()) ||
      !std::equal(a.innerIndexPtr(), a.innerIndexPtr() + count, mirrored.innerIndexPtr())) {
    return false;
  }
  const Eigen::VectorXd roots = a.diagonal().cwiseAbs().cwiseSqrt();
  for (Index j = 0; j < n; ++j) {
    for (Index k = a.outerIndexPtr()[j]; k < a.outerIndexPtr()[j + 1]; ++k) {
      const T one = a.valuePtr()[k], other = mirrored.valuePtr()[k];
      const double size = std::abs(one) + std::abs(other) + roots[a.innerIndexPtr()[k]] * roots[j];
      if (std::abs(one - other) > tolerance * size) return false;
    }
  }
  return true;
}

/// Powers of 2 that bring the largest number of each row and each column near 1.
struct Scales {
  Eigen::VectorXd left, right;

  /// Ruiz 2001, RAL-TR-2001-034; both sides are the same for a Hermitian matrix.
  template <class T>
  void find(const Columns<T>& a, bool is_hermitian) {
    constexpr int sweeps = 8;
    const auto divide_by_root = [](double& scale, double largest) {
      if (largest > 0) scale /= std::sqrt(largest);
    };
    left = right = Eigen::VectorXd::Ones(a.cols());
    for (int sweep = 0; sweep < sweeps; ++sweep) {
      Eigen::VectorXd of_rows = Eigen::VectorXd::Zero(a.rows()), of_columns = of_rows;
      for_each(a, [&](Index i, Index j, const T& value) {
        const double size = std::abs(value) * left[i] * right[j];
        of_rows[i] = std::max(of_rows[i], size);
        of_columns[j] = std::max(of_columns[j], size);
      });
      for (Index i = 0; i < a.cols(); ++i) {
        divide_by_root(right[i], of_columns[i]);
        divide_by_root(left[i], is_hermitian ? of_columns[i] : of_rows[i]);
      }
    }
    const auto rounded = [](double scale) { return std::exp2(std::round(std::log2(scale))); };
    left = left.unaryExpr(rounded);
    right = right.unaryExpr(rounded);
  }

  template <class T>
  void apply_to(Columns<T>& a) const {
    for_each(a, [&](Index i, Index j, T& value) { value = value * left[i] * right[j]; });
  }

 private:
  template <class Matrix, class F>
  static void for_each(Matrix& a, const F& f) {
    for (Index j = 0; j < a.cols(); ++j) {
      for (Index k = a.outerIndexPtr()[j]; k < a.outerIndexPtr()[j + 1]; ++k) {
        f(a.innerIndexPtr()[k], j, a.valuePtr()[k]);
      }
    }
  }
};

template <class T>
class FactorsOver final : public SparseFactors {
  using Vector = Eigen::Matrix<T, Eigen::Dynamic, 1>;
  using Panel = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic>;

 public:
  FactorsOver(std::span<const Offset> offsets, std::span<const Offset> column)
      : rows_(static_cast<Index>(offsets.size()) - 1, static_cast<Index>(offsets.size()) - 1) {
    rows_.resizeNonZeros(offsets.back());
    std::ranges::copy(offsets, rows_.outerIndexPtr());
    std::ranges::copy(column, rows_.innerIndexPtr());
  }

  std::span<double> values() override {
    return {reinterpret_cast<double*>(rows_.valuePtr()),
            static_cast<std::size_t>(rows_.nonZeros()) * (sizeof(T) / sizeof(double))};
  }

  void compute(double rounding) override {
    kind_ = Kind::none;
    if (rows_.rows() == 0) return;
    if (!rows_.coeffs().isFinite().all()) {
      throw Error(ErrorKind::not_finite,
                  "direct: a value of the matrix is not a number, or too large");
    }
    try {
      Columns<T> a = rows_;
      // Eigen's L U estimates no memory, and tries forever, where few columns have entries.
      for (Index j = 0; j < a.cols(); ++j) {
        if (a.outerIndexPtr()[j] == a.outerIndexPtr()[j + 1]) refuse_singular();
      }
      const bool is_tried = !is_without_ldlt_ && is_hermitian(a, rounding);
      scales_.find(a, is_tried);
      scales_.apply_to(a);
      if (is_tried && compute_ldlt(a)) return;
      compute_lu(a);
      is_without_ldlt_ = is_without_ldlt_ || is_tried;
    } catch (const std::bad_alloc&) {
      refuse_memory();
    }
  }

  void solve(double* x, int columns, bool adjoint) const override {
    if (rows_.rows() == 0) return;
    Eigen::Map<Panel> given(reinterpret_cast<T*>(x), rows_.rows(), columns);
    if (kind_ == Kind::none) refuse_singular();
    const Eigen::VectorXd &first = adjoint ? scales_.right : scales_.left,
                          &last = adjoint ? scales_.left : scales_.right;
    const Panel scaled = first.cast<T>().asDiagonal() * given;
    given = last.cast<T>().asDiagonal() * solved(scaled, adjoint);
  }

  bool is_ldlt() const override { return kind_ == Kind::ldlt; }
  Offset nonzeros() const override {
    if (kind_ == Kind::none) return 0;
    return is_ldlt() ? ldlt_->nonzeros() + rows_.rows() : lu_->nnzL() + lu_->nnzU();
  }
  long long bytes_of_solve() const override {
    return (is_ldlt() ? 2 : 1) * nonzeros() * static_cast<long long>(sizeof(T) + sizeof(Index));
  }

 private:
  enum class Kind { none, ldlt, lu };

  Panel solved(const Panel& given, bool adjoint) const {
    if (kind_ == Kind::ldlt) return ldlt_->solve(given);
    if (adjoint) return lu_->adjoint().solve(given);
    return lu_->solve(given);
  }

  /// False if LU is better.
  bool compute_ldlt(const Columns<T>& a) {
    lu_.reset();
    if (!ldlt_) {
      // The analysis reserves L, which counts against a limit of addresses.
      const long long available = available_host_memory();
      auto analyzed = std::make_unique<Ldlt<T>>();
      analyzed->analyzePattern(a);
      check_memory_of_factors(
          static_cast<double>(analyzed->nonzeros()) * (sizeof(T) + sizeof(Index)), available,
          "the factor L");
      ldlt_ = std::move(analyzed);
    }
    ldlt_->factorize(a);
    if (ldlt_->info() != Eigen::Success) return false;
    kind_ = Kind::ldlt;
    const auto [forward, backward] = errors(a);
    if (forward <= max_forward_error && backward <= max_backward_error) return true;
    kind_ = Kind::none;
    return false;
  }

  void compute_lu(const Columns<T>& a) {
    ldlt_.reset();
    if (!lu_) {
      auto analyzed = std::make_unique<Lu<T>>();
      analyzed->analyzePattern(a);
      lu_ = std::move(analyzed);
    }
    lu_->factorize_anew(a);
    if (lu_->lastErrorMessage().starts_with("UNABLE")) refuse_memory();
    if (lu_->info() != Eigen::Success) refuse_singular();
    kind_ = Kind::lu;
    if (errors(a).forward <= max_forward_error) return;
    kind_ = Kind::none;
    refuse_singular();
  }

  struct Errors {
    double forward, backward;
  };
  /// Both of a random x, computed from a x; not numbers where that overflows.
  Errors errors(const Columns<T>& a) const {
    Vector x(a.cols());
    auto* const scalars = reinterpret_cast<double*>(x.data());
    for (std::size_t i = 0; i < static_cast<std::size_t>(x.size()) * sizeof(T) / sizeof(double);
         ++i) {
      scalars[i] = random_component(1, i);
    }
    const Vector b = a * x, found = solved(b, false);
    Eigen::VectorXd row_sums = Eigen::VectorXd::Zero(a.rows());
    for (Index k = 0; k < a.nonZeros(); ++k) {
      row_sums[a.innerIndexPtr()[k]] += std::abs(a.valuePtr()[k]);
    }
    const double scale = row_sums.maxCoeff() * found.cwiseAbs().maxCoeff();
    return {(found - x).norm() / x.norm(), (b - a * found).norm() / scale};
  }

  Eigen::SparseMatrix<T, Eigen::RowMajor, Index> rows_;
  Scales scales_;  // the factors are those of left A right
  std::unique_ptr<Ldlt<T>> ldlt_;
  std::unique_ptr<Lu<T>> lu_;
  Kind kind_ = Kind::none;
  bool is_without_ldlt_ = false;  // LDL* has failed, and may do so again for other values
};

}  // namespace

std::unique_ptr<SparseFactors> sparse_factors(int parts, std::span<const Offset> offsets,
                                              std::span<const Offset> column) {
  try {
    if (parts == 1) return std::make_unique<FactorsOver<double>>(offsets, column);
    return std::make_unique<FactorsOver<std::complex<double>>>(offsets, column);
  } catch (const std::bad_alloc&) {
    refuse_memory();
  }
}

void check_memory_of_factors(double needed, long long available, const char* what) {
  if (needed <= static_cast<double>(available)) return;
  throw Error(ErrorKind::memory,
              std::string("direct: ") + what + " needs " +
                  readable_bytes(static_cast<long long>(std::min(needed, 9e18))) +
                  " of the host's memory, available are " + readable_bytes(available) +
                  "; use an iterative preconditioner, such as jacobi");
}

}  // namespace heddle::detail
