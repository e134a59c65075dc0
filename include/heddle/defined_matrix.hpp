// Assembled matrices whose entries a definition describes: compressed sparse rows, the components
// of an entry together.
#pragma once

#include <memory>
#include <string>

#include "heddle/csr.hpp"
#include "heddle/entry_definition.hpp"
#include "heddle/export.hpp"
#include "heddle/matrix_market.hpp"

namespace heddle {

/// S is float or double.
template <class S>
class HEDDLE_EXPORT DefinedMatrix {
 public:
  /// Takes the arrays: rows + 1 offsets, a column and definition->size() scalars an entry. Checks
  /// them as `check_pattern` does.
  DefinedMatrix(std::shared_ptr<const EntryDefinition> definition, Index rows, Index columns,
                Array<Offset> offsets, Array<Index> column, Array<S> values);

  const std::shared_ptr<const EntryDefinition>& definition() const { return definition_; }
  Index rows() const { return rows_; }
  Index columns() const { return columns_; }
  Offset entries() const { return offsets_[static_cast<std::size_t>(rows_)]; }
  int entry_bytes() const { return definition_->size() * static_cast<int>(sizeof(S)); }

  const Array<Offset>& offsets() const { return offsets_; }
  const Array<Index>& column() const { return column_; }
  const Array<S>& values() const { return values_; }
  /// The components of entry i.
  const S* entry(Offset i) const { return values_.data() + i * definition_->size(); }
  PatternView pattern() const {
    return {rows_, columns_, OffsetsView(offsets_.data()), column_.data()};
  }

 private:
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
