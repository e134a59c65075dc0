// A matrix whose entry and precision are chosen at run time. The command line and the bindings
// dispatch on its types here.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <utility>
#include <variant>

#include "heddle/csr.hpp"
#include "heddle/export.hpp"
#include "heddle/runtime/any_entry.hpp"
#include "heddle/runtime/defined_matrix.hpp"
#include "heddle/tools/progress.hpp"

namespace heddle {

class HEDDLE_EXPORT AnyMatrix {
 public:
  /// Made from a type that `EntryKind` names.
  template <class E>
  explicit AnyMatrix(CsrMatrix<E> matrix) : matrix_(std::move(matrix)) {}
  /// Made from a definition.
  template <class S>
  explicit AnyMatrix(DefinedMatrix<S> matrix) : defined_(std::move(matrix)) {}

  /// Like `read_matrix<E>` with the named entry and precision.
  static AnyMatrix read(const std::string& path, const AnyEntry& entry, Precision precision,
                        const Device& device = Device::cpu(), Progress* progress = nullptr);

  /// True if the entry is a definition: then `visit_defined` replaces `visit`.
  bool is_defined() const { return defined_.index() != 0; }

  /// Calls `f(const CsrMatrix<E>&)` with the matrix. Throws `Error` (unsupported) if the entry is a
  /// definition.
  template <class F>
  decltype(auto) visit(F&& f) const {
    kind();
    return std::visit(std::forward<F>(f), matrix_);
  }
  /// Calls `f(const DefinedMatrix<S>&)` with the matrix, whose entry must be a definition.
  template <class F>
  decltype(auto) visit_defined(F&& f) const {
    return defined_.index() == 1 ? f(std::get<1>(defined_)) : f(std::get<2>(defined_));
  }

  AnyEntry entry() const {
    if (is_defined()) {
      return visit_defined([](const auto& matrix) { return AnyEntry(matrix.definition()); });
    }
    return static_cast<EntryKind>(matrix_.index() % entry_kind_names.size());
  }
  EntryKind kind() const { return entry().kind(); }
  Precision precision() const {
    if (is_defined()) {
      return defined_.index() == 1 ? Precision::single_precision : Precision::double_precision;
    }
    return matrix_.index() < entry_kind_names.size() ? Precision::single_precision
                                                     : Precision::double_precision;
  }
  Index rows() const { return pattern().rows; }
  Index columns() const { return pattern().columns; }
  Offset entries() const { return pattern().entries(); }
  PatternView pattern() const {
    if (is_defined()) return visit_defined([](const auto& matrix) { return matrix.pattern(); });
    return visit([](const auto& matrix) { return matrix.view().pattern(); });
  }
  /// All components of an entry, one entry after the other.
  std::span<const std::byte> values() const {
    const auto values_of = [](const auto& m) { return std::as_bytes(m.values().span()); };
    return is_defined() ? visit_defined(values_of) : visit(values_of);
  }
  int entry_bytes() const {
    if (is_defined()) return visit_defined([](const auto& m) { return m.entry_bytes(); });
    return visit([]<class E>(const CsrMatrix<E>&) { return static_cast<int>(sizeof(E)); });
  }

 private:
  template <class... E, class... F>
  static std::variant<CsrMatrix<E>..., CsrMatrix<F>...> one_of(std::tuple<E...>, std::tuple<F...>);

  decltype(one_of(EntryTypes<float>(), EntryTypes<double>())) matrix_;
  std::variant<std::monostate, DefinedMatrix<float>, DefinedMatrix<double>> defined_;
};

}  // namespace heddle
