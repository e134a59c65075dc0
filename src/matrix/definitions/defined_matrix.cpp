#include "heddle/runtime/defined_matrix.hpp"

#include <algorithm>
#include <optional>

#include "ambiguous_tiles.hpp"
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

/// The arrangement, or none for an entry whose representation cannot be read.
std::optional<detail::Arrangement> readable_arrangement(const EntryDefinition& definition) {
  try {
    detail::Arrangement arranged = arrangement(definition);
    for (int k = 0; k < arranged.components; ++k) {
      const auto shows = [k](const detail::Position& at) { return at.component == k; };
      if (std::none_of(arranged.at.begin(), arranged.at.end(), shows)) return std::nullopt;
    }
    return arranged;
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::unsupported) throw;
    return std::nullopt;
  }
}

/// True if a file holds components, as it may for any entry whose representation cannot be read. If
/// representations are possible, `fold_tiles` looks at the numbers.
bool is_by_components(const EntryDefinition& definition, const ScalarMatrix& file, Tiling tiling) {
  if (file.is_complex()) return false;
  if (tiling != Tiling::automatic) return tiling == Tiling::components;
  if (Offset(file.rows()) != Offset(file.columns()) * definition.size()) return false;
  if (definition.size() == 1) return true;  // an entry is its representation
  const int V = definition.vector_size();
  if (file.rows() % V != 0 || file.columns() % V != 0) return true;
  if (!readable_arrangement(definition)) return true;
  if (definition.size() == V * V && file.rows() > 0) {  // any tile is a representation
    const PatternView pattern =
        std::visit([](const auto& m) { return m.view().pattern(); }, file.matrix);
    detail::refuse_ambiguous_tiles(pattern, {V, V}, {definition.size(), 1});
  }
  return false;
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
