// The vector kernels of BiCGStab in a graph, and the graph.
#include <algorithm>
#include <future>
#include <optional>

#include "../fields/chunk_operations.hpp"
#include "../fields/vector_operations_cuda.hpp"
#include "bicgstab_cuda.hpp"
#include "captured_graph_cuda.hpp"
#include "heddle/kernels/bicgstab_graph.cuh"
#include "loop_cuda.hpp"

namespace heddle::cuda {

namespace {

/// Where the fields lie, for kernels.
template <class S>
struct Places {
  S *x, *r, *shadow, *p, *v, *t;
  const S *p_hat, *s_hat;
};

/// A coefficient in the precision of the fields.
template <Ring R, class S>
__device__ __forceinline__ Coefficient<R, S> rounded(const double (&c)[4]) {
  Coefficient<R, S> narrow;
  for (int k = 0; k < narrow.size; ++k) narrow.component[k] = static_cast<S>(c[k]);
  return narrow;
}

template <class Chunk, class Operation>
__device__ __forceinline__ void visit_chunks_of_thread(const Walk& walk, const Operation& operation,
                                                       double* sums) {
  visit_chunks<Chunk>(walk, blockIdx.x, static_cast<int>(threadIdx.x), operation, sums);
}

/// r^ = p = r at the start of a run; the clock starts too.
template <class S>
struct CopyResidual {
  const S* r;
  S* shadow;
  S* p;

  template <class Chunk>
  HEDDLE_HD void operator()(const Chunk& chunk, double*) const {
    const auto residual = chunk.load(r);
    chunk.store(shadow, residual);
    chunk.store(p, residual);
  }
};
template <class S>
__global__ void __launch_bounds__(threads_of_block)
    begin_run(Walk walk, device::LoopState* state, Places<S> at) {
  visit_chunks_of_thread<ContiguousChunk<Ring::real, S, true>>(
      walk, CopyResidual<S>{at.r, at.shadow, at.p}, nullptr);
  if (blockIdx.x == 0 && threadIdx.x == 0 && state->limits.patience != 0) {
    state->limits.deadline = device::nanoseconds() + state->limits.patience;
  }
}

/// s = r - v alpha, in the place of r.
template <Ring R, class S, class Chunk>
__global__ void __launch_bounds__(threads_of_block)
    half_step(Walk walk, device::LoopState* state, Places<S> at, device::SumSpace space) {
  if (state->end != device::loop_runs) return;
  double sum[1] = {};
  visit_chunks_of_thread<Chunk>(walk, HalfStep<R, S>{at.v, rounded<R, S>(state->ring_alpha), at.r},
                                sum);
  device::store_partials<1, threads_of_block>(space, sum, blockIdx.x);
  double total[1];
  if (device::finish_sums<1, threads_of_block>(space, gridDim.x, total) && threadIdx.x == 0) {
    device::judge_half_step(*state, total[0]);
  }
}

/// x += p_hat alpha + s_hat omega, r = s - t omega.
template <Ring R, class S, class Chunk>
__global__ void __launch_bounds__(threads_of_block)
    full_step(Walk walk, device::LoopState* state, Places<S> at, device::SumSpace space) {
  if (state->over != 0) return;
  const auto alpha = rounded<R, S>(state->ring_alpha);
  constexpr int count = ring_size(R) + 1;
  double sums[count] = {};
  if (state->half != 0) {
    const auto one = Coefficient<R, S>::from_real(S(1));
    visit_chunks_of_thread<Chunk>(walk, Axpby<R, S>{alpha, at.p_hat, one, at.x}, sums);
    return;
  }
  visit_chunks_of_thread<Chunk>(
      walk,
      FullStep<R, S>{at.p_hat, alpha, at.s_hat, rounded<R, S>(state->omega), at.t, at.shadow, at.x,
                     at.r},
      sums);
  device::store_partials<count, threads_of_block>(space, sums, blockIdx.x);
  double total[count];
  if (device::finish_sums<count, threads_of_block>(space, gridDim.x, total) && threadIdx.x == 0) {
    device::set_ring_beta(*state, total);
  }
}

/// p = r + (p - v omega) beta.
template <Ring R, class S, class Chunk>
__global__ void __launch_bounds__(threads_of_block)
    update_direction(Walk walk, const device::LoopState* state, Places<S> at) {
  if (state->end != device::loop_runs) return;
  visit_chunks_of_thread<Chunk>(walk,
                                UpdateDirection<R, S>{at.r, at.v, rounded<R, S>(state->omega),
                                                      rounded<R, S>(state->ring_beta), at.p},
                                nullptr);
}

template <Ring R, class S>
class GraphLoop final : public BiCGStabLoop<S> {
 public:
  GraphLoop(const Product& product, const Diagonal* diagonal, const Device& device)
      : product_(product),
        diagonal_(diagonal),
        device_(device),
        run_(device),
        counters_(3, device) {
    auto other =
        std::async(std::launch::async, [this] { product_.prepare(call(set_omega, nullptr, {})); });
    product_.prepare(call(set_sigma, nullptr, {}));
    other.get();
    const FieldView<S> shape(nullptr, product_.pattern().rows, product_.shape().result_components,
                             product_.plan().vector);
    const Offset room = std::max(product_.partials(), partials_of<R>(shape));
    partials_ = Array<double>(static_cast<std::size_t>((ring_size(R) + 1) * room), device_);
  }

  RunResult run(const BiCGStabFields<S>& fields, double squared_norm,
                const RunLimits& limits) override {
    device::LoopState start{};
    start.squared_norm = start.rho[0] = squared_norm;
    device::LoopState* state = run_.begin(limits, start);
    if (!graph_ || captured_x_ != fields.x.data || captured_r_ != fields.r.data) {
      captured_x_ = fields.x.data;
      captured_r_ = fields.r.data;
      graph_.emplace(device_,
                     [&](const Stream& capturing) { capture_run(fields, state, capturing); });
    }
    graph_->launch(device_.stream());
    return run_.wait(limits);
  }

  void capture_run(const BiCGStabFields<S>& fields, device::LoopState* state,
                   const Stream& capturing) override {
    const OnGpu here(capturing);
    const Places<S> at = places_of(fields);
    const Walk walk = walk_over<Ring::real>(fields.r, 1);
    begin_run<S><<<walk.blocks(), threads_of_block, 0, capturing.queue>>>(walk, state, at);
    check(cudaGetLastError(), "the first kernel of BiCGStab");
    capture_while_zero(capturing, &state->end, [&](const Stream& body) {
      for (int i = 0; i < iterations_of_body; ++i) {
        if (is_contiguous<R>(fields.r)) {
          queue_iteration<ContiguousChunk<R, S, true>>(fields, state, body);
        } else if constexpr (R != Ring::real) {
          queue_iteration<PlanarChunk<R, S>>(fields, state, body);
        }
      }
    });
  }

 private:
  static constexpr int iterations_of_body = 10;

  static Places<S> places_of(const BiCGStabFields<S>& fields) {
    return {fields.x.data, fields.r.data, fields.shadow.data, fields.p.data,
            fields.v.data, fields.t.data, fields.p_hat.data,  fields.s_hat.data};
  }

  template <class Chunk>
  void queue_iteration(const BiCGStabFields<S>& fields, device::LoopState* state,
                       const Stream& body) {
    const Places<S> at = places_of(fields);
    const DeviceSums sums{partials_.data(), counters_.data()};
    const device::SumSpace space{sums.partials, sums.finished};
    const Walk walk = walk_over<R>(fields.r, 1);
    const Walk summing = walk_over<R>(fields.r, steps_of_sums);
    const auto multiply = [&](const char* action, const S* x, const S* with, S* y) {
      Product::Call product = call(action, state, sums);
      product.x = x;
      product.with = with;
      product.y = y;
      product.ticket = counters_.data() + 1;
      product_.launch(product, body);
    };

    if (diagonal_ != nullptr) {
      diagonal_->apply(fields.p.data, fields.p_hat.data, body, state);
    }
    multiply(set_sigma, at.p_hat, at.shadow, at.v);
    half_step<R, S, Chunk>
        <<<summing.blocks(), threads_of_block, 0, body.queue>>>(summing, state, at, space);
    if (diagonal_ != nullptr) {
      diagonal_->apply(fields.r.data, fields.s_hat.data, body, state);
    }
    multiply(set_omega, at.s_hat, at.r, at.t);
    full_step<R, S, Chunk>
        <<<summing.blocks(), threads_of_block, 0, body.queue>>>(summing, state, at, space);
    update_direction<R, S, Chunk>
        <<<walk.blocks(), threads_of_block, 0, body.queue>>>(walk, state, at);
    check(cudaGetLastError(), "the kernels of BiCGStab");
  }

  static constexpr const char* set_sigma = "heddle::device::SetSigma";
  static constexpr const char* set_omega = "heddle::device::SetOmega";

  /// The product with sums in the ring of the recurrence, and what is done with them.
  static Product::Call call(const char* action, device::LoopState* state, const DeviceSums& sums) {
    Product::Call call;
    call.epilogue = device::store_and_dots;
    call.ring = ring_size(R);
    call.action = action;
    call.action_header = "heddle/kernels/bicgstab_graph.cuh";
    call.sums = sums;
    call.state = state;
    return call;
  }

  const Product& product_;
  const Diagonal* diagonal_;
  Device device_;
  LoopRun run_;
  Array<unsigned> counters_;  // of the sums; two of a dynamic schedule
  Array<double> partials_;
  std::optional<CapturedGraph> graph_;
  const S* captured_x_ = nullptr;
  const S* captured_r_ = nullptr;
};

}  // namespace

template <class S>
std::unique_ptr<BiCGStabLoop<S>> bicgstab_graph(const Product& product, const Diagonal* diagonal,
                                                Ring ring, const Device& device) {
  switch (ring) {
    case Ring::complex:
      return std::make_unique<GraphLoop<Ring::complex, S>>(product, diagonal, device);
    case Ring::quaternion:
      return std::make_unique<GraphLoop<Ring::quaternion, S>>(product, diagonal, device);
    case Ring::real:
      break;
  }
  return std::make_unique<GraphLoop<Ring::real, S>>(product, diagonal, device);
}
template std::unique_ptr<BiCGStabLoop<float>> bicgstab_graph(const Product&, const Diagonal*, Ring,
                                                             const Device&);
template std::unique_ptr<BiCGStabLoop<double>> bicgstab_graph(const Product&, const Diagonal*, Ring,
                                                              const Device&);

}  // namespace heddle::cuda
