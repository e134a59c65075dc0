// Assembled matrices whose entries a definition describes: compressed sparse rows, the components
// of an entry together.
#pragma once

#include <memory>
#include <string>

#include "heddle/csr.hpp"
#include "heddle/export.hpp"
#include "heddle/matrix_market.hpp"
#include "heddle/runtime/entry_definition.hpp"

namespace heddle {

/// S is float or double.
template <class S>
class HEDDLE_EXPORT DefinedMatrix {
 public:
  /// Takes the arrays: rows + 1 offsets, and a column and definition->size() scalars per entry.
  /// Checks them as `check_pattern` does.
  DefinedMatrix(std::shared_ptr<const EntryDefinition> definition, Index rows, Index columns,
                Array<Offset> offsets, Array<Index> column, Array<S> values)
      : DefinedMatrix(std::move(definition),
                      {rows, columns, std::move(offsets), std::move(column), std::move(values)}) {}
  DefinedMatrix(std::shared_ptr<const EntryDefinition> definition, detail::CsrArrays<S> arrays)
      : definition_(std::move(definition)), arrays_(std::move(arrays)) {
    arrays_.check(definition_->size());
  }

  DefinedMatrix(const DefinedMatrix&) = default;
  DefinedMatrix& operator=(const DefinedMatrix&) = default;
  /// A moved-from matrix keeps the definition, and has no entries.
  DefinedMatrix(DefinedMatrix&& other) noexcept
      : definition_(other.definition_),  // NOLINT(performance-move-constructor-init)
        arrays_(std::move(other.arrays_)) {}
  DefinedMatrix& operator=(DefinedMatrix&& other) noexcept {
    definition_ = other.definition_;
    arrays_ = std::move(other.arrays_);
    return *this;
  }
  ~DefinedMatrix() = default;

  const std::shared_ptr<const EntryDefinition>& definition() const { return definition_; }
  Index rows() const { return arrays_.rows; }
  Index columns() const { return arrays_.columns; }
  Offset entries() const { return pattern().entries(); }
  int entry_bytes() const { return definition_->size() * static_cast<int>(sizeof(S)); }

  const Array<Offset>& offsets() const { return arrays_.offsets; }
  const Array<Index>& column() const { return arrays_.column; }
  const Array<S>& values() const { return arrays_.values; }
  /// The components of entry i.
  const S* entry(Offset i) const {
    HEDDLE_ASSERT(i >= 0 && i < entries());
    return values().data() + i * definition_->size();
  }
  PatternView pattern() const { return arrays_.pattern(); }

 private:
  std::shared_ptr<const EntryDefinition> definition_;
  detail::CsrArrays<S> arrays_;
};

/// The entries that a file's matrix contains, by the rules of `fold<E>`: tiles of the real
/// representation or columns of components. Throws `Error`.
template <class S>
HEDDLE_EXPORT DefinedMatrix<S> fold(const ScalarMatrix& file,
                                    std::shared_ptr<const EntryDefinition> definition,
                                    Tiling tiling = Tiling::automatic,
                                    const Device& device = Device::cpu());

/// Like `read_matrix<E>`.
template <class S>
HEDDLE_EXPORT DefinedMatrix<S> read_defined_matrix(
    const std::string& path, std::shared_ptr<const EntryDefinition> definition,
    const Device& device = Device::cpu(), Progress* progress = nullptr);

}  // namespace heddle
