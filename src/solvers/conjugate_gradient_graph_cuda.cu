// The vector kernels of conjugate gradient in a graph, and the graph.
#include <algorithm>
#include <utility>

#include "../base/launch_cuda.cuh"
#include "../fields/vector_operations_cuda.hpp"
#include "conjugate_gradient_cuda.hpp"
#include "graph_loop_cuda.hpp"
#include "heddle/kernels/conjugate_gradient_graph.cuh"
#include "loop_kernels.cuh"
#include "loop_sums_cuda.hpp"

namespace heddle::cuda {

namespace {

template <class S>
using Chunk = ContiguousChunk<Ring::real, S, true>;

/// p = z (or 0) and <r, z> at the start of a run; the clock starts too.
template <class S>
struct BeginDirection {
  const S* r;
  const S* z;
  S* p;
  S* s;  // null: p = z, else p = s = 0

  template <class C>
  __device__ void operator()(const C& chunk, double* sum) const {
    const auto residual = chunk.load(r), direction = chunk.load(z);
    for (int e = 0; e < C::elements; ++e) {
      if (e < chunk.count) add_conjugate_product(residual.at[e], direction.at[e], sum);
    }
    if (s == nullptr) return chunk.store(p, direction);
    chunk.store(p, typename C::Values{});
    chunk.store(s, typename C::Values{});
  }
};
template <class S>
__global__ void __launch_bounds__(threads_of_loop, resident_blocks_of_loop)
    begin_run(Walk walk, device::LoopState* state, BeginDirection<S> begin,
              device::SumSpace space) {
  double sum[1] = {}, total[1];
  visit_chunks_of_thread<Chunk<S>>(walk, begin, sum);
  device::store_partials<1, threads_of_loop>(space, sum, blockIdx.x);
  if (!device::finish_sums<1, threads_of_loop>(space, gridDim.x, total) || threadIdx.x != 0) return;
  state->step[0].r_z = total[0];
  device::set_end(*state, device::end_unless_positive(total[0], device::loop_not_definite));
  if (state->limits.patience != 0) {
    state->limits.deadline = device::nanoseconds() + state->limits.patience;
  }
}

/// Kernel 2 of two reductions.
template <class S>
__global__ void __launch_bounds__(threads_of_loop, resident_blocks_of_loop)
    update_residual(Walk walk, device::LoopState* state, int side, device::PartialSums product,
                    const S* q, S* r, double* partials) {
  double alpha, sum[1] = {};
  if (!device::take_alpha<threads_of_loop>(*state, side, product, alpha)) return;
  visit_chunks_of_thread<Chunk<S>>(walk, UpdateResidual<S>{static_cast<S>(alpha), q, r}, sum);
  leave_sums(partials, sum);
}

/// Of two reductions where z = M^-1 r is work of its own, after that: |r|^2 and <r, z>.
template <class S>
struct NormAndDot {
  const S* r;
  const S* z;

  template <class C>
  __device__ void operator()(const C& chunk, double* sums) const {
    const auto residual = chunk.load(r), direction = chunk.load(z);
    for (int e = 0; e < C::elements; ++e) {
      if (e >= chunk.count) continue;
      add_conjugate_product(residual.at[e], residual.at[e], sums);
      add_conjugate_product(residual.at[e], direction.at[e], sums + 1);
    }
  }
};
template <class S>
__global__ void __launch_bounds__(threads_of_loop, resident_blocks_of_loop)
    sum_of_step(Walk walk, NormAndDot<S> fields, double* partials) {
  double sums[2] = {};
  visit_chunks_of_thread<Chunk<S>>(walk, fields, sums);
  leave_sums(partials, sums);
}

/// Kernel 3.
template <int N, class S>
__global__ void __launch_bounds__(threads_of_loop, resident_blocks_of_loop)
    update_solution_and_direction(Walk walk, device::LoopState* state, int side,
                                  device::PartialSums sums, S* x, S* p, const S* z) {
  double alpha, beta;
  if (!device::take_beta<N, threads_of_loop>(*state, side, sums, alpha, beta)) return;
  visit_chunks_of_thread<Chunk<S>>(
      walk, UpdateSolutionAndDirection<S>{static_cast<S>(alpha), x, static_cast<S>(beta), z, p});
}

/// Kernels 2 and 3 in one launch of blocks that meet between them: r stays in registers, and x and
/// p come into L2 while the blocks wait for one another.
template <int Steps, class S>
__global__ void __launch_bounds__(threads_of_loop, resident_blocks_of_loop)
    update_together(Walk walk, device::LoopState* state, int side, device::PartialSums product,
                    const S* q, S* r, S* x, S* p, device::Meeting meeting) {
  double alpha;
  if (!device::take_alpha<threads_of_loop>(*state, side, product, alpha)) return;
  using C = Chunk<S>;
  const unsigned thread = blockIdx.x * threads_of_loop + threadIdx.x;
  const unsigned block = thread / threads_of_block;
  const auto visit = [&](const auto& operation) {
#pragma unroll
    for (int step = 0; step < Steps; ++step) {
      const Offset chunk = (Offset(block) * Steps + step) * threads_of_block +
                           static_cast<int>(thread % threads_of_block);
      if (chunk * C::elements < walk.elements) operation(C(walk, 0, chunk), step);
    }
  };
  typename C::Values residual[Steps];
  double sum[1] = {};
  const S a = static_cast<S>(alpha);
  visit([&](const C& chunk, int step) {
    residual[step] = chunk.load(r);
    const auto image = chunk.load(q);
    for (int e = 0; e < C::elements; ++e) {
      S& component = residual[step].at[e].component[0];
      component -= a * image.at[e].component[0];
      sum[0] += double(component) * component;
    }
    chunk.store(r, residual[step]);
  });
  visit([&](const C& chunk, int) {
    asm volatile("prefetch.global.L2 [%0];" : : "l"(x + chunk.first));
    asm volatile("prefetch.global.L2 [%0];" : : "l"(p + chunk.first));
  });
  const double squared_norm = device::meet<threads_of_loop>(meeting, sum);
  const S b = static_cast<S>(device::conclude_step(*state, side, squared_norm, squared_norm));
  visit([&](const C& chunk, int step) {
    auto of_p = chunk.load(p), of_x = chunk.load(x);
    for (int e = 0; e < C::elements; ++e) {
      const S direction = of_p.at[e].component[0];
      of_x.at[e].component[0] += a * direction;
      of_p.at[e].component[0] = residual[step].at[e].component[0] + b * direction;
    }
    chunk.store(x, of_x);
    chunk.store(p, of_p);
  });
}

constexpr int most_groups = 1024;  // that meet

/// Of that kernel: as few steps a thread as its blocks need to be there at once.
template <class S>
struct Together {
  void (*kernel)(Walk, device::LoopState*, int, device::PartialSums, const S*, S*, S*, S*,
                 device::Meeting) = nullptr;  // null where r does not fit into registers
  Walk walk;
};

template <class S>
Together<S> together_on(const FieldView<S>& shape, const Stream& stream) {
  Together<S> found;
  const auto consider = [&]<int Steps>() {
    if (found.kernel != nullptr) return;
    Walk walk = walk_over<Ring::real>(shape, 1);
    const unsigned chunks_of_thread = static_cast<unsigned>(walk.steps) * walk.blocks_of_plane;
    walk.steps = Steps;
    walk.blocks_of_plane = (chunks_of_thread + Steps - 1) / Steps;
    const unsigned blocks = blocks_of_loop(walk);
    if (blocks > resident_blocks(update_together<Steps, S>, threads_of_loop, stream)) return;
    if (blocks * device::partials_of_block(threads_of_loop) > unsigned{most_groups}) return;
    found = {update_together<Steps, S>, walk};
  };
  [&]<int... Steps>(std::integer_sequence<int, Steps...>) {
    (consider.template operator()<Steps>(), ...);
  }(std::integer_sequence<int, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10>{});
  return found;
}

/// Kernel 2 of one reduction; its own sums take turns in two places.
template <class S>
__global__ void __launch_bounds__(threads_of_loop, resident_blocks_of_loop)
    one_reduction_step(Walk walk, device::LoopState* state, int side, device::PartialSums product,
                       device::PartialSums before, StepWithOneReduction<S> fields,
                       double* partials) {
  double alpha, beta, sum[1] = {};
  if (!device::take_step<1, threads_of_loop>(*state, side, product, before, alpha, beta)) return;
  fields.alpha = static_cast<S>(alpha);
  fields.beta = static_cast<S>(beta);
  visit_chunks_of_thread<Chunk<S>>(walk, fields, sum);
  leave_sums(partials, sum);
}

constexpr int most_sums = 2;  // that a kernel leaves
constexpr long long bytes_of_meeting =
    most_groups * static_cast<long long>(sizeof(device::Packet)) +
    static_cast<long long>(sizeof(unsigned long long));

/// Doubles that kernels leave to one another, and scalars of A p.
struct Room {
  Offset of_product = 0, of_vectors = 0, totals = 0;
  Offset s = 0;
  Offset doubles() const { return of_product + 2 * of_vectors + totals; }
};

template <class S>
Room room_of(const QueuedProduct<S>& product, const Diagonal* diagonal, bool one_reduction) {
  const FieldView<S> shape = product.shape();
  Room room;
  room.of_product = product.partials();
  room.of_vectors =
      most_sums * partial_sums(walk_of_loop<Ring::real>(shape, chunks_to_fill), nullptr).count;
  if (diagonal != nullptr) {
    room.of_vectors = std::max<Offset>(room.of_vectors, most_sums * diagonal->partials());
  }
  room.totals = 2 * most_sums;
  if (one_reduction) room.s = shape.scalars();
  return room;
}

template <class S>
class FusedLoop final : public ConjugateGradientLoop<S> {
 public:
  FusedLoop(std::unique_ptr<QueuedProduct<S>> product, LoopPreconditioner<S> preconditioner,
            LoopForm form, const Device& device)
      : product_(std::move(product)),
        diagonal_(preconditioner.diagonal),
        precondition_(std::move(preconditioner.queue)),
        device_(device),
        graph_(device, form),
        counters_(3, device),
        one_reduction_(product_->plan().reductions == 1 && !precondition_),
        overlapped_(product_->plan().launch == KernelLaunch::overlapped && !precondition_ &&
                    can_overlap(update_residual<S>, device.stream())) {
    product_->prepare_loop();
    if (diagonal_ != nullptr) diagonal_->prepare_step(one_reduction_);
    make_room();
    const bool bare = diagonal_ == nullptr && !precondition_;
    if (product_->plan().passes == 1 && !one_reduction_ && bare) {
      together_ = together_on(product_->shape(), device.stream());
    }
  }

  RunResult run(const ConjugateGradientFields<S>& fields, const RunLimits& limits) override {
    return graph_.run(kernels_on(fields), fields.x.data, fields.r.data, {}, limits);
  }

  void capture_run(const ConjugateGradientFields<S>& fields, device::LoopState* state,
                   const Stream& capturing) override {
    capture_while_it_runs(kernels_on(fields), state, capturing);
  }

 private:
  /// Even: `side` is that of the iteration's number. Work that is not the loop's own goes on to the
  /// end of the body though the run has ended.
  int iterations_of_body() const { return precondition_ || !product_->ends_with_loop() ? 4 : 20; }

  /// For as long as `fields` are there.
  LoopKernels kernels_on(const ConjugateGradientFields<S>& fields) {
    return {[this, &fields](device::LoopState* state, const Stream& stream) {
              queue_start(fields, state, stream);
            },
            [this, &fields](device::LoopState* state, const Stream& stream) {
              for (int i = 0; i < iterations_of_body(); ++i) {
                queue_iteration(fields, state, i, stream);
              }
            }};
  }

  void make_room() {
    const Room room = room_of<S>(*product_, diagonal_, one_reduction_);
    partials_ = Array<double>(static_cast<std::size_t>(room.doubles()), device_);
    of_product_ = partials_.data();
    of_vectors_[0] = of_product_ + room.of_product;
    of_vectors_[1] = of_vectors_[0] + room.of_vectors;
    totals_ = of_vectors_[1] + room.of_vectors;
    s_ = Array<S>(static_cast<std::size_t>(room.s), device_);
    packets_ = Array<device::Packet>(most_groups, device_);
    round_ = Array<unsigned long long>(1, device_);
  }

  void queue_start(const ConjugateGradientFields<S>& fields, device::LoopState* state,
                   const Stream& stream) {
    const Walk walk = walk_of_loop<Ring::real>(fields.r, chunks_to_fill);
    if (diagonal_ != nullptr) diagonal_->apply(fields.r.data, fields.z.data, stream);
    if (precondition_) precondition_(fields.r, fields.z, stream);
    const BeginDirection<S> begin{fields.r.data, fields.z.data, fields.p.data,
                                  one_reduction_ ? s_.data() : nullptr};
    begin_run<S><<<blocks_of_loop(walk), threads_of_loop, 0, stream.queue>>>(
        walk, state, begin, {of_vectors_[0], counters_.data()});
    check(cudaGetLastError(), "the first kernel of conjugate gradient");
  }

  void queue_iteration(const ConjugateGradientFields<S>& fields, device::LoopState* state,
                       int iteration, const Stream& body) {
    const Walk walk = walk_of_loop<Ring::real>(fields.r, chunks_to_fill);
    const int side = iteration % 2;
    const unsigned blocks = blocks_of_loop(walk);
    const S* multiplied = one_reduction_ ? fields.z.data : fields.p.data;
    typename QueuedProduct<S>::Call product;
    product.x = product.with = multiplied;
    product.y = fields.q.data;
    product.partials = of_product_;
    product.ticket = counters_.data() + 1;
    product.state = state;
    product.overlapped = overlapped_ && iteration > 0;  // none is before the first of a body
    const auto of_product =
        for_every_block<1>(product_->multiply(product, body), totals_, overlapped_, body);

    if (together_.kernel != nullptr) {
      launch_cooperative(together_.kernel, blocks_of_loop(together_.walk), threads_of_loop, body,
                         together_.walk, state, side, of_product, fields.q.data, fields.r.data,
                         fields.x.data, fields.p.data,
                         device::Meeting{packets_.data(), round_.data()});
      return;
    }

    // Those that kernel 2 leaves, and with one reduction those of the iteration before.
    double* const left = of_vectors_[one_reduction_ ? side : 0];
    const auto sums_at = [&](const double* at) {
      return diagonal_ != nullptr
                 ? device::PartialSums{at, static_cast<unsigned>(diagonal_->partials()), 1}
                 : partial_sums(walk, at);
    };
    const bool has_two = diagonal_ != nullptr || precondition_;  // |r|^2 and <r, z>
    const auto whole = [&](const device::PartialSums& sums) {
      return has_two
                 ? for_every_block<2>(sums, totals_ + most_sums, overlapped_, body)
                 : for_every_block<1>(sums, totals_ + most_sums, overlapped_, body);
    };
    device::PartialSums before{};
    if (one_reduction_) before = whole(sums_at(of_vectors_[1 - side]));
    if (diagonal_ != nullptr) {
      const Diagonal::Step with_inverses{fields.q.data, fields.r.data, fields.z.data, fields.p.data,
                                         s_.data(),     fields.x.data, state,         side,
                                         of_product,    before,        left,          overlapped_};
      diagonal_->step(with_inverses, one_reduction_, body);
    } else if (one_reduction_) {
      const StepWithOneReduction<S> step{S(0),          S(0),      fields.z.data, fields.q.data,
                                         fields.p.data, s_.data(), fields.x.data, fields.r.data};
      launch_kernel(one_reduction_step<S>, blocks, threads_of_loop, overlapped_, body, walk, state,
                    side, of_product, before, step, left);
    } else {
      launch_kernel(update_residual<S>, blocks, threads_of_loop, overlapped_, body, walk, state,
                    side, of_product, fields.q.data, fields.r.data, left);
    }
    if (precondition_) {
      precondition_(fields.r, fields.z, body);
      launch_kernel(sum_of_step<S>, blocks, threads_of_loop, false, body, walk,
                    NormAndDot<S>{fields.r.data, fields.z.data}, left);
    }
    if (!one_reduction_) {
      const auto sums = whole(sums_at(left));
      const auto update =
          has_two ? update_solution_and_direction<2, S> : update_solution_and_direction<1, S>;
      launch_kernel(update, blocks, threads_of_loop, overlapped_, body, walk, state, side, sums,
                    fields.x.data, fields.p.data, fields.z.data);
    }
  }

  std::unique_ptr<QueuedProduct<S>> product_;
  const Diagonal* diagonal_;
  std::function<void(const FieldView<const S>&, const FieldView<S>&, const Stream&)> precondition_;
  Device device_;
  GraphLoop graph_;
  Array<unsigned> counters_;  // of the first sums; two of a dynamic schedule
  bool one_reduction_;
  bool overlapped_;
  Together<S> together_;
  Array<device::Packet> packets_;
  Array<unsigned long long> round_;
  Array<double> partials_;
  double* of_product_ = nullptr;
  double* of_vectors_[2] = {};
  double* totals_ = nullptr;  // where partial sums are many
  Array<S> s_;                // A p, with one reduction
};

}  // namespace

template <class S>
std::unique_ptr<ConjugateGradientLoop<S>> conjugate_gradient_graph(
    std::unique_ptr<QueuedProduct<S>> product, LoopPreconditioner<S> preconditioner, LoopForm form,
    const Device& device) {
  return std::make_unique<FusedLoop<S>>(std::move(product), std::move(preconditioner), form, device);
}

template <class S>
Workspace workspace_of_conjugate_gradient_graph(const QueuedProduct<S>& product,
                                                const Diagonal* diagonal, bool foreign) {
  const Room room = room_of<S>(product, diagonal, product.plan().reductions == 1 && !foreign);
  return {room.s > 0 ? 1 : 0,
          room.doubles() * static_cast<long long>(sizeof(double)) + bytes_of_meeting +
              LoopRun::allocated_bytes()};
}

template Workspace workspace_of_conjugate_gradient_graph(const QueuedProduct<float>&,
                                                         const Diagonal*, bool);
template Workspace workspace_of_conjugate_gradient_graph(const QueuedProduct<double>&,
                                                         const Diagonal*, bool);
template std::unique_ptr<ConjugateGradientLoop<float>> conjugate_gradient_graph(
    std::unique_ptr<QueuedProduct<float>>, LoopPreconditioner<float>, LoopForm, const Device&);
template std::unique_ptr<ConjugateGradientLoop<double>> conjugate_gradient_graph(
    std::unique_ptr<QueuedProduct<double>>, LoopPreconditioner<double>, LoopForm, const Device&);

}  // namespace heddle::cuda
