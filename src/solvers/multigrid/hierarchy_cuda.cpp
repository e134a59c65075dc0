#include "hierarchy_cuda.hpp"

#include <cmath>
#include <future>
#include <system_error>
#include <utility>

#include "base/cuda_handles.hpp"
#include "base/returned_memory_cuda.hpp"
#include "base/stream_order_cuda.hpp"
#include "coarse_inverse.hpp"
#include "heddle/vector_operations.hpp"
#include "level_values_cuda.hpp"
#include "solvers/operators/operator_checks.hpp"
#include "solvers/operators/operator_field.hpp"
#include "solvers/operators/spectrum.hpp"

namespace heddle::detail {

namespace {

/// The ends of the spectrum of D^-1 A, by Lanczos' method on a separate thread and stream, while
/// the caller computes what does not depend on them.
template <class S>
class ConcurrentSpectrum {
 public:
  /// Both must outlive it, and keep their values.
  ConcurrentSpectrum(const SlicedOperator<S>& a, const SlicedJacobi<S>& jacobi)
      : fields_{row_field_of<S>(a), row_field_of<S>(a), row_field_of<S>(a), row_field_of<S>(a),
                row_field_of<S>(a)},
        is_concurrent_(a.device().memory() == cuda::stream_memory(a.device().stream())),
        stream_(stream_of(a.device())),
        device_(is_concurrent_ ? Device::cuda(a.device().stream().gpu, stream_.get()) : a.device()),
        reduction_(a.rows(), device_) {
    // The same start as on the host: in the user's order.
    const Stream main = a.device().stream();
    const int components = a.row_components();
    Array<S> numbers(static_cast<std::size_t>(a.rows()) * static_cast<std::size_t>(components),
                     a.device());
    const FieldView<S> start(numbers.data(), a.rows(), components);
    fill<S>(S(1), start, main);
    randomize<S>(start, 1, main);
    permute<S>(start, fields_[0].view, S(1), main);
    cuda::wait_before_memory_goes_back(a.device());
    cuda::queue_after(stream_.get(), main.queue, main.gpu);
    const auto find = [this, &a, &jacobi] {
      const WhenDone done{stream_.get()};
      const Stream stream = device_.stream();
      const LanczosFields<S> fields{
          .current = fields_[1].view,
          .before = fields_[2].view,
          .image = fields_[3].view,
          .preconditioned = fields_[4].view,
          .start = [&](const FieldView<S>& to) { copy<S>(fields_[0].view, to, stream); }};
      return extreme_ritz_values<S>(a, &jacobi, eigenvalue_steps, fields, reduction_, stream);
    };
    found_ = std::async(std::launch::deferred, find);
    if (!is_concurrent_) return;
    try {
      found_ = std::async(std::launch::async, find);
    } catch (const std::system_error&) {  // no thread available: the caller's work comes first
    }
  }
  RitzValues<S> values() { return found_.get(); }

 private:
  /// Waits, since fields are given back in the order of another stream.
  struct WhenDone {
    cudaStream_t stream;
    ~WhenDone() { cudaStreamSynchronize(stream); }
  };

  static cuda::OwnedStream stream_of(const Device& device) {
    const cuda::OnGpu here(device.stream());
    return cuda::make_stream();
  }

  OperatorField<S> fields_[5];
  bool is_concurrent_;  // a caller's memory may be requested by one thread only
  cuda::OwnedStream stream_;
  Device device_;
  Reduction<S> reduction_;
  std::future<RitzValues<S>> found_;  // its destructor waits
};

/// False if the matrix with these Ritz values of D^-1 A may not be semidefinite.
template <class S>
bool may_be_semidefinite(const RitzValues<S>& found) {
  return found.is_positive && std::isfinite(found.smallest + found.largest) && found.largest > 0 &&
         !(found.smallest < min_energy * found.largest);
}

}  // namespace

template <class S>
template <class T>
bool HierarchyOnGpu<S>::set_up(const SlicedOperator<T>& source,
                               std::span<const FieldView<const T>> candidates) {
  const SlicedOperator<S>& matrix = setup_.finest().matrix();
  const EntryTiles& tiles = setup_.operators().entries().finest.tiles;
  // The host's estimate takes one component of an entry that acts on several.
  const bool is_whole = matrix.row_components() == tiles.size * tiles.ring;
  if (!matrix.device().on_gpu() || matrix.rows() == 0 || !setup_.smoothers().are_polynomials() ||
      !is_whole || setup_.options().estimates_again) {
    return false;
  }
  bool is_done = false;
  try {
    setup_.add_finest();
    values_ = std::make_shared<cuda::LevelValues<S>>(
        matrix, setup_.levels(),
        cuda::StoredValues{source.stored_values().data(), source.entry().sizes.stored_bytes});
    is_done = read_candidates(source, candidates) && make_levels();
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::internal) throw;
    // Out of memory, or a matrix that the CPU refuses as well.
  }
  if (!is_done) {
    matrix.device().synchronize();
    values_.reset();
    setup_.levels().clear();
    return false;
  }
  values_->drop_candidates();
  values_->take_reach();  // not when a refresh is captured
  // A solver still needs memory for its fields.
  constexpr long long parts_for_levels = 7;
  if (values_->bytes() / parts_for_levels > matrix.device().available_memory()) {
    bring_to_host();
    values_.reset();
  }
  return true;
}

/// Like those of the host. False if a component is not finite.
template <class S>
template <class T>
bool HierarchyOnGpu<S>::read_candidates(const SlicedOperator<T>& source,
                                        std::span<const FieldView<const T>> candidates) {
  const TileShape shape = setup_.operators().entries().candidates();
  const int v = shape.height, k = shape.width, r = shape.ring;
  const Index n = source.rows();
  const Device device = source.device();
  const Stream stream = device.stream();
  Array<double> tiles(static_cast<std::size_t>(n) * static_cast<std::size_t>(v * k * r), device);
  if (candidates.empty()) {
    cuda::put_constants({n, v, k, r}, tiles.data(), stream);
  } else {
    const auto inside = row_field_of<T>(source);
    Reduction<T> reduction(n, device);
    Array<T> own(static_cast<std::size_t>(n) * static_cast<std::size_t>(v * r), device);
    const FieldView<T> user(own.data(), n, v * r);
    for (std::size_t j = 0; j < candidates.size(); ++j) {
      check_same_shape(candidates[j], inside.view, "a multigrid candidate");
      permute<T>(candidates[j], inside.view, T(1), stream);
      permute<T>(inside.view, user, T(1), stream);
      const double largest = largest_magnitude<T>(inside.view, reduction, stream);
      if (!std::isfinite(largest)) return false;
      // Scaled so that no square leaves the range; the span stays.
      const int exponent = largest > 0 ? std::ilogb(largest) : 0;
      cuda::put_candidate(own.data(), {n, v, k, r}, static_cast<int>(j), -exponent, tiles.data(),
                          stream);
    }
    cuda::wait_before_memory_goes_back(device);  // `own` and `inside` end here
  }
  values_->take_candidates(std::move(tiles));
  return true;
}

template <class S>
bool HierarchyOnGpu<S>::make_levels() {
  values_->read_matrix();
  FinestMatrix<S>& finest = setup_.finest();
  const bool is_symmetric = finest.is_hermitian();
  if (!values_->are_good()) return false;
  if (!is_symmetric) finest.check_hermitian();
  const LevelList<S>& levels = setup_.levels();
  double strength = setup_.options().strength;
  for (std::size_t l = 0; l < levels.size(); ++l, strength /= 2) {
    Level<S>& level = *levels[l];
    if (setup_.is_solved(level)) {
      level.inverse_tiles = full_matrix(level.rows, level.matrix.shape);
      level.inverse = setup_.operators().make_square(level, level.inverse_tiles);
      values_->add_inverse(l);
      values_->solve(l);
      break;
    }
    values_->invert_diagonal(l);
    if (!values_->are_good()) return false;
    LevelSmoother<S>& smoother = level.smoother;
    smoother.jacobi = std::make_shared<SlicedJacobi<S>>(*level.product);
    ConcurrentSpectrum<S> spectrum(*level.product, *smoother.jacobi);
    const bool has_next = extend(level, strength);
    const RitzValues<S> found = spectrum.values();
    if (!may_be_semidefinite(found)) return false;
    smoother.largest = found.largest;
    setup_.smoothers().smooth_by_polynomial(level);
    if (!has_next) break;
    values_->transfer(l, finest.rounding());
  }
  if (!values_->are_good()) return false;
  solve_coarsest();
  return true;
}

/// Leaves the inverse of the coarsest level to the host if the GPU has doubts.
template <class S>
void HierarchyOnGpu<S>::solve_coarsest() {
  solves_coarsest_ = !values_->brings_coarsest();
  if (!solves_coarsest_) setup_.solve(*setup_.levels().back());
}

/// Adds the next level, without values. False if it is not worth it.
template <class S>
bool HierarchyOnGpu<S>::extend(Level<S>& level, double strength) {
  const auto number = static_cast<std::size_t>(level.number);
  values_->find_norms(number);
  const auto aggregates = setup_.aggregate_rows(
      level, strength, [&](double least) { return values_->aggregate(number, least); });
  if (!aggregates) return false;
  Level<S>& coarse = setup_.add_coarse(level, aggregates->count);
  values_->find_patterns(number, *aggregates, setup_.options().interpolation);
  coarse.entries = values_->matrix(number + 1).entries();
  const auto view = [](const cuda::DevicePattern& pattern) {
    return PatternView{pattern.rows, pattern.columns, pattern.offsets.data(),
                       pattern.column.data()};
  };
  setup_.operators().make(level, coarse, view(values_->prolongation(number)),
                          view(values_->restriction(number)), view(values_->matrix(number + 1)));
  values_->extend(number);
  return true;
}

template <class S>
long long HierarchyOnGpu<S>::bytes() const {
  return values_ ? values_->bytes() : 0;
}

/// Brings what a set-up has left on the GPU to the CPU, which computes new values with it.
template <class S>
void HierarchyOnGpu<S>::bring_to_host() {
  TileMatrix& finest = setup_.levels().front()->matrix;
  if (!finest.pattern.offsets.empty()) return;
  setup_.finest().read_pattern(finest, setup_.host().stream());
  values_->bring_patterns();
  values_->bring_reach();
  setup_.smoothers().keep_reach();
}

template <class S>
bool HierarchyOnGpu<S>::refresh() {
  if (!values_) return false;
  FinestMatrix<S>& finest = setup_.finest();
  values_->queue(finest.rounding());
  const bool is_symmetric = finest.is_hermitian();
  if (!values_->are_good()) {
    bring_to_host();
    values_->forget_reach();
    return false;
  }
  if (!is_symmetric) finest.check_hermitian();
  solve_coarsest();
  return true;
}

template <class S>
void HierarchyOnGpu<S>::take_reach() {
  if (values_) values_->take_reach();
}
template <class S>
bool HierarchyOnGpu<S>::can_queue() const {
  return values_ && solves_coarsest_ && values_->has_reach();
}
template <class S>
void HierarchyOnGpu<S>::queue() {
  values_->queue(setup_.finest().rounding());
}

template class HierarchyOnGpu<float>;
template class HierarchyOnGpu<double>;
#define HEDDLE_HIERARCHY_ON_GPU(S, T)                               \
  template bool HierarchyOnGpu<S>::set_up(const SlicedOperator<T>&, \
                                          std::span<const FieldView<const T>>);
HEDDLE_HIERARCHY_ON_GPU(float, float)
HEDDLE_HIERARCHY_ON_GPU(float, double)
HEDDLE_HIERARCHY_ON_GPU(double, double)
#undef HEDDLE_HIERARCHY_ON_GPU

}  // namespace heddle::detail
