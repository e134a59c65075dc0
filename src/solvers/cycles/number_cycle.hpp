// A level's cycle on a CPU where entries are single real numbers in compressed rows: each product
// is fused with what follows it in the same rows.
#pragma once

#include <algorithm>
#include <array>
#include <memory>
#include <utility>

#include "heddle/detail/product_cpu.hpp"
#include "heddle/detail/sliced_jacobi.hpp"
#include "heddle/vector_operations.hpp"
#include "level_cycle.hpp"
#include "solvers/preconditioners/chebyshev_numbers.hpp"
#include "solvers/tiles/entry_tiles.hpp"
#include "solvers/tiles/number_rows.hpp"

namespace heddle::detail {

/// True if the matrix stores entries of such tiles as the numbers of compressed rows, over fields
/// of single numbers.
template <class S>
bool has_number_rows(const SlicedOperator<S>& matrix, const EntryTiles& tiles) {
  const SlicedPattern& pattern = matrix.pattern();
  return !matrix.device().on_gpu() && tiles.size == 1 && tiles.ring == 1 && is_in_order(tiles) &&
         matrix.row_components() == 1 && !matrix.entry().definition && !matrix.entry().is_encoded &&
         matrix.entry().sizes.stored_bytes == sizeof(S) && pattern.C == 1 &&
         pattern.target.empty() && &matrix.iterated() == &matrix;
}

/// a_0, b_0, a_1, b_1 of Chebyshev's polynomial of degree 0 or 1.
template <class S>
using FirstNumbers = std::array<Coefficient<Ring::real, S>, 4>;

/// A `LevelCycle` of that polynomial over Jacobi, with the same bits, in seven passes over the rows
/// in place of 19 for degree 1.
template <class S>
class NumberCycle final : public Preconditioner<S> {
 public:
  NumberCycle(const SlicedOperator<S>& matrix, std::shared_ptr<const FirstNumbers<S>> numbers,
              int degree, std::shared_ptr<const SlicedJacobi<S>> jacobi,
              const SlicedOperator<S>& interpolate, const SlicedOperator<S>& restricts,
              std::shared_ptr<Preconditioner<S>> coarse)
      : matrix_(matrix),
        interpolate_(interpolate),
        restrict_(restricts),
        numbers_(std::move(numbers)),
        degree_(degree),
        jacobi_(std::move(jacobi)),
        coarse_(std::move(coarse)),
        rest_(row_field_of<S>(matrix_)),
        start_(row_field_of<S>(matrix_)),
        right_(column_field_of<S>(interpolate_)),
        correction_(column_field_of<S>(interpolate_)) {}

  std::optional<FieldShape> shape() const override { return shape_of<S>(matrix_); }
  bool is_constant() const override { return coarse_->is_constant(); }
  long long bytes_of_application() const override {
    // Apart from products, 15 passes over fields and D^-1 for degree 1, of which r and z are the
    // caller's.
    const int passes = degree_ == 0 ? 9 : 13;
    return 2 * (1 + degree_) * matrix_.bytes_of_product() + interpolate_.bytes_of_product() +
           restrict_.bytes_of_product() + coarse_->bytes_of_application() +
           passes * bytes_of_field<S>(matrix_);
  }

  void apply(const FieldView<const S>& r, const FieldView<S>& z,
             const Stream& stream) const override {
    check_fields(r, z, rest_.view, "multigrid");
    if (r.entry_stride != 1 || z.entry_stride != 1) {
      throw Error(ErrorKind::size_mismatch,
                  "multigrid: the fields differ in layout; copy one first");
    }
    cycle_level(Steps{*this, r, z, with_share(stream, nullptr)});
  }

 private:
  struct Steps {
    const NumberCycle& level;
    const FieldView<const S>& r;
    const FieldView<S>& z;
    Stream stream;
    S first = (*level.numbers_)[1].real();
    S kept = (*level.numbers_)[2].real();
    S added = (*level.numbers_)[3].real();

    bool is_of_degree_0() const { return level.degree_ == 0; }
    const FieldView<S>& rest() const { return level.rest_.view; }
    const FieldView<S>& start() const { return level.start_.view; }

    void smooth() const {
      const FieldView<S>& smoothed = is_of_degree_0() ? z : start();
      for_each_product_group(groups_of(r.size), r.size, {}, stream, [&](Index group) {
        const Offset begin = Offset(group) * rows_of_group;
        begin_smoothing(r, smoothed, static_cast<Index>(begin),
                        static_cast<Index>(std::min<Offset>(r.size, begin + rows_of_group)));
      });
      if (is_of_degree_0()) return;
      level.multiply(level.matrix_, start(), stream, [&](Index begin, Index end, const S* sums) {
        subtract(r, sums, begin, end);
        level.jacobi_->apply_rows(rest(), z, begin, end);
        S* const to = z.data;
        const S *const from = start().data, more = added, old = kept;
        run_widely<S>([=] {
          for (Index i = begin; i < end; ++i) to[i] = to[i] * more + from[i] * old;
        });
      });
    }
    void subtract() const {
      level.multiply(level.matrix_, z, stream,
                     [&](Index begin, Index end, const S* sums) { subtract(r, sums, begin, end); });
    }
    void restrict_rest() const {
      level.multiply(level.restrict_, rest(), stream, [&](Index begin, Index end, const S* sums) {
        std::copy(sums, sums + (end - begin), level.right_.view.data + begin);
      });
    }
    void solve_coarse() const {
      level.coarse_->apply(level.right_.view, level.correction_.view, stream);
    }
    void interpolate() const {
      level.multiply(level.interpolate_, level.correction_.view, stream,
                     [&](Index begin, Index end, const S* sums) {
                       for (Index i = begin; i < end; ++i) z.data[i] += sums[i - begin];
                     });
    }
    void smooth_again() const {
      level.multiply(level.matrix_, z, stream, [&](Index begin, Index end, const S* sums) {
        subtract(r, sums, begin, end);
        begin_smoothing(rest(), start(), begin, end);
      });
      if (is_of_degree_0()) return axpby<S>(S(1), start(), S(1), z, stream);
      level.multiply(level.matrix_, start(), stream, [&](Index begin, Index end, const S* sums) {
        subtract(rest(), sums, begin, end);
        level.jacobi_->apply_rows(rest(), rest(), begin, end);
        S* const to = z.data;
        const S *const last = rest().data, *const from = start().data, more = added, old = kept;
        run_widely<S>([=] {
          for (Index i = begin; i < end; ++i) to[i] += last[i] * more + from[i] * old;
        });
      });
    }

    /// rest = from - A x in rows whose sums are those of A x.
    void subtract(const FieldView<const S>& from, const S* sums, Index begin, Index end) const {
      const S* const minuend = from.data + begin;
      S* const to = rest().data + begin;
      run_widely<S>([=, count = end - begin] {
        for (Index i = 0; i < count; ++i) to[i] = minuend[i] - sums[i];
      });
    }
    /// to = first D^-1 from
    void begin_smoothing(const FieldView<const S>& from, const FieldView<S>& to, Index begin,
                         Index end) const {
      level.jacobi_->apply_rows(from, to, begin, end);
      run_widely<S>([numbers = to.data, factor = first, begin, end] {
        for (Index i = begin; i < end; ++i) numbers[i] *= factor;
      });
    }
  };

  /// Calls `finish(begin, end, sums)` with the sums of A x for parts of its rows.
  template <class Finish>
  void multiply(const SlicedOperator<S>& matrix, const FieldView<const S>& x, const Stream& stream,
                const Finish& finish) const {
    constexpr Offset entries_at_once = 4096;
    const SlicedPattern& pattern = matrix.pattern();
    const Index rows = pattern.rows;
    const Offset length = pattern.entries / std::max<Index>(rows, 1) + 1;
    const auto at_once =
        static_cast<Index>(std::clamp<Offset>(entries_at_once / length, 16, rows_of_group));
    const auto* const values = reinterpret_cast<const S*>(matrix.stored_values().data());
    const int team = team_size(stream, pattern.entries);
    parallel_for(team, (rows + at_once - 1) / at_once, [&](Index part) {
      const Index begin = part * at_once, end = std::min(begin + at_once, rows);
      S sums[rows_of_group];
      const NumberRows<S> own{pattern.offset.data(), columns_of_rows(pattern, begin, end, 0),
                              values};
      sum_rows(own, x.data, begin, end, sums);
      finish(begin, end, sums);
    });
  }

  SlicedOperator<S> matrix_, interpolate_, restrict_;
  std::shared_ptr<const FirstNumbers<S>> numbers_;
  int degree_;
  std::shared_ptr<const SlicedJacobi<S>> jacobi_;
  std::shared_ptr<Preconditioner<S>> coarse_;
  OperatorField<S> rest_, start_, right_, correction_;
};

}  // namespace heddle::detail
