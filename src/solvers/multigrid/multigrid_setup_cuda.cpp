// The set-up of a hierarchy on a GPU, level by level.
#include <chrono>
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
class SpectrumBeside {
 public:
  /// Both must outlive it, and keep their values.
  SpectrumBeside(const SlicedOperator<S>& a, const SlicedJacobi<S>& jacobi)
      : fields_{row_field_of<S>(a), row_field_of<S>(a), row_field_of<S>(a), row_field_of<S>(a),
                row_field_of<S>(a)},
        is_beside_(a.device().memory() == cuda::stream_memory(a.device().stream())),
        stream_(stream_of(a.device())),
        device_(is_beside_ ? Device::cuda(a.device().stream().gpu, stream_.get()) : a.device()),
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
    cuda::queue_behind(stream_.get(), main.queue, main.gpu);
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
    if (!is_beside_) return;
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
  bool is_beside_;  // a caller's memory may be requested by one thread only
  cuda::OwnedStream stream_;
  Device device_;
  Reduction<S> reduction_;
  std::future<RitzValues<S>> found_;  // its destructor waits
};

}  // namespace

/// False, without levels, if the CPU has to compute everything, or to report what is wrong.
template <class S>
template <class T>
bool Hierarchy<S>::set_up_on_gpu(const SlicedOperator<T>& source,
                                 std::span<const FieldView<const T>> candidates) {
  const auto begin = std::chrono::steady_clock::now();
  const bool is_polynomial =
      options_.smoother == Smoother::chebyshev || options_.smoother == Smoother::jacobi;
  // The host's estimate takes one component of an entry that acts on several.
  const bool is_whole = matrix_.row_components() == finest_.tiles.size * finest_.tiles.ring;
  if (!matrix_.device().on_gpu() || matrix_.rows() == 0 || !is_polynomial || !is_whole ||
      options_.estimates_again) {
    return false;
  }
  bool is_done = false;
  try {
    add_finest();
    on_gpu_ = std::make_shared<cuda::LevelValues<S>>(
        matrix_, levels_,
        cuda::StoredValues{source.stored_values().data(), source.entry().sizes.stored_bytes});
    is_done = read_candidates_on_gpu(source, candidates) && make_levels_on_gpu();
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::internal) throw;
    // Out of memory, or a matrix that the CPU refuses as well.
  }
  if (!is_done) {
    matrix_.device().synchronize();
    on_gpu_.reset();
    levels_.clear();
    return false;
  }
  on_gpu_->drop_candidates();
  // A solver still needs memory for its fields.
  constexpr long long parts_for_levels = 7;
  if (on_gpu_->bytes() / parts_for_levels > matrix_.device().available_memory()) {
    bring_to_host();
    on_gpu_.reset();
  }
  is_refreshed_on_gpu_ = true;
  generation_ = source.generation();
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
  setup_seconds_ = seconds.count();
  return true;
}

/// Like `read_candidates`. False if a component is not finite.
template <class S>
template <class T>
bool Hierarchy<S>::read_candidates_on_gpu(const SlicedOperator<T>& source,
                                          std::span<const FieldView<const T>> candidates) {
  const int v = finest_.tiles.size, r = finest_.tiles.ring, k = coarse_.tiles.size;
  const Index n = matrix_.rows();
  const Device device = matrix_.device();
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
  on_gpu_->take_candidates(std::move(tiles));
  return true;
}

template <class S>
bool Hierarchy<S>::make_levels_on_gpu() {
  on_gpu_->read_matrix();
  const bool is_symmetric = is_hermitian();
  if (!on_gpu_->are_good()) return false;
  if (!is_symmetric) check_hermitian();
  double strength = options_.strength;
  for (std::size_t l = 0; l < levels_.size(); ++l, strength /= 2) {
    Level& level = *levels_[l];
    if (is_solved(level)) {
      level.inverse_tiles = full_matrix(level.rows, level.matrix.shape);
      const auto basis = level.product->row_basis();
      level.inverse = make_operator(level.inverse_tiles.pattern.view(level.rows), level.entry.table,
                                    basis, basis);
      on_gpu_->add_inverse(l);
      on_gpu_->solve(l);
      break;
    }
    on_gpu_->invert_diagonal(l);
    if (!on_gpu_->are_good()) return false;
    level.jacobi = std::make_shared<SlicedJacobi<S>>(*level.product);
    SpectrumBeside<S> spectrum(*level.product, *level.jacobi);
    const bool has_next = extend_on_gpu(level, strength);
    if (!smooth_on_gpu(level, spectrum.values())) return false;
    if (!has_next) break;
    on_gpu_->transfer(l, rounding_);
  }
  if (!on_gpu_->are_good()) return false;
  if (on_gpu_->brings_coarsest()) solve(*levels_.back());
  return true;
}

/// Adds the next level, without values. False if it is not worth it.
template <class S>
bool Hierarchy<S>::extend_on_gpu(Level& level, double strength) {
  const auto number = static_cast<std::size_t>(level.number);
  on_gpu_->find_norms(number);
  const auto aggregates = aggregate_rows(
      level, strength, [&](double least) { return on_gpu_->aggregate(number, least); });
  if (!aggregates) return false;
  Level& coarse = add_coarse(level, aggregates->count);
  on_gpu_->find_patterns(number, *aggregates, options_.interpolation);
  coarse.entries = on_gpu_->matrix(number + 1).entries();
  const auto view = [](const cuda::DevicePattern& pattern) {
    return PatternView{pattern.rows, pattern.columns, pattern.offsets.data(),
                       pattern.column.data()};
  };
  make_operators(level, coarse, view(on_gpu_->prolongation(number)),
                 view(on_gpu_->restriction(number)), view(on_gpu_->matrix(number + 1)));
  on_gpu_->extend(number);
  return true;
}

/// Makes the smoother of a level from these Ritz values of D^-1 A. False if the matrix may not be
/// semidefinite.
template <class S>
bool Hierarchy<S>::smooth_on_gpu(Level& level, const RitzValues<S>& found) {
  if (!found.is_positive || !std::isfinite(found.smallest + found.largest)) return false;
  if (!(found.largest > 0) || found.smallest < min_energy * found.largest) return false;
  level.largest = found.largest;
  const bool sweeps = options_.smoother == Smoother::jacobi;
  smooth_by_polynomial(level, sweeps ? 0 : options_.degree, sweeps ? options_.degree : 1);
  return true;
}

template bool Hierarchy<float>::set_up_on_gpu(const SlicedOperator<double>&,
                                              std::span<const FieldView<const double>>);
#define HEDDLE_MULTIGRID_SETUP(S)                                                 \
  template bool Hierarchy<S>::set_up_on_gpu(const SlicedOperator<S>&,             \
                                            std::span<const FieldView<const S>>); \
  template bool Hierarchy<S>::make_levels_on_gpu();                               \
  template bool Hierarchy<S>::extend_on_gpu(Level&, double);                      \
  template bool Hierarchy<S>::smooth_on_gpu(Level&, const RitzValues<S>&);
HEDDLE_MULTIGRID_SETUP(float)
HEDDLE_MULTIGRID_SETUP(double)
#undef HEDDLE_MULTIGRID_SETUP

}  // namespace heddle::detail
