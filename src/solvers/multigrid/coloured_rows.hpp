// Rows of a matrix of tiles by colours, and Gauss-Seidel's iteration over them.
#pragma once

#include <algorithm>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "fields/vector_operations_cuda.hpp"
#include "heddle/config.hpp"
#include "heddle/detail/sliced_operator.hpp"
#include "solvers/operators/applies_in_graph.hpp"
#include "solvers/operators/operator_field.hpp"
#include "solvers/preconditioners/preconditioner_fields.hpp"
#include "solvers/tiles/tile_matrix.hpp"

namespace heddle::detail {

/// D^-1 (A - D) in the order of the colours, a matrix for each: no entry connects rows of the same
/// colour.
struct ColouredRows {
  /// The user's row at each place, colour by colour; the first place of each colour, and the end.
  Array<Index> row;
  std::vector<Index> begin;
  std::vector<TileMatrix> of_colour;  // columns are places
  std::vector<Array<Offset>> from;    // A's entry for each entry of these matrices
  int count() const { return static_cast<int>(of_colour.size()); }
  long long bytes() const;
};

/// Each row, in order, gets the lowest colour that no row connected to it has, so that the colours
/// depend on the pattern alone. Without any colour if more than `most` are needed. Without values
/// yet.
ColouredRows colour_rows(const TileMatrix& a, int most);

/// Computes the values of `rows`, with the inverses of the diagonal's tiles.
void scale_rows(const TileMatrix& a, const UnsetArray<double>& inverses, ColouredRows& rows,
                const Stream& host);

/// The same matrix in the user's numbering of rows and columns, with entries in the order of their
/// places.
TileMatrix in_user_rows(const ColouredRows& rows);
/// Only the pattern of a matrix with one entry in each of the user's rows, in the column with the
/// number of the row's colour.
TileMatrix colour_of_rows(const ColouredRows& rows);

/// M = D plus, in each row, the sum of the off-diagonal Frobenius norms: 1 - M^-1 A has no
/// eigenvalue below 0. `m` gets M as tiles of a diagonal matrix, which it may already hold.
void l1_diagonal(const TileMatrix& a, TileMatrix& m, const Stream& host);

/// The data that forward and backward sweeps over one matrix share.
template <class S>
struct ColouredOperators {
  std::vector<Index> begin;
  std::vector<std::shared_ptr<SlicedOperator<S>>> of_colour;
  std::shared_ptr<Preconditioner<S>> jacobi;
  std::shared_ptr<const Basis> basis;  // order of the places
  OperatorField<S> scaled;             // D^-1 r in the basis of the matrix
  Array<S> right, result;              // in the basis of the places, row by row
  Array<S> image;                      // for one colour: products on a GPU write to its beginning
  /// If ranks share the rows: brings other ranks' results for a colour into `result`.
  std::function<void(std::size_t colour, const Stream& stream)> exchange;

  /// `row`: the user's row at each place. `halo`: other ranks' rows, after the places in `result`.
  ColouredOperators(const LinearOperator<S>& matrix, std::shared_ptr<Preconditioner<S>> jacobi,
                    const Array<Index>& row, std::vector<Index> begin_of_colour, Index halo = 0)
      : begin(std::move(begin_of_colour)),
        jacobi(std::move(jacobi)),
        basis(Basis::from_order(row, Device::cpu())),
        scaled(row_field_of<S>(matrix)),
        right(scaled.scalars.size(), matrix.device()),
        result(scaled.scalars.size() + static_cast<std::size_t>(halo) *
                                           static_cast<std::size_t>(matrix.row_components()),
               matrix.device()),
        image(scaled.scalars.size(), matrix.device()) {
    if (!matrix.device().on_gpu()) return;
    // The first call copies them, which it cannot do in a graph.
    for (const Basis* one : {basis.get(), scaled.view.basis.get()}) {
      if (one == nullptr) continue;
      one->positions_on(matrix.device()), one->user_rows_on(matrix.device());
    }
  }
};

/// z = M^-1 r by sweeps from 0: M = D + L forward, and its adjoint D + L* backward.
template <class S>
class GaussSeidel final : public Preconditioner<S> {
 public:
  /// The matrix must outlive it.
  GaussSeidel(const LinearOperator<S>& matrix, std::shared_ptr<ColouredOperators<S>> colours,
              int sweeps, bool is_forward)
      : matrix_(matrix), colours_(std::move(colours)), sweeps_(sweeps), is_forward_(is_forward) {}

  std::optional<FieldShape> shape() const override { return shape_of<S>(matrix_); }
  bool is_hermitian() const override { return false; }
  bool is_capturable() const override {
    return matrix_.device().on_gpu() && colours_->jacobi->is_capturable() &&
           std::all_of(colours_->of_colour.begin(), colours_->of_colour.end(),
                       [](const auto& part) { return applies_in_graph<S>(*part); });
  }
  long long bytes_of_application() const override {
    long long bytes = colours_->jacobi->bytes_of_application() + 8 * bytes_of_field<S>(matrix_);
    for (const auto& part : colours_->of_colour) bytes += sweeps_ * part->bytes_of_product();
    return bytes;
  }
  void apply(const FieldView<const S>& r, const FieldView<S>& z,
             const Stream& stream) const override {
    ColouredOperators<S>& all = *colours_;
    const FieldView<S> right = at_places(all.right), result = at_places(all.result);
    const int width = matrix_.row_components();
    const FieldView<S> known(
        all.result.data(), static_cast<Index>(all.result.size() / static_cast<std::size_t>(width)),
        width);
    all.jacobi->apply(r, all.scaled.view, stream);
    move<S>(all.scaled.view, right, stream);
    fill<S>(S(0), known, stream);
    const auto count = all.of_colour.size();
    for (int sweep = 0; sweep < sweeps_; ++sweep) {
      for (std::size_t k = 0; k < count; ++k) {
        const std::size_t colour = is_forward_ ? k : count - 1 - k;
        const bool is_first = sweep == 0 && k == 0;  // nothing to subtract yet
        solve_colour(colour, is_first, of_colour(right, colour), known, of_colour(result, colour),
                     stream);
        const bool is_last = sweep + 1 == sweeps_ && k + 1 == count;
        if (all.exchange && !is_last) all.exchange(colour, stream);
      }
    }
    move<S>(result, z, stream);
  }

 private:
  void solve_colour(std::size_t colour, bool is_first, const FieldView<S>& own,
                    const FieldView<const S>& known, const FieldView<S>& to,
                    const Stream& stream) const {
    if (own.size == 0) return;  // this rank has no row of the colour
    if (is_first) return copy<S>(own, to, stream);
    const FieldView<S> image(colours_->image.data(), own.size, own.components);
    copy<S>(own, image, stream);
    colours_->of_colour[colour]->apply(S(-1), known, S(1), image, stream);
    copy<S>(image, to, stream);
  }
  FieldView<S> at_places(Array<S>& scalars) const {
    return {scalars.data(), matrix_.rows(), matrix_.row_components(), VectorLayout::aos,
            colours_->basis};
  }
  FieldView<S> of_colour(const FieldView<S>& field, std::size_t colour) const {
    const Index first = colours_->begin[colour], end = colours_->begin[colour + 1];
    return {field.data + Offset(first) * field.components, end - first, field.components};
  }
  /// Copies x to the basis of y; on a GPU by one kernel.
  template <class T>
  void move(const FieldView<const T>& x, const FieldView<T>& y, const Stream& stream) const {
    if constexpr (has_cuda) {
      if (stream.on_gpu()) {
        const Device& device = matrix_.device();
        return cuda::permute<T>(x, x.basis ? x.basis->positions_on(device) : nullptr, y,
                                y.basis ? y.basis->user_rows_on(device) : nullptr, T(1), stream);
      }
    }
    permute<T>(x, y, T(1), stream);
  }

  const LinearOperator<S>& matrix_;
  std::shared_ptr<ColouredOperators<S>> colours_;
  int sweeps_;
  bool is_forward_;
};

}  // namespace heddle::detail
