// The kernels with which the CPU multiplies and inverts entries from a definition.
#include "heddle/runtime/defined_operator.hpp"

#include <algorithm>

#include "defined_entry_text.hpp"
#include "entry_batch.hpp"
#include "heddle/detail/entry_table.hpp"
#include "matrix/encoding.hpp"

namespace heddle::detail {

namespace {

/// The inputs of a row product.
template <class Stored>
struct Rows {
  const EntryDefinition* definition;
  const SlicedPattern* pattern;
  SlotRule rule;
  bool packed;  // all components of an entry together
  const Stored* values;
  Index prefetch_x;
  Offset prefetch_matrix;                 // in scalars
  StoredScalar kept = StoredScalar::own;  // encoding of the words
  const void* table = nullptr;            // values of a dictionary
};

/// True if entries are numbers of values in a table.
template <class Stored>
inline constexpr bool is_listed = std::is_same_v<Stored, unsigned char>;

/// Stored rows [begin, end), computed in T. Entries of consecutive rows fill batches together. Each
/// row adds up its own in order, so that no row depends on where a batch began.
template <class T, class Stored, class S, class Store>
HEDDLE_INLINE Store product_rows(const Rows<Stored>& matrix, const FieldView<const S>& x,
                                 Index begin, Index end, Store store) {
  using Batch = EntryBatch<T>;
  const SlicedPattern& A = *matrix.pattern;
  const Offset* const offset = A.offset.data();
  const int K = matrix.definition->size(), V = matrix.definition->vector_size();
  const int stored = is_listed<Stored> ? 1 : K;
  const Index* const column = columns_of_rows(A, begin, end, matrix.prefetch_x);
  Batch batch{};
  Offset slot_in[Batch::width];
  Index row_of[Batch::width];
  DefinedSum<T> sum{V, {}};
  Index next = begin;  // the row of `sum`
  const auto store_rows_before = [&](Index row) {
    for (; next < row; ++next) {
      store(A.target.empty() ? next : A.target.data()[next], sum);
      std::fill(sum.component, sum.component + V, T(0));
    }
  };
  const auto add_batch = [&](int filled) {
    for (int w = 0; w < filled; ++w) {
      const Offset slot = slot_in[w];
      const Stored* const entry = matrix.values + slot * stored;
      if (matrix.prefetch_x > 0) {
        __builtin_prefetch(x.data + column[slot + matrix.prefetch_x] * x.entry_stride);
      }
      __builtin_prefetch(entry + matrix.prefetch_matrix);
      if constexpr (is_listed<Stored>) {
        batch.set_entry(w, static_cast<const T*>(matrix.table) + Offset(*entry) * K, K);
      } else if constexpr (std::is_same_v<Stored, CodeWord>) {
        const auto lane = static_cast<int>(slot % A.C);
        decode_entry(
            matrix.kept, K, [&](int k) { return matrix.values[matrix.rule(slot - lane, lane, k)]; },
            [&](int k, float component) { batch.a[k][w] = static_cast<T>(component); });
      } else if (matrix.packed) {
        batch.set_entry(w, entry, K);
      } else {
        const auto lane = static_cast<int>(slot % A.C);
        for (int k = 0; k < K; ++k) {
          batch.a[k][w] = static_cast<T>(matrix.values[matrix.rule(slot - lane, lane, k)]);
        }
      }
      batch.set_vector(w, x.data + column[slot] * x.entry_stride, x.component_stride, V);
    }
    batch.multiply(*matrix.definition);
    for (int first = 0, last = 0; first < filled; first = last) {
      while (last < filled && row_of[last] == row_of[first]) ++last;
      store_rows_before(row_of[first]);
      for (int i = 0; i < V; ++i) {
        T partial = sum.component[i];
        for (int w = first; w < last; ++w) partial += batch.y[i][w];
        sum.component[i] = partial;
      }
    }
  };
  int filled = 0;
  Index slice = A.slice_of(begin);
  for (Index row = begin; row < end; ++slice) {
    const int threads = A.threads_of(slice);
    const Index first_row = A.first_row_of(slice);
    const Index last_row = std::min(end, A.first_row_of(slice + 1));
    for (; row < last_row; ++row) {
      Offset slot = offset[slice] + Offset(row - first_row) * threads;
      const Index length =
          A.C == 1 ? static_cast<Index>(offset[row + 1] - slot) : A.row_length.data()[row];
      for (Index j = 0, lane = 0; j < length; ++j) {
        slot_in[filled] = slot + lane;
        row_of[filled++] = row;
        if (++lane == threads) {
          slot += A.C;
          lane = 0;
        }
        if (filled < Batch::width) continue;
        add_batch(filled);
        filled = 0;
      }
    }
  }
  add_batch(filled);
  store_rows_before(end);
  return store;
}

template <class T, class Stored, class S, class Store>
Store product_rows_baseline(const Rows<Stored>& matrix, const FieldView<const S>& x, Index begin,
                            Index end, Store store) {
  return product_rows<T>(matrix, x, begin, end, store);
}
template <class T, class Stored, class S, class Store>
__attribute__((target("avx2,fma"), flatten)) Store product_rows_avx2(const Rows<Stored>& matrix,
                                                                     const FieldView<const S>& x,
                                                                     Index begin, Index end,
                                                                     Store store) {
  return product_rows<T>(matrix, x, begin, end, store);
}

template <StoredScalar kept, class T, class Stored, class S>
void multiply(const SlicedOperator<S>& matrix, std::span<const FieldView<const S>> x,
              std::span<const RowStore<S>> y, Reduction<S>* reduction, const Stream& stream) {
  const SlicedPattern& A = matrix.pattern();
  const EntryDefinition& definition = *matrix.entry().definition;
  const InnerLayout inner = matrix.plan().layout.inner;
  const std::span<std::byte> bytes = matrix.stored_values();
  const Rows<Stored> of{
      &definition,
      &A,
      slot_rule(inner, definition.size(), A.C, A.slots, sizeof(Stored)),
      inner == InnerLayout::aos || (A.C == 1 && inner != InnerLayout::soa),
      reinterpret_cast<const Stored*>(bytes.data()),
      matrix.plan().cpu.prefetch_x,
      matrix.plan().cpu.prefetch_matrix / static_cast<Offset>(sizeof(Stored)),
      kept,
      bytes.data() + (bytes.size() - static_cast<std::size_t>(matrix.entry().trailing_bytes))};
  const auto rows = [&]<class Store>(std::size_t k, Index begin, Index end, const Store& store) {
    const auto product = has_avx2() ? product_rows_avx2<T, Stored, S, Store>
                                    : product_rows_baseline<T, Stored, S, Store>;
    return product(of, x[k], begin, end, store);
  };
  for_each_product_group(matrix, x.size(), reduction, stream,
                         [&](Index begin, Index end, std::size_t k, const auto& take) {
                           if constexpr (std::is_same_v<Stored, CodeWord>) {
                             const CodeWord scale = of.values[A.slots * definition.size()];
                             take(rows(k, begin, end, ScaledRows<RowStore<S>>{y[k], scale}));
                           } else {
                             take(rows(k, begin, end, y[k]));
                           }
                         });
}

template <class Stored, class S>
Index invert_diagonal(const SlicedOperator<S>& matrix, const double* unit, void* inverses) {
  const EntryDefinition& definition = *matrix.entry().definition;
  const SlicedPattern& A = matrix.pattern();
  const int K = definition.size();
  const SlotRule rule = slot_rule(matrix.plan().layout.inner, K, A.C, A.slots, sizeof(Stored));
  const auto* const values = reinterpret_cast<const Stored*>(matrix.stored_values().data());
  const Array<Offset> slots = diagonal_slots(A);
  return first_singular_row(matrix, [&](Index row) {
    const Offset slot = slots[static_cast<std::size_t>(row)], lane = slot % A.C;
    S entry[EntryDefinition::max_components] = {};
    for (int k = 0; k < K && slot >= 0; ++k) {
      entry[k] = static_cast<S>(values[rule(slot - lane, static_cast<int>(lane), k)]);
    }
    S* const inverse = static_cast<S*>(inverses) + Offset(row) * K;
    thread_local std::vector<S> registers;
    return invert_or_unit(
        entry, inverse, K, unit, [&] { invert(definition, entry, inverse, registers); },
        [&] { return is_singular(entry, inverse, K); });
  });
}

template <class S>
void apply_inverses(const EntryTable<S>& entry, const void* inverses, const FieldView<const S>& r,
                    const FieldView<S>& z, Index begin, Index end) {
  const int K = entry.definition->size(), V = entry.definition->vector_size();
  EntryBatch<S> batch{};
  for (Index first = begin; first < end; first += batch.width) {
    const int filled = std::min(batch.width, end - first);
    for (int w = 0; w < filled; ++w) {
      const Offset row = first + w;
      batch.set_entry(w, static_cast<const S*>(inverses) + row * K, K);
      batch.set_vector(w, r.data + row * r.entry_stride, r.component_stride, V);
    }
    batch.multiply(*entry.definition);
    for (int w = 0; w < filled; ++w) {
      S* const to = z.data + Offset(first + w) * z.entry_stride;
      for (int i = 0; i < V; ++i) to[i * z.component_stride] = batch.y[i][w];
    }
  }
}

/// The common part of any table of an entry kept as Stored, computing in S.
template <StoredScalar kept, class Stored, class S>
std::shared_ptr<EntryTable<S>> make_plain_table(
    const std::shared_ptr<const EntryDefinition>& definition) {
  const int K = definition->size(), V = definition->vector_size();
  auto table = std::make_shared<EntryTable<S>>();
  table->sizes = {is_listed<Stored> ? 1 : K,  sizeof(Stored), V, V, sizeof(S),
                  ring_size(definition->ring)};
  table->ring = definition->ring;
  table->has_adjoint = definition->has_adjoint();
  table->arithmetic = {K, sizeof(S)};
  table->definition = definition;
  table->multiply = multiply<kept, S, Stored, S>;
  return table;
}

/// The table of a copy: the parts that iterations need.
template <StoredScalar kept, class Code, class S>
EntryTableHandle<S> encoded_table(const std::shared_ptr<const EntryDefinition>& definition) {
  constexpr bool is_dictionary = kept == StoredScalar::dictionary;
  using Stored = std::conditional_t<is_dictionary, unsigned char, CodeWord>;
  auto table = make_plain_table<kept, Stored, S>(definition);
  table->text = kept_as(code_name<Code>(), "encoded", text_of<S>(*definition));
  table->exact = kept_as(code_name<Code>(), "encoded", text_of<sum_t<S>>(*definition));
  table->is_encoded = true;
  table->trailing_bytes =
      is_dictionary ? dictionary_code::max_values * definition->size() * static_cast<int>(sizeof(S))
                    : static_cast<int>(sizeof(CodeWord));
  return table;
}

template <class Stored, class S>
EntryTableHandle<S> make_table(const std::shared_ptr<const EntryDefinition>& definition) {
  auto table = make_plain_table<StoredScalar::own, Stored, S>(definition);
  table->text = text_of<Stored, S>(*definition);
  table->exact = text_of<Stored, sum_t<S>>(*definition);
  if constexpr (std::is_same_v<Stored, double>) table->narrow = make_table<float, S>(definition);
  if constexpr (std::is_same_v<Stored, S>) {
    table->encoded = {encoded_table<StoredScalar::half, half_code, S>(definition),
                      encoded_table<StoredScalar::bfloat, bfloat_code, S>(definition),
                      encoded_table<StoredScalar::scaled, scaled_code, S>(definition),
                      encoded_table<StoredScalar::dictionary, dictionary_code, S>(definition)};
  }
  table->holds_floats = std::is_same_v<Stored, float>;
  table->residual = multiply<StoredScalar::own, sum_t<S>, Stored, S>;
  table->place = place_values_on_cpu<Stored, 0>;
  if (definition->has_adjoint()) {
    table->adjoint = [](const EntryTable<S>& entry, const S* a, S* adjoint) {
      std::vector<S> registers;
      evaluate<S>(entry.definition->adjoint, a, nullptr, adjoint, registers);
    };
  }
  if (definition->has_inverse()) {
    table->invert_diagonal = invert_diagonal<Stored, S>;
    table->apply_inverses = apply_inverses<S>;
  }
  return table;
}

}  // namespace

template <class S>
EntryTableHandle<S> defined_entry_table(const std::shared_ptr<const EntryDefinition>& definition) {
  return make_table<S, S>(definition);
}
template EntryTableHandle<float> defined_entry_table(const std::shared_ptr<const EntryDefinition>&);
template EntryTableHandle<double> defined_entry_table(
    const std::shared_ptr<const EntryDefinition>&);

}  // namespace heddle::detail
