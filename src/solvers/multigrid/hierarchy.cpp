#include "hierarchy.hpp"

#include <utility>
#include <vector>

#include "composed_cycle.hpp"
#include "solvers/cycles/cycle_cuda.hpp"
#include "solvers/cycles/level_cycle.hpp"
#include "solvers/preconditioners/preconditioner_fields.hpp"

namespace heddle::detail {

namespace {

/// A cycle of steps; each would take the levels' operators several kernels, with the same bits.
template <class S>
class CycleOnGpu final : public Preconditioner<S> {
 public:
  /// `bytes`: those of an application. Holds a handle of the matrix, and nothing else of the
  /// levels.
  CycleOnGpu(const SlicedOperator<S>& matrix, std::shared_ptr<const cuda::Cycle> cycle,
             long long bytes)
      : matrix_(matrix), cycle_(std::move(cycle)), bytes_(bytes) {}

  std::optional<FieldShape> shape() const override { return shape_of<S>(matrix_); }
  bool is_capturable() const override { return true; }
  long long bytes_of_application() const override { return bytes_; }
  void apply(const FieldView<const S>& r, const FieldView<S>& z,
             const Stream& stream) const override {
    check_cycle_field(matrix_, r, "r");
    check_cycle_field(matrix_, z, "z");
    check_apart(r, z, "r", "z");
    cycle_->apply(r.data, z.data, stream);
  }

 private:
  SlicedOperator<S> matrix_;
  std::shared_ptr<const cuda::Cycle> cycle_;
  long long bytes_;
};

/// Null if steps do not cover the cycle or its smoothers.
template <class S>
std::shared_ptr<Preconditioner<S>> cycle_of_steps(HierarchySetup<S>& setup) {
  const SlicedOperator<S>& finest = setup.finest().matrix();
  if (!finest.device().on_gpu() || setup.options().cycle != Cycle::v ||
      !setup.smoothers().are_polynomials() || setup.levels().size() < 2) {
    return nullptr;
  }
  std::vector<cuda::CycleLevel> levels;
  std::vector<const SlicedOperator<S>*> operators;
  for (const auto& level : setup.levels()) {
    const auto product_of = [&](const SlicedOperator<S>& matrix) {
      operators.push_back(&matrix);
      return matrix.product_on_gpu();
    };
    cuda::CycleLevel parts;
    // An exact copy may be dropped at later values, which steps would not notice.
    const bool is_exact_copy = is_exact(level->product->plan().layout.stored);
    parts.matrix = product_of(is_exact_copy ? *level->product : level->product->iterated());
    if (level->inverse) {
      parts.inverse = product_of(*level->inverse);
    } else {
      const LevelSmoother<S>& smoother = level->smoother;
      parts.jacobi = smoother.jacobi->rows_on_gpu();
      parts.bytes_of_jacobi = smoother.jacobi->bytes_of_application();
      parts.coefficients = smoother.numbers.data();
      parts.degree = setup.smoothers().degree();
      parts.sweeps = setup.smoothers().sweeps();
    }
    if (level->transfer.interpolate) {
      parts.restricts = product_of(*level->transfer.restrict);
      parts.interpolates = product_of(*level->transfer.interpolate);
    }
    levels.push_back(parts);
  }
  auto cycle = std::make_shared<const cuda::Cycle>(levels, finest.device());
  long long bytes = cycle->bytes_besides_products() - 2 * bytes_of_field<S>(finest);
  for (const SlicedOperator<S>* const matrix : operators) {
    bytes += cycle->products_with(*matrix->product_on_gpu()) * matrix->bytes_of_product();
  }
  return std::make_shared<CycleOnGpu<S>>(finest, std::move(cycle), bytes);
}

/// The cycle of a level over that of the next one.
template <class S>
std::shared_ptr<Preconditioner<S>> make_level_cycle(HierarchySetup<S>& setup, std::size_t number,
                                                    std::shared_ptr<Preconditioner<S>> coarse) {
  Level<S>& level = *setup.levels()[number];
  const LevelSmoother<S>& smoother = level.smoother;
  const LevelTransfer<S>& transfer = level.transfer;
  const EntryTiles& tiles = setup.operators().entry_of_p(level).tiles;
  if (smoother.first_numbers && has_number_rows(*transfer.interpolate, tiles) &&
      has_number_rows(*transfer.restrict, tiles)) {
    return std::make_shared<NumberCycle<S>>(
        *level.product, smoother.first_numbers, setup.smoothers().degree(), smoother.jacobi,
        *transfer.interpolate, *transfer.restrict, std::move(coarse));
  }
  if (!smoother.before) setup.smoothers().make_polynomial(level);
  const SlicedOperator<S>& below = *setup.levels()[number + 1]->product;
  return std::make_shared<LevelCycle<S>>(
      *level.product, smoother.before,
      typename LevelCycle<S>::Transfer{transfer.interpolate, transfer.restrict}, std::move(coarse),
      below, smoother.after);
}

template <class Numbers>
long long bytes_of(const Numbers& array) {
  return static_cast<long long>(array.span().size_bytes());
}

long long bytes_of(const UserRows& rows) { return bytes_of(rows.offsets) + bytes_of(rows.column); }

template <class S>
long long host_bytes(const Level<S>& level) {
  const LevelSmoother<S>& smoother = level.smoother;
  const LevelTransfer<S>& transfer = level.transfer;
  long long bytes = bytes_of(transfer.place) + bytes_of(smoother.inverses) +
                    bytes_of(transfer.diagonal) + bytes_of(transfer.scales) +
                    (smoother.spectrum ? bytes_of(smoother.spectrum->storage) +
                                             2 * bytes_of(smoother.spectrum->reach)
                                       : 0) +
                    smoother.colours.bytes() + transfer.to_prolongation.memory() +
                    transfer.to_image.memory() + transfer.to_coarse.memory();
  for (const TileMatrix* matrix :
       {&level.matrix, &transfer.tentative, &transfer.prolongation, &transfer.image,
        &transfer.restriction, &level.inverse_tiles, &smoother.norms, &smoother.norm_inverses}) {
    bytes += bytes_of(matrix->pattern) + bytes_of(matrix->values);
  }
  return bytes;
}

template <class S>
long long device_bytes(const Level<S>& level) {
  const LevelSmoother<S>& smoother = level.smoother;
  const LevelTransfer<S>& transfer = level.transfer;
  long long bytes = level.number == 0 ? 0 : level.product->memory().total();
  if (smoother.jacobi) bytes += smoother.jacobi->bytes_of_application();
  if (level.inverse) bytes += level.inverse->memory().total();
  if (smoother.by_norms) bytes += smoother.by_norms->memory().total();
  if (smoother.sweeps) {
    for (const auto& part : smoother.sweeps->of_colour) bytes += part->memory().total();
    const bool is_copied = level.product->device().on_gpu();
    if (is_copied) bytes += smoother.sweeps->basis->bytes();
  }
  if (transfer.interpolate) {
    bytes += transfer.interpolate->memory().total();
    bytes += transfer.restrict->memory().total();
  }
  return bytes;
}

}  // namespace

template <class S>
std::shared_ptr<Preconditioner<S>> Hierarchy<S>::make_cycle() {
  if constexpr (has_cuda) {
    if (auto cycle = cycle_of_steps(setup_)) return cycle;
  }
  const LevelList<S>& levels = setup_.levels();
  Level<S>& last = *levels.back();
  std::shared_ptr<Preconditioner<S>> cycle;
  if (last.inverse) {
    cycle = std::make_shared<InverseOperator<S>>(last.inverse);
  } else {
    if (!last.smoother.before) setup_.smoothers().make_polynomial(last);
    cycle = cycle_of_smoothers<S>(*last.product, last.smoother.before, last.smoother.after);
  }
  return compose_cycle<S>(
      setup_.options().cycle, levels.size(), cycle,
      [&](std::size_t l) -> const LinearOperator<S>& { return *levels[l]->product; },
      [&](std::size_t l, auto coarse) { return make_level_cycle(setup_, l, std::move(coarse)); });
}

template <class S>
void Hierarchy<S>::refresh() {
  if (generation_ == setup_.finest().generation()) return;
  auto begin = std::chrono::steady_clock::now();
  is_refreshed_on_gpu_ = false;
  if constexpr (has_cuda) is_refreshed_on_gpu_ = on_gpu_.refresh();
  if (!is_refreshed_on_gpu_) {
    begin = std::chrono::steady_clock::now();
    setup_.compute(nullptr);
    if constexpr (has_cuda) on_gpu_.take_reach();
  }
  finish(begin);
}

/// Ends a set-up, or a refresh, that began then.
template <class S>
void Hierarchy<S>::finish(std::chrono::steady_clock::time_point begin) {
  generation_ = setup_.finest().generation();
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
  setup_seconds_ = seconds.count();
}

template <class S>
MultigridReport Hierarchy<S>::report() const {
  MultigridReport report;
  report.setup_seconds = setup_seconds_;
  report.host_bytes = setup_.bytes();
  if constexpr (has_cuda) report.refresh_bytes = on_gpu_.bytes();
  report.is_refreshed_on_gpu = is_refreshed_on_gpu_;
  double sum = 0;
  for (const auto& level : setup_.levels()) {
    const TileMatrix& a = level->matrix;
    const Offset scalars = level->entries * a.shape.scalars();
    report.levels.push_back({.rows = level->rows,
                             .entries = level->entries,
                             .components = level->product->row_components(),
                             .scalars = scalars,
                             .largest = level->smoother.largest,
                             .new_estimates = level->smoother.new_estimates,
                             .strength = level->strength,
                             .is_solved = level->inverse != nullptr,
                             .colours = level->smoother.colours.count()});
    sum += static_cast<double>(scalars);
    report.host_bytes += host_bytes(*level);
    report.device_bytes += device_bytes(*level);
  }
  if (report.levels.front().scalars > 0) {
    report.operator_complexity = sum / static_cast<double>(report.levels.front().scalars);
  }
  return report;
}

template class Hierarchy<float>;
template class Hierarchy<double>;

}  // namespace heddle::detail
