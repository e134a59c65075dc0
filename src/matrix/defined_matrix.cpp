#include "heddle/runtime/defined_matrix.hpp"

#include "heddle/read.hpp"

namespace heddle {

namespace {

using Definition = std::shared_ptr<const EntryDefinition>;

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
DefinedMatrix<S> fold(const ScalarMatrix& file, Definition definition, Tiling tiling,
                      const Device& device) {
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
  return {std::move(definition), std::move(folded)};
}

template <class S>
DefinedMatrix<S> read_defined_matrix(const std::string& path, Definition definition,
                                     const Device& device, Progress* progress) {
  const ScalarMatrix file = read_scalar_matrix(path, device, progress);
  return detail::naming_file(
      path, [&] { return fold<S>(file, std::move(definition), Tiling::automatic, device); });
}

template DefinedMatrix<float> fold(const ScalarMatrix&, Definition, Tiling, const Device&);
template DefinedMatrix<double> fold(const ScalarMatrix&, Definition, Tiling, const Device&);
template DefinedMatrix<float> read_defined_matrix(const std::string&, Definition, const Device&,
                                                  Progress*);
template DefinedMatrix<double> read_defined_matrix(const std::string&, Definition, const Device&,
                                                   Progress*);

}  // namespace heddle
