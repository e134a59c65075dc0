// The vector kernels of conjugate gradient in a graph, and the graph.
#include <algorithm>
#include <optional>

#include "captured_graph_cuda.hpp"
#include "conjugate_gradient_cuda.hpp"
#include "heddle/kernels/conjugate_gradient_graph.cuh"
#include "loop_cuda.hpp"

namespace heddle::cuda {

namespace {

constexpr int block = 256;
constexpr int pieces = 4;  // of 16 bytes that a thread takes of each field

template <class S>
struct alignas(16) Piece {
  static constexpr int size = 16 / sizeof(S);
  S scalar[size];
};

/// Calls `visit(first, count)` for the pieces of this thread: `count` scalars from `first`, fewer
/// than a whole piece at the end of the field.
template <class S, class Visit>
__device__ __forceinline__ void for_each_piece(Offset scalars, const Visit& visit) {
  constexpr int W = Piece<S>::size;
  const Offset begin = Offset(blockIdx.x) * (block * pieces) + threadIdx.x;
#pragma unroll
  for (int k = 0; k < pieces; ++k) {
    const Offset first = (begin + k * block) * W;
    if (first + W <= scalars) {
      visit(first, std::integral_constant<int, W>());
    } else {
      for (Offset i = first; i < scalars; ++i) visit(i, std::integral_constant<int, 1>());
    }
  }
}

template <class S, int N>
__device__ __forceinline__ void load(S (&to)[N], const S* from) {
  if constexpr (N == Piece<S>::size) {
    const auto piece = *reinterpret_cast<const Piece<S>*>(from);
#pragma unroll
    for (int i = 0; i < N; ++i) to[i] = piece.scalar[i];
  } else {
    to[0] = from[0];
  }
}
template <class S, int N>
__device__ __forceinline__ void store(S* to, const S (&from)[N]) {
  if constexpr (N == Piece<S>::size) {
    Piece<S> piece;
#pragma unroll
    for (int i = 0; i < N; ++i) piece.scalar[i] = from[i];
    *reinterpret_cast<Piece<S>*>(to) = piece;
  } else {
    to[0] = from[0];
  }
}

template <class S>
__global__ void __launch_bounds__(block) update_residual(device::LoopState* state, const S* q, S* r,
                                                         Offset scalars, device::SumSpace sums) {
  if (state->end != device::loop_runs) return;
  const S alpha = static_cast<S>(state->alpha);
  double sum[1] = {};
  for_each_piece<S>(scalars, [&](Offset first, auto count) {
    constexpr int N = decltype(count)::value;
    S image[N], residual[N];
    load(image, q + first);
    load(residual, r + first);
#pragma unroll
    for (int i = 0; i < N; ++i) {
      residual[i] -= alpha * image[i];
      sum[0] += double(residual[i]) * double(residual[i]);
    }
    store(r + first, residual);
  });
  device::store_partials<1, block>(sums, sum, blockIdx.x);
}

/// Behind kernel 2: its sums are |r|^2, and <r, z> where there is a preconditioner.
template <int N>
__global__ void __launch_bounds__(device::finish_threads)
    finish_update(device::LoopState* state, const double* partials, unsigned blocks) {
  if (state->end != device::loop_runs) return;
  double total[N];
  device::add_partials<N, block, device::finish_threads>(partials, blocks, total);
  if (threadIdx.x == 0) device::set_beta(*state, total[0], total[N - 1]);
}

template <class S>
__global__ void __launch_bounds__(block)
    update_solution_and_direction(device::LoopState* state, S* x, S* p, const S* z,
                                  Offset scalars) {
  if (state->over != 0) return;
  const S alpha = static_cast<S>(state->alpha);
  const S beta = static_cast<S>(state->beta);
  for_each_piece<S>(scalars, [&](Offset first, auto count) {
    constexpr int N = decltype(count)::value;
    S solution[N], direction[N], from[N];
    load(solution, x + first);
    load(direction, p + first);
    load(from, z + first);
#pragma unroll
    for (int i = 0; i < N; ++i) {
      solution[i] += alpha * direction[i];
      direction[i] = from[i] + beta * direction[i];
    }
    store(x + first, solution);
    store(p + first, direction);
  });
}

/// p = z and <r, z> at the start of a run; the clock starts too.
template <class S>
__global__ void __launch_bounds__(block) begin_run(device::LoopState* state, const S* r, const S* z,
                                                   S* p, Offset scalars, device::SumSpace sums) {
  double sum[1] = {};
  for_each_piece<S>(scalars, [&](Offset first, auto count) {
    constexpr int N = decltype(count)::value;
    S residual[N], direction[N];
    load(residual, r + first);
    load(direction, z + first);
#pragma unroll
    for (int i = 0; i < N; ++i) sum[0] += double(residual[i]) * double(direction[i]);
    store(p + first, direction);
  });
  device::store_partials<1, block>(sums, sum, blockIdx.x);
  double total[1];
  if (device::finish_sums<1, block>(sums, gridDim.x, total) && threadIdx.x == 0) {
    state->r_z = total[0];
    if (!(total[0] > 0)) {
      state->end =
          device::is_finite(total[0]) ? device::loop_not_definite : device::loop_not_finite;
      state->over = 1;
    }
    if (state->limits.patience != 0) {
      state->limits.deadline = device::nanoseconds() + state->limits.patience;
    }
  }
}

template <class S>
class GraphLoop final : public ConjugateGradientLoop<S> {
 public:
  GraphLoop(const Product& product, const Diagonal* diagonal, const Device& device)
      : product_(product),
        diagonal_(diagonal),
        device_(device),
        run_(device),
        counters_(3, device) {
    product_.prepare(call(nullptr, {}));
    Offset room = std::max<Offset>(product_.partials(), blocks_of(product_));
    if (diagonal_ != nullptr) room = std::max(room, diagonal_->partials());
    constexpr Offset sums_of_partial = 2;
    partials_ = Array<double>(static_cast<std::size_t>(sums_of_partial * room), device_);
  }

  RunResult run(const ConjugateGradientFields<S>& fields, const RunLimits& limits) override {
    device::LoopState* state = run_.begin(limits, {});
    if (!graph_ || captured_x_ != fields.x.data || captured_r_ != fields.r.data) {
      captured_x_ = fields.x.data;
      captured_r_ = fields.r.data;
      graph_.emplace(device_,
                     [&](const Stream& capturing) { capture_run(fields, state, capturing); });
    }
    graph_->launch(device_.stream());
    return run_.wait(limits);
  }

  void capture_run(const ConjugateGradientFields<S>& fields, device::LoopState* state,
                   const Stream& capturing) override {
    const OnGpu here(capturing);
    const Offset scalars = fields.r.scalars();
    const unsigned blocks = blocks_of(product_);
    const DeviceSums sums{partials_.data(), counters_.data()};
    const device::SumSpace space{sums.partials, sums.finished};
    if (diagonal_ != nullptr) diagonal_->apply(fields.r.data, fields.z.data, capturing);
    begin_run<S><<<blocks, block, 0, capturing.queue>>>(state, fields.r.data, fields.z.data,
                                                        fields.p.data, scalars, space);
    check(cudaGetLastError(), "the first kernel of conjugate gradient");
    capture_while_zero(capturing, &state->end, [&](const Stream& body) {
      for (int i = 0; i < iterations_of_body; ++i) {
        Product::Call product = call(state, sums);
        product.x = fields.p.data;
        product.with = fields.p.data;
        product.y = fields.q.data;
        product.ticket = counters_.data() + 1;
        product_.launch(product, body);
        if (diagonal_ != nullptr) {
          diagonal_->update(0, fields.q.data, fields.r.data, fields.z.data, sums, state, body);
          finish_update<2><<<1, device::finish_threads, 0, body.queue>>>(
              state, sums.partials, static_cast<unsigned>(diagonal_->partials()));
        } else {
          update_residual<S><<<blocks, block, 0, body.queue>>>(state, fields.q.data, fields.r.data,
                                                               scalars, space);
          finish_update<1>
              <<<1, device::finish_threads, 0, body.queue>>>(state, sums.partials, blocks);
        }
        update_solution_and_direction<S><<<blocks, block, 0, body.queue>>>(
            state, fields.x.data, fields.p.data, fields.z.data, scalars);
      }
      check(cudaGetLastError(), "the kernels of conjugate gradient");
    });
  }

 private:
  static constexpr int iterations_of_body = 20;

  static unsigned blocks_of(const Product& product) {
    const Offset scalars =
        static_cast<Offset>(product.pattern().rows) * product.shape().result_components;
    constexpr Offset of_block = block * pieces * Piece<S>::size;
    return static_cast<unsigned>((scalars + of_block - 1) / of_block);
  }

  static Product::Call call(device::LoopState* state, const DeviceSums& sums) {
    Product::Call call;
    call.epilogue = device::store_and_dot;
    call.action = "heddle::device::SetAlpha";
    call.action_header = "heddle/kernels/conjugate_gradient_graph.cuh";
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
std::unique_ptr<ConjugateGradientLoop<S>> conjugate_gradient_graph(const Product& product,
                                                                   const Diagonal* diagonal,
                                                                   const Device& device) {
  return std::make_unique<GraphLoop<S>>(product, diagonal, device);
}
template std::unique_ptr<ConjugateGradientLoop<float>> conjugate_gradient_graph(const Product&,
                                                                                const Diagonal*,
                                                                                const Device&);
template std::unique_ptr<ConjugateGradientLoop<double>> conjugate_gradient_graph(const Product&,
                                                                                 const Diagonal*,
                                                                                 const Device&);

}  // namespace heddle::cuda
