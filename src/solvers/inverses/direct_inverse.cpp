#include "heddle/direct_inverse.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>
#include <vector>

#include "base/long_double.hpp"
#include "base/memory_limits.hpp"
#include "heddle/entries.hpp"
#include "heddle/expansion.hpp"
#include "solvers/operators/operator_checks.hpp"
#include "solvers/tiles/entry_tiles.hpp"
#include "solvers/tiles/user_rows.hpp"
#include "sparse_factors.hpp"

namespace heddle {

namespace direct_inverse {

/// An entry as `side` x `side` numbers of `parts` scalars, each a component of the entry or zero.
struct ExpandedTile {
  int side;
  int parts;
  std::vector<detail::SignedPlace> at;

  const detail::SignedPlace* number(int row, int column) const {
    return &at[static_cast<std::size_t>((row * side + column) * parts)];
  }
  bool is_zero(int row, int column) const {
    const detail::SignedPlace* const scalar = number(row, column);
    return std::all_of(scalar, scalar + parts, [](const auto& place) { return place.sign == 0; });
  }
};

namespace {

constexpr const char* who = "direct";

/// Quaternions become 4 x 4 real numbers.
ExpandedTile expanded(const detail::EntryTiles& tiles) {
  const int v = tiles.size, r = tiles.ring;
  if (r != ring_size(Ring::quaternion)) return {v, r, tiles.component_of};
  const detail::Arrangement left = detail::arrangement<quaternion<double>>();
  ExpandedTile tile{v * r, 1, {}};
  for (int row = 0; row < tile.side; ++row) {
    for (int column = 0; column < tile.side; ++column) {
      const detail::Position& of = left.at[static_cast<std::size_t>(row % r * r + column % r)];
      detail::SignedPlace place = tiles.component_of[static_cast<std::size_t>(
          (row / r * v + column / r) * r + of.component)];
      place.sign *= of.sign;
      tile.at.push_back(place);
    }
  }
  return tile;
}

/// Calls `number(column, place, entry)` for each number of the expansion, row by row.
template <class Number, class EndOfRow>
void for_each_number(const detail::UserRows& rows, const ExpandedTile& tile, const Number& number,
                     const EndOfRow& end_of_row) {
  for (Index row = 0; row < rows.rows(); ++row) {
    for (int i = 0; i < tile.side; ++i) {
      for (Offset e = rows.begin(row); e < rows.begin(row + 1); ++e) {
        const Offset first = Offset(rows.column[static_cast<std::size_t>(e)]) * tile.side;
        for (int j = 0; j < tile.side; ++j) {
          if (!tile.is_zero(i, j)) number(first + j, tile.number(i, j), e);
        }
      }
      end_of_row();
    }
  }
}

std::unique_ptr<detail::SparseFactors> make_factors(const detail::UserRows& rows,
                                                    const ExpandedTile& tile) {
  Offset numbers = 0;
  for (int i = 0; i < tile.side; ++i) {
    for (int j = 0; j < tile.side; ++j) numbers += tile.is_zero(i, j) ? 0 : rows.entries();
  }
  // By rows and by columns, and the least that factors take.
  const double needed =
      3.0 * static_cast<double>(numbers) *
      static_cast<double>(sizeof(Offset) + sizeof(double) * static_cast<std::size_t>(tile.parts));
  detail::check_memory_of_factors(
      needed, available_memory_for(static_cast<long long>(std::min(needed, 9e18)), Device::cpu()),
      "the expanded matrix");
  std::vector<Offset> offsets{0}, column;
  offsets.reserve(static_cast<std::size_t>(rows.rows()) * static_cast<std::size_t>(tile.side) + 1);
  column.reserve(static_cast<std::size_t>(numbers));
  for_each_number(
      rows, tile, [&](Offset at, const auto*, Offset) { column.push_back(at); },
      [&] { offsets.push_back(static_cast<Offset>(column.size())); });
  return detail::sparse_factors(tile.parts, offsets, column);
}

}  // namespace
}  // namespace direct_inverse

template <class S>
class DirectInverse<S>::Parts {
 public:
  explicit Parts(const detail::SlicedOperator<S>& matrix)
      : matrix_(matrix),
        host_(Device::cpu(matrix.device().threads())),
        tile_(direct_inverse::expanded(detail::tiles_of(matrix.entry(), direct_inverse::who))) {
    detail::check_square(matrix, direct_inverse::who);
    const int components = matrix.row_components(), of_tile = tile_.side * tile_.parts;
    columns_ = components / of_tile;
    rows_ = detail::stored_rows(matrix.pattern(), host_.stream());
    factors_ = direct_inverse::make_factors(rows_, tile_);
    // One number that acts on several components has a right-hand side for each.
    const auto layout = columns_ == 1 ? VectorLayout::aos : VectorLayout::soa;
    const auto scalars =
        static_cast<std::size_t>(matrix.rows()) * static_cast<std::size_t>(components);
    own_ = Array<S>(scalars);
    field_ = {own_.data(), matrix.rows(), components, layout};
    if constexpr (!std::is_same_v<S, double>) numbers_ = Array<double>(scalars);
    refresh();
  }

  const detail::SlicedOperator<S>& matrix() const { return matrix_; }
  const detail::SparseFactors& factors() const { return *factors_; }

  void refresh() {
    if (generation_ == matrix_.generation()) return;
    const auto K = static_cast<std::size_t>(matrix_.entry().sizes.components);
    Array<sum_t<S>> components(static_cast<std::size_t>(rows_.entries()) * K);
    detail::read_values(matrix_, rows_, components, host_.stream());
    double* to = factors_->values().data();
    direct_inverse::for_each_number(
        rows_, tile_,
        [&](Offset, const detail::SignedPlace* scalar, Offset e) {
          for (int p = 0; p < tile_.parts; ++p) {
            const auto [at, sign] = scalar[p];
            const auto from = static_cast<std::size_t>(e) * K + static_cast<std::size_t>(at);
            *to++ = sign == 0 ? 0 : sign * static_cast<double>(components[from]);
          }
        },
        [] {});
    constexpr double rounding = std::max(static_cast<double>(std::numeric_limits<S>::epsilon()),
                                         std::numeric_limits<double>::epsilon());
    factors_->compute(16 * rounding);
    generation_ = matrix_.generation();
  }

  void apply(const FieldView<const S>& r, const FieldView<S>& z, bool is_adjoint,
             const Stream& stream) {
    for (const FieldView<const S>& field : {r, FieldView<const S>(z)}) {
      detail::check_operand(field, matrix_.rows(), matrix_.row_components(), *matrix_.row_basis(),
                            direct_inverse::who);
    }
    check_apart(r, z, "r", "z");
    permute<S>(r, field_, S(1), stream);
    if constexpr (std::is_same_v<S, double>) {
      factors_->solve(own_.data(), columns_, is_adjoint);
    } else {
      std::copy(own_.begin(), own_.end(), numbers_.begin());
      factors_->solve(numbers_.data(), columns_, is_adjoint);
      std::transform(numbers_.begin(), numbers_.end(), own_.begin(),
                     [](double number) { return static_cast<S>(number); });
    }
    permute<S>(field_, z, S(1), stream);
  }

 private:
  detail::SlicedOperator<S> matrix_;
  Device host_;
  direct_inverse::ExpandedTile tile_;
  detail::StoredRows rows_;
  int columns_ = 1;
  std::unique_ptr<detail::SparseFactors> factors_;
  Array<S> own_;
  FieldView<S> field_;     // of `own_`, in the user's order
  Array<double> numbers_;  // the same, if S is not double
  long long generation_ = -1;
};

template <class S>
DirectInverse<S>::DirectInverse(const detail::SlicedOperator<S>& matrix)
    : parts_(std::make_shared<Parts>(matrix)) {}

template <class S>
std::optional<FieldShape> DirectInverse<S>::shape() const {
  const detail::SlicedOperator<S>& matrix = parts_->matrix();
  return FieldShape{matrix.rows(), matrix.row_components(), matrix.row_basis(), std::nullopt,
                    matrix.device().stream().gpu};
}

template <class S>
void DirectInverse<S>::apply(const FieldView<const S>& r, const FieldView<S>& z,
                             const Stream& stream) const {
  parts_->apply(r, z, is_adjoint_, stream);
}

template <class S>
void DirectInverse<S>::refresh() {
  parts_->refresh();
}

template <class S>
long long DirectInverse<S>::bytes_of_application() const {
  return parts_->factors().bytes_of_solve();
}

template <class S>
DirectInverse<S> DirectInverse<S>::adjoint() const {
  DirectInverse other = *this;
  other.is_adjoint_ = !is_adjoint_;
  return other;
}

template <class S>
bool DirectInverse<S>::is_ldlt() const {
  return parts_->factors().is_ldlt();
}

template <class S>
long long DirectInverse<S>::nonzeros() const {
  return parts_->factors().nonzeros();
}

template class DirectInverse<float>;
template class DirectInverse<double>;
HEDDLE_IN_LONG_DOUBLE(template class DirectInverse<long double>;)

}  // namespace heddle
