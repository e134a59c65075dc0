// The basis of a method on a CPU. A group of 256 rows of the vector stays in cache while the
// vectors of the basis stream past it: one pass over the basis subtracts their multiples and sums
// the products with what is left. A second round of Gram-Schmidt follows if the first leaves too
// much of V, according to an estimate that tracks V* V from vector to vector (Simon 1984, "The
// Lanczos algorithm with partial reorthogonalization", section 3).
#include "host_basis.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/long_double.hpp"
#include "heddle/detail/groups.hpp"
#include "heddle/detail/wide_loop.hpp"
#include "heddle/methods/listing.hpp"

namespace heddle::detail {
namespace {

/// V: the scalar in which the vectors of the basis are stored; all other numbers are S or wider.
template <Ring R, class S, class V>
class BasisOf final : public HostBasis<S> {
 public:
  static constexpr int size = ring_size(R);
  using T = sum_t<S>;
  using Number = Coefficient<R, T>;

  BasisOf(const BasisStorage& storage, bool is_flexible, long long kept, Index rows,
          const Stream& stream)
      : storage_(storage),
        first_combined_(is_flexible ? storage.most : 0),
        stream_(stream),
        reduction_(rows, Device::cpu().sharing(stream.share), storage.most * size + 1),
        sums_(static_cast<std::size_t>(storage.most * size + 1)),
        column_(static_cast<std::size_t>(storage.most)),
        multiples_(column_.size()),
        overlaps_(column_.size() * (column_.size() + 1) + 1),
        kept_(static_cast<std::size_t>(kept)) {
    basis_.most = storage.most;
    basis_.column = column_.data();
    basis_.kept = kept_.data();
  }

  void clear() override { basis_.count = 0; }
  void* numbers() override { return &basis_; }

  void orthogonalize(const FieldView<S>& from) override {
    const int count = basis_.count;
    std::fill(column_.begin(), column_.end(), Number{});
    pass<false>(from, count);
    const T first = take_multiples();
    const T left = sums_[static_cast<std::size_t>(count * size)] - first;
    const T norm = std::sqrt(left);
    const T growth = std::sqrt(first / left + 1);  // |w| / norm
    if (overlap_of_next(norm, rounding * growth) <= max_lost) {
      basis_.norm = norm;
    } else {
      pass<true>(from, count);
      const T second = take_multiples();
      basis_.norm =
          norm_left(sums_[static_cast<std::size_t>(count * size)], second, first + second);
      for (int i = 0; i <= count; ++i) overlap(i, count) = Number::from_real(rounding);
    }
  }

  /// V_count = (from - V multiples) / norm.
  void append(const FieldView<S>& from, [[maybe_unused]] const FieldView<S>& to) override {
    const int count = basis_.count;
    const S factor = basis_.norm > 0 ? static_cast<S>(1 / basis_.norm) : S(0);
    V* const newest = vector(count);
    S* worked_on = nullptr;
    if constexpr (stores_own) {
      worked_on = newest;
    } else {
      worked_on = to.data;
    }
    for_each_group(from, stream_, [&](Index group) {
      const auto over_run = [&](const auto& run) {
        subtract(run, from.data, worked_on, count);
        const S* const left = count > 0 ? worked_on : from.data;
        HEDDLE_TURNS_APART
        for (Offset i = 0; i < run.count; ++i) {
          Multiple e = element<R>(left, run, i);
          for (S& c : e.component) c *= factor;
          if constexpr (!stores_own) e = keep(newest, run, i, e);
          set_element<R>(worked_on, run, i, e);
        }
      };
      run_widely_fused<S>([&] { for_each_run<R>(from, group, over_run); });
    });
    ++basis_.count;
  }

  bool is_in_place() const override { return stores_own; }
  S* newest() const override { return in_place(basis_.count - 1); }
  S* preconditioned() const override { return in_place(storage_.most + basis_.count - 1); }
  void keep_preconditioned(const FieldView<S>& z) override {
    V* const kept = vector(storage_.most + basis_.count - 1);
    for_each_group(z, stream_, [&](Index group) {
      const auto over_run = [&](const auto& run) {
        for (Offset i = 0; i < run.count; ++i) {
          set_element<R>(z.data, run, i, keep(kept, run, i, element<R>(z.data, run, i)));
        }
      };
      run_widely_fused<S>([&] { for_each_run<R>(z, group, over_run); });
    });
  }

  void combine(const FieldView<S>& to) override {
    for (int k = 0; k < basis_.count; ++k) {
      multiples_[static_cast<std::size_t>(k)] = narrow(-column_[static_cast<std::size_t>(k)]);
    }
    for_each_group(to, stream_, [&](Index group) {
      const auto over_run = [&](const auto& run) {
        for (Offset i = 0; i < run.count; ++i) set_element<R>(to.data, run, i, Multiple{});
        subtract(run, to.data, to.data, basis_.count, first_combined_);
      };
      run_widely_fused<S>([&] { for_each_run<R>(to, group, over_run); });
    });
  }

 private:
  using Multiple = Coefficient<R, S>;
  static constexpr bool stores_own = std::is_same_v<S, V>;
  static constexpr T rounding = 4 * std::numeric_limits<V>::epsilon();
  /// Bound on the estimate of |V* V - 1|. The residual that decisions know is off by as much,
  /// relatively.
  static constexpr T max_lost = sizeof(V) == 4 ? 0x1p-14 : 0x1p-33;
  /// Number of basis vectors whose multiples are subtracted together.
  static constexpr int abreast = size == 4 ? 2 : 4;

  V* vector(int k) const { return static_cast<V*>(storage_.data) + k * storage_.stride; }
  S* in_place([[maybe_unused]] int k) const {
    if constexpr (stores_own) {
      return vector(k);
    } else {
      return nullptr;
    }
  }
  template <class Run>
  static Multiple stored(const V* v, const Run& run, Offset i) {
    Multiple wide;
    for (int c = 0; c < size; ++c) wide.component[c] = static_cast<S>(v[run.at(i, c)]);
    return wide;
  }
  /// Stores e, and returns it as stored.
  template <class Run>
  static Multiple keep(V* v, const Run& run, Offset i, Multiple e) {
    for (int c = 0; c < size; ++c) {
      const V kept = static_cast<V>(e.component[c]);
      v[run.at(i, c)] = kept;
      e.component[c] = static_cast<S>(kept);
    }
    return e;
  }

  static Multiple narrow(const Number& wide) {
    Multiple number;
    for (int k = 0; k < size; ++k) number.component[k] = static_cast<S>(wide.component[k]);
    return number;
  }
  Number number_at(int k) const {
    Number number;
    for (int c = 0; c < size; ++c) {
      number.component[c] = sums_[static_cast<std::size_t>(k * size + c)];
    }
    return number;
  }
  /// Takes the sums as the multiples that the next pass subtracts, and adds them to the column.
  /// Returns their size squared.
  T take_multiples() {
    T squared = 0;
    for (int k = 0; k < basis_.count; ++k) {
      const auto at = static_cast<std::size_t>(k);
      multiples_[at] = narrow(number_at(k));
      for (int c = 0; c < size; ++c) column_[at].component[c] += number_at(k).component[c];
      squared += squared_norm(number_at(k));
    }
    return squared;
  }
  Number& overlap(int i, int k) {
    return overlaps_[static_cast<std::size_t>(k) * column_.size() + static_cast<std::size_t>(i)];
  }
  /// Estimates V* v - e for the vector v = (w - V h) / norm that one round leaves, where h = V* w,
  /// and returns the size of the estimate: (1 - V* V) h / norm, and for v* v, since `norm` comes
  /// from Pythagoras, h* (V* V - 1) h / norm^2. Rounding of size `relative` is added to each in the
  /// direction that it has.
  T overlap_of_next(T norm, T relative) {
    const int count = basis_.count;
    T squared = 0, own = 0;
    for (int i = 0; i < count; ++i) {
      Number sum = {};
      for (int k = 0; k < count; ++k) {
        const Number product = (k < i ? conj(overlap(k, i)) : overlap(i, k)) * number_at(k);
        for (int c = 0; c < size; ++c) sum.component[c] -= product.component[c];
      }
      const Number h = number_at(i);
      for (int c = 0; c < size; ++c) own -= h.component[c] * sum.component[c];
      const T length = std::sqrt(squared_norm(sum));
      const T grown = length / norm + relative;
      Number& next = overlap(i, count);
      next = Number::from_real(grown);
      if (length > 0) {
        for (int c = 0; c < size; ++c) next.component[c] = sum.component[c] * (grown / length);
      }
      squared += grown * grown;
    }
    own /= norm * norm;
    own += std::copysign(relative * relative / rounding, own);
    overlap(count, count) = Number::from_real(own);
    return std::sqrt(squared + own * own);
  }
  /// The norm by Pythagoras, before the second multiples are subtracted. They are rounding compared
  /// with the vector, unless nothing but rounding was left of it.
  static T norm_left(T squared, T second, T whole) {
    const T left = squared - second;
    return left > rounding * rounding * whole ? std::sqrt(left) : left - left;
  }

  /// to = w less the `count` vectors from `first` on times their multiples; does nothing if there
  /// are none.
  template <class Run>
  void subtract(const Run& run, const S* w, S* to, int count, int first = 0) const {
    int k = 0;
    for (; k + abreast <= count; k += abreast) {
      subtract_some<abreast>(run, std::exchange(w, to), to, k, first);
    }
    for (; k < count; ++k) subtract_some<1>(run, std::exchange(w, to), to, k, first);
  }
  /// Subtracts the k-th vector and those after it, in one pass over w.
  template <int vectors, class Run>
  void subtract_some(const Run& run, const S* w, S* to, int k, int first) const {
    const V* v[vectors];
    Multiple c[vectors];
    for (int j = 0; j < vectors; ++j) {
      v[j] = vector(first + k + j);
      c[j] = -multiples_[static_cast<std::size_t>(k + j)];
    }
    HEDDLE_TURNS_APART
    for (Offset i = 0; i < run.count; ++i) {
      Multiple e = element<R>(w, run, i);
      for (int j = 0; j < vectors; ++j) add_multiple(e, stored(v[j], run, i), c[j]);
      set_element<R>(to, run, i, e);
    }
  }

  /// sums += V* w. Real numbers are summed vector by vector, which compilers vectorize; for larger
  /// numbers, several vectors share what is read of w.
  template <class Run>
  void add_products(const Run& run, const S* w, int count, T* sums) const {
    constexpr int together = size == 1 ? 1 : abreast;
    int k = 0;
    for (; k + together <= count; k += together) add_some<together>(run, w, k, sums);
    for (; k < count; ++k) add_some<1>(run, w, k, sums);
  }
  template <int vectors, class Run>
  void add_some(const Run& run, const S* w, int k, T* sums) const {
    const V* v[vectors];
    for (int j = 0; j < vectors; ++j) v[j] = vector(k + j);
    const auto of_run = sum_over<T, vectors * size>(
        run.count,
        [&](Offset i, T* into) {
          const Multiple e = element<R>(w, run, i);
          for (int j = 0; j < vectors; ++j) {
            add_inner_product(stored(v[j], run, i), e, into + j * size);
          }
        },
        [](Offset) {});
    for (int c = 0; c < vectors * size; ++c) {
      sums[k * size + c] += of_run[static_cast<std::size_t>(c)];
    }
  }

  /// from -= V multiples if `subtracts`; then sums V* from, followed by |from|^2.
  template <bool subtracts>
  void pass(const FieldView<S>& from, int count) {
    for_each_group(from, stream_, [&](Index group) {
      T* const sums = reduction_.partials(group);
      std::fill_n(sums, count * size + 1, T(0));
      const auto over_run = [&](const auto& run) {
        if constexpr (subtracts) subtract(run, from.data, from.data, count);
        add_products(run, from.data, count, sums);
        sums[Offset(count) * size] += sum_over<T, 1>(
            run.count,
            [&](Offset i, T* into) {
              for (const S c : element<R>(from.data, run, i).component) *into += T(c) * T(c);
            },
            [](Offset) {})[0];
      };
      run_widely_fused<S>([&] { for_each_run<R>(from, group, over_run); });
    });
    reduction_.finish(count * size + 1, sums_.data());
  }

  BasisStorage storage_;
  int first_combined_;  // first of the vectors that a solution is formed from
  Stream stream_;
  Reduction<S> reduction_;
  std::vector<T> sums_;
  std::vector<Number> column_;
  std::vector<Multiple> multiples_;
  std::vector<Number> overlaps_;  // <v_i, v_k> for i < k, as estimated
  std::vector<Number> kept_;
  methods::Basis<Number> basis_;
};

template <Ring R, class S, class... Arguments>
std::unique_ptr<HostBasis<S>> basis_of(const BasisStorage& storage, const Arguments&... arguments) {
  if constexpr (std::is_same_v<S, double>) {
    if (storage.scalar_bytes == sizeof(float)) {
      return std::make_unique<BasisOf<R, S, float>>(storage, arguments...);
    }
  }
  return std::make_unique<BasisOf<R, S, S>>(storage, arguments...);
}

}  // namespace

template <class S>
std::unique_ptr<HostBasis<S>> make_host_basis(Ring ring, const BasisStorage& storage,
                                              bool is_flexible, long long kept, Index rows,
                                              const Stream& stream) {
  switch (ring) {
    case Ring::complex:
      return basis_of<Ring::complex, S>(storage, is_flexible, kept, rows, stream);
    case Ring::quaternion:
      return basis_of<Ring::quaternion, S>(storage, is_flexible, kept, rows, stream);
    default:
      return basis_of<Ring::real, S>(storage, is_flexible, kept, rows, stream);
  }
}

template std::unique_ptr<HostBasis<float>> make_host_basis(Ring, const BasisStorage&, bool,
                                                           long long, Index, const Stream&);
template std::unique_ptr<HostBasis<double>> make_host_basis(Ring, const BasisStorage&, bool,
                                                            long long, Index, const Stream&);
HEDDLE_IN_LONG_DOUBLE(template std::unique_ptr<HostBasis<long double>> make_host_basis(
                          Ring, const BasisStorage&, bool, long long, Index, const Stream&);)

}  // namespace heddle::detail
