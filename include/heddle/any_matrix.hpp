// A matrix whose entry and precision are chosen at run time: the one dispatch behind the command
// line.
#pragma once

#include <string>
#include <utility>
#include <variant>

#include "heddle/csr.hpp"
#include "heddle/entry_kind.hpp"
#include "heddle/progress.hpp"

namespace heddle {

class AnyMatrix {
 public:
  /// Of a type that `EntryKind` names.
  template <class E>
  explicit AnyMatrix(CsrMatrix<E> matrix) : matrix_(std::move(matrix)) {}

  /// As `read_matrix<E>` with the entry that kind and precision name.
  static AnyMatrix read(const std::string& path, EntryKind kind, Precision precision,
                        const Device& device = Device::cpu(), Progress* progress = nullptr);

  /// Calls `f(const CsrMatrix<E>&)` with the matrix.
  template <class F>
  decltype(auto) visit(F&& f) const {
    return std::visit(std::forward<F>(f), matrix_);
  }

  EntryKind kind() const {
    return static_cast<EntryKind>(matrix_.index() % entry_kind_names.size());
  }
  Precision precision() const {
    return matrix_.index() < entry_kind_names.size() ? Precision::single_precision
                                                     : Precision::double_precision;
  }
  Index rows() const { return pattern().rows; }
  Index columns() const { return pattern().columns; }
  Offset entries() const { return pattern().entries(); }
  PatternView pattern() const {
    return visit([](const auto& matrix) { return matrix.view().pattern(); });
  }
  int entry_bytes() const {
    return visit([]<class E>(const CsrMatrix<E>&) { return static_cast<int>(sizeof(E)); });
  }

 private:
  template <class S>
  using Square3 = block<complex<S>, 3, 3>;
  // In the order of EntryKind, single precision first.
  std::variant<CsrMatrix<real<float>>, CsrMatrix<complex<float>>, CsrMatrix<quaternion<float>>,
               CsrMatrix<dual_quaternion<float>>, CsrMatrix<block<float, 2, 2>>,
               CsrMatrix<block<float, 3, 3>>, CsrMatrix<block<float, 4, 4>>,
               CsrMatrix<block<float, 6, 6>>, CsrMatrix<Square3<float>>, CsrMatrix<real<double>>,
               CsrMatrix<complex<double>>, CsrMatrix<quaternion<double>>,
               CsrMatrix<dual_quaternion<double>>, CsrMatrix<block<double, 2, 2>>,
               CsrMatrix<block<double, 3, 3>>, CsrMatrix<block<double, 4, 4>>,
               CsrMatrix<block<double, 6, 6>>, CsrMatrix<Square3<double>>>
      matrix_;
};

}  // namespace heddle
