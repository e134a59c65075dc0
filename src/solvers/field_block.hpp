// Operations on many fields at once: Gram matrices and linear combinations over a ring. On a CPU a
// tile of rows stays in cache while all fields pass by it, so that each is one walk. On a GPU each
// is one launch. Sums over groups of 256 rows are joined in the tree of `Reduction` on a CPU and
// wherever ranks share the rows.
#pragma once

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <cstddef>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "field_block_cuda.hpp"
#include "field_panel.hpp"
#include "heddle/config.hpp"
#include "heddle/detail/groups.hpp"
#include "heddle/linear_operator.hpp"
#include "heddle/vector_operations.hpp"
#include "ring_matrix.hpp"

namespace heddle::detail {

template <class S>
using FieldBlock = std::vector<FieldView<S>>;

/// The fields of one after those of the other.
template <class S>
FieldBlock<S> joined(FieldBlock<S> a, std::span<const FieldView<S>> b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

/// The first fields of a block.
template <class S>
FieldBlock<S> first(const FieldBlock<S>& block, int count) {
  return {block.begin(), block.begin() + count};
}

/// Owns zero fields in an operator's basis and layout.
template <class S>
class FieldStore {
 public:
  FieldBlock<S> make(const LinearOperator<S>& matrix, int count) {
    FieldBlock<S> fields;
    const auto scalars =
        static_cast<std::size_t>(matrix.rows()) * static_cast<std::size_t>(matrix.row_components());
    for (int k = 0; k < count; ++k) {
      storage_.emplace_back(scalars, matrix.device());
      fields.push_back({storage_.back().data(), matrix.rows(), matrix.row_components(),
                        matrix.vector_layout(), matrix.row_basis()});
    }
    return fields;
  }

 private:
  std::vector<Array<S>> storage_;
};

/// The images of the first `count` fields, one product each.
template <class S>
void multiply_block(const LinearOperator<S>& by, const FieldBlock<S>& from, const FieldBlock<S>& to,
                    int count, Reduction<S>& reduction, const Stream& stream) {
  const std::vector<FieldView<const S>> x(from.begin(), from.begin() + count);
  constexpr int most = Reduction<S>::width;
  for (int first = 0; first < count; first += most) {
    const auto place = static_cast<std::size_t>(first);
    const auto taken = static_cast<std::size_t>(std::min(most, count - first));
    by.apply_all(std::span(x).subspan(place, taken), std::span(to).subspan(place, taken), {},
                 reduction, stream);
  }
}

/// All fields of a call are alike: those of one operator.
template <Ring R, class S>
class BlockOperations {
 public:
  using T = sum_t<S>;
  using Matrix = RingMatrix<R, T>;
  static constexpr int size = ring_size(R);
  /// Of the rows of one process, subtrees that threads share.
  static constexpr Offset most_parts = 128;

  /// Of blocks that have up to so many fields.
  BlockOperations(Reduction<S>& reduction, const Stream& stream, int fields)
      : reduction_(reduction), stream_(stream) {
    if (!stream.on_gpu()) return;
    const Offset numbers = numbers_on_gpu(fields);
    const Offset partials = partials_on_gpu(numbers, reduction.rows(), stream);
    on_gpu_ = Array<double>(static_cast<std::size_t>(numbers + partials), reduction.device());
    coefficients_ = Array<S>(static_cast<std::size_t>(numbers), reduction.device());
    fetched_.resize(static_cast<std::size_t>(numbers));
  }

  /// Of blocks of fields that have so many rows.
  static long long bytes(int fields, Index rows, const Stream& stream) {
    if (stream.on_gpu()) {
      const Offset numbers = numbers_on_gpu(fields);
      return (numbers + partials_on_gpu(numbers, rows, stream)) *
                 static_cast<long long>(sizeof(double)) +
             numbers * static_cast<long long>(sizeof(S));
    }
    const Offset numbers = Offset(fields + 4) * (fields + 2) * size;
    const Offset parts = stream.share != nullptr ? groups_of(rows) : most_parts;
    return parts * numbers * static_cast<long long>(sizeof(T));
  }

  /// U* V, which may be known to be Hermitian.
  Matrix gram(const FieldBlock<S>& u, const FieldBlock<S>& v, bool hermitian = false) {
    Matrix result(static_cast<int>(u.size()), static_cast<int>(v.size()));
    gram(u, v, hermitian, result);
    return result;
  }
  /// The same into a matrix of that size. From the second time on it allocates nothing.
  void gram(const FieldBlock<S>& u, const FieldBlock<S>& v, bool hermitian, Matrix& result) {
    if (u.empty() || v.empty()) return;
    if (stream_.on_gpu()) {
      fetch_products(u, v, hermitian, result);
    } else {
      sum_products(u, v, hermitian, result);
    }
    for (int j = 0; hermitian && j < result.columns(); ++j) {
      for (int i = 0; i < j; ++i) result(j, i) = conj(result(i, j));
    }
  }

  /// Over all components.
  std::vector<T> norms(std::span<const FieldView<S>> fields) {
    std::vector<T> norms(fields.size());
    if (stream_.on_gpu()) {
      if constexpr (has_kernels) {
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

  /// The first columns of `block` = `block` C, and what was there is in `spare`.
  void transform(FieldBlock<S>& block, const Matrix& c, FieldBlock<S>& spare) {
    combine(first(block, c.rows()), c, first(spare, c.columns()));
    for (int k = 0; k < c.columns(); ++k) {
      std::swap(block[static_cast<std::size_t>(k)], spare[static_cast<std::size_t>(k)]);
    }
  }

  /// `to` = `from` C, or that is added to it; the two share no field. From the second time on it
  /// allocates nothing.
  void combine(const FieldBlock<S>& from, const Matrix& c, const FieldBlock<S>& to,
               bool adds = false) {
    if (from.empty() || c.columns() == 0) return;
    numbers_.clear();
    for (int j = 0; j < c.columns(); ++j) {
      for (int i = 0; i < c.rows(); ++i) {
        for (const T component : c(i, j).component) numbers_.push_back(static_cast<S>(component));
      }
    }
    if (stream_.on_gpu()) {
      if constexpr (has_kernels) {
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
        for_each_tile(
            from.front(), group, Panel::width, [&](const auto& run, Offset first, int count) {
              pack_all<S>(from, run, first, count, panels);
              combination(panels, c.rows(), numbers_.data(), c.columns(), out);
              for (int j = 0; j < c.columns(); ++j) {
                Panel::unpack(out + j * Panel::scalars, run, first, count, at(to, j).data, adds);
              }
            });
      }
    });
  }

 private:
  static constexpr bool has_kernels = has_cuda && !std::is_same_v<S, long double>;
  static Offset numbers_on_gpu(int fields) { return Offset(fields) * fields * size; }
  static Offset partials_on_gpu([[maybe_unused]] Offset numbers, [[maybe_unused]] Index rows,
                                [[maybe_unused]] const Stream& stream) {
    if constexpr (has_kernels) {
      return stream.share != nullptr ? groups_of(rows) * numbers : cuda::partials_of_block(numbers);
    }
    return 0;
  }
  double* partials() { return on_gpu_.data() + fetched_.size(); }

  static const FieldView<S>& at(const FieldBlock<S>& block, int i) {
    return block[static_cast<std::size_t>(i)];
  }
  /// Groups of a part: a subtree of the tree over all groups, so that joins of parts are the rest
  /// of that tree.
  static Offset groups_of_part(Offset groups) {
    Offset width = 1;
    while (width * most_parts < groups) width *= 2;
    return width;
  }
  /// Calls `act(first, end, memory)` for the groups of every part of the rows, where `memory` is so
  /// many scalars of the thread's own.
  template <class P, class Act>
  void for_each_part(const FieldView<S>& field, std::size_t scalars, std::vector<P>& memory,
                     const Act& act) {
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
  /// `body(run, first, count)` for tiles of the elements of a group.
  template <class Body>
  static void for_each_tile(const FieldView<S>& field, Offset group, int width, const Body& body) {
    const auto over_run = [&](const auto& run) {
      for (Offset first = 0; first < run.count; first += width) {
        body(run, first, static_cast<int>(std::min<Offset>(width, run.count - first)));
      }
    };
    for_each_run<R>(field, static_cast<Index>(group), over_run);
  }
  template <class P, class Run>
  static void pack_all(const FieldBlock<S>& fields, const Run& run, Offset first, int count,
                       P* panels) {
    for (const FieldView<S>& field : fields) {
      Panels<R, P>::pack(field.data, run, first, count, panels);
      panels += Panels<R, P>::scalars;
    }
  }

  /// The first numbers; waits for what was queued.
  void fetch(std::size_t count) {
    copy_bytes(fetched_.data(), on_gpu_.data(), count * sizeof(double), stream_);
  }
  /// The same of partial sums of this rank's groups.
  void join(std::size_t count) {
    stream_.share->join_on_gpu(partials(), static_cast<int>(count), fetched_.data(),
                               RowShare::Join::sum, stream_);
  }
  void fetch_products(const FieldBlock<S>& u, const FieldBlock<S>& v, bool hermitian,
                      Matrix& result) {
    if constexpr (has_kernels) {
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

  void sum_products(const FieldBlock<S>& u, const FieldBlock<S>& v, bool hermitian,
                    Matrix& result) {
    using Panel = Panels<R, T>;
    const int rows = Panel::padded(result.rows(), Panel::rows_at_once);
    const int columns = Panel::padded(result.columns(), Panel::columns_at_once);
    const Offset numbers = Offset(rows) * columns * size;
    const auto panels_of_all = static_cast<std::size_t>(rows + columns) * Panel::scalars;
    const Offset groups = groups_of(u.front().size), width = groups_of_part(groups);
    const auto add_products = products_of_panels<R, T>();
    // Panels that fill the last step are zero.
    const auto sum_group = [&](Offset group, T* panels, T* sums) {
      T* const right = panels + rows * Panel::scalars;
      std::fill_n(sums, numbers, T(0));
      for_each_tile(u.front(), group, Panel::width, [&](const auto& run, Offset first, int count) {
        pack_all<T>(u, run, first, count, panels);
        pack_all<T>(v, run, first, count, right);
        add_products(panels, rows, right, columns, hermitian, sums);
      });
    };
    if (RowShare* const share = stream_.share) {
      partials_.resize(std::max(partials_.size(), static_cast<std::size_t>(groups * numbers)));
      for_each_part(u.front(), panels_of_all, panels_, [&](Offset first, Offset end, T* panels) {
        std::fill_n(panels, panels_of_all, T(0));
        for (Offset group = first; group < end; ++group) {
          sum_group(group, panels, partials_.data() + group * numbers);
        }
      });
      joined_.resize(static_cast<std::size_t>(numbers));
      share->join(partials_.data(), static_cast<int>(numbers), static_cast<int>(numbers),
                  joined_.data(), RowShare::Join::sum);
      take_sums(joined_.data(), rows, result);
      return;
    }
    const Offset parts = std::max<Offset>(1, (groups + width - 1) / width);
    partials_.assign(static_cast<std::size_t>(parts * numbers), T(0));
    // Of a part, sums of subtrees that are whole, each larger than the next.
    const auto levels = static_cast<std::size_t>(std::bit_width(static_cast<std::size_t>(width)));
    const std::size_t scalars = panels_of_all + (levels + 1) * static_cast<std::size_t>(numbers);
    for_each_part(u.front(), scalars, panels_, [&](Offset first, Offset end, T* panels) {
      std::fill_n(panels, panels_of_all, T(0));
      T* top = panels + panels_of_all;
      const auto join_two = [&] {
        top -= numbers;
        for (Offset k = 0; k < numbers; ++k) (top - numbers)[k] += top[k];
      };
      for (Offset group = first; group < end; ++group) {
        sum_group(group, panels, top);
        top += numbers;
        for (Offset behind = group - first + 1; behind % 2 == 0; behind /= 2) join_two();
      }
      while (top > panels + panels_of_all + numbers) join_two();
      std::copy_n(panels + panels_of_all, numbers, partials_.data() + first / width * numbers);
    });
    for (Offset half = 1; half < parts; half *= 2) {
      for (Offset part = 0; part + half < parts; part += 2 * half) {
        T* const into = partials_.data() + part * numbers;
        for (Offset k = 0; k < numbers; ++k) into[k] += into[half * numbers + k];
      }
    }
    take_sums(partials_.data(), rows, result);
  }
  /// From columns of so many numbers.
  static void take_sums(const T* sums, int rows, Matrix& result) {
    for (int j = 0; j < result.columns(); ++j) {
      const T* const from = sums + Offset(j) * rows * size;
      for (int i = 0; i < result.rows(); ++i) {
        std::copy_n(from + i * size, size, result(i, j).component);
      }
    }
  }

  Reduction<S>& reduction_;
  Stream stream_;
  std::vector<T> partials_, panels_;  // panels of each thread
  std::vector<T> joined_;             // over all ranks
  std::vector<S> packed_, numbers_;
  Array<double> on_gpu_;  // numbers of a Gram matrix, and their partial sums
  Array<S> coefficients_;
  std::vector<double> fetched_;
};

}  // namespace heddle::detail
