// A level's cycle on a CPU where entries are single real numbers in compressed rows: each product
// joins what follows it in the same rows.
#pragma once

#include <algorithm>
#include <array>
#include <memory>
#include <utility>

#include "heddle/detail/product_cpu.hpp"
#include "heddle/detail/sliced_jacobi.hpp"
#include "heddle/vector_operations.hpp"
#include "multigrid_parts.hpp"
#include "solvers/preconditioners/chebyshev_numbers.hpp"
#include "solvers/tiles/entry_tiles.hpp"
#include "solvers/tiles/number_rows.hpp"

namespace heddle::detail {

/// Whether the entries of such tiles, stored so, are the numbers of compressed rows, over fields of
/// single numbers.
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

/// A `LevelCycle` of that polynomial over Jacobi, and its bits: in seven walks in place of 19 for
/// degree 1.
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
    // Beside products 15 passes over fields and D^-1 for degree 1, of which r and z are the
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
    const FirstNumbers<S>& numbers = *numbers_;
    const S first = numbers[1].real(), kept = numbers[2].real(), added = numbers[3].real();
    const FieldView<S>&rest = rest_.view, &start = start_.view;
    const auto subtract = [](const S* from, const S* sums, S* to, Index count) {
      run_widely<S>([=] {
        for (Index i = 0; i < count; ++i) to[i] = from[i] - sums[i];
      });
    };
    // to = first D^-1 from
    const auto begin_smoothing = [&](const FieldView<const S>& from, const FieldView<S>& to,
                                     Index begin, Index end) {
      jacobi_->apply_rows(from, to, begin, end);
      run_widely<S>([=] {
        for (Index i = begin; i < end; ++i) to.data[i] *= first;
      });
    };
    const FieldView<S>& smoothed = degree_ == 0 ? z : start;
    for_each_product_group(groups_of(r.size), r.size, {}, stream, [&](Index group) {
      const Offset begin = Offset(group) * rows_of_group;
      begin_smoothing(r, smoothed, static_cast<Index>(begin),
                      static_cast<Index>(std::min<Offset>(r.size, begin + rows_of_group)));
    });
    if (degree_ == 1) {
      multiply(matrix_, start, stream, [&](Index begin, Index end, const S* sums) {
        subtract(r.data + begin, sums, rest.data + begin, end - begin);
        jacobi_->apply_rows(rest, z, begin, end);
        run_widely<S>([=, &z] {
          for (Index i = begin; i < end; ++i) z.data[i] = z.data[i] * added + start.data[i] * kept;
        });
      });
    }
    multiply(matrix_, z, stream, [&](Index begin, Index end, const S* sums) {
      subtract(r.data + begin, sums, rest.data + begin, end - begin);
    });
    multiply(restrict_, rest, stream, [&](Index begin, Index end, const S* sums) {
      std::copy(sums, sums + (end - begin), right_.view.data + begin);
    });
    coarse_->apply(right_.view, correction_.view, stream);
    multiply(interpolate_, correction_.view, stream, [&](Index begin, Index end, const S* sums) {
      for (Index i = begin; i < end; ++i) z.data[i] += sums[i - begin];
    });
    multiply(matrix_, z, stream, [&](Index begin, Index end, const S* sums) {
      subtract(r.data + begin, sums, rest.data + begin, end - begin);
      begin_smoothing(rest, start, begin, end);
    });
    if (degree_ == 0) return axpby<S>(S(1), start, S(1), z, stream);
    multiply(matrix_, start, stream, [&](Index begin, Index end, const S* sums) {
      subtract(rest.data + begin, sums, rest.data + begin, end - begin);
      jacobi_->apply_rows(rest, rest, begin, end);
      run_widely<S>([=, &z] {
        for (Index i = begin; i < end; ++i) {
          z.data[i] += rest.data[i] * added + start.data[i] * kept;
        }
      });
    });
  }

 private:
  /// `finish(begin, end, sums)` of A x for parts of its rows.
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
