#include "heddle/runtime/defined_matrix.hpp"

#include "heddle/read.hpp"

namespace heddle {

namespace {

/// Every entry as one column of its components, whatever they mean.
detail::Arrangement column_of_components(const EntryDefinition& definition) {
  detail::Arrangement arranged{definition.size(), 1, definition.size(), false, {}};
  for (int k = 0; k < definition.size(); ++k) arranged.at.push_back({k, 1});
  return arranged;
}

/// Then also an entry whose representation cannot be read is.
bool is_by_components(const EntryDefinition& definition, const ScalarMatrix& file, Tiling tiling) {
  if (file.is_complex()) return false;
  if (tiling != Tiling::automatic) return tiling == Tiling::components;
  return Offset(file.rows()) == Offset(file.columns()) * definition.size();
}

}  // namespace

template <class S>
DefinedMatrix<S>::DefinedMatrix(std::shared_ptr<const EntryDefinition> definition, Index rows,
                                Index columns, Array<Offset> offsets, Array<Index> column,
                                Array<S> values)
    : definition_(std::move(definition)),
      rows_(rows),
      columns_(columns),
      offsets_(std::move(offsets)),
      column_(std::move(column)),
      values_(std::move(values)) {
  if (rows < 0 || columns < 0 || offsets_.size() != static_cast<std::size_t>(rows) + 1) {
    throw Error(ErrorKind::size_mismatch, "a matrix of " + std::to_string(rows) +
                                              " rows needs one offset more, not " +
                                              std::to_string(offsets_.size()));
  }
  const auto count = static_cast<std::size_t>(entries());
  const auto size = static_cast<std::size_t>(definition_->size());
  if (column_.size() < count || values_.size() != count * size) {
    throw Error(ErrorKind::size_mismatch, "the offsets promise " + std::to_string(count) +
                                              " entries of " + std::to_string(size) +
                                              " components, there are " +
                                              std::to_string(column_.size()) + " columns and " +
                                              std::to_string(values_.size()) + " scalars");
  }
  check_pattern(pattern(), Device::cpu().stream());
}

template <class S>
DefinedMatrix<S> fold(const ScalarMatrix& file, std::shared_ptr<const EntryDefinition> definition,
                      Tiling tiling, const Device& device) {
  const int V = definition->vector_size();
  tiling = detail::tiling_of_blocks(file, tiling, definition->size(), V, V);
  const bool by_components = is_by_components(*definition, file, tiling);
  const detail::Arrangement arranged =
      by_components ? column_of_components(*definition) : arrangement(*definition);
  auto folded = std::visit(
      [&]<class X>(const CsrMatrix<X>& numbers) {
        return detail::fold_tiles<S>(detail::numbers_of<X>::view(numbers.view()), arranged,
                                     by_components ? Tiling::expansion : tiling, device);
      },
      file.matrix);
  return {std::move(definition),    folded.rows,
          folded.columns,           std::move(folded.offsets),
          std::move(folded.column), std::move(folded.values)};
}

template <class S>
DefinedMatrix<S> read_defined_matrix(const std::string& path,
                                     std::shared_ptr<const EntryDefinition> definition,
                                     const Device& device, Progress* progress) {
  const ScalarMatrix file = read_scalar_matrix(path, device, progress);
  return detail::naming_file(
      path, [&] { return fold<S>(file, std::move(definition), Tiling::automatic, device); });
}

template class DefinedMatrix<float>;
template class DefinedMatrix<double>;
template DefinedMatrix<float> fold(const ScalarMatrix&, std::shared_ptr<const EntryDefinition>,
                                   Tiling, const Device&);
template DefinedMatrix<double> fold(const ScalarMatrix&, std::shared_ptr<const EntryDefinition>,
                                    Tiling, const Device&);
template DefinedMatrix<float> read_defined_matrix(const std::string&,
                                                  std::shared_ptr<const EntryDefinition>,
                                                  const Device&, Progress*);
template DefinedMatrix<double> read_defined_matrix(const std::string&,
                                                   std::shared_ptr<const EntryDefinition>,
                                                   const Device&, Progress*);

}  // namespace heddle
