#include "heddle/detail/assembly_map.hpp"

#include <algorithm>
#include <cstdint>
#include <string>
#include <type_traits>

#include "assembly_sums.hpp"
#include "base/device_cuda.hpp"
#include "heddle/config.hpp"
#include "heddle/error.hpp"
#include "heddle/tools/team.hpp"

namespace heddle::detail {

namespace assembly_maps {
namespace {

[[noreturn]] void refuse_other_pattern() {
  throw Error(ErrorKind::size_mismatch,
              "the matrix was not built on the pattern of the elements that are assembled");
}

/// True if the rows have the same lengths; their columns are compared slot by slot.
bool has_rows_of(const ElementPattern& pattern, const SlicedPattern& matrix) {
  const std::vector<Offset> offset = matrix.offset.to_host();
  const std::vector<Index> length = matrix.row_length.to_host(), target = matrix.target.to_host();
  return parallel_all(default_threads(), matrix.rows, [&](Index stored) {
    const auto s = static_cast<std::size_t>(stored);
    const auto row =
        static_cast<std::size_t>(matrix.row_basis->user_row(target.empty() ? stored : target[s]));
    const Offset entries = matrix.C == 1 ? offset[s + 1] - offset[s] : length[s];
    return entries == pattern.offsets[row + 1] - pattern.offsets[row];
  });
}

/// Ends of parts from their lengths.
void sum_up(std::vector<unsigned>& lengths) {
  for (std::size_t i = 1; i < lengths.size(); ++i) lengths[i] += lengths[i - 1];
}

}  // namespace
}  // namespace assembly_maps

using namespace assembly_maps;

AssemblyMap::AssemblyMap(const ElementPattern& pattern, const SlicedPattern& matrix,
                         const Device& device, std::size_t bytes_of_entry)
    : elements_(pattern.elements), max_(pattern.max_corners), code_(pattern.code) {
  if (matrix.rows != pattern.nodes() || matrix.columns != pattern.nodes() ||
      matrix.entries != pattern.entries() || !has_rows_of(pattern, matrix)) {
    refuse_other_pattern();
  }
  const std::vector<Offset> slots = slots_of_entries(matrix).to_host();
  list_slots(pattern, matrix, slots, device);
  list_rows(pattern, matrix, device);
  list_elements(pattern, device);
  const std::vector<unsigned> places = detail::row_places(pattern, matrix);
  row_place_ = Array<unsigned>(places, device);
  if (device.on_gpu() && bytes_of_entry <= AssemblyTiles::max_bytes_of_term) {
    list_tiles(assembly_tiles(pattern, matrix, slots, places), device);
  }
}

void AssemblyMap::list_slots(const ElementPattern& pattern, const SlicedPattern& matrix,
                             const std::vector<Offset>& slots, const Device& device) {
  const std::vector<Index> column = matrix.column.to_host();
  std::vector<unsigned> first(static_cast<std::size_t>(matrix.slots) + 1);
  std::vector<Index> row(static_cast<std::size_t>(matrix.slots));
  const auto for_each_entry = [&](auto&& act) {
    parallel_for(default_threads(), matrix.rows, [&](Index v) {
      const auto user_row = static_cast<std::size_t>(v);
      for (Offset i = pattern.offsets[user_row]; i < pattern.offsets[user_row + 1]; ++i) {
        const auto entry = static_cast<std::size_t>(i);
        act(v, entry, static_cast<std::size_t>(slots[entry]));
      }
    });
  };
  for_each_entry([&](Index v, std::size_t entry, std::size_t slot) {
    if (column[slot] != matrix.column_basis->position(pattern.column[entry])) {
      refuse_other_pattern();
    }
    row[slot] = matrix.row_basis->position(v);
    first[slot + 1] = pattern.first_term[entry + 1] - pattern.first_term[entry];
  });
  sum_up(first);
  std::vector<unsigned> term(pattern.term.size());
  for_each_entry([&](Index, std::size_t entry, std::size_t slot) {
    std::copy(pattern.term.begin() + pattern.first_term[entry],
              pattern.term.begin() + pattern.first_term[entry + 1], term.begin() + first[slot]);
  });
  first_term_ = Array<unsigned>(first, device);
  term_ = Array<unsigned>(term, device);
  row_ = Array<Index>(row, device);
}

void AssemblyMap::list_rows(const ElementPattern& pattern, const SlicedPattern& matrix,
                            const Device& device) {
  std::vector<unsigned> first(pattern.first_corner.size()), corner(pattern.corner.size());
  const auto for_each_row = [&](auto&& act) {
    parallel_for(default_threads(), matrix.rows, [&](Index position) {
      act(static_cast<std::size_t>(position),
          static_cast<std::size_t>(matrix.row_basis->user_row(position)));
    });
  };
  for_each_row([&](std::size_t position, std::size_t v) {
    first[position + 1] = pattern.first_corner[v + 1] - pattern.first_corner[v];
  });
  sum_up(first);
  for_each_row([&](std::size_t position, std::size_t v) {
    std::copy(pattern.corner.begin() + pattern.first_corner[v],
              pattern.corner.begin() + pattern.first_corner[v + 1],
              corner.begin() + first[position]);
  });
  first_corner_ = Array<unsigned>(first, device);
  corner_ = Array<unsigned>(corner, device);
}

void AssemblyMap::list_elements(const ElementPattern& pattern, const Device& device) {
  if (pattern.first_node.empty()) return;
  std::vector<Offset> first_entry(pattern.first_node.size());
  for (std::size_t e = 0; e + 1 < first_entry.size(); ++e) {
    const Offset corners = pattern.first_node[e + 1] - pattern.first_node[e];
    first_entry[e + 1] = first_entry[e] + corners * corners;
  }
  first_node_ = Array<Offset>(pattern.first_node, device);
  first_entry_ = Array<Offset>(first_entry, device);
}

void AssemblyMap::list_tiles(const AssemblyTileLists& lists, const Device& device) {
  terms_of_tile_ = lists.terms;
  first_piece_of_tile_ = Array<unsigned>(lists.first_piece, device);
  first_entry_of_tile_ = Array<unsigned>(lists.first_entry, device);
  piece_ = Array<unsigned>(lists.piece, device);
  place_ = Array<std::uint16_t>(lists.place, device);
  slot_ = Array<unsigned>(lists.slot, device);
  end_ = Array<std::uint16_t>(lists.end, device);
}

AssemblyTiles AssemblyMap::tiles() const {
  if (first_piece_of_tile_.empty()) return {};
  return {static_cast<unsigned>(first_piece_of_tile_.size()) - 1,
          terms_of_tile_,
          static_cast<unsigned>(max_),
          AssemblyTiles::reciprocal_of(static_cast<unsigned>(max_)),
          code_,
          first_piece_of_tile_.data(),
          first_entry_of_tile_.data(),
          piece_.data(),
          place_.data(),
          slot_.data(),
          end_.data()};
}

Offset AssemblyMap::entry_numbers(ElementOrder order) const {
  return order == ElementOrder::planes ? elements_ * max_ * max_ : terms();
}
Offset AssemblyMap::corner_numbers(ElementOrder order) const {
  return order == ElementOrder::planes ? elements_ * max_ : static_cast<Offset>(corner_.size());
}

long long AssemblyMap::bytes() const {
  const std::size_t words = first_term_.size() + term_.size() + row_.size() + first_corner_.size() +
                            corner_.size() + row_place_.size() + first_piece_of_tile_.size() +
                            first_entry_of_tile_.size() + piece_.size() + slot_.size();
  return static_cast<long long>(words * sizeof(unsigned) +
                                (place_.size() + end_.size()) * sizeof(std::uint16_t) +
                                (first_node_.size() + first_entry_.size()) * sizeof(Offset));
}

void check_element_values(Offset numbers, int components, std::size_t scalars) {
  if (static_cast<Offset>(scalars) == numbers * components) return;
  throw Error(ErrorKind::size_mismatch, "an assembly of " + std::to_string(numbers) +
                                            " element values of " + std::to_string(components) +
                                            " scalars each was given " + std::to_string(scalars) +
                                            " scalars");
}

void check_assembled_field(const SlicedPattern& matrix, const void* data, Index size, int of_field,
                           int of_matrix, const std::shared_ptr<const Basis>& basis,
                           const Stream& stream) {
  if (size != matrix.rows || of_field != of_matrix) {
    throw Error(ErrorKind::size_mismatch,
                "an assembly of " + std::to_string(matrix.rows) + " rows of " +
                    std::to_string(of_matrix) + " components is used with a field of " +
                    std::to_string(size) + " rows of " + std::to_string(of_field));
  }
  if (basis ? !same_basis(*basis, *matrix.row_basis) : !matrix.row_basis->is_natural()) {
    throw Error(ErrorKind::size_mismatch, "the assembled field is not in the matrix's row basis");
  }
  if constexpr (has_cuda) {
    if (stream.on_gpu() && !cuda::is_device_memory(data, stream)) {
      throw Error(ErrorKind::usage, "the assembled field is not in the memory of the matrix's GPU");
    }
  }
}

namespace {

/// Calls `sum(values)` with values that a kernel can read.
template <class S, class Sum>
void with_values_on_gpu(std::span<const S> from, const Stream& stream, const Sum& sum) {
  if constexpr (has_cuda) {
    if (cuda::is_device_memory(from.data(), stream)) return sum(from.data());
    const Array<S> copied(from, Device::cuda(stream.gpu, stream.queue, stream.memory));
    sum(copied.data());
    cuda::synchronize(stream);  // before the copy is released
  }
}

}  // namespace

template <class S>
void sum_entries_on_gpu(const AssemblyLists& lists, const ElementNumbering& numbering,
                        std::span<const S> from, const SlotRule& to_slot, S* to,
                        const Stream& stream) {
  with_values_on_gpu(from, stream, [&](const S* values) {
    const bool in_tiles = numbering.components == 1 && lists.tiles.count > 0;
    const bool in_twos = numbering.order != ElementOrder::planes && numbering.most % 2 == 0 &&
                         reinterpret_cast<std::uintptr_t>(values) % (2 * sizeof(S)) == 0;
    const auto queue = [&]<Placing P>(std::integral_constant<Placing, P>) {
      if constexpr (has_cuda) {
        const EntrySums<S, P> sums{lists, numbering, values, to_slot, to, in_twos};
        if (in_tiles) return cuda::sum_tiles(sums, stream);
        if constexpr (P != Placing::by_row) cuda::sum(sums, to_slot.slots, stream);
      }
    };
    if (in_tiles && numbering.order == ElementOrder::by_row) {
      queue(std::integral_constant<Placing, Placing::by_row>());
    } else if (numbering.is_by_code(lists.code)) {
      queue(std::integral_constant<Placing, Placing::by_code>());
    } else {
      queue(std::integral_constant<Placing, Placing::by_numbering>());
    }
  });
}

template <class S>
void sum_vectors_on_gpu(const AssemblyLists& lists, const ElementNumbering& numbering,
                        std::span<const S> from, const FieldView<S>& to, const Stream& stream) {
  with_values_on_gpu(from, stream, [&](const S* values) {
    if constexpr (has_cuda) {
      cuda::sum(
          VectorSums<S>{lists, numbering, values, to.data, to.entry_stride, to.component_stride},
          to.size, stream);
    }
  });
}

#define HEDDLE_SUMS_ON_GPU(S)                                                               \
  template void sum_entries_on_gpu(const AssemblyLists&, const ElementNumbering&,           \
                                   std::span<const S>, const SlotRule&, S*, const Stream&); \
  template void sum_vectors_on_gpu(const AssemblyLists&, const ElementNumbering&,           \
                                   std::span<const S>, const FieldView<S>&, const Stream&);
HEDDLE_SUMS_ON_GPU(float)
HEDDLE_SUMS_ON_GPU(double)
#undef HEDDLE_SUMS_ON_GPU

}  // namespace heddle::detail
