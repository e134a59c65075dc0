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
  /// Takes the arrays: rows + 1 offsets, a column and definition->size() scalars an entry. Checks
  /// them as `check_pattern` does.
  DefinedMatrix(std::shared_ptr<const EntryDefinition> definition, Index rows, Index columns,
                Array<Offset> offsets, Array<Index> column, Array<S> values);

  DefinedMatrix(const DefinedMatrix&) = default;
  DefinedMatrix& operator=(const DefinedMatrix&) = default;
  /// What was moved from keeps the definition, and has no entries.
  DefinedMatrix(DefinedMatrix&& other) noexcept
      : definition_(other.definition_),  // NOLINT(performance-move-constructor-init)
        rows_(std::exchange(other.rows_, 0)),
        columns_(std::exchange(other.columns_, 0)),
        offsets_(std::move(other.offsets_)),
        column_(std::move(other.column_)),
        values_(std::move(other.values_)) {}
  DefinedMatrix& operator=(DefinedMatrix&& other) noexcept {
    DefinedMatrix taken(std::move(other));
    swap(taken);
    return *this;
  }
  ~DefinedMatrix() = default;

  const std::shared_ptr<const EntryDefinition>& definition() const { return definition_; }
  Index rows() const { return rows_; }
  Index columns() const { return columns_; }
  Offset entries() const { return pattern().entries(); }
  int entry_bytes() const { return definition_->size() * static_cast<int>(sizeof(S)); }

  const Array<Offset>& offsets() const { return offsets_; }
  const Array<Index>& column() const { return column_; }
  const Array<S>& values() const { return values_; }
  /// The components of entry i.
  const S* entry(Offset i) const {
    HEDDLE_ASSERT(i >= 0 && i < entries());
    return values_.data() + i * definition_->size();
  }
  PatternView pattern() const {
    return {rows_, columns_, OffsetsView(offsets_.data()), column_.data()};
  }

 private:
  void swap(DefinedMatrix& other) noexcept {
    std::swap(definition_, other.definition_);
    std::swap(rows_, other.rows_);
    std::swap(columns_, other.columns_);
    std::swap(offsets_, other.offsets_);
    std::swap(column_, other.column_);
    std::swap(values_, other.values_);
  }

  std::shared_ptr<const EntryDefinition> definition_;
  Index rows_ = 0;
  Index columns_ = 0;
  Array<Offset> offsets_;
  Array<Index> column_;
  Array<S> values_;
};

/// The entries behind what a file holds, by the rules of `fold<E>`: tiles of the real
/// representation or columns of components. Throws `Error`.
template <class S>
HEDDLE_EXPORT DefinedMatrix<S> fold(const ScalarMatrix& file,
                                    std::shared_ptr<const EntryDefinition> definition,
                                    Tiling tiling = Tiling::automatic,
                                    const Device& device = Device::cpu());

/// As `read_matrix<E>`.
template <class S>
HEDDLE_EXPORT DefinedMatrix<S> read_defined_matrix(
    const std::string& path, std::shared_ptr<const EntryDefinition> definition,
    const Device& device = Device::cpu(), Progress* progress = nullptr);

extern template class DefinedMatrix<float>;
extern template class DefinedMatrix<double>;

}  // namespace heddle
