// Edits of hierarchical matrices, on a CPU and on a GPU.
#pragma once

#include <array>
#include <cstddef>
#include <cstring>
#include <limits>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>

#include "heddle/hierarchical_matrix.hpp"

namespace heddle {

namespace detail {

[[noreturn]] inline void refuse_sum_of_encoded() {
  throw Error(ErrorKind::unsupported, "encoded entries have no sum; set them");
}

/// Calls `edit(row, column, entry)` for everything that a view holds, copied into host memory;
/// entries are zeros if they are not read.
template <class E, class Edit>
void for_each_edit(const CooView<E>& view, bool reads_values, const Edit& edit) {
  if (view.entries == 0) return;
  const auto count = static_cast<std::size_t>(view.entries);
  const auto here = [&](const auto* from, std::size_t size) {
    Array<std::remove_cvref_t<decltype(*from)>> copy(size);
    copy_bytes(copy.data(), from, size * sizeof *from, view.device.stream());
    return copy;
  };
  const auto row = here(view.row, count), column = here(view.column, count);
  Array<stored_scalar_t<E>> values;
  if (reads_values) values = here(view.values, count * E::components);
  CsrView<E> entries;
  entries.values = values.data();
  entries.order = view.order;
  for (std::size_t i = 0; i < count; ++i) {
    edit(row[i], column[i], reads_values ? entry_of(entries, static_cast<Offset>(i)) : E{});
  }
}

/// The edits in the views. Throws `Error`: memory; unsupported for adding encoded entries.
template <class E>
EditBatch<E> batch_of(const EditViews<E>& edits) {
  EditBatch<E> batch;
  batch.reserve(
      static_cast<std::size_t>(edits.set.entries + edits.add.entries + edits.remove.entries));
  for_each_edit(edits.set, true,
                [&](Index row, Index column, const E& value) { batch.set(row, column, value); });
  for_each_edit(edits.add, true, [&](Index row, Index column, const E& value) {
    if constexpr (std::is_same_v<E, arithmetic_t<E>>) {
      batch.add(row, column, value);
    } else {
      refuse_sum_of_encoded();
    }
  });
  for_each_edit(edits.remove, false,
                [&](Index row, Index column, const E&) { batch.remove(row, column); });
  return batch;
}

}  // namespace detail

template <class E>
bool HierarchicalMatrix<E>::is_edited_on_gpu(bool adds) {
  if constexpr (can_add) {
    return !adds || detail::adds_components<E>();
  } else {
    return !adds;
  }
}

template <class E>
EditBatch<E> HierarchicalMatrix<E>::edits_of_tree(const EditBatch<E>& edits) const {
  EditBatch<E> own;
  own.reserve(edits.size());
  std::size_t i = 0;
  for (const auto& [row, column, action] : detail::transposed_edits(this->tree(), edits.places())) {
    const E value = as_stated(edits.values()[i++]);  // a form is its own inverse
    if (action == detail::EditAction::remove) {
      own.remove(row, column);
    } else if (action == detail::EditAction::set) {
      own.set(row, column, value);
    } else if constexpr (can_add) {
      own.add(row, column, value);
    }
  }
  return own;
}

template <class E>
HierarchicalMatrix<E> HierarchicalMatrix<E>::edited(const EditBatch<E>& edits) const {
  if (edits.empty()) return *this;
  if (this->state().scale != scalar(1)) return written_out().edited(edits);
  if (this->is_transposed()) {
    const EditBatch<E> own =
        detail::or_refuse_memory("edits", edits.size(), sizeof(E) + sizeof(detail::PlacedEdit),
                                 [&] { return edits_of_tree(edits); });
    return with_state({}).edited(own).with_state(this->state());
  }
  const auto* const values = reinterpret_cast<const std::byte*>(edits.values().data());
  if constexpr (has_cuda) {
    const detail::Tree& tree = this->tree();
    const auto there = this->on_gpu();
    const bool is_whole_here = tree.entries > 0 && tree.bytes_on_host() >= tree.held_bytes();
    const bool are_few =
        edits.size() <= static_cast<std::size_t>(std::numeric_limits<Index>::max());
    if (there && !is_whole_here && are_few && is_edited_on_gpu(can_add)) {
      return {cuda::edited_tree(*there, edits.places(), values, int{sizeof(stored_scalar_t<E>)}),
              *this};
    }
  }
  const auto add_entries = [](const std::byte* a, const std::byte* b, std::byte* to) {
    if constexpr (can_add) {
      E left, right;
      std::memcpy(&left, a, sizeof(E));
      std::memcpy(&right, b, sizeof(E));
      const E total = add(left, right);
      std::memcpy(to, &total, sizeof(E));
    } else {
      detail::refuse_sum_of_encoded();
    }
  };
  return detail::or_refuse_memory(
      "edits", edits.size(), sizeof(E) + sizeof(detail::PlacedEdit), [&] {
        auto after = detail::edited(this->tree(), edits.places(), values, add_entries,
                                    this->scheduled().has_schedules(), this->team());
        return HierarchicalMatrix(std::make_shared<detail::ScheduledTree>(
                                      std::move(after), this->scheduled(), this->team()),
                                  *this);
      });
}

template <class E>
void HierarchicalMatrix<E>::check_views(const EditViews<E>& edits) const {
  const Index rows = this->rows(), columns = this->columns();
  for (const CooView<E>* const view : {&edits.set, &edits.add, &edits.remove}) {
    if (view->entries == 0 || (view->rows == rows && view->columns == columns)) continue;
    throw Error(ErrorKind::size_mismatch, "edits of a matrix of " + std::to_string(view->rows) +
                                              " x " + std::to_string(view->columns) +
                                              " entries do not fit one of " + std::to_string(rows) +
                                              " x " + std::to_string(columns));
  }
}

template <class E>
HierarchicalMatrix<E> HierarchicalMatrix<E>::edited(const EditViews<E>& edits) const {
  check_views(edits);
  const auto count = edits.set.entries + edits.add.entries + edits.remove.entries;
  if (count == 0) return *this;
  if constexpr (has_cuda) {
    const auto there = is_plain() ? this->on_gpu() : nullptr;
    if (there && is_edited_on_gpu(edits.add.entries > 0)) {
      const auto part = [&](const CooView<E>& view, detail::EditAction action) {
        const Stream &theirs = view.device.stream(), &own = this->device().stream();
        const bool waits = theirs.on_gpu() && theirs.queue != own.queue;
        if (view.entries > 0 && waits) view.device.synchronize();
        return cuda::EditsToMake{action, view.entries, view.row, view.column,
                                 entries_to_store(view.values, view.order)};
      };
      return {cuda::edited_tree(*there, std::array{part(edits.set, detail::EditAction::set),
                                                   part(edits.add, detail::EditAction::add),
                                                   part(edits.remove, detail::EditAction::remove)}),
              *this};
    }
  }
  return edited(detail::or_refuse_memory("edits", static_cast<std::size_t>(count),
                                         sizeof(E) + sizeof(detail::PlacedEdit),
                                         [&] { return detail::batch_of(edits); }));
}

}  // namespace heddle
