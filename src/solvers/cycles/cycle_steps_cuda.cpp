#include "cycle_steps_cuda.hpp"

#include <initializer_list>
#include <utility>

#include "heddle/detail/product_cuda.hpp"
#include "heddle/row_preconditioner.hpp"
#include "level_cycle.hpp"

namespace heddle::cuda {

namespace {

long long bytes_of_row(const Product& product) {
  return static_cast<long long>(product.shape().result_components) * product.shape().scalar_bytes;
}

/// A product already counts its x, and its result once.
long long traffic_of_fields(const PlacedStep& placed) {
  const device::CycleStep& step = placed.step;
  int fields = placed.multiplies ? -1 : 0;
  for (const void* field : {step.with, step.own, step.added, step.base}) {
    if (field != nullptr && field != step.x) ++fields;
  }
  for (const void* field : {step.y, step.to, step.sum}) fields += field != nullptr ? 1 : 0;
  return static_cast<long long>(fields) * step.rows * bytes_of_row(*placed.product);
}

template <class T>
T* given(unsigned long long number) {
  return reinterpret_cast<T*>(number);  // NOLINT(performance-no-int-to-ptr): no address
}

}  // namespace

CycleSteps::CycleSteps(std::span<const CycleLevel> levels, const Device& device)
    : levels_(levels.begin(), levels.end()), device_(device) {
  // References to steps stay valid while more are added.
  constexpr std::size_t of_level = 8;
  std::size_t most = 0;
  for (const CycleLevel& level : levels_) {
    most += of_level + 2 * static_cast<std::size_t>(level.degree + level.sweeps);
  }
  steps_.reserve(most);
  cycle(0, given<const void>(device::field_r), given<void>(device::field_z), nullptr);
  for (const PlacedStep& step : steps_) traffic_ += traffic_of_fields(step);
}

void* CycleSteps::field(int level) {
  const Product& of_rows = *levels_[static_cast<std::size_t>(level)].matrix;
  fields_.emplace_back(static_cast<std::size_t>(of_rows.pattern().rows) *
                           static_cast<std::size_t>(bytes_of_row(of_rows)),
                       device_);
  return fields_.back().data();
}

/// v = sign (A x) + with; y = v.
PlacedStep& CycleSteps::add(int level, const Product& product, const void* x, const void* with,
                            void* y, double sign) {
  PlacedStep placed{};
  device::CycleStep& step = placed.step;
  step.A = product.matrix();
  step.x = x;
  step.with = with;
  step.y = y;
  step.sign = sign;
  step.rows = product.pattern().rows;
  step.columns = product.pattern().columns;
  step.kept = static_cast<unsigned>(product.plan().gpu.l2_percent);
  placed.product = &product;
  placed.level = level;
  placed.multiplies = x != nullptr;
  return steps_.emplace_back(placed);
}

/// Adds d = b D^-1 v, for a power of the polynomial, to the step.
void CycleSteps::smooth_in(PlacedStep& step, const CycleLevel& level, int power) {
  traffic_ += level.bytes_of_jacobi;
  step.rows = level.jacobi;
  step.step.inverses = level.jacobi->data();
  step.step.numbers = static_cast<const char*>(level.coefficients) +
                      static_cast<std::ptrdiff_t>(2 * power) * level.matrix->shape().scalar_bytes;
}

/// out = base + the smoother's result for r, see `Chebyshev::apply`.
void CycleSteps::smooth(int l, const Start& start, const void* base, void* out) {
  const CycleLevel& level = levels_[static_cast<std::size_t>(l)];
  const Product& A = *level.matrix;
  const bool is_one = level.degree == 0 && level.sweeps == 1;
  const void* r = start.with;
  PlacedStep* step = start.by;
  if (step == nullptr) {
    void* const left = start.x != nullptr && !is_one ? field(l) : nullptr;
    step = &add(l, A, start.x, start.with, left, -1);
    if (left != nullptr) r = left;
  }
  smooth_in(*step, level, 0);
  if (is_one) {
    step->step.base = base;
    step->step.sum = out;
    return;
  }
  // `now` is the direction, and also the sum while that has one part.
  void* now = field(l);
  step->step.to = now;
  if (level.degree <= 1) {
    // The sum is the direction, or the solution of sweeps.
    const int more = level.degree == 1 ? 1 : level.sweeps - 1;
    void* other = more > 1 ? field(l) : nullptr;
    for (int k = 1; k <= more; ++k) {
      PlacedStep& next = add(l, A, now, r, nullptr, -1);
      smooth_in(next, level, level.degree == 1 ? 1 : 0);
      (level.degree == 1 ? next.step.own : next.step.added) = now;
      next.step.base = k == more ? base : nullptr;
      next.step.sum = k == more ? out : other;
      std::swap(now, other);
    }
    return;
  }
  void* const rest = field(l);
  void* const whole = field(l);
  void* other = field(l);
  const void* sum = now;
  for (int k = 1; k <= level.degree; ++k) {
    const bool is_last = k == level.degree;
    PlacedStep& next = add(l, A, now, k == 1 ? r : rest, is_last ? nullptr : rest, -1);
    smooth_in(next, level, k);
    next.step.own = now;
    next.step.to = is_last ? nullptr : other;
    next.step.added = sum;
    next.step.base = is_last ? base : nullptr;
    next.step.sum = is_last ? out : whole;
    sum = whole;
    std::swap(now, other);
  }
}

/// Lists the steps of `cycle_level` for level l: out = M r, where z is a separate field until it is
/// smoothed again. `from_r.by` is the step that yields r from the finer level.
struct CycleSteps::Listed {
  CycleSteps& steps;
  const CycleLevel& level;
  int l;
  Start from_r;
  void* out;
  void* z = steps.field(l);
  void* rest = steps.field(l);
  void* right = nullptr;
  void* correction = nullptr;
  PlacedStep* restriction = nullptr;

  void smooth() { steps.smooth(l, from_r, nullptr, z); }
  void subtract() { steps.add(l, *level.matrix, z, from_r.with, rest, -1); }
  void restrict_rest() {
    right = steps.field(l + 1);
    correction = steps.field(l + 1);
    restriction = &steps.add(l, *level.restricts, rest, nullptr, right, 1);
  }
  void solve_coarse() { steps.cycle(l + 1, right, correction, restriction); }
  void interpolate() { steps.add(l, *level.interpolates, correction, z, z, 1); }
  void smooth_again() { steps.smooth(l, {z, from_r.with, nullptr}, z, out); }
};

void CycleSteps::cycle(int l, const void* r, void* out, PlacedStep* restricted) {
  const CycleLevel& level = levels_[static_cast<std::size_t>(l)];
  if (level.inverse != nullptr) {
    add(l, *level.inverse, r, nullptr, out, 1);
    return;
  }
  const Start from_r{nullptr, r, restricted};
  if (level.interpolates == nullptr) return smooth(l, from_r, nullptr, out);
  detail::cycle_level(Listed{*this, level, l, from_r, out});
}

}  // namespace heddle::cuda
