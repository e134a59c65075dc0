// Operations on many fields at once: Gram matrices and linear combinations over a ring. On a CPU a
// group of rows stays in cache while all fields pass by it, so that each is one walk.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

#include "heddle/detail/groups.hpp"
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

/// All fields of a call are alike: those of one operator.
template <Ring R, class S>
class BlockOperations {
 public:
  using T = sum_t<S>;
  using Matrix = RingMatrix<R, T>;
  static constexpr int size = ring_size(R);
  /// Sums of so many parts of the rows are joined in a tree: fixed, so that threads change no bit.
  static constexpr Offset most_parts = 128;

  BlockOperations(Reduction<S>& reduction, const Stream& stream)
      : reduction_(reduction), stream_(stream) {}

  static long long bytes(int fields) {
    return most_parts * fields * fields * size * static_cast<long long>(sizeof(T));
  }

  /// U* V.
  Matrix gram(const FieldBlock<S>& u, const FieldBlock<S>& v) {
    Matrix result(static_cast<int>(u.size()), static_cast<int>(v.size()));
    if (u.empty() || v.empty()) return result;
    if (stream_.on_gpu()) {
      for (int j = 0; j < result.columns(); ++j) {
        for (int i = 0; i < result.rows(); ++i) {
          result(i, j) = dot<R, S>(at(u, i), at(v, j), reduction_, stream_);
        }
      }
      return result;
    }
    const Offset numbers = Offset(result.rows()) * result.columns() * size;
    const Offset groups = groups_of(u.front().size);
    const Offset parts = std::clamp<Offset>(groups, 1, most_parts);
    partials_.assign(static_cast<std::size_t>(parts * numbers), T(0));
    parallel_for(team_size(stream_, u.front().scalars()), parts, [&](Offset part) {
      T* const sums = partials_.data() + part * numbers;
      for (Offset group = part * groups / parts; group < (part + 1) * groups / parts; ++group) {
        add_products(u, v, static_cast<Index>(group), sums);
      }
    });
    for (Offset half = 1; half < parts; half *= 2) {
      for (Offset part = 0; part + half < parts; part += 2 * half) {
        T* const into = partials_.data() + part * numbers;
        for (Offset k = 0; k < numbers; ++k) into[k] += into[half * numbers + k];
      }
    }
    const T* from = partials_.data();
    for (int j = 0; j < result.columns(); ++j) {
      for (int i = 0; i < result.rows(); ++i, from += size) {
        std::copy_n(from, size, result(i, j).component);
      }
    }
    return result;
  }

  /// `to` = `from` C, or that is added to it; the two share no field.
  void combine(const FieldBlock<S>& from, const Matrix& c, const FieldBlock<S>& to,
               bool adds = false) {
    if (from.empty() || c.columns() == 0) return;
    if (stream_.on_gpu()) {
      for (int j = 0; j < c.columns(); ++j) {
        for (int i = 0; i < c.rows(); ++i) {
          const S kept = i > 0 || adds ? S(1) : S(0);
          axpby<S, R>(narrow(c(i, j)), at(from, i), Multiple::from_real(kept), at(to, j), stream_);
        }
      }
      return;
    }
    for_each_group(from.front(), stream_, [&](Index group) {
      const auto over_run = [&](const auto& run) {
        for (int j = 0; j < c.columns(); ++j) {
          S* const out = at(to, j).data;
          if (!adds) {
            for (Offset k = 0; k < run.count; ++k) set_element<R>(out, run, k, Multiple{});
          }
          for (int i = 0; i < c.rows(); ++i) add(at(from, i).data, narrow(c(i, j)), out, run);
        }
      };
      for_each_run<R>(from.front(), group, over_run);
    });
  }

 private:
  using Multiple = Coefficient<R, S>;

  static const FieldView<S>& at(const FieldBlock<S>& block, int i) {
    return block[static_cast<std::size_t>(i)];
  }
  static Multiple narrow(const Coefficient<R, T>& wide) {
    Multiple number;
    for (int k = 0; k < size; ++k) number.component[k] = static_cast<S>(wide.component[k]);
    return number;
  }

  template <class Run>
  static void add(const S* x, const Multiple& c, S* out, const Run& run) {
    for (Offset k = 0; k < run.count; ++k) {
      Multiple e = element<R>(out, run, k);
      add_multiple(e, element<R>(x, run, k), c);
      set_element<R>(out, run, k, e);
    }
  }

  static void add_products(const FieldBlock<S>& u, const FieldBlock<S>& v, Index group, T* sums) {
    const auto over_run = [&](const auto& run) {
      T* into = sums;
      for (const FieldView<S>& right : v) {
        for (const FieldView<S>& left : u) {
          const auto of_run = sum_over<T, size>(
              run.count,
              [&](Offset i, T* to) {
                add_inner_product(element<R>(left.data, run, i), element<R>(right.data, run, i),
                                  to);
              },
              [](Offset) {});
          for (const T sum : of_run) *into++ += sum;
        }
      }
    };
    for_each_run<R>(u.front(), group, over_run);
  }

  Reduction<S>& reduction_;
  Stream stream_;
  std::vector<T> partials_;
};

}  // namespace heddle::detail
