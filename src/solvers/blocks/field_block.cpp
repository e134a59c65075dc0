#include "field_block.hpp"

#include <atomic>
#include <bit>
#include <cmath>
#include <type_traits>

#include "base/long_double.hpp"
#include "field_block_cuda.hpp"
#include "field_panel.hpp"
#include "heddle/config.hpp"
#include "heddle/detail/groups.hpp"
#include "heddle/vector_operations.hpp"

namespace heddle::detail {
namespace {

template <class S>
constexpr bool has_kernels = has_cuda && !std::is_same_v<S, long double>;

/// Maximum number of subtrees into which threads divide the rows of one process.
constexpr Offset max_parts = 128;

Offset numbers_on_gpu(int fields, int size) { return Offset(fields) * fields * size; }

template <class S>
Offset partials_on_gpu([[maybe_unused]] Offset numbers, [[maybe_unused]] Index rows,
                       [[maybe_unused]] const Stream& stream) {
  if constexpr (has_kernels<S>) {
    return stream.share != nullptr ? groups_of(rows) * numbers : cuda::partials_of_block(numbers);
  }
  return 0;
}

/// Number of groups in a part. A part is a subtree of the tree over all groups, so that joins of
/// parts are the rest of that tree.
Offset groups_of_part(Offset groups) {
  Offset width = 1;
  while (width * max_parts < groups) width *= 2;
  return width;
}

template <class S>
const FieldView<S>& at(const FieldBlock<S>& block, int i) {
  return block[static_cast<std::size_t>(i)];
}

/// Calls `body(run, first, count)` for tiles of the elements of a group.
template <Ring R, class S, class Body>
void for_each_tile(const FieldView<S>& field, Offset group, int width, const Body& body) {
  const auto over_run = [&](const auto& run) {
    for (Offset first = 0; first < run.count; first += width) {
      body(run, first, static_cast<int>(std::min<Offset>(width, run.count - first)));
    }
  };
  for_each_run<R>(field, static_cast<Index>(group), over_run);
}

template <Ring R, class P, class S, class Run>
void pack_all(const FieldBlock<S>& fields, const Run& run, Offset first, int count, P* panels) {
  for (const FieldView<S>& field : fields) {
    Panels<R, P>::pack(field.data, run, first, count, panels);
    panels += Panels<R, P>::scalars;
  }
}

/// Takes the sums from columns of `rows` numbers.
template <Ring R, class T>
void take_sums(const T* sums, int rows, RingMatrix<R, T>& result) {
  constexpr int size = ring_size(R);
  for (int j = 0; j < result.columns(); ++j) {
    const T* const from = sums + Offset(j) * rows * size;
    for (int i = 0; i < result.rows(); ++i) {
      std::copy_n(from + i * size, size, result(i, j).component);
    }
  }
}

/// Numbers of panels of a Gram matrix, including the zero panels that fill the last step.
template <Ring R, class T>
struct PanelsOfGram {
  explicit PanelsOfGram(const RingMatrix<R, T>& result)
      : rows(Panels<R, T>::padded(result.rows(), Panels<R, T>::rows_at_once)),
        columns(Panels<R, T>::padded(result.columns(), Panels<R, T>::columns_at_once)) {}
  Offset numbers() const { return Offset(rows) * columns * ring_size(R); }
  std::size_t scalars() const {
    return static_cast<std::size_t>(rows + columns) * Panels<R, T>::scalars;
  }
  int rows, columns;
};

}  // namespace

template <Ring R, class S>
BlockOperations<R, S>::BlockOperations(Reduction<S>& reduction, const Stream& stream, int fields)
    : reduction_(reduction), stream_(stream) {
  if (!stream.on_gpu()) return;
  const Offset numbers = numbers_on_gpu(fields, size);
  const Offset partials = partials_on_gpu<S>(numbers, reduction.rows(), stream);
  on_gpu_ = Array<double>(static_cast<std::size_t>(numbers + partials), reduction.device());
  coefficients_ = Array<S>(static_cast<std::size_t>(numbers), reduction.device());
  fetched_.resize(static_cast<std::size_t>(numbers));
}

template <Ring R, class S>
long long BlockOperations<R, S>::bytes(int fields, Index rows, const Stream& stream) {
  if (stream.on_gpu()) {
    const Offset numbers = numbers_on_gpu(fields, size);
    return (numbers + partials_on_gpu<S>(numbers, rows, stream)) *
               static_cast<long long>(sizeof(double)) +
           numbers * static_cast<long long>(sizeof(S));
  }
  const Offset numbers = Offset(fields + 4) * (fields + 2) * size;
  const Offset parts = stream.share != nullptr ? groups_of(rows) : max_parts;
  return parts * numbers * static_cast<long long>(sizeof(T));
}

template <Ring R, class S>
void BlockOperations<R, S>::gram(const FieldBlock<S>& u, const FieldBlock<S>& v, bool hermitian,
                                 Matrix& result) {
  if (u.empty() || v.empty()) return;
  if (stream_.on_gpu()) {
    fetch_products(u, v, hermitian, result);
  } else if (RowShare* const share = stream_.share) {
    sum_products_of_rank(u, v, hermitian, result, *share);
  } else {
    sum_products(u, v, hermitian, result);
  }
  for (int j = 0; hermitian && j < result.columns(); ++j) {
    for (int i = 0; i < j; ++i) result(j, i) = conj(result(i, j));
  }
}

template <Ring R, class S>
auto BlockOperations<R, S>::norms(std::span<const FieldView<S>> fields) -> std::vector<T> {
  std::vector<T> norms(fields.size());
  if (stream_.on_gpu()) {
    if constexpr (has_kernels<S>) {
      if (!fields.empty() && stream_.share != nullptr) {
        cuda::squared_norms_of_groups<S>(fields, partials(), stream_);
        join(fields.size());
      } else {
        if (!fields.empty()) cuda::squared_norms<S>(fields, partials(), on_gpu_.data(), stream_);
        fetch(fields.size());
      }
      std::copy_n(fetched_.begin(), norms.size(), norms.begin());
    }
  } else {
    for (std::size_t k = 0; k < fields.size(); ++k) {
      norms[k] = real_dot<S>(fields[k], fields[k], reduction_, stream_);
    }
  }
  for (T& norm : norms) norm = std::sqrt(norm);
  return norms;
}

/// Calls `act(first, end, memory)` for the groups of every part of the rows, where `memory` holds
/// `scalars` scalars of the thread's own.
template <Ring R, class S>
template <class P, class Act>
void BlockOperations<R, S>::for_each_part(const FieldView<S>& field, std::size_t scalars,
                                          std::vector<P>& memory, const Act& act) {
  const Offset groups = groups_of(field.size), width = groups_of_part(groups);
  const Offset parts = (groups + width - 1) / width;
  const int threads = team_size(stream_, field.scalars());
  memory.resize(std::max(memory.size(), static_cast<std::size_t>(threads) * scalars));
  std::atomic<std::size_t> begun = 0;
  parallel_shares(threads, parts, 0, [&](auto&& for_each) {
    P* const own = memory.data() + begun++ * scalars;
    for_each([&](Offset part) { act(part * width, std::min(groups, (part + 1) * width), own); });
  });
}

template <Ring R, class S>
void BlockOperations<R, S>::combine(const FieldBlock<S>& from, const Matrix& c,
                                    const FieldBlock<S>& to, bool adds) {
  if (from.empty() || c.columns() == 0) return;
  numbers_.clear();
  for (int j = 0; j < c.columns(); ++j) {
    for (int i = 0; i < c.rows(); ++i) {
      for (const T component : c(i, j).component) numbers_.push_back(static_cast<S>(component));
    }
  }
  if (stream_.on_gpu()) {
    if constexpr (has_kernels<S>) {
      copy_bytes(coefficients_.data(), numbers_.data(), numbers_.size() * sizeof(S), stream_);
      cuda::combine<R, S>(from, coefficients_.data(), to, adds, stream_);
    }
    return;
  }
  using Panel = Panels<R, S>;
  const auto combination = combination_of_panels<R, S>();
  const std::size_t scalars = (from.size() + to.size()) * Panel::scalars;
  for_each_part(from.front(), scalars, packed_, [&](Offset first_group, Offset end, S* panels) {
    S* const out = panels + from.size() * Panel::scalars;
    for (Offset group = first_group; group < end; ++group) {
      for_each_tile<R>(
          from.front(), group, Panel::width, [&](const auto& run, Offset first, int count) {
            pack_all<R>(from, run, first, count, panels);
            combination(panels, c.rows(), numbers_.data(), c.columns(), out);
            for (int j = 0; j < c.columns(); ++j) {
              Panel::unpack(out + j * Panel::scalars, run, first, count, at(to, j).data, adds);
            }
          });
    }
  });
}

/// Fetches the first `count` numbers; waits for what was queued.
template <Ring R, class S>
void BlockOperations<R, S>::fetch(std::size_t count) {
  copy_bytes(fetched_.data(), on_gpu_.data(), count * sizeof(double), stream_);
}

/// The same from partial sums of this rank's groups.
template <Ring R, class S>
void BlockOperations<R, S>::join(std::size_t count) {
  stream_.share->join_on_gpu(partials(), static_cast<int>(count), fetched_.data(),
                             RowShare::Join::sum, stream_);
}

template <Ring R, class S>
void BlockOperations<R, S>::fetch_products([[maybe_unused]] const FieldBlock<S>& u,
                                           [[maybe_unused]] const FieldBlock<S>& v,
                                           [[maybe_unused]] bool hermitian,
                                           [[maybe_unused]] Matrix& result) {
  if constexpr (has_kernels<S>) {
    const std::size_t numbers = u.size() * v.size() * size;
    if (stream_.share != nullptr) {
      cuda::gram_of_groups<R, S>(u, v, hermitian, partials(), stream_);
      join(numbers);
    } else {
      cuda::gram<R, S>(u, v, hermitian, partials(), on_gpu_.data(), stream_);
      fetch(numbers);
    }
    const double* from = fetched_.data();
    for (int j = 0; j < result.columns(); ++j) {
      for (int i = 0; i < result.rows(); ++i, from += size) {
        if (!hermitian || i <= j) std::copy_n(from, size, result(i, j).component);
      }
    }
  }
}

/// Sums the products of one group of rows.
template <Ring R, class S>
void BlockOperations<R, S>::sum_group(const FieldBlock<S>& u, const FieldBlock<S>& v,
                                      bool hermitian, Offset group, T* panels, T* sums) {
  using Panel = Panels<R, T>;
  const int rows = Panel::padded(static_cast<int>(u.size()), Panel::rows_at_once);
  const int columns = Panel::padded(static_cast<int>(v.size()), Panel::columns_at_once);
  const auto add_products = products_of_panels<R, T>();
  T* const right = panels + rows * Panel::scalars;
  std::fill_n(sums, Offset(rows) * columns * size, T(0));
  for_each_tile<R>(u.front(), group, Panel::width, [&](const auto& run, Offset first, int count) {
    pack_all<R>(u, run, first, count, panels);
    pack_all<R>(v, run, first, count, right);
    add_products(panels, rows, right, columns, hermitian, sums);
  });
}

template <Ring R, class S>
void BlockOperations<R, S>::sum_products_of_rank(const FieldBlock<S>& u, const FieldBlock<S>& v,
                                                 bool hermitian, Matrix& result, RowShare& share) {
  const PanelsOfGram<R, T> all(result);
  const Offset groups = groups_of(u.front().size), numbers = all.numbers();
  partials_.resize(std::max(partials_.size(), static_cast<std::size_t>(groups * numbers)));
  for_each_part(u.front(), all.scalars(), panels_, [&](Offset first, Offset end, T* panels) {
    std::fill_n(panels, all.scalars(), T(0));
    for (Offset group = first; group < end; ++group) {
      sum_group(u, v, hermitian, group, panels, partials_.data() + group * numbers);
    }
  });
  joined_.resize(static_cast<std::size_t>(numbers));
  share.join(partials_.data(), static_cast<int>(numbers), static_cast<int>(numbers), joined_.data(),
             RowShare::Join::sum);
  take_sums(joined_.data(), all.rows, result);
}

template <Ring R, class S>
void BlockOperations<R, S>::sum_products(const FieldBlock<S>& u, const FieldBlock<S>& v,
                                         bool hermitian, Matrix& result) {
  const PanelsOfGram<R, T> all(result);
  const Offset groups = groups_of(u.front().size), width = groups_of_part(groups);
  const Offset parts = std::max<Offset>(1, (groups + width - 1) / width);
  const Offset numbers = all.numbers();
  partials_.assign(static_cast<std::size_t>(parts * numbers), T(0));
  // A part keeps the sums of its complete subtrees, each larger than the next.
  const auto levels = static_cast<std::size_t>(std::bit_width(static_cast<std::size_t>(width)));
  const std::size_t scalars = all.scalars() + (levels + 1) * static_cast<std::size_t>(numbers);
  for_each_part(u.front(), scalars, panels_, [&](Offset first, Offset end, T* panels) {
    std::fill_n(panels, all.scalars(), T(0));
    T* top = panels + all.scalars();
    const auto join_two = [&] {
      top -= numbers;
      for (Offset k = 0; k < numbers; ++k) (top - numbers)[k] += top[k];
    };
    for (Offset group = first; group < end; ++group) {
      sum_group(u, v, hermitian, group, panels, top);
      top += numbers;
      for (Offset joined = group - first + 1; joined % 2 == 0; joined /= 2) join_two();
    }
    while (top > panels + all.scalars() + numbers) join_two();
    std::copy_n(panels + all.scalars(), numbers, partials_.data() + first / width * numbers);
  });
  for (Offset half = 1; half < parts; half *= 2) {
    for (Offset part = 0; part + half < parts; part += 2 * half) {
      T* const into = partials_.data() + part * numbers;
      for (Offset k = 0; k < numbers; ++k) into[k] += into[half * numbers + k];
    }
  }
  take_sums(partials_.data(), all.rows, result);
}

#define HEDDLE_BLOCK_OPERATIONS(S)                  \
  template class BlockOperations<Ring::real, S>;    \
  template class BlockOperations<Ring::complex, S>; \
  template class BlockOperations<Ring::quaternion, S>;
HEDDLE_BLOCK_OPERATIONS(float)
HEDDLE_BLOCK_OPERATIONS(double)
HEDDLE_IN_LONG_DOUBLE(HEDDLE_BLOCK_OPERATIONS(long double))
#undef HEDDLE_BLOCK_OPERATIONS

}  // namespace heddle::detail
