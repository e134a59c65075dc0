// The vector kernels of BiCGStab in a graph, and the graph.
#include "../base/launch_cuda.cuh"
#include "../fields/vector_operations_cuda.hpp"
#include "bicgstab_cuda.hpp"
#include "graph_loop_cuda.hpp"
#include "heddle/kernels/bicgstab_graph.cuh"
#include "loop_kernels.cuh"
#include "loop_sums_cuda.hpp"

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
__device__ __forceinline__ Coefficient<R, S> rounded(const quaternion<double>& c) {
  Coefficient<R, S> narrow;
  for (int k = 0; k < narrow.size; ++k) narrow.component[k] = static_cast<S>(c.component[k]);
  return narrow;
}

/// Its kernels take many registers: half as many threads fill a GPU.
constexpr Offset filling = chunks_to_fill / 2;

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
__global__ void __launch_bounds__(threads_of_loop, resident_blocks_of_loop)
    begin_run(Walk walk, device::LoopState* state, Places<S> at) {
  visit_chunks_of_thread<ContiguousChunk<Ring::real, S, true>>(
      walk, CopyResidual<S>{at.r, at.shadow, at.p});
  if (device::is_leader() && state->limits.patience != 0) {
    state->limits.deadline = device::nanoseconds() + state->limits.patience;
  }
}

/// Kernel 2: s = r - v alpha, in the place of r.
template <Ring R, class S, class Chunk>
__global__ void __launch_bounds__(threads_of_loop, resident_blocks_of_loop)
    half_step(Walk walk, device::LoopState* state, device::PartialSums of_v, Places<S> at,
              double* partials) {
  quaternion<double> alpha;
  if (!device::take_alpha<ring_size(R), threads_of_loop>(*state, of_v, alpha)) return;
  double sum[1] = {};
  visit_chunks_of_thread<Chunk>(walk, HalfStep<R, S>{at.v, rounded<R, S>(alpha), at.r}, sum);
  leave_sums(partials, sum);
}

/// Kernel 4: x += p_hat alpha + s_hat omega, r = s - t omega.
template <Ring R, class S, class Chunk>
__global__ void __launch_bounds__(threads_of_loop, resident_blocks_of_loop)
    full_step(Walk walk, device::LoopState* state, device::PartialSums of_s,
              device::PartialSums of_t, Places<S> at, double* partials) {
  quaternion<double> alpha, omega;
  const device::StepTaken taken =
      device::take_omega<ring_size(R), threads_of_loop>(*state, of_s, of_t, alpha, omega);
  if (taken == device::no_step) return;
  if (taken == device::half_a_step) {
    const auto one = Coefficient<R, S>::from_real(S(1));
    visit_chunks_of_thread<Chunk>(walk, Axpby<R, S>{rounded<R, S>(alpha), at.p_hat, one, at.x});
    return;
  }
  double sums[ring_size(R) + 1] = {};
  visit_chunks_of_thread<Chunk>(walk,
                                FullStep<R, S>{at.p_hat, rounded<R, S>(alpha), at.s_hat,
                                               rounded<R, S>(omega), at.t, at.shadow, at.x, at.r},
                                sums);
  leave_sums(partials, sums);
}

/// Kernel 5: p = r + (p - v omega) beta.
template <Ring R, class S, class Chunk>
__global__ void __launch_bounds__(threads_of_loop, resident_blocks_of_loop)
    update_direction(Walk walk, device::LoopState* state, device::PartialSums of_r, Places<S> at) {
  quaternion<double> omega, beta;
  if (!device::take_beta<ring_size(R), threads_of_loop>(*state, of_r, omega, beta)) return;
  visit_chunks_of_thread<Chunk>(
      walk, UpdateDirection<R, S>{at.r, at.v, rounded<R, S>(omega), rounded<R, S>(beta), at.p});
}

/// Doubles that kernels leave to one another.
struct Room {
  Offset of_product = 0, of_vectors = 0, totals = 0;
  Offset doubles() const { return 2 * of_product + 2 * of_vectors + totals; }
};

template <Ring R, class S>
Room room_of(const QueuedProduct<S>& product) {
  constexpr int sums = ring_size(R) + 1;
  const Walk walk = walk_of_loop<R>(product.shape(), filling);
  return {sums * product.partials(), sums * Offset(partial_sums(walk, nullptr).count), 4 * sums};
}

template <Ring R, class S>
class FusedLoop final : public BiCGStabLoop<S> {
 public:
  FusedLoop(std::unique_ptr<QueuedProduct<S>> product, LoopPreconditioner<S> preconditioner,
            LoopForm form, const Device& device)
      : product_(std::move(product)),
        diagonal_(preconditioner.diagonal),
        precondition_(std::move(preconditioner.queue)),
        device_(device),
        graph_(device, form),
        overlapped_(product_->plan().launch == KernelLaunch::overlapped && !precondition_ &&
                    can_overlap(begin_run<S>, device.stream())),
        counters_(2, device) {
    product_->prepare_loop();
    make_room();
  }

  RunResult run(const BiCGStabFields<S>& fields, double squared_norm,
                const RunLimits& limits) override {
    device::LoopState start{};
    start.squared_norm = start.rho[0] = squared_norm;
    return graph_.run(kernels_on(fields), fields.x.data, fields.r.data, start, limits);
  }

  void capture_run(const BiCGStabFields<S>& fields, device::LoopState* state,
                   const Stream& capturing) override {
    capture_while_it_runs(kernels_on(fields), state, capturing);
  }

 private:
  /// Work that is not the loop's own goes on to the end of the body though the run has ended.
  int iterations_of_body() const { return precondition_ || !product_->ends_with_loop() ? 2 : 10; }

  /// For as long as `fields` are there.
  LoopKernels kernels_on(const BiCGStabFields<S>& fields) {
    return {[this, &fields](device::LoopState* state, const Stream& stream) {
              queue_start(fields, state, stream);
            },
            [this, &fields](device::LoopState* state, const Stream& stream) {
              for (int i = 0; i < iterations_of_body(); ++i) {
                if (is_contiguous<R>(fields.r)) {
                  queue_iteration<ContiguousChunk<R, S, true>>(fields, state, i, stream);
                } else if constexpr (R != Ring::real) {
                  queue_iteration<PlanarChunk<R, S>>(fields, state, i, stream);
                }
              }
            }};
  }

  static Places<S> places_of(const BiCGStabFields<S>& fields) {
    return {fields.x.data, fields.r.data, fields.shadow.data, fields.p.data,
            fields.v.data, fields.t.data, fields.p_hat.data,  fields.s_hat.data};
  }

  void make_room() {
    const Room room = room_of<R, S>(*product_);
    partials_ = Array<double>(static_cast<std::size_t>(room.doubles()), device_);
    double* next = partials_.data();
    const auto take = [&](double*& place, Offset doubles) {
      place = next;
      next += doubles;
    };
    take(of_v_.partials, room.of_product);
    take(of_t_.partials, room.of_product);
    take(of_s_.partials, room.of_vectors);
    take(of_r_.partials, room.of_vectors);
    for (Place* place : {&of_v_, &of_t_, &of_s_, &of_r_}) take(place->total, sums);
  }

  void queue_start(const BiCGStabFields<S>& fields, device::LoopState* state,
                   const Stream& stream) {
    const Walk flat = walk_of_loop<Ring::real>(fields.r, filling);
    begin_run<S><<<blocks_of_loop(flat), threads_of_loop, 0, stream.queue>>>(flat, state,
                                                                             places_of(fields));
    check(cudaGetLastError(), "the first kernel of BiCGStab");
  }

  template <class Chunk>
  void queue_iteration(const BiCGStabFields<S>& fields, device::LoopState* state, int iteration,
                       const Stream& body) {
    const Walk walk = walk_of_loop<R>(fields.r, filling);
    const Places<S> at = places_of(fields);
    const unsigned blocks = blocks_of_loop(walk);
    // None is before the first kernel of a body.
    bool overlapped = overlapped_ && iteration > 0;
    const auto precondition = [&](const FieldView<S>& from, const FieldView<S>& to) {
      if (precondition_) return precondition_(from, to, body);
      if (diagonal_ == nullptr) return;
      diagonal_->apply(from.data, to.data, body, state, overlapped);
      overlapped = overlapped_;
    };
    const auto multiply = [&](const S* x, const S* with, S* y, const Place& left) {
      const auto of_product = product_->multiply(
          {x, with, y, left.partials, counters_.data(), state, overlapped}, body);
      overlapped = overlapped_;
      return for_every_block<sums>(of_product, left.total, overlapped, body);
    };
    const auto sums_at = [&](const Place& left) { return partial_sums(walk, left.partials); };

    precondition(fields.p, fields.p_hat);
    const auto of_v = multiply(at.p_hat, at.shadow, at.v, of_v_);
    launch_kernel(half_step<R, S, Chunk>, blocks, threads_of_loop, overlapped, body, walk, state,
                  of_v, at, of_s_.partials);
    const auto of_s = for_every_block<1>(sums_at(of_s_), of_s_.total, overlapped, body);
    precondition(fields.r, fields.s_hat);
    const auto of_t = multiply(at.s_hat, at.r, at.t, of_t_);
    launch_kernel(full_step<R, S, Chunk>, blocks, threads_of_loop, overlapped, body, walk, state,
                  of_s, of_t, at, of_r_.partials);
    const auto of_r = for_every_block<sums>(sums_at(of_r_), of_r_.total, overlapped, body);
    launch_kernel(update_direction<R, S, Chunk>, blocks, threads_of_loop, overlapped, body, walk,
                  state, of_r, at);
  }

  static constexpr int sums = ring_size(R) + 1;
  /// Where a kernel leaves its partial sums, and where they are added if they are many.
  struct Place {
    double* partials = nullptr;
    double* total = nullptr;
  };

  std::unique_ptr<QueuedProduct<S>> product_;
  const Diagonal* diagonal_;
  std::function<void(const FieldView<const S>&, const FieldView<S>&, const Stream&)> precondition_;
  Device device_;
  GraphLoop graph_;
  bool overlapped_;
  Array<unsigned> counters_;  // of a dynamic schedule
  Array<double> partials_;
  Place of_v_, of_s_, of_t_, of_r_;
};

}  // namespace

template <class S>
std::unique_ptr<BiCGStabLoop<S>> bicgstab_graph(std::unique_ptr<QueuedProduct<S>> product,
                                                LoopPreconditioner<S> preconditioner, Ring ring,
                                                LoopForm form, const Device& device) {
  const auto make = [&]<Ring R>() -> std::unique_ptr<BiCGStabLoop<S>> {
    return std::make_unique<FusedLoop<R, S>>(std::move(product), std::move(preconditioner), form,
                                             device);
  };
  switch (ring) {
    case Ring::complex:
      return make.template operator()<Ring::complex>();
    case Ring::quaternion:
      return make.template operator()<Ring::quaternion>();
    case Ring::real:
      break;
  }
  return make.template operator()<Ring::real>();
}

template <class S>
Workspace workspace_of_bicgstab_graph(const QueuedProduct<S>& product, Ring ring) {
  const Room room = ring == Ring::quaternion ? room_of<Ring::quaternion, S>(product)
                    : ring == Ring::complex  ? room_of<Ring::complex, S>(product)
                                             : room_of<Ring::real, S>(product);
  return {0, room.doubles() * static_cast<long long>(sizeof(double)) + LoopRun::allocated_bytes()};
}

template Workspace workspace_of_bicgstab_graph(const QueuedProduct<float>&, Ring);
template Workspace workspace_of_bicgstab_graph(const QueuedProduct<double>&, Ring);
template std::unique_ptr<BiCGStabLoop<float>> bicgstab_graph(std::unique_ptr<QueuedProduct<float>>,
                                                             LoopPreconditioner<float>, Ring,
                                                             LoopForm, const Device&);
template std::unique_ptr<BiCGStabLoop<double>> bicgstab_graph(
    std::unique_ptr<QueuedProduct<double>>, LoopPreconditioner<double>, Ring, LoopForm,
    const Device&);

}  // namespace heddle::cuda
